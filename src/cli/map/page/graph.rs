//! The graph of a method as rows: one row for each node, and lanes for the values that flow between
//! them.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, PreEscaped, html};
use pte::graph::{DrawOptions, EdgeKind, GraphNode, MethodGraph, NodeId, NodeKind};

use super::left_out;
use crate::text::{count, name, wide};

/// Returns the graph of a method with at most `left` rows, and subtracts the shown rows from
/// `left`. A method with more instructions than the command draws has no graph.
pub(super) fn show(graph: MethodGraph<'_>, left: &mut usize) -> Markup {
    let instructions = graph.instruction_count();
    if instructions == 0 {
        return html! {};
    }
    let summary = format!("Graph: {}", count(wide(instructions), "instruction"));
    if *left == 0 || instructions > MAX_INSTRUCTIONS {
        let what = "too many for this page: pte graph --around and --from draw a part";
        return html! { p.dim { (summary) ", " (what) } };
    }
    let mut shown = DrawOptions::default();
    (shown.folds_constants, shown.folds_order) = (true, true);
    let graph = graph.showing(&shown);
    let rows = Rows::of(&graph);
    let most = rows.nodes.len().min(*left);
    *left = left.saturating_sub(most);
    let widest = rows.lanes.iter().map(|lane| lane.width).max().unwrap_or(1);
    let gutter = rows.brackets.iter().flatten().map(|bracket| bracket.lane.saturating_add(1)).max();
    let gutter = gutter.unwrap_or_default();
    html! {
        details open[instructions <= FEW_INSTRUCTIONS] {
            summary { (summary) }
            p.dim { "A line is a value, from the row that makes it to the rows that use it. Constants are in the calls."
                @if gutter > 0 { " A dashed line is a jump, to the row with its arrow." }
            }
            div.scroll {
                table.s.graph {
                    tbody {
                        @for (nth, (node, lane)) in rows.nodes.iter().zip(&rows.lanes).take(most).enumerate() {
                            tr id=(node.id) {
                                td.lane {
                                    (lane.draw(node.kind, widest, rows.brackets.get(nth), gutter))
                                }
                                td { (rows.text(&graph, nth, node)) }
                            }
                        }
                    }
                }
            }
            @if rows.nodes.len() > most { (left_out(rows.nodes.len().saturating_sub(most), "rows")) }
        }
    }
}

/// The rows of a graph: the inputs, the instructions in file order with the lists and state that
/// they use, and the outputs.
struct Rows<'g> {
    nodes: Vec<GraphNode<'g>>,
    lanes: Vec<Lane>,
    /// For each row, its incoming edges: each value with the node that it comes from.
    sources: Vec<BTreeMap<u32, NodeId>>,
    /// For each row, the values on its outgoing edges.
    results: Vec<BTreeSet<u32>>,
    /// For each row, the node to which the row jumps, if any.
    jumps: Vec<Option<NodeId>>,
    /// For each row, the lines of jumps that are drawn in the row.
    brackets: Vec<Vec<Bracket>>,
}

/// The part of a jump's line that is drawn in one row.
#[derive(Clone, Copy)]
struct Bracket {
    lane: usize,
    goes_up: bool,
    goes_down: bool,
    is_target: bool,
}

