//! The calls of a delegate: the arguments, against the inputs and outputs of the graph.

use alloc::string::String;

use super::values::{Kind, Values};
use super::{MOST_DIMENSIONS, Site, VULKAN_ARGS};
use crate::report::Findings;
use crate::site::Plan;
use pte_core::method::Instruction;
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::{DelegateCall, KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;
use pte_schema::vulkan::VkDataType;
use pte_schema::vulkan::view::VkTensor;

/// Judges a call of the delegate. The graph has no Error.
pub(super) fn judge(
    site: &Site<'_, '_>,
    values: &Values,
    (plan, instruction, call): (&Plan<'_, '_>, &Instruction<'_>, DelegateCall<'_>),
    out: &mut Findings,
) {
    let args = call.args().unwrap_or_default();
    let inputs = site.graph.input_ids().unwrap_or_default();
    let outputs = site.graph.output_ids().unwrap_or_default();
    let mut find = |message| plan.find_instruction(out, &VULKAN_ARGS, instruction, &[], || message);
    // The list of arguments is as long as both lists of ids, so that no list is read for nothing.
    if wide(args.len()) != wide(inputs.len()).saturating_add(wide(outputs.len())) {
        return find(format!(
            "the graph has {} inputs and {} outputs: found {} arguments",
            inputs.len(),
            outputs.len(),
            args.len()
        ));
    }
    cost::charge(args.len());
    let ids = inputs.iter().map(|id| (id, false)).chain(outputs.iter().map(|id| (id, true)));
    // Until an input is smaller than the graph allows, the outputs have their full shapes.
    let mut is_full = !values.have_symints();
    for (nth, ((id, is_output), arg)) in (0u32..).zip(ids.zip(args)) {
        let kind = values.kind(id.cast_signed());
        let value = plan.value(arg.into());
        let judged = match (kind, value, site.tensor(id)) {
            (Some(Kind::Tensor), Some(KernelTypes::Tensor(arg)), Some(tensor)) => {
                let shape = if is_output {
                    output_shape(arg, tensor, is_full)
                } else {
                    input_shape(arg, tensor)
                };
                is_full &= is_output || is_whole(arg, tensor);
                datatype(arg, tensor).and(shape)
            }
            (Some(Kind::SymInt), Some(KernelTypes::Int(_) | KernelTypes::Null(_)), _) => Ok(()),
            (Some(Kind::SymInt), Some(KernelTypes::Tensor(arg)), _) => match arg.scalar_type() {
                ScalarType::INT | ScalarType::LONG => Ok(()),
                dtype => Err(format!("it is of {dtype}, and the graph's value an integer")),
            },
            // The backend has nothing to write for a constant.
            (Some(Kind::Constant), ..) => Ok(()),
            _ => {
                let kind = plan.kind_name(arg).unwrap_or("nothing");
                Err(format!("it is {kind}, and the graph's value {}", kind_name(values, id)))
            }
        };
        if let Err(message) = judged {
            return find(format!("argument {nth} is of value {id} of the graph: {message}"));
        }
    }
}

fn kind_name(values: &Values, id: u32) -> &'static str {
    values.kind(id.cast_signed()).map_or("nothing", Kind::name)
}

/// Judges the dtype of an argument. The backend converts a few dtypes between an argument and its own buffer.
fn datatype(arg: Tensor<'_>, tensor: VkTensor<'_>) -> Result<(), String> {
    let staging = match tensor.staging_datatype() {
        VkDataType::UNSET => tensor.datatype(),
        staging => staging,
    };
    let dtype = arg.scalar_type();
    let fits: &[ScalarType] = match staging {
        VkDataType::BOOL => &[ScalarType::BOOL],
        VkDataType::UINT8 => &[ScalarType::BYTE],
        VkDataType::INT8 => &[ScalarType::CHAR],
        VkDataType::INT32 => &[ScalarType::INT, ScalarType::LONG],
        VkDataType::INT64 => &[ScalarType::LONG],
        VkDataType::FLOAT16 => &[ScalarType::HALF],
        VkDataType::FLOAT32 => &[ScalarType::FLOAT, ScalarType::DOUBLE, ScalarType::HALF],
        _ => &[ScalarType::DOUBLE],
    };
    match fits.contains(&dtype) {
        true => Ok(()),
        false => Err(format!("it is of {dtype}, and the graph's tensor of {staging}")),
    }
}

/// Judges the sizes of an input: the backend takes smaller ones, of the same rank.
fn input_shape(arg: Tensor<'_>, tensor: VkTensor<'_>) -> Result<(), String> {
    same_rank(arg, tensor)?;
    match pairs(arg, tensor).find(|(size, dim)| size > dim) {
        Some((size, dim)) => Err(format!("it has a size of {size}, and the graph's tensor {dim}")),
        None => Ok(()),
    }
}

/// Judges the sizes of an output. The backend resizes it to the sizes of the graph's tensor, which are the upper
/// bounds if `is_full`.
fn output_shape(arg: Tensor<'_>, tensor: VkTensor<'_>, is_full: bool) -> Result<(), String> {
    same_rank(arg, tensor)?;
    let wrong = match arg.shape_dynamism() == TensorShapeDynamism::STATIC {
        // The graph's tensor may be smaller at run time, but not larger.
        true => pairs(arg, tensor).find(|(size, dim)| size > dim || is_full && size != dim),
        false => None,
    };
    if let Some((size, dim)) = wrong {
        return Err(format!("it has a size of {size}, and the graph's tensor {dim}"));
    }
    let elements = pairs(arg, tensor).fold((1u64, 1u64), |(all, graph), (size, dim)| {
        (all.saturating_mul(size), graph.saturating_mul(dim))
    });
    match elements {
        (have, need) if is_full && have < need => {
            Err(format!("it has room for {have} elements, and the graph's tensor has {need}"))
        }
        _ => Ok(()),
    }
}

fn same_rank(arg: Tensor<'_>, tensor: VkTensor<'_>) -> Result<(), String> {
    let (rank, dims) =
        (arg.sizes().map_or(0, |s| s.len()), tensor.dims().map_or(0, |dims| dims.len()));
    match rank == dims {
        true => Ok(()),
        false => Err(format!("it has {rank} dimensions, and the graph's tensor {dims}")),
    }
}

/// Returns whether an input has the sizes of its tensor and keeps them.
fn is_whole(arg: Tensor<'_>, tensor: VkTensor<'_>) -> bool {
    pairs(arg, tensor).all(|(size, dim)| size == dim)
}

/// Returns each size of an argument with that of the graph's tensor. Negative sizes are reported by other rules.
fn pairs<'t>(arg: Tensor<'t>, tensor: VkTensor<'t>) -> impl Iterator<Item = (u64, u64)> + use<'t> {
    let sizes = arg.sizes().unwrap_or_default().iter().take(MOST_DIMENSIONS);
    let dims = tensor.dims().unwrap_or_default().iter();
    sizes.map(|size| u64::try_from(size).unwrap_or_default()).zip(dims.map(u64::from))
}
