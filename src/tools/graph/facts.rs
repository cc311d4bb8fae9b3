//! Facts about the nodes and values of a payload's graph.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pte_schema::xnnpack::XNNDatatype;

/// The nodes and values of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) nodes: Vec<NodeFacts>,
    /// The ids that nodes read and write, one node after the other.
    pub(super) operands: Vec<u32>,
    /// The values, sorted by id. If several have the same id, the first counts, as in the backend.
    pub(super) values: Vec<ValueFacts>,
    /// The names of operators that the payload spells.
    pub(super) names: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeFacts {
    /// The name of the operator.
    pub(super) name: OperatorName,
    /// The number of values that the node writes.
    pub(super) outputs: u8,
    /// The position in `operands` of the node's first operand.
    pub(super) begin: u32,
}

/// The name of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) enum OperatorName {
    /// The operator is unknown.
    Unknown,
    /// The member of XNNPACK's union with this tag.
    Tag(u8),
    /// Upstream's name of an operator.
    Fixed(&'static str),
    /// A name in the payload, by its index in the list of names.
    Listed(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ValueFacts {
    pub(super) id: u32,
    pub(super) datatype: Datatype,
    /// The number of dimensions. `dims` has the first of them.
    pub(super) rank: u32,
    pub(super) dims: [u32; MOST_DIMS],
    /// The index of the call's argument, or `NO_ID`.
    pub(super) argument: u32,
    pub(super) role: Role,
    /// Whether a node writes the value.
    pub(super) is_written: bool,
}

/// The role of a value, which decides whether it is a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Input,
    Output,
    Constant,
    Inner,
}

/// The datatype of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Datatype {
    /// A datatype of XNNPACK.
    Xnnpack(XNNDatatype),
    /// The name of another backend's datatype.
    Named(&'static str),
}

/// The maximum number of dimensions shown of a value. XNNPACK accepts no more.
pub(super) const MOST_DIMS: usize = 6;
