//! What a firmware needs, and whether a program fits a board, as text for people.

use pte::firmware::{
    Advice, AlignmentReason, Board, Fit, MethodRequirements, RegionFit, Use, UseKind,
};
use pte::quoted::UntrustedString;
use pte::summary::ValueSummary;

use super::source::Source;
use crate::problem::{BOLD, DIM, ERROR, NAME};
use crate::text::{self, count, grouped, name};

/// Returns the text of all facts.
pub(super) fn text(
    path: &UntrustedString,
    source: &Source<'_>,
    fit: Option<(&Board, &Fit<'_>)>,
) -> String {
    let needs = source.needs;
    let reason = match needs.alignment.reason {
        _ if source.alignment > needs.alignment.bytes => "as asked for",
        AlignmentReason::Segments => "as its segments",
        AlignmentReason::Tables => "as data in its tables",
        _ => "as runtimes ask for",
    };
    let (bytes, alignment) = (grouped(needs.bytes), source.alignment);
    let mut lines = vec![
        format!(
            "{BOLD}{path}{BOLD:#}  {bytes} bytes, aligned to {alignment} {DIM}({reason}){DIM:#}"
        ),
        format!("  {DIM}sha256{DIM:#} {}", source.sha256),
    ];
    if needs.external > 0 {
        lines.push(format!("  and {} bytes of constants in a .ptd", grouped(needs.external)));
    }
    for method in &needs.methods {
        add_method(method, &mut lines);
    }
    let usage = &needs.usage.total;
    if !usage.operators.is_empty() {
        lines.push("  operators to register".into());
    }
    for (operator, of) in &usage.operators {
        let dtypes: Vec<_> = of.dtypes.iter().map(|&dtype| text::dtype(dtype)).collect();
        lines.push(format!("    {}  {DIM}{}{DIM:#}", name(operator), dtypes.join(", ")));
    }
    if !usage.backends.is_empty() {
        lines.push("  backends to register".into());
    }
    lines.extend(usage.backends.keys().map(|id| format!("    {}", name(id))));
    if let Some((board, fit)) = fit {
        add_fit(board, fit, &mut lines);
    }
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn add_method(method: &MethodRequirements, lines: &mut Vec<String>) {
    let summary = &method.summary;
    let title = if method.name().is_empty() { "(no name)".into() } else { name(method.name()) };
    lines.push(format!("  {NAME}{title}{NAME:#}"));
    let arenas = method.arenas.iter();
    let mut rows: Vec<_> =
        arenas.map(|arena| (grouped(arena.bytes), format!("arena {}", arena.id))).collect();
    for (kind, values) in [("input", &summary.inputs), ("output", &summary.outputs)] {
        rows.extend(values.iter().enumerate().map(|(nth, value)| {
            let bytes = MethodRequirements::bytes_of(value).map_or("–".into(), grouped);
            (bytes, format!("{kind} {nth}  {DIM}{}{DIM:#}", shown(value)))
        }));
    }
    if method.unplanned > 0 {
        rows.push((grouped(method.unplanned), "of inputs and outputs are in no arena".into()));
    }
    rows.push((grouped(method.method_allocator), "method allocator".into()));
    rows.push((grouped(method.temporary_allocator), "temporary allocator".into()));
    let hidden = summary
        .input_count
        .saturating_add(summary.output_count)
        .saturating_sub(text::wide(summary.inputs.len().saturating_add(summary.outputs.len())));
    if hidden > 0 {
        rows.push(("…".into(), format!("and {} more", count(hidden, "value"))));
    }
    let widest = rows.iter().map(|(bytes, _)| bytes.chars().count()).max().unwrap_or_default();
    lines.extend(rows.into_iter().map(|(bytes, what)| format!("    {bytes:>widest$}  {what}")));
}

fn shown(value: &ValueSummary) -> String {
    text::value(value)
}

/// Adds the comparison with a board.
fn add_fit(board: &Board, fit: &Fit<'_>, lines: &mut Vec<String>) {
    let verdict = match fit.fits() {
        true => "fits".into(),
        false => format!("{ERROR}does not fit{ERROR:#}"),
    };
    lines.push(format!("{BOLD}{}{BOLD:#}  {verdict}", name(&board.name)));
    for region in &fit.regions {
        lines.push(format!("  {}", room(region)));
        let reserved = (region.reserved > 0).then(|| (region.reserved, "reserved".into()));
        let parts = region.uses.iter().map(|part| (part.bytes, meaning(part)));
        let rows: Vec<_> = reserved.into_iter().chain(parts).collect();
        let width = rows.iter().map(|(bytes, _)| grouped(*bytes).len()).max().unwrap_or_default();
        lines
            .extend(rows.into_iter().map(|(bytes, what)| {
                format!("    {:>width$}  {DIM}{what}{DIM:#}", grouped(bytes))
            }));
    }
    lines.extend(lacks(fit).map(|line| format!("  {line}")));
    lines.extend(fit.advice.iter().map(|advice| format!("  {DIM}help:{DIM:#} {}", help(advice))));
}

/// Returns why a program does not fit, one reason a line, and what would help.
pub(super) fn problems(board: &Board, fit: &Fit<'_>) -> Vec<String> {
    let over = fit.regions.iter().filter(|region| region.over > 0).map(room);
    let helps = fit.advice.iter().map(|advice| format!("help: {}", help(advice)));
    let lines =
        over.chain(lacks(fit)).map(|line| format!("does not fit {}: {line}", name(&board.name)));
    lines.chain(helps).collect()
}

/// Returns the room that a program has in a region.
fn room(region: &RegionFit<'_>) -> String {
    let total = region.needed.saturating_add(region.reserved);
    let room = match region.over {
        0 => format!("{} free", grouped(region.free())),
        over => format!("{} too many", grouped(over)),
    };
    format!("{}: {} of {} bytes, {room}", name(region.name), grouped(total), grouped(region.bytes))
}

/// Returns what a firmware lacks.
fn lacks(fit: &Fit<'_>) -> impl Iterator<Item = String> {
    let operators = fit.operators.iter().map(|operator| {
        let link = match operator.library {
            Some(library) => format!("link {library}"),
            None => "no kernel library of ExecuTorch has it".into(),
        };
        format!("no operator {}: {link}", name(operator.name))
    });
    let dtypes = fit.dtypes.iter().map(|operator| {
        let dtypes: Vec<_> = operator.dtypes.iter().map(|&dtype| text::dtype(dtype)).collect();
        format!("no kernel of {} for {}", name(operator.name), dtypes.join(", "))
    });
    let backends = fit.backends.iter().map(|id| format!("no backend {}", name(*id)));
    operators.chain(dtypes).chain(backends)
}

fn meaning(part: &Use<'_>) -> String {
    match part.kind {
        UseKind::Program => "the file".into(),
        UseKind::External => "constants in a .ptd".into(),
        UseKind::Arena { method, id } => format!("arena {id} of {method}"),
        UseKind::Unplanned { method } => format!("inputs and outputs of {method} in no arena"),
        UseKind::MethodAllocator { method } => format!("method allocator of {method}"),
        UseKind::TemporaryAllocator { method } => format!("temporary allocator of {method}"),
        _ => "other memory".into(),
    }
}

fn help(advice: &Advice<'_>) -> String {
    match *advice {
        Advice::Externalize { bytes, fits } => {
            let enough = if fits { "the rest fits" } else { "the rest is too large too" };
            format!(
                "{} bytes are constants, payloads and named data, which `pte edit --externalize` moves to a .ptd for \
                 other memory: {enough}",
                grouped(bytes)
            )
        }
        Advice::Move { method, id, bytes, region, free } => format!(
            "arena {id} of {method}, {} bytes, would fit into {}, which has {} free: set its memory_ids",
            grouped(bytes),
            name(region),
            grouped(free)
        ),
        Advice::LoadOne { region, needed } => format!(
            "one method at a time needs {} bytes of {}: load them one after the other (loads = \"one\")",
            grouped(needed),
            name(region)
        ),
        Advice::Replan { method, id, peak, bytes } => format!(
            "at most {} of the {} bytes of arena {id} of {method} are live at once: another memory plan may fit \
             (see `pte memory`)",
            grouped(peak),
            grouped(bytes)
        ),
        Advice::Shrink { region, over } => {
            format!("export a smaller model: {} bytes less in {}", grouped(over), name(region))
        }
        _ => String::new(),
    }
}
