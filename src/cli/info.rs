//! `pte info`: a summary of a file on one screen.

use core::fmt::{self, Write};
use core::iter;
use std::path::{Path, PathBuf};

use clap::Args;
use pte::quoted::UntrustedString;
use pte::summary::{
    ContentSummary, DataAmount, EntrySummary, GraphSummary, MethodSummary, NamedSummary, PartSizes,
    PayloadSummary, ProfileSummary, ProgramSummary, PtdSummary, RecordSummary, SectionAmount,
    SectionSummary, Summary, SummaryDocument, ValueSummary, WeightSummary,
};
use pte::tensors::datatype_name;

use super::Common;
use super::columns::paragraph;
use super::format::Format;
use super::input::{self, Bytes, Input, Streams};
use super::output::Output;
use super::problem::{BOLD, DIM, NAME, Problem, Status, WARNING};
use super::refusal::Refusals;
use super::text::{self, bar, count, grouped, name, name_of, wide};

/// Summarize files on one screen
///
/// Also says which kernel libraries and backends a runtime must link to load the file. Reads the headers, the
/// FlatBuffer and the graphs of delegates, never the data of a segment.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte info model.pte
  pte info --json model.pte | jq '.files[0].methods[].name'
  pte info model.pte --method get_vocab_size     what a method takes and returns
  cat weights.ptd | pte info -

Exit status: 0 shown, 1 a file is broken or of another kind, 2 usage, 3 not readable")]
pub(super) struct Info {
    /// Files, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only this method, with all of its inputs and outputs. Named data and sizes are those of the whole file.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

impl Info {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        input::once(&self.files)?;
        let out = Output::beside(common.output.as_deref(), self.format.content(), &self.files)?;
        let (mut all, mut refused) = (Vec::new(), Refusals::default());
        let mut status = Status::Good;
        out.finish_with(|out| {
            for (nth, path) in self.files.iter().enumerate() {
                match self.read(path, common) {
                    Ok(found) if self.format.is_json() => all.push(found),
                    Ok(found) => {
                        out.write_str(if nth > 0 { "\n" } else { "" })?;
                        show(&found, out)?;
                    }
                    Err(problem) => status = status.max(refused.report(&problem)),
                }
            }
            match self.format.is_json() {
                true => out.json(&refused.beside(SummaryDocument::new(all))),
                false => Ok(()),
            }
        })?;
        Ok(status)
    }
}

impl Info {
    /// Reads the summary of a model, or of a standalone payload or profile.
    fn read(&self, path: &Path, common: &Common) -> Result<NamedSummary, Problem> {
        let (name, limits) = (name_of(path), common.limits());
        let problem = |error| Problem::open(&name, error);
        let bytes = Bytes::open(path, &name, Streams::ModelsAndTables)?;
        let summary = match Summary::read_other(&bytes, &limits).map_err(problem)? {
            Some(Ok(summary)) => summary,
            Some(Err(why)) => return Err(bytes.invalid(&name, why)),
            None => {
                let input = Input::of(bytes, &name, &limits)?;
                if let Some(method) = &self.method {
                    input.has_method(method)?;
                }
                let only = self.method.as_deref();
                let summary =
                    Summary::read_method(&input.opened, only, &limits).map_err(problem)?;
                match &input.bundle {
                    None => summary,
                    Some(bundle) => summary.bundled(bundle.len, bundle.program.start),
                }
            }
        };
        if self.method.is_some() && !matches!(summary.contents, ContentSummary::Pte(_)) {
            return Err(Problem::no_methods(&name));
        }
        Ok(summary.named(name))
    }
}

/// Shows the summary of a standalone payload.
fn show_payload(
    named: &NamedSummary,
    payload: &PayloadSummary,
    out: &mut dyn Write,
) -> fmt::Result {
    let NamedSummary { path, summary, .. } = named;
    let (bytes, backend) = (grouped(summary.bytes), payload.backend);
    let kind = if summary.kind == "ptn" { "package" } else { "payload" };
    writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}{kind} of {backend} · {bytes} bytes{DIM:#}")?;
    if let Some(graphs) = &payload.graphs {
        show_graphs(graphs, out)?;
        show_outside(graphs, out)?;
    }
    if let Some(sections) = &payload.sections {
        show_sections(sections, out)?;
    }
    let PartSizes { flatbuffer, segments, .. } = summary.parts;
    let rest = if flatbuffer > 0 { "behind the graph" } else { "contents" };
    show_parts(&[("header and graph".into(), flatbuffer), (rest.into(), segments)], summary, out)
}

