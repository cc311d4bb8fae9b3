//! `pte ops`: the operators and backends that programs call.

use core::fmt::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::check::NEWEST;
use pte::operators::Library;
use pte::operators::selected::SelectedOperators;
use pte::operators::usage::{NodeEntry, Usage, UsageReport};
use pte::tensors::datatype_name;
use pte::{File, Limits};

use super::Common;
use super::format::{Format, Formats};
use super::input::{self, Input, Readable};
use super::kernels::KernelList;
use super::output::Output;
use super::problem::{BOLD, DIM, NAME, Problem, Status};
use super::refusal::Refusals;
use super::text::{self, count as counted, grouped, name, wide};

/// List operators and backends, and which kernel library to link for each
///
/// By method and over all files. Operators are listed by their names in the file, known or not. YAML is
/// the `selected_operators.yaml` of ExecuTorch's selective build, as its gen_oplist writes it: give it
/// as EXECUTORCH_SELECT_OPS_YAML, or merge several with gen_all_oplist.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte ops model.pte
  pte ops --format yaml a.pte b.pte -o selected_operators.yaml
  pte ops model.pte --against portable,prim    operators that these kernel libraries lack
  pte ops model.pte --against selected_operators.yaml    operators that a build lacks
  pte ops model.pte --method forward
  pte ops --json model.pte | jq -r '.operators[].name'

JSON, \"schema\": \"pte.ops/1\":
  files      path, method_count, methods (the first 1,024): name, operators, backends
  operators  of all files: name, library (to link: prim, portable, optimized,
             quantized, llm, cortex_m, cadence; null if none of ExecuTorch's has it), calls, dtypes, kernels (a key for each different call, such as
             v1/6;0,1|6;0: dtype and dim order of each tensor)
  backends   of all files: id, delegates, calls
  missing    with --against: the operators that are not in LIST, null without it; missing_dtypes:
             name and dtypes of those whose kernels in LIST are for other dtypes only

Exit status: 0 listed, 1 a file is broken or of another kind, or an operator is missing, 2 usage,
3 not readable")]
pub(super) struct Ops {
    /// Programs, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show only the operators that these lack: kernel libraries (portable,prim) or a package (wheel,
    /// android, ios) with commas between, or files: a selected_operators.yaml, or one name on each line.
    #[arg(long, value_name = "LIST")]
    against: Option<KernelList>,
    /// Only this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    #[command(flatten)]
    pub(super) format: Format<OpsFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OpsFormat {
    Text,
    Json,
    Yaml,
}

impl Formats for OpsFormat {
    const JSON: Self = Self::Json;
}

impl Ops {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let format = self.format.chosen();
        let against = self.against.iter().flat_map(|list| list.files(NEWEST));
        let inputs: Vec<_> = self.files.iter().chain(against).cloned().collect();
        input::once(&inputs)?;
        if format == OpsFormat::Yaml && self.against.is_some() {
            let message = "--format yaml and --against cannot be combined";
            return Err(Problem::Usage(message.into()));
        }
        let out =
            Output::beside(common.output.as_deref(), self.format.content(), &inputs)?.with_answer();
        let list = self.against.as_ref().map(|list| list.read(NEWEST)).transpose()?;
        let report = self.method.as_ref().map(UsageReport::of_method);
        let (mut report, mut refused) = (report.unwrap_or_default(), Refusals::default());
        let mut status = Status::Good;
        for path in &self.files {
            if let Err(problem) = read(path, common, &mut report) {
                status = status.max(refused.report(&problem));
            }
        }
        // Without the operators of a broken file, the list would be incomplete.
        if format == OpsFormat::Yaml && status != Status::Good {
            return Ok(status);
        }
        let lacks = |list: &SelectedOperators| {
            !report.missing_from(list).is_empty() || !report.missing_dtypes(list).is_empty()
        };
        if list.as_ref().is_some_and(lacks) {
            status = status.max(Status::BadNews);
        }
        out.finish_with(|out| match (format, &list) {
            (OpsFormat::Json, list) => out.json(&refused.beside(report.document(list.as_ref()))),
            (OpsFormat::Yaml, _) => Ok(report.write_yaml(out)?),
            (OpsFormat::Text, Some(list)) => Ok(show_missing(&report, list, out)?),
            (OpsFormat::Text, None) => Ok(show(&report, out)?),
        })?;
        Ok(status)
    }
}

fn read(path: &Path, common: &Common, report: &mut UsageReport) -> Result<(), Problem> {
    let limits = common.limits();
    add(&Input::open(path, &limits)?, &limits, report)
}

