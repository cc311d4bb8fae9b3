//! The calls of a graph: the arguments, and the shapes that the nodes compute from them.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::budget::Work;
use super::packed::Packed;
use super::shape::{MOST_DIMENSIONS, Shape, bits, is_small};
use super::shapes::{Fault, ShapeRelease};
use super::value::{External, Quantization, Value, Values};
use super::{Judged, Site, XNNPACK_ARGS, XNNPACK_SHAPE, shapes};
use crate::report::Findings;
use crate::rule::Broken;
use crate::site::Plan;
use pte_core::method::Instruction;
use pte_core::payload::xnnpack::NodeIds;
use pte_flat::bytes::{index, wide};
use pte_flat::cost;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::{DelegateCall, Tensor};
use pte_schema::scalar::ScalarType;
use pte_schema::xnnpack::XNNDatatype;

/// What was seen in the graphs of a file.
#[derive(Default)]
pub(in crate::payloads) struct Seen {
    /// The layers with named weights.
    pub(super) packed: Packed,
    /// The argument shapes that were already judged, with the index of the method and the delegate.
    shapes: BTreeSet<(u32, u32, Vec<u64>)>,
}

impl Seen {
    /// Judges a call of a graph.
    pub(in crate::payloads) fn judge<'p>(
        &mut self,
        site: &Site<'_, 'p>,
        judged: &Judged<'p>,
        ((plan, delegate), instruction, call): (
            (&Plan<'_, '_>, u32),
            Instruction<'_>,
            DelegateCall<'_>,
        ),
        work: &mut Work,
        out: &mut Findings,
    ) {
        let mut find = |rule, message: String| {
            plan.find_instruction(out, rule, &instruction, &[], || message);
        };
        let values = wide(judged.values.all().len());
        if !work.pay(values) {
            return find(&XNNPACK_SHAPE, TOO_MUCH.into());
        }
        let mut shapes = Vec::new();
        for value in judged.values.all() {
            match arg(plan, value, call) {
                Ok(shape) => shapes.push(shape),
                Err((rule, message)) => return find(rule, message),
            }
        }
        // Most calls of a graph have the same shapes, which are judged once.
        let key: Vec<u64> = shapes
            .iter()
            .flatten()
            .flat_map(|arg| {
                let rank = wide(arg.shape.rank());
                [rank, arg.is_static.into()].into_iter().chain(arg.shape.sizes().iter().copied())
            })
            .collect();
        cost::look_up("", self.shapes.len());
        if !self.shapes.insert((plan.nth, delegate, key)) {
            return;
        }
        let nodes = site.root().xnodes().map_or(0, |nodes| wide(nodes.len()));
        if !work.pay(nodes) {
            return find(&XNNPACK_SHAPE, TOO_MUCH.into());
        }
        let current = propagate(site, &judged.values, &shapes, ShapeRelease::Current);
        // A graph that the current backend merely refuses may be written for the old backend.
        let is_old =
            |_: &String| propagate(site, &judged.values, &shapes, ShapeRelease::Old).is_ok();
        match current {
            Ok(()) => {}
            Err(Fault::Refused(message)) if is_old(&message) => {}
            Err(Fault::Refused(message) | Fault::Unsafe(message)) => find(&XNNPACK_SHAPE, message),
        }
    }
}

/// An argument of a call.
struct Arg {
    /// The sizes in the order of memory, outermost first. For an output, the greatest sizes.
    shape: Shape,
    /// Whether the sizes cannot change.
    is_static: bool,
}

/// Returns the argument of an input or output of the graph; `None` for other values.
fn arg(
    plan: &Plan<'_, '_>,
    value: &Value<'_>,
    call: DelegateCall<'_>,
) -> Result<Option<Arg>, Broken> {
    let (External::Input(id) | External::Output(id)) = value.external else { return Ok(None) };
    let args = call.args().unwrap_or_default();
    let Some(arg) = args.get(index(id)) else {
        let len = args.len();
        return Err((&XNNPACK_ARGS, format!("the graph uses argument {id}, and there are {len}")));
    };
    let Some(tensor) = plan.tensor(arg.into()) else {
        let kind = plan.kind_name(arg).unwrap_or("nothing");
        return Err((&XNNPACK_ARGS, format!("argument {id} is {kind}: the graph takes a Tensor")));
    };
    let is_output = matches!(value.external, External::Output(_));
    let (dtype, datatype) = (tensor.scalar_type(), value.stored);
    if !fits(dtype, datatype, is_output) {
        return Err((
            &XNNPACK_ARGS,
            format!("argument {id} is of {dtype}, and the graph's value of {datatype}"),
        ));
    }
    let Some(shape) = shape_of(tensor) else {
        let rank = tensor.sizes().map_or(0, |sizes| sizes.len());
        return Err((
            &XNNPACK_SHAPE,
            format!("argument {id} has {rank} dimensions: at most {MOST_DIMENSIONS} are taken"),
        ));
    };
    let is_static = tensor.shape_dynamism() == TensorShapeDynamism::STATIC;
    Ok(Some(Arg { shape, is_static }))
}

