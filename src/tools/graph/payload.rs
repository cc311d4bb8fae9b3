//! The graphs inside delegates: the nodes of payloads, and the values between them.

use core::fmt;
use core::ops::Range;

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::text::{joined, list, shortened};
use super::{Edge, EdgeKind, NodeKind};
use crate::tensors::datatype_name;
use pte_core::payload::graph::{
    Datatype, Literal, MOST_DIMS, NO_ID, Node, Operator, Role, Value, operands,
};
use pte_core::payload::{Graph, for_each_graph};
use pte_core::{Handle, Limits, OpenError, Source};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;

/// The graph of a payload: its operators, its inputs, outputs and constants, and the edges.
///
/// The struct is much smaller than the payload, and does not borrow from the payload.
#[derive(Clone, Debug)]
pub struct PayloadGraph {
    range: Range<u64>,
    /// The offset of the FlatBuffer in the file.
    flatbuffer: u64,
    nodes: Vec<Node>,
    operands: Vec<u32>,
    /// The attributes, one node after the other: the index of each one's name and of its argument in `texts`.
    attributes: Vec<[u32; 2]>,
    /// The names and arguments of attributes, each text once.
    texts: Vec<String>,
    /// The values that the backend uses, sorted by id.
    values: Vec<Value>,
    /// The names of operators that the payload spells.
    names: Vec<String>,
}

/// A node of a payload's graph: an operator, or a value that is an input, an output or a constant.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PayloadNode {
    /// The id, unique in its payload.
    pub id: PayloadNodeId,
    /// The kind: [`Operator`](NodeKind::Operator), [`Unknown`](NodeKind::Unknown),
    /// [`Input`](NodeKind::Input), [`Output`](NodeKind::Output), [`Constant`](NodeKind::Constant), or
    /// [`Value`](NodeKind::Value) for any other value that no node writes.
    pub kind: NodeKind,
    /// The operator, by upstream's name or as the payload spells it, cut to 60 characters.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub name: Option<UntrustedString>,
    /// The ids of the values that an operator reads.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub inputs: Option<Vec<u32>>,
    /// The ids of the values that an operator writes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub outputs: Option<Vec<u32>>,
    /// The inputs: a constant as its type, any other input as `None`. Then the attributes. Present only if
    /// constants are folded.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub arguments: Option<Vec<Option<String>>>,
    /// The attributes of an operator: its arguments that are no values, as the payload of the native backend
    /// spells them. Present only if there are any, and if constants are not folded.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub attributes: Vec<PayloadAttribute>,
    /// The id of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub value: Option<u32>,
    /// The index of the call's argument that is this input or output.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub argument: Option<u32>,
    /// The type of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub text: Option<String>,
}

/// An argument of an operator that is no value of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PayloadAttribute {
    /// The name of the parameter.
    pub name: UntrustedString,
    /// The argument, such as `2`, `[1, 1]` or `None`. Lists and texts are cut.
    pub value: UntrustedString,
}

/// The id of a node in a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PayloadNodeId {
    /// The node with this index. Node 3 is displayed as `n3`.
    Node(u32),
    /// The value with this id. Value 3 is displayed as `v3`.
    Value(u32),
}

impl fmt::Display for PayloadNodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(index) => write!(f, "n{index}"),
            Self::Value(id) => write!(f, "v{id}"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for PayloadNodeId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An edge of a payload's graph.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PayloadEdge {
    /// The node where the edge begins.
    pub from: PayloadNodeId,
    /// The node where the edge ends.
    pub to: PayloadNodeId,
    /// The id of the value that flows.
    pub value: u32,
    /// The type of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub text: Option<String>,
}

