//! The graph of a payload in the form that all backends share: nodes, values, and the data of values.
//!
//! Each backend has a function that makes the form from its tables (a row of the list in `payload.rs`). All
//! documents about payloads are made from the form.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

mod builder;

pub(super) use builder::{Builder, Ends};

use super::id_map::IdMap;
pub use super::literal::{Attribute, Literal};
use crate::limits::MOST_DIMENSIONS;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_flat::desc::{Kind, Member};

/// The id that means no value, and the index that means no argument (`XNN_INVALID_VALUE_ID`).
pub const NO_ID: u32 = u32::MAX;

/// The maximum number of elements that are kept of a list: one more than documents show.
pub(super) const MOST_LISTED: usize = MOST_DIMENSIONS + 1;

/// The maximum number of dimensions that are kept of a value. XNNPACK accepts no more.
pub const MOST_DIMS: usize = 6;

/// The graph of a payload.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Graph<'p> {
    /// What documents show of the graph.
    pub detail: Detail,
    /// The offset of the FlatBuffer in the payload.
    pub flatbuffer: u64,
    /// The nodes, in execution order.
    pub nodes: Vec<Node>,
    /// The ids of the values that nodes read and write, one node after the other.
    pub operands: Vec<u32>,
    /// The attributes, one node after the other.
    pub attributes: Vec<Attribute<'p>>,
    /// The values, in the order of the payload. If several have one id, the backend uses the first.
    pub values: Vec<Value>,
    /// The data that values and shaders use, each piece once.
    pub data: Vec<Data<'p>>,
    /// The elements of lists that are attributes ([`Literal::Listed`]).
    pub listed: Vec<Literal<'p>>,
    /// The names of operators that the payload spells.
    pub names: Vec<&'p str>,
    /// The names of constants that have one, by the id of the value.
    labels: BTreeMap<u32, &'p str>,
    quantizations: Vec<ValueQuantization>,
    /// The index of the first value with each id.
    ids: IdMap<u32>,
}

/// What documents show of the graphs of a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// The operators.
    #[default]
    Operators,
    /// Also the datatypes of values and the size of the data.
    Values,
    /// Also each constant, with its quantization and its reader.
    Constants,
    /// Also which constants are weights.
    Weights,
}

/// A node of a graph: a call of an operator.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Node {
    /// The operator.
    pub operator: Operator,
    /// The number of values that the node writes.
    pub outputs: u8,
    /// The number of graphs around the node's own, each an argument of a node of the next. The values of such
    /// a graph are not in the form.
    pub depth: u8,
    /// The position of the first operand in [`Graph::operands`].
    pub begin: u32,
    /// The position of the first attribute in [`Graph::attributes`].
    pub attributes: u32,
    /// The position of the node's table in the FlatBuffer; 0 without one.
    pub table: u32,
}

/// An operator.
#[derive(Clone, Copy, Debug)]
pub enum Operator {
    /// The operator is unknown.
    Unknown,
    /// A member of the union of operators in the schema.
    Member(&'static Member),
    /// A name, by its index in [`Graph::names`].
    Named(u32),
}

/// A value of a graph.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Value {
    /// The id.
    pub id: u32,
    /// The datatype.
    pub datatype: Datatype,
    /// The number of dimensions.
    pub rank: u32,
    dims: [u32; MOST_DIMS],
    /// The index of the call's argument, or [`NO_ID`].
    pub argument: u32,
    /// The role.
    pub role: Role,
    /// Whether a node writes the value.
    pub is_written: bool,
    /// The index in [`Graph::data`], or [`NO_ID`].
    data: u32,
    /// The index of the quantization, or [`NO_ID`].
    quantization: u32,
}

/// The role of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An input of the graph.
    Input,
    /// An output of the graph.
    Output,
    /// A constant.
    Constant,
    /// Any other value.
    Inner,
}

/// The datatype of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datatype {
    /// The name in the schema of the backend.
    Known(&'static str),
    /// The number of a datatype that the schema does not have.
    Unknown(i32),
}

/// The quantization of a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueQuantization {
    /// The name of the kind in the schema; `None` if unknown.
    pub name: Option<&'static str>,
    /// The quantization. Scales in a constant are given by the index in [`Graph::data`].
    pub of: Quantization<u32>,
}