/// Returns the sizes of a tensor in the order of its memory. `None` for too many dimensions. Other
/// faults of the sizes are reported by other rules.
fn shape_of(tensor: Tensor<'_>) -> Option<Shape> {
    let sizes = tensor.sizes().unwrap_or_default();
    if sizes.len() > MOST_DIMENSIONS {
        return None;
    }
    let order = tensor.dim_order().unwrap_or_default();
    let size = |nth: usize| {
        let from = order.get(nth).map_or(nth, usize::from);
        sizes.get(from).and_then(|size| u64::try_from(size).ok()).unwrap_or_default()
    };
    Shape::new((0..sizes.len()).map(size))
}

/// Returns whether a tensor of a dtype can be a value of the graph.
fn fits(dtype: ScalarType, datatype: XNNDatatype, is_output: bool) -> bool {
    match datatype {
        XNNDatatype::xnn_datatype_fp32 | XNNDatatype::xnn_datatype_pfp32 => {
            dtype == ScalarType::FLOAT
        }
        XNNDatatype::xnn_datatype_fp16 => dtype == ScalarType::HALF,
        XNNDatatype::xnn_datatype_bf16 => dtype == ScalarType::BFLOAT16,
        XNNDatatype::xnn_datatype_qint8 => dtype == ScalarType::CHAR,
        XNNDatatype::xnn_datatype_quint8 => dtype == ScalarType::BYTE,
        // The backend widens int32 indices to LONG in place after a run.
        XNNDatatype::xnn_datatype_int32 => {
            dtype == ScalarType::INT || is_output && dtype == ScalarType::LONG
        }
        _ => false,
    }
}

/// Computes the shapes of all values, and compares the shapes of outputs with the arguments.
fn propagate<'p>(
    site: &Site<'_, 'p>,
    values: &Values<'p>,
    args: &[Option<Arg>],
    release: ShapeRelease,
) -> Result<(), Fault> {
    let mut shapes: Vec<Shape> = Vec::new();
    for (value, arg) in values.all().iter().zip(args) {
        let is_input = matches!(value.external, External::Input(_));
        shapes.push(match arg {
            Some(arg) if is_input => arg.shape,
            _ => value.shape(),
        });
    }
    let shape_at = |shapes: &[Shape], id: u32| {
        values.index_of(id).and_then(|at| shapes.get(index(at)).copied())
    };
    for (nth, node) in (0u32..).zip(site.root().xnodes().into_iter().flatten()) {
        let Some(operator) = node.xnode_union() else { continue };
        let Some(ids) = NodeIds::of(operator) else { continue };
        let inputs: Option<Vec<Shape>> =
            ids.inputs().iter().map(|&id| shape_at(&shapes, id)).collect();
        for (&id, shape) in ids.inputs().iter().zip(inputs.iter().flatten()) {
            if let Some(value) = values.get(id) {
                dynamic_fits(value, shape).map_err(|fault| fault.at(nth))?;
            }
        }
        let shape = shapes::outputs(operator, &inputs.unwrap_or_default(), release);
        let shape = shape.map_err(|fault| fault.at(nth))?;
        for &id in ids.outputs() {
            let (Some(value), Some(at)) = (values.get(id), values.index_of(id)) else { continue };
            let bits = bits(value.datatype).unwrap_or_default();
            if !is_small(shape.elements(), bits) {
                return Err(Fault::Unsafe(format!("{shape} takes 4 GiB or more")).at(nth));
            }
            dynamic_fits(value, &shape).map_err(|fault| fault.at(nth))?;
            if let Some(to) = shapes.get_mut(index(at)) {
                *to = shape;
            }
        }
    }
    for ((value, arg), shape) in values.all().iter().zip(args).zip(&shapes) {
        let (External::Output(id), Some(arg)) = (value.external, arg) else { continue };
        let fits = match arg.is_static {
            true => arg.shape == *shape,
            // The backend resizes the argument to the smaller output.
            false => arg.shape.rank() == shape.rank() && shape.elements() <= arg.shape.elements(),
        };
        if !fits {
            let args = arg.shape;
            let message = format!("the nodes compute {shape}, and argument {id} is of {args}");
            return Err(Fault::Refused(message));
        }
    }
    Ok(())
}

/// Judges a value that is quantized at run time: its rank must be at least the number of
/// dimensions that share a scale.
fn dynamic_fits(value: &Value<'_>, shape: &Shape) -> Result<(), Fault> {
    match value.quantization {
        Quantization::Dynamic { dimensions } if dimensions > shape.rank() => {
            Err(Fault::Unsafe(format!("{dimensions} dimensions of {shape} share a scale")))
        }
        _ => Ok(()),
    }
}

/// The message for a call that is not judged, since the budget is spent.
const TOO_MUCH: &str = "the calls of large graphs are too many to judge them all";