impl PayloadGraph {
    /// Returns the graphs of a program's payloads, in the order of their delegates. A payload that
    /// several delegates share has one graph.
    ///
    /// Payloads of backends whose graph is not known (docs/limits.md), and payloads that cannot be read, are left
    /// out. If graphs overlap and together have more bytes than the file, the last of them are left out too.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn all<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        let mut all = Vec::new();
        let mut left = handle.file_len();
        for_each_graph(handle, limits, |payload, graph| {
            let Ok(Some(graph)) = graph else { return };
            let Some(rest) = left.checked_sub(payload.len()) else { return };
            left = rest;
            all.push(Self::of(payload.range(), graph));
        })?;
        Ok(all)
    }

    /// Returns the graph of a payload that has this range in its file. A graph that is an argument of a node is
    /// left out.
    pub fn of(range: Range<u64>, graph: Graph<'_>) -> Self {
        let mut values: Vec<Value> = graph.used_values().copied().collect();
        cost::sort(values.len());
        values.sort_unstable_by_key(|value| value.id);
        let names = graph.names.iter().map(|name| name.chars().take(MOST_CHARACTERS).collect());
        let names = names.collect();
        let mut texts = Texts::default();
        let attributes = graph.attributes.iter().map(|attribute| {
            let name = attribute.name.chars().take(MOST_CHARACTERS).collect();
            [texts.add(name), texts.add(literal(attribute.literal, &graph.listed))]
        });
        let attributes = attributes.collect();
        let flatbuffer = range.start.saturating_add(graph.flatbuffer);
        let Graph { mut nodes, mut operands, .. } = graph;
        nodes.retain(|node| node.depth == 0);
        nodes.shrink_to_fit();
        operands.shrink_to_fit();
        Self { range, flatbuffer, nodes, operands, attributes, texts: texts.all, values, names }
    }

    /// Returns the range of the payload in the file.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the offsets in the file of the operators' tables.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = (PayloadNodeId, u64)> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.table > 0).map(|(index, node)| {
            (PayloadNodeId::Node(index), self.flatbuffer.saturating_add(node.table.into()))
        })
    }

    /// Returns the number of nodes. Folded constants are not counted.
    pub fn node_count(&self, folds_constants: bool) -> usize {
        let values = self.values.iter().filter(|value| is_node(value, folds_constants)).count();
        self.nodes.len().saturating_add(values)
    }

    /// Returns the nodes: values, then operators in the order in which they run. Folded constants
    /// are arguments of the operators that read them.
    pub fn nodes(&self, folds_constants: bool) -> impl Iterator<Item = PayloadNode> {
        let values = self.values.iter().filter(move |value| is_node(value, folds_constants));
        let values = values.map(|value| PayloadNode {
            value: Some(value.id),
            argument: argument_of(value),
            text: Some(value_text(value)),
            ..node(PayloadNodeId::Value(value.id), kind(value))
        });
        let operators = (0..self.operator_count()).map(move |index| {
            let id = PayloadNodeId::Node(index);
            let Some(name) = self.operator_of(index) else {
                return node(id, NodeKind::Unknown);
            };
            let (inputs, outputs) = self.operands(index);
            let constant = |id: &u32| {
                let value = self.value(*id).filter(|value| value.role == Role::Constant);
                value.map(value_text)
            };
            let attributes = self.attributes_of(index);
            let arguments = folds_constants.then(|| {
                let attributes = attributes.clone().map(|of| match of.name.raw() {
                    "" => of.value.raw().into(),
                    name => format!("{name}={}", of.value.raw()),
                });
                inputs.clone().map(constant).chain(attributes.map(Some)).collect()
            });
            PayloadNode {
                name: Some(name),
                inputs: Some(inputs.copied().collect()),
                outputs: Some(outputs.to_vec()),
                attributes: attributes.filter(|_| !folds_constants).collect(),
                arguments,
                ..node(id, NodeKind::Operator)
            }
        });
        values.chain(operators)
    }

    /// Returns the edges to each operator and each output. Operators run in the order of the list,
    /// so a value flows from the last operator that wrote it.
    pub fn edges(&self, folds_constants: bool) -> impl Iterator<Item = PayloadEdge> {
        let mut writers: BTreeMap<u32, u32> = BTreeMap::new();
        let operators = (0..self.operator_count()).flat_map(move |index| {
            let (inputs, outputs) = self.operands(index);
            let to = PayloadNodeId::Node(index);
            let mut edges = Vec::new();
            for &id in inputs {
                cost::look_up("", writers.len());
                let writer = writers.get(&id).copied();
                edges.extend(self.edge(id, writer, to, folds_constants));
            }
            writers.extend(outputs.iter().map(|&id| (id, index)));
            edges
        });
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        let outputs = self.values.iter().filter(|value| value.role == Role::Output);
        let mut outputs = outputs.peekable();
        if outputs.peek().is_some() {
            for index in 0..self.operator_count() {
                last.extend(self.operands(index).1.iter().map(|&id| (id, index)));
            }
        }
        let outputs = outputs.filter_map(move |value| {
            let writer = PayloadNodeId::Node(last.get(&value.id).copied()?);
            let (to, text) = (PayloadNodeId::Value(value.id), Some(value_text(value)));
            Some(PayloadEdge { from: writer, to, value: value.id, text })
        });
        operators.chain(outputs)
    }

    /// Returns the inputs and outputs with the index of their argument.
    pub fn arguments(&self) -> impl Iterator<Item = PayloadArgument> {
        let ends = self.values.iter().filter(|value| is_end(value));
        ends.filter_map(|value| {
            let is_output = value.role == Role::Output;
            Some(PayloadArgument { argument: argument_of(value)?, value: value.id, is_output })
        })
    }

    fn edge(
        &self,
        id: u32,
        writer: Option<u32>,
        to: PayloadNodeId,
        folds_constants: bool,
    ) -> Option<PayloadEdge> {
        let value = self.value(id);
        let from = match writer {
            Some(writer) => PayloadNodeId::Node(writer),
            None => {
                value.filter(|value| is_node(value, folds_constants))?;
                PayloadNodeId::Value(id)
            }
        };
        Some(PayloadEdge { from, to, value: id, text: value.map(value_text) })
    }

    /// Returns the number of operators.
    pub(crate) fn operator_count(&self) -> u32 {
        narrow(self.nodes.len())
    }

    /// Returns the ids that a node reads, and those that it writes. An absent input is [`NO_ID`].
    pub(crate) fn ids(&self, index: u32) -> (&[u32], &[u32]) {
        operands(&self.nodes, &self.operands, index)
    }

    /// Returns the ids that a node reads, without absent inputs, and those that it writes.
    fn operands(&self, index: u32) -> (impl Iterator<Item = &u32> + Clone, &[u32]) {
        let (inputs, outputs) = self.ids(index);
        (inputs.iter().filter(|&&id| id != NO_ID), outputs)
    }

    /// Returns the attributes of a node.
    pub(crate) fn attributes_of(
        &self,
        index: u32,
    ) -> impl Iterator<Item = PayloadAttribute> + Clone {
        let begin = |nth: u32| self.nodes.get(at(nth)).map(|node| at(node.attributes));
        let start = begin(index).unwrap_or_default();
        let end = begin(index.saturating_add(1)).unwrap_or(self.attributes.len());
        let text = |nth: u32| self.texts.get(at(nth)).map_or("", String::as_str).into();
        let all = self.attributes.get(start..end).unwrap_or_default().iter();
        all.map(move |&[name, value]| PayloadAttribute { name: text(name), value: text(value) })
    }

    /// Returns the name of a node's operator; `None` for an unknown one.
    pub(crate) fn operator_of(&self, index: u32) -> Option<UntrustedString> {
        match self.nodes.get(at(index))?.operator {
            Operator::Unknown => None,
            Operator::Member(member) => Some(member.name.into()),
            Operator::Named(nth) => self.names.get(at(nth)).map(|name| name.as_str().into()),
        }
    }

    /// Returns the value with an id.
    pub(crate) fn value(&self, id: u32) -> Option<&Value> {
        cost::look_up("", self.values.len());
        let found = self.values.binary_search_by_key(&id, |value| value.id).ok()?;
        self.values.get(found)
    }
}

