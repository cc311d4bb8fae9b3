//! `pte memory`: the memory plans of methods, live ranges, and the tensors of each peak.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pte::File;
use pte::memory::{Budget, DocumentWriter, Memory as Planned};
use pte::payload::Scratch;
use pte::quoted::{Untrusted, UntrustedString};

use self::method::Method;
use super::Common;
use super::config::ConfigArguments;
use super::input::{self, Input, Readable};
use super::output::{Content, Output, formatted};
use super::problem::{Problem, Status, bad_news};
use super::refusal;
use super::size::Bytes;
use super::text::{grouped, name};

mod chart;
mod lines;
pub(super) mod method;
mod show;
pub(super) mod svg;

/// Show memory plans, live ranges, and the tensors of each peak
///
/// For each arena: planned bytes, how far tensors reach into it, the most that is live at once and
/// the instruction of the peak, with the tensors that are live there. A tensor is live from the
/// instruction that defines it to the last that uses it; inputs from the start, outputs to the end,
/// state throughout. Instructions count in the order of the file: a tensor that a loop carries is live
/// in the whole loop, and one that a branch writes for after the join counts in the other branch
/// too. So with jumps a peak may be too high and is never too low. Dynamic sizes count at their upper
/// bounds. Not counted: the runtime's structures (its method allocator), what backends allocate, and
/// scratch memory of kernels. Constants and payloads of delegates are shown as sums: the loader
/// decides whether they take memory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte memory model.pte
  pte memory model.pte --method forward --svg -o memory.svg
  pte memory model.pte --budget 1=512KiB --budget 2=8MB     exit status 1 if an arena is larger
  pte memory model.pte --budget 1MB                         or all arenas of a method together
  pte memory --json model.pte | jq '.methods[].arenas[] | [.id, .planned, .peak]'

The picture has time across and bytes up. Letters are the tensors of the list below it, \u{2591} are
others, ^ is the peak. The line below it has the bytes that are live at each time, relative to the
peak. The picture is as wide as the terminal, from 40 to 240 columns (COLUMNS, else 80).

JSON, \"schema\": \"pte.memory/1\":
  path, kind    of the file; a .ptd has no methods
  named_data    bytes that delegates ask for by key
  method_count  of those that were asked for; methods has the first 1,024
  methods    name, instructions, planned (bytes of all arenas), over (the budget), arenas, unplanned
             (tensors without a place: value, dtype, sizes, bytes, end: whether it is an input or
             an output, unbounded), outside (bytes: constants, external, payloads, scratch)
  arenas     id, device (kind, index), planned (null: it is not declared), reach (the end of the
             last tensor), peak (most bytes live at once), peak_at (chain, instruction, does: name
             of the operator), slack (planned - reach; null: tensors reach past what is planned, or
             nothing is), fragmentation (reach - peak), gaps (bytes of the reach that no tensor
             ever has), over (the budget), tensors. Sums saturate at 2^64-1
  tensors    value, name, dtype, sizes, bytes, offset, role: scratch, input, output, state; lives:
             first and last with chain and instruction, null for before the first and after the
             last one; no lives for what nothing uses; view: true if it is only a view of other
             tensors, and its own place is never used

