//! Endless loops: whether an instruction of a loop may change the condition of its backward jump.

use alloc::vec::Vec;

use crate::constant_bools::ConstantBools;
use crate::kernels::Kernels;
use crate::site::Plan;
use pte_core::method::{self, Instruction, Jump};
use pte_core::operators::Signatures;

/// Finds loops that never change the condition of their backward jump.
///
/// `changed`, `called` and `jumped` hold the pc of an instruction plus 1, or 0 for none. Pcs run
/// through all chains of a method, so these fields are not reset between two chains.
pub(super) struct EndlessLoopFinder<'c> {
    signatures: &'c Signatures,
    /// For each value, the last instruction that may have changed it.
    changed: Vec<u32>,
    /// The last call or move.
    called: u32,
    /// The last jump.
    jumped: u32,
    constants: ConstantBools,
}

impl<'c> EndlessLoopFinder<'c> {
    pub(super) fn new(plan: &Plan<'_, '_>, kernels: &'c Kernels) -> Self {
        let constants = ConstantBools::of(plan, kernels);
        let signatures = kernels.signatures();
        Self { signatures, changed: plan.each(0), called: 0, jumped: 0, constants }
    }

    /// Records the next instruction. Returns the jump if the instruction is a backward jump whose
    /// loop has no other jump and never changes the condition. A jump to itself is backward too.
    ///
    /// Any call may change a condition that is a tensor, since tensors may share memory.
    pub(super) fn record(
        &mut self,
        instruction: &Instruction<'_>,
        is_bool: impl Fn(i32) -> bool,
    ) -> Option<Jump> {
        let now = instruction.pc().saturating_add(1);
        let Some(jump) = instruction.jump() else {
            if method::may_change(instruction).is_some() {
                self.called = now;
            }
            let signatures = self.signatures;
            method::for_each_changed(signatures, instruction, |index| self.change(index, now));
            return None;
        };
        let jumped = core::mem::replace(&mut self.jumped, now);
        let begin = Some(jump.target).filter(|&target| target <= instruction.pc())?;
        let changed = match is_bool(jump.condition) {
            true => *self.changed.get(usize::try_from(jump.condition).ok()?)?,
            false => self.called,
        };
        (jumped <= begin && changed <= begin).then_some(jump)
    }

    /// Returns whether a value is a Bool that is false in the file, and that neither an instruction
    /// nor the caller can change.
    pub(super) fn is_always_false(&self, plan: &Plan<'_, '_>, value: i32) -> bool {
        self.constants.get(plan, value) == Some(false)
    }

    fn change(&mut self, index: i32, now: u32) {
        let value = usize::try_from(index).ok().and_then(|index| self.changed.get_mut(index));
        if let Some(value) = value {
            *value = now;
        }
    }
}
