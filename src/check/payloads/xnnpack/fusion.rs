//! Copies that the backend removes: `xnn_subgraph_fusion` in XNNPACK's `src/subgraph.c`.
//!
//! The backend removes a copy whose output has one reader, and makes the reader read the input of
//! the copy. It replaces only the first matching input of the reader. A node that reads the value
//! twice still reads the removed value.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::value::{External, Values};
use super::{Site, XNNPACK_ORDER};
use crate::report::Findings;
use pte_core::payload::xnnpack::NodeIds;
use pte_flat::bytes::index;
use pte_flat::inserted;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::xnnpack::view::XNodeUnion;

/// Checks that no node still reads the output of a removed copy. Call this only if some node is a
/// copy, and the order of the nodes has no Error.
pub(super) fn judge<'p>(site: &Site<'_, 'p>, values: &Values<'p>, out: &mut Findings) {
    let Some(mut fusion) = Fusion::new(site, values) else { return };
    for value in values.all() {
        let id = value.id;
        let is_inner = value.constant.is_none() && value.external == External::No;
        let Some(Link { producer: Some(producer), readers: 1, first: Some(reader) }) =
            fusion.links.get(&id).copied().filter(|_| is_inner)
        else {
            continue;
        };
        if let Some((_, to)) = fusion.copy(reader)
            && !fusion.is_used_between(to, producer, reader)
        {
            fusion.remove_reader(reader, producer, id, to);
        } else if let Some((from, _)) = fusion.copy(producer)
            && !fusion.is_used_between(from, producer, reader)
        {
            if fusion.reads(reader, id) > 1 {
                let Some(node) = site.root().xnodes().and_then(|nodes| nodes.get(index(reader)))
                else {
                    return;
                };
                let path = path!["xnodes", reader];
                site.place.find(out, &XNNPACK_ORDER, node.raw(), &path, || {
                    format!(
                        "the node reads value {id} twice, and node {producer} copies value {from} to \
                         it: the backend removes the copy, and replaces one of the two"
                    )
                });
                return;
            }
            fusion.remove_producer(producer, reader, id, from);
        }
    }
}

/// The nodes of a graph, while copies are removed.
struct Fusion {
    nodes: Vec<Node>,
    /// Pairs of a value id and the index of a node that names it.
    uses: BTreeSet<(u32, u32)>,
    links: BTreeMap<u32, Link>,
}

/// A node. A removed node names no value.
struct Node {
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    is_copy: bool,
}

/// The nodes that write and read a value.
#[derive(Clone, Copy, Default)]
struct Link {
    producer: Option<u32>,
    /// The number of nodes that read the value, plus 1 if the value is an output of the graph.
    readers: u32,
    first: Option<u32>,
}

impl Fusion {
    /// Returns the nodes. Returns `None` if no node reads a value twice.
    fn new<'p>(site: &Site<'_, 'p>, values: &Values<'p>) -> Option<Self> {
        let mut nodes = Vec::new();
        let mut repeats = false;
        let all = site.root().xnodes().into_iter().flatten();
        for operator in all.filter_map(|node| node.xnode_union()) {
            let ids = NodeIds::of(operator)?;
            repeats |= has_repeats(ids.inputs());
            nodes.push(Node {
                inputs: ids.inputs().to_vec(),
                outputs: ids.outputs().to_vec(),
                is_copy: matches!(operator, XNodeUnion::XNNCopy(_)),
            });
        }
        if !repeats {
            return None;
        }
        let mut fusion = Self { nodes, uses: BTreeSet::new(), links: BTreeMap::new() };
        fusion.remove_unread(values);
        fusion.link(values);
        Some(fusion)
    }

    /// Removes nodes whose only output is not read. A node reads only what earlier nodes write, so
    /// one pass from the end finds all of them.
    fn remove_unread(&mut self, values: &Values<'_>) {
        let mut read: BTreeSet<u32> = inserted(values.outputs().map(|(_, value)| value.id));
        for node in self.nodes.iter_mut().rev() {
            match node.outputs[..] {
                [output] if !read.contains(&output) => node.clear(),
                _ => read.extend(&node.inputs),
            }
        }
    }

    fn link(&mut self, values: &Values<'_>) {
        for (nth, node) in (0..).zip(&self.nodes) {
            for (at, &id) in node.inputs.iter().enumerate() {
                self.uses.insert((id, nth));
                if !node.inputs.iter().take(at).any(|&before| before == id) {
                    let link = self.links.entry(id).or_default();
                    link.readers = link.readers.saturating_add(1);
                    link.first.get_or_insert(nth);
                }
            }
            for &id in &node.outputs {
                self.uses.insert((id, nth));
                self.links.entry(id).or_default().producer = Some(nth);
            }
        }
        for (_, value) in values.outputs() {
            let link = self.links.entry(value.id).or_default();
            link.readers = link.readers.saturating_add(1);
        }
    }

    /// Returns the input and the output of node `nth`, if the node is a copy.
    fn copy(&self, nth: u32) -> Option<(u32, u32)> {
        let node = self.nodes.get(index(nth)).filter(|node| node.is_copy)?;
        Some((*node.inputs.first()?, *node.outputs.first()?))
    }

    /// Returns how often a node reads a value.
    fn reads(&self, nth: u32, id: u32) -> usize {
        let inputs = self.nodes.get(index(nth)).map_or(&[][..], |node| &node.inputs);
        inputs.iter().filter(|&&input| input == id).count()
    }

    /// Returns whether any node between `first` and `last` names the value `id`.
    fn is_used_between(&self, id: u32, first: u32, last: u32) -> bool {
        let after = (id, first.saturating_add(1));
        after < (id, last) && self.uses.range(after..(id, last)).next().is_some()
    }

    /// Removes a copy. The producer of the copy's input then writes the copy's output.
    fn remove_reader(&mut self, copy: u32, producer: u32, from: u32, to: u32) {
        self.clear(copy, [from, to]);
        if let Some(node) = self.nodes.get_mut(index(producer)) {
            replace(&mut node.outputs, from, to);
        }
        self.uses.insert((to, producer));
        self.links.entry(to).or_default().producer = Some(producer);
    }

    /// Removes a copy. The reader of the copy's output then reads the copy's input.
    fn remove_producer(&mut self, copy: u32, reader: u32, output: u32, input: u32) {
        self.clear(copy, [input, output]);
        if let Some(node) = self.nodes.get_mut(index(reader)) {
            replace(&mut node.inputs, output, input);
        }
        self.uses.insert((input, reader));
        let link = self.links.entry(input).or_default();
        if link.first == Some(copy) {
            link.first = Some(reader);
        }
    }

    fn clear(&mut self, nth: u32, ids: [u32; 2]) {
        if let Some(node) = self.nodes.get_mut(index(nth)) {
            node.clear();
        }
        for id in ids {
            self.uses.remove(&(id, nth));
        }
    }
}

impl Node {
    fn clear(&mut self) {
        *self = Self { inputs: Vec::new(), outputs: Vec::new(), is_copy: false };
    }
}

fn has_repeats(ids: &[u32]) -> bool {
    ids.iter().enumerate().any(|(at, id)| ids.iter().take(at).any(|before| before == id))
}

/// Replaces the first id that equals `from` by `to`.
fn replace(ids: &mut [u32], from: u32, to: u32) {
    if let Some(id) = ids.iter_mut().find(|id| **id == from) {
        *id = to;
    }
}