Exit status: 0 shown, 1 over a budget, not in the file or broken, 2 usage, or a budget of an arena that
no shown method has, 3 not readable")]
pub(super) struct Memory {
    /// Programs, or - for standard input. Of several, JSON and SVG are a document for each.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only this method.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Fail if an arena, or all arenas of a method together, are larger: bytes, or with a unit such as
    /// kB, MB, KiB, MiB.
    #[arg(long, value_name = "[ID=]SIZE", value_parser = budget)]
    budget: Vec<Budget>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: MemoryFormat,
    /// Short for --format json.
    #[arg(long, conflicts_with_all = ["format", "svg"])]
    json: bool,
    /// Short for --format svg.
    #[arg(long, conflicts_with = "format")]
    svg: bool,
    #[command(flatten)]
    config: ConfigArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MemoryFormat {
    Text,
    Json,
    /// The picture of each arena.
    Svg,
}

/// Parses a budget: a size, or the id of an arena with its size.
fn budget(text: &str) -> Result<Budget, String> {
    let (arena, size) = match text.split_once('=') {
        None => (None, text),
        Some((id, size)) => {
            let plain = id.bytes().all(|c| c.is_ascii_digit());
            let id = id.parse().ok().filter(|&id| plain && id > 0);
            let wrong = || "an arena is a number from 1 on, as `pte memory` shows it";
            (Some(id.ok_or_else(wrong)?), size)
        }
    };
    let Bytes(bytes) = size.parse()?;
    Ok(Budget { arena, bytes })
}

/// A format of memory plans.
trait Show {
    fn begin(
        &mut self,
        out: &mut Output,
        path: &UntrustedString,
        of: &Subject,
    ) -> Result<(), Problem>;
    fn method(&mut self, out: &mut Output, method: &Method<'_, '_>) -> Result<(), Problem>;
    fn end(&mut self, out: &mut Output) -> Result<(), Problem>;
}

/// Facts about a file that are shown before its methods.
struct Subject<'f> {
    file: File<'f>,
    /// The number of requested methods.
    methods: usize,
    /// The number of requested methods that are shown.
    shown: usize,
    bytes: u64,
}

impl Memory {
    /// Whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.format() == MemoryFormat::Json
    }

    fn format(&self) -> MemoryFormat {
        match (self.json, self.svg) {
            (true, _) => MemoryFormat::Json,
            (_, true) => MemoryFormat::Svg,
            _ => self.format,
        }
    }

    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let budgets = self.budgets(common)?;
        input::once(&self.files)?;
        let content = match self.format() {
            MemoryFormat::Text => Content::Text,
            MemoryFormat::Json | MemoryFormat::Svg => Content::Plain,
        };
        let mut out = Output::beside(common.output.as_deref(), content, &self.files)?;
        let mut judge = Judge { budgets: &budgets, met: Vec::new(), over: 0 };
        let (mut status, mut shown) = (Status::Good, 0usize);
        for path in &self.files {
            match Input::open(path, &common.limits()) {
                Ok(input) => {
                    let scratch = Scratch::read(&input.opened, &common.limits());
                    let scratch = scratch.map_err(|error| Problem::open(&input.name, error))?;
                    if shown > 0 && self.format() == MemoryFormat::Text {
                        out.bytes(b"\n")?;
                    }
                    shown = shown.saturating_add(1);
                    self.show((&input, &scratch), &mut out, &mut judge)?;
                }
                Err(problem) if self.files.len() == 1 => return Err(problem),
                Err(problem) => {
                    status = status.max(problem.report());
                    if self.is_json() {
                        refusal::write_into(&mut out, &problem)?;
                    }
                }
            }
        }
        formatted(out, Ok(()))?;
        judge.end().map(|judged| judged.max(status))
    }

    fn show(
        &self,
        (input, scratch): (&Input, &Scratch),
        out: &mut Output,
        judge: &mut Judge<'_>,
    ) -> Result<(), Problem> {
        let file = input.opened.file();
        let takes =
            |name: Option<&str>| self.method.as_deref().is_none_or(|of| of == name.unwrap_or(""));
        let plans = match &file {
            File::Pte(pte) => pte.program().execution_plan(),
            File::Ptd(_) => None,
        };
        let plans = || plans.into_iter().flatten().filter(|plan| takes(plan.name()));
        let subject = Subject {
            file: input.opened.file(),
            methods: plans().count(),
            shown: plans().count().min(MOST_METHODS),
            bytes: input.opened.file_len(),
        };
        if let (0, Some(method)) = (subject.methods, &self.method) {
            return Err(
                input.absent(format!("there is no method {:?}", Untrusted::from(method.as_str())))
            );
        }
        if subject.methods == 0 && !judge.budgets.is_empty() {
            return Err(input.absent("there is no method to compare with the budget".into()));
        }
        let mut show: Box<dyn Show> = match self.format() {
            MemoryFormat::Json => Box::new(lines::Lines::default()),
            MemoryFormat::Svg => Box::new(svg::Svg::default()),
            MemoryFormat::Text => Box::new(show::Text::new()),
        };
        show.begin(out, &input.name, &subject)?;
        if let File::Pte(pte) = &file {
            for (nth, plan) in plans().enumerate() {
                let memory = Planned::of(pte, plan);
                judge.method(input, &memory)?;
                if nth < subject.shown {
                    let (budgets, scratch) = (judge.budgets, scratch.of(pte, plan));
                    let method = Method { input, memory: &memory, budgets, scratch };
                    show.method(out, &method)?;
                }
            }
        }
        show.end(out)
    }
}

