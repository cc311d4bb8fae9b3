//! A graph of an ETRecord as nodes.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::handles::Handles;
use crate::explorer::namespaces::{components, layers};
use crate::explorer::node::{
    Attributes, ExplorerNode, IncomingEdge, LONGEST_TEXT, MOST_CHARACTERS, Metadata, layer, nested,
};
use crate::exported::{ExportedProgram, Graph, Node};
use pte_core::payload::Unreadable;
use pte_flat::cost;
use pte_flat::quoted::Untrusted;

/// A graph of an ETRecord.
#[derive(Debug)]
pub(super) struct RecordedGraph {
    /// The layers of the graph, by the name of the member.
    namespace: String,
    program: Result<ExportedProgram, Unreadable>,
    /// The instructions of each debug handle.
    instructions: BTreeMap<u64, Vec<u32>>,
}

impl RecordedGraph {
    pub(super) fn new(
        member: &str,
        program: Result<ExportedProgram, Unreadable>,
        handles: Option<&BTreeMap<u32, Handles>>,
    ) -> Self {
        let namespace =
            member.splitn(2, '/').fold(String::new(), |outer, part| nested(&outer, &layer(part)));
        let mut instructions: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (instruction, handles) in handles.into_iter().flatten() {
            for handle in handles.all() {
                cost::look_up("", instructions.len());
                let of = instructions.entry(*handle).or_default();
                if of.last() != Some(instruction) {
                    of.push(*instruction);
                }
            }
        }
        Self { namespace, program, instructions }
    }

    /// Passes the nodes to `each`. `nth` is the number of the graph in the record.
    pub(super) fn each_node<E>(
        &self,
        nth: usize,
        each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
    ) -> Result<(), E> {
        let id = format!("r{nth}");
        match &self.program {
            Err(why) => {
                let namespace = self.namespace.clone();
                let label = "unreadable".into();
                let mut node = ExplorerNode { id, label, namespace, ..ExplorerNode::default() };
                node.attrs.add("why", why);
                each(node)
            }
            Ok(program) => {
                let graph = &program.graph_module.graph;
                let layer = GraphLayer {
                    graph,
                    program: Some(program),
                    instructions: &self.instructions,
                    prefix: &id,
                    namespace: &self.namespace,
                    depth: 0,
                };
                layer.each_node(each)
            }
        }
    }
}

/// A graph as a layer.
struct GraphLayer<'d> {
    graph: &'d Graph,
    /// `None` for the graph of a branch or a loop, whose inputs have no names in the model.
    program: Option<&'d ExportedProgram>,
    instructions: &'d BTreeMap<u64, Vec<u32>>,
    prefix: &'d str,
    namespace: &'d str,
    depth: usize,
}

/// The node that makes a value, and the number of the output.
type Makers<'d> = BTreeMap<&'d str, (String, usize)>;

