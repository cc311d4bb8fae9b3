//! What is told of a program.

use std::collections::{BTreeMap, BTreeSet};

use pte::Pte;
use pte::flat::view::Vector;
use pte::pte::{Storage, operator_name};
use pte::quoted::UntrustedString;
use pte::schema::program::TensorShapeDynamism;
use pte::schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes, Tensor};
use serde::Serialize;

use super::{Data, index, length};
use crate::cli::text;

#[derive(Serialize)]
pub(in crate::cli) struct Program {
    pub(in crate::cli) version: u32,
    /// The first of them.
    pub(in crate::cli) methods: Vec<Method>,
    pub(in crate::cli) method_count: u64,
    /// By falling number of calls.
    pub(in crate::cli) operators: Vec<Counted>,
    pub(in crate::cli) backends: Vec<Backend>,
    pub(in crate::cli) constants: Data,
    pub(in crate::cli) mutable: Data,
    pub(in crate::cli) external: Data,
    pub(in crate::cli) named_data: Data,
    pub(in crate::cli) segments: u64,
}

#[derive(Serialize)]
pub(in crate::cli) struct Method {
    pub(in crate::cli) name: Option<UntrustedString>,
    /// The first of them: a real method has few, and each is longer here than in the file.
    pub(in crate::cli) inputs: Vec<Value>,
    pub(in crate::cli) outputs: Vec<Value>,
    pub(in crate::cli) input_count: u64,
    pub(in crate::cli) output_count: u64,
    pub(in crate::cli) values: u64,
    pub(in crate::cli) instructions: u64,
    pub(in crate::cli) delegates: u64,
    /// Bytes of each arena, the reserved first one left out.
    pub(in crate::cli) arenas: Vec<i64>,
}

/// An input or output of a method.
#[derive(Serialize)]
pub(in crate::cli) struct Value {
    /// The member of KernelTypes; null where the index leads nowhere.
    #[serde(rename = "type")]
    pub(in crate::cli) of: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) sizes: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) dynamism: Option<String>,
    #[serde(skip)]
    pub(in crate::cli) text: String,
}

#[derive(Serialize)]
pub(in crate::cli) struct Counted {
    pub(in crate::cli) name: UntrustedString,
    pub(in crate::cli) calls: u64,
}

#[derive(Serialize)]
pub(in crate::cli) struct Backend {
    pub(in crate::cli) id: UntrustedString,
    pub(in crate::cli) delegates: u64,
    /// Of all payloads; one that is shared counts once.
    pub(in crate::cli) bytes: u64,
    #[serde(skip)]
    seen: BTreeSet<(u64, u64)>,
}

impl Program {
    pub(super) fn of(pte: &Pte<'_>) -> Self {
        let program = pte.program();
        let mut calls: BTreeMap<UntrustedString, u64> = BTreeMap::new();
        let mut backends: BTreeMap<UntrustedString, Backend> = BTreeMap::new();
        let mut data = Tensors::default();
        let (mut methods, mut method_count, mut ends) = (Vec::new(), 0u64, MOST_ENDS);
        for plan in program.execution_plan().into_iter().flatten() {
            method_count = method_count.saturating_add(1);
            if methods.len() < MOST_METHODS {
                methods.push(Method::of(plan, &mut ends));
            }
            count_operators(plan, &mut calls);
            for delegate in plan.delegates().into_iter().flatten() {
                let id = UntrustedString::from(delegate.id().unwrap_or_default());
                let range = pte.delegate_range(delegate).ok().flatten().unwrap_or_default();
                let backend = backends.entry(id.clone()).or_insert(Backend {
                    id,
                    delegates: 0,
                    bytes: 0,
                    seen: BTreeSet::new(),
                });
                backend.delegates = backend.delegates.saturating_add(1);
                if backend.seen.insert((range.start, range.end)) {
                    backend.bytes = backend.bytes.saturating_add(length(&range));
                }
            }
            for value in plan.values().into_iter().flatten() {
                if let Some(KernelTypes::Tensor(tensor)) = value.val() {
                    data.add(pte, tensor);
                }
            }
        }
        let mut operators: Vec<_> =
            calls.into_iter().map(|(name, calls)| Counted { name, calls }).collect();
        operators.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
        let mut named_data = Data::default();
        for (_, range) in pte.named_data() {
            named_data.add(length(&range.unwrap_or_default()));
        }
        Self {
            version: program.version(),
            methods,
            method_count,
            operators,
            backends: backends.into_values().collect(),
            constants: Data::of(&data.constants),
            mutable: Data::of(&data.mutable),
            external: data.external,
            named_data,
            segments: pte.segment_count().into(),
        }
    }
}

/// The data of tensors, by where it begins, so that what is shared counts once.
#[derive(Default)]
struct Tensors {
    constants: BTreeMap<u64, u64>,
    mutable: BTreeMap<u64, u64>,
    external: Data,
}

