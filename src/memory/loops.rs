//! Loops: instructions that may run again, and what must outlive a turn of them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::bytes::index as at;
use crate::cost;
use crate::method::{Loop, OuterLoops};

/// Steps from the first to the last, both included.
type Range = (u32, u32);

/// The loops of a method: of any two, one holds the other, or they are apart.
#[derive(Default)]
pub(super) struct Loops {
    /// By where they begin; those that begin together, the largest first.
    loops: Vec<Loop>,
    /// For ranges of `loops`, where the last of them ends.
    ends: Most,
    /// By where they end, and for ranges of that where the first of them begins.
    by_end: Vec<Loop>,
    begins: Most,
    outer: OuterLoops,
    /// For each step, the least that a jump from before it leads to behind it; none where it does
    /// not matter.
    landings: Vec<u32>,
}

impl Loops {
    /// Prepares the loops of a method and its forward jumps for queries.
    pub(super) fn of(loops: Vec<Loop>, outer: OuterLoops, forward: &[Range], steps: u32) -> Self {
        if loops.is_empty() {
            return Self::default();
        }
        cost::sort(loops.len().saturating_mul(2));
        let ends = Most::of(loops.iter().map(|one| one.end).collect());
        let mut by_end = loops.clone();
        by_end.sort_unstable_by_key(|one| one.end);
        let begins = by_end.iter().map(|one| u32::MAX.saturating_sub(one.begin)).collect();
        let begins = Most::of(begins);
        Self { loops, ends, by_end, begins, outer, landings: landings(forward, steps) }
    }

    pub(super) fn are_none(&self) -> bool {
        self.loops.is_empty()
    }

    /// What is used from one step to another, and what comes between because of loops: used in a
    /// loop and before it, it is used again by the next turn; made in one and used behind it, it is
    /// made by the first turn; and what is carried from one turn to the next, is there in all of them.
    pub(super) fn around(&self, (mut first, mut last): Range, is_carried: bool) -> Range {
        if self.loops.is_empty() || first > last {
            return (first, last);
        }
        cost::look_up("", self.loops.len().saturating_mul(2));
        // Those that begin in between and end later.
        let from = self.loops.partition_point(|one| one.begin <= first);
        let to = self.loops.partition_point(|one| one.begin <= last);
        let end = self.ends.of_range(from, to).unwrap_or(last).max(last);
        // Those that end in between and begin earlier.
        let from = self.by_end.partition_point(|one| one.end < first);
        let to = self.by_end.partition_point(|one| one.end < last);
        let begin = self.begins.of_range(from, to).map(|begin| u32::MAX.saturating_sub(begin));
        first = begin.unwrap_or(first).min(first);
        last = end;
        let is_skipped = self.landings.get(at(first)).is_some_and(|&landing| landing <= last);
        if is_carried || is_skipped {
            let outer = self.outer.around(last).filter(|outer| outer.begin <= first);
            (first, last) = outer.map_or((first, last), |outer| (outer.begin, outer.end));
        }
        (first, last)
    }

    /// Whether that step may run again.
    pub(super) fn has(&self, step: u32) -> bool {
        self.outer.around(step).is_some()
    }
}

/// For each step, the nearest that a jump from before it leads to behind it.
fn landings(ahead: &[Range], steps: u32) -> Vec<u32> {
    let mut ahead = ahead.to_vec();
    cost::sort(ahead.len());
    ahead.sort_unstable();
    let mut jumps = ahead.into_iter().peekable();
    let mut open: BTreeMap<u32, ()> = BTreeMap::new();
    let landing = |step| {
        cost::charge(1);
        while let Some((_, to)) = jumps.next_if(|&(from, _)| from < step) {
            open.insert(to, ());
        }
        while open.first_key_value().is_some_and(|(&to, ())| to <= step) {
            open.pop_first();
        }
        open.first_key_value().map_or(u32::MAX, |(&to, ())| to)
    };
    (0..steps).map(landing).collect()
}

/// The largest of any range of a list, in as many steps as the list's length has digits.
#[derive(Default)]
struct Most {
    /// A tree: the largest of nodes 2n and 2n + 1 is at n, and the list is its second half.
    nodes: Vec<u32>,
}

impl Most {
    fn of(list: Vec<u32>) -> Self {
        let len = list.len();
        let mut nodes = alloc::vec![0; len];
        nodes.extend(list);
        for nth in (1..len).rev() {
            let [left, right] = [nth.saturating_mul(2), nth.saturating_mul(2).saturating_add(1)]
                .map(|child| nodes.get(child).copied().unwrap_or_default());
            if let Some(node) = nodes.get_mut(nth) {
                *node = left.max(right);
            }
        }
        Self { nodes }
    }

    fn of_range(&self, from: usize, to: usize) -> Option<u32> {
        let len = self.nodes.len() / 2;
        let (mut from, mut to) = (from.saturating_add(len), to.saturating_add(len));
        let mut most = None;
        while from < to {
            if from % 2 == 1 {
                most = most.max(self.nodes.get(from).copied());
                from = from.saturating_add(1);
            }
            if to % 2 == 1 {
                to = to.saturating_sub(1);
                most = most.max(self.nodes.get(to).copied());
            }
            (from, to) = (from / 2, to / 2);
        }
        most
    }
}
