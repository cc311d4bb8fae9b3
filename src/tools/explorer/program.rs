//! The nodes of a program: its methods, one after the other.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::constants::ConstantTexts;
use super::findings::{FindingPlace, Findings};
use super::namespaces::{Modules, Regions};
use super::node::{
    Attributes, ExplorerNode, IncomingEdge, LONGEST_TEXT, MOST_CHARACTERS, Metadata, layer, nested,
};
use super::payload::{PayloadConstants, PayloadLayer, add_operators, payload_node_id};
use super::record::RecordedModules;
use crate::graph::{
    Edge, EdgeKind, GraphDocument, GraphNode, MethodGraph, MethodNode, NodeId, NodeKind, OpenCall,
    PayloadGraph, PayloadNodeId,
};
use crate::memory::Memory;
use crate::tensors::{TensorPlace, TensorRow};
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::operators::argument_names;
use pte_core::{Pte, tensor_at};
use pte_flat::bytes::{index as at, len_of, narrow, wide};
use pte_flat::cost;
use pte_flat::quoted::Untrusted;
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::view::{ExecutionPlan, InstructionArguments, Tensor};

/// A program, and what is read of its segments.
#[derive(Debug)]
pub(super) struct ProgramContents<'a> {
    pub(super) pte: Pte<'a>,
    pub(super) graph: GraphDocument<'a>,
    pub(super) constants: PayloadConstants,
    pub(super) texts: ConstantTexts,
    pub(super) modules: RecordedModules,
}

type Each<'e, E> = &'e mut dyn FnMut(ExplorerNode) -> Result<(), E>;

impl<'a> ProgramContents<'a> {
    /// Passes the nodes of all methods to `each`.
    pub(super) fn each_node<E>(&self, findings: &Findings, each: Each<'_, E>) -> Result<(), E> {
        let mut layers = MethodLayers::default();
        let nodes = self.pte.file_len().div_euclid(BYTES_OF_NODE);
        let repeated = nodes.clamp(ALWAYS_REPEATED, MOST_REPEATED);
        let mut open = OpenPayloads { seen: BTreeSet::new(), repeated };
        for graph in self.graph.methods() {
            let Some(plan) = self.plan(&graph) else { continue };
            let namespace = layers.next(&graph);
            MethodWriter::new(self, findings, (&graph, plan), namespace, &mut open).write(each)?;
        }
        Ok(())
    }

    /// Returns the ids of the operators in open payloads with findings, by the offsets of their tables.
    pub(super) fn operators_with_findings(&self, findings: &Findings) -> BTreeMap<u64, String> {
        let mut operators = BTreeMap::new();
        let mut open = OpenPayloads { seen: BTreeSet::new(), repeated: 0 };
        for graph in self.graph.methods() {
            for (call, opened) in open_calls(self, &graph, &mut open) {
                add_operators(opened.payload, &call.to_string(), findings, &mut operators);
            }
        }
        operators
    }

    /// Passes the namespace and the attributes of each method's layer to `each`.
    pub(super) fn each_layer<E>(
        &self,
        each: &mut dyn FnMut(String, Attributes) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut layers = MethodLayers::default();
        for graph in self.graph.methods() {
            let Some(plan) = self.plan(&graph) else { continue };
            let mut attrs = Attributes::default();
            let count = |count: Option<usize>| count.unwrap_or_default();
            attrs.add("inputs", count(plan.inputs().map(|all| all.len())));
            attrs.add("outputs", count(plan.outputs().map(|all| all.len())));
            attrs.add("values", count(plan.values().map(|all| all.len())));
            attrs.add("instructions", graph.instruction_count());
            let memory = Memory::of(&self.pte, plan);
            for arena in memory.arenas() {
                let planned = arena.planned.map_or("no".into(), |bytes| bytes.to_string());
                let text = format!("{planned} bytes planned, at most {} live", arena.peak);
                attrs.add(format!("arena {}", arena.id), text);
            }
            each(layers.next(&graph), attrs)?;
        }
        Ok(())
    }

    /// Returns the module that an ETRecord has for an instruction.
    fn recorded_module(&self, graph: &MethodGraph<'_>, pc: u32) -> Option<&str> {
        self.modules.module(graph.name()?.raw(), pc)
    }