impl Tensors {
    fn add(&mut self, pte: &Pte<'_>, tensor: Tensor<'_>) {
        match pte.storage(tensor) {
            Ok(Storage::Constant(range)) => {
                self.constants.insert(range.start, length(&range));
            }
            Ok(Storage::Planned { initial: Some(range), .. }) => {
                self.mutable.insert(range.start, length(&range));
            }
            Ok(Storage::External { .. }) => {
                let sizes = tensor.sizes().into_iter().flatten();
                self.external.add(tensor.scalar_type().nbytes(sizes).unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// Counts calls by operator first and asks for names after: a name is as long as the file allows,
/// and there may be as many calls of it.
fn count_operators(plan: ExecutionPlan<'_>, calls: &mut BTreeMap<UntrustedString, u64>) {
    let mut by_index: BTreeMap<i32, u64> = BTreeMap::new();
    for chain in plan.chains().into_iter().flatten() {
        for instruction in chain.instructions().into_iter().flatten() {
            if let Some(InstructionArguments::KernelCall(call)) = instruction.instr_args() {
                let count = by_index.entry(call.op_index()).or_default();
                *count = count.saturating_add(1);
            }
        }
    }
    for (nth, operator) in (0i32..).zip(plan.operators().into_iter().flatten()) {
        let count = by_index.get(&nth).copied().unwrap_or_default();
        let total = calls.entry(operator_name(operator)).or_default();
        *total = total.saturating_add(count);
    }
}

impl Method {
    /// `ends` is how many inputs and outputs may still be shown: methods may share them.
    fn of(plan: ExecutionPlan<'_>, ends: &mut usize) -> Self {
        let mut values = |indices: Option<Vector<'_, i32>>| -> Vec<_> {
            let shown = indices.into_iter().flatten().take(*ends);
            let shown: Vec<_> = shown.map(|index| Value::of(plan, index)).collect();
            *ends = ends.saturating_sub(shown.len());
            shown
        };
        let chains = plan.chains().into_iter().flatten();
        let instructions = chains
            .map(|chain| chain.instructions().map_or(0, |instructions| instructions.len()))
            .fold(0u64, |sum, count| sum.saturating_add(index(count).into()));
        Self {
            name: plan.name().map(Into::into),
            inputs: values(plan.inputs()),
            outputs: values(plan.outputs()),
            input_count: index(plan.inputs().map_or(0, |inputs| inputs.len())).into(),
            output_count: index(plan.outputs().map_or(0, |outputs| outputs.len())).into(),
            values: index(plan.values().map_or(0, |values| values.len())).into(),
            instructions,
            delegates: index(plan.delegates().map_or(0, |delegates| delegates.len())).into(),
            arenas: plan.non_const_buffer_sizes().into_iter().flatten().skip(1).collect(),
        }
    }
}

impl Value {
    fn of(plan: ExecutionPlan<'_>, index: i32) -> Self {
        let nth = usize::try_from(index).ok();
        let value = plan.values().zip(nth).and_then(|(values, nth)| values.get(nth)?.val());
        let plain = |text: &str| Self {
            of: value.and_then(KernelTypes::name),
            dtype: None,
            sizes: None,
            dynamism: None,
            text: text.to_string(),
        };
        match value {
            Some(KernelTypes::Tensor(tensor)) => Self::tensor(tensor),
            Some(KernelTypes::Int(_)) => plain("int"),
            Some(KernelTypes::Double(_)) => plain("float"),
            Some(KernelTypes::Bool(_)) => plain("bool"),
            Some(KernelTypes::String(_)) => plain("str"),
            Some(KernelTypes::Null(_)) => plain("None"),
            Some(other) => plain(other.name().unwrap_or("an unknown value")),
            None => plain("?"),
        }
    }

    fn tensor(tensor: Tensor<'_>) -> Self {
        // As many as a shape can have, and one more, which tells that there are too many.
        let sizes: Vec<_> = tensor.sizes().into_iter().flatten().take(17).collect();
        let dtype = tensor.scalar_type();
        let dynamism = tensor.shape_dynamism();
        let mut text = text::shape(dtype, sizes.iter().copied());
        match dynamism {
            TensorShapeDynamism::STATIC => {}
            TensorShapeDynamism::DYNAMIC_BOUND => text.insert_str(0, "≤ "),
            _ => text.push_str(" unbound"),
        }
        Self {
            of: Some("Tensor"),
            dtype: Some(dtype.to_string()),
            sizes: Some(sizes),
            dynamism: Some(dynamism.to_string()),
            text,
        }
    }
}

/// Methods that are shown.
const MOST_METHODS: usize = 1024;
/// Inputs and outputs that are shown of them all.
const MOST_ENDS: usize = 1 << 14;