impl<'g> Rows<'g> {
    fn of(graph: &'g MethodGraph<'_>) -> Self {
        let mut nodes: Vec<_> = graph.nodes().collect();
        let instruction = |node: &GraphNode<'_>| node.instruction.is_some();
        // The row of a value comes before the first instruction that shares an edge with the value.
        let mut first: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        let is_instruction: BTreeSet<NodeId> =
            nodes.iter().filter(|node| instruction(node)).map(|node| node.id).collect();
        for edge in graph.edges().filter(|edge| edge.kind == EdgeKind::Data) {
            for (value, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
                if !is_instruction.contains(&value) && is_instruction.contains(&other) {
                    let first = first.entry(value).or_insert(other);
                    *first = (*first).min(other);
                }
            }
        }
        nodes.sort_by_key(|node| match node.kind {
            NodeKind::Input => (0, None, false),
            NodeKind::Output | NodeKind::End => (2, None, false),
            _ if instruction(node) => (1, Some(node.id), true),
            _ => (1, first.get(&node.id).copied(), false),
        });
        let row: BTreeMap<NodeId, usize> =
            nodes.iter().enumerate().map(|(nth, node)| (node.id, nth)).collect();
        let mut sources = vec![BTreeMap::new(); nodes.len()];
        let mut results = vec![BTreeSet::new(); nodes.len()];
        let mut jumps = vec![None; nodes.len()];
        for edge in graph.edges() {
            let (Some(&from), Some(&to)) = (row.get(&edge.from), row.get(&edge.to)) else {
                continue;
            };
            match (edge.kind, edge.value) {
                (EdgeKind::Data, Some(value)) => {
                    sources
                        .get_mut(to)
                        .into_iter()
                        .for_each(|all| _ = all.insert(value, edge.from));
                    results.get_mut(from).into_iter().for_each(|all| _ = all.insert(value));
                }
                (EdgeKind::Jump, _) => {
                    jumps.get_mut(from).into_iter().for_each(|jump| *jump = Some(edge.to));
                }
                _ => {}
            }
        }
        let lanes = lanes(&sources, &row);
        let ends = jumps.iter().enumerate();
        let ends = ends.filter_map(|(from, to)| Some((from, row.get(to.as_ref()?).copied()?)));
        let brackets = brackets(ends.collect(), nodes.len());
        Self { nodes, lanes, sources, results, jumps, brackets }
    }

    /// Returns the number of an instruction as text, or the text for the end.
    fn place(&self, id: NodeId) -> String {
        let node = self.nodes.iter().find(|node| node.id == id);
        let number = node.and_then(|node| node.instruction);
        number.map_or("end".into(), |number| number.to_string())
    }

    /// Returns the text of a row.
    fn text(&self, graph: &MethodGraph<'_>, nth: usize, node: &GraphNode<'_>) -> Markup {
        let none = BTreeMap::new();
        let sources = self.sources.get(nth).unwrap_or(&none);
        let link = |value: u32| {
            let from = sources.get(&value)?;
            Some(html! { a href={ "#" (from) } { "v" (value) } })
        };
        let title = |value: u32| name(graph.value_title(value).as_str());
        if node.instruction.is_none() {
            let value = node.value.unwrap_or_default();
            return html! {
                b { (node.kind.as_str()) } " "
                @if node.kind == NodeKind::Output {
                    (link(value).unwrap_or_else(|| html! { "v" (value) }))
                } @else if node.value.is_some() { "v" (value) }
                @if node.value.is_some() { " " code { (title(value)) } }
                @for value in sources.keys().filter(|_| node.kind == NodeKind::List) {
                    " " (link(*value).unwrap_or_default())
                }
            };
        }
        let place = node.instruction.unwrap_or_default();
        let called = match (node.name, node.kind) {
            (Some(called), _) => name(called),
            (None, NodeKind::Jump) => "jump if false".into(),
            (None, kind) => kind.as_str().into(),
        };
        let args = node.args.as_deref().unwrap_or_default();
        let mut shown: Vec<Markup> = Vec::new();
        for (nth, &value) in args.iter().enumerate().take(MAX_ARGUMENTS) {
            let text = node.arguments.as_ref().and_then(|all| all.get(nth)?.as_deref());
            match (text, u32::try_from(value).ok().and_then(link)) {
                (Some(text), _) => shown.push(html! { (name(text)) }),
                (None, Some(link)) => shown.push(link),
                (None, None) => {}
            }
        }
        if args.len() > MAX_ARGUMENTS {
            shown.push(html! { "…" });
        }
        html! {
            span.dim { (place) } " " b { (called) }
            @if let Some(text) = &node.text { " " span.dim { (name(text.as_str())) } }
            @if !shown.is_empty() {
                " ("
                @for (nth, argument) in shown.iter().enumerate() {
                    @if nth > 0 { ", " } (argument)
                }
                ")"
            }
            @if let Some(Some(to)) = self.jumps.get(nth) { " → " a href={ "#" (to) } { (self.place(*to)) } }
            @for value in self.results.get(nth).into_iter().flatten().take(MAX_RESULTS) {
                " → v" (value) " " code { (title(*value)) }
            }
        }
    }
}