    fn plan(&self, graph: &MethodGraph<'_>) -> Option<ExecutionPlan<'a>> {
        self.pte.program().execution_plan()?.get(at(graph.index()))
    }
}

/// The layers of methods. Each is unique, even if methods share a name.
#[derive(Debug, Default)]
struct MethodLayers(BTreeSet<String>);

impl MethodLayers {
    fn next(&mut self, graph: &MethodGraph<'_>) -> String {
        let name = layer(graph.name().unwrap_or_default().raw());
        cost::look_up(&name, self.0.len());
        match self.0.insert(name.clone()) {
            true => name,
            false => format!("{name} #{}", graph.index()),
        }
    }
}

/// The payloads whose nodes were written. A payload that several calls share is written for each of them, until the
/// repeated nodes are too many.
#[derive(Debug)]
struct OpenPayloads {
    seen: BTreeSet<u32>,
    repeated: u64,
}

impl OpenPayloads {
    /// Returns whether a call may open a payload.
    fn opens(&mut self, index: u32, graph: &PayloadGraph) -> bool {
        if self.seen.insert(index) {
            return true;
        }
        let rest = self.repeated.checked_sub(wide(graph.node_count(false)).saturating_add(1));
        self.repeated = rest.unwrap_or(self.repeated);
        rest.is_some()
    }
}

/// Writes the nodes of a method.
struct MethodWriter<'d, 'g, 'a> {
    program: &'d ProgramContents<'a>,
    findings: &'d Findings,
    graph: &'g MethodGraph<'a>,
    plan: ExecutionPlan<'a>,
    namespace: String,
    regions: Regions,
    modules: Modules<'d>,
    /// The edges, by the node where they end.
    edges: Vec<Edge>,
    /// The nodes where edges begin, with the kind and the value of each edge.
    sources: Vec<(NodeId, &'static str, Option<u32>)>,
    /// For the node of a value, the first instruction that reads it, or else that writes it.
    uses: BTreeMap<NodeId, u32>,
    calls: BTreeMap<NodeId, OpenCall<'d>>,
    /// The live bytes of all arenas: each pc at which they change.
    live: Vec<(u32, u64)>,
}

impl<'d, 'g, 'a> MethodWriter<'d, 'g, 'a> {
    fn new(
        program: &'d ProgramContents<'a>,
        findings: &'d Findings,
        (graph, plan): (&'g MethodGraph<'a>, ExecutionPlan<'a>),
        namespace: String,
        open: &mut OpenPayloads,
    ) -> Self {
        let mut edges: Vec<Edge> = graph.edges().collect();
        cost::sort(edges.len());
        edges.sort_by_key(|edge| edge.to);
        let mut sources: Vec<_> =
            edges.iter().map(|edge| (edge.from, flow(edge), edge.value)).collect();
        cost::sort(sources.len());
        sources.sort_unstable();
        sources.dedup();
        let count = narrow(graph.instruction_count());
        let mut jumps = Vec::new();
        let mut names = vec![Vec::new(); graph.instruction_count()];
        let mut uses: BTreeMap<NodeId, u32> = BTreeMap::new();
        for edge in &edges {
            cost::look_up("", uses.len());
            match (edge.from.node, edge.to.node, edge.kind) {
                (MethodNode::Instruction(from), MethodNode::Instruction(to), EdgeKind::Jump) => {
                    jumps.push((from, to));
                }
                (MethodNode::Value(value), MethodNode::Instruction(pc), _) => {
                    let first = uses.entry(edge.from).or_insert(pc);
                    *first = pc.min(*first);
                    let name = graph.value_name(value).map(Untrusted::raw);
                    names.get_mut(at(pc)).into_iter().for_each(|names| names.extend(name));
                }
                _ => {}
            }
        }
        for edge in &edges {
            if let (MethodNode::Instruction(pc), MethodNode::Value(_)) =
                (edge.from.node, edge.to.node)
            {
                uses.entry(edge.to).or_insert(pc);
            }
        }
        Self {
            program,
            findings,
            graph,
            plan,
            namespace,
            regions: Regions::of(count, &jumps),
            modules: Modules::of(names, |pc| program.recorded_module(graph, pc)),
            edges,
            sources,
            uses,
            calls: open_calls(program, graph, open),
            live: live_bytes(&Memory::of(&program.pte, plan)),
        }
    }

    fn write<E>(&self, each: Each<'_, E>) -> Result<(), E> {
        for node in self.graph.nodes() {
            let mut shown = ExplorerNode {
                id: node.id.to_string(),
                namespace: self.namespace_of(&node),
                ..ExplorerNode::default()
            };
            self.describe(&node, &mut shown);
            self.add_outputs(&node, &mut shown);
            let mut inputs = Inputs::of(&node);
            let incoming = self.incoming(node.id);
            let Some(call) = self.calls.get(&node.id) else {
                let edges = incoming.iter().map(|edge| self.edge(edge, inputs.next(edge)));
                shown.incoming_edges = edges.collect();
                shown.inputs_metadata = inputs.metadata(self.names_of(&node));
                each(shown)?;
                continue;
            };
            let (mut outside, mut joined) = (BTreeMap::<u32, Vec<_>>::new(), BTreeSet::new());
            for edge in incoming {
                match call.inputs(edge) {
                    None => shown.incoming_edges.push(self.edge(edge, inputs.next(edge))),
                    Some(_) if !joined.insert((edge.from, edge.value)) => {}
                    Some(ends) => ends.iter().for_each(|&end| {
                        outside.entry(end).or_default().push(self.edge(edge, "0".into()));
                    }),
                }
            }
            let (id, namespace) = (shown.id.clone(), shown.namespace.clone());
            each(shown)?;
            let payload = PayloadLayer {
                graph: call.payload,
                constants: &self.program.constants,
                texts: &self.program.texts,
                findings: self.findings,
                prefix: &id,
                namespace: &namespace,
            };
            payload.each_node(outside, each)?;
        }
        Ok(())
    }

    /// Returns the layers around a node.
    fn namespace_of(&self, node: &GraphNode<'_>) -> String {
        let pc = match node.id.node {
            MethodNode::Instruction(pc) => Some(pc),
            MethodNode::Value(_) if node.kind != NodeKind::Input => {
                self.uses.get(&node.id).copied()
            }
            _ => None,
        };
        let Some(pc) = pc else { return self.namespace.clone() };
        let inner = self.modules.namespace(self.regions.namespace(&self.namespace, pc), pc);
        match self.calls.contains_key(&node.id) {
            true => {
                let name = layer(node.name.unwrap_or_default().raw());
                nested(&inner, &format!("{name} {pc}"))
            }
            false => inner,
        }
    }

    fn incoming(&self, id: NodeId) -> &[Edge] {
        cost::look_up("", self.edges.len());
        let begin = self.edges.partition_point(|edge| edge.to < id);
        let end = self.edges.partition_point(|edge| edge.to <= id);
        self.edges.get(begin..end).unwrap_or_default()
    }

    /// Returns an edge. An edge from an open call begins at the payload's output.
    fn edge(&self, edge: &Edge, target_node_input_id: String) -> IncomingEdge {
        let from = edge.from.to_string();
        let output = self.calls.get(&edge.from).and_then(|call| call.output(edge));
        let output = output.map(|output| {
            let id = payload_node_id(&from, PayloadNodeId::Value(output));
            (id, output.to_string())
        });
        let (source_node_id, source_node_output_id) =
            output.unwrap_or_else(|| (from, output_id(flow(edge), edge.value)));
        IncomingEdge { source_node_id, source_node_output_id, target_node_input_id }
    }

    /// Adds the facts about what flows out of a node.
    fn add_outputs(&self, node: &GraphNode<'_>, shown: &mut ExplorerNode) {
        cost::look_up("", self.sources.len());
        let begin = self.sources.partition_point(|(from, ..)| *from < node.id);
        let outputs = self.sources.get(begin..).unwrap_or_default().iter();
        for &(_, kind, value) in outputs.take_while(|(from, ..)| *from == node.id) {
            let mut attrs = Attributes::default();
            match value {
                Some(value) => self.describe_flow(value, &mut attrs),
                None => attrs.add("__tensor_tag", kind),
            }
            shown.outputs_metadata.push(Metadata { id: output_id(kind, value), attrs });
        }
    }

    /// Adds the facts about a value that flows along edges.
    fn describe_flow(&self, value: u32, attrs: &mut Attributes) {
        let name = self.graph.value_name(value).map(|name| name.cut(MOST_CHARACTERS));
        attrs.add("__tensor_tag", name.unwrap_or_else(|| format!("v{value}")));
        attrs.add("shape", self.shape(value));
        if let Some(tensor) = self.tensor(value) {
            attrs.add("dynamism", dynamism(tensor));
            let row = TensorRow::of(&self.program.pte, tensor, place_of(value));
            if let Some(arena) = row.arena() {
                attrs.add("arena", format!("{} at {}", arena.memory_id, arena.offset));
            }
            attrs.add_some("bytes", row.bytes());
        }
    }

    /// Returns the type of a value. The sizes of a dynamic tensor are upper bounds.
    fn shape(&self, value: u32) -> String {
        let text = self.graph.value_text(value);
        match self.tensor(value).map(Tensor::shape_dynamism) {
            None | Some(TensorShapeDynamism::STATIC) => text,
            Some(_) => format!("≤ {text}"),
        }
    }

    fn tensor(&self, value: u32) -> Option<Tensor<'a>> {
        tensor_at(self.plan, value)
    }

