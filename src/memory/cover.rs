//! Bytes of an arena: how many are live at once, and since when they hold what is there.

use alloc::vec::Vec;

use crate::cost;

/// Bytes from the first to behind the last.
pub(super) type Bytes = (u64, u64);

/// The places where ranges begin and end, which cut an arena into cells.
#[derive(Clone, Default)]
pub(super) struct Cells {
    points: Vec<u64>,
}

impl Cells {
    pub(super) fn of(ranges: impl Iterator<Item = Bytes>) -> Self {
        let mut points: Vec<_> = ranges.flat_map(|(begin, end)| [begin, end]).collect();
        cost::sort(points.len());
        points.sort_unstable();
        points.dedup();
        Self { points }
    }

    /// The cells of a range that begins and ends at two of the points.
    fn range(&self, (begin, end): Bytes) -> (usize, usize) {
        let cell = |at| self.points.partition_point(|&point| point < at);
        (cell(begin), cell(end))
    }

    fn len(&self) -> usize {
        self.points.len().saturating_sub(1)
    }

    fn bytes(&self, from: usize, to: usize) -> u64 {
        let point = |nth: usize| self.points.get(nth).copied().unwrap_or_default();
        point(to).saturating_sub(point(from))
    }
}

/// How many bytes have something in them. To add or to remove a range takes as many steps as the
/// number of cells has digits.
pub(super) struct Cover {
    cells: Cells,
    /// A tree of which each node is half of the one above it, the root at 1.
    nodes: Vec<Covered>,
}

#[derive(Clone, Copy, Default)]
struct Covered {
    /// Ranges that have all of the node and not all of the one above it.
    ranges: u32,
    bytes: u64,
}

impl Cover {
    pub(super) fn new(cells: Cells) -> Self {
        let nodes = alloc::vec![Covered::default(); tree(cells.len())];
        Self { cells, nodes }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.nodes.get(1).map_or(0, |root| root.bytes)
    }

    pub(super) fn add(&mut self, range: Bytes) {
        self.change(1, (0, self.cells.len()), self.cells.range(range), true);
    }

    pub(super) fn remove(&mut self, range: Bytes) {
        self.change(1, (0, self.cells.len()), self.cells.range(range), false);
    }

    fn change(&mut self, at: usize, of: (usize, usize), range: (usize, usize), is_new: bool) {
        cost::charge(1);
        let (from, to) = of;
        if range.1 <= from || to <= range.0 || from >= to {
            return;
        }
        let is_whole = range.0 <= from && to <= range.1;
        let mut below = 0u64;
        if to.saturating_sub(from) > 1 {
            for (child, half) in halves(at, of) {
                if !is_whole {
                    self.change(child, half, range, is_new);
                }
                below = below.saturating_add(self.nodes.get(child).map_or(0, |node| node.bytes));
            }
        }
        let whole = self.cells.bytes(from, to);
        let Some(node) = self.nodes.get_mut(at) else { return };
        if is_whole {
            node.ranges = match is_new {
                true => node.ranges.saturating_add(1),
                false => node.ranges.saturating_sub(1),
            };
        }
        node.bytes = if node.ranges > 0 { whole } else { below };
    }
}

/// When each byte was given what it holds. Times are told in their order.
pub(super) struct Given {
    cells: Cells,
    nodes: Vec<Times>,
}

/// Times are counted from 1, and 0 is never.
#[derive(Clone, Copy)]
struct Times {
    /// When all of the node was given at once, last.
    whole: u32,
    /// The least of all cells, and of those that were given something ever.
    least: u32,
    least_given: u32,
}

impl Times {
    const NEVER: Self = Self { whole: 0, least: 0, least_given: u32::MAX };

    /// After all of it was given again, or at least at that time.
    fn since(self, whole: u32) -> Self {
        let least = self.least.max(whole);
        Self { whole, least, least_given: if whole > 0 { least } else { self.least_given } }
    }

    fn and(self, other: Self) -> Self {
        Self {
            whole: 0,
            least: self.least.min(other.least),
            least_given: self.least_given.min(other.least_given),
        }
    }
}

impl Given {
    pub(super) fn new(cells: Cells) -> Self {
        let nodes = alloc::vec![Times::NEVER; tree(cells.len())];
        Self { cells, nodes }
    }

    /// A range is given something, later than all others.
    pub(super) fn give(&mut self, range: Bytes, time: u32) {
        let time = time.saturating_add(1);
        self.change(1, (0, self.cells.len()), self.cells.range(range), time);
    }

    /// The earliest time at which any byte of a range was given what it holds; `None` where nothing
    /// was ever given to one.
    pub(super) fn since(&self, range: Bytes) -> Option<u32> {
        let found = self.find(1, (0, self.cells.len()), self.cells.range(range), 0);
        found.filter(|&time| time != u32::MAX)?.checked_sub(1)
    }

    fn change(&mut self, at: usize, of: (usize, usize), range: (usize, usize), time: u32) {
        cost::charge(1);
        let (from, to) = of;
        if range.1 <= from || to <= range.0 || from >= to {
            return;
        }
        if range.0 <= from && to <= range.1 {
            if let Some(node) = self.nodes.get_mut(at) {
                *node = node.since(time);
            }
            return;
        }
        let [left, right] = halves(at, of).map(|(child, half)| {
            self.change(child, half, range, time);
            self.nodes.get(child).copied().unwrap_or(Times::NEVER)
        });
        if let Some(node) = self.nodes.get_mut(at) {
            *node = left.and(right).since(node.whole);
        }
    }

    fn find(
        &self,
        at: usize,
        of: (usize, usize),
        range: (usize, usize),
        above: u32,
    ) -> Option<u32> {
        cost::charge(1);
        let (from, to) = of;
        if range.1 <= from || to <= range.0 || from >= to {
            return None;
        }
        let node = *self.nodes.get(at)?;
        if range.0 <= from && to <= range.1 {
            let least = node.least.max(above);
            return Some(if above > 0 { least } else { node.least_given });
        }
        let above = above.max(node.whole);
        let found = halves(at, of).map(|(child, half)| self.find(child, half, range, above));
        found.into_iter().flatten().min()
    }
}

/// The two nodes below one, and their cells.
fn halves(at: usize, (from, to): (usize, usize)) -> [(usize, (usize, usize)); 2] {
    let half = to.saturating_sub(from) / 2;
    let middle = from.saturating_add(half);
    let left = at.saturating_mul(2);
    [(left, (from, middle)), (left.saturating_add(1), (middle, to))]
}

/// Nodes of a tree over so many cells.
fn tree(cells: usize) -> usize {
    cells.checked_next_power_of_two().unwrap_or_default().saturating_mul(2)
}
