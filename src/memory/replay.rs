//! A method run once, instruction by instruction: when each value is used first and last.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::loops::Loops;
use crate::Pte;
use crate::bytes::{index as at, narrow};
use crate::cost;
use crate::flat::view::Vector;
use crate::method::{self, Access, ControlFlow, Definitions, Effects};
use crate::schema::program::view::ExecutionPlan;

/// What was seen of a value while it was one thing.
///
/// A move puts another tensor under an index, so an index may be several of these one after the
/// other; those of the file come first, by index.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// The step that uses it first, or [`NEVER`].
    pub(super) first: u32,
    /// The last one, or [`END`].
    pub(super) last: u32,
    /// Whether the first use expects something there.
    pub(super) is_read: bool,
    /// Whether one turn of a loop may leave it to the next.
    pub(super) is_carried: bool,
}

/// Of what is never used, the first use.
pub(super) const NEVER: u32 = u32::MAX;

/// Behind all steps: whoever runs the method reads its outputs.
pub(super) const END: u32 = u32::MAX - 1;

pub(super) struct Replay<'a> {
    plan: ExecutionPlan<'a>,
    seen: Vec<Seen>,
    /// What each index is now, of those that are not what the file has there.
    held: BTreeMap<u32, u32>,
    /// For the same indices, one that everything leads to that they ever were.
    ever: BTreeMap<u32, u32>,
    /// From something to what is used in its place.
    edges: Vec<(u32, u32)>,
    pub(super) loops: Loops,
    /// The first step of each chain.
    pub(super) chains: Vec<u32>,
    pub(super) steps: u32,
}

impl<'a> Replay<'a> {
    pub(super) fn of(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let flow = ControlFlow::of(plan);
        let unused = Seen { first: NEVER, last: 0, is_read: false, is_carried: false };
        let mut replay = Self {
            plan,
            seen: alloc::vec![unused; plan.values().map_or(0, |values| values.len())],
            held: BTreeMap::new(),
            ever: BTreeMap::new(),
            edges: Vec::new(),
            steps: flow.len,
            loops: Loops::of(flow.loops, flow.outer, &flow.forward, flow.len),
            chains: flow.chains,
        };
        replay.run(&Effects::of(plan), Definitions::of(pte, plan));
        replay.end();
        replay
    }

    /// What was seen of the tensor that the file has at an index.
    pub(super) fn seen(&self, index: u32) -> Option<Seen> {
        self.seen.get(at(index)).copied()
    }

    fn run(&mut self, effects: &Effects<'a>, mut definitions: Definitions<'a>) {
        // Up to there, a forward jump may skip instructions.
        let mut imprecise_until = 0;
        for instruction in method::instructions(self.plan) {
            let pc = instruction.pc();
            let is_imprecise = pc < imprecise_until;
            let first = instruction.operands().get(0);
            let accesses = effects.accesses(&instruction, &definitions);
            for &(index, access) in &accesses {
                match (access, first) {
                    (Access::Alias, Some(first)) => self.becomes(index, first, pc, is_imprecise),
                    _ => self.uses(index, access == Access::Read, pc),
                }
            }
            definitions.record(&instruction, &accesses);
            if let Some(jump) = instruction.jump() {
                imprecise_until = imprecise_until.max(jump.target);
            }
        }
    }

    /// What is at an index now.
    fn now(&self, index: i32) -> Option<u32> {
        cost::look_up("", self.held.len());
        let index = u32::try_from(index).ok()?;
        let count = self.plan.values().map_or(0, |values| values.len());
        let held = self.held.get(&index).copied().unwrap_or(index);
        (at(index) < count).then_some(held)
    }

    fn uses(&mut self, index: i32, is_read: bool, step: u32) {
        let now = self.now(index);
        let Some(seen) = now.and_then(|now| self.seen.get_mut(at(now))) else { return };
        if seen.first == NEVER {
            (seen.first, seen.is_read) = (step, is_read);
        }
        seen.last = step;
    }

