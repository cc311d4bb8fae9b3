//! Where the jumps of a chain lead.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::bytes::index;
use crate::check::spot::Plan;
use crate::schema::program::view::{Chain, InstructionArguments, JumpFalseCall, KernelTypes};
use crate::steps;

/// The loops of a chain, and the jumps ahead that are under way.
pub(super) struct Ways {
    /// In order, and apart from each other.
    loops: Vec<Loop>,
    /// By the instruction that they lead to, what was noted at them.
    ahead: BTreeMap<u32, Noted>,
    /// Which instructions any way leads to; nothing where nothing jumps back.
    reached: Vec<bool>,
    len: u32,
}

/// Instructions that may run again: what jumps back, taken together where they cross.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    pub(super) begin: u32,
    /// The last of them, which jumps back.
    pub(super) end: u32,
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
        let mut loops: Vec<Loop> = Vec::new();
        for (nth, instruction) in (0..).zip(chain.instructions().into_iter().flatten()) {
            let Some(InstructionArguments::JumpFalseCall(jump)) = instruction.instr_args() else {
                continue;
            };
            let to = u32::try_from(jump.destination_instruction());
            let Some(mut begin) = to.ok().filter(|&to| to <= nth) else { continue };
            while let Some(before) = loops.pop_if(|before| before.end >= begin) {
                begin = begin.min(before.begin);
            }
            loops.push(Loop { begin, end: nth });
        }
        let reached = if loops.is_empty() { Vec::new() } else { reached(plan, fixed, chain, len) };
        Self { loops, ahead: BTreeMap::new(), reached, len }
    }

    /// Whether any way leads to that instruction, if something jumps back in its chain.
    pub(super) fn are_leading_to(&self, nth: u32) -> bool {
        self.reached.get(index(nth)) == Some(&true)
    }

    /// Whether a jump, which nothing leads to at first, is one out of its loop that is met later.
    pub(super) fn leave_later(
        &self,
        nth: u32,
        jump: JumpFalseCall<'_>,
        around: Option<Loop>,
    ) -> bool {
        let to = u32::try_from(jump.destination_instruction()).unwrap_or(u32::MAX);
        around.is_some_and(|around| to > around.end) && self.are_leading_to(nth)
    }

    /// The loop that an instruction is in.
    pub(super) fn around(&self, nth: u32) -> Option<Loop> {
        steps::look_up("", self.loops.len());
        let found = self.loops.get(self.loops.partition_point(|one| one.end < nth)).copied();
        found.filter(|one| one.begin <= nth)
    }

    /// The loop that a jump from there leads back into.
    pub(super) fn back(&self, nth: u32, jump: JumpFalseCall<'_>) -> Option<Loop> {
        u32::try_from(jump.destination_instruction()).ok().filter(|&to| to <= nth)?;
        self.around(nth)
    }

    /// Notes a jump ahead.
    pub(super) fn leave(&mut self, nth: u32, jump: JumpFalseCall<'_>, noted: Noted) {
        // To lead nowhere ends the chain.
        let to = u32::try_from(jump.destination_instruction()).map_or(self.len, |to| to);
        let to = to.min(self.len);
        if to > nth {
            steps::look_up("", self.ahead.len());
            let all = self.ahead.entry(to).or_insert(noted);
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
            steps::take(1);
            let fixed = usize::try_from(value).ok().and_then(|value| fixed.get_mut(value));
            fixed.into_iter().for_each(|fixed| *fixed = false);
        };
        let chains = plan.view.chains().into_iter().flatten();
        for instruction in chains.flat_map(|chain| chain.instructions().into_iter().flatten()) {
            let args = match instruction.instr_args() {
                Some(InstructionArguments::KernelCall(call)) => call.args(),
                Some(InstructionArguments::DelegateCall(call)) => call.args(),
                Some(InstructionArguments::MoveCall(call)) => {
                    change(call.move_to());
                    None
                }
                _ => None,
            };
            args.into_iter().flatten().for_each(&mut change);
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

/// Which of the `len` instructions of a chain any way leads to.
fn reached(plan: &Plan<'_, '_>, fixed: &Fixed, chain: Chain<'_>, len: u32) -> Vec<bool> {
    let Some(instructions) = chain.instructions() else { return Vec::new() };
    let mut reached = alloc::vec![false; index(len)];
    let mut open = alloc::vec![0];
    while let Some(nth) = open.pop() {
        steps::take(1);
        match reached.get_mut(index(nth)) {
            Some(reached) if !*reached => *reached = true,
            _ => continue,
        }
        let args = instructions.get(index(nth)).and_then(|instruction| instruction.instr_args());
        let Some(InstructionArguments::JumpFalseCall(jump)) = args else {
            open.push(nth.saturating_add(1));
            continue;
        };
        let condition = fixed.flag(plan, jump.cond_value_index());
        if condition != Some(false) {
            open.push(nth.saturating_add(1));
        }
        if condition != Some(true) {
            open.extend(u32::try_from(jump.destination_instruction()));
        }
    }
    reached
}
