//! Where the jumps of a chain lead.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::bytes::index;
use crate::check::spot::Plan;
use crate::cost;
use crate::method::{self, Jump, Loop, Operands, OuterLoops};
use crate::schema::program::view::{Chain, KernelTypes};

/// The loops of a chain, and the jumps ahead that are under way.
pub(super) struct Ways {
    /// In order, and apart from each other.
    loops: OuterLoops,
    /// By the instruction that they lead to, what was noted at them.
    ahead: BTreeMap<u32, Noted>,
    /// Which instructions any way leads to; nothing where nothing jumps back.
    reached: Vec<bool>,
}

/// What is noted of the jumps ahead that lead to one instruction.
#[derive(Clone, Copy)]
pub(super) struct Noted {
    /// The least of the numbers that were noted at them.
    pub(super) least: usize,
    /// Whether any of them may be taken before anything jumps back.
    pub(super) is_first: bool,
}

impl Ways {
    pub(super) fn of(plan: &Plan<'_, '_>, fixed: &Fixed, chain: Chain<'_>, len: u32) -> Self {
        let mut loops = OuterLoops::default();
        for instruction in method::instructions_of_chain(0, 0, chain) {
            let (end, jump) = (instruction.pc(), instruction.jump());
            if let Some(jump) = jump.filter(|jump| jump.target <= end) {
                loops.record_backward_jump(Loop { begin: jump.target, end });
            }
        }
        let reached = if loops.is_empty() { Vec::new() } else { reached(plan, fixed, chain, len) };
        Self { loops, ahead: BTreeMap::new(), reached }
    }

    /// Whether any way leads to that instruction, if something jumps back in its chain.
    pub(super) fn are_leading_to(&self, nth: u32) -> bool {
        self.reached.get(index(nth)) == Some(&true)
    }

    /// Returns whether a jump, which nothing leads to at first, is one out of its loop that is met
    /// later.
    pub(super) fn leave_later(&self, nth: u32, jump: Jump, around: Option<Loop>) -> bool {
        around.is_some_and(|around| jump.target > around.end) && self.are_leading_to(nth)
    }

    /// Returns the loop that an instruction is in.
    pub(super) fn around(&self, nth: u32) -> Option<Loop> {
        self.loops.around(nth)
    }

    /// Returns the loop that a jump from there leads back into.
    pub(super) fn back(&self, nth: u32, jump: Jump) -> Option<Loop> {
        (jump.target <= nth).then(|| self.around(nth))?
    }

    /// Records a forward jump.
    pub(super) fn record_forward_jump(&mut self, nth: u32, jump: Jump, noted: Noted) {
        if jump.target > nth {
            cost::look_up("", self.ahead.len());
            let all = self.ahead.entry(jump.target).or_insert(noted);
            all.least = all.least.min(noted.least);
            all.is_first |= noted.is_first;
        }
    }

    /// What was noted at the jumps that lead to that instruction.
    pub(super) fn arrive(&mut self, nth: u32) -> Option<Noted> {
        let first = self.ahead.first_entry().filter(|first| *first.key() <= nth)?;
        Some(first.remove())
    }

    /// Whether any jump ahead is under way.
    pub(super) fn are_open(&self) -> bool {
        !self.ahead.is_empty()
    }
}

/// Which Bools of the file stay as they are whenever a method runs: no instruction names them as anything
/// but a condition, and they are no inputs.
pub(super) struct Fixed(Vec<bool>);

impl Fixed {
    pub(super) fn of(plan: &Plan<'_, '_>) -> Self {
        let mut fixed = plan.each(true);
        let mut change = |value: i32| {
            cost::charge(1);
            let fixed = usize::try_from(value).ok().and_then(|value| fixed.get_mut(value));
            fixed.into_iter().for_each(|fixed| *fixed = false);
        };
        for instruction in method::instructions(plan.view) {
            let changed = method::may_change(&instruction);
            changed.into_iter().flat_map(Operands::iter).for_each(&mut change);
        }
        plan.view.inputs().into_iter().flatten().for_each(&mut change);
        Self(fixed)
    }

    /// What that value always is.
    fn flag(&self, plan: &Plan<'_, '_>, value: i32) -> Option<bool> {
        let is_fixed = usize::try_from(value).ok().and_then(|value| self.0.get(value).copied());
        match plan.value(value.into()) {
            Some(KernelTypes::Bool(flag)) if is_fixed == Some(true) => Some(flag.bool_val()),
            _ => None,
        }
    }
}

/// Returns which of the `len` instructions of a chain any path leads to.
fn reached(plan: &Plan<'_, '_>, fixed: &Fixed, chain: Chain<'_>, len: u32) -> Vec<bool> {
    let mut reached = alloc::vec![false; index(len)];
    let mut open = alloc::vec![0];
    while let Some(nth) = open.pop() {
        cost::charge(1);
        match reached.get_mut(index(nth)) {
            Some(reached) if !*reached => *reached = true,
            _ => continue,
        }
        let next = nth.saturating_add(1);
        let instruction = method::instruction_of_chain(chain, nth);
        let Some(jump) = instruction.and_then(|instruction| instruction.jump()) else {
            open.push(next);
            continue;
        };
        let condition = fixed.flag(plan, jump.condition);
        if condition != Some(false) {
            open.push(next);
        }
        if condition != Some(true) {
            open.push(jump.target);
        }
    }
    reached
}
