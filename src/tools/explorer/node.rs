//! Nodes and edges, with the field names of Model Explorer's graph format.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

/// A node of a graph.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ExplorerNode {
    /// The id, unique in the document.
    pub id: String,
    /// The text on the node.
    pub label: String,
    /// The layers around the node, outermost first, with `/` between them.
    pub namespace: String,
    /// The attributes.
    pub attrs: Attributes,
    /// The edges that end at the node.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub incoming_edges: Vec<IncomingEdge>,
    /// The facts about what flows into the node, by input.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub inputs_metadata: Vec<Metadata>,
    /// The facts about what flows out of the node, by output.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub outputs_metadata: Vec<Metadata>,
    /// The colours; `None` for those of Model Explorer.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub style: Option<NodeStyle>,
    /// The place among other nodes; `None` for the place that the layout chooses.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub config: Option<NodeConfig>,
    /// The numbers that overlays show. They are not part of the document.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub measures: Measures,
}

/// The numbers of a node that overlays show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measures {
    /// The bytes of the file that only the data of this node takes.
    pub bytes: Option<u64>,
    /// The bytes of the arenas that are live at this instruction.
    pub live_bytes: Option<u64>,
    /// The worst finding about the node: 3 for an error, 2 for a warning, 1 for a note.
    pub severity: Option<u8>,
    /// The instruction: the index of its method, of its chain, and in its chain.
    pub instruction: Option<(u32, u32, u32)>,
    /// The measured time in ticks.
    pub ticks: Option<u64>,
}

/// An edge that ends at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct IncomingEdge {
    /// The id of the node where the edge begins.
    pub source_node_id: String,
    /// The output of that node.
    pub source_node_output_id: String,
    /// The input of the node where the edge ends.
    pub target_node_input_id: String,
}

/// The facts about an input or an output of a node.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Metadata {
    /// The id of the input or the output.
    pub id: String,
    /// The attributes. Model Explorer writes `shape` on edges, and `__tensor_tag` beside the input or output.
    pub attrs: Attributes,
}

/// The colours of a node.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct NodeStyle {
    /// The colour of the background, as in CSS.
    pub background_color: &'static str,
}

/// The place of a node among others.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct NodeConfig {
    /// Whether the node stands above the others of its layer.
    pub pin_to_group_top: bool,
}

/// The attributes of a node, a layer, an input or an output, in the order in which they are shown.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Attributes(Vec<Attribute>);

/// An attribute.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Attribute {
    /// The name.
    pub key: Cow<'static, str>,
    /// The value.
    pub value: AttributeValue,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
#[non_exhaustive]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// Links to nodes.
    Nodes {
        /// Always `node_ids`.
        r#type: &'static str,
        /// The ids of the nodes.
        #[cfg_attr(feature = "serde", serde(rename = "nodeIds"))]
        node_ids: Vec<String>,
    },
}

impl Attributes {
    /// Adds a text.
    pub(super) fn add(&mut self, key: impl Into<Cow<'static, str>>, value: impl Display) {
        let value = AttributeValue::Text(value.to_string());
        self.0.push(Attribute { key: key.into(), value });
    }

    /// Adds a text if there is one.
    pub(super) fn add_some(&mut self, key: &'static str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }

    /// Adds a link to a node.
    pub(super) fn link(&mut self, key: impl Into<Cow<'static, str>>, node: String) {
        let node_ids = vec![node];
        let value = AttributeValue::Nodes { r#type: "node_ids", node_ids };
        self.0.push(Attribute { key: key.into(), value });
    }

    /// Returns the texts as a map: layers have no links.
    #[cfg(feature = "serde")]
    pub(super) fn as_map(&self) -> alloc::collections::BTreeMap<&str, &str> {
        let texts = self.0.iter().filter_map(|of| match &of.value {
            AttributeValue::Text(text) => Some((&*of.key, text.as_str())),
            AttributeValue::Nodes { .. } => None,
        });
        texts.collect()
    }

    /// Returns the attributes.
    pub fn iter(&self) -> impl Iterator<Item = &Attribute> {
        self.0.iter()
    }
}

/// The place of nodes that stand above the others of their layer.
pub(super) const TOP: NodeConfig = NodeConfig { pin_to_group_top: true };

/// Returns a name as a layer: `/` ends a layer in a namespace, and `;` a namespace. Long names are cut.
pub(super) fn layer(name: &str) -> String {
    let mut out: String = name
        .chars()
        .take(MOST_CHARACTERS)
        .map(|c| match c {
            '/' => '∕',
            ';' => '；',
            c => c,
        })
        .collect();
    if name.chars().nth(MOST_CHARACTERS).is_some() {
        out.push('…');
    }
    match out.is_empty() {
        true => "(no name)".into(),
        false => out,
    }
}

/// Returns a namespace with one more layer.
pub(super) fn nested(namespace: &str, layer: &str) -> String {
    match namespace {
        "" => layer.into(),
        _ => [namespace, "/", layer].concat(),
    }
}

/// The most characters of a layer's name and of a label.
pub(super) const MOST_CHARACTERS: usize = 60;

/// The most characters of a text in an attribute.
pub(super) const LONGEST_TEXT: usize = 200;
