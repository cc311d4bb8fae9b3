//! The data-flow graph of a method: its instructions, its values, and the edges between them.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
//! use pte::graph::{EdgeKind, MethodGraph};
//!
//! let pte = pte::Pte::read(bytes)?;
//! for graph in MethodGraph::all(&pte) {
//!     for edge in graph.edges().filter(|edge| edge.kind == EdgeKind::Data) {
//!         println!("{} -> {}: value {:?}", edge.from, edge.to, edge.value);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Every instruction is a node. A value is a node if it is an input, has data, decides a jump, is a
//! list, is read before it is written, or has several writers. The node has one edge for each
//! writer and each reader. Other values are on the edges from their writer to their readers.
//!
//! A tensor without a writer may have the place of a tensor that is written before. Then it is a
//! view of that tensor. The nodes of a method are one cluster. A [`PayloadGraph`] is the cluster
//! inside a call of a delegate.
//!
//! With the feature `serde` a [`GraphDocument`] serializes as the document `pte.graph/1`.

use core::fmt;
use core::ops::Range;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use pte_core::Pte;
use pte_flat::cost;
use pte_flat::quoted::{Untrusted, UntrustedString};
use pte_schema::program::view::ExecutionPlan;

mod build;
mod document;
mod edges;
mod nodes;
mod part;
mod payload;
mod text;

pub use document::GraphDocument;
pub use part::{DrawOptions, Excerpt, InstructionPlace};
pub use payload::{
    OpenCall, PayloadArgument, PayloadAttribute, PayloadEdge, PayloadGraph, PayloadNode,
    PayloadNodeId,
};
#[cfg(feature = "diff")]
pub(crate) use payload::{argument_of, value_text};
pub use text::tensor_type;
#[cfg(feature = "diff")]
pub(crate) use text::{dtype_name, joined, list, literal};

/// The graph of a method, which is one cluster of the program's graph.
///
/// Nodes and edges are created on demand. The graph itself takes a few bytes for each value,
/// instruction and argument.
#[derive(Clone, Debug)]
pub struct MethodGraph<'a> {
    pte: Pte<'a>,
    plan: ExecutionPlan<'a>,
    /// The index of the method.
    index: u32,
    /// The names of the operators. Each is read once, for any number of calls.
    operators: Vec<UntrustedString>,
    /// The instructions of all chains, by pc.
    instructions: Vec<InstructionFacts>,
    values: Vec<ValueFacts>,
    /// For each instruction, the values that it reads, then the values that it writes.
    operands: Vec<u32>,
    /// The values that the method returns.
    outputs: Vec<u32>,
    /// The names of tensors and the contents of strings, by value.
    texts: Vec<(u32, &'a str)>,
    /// Whether `Next` edges join all instructions, or only blocks.
    is_order_whole: bool,
    /// For each output, whether the shown part leaves it out. Empty if all outputs are shown.
    hidden_outputs: Vec<bool>,
    /// For each delegate, the index of its payload's graph, if payloads are open.
    payloads: Vec<Option<u32>>,
}

/// The place of an instruction and its operands. Other facts are read from the file.
#[derive(Clone, Copy, Debug)]
struct InstructionFacts {
    chain: u32,
    index: u32,
    /// The ranges `reads_begin..writes_begin` and `writes_begin..end` of `MethodGraph::operands`.
    reads_begin: u32,
    writes_begin: u32,
    end: u32,
    /// The pc that a jump leads to. The number of instructions is the end of the method.
    jump: Option<u32>,
    /// Whether the instruction begins a block: it is the target of a jump, or follows a jump.
    is_block_start: bool,
    /// Whether the instruction is hidden, because it only makes a view.
    is_view: bool,
    visibility: Visibility,
}

/// Whether a node is drawn: inside the shown part, just outside of it, or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Visibility {
    #[default]
    Inside,
    /// The node is outside of the shown part, but an edge joins it with the part.
    Outside,
    Hidden,
}

/// The role of a value in the graph.
#[derive(Clone, Copy, Debug, Default)]
struct ValueFacts {
    /// The number of instructions and lists that write the value.
    writers: u32,
    first_writer: Option<Writer>,
    is_input: bool,
    is_node: bool,
    /// Whether an instruction reads the value before any instruction writes it.
    is_read_first: bool,
    /// Whether an output, a list or a jump uses the value, so that it is never folded.
    is_kept: bool,
    /// Whether the value has no node, and is shown as an argument of the calls that use it.
    is_folded: bool,
    /// Whether the value is not in the shown part.
    is_hidden: bool,
    /// The value that a view shows. The view has no writer, or its writer is hidden.
    source: Option<u32>,
}

/// The writer of a value.
#[derive(Clone, Copy, Debug)]
enum Writer {
    /// The instruction with this pc.
    Instruction(u32),
    /// An instruction that writes the value as an item of a list. This is the list's value index.
    List(u32),
}