/// Gives each jump a lane, and each row that its line crosses a [`Bracket`]. A jump is a pair of
/// rows. The shortest jumps are innermost.
fn brackets(mut jumps: Vec<(usize, usize)>, rows: usize) -> Vec<Vec<Bracket>> {
    let mut brackets: Vec<Vec<Bracket>> = vec![Vec::new(); rows];
    jumps.sort_by_key(|&(from, to)| from.abs_diff(to));
    jumps.truncate(MAX_JUMPS);
    for (from, to) in jumps {
        let (first, last) = (from.min(to), from.max(to));
        let crossed = brackets.get(first..=last).unwrap_or_default();
        let is_free = |lane: usize| crossed.iter().flatten().all(|bracket| bracket.lane != lane);
        let Some(lane) = (0..MAX_JUMP_LANES).find(|&lane| is_free(lane)) else { continue };
        for (nth, row) in brackets.iter_mut().enumerate().take(last.saturating_add(1)).skip(first) {
            let (goes_up, goes_down) = (nth > first, nth < last);
            row.push(Bracket { lane, goes_up, goes_down, is_target: nth == to });
        }
    }
    brackets
}

/// The lanes in a row.
#[derive(Default)]
struct Lane {
    /// The lane of the row's node.
    node: Option<usize>,
    /// Whether the lane of the row's node continues below.
    has_users: bool,
    /// The lanes of the values that the row's node uses.
    incoming: Vec<usize>,
    /// The lanes of values that pass or end in the row, each with whether it continues below.
    around: Vec<(usize, bool)>,
    width: usize,
}

/// Gives a lane to each value that a later row uses, and returns the lanes of each row.
fn lanes(sources: &[BTreeMap<u32, NodeId>], row: &BTreeMap<NodeId, usize>) -> Vec<Lane> {
    let mut last_use = vec![0usize; sources.len()];
    let above = |nth: usize| {
        let all = sources.get(nth).into_iter().flat_map(BTreeMap::values);
        let mut all: Vec<usize> = all.filter_map(|from| row.get(from).copied()).collect();
        all.retain(|&from| from < nth);
        all.sort_unstable();
        all.dedup();
        all
    };
    for nth in 0..sources.len() {
        for from in above(nth) {
            last_use.get_mut(from).into_iter().for_each(|last| *last = nth.max(*last));
        }
    }
    // For each lane, the row whose value is in the lane.
    let mut lanes: Vec<Option<usize>> = Vec::new();
    let mut rows = Vec::new();
    for nth in 0..sources.len() {
        let uses = above(nth);
        let mut lane = Lane::default();
        for (at, slot) in lanes.iter_mut().enumerate() {
            let Some(from) = *slot else { continue };
            let goes_on = last_use.get(from).is_some_and(|&last| last > nth);
            if uses.contains(&from) {
                lane.incoming.push(at);
            }
            lane.around.push((at, goes_on));
            if !goes_on {
                *slot = None;
            }
        }
        lane.has_users = last_use.get(nth).is_some_and(|&last| last > nth);
        // A new value reuses the lane of a value that ends here.
        let ended =
            lane.around.iter().find(|&&(at, goes_on)| !goes_on && lane.incoming.contains(&at));
        let free = ended.map(|&(at, _)| at).or_else(|| lanes.iter().position(Option::is_none));
        let at = free.unwrap_or(lanes.len());
        if at < MAX_LANES {
            if at == lanes.len() {
                lanes.push(None);
            }
            lane.node = Some(at);
            if let Some(slot) = lanes.get_mut(at).filter(|_| lane.has_users) {
                *slot = Some(nth);
            }
        }
        lane.width = lanes.len();
        rows.push(lane);
    }
    rows
}

