//! `pte profile`: the times of methods and operators in the runs of a profile.

use core::cmp::Reverse;
use core::fmt::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pte::profile::{EventTime, InstructionTime, Profile, ProfileDocument, Time};
use pte::quoted::UntrustedString;
use pte::schema::program::view::ExecutionPlan;
use pte::{File, ForeignFormat, Limits};

use super::format::Format;
use super::input::{self, Bytes, Input, Readable, Streams};
use super::output::Output;
use super::problem::{BOLD, DIM, NAME, Problem, Status};
use super::text::{bar, count, grouped, name, name_of, share, wide};
use super::{Common, refusal};

/// Show the time that methods and operators took
///
/// Reads an ETDump, which a runtime with event tracing writes. Times are ticks of the runtime's clock:
/// nanoseconds on most systems. With --program, instructions have the names of that program: of its
/// operators and backends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte profile run.etdp
  pte profile run.etdp --program model.pte
  pte profile before.etdp after.etdp
  pte profile --json run.etdp | jq '.instructions[] | [.name, .time.total]'

JSON, \"schema\": \"pte.profile/1\":
  path, version, runs, events, values (recorded by the runtime)
  methods       events of no instruction, such as Method::execute: name, time
  instructions  chain, instruction, name, delegate (is it one), time, events (in the kernel or the delegate: name, time)
  time          count, total, shortest, longest: in ticks

Exit status: 0 shown, 1 the profile is broken, of another kind or of another program, 2 usage,
3 not readable")]
pub(super) struct ShowProfile {
    /// ETDumps, or - for standard input. Of several, JSON is a document for each.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The program that ran in all of them.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The method that ran. The default is the only method, or forward.
    #[arg(long, value_name = "NAME", requires = "program")]
    method: Option<String>,
    /// The most operators and instructions in text.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    most: usize,
    #[command(flatten)]
    pub(super) format: Format,
}

impl ShowProfile {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        input::once(self.files.iter().chain(&self.program))?;
        let program = self.program.as_ref().map(|path| Input::open(path, &common.limits()));
        let program = program.transpose()?;
        let inputs: Vec<_> = self.files.iter().chain(&self.program).cloned().collect();
        let out = Output::beside(common.output.as_deref(), self.format.content(), &inputs)?;
        let (is_json, read) =
            (self.format.is_json(), |path: &Path| self.read(path, program.as_ref(), common));
        out.finish_with(|out| {
            refusal::show_each(&self.files, is_json, out, read, |document, out| match is_json {
                true => out.json(document),
                false => Ok(self.show(document, out)?),
            })
        })
    }

    fn read(
        &self,
        file: &Path,
        program: Option<&Input>,
        common: &Common,
    ) -> Result<ProfileDocument, Problem> {
        let mut profile = read(file, &common.limits())?;
        if let Some(program) = program {
            self.name_after(&mut profile, file, program)?;
        }
        Ok(profile.named(name_of(file)))
    }

    fn name_after(
        &self,
        profile: &mut Profile,
        path: &Path,
        program: &Input,
    ) -> Result<(), Problem> {
        let File::Pte(pte) = program.opened.file() else {
            return Err(program.absent("this is a .ptd, and --program takes a program".into()));
        };
        let (wanted, plan) =
            (self.method.as_deref(), Profile::method(&pte, self.method.as_deref()));
        let Some(plan) = plan else {
            let message = format!(
                "no method {}: choose one with --method",
                name(wanted.unwrap_or("forward"))
            );
            return Err(program.absent(message));
        };
        name_after(profile, path, plan)
    }

    fn show(&self, document: &ProfileDocument, out: &mut Output) -> fmt::Result {
        let ProfileDocument { path, profile, .. } = document;
        let facts = [
            count(profile.executions(), "execution"),
            count(profile.events, "time"),
            count(profile.values, "recorded value"),
        ];
        writeln!(out, "{BOLD}{path}{BOLD:#}  {DIM}ETDump · {}{DIM:#}", facts.join(" · "))?;
        let methods = profile.methods.iter().map(|of| (name(&of.name), of.time));
        // `Program::load_method` contains `Method::init`, so shares would count it twice.
        self.table("methods", methods.collect(), false, out)?;
        let operators = profile.operators();
        let operators = operators.iter().map(|EventTime { name: of, time, .. }| (name(of), *time));
        self.table("operators", operators.collect(), true, out)?;
        let events = profile.delegate_events();
        let events = events.iter().map(|EventTime { name: of, time, .. }| (name(of), *time));
        self.table("in delegates", events.collect(), true, out)?;
        let mut longest: Vec<_> = profile.instructions.iter().collect();
        longest.sort_by_key(|of| Reverse(of.time.total));
        let instructions = longest.into_iter().map(|of| (instruction(of), of.time));
        self.table("instructions", instructions.collect(), true, out)
    }

    /// Shows times as rows: the share of all rows if `has_shares`, the sum, and the range of single
    /// times.
    fn table(
        &self,
        title: &str,
        rows: Vec<(String, Time)>,
        has_shares: bool,
        out: &mut Output,
    ) -> fmt::Result {
        if rows.is_empty() {
            return Ok(());
        }
        let all = rows.iter().fold(0u64, |sum, (_, time)| sum.saturating_add(time.total));
        let digits = |number: u64| grouped(number).len();
        let shown = || rows.iter().take(self.most);
        let total = shown().map(|(_, time)| digits(time.total)).max().unwrap_or_default();
        let times = shown().map(|(_, time)| digits(time.count)).max().unwrap_or_default();
        writeln!(out, "  {BOLD}{title}{BOLD:#}")?;
        for (name, time) in shown() {
            let Time { count, total: ticks, shortest, longest, .. } = *time;
            let each = match count {
                1 => String::new(),
                _ => format!("  {} to {}", grouped(shortest), grouped(longest)),
            };
            let share = match has_shares {
                true => format!("{:>6}  {} ", share(ticks, all), bar(ticks, all)),
                false => String::new(),
            };
            let (ticks, count) = (grouped(ticks), grouped(count));
            writeln!(
                out,
                "    {share}{ticks:>total$} ticks  {DIM}{count:>times$} ×{DIM:#} {NAME}{name}{NAME:#}{DIM}{each}{DIM:#}",
            )?;
        }
        match rows.len().saturating_sub(self.most) {
            0 => Ok(()),
            rest => writeln!(out, "    {DIM}… and {} more (-n){DIM:#}", grouped(wide(rest))),
        }
    }
}

/// The file that the verb takes.
const WANTED: &str = "Give an ETDump, which a runtime with event tracing writes.";

/// Reads an ETDump.
pub(super) fn read(path: &Path, limits: &Limits) -> Result<Profile, Problem> {
    let name = name_of(path);
    let opened = Bytes::open(path, &name, Streams::ModelsAndTables);
    let bytes = opened.map_err(|problem| problem.or_give(WANTED))?;
    bytes.must_be(ForeignFormat::EtDump, &name, ("ETDump", WANTED))?;
    let profile = Profile::read(&bytes.all(&name, limits)?, limits);
    profile.map_err(|why| bytes.invalid(&name, why))
}

/// Names the instructions of the profile at `path` after those of a method.
pub(super) fn name_after(
    profile: &mut Profile,
    path: &Path,
    plan: ExecutionPlan<'_>,
) -> Result<(), Problem> {
    let named = profile.name_after(plan);
    named.map_err(|why| Problem::Absent { file: name_of(path), message: UntrustedString::of(&why) })
}

fn instruction(of: &InstructionTime) -> String {
    format!("{}:{} {}", of.chain, of.instruction, name(&of.called()))
}