/// A node: an instruction, a value, an output, or the end of the method.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GraphNode<'g> {
    /// The id.
    pub id: NodeId,
    /// The kind.
    pub kind: NodeKind,
    /// The whole name of the operator, the backend or the tensor.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub name: Option<Untrusted<'g>>,
    /// The index of the instruction's chain.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub chain: Option<u32>,
    /// The index of the instruction in its chain.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub instruction: Option<u32>,
    /// The instruction's operands, as indices of values.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub args: Option<Vec<i32>>,
    /// The first 64 operands of a call. A constant without a node is a text, such as `[1, 1]`; any
    /// other operand is `None`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub arguments: Option<Vec<Option<String>>>,
    /// The index of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub value: Option<u32>,
    /// The index of the graph of a delegate's payload, in the list that
    /// [`MethodGraph::with_payloads`] was given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub payload: Option<u32>,
    /// The type of the value, or a remark on the instruction.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub text: Option<String>,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum NodeKind {
    /// A call of an operator.
    Kernel,
    /// A call of a delegate.
    Delegate,
    /// A move.
    Move,
    /// A free.
    Free,
    /// A jump that is taken if its condition is false.
    Jump,
    /// An instruction of another kind, or an empty one.
    Unknown,
    /// An input of the method.
    Input,
    /// An output of the method.
    Output,
    /// A value that never changes.
    Constant,
    /// A tensor with initial data that the method may overwrite.
    Mutable,
    /// A tensor whose data is in a `.ptd`.
    External,
    /// A list of tensors.
    List,
    /// Any other value.
    Value,
    /// The end of the method, as the target of a jump.
    End,
    /// An instruction outside of the shown part.
    Outside,
    /// A node of a delegate's payload.
    Operator,
}

impl NodeKind {
    /// Returns the name of the kind, such as `kernel`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Delegate => "delegate",
            Self::Move => "move",
            Self::Free => "free",
            Self::Jump => "jump",
            Self::Unknown => "unknown",
            Self::Input => "input",
            Self::Output => "output",
            Self::Constant => "constant",
            Self::Mutable => "mutable",
            Self::External => "external",
            Self::List => "list",
            Self::Value => "value",
            Self::End => "end",
            Self::Outside => "outside",
            Self::Operator => "operator",
        }
    }
}

/// The id of a node, unique in its program. It is displayed as `m0i3`: method 0, instruction 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct NodeId {
    /// The index of the method.
    pub method: u32,
    /// The node in its method.
    pub node: MethodNode,
}

/// The identity of a node in its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MethodNode {
    /// The value with this index; `v` in a displayed [`NodeId`].
    Value(u32),
    /// The instruction with this pc; `i` in a displayed [`NodeId`]. A pc that equals the number of
    /// instructions stands for the end of the method.
    Instruction(u32),
    /// The output with this index; `r` in a displayed [`NodeId`].
    Output(u32),
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letter, number) = match self.node {
            MethodNode::Value(number) => ('v', number),
            MethodNode::Instruction(number) => ('i', number),
            MethodNode::Output(number) => ('r', number),
        };
        write!(f, "m{}{letter}{number}", self.method)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for NodeId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An edge between two nodes of one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The node where the edge begins.
    pub from: NodeId,
    /// The node where the edge ends.
    pub to: NodeId,
    /// The kind.
    pub kind: EdgeKind,
    /// The index of the value that flows; `None` if the edge is not [`Data`](EdgeKind::Data).
    pub value: Option<u32>,
}

/// The kind of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum EdgeKind {
    /// A value flows along the edge.
    Data,
    /// The edge leads to the instruction that runs next.
    Next,
    /// The edge leads to the instruction that runs next if the condition of a jump is false.
    Jump,
}

impl<'a> MethodGraph<'a> {
    /// Returns the graph of each method of `pte`, made one after the other.
    pub fn all(pte: &Pte<'a>) -> impl Iterator<Item = Self> {
        let plans = pte.program().execution_plan().into_iter().flatten();
        (0..).zip(plans).map(|(index, plan)| Self::of(pte, index, plan))
    }

    /// Returns the name of the method.
    pub fn name(&self) -> Option<Untrusted<'a>> {
        self.plan.name().map(Into::into)
    }

    /// Returns the index of the method in its program.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Links the delegates to their graphs in `payloads`: the node of a call of such a delegate has the index of the
    /// graph.
    #[must_use]
    pub fn with_payloads(mut self, payloads: &[PayloadGraph]) -> Self {
        let ranges = (0..).zip(payloads).map(|(index, payload)| {
            let Range { start, end } = payload.range();
            ((start, end), index)
        });
        let indices: BTreeMap<_, u32> = ranges.collect();
        let delegates = self.plan.delegates().into_iter().flatten();
        self.payloads = delegates
            .map(|delegate| {
                let Range { start, end } = self.pte.delegate_range(delegate).ok().flatten()?;
                cost::look_up("", indices.len());
                indices.get(&(start, end)).copied()
            })
            .collect();
        self
    }

    /// Returns the index of the graph of a delegate's payload, if it is open.
    fn payload(&self, delegate: i32) -> Option<u32> {
        let nth = usize::try_from(delegate).ok()?;
        self.payloads.get(nth).copied().flatten()
    }

    fn id(&self, node: MethodNode) -> NodeId {
        NodeId { method: self.index, node }
    }
}
