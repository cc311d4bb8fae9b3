//! Dataflow: the effects of calls, moves and frees on the values that other instructions use.
//!
//! A method runs more than once and its values are kept in between. So an instruction may also
//! affect earlier instructions, in the next run. If any instruction changes a value, the method is
//! interpreted abstractly, for at most four runs, or until one changes nothing (`interpreter.rs`). Each
//! instruction is judged in the state at that point (`judge.rs`). If values still change, the method is
//! judged without the order of the instructions (`flow_insensitive.rs`). If no instruction changes a
//! value, each call is judged by itself, with the values of the file.

use self::interpreter::AbstractInterpreter;
pub(super) use self::judge::Judge;
pub(super) use self::rules::RULES;
pub(super) use self::state::State;
use super::kernels::Kernels;
use super::report::Findings;
use super::site::Plan;
use super::values::Values;
use pte_core::method;

mod control_flow;
mod flow_insensitive;
mod interpreter;
mod judge;
mod known;
mod overlap;
mod rules;
mod state;

/// Returns whether all values of a method always equal those in the file, so that each call can be
/// judged by itself.
///
/// If no operator is known, only moves, frees and jumps matter. These are found later, while the
/// instructions are judged.
pub(super) fn is_still(plan: &Plan<'_, '_>, values: &Values, kernels: &Kernels) -> bool {
    if !has_memory_for_all(plan, values) {
        return false;
    }
    let has_other =
        || method::instructions(plan.view).any(|instruction| instruction.is_move_free_or_jump());
    !kernels.signatures.are_known()
        || !kernels.change_values() && !kernels.depend_on_tensors() && !has_other()
}

/// Returns whether every tensor has memory from the start: its data is in the file, or it is
/// planned, or it is an input or an output.
fn has_memory_for_all(plan: &Plan<'_, '_>, values: &Values) -> bool {
    if values.are_stored() {
        return true;
    }
    let mut is_end = plan.each(false);
    for index in [plan.view.inputs(), plan.view.outputs()].into_iter().flatten().flatten() {
        let slot = usize::try_from(index).ok().and_then(|index| is_end.get_mut(index));
        slot.into_iter().for_each(|slot| *slot = true);
    }
    let has_memory =
        |&index| usize::try_from(index).is_ok_and(|nth| is_end.get(nth) == Some(&true));
    values.unstored().iter().all(has_memory)
}

/// Judges all instructions of a method whose values may change.
pub(super) fn check(judge: Judge<'_, '_, '_>, out: &mut Findings) {
    AbstractInterpreter::new(judge).run(out);
}
