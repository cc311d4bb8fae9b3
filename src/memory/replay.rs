//! A method run once, instruction by instruction: when each value is used first and last.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::loops::{Loops, Range};
use crate::Pte;
use crate::bytes::{index as at, narrow};
use crate::flat::view::Vector;
use crate::pte::Storage;
use crate::roles::{Role, Roles};
use crate::schema::program::view::{
    ExecutionPlan, InstructionArguments, JumpFalseCall, KernelTypes,
};
use crate::steps;

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
    /// Whether there is something from the start.
    pub(super) is_given: bool,
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
        let mut replay = Self {
            plan,
            seen: Vec::new(),
            held: BTreeMap::new(),
            ever: BTreeMap::new(),
            edges: Vec::new(),
            loops: Loops::default(),
            chains: Vec::new(),
            steps: 0,
        };
        replay.find_loops();
        replay.seen.extend(plan.values().into_iter().flatten().map(|value| {
            let is_given = match value.val() {
                Some(KernelTypes::Tensor(tensor)) => !matches!(
                    pte.storage(tensor),
                    Ok(Storage::Unbound | Storage::Planned { initial: None, .. }) | Err(_)
                ),
                _ => true,
            };
            Seen { first: NEVER, last: 0, is_read: false, is_given, is_carried: false }
        }));
        for index in plan.inputs().into_iter().flatten() {
            let seen = usize::try_from(index).ok().and_then(|index| replay.seen.get_mut(index));
            seen.into_iter().for_each(|seen| seen.is_given = true);
        }
        replay.run(&Roles::of(pte, plan));
        replay.end();
        replay
    }

    /// What was seen of the tensor that the file has at an index.
    pub(super) fn seen(&self, index: u32) -> Option<Seen> {
        self.seen.get(at(index)).copied()
    }

    /// Where jumps lead, before anything else: in a loop, what comes later is met earlier.
    fn find_loops(&mut self) {
        let (mut back, mut ahead) = (Vec::new(), Vec::new());
        for chain in self.plan.chains().into_iter().flatten() {
            self.chains.push(self.steps);
            let len = narrow(chain.instructions().map_or(0, |all| all.len()));
            for (nth, instruction) in (0..).zip(chain.instructions().into_iter().flatten()) {
                let Some(InstructionArguments::JumpFalseCall(jump)) = instruction.instr_args()
                else {
                    continue;
                };
                let (from, to) = self.jump(nth, jump, len);
                if to <= from { back.push((to, from)) } else { ahead.push((from, to)) }
            }
            self.steps = self.steps.saturating_add(len);
        }
        self.loops = Loops::of(back, &ahead, self.steps);
    }

    /// A jump as steps: to lead nowhere ends the chain.
    fn jump(&self, nth: u32, jump: JumpFalseCall<'_>, len: u32) -> Range {
        let begin = self.chains.last().copied().unwrap_or_default();
        let to = u32::try_from(jump.destination_instruction()).map_or(len, |to| to.min(len));
        (begin.saturating_add(nth), begin.saturating_add(to))
    }

    fn run(&mut self, roles: &Roles<'_, 'a>) {
        let mut step = 0u32;
        for chain in self.plan.chains().into_iter().flatten() {
            let begin = step;
            let len = narrow(chain.instructions().map_or(0, |all| all.len()));
            let end = begin.saturating_add(len);
            // Until there, a jump ahead may have passed over what happens.
            let mut vague_until = begin;
            for instruction in chain.instructions().into_iter().flatten() {
                let is_vague = step < vague_until;
                match instruction.instr_args() {
                    Some(InstructionArguments::KernelCall(call)) => {
                        let first = call.args().and_then(|args| args.get(0));
                        for (index, role) in roles.kernel(call) {
                            match (role, first) {
                                (Role::Alias, Some(first)) => {
                                    self.becomes(index, first, step, is_vague);
                                }
                                _ => self.uses(index, role == Role::Read, step),
                            }
                        }
                    }
                    Some(InstructionArguments::DelegateCall(call)) => {
                        let is_there = |index| {
                            let seen = self.now(index).and_then(|now| self.seen.get(at(now)));
                            seen.is_some_and(|seen| seen.is_given || seen.first < step)
                        };
                        for (index, role) in roles.delegate(call, is_there) {
                            self.uses(index, role == Role::Read, step);
                        }
                    }
                    Some(InstructionArguments::MoveCall(call)) => {
                        self.uses(call.move_from(), true, step);
                        self.becomes(call.move_to(), call.move_from(), step, is_vague);
                    }
                    Some(InstructionArguments::JumpFalseCall(jump)) => {
                        self.uses(jump.cond_value_index(), true, step);
                        let to = u32::try_from(jump.destination_instruction());
                        let to = to.map_or(end, |to| begin.saturating_add(to).min(end));
                        vague_until = vague_until.max(to);
                    }
                    Some(InstructionArguments::FreeCall(call)) => {
                        self.uses(call.value_index(), false, step);
                    }
                    Some(InstructionArguments::Unknown(_)) | None => {}
                }
                step = step.saturating_add(1);
            }
        }
    }

    /// What is at an index now.
    fn now(&self, index: i32) -> Option<u32> {
        steps::look_up("", self.held.len());
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
    fn becomes(&mut self, index: i32, base: i32, step: u32, is_vague: bool) {
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
        if is_vague {
            // Where the move is passed over, it is what it was.
            self.uses(index, false, step);
        }
        let Ok(index) = u32::try_from(index) else { return };
        let new = self.another(step);
        self.edges.push((from, new));
        if is_vague {
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
        self.seen.push(Seen { first, last, is_read: false, is_given: true, is_carried: false });
        new
    }

    /// Outputs are read by whoever runs the method; lists are used, and so are their tensors.
    fn end(&mut self) {
        for index in self.plan.outputs().into_iter().flatten() {
            self.uses(index, true, END);
        }
        for (list, value) in (0u32..).zip(self.plan.values().into_iter().flatten()) {
            let items = match value.val() {
                Some(KernelTypes::TensorList(list)) => list.items(),
                Some(KernelTypes::OptionalTensorList(list)) => list.items(),
                _ => None,
            };
            if let (Some(items), Some(used)) = (items, self.seen(list))
                && used.first != NEVER
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
        steps::sort(self.edges.len().saturating_mul(2));
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
                steps::look_up("", self.edges.len());
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
