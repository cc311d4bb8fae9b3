//! The summary of a program.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::DataAmount;
use pte_check::LoadMemory;
use pte_core::method::{self, Instruction};
use pte_core::operators::usage::{add_calls, most_called};
use pte_core::operators::{LIBRARIES, Library};
use pte_core::release::NEWEST;
use pte_core::{Pte, Storage, value_at};
use pte_flat::bytes::{len_of, narrow, wide};
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;
use pte_flat::view::Vector;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::{ExecutionPlan, InstructionArguments, KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;

/// The summary of a program.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProgramSummary {
    /// The version that the program declares.
    pub version: u32,
    /// The first 1,024 methods.
    pub methods: Vec<MethodSummary>,
    /// The number of methods.
    pub method_count: u64,
    /// The operators of all methods, the most called first.
    pub operators: Vec<OperatorSummary>,
    /// The kernel libraries of upstream to link for the operators, as they are in the newest release.
    pub libraries: Vec<LibrarySummary>,
    /// The operators that no kernel library of upstream has.
    pub unknown_operators: Vec<UntrustedString>,
    /// The number of instructions of all methods that call a delegate.
    pub delegate_calls: u64,
    /// The backends of all methods, by id.
    pub backends: Vec<BackendSummary>,
    /// The constant tensors. Their bytes in the file never change.
    pub constants: DataAmount,
    /// The mutable tensors. They lie in an arena, and their initial bytes are in the file.
    pub mutable: DataAmount,
    /// The tensors whose bytes are in a `.ptd`. Shared data counts once for each of its tensors.
    pub external: DataAmount,
    /// The named blobs. Shared data counts once for each of its names.
    pub named_data: DataAmount,
    /// What loading all methods allocates, by the figures in the file.
    pub load_memory: LoadMemory,
    /// The number of segments.
    pub segments: u64,
    /// The number of stack traces, which show where in a Python program instructions come from.
    pub stack_traces: u64,
}

/// A method.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MethodSummary {
    /// The name.
    pub name: Option<UntrustedString>,
    /// The first inputs. For all methods together, at most 16,384 inputs and outputs are listed.
    pub inputs: Vec<ValueSummary>,
    /// The first outputs, within the same limit.
    pub outputs: Vec<ValueSummary>,
    /// The number of inputs.
    pub input_count: u64,
    /// The number of outputs.
    pub output_count: u64,
    /// The number of values.
    pub values: u64,
    /// The number of instructions in all chains.
    pub instructions: u64,
    /// The number of delegates.
    pub delegates: u64,
    /// The number of bytes of each arena, without the reserved first one.
    pub arenas: Vec<i64>,
    /// Whether an earlier method has the same name. Then the runtime never runs this method.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub shadowed: bool,
}

/// An input or output of a method.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ValueSummary {
    /// The type of the value.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: ValueKind,
    /// The dtype of a tensor. The document has its name.
    #[cfg_attr(
        feature = "serde",
        serde(
            skip_serializing_if = "Option::is_none",
            serialize_with = "super::displayed_or_null"
        )
    )]
    pub dtype: Option<ScalarType>,
    /// The first 17 sizes of a tensor: one more than a tensor can have.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sizes: Option<Vec<i32>>,
    /// Whether the sizes of a tensor may change. The document has the name of this setting.
    #[cfg_attr(
        feature = "serde",
        serde(
            skip_serializing_if = "Option::is_none",
            serialize_with = "super::displayed_or_null"
        )
    )]
    pub dynamism: Option<TensorShapeDynamism>,
    /// The number or string that a method without instructions returns.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub value: Option<ConstantValue>,
}

/// The value that a constant method returns, such as `get_max_seq_len` of a language model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstantValue {
    /// An `Int`.
    Int(i64),
    /// A `Double`. In the document infinities and NaN are strings, as in a dump.
    Double(f64),
    /// A `Bool`.
    Bool(bool),
    /// The first 256 characters of a `String`.
    String(UntrustedString),
}

/// The type of a value, which is its member of `KernelTypes`. The document has its name, or null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
#[non_exhaustive]
pub enum ValueKind {
    /// A known member, by its name in the schema, such as `Tensor`.
    Member(&'static str),
    /// A member that this version does not know.
    Unknown,
    /// No value, since the index is out of range or the value is empty.
    Missing,
}

/// An operator, and the number of its calls.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OperatorSummary {
    /// The name with its overload.
    pub name: UntrustedString,
    /// The number of instructions that call the operator.
    pub calls: u64,
}

/// A kernel library to link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LibrarySummary {
    /// The short name, such as `portable`.
    pub name: &'static str,
    /// The CMake target, such as `portable_ops_lib`.
    pub target: &'static str,
}