/// An input or output of a payload's graph that is an argument of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayloadArgument {
    /// The index of the argument.
    pub argument: u32,
    /// The id of the value.
    pub value: u32,
    /// Whether the value is an output of the graph.
    pub is_output: bool,
}

/// A call whose payload is open: edges lead to the inputs of the payload and from its outputs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenCall<'p> {
    /// The payload.
    pub payload: &'p PayloadGraph,
    /// The inputs of the payload, by the index of the value that the call passes.
    inputs: BTreeMap<u32, Vec<u32>>,
    /// The outputs of the payload, by the index of the value that receives the output. If several
    /// outputs have one index, the last output counts.
    outputs: BTreeMap<u32, u32>,
}

impl<'p> OpenCall<'p> {
    /// Returns the call of `payload` with the arguments `args`, which are indices of values.
    #[must_use]
    pub fn new(payload: &'p PayloadGraph, args: &[i32]) -> Self {
        let mut call = Self { payload, inputs: BTreeMap::new(), outputs: BTreeMap::new() };
        for end in payload.arguments() {
            let arg = args.get(at(end.argument));
            let Some(value) = arg.and_then(|&arg| u32::try_from(arg).ok()) else { continue };
            match end.is_output {
                true => _ = call.outputs.insert(value, end.value),
                false => call.inputs.entry(value).or_default().push(end.value),
            }
        }
        call
    }

