//! Methods: required fields, inputs and outputs.

use alloc::collections::BTreeMap;

use super::report::Findings;
use super::rule::rules;
use super::site::Plan;
use super::values::{Values, is_constant};
use pte_core::{PathComponent, Pte, method};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Table, Vector};
use pte_schema::program::is_list;
use pte_schema::program::view::ExecutionPlan;
use pte_schema::scalar::ScalarType;

rules! {
    "plans";

    PLANS_MISSING = Error "plans-missing"
        "A program has a list of methods."
        "Asking for any method reads through a null pointer."
        MADE_BY_HAND
        Crashes ["7.2.2", "7.3.1", "7.7.6"];
    PLANS_EMPTY = Warning "plans-empty"
        "A program has a method."
        "There is nothing to run."
        UNUSUAL
        Ignores ["6.5"];
    PLAN_NAME_MISSING = Error "plan-name-missing"
        "A method has a name."
        "It cannot be loaded, and asking for the names of all methods aborts."
        MADE_BY_HAND
        Crashes ["7.3.4", "7.3.5", "7.7.6", "8.2 092f42f129"];
    PLAN_NAME_DUPLICATE = Warning "plan-name-duplicate"
        "No two methods have one name."
        "Runtimes use the first; the other cannot be loaded."
        "Give each method another name: of methods with one name, the first is run."
        Ignores ["6.5", "7.7.13", "8.3.16"];
    PLAN_NAME_NUL = Warning "plan-name-nul"
        "A method's name holds no NUL."
        "Runtimes compare up to the NUL: the method answers to a shorter name."
        UNUSUAL
        Ignores ["7.7.11"];
    PLAN_INPUTS_MISSING = Error "plan-inputs-missing"
        "A method has a list of inputs, which may be empty."
        "Loading the method is refused, and asking for its signature aborts."
        MADE_BY_HAND
        Crashes ["7.3.5", "7.7.6"];
    PLAN_OUTPUTS_MISSING = Error "plan-outputs-missing"
        "A method has a list of outputs, which may be empty."
        "Loading the method is refused, and asking for its signature aborts."
        MADE_BY_HAND
        Crashes ["7.3.5", "7.7.6"];
    PLAN_VALUES_MISSING = Error "plan-values-missing"
        "A method has a list of values, which may be empty."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.2.4", "7.4.1", "7.7.6"];
    PLAN_OPERATORS_MISSING = Error "plan-operators-missing"
        "A method that calls kernels has a list of operators."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.26", "7.7.6", "8.2 #22357"];
    PLAN_DELEGATES_MISSING = Error "plan-delegates-missing"
        "A method has a list of delegates, which may be empty."
        "Loading the method is refused, and asking which backends it uses reads through a null pointer."
        MADE_BY_HAND
        Crashes ["7.3.14", "7.4.13", "7.7.6"];
    PLAN_CHAINS_MISSING = Error "plan-chains-missing"
        "A method has at least one chain of instructions."
        "Loading the method is refused."
        MADE_BY_HAND
        Refuses ["7.4.22", "7.7.6"];
    PLAN_ARENAS_MISSING = Error "plan-arenas-missing"
        "A method has a list of arena sizes, which may have the reserved entry alone."
        "Loading the method is refused, and asking for its memory aborts."
        MADE_BY_HAND
        Crashes ["7.3.5", "7.7.6"];
    PLAN_METADATA_MISSING = Note "plan-metadata-missing"
        "A method says how its inputs and outputs are nested."
        "Asking for the nesting of the outputs is refused; running the method is not."
        "Export the program again with a current release."
        Refuses ["6.8", "8.2 45d9231167"];
    IO_INDEX = Error "io-index"
        "An input or output is the index of a value."
        "The runtime reads past the end of its values."
        MADE_BY_HAND
        Misreads ["7.3.7", "7.4.34", "7.7.14", "8.3.14"];
    IO_TYPE = Error "io-type"
        "An input or output is a Tensor, an Int, a Double, a Bool, a String, or nothing."
        "Asking for the method's signature is refused."
        MADE_BY_HAND
        Refuses ["7.3.8", "7.7.14"];
    INPUT_DUPLICATE = Warning "input-duplicate"
        "No value is an input twice."
        "The first input that is set is overwritten by the second."
        UNUSUAL
        Ignores ["7.7.14"];
    OUTPUT_DTYPE = Warning "output-dtype"
        "No output is of a quantized dtype: QINT8, QUINT8, QINT32, QUINT4X2 or QUINT2X4."
        "The runtime runs the method. Python's binding makes a torch tensor of each output, and crashes on these dtypes."
        "Dequantize the output in the model."
        Ignores ["6.10"];
    OUTPUT_DEVICE = Error "output-device"
        "An output is on a device that has a name: CPU or CUDA."
        "Python's binding makes a torch tensor of each output, and aborts on other devices."
        MADE_BY_HAND
        Crashes ["6.10"];
    INPUT_CONSTANT = Error "input-constant"
        "No input is a constant."
        "The input is copied over the file's own bytes, or the program dies if they are mapped or in ROM."
        "Make the tensor a buffer of the model, so that it can be written."
        Misreads ["6.1", "7.4.45", "7.7.14"];
}

