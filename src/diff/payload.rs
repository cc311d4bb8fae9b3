//! The meaning of XNNPACK's payloads: nodes, the values that nodes read and write, and constants.
//!
//! Ids of values, indices of constants, keys, the order of values and the layout of tables have no
//! meaning. Numbers that the backend does not read have none either. Nodes are compared in order.

use core::ops::Range;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::digest::{Hasher, Sha};
use super::fields::{self, TableRef};
use super::{Shown, text};
use crate::bytes::{narrow, wide};
use crate::flat::view::Table;
use crate::limits::Limits;
use crate::payload::xnnpack::{
    NO_ID, PayloadConstant, XnnpackGraph, XnnpackParts, constants_of, tensor_of,
};
use crate::schema::xnnpack::view::{
    OutputMinMax, XNNQuantizedTensorValue, XNode, XValue, XValueUnion,
};

/// A payload that is compared by its meaning.
#[derive(Debug)]
pub(super) struct Meaning {
    /// The digest of everything in the payload that has a meaning.
    pub(super) digest: Sha,
    parts: XnnpackParts,
    graph: Vec<u8>,
    constants: Constants,
    limits: Limits,
}

/// The digest and length of each constant that a value refers to, by the index of the constant. If
/// no file has the constant, the length is `None`.
type Constants = BTreeMap<u32, Data>;

/// The digest and length of a constant.
pub(super) type Data = (Sha, Option<u64>);

/// The place of a constant's bytes.
pub(super) enum ConstantSource<'k> {
    /// A range of the payload.
    Payload(Range<u64>),
    /// Named data of the program or of a `.ptd`.
    Key(&'k str),
    /// Nowhere: the backend refuses the constant.
    Nowhere,
}

/// A difference between two payloads: its place in the graph, the property, and both sides.
pub(super) type PayloadDifference = (String, &'static str, Shown, Shown);

impl Meaning {
    /// Returns the meaning of a payload. `graph` are the bytes of its graph, and `read` returns the digest
    /// and the length of a constant. `None` for a graph that is broken, or that takes more work than its
    /// length allows: shared lists are read again for each value.
    pub(super) fn of<E>(
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
        let Some(digest) = Side::new(&view, &constants).digest(work) else { return Ok(None) };
        Ok(Some(Self { digest, parts, graph, constants, limits: *limits }))
    }

    /// Calls `each` with the differences from another payload. Values that no node names are not
    /// compared.
    pub(super) fn compare(&self, other: &Self, mut each: impl FnMut(PayloadDifference)) {
        let (Ok(old), Ok(new)) = (self.graph(), other.graph()) else { return };
        let mut a = Side::new(&old, &self.constants);
        let mut b = Side::new(&new, &other.constants);
        if !a.operators().eq(b.operators()) {
            each((String::new(), "nodes", a.shown(), b.shown()));
            return;
        }
        let pairs: Vec<_> = a.nodes.iter().copied().zip(b.nodes.iter().copied()).collect();
        for (nth, (one, two)) in pairs.into_iter().enumerate() {
            let node = format!("node {nth} {}", one.operator);
            for (one, two) in [(one.attributes, two.attributes), (one.range, two.range)] {
                for (what, before, after) in fields::differing(one, two) {
                    each((node.clone(), what, text::shown(before), text::shown(after)));
                }
            }
            for ((name, id), (_, other)) in one.values().zip(two.values()) {
                let (before, after) = (a.number(id), b.number(other));
                if before != after {
                    let shown = |id: u32| match id {
                        NO_ID => text::shown("none"),
                        id => text::shown(format!("value {id}")),
                    };
                    each((node.clone(), name, shown(id), shown(other)));
                    continue;
                }
                // A value is compared once, at the first node that names it.
                let Some(Number { is_new: true, .. }) = before else { continue };
                let (Some(before), Some(after)) = (a.value(id), b.value(other)) else { continue };
                let place = format!("{node} {}", name.trim_end_matches("_id"));
                before.compare(&after, |what, old, new| each((place.clone(), what, old, new)));
            }
        }
    }

    fn graph(&self) -> Result<XnnpackGraph<'_>, crate::payload::Unreadable> {
        XnnpackGraph::read(self.parts.clone(), &self.graph, &self.limits)
    }
}

/// A graph while it is hashed or compared.
struct Side<'g, 'p> {
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

impl<'g, 'p> Side<'g, 'p> {
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

    fn operators(&self) -> impl Iterator<Item = &'static str> {
        self.nodes.iter().map(|node| node.operator)
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

    /// Describes the nodes.
    fn shown(&self) -> Shown {
        let names: Vec<_> = self.operators().take(MOST_NODES).collect();
        let more = if self.nodes.len() > MOST_NODES { ", …" } else { "" };
        text::shown(match self.nodes.len() {
            1 => format!("1 node: {}", names.join(", ")),
            count => format!("{count} nodes: {}{more}", names.join(", ")),
        })
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
    fn compare(&self, other: &Self, mut each: impl FnMut(&'static str, Shown, Shown)) {
        let mut tables = |one, two| {
            for (what, before, after) in fields::differing(one, two) {
                each(what, text::shown(before), text::shown(after));
            }
        };
        tables(self.tensor, other.tensor);
        match (self.quantization, other.quantization) {
            (Some((kind, one)), Some((other_kind, two))) if kind == other_kind => tables(one, two),
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

/// The most nodes that a line shows.
const MOST_NODES: usize = 8;