    /// Adds the label, the attributes and the numbers of a node.
    fn describe(&self, node: &GraphNode<'_>, shown: &mut ExplorerNode) {
        let method = self.graph.index();
        let kind = node.kind.as_str();
        let name = node.name.map(|name| name.cut(MOST_CHARACTERS));
        shown.attrs.add("kind", kind);
        match node.id.node {
            MethodNode::Instruction(pc) => {
                shown.label = name.unwrap_or_else(|| kind.into());
                shown.attrs.add_some("note", node.text.as_deref());
                self.describe_instruction(pc, node, shown);
            }
            MethodNode::Output(nth) => {
                shown.label = format!("output {nth}");
                if let Some(value) = node.value {
                    self.describe_value(value, shown);
                    shown.measures.bytes = None;
                }
            }
            MethodNode::Value(value) => {
                shown.label = name.unwrap_or_else(|| format!("{kind} v{value}"));
                self.describe_value(value, shown);
                self.findings.describe(FindingPlace::Value(method, value), shown);
            }
        }
    }

    fn describe_value(&self, value: u32, shown: &mut ExplorerNode) {
        let attrs = &mut shown.attrs;
        attrs.add("value", value);
        attrs.add_some("name", self.graph.value_name(value).map(|name| name.cut(LONGEST_TEXT)));
        let Some(tensor) = self.tensor(value) else {
            attrs.add("contents", self.graph.value_title(value));
            return;
        };
        let row = TensorRow::of(&self.program.pte, tensor, place_of(value));
        attrs.add("type", self.shape(value));
        attrs.add("dynamism", dynamism(tensor));
        let order = tensor.dim_order().into_iter().flatten().take(MOST_DIMENSIONS);
        let order: Vec<String> = order.map(|dim| dim.to_string()).collect();
        attrs.add("dim order", order.join(", "));
        attrs.add("storage", row.storage_name());
        if let Some(arena) = row.arena() {
            attrs.add("arena", format!("{} at {}", arena.memory_id, arena.offset));
        }
        attrs.add_some("bytes", row.bytes());
        if let Some(range) = row.range() {
            attrs.add("offset", range.start);
            self.program.texts.describe(&range, tensor.scalar_type(), attrs);
            shown.measures.bytes = Some(len_of(&range));
        }
    }