pub(super) fn check(plan: &Plan<'_, '_>, values: &Values, out: &mut Findings) {
    let view = plan.view;
    let no_operators = view.operators().is_none() && calls_kernels(view);
    let missing = [
        (view.name().is_none(), &PLAN_NAME_MISSING, "name"),
        (view.inputs().is_none(), &PLAN_INPUTS_MISSING, "inputs"),
        (view.outputs().is_none(), &PLAN_OUTPUTS_MISSING, "outputs"),
        (view.values().is_none(), &PLAN_VALUES_MISSING, "values"),
        (no_operators, &PLAN_OPERATORS_MISSING, "operators"),
        (view.delegates().is_none(), &PLAN_DELEGATES_MISSING, "delegates"),
        (view.chains().is_none_or(|chains| chains.is_empty()), &PLAN_CHAINS_MISSING, "chains"),
        (view.non_const_buffer_sizes().is_none(), &PLAN_ARENAS_MISSING, "non_const_buffer_sizes"),
        (view.container_meta_type().is_none(), &PLAN_METADATA_MISSING, "container_meta_type"),
    ];
    for (missing, rule, field) in missing {
        if missing {
            plan.find(out, rule, view.raw(), &[PathComponent::Field(field)], || {
                format!("the method has no {field}")
            });
        }
    }
    if view.container_meta_type().is_some_and(|nesting| nesting.encoded_out_str().is_none()) {
        let path = path!["container_meta_type", "encoded_out_str"];
        plan.find(out, &PLAN_METADATA_MISSING, view.raw(), &path, || {
            "the method does not say how its outputs are nested".into()
        });
    }
    if view.name().is_some_and(|name| name.contains('\0')) {
        plan.find(out, &PLAN_NAME_NUL, view.raw(), &[PathComponent::Field("name")], || {
            format!("the name {} holds a NUL", Quoted(view.name().unwrap_or_default()))
        });
    }
    ends(plan, values, "inputs", view.inputs(), out);
    ends(plan, values, "outputs", view.outputs(), out);
    for (nth, index) in (0..).zip(view.outputs().into_iter().flatten()) {
        let Some(tensor) = plan.tensor(index.into()) else { continue };
        let dtype = tensor.scalar_type();
        if QUANTIZED.contains(&dtype) {
            let path = path!["outputs", nth];
            plan.find(out, &OUTPUT_DTYPE, view.raw(), &path, || {
                format!("output {nth}, value {index}, is of dtype {dtype}")
            });
        }
        let device = tensor.extra_tensor_info().map(|extra| extra.device_type());
        if let Some(device) = device.filter(|device| device.name().is_none()) {
            let path = path!["outputs", nth];
            plan.find(out, &OUTPUT_DEVICE, view.raw(), &path, || {
                format!("output {nth}, value {index}, is on device {device}")
            });
        }
    }
    let mut seen = plan.each(false);
    for (nth, index) in (0..).zip(view.inputs().into_iter().flatten()) {
        let Some(seen) = usize::try_from(index).ok().and_then(|index| seen.get_mut(index)) else {
            continue;
        };
        let path = path!["inputs", nth];
        if is_constant(plan, index) {
            plan.find(out, &INPUT_CONSTANT, view.raw(), &path, || {
                format!("value {index}, which is constant, is an input")
            });
        }
        if core::mem::replace(seen, true) {
            plan.find(out, &INPUT_DUPLICATE, view.raw(), &path, || {
                format!("value {index} is an input again")
            });
        }
    }
}

fn calls_kernels(plan: ExecutionPlan<'_>) -> bool {
    method::instructions(plan).any(|instruction| instruction.kernel_call().is_some())
}

/// Judges the inputs or outputs.
fn ends(
    plan: &Plan<'_, '_>,
    values: &Values,
    field: &'static str,
    indices: Option<Vector<'_, i32>>,
    out: &mut Findings,
) {
    for (nth, index) in (0..).zip(indices.into_iter().flatten()) {
        let path = path![field, nth];
        match values.tag(index.into()) {
            None => plan.find(out, &IO_INDEX, plan.view.raw(), &path, || {
                format!("value {index} is asked for, and there are {}", plan.len)
            }),
            Some(tag) if is_list(tag) => {
                plan.find(out, &IO_TYPE, plan.view.raw(), &path, || {
                    let name = plan.value(index.into()).and_then(|value| value.name());
                    format!("value {index} is {}", name.unwrap_or_default())
                });
            }
            // Another rule reports values that are empty or unknown.
            Some(_) => {}
        }
    }
}

/// Judges the list of methods and their names.
pub(super) fn check_names(pte: &Pte<'_>, out: &mut Findings) {
    let root = pte.program();
    let at = root.raw().pos().into();
    let path = || path!["program", "execution_plan"].to_vec();
    let Some(plans) = root.execution_plan() else {
        out.find(&PLANS_MISSING, at, path, || "the program has no list of methods".into());
        return;
    };
    if plans.is_empty() {
        out.find(&PLANS_EMPTY, at, path, || "the program has no method".into());
    }
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    for (nth, view) in (0..).zip(plans) {
        let Some(name) = view.name() else { continue };
        cost::look_up(name, first.len());
        let earlier = *first.entry(name).or_insert(nth);
        if earlier != nth {
            let plan = Plan::new(pte, nth, view);
            plan.find(
                out,
                &PLAN_NAME_DUPLICATE,
                view.raw(),
                &[PathComponent::Field("name")],
                || format!("method {earlier} is called {} too", Quoted(name)),
            );
        }
    }
}

/// The quantized dtypes. Python's binding cannot make a torch tensor of them.
const QUANTIZED: [ScalarType; 5] = [
    ScalarType::QINT8,
    ScalarType::QUINT8,
    ScalarType::QINT32,
    ScalarType::QUINT4X2,
    ScalarType::QUINT2X4,
];
