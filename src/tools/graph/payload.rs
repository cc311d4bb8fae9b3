//! The graphs inside delegates: the nodes of payloads, and the values between them.

use core::fmt;
use core::ops::Range;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::facts::{Datatype, Facts, MOST_DIMS, NodeFacts, OperatorName, Role, ValueFacts};
use super::text::joined;
use super::{NodeKind, backends};
use crate::tensors::datatype_name;
use pte_core::file::source::Source;
use pte_core::handle::{Handle, OpenError};
use pte_core::limits::Limits;
use pte_core::payload::xnnpack::{NO_ID, NodeIds, XnnpackGraph, tensor_of};
use pte_core::payload::{Graph, for_each_graph};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::cost;
use pte_flat::desc::UnionDesc;
use pte_flat::quoted::UntrustedString;
use pte_flat::view::Table;
use pte_schema::xnnpack::view::XNode;

/// The graph of a payload: its operators, its inputs, outputs and constants, and the edges.
///
/// The struct is much smaller than the payload, and does not borrow from the payload.
#[derive(Clone, Debug)]
pub struct PayloadGraph {
    range: Range<u64>,
    facts: Facts,
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
    /// The inputs: a constant as its type, any other input as `None`. Present only if constants are
    /// folded.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub arguments: Option<Vec<Option<String>>>,
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
    /// The graphs of XNNPACK, Vulkan, TOSA, MLX and the native backend are known. Payloads of other
    /// backends, and payloads that cannot be read, are left out. If graphs overlap and together have
    /// more bytes than the file, the last of them are left out too.
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
            let size = match &graph {
                Graph::Xnnpack(graph) => {
                    let Range { start, end } = graph.parts().graph;
                    end.saturating_sub(start)
                }
                _ => payload.len(),
            };
            let Some(rest) = left.checked_sub(size) else { return };
            let shown = match &graph {
                Graph::Xnnpack(graph) => Some(Self::of(payload.range(), graph)),
                graph => backends::facts(graph).map(|facts| Self { range: payload.range(), facts }),
            };
            if let Some(shown) = shown {
                left = rest;
                all.push(shown);
            }
        })?;
        Ok(all)
    }

    /// Returns the graph of a payload that has this range in its file.
    pub fn of(range: Range<u64>, graph: &XnnpackGraph<'_>) -> Self {
        let mut values: Vec<ValueFacts> = Vec::new();
        for value in graph.root().xvalues().into_iter().flatten() {
            let Some(tensor) = tensor_of(value) else { continue };
            let all = tensor.dims();
            let mut dims = [0; MOST_DIMS];
            dims.iter_mut().zip(all.into_iter().flatten()).for_each(|(to, dim)| *to = dim);
            let role = match tensor.flags() {
                flags if flags & INPUT != 0 => Role::Input,
                flags if flags & OUTPUT != 0 => Role::Output,
                _ if tensor.constant_buffer_idx() != 0 => Role::Constant,
                _ => Role::Inner,
            };
            values.push(ValueFacts {
                id: tensor.id_out(),
                datatype: Datatype::Xnnpack(tensor.datatype()),
                rank: all.map_or(0, |dims| narrow(dims.len())),
                dims,
                argument: tensor.external_id(),
                role,
                is_written: false,
            });
        }
        // The sort is stable, so that the first of the values with one id is kept.
        cost::sort(values.len());
        values.sort_by_key(|value| value.id);
        values.dedup_by_key(|value| value.id);
        values.shrink_to_fit();
        let mut shown = Self { range, facts: Facts { values, ..Facts::default() } };
        for node in graph.root().xnodes().into_iter().flatten() {
            let begin = narrow(shown.facts.operands.len());
            let ids = node.xnode_union().and_then(NodeIds::of);
            let tag = node.raw().member(XNode::DESC).map_or(0, |(tag, _)| tag);
            let (mut name, mut outputs) = (OperatorName::Tag(tag), 0);
            match ids {
                Some(ids) => {
                    let reads = ids.inputs().iter().copied().filter(|&id| id != NO_ID);
                    shown.facts.operands.extend(reads);
                    shown.facts.operands.extend(ids.outputs());
                    outputs = u8::try_from(ids.outputs().len()).unwrap_or_default();
                    ids.outputs().iter().for_each(|&id| shown.set_written(id));
                }
                None => name = OperatorName::Unknown,
            }
            shown.facts.nodes.push(NodeFacts { name, outputs, begin });
        }
        shown.facts.nodes.shrink_to_fit();
        shown.facts.operands.shrink_to_fit();
        shown
    }

    /// Returns the range of the payload in the file.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the number of nodes. Folded constants are not counted.
    pub fn node_count(&self, folds_constants: bool) -> usize {
        let values =
            self.facts.values.iter().filter(|value| value.is_node(folds_constants)).count();
        self.facts.nodes.len().saturating_add(values)
    }

    /// Returns the nodes: values, then operators in the order in which they run. Folded constants
    /// are arguments of the operators that read them.
    pub fn nodes(&self, folds_constants: bool) -> impl Iterator<Item = PayloadNode> {
        let values = self.facts.values.iter().filter(move |value| value.is_node(folds_constants));
        let values = values.map(|value| PayloadNode {
            value: Some(value.id),
            argument: value.argument(),
            text: Some(value.text()),
            ..node(PayloadNodeId::Value(value.id), value.kind())
        });
        let operators = (0..).zip(&self.facts.nodes).map(move |(index, facts)| {
            let id = PayloadNodeId::Node(index);
            let Some(name) = self.operator(facts.name) else {
                return node(id, NodeKind::Unknown);
            };
            let (inputs, outputs) = self.operands(index);
            let constant = |id: &u32| {
                let value = self.value(*id).filter(|value| value.role == Role::Constant);
                value.map(ValueFacts::text)
            };
            PayloadNode {
                name: Some(name),
                inputs: Some(inputs.to_vec()),
                outputs: Some(outputs.to_vec()),
                arguments: folds_constants.then(|| inputs.iter().map(constant).collect()),
                ..node(id, NodeKind::Operator)
            }
        });
        values.chain(operators)
    }

    /// Returns the edges to each operator and each output. Operators run in the order of the list,
    /// so a value flows from the last operator that wrote it.
    pub fn edges(&self, folds_constants: bool) -> impl Iterator<Item = PayloadEdge> {
        let mut writers: BTreeMap<u32, u32> = BTreeMap::new();
        let operators = (0..narrow(self.facts.nodes.len())).flat_map(move |index| {
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
        let outputs = self.facts.values.iter().filter(|value| value.role == Role::Output);
        let mut outputs = outputs.peekable();
        if outputs.peek().is_some() {
            for index in 0..narrow(self.facts.nodes.len()) {
                last.extend(self.operands(index).1.iter().map(|&id| (id, index)));
            }
        }
        let outputs = outputs.filter_map(move |value| {
            let writer = PayloadNodeId::Node(last.get(&value.id).copied()?);
            let (to, text) = (PayloadNodeId::Value(value.id), Some(value.text()));
            Some(PayloadEdge { from: writer, to, value: value.id, text })
        });
        operators.chain(outputs)
    }

    /// Returns the inputs and outputs with the index of their argument.
    pub fn arguments(&self) -> impl Iterator<Item = PayloadArgument> {
        let ends = self.facts.values.iter().filter(|value| value.is_end());
        ends.filter_map(|value| {
            let is_output = value.role == Role::Output;
            Some(PayloadArgument { argument: value.argument()?, value: value.id, is_output })
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
                value.filter(|value| value.is_node(folds_constants))?;
                PayloadNodeId::Value(id)
            }
        };
        Some(PayloadEdge { from, to, value: id, text: value.map(ValueFacts::text) })
    }

    /// Returns the ids that a node reads, and those that it writes.
    fn operands(&self, index: u32) -> (&[u32], &[u32]) {
        let Some(facts) = self.facts.nodes.get(at(index)) else { return (&[], &[]) };
        let next = self.facts.nodes.get(at(index).saturating_add(1));
        let end = next.map_or(self.facts.operands.len(), |next| at(next.begin));
        let operands = self.facts.operands.get(at(facts.begin)..end).unwrap_or_default();
        operands.split_at(operands.len().saturating_sub(facts.outputs.into()))
    }

    /// Returns the name of an operator.
    fn operator(&self, name: OperatorName) -> Option<UntrustedString> {
        let name = match name {
            OperatorName::Unknown => return None,
            OperatorName::Tag(tag) => operator(tag)?,
            OperatorName::Fixed(name) => name,
            OperatorName::Listed(nth) => self.facts.names.get(at(nth))?,
        };
        Some(name.into())
    }

    fn value(&self, id: u32) -> Option<&ValueFacts> {
        cost::look_up("", self.facts.values.len());
        let found = self.facts.values.binary_search_by_key(&id, |value| value.id).ok()?;
        self.facts.values.get(found)
    }

    fn set_written(&mut self, id: u32) {
        cost::look_up("", self.facts.values.len());
        let found = self.facts.values.binary_search_by_key(&id, |value| value.id);
        if let Some(value) = found.ok().and_then(|found| self.facts.values.get_mut(found)) {
            value.is_written = true;
        }
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

impl ValueFacts {
    /// Returns whether the value is an input or an output of the graph.
    fn is_end(&self) -> bool {
        matches!(self.role, Role::Input | Role::Output)
    }

    fn is_node(&self, folds_constants: bool) -> bool {
        match self.role {
            Role::Input | Role::Output => true,
            Role::Constant => !folds_constants,
            Role::Inner => !self.is_written,
        }
    }

    fn kind(&self) -> NodeKind {
        match self.role {
            Role::Input => NodeKind::Input,
            Role::Output => NodeKind::Output,
            Role::Constant => NodeKind::Constant,
            Role::Inner => NodeKind::Value,
        }
    }

    fn argument(&self) -> Option<u32> {
        (self.is_end() && self.argument != NO_ID).then_some(self.argument)
    }

    /// Returns the datatype with the dimensions, such as `qcint8[64, 32]`.
    fn text(&self) -> String {
        let name = match self.datatype {
            Datatype::Xnnpack(datatype) => match datatype.name() {
                Some(name) => datatype_name(name).to_string(),
                None => format!("datatype {}", datatype.0),
            },
            Datatype::Named(name) => datatype_name(name).to_lowercase(),
        };
        let dims = self.dims.iter().take(at(self.rank));
        let more = if at(self.rank) > MOST_DIMS { ", …" } else { "" };
        format!("{name}[{}{more}]", joined(dims, MOST_DIMS))
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
        value: None,
        argument: None,
        text: None,
    }
}

/// Returns the name of an operator.
fn operator(tag: u8) -> Option<&'static str> {
    let (_, union): (u16, &'static UnionDesc) = XNode::DESC.union?;
    union.member(tag).map(|member| member.name)
}

/// The flags of inputs and outputs of a graph.
const INPUT: u32 = 1;
const OUTPUT: u32 = 2;
