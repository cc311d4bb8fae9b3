//! Segment trees over the bytes of an arena. One counts the live bytes, the other has the time of
//! the last write.

use alloc::vec::Vec;

use pte_flat::cost;

/// A range of bytes: its begin and its end.
pub(super) type Bytes = (u64, u64);

/// The sorted begins and ends of all ranges. They divide an arena into cells.
#[derive(Clone, Default)]
pub(super) struct CompressedCoordinates {
    points: Vec<u64>,
}

impl CompressedCoordinates {
    pub(super) fn of(ranges: impl Iterator<Item = Bytes>) -> Self {
        let mut points: Vec<_> = ranges.flat_map(|(begin, end)| [begin, end]).collect();
        cost::sort(points.len());
        points.sort_unstable();
        points.dedup();
        Self { points }
    }

    /// Returns the first cell of a range, and the cell past its last one. The begin and the end of
    /// the range must be coordinates.
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

/// The number of bytes that are covered by at least one range. Adding or removing a range takes O(log n).
pub(super) struct CoverageSegmentTree {
    coordinates: CompressedCoordinates,
    /// A binary tree with the root at 1. Each child covers half of the cells of its parent.
    nodes: Vec<CoverageNode>,
}

#[derive(Clone, Copy, Default)]
struct CoverageNode {
    /// The number of ranges that cover this node and not its parent.
    ranges: u32,
    bytes: u64,
}

impl CoverageSegmentTree {
    pub(super) fn new(coordinates: CompressedCoordinates) -> Self {
        let nodes = vec![CoverageNode::default(); tree(coordinates.len())];
        Self { coordinates, nodes }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.nodes.get(1).map_or(0, |root| root.bytes)
    }

    pub(super) fn add(&mut self, range: Bytes) {
        self.change(1, (0, self.coordinates.len()), self.coordinates.range(range), true);
    }

    pub(super) fn remove(&mut self, range: Bytes) {
        self.change(1, (0, self.coordinates.len()), self.coordinates.range(range), false);
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
        let whole = self.coordinates.bytes(from, to);
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

/// The time of the last write to each byte. Writes are recorded in the order of time.
pub(super) struct LastWrite {
    coordinates: CompressedCoordinates,
    nodes: Vec<WriteNode>,
}

/// A node of the tree. Times begin at 1; 0 means never.
#[derive(Clone, Copy)]
struct WriteNode {
    /// The time of the last write that covered the whole node.
    whole: u32,
    /// The least time of a last write, among all cells of the node. `least_written` is the least
    /// among the cells that were written.
    least: u32,
    least_written: u32,
}

impl WriteNode {
    const NEVER: Self = Self { whole: 0, least: 0, least_written: u32::MAX };

    /// Returns the node after a write to all of its cells at the time `whole`. If `whole` is 0,
    /// there was no write.
    fn since(self, whole: u32) -> Self {
        let least = self.least.max(whole);
        Self { whole, least, least_written: if whole > 0 { least } else { self.least_written } }
    }

    fn and(self, other: Self) -> Self {
        Self {
            whole: 0,
            least: self.least.min(other.least),
            least_written: self.least_written.min(other.least_written),
        }
    }
}

impl LastWrite {
    pub(super) fn new(coordinates: CompressedCoordinates) -> Self {
        let nodes = vec![WriteNode::NEVER; tree(coordinates.len())];
        Self { coordinates, nodes }
    }

    /// Records a write to `range` at `time`, which must be later than all recorded writes.
    pub(super) fn write(&mut self, range: Bytes, time: u32) {
        let time = time.saturating_add(1);
        self.change(1, (0, self.coordinates.len()), self.coordinates.range(range), time);
    }

    /// Returns the least time of the last writes to the bytes of a range. Bytes that were never
    /// written are ignored. Returns `None` if no byte was written.
    pub(super) fn since(&self, range: Bytes) -> Option<u32> {
        let found = self.find(1, (0, self.coordinates.len()), self.coordinates.range(range), 0);
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
            self.nodes.get(child).copied().unwrap_or(WriteNode::NEVER)
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
            return Some(if above > 0 { least } else { node.least_written });
        }
        let above = above.max(node.whole);
        let found = halves(at, of).map(|(child, half)| self.find(child, half, range, above));
        found.into_iter().flatten().min()
    }
}

/// Returns the children of a node with their cells.
fn halves(at: usize, (from, to): (usize, usize)) -> [(usize, (usize, usize)); 2] {
    let half = to.saturating_sub(from) / 2;
    let middle = from.saturating_add(half);
    let left = at.saturating_mul(2);
    [(left, (from, middle)), (left.saturating_add(1), (middle, to))]
}

/// Returns the number of nodes of a tree over a number of cells.
fn tree(cells: usize) -> usize {
    cells.checked_next_power_of_two().unwrap_or_default().saturating_mul(2)
}
