//! Flow: what calls, moves and frees do to the values that others use.
//!
//! A method runs more than once, and its values stay as they are in between: what comes later in
//! the chain counts as well. So where anything changes a value, the method is replayed, twice
//! (`replay.rs`), and each instruction is judged by what it meets (`judge.rs`). Where nothing does,
//! each call is judged by itself, by what the file has.

use alloc::vec;
use alloc::vec::Vec;

pub(super) use self::judge::Judge;
use self::replay::Replay;
pub(super) use self::state::State;
use super::Findings;
use super::kernels::Kernels;
use super::rule::rules;
use super::spot::Plan;
use super::values::Values;
use crate::error::PathComponent;
use crate::flat::view::{Raw, Table};
use crate::schema::program::TensorDataLocation;
use crate::schema::program::view::{InstructionArguments, KernelTypes};

mod judge;
mod overlap;
mod replay;
mod state;
mod ways;

rules! {
    "flow";

    MOVE_TYPE = Error "move-type"
        "What a call, a jump, a free, a list or an input uses is of the kind that it asks for, also after a move has put another value there."
        "What is read is of another kind than planned: a kernel's conversion aborts, and a jump is refused."
        Crashes ["6.5", "7.4.40", "7.4.41", "7.7.16"];
    MOVE_TYPE_UNREAD = Warning "move-type-unread"
        "A value is moved onto one of its kind, even if nothing asks for it."
        "No writer does this: the value is planned for another kind."
        Ignores ["7.4.40", "7.7.16"];
    MOVE_UNSTORED = Error "move-unstored"
        "What is used is no tensor without a place for its data that a move has put there."
        "The kernel that uses it reads or writes through a null pointer."
        Crashes ["6.1", "7.4.41"];
    RESULT_TYPE = Error "result-type"
        "The result of a primitive operator is of the kind that a call, a jump, a free, a list or an input asks for that uses it."
        "The result takes its value's kind with it: a kernel's conversion aborts, and a jump is refused."
        Crashes ["6.5", "7.4.42", "7.7.16"];
    USE_AFTER_FREE = Error "use-after-free"
        "No call, jump, list, planned input or output uses a tensor that is freed, under whatever index, unless it gets memory again."
        "Its data is gone, also when the method runs again: the next use reads or writes through a null pointer."
        Crashes ["6.5", "7.4.43", "7.7.16"];
    CONSTANT_WRITTEN = Error "constant-written"
        "No kernel writes to a constant, nor to what holds one or is a view of one by then; nor are inputs copied there."
        "The file's own bytes are overwritten, or the program dies where they are mapped or in ROM."
        Misreads ["6.1", "7.4.44", "7.7.16"];
    ARGS_OVERLAP = Warning "args-overlap"
        "What a call writes to shares no planned bytes with another of its arguments."
        "The kernel overwrites what it has yet to read."
        Ignores ["6.2", "7.7.18"];
    INDEX_OVERLAP = Error "index-overlap"
        "What a scatter writes to shares no planned bytes with its index."
        "The index is checked first and overwritten then: the kernel writes where it says."
        Misreads ["6.2", "7.4.46", "7.7.18"];
}

/// Whether no value of a plan changes while it runs, so that each call may be judged by itself. Where
/// no operator is known, moves, frees and jumps are not looked for: nothing but them is judged.
pub(super) fn is_still(plan: &Plan<'_, '_>, values: &Values, kernels: &Kernels) -> bool {
    are_given(plan, values) && (!kernels.are_known() || !kernels.are_flowing() && !changes(plan))
}

/// Whether every tensor has a place for its data from the start: it is in the file, or is an input
/// or an output.
fn are_given(plan: &Plan<'_, '_>, values: &Values) -> bool {
    if values.are_stored() {
        return true;
    }
    let mut given = plan.each(false);
    for index in [plan.view.inputs(), plan.view.outputs()].into_iter().flatten().flatten() {
        let given = usize::try_from(index).ok().and_then(|index| given.get_mut(index));
        given.into_iter().for_each(|given| *given = true);
    }
    let is_given = |&index| usize::try_from(index).is_ok_and(|nth| given.get(nth) == Some(&true));
    values.unstored().iter().all(is_given)
}

/// Whether any instruction is neither a call nor a delegate's.
fn changes(plan: &Plan<'_, '_>) -> bool {
    let chains = plan.view.chains().into_iter().flatten();
    let mut all = chains.flat_map(|chain| chain.instructions().into_iter().flatten());
    all.any(|instruction| changes_values(instruction.instr_args()))
}

/// Whether an instruction changes values, or the order of others.
pub(super) fn changes_values(args: Option<InstructionArguments<'_>>) -> bool {
    matches!(
        args,
        Some(
            InstructionArguments::MoveCall(_)
                | InstructionArguments::FreeCall(_)
                | InstructionArguments::JumpFalseCall(_)
        )
    )
}

/// Judges all instructions of a plan in which something changes a value.
pub(super) fn check(plan: &Plan<'_, '_>, values: &Values, kernels: &Kernels, out: &mut Findings) {
    Replay::new(Judge { plan, values, kernels }).run(out);
}

/// The table of an instruction's arguments, and the way to one of them.
fn place(
    (chain, nth): (u32, u32),
    args: InstructionArguments<'_>,
    arg: Option<u32>,
) -> (Option<Raw<'_>>, Vec<PathComponent>) {
    let (table, field) = match args {
        InstructionArguments::KernelCall(call) => (Some(call.raw()), Some("args")),
        InstructionArguments::DelegateCall(call) => (Some(call.raw()), Some("args")),
        InstructionArguments::MoveCall(call) => (Some(call.raw()), None),
        InstructionArguments::JumpFalseCall(call) => (Some(call.raw()), Some("cond_value_index")),
        InstructionArguments::FreeCall(call) => (Some(call.raw()), Some("value_index")),
        InstructionArguments::Unknown(_) => (None, None),
    };
    let mut steps = vec![
        PathComponent::Field("chains"),
        PathComponent::Index(chain),
        PathComponent::Field("instructions"),
        PathComponent::Index(nth),
        PathComponent::Field("instr_args"),
    ];
    steps.extend(args.name().map(PathComponent::Variant));
    steps.extend(field.map(PathComponent::Field));
    steps.extend(arg.map(PathComponent::Index));
    (table, steps)
}

/// Whether the value is a tensor whose bytes are the file's, or a `.ptd`'s.
pub(super) fn is_constant(plan: &Plan<'_, '_>, index: i32) -> bool {
    let Some(KernelTypes::Tensor(tensor)) = plan.value(index.into()) else { return false };
    let external = || {
        let extra = tensor.extra_tensor_info();
        extra.is_some_and(|extra| extra.location() == TensorDataLocation::EXTERNAL)
    };
    tensor.allocation_info().is_none() && (tensor.data_buffer_idx() != 0 || external())
}