/// A backend and its delegates.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BackendSummary {
    /// The id.
    pub id: UntrustedString,
    /// The number of delegates.
    pub delegates: u64,
    /// The number of bytes of all payloads. A shared payload counts once.
    pub bytes: u64,
    /// The nodes of the graphs in all payloads; `None` if the payloads were not read, or if no
    /// payload has a known schema.
    pub graphs: Option<GraphSummary>,
    /// The sections of all payloads; `None` if the payloads were not read, or have no known sections.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sections: Option<SectionSummary>,
}

/// The facts from the headers of a backend's payloads.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SectionSummary {
    /// The number of payloads whose header was read.
    pub read: u64,
    /// The number of payloads whose header is invalid.
    pub unreadable: u64,
    /// The first few versions of the format or of its writer.
    pub versions: Vec<UntrustedString>,
    /// The first few devices for which the payloads were compiled.
    pub targets: Vec<UntrustedString>,
    /// The maximum number of bytes of memory that a payload needs at each run; `None` if no header
    /// states it.
    pub scratch: Option<u64>,
    /// The maximum number of these bytes that operations use; `None` unless the payloads have command streams.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scratch_peak: Option<u64>,
    /// An estimate of the multiplications of one run of each payload, together.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub macs_estimate: Option<u64>,
    /// The sections by name.
    pub sections: Vec<SectionAmount>,
}

/// The sections of one name.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SectionAmount {
    /// The name.
    pub name: &'static str,
    /// The number of sections.
    pub count: u64,
    /// The number of bytes of these sections, which are not interpreted. If the payload has only the key of
    /// named data, these are the bytes of the data.
    pub bytes: u64,
    /// The first few keys of the sections that are named data.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub keys: Vec<UntrustedString>,
    /// The number of these sections whose named data is not in the file. `bytes` is without them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "super::is_zero"))]
    pub external: u64,
}

/// The contents of the graphs in the payloads of a backend.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GraphSummary {
    /// The number of payloads whose graph was read.
    pub read: u64,
    /// The number of payloads whose graph cannot be read.
    pub unreadable: u64,
    /// The number of nodes of all graphs.
    pub nodes: u64,
    /// The operators of nodes, the most frequent first.
    pub operators: Vec<OperatorSummary>,
    /// The datatypes of the graphs' values, with their quantization, the most frequent first; `None` for
    /// graphs of which only the operators are known.
    pub datatypes: Option<Vec<DatatypeSummary>>,
    /// The data of the constants, with the bytes that the graphs declare; `None` as for `datatypes`. Each key
    /// and each range counts once.
    pub constants: Option<DataAmount>,
    /// The weights among the constants, grouped by datatype, the groups with most bytes first; `None` unless
    /// the graphs say which constants are weights.
    pub weights: Option<Vec<WeightSummary>>,
    /// The part of `constants` whose key is not in the file's named data. The bytes are in a `.ptd`, or for a
    /// standalone payload in a program.
    pub external: Option<DataAmount>,
}

/// The weights of one datatype and quantization. Weights are constants by which nodes multiply
/// their inputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WeightSummary {
    /// The datatype as in the schema, such as `xnn_datatype_qcint8`; `None` for an unknown one.
    pub datatype: Option<&'static str>,
    /// The quantization as in the schema, such as `PerChannelQuant`; `None` without quantization.
    pub quantization: Option<&'static str>,
    /// For a quantization by groups, the number of elements that share a scale.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub group_size: Option<i32>,
    /// The number of weights.
    pub count: u64,
    /// The number of bytes of these weights.
    pub bytes: u64,
}

/// A datatype of values in payloads.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DatatypeSummary {
    /// The datatype as in the schema of the backend, such as `xnn_datatype_fp32` or `FLOAT32`; `None` for an
    /// unknown one.
    pub datatype: Option<&'static str>,
    /// The quantization as in the schema, such as `PerTensorQuant`; `None` for none.
    pub quantization: Option<&'static str>,
    /// The number of values.
    pub values: u64,
}

