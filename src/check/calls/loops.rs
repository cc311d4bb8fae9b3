//! Loops: whether anything on the way back changes what ends them.

use alloc::vec::Vec;

use crate::check::spot::Plan;
use crate::schema::program::view::InstructionArguments;

/// Which values the instructions so far may have changed, and when last.
///
/// Instructions are counted through all chains of a method, so that nothing has to be forgotten from
/// one chain to the next.
pub(super) struct Loops {
    /// One more than the instruction that changed each value last; 0 for none.
    changed: Vec<u32>,
    /// The same for any value, and for jumps.
    called: u32,
    jumped: u32,
    /// Instructions of the chains before.
    before: u32,
}

impl Loops {
    pub(super) fn new(plan: &Plan<'_, '_>) -> Self {
        Self { changed: plan.each(0), called: 0, jumped: 0, before: 0 }
    }

    /// A chain of so many instructions is over.
    pub(super) fn end(&mut self, instructions: u32) {
        self.before = self.before.saturating_add(instructions);
    }

    /// Looks at the next instruction of a chain: where it jumps back to, and its condition, if
    /// nothing on the way may change that one. Tensors may share memory, so that any call may change
    /// them.
    pub(super) fn step(
        &mut self,
        nth: u32,
        instruction: Option<InstructionArguments<'_>>,
        is_bool: impl Fn(i32) -> bool,
    ) -> Option<(i32, u32)> {
        let now = self.before.saturating_add(nth).saturating_add(1);
        let args = match instruction? {
            InstructionArguments::KernelCall(call) => call.args(),
            InstructionArguments::DelegateCall(call) => call.args(),
            InstructionArguments::MoveCall(call) => {
                self.called = now;
                self.change(call.move_to(), now);
                return None;
            }
            InstructionArguments::JumpFalseCall(jump) => {
                let condition = jump.cond_value_index();
                let jumped = core::mem::replace(&mut self.jumped, now);
                let to =
                    u32::try_from(jump.destination_instruction()).ok().filter(|&to| to < nth)?;
                let begin = self.before.saturating_add(to);
                let changed = match is_bool(condition) {
                    true => *self.changed.get(usize::try_from(condition).ok()?)?,
                    false => self.called,
                };
                return (jumped <= begin && changed <= begin).then_some((condition, to));
            }
            _ => return None,
        };
        self.called = now;
        for index in args.into_iter().flatten() {
            self.change(index, now);
        }
        None
    }

    fn change(&mut self, index: i32, now: u32) {
        let value = usize::try_from(index).ok().and_then(|index| self.changed.get_mut(index));
        if let Some(value) = value {
            *value = now;
        }
    }
}
