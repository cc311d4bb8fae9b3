//! The methods of a program: inputs, outputs, operators and delegates.

use maud::{Markup, PreEscaped, html};
use pte::Pte;
use pte::graph::MethodGraph;
use pte::memory::Memory;
use pte::operator_name;
use pte::operators::usage::calls_by_operator;
use pte::schema::program::view::ExecutionPlan;
use pte::summary::{MethodSummary, ProgramSummary, ValueSummary};

use super::{graph, left_out};
use crate::input::Input;
use crate::memory::method::Method;
use crate::memory::svg;
use crate::problem::Problem;
use crate::text::{self, count, grouped, name};

pub(super) fn section(
    input: &Input,
    pte: &Pte<'_>,
    program: &ProgramSummary,
) -> Result<Markup, Problem> {
    let plans = pte.program().execution_plan().into_iter().flatten();
    let all = usize::try_from(program.method_count).unwrap_or(usize::MAX);
    let more = all.saturating_sub(MAX_METHODS);
    let mut left = Left { rows: MAX_GRAPH_ROWS, pictures: MAX_PICTURES };
    let mut shown = Vec::new();
    for (index, (plan, method)) in (0..).zip(plans.zip(&program.methods)).take(MAX_METHODS) {
        shown.push(show(input, pte, (index, plan), method, &mut left)?);
    }
    Ok(html! {
        section aria-labelledby="methods" {
            h2 #methods { "Methods" }
            @for method in &shown { (method) }
            @if more > 0 { (left_out(more, "methods")) }
        }
    })
}

/// How much the rest of the page may show.
struct Left {
    /// The number of rows of graphs.
    rows: usize,
    /// The number of pictures of memory.
    pictures: usize,
}

/// Draws the arenas of a method.
fn memory(input: &Input, memory: &Memory<'_>, left: &mut Left) -> Result<Markup, Problem> {
    let Some(pictures) = left.pictures.checked_sub(1) else { return Ok(html! {}) };
    let planned = memory.planned();
    let picture = svg::of_method(
        &Method { input, memory, pools: &[], budgets: &[], scratch: 0 },
        MAX_TENSORS,
    )?;
    if picture.is_empty() {
        return Ok(html! {});
    }
    left.pictures = pictures;
    Ok(html! {
        details open {
            summary { "Memory: " (grouped(planned)) " bytes planned" }
            div.scroll { (PreEscaped(picture)) }
        }
    })
}

fn show(
    input: &Input,
    pte: &Pte<'_>,
    (index, plan): (u32, ExecutionPlan<'_>),
    method: &MethodSummary,
    left: &mut Left,
) -> Result<Markup, Problem> {
    let instructions = method.instructions;
    let (memory, graph) = match instructions <= MAX_INSTRUCTIONS {
        true => (
            memory(input, &Memory::of(pte, plan), left)?,
            graph::show(MethodGraph::of(pte, index, plan), &mut left.rows),
        ),
        false => (html! {}, html! {}),
    };
    let calls = calls_by_operator(plan);
    let operators: Vec<_> = (0i32..)
        .zip(plan.operators().into_iter().flatten())
        .take(MAX_ROWS)
        .map(|(nth, operator)| {
            let calls = calls.get(&nth).copied().unwrap_or_default();
            (calls, name(&operator_name(operator)))
        })
        .collect();
    let delegates: Vec<_> = plan
        .delegates()
        .into_iter()
        .flatten()
        .take(MAX_ROWS)
        .map(|delegate| {
            let range = pte.delegate_range(delegate).ok().flatten().unwrap_or_default();
            let bytes = range.end.saturating_sub(range.start);
            (name(delegate.id().unwrap_or_default()), bytes)
        })
        .collect();
    let more = |len: Option<usize>| len.unwrap_or_default().saturating_sub(MAX_ROWS);
    let more_operators = more(plan.operators().map(|all| all.len()));
    let more_delegates = more(plan.delegates().map(|all| all.len()));
    Ok(html! {
        h3 { code { (method.name.as_ref().map_or("(no name)".into(), name)) } }
        p.dim { (count(method.instructions, "instruction")) " · " (count(method.values, "value")) }
        dl {
            dt { "inputs" } dd { (values(&method.inputs, method.input_count)) }
            dt { "outputs" } dd { (values(&method.outputs, method.output_count)) }
            @if !method.arenas.is_empty() {
                dt { "arenas" }
                dd {
                    @for (nth, arena) in method.arenas.iter().take(MAX_VALUES).enumerate() {
                        @if nth > 0 { ", " }
                        @match u64::try_from(*arena) {
                            Ok(bytes) => { (grouped(bytes)) }
                            Err(_) => { (arena) }
                        }
                    }
                    " bytes"
                }
            }
            @if !operators.is_empty() {
                dt { "operators" }
                dd {
                    ul.plain {
                        @for (calls, name) in &operators {
                            li { code { (name) } " " span.dim { "× " (grouped(*calls)) } }
                        }
                    }
                    @if more_operators > 0 { (left_out(more_operators, "operators")) }
                }
            }
            @if !delegates.is_empty() {
                dt { "delegates" }
                dd {
                    ul.plain {
                        @for (nth, (id, bytes)) in delegates.iter().enumerate() {
                            li { (nth) " " code { (id) } " " span.dim { (grouped(*bytes)) " bytes" } }
                        }
                    }
                    @if more_delegates > 0 { (left_out(more_delegates, "delegates")) }
                }
            }
        }
        (memory)
        (graph)
    })
}

fn values(values: &[ValueSummary], all: u64) -> Markup {
    let shown = values.iter().take(MAX_VALUES);
    let more = all.saturating_sub(u64::try_from(shown.len()).unwrap_or(u64::MAX));
    html! {
        @if all == 0 { "none" }
        @for (nth, value) in shown.enumerate() {
            @if nth > 0 { ", " }
            code { (text::value(value)) }
        }
        @if more > 0 { ", … " (grouped(more)) " more" }
    }
}

const MAX_METHODS: usize = 50;
/// The maximum number of operators or delegates of a method.
const MAX_ROWS: usize = 100;
/// The maximum number of arenas, inputs or outputs of a method.
const MAX_VALUES: usize = 32;
/// The maximum number of rows of all graphs on a page.
const MAX_GRAPH_ROWS: usize = 500;
/// The maximum number of pictures of memory on a page.
const MAX_PICTURES: usize = 8;
/// The maximum number of tensors in a picture.
const MAX_TENSORS: usize = 300;
/// The maximum number of instructions of a method with a graph or a picture.
const MAX_INSTRUCTIONS: u64 = 100_000;
