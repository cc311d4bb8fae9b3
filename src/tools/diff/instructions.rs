//! The instructions of a method by pc, without a copy of each.

use alloc::vec::Vec;

use pte_core::method::{self, Instruction};
use pte_flat::bytes::{index as at_index, narrow};
use pte_schema::program::view::ExecutionPlan;

/// The instructions of a method.
pub(super) struct Instructions<'a> {
    view: ExecutionPlan<'a>,
    /// The pc of the first instruction of each chain.
    begins: Vec<u32>,
    len: u32,
}

impl<'a> Instructions<'a> {
    pub(super) fn of(view: ExecutionPlan<'a>) -> Self {
        let mut len = 0u32;
        let chains = view.chains().into_iter().flatten();
        let begins = chains.map(|chain| {
            let begin = len;
            let count = chain.instructions().map_or(0, |all| all.len());
            len = len.saturating_add(narrow(count));
            begin
        });
        let begins = begins.collect();
        Self { view, begins, len }
    }

    pub(super) fn len(&self) -> usize {
        at_index(self.len)
    }

    /// Returns the instruction with this pc.
    pub(super) fn get(&self, pc: u32) -> Option<Instruction<'a>> {
        // Chains without instructions begin where the next one does.
        let chain = self.begins.partition_point(|&begin| begin <= pc).checked_sub(1)?;
        let begin = *self.begins.get(chain)?;
        let all = self.view.chains()?.get(chain)?.instructions()?;
        let index = pc.checked_sub(begin)?;
        let pcs = (begin, begin.saturating_add(narrow(all.len())));
        Some(Instruction::decode((narrow(chain), index), pcs, all.get(at_index(index))?))
    }

    /// Returns all instructions, in the order of their pcs.
    pub(super) fn iter(&self) -> impl Iterator<Item = Instruction<'a>> + use<'a> {
        method::instructions(self.view)
    }
}
