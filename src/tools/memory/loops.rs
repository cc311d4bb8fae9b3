//! Loops: extends live ranges over the loops in which values stay live.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use pte_core::method::{Loop, OuterLoops};
use pte_flat::bytes::index as at;
use pte_flat::cost;

/// A range of pcs: its first and its last one.
type Range = (u32, u32);

/// The loops of a method. Any two of them are nested or disjoint.
#[derive(Default)]
pub(super) struct Loops {
    /// The loops, sorted by begin. Of several loops with the same begin, the largest is first.
    loops: Vec<Loop>,
    /// A tree of the greatest end in any range of `loops`.
    ends: RangeMaxTree,
    /// The loops, sorted by end. `begins` is a tree of the least begin in any range of `by_end`.
    /// The tree stores `u32::MAX − begin`.
    by_end: Vec<Loop>,
    begins: RangeMaxTree,
    outer: OuterLoops,
    /// For each pc, the least target of a forward jump over this pc. Empty if there are no loops.
    landings: Vec<u32>,
}

impl Loops {
    /// Prepares the loops of a method and its forward jumps for queries.
    pub(super) fn of(
        loops: Vec<Loop>,
        outer: OuterLoops,
        forward: &[Range],
        instruction_count: u32,
    ) -> Self {
        if loops.is_empty() {
            return Self::default();
        }
        cost::sort(loops.len().saturating_mul(2));
        let ends = RangeMaxTree::of(loops.iter().map(|one| one.end).collect());
        let mut by_end = loops.clone();
        by_end.sort_unstable_by_key(|one| one.end);
        let begins = by_end.iter().map(|one| u32::MAX.saturating_sub(one.begin)).collect();
        let begins = RangeMaxTree::of(begins);
        Self { loops, ends, by_end, begins, outer, landings: landings(forward, instruction_count) }
    }

    pub(super) fn are_none(&self) -> bool {
        self.loops.is_empty()
    }

    /// Extends a range of uses to the loops in which the value stays live.
    ///
    /// A value from before a loop is used by each iteration. A value that is used after a loop may
    /// come from its first iteration. A value that is carried from one iteration to the next is
    /// live in the whole loop.
    pub(super) fn around(&self, (mut first, mut last): Range, is_carried: bool) -> Range {
        if self.loops.is_empty() || first > last {
            return (first, last);
        }
        cost::look_up("", self.loops.len().saturating_mul(2));
        // Loops that begin inside the range and end after it.
        let from = self.loops.partition_point(|one| one.begin <= first);
        let to = self.loops.partition_point(|one| one.begin <= last);
        let end = self.ends.of_range(from, to).unwrap_or(last).max(last);
        // Loops that end inside the range and begin before it.
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

    /// Returns whether an instruction is in a loop.
    pub(super) fn has(&self, pc: u32) -> bool {
        self.outer.around(pc).is_some()
    }
}

/// Returns, for each pc, the least target of a forward jump over this pc.
fn landings(ahead: &[Range], instruction_count: u32) -> Vec<u32> {
    let mut ahead = ahead.to_vec();
    cost::sort(ahead.len());
    ahead.sort_unstable();
    let mut jumps = ahead.into_iter().peekable();
    let mut open: BTreeMap<u32, ()> = BTreeMap::new();
    let landing = |pc| {
        cost::charge(1);
        while let Some((_, to)) = jumps.next_if(|&(from, _)| from < pc) {
            open.insert(to, ());
        }
        while open.first_key_value().is_some_and(|(&to, ())| to <= pc) {
            open.pop_first();
        }
        open.first_key_value().map_or(u32::MAX, |(&to, ())| to)
    };
    (0..instruction_count).map(landing).collect()
}

/// A tree that returns the maximum of any range of a list in O(log n).
#[derive(Default)]
struct RangeMaxTree {
    /// A binary tree: node n is the maximum of nodes 2n and 2n + 1. The list is the second half.
    nodes: Vec<u32>,
}

impl RangeMaxTree {
    fn of(list: Vec<u32>) -> Self {
        let len = list.len();
        let mut nodes = vec![0; len];
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
