//! The meaning of XNNPACK's payloads: nodes, the values that nodes read and write, and constants.
//!
//! Ids of values, indices of constants, keys, the order of values and the layout of tables have no
//! meaning. Numbers that the backend does not read have none either. Nodes are compared in order.

use core::ops::Range;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Data, Operand, Report, Side};
use crate::diff::digest::{Hasher, Sha};
use crate::diff::fields::{self, TableRef};
use crate::diff::text;
use pte_core::Limits;
use pte_core::payload::xnnpack::{
    NO_ID, PayloadConstant, XnnpackGraph, XnnpackParts, constants_of, tensor_of,
};
use pte_flat::bytes::{index, narrow, wide};
use pte_flat::view::Table;
use pte_schema::xnnpack::view::{
    OutputMinMax, XNNQuantizedTensorValue, XNode, XValue, XValueUnion,
};

/// The meaning of a payload.
#[derive(Debug)]
pub(in crate::diff) struct Meaning {
    /// The digest of everything in the payload that has a meaning.
    pub(super) digest: Sha,
    parts: XnnpackParts,
    graph: Vec<u8>,
    constants: Constants,
    limits: Limits,
}

/// Each constant that a value refers to, by its index.
type Constants = BTreeMap<u32, Data>;

/// The place of a constant's bytes.
pub(in crate::diff) enum ConstantSource<'k> {
    /// A range of the payload.
    Payload(Range<u64>),
    /// Named data of the program or of a `.ptd`.
    Key(&'k str),
    /// Nowhere: the backend refuses the constant.
    Nowhere,
}

impl Meaning {
    /// Returns the meaning of a payload. `graph` are the bytes of its graph, and `read` returns the digest
    /// and the length of a constant. `None` for a graph that is broken, or that takes more work than its
    /// length allows: shared lists are read again for each value.
    pub(in crate::diff) fn of<E>(
        parts: XnnpackParts,
        graph: Vec<u8>,
        limits: &Limits,
        mut read: impl FnMut(ConstantSource<'_>) -> Result<Data, E>,
    ) -> Result<Option<Self>, E> {
        let Ok(view) = XnnpackGraph::read(parts.clone(), &graph, limits) else { return Ok(None) };
        let mut constants = Constants::new();
        for value in view.root().xvalues().into_iter().flatten() {
            for nth in constants_of(value).into_iter().filter(|&nth| nth != 0) {
                if constants.contains_key(&nth) {
                    continue;
                }
                let place = match view.constant(nth) {
                    Ok(PayloadConstant::Behind(range) | PayloadConstant::Within { range, .. }) => {
                        ConstantSource::Payload(range)
                    }
                    Ok(PayloadConstant::Named { key, .. }) => ConstantSource::Key(key),
                    Err(_) => ConstantSource::Nowhere,
                };
                constants.insert(nth, read(place)?);
            }
        }
        let work = wide(graph.len()).saturating_mul(limits.amplification.into());
        let Some(digest) = Graph::new(&view, &constants).digest(work) else { return Ok(None) };
        Ok(Some(Self { digest, parts, graph, constants, limits: *limits }))
    }

    /// Calls `compare` with the graphs of this payload and of another.
    pub(super) fn with(&self, other: &Self, compare: impl FnOnce(&Graph<'_, '_>, &Graph<'_, '_>)) {
        // Both were proven when their meanings were made.
        if let (Ok(old), Ok(new)) = (self.read(), other.read()) {
            compare(&Graph::new(&old, &self.constants), &Graph::new(&new, &other.constants));
        }
    }

    fn read(&self) -> Result<XnnpackGraph<'_>, pte_core::payload::Unreadable> {
        XnnpackGraph::read(self.parts.clone(), &self.graph, &self.limits)
    }
}

/// A graph while it is hashed or compared.
pub(super) struct Graph<'g, 'p> {
    constants: &'g Constants,
    nodes: Vec<Node<'p>>,
    values: BTreeMap<u32, XValue<'p>>,
    /// The number of each value, by id. Values are numbered in the order in which nodes name them.
    numbers: BTreeMap<u32, u32>,
}

/// A node.
#[derive(Clone, Copy)]
struct Node<'p> {
    operator: &'static str,
    attributes: TableRef<'p>,
    /// The range that the node's output is clamped to.
    range: TableRef<'p>,
}

/// A value, apart from its id.
struct Value<'g, 'p> {
    tensor: TableRef<'p>,
    external_id: u32,
    quantization: Option<(&'static str, TableRef<'p>)>,
    /// The digests and lengths of the value's data and of its scales.
    constants: [Option<&'g Data>; 2],
}

/// The number of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number {
    number: u32,
    /// Whether the value got its number just now, so that no node has named it before.
    is_new: bool,
}

impl<'g, 'p> Graph<'g, 'p> {
    fn new(graph: &XnnpackGraph<'p>, constants: &'g Constants) -> Self {
        let mut values = BTreeMap::new();
        for value in graph.root().xvalues().into_iter().flatten() {
            // If several values have one id, the backend uses the first.
            if let Some(tensor) = tensor_of(value) {
                values.entry(tensor.id_out()).or_insert(value);
            }
        }
        let nodes = graph.root().xnodes().into_iter().flatten().map(Node::of).collect();
        Self { constants, nodes, values, numbers: BTreeMap::new() }
    }

    /// Returns the number of the value with an id; `None` for `NO_ID`, which names no value.
    fn number(&mut self, id: u32) -> Option<Number> {
        if id == NO_ID {
            return None;
        }
        let next = narrow(self.numbers.len());
        let number = *self.numbers.entry(id).or_insert(next);
        Some(Number { number, is_new: number == next })
    }

