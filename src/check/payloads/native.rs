//! Rules on graphs of the native backend: the checks of upstream's reader (format.md §11.8).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::{
    BackendRules, Bytes, DELEGATE_KEY_SHORT, DELEGATE_KEY_UNRESOLVED, Judge, NamedSize, NamedSizes,
    Outcome, PartPlace, Subject,
};
use crate::report::Findings;
use crate::rule::{Rule, rules};
use pte_core::Backend;
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Raw, Table};
use pte_schema::native::view::{
    Argument, ArgumentValue, Graph, Method, NamedTensorRef, Node, Program, QuantScheme, TensorMeta,
};
use pte_schema::native::{OpKind, OutputValueKind, ScalarType};

rules! {
    "native";

    NATIVE_VALUE = Error "native-value"
        "Each value of a native graph is defined once, before a node or an output names it, and no two nodes have one name."
        "Upstream's `validate_program` refuses the graph. Loading a program does not call it."
        LOWER_AGAIN
        Refuses ["11.8"];
    NATIVE_META = Error "native-meta"
        "The inputs, outputs and mutable buffers of a native graph have a datatype and a shape."
        "Upstream's `validate_program` refuses the graph. Loading a program does not call it."
        LOWER_AGAIN
        Refuses ["11.8"];
    NATIVE_LIST = Error "native-list"
        "`refs` and `has_value` in an argument of a native graph are as long as the list that they describe."
        "Upstream's `validate_program` refuses the graph. Loading a program does not call it."
        LOWER_AGAIN
        Refuses ["11.8"];
}

pub(super) const JUDGED: BackendRules =
    BackendRules::of(Backend::Native, RULES, judge).with_requested_keys();

/// Judges a payload.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let flatbuffer = judge.with_keys(payload.flatbuffer(Backend::Native, bytes))?;
    let Some(flatbuffer) = flatbuffer else { return Ok(()) };
    let program = judge.with_keys(flatbuffer.root::<Program<'_>>(judge.limits))?;
    let Some(program) = program else { return Ok(()) };
    let place = judge.place(payload, flatbuffer.start, Program::DESC.name);
    for (nth, method) in (0..).zip(program.methods().into_iter().flatten()) {
        let path = path!["methods", nth];
        let site = Site { place: PartPlace { path: &path, ..place } };
        site.method(method, judge.out);
        let mut keys = Vec::new();
        for constant in method.constants().into_iter().flatten() {
            keys.extend(constant.data_key());
            keys.extend(constant.meta().into_iter().flat_map(quantization_keys));
            site.data(constant, judge.named, judge.out);
        }
        method.graph().into_iter().for_each(|graph| keys_of(graph, &mut keys));
        judge.requested.add(keys.into_iter().filter(|key| !key.is_empty()));
    }
    Ok(())
}

/// A method that is being judged, and the place of its findings.
#[derive(Clone, Copy)]
struct Site<'s> {
    place: PartPlace<'s>,
}

/// The kinds of outputs without a tensor.
const NUMBERS: [OutputValueKind; 3] =
    [OutputValueKind::INT, OutputValueKind::BOOL, OutputValueKind::FLOAT];

/// The values of a graph that exist before the next node.
type Defined<'p> = BTreeSet<&'p str>;

