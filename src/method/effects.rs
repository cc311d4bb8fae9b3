//! What an instruction does to each value that it names.

use core::fmt;

use alloc::vec;
use alloc::vec::Vec;

use super::defs::Definitions;
use super::instruction::{Instruction, Operands};
use crate::flat::view::Vector;
use crate::operators::{Gives, Kind, Signatures};
use crate::schema::program::view::{
    DelegateCall, ExecutionPlan, InstructionArguments, KernelCall, KernelTypes,
};

/// What an instruction does to one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Access {
    /// Its data or its shape is read.
    Read,
    /// It is written, or replaced by a result.
    Write,
    /// It becomes the first operand, or a view of it.
    Alias,
    /// Its memory is freed.
    Free,
}

impl Access {
    /// Returns whether the value is initialized by it: it is written, or becomes another value.
    pub fn defines(self) -> bool {
        matches!(self, Self::Write | Self::Alias)
    }
}

/// What the instructions of a method do to their operands.
///
/// The file does not say what a call writes. Signatures of the official runtime's operators say it;
/// for other operators and for delegates, the order of arguments does (format.md §6.5).
pub struct Effects<'a> {
    plan: ExecutionPlan<'a>,
    signatures: Signatures,
}

impl<'a> Effects<'a> {
    /// Looks up the operators of `plan`.
    pub fn of(plan: ExecutionPlan<'a>) -> Self {
        Self { plan, signatures: Signatures::of(plan) }
    }

    /// Returns each operand of an instruction with its access; of a kernel call, reads first.
    /// `definitions` has recorded the instructions before it.
    pub fn accesses(
        &self,
        instruction: &Instruction<'a>,
        definitions: &Definitions<'_>,
    ) -> Vec<(i32, Access)> {
        match instruction.operation() {
            Some(InstructionArguments::KernelCall(call)) => self.kernel(call),
            Some(InstructionArguments::DelegateCall(call)) => {
                self.delegate(call, |value| definitions.is_initialized(value))
            }
            Some(InstructionArguments::MoveCall(call)) => {
                vec![(call.move_from(), Access::Read), (call.move_to(), Access::Alias)]
            }
            Some(InstructionArguments::FreeCall(call)) => vec![(call.value_index(), Access::Free)],
            Some(InstructionArguments::JumpFalseCall(call)) => {
                vec![(call.cond_value_index(), Access::Read)]
            }
            Some(InstructionArguments::Unknown(_)) | None => Vec::new(),
        }
    }

    /// Returns the arguments of a kernel call with their accesses, reads first. Results that are
    /// named a second time, one by one or as a list, are returned a second time.
    pub fn kernel(&self, call: KernelCall<'a>) -> Vec<(i32, Access)> {
        let mut accesses = self.by_signature(call).unwrap_or_else(|| self.by_order(call));
        accesses.sort_by_key(|&(_, access)| access);
        accesses
    }

    /// Returns the arguments of a delegate call with their accesses, in the order of the file:
    /// inputs, then outputs.
    ///
    /// The file does not say how many are inputs. The last argument that is initialized before the
    /// call is one, and so are all arguments before it.
    pub fn delegate(
        &self,
        call: DelegateCall<'a>,
        is_initialized: impl Fn(i32) -> bool,
    ) -> Vec<(i32, Access)> {
        let args: Vec<_> = call.args().into_iter().flatten().collect();
        let inputs = args.iter().rposition(|&value| is_initialized(value));
        reads_then_writes(&args, inputs.map_or(0, |last| last.saturating_add(1)))
    }

    fn by_signature(&self, call: KernelCall<'a>) -> Option<Vec<(i32, Access)>> {
        let (_, letters) = self.signatures.signature(call)?;
        // The result of an operator that works in place is its first argument, of which it may
        // change a part.
        let first = letters.chars().next().and_then(Kind::of);
        let has_result = letters.chars().filter_map(Kind::of).any(|kind| kind.gives().is_some());
        let is_in_place = has_result && first.is_some_and(Kind::is_written);
        let mut has_written = false;
        let accesses = self.signatures.args(call)?.map(|(nth, value, kind)| {
            let access = match kind.gives() {
                _ if kind.is_view() => Access::Alias,
                Some(_) if is_in_place => Access::Alias,
                Some(_) => Access::Write,
                None if is_in_place && nth == 0 => Access::Read,
                None if kind.is_written() => {
                    has_written = true;
                    Access::Write
                }
                // Results are named a second time, one by one or as a list, and not read there.
                None if kind.is_anything() && has_written => Access::Write,
                None => Access::Read,
            };
            (value, access)
        });
        Some(accesses.collect())
    }

    /// Finds the results of an unknown operator by the order of its arguments. Every exporter puts
    /// results last, and names them a second time at the end: one by one, or as a list.
    fn by_order(&self, call: KernelCall<'a>) -> Vec<(i32, Access)> {
        let args: Vec<_> = call.args().into_iter().flatten().collect();
        let Some((&last, before)) = args.split_last() else { return Vec::new() };
        let list = written_items(self.plan, last);
        let items: Vec<_> =
            list.filter(|list| list.len() <= before.len()).into_iter().flatten().collect();
        let is_list_again = |&other: &i32| {
            list.is_some() && written_items(self.plan, other).is_some_and(|of| is_same(of, list))
        };
        // Results begin behind that many arguments.
        let reads = match () {
            () if !items.is_empty() && before.ends_with(&items) => {
                before.len().saturating_sub(items.len())
            }
            () if before.last().is_some_and(is_list_again) => before.len().saturating_sub(1),
            () => {
                let repeats = |&count: &usize| {
                    let (front, back) = args.split_at(args.len().saturating_sub(count));
                    front.ends_with(back)
                };
                let count = (1..=MOST_RESULTS.min(before.len())).rev().find(repeats);
                let twice = count.map(|count| count.saturating_mul(2));
                args.len().saturating_sub(twice.unwrap_or(1))
            }
        };
        reads_then_writes(&args, reads)
    }
}