/// Shows the constants of a standalone payload that are not in it.
fn show_outside(graphs: &GraphSummary, out: &mut dyn Write) -> fmt::Result {
    let outside = graphs.external.unwrap_or_default();
    if outside.count == 0 {
        return Ok(());
    }
    let of_all = match graphs.constants {
        Some(all) if all.count == outside.count => "all constants".into(),
        _ => format!("{}, {}", count(outside.count, "constant"), text::bytes(outside.bytes)),
    };
    label(out, "", &format!("  {DIM}{of_all}: named data outside of this file{DIM:#}"))
}

/// Shows the summary of a profile.
fn show_profile(
    named: &NamedSummary,
    profile: &ProfileSummary,
    out: &mut dyn Write,
) -> fmt::Result {
    let NamedSummary { path, summary, .. } = named;
    let bytes = grouped(summary.bytes);
    writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}ETDump, a profile of runs · {bytes} bytes{DIM:#}")?;
    let facts = [
        count(profile.executions, "execution"),
        format!("{} timed", count(profile.instructions, "instruction")),
        count(profile.values, "recorded value"),
    ];
    label(out, "runs", &facts.join(" · "))?;
    let times = profile.methods.iter().map(|of| {
        let (ticks, of) = (grouped(of.time.total), name(&of.name));
        format!("{ticks} ticks {NAME}{of}{NAME:#}")
    });
    labels(out, "times", times)?;
    label(out, "", &format!("{DIM}`pte profile` shows operators and instructions{DIM:#}"))
}

/// Shows the summary of an ETRecord.
fn show_record(named: &NamedSummary, record: &RecordSummary, out: &mut dyn Write) -> fmt::Result {
    let NamedSummary { path, summary, .. } = named;
    let bytes = grouped(summary.bytes);
    writeln!(
        out,
        "{BOLD}{path}{BOLD:#}  {DIM}ETRecord, a record of an export · {bytes} bytes{DIM:#}"
    )?;
    let methods = record.methods.iter().take(MAX_METHODS);
    labels(out, "methods", methods.map(|method| format!("{NAME}{}{NAME:#}", name(method))))?;
    more(out, record.methods.len(), MAX_METHODS.min(record.methods.len()))?;
    let kind = |of: &SectionAmount| match of.count {
        1 => of.name.to_string(),
        several => format!("{} × {}", grouped(several), of.name),
    };
    let mut rows: Vec<_> = record.members.iter().map(|of| (kind(of), of.bytes)).collect();
    rows.push(("zip directory".into(), summary.parts.padding));
    show_parts(&rows, summary, out)
}

/// Writes the text of a summary.
pub(super) fn show(named: &NamedSummary, out: &mut dyn Write) -> fmt::Result {
    let NamedSummary { path, summary, .. } = named;
    let kind = match &summary.contents {
        ContentSummary::Pte(_) => "program".to_string(),
        ContentSummary::Ptd(data) => format!("named data, generation {}", data.generation),
        ContentSummary::Payload(payload) => return show_payload(named, payload, out),
        ContentSummary::Profile(profile) => return show_profile(named, profile, out),
        ContentSummary::Record(record) => return show_record(named, record, out),
    };
    let bytes = grouped(summary.bytes);
    match &summary.bundle {
        None => writeln!(
            out,
            "{BOLD}{path}{BOLD:#}  {DIM}.{} {kind} · {bytes} bytes{DIM:#}",
            summary.kind,
        )?,
        Some(bundle) => {
            let whole = grouped(bundle.bytes);
            writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}bundled program · {whole} bytes{DIM:#}")?;
            let start = bundle.program_offset;
            label(
                out,
                "program",
                &format!("{bytes} bytes {DIM}at {start:#x} of the bundle{DIM:#}"),
            )?;
        }
    }
    match &summary.contents {
        ContentSummary::Pte(program) => show_program(program, out)?,
        ContentSummary::Ptd(data) => show_data(data, out)?,
        ContentSummary::Payload(_) | ContentSummary::Profile(_) | ContentSummary::Record(_) => {}
    }
    show_file(summary, out)
}