impl GraphLayer<'_> {
    fn each_node<E>(&self, each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>) -> Result<(), E> {
        let mut makers = Makers::new();
        for (nth, input) in self.graph.inputs.iter().enumerate() {
            let node = self.input(nth, &input.values);
            for name in &input.values {
                cost::look_up(name, makers.len());
                makers.insert(name, (node.id.clone(), 0));
            }
            each(node)?;
        }
        for (nth, node) in self.graph.nodes.iter().enumerate() {
            let shown = self.call(nth, node, &makers);
            let (id, namespace) = (shown.id.clone(), shown.namespace.clone());
            each(shown)?;
            self.each_inner(node, &id, &namespace, each)?;
            for (output, name) in node.outputs.iter().flat_map(|of| &of.values).enumerate() {
                cost::look_up(name, makers.len());
                makers.insert(name, (id.clone(), output));
            }
        }
        for (nth, output) in self.graph.outputs.iter().enumerate() {
            let mut node = ExplorerNode {
                id: format!("{}o{nth}", self.prefix),
                label: format!("output {nth}"),
                namespace: self.namespace.into(),
                ..ExplorerNode::default()
            };
            node.attrs.add("kind", "output");
            self.describe(output.text(), &output.values, &mut node.attrs);
            node.incoming_edges = edges(output.values.iter(), &makers);
            each(node)?;
        }
        Ok(())
    }

    /// Passes the nodes of the graphs in the arguments of a call to `each`.
    fn each_inner<E>(
        &self,
        node: &Node,
        id: &str,
        namespace: &str,
        each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
    ) -> Result<(), E> {
        let graphs = node.inputs.iter().flat_map(|input| &input.arg.graphs);
        for (nth, inner) in graphs.enumerate() {
            let prefix = format!("{id}g{nth}");
            let namespace = match self.depth < MOST_NESTED {
                true => nested(namespace, &layer(&inner.name)),
                false => namespace.into(),
            };
            let depth = self.depth.saturating_add(1);
            let (graph, prefix, namespace) = (&inner.graph, prefix.as_str(), namespace.as_str());
            GraphLayer { graph, program: None, prefix, namespace, depth, ..*self }
                .each_node(each)?;
        }
        Ok(())
    }

    fn input(&self, nth: usize, values: &[String]) -> ExplorerNode {
        let signature = self.program.map(|program| &program.graph_module.signature);
        let (kind, name) = signature.and_then(|of| of.input(nth)).unwrap_or(("user_input", None));
        let value = values.first().map(String::as_str).unwrap_or_default();
        let mut node = ExplorerNode {
            id: format!("{}i{nth}", self.prefix),
            label: Untrusted::from(name.unwrap_or(value)).cut(MOST_CHARACTERS),
            namespace: self.namespace.into(),
            ..ExplorerNode::default()
        };
        node.attrs.add("kind", Untrusted::from(kind).cut(MOST_CHARACTERS));
        self.describe(value, values, &mut node.attrs);
        node.outputs_metadata = self.outputs(values.iter());
        node
    }

    fn call(&self, nth: usize, node: &Node, makers: &Makers<'_>) -> ExplorerNode {
        let metadata = &node.metadata;
        let target = OPERATORS.iter().find_map(|module| node.target.strip_prefix(module));
        let target = target.unwrap_or(&node.target);
        let module = metadata.module().unwrap_or_default();
        let mut shown = ExplorerNode {
            id: format!("{}n{nth}", self.prefix),
            label: Untrusted::from(target).cut(MOST_CHARACTERS),
            namespace: layers(self.namespace.into(), components(module)),
            ..ExplorerNode::default()
        };
        shown.attrs.add("kind", "call");
        let text = |text: &str| Untrusted::from(text).cut(LONGEST_TEXT);
        for (nth, input) in node.inputs.iter().enumerate() {
            let name = match input.name.as_str() {
                "" => format!("argument {nth}"),
                name => text(name),
            };
            shown.attrs.add(name, text(input.arg.text()));
        }
        shown.attrs.add_some("module class", metadata.class().map(text));
        if let Some(handle) = metadata.handle() {
            shown.attrs.add("debug handle", handle);
            cost::look_up("", self.instructions.len());
            if let Some(instructions) = self.instructions.get(&handle) {
                let few = instructions.iter().take(MOST_INSTRUCTIONS);
                let few: Vec<String> = few.map(ToString::to_string).collect();
                shown.attrs.add("instructions", few.join(", "));
            }
        }
        let frames = metadata.stack_trace.as_deref().unwrap_or_default().lines();
        for (nth, line) in frames.take(MOST_FRAMES).enumerate() {
            shown.attrs.add(format!("stack {nth}"), text(line.trim()));
        }
        let read = node.inputs.iter().flat_map(|input| input.arg.values.iter());
        shown.incoming_edges = edges(read.take(MOST_EDGES), makers);
        let names =
            node.inputs.iter().flat_map(|input| input.arg.values.iter().map(|_| &input.name));
        let inputs = names.take(MOST_EDGES).enumerate().map(|(nth, name)| {
            let mut attrs = Attributes::default();
            attrs.add("__tensor_tag", text(name));
            Metadata { id: nth.to_string(), attrs }
        });
        shown.inputs_metadata = inputs.collect();
        shown.outputs_metadata =
            self.outputs(node.outputs.iter().flat_map(|of| &of.values).take(MOST_EDGES));
        shown
    }

    /// Returns the facts about the values that a node makes.
    fn outputs<'d>(&self, values: impl Iterator<Item = &'d String>) -> Vec<Metadata> {
        let outputs = values.enumerate().map(|(nth, name)| {
            let mut attrs = Attributes::default();
            attrs.add("__tensor_tag", Untrusted::from(name.as_str()).cut(LONGEST_TEXT));
            attrs.add_some("shape", self.shape(name));
            Metadata { id: nth.to_string(), attrs }
        });
        outputs.collect()
    }

    /// Adds the name and the type of an input or an output.
    fn describe(&self, text: &str, values: &[String], attrs: &mut Attributes) {
        attrs.add("value", Untrusted::from(text).cut(LONGEST_TEXT));
        attrs.add_some("type", values.first().and_then(|name| self.shape(name)));
    }

    /// Returns the type of a tensor; `None` for another value.
    fn shape(&self, name: &str) -> Option<String> {
        cost::look_up(name, self.graph.tensor_values.len());
        let tensor = self.graph.tensor_values.get(name)?;
        Some(Untrusted::from(tensor.text()).to_string())
    }
}

/// Returns the edges to a node that reads these values, in order. A value that no node before makes has none.
fn edges<'d>(values: impl Iterator<Item = &'d String>, makers: &Makers<'_>) -> Vec<IncomingEdge> {
    let edges = values.enumerate().filter_map(|(nth, name)| {
        cost::look_up(name, makers.len());
        let (source_node_id, output) = makers.get(name.as_str())?;
        Some(IncomingEdge {
            source_node_id: source_node_id.clone(),
            source_node_output_id: output.to_string(),
            target_node_input_id: nth.to_string(),
        })
    });
    edges.collect()
}

/// The modules of Python that have operators.
const OPERATORS: [&str; 2] = ["torch.ops.", "executorch.exir.dialects.edge.ops."];

/// The most layers of graphs in graphs. Their names are written with each node in them.
const MOST_NESTED: usize = 4;

/// The most inputs and the most outputs of a node that are shown.
const MOST_EDGES: usize = 1_000;

/// The most lines of a stack trace.
const MOST_FRAMES: usize = 64;

/// The most instructions of a node.
const MOST_INSTRUCTIONS: usize = 32;
