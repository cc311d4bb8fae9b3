//! The calls of a delegate: the arguments, against the inputs and outputs of the graph.

use alloc::string::String;

use super::{MLX_ARGS, MLX_UNREAD, Site, is_datatype};
use crate::report::Findings;
use crate::site::Plan;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::method::Instruction;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_schema::mlx::SlotType;
use pte_schema::mlx::view::TensorMeta;
use pte_schema::program::view::{DelegateCall, KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;

/// Judges a call of the delegate. The graph has no Error.
pub(super) fn judge(
    site: &Site<'_, '_>,
    (plan, instruction, call): (&Plan<'_, '_>, &Instruction<'_>, DelegateCall<'_>),
    out: &mut Findings,
) {
    let graph = site.graph;
    let args = call.args().unwrap_or_default();
    let inputs = graph.input_map().unwrap_or_default();
    let outputs = graph.output_map().unwrap_or_default();
    // The list of arguments is as long as both lists of slots, so that no list is read for nothing.
    if args.len() != inputs.len().saturating_add(outputs.len()) {
        return plan.find_instruction(out, &MLX_ARGS, instruction, &[], || {
            format!(
                "the graph has {} inputs and {} outputs: found {} arguments",
                inputs.len(),
                outputs.len(),
                args.len()
            )
        });
    }
    cost::charge(args.len());
    let metas = graph.tensor_meta().unwrap_or_default();
    let slots = inputs.iter().map(|slot| (slot, false));
    let slots = slots.chain(outputs.iter().map(|slot| (slot, true)));
    for (nth, ((slot, is_output), arg)) in (0u32..).zip(slots.zip(args)) {
        let kind = || plan.kind_name(arg).unwrap_or("nothing");
        let is_tensor = slot.slot_type() == SlotType::TensorSlot;
        let meta = metas.get(index(slot.idx())).filter(|_| is_tensor);
        let wrong = match (slot.slot_type(), plan.value(arg.into())) {
            (SlotType::TensorSlot, Some(KernelTypes::Tensor(tensor))) => {
                let meta = meta.filter(|_| !is_output);
                datatype(tensor, meta).or_else(|| layout(tensor).filter(|_| !is_output))
            }
            (SlotType::TensorSlot, _) => Some(format!("it is {}, and the slot a tensor", kind())),
            // The backend replaces the argument of an output by an Int.
            (_, Some(KernelTypes::Int(_))) => None,
            _ if is_output => None,
            _ => Some(format!("it is {}, and the slot an Int", kind())),
        };
        let unread = match (meta, plan.value(arg.into())) {
            (Some(meta), Some(KernelTypes::Tensor(tensor))) => shape(tensor, meta),
            _ => None,
        };
        let found = wrong.map(|message| (&MLX_ARGS, message));
        if let Some((rule, message)) = found.or(unread.map(|message| (&MLX_UNREAD, message))) {
            return plan.find_instruction(out, rule, instruction, &[], || {
                format!("argument {nth} is of tensor {} of the graph: {message}", slot.idx())
            });
        }
    }
}

/// Judges the dtype of an argument. An input has the datatype of the graph's tensor, if that is in the graph.
fn datatype(arg: Tensor<'_>, meta: Option<TensorMeta<'_>>) -> Option<String> {
    let dtype = arg.scalar_type();
    let expected = meta.map_or(dtype, |meta| ScalarType(meta.scalar_type()));
    match (is_datatype(dtype.0), dtype == expected) {
        (false, _) => Some(format!("it is of {dtype}, which MLX does not have")),
        (_, false) => Some(format!("it is of {dtype}, and the graph's tensor of {expected}")),
        _ => None,
    }
}

/// Judges the order of the dimensions of an input. Tensors with a dimension of size 1 may be contiguous in several.
fn layout(arg: Tensor<'_>) -> Option<String> {
    let mut order = (0..).zip(arg.dim_order().into_iter().flatten()).take(MOST_DIMENSIONS);
    let is_contiguous = order.all(|(nth, dim)| nth == dim);
    let has_one = arg.sizes().into_iter().flatten().take(MOST_DIMENSIONS).any(|size| size <= 1);
    (!is_contiguous && !has_one).then(|| "its dimensions are not in order".into())
}

/// Compares the sizes of an argument with those of the graph's tensor, which the backend does not read.
fn shape(arg: Tensor<'_>, meta: TensorMeta<'_>) -> Option<String> {
    let (sizes, shape) = (arg.sizes().unwrap_or_default(), meta.shape().unwrap_or_default());
    if sizes.len() != shape.len() {
        let (rank, dims) = (sizes.len(), shape.len());
        return Some(format!("it has {rank} dimensions, and the graph's tensor {dims}"));
    }
    let mut pairs = sizes.iter().zip(shape.iter().map(|dim| dim.value()));
    let (size, dim) = pairs.find(|(size, dim)| *dim >= 0 && size != dim)?;
    Some(format!("it has a size of {size}, and the graph's tensor {dim}"))
}