fn show_program(program: &ProgramSummary, out: &mut dyn Write) -> fmt::Result {
    for (nth, method) in program.methods.iter().take(MAX_METHODS).enumerate() {
        let title = if nth == 0 { "methods" } else { "" };
        show_method(title, method, out)?;
    }
    more(out, usize::try_from(program.method_count).unwrap_or(usize::MAX), MAX_METHODS)?;
    if !program.operators.is_empty() {
        let shown = program.operators.iter().take(MAX_OPERATORS);
        let widest = shown.clone().map(|op| grouped(op.calls).len()).max().unwrap_or_default();
        let operators = shown.map(|op| {
            let (calls, name) = (grouped(op.calls), name(&op.name));
            format!("{DIM}{calls:>widest$} ×{DIM:#} {name}")
        });
        labels(out, "operators", operators)?;
        more(out, program.operators.len(), MAX_OPERATORS)?;
    }
    show_link(program, out)?;
    if program.delegate_calls > 0 {
        let kernels = program.operators.iter().map(|op| op.calls).fold(0, u64::saturating_add);
        let delegates = count(program.delegate_calls, "call");
        let kernels = count(kernels, "call");
        label(out, "delegated", &format!("{delegates} of delegates, {kernels} of kernels"))?;
    }
    for (nth, backend) in program.backends.iter().take(MAX_METHODS).enumerate() {
        let title = if nth == 0 { "backends" } else { "" };
        let (delegates, bytes) = (count(backend.delegates, "delegate"), text::bytes(backend.bytes));
        let id = name(&backend.id);
        label(out, title, &format!("{NAME}{id}{NAME:#} {DIM}· {delegates}, {bytes}{DIM:#}"))?;
        if let Some(graphs) = &backend.graphs {
            show_graphs(graphs, out)?;
        }
        if let Some(sections) = &backend.sections {
            show_sections(sections, out)?;
        }
    }
    more(out, program.backends.len(), MAX_METHODS)?;
    let data = [
        ("constants", &program.constants, "tensor"),
        ("mutable", &program.mutable, "tensor"),
        ("named data", &program.named_data, "blob"),
    ];
    for (title, data, noun) in data {
        show_amount(title, data, noun, out)?;
    }
    let keys = program.backends.iter().filter_map(|backend| backend.graphs.as_ref());
    let keys = keys.fold((0u64, 0u64), |(count, bytes), graphs| {
        let DataAmount { count: more, bytes: size, .. } = graphs.external.unwrap_or_default();
        (count.saturating_add(more), bytes.saturating_add(size))
    });
    if program.external.count > 0 || keys.0 > 0 {
        let tensors = (program.external.count, program.external.bytes);
        let all = [(tensors, "tensor"), (keys, "delegate constant")];
        let all = all.into_iter().filter(|((count, _), _)| *count > 0);
        let all = all.map(|((number, bytes), noun)| {
            format!("{}, {}", count(number, noun), text::bytes(bytes))
        });
        let all = all.collect::<Vec<_>>().join(" · ");
        label(out, "external", &format!("{all} {DIM}in a .ptd{DIM:#}"))?;
    }
    show_load_memory(program, out)?;
    if program.stack_traces > 0 {
        let traces = count(program.stack_traces, "stack trace");
        let what = "lines of the exporting program";
        label(out, "traces", &format!("{traces} {DIM}with {what}{DIM:#}"))?;
    }
    Ok(())
}

/// Shows what loading allocates, if that is much.
fn show_load_memory(program: &ProgramSummary, out: &mut dyn Write) -> fmt::Result {
    let memory = &program.load_memory;
    if memory.total < MUCH_MEMORY {
        return Ok(());
    }
    let data = [memory.flatbuffer, memory.constants, memory.named_data, memory.external];
    let parts = [
        ("arenas", memory.arenas),
        ("inputs and outputs", memory.unplanned),
        ("payloads", memory.payloads),
        ("tables and data", data.into_iter().fold(0, u64::saturating_add)),
    ];
    let parts = parts.into_iter().filter(|(_, bytes)| *bytes > 0);
    let parts: Vec<_> =
        parts.map(|(what, bytes)| format!("{} {what}", text::bytes(bytes))).collect();
    let (total, parts) = (text::bytes(memory.total), parts.join(", "));
    label(out, "allocates", &format!("{total} to load all methods {DIM}· {parts}{DIM:#}"))
}

