//! The changes that an instruction makes to values.

use super::instruction::{Instruction, Operands};
use crate::operators::{Gives, Signatures};
use pte_schema::program::view::InstructionArguments;

/// A change that an instruction makes to a value, for the abstract interpreter. Nothing is guessed: an
/// unknown operator may replace each argument. Liveness needs less, which is [`Access`](super::Access).
#[derive(Clone, Copy, Debug)]
pub enum ValueChange {
    /// The value at `target` becomes the one at `source`, by a move or as the result of an operator
    /// that works in place.
    Copy {
        /// The index of the source.
        source: i32,
        /// The index of the value.
        target: i32,
    },
    /// The value is replaced by a result.
    Result {
        /// The index of the value.
        target: i32,
        /// What is known of the result.
        gives: Gives,
    },
    /// The tensor becomes a view of the tensor at `base`.
    View {
        /// The index of the value.
        target: i32,
        /// The index of the viewed tensor, if it is known.
        base: Option<i32>,
    },
    /// Argument `arg` is written: the data of the tensor, or of each tensor of the list.
    Write {
        /// The index of the value.
        target: i32,
        /// The number of the argument.
        arg: u32,
    },
    /// An unknown operator may replace the value by any other.
    Any {
        /// The index of the value.
        target: i32,
    },
    /// A delegate may write the tensor, and give it memory.
    Delegate {
        /// The index of the value.
        target: i32,
    },
    /// The memory of the tensor is freed.
    Free {
        /// The index of the value.
        target: i32,
    },
}

/// Calls `change` with each change that an instruction makes, in order. The changes of a known
/// operator follow from its signature.
pub fn for_each_change(
    signatures: &Signatures,
    instruction: &Instruction<'_>,
    mut change: impl FnMut(ValueChange),
) {
    match instruction.operation() {
        Some(InstructionArguments::KernelCall(call)) => {
            let Some(args) = signatures.args(call) else {
                let all = instruction.operands().iter();
                return all.for_each(|target| change(ValueChange::Any { target }));
            };
            let first = instruction.operands().get(0);
            // The result of an operator that works in place is its first argument.
            let mut in_place = None;
            for (nth, target, kind) in args {
                if kind.is_written() {
                    in_place = in_place.or(first.filter(|_| nth == 0));
                    change(ValueChange::Write { target, arg: nth });
                }
                if kind.is_view() {
                    change(ValueChange::View { target, base: first });
                }
                match (kind.gives(), in_place) {
                    (Some(_), Some(source)) => change(ValueChange::Copy { source, target }),
                    (Some(gives), None) => change(ValueChange::Result { target, gives }),
                    (None, _) => {}
                }
            }
        }
        Some(InstructionArguments::DelegateCall(_)) => {
            instruction
                .operands()
                .iter()
                .for_each(|target| change(ValueChange::Delegate { target }));
        }
        Some(InstructionArguments::MoveCall(call)) => {
            change(ValueChange::Copy { source: call.move_from(), target: call.move_to() });
        }
        Some(InstructionArguments::FreeCall(call)) => {
            change(ValueChange::Free { target: call.value_index() });
        }
        Some(InstructionArguments::JumpFalseCall(_) | InstructionArguments::Unknown(_)) | None => {}
    }
}

/// Returns the arguments that a kernel call reads. `None` if the operator is unknown.
pub fn read_arguments<'a>(
    signatures: &Signatures,
    instruction: &Instruction<'a>,
) -> Option<impl Iterator<Item = i32> + use<'a>> {
    let read =
        signatures.args(instruction.kernel_call()?)?.filter(|(.., kind)| kind.gives().is_none());
    Some(read.map(|(_, value, _)| value))
}

/// Returns the operands that an instruction may change, for any operator: all arguments of a call,
/// or the target of a move. `None` for other instructions.
pub fn may_change<'a>(instruction: &Instruction<'a>) -> Option<Operands<'a>> {
    match instruction.operation()? {
        InstructionArguments::KernelCall(_) | InstructionArguments::DelegateCall(_) => {
            Some(instruction.operands())
        }
        InstructionArguments::MoveCall(call) => Some(Operands::one(call.move_to())),
        InstructionArguments::JumpFalseCall(_)
        | InstructionArguments::FreeCall(_)
        | InstructionArguments::Unknown(_) => None,
    }
}

/// Calls `change` with each value that an instruction may change. The signature of a known operator
/// says which values it changes; an unknown operator may change each argument.
pub fn for_each_changed(
    signatures: &Signatures,
    instruction: &Instruction<'_>,
    mut change: impl FnMut(i32),
) {
    for_each_change(signatures, instruction, |one| match one {
        ValueChange::Copy { target, .. }
        | ValueChange::Result { target, .. }
        | ValueChange::View { target, .. }
        | ValueChange::Write { target, .. }
        | ValueChange::Any { target }
        | ValueChange::Delegate { target } => change(target),
        ValueChange::Free { .. } => {}
    });
}