impl fmt::Debug for Effects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effects").finish_non_exhaustive()
    }
}

fn reads_then_writes(args: &[i32], reads: usize) -> Vec<(i32, Access)> {
    let access = |nth: usize| if nth < reads { Access::Read } else { Access::Write };
    args.iter().enumerate().map(|(nth, &value)| (value, access(nth))).collect()
}

/// Returns the items of a list of tensors, optional ones or not; `None` if `value` is no such list.
pub fn items(plan: ExecutionPlan<'_>, value: i32) -> Option<Vector<'_, i32>> {
    match plan.values()?.get(usize::try_from(value).ok()?)?.val()? {
        KernelTypes::TensorList(list) => list.items(),
        KernelTypes::OptionalTensorList(list) => list.items(),
        _ => None,
    }
}

/// Returns the items of a list whose tensors a call may write. No call writes to optional tensors.
pub fn written_items(plan: ExecutionPlan<'_>, value: i32) -> Option<Vector<'_, i32>> {
    match plan.values()?.get(usize::try_from(value).ok()?)?.val()? {
        KernelTypes::TensorList(list) => list.items(),
        _ => None,
    }
}

/// One change that an instruction makes to a value, in terms of what values are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// The value at `target` becomes the one at `source`: by a move, or as the result of an operator
    /// that works in place.
    Copy { source: i32, target: i32 },
    /// The value is replaced by a result.
    Result { target: i32, gives: Gives },
    /// The tensor becomes a view of the tensor at `base`.
    View { target: i32, base: Option<i32> },
    /// The data of the tensor, or of each tensor of the list, is written.
    Write { target: i32 },
    /// An unknown operator may replace the value by any other.
    Any { target: i32 },
    /// A delegate may write the tensor, and give it memory.
    Delegate { target: i32 },
    /// The memory of the tensor is freed.
    Free { target: i32 },
}

/// Passes each change that an instruction makes to `change`, in order. What a call of a known operator
/// changes, its signature says.
pub(crate) fn for_each_change(
    signatures: &Signatures,
    instruction: &Instruction<'_>,
    mut change: impl FnMut(Change),
) {
    match instruction.operation() {
        Some(InstructionArguments::KernelCall(call)) => {
            let Some(args) = signatures.args(call) else {
                let all = instruction.operands().iter();
                return all.for_each(|target| change(Change::Any { target }));
            };
            let first = instruction.operands().get(0);
            // The result of an operator that works in place is its first argument.
            let mut in_place = None;
            for (nth, target, kind) in args {
                if kind.is_written() {
                    in_place = in_place.or(first.filter(|_| nth == 0));
                    change(Change::Write { target });
                }
                if kind.is_view() {
                    change(Change::View { target, base: first });
                }
                match (kind.gives(), in_place) {
                    (Some(_), Some(source)) => change(Change::Copy { source, target }),
                    (Some(gives), None) => change(Change::Result { target, gives }),
                    (None, _) => {}
                }
            }
        }
        Some(InstructionArguments::DelegateCall(_)) => {
            instruction.operands().iter().for_each(|target| change(Change::Delegate { target }));
        }
        Some(InstructionArguments::MoveCall(call)) => {
            change(Change::Copy { source: call.move_from(), target: call.move_to() });
        }
        Some(InstructionArguments::FreeCall(call)) => {
            change(Change::Free { target: call.value_index() });
        }
        Some(InstructionArguments::JumpFalseCall(_) | InstructionArguments::Unknown(_)) | None => {}
    }
}

/// Returns the arguments of a kernel call that it reads. `None` if the operator is unknown.
pub(crate) fn read_arguments<'a>(
    signatures: &Signatures,
    instruction: &Instruction<'a>,
) -> Option<impl Iterator<Item = i32> + use<'a>> {
    let read = signatures.args(instruction.kernel_call()?)?.filter(|(.., kind)| kind.gives().is_none());
    Some(read.map(|(_, value, _)| value))
}

/// Returns the operands that an instruction may change, for any operator: all arguments of a call, and
/// the target of a move. `None` if an instruction of its kind changes none.
pub(crate) fn may_change<'a>(instruction: &Instruction<'a>) -> Option<Operands<'a>> {
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

/// Passes the values that an instruction may change to `change`. What a call of a known operator
/// changes, its signature says; of an unknown one, each argument may change.
pub(crate) fn for_each_changed(
    signatures: &Signatures,
    instruction: &Instruction<'_>,
    mut change: impl FnMut(i32),
) {
    for_each_change(signatures, instruction, |one| match one {
        Change::Copy { target, .. }
        | Change::Result { target, .. }
        | Change::View { target, .. }
        | Change::Write { target }
        | Change::Any { target }
        | Change::Delegate { target } => change(target),
        Change::Free { .. } => {}
    });
}

/// Returns whether two lists have the same tensors; their first [`MOST_RESULTS`] items are compared.
fn is_same(list: Vector<'_, i32>, other: Option<Vector<'_, i32>>) -> bool {
    other.is_some_and(|other| {
        list.len() == other.len()
            && !list.is_empty()
            && list.iter().zip(other).take(MOST_RESULTS).all(|(one, other)| one == other)
    })
}

/// More results than any operator has.
const MOST_RESULTS: usize = 16;