/// Shows what a runtime needs to link, and the operators that no library of upstream has.
fn show_link(program: &ProgramSummary, out: &mut dyn Write) -> fmt::Result {
    let kernels: Vec<_> = program.libraries.iter().map(|library| library.name.into()).collect();
    let backends: Vec<_> =
        program.backends.iter().take(MAX_METHODS).map(|backend| name(&backend.id)).collect();
    let parts = [kernels, backends].into_iter().filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.map(|part| part.join(", ")).collect();
    if !parts.is_empty() {
        label(out, "link", &parts.join("; "))?;
    }
    let unknown = program.unknown_operators.iter().take(MAX_OPERATORS);
    let text =
        |operator| format!("{} {DIM}· no library of ExecuTorch has it{DIM:#}", name(operator));
    labels(out, "unknown", unknown.map(text))?;
    more(out, program.unknown_operators.len(), MAX_OPERATORS)
}

/// Shows the operators and datatypes in the graphs of one backend.
fn show_graphs(graphs: &GraphSummary, out: &mut dyn Write) -> fmt::Result {
    let list = |items: Vec<String>, all: usize| match all.saturating_sub(items.len()) {
        0 => items.join(", "),
        more => format!("{}, … {} more", items.join(", "), grouped(wide(more))),
    };
    let shown = graphs.operators.iter().take(MAX_NODES);
    let shown = shown.map(|of| format!("{} × {}", grouped(of.calls), name(&of.name)));
    let operators = list(shown.collect(), graphs.operators.len());
    let nodes = count(graphs.nodes, "node");
    let between = if operators.is_empty() { "" } else { ": " };
    label(out, "", &format!("  {nodes}{DIM}{between}{operators}{DIM:#}"))?;
    let all = graphs.datatypes.as_deref().unwrap_or_default();
    let shown = all.iter().take(MAX_NODES).map(|of| {
        let datatype = of.datatype.map_or("unknown", datatype_name);
        let quantization = of.quantization.map_or(String::new(), |of| format!(" {of}"));
        format!("{} × {datatype}{quantization}", grouped(of.values))
    });
    let datatypes = list(shown.collect(), all.len());
    if !datatypes.is_empty() {
        let constants = graphs.constants.map_or(String::new(), |constants| {
            let (number, bytes) = (constants.count, text::bytes(constants.bytes));
            format!("; {}, {bytes}", count(number, "constant"))
        });
        label(out, "", &format!("  {DIM}values: {datatypes}{constants}{DIM:#}"))?;
    }
    show_weights(graphs.weights.as_deref().unwrap_or_default(), out)?;
    match graphs.unreadable {
        0 => Ok(()),
        unreadable => label(out, "", &format!("  {}", count(unreadable, "unreadable payload"))),
    }
}

/// Shows which weights in the graphs of one backend are quantized, and how.
fn show_weights(weights: &[WeightSummary], out: &mut dyn Write) -> fmt::Result {
    let describe = |of: &WeightSummary| {
        let how = match of.quantization {
            None => String::new(),
            Some("PerTensorQuant") => " per tensor".into(),
            Some("PerChannelQuant") => " per channel".into(),
            Some("PerChannelGroupQuant") => format!(" per group of {}", of.group_size.unwrap_or(0)),
            Some(other) => format!(" {other}"),
        };
        let datatype = of.datatype.map_or("unknown", datatype_name);
        format!("{} × {datatype}{how}, {}", grouped(of.count), text::bytes(of.bytes))
    };
    let (quantized, others): (Vec<_>, Vec<_>) =
        weights.iter().partition(|of| of.quantization.is_some());
    if weights.is_empty() {
        return Ok(());
    }
    let list = |some: &[&WeightSummary]| {
        some.iter().take(MAX_NODES).map(|&of| describe(of)).collect::<Vec<_>>().join(", ")
    };
    let text = match (quantized.as_slice(), others.as_slice()) {
        ([], some) => format!("not quantized: {}", list(some)),
        (some, []) => format!("all quantized: {}", list(some)),
        (some, rest) => format!("{}; not quantized: {}", list(some), list(rest)),
    };
    label(out, "", &format!("  {DIM}weights: {text}{DIM:#}"))
}