    /// Returns the inputs of the payload that an edge to the call leads to; `None` if it leads to the call itself.
    #[must_use]
    pub fn inputs(&self, edge: &Edge) -> Option<&[u32]> {
        self.inputs.get(&flowing(edge)?).map(Vec::as_slice)
    }

    /// Returns the output of the payload that an edge from the call begins at; `None` if it begins at the call itself.
    #[must_use]
    pub fn output(&self, edge: &Edge) -> Option<u32> {
        self.outputs.get(&flowing(edge)?).copied()
    }
}

/// Returns the value that flows along an edge.
fn flowing(edge: &Edge) -> Option<u32> {
    edge.value.filter(|_| edge.kind == EdgeKind::Data)
}

/// Returns whether a value is an input or an output of the graph.
fn is_end(value: &Value) -> bool {
    matches!(value.role, Role::Input | Role::Output)
}

/// Returns whether a value is a node of the picture.
fn is_node(value: &Value, folds_constants: bool) -> bool {
    match value.role {
        Role::Input | Role::Output => true,
        Role::Constant => !folds_constants,
        Role::Inner => !value.is_written,
    }
}

fn kind(value: &Value) -> NodeKind {
    match value.role {
        Role::Input => NodeKind::Input,
        Role::Output => NodeKind::Output,
        Role::Constant => NodeKind::Constant,
        Role::Inner => NodeKind::Value,
    }
}

/// Returns the index of the call's argument that an input or an output is.
pub(crate) fn argument_of(value: &Value) -> Option<u32> {
    (is_end(value) && value.argument != NO_ID).then_some(value.argument)
}

/// Returns the datatype of a value with its dimensions, such as `qcint8[64, 32]`.
pub(crate) fn value_text(value: &Value) -> String {
    let name = match value.datatype {
        Datatype::Known(name) => datatype_name(name).to_lowercase(),
        Datatype::Unknown(number) => format!("datatype {number}"),
    };
    let more = if at(value.rank) > MOST_DIMS { ", …" } else { "" };
    format!("{name}[{}{more}]", joined(value.dims().iter(), MOST_DIMS))
}

/// Texts of a graph, each once: nodes may share a long list of attributes.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    indices: BTreeMap<String, u32>,
}

impl Texts {
    /// Returns the index of a text.
    fn add(&mut self, text: String) -> u32 {
        cost::look_up(&text, self.indices.len());
        if let Some(&known) = self.indices.get(&text) {
            return known;
        }
        let nth = narrow(self.all.len());
        self.all.push(text.clone());
        self.indices.insert(text, nth);
        nth
    }
}

/// Returns an argument as the arguments of a program's instructions are written.
fn literal(of: Literal<'_>, listed: &[Literal<'_>]) -> String {
    match of {
        Literal::None => "None".into(),
        Literal::Int(number) => number.to_string(),
        Literal::Float(number) => format!("{number:?}"),
        Literal::Single(number) => format!("{number:?}"),
        Literal::Bool(is_true) => is_true.to_string(),
        Literal::Text(text) => shortened(text),
        Literal::Value(nth) => format!("value {nth}"),
        Literal::Name(name) => datatype_name(name).into(),
        Literal::Ints(numbers) => list(numbers),
        Literal::ShortInts(numbers) => list(numbers),
        Literal::Words(numbers) => list(numbers),
        Literal::Floats(numbers) => list(numbers.into_iter().map(|number| format!("{number:?}"))),
        Literal::Bools(all) => list(all),
        Literal::Varints(numbers) => list(numbers.map(u64::cast_signed)),
        Literal::Singles(bytes) => {
            let (numbers, _) = bytes.as_chunks();
            list(numbers.iter().map(|bytes| format!("{:?}", f32::from_le_bytes(*bytes))))
        }
        Literal::Listed { begin, end } => {
            let elements = listed.get(at(begin)..at(end)).unwrap_or_default();
            list(elements.iter().map(|element| literal(*element, &[])))
        }
    }
}

fn node(id: PayloadNodeId, kind: NodeKind) -> PayloadNode {
    PayloadNode {
        id,
        kind,
        name: None,
        inputs: None,
        outputs: None,
        arguments: None,
        attributes: Vec::new(),
        value: None,
        argument: None,
        text: None,
    }
}

/// The largest number of characters kept of a name.
const MOST_CHARACTERS: usize = 60;
