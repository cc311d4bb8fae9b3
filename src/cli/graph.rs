//! `pte graph`: the instructions of a method as a picture.

use core::fmt;
use core::str::FromStr;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pte::File;
use pte::graph::{
    DrawOptions, Edge, EdgeKind, Excerpt, GraphDocument, GraphNode, InstructionPlace, MethodGraph,
    MethodNode, NodeId, NodeKind, OpenCall, PayloadGraph, PayloadNodeId,
};
use pte::method;
use pte::operator_name;
use pte::quoted::{Untrusted, UntrustedString};
use pte::schema::program::view::{ExecutionPlan, InstructionArguments};

use super::Common;
use super::format::{Format, Formats};
use super::input::{Input, Readable};
use super::output::{Content, Output};
use super::problem::{Problem, Status};
use super::text::{self, grouped};

mod dot;
mod explorer;
mod mermaid;

/// Draw the instructions of a method, as Graphviz, Mermaid or for Model Explorer
///
/// Calls of operators and delegates, moves, frees and jumps are boxes, whether their operator or
/// backend is known or not; inputs, outputs and what several instructions write are nodes too. The
/// arguments of a call that are constants are in its box, with a dot for each one that flows along an
/// edge. The value that flows is on the edge: its index, dtype, sizes, and its name if it has one.
/// Where there are jumps, dotted edges lead from one basic block to the next. The file does not say
/// what a call writes. Signatures say it for the official runtime's operators; of other operators, the
/// results are the arguments that are named twice, or else the last argument; of a delegate, they are
/// the tensors that are not initialized before the call.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte graph model.pte | dot -Tsvg -o model.svg
  pte graph model.pte --method forward --format mermaid
  pte graph model.pte --around 40 --depth 3     what instruction 40 depends on, and what depends on it
  pte graph model.pte --from 10 --to 30 --simplify | dot -Tsvg -o part.svg
  pte graph model.pte --payloads | dot -Tsvg -o model.svg
                                                the nodes inside delegates too
  pte graph model.pte --format model-explorer --stats -o model.json
                                                what Google's Model Explorer opens
  pte graph model.pte --json | jq '.methods[].nodes[] | select(.kind == \"kernel\").name'

Mermaid draws 500 edges, unless its setting maxEdges says more.

JSON, \"schema\": \"pte.graph/1\":
  path     of the file
  methods  name, nodes, edges
  nodes    id, kind: kernel, delegate, move, free, jump, unknown (instructions: chain, instruction,
           name of the operator or backend, args: indices of values, arguments: for each of them
           its text if it is a constant without a node, or null); input, output, constant, mutable,
           external, list, value (value: its index; text: dtype and sizes; name); end; outside (an
           instruction beside the shown part)
  edges    from, to, kind: data (value, text), next, jump (where the condition is false)
JSON has the nodes of constants and the order of all instructions. With --payloads it has each payload
once, and a delegate has its index, payload:
  payloads nodes, edges, and offset and bytes in the file
  nodes    id, kind: operator (name, inputs, outputs: ids of values), unknown; input, output (argument:
           the index in args of the call), constant, value (value: its id; text)
  edges    from, to, value, text

