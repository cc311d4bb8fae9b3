//! The calls of a delegate: the arguments, against the inputs and outputs of the payload.

use alloc::string::String;

use super::{Resource, TENSOR, UNSET, VGF_ARGS};
use crate::report::Findings;
use crate::site::{Plan, nbytes};
use pte_core::method::Instruction;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::DelegateCall;
use pte_schema::vgf::view::{BindingSlot, ModelSequenceTable};

/// Judges a call. The payload has no Error.
pub(super) fn judge(
    sequence: ModelSequenceTable<'_>,
    resources: &[Resource],
    (plan, instruction, call): (&Plan<'_, '_>, &Instruction<'_>, DelegateCall<'_>),
    out: &mut Findings,
) {
    let args = call.args().unwrap_or_default();
    let (inputs, outputs) = (sequence.inputs().unwrap_or_default(), sequence.outputs());
    let outputs = outputs.unwrap_or_default();
    // An input that the graph does not use has a name, and no slot.
    let first_output = sequence.input_names().map_or(0, |names| names.len());
    let count = first_output.saturating_add(outputs.len());
    let mut find = |message: String| {
        plan.find_instruction(out, &VGF_ARGS, instruction, &[], || message);
    };
    // The list of arguments is as long as both lists of slots, so that no list is read for nothing.
    if args.len() < count {
        return find(format!(
            "the payload has {count} inputs and outputs: found {} arguments",
            args.len()
        ));
    }
    cost::charge(count);
    let inputs = inputs.iter().map(|slot| (index(slot.binding()), slot));
    let outputs = (first_output..).zip(outputs.iter());
    for (nth, slot) in inputs.chain(outputs) {
        let wrong = args.get(nth).and_then(|arg| unfit(plan, arg, slot, resources));
        if let Some(message) = wrong {
            return find(format!("argument {nth} {message}"));
        }
    }
}

/// Returns what is wrong with an argument; `None` if the backend takes it.
fn unfit(
    plan: &Plan<'_, '_>,
    arg: i32,
    slot: BindingSlot<'_>,
    resources: &[Resource],
) -> Option<String> {
    let Some(tensor) = plan.tensor(arg.into()) else {
        let kind = plan.kind_name(arg).unwrap_or("nothing");
        return Some(format!("is {kind}: expected a Tensor"));
    };
    let resource = resources.get(index(slot.mrt_index()))?;
    let is_static = tensor.shape_dynamism() == TensorShapeDynamism::STATIC;
    if !is_static || ![TENSOR, UNSET].contains(&resource.descriptor) {
        return None;
    }
    let (bytes, need) = (nbytes(tensor)?, resource.bytes);
    (bytes != need).then(|| format!("has {bytes} bytes, and the payload's tensor {need}"))
}
