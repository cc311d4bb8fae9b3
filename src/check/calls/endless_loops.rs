//! Endless loops: whether an instruction of a loop may change the condition of its backward jump.

use alloc::vec::Vec;

use crate::constant_bools::ConstantBools;
use crate::kernels::Kernels;
use crate::site::Plan;
use pte_core::method::{self, Instruction, Jump};
use pte_core::operators::Signatures;
use pte_flat::cost;

/// Finds loops that never change the condition of their backward jump.
///
/// `changed` and `called` hold the pc of an instruction plus 1, or 0 for none. Pcs run through all chains of a method,
/// so no field is reset between two chains.
pub(super) struct EndlessLoopFinder<'c> {
    signatures: &'c Signatures,
    /// For each value, the last instruction that may have changed it.
    changed: Vec<u32>,
    /// The last call or move.
    called: u32,
    /// The jumps so far of which none later has a greater target, and those of which none later has a smaller one.
    farthest: Jumps,
    nearest: Jumps,
    constants: ConstantBools,
}

impl<'c> EndlessLoopFinder<'c> {
    pub(super) fn new(plan: &Plan<'_, '_>, kernels: &'c Kernels) -> Self {
        let constants = ConstantBools::of(plan, kernels);
        let signatures = &kernels.signatures;
        Self {
            signatures,
            changed: plan.each(0),
            called: 0,
            farthest: Jumps::default(),
            nearest: Jumps::default(),
            constants,
        }
    }

    /// Records the next instruction. Returns the jump if the instruction is a backward jump, no jump leaves its
    /// loop, and nothing in the loop changes the condition. A jump to itself is backward too.
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
        let pc = instruction.pc();
        self.farthest.push(pc, jump.target, |last| last <= jump.target);
        self.nearest.push(pc, jump.target, |last| last >= jump.target);
        let begin = Some(jump.target).filter(|&target| target <= pc)?;
        let leaves =
            self.farthest.since(begin) > Some(pc) || self.nearest.since(begin) < Some(begin);
        let changed = match is_bool(jump.condition) {
            true => *self.changed.get(usize::try_from(jump.condition).ok()?)?,
            false => self.called,
        };
        (!leaves && changed <= begin).then_some(jump)
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

/// Jumps in the order of their pcs, whose targets only rise or only fall.
#[derive(Default)]
struct Jumps(Vec<(u32, u32)>);

impl Jumps {
    /// Adds a jump, after those before it whose targets `is_hidden` says to drop.
    fn push(&mut self, pc: u32, target: u32, is_hidden: impl Fn(u32) -> bool) {
        while self.0.pop_if(|&mut (_, last)| is_hidden(last)).is_some() {}
        self.0.push((pc, target));
    }

    /// Returns the extreme target of the jumps from a pc on.
    fn since(&self, pc: u32) -> Option<u32> {
        cost::look_up("", self.0.len());
        let first = self.0.partition_point(|&(at, _)| at < pc);
        self.0.get(first).map(|&(_, target)| target)
    }
}