Exit status: 0 drawn, 1 not in the file, too large or broken, 2 usage, 3 not readable")]
pub(super) struct Graph {
    /// A program, or - for standard input.
    file: PathBuf,
    /// Only this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    #[command(flatten)]
    pub(super) format: Format<GraphFormat>,
    /// Draw this instruction, what it depends on, and what depends on it: its number in the picture.
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to"])]
    around: Option<At>,
    /// How many instructions away from --around.
    #[arg(long, value_name = "K", default_value_t = 2, requires = "around")]
    depth: u32,
    /// Draw the instructions from this one on.
    #[arg(long, value_name = "N")]
    from: Option<At>,
    /// Draw the instructions up to this one.
    #[arg(long, value_name = "N")]
    to: Option<At>,
    /// Leave out views, permutes and other calls that only rearrange a tensor.
    #[arg(long)]
    simplify: bool,
    /// Draw constants as nodes, and not in the calls that use them.
    #[arg(long)]
    constants: bool,
    /// Open the delegates whose graphs are known (docs/limits.md): draw the nodes of their payloads.
    #[arg(long)]
    payloads: bool,
    /// Instructions and nodes of payloads that are drawn at most; JSON has no limit.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    max_instructions: usize,
    /// With --format model-explorer: read constants, and show their values, min, max and mean.
    #[arg(long)]
    stats: bool,
    /// Write a node data file in place of the graph of --format model-explorer: numbers that it lays over the nodes.
    #[arg(long, value_name = "NUMBERS", conflicts_with_all = ["json"])]
    overlay: Option<explorer::Numbers>,
    /// The profile (ETDump) of a run, for --overlay time.
    #[arg(long, value_name = "FILE", requires = "overlay")]
    etdump: Option<PathBuf>,
    /// With --format model-explorer: the ETRecord of the export, which has the module of each instruction.
    #[arg(long, value_name = "FILE")]
    etrecord: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GraphFormat {
    Dot,
    Mermaid,
    Json,
    /// The graph collection that Model Explorer opens: of any file, with all delegates open.
    ModelExplorer,
}

impl Formats for GraphFormat {
    const DEFAULT: &'static str = "dot";
    const JSON: Self = Self::Json;
}

/// An instruction as an argument: its index, with the index of its chain in front unless that is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At(InstructionPlace);

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (chain, instruction) = text.split_once(':').unwrap_or(("0", text));
        let number = |text: &str| {
            let is_plain = text.bytes().all(|c| c.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain)
        };
        let place = number(chain).zip(number(instruction));
        let place = place.map(|(chain, instruction)| At(InstructionPlace { chain, instruction }));
        place.ok_or_else(|| "expected an instruction such as 12, or 1:12 of chain 1".into())
    }
}

/// A format of pictures. For each method, the nodes are drawn first, and then the edges.
trait Draw {
    fn begin(&mut self, path: &UntrustedString) -> Result<(), Problem>;
    fn method(&mut self, index: u32, name: Option<Untrusted<'_>>) -> Result<(), Problem>;
    /// Begins the cluster of a call whose payload is shown.
    fn call(&mut self, id: NodeId, lines: &[String]) -> Result<(), Problem>;
    fn end_call(&mut self) -> Result<(), Problem>;
    /// Draws a node with lines of text.
    fn node(&mut self, id: Id, look: Look, lines: &[String]) -> Result<(), Problem>;
    /// Returns the label of an edge, quoted for this format.
    fn label(&self, text: &str) -> String;
    /// Draws an edge. It has a label if no node shows the value that flows along it.
    fn edge(&mut self, ends: (Id, Id), kind: EdgeKind, label: Option<&str>) -> Result<(), Problem>;
    fn end_method(&mut self) -> Result<(), Problem>;
    /// Draws the legend.
    fn end(&mut self, legend: &BTreeSet<Look>) -> Result<(), Problem>;
}

/// The id of a node in a picture: one of the method, or one of the payload that an instruction calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Id(NodeId, Option<PayloadNodeId>);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(id, None) => write!(f, "{id}"),
            Self(call, Some(id)) => write!(f, "{call}{id}"),
        }
    }
}

impl Graph {
    /// Whether the output is for Model Explorer.
    pub(super) fn is_explorer(&self) -> bool {
        self.format.chosen() == GraphFormat::ModelExplorer || self.overlay.is_some()
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        if self.is_explorer() {
            return self.run_explorer(common);
        }
        for (option, is_given) in [("--stats", self.stats), ("--etrecord", self.etrecord.is_some())]
        {
            if is_given {
                let message = format!("{option} is for --format model-explorer");
                return Err(Problem::Usage(message.into()));
            }
        }
        let input = Input::open(&self.file, &common.limits())?;
        let file = input.opened.file();
        let File::Pte(pte) = &file else {
            return Err(input.absent("this is a .ptd, which has no methods".into()));
        };
        let format = self.format.chosen();
        let mut document = GraphDocument::new(&input.name, pte);
        document.method.clone_from(&self.method);
        document.shown = self.shown(format);
        if self.payloads {
            let payloads = PayloadGraph::all(&input.opened, &common.limits());
            document.payloads = Some(payloads.map_err(|error| Problem::open(&input.name, error))?);
        }
        self.admit(&input, format, &document)?;
        let inputs = core::slice::from_ref(&self.file);
        let out = Output::beside(common.output.as_deref(), Content::Plain, inputs)?;
        out.finish_with(|out| match format {
            GraphFormat::Dot => draw(&document, &mut dot::Dot(out)),
            GraphFormat::Mermaid => draw(&document, &mut mermaid::Mermaid(out)),
            GraphFormat::Json | GraphFormat::ModelExplorer => out.json_rows(&document),
        })?;
        Ok(Status::Good)
    }