/// Shows the contents of the headers of one backend's payloads.
fn show_sections(summary: &SectionSummary, out: &mut dyn Write) -> fmt::Result {
    let list = |texts: &[UntrustedString]| texts.iter().map(name).collect::<Vec<_>>().join(", ");
    let mut facts = Vec::new();
    if !summary.versions.is_empty() {
        facts.push(format!("version {}", list(&summary.versions)));
    }
    if !summary.targets.is_empty() {
        facts.push(format!("for {}", list(&summary.targets)));
    }
    facts.extend(summary.sections.iter().map(section_amount));
    facts.extend(summary.scratch.map(|scratch| format!("scratch of {}", text::bytes(scratch))));
    facts.extend(summary.scratch_peak.map(|peak| format!("used up to {}", text::bytes(peak))));
    let macs = summary.macs_estimate.map(grouped);
    facts.extend(macs.map(|macs| format!("about {macs} multiplications")));
    if !facts.is_empty() {
        label(out, "", &format!("  {DIM}{}{DIM:#}", facts.join(" · ")))?;
    }
    match summary.unreadable {
        0 => Ok(()),
        unreadable => label(out, "", &format!("  {}", count(unreadable, "unreadable payload"))),
    }
}

/// Describes the sections of one name.
fn section_amount(of: &SectionAmount) -> String {
    let bytes = text::bytes(of.bytes);
    let amount = match (of.count, of.external) {
        (1, 0) => format!("{} {bytes}", of.name),
        (1, _) => of.name.into(),
        (several, _) => format!("{}, {bytes}", count(several, of.name)),
    };
    let outside = match of.external {
        0 => String::new(),
        all if all == of.count => ", not in this file".into(),
        some => format!(", {} of them not in this file", grouped(some)),
    };
    match of.keys.as_slice() {
        [] => amount,
        [key] => format!("{amount} (named data {}{outside})", name(key)),
        [key, ..] => format!("{amount} (named data {}, …{outside})", name(key)),
    }
}

fn show_method(title: &str, method: &MethodSummary, out: &mut dyn Write) -> fmt::Result {
    let values = |values: &[ValueSummary], count: u64| {
        let shown = values.iter().take(MAX_VALUES).map(text::value);
        let mut shown: Vec<_> = shown.collect();
        if count > wide(shown.len()) {
            shown.push(format!("… {} more", grouped(count.saturating_sub(wide(shown.len())))));
        }
        shown.join(", ")
    };
    let method_name = method.name.as_ref().map_or("(no name)".into(), name);
    let (inputs, outputs) =
        (values(&method.inputs, method.input_count), values(&method.outputs, method.output_count));
    label(out, title, &format!("{NAME}{method_name}{NAME:#}({inputs}) → {outputs}"))?;
    let mut facts = vec![count(method.instructions, "instruction"), count(method.values, "value")];
    if method.delegates > 0 {
        facts.push(count(method.delegates, "delegate"));
    }
    let arenas: Vec<_> = method.arenas.iter().take(MAX_VALUES).map(|&size| arena(size)).collect();
    if method.shadowed {
        facts.push("never runs: an earlier method has its name".into());
    }
    match arenas.as_slice() {
        [] => {}
        [one] => facts.push(format!("arena of {one}")),
        several => facts.push(format!("arenas of {}", several.join(", "))),
    }
    label(out, "", &format!("  {DIM}{}{DIM:#}", facts.join(" · ")))
}

fn arena(size: i64) -> String {
    u64::try_from(size).map_or_else(|_| format!("{size} B"), text::bytes)
}

fn show_amount(title: &str, data: &DataAmount, noun: &str, out: &mut dyn Write) -> fmt::Result {
    if data.count == 0 {
        return Ok(());
    }
    label(out, title, &format!("{}, {}", count(data.count, noun), text::bytes(data.bytes)))
}