    fn describe_instruction(&self, pc: u32, node: &GraphNode<'_>, shown: &mut ExplorerNode) {
        let Some((chain, index)) = node.chain.zip(node.instruction) else { return };
        let method = self.graph.index();
        shown.attrs.add("instruction", format!("{chain}:{index}"));
        shown.measures.instruction = Some((method, chain, index));
        let before = self.live.partition_point(|&(at, _)| at <= pc).checked_sub(1);
        let live = before.and_then(|nth| self.live.get(nth)).map(|&(_, bytes)| bytes);
        shown.measures.live_bytes = live;
        shown.attrs.add_some("live bytes", live);
        let mut names = self.names_of(node);
        for (nth, &value) in node.args.iter().flatten().enumerate().take(MOST_ARGUMENTS) {
            let name = names.next();
            if name.is_none() && self.is_repeated(node, nth) {
                continue;
            }
            let constant = node.arguments.as_deref().and_then(|all| all.get(nth)?.as_deref());
            let text = match (constant, u32::try_from(value)) {
                (Some(text), _) => text.into(),
                (None, Ok(value)) => format!("v{value} {}", self.graph.value_title(value)),
                (None, Err(_)) => format!("v{value}"),
            };
            match name {
                Some(name) => shown.attrs.add(name, text),
                None => shown.attrs.add(format!("argument {nth}"), text),
            }
        }
        let table = self.plan.chains().and_then(|chains| chains.get(at(chain)));
        let frames = table.and_then(|chain| chain.stacktrace()?.get(at(index))?.items());
        for (nth, frame) in frames.into_iter().flatten().take(MOST_FRAMES).enumerate() {
            let text =
                |text: Option<&str>| Untrusted::from(text.unwrap_or_default()).cut(LONGEST_TEXT);
            let (file, name) = (text(frame.filename()), text(frame.name()));
            let line = format!("{file}:{} in {name}: {}", frame.lineno(), text(frame.context()));
            shown.attrs.add(format!("stack {nth}"), line);
        }
        let instruction =
            table.and_then(|chain| chain.instructions()?.get(at(index))?.instr_args());
        if let Some(InstructionArguments::DelegateCall(call)) = instruction
            && let Ok(delegate) = u32::try_from(call.delegate_index())
        {
            self.describe_delegate(delegate, self.calls.contains_key(&node.id), shown);
            self.findings.describe(FindingPlace::Delegate(method, delegate), shown);
        }
        self.findings.describe(FindingPlace::Instruction(method, chain, index), shown);
    }