    /// Returns the options with which each method is drawn.
    fn shown(&self, format: GraphFormat) -> DrawOptions {
        let part = match (self.around, self.from, self.to) {
            (Some(At(place)), ..) => Some(Excerpt::Around { place, depth: self.depth }),
            (None, None, None) => None,
            (None, from, to) => {
                let place = |at: Option<At>| at.map(|At(place)| place);
                Some(Excerpt::Between { from: place(from), to: place(to) })
            }
        };
        let mut shown = DrawOptions::default();
        shown.folds_constants = format != GraphFormat::Json && !self.constants;
        shown.folds_order = format != GraphFormat::Json;
        shown.hides_views = self.simplify;
        shown.part = part;
        shown
    }

    /// Refuses a method or an instruction that is not in the file, a picture that is too large to
    /// read, and names that are repeated too often.
    fn admit(
        &self,
        input: &Input,
        format: GraphFormat,
        document: &GraphDocument<'_>,
    ) -> Result<(), Problem> {
        if let Some(method) = &self.method {
            input.has_method(method)?;
        }
        let methods = document.plans().count();
        let counts = document.plans().map(|(_, plan)| method::instructions(plan).count());
        let mut instructions = counts.fold(0, usize::saturating_add);
        if document.shown.part.is_some() {
            if methods > 1 {
                let message = "a part is of one method: choose it with --method";
                return Err(Problem::Usage(message.into()));
            }
            for graph in document.methods() {
                self.admit_places(input, &graph)?;
                instructions = graph.shown_count();
            }
        }
        if format != GraphFormat::Json
            && let Some(payloads) = &document.payloads
            && instructions <= self.max_instructions
        {
            let counts: Vec<usize> =
                payloads.iter().map(|payload| payload.node_count(!self.constants)).collect();
            for graph in document.methods() {
                for index in graph.nodes().filter_map(|node| node.payload) {
                    let count = usize::try_from(index).ok().and_then(|nth| counts.get(nth));
                    instructions = instructions.saturating_add(count.copied().unwrap_or_default());
                }
            }
        }
        if format != GraphFormat::Json && instructions.max(methods) > self.max_instructions {
            let shown = |count| grouped(text::wide(count));
            let what = if self.payloads { "node" } else { "instruction" };
            return Err(input.absent(format!(
                "{} in {} are too many for a picture, which takes {}; draw a part with --from and \
                 --to, or one method with --method, take --format json, or raise --max-instructions",
                text::count(text::wide(instructions), what),
                text::count(text::wide(methods), "method"),
                shown(self.max_instructions),
            )));
        }
        document.plans().try_for_each(|(_, plan)| spend_names(input, plan))
    }

    /// Refuses instructions that are not in the method.
    fn admit_places(&self, input: &Input, graph: &MethodGraph<'_>) -> Result<(), Problem> {
        for At(place) in [self.around, self.from, self.to].into_iter().flatten() {
            if graph.pc(place).is_none() {
                let InstructionPlace { chain, instruction } = place;
                let at = match chain {
                    0 => instruction.to_string(),
                    _ => format!("{chain}:{instruction}"),
                };
                let count = text::count(text::wide(graph.instruction_count()), "instruction");
                return Err(
                    input.absent(format!("there is no instruction {at}: the method has {count}"))
                );
            }
        }
        Ok(())
    }
}