/// The quantization of a constant. `P` is the place of scales.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantization<P = super::ConstantPlace> {
    /// One scale and zero point.
    Tensor {
        /// The scale.
        scale: f32,
        /// The zero point.
        zero_point: i32,
    },
    /// One scale for each index of one dimension.
    Channel {
        /// The dimension whose indices have a scale each.
        axis: i32,
        /// The place of the scales, which are stored as f32.
        scales: Scales<P>,
    },
    /// One scale for each group of elements of a channel.
    Group {
        /// The dimension of the channels.
        axis: i32,
        /// The number of elements that share a scale.
        group_size: i32,
        /// The place of the scales, which are f32 in the graph and bf16 in a constant.
        scales: Scales<P>,
    },
    /// Another kind of quantization, which a constant cannot have.
    Other,
}

/// The place of scales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scales<P = super::ConstantPlace> {
    /// A list in the graph. The field is the number of scales in the list.
    Graph(u64),
    /// A constant of the payload.
    Constant(P),
}

/// A piece of data that a graph uses.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Data<'p> {
    /// The place.
    pub place: DataPlace<'p>,
    /// The id of the first value that uses it; `None` if there is none, as for a shader.
    pub value: Option<u32>,
    /// Whether it is the scales of that value.
    pub is_scales: bool,
}

/// The place of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataPlace<'p> {
    /// A range of the payload.
    Payload(Range<u64>),
    /// Named data, of the program or of a `.ptd`.
    Named {
        /// The key, up to its first NUL.
        key: &'p str,
        /// The number of bytes that the payload declares for the data; 0 if it declares none.
        size: u64,
    },
    /// Nowhere: the backend refuses the payload.
    Nowhere,
}

/// A node that reads a value. This struct is small, since a file may have a million constants.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Reader {
    /// The index of the node.
    pub node: u32,
    /// The index of the input among the node's inputs.
    position: u8,
    member: Option<&'static Member>,
}

/// The first node that reads each value.
#[derive(Debug)]
pub struct Readers(IdMap<Reader>);

impl<'p> Graph<'p> {
    /// Returns the operator of each node, in execution order; `None` for an unknown operator.
    pub fn operators(&self) -> impl Iterator<Item = Option<&'p str>> {
        self.nodes.iter().map(|node| self.operator(node))
    }

    /// Returns the operator of a node; `None` for an unknown operator.
    pub fn operator(&self, node: &Node) -> Option<&'p str> {
        match node.operator {
            Operator::Unknown => None,
            Operator::Member(member) => Some(member.name),
            Operator::Named(nth) => self.names.get(index(nth)).copied(),
        }
    }

    /// Returns the ids of the values that a node reads, and those that it writes. An optional input that is
    /// absent is [`NO_ID`].
    pub fn operands(&self, nth: u32) -> (&[u32], &[u32]) {
        operands(&self.nodes, &self.operands, nth)
    }

    /// Returns the first value with an id, which is the one that the backend uses.
    pub fn value(&self, id: u32) -> Option<&Value> {
        self.values.get(index(self.ids.get(id)?))
    }

    /// Returns the values that the backend uses: of each id the first.
    pub fn used_values(&self) -> impl Iterator<Item = &Value> {
        let values = (0u32..).zip(&self.values);
        values.filter(|(nth, value)| self.ids.get(value.id) == Some(*nth)).map(|(_, value)| value)
    }

    /// Returns the keys of the named data that the graph requests.
    pub fn keys(&self) -> impl Iterator<Item = &'p str> {
        let keys = self.data.iter().filter_map(|data| match data.place {
            DataPlace::Named { key, .. } => Some(key),
            _ => None,
        });
        keys.filter(|key| !key.is_empty())
    }

    /// Returns the data of a value; `None` for a value without data.
    pub fn data_of(&self, value: &Value) -> Option<&Data<'p>> {
        self.data.get(index(value.data))
    }

    /// Returns the name of a constant; `None` if it has no name.
    pub fn name_of(&self, value: &Value) -> Option<&'p str> {
        cost::look_up("", self.labels.len());
        self.labels.get(&value.id).copied()
    }

    /// Returns the quantization of a value; `None` for a value without one.
    pub fn quantization_of(&self, value: &Value) -> Option<&ValueQuantization> {
        self.quantizations.get(index(value.quantization))
    }

    /// Finds the first node that reads each value.
    pub fn readers(&self) -> Readers {
        let mut readers = IdMap::new(self.values.len());
        for (nth, node) in (0u32..).zip(&self.nodes) {
            let member = match node.operator {
                Operator::Member(member) => Some(member),
                _ => None,
            };
            let inputs = self.operands(nth).0.iter().enumerate();
            for (position, &id) in inputs.filter(|&(_, &id)| id != NO_ID) {
                let position = u8::try_from(position).unwrap_or(u8::MAX);
                readers.insert_first(id, Reader { node: nth, position, member });
            }
        }
        Readers(readers)
    }
}

