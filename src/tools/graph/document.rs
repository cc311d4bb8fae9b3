//! The document `pte.graph/1`. With the feature `serde` it can be serialized.

use alloc::string::String;
use alloc::vec::Vec;

use super::{DrawOptions, MethodGraph, PayloadGraph};
use pte_core::Pte;
use pte_flat::quoted::UntrustedString;
use pte_schema::program::view::ExecutionPlan;

/// The document `pte.graph/1`: the graphs of the methods of a program.
///
/// Graphs are made while the document is serialized, so that memory holds one of them at a time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphDocument<'a> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The path or the name of the file.
    pub path: UntrustedString,
    /// The name of the methods in the document; `None` for all methods.
    pub method: Option<String>,
    /// The parts of each method that are shown.
    pub shown: DrawOptions,
    /// The graphs of payloads, each once for all calls; `None` if delegates are not open.
    pub payloads: Option<Vec<PayloadGraph>>,
    pte: Pte<'a>,
}

impl<'a> GraphDocument<'a> {
    /// Returns the document of all methods of `pte`.
    pub fn new(path: impl Into<UntrustedString>, pte: &Pte<'a>) -> Self {
        Self {
            schema: "pte.graph/1",
            path: path.into(),
            method: None,
            shown: DrawOptions::default(),
            payloads: None,
            pte: pte.clone(),
        }
    }

    /// Restricts the document to the methods with the name `name`. A missing name counts as an
    /// empty one.
    #[must_use]
    pub fn with_method(mut self, name: impl Into<String>) -> Self {
        self.method = Some(name.into());
        self
    }

    /// Shows the nodes of these payloads in place of the delegates that have them.
    #[must_use]
    pub fn with_payloads(mut self, payloads: Vec<PayloadGraph>) -> Self {
        self.payloads = Some(payloads);
        self
    }

    /// Returns its methods with their indices in the program.
    pub fn plans(&self) -> impl Iterator<Item = (u32, ExecutionPlan<'a>)> {
        let plans = self.pte.program().execution_plan().into_iter().flatten();
        let is_chosen = |name: Option<&str>| {
            self.method.as_deref().is_none_or(|method| name.unwrap_or_default() == method)
        };
        (0..).zip(plans).filter(move |(_, plan)| is_chosen(plan.name()))
    }

    /// Returns the graphs of its methods, made one after the other.
    pub fn methods(&self) -> impl Iterator<Item = MethodGraph<'a>> {
        self.plans().map(|(index, plan)| {
            let graph = MethodGraph::of(&self.pte, index, plan).showing(&self.shown);
            graph.with_payloads(self.payloads.as_deref().unwrap_or_default())
        })
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use alloc::string::String;
    use alloc::vec::Vec;

    use serde::ser::SerializeStruct;
    use serde::{Serialize, Serializer};

    use super::{GraphDocument, MethodGraph, PayloadGraph};
    use crate::graph::{EdgeKind, NodeId};
    use crate::listed::Listed;
    use pte_flat::bytes::{index as at, len_of};

    impl Serialize for GraphDocument<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let fields = if self.payloads.is_some() { 4 } else { 3 };
            let mut document = serializer.serialize_struct("GraphDocument", fields)?;
            document.serialize_field("schema", self.schema)?;
            document.serialize_field("path", &self.path)?;
            document.serialize_field("methods", &Listed::new(self.methods()))?;
            if let Some(payloads) = &self.payloads {
                document.serialize_field("payloads", payloads)?;
            }
            document.end()
        }
    }

    impl Serialize for MethodGraph<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut graph = serializer.serialize_struct("MethodGraph", 3)?;
            graph.serialize_field("name", &self.name())?;
            graph.serialize_field("nodes", &Listed::new(self.nodes()))?;
            graph.serialize_field("edges", &Edges(self))?;
            graph.end()
        }
    }

    impl Serialize for PayloadGraph {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut graph = serializer.serialize_struct("PayloadGraph", 4)?;
            let range = self.range();
            graph.serialize_field("offset", &range.start)?;
            graph.serialize_field("bytes", &len_of(&range))?;
            graph.serialize_field("nodes", &Listed::new(self.nodes(false)))?;
            graph.serialize_field("edges", &Listed::new(self.edges(false)))?;
            graph.end()
        }
    }

    struct Edges<'g, 'a>(&'g MethodGraph<'a>);

    /// An edge with the text of its value.
    #[derive(Serialize)]
    struct EdgeRow<'t> {
        from: NodeId,
        to: NodeId,
        kind: EdgeKind,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'t str>,
    }

    impl Serialize for Edges<'_, '_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;

            let mut edges = serializer.serialize_seq(None)?;
            // Texts are cached: a value may be on many edges, often on adjacent ones.
            let mut texts: Vec<Option<(u32, String)>> = vec![None; CACHED_TEXTS];
            for edge in self.0.edges() {
                let text = edge.value.and_then(|value| {
                    let slot = texts.get_mut(at(value) % CACHED_TEXTS)?;
                    if slot.as_ref().is_none_or(|(cached, _)| *cached != value) {
                        *slot = Some((value, self.0.value_text(value)));
                    }
                    slot.as_ref().map(|(_, text)| text.as_str())
                });
                let (from, to, kind, value) = (edge.from, edge.to, edge.kind, edge.value);
                edges.serialize_element(&EdgeRow { from, to, kind, value, text })?;
            }
            edges.end()
        }
    }

    /// The number of texts of values that are kept.
    const CACHED_TEXTS: usize = 64;
}