/// Charges the names of operators and backends against the limits, once for each call.
fn spend_names(input: &Input, plan: ExecutionPlan<'_>) -> Result<(), Problem> {
    let operators: Vec<_> = plan.operators().into_iter().flatten().map(operator_name).collect();
    for instruction in method::instructions(plan) {
        let name = match instruction.operation() {
            Some(InstructionArguments::KernelCall(call)) => {
                let nth = usize::try_from(call.op_index()).ok();
                nth.and_then(|nth| operators.get(nth)).map(UntrustedString::raw)
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let delegates = plan.delegates().zip(usize::try_from(call.delegate_index()).ok());
                delegates.and_then(|(delegates, nth)| delegates.get(nth)?.id())
            }
            _ => None,
        };
        input.name_again(name)?;
    }
    Ok(())
}

/// Draws every method of a document, and a legend of the kinds of nodes and edges in it.
fn draw(document: &GraphDocument<'_>, out: &mut impl Draw) -> Result<(), Problem> {
    let mut legend = BTreeSet::new();
    out.begin(&document.path)?;
    let payloads = document.payloads.as_deref().unwrap_or_default();
    let folds_constants = document.shown.folds_constants;
    for graph in document.methods() {
        out.method(graph.index(), graph.name())?;
        let calls = OpenCalls::of(&graph, payloads);
        for node in graph.nodes() {
            let call = calls.0.get(&node.id);
            if call.is_none_or(|call| call.has_box) {
                legend.insert(Look::of(node.kind));
                let mut lines = lines(&graph, &node);
                if document.payloads.is_some()
                    && node.kind == NodeKind::Delegate
                    && node.payload.is_none()
                {
                    lines.push(CLOSED.into());
                }
                out.node(Id(node.id, None), Look::of(node.kind), &lines)?;
            }
            if let Some(call) = call {
                out.call(node.id, &lines(&graph, &node))?;
                draw_payload(node.id, call.open.payload, folds_constants, out, &mut legend)?;
                out.end_call()?;
            }
        }
        draw_edges(&graph, &calls, out, &mut legend)?;
        out.end_method()?;
    }
    out.end(&legend)
}

/// Draws the payload of a call: its nodes and edges.
fn draw_payload(
    call: NodeId,
    payload: &PayloadGraph,
    folds_constants: bool,
    out: &mut impl Draw,
    legend: &mut BTreeSet<Look>,
) -> Result<(), Problem> {
    for node in payload.nodes(folds_constants) {
        let look = match node.kind {
            NodeKind::Operator | NodeKind::Unknown => Look::PayloadNode,
            kind => Look::of(kind),
        };
        legend.insert(look);
        let first = match (node.id, &node.name) {
            (PayloadNodeId::Node(index), Some(name)) => format!("{index}: {}", text::name(name)),
            (PayloadNodeId::Node(index), None) => format!("{index}: unknown node"),
            (PayloadNodeId::Value(id), _) => match node.argument {
                Some(argument) => format!("{} {argument}, v{id}", node.kind.as_str()),
                None => format!("{} v{id}", node.kind.as_str()),
            },
        };
        let mut lines = vec![first];
        lines.extend(node.text);
        lines.extend(argument_lines(node.arguments.as_deref().unwrap_or_default()));
        out.node(Id(call, Some(node.id)), look, &lines)?;
    }
    for edge in payload.edges(folds_constants) {
        let has_node = [edge.from, edge.to].contains(&PayloadNodeId::Value(edge.value));
        let text = edge.text.unwrap_or_default();
        let label = (!has_node).then(|| out.label(&format!("v{} {text}", edge.value)));
        let ends = (Id(call, Some(edge.from)), Id(call, Some(edge.to)));
        out.edge(ends, EdgeKind::Data, label.as_deref())?;
    }
    Ok(())
}

/// The calls of a method whose payloads are shown.
struct OpenCalls<'p>(BTreeMap<NodeId, ShownCall<'p>>);