    fn describe_delegate(&self, index: u32, is_open: bool, shown: &mut ExplorerNode) {
        let all = self.plan.delegates();
        let Some(delegate) = all.and_then(|all| all.get(at(index))) else { return };
        if let Ok(Some(range)) = self.program.pte.delegate_range(delegate) {
            let bytes = len_of(&range);
            shown.attrs.add("payload bytes", bytes);
            shown.attrs.add("payload offset", range.start);
            // The nodes of an open payload have the bytes of their constants.
            shown.measures.bytes = (!is_open).then_some(bytes);
        }
        for spec in delegate.compile_specs().into_iter().flatten().take(MOST_FRAMES) {
            let key = Untrusted::from(spec.key().unwrap_or_default()).cut(MOST_CHARACTERS);
            shown.attrs.add(
                format!("compile spec {key}"),
                compile_spec(spec.value().map(|value| value.bytes())),
            );
        }
    }

    /// Returns whether an argument repeats an earlier one, as the last argument of most calls repeats the output.
    fn is_repeated(&self, node: &GraphNode<'_>, nth: usize) -> bool {
        let args = node.args.as_deref().unwrap_or_default();
        nth > 0
            && nth.saturating_add(1) == args.len()
            && args.get(nth) == args.get(nth.saturating_sub(1))
    }

    /// Returns the names of a call's arguments.
    fn names_of(&self, node: &GraphNode<'_>) -> impl Iterator<Item = &'static str> + use<> {
        let is_call = node.kind == NodeKind::Kernel;
        argument_names(node.name.filter(|_| is_call).unwrap_or_default().raw())
    }
}

/// The arguments of a call, each to be joined with an edge.
struct Inputs {
    /// The position of each argument, by value: the last position first.
    positions: BTreeMap<u32, Vec<u32>>,
    joined: BTreeSet<u32>,
}

impl Inputs {
    fn of(node: &GraphNode<'_>) -> Self {
        let mut positions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let args = node.args.as_deref().unwrap_or_default();
        let numbered = (0..narrow(args.len())).zip(args);
        for (nth, &value) in numbered.rev() {
            if let Ok(value) = u32::try_from(value) {
                positions.entry(value).or_default().push(nth);
            }
        }
        Self { positions, joined: BTreeSet::new() }
    }