fn show_data(data: &PtdSummary, out: &mut dyn Write) -> fmt::Result {
    let mut parts = vec![count(data.tensors, "tensor")];
    if data.blobs > 0 {
        parts.push(count(data.blobs, "blob"));
    }
    label(out, "entries", &parts.join(", "))?;
    let dtypes = data.dtypes.iter().map(|dtype| {
        let (tensors, bytes) = (count(dtype.tensors, "tensor"), text::bytes(dtype.bytes));
        format!("{} {DIM}· {tensors}, {bytes}{DIM:#}", text::dtype(dtype.dtype))
    });
    labels(out, "dtypes", dtypes)?;
    let total =
        wide(usize::try_from(data.tensors.saturating_add(data.blobs)).unwrap_or(usize::MAX));
    let widest = data.largest.iter().map(|row| key(row).chars().count()).max();
    let widest = widest.unwrap_or_default().min(MAX_KEY_WIDTH);
    let all = total == wide(data.largest.len());
    let rows = data.largest.iter().map(|row| {
        let shape = row.dtype.map(|dtype| text::shape(dtype, row.sizes.iter().copied()));
        let (key, bytes) = (key(row), text::bytes(row.bytes));
        let shape = shape.as_deref().unwrap_or("blob");
        format!("{NAME}{key:<widest$}{NAME:#}  {bytes:>8}  {DIM}{shape}{DIM:#}")
    });
    labels(out, if all { "contents" } else { "largest" }, rows)
}

fn key(row: &EntrySummary) -> String {
    match &row.key {
        Some(key) if key.raw().is_empty() => "\"\"".into(),
        Some(key) => name(key),
        None => "(no key)".into(),
    }
}

fn show_file(summary: &Summary, out: &mut dyn Write) -> fmt::Result {
    let header = match &summary.header {
        None => "none".to_string(),
        Some(header) => {
            let base = match header.segment_base_offset {
                0 => "no segments".to_string(),
                base => format!("segments from {base:#x}"),
            };
            format!("{} bytes, {base}", header.length)
        }
    };
    label(out, "header", &header)?;
    let parts = &summary.parts;
    let segments = match &summary.contents {
        ContentSummary::Pte(program) => program.segments,
        ContentSummary::Ptd(data) => data.segments,
        ContentSummary::Payload(_) | ContentSummary::Profile(_) | ContentSummary::Record(_) => 0,
    };
    let rows = [
        ("FlatBuffers part".to_string(), parts.flatbuffer),
        ("gap before segments".to_string(), parts.padding),
        (count(segments, "segment"), parts.segments),
        ("after the last segment".to_string(), parts.trailing),
    ];
    show_parts(&rows, summary, out)?;
    let findings = summary.findings.iter();
    let text =
        |(rule, times): (&_, &u64)| format!("{WARNING}{rule}{WARNING:#} ×{}", grouped(*times));
    labels(out, "findings", findings.map(text))
}

fn show_parts(rows: &[(String, u64)], summary: &Summary, out: &mut dyn Write) -> fmt::Result {
    let rows = rows.iter().filter(|(_, bytes)| *bytes > 0).map(|(what, bytes)| {
        let bar = bar(*bytes, summary.bytes);
        format!("{bar} {:>8}  {DIM}{what}{DIM:#}", text::bytes(*bytes))
    });
    labels(out, "size", rows)
}

/// Writes a label on the first of several lines.
fn labels(out: &mut dyn Write, title: &str, texts: impl Iterator<Item = String>) -> fmt::Result {
    let titles = iter::once(title).chain(iter::repeat(""));
    titles.zip(texts).try_for_each(|(title, text)| label(out, title, &text))
}

fn label(out: &mut dyn Write, title: &str, text: &str) -> fmt::Result {
    let inner = text.trim_start_matches(' ');
    let indent = text.len().saturating_sub(inner.len());
    let inner = paragraph(inner, indent.saturating_add(14));
    writeln!(out, "  {DIM}{title:<11}{DIM:#} {:indent$}{inner}", "")
}

fn more(out: &mut dyn Write, all: usize, shown: usize) -> fmt::Result {
    match all.checked_sub(shown) {
        None | Some(0) => Ok(()),
        Some(rest) => {
            label(out, "", &format!("{DIM}… and {} more (--json){DIM:#}", grouped(wide(rest))))
        }
    }
}

/// The least number of bytes that loading allocates in a summary's text.
const MUCH_MEMORY: u64 = 1 << 20;
const MAX_KEY_WIDTH: usize = 44;
const MAX_METHODS: usize = 16;
const MAX_OPERATORS: usize = 20;
const MAX_VALUES: usize = 8;
/// The maximum number of operators and datatypes that are shown of one backend's graphs.
const MAX_NODES: usize = 4;