struct ShownCall<'p> {
    open: OpenCall<'p>,
    /// Whether an edge leads to the call itself. This is an edge of control flow, or of an argument
    /// that is neither an input nor an output of the payload.
    has_box: bool,
}

impl<'p> OpenCalls<'p> {
    fn of(graph: &MethodGraph<'_>, payloads: &'p [PayloadGraph]) -> Self {
        let mut calls = Self(BTreeMap::new());
        for node in graph.nodes() {
            let nth = node.payload.and_then(|index| usize::try_from(index).ok());
            let Some(payload) = nth.and_then(|nth| payloads.get(nth)) else { continue };
            let open = OpenCall::new(payload, &node.args.unwrap_or_default());
            calls.0.insert(node.id, ShownCall { open, has_box: false });
        }
        if calls.0.is_empty() {
            return calls;
        }
        for edge in graph.edges() {
            if let Some(call) = calls.0.get_mut(&edge.from) {
                call.has_box |= call.open.output(&edge).is_none();
            }
            if let Some(call) = calls.0.get_mut(&edge.to) {
                call.has_box |= call.open.inputs(&edge).is_none();
            }
        }
        calls
    }

    /// Returns the node at which an edge begins. If the edge's value is an output of a shown
    /// payload, this is the output's node.
    fn from(&self, edge: &Edge) -> Id {
        let output = self.0.get(&edge.from).and_then(|call| call.open.output(edge));
        Id(edge.from, output.map(PayloadNodeId::Value))
    }

    /// Returns the nodes at which an edge ends. If the edge's value is an input of a shown payload,
    /// these are the inputs' nodes.
    fn to(&self, edge: &Edge) -> Vec<Id> {
        match self.0.get(&edge.to).and_then(|call| call.open.inputs(edge)) {
            None => vec![Id(edge.to, None)],
            Some(inputs) => {
                inputs.iter().map(|&id| Id(edge.to, Some(PayloadNodeId::Value(id)))).collect()
            }
        }
    }
}

fn draw_edges(
    graph: &MethodGraph<'_>,
    calls: &OpenCalls<'_>,
    out: &mut impl Draw,
    legend: &mut BTreeSet<Look>,
) -> Result<(), Problem> {
    // A value may be on any number of edges, often adjacent ones, so labels are cached.
    let mut labels: Vec<Option<(u32, String)>> = vec![None; CACHED_LABELS];
    // A call and its payload may both name a value many times. Each pair is joined once.
    let mut joined = BTreeSet::new();
    for edge in graph.edges() {
        legend.extend(match edge.kind {
            EdgeKind::Next => Some(Look::Next),
            EdgeKind::Jump => Some(Look::JumpEdge),
            _ => None,
        });
        // The node of a value already shows the label.
        let has_node = [edge.from.node, edge.to.node].into_iter().any(|node| match node {
            MethodNode::Value(value) => Some(value) == edge.value,
            MethodNode::Output(_) => true,
            MethodNode::Instruction(_) => false,
        });
        let label = edge.value.filter(|_| !has_node).and_then(|value| {
            let slot = labels.get_mut(usize::try_from(value).ok()? % CACHED_LABELS)?;
            if slot.as_ref().is_none_or(|(cached, _)| *cached != value) {
                let text = format!("v{value} {}", graph.value_title(value));
                *slot = Some((value, out.label(&text)));
            }
            slot.as_ref().map(|(_, label)| label.as_str())
        });
        let is_joined = calls.0.contains_key(&edge.to);
        if is_joined && !joined.insert((edge.to, edge.from, edge.value)) {
            continue;
        }
        for to in calls.to(&edge) {
            out.edge((calls.from(&edge), to), edge.kind, label)?;
        }
    }
    Ok(())
}

/// The appearance of a node or an edge, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Operator,
    Delegate,
    PayloadNode,
    Instruction,
    Jump,
    End,
    Stored,
    Value,
    Outside,
    Next,
    JumpEdge,
}

