//! The nodes of a payload's graph.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::constants::ConstantTexts;
use super::findings::Findings;
use super::node::{Attributes, ExplorerNode, IncomingEdge, Metadata};
use crate::graph::{NodeKind, PayloadEdge, PayloadGraph, PayloadNode, PayloadNodeId};
use crate::tensors::{ConstantRecord, ConstantRow};
use pte_core::payload::PayloadContents;
use pte_flat::bytes::{index as at, len_of};
use pte_flat::cost;

/// The constants of payloads, by the range of the payload and the id of the value.
#[derive(Debug, Default)]
pub(super) struct PayloadConstants {
    contents: Vec<PayloadContents>,
    indices: BTreeMap<(u64, u64, u32), (u32, u32)>,
}

impl PayloadConstants {
    pub(super) fn new(contents: Vec<PayloadContents>) -> Self {
        let mut indices = BTreeMap::new();
        for (nth, one) in (0..).zip(&contents) {
            for (constant, of) in (0..).zip(&one.constants) {
                let key = (one.range.start, one.range.end, of.value);
                indices.entry(key).or_insert((nth, constant));
            }
        }
        Self { contents, indices }
    }

    /// Returns the constants.
    pub(super) fn rows(&self) -> impl Iterator<Item = ConstantRow<'_>> {
        self.contents.iter().flat_map(ConstantRow::of_payload)
    }

    fn row(&self, payload: &Range<u64>, value: u32) -> Option<ConstantRow<'_>> {
        cost::look_up("", self.indices.len());
        let &(nth, constant) = self.indices.get(&(payload.start, payload.end, value))?;
        let constant = self.contents.get(at(nth))?.constants.get(at(constant))?;
        Some(ConstantRow { method: None, delegate: 0, constant })
    }
}

/// The graph of a payload as nodes of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct PayloadLayer<'d> {
    pub(super) graph: &'d PayloadGraph,
    pub(super) constants: &'d PayloadConstants,
    pub(super) texts: &'d ConstantTexts,
    pub(super) findings: &'d Findings,
    /// The id of the call; empty for a payload that is a file.
    pub(super) prefix: &'d str,
    pub(super) namespace: &'d str,
}

impl PayloadLayer<'_> {
    /// Passes the nodes to `each`. `outside` are the edges from outside that end at inputs, by value.
    pub(super) fn each_node<E>(
        &self,
        mut outside: BTreeMap<u32, Vec<IncomingEdge>>,
        each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut edges: Vec<PayloadEdge> = self.graph.edges(false).collect();
        cost::sort(edges.len());
        edges.sort_by_key(|edge| edge.to);
        let mut shapes: BTreeMap<(PayloadNodeId, u32), String> = BTreeMap::new();
        for edge in &edges {
            if let Some(text) = &edge.text {
                shapes.entry((edge.from, edge.value)).or_insert_with(|| text.clone());
            }
        }
        let mut offsets = self.graph.offsets().peekable();
        for node in self.graph.nodes(false) {
            let mut shown = self.node(&node, &shapes);
            if let Some((_, offset)) = offsets.next_if(|(id, _)| *id == node.id) {
                self.findings.describe_at(offset, &mut shown);
            }
            let first = edges.partition_point(|edge| edge.to < node.id);
            let ends_here = edges.get(first..).unwrap_or_default().iter();
            for (input, edge) in ends_here.take_while(|edge| edge.to == node.id).enumerate() {
                shown.incoming_edges.push(IncomingEdge {
                    source_node_id: payload_node_id(self.prefix, edge.from),
                    source_node_output_id: edge.value.to_string(),
                    target_node_input_id: input.to_string(),
                });
            }
            if let (NodeKind::Input, Some(value)) = (node.kind, node.value) {
                shown.incoming_edges.extend(outside.remove(&value).unwrap_or_default());
            }
            each(shown)?;
        }
        Ok(())
    }

    fn node(
        &self,
        node: &PayloadNode,
        shapes: &BTreeMap<(PayloadNodeId, u32), String>,
    ) -> ExplorerNode {
        let mut shown = ExplorerNode {
            id: payload_node_id(self.prefix, node.id),
            label: match &node.name {
                Some(name) => name.to_string(),
                None => node.kind.as_str().into(),
            },
            namespace: self.namespace.into(),
            ..ExplorerNode::default()
        };
        shown.attrs.add("kind", node.kind.as_str());
        shown.attrs.add_some("value", node.value);
        shown.attrs.add_some("argument of the call", node.argument);
        shown.attrs.add_some("type", node.text.as_deref());
        for attribute in &node.attributes {
            shown.attrs.add(attribute.name.to_string(), &attribute.value);
        }
        if let (NodeKind::Constant, Some(value)) = (node.kind, node.value)
            && let Some(row) = self.constants.row(&self.graph.range(), value)
        {
            shown.measures.bytes = row.range().map(|range| len_of(&range));
            self.describe(&row, &mut shown.attrs);
        }
        let written: BTreeSet<u32> =
            node.outputs.iter().flatten().copied().chain(node.value).collect();
        for value in written {
            let mut attrs = Attributes::default();
            attrs.add("__tensor_tag", format!("v{value}"));
            let text = shapes.get(&(node.id, value)).or(node.text.as_ref());
            attrs.add_some("shape", text);
            shown.outputs_metadata.push(Metadata { id: value.to_string(), attrs });
        }
        shown
    }

    /// Adds the facts about a constant.
    fn describe(&self, row: &ConstantRow<'_>, attrs: &mut Attributes) {
        let record = ConstantRecord::from(row);
        attrs.add_some("key", record.key);
        attrs.add("storage", record.storage);
        attrs.add_some("bytes", record.bytes);
        attrs.add_some("offset", record.offset);
        if let Some(of) = record.quantization {
            attrs.add("quantization", of.kind);
            attrs.add_some("scale", of.scale);
            attrs.add_some("zero point", of.zero_point);
            attrs.add_some("axis", of.axis);
            attrs.add_some("group size", of.group_size);
        }
        if let (Some(range), Some(dtype)) = (row.range(), row.dtype()) {
            self.texts.describe(&range, dtype, attrs);
        }
    }
}

/// Adds the ids of the operators with findings in the payload that `call` opens, by the offsets of their tables.
pub(super) fn add_operators(
    payload: &PayloadGraph,
    call: &str,
    findings: &Findings,
    operators: &mut BTreeMap<u64, String>,
) {
    for (id, offset) in payload.offsets().filter(|(_, offset)| findings.are_at(*offset)) {
        operators.entry(offset).or_insert_with(|| payload_node_id(call, id));
    }
}

/// Returns the id of a node of a payload that `call` opens.
pub(super) fn payload_node_id(call: &str, id: PayloadNodeId) -> String {
    format!("{call}{id}")
}