impl Memory {
    /// Returns the budgets from the arguments, or else from the settings.
    fn budgets(&self, common: &Common) -> Result<Vec<Budget>, Problem> {
        let config = self.config.read(common)?;
        if !self.budget.is_empty() {
            return Ok(self.budget.clone());
        }
        let invalid = |error| Problem::Usage(format!("memory.budget in pte.toml: {error}").into());
        config.memory.budget.iter().map(|text| budget(text).map_err(invalid)).collect()
    }
}

/// Compares memory plans with budgets.
struct Judge<'b> {
    budgets: &'b [Budget],
    /// The arenas with budgets that exist in at least one method.
    met: Vec<u32>,
    over: u64,
}

impl Judge<'_> {
    fn method(&mut self, input: &Input, memory: &Planned<'_>) -> Result<(), Problem> {
        for budget in self.budgets {
            let needed = match budget.arena {
                None => memory.needed(),
                Some(id) => match memory.arenas().iter().find(|arena| arena.id == id) {
                    None => continue,
                    Some(arena) => {
                        if !self.met.contains(&id) {
                            self.met.push(id);
                        }
                        arena.needed()
                    }
                },
            };
            let Some(over) = needed.checked_sub(budget.bytes).filter(|&over| over > 0) else {
                continue;
            };
            self.over = self.over.saturating_add(1);
            if self.over > MOST_OVER {
                continue;
            }
            let of = budget.arena.map_or("all arenas".into(), |id| format!("arena {id}"));
            input.name_again(memory.plan().name())?;
            bad_news(&format!(
                "{}: {}: {of}: {} bytes are planned, {} over the budget of {}",
                input.name,
                name(memory.plan().name().unwrap_or("(no name)")),
                grouped(needed),
                grouped(over),
                grouped(budget.bytes),
            ));
        }
        Ok(())
    }

    /// Returns the verdict. A budget of an arena that no shown method has is a usage error, since
    /// such a check would always pass.
    fn end(self) -> Result<Status, Problem> {
        if let Some(more) = self.over.checked_sub(MOST_OVER).filter(|&more| more > 0) {
            bad_news(&format!("… and {} more", grouped(more)));
        }
        let mut arenas = self.budgets.iter().filter_map(|budget| budget.arena);
        if let Some(id) = arenas.find(|id| !self.met.contains(id)) {
            let message =
                format!("there is no arena {id}: give the budget of an arena that is shown");
            return Err(Problem::Usage(message.into()));
        }
        Ok(if self.over > 0 { Status::BadNews } else { Status::Good })
    }
}

/// The maximum number of methods that are shown. All methods are compared with the budgets.
const MOST_METHODS: usize = DocumentWriter::MOST_METHODS;

/// The maximum number of exceeded budgets that are reported.
const MOST_OVER: u64 = 20;

#[cfg(test)]
mod tests {
    use super::{Budget, budget};

    #[test]
    fn a_budget_is_of_an_arena_or_of_all() {
        for (text, arena, bytes) in [
            ("512", None, 512),
            ("1=8KiB", Some(1), 8192),
            ("2=1.5 MB", Some(2), 1_500_000),
            ("4294967295=0", Some(u32::MAX), 0),
        ] {
            assert_eq!(budget(text), Ok(Budget { arena, bytes }), "{text}");
        }
        for text in ["", "=1", "1=", "0=1", "-1=1", "+1=1", "1=2=3", "x=1", "4294967296=1"] {
            assert!(budget(text).is_err(), "{text}");
        }
    }
}
