//! The meaning of XNNPACK's payloads: nodes, the values that nodes read and write, and constants.
//!
//! Ids of values, indices of constants, keys, the order of values and the layout of tables have no
//! meaning. Numbers that the backend does not read have none either. Nodes are compared in order.

use core::hash::{Hash, Hasher as _};
use core::ops::Range;
use std::hash::DefaultHasher;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use imara_diff::Hunk;

use super::digest::{Hasher, Sha};
use super::fields::{self, TableRef};
use super::hunks::hunks;
use super::{Shown, text};
use pte_core::Limits;
use pte_core::payload::xnnpack::{
    NO_ID, PayloadConstant, XnnpackGraph, XnnpackParts, constants_of, tensor_of,
};
use pte_flat::bytes::{index, narrow, wide};
use pte_flat::cost;
use pte_flat::view::Table;
use pte_schema::xnnpack::view::{
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
        let a = Side::new(&old, &self.constants);
        let b = Side::new(&new, &other.constants);
        let mut matches = Matches::default();
        let mut at = (0, 0);
        for Hunk { before, after } in hunks(&a.keys(), &b.keys()) {
            compare_nodes(&a, &b, at, before.start, &mut matches, &mut each);
            at = (before.end, after.end);
            let place = Side::place(&before);
            each((place, "nodes", a.shown(before), b.shown(after)));
        }
        compare_nodes(&a, &b, at, narrow(a.nodes.len()), &mut matches, &mut each);
    }

    fn graph(&self) -> Result<XnnpackGraph<'_>, pte_core::payload::Unreadable> {
        XnnpackGraph::read(self.parts.clone(), &self.graph, &self.limits)
    }
}

/// Calls `each` with the differences between nodes that correspond: those of `a` from `at.0` up to
/// `end`, and as many of `b` from `at.1` on.
fn compare_nodes(
    a: &Side<'_, '_>,
    b: &Side<'_, '_>,
    at: (u32, u32),
    end: u32,
    matches: &mut Matches,
    each: &mut impl FnMut(PayloadDifference),
) {
    for (nth, other) in (at.0..end).zip(at.1..) {
        let (Some(one), Some(two)) = (a.nodes.get(index(nth)), b.nodes.get(index(other))) else {
            return;
        };
        let node = format!("node {nth} {}", one.operator);
        for (one, two) in [(one.attributes, two.attributes), (one.range, two.range)] {
            for (what, before, after) in fields::differing(one, two) {
                each((node.clone(), what, text::shown(before), text::shown(after)));
            }
        }
        for ((name, id), (_, other)) in one.values().zip(two.values()) {
            match matches.add(id, other) {
                Match::Known => {}
                Match::Different => {
                    let shown = |id: u32| match id {
                        NO_ID => text::shown("none"),
                        id => text::shown(format!("value {id}")),
                    };
                    each((node.clone(), name, shown(id), shown(other)));
                }
                // A value is compared once, at the first node that names it.
                Match::New => {
                    let (Some(before), Some(after)) = (a.value(id), b.value(other)) else {
                        continue;
                    };
                    let place = format!("{node} {}", name.trim_end_matches("_id"));
                    before.compare(&after, |what, old, new| each((place.clone(), what, old, new)));
                }
            }
        }
    }
}

/// The values of two graphs that correspond, by id: values match that the same input or output of
/// corresponding nodes names first.
#[derive(Default)]
struct Matches {
    to_after: BTreeMap<u32, u32>,
    to_before: BTreeMap<u32, u32>,
}

/// Whether two values correspond.
enum Match {
    /// They do from now on: no node has named either before.
    New,
    /// They do.
    Known,
    /// They do not.
    Different,
}

impl Matches {
    fn add(&mut self, before: u32, after: u32) -> Match {
        if before == NO_ID || after == NO_ID {
            return if before == after { Match::Known } else { Match::Different };
        }
        cost::look_up("", self.to_after.len());
        cost::look_up("", self.to_before.len());
        match (self.to_after.get(&before), self.to_before.get(&after)) {
            (None, None) => {
                self.to_after.insert(before, after);
                self.to_before.insert(after, before);
                Match::New
            }
            (Some(&known), _) if known == after => Match::Known,
            _ => Match::Different,
        }
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

    /// Returns a key of each node: the hash of the operator's name.
    fn keys(&self) -> Vec<u64> {
        let key = |node: &Node<'_>| {
            // A collision of two operators would only pair two nodes that differ.
            let mut hasher = DefaultHasher::new();
            node.operator.hash(&mut hasher);
            hasher.finish()
        };
        self.nodes.iter().map(key).collect()
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

    /// Returns the place of nodes of the first graph, such as `nodes 3 to 5`.
    fn place(nodes: &Range<u32>) -> String {
        match (nodes.len(), nodes.end.checked_sub(1)) {
            (0, None) => "before node 0".into(),
            (0, Some(last)) => format!("after node {last}"),
            (1, _) => format!("node {}", nodes.start),
            (_, last) => format!("nodes {} to {}", nodes.start, last.unwrap_or_default()),
        }
    }

    /// Describes the nodes in `range`.
    fn shown(&self, range: Range<u32>) -> Shown {
        let nodes = self.nodes.get(index(range.start)..index(range.end)).unwrap_or_default();
        let names: Vec<_> = nodes.iter().take(MOST_NODES).map(|node| node.operator).collect();
        let more = if nodes.len() > MOST_NODES { ", …" } else { "" };
        text::shown(match nodes.len() {
            0 => "none".into(),
            1 => names.join(", "),
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
