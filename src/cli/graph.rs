//! `pte graph`: the instructions of a method as a picture.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pte::graph::{Edge, GraphDocument, MethodGraph, Node, NodeKind};
use pte::method;
use pte::operator_name;
use pte::quoted::{Untrusted, UntrustedString};
use pte::schema::program::view::{ExecutionPlan, InstructionArguments};
use pte::{File, Pte};

use super::Common;
use super::input::Input;
use super::output::{Content, Output};
use super::problem::{Problem, Status};
use super::text::{self, grouped};

mod dot;
mod mermaid;

/// Draw the instructions of a method, as Graphviz or Mermaid
///
/// Calls of operators and delegates, moves, frees and jumps are boxes, whether their operator or
/// backend is known or not; inputs, outputs, constants and what several instructions write are nodes
/// too. What flows is on the edges with dtype and sizes; dotted ones say what runs next. The file
/// does not say what a call writes. Signatures say it for the official runtime's operators; of other
/// operators, the results are the arguments that are named twice, or else the last argument; of a
/// delegate, they are the tensors that are not initialized before the call.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte graph model.pte | dot -Tsvg -o model.svg
  pte graph model.pte --method forward --format mermaid
  pte graph model.pte --json | jq '.methods[].nodes[] | select(.kind == \"kernel\").name'

Mermaid draws 500 edges, unless its setting maxEdges says more.

JSON, \"schema\": \"pte.graph/1\":
  path     of the file
  methods  name, nodes, edges
  nodes    id, kind: kernel, delegate, move, free, jump, unknown (instructions: chain, instruction,
           name of the operator or backend, args: indices of values); input, output, constant,
           mutable, external, list, value (value: its index; text: dtype and sizes); end
  edges    from, to, kind: data (value, text), next, jump (where the condition is false)

Exit status: 0 drawn, 1 not in the file, too large or broken, 2 usage, 3 not readable")]
pub(super) struct Graph {
    /// A program, or - for standard input.
    file: PathBuf,
    /// Only this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// How to draw it.
    #[arg(long, value_name = "FORMAT", default_value = "dot")]
    format: Format,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Instructions that are drawn at most; JSON has no limit.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    max_instructions: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Dot,
    Mermaid,
    Json,
}

/// A format of pictures. Each method is drawn as its nodes, then its edges.
trait Draw {
    fn begin(&mut self, path: &UntrustedString) -> Result<(), Problem>;
    fn method(&mut self, index: u32, name: Option<Untrusted<'_>>) -> Result<(), Problem>;
    fn node(&mut self, node: &Node<'_>) -> Result<(), Problem>;
    /// Returns the label of an edge, quoted for this format.
    fn label(&self, text: &str) -> String;
    /// Draws an edge. One along which a value flows has a label.
    fn edge(&mut self, edge: &Edge, label: Option<&str>) -> Result<(), Problem>;
    fn end_method(&mut self) -> Result<(), Problem>;
    fn end(&mut self) -> Result<(), Problem>;
}

impl Graph {
    /// Whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let input = Input::open(&self.file, &common.limits())?;
        let file = input.opened.file();
        let File::Pte(pte) = &file else {
            return Err(input.absent("this is a .ptd, which has no methods".into()));
        };
        let format = if self.json { Format::Json } else { self.format };
        self.admit(&input, pte, format)?;
        let mut document = GraphDocument::new(&input.name, pte);
        document.method.clone_from(&self.method);
        let inputs = core::slice::from_ref(&self.file);
        let mut out = Output::beside(common.output.as_deref(), Content::Plain, inputs)?;
        match format {
            Format::Dot => draw(&document, &mut dot::Dot(&mut out))?,
            Format::Mermaid => draw(&document, &mut mermaid::Mermaid(&mut out))?,
            Format::Json => out.json_rows(&document)?,
        }
        out.finish()?;
        Ok(Status::Good)
    }

    /// Refuses a method that is not in the file, a picture that is too large to look at, and names
    /// that are shown too often.
    fn admit(&self, input: &Input, pte: &Pte<'_>, format: Format) -> Result<(), Problem> {
        let (mut methods, mut instructions) = (0usize, 0usize);
        let is_chosen = |name: Option<&str>| {
            self.method.as_deref().is_none_or(|method| name.unwrap_or_default() == method)
        };
        let plans = pte.program().execution_plan().into_iter().flatten();
        let plans = || plans.clone().filter(|plan| is_chosen(plan.name()));
        for plan in plans() {
            methods = methods.saturating_add(1);
            for chain in plan.chains().into_iter().flatten() {
                let count = chain.instructions().map_or(0, |all| all.len());
                instructions = instructions.saturating_add(count);
            }
        }
        if let (0, Some(method)) = (methods, &self.method) {
            return Err(
                input.absent(format!("there is no method {:?}", Untrusted::from(method.as_str())))
            );
        }
        if format != Format::Json && instructions.max(methods) > self.max_instructions {
            let shown = |count| grouped(text::wide(count));
            return Err(input.absent(format!(
                "{} instructions in {} methods are too many for a picture, which takes {}; \
                 choose one with --method, take --format json, or raise --max-instructions",
                shown(instructions),
                shown(methods),
                shown(self.max_instructions),
            )));
        }
        plans().try_for_each(|plan| spend_names(input, plan))
    }
}

/// Counts the names of operators and backends against the limits, once for each call.
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

/// Draws every method of a document.
fn draw(document: &GraphDocument<'_>, out: &mut impl Draw) -> Result<(), Problem> {
    out.begin(&document.path)?;
    for graph in document.methods() {
        out.method(graph.index(), graph.name())?;
        graph.nodes().try_for_each(|node| out.node(&node))?;
        draw_edges(&graph, out)?;
        out.end_method()?;
    }
    out.end()
}

fn draw_edges(graph: &MethodGraph<'_>, out: &mut impl Draw) -> Result<(), Problem> {
    // A value may be on any number of edges, often on adjacent ones.
    let mut labels: Vec<Option<(u32, String)>> = vec![None; CACHED_LABELS];
    for edge in graph.edges() {
        let label = edge.value.and_then(|value| {
            let slot = labels.get_mut(usize::try_from(value).ok()? % CACHED_LABELS)?;
            if slot.as_ref().is_none_or(|(cached, _)| *cached != value) {
                *slot = Some((value, out.label(&graph.value_text(value))));
            }
            slot.as_ref().map(|(_, label)| label.as_str())
        });
        out.edge(&edge, label)?;
    }
    Ok(())
}

/// Returns the text in the box of a node, line by line.
fn lines(node: &Node<'_>) -> Vec<String> {
    let mut first = match (node.kind, node.name) {
        (NodeKind::Kernel | NodeKind::Delegate, Some(name)) => text::name(name),
        (NodeKind::Jump, _) => "jump if false".into(),
        (kind, _) => kind.as_str().into(),
    };
    if let Some(instruction) = node.instruction {
        first.insert_str(0, &format!("{instruction}: "));
    }
    let mut lines = vec![first];
    lines.extend(node.text.as_deref().map(text::name));
    lines
}

/// The number of labels of values that are kept.
const CACHED_LABELS: usize = 64;