    /// From that step on, an index is what another one is, or may be.
    fn becomes(&mut self, index: i32, base: i32, step: u32, is_imprecise: bool) {
        let (Some(from), Some(to)) = (self.now(base), self.now(index)) else { return };
        if from == to {
            return self.uses(index, false, step);
        }
        if !self.loops.are_none() {
            // What is met again is met with whatever was put there: an index is all that it ever
            // is, all the time.
            self.edges.push((from, to));
            if self.loops.has(step) {
                self.seen.get_mut(at(from)).into_iter().for_each(|seen| seen.is_carried = true);
            }
            return self.uses(index, false, step);
        }
        if is_imprecise {
            // Where the move is passed over, it is what it was.
            self.uses(index, false, step);
        }
        let Ok(index) = u32::try_from(index) else { return };
        let new = self.another(step);
        self.edges.push((from, new));
        if is_imprecise {
            self.edges.push((to, new));
        }
        self.held.insert(index, new);
        let ever = match self.ever.get(&index) {
            Some(&ever) => ever,
            None => {
                let ever = self.another(step);
                self.ever.insert(index, ever);
                ever
            }
        };
        self.edges.push((new, ever));
    }

    fn another(&mut self, step: u32) -> u32 {
        let new = narrow(self.seen.len());
        let (first, last) = (step, step);
        self.seen.push(Seen { first, last, is_read: false, is_carried: false });
        new
    }

    /// Outputs are read by whoever runs the method; lists are used, and so are their tensors.
    fn end(&mut self) {
        for index in self.plan.outputs().into_iter().flatten() {
            self.uses(index, true, END);
        }
        for (list, value) in (0..narrow(self.plan.values().map_or(0, |all| all.len()))).zip(0..) {
            if let Some(used) = self.seen(list).filter(|used| used.first != NEVER)
                && let Some(items) = method::items(self.plan, value)
            {
                self.list(list, used, items);
            }
        }
        self.spread();
    }

    fn list(&mut self, list: u32, used: Seen, items: Vector<'a, i32>) {
        let has_edges = !self.edges.is_empty();
        for item in items.iter().filter_map(|item| u32::try_from(item).ok()) {
            if let Some(&ever) = self.ever.get(&item) {
                self.edges.push((ever, list));
            }
            let Some(seen) = self.seen.get_mut(at(item)) else { continue };
            match seen.first.cmp(&used.first) {
                core::cmp::Ordering::Less => {}
                core::cmp::Ordering::Equal => seen.is_read |= used.is_read,
                core::cmp::Ordering::Greater => {
                    (seen.first, seen.is_read) = (used.first, used.is_read);
                }
            }
            seen.last = seen.last.max(used.last);
            if has_edges {
                self.edges.push((item, list));
            }
        }
    }

    /// What is used in the place of something, uses it: the last use of all that an edge leads to.
    fn spread(&mut self) {
        if self.edges.is_empty() {
            return;
        }
        cost::sort(self.edges.len().saturating_mul(2));
        self.edges.sort_unstable_by_key(|&(_, to)| to);
        self.edges.dedup();
        // From the latest on: what is reached first is used as late as anything that it leads to.
        let mut latest: Vec<u32> = self.edges.iter().map(|&(_, to)| to).collect();
        latest.dedup();
        let last_of = |seen: &[Seen], nth: u32| seen.get(at(nth)).map_or(0, |seen| seen.last);
        latest.sort_by_key(|&nth| core::cmp::Reverse(last_of(&self.seen, nth)));
        let mut is_done = alloc::vec![false; self.seen.len()];
        let mut open = Vec::new();
        for target in latest {
            let last = last_of(&self.seen, target);
            open.push(target);
            while let Some(nth) = open.pop() {
                cost::look_up("", self.edges.len());
                match is_done.get_mut(at(nth)) {
                    Some(done) if !*done => *done = true,
                    _ => continue,
                }
                if let Some(seen) = self.seen.get_mut(at(nth)) {
                    seen.last = seen.last.max(last);
                }
                let from = self.edges.partition_point(|&(_, to)| to < nth);
                let ends_here = self.edges.get(from..).unwrap_or_default();
                let of_it = ends_here.iter().take_while(|&&(_, to)| to == nth);
                open.extend(of_it.map(|&(from, _)| from));
            }
        }
    }
}