impl ProgramSummary {
    /// Summarizes a program, or only the first of its methods called `method`.
    pub fn of(pte: &Pte<'_>, method: Option<&str>) -> Self {
        let program = pte.program();
        let mut calls: BTreeMap<UntrustedString, u64> = BTreeMap::new();
        let mut backends: BTreeMap<UntrustedString, Delegates> = BTreeMap::new();
        let mut data = Tensors::default();
        let (mut names, mut stack_traces, mut delegate_calls) = (BTreeSet::new(), 0u64, 0u64);
        let (mut methods, mut method_count, mut ends) = (Vec::new(), 0u64, MAX_ENDS);
        for plan in plans(pte, method) {
            method_count = method_count.saturating_add(1);
            if methods.len() < MAX_METHODS {
                let mut method = MethodSummary::of(plan, &mut ends);
                // If several methods have one name, the runtime runs the first.
                let name = plan.name().unwrap_or_default();
                cost::look_up(name, names.len());
                method.shadowed = plan.name().is_some() && !names.insert(name);
                methods.push(method);
            }
            stack_traces = stack_traces.saturating_add(stack_traces_of(plan));
            add_calls(plan, &mut calls);
            delegate_calls = delegate_calls.saturating_add(delegate_calls_of(plan));
            for delegate in plan.delegates().into_iter().flatten() {
                let id = UntrustedString::from(delegate.id().unwrap_or_default());
                let range = pte.delegate_range(delegate).ok().flatten().unwrap_or_default();
                let backend = backends.entry(id).or_default();
                backend.count = backend.count.saturating_add(1);
                if backend.payloads.insert((range.start, range.end)) {
                    backend.bytes = backend.bytes.saturating_add(len_of(&range));
                }
            }
            for value in plan.values().into_iter().flatten() {
                if let Some(KernelTypes::Tensor(tensor)) = value.val() {
                    data.add(pte, tensor);
                }
            }
        }
        let operators = most_called(calls).into_iter();
        let operators: Vec<_> =
            operators.map(|(name, calls)| OperatorSummary { name, calls }).collect();
        let (libraries, unknown_operators) = libraries(&operators);
        let mut named_data = DataAmount::default();
        for (_, range) in pte.named_data() {
            named_data.add(len_of(&range.unwrap_or_default()));
        }
        Self {
            version: program.version(),
            methods,
            method_count,
            operators,
            libraries,
            unknown_operators,
            delegate_calls,
            backends: backends
                .into_iter()
                .map(|(id, of)| BackendSummary {
                    id,
                    delegates: of.count,
                    bytes: of.bytes,
                    graphs: None,
                    sections: None,
                })
                .collect(),
            constants: DataAmount::of(&data.constants),
            mutable: DataAmount::of(&data.mutable),
            external: data.external,
            named_data,
            load_memory: LoadMemory::of(pte),
            segments: pte.segment_count().into(),
            stack_traces,
        }
    }
}

/// Returns the methods of a program, or only the first one called `method`, which is the one that runs.
pub(super) fn plans<'a>(
    pte: &Pte<'a>,
    method: Option<&str>,
) -> impl Iterator<Item = ExecutionPlan<'a>> {
    let all = pte.program().execution_plan().into_iter().flatten();
    let most = if method.is_some() { 1 } else { usize::MAX };
    let is_it = move |name| method.is_none_or(|method| method == name);
    all.filter(move |plan| is_it(plan.name().unwrap_or_default())).take(most)
}

/// Returns the number of instructions of a method that call a delegate.
fn delegate_calls_of(plan: ExecutionPlan<'_>) -> u64 {
    let is_call = |instruction: &Instruction<'_>| {
        matches!(instruction.operation(), Some(InstructionArguments::DelegateCall(_)))
    };
    wide(method::instructions(plan).filter(is_call).count())
}

/// Returns the number of stack traces of a method.
fn stack_traces_of(plan: ExecutionPlan<'_>) -> u64 {
    let chains = plan.chains().into_iter().flatten();
    let traces = chains.map(|chain| chain.stacktrace().map_or(0, |traces| wide(traces.len())));
    traces.fold(0, u64::saturating_add)
}

/// The delegates of one backend.
#[derive(Default)]
struct Delegates {
    count: u64,
    bytes: u64,
    /// The ranges of their payloads. A shared payload occurs once.
    payloads: BTreeSet<(u64, u64)>,
}

/// The bytes of tensors' data. Constants and mutable tensors are listed by the start of their data,
/// so that shared data counts once.
#[derive(Default)]
struct Tensors {
    constants: BTreeMap<u64, u64>,
    mutable: BTreeMap<u64, u64>,
    external: DataAmount,
}

impl Tensors {
    fn add(&mut self, pte: &Pte<'_>, tensor: Tensor<'_>) {
        match pte.storage(tensor) {
            Ok(Storage::Constant(range)) => {
                self.constants.insert(range.start, len_of(&range));
            }
            Ok(Storage::Planned { initial: Some(range), .. }) => {
                self.mutable.insert(range.start, len_of(&range));
            }
            Ok(Storage::External { .. }) => {
                let sizes = tensor.sizes().into_iter().flatten();
                self.external.add(tensor.scalar_type().nbytes(sizes).unwrap_or_default());
            }
            _ => {}
        }
    }
}