    /// Returns the id of the input where an edge ends: the position of the argument, if it is one.
    fn next(&mut self, edge: &Edge) -> String {
        let position = edge.value.and_then(|value| self.positions.get_mut(&value)?.pop());
        match position {
            Some(position) => {
                self.joined.insert(position);
                position.to_string()
            }
            None => output_id(flow(edge), edge.value),
        }
    }

    /// Returns the names of the arguments that edges lead to.
    fn metadata(&self, names: impl Iterator<Item = &'static str>) -> Vec<Metadata> {
        let named = (0..).zip(names).filter(|(nth, _)| self.joined.contains(nth));
        let metadata = named.map(|(nth, name)| {
            let mut attrs = Attributes::default();
            attrs.add("__tensor_tag", name);
            Metadata { id: nth.to_string(), attrs }
        });
        metadata.collect()
    }
}

/// Returns the calls of a method whose payloads are shown.
fn open_calls<'d>(
    program: &'d ProgramContents<'_>,
    graph: &MethodGraph<'_>,
    open: &mut OpenPayloads,
) -> BTreeMap<NodeId, OpenCall<'d>> {
    let payloads = program.graph.payloads.as_deref().unwrap_or_default();
    let mut calls = BTreeMap::new();
    for node in graph.nodes() {
        let Some(index) = node.payload else { continue };
        let Some(payload) = payloads.get(at(index)) else { continue };
        if !open.opens(index, payload) {
            continue;
        }
        calls.insert(node.id, OpenCall::new(payload, &node.args.unwrap_or_default()));
    }
    calls
}

/// Returns the sum of the live bytes of all arenas: each pc at which it may change.
fn live_bytes(memory: &Memory<'_>) -> Vec<(u32, u64)> {
    let mut changes: Vec<(u32, i128)> = Vec::new();
    for arena in memory.arenas() {
        let mut before = 0i128;
        for (pc, bytes) in memory.live_bytes(arena) {
            let bytes = i128::from(bytes);
            changes.push((pc, bytes.saturating_sub(before)));
            before = bytes;
        }
    }
    cost::sort(changes.len());
    changes.sort_unstable_by_key(|&(pc, _)| pc);
    let mut sum = 0i128;
    let sums = changes.into_iter().map(|(pc, change)| {
        sum = sum.saturating_add(change);
        (pc, u64::try_from(sum).unwrap_or_default())
    });
    sums.collect()
}

/// Returns what flows along an edge.
fn flow(edge: &Edge) -> &'static str {
    match edge.kind {
        EdgeKind::Data => "data",
        EdgeKind::Next => "next",
        EdgeKind::Jump => "jump if false",
    }
}

/// Returns the id of an output: the index of the value that flows.
fn output_id(flow: &'static str, value: Option<u32>) -> String {
    value.map_or_else(|| flow.into(), |value| value.to_string())
}

fn dynamism(tensor: Tensor<'_>) -> &'static str {
    match tensor.shape_dynamism() {
        TensorShapeDynamism::STATIC => "static",
        TensorShapeDynamism::DYNAMIC_BOUND => "bounded",
        TensorShapeDynamism::DYNAMIC_UNBOUND => "unbounded",
        _ => "unknown",
    }
}

/// Returns the value of a compile spec, if it is a short text, or else its length.
fn compile_spec(value: Option<&[u8]>) -> String {
    let value = value.unwrap_or_default();
    match core::str::from_utf8(value) {
        Ok(text) if value.len() <= LONGEST_TEXT => Untrusted::from(text).to_string(),
        _ => format!("{} bytes", wide(value.len())),
    }
}

fn place_of(value: u32) -> TensorPlace<'static> {
    TensorPlace::Value { method: None, index: value }
}

/// The most nodes of payloads that are written again, for further calls of the same payload: one for each
/// [`BYTES_OF_NODE`] bytes of the file, and within these two.
const ALWAYS_REPEATED: u64 = 1_000;
const MOST_REPEATED: u64 = 100_000;

/// The fewest bytes of a payload's node in genuine files.
const BYTES_OF_NODE: u64 = 40;

/// The most arguments of a call that are attributes.
const MOST_ARGUMENTS: usize = 64;

/// The most frames of a stack trace, and the most compile specs.
const MOST_FRAMES: usize = 16;