impl Look {
    fn of(kind: NodeKind) -> Self {
        match kind {
            NodeKind::Kernel => Self::Operator,
            NodeKind::Delegate => Self::Delegate,
            NodeKind::Jump => Self::Jump,
            NodeKind::Input | NodeKind::Output | NodeKind::End => Self::End,
            NodeKind::Constant | NodeKind::Mutable | NodeKind::External => Self::Stored,
            NodeKind::Value | NodeKind::List => Self::Value,
            NodeKind::Outside => Self::Outside,
            _ => Self::Instruction,
        }
    }

    /// Returns the description in the legend.
    fn text(self) -> &'static str {
        match self {
            Self::Operator => "box: number, operator, constants (· flows along an edge)",
            Self::Delegate => "box: delegate",
            Self::PayloadNode => "box: node inside a delegate, its constants",
            Self::Instruction => "box: other instruction",
            Self::Jump => "diamond: jump if false",
            Self::End => "ellipse: input, output or end",
            Self::Stored => "cylinder: data of the file or of a .ptd",
            Self::Value => "ellipse: list, state, or value with several writers",
            Self::Outside => "dashed box: instruction beside this part",
            Self::Next => "dotted: runs next",
            Self::JumpEdge => "false: runs next if the condition is false",
        }
    }
}

/// Returns the lines of text in the box of a node.
fn lines(graph: &MethodGraph<'_>, node: &GraphNode<'_>) -> Vec<String> {
    let is_instruction = node.instruction.is_some();
    let mut first = match (node.kind, node.name) {
        (NodeKind::Kernel | NodeKind::Delegate | NodeKind::Outside, Some(name)) => text::name(name),
        (NodeKind::Jump, _) => "jump if false".into(),
        (NodeKind::Outside, None) => "instruction".into(),
        (kind, _) => kind.as_str().into(),
    };
    if let Some(instruction) = node.instruction {
        first.insert_str(0, &format!("{instruction}: "));
    }
    if let Some(value) = node.value {
        first.push_str(&format!(" v{value}"));
    }
    let mut lines = vec![first];
    lines.extend(node.name.filter(|_| !is_instruction).map(text::name));
    if let (NodeKind::Output, Some(value)) = (node.kind, node.value) {
        lines.extend(graph.value_name(value).map(text::name));
    }
    lines.extend(node.text.as_deref().map(text::name));
    lines.extend(argument_lines(node.arguments.as_deref().unwrap_or_default()));
    lines
}

/// Returns the arguments of a call, if any of them is a constant, as lines of about equal length.
fn argument_lines(mut arguments: &[Option<String>]) -> Vec<String> {
    while let [rest @ .., None] = arguments {
        arguments = rest;
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for (nth, argument) in arguments.iter().enumerate() {
        let argument = argument.as_deref().map_or("·".into(), text::name);
        let is_last = nth.saturating_add(1) == arguments.len();
        let begin = if nth == 0 { "(" } else { "" };
        let piece = format!("{begin}{argument}{}", if is_last { ")" } else { "," });
        let width = line.chars().count().saturating_add(piece.chars().count());
        if !line.is_empty() && width > MOST_COLUMNS {
            lines.push(core::mem::take(&mut line));
        }
        if lines.len() == MOST_LINES {
            lines.push("…)".into());
            return lines;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&piece);
    }
    lines.extend(Some(line).filter(|line| !line.is_empty()));
    lines
}

/// The note on a delegate whose payload is not drawn.
const CLOSED: &str = "the nodes of this payload are not known";

/// The maximum number of cached labels of values.
const CACHED_LABELS: usize = 64;

/// The maximum width of a line of arguments, in columns.
const MOST_COLUMNS: usize = 40;
/// The maximum number of lines of arguments of a call.
const MOST_LINES: usize = 6;

#[cfg(test)]
mod tests {
    use super::{At, InstructionPlace};

    #[test]
    fn an_instruction_is_an_index_with_or_without_a_chain() {
        let place = |chain, instruction| Ok(At(InstructionPlace { chain, instruction }));
        assert_eq!("12".parse(), place(0, 12));
        assert_eq!("1:0".parse(), place(1, 0));
        for text in ["", ":", "1:", ":1", "-1", "+1", "1:2:3", "x", "4294967296"] {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }
}
