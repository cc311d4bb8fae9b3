//! Rules on payloads of OpenVINO: what its CPU plugin refuses, and the arguments of calls (docs/format.md §11.15).
//!
//! Payloads of other plugins are opaque.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{BackendRules, Bytes, Judge, Outcome, Subject, User, reason};
use crate::rule::rules;
use crate::site::Plan;
use pte_core::Backend;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::payload::openvino::{Model, Port};
use pte_core::payload::{Sections, Unreadable};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;
use pte_flat::quoted::Quoted;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::KernelTypes;
use pte_schema::scalar::ScalarType;

rules! {
    "openvino";

    OPENVINO_MODEL = Error "openvino-model"
        "The parts of a payload of OpenVINO's CPU plugin follow one another without gaps. Its model is well-formed XML with inputs or outputs, and its constants lie in the payload."
        "OpenVINO refuses the payload."
        LOWER_AGAIN
        Refuses ["11.7", "11.15"];
    OPENVINO_CALL = Error "openvino-call"
        "A call of a payload of OpenVINO has an argument for each input and then for each output of the model: a tensor of its type and shape, or an Int as an input."
        "The run ends with an error."
        LOWER_AGAIN
        Refuses ["11.15"];
}

pub(super) const JUDGED: BackendRules =
    BackendRules::of(Backend::OpenVino, RULES, judge).with_requested_keys();

/// Judges a payload, and then the calls of its delegates.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    match model(payload, bytes) {
        // The bytes are not in memory, or the payload is of another plugin.
        Ok(None) => Ok(()),
        Ok(Some(model)) => {
            calls(judge, payload.users, &model);
            Ok(())
        }
        Err(why) if payload.users.is_empty() => Err(why),
        Err(why) => {
            let place = judge.place(payload, payload.start, "model");
            place.find_byte(judge.out, &OPENVINO_MODEL, 0, || reason(&why));
            Ok(())
        }
    }
}

/// Reads the model; `None` if it is not known.
fn model(payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Result<Option<Model>, Unreadable> {
    let Some(sections) = payload.sections(Backend::OpenVino, bytes) else { return Ok(None) };
    let Sections { sections, .. } = sections?;
    let [custom, constants, model] = sections.as_slice() else { return Ok(None) };
    for (part, next) in [(custom, constants), (constants, model)] {
        if part.range.end != next.range.start {
            let why = "two parts of the payload overlap or have a gap between them";
            return Err(Unreadable::Package { at: next.range.start, why });
        }
    }
    let Some(stored) = bytes.read(payload.part(model.range.clone())) else { return Ok(None) };
    let found = Model::read(&stored)?;
    let size = len_of(&constants.range);
    if found.constants > size {
        let range = 0..found.constants;
        return Err(Unreadable::Part { name: "constants", range, len: size });
    }
    Ok(Some(found))
}

/// Judges the calls of a delegate.
fn calls(judge: &mut Judge<'_>, users: &[User], model: &Model) {
    let count = model.inputs.len().saturating_add(model.outputs.len());
    for ((plan, _), instruction, call) in judge.calls(users) {
        let args = call.args().unwrap_or_default();
        let message = if args.len() != count {
            let has = args.len();
            Some(format!("the call has {has} arguments: the model has {count} inputs and outputs"))
        } else if !judge.work.pay(wide(count)) {
            Some("the calls name more arguments than are judged".into())
        } else {
            cost::charge(count);
            let ports = model.inputs.iter().chain(&model.outputs);
            ports.zip(args.iter()).enumerate().find_map(|(nth, (port, arg))| {
                let why = wrong(plan, arg, port, nth < model.inputs.len())?;
                Some(format!("argument {nth}: {why}"))
            })
        };
        if let Some(message) = message {
            plan.find_instruction(judge.out, &OPENVINO_CALL, &instruction, &[], || message);
        }
    }
}

/// Returns what is wrong with an argument for an input or output.
fn wrong(plan: &Plan<'_, '_>, arg: i32, port: &Port, is_input: bool) -> Option<String> {
    let element = Quoted(&port.element);
    let has = |nth: usize, size: u64| port.dims.get(nth).is_some_and(|dim| dim.contains(&size));
    let (found, is_same_shape) = match plan.value(arg.into())? {
        KernelTypes::Tensor(tensor) => {
            let sizes = tensor.sizes().unwrap_or_default();
            cost::charge(sizes.len());
            // The sizes of a tensor that is not static are at most these, or are known when it runs.
            let is_size = |(nth, size): (usize, i32)| {
                let Ok(size) = u64::try_from(size) else { return false };
                match tensor.shape_dynamism() {
                    TensorShapeDynamism::STATIC => has(nth, size),
                    TensorShapeDynamism::DYNAMIC_BOUND => {
                        port.dims.get(nth).is_some_and(|dim| *dim.start() <= size)
                    }
                    _ => true,
                }
            };
            let is_same = sizes.len() == port.dims.len() && sizes.iter().enumerate().all(is_size);
            (tensor.scalar_type(), is_same)
        }
        // The backend makes a tensor of one element.
        KernelTypes::Int(_) if is_input => (ScalarType::LONG, port.dims.len() == 1 && has(0, 1)),
        _ => return Some("the backend takes a Tensor".into()),
    };
    if port.scalar_type() != Some(found) {
        let found = found.name().unwrap_or("another type");
        return Some(format!("expected {element}, found {found}"));
    }
    (!is_same_shape).then(|| format!("expected the shape {}", shape(port)))
}

/// Returns the shape of an input or output, such as `[2, ?, 1..8]`.
fn shape(port: &Port) -> String {
    let dims = port.dims.iter().take(MOST_DIMENSIONS).map(|dim| match (dim.start(), dim.end()) {
        (0, &u64::MAX) => "?".into(),
        (low, high) if low == high => low.to_string(),
        (low, high) => format!("{low}..{high}"),
    });
    format!("[{}]", dims.collect::<Vec<String>>().join(", "))
}