impl Lane {
    /// Draws the lines and the node of a row. The jumps are drawn to the right, in `gutter` lanes.
    fn draw(
        &self,
        kind: NodeKind,
        widest: usize,
        brackets: Option<&Vec<Bracket>>,
        gutter: usize,
    ) -> Markup {
        let x = |lane: usize| lane.saturating_mul(STEP).saturating_add(STEP / 2);
        let mut path = String::new();
        for &(lane, goes_on) in &self.around {
            if goes_on {
                path.push_str(&format!("M{0} 0V{ROW}", x(lane)));
            }
        }
        if let Some(node) = self.node.map(x) {
            let middle = ROOM_ABOVE;
            for &lane in &self.incoming {
                let from = x(lane);
                path.push_str(&format!("M{from} 0C{from} {middle} {node} 0 {node} {middle}"));
            }
            if self.has_users {
                path.push_str(&format!("M{node} {middle}V{ROW}"));
            }
        }
        let middle = ROOM_ABOVE;
        let width = widest.saturating_add(gutter).saturating_mul(STEP);
        let (mut jumps, mut arrows) = (String::new(), String::new());
        for &Bracket { lane, goes_up, goes_down, is_target } in brackets.into_iter().flatten() {
            // The innermost lane is next to the text.
            let x = width.saturating_sub(x(lane));
            let top = if goes_up { 0 } else { middle };
            let bottom = if goes_down { ROW } else { middle };
            jumps.push_str(&format!("M{x} {top}V{bottom}"));
            if !(goes_up && goes_down) {
                jumps.push_str(&format!("M{x} {middle}H{width}"));
            }
            if is_target {
                let (left, above) = (width.saturating_sub(4), middle.saturating_sub(3));
                let below = middle.saturating_add(3);
                arrows.push_str(&format!("M{left} {above}L{width} {middle}L{left} {below}"));
            }
        }
        let jumps = match jumps.is_empty() {
            true => String::new(),
            false => format!("<path class=\"j\" d=\"{jumps}\"/><path class=\"a\" d=\"{arrows}\"/>"),
        };
        let class = match kind {
            NodeKind::Delegate => "delegates",
            NodeKind::Jump => "loose",
            NodeKind::Kernel => "tables",
            NodeKind::Input | NodeKind::Output | NodeKind::End => "tensors",
            _ => "padding",
        };
        let dot = self.node.map(|node| {
            format!(
                "<circle class=\"f-{class}\" cx=\"{}\" cy=\"{ROOM_ABOVE}\" r=\"4.5\"/>",
                x(node)
            )
        });
        let svg = format!(
            "<svg width=\"{width}\" height=\"{ROW}\" aria-hidden=\"true\"><path d=\"{path}\"/>{jumps}{}</svg>",
            dot.unwrap_or_default()
        );
        // The SVG needs no escapes, since it has no text of the file.
        PreEscaped(svg)
    }
}

/// The sizes of a row, in pixels.
const ROW: usize = 24;
const ROOM_ABOVE: usize = 12;
const STEP: usize = 13;

/// The maximum number of lanes that are drawn.
const MAX_LANES: usize = 24;
/// The maximum number of lanes of jumps.
const MAX_JUMP_LANES: usize = 8;
/// The maximum number of jumps with a line. All jumps have links.
const MAX_JUMPS: usize = 200;
const MAX_ARGUMENTS: usize = 24;
const MAX_RESULTS: usize = 4;
/// The maximum number of instructions of a method with a graph.
const MAX_INSTRUCTIONS: usize = 5000;
/// The maximum number of instructions of a method whose graph is unfolded.
const FEW_INSTRUCTIONS: usize = 100;