    fn value(&self, id: u32) -> Option<Value<'g, 'p>> {
        let value = *self.values.get(&id)?;
        let tensor = tensor_of(value)?;
        let quantization = match value.xvalue_union() {
            Some(XValueUnion::XNNQuantizedTensorValue(value)) => {
                TableRef::member(value, XNNQuantizedTensorValue::DESC)
            }
            _ => None,
        };
        Some(Value {
            tensor: TableRef::of(tensor),
            external_id: tensor.external_id(),
            quantization,
            constants: constants_of(value).map(|nth| self.constants.get(&nth)),
        })
    }

    /// Returns the digest of the graph; `None` if more than `work` bytes would be read.
    fn digest(mut self, mut work: u64) -> Option<Sha> {
        let mut hasher = Hasher::of(b'X');
        for node in core::mem::take(&mut self.nodes) {
            work = work.checked_sub(node.attributes.len())?;
            hasher.text(Some(node.operator));
            node.attributes.hash(&mut hasher);
            node.range.hash(&mut hasher);
            for (_, id) in node.values() {
                let number = self.number(id);
                hasher.number(number.map_or(-1, |number| i64::from(number.number)));
                let Some(Number { is_new: true, .. }) = number else { continue };
                let value = self.value(id);
                hasher.number(i64::from(value.is_some()));
                if let Some(value) = value {
                    work = work.checked_sub(value.len())?;
                    value.hash(&mut hasher);
                }
            }
        }
        // Arguments of the call have a meaning even if no node names them.
        let unnamed = self.values.keys().filter(|id| !self.numbers.contains_key(id));
        let mut unnamed: Vec<_> = unnamed.filter_map(|&id| self.value(id)).collect();
        unnamed.retain(|value| value.external_id != NO_ID);
        unnamed.sort_by_key(|value| value.external_id);
        for value in unnamed {
            hasher.number(-2);
            work = work.checked_sub(value.len())?;
            value.hash(&mut hasher);
        }
        Some(hasher.finish())
    }
}

impl Side for Graph<'_, '_> {
    fn len(&self) -> u32 {
        narrow(self.nodes.len())
    }

    fn operator(&self, nth: u32) -> Cow<'_, str> {
        self.nodes.get(index(nth)).map_or("", |node| node.operator).into()
    }

    fn operands(&self, nth: u32) -> [Vec<Operand>; 2] {
        let ids = self.nodes.get(index(nth)).map(|node| node.values());
        let operand = |(what, id): (&'static str, u32)| Operand {
            what,
            name: what.trim_end_matches("_id").into(),
            id,
        };
        [ids.into_iter().flatten().map(operand).collect(), Vec::new()]
    }

    fn compare_node(&self, nth: u32, (other, and): (&Self, u32), each: Report<'_>) {
        let nodes = self.nodes.get(index(nth)).zip(other.nodes.get(index(and)));
        let Some((one, two)) = nodes else { return };
        tables(one.attributes, two.attributes, each);
        tables(one.range, two.range, each);
    }

    fn compare_value(&self, id: u32, (other, and): (&Self, u32), each: Report<'_>) {
        if let (Some(before), Some(after)) = (self.value(id), other.value(and)) {
            before.compare(&after, each);
        }
    }
}

impl<'p> Node<'p> {
    fn of(node: XNode<'p>) -> Self {
        let (operator, attributes) = TableRef::member(node, XNode::DESC)
            .unwrap_or(("an unknown operator", TableRef::absent(XNode::DESC)));
        let range = node.output_min_max();
        let range = range.map_or(TableRef::absent(OutputMinMax::DESC), TableRef::of);
        Self { operator, attributes, range }
    }

    /// Returns the ids of the values that the node reads and writes, each with its field's name.
    fn values(self) -> impl Iterator<Item = (&'static str, u32)> {
        self.attributes.ids()
    }
}

impl Value<'_, '_> {
    /// Returns the number of bytes that hashing reads, apart from constants.
    fn len(&self) -> u64 {
        let quantization = self.quantization.map_or(0, |(_, table)| table.len());
        self.tensor.len().saturating_add(quantization)
    }

    fn hash(&self, hasher: &mut Hasher) {
        self.tensor.hash(hasher);
        if let Some((kind, table)) = self.quantization {
            hasher.text(Some(kind));
            table.hash(hasher);
        }
        for constant in self.constants {
            hasher.bytes(constant.map_or(&[], |(sha, _)| &sha[..]));
        }
    }

    /// Calls `each` with each property that differs.
    fn compare(&self, other: &Self, each: Report<'_>) {
        tables(self.tensor, other.tensor, each);
        match (self.quantization, other.quantization) {
            (Some((kind, one)), Some((other_kind, two))) if kind == other_kind => {
                tables(one, two, each);
            }
            (one, two) => {
                let kind = |of: Option<(&'static str, _)>| of.map_or("none", |(kind, _)| kind);
                if kind(one) != kind(two) {
                    each("quantization", text::shown(kind(one)), text::shown(kind(two)));
                }
            }
        }
        let pairs = self.constants.into_iter().zip(other.constants);
        for (what, (one, two)) in ["data", "scales"].into_iter().zip(pairs) {
            if one != two {
                let shown = |constant: Option<&Data>| match constant {
                    Some((sha, Some(len))) => text::data(text::bytes(*len), Some(*sha)),
                    Some((_, None)) => text::shown("data that no file has"),
                    None => text::shown("none"),
                };
                each(what, shown(one), shown(two));
            }
        }
    }
}

/// Calls `each` with each field that differs between two tables.
fn tables(one: TableRef<'_>, two: TableRef<'_>, each: Report<'_>) {
    for (what, before, after) in fields::differing(one, two) {
        each(what, text::shown(before), text::shown(after));
    }
}