/// Adds the operators of a program to a report.
pub(super) fn add(input: &Input, limits: &Limits, report: &mut UsageReport) -> Result<(), Problem> {
    match input.opened.file() {
        File::Pte(pte) => {
            if let Some(method) = &report.method {
                input.has_method(method)?;
            }
            report.add(&input.name, &pte);
            let read = report.add_nodes(&input.opened, limits);
            read.map_err(|error| Problem::open(&input.name, error))
        }
        File::Ptd(_) => Err(input.absent("this is a .ptd, which has no operators".into())),
    }
}

/// Shows the operators that a list lacks, then those for which the list lacks kernels of some
/// dtypes.
fn show_missing(report: &UsageReport, list: &SelectedOperators, out: &mut Output) -> fmt::Result {
    report.missing_from(list).iter().try_for_each(|name| writeln!(out, "{name}"))?;
    report.missing_dtypes(list).into_iter().try_for_each(|(name, dtypes)| {
        let dtypes: Vec<_> = dtypes.into_iter().map(text::dtype).collect();
        writeln!(out, "{name}  {DIM}for{DIM:#} {}", dtypes.join(", "))
    })
}

fn show(report: &UsageReport, out: &mut Output) -> fmt::Result {
    let mut parts = 0u64;
    for program in &report.programs {
        writeln!(out, "{BOLD}{}{BOLD:#}", program.path)?;
        for method in &program.methods {
            let name = method.name.as_ref().map_or("(no name)".into(), name);
            writeln!(out, "  {NAME}{name}{NAME:#}")?;
            show_usage(&method.usage, out)?;
        }
        match program.method_count.saturating_sub(wide(program.methods.len())) {
            0 => {}
            rest => writeln!(out, "  {DIM}… and {} more{DIM:#}", counted(rest, "method"))?,
        }
        parts = parts.saturating_add(program.method_count);
    }
    if parts > 1 {
        writeln!(out, "{BOLD}in sum{BOLD:#}")?;
        show_usage(&report.total, out)?;
    }
    show_nodes(&report.nodes(), out)
}

/// Shows the nodes in payloads, grouped by backend.
fn show_nodes(nodes: &[NodeEntry<'_>], out: &mut Output) -> fmt::Result {
    let rows: Vec<_> = nodes
        .iter()
        .map(|node| {
            let datatypes = node.datatypes.iter().copied().map(datatype_name);
            (node.nodes, name(node.operator), datatypes.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let mut backend = None;
    for (node, row) in nodes.iter().zip(lines(&rows)) {
        if backend.replace(node.backend) != Some(node.backend) {
            writeln!(out, "{BOLD}in delegates of {}{BOLD:#}", name(node.backend))?;
        }
        out.write_str(&row)?;
    }
    Ok(())
}

fn show_usage(usage: &Usage, out: &mut Output) -> fmt::Result {
    if usage.operators.is_empty() && usage.backends.is_empty() {
        writeln!(out, "    {DIM}no operators{DIM:#}")?;
    }
    let mut rows: Vec<_> = usage
        .operators
        .iter()
        .map(|(id, of)| {
            let dtypes: Vec<_> = of.dtypes.iter().map(|&dtype| text::dtype(dtype)).collect();
            let library = Library::to_link(id.raw(), NEWEST).map_or("unknown", |of| of.name);
            (of.calls, name(id), format!("{library:<9}  {}", dtypes.join(", ")))
        })
        .collect();
    let backends = usage
        .backends
        .iter()
        .map(|(id, of)| (of.calls, name(id), counted(of.delegates, "delegate")));
    rows.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2))));
    rows.extend(backends);
    lines(&rows).try_for_each(|row| out.write_str(&row))
}

/// Returns a line for each count, with its name and with what is said about it.
fn lines(rows: &[(u64, String, String)]) -> impl Iterator<Item = String> {
    let widest = rows.iter().map(|row| grouped(row.0).len()).max().unwrap_or_default();
    let names = rows.iter().map(|row| row.1.chars().count()).max().unwrap_or_default();
    let names = names.min(MAX_NAME_WIDTH);
    rows.iter().map(move |(count, name, what)| {
        let count = grouped(*count);
        let row = format!("    {DIM}{count:>widest$} ×{DIM:#} {name:<names$}  {DIM}{what}");
        format!("{}{DIM:#}\n", row.trim_end())
    })
}

const MAX_NAME_WIDTH: usize = 56;
