//! Where the jumps of a chain lead.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::schema::program::view::{Chain, InstructionArguments, JumpFalseCall};
use crate::steps;

/// The loops of a chain, and the jumps ahead that are under way.
pub(super) struct Ways {
    /// In order, and apart from each other.
    loops: Vec<Loop>,
    /// By the instruction that they lead to, what was noted at them.
    ahead: BTreeMap<u32, Noted>,
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
    pub(super) fn of(chain: Chain<'_>, len: u32) -> Self {
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
        Self { loops, ahead: BTreeMap::new(), len }
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