impl Site<'_> {
    fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        at: Raw<'_>,
        message: impl FnOnce() -> String,
    ) {
        self.place.find(out, rule, at, &[], message);
    }

    fn method(&self, method: Method<'_>, out: &mut Findings) {
        let Some(graph) = method.graph() else { return };
        let constants = method.constants().into_iter().flatten();
        let buffers = || method.mutable_buffers().into_iter().flatten();
        // The reader takes two bindings of one name for one.
        let mut outer = Defined::new();
        let names = constants.filter_map(|constant| constant.name());
        for name in names.chain(buffers().filter_map(|buffer| buffer.name())) {
            is_new(&mut outer, name);
        }
        let metas = self.graph(graph, outer, out);
        for buffer in buffers() {
            let name = buffer.name().unwrap_or_default();
            if !has(&metas, name) {
                self.find(out, &NATIVE_META, buffer.raw(), || {
                    format!("the mutable buffer {} has no tensor value", Quoted(name))
                });
            }
        }
    }

    /// Judges the named data of a constant.
    fn data(&self, constant: NamedTensorRef<'_>, named: &NamedSizes<'_>, out: &mut Findings) {
        let Some(key) = constant.data_key().filter(|key| !key.is_empty()) else { return };
        // Keys are names of parameters, so that any key may be one of a writer.
        match named.get(key, || true) {
            NamedSize::Elsewhere => {}
            NamedSize::Missing => {
                self.find(out, &DELEGATE_KEY_UNRESOLVED, constant.raw(), || {
                    format!("no data has the key {}", Quoted(key))
                });
            }
            NamedSize::Bytes(bytes) => {
                let size = constant.meta().and_then(size_of).filter(|size| *size > bytes);
                if let Some(size) = size {
                    self.find(out, &DELEGATE_KEY_SHORT, constant.raw(), || {
                        let (name, key) =
                            (Quoted(constant.name().unwrap_or_default()), Quoted(key));
                        format!("constant {name} takes {size} bytes, and {key} has {bytes}")
                    });
                }
            }
        }
    }

    /// Judges a graph, whose values besides its inputs are `defined`. Returns the names of the tensors that have a
    /// datatype and a shape. The walker has bounded how deep graphs are in one another.
    fn graph<'p>(
        &self,
        graph: Graph<'p>,
        mut defined: Defined<'p>,
        out: &mut Findings,
    ) -> Defined<'p> {
        let twice = |site: &Self, at, name, out: &mut Findings| {
            let message = || format!("there are two values {}", Quoted(name));
            site.find(out, &NATIVE_VALUE, at, message);
        };
        for name in graph.inputs().into_iter().flatten() {
            if !is_new(&mut defined, name) {
                twice(self, graph.raw(), name, out);
            }
        }
        let mut nodes = Defined::new();
        for node in graph.nodes().into_iter().flatten() {
            let name = node.name().unwrap_or_default();
            if !is_new(&mut nodes, name) {
                self.find(out, &NATIVE_VALUE, node.raw(), || {
                    format!("there are two nodes {}", Quoted(name))
                });
            }
            self.node(node, &defined, out);
            if node.op_kind() == OpKind::PLACEHOLDER {
                if !has(&defined, name) {
                    self.find(out, &NATIVE_VALUE, node.raw(), || {
                        format!("{} is no input, constant or buffer", Quoted(name))
                    });
                }
                continue;
            }
            for output in node.outputs().into_iter().flatten() {
                let is_list = output.kind() == OutputValueKind::TENSOR_LIST;
                let names = output.names().filter(|_| is_list).into_iter().flatten();
                for name in names.chain(output.name().filter(|_| !is_list)) {
                    if !is_new(&mut defined, name) {
                        twice(self, output.raw(), name, out);
                    }
                }
            }
        }
        for name in graph.outputs().into_iter().flatten() {
            self.used(name, graph.raw(), &defined, out);
        }
        let mut metas = Defined::new();
        let tensors = graph.tensor_values().into_iter().flatten();
        tensors.filter_map(|tensor| tensor.name()).for_each(|name| {
            is_new(&mut metas, name);
        });
        // The operands of a branch may be numbers, which have no tensor value.
        let mut numbers = Defined::new();
        let nodes = graph.nodes().into_iter().flatten();
        for node in nodes.filter(|node| node.op_kind() == OpKind::PLACEHOLDER) {
            let mut outputs = node.outputs().into_iter().flatten();
            if outputs.any(|output| NUMBERS.contains(&output.kind())) {
                is_new(&mut numbers, node.name().unwrap_or_default());
            }
        }
        let outputs = graph.outputs().into_iter().flatten();
        for name in graph.inputs().into_iter().flatten().chain(outputs) {
            if !has(&metas, name) && !has(&numbers, name) {
                self.find(out, &NATIVE_META, graph.raw(), || {
                    format!("the input or output {} has no tensor value", Quoted(name))
                });
            }
        }
        metas
    }

    /// Judges what a node reads.
    fn node(&self, node: Node<'_>, defined: &Defined<'_>, out: &mut Findings) {
        for argument in node.inputs().into_iter().flatten().filter_map(|input| input.arg()) {
            self.argument(argument, defined, out);
        }
        for output in node.outputs().into_iter().flatten() {
            if let Some(name) = output.alias_of() {
                self.used(name, output.raw(), defined, out);
            }
        }
    }

    fn argument(&self, argument: Argument<'_>, defined: &Defined<'_>, out: &mut Findings) {
        let at = argument.raw();
        let mut one = |name: Option<&str>| {
            name.into_iter().for_each(|name| self.used(name, at, defined, out));
        };
        match argument.value() {
            Some(ArgumentValue::TensorArg(of)) => one(of.name()),
            Some(ArgumentValue::IntArg(of)) => one(of.r#ref()),
            Some(ArgumentValue::FloatArg(of)) => one(of.r#ref()),
            Some(ArgumentValue::BoolArg(of)) => one(of.r#ref()),
            Some(ArgumentValue::TensorListArg(of)) => {
                of.names().into_iter().flatten().for_each(|name| one(Some(name)));
            }
            Some(ArgumentValue::OptionalTensorListArg(of)) => {
                let present = of.has_value().unwrap_or_default();
                let names = of.names();
                let used =
                    names.into_iter().flatten().zip(present).filter(|(_, is_there)| *is_there);
                used.for_each(|(name, _)| one(Some(name)));
                let len = names.map_or(0, |names| names.len());
                self.lengths(at, len, present.len(), out);
            }
            Some(ArgumentValue::IntListArg(of)) => {
                let Some(refs) = of.refs() else { return };
                refs.into_iter().for_each(|name| one(Some(name)));
                let values = of.values().unwrap_or_default();
                self.lengths(at, values.len(), refs.len(), out);
            }
            Some(ArgumentValue::GraphArg(of)) => {
                if let Some(graph) = of.graph() {
                    self.graph(graph, Defined::new(), out);
                }
            }
            _ => {}
        }
    }

    fn lengths(&self, at: Raw<'_>, len: usize, other: usize, out: &mut Findings) {
        if len != other {
            self.find(out, &NATIVE_LIST, at, || {
                format!("there are {len} arguments, and {other} entries about them")
            });
        }
    }

    /// Judges a use of a value. An empty name is that of no value.
    fn used(&self, name: &str, at: Raw<'_>, defined: &Defined<'_>, out: &mut Findings) {
        if !name.is_empty() && !has(defined, name) {
            self.find(out, &NATIVE_VALUE, at, || format!("there is no value {} yet", Quoted(name)));
        }
    }
}

/// Returns the size of a constant in bytes, at most `u64::MAX`. `None` if its datatype, its layout or a size is not
/// known.
fn size_of(meta: TensorMeta<'_>) -> Option<u64> {
    if meta.quant().is_some() {
        return None;
    }
    let mut bytes: u64 = match meta.dtype() {
        ScalarType::BYTE | ScalarType::CHAR | ScalarType::BOOL => 1,
        ScalarType::SHORT | ScalarType::HALF | ScalarType::BFLOAT16 | ScalarType::UINT16 => 2,
        ScalarType::INT | ScalarType::FLOAT | ScalarType::UINT32 => 4,
        ScalarType::LONG | ScalarType::DOUBLE | ScalarType::UINT64 => 8,
        _ => return None,
    };
    for dim in meta.sizes().into_iter().flatten() {
        let size = Some(dim.max()).filter(|max| *max == dim.min())?;
        bytes = bytes.saturating_mul(u64::try_from(size).ok()?);
    }
    Some(bytes)
}

/// Adds the keys of the scales and zero points in a graph and the graphs inside it.
fn keys_of<'p>(graph: Graph<'p>, keys: &mut Vec<&'p str>) {
    let metas = graph.tensor_values().into_iter().flatten().filter_map(|value| value.meta());
    keys.extend(metas.flat_map(quantization_keys));
    let inputs =
        graph.nodes().into_iter().flatten().flat_map(|node| node.inputs().into_iter().flatten());
    for argument in inputs.filter_map(|input| input.arg()?.value()) {
        if let ArgumentValue::GraphArg(inner) = argument {
            inner.graph().into_iter().for_each(|inner| keys_of(inner, keys));
        }
    }
}

/// Returns the keys of the scales and zero points of a tensor.
fn quantization_keys<'p>(meta: TensorMeta<'p>) -> impl Iterator<Item = &'p str> {
    let scheme = meta.quant().and_then(|quant| quant.scheme());
    let group = match scheme {
        Some(QuantScheme::AffineGroup(group)) => Some(group),
        _ => None,
    };
    let keys = group.map(|group| [group.scale_data_key(), group.zero_point_data_key()]);
    keys.into_iter().flatten().flatten()
}

fn has(names: &Defined<'_>, name: &str) -> bool {
    cost::look_up(name, names.len());
    names.contains(name)
}

/// Adds a name. Returns whether it is new.
fn is_new<'p>(names: &mut Defined<'p>, name: &'p str) -> bool {
    cost::look_up(name, names.len());
    names.insert(name)
}