impl MethodSummary {
    /// Summarizes a method. `ends` is the number of inputs and outputs that may still be listed: it
    /// is limited, since many methods may share one long list.
    fn of(plan: ExecutionPlan<'_>, ends: &mut usize) -> Self {
        let mut values = |indices: Option<Vector<'_, i32>>| -> Vec<_> {
            let shown = indices.into_iter().flatten().take(*ends);
            let shown: Vec<_> = shown.map(|index| ValueSummary::of(plan, index)).collect();
            *ends = ends.saturating_sub(shown.len());
            shown
        };
        let instructions = wide(method::instructions(plan).count());
        let inputs = values(plan.inputs());
        let mut outputs = values(plan.outputs());
        // If a method has inputs, an output may be an input, whose value the caller provides.
        let is_constant = instructions == 0 && plan.inputs().is_none_or(|inputs| inputs.is_empty());
        if is_constant {
            for (output, index) in outputs.iter_mut().zip(plan.outputs().into_iter().flatten()) {
                output.value = value_at(plan, index).and_then(ConstantValue::of);
            }
        }
        Self {
            name: plan.name().map(Into::into),
            inputs,
            outputs,
            input_count: narrow(plan.inputs().map_or(0, |inputs| inputs.len())).into(),
            output_count: narrow(plan.outputs().map_or(0, |outputs| outputs.len())).into(),
            values: narrow(plan.values().map_or(0, |values| values.len())).into(),
            instructions,
            delegates: narrow(plan.delegates().map_or(0, |delegates| delegates.len())).into(),
            arenas: plan.non_const_buffer_sizes().into_iter().flatten().skip(1).collect(),
            shadowed: false,
        }
    }
}

impl ValueKind {
    /// Returns the member's name in the schema, if it has one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Member(name) => Some(name),
            Self::Unknown | Self::Missing => None,
        }
    }
}

impl ValueSummary {
    fn of(plan: ExecutionPlan<'_>, index: i32) -> Self {
        let value = value_at(plan, index);
        let kind = match value {
            Some(member) => member.name().map_or(ValueKind::Unknown, ValueKind::Member),
            None => ValueKind::Missing,
        };
        let tensor = match value {
            Some(KernelTypes::Tensor(tensor)) => Some(tensor),
            _ => None,
        };
        let sizes =
            |tensor: Tensor<'_>| tensor.sizes().into_iter().flatten().take(MAX_SIZES).collect();
        Self {
            kind,
            dtype: tensor.map(Tensor::scalar_type),
            sizes: tensor.map(sizes),
            dynamism: tensor.map(Tensor::shape_dynamism),
            value: None,
        }
    }
}

impl ConstantValue {
    /// Returns the value, if it is a number or a string.
    fn of(value: KernelTypes<'_>) -> Option<Self> {
        Some(match value {
            KernelTypes::Int(int) => Self::Int(int.int_val()),
            KernelTypes::Double(double) => Self::Double(double.double_val()),
            KernelTypes::Bool(bool) => Self::Bool(bool.bool_val()),
            KernelTypes::String(text) => {
                let text = text.string_val()?;
                let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
                Self::String(text.get(..end).unwrap_or_default().into())
            }
            _ => return None,
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ConstantValue {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(int) => serializer.serialize_i64(*int),
            Self::Double(double) if double.is_finite() => serializer.serialize_f64(*double),
            Self::Double(f64::INFINITY) => serializer.serialize_str("inf"),
            Self::Double(f64::NEG_INFINITY) => serializer.serialize_str("-inf"),
            Self::Double(_) => serializer.serialize_str("nan"),
            Self::Bool(bool) => serializer.serialize_bool(*bool),
            Self::String(text) => text.serialize(serializer),
        }
    }
}

/// The maximum number of characters of a string that a constant method returns.
const MAX_CHARACTERS: usize = 256;

/// The maximum number of methods that are listed.
const MAX_METHODS: usize = 1024;
/// The maximum number of inputs and outputs that are listed, for all methods together.
const MAX_ENDS: usize = 1 << 14;
/// The maximum number of sizes that are listed: one more than a tensor can have, which shows that
/// there are too many.
pub(super) const MAX_SIZES: usize = 17;

/// Returns the kernel libraries to link for the called operators, and the called operators that no library has.
fn libraries(operators: &[OperatorSummary]) -> (Vec<LibrarySummary>, Vec<UntrustedString>) {
    let (mut needed, mut unknown) = (Vec::new(), Vec::new());
    for operator in operators.iter().filter(|operator| operator.calls > 0) {
        match Library::to_link(operator.name.raw(), NEWEST) {
            Some(library) => needed.push(library.name),
            None => unknown.push(operator.name.clone()),
        }
    }
    let needed = LIBRARIES.iter().filter(|library| needed.contains(&library.name));
    (needed.map(|&Library { name, target, .. }| LibrarySummary { name, target }).collect(), unknown)
}