/// Returns the ids of a node, as [`Graph::operands`] does.
pub fn operands<'o>(nodes: &[Node], operands: &'o [u32], nth: u32) -> (&'o [u32], &'o [u32]) {
    let Some(node) = nodes.get(index(nth)) else { return (&[], &[]) };
    let next = nodes.get(index(nth).saturating_add(1));
    let end = next.map_or(operands.len(), |next| index(next.begin));
    let operands = operands.get(index(node.begin)..end).unwrap_or_default();
    operands.split_at(operands.len().saturating_sub(node.outputs.into()))
}

impl Value {
    /// Returns the sizes of the first dimensions, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[u32] {
        self.dims.get(..index(self.rank)).unwrap_or(&self.dims)
    }
}

impl Datatype {
    /// Returns the name in the schema of the backend; `None` for an unknown datatype.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Known(name) => Some(name),
            Self::Unknown(_) => None,
        }
    }

    /// Returns the datatype with a number and, if it is known, a name.
    pub(super) fn new(name: Option<&'static str>, number: impl Into<i64>) -> Self {
        let unknown = || Self::Unknown(i32::try_from(number.into()).unwrap_or(i32::MAX));
        name.map_or_else(unknown, Self::Known)
    }
}

impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => f.write_str(name),
            Self::Unknown(number) => number.fmt(f),
        }
    }
}

impl<P> Quantization<P> {
    /// Returns the name of the kind: `tensor`, `channel`, `group` or `other`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tensor { .. } => "tensor",
            Self::Channel { .. } => "channel",
            Self::Group { .. } => "group",
            Self::Other => "other",
        }
    }

    /// Returns the place of the scales; `None` unless they are in a constant.
    #[must_use]
    pub fn scales(&self) -> Option<&P> {
        match self {
            Self::Channel { scales: Scales::Constant(place), .. }
            | Self::Group { scales: Scales::Constant(place), .. } => Some(place),
            _ => None,
        }
    }

    /// Returns the number of elements of a group.
    #[must_use]
    pub fn group_size(&self) -> Option<i32> {
        match self {
            Self::Group { group_size, .. } => Some(*group_size),
            _ => None,
        }
    }

    /// Returns the same quantization with its scales at another kind of place.
    pub(super) fn with_places<Q>(&self, place: impl FnOnce(&P) -> Q) -> Quantization<Q> {
        let of = |scales: &Scales<P>| match scales {
            Scales::Graph(count) => Scales::Graph(*count),
            Scales::Constant(of) => Scales::Constant(place(of)),
        };
        match self {
            Self::Tensor { scale, zero_point } => {
                Quantization::Tensor { scale: *scale, zero_point: *zero_point }
            }
            Self::Channel { axis, scales } => {
                Quantization::Channel { axis: *axis, scales: of(scales) }
            }
            Self::Group { axis, group_size, scales } => {
                Quantization::Group { axis: *axis, group_size: *group_size, scales: of(scales) }
            }
            Self::Other => Quantization::Other,
        }
    }
}

impl Readers {
    /// Returns the first node that reads the value with an id.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<Reader> {
        self.0.get(id)
    }
}

impl PartialEq for Reader {
    fn eq(&self, other: &Self) -> bool {
        let key = |of: &Self| (of.node, of.position, of.operator());
        key(self) == key(other)
    }
}

impl Eq for Reader {}

impl Reader {
    /// Returns upstream's name of the operator.
    #[must_use]
    pub fn operator(&self) -> &'static str {
        self.member.map_or("", |member| member.name)
    }

    /// Returns the name of the input: its field without `_id`.
    #[must_use]
    pub fn input(&self) -> &'static str {
        // The fields of inputs are numbers whose names end with `_id`, in the order of inputs.
        let fields = self.member.map_or(&[][..], |member| member.table.fields);
        let numbers = fields.iter().filter(|field| matches!(field.kind, Kind::Scalar(_)));
        let names = numbers.filter_map(|field| field.name.strip_suffix("_id"));
        let mut inputs = names.filter(|name| !name.starts_with("output"));
        inputs.nth(self.position.into()).unwrap_or_default()
    }

    /// Returns whether the value is a weight, by which a node multiplies its input.
    #[must_use]
    pub fn is_weight(&self) -> bool {
        self.input() == "filter" || self.operator() == "XNNBatchMatrixMultiply"
    }
}
