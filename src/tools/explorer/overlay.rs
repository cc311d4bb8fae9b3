//! Overlays: a number for each node, and the colours of the numbers.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::ExplorerDocument;
use super::node::ExplorerNode;
use crate::profile::Profile;
use pte_flat::cost;

/// A kind of numbers that are shown on nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overlay {
    /// The worst finding about each node: 3 for an error, 2 for a warning, 1 for a note.
    Findings,
    /// The bytes of the file that the data of each node takes.
    Bytes,
    /// The bytes of the arenas that are live at each instruction.
    Memory,
    /// The time that each instruction took.
    Time,
}

/// The numbers of an overlay, by the id of the graph: the node data file that Model Explorer loads.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct NodeData(BTreeMap<&'static str, GraphNumbers>);

/// The numbers of a graph, and their colours: a gradient or thresholds.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GraphNumbers {
    /// The name of the overlay.
    pub name: &'static str,
    /// The number of each node that has one, by the id of the node.
    pub results: BTreeMap<String, NodeNumber>,
    /// The colours between the least and the greatest number.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "<[_]>::is_empty"))]
    pub gradient: &'static [GradientStop],
    /// The colours up to some numbers.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "<[_]>::is_empty"))]
    pub thresholds: &'static [Threshold],
}

/// The number of a node.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NodeNumber {
    /// The number.
    pub value: u64,
}

impl NodeData {
    /// Returns the numbers of each graph.
    pub fn graphs(&self) -> impl Iterator<Item = &GraphNumbers> {
        self.0.values()
    }
}

/// A colour between the least number, 0, and the greatest, 1.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct GradientStop {
    /// The position of the colour.
    pub stop: u8,
    /// The colour of the node.
    pub bg_color: &'static str,
}

/// The colour of all numbers up to a value.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Threshold {
    /// The greatest number with this colour.
    pub value: u8,
    /// The colour of the node.
    pub bg_color: &'static str,
}

impl Overlay {
    /// Returns the id: `findings`, `bytes`, `memory` or `time`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Bytes => "bytes",
            Self::Memory => "memory",
            Self::Time => "time",
        }
    }

    /// Returns the name that Model Explorer shows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Bytes => "bytes",
            Self::Memory => "live bytes",
            Self::Time => "ticks",
        }
    }
}

impl ExplorerDocument<'_> {
    /// Returns an overlay. Times are those of `profile`, of the method with the index `method`; without a profile they
    /// are those of the document.
    #[must_use]
    pub fn overlay(&self, overlay: Overlay, profile: Option<(&Profile, u32)>) -> NodeData {
        let all = profile.map(|(profile, _)| profile.instructions.as_slice()).unwrap_or_default();
        let times: BTreeMap<_, u64> =
            all.iter().map(|of| ((of.chain, of.instruction), of.time.total)).collect();
        let time = |node: &ExplorerNode| {
            let Some((_, ran)) = profile else { return node.measures.ticks };
            let (method, chain, instruction) = node.measures.instruction?;
            cost::look_up("", times.len());
            times.get(&(chain, instruction)).copied().filter(|_| method == ran)
        };
        let mut results = BTreeMap::new();
        let collected = self.each_node(&mut |node| {
            let value = match overlay {
                Overlay::Findings => node.measures.severity.map(u64::from),
                Overlay::Bytes => node.measures.bytes,
                Overlay::Memory => node.measures.live_bytes,
                Overlay::Time => time(&node),
            };
            results.extend(value.map(|value| (node.id, NodeNumber { value })));
            Ok::<(), core::convert::Infallible>(())
        });
        match collected {
            Ok(()) => {}
        }
        let (gradient, thresholds) = match overlay {
            Overlay::Findings => (&[][..], SEVERITIES),
            _ => (HEAT, &[][..]),
        };
        let data = GraphNumbers { name: overlay.name(), results, gradient, thresholds };
        NodeData(BTreeMap::from([(Self::GRAPH_ID, data)]))
    }
}

/// The colours of numbers: little to much.
const HEAT: &[GradientStop] =
    &[GradientStop { stop: 0, bg_color: "#ffffff" }, GradientStop { stop: 1, bg_color: "#f59e0b" }];

/// The colours of severities: note, warning, error.
const SEVERITIES: &[Threshold] = &[
    Threshold { value: 1, bg_color: "#bfdbfe" },
    Threshold { value: 2, bg_color: "#fde68a" },
    Threshold { value: 3, bg_color: "#fca5a5" },
];
