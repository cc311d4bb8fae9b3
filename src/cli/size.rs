//! `pte size`: the size of a file by part.

use core::fmt::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pte::map::{Growth, Map, SizeDocument, SizeTree, StoredFile};
use pte::tensors::ModuleTree;

use super::Common;
use super::byte_size::ByteSize;
use super::config::ConfigArguments;
use super::format::Format;
use super::input::{self, Readable};
use super::other::AnyInput;
use super::output::Output;
use super::problem::{BOLD, DIM, NAME, Problem, Status, bad_news};
use super::refusal::Refusals;
use super::text::{self, bar, grouped, name, percent, share, wide};
use duplicates::StoredFiles;

mod duplicates;

/// Break down a file's size, and find data that is stored more than once
///
/// Every byte is counted once, for its first user: the rows sum to the size of the file. Below are
/// equal tensors, blobs, payloads and constants, of 64 bytes or more, in one file or several, with
/// what storing them once would save. Only data of equal length that begins alike is read to its end;
/// that of URLs is not compared. Constants are named METHOD:INDEX as in `pte tensors`, those of
/// payloads METHOD:N with the node that reads them. Payloads, .bpte files, ETDumps and ETRecords are
/// accepted too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte size model.pte
  pte size --depth 1 *.pte
  pte size --by-module weights.ptd          by model.layers.0, model.layers.1, …
  pte size 32.pte 64.pte 96.pte             what they have in common, too
  pte size new.pte --against old.pte        changes in size, the largest first
  pte size model.pte --budget 8MB           exit status 1 if it is larger
  pte size --json model.pte | jq '.files[0].parts[] | [.name, .bytes]'

Exit status: 0 shown, 1 over the budget or a file is broken, 2 usage, 3 not readable")]
pub(super) struct Size {
    /// Files, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show the changes in size since this file.
    #[arg(long, value_name = "BASE")]
    against: Option<PathBuf>,
    /// Fail if the file is larger than SIZE: bytes, or with a unit such as kB, MB, KiB, MiB.
    #[arg(long, value_name = "SIZE")]
    budget: Option<ByteSize>,
    /// The levels of parts that are shown. The default is 3, or all with --against.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Show the modules of the model instead of the parts of the file: by the dotted names of its tensors, or else
    /// by method and delegate.
    #[arg(long)]
    by_module: bool,
    #[command(flatten)]
    pub(super) format: Format,
    #[command(flatten)]
    config: ConfigArguments,
}

impl Size {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let budget = self.budget(common)?;
        input::once(self.files.iter().chain(&self.against))?;
        let inputs: Vec<_> = self.files.iter().chain(&self.against).cloned().collect();
        let out =
            Output::beside(common.output.as_deref(), self.format.content(), &inputs)?.with_answer();
        let base = self.against.as_deref().map(|path| self.read(path, common, None)).transpose()?;
        let (mut all, mut refused) = (Vec::new(), Refusals::default());
        let mut status = Status::Good;
        let mut stored = StoredFiles::default();
        for path in &self.files {
            match self.read(path, common, Some(&mut stored)) {
                Ok(file) => {
                    status = status.max(compare_with_budget(&file, budget));
                    all.push(file);
                }
                Err(problem) => status = status.max(refused.report(&problem)),
            }
        }
        let duplicates = stored.duplicates(common)?;
        out.finish_with(|out| {
            if self.format.is_json() {
                let depth = self.depth.unwrap_or(u32::MAX);
                let document = SizeDocument::new(&all, budget, base.as_ref(), depth);
                return out.json(&refused.beside(document.with_duplicates(duplicates)));
            }
            self.show(&all, base.as_ref(), out)?;
            let mut duplicates = duplicates.iter();
            Ok(duplicates.try_for_each(|found| duplicates::show(found, all.len(), out))?)
        })?;
        Ok(status)
    }

    /// Reads the size tree of a file. `stored` receives its data, to find what is stored more than
    /// once.
    fn read(
        &self,
        path: &Path,
        common: &Common,
        stored: Option<&mut StoredFiles>,
    ) -> Result<SizeTree, Problem> {
        let (input, bundle) = match AnyInput::open(path, &common.limits())? {
            AnyInput::Model(input, bundle) => (input, bundle),
            AnyInput::Other(other) => {
                if self.by_module {
                    return Err(other.absent("only a .pte or a .ptd has modules".into()));
                }
                return other.file.sizes(&other.name, |name| other.name_again(Some(name)));
            }
        };
        let payloads = input.payloads_with_parts(&common.limits())?;
        if self.by_module {
            return Ok(ModuleTree::of(&input.opened.file(), &payloads).sizes(&input.name));
        }
        let file = input.opened.file();
        let map = Map::with_payloads(&file, &payloads);
        let charge = |name: &str| input.name_again(Some(name));
        let mut sizes = SizeTree::of_map(&input.name, &map, charge)?;
        if let Some(bundle) = bundle {
            let program = sizes;
            sizes = bundle.sizes(&input.name, charge)?;
            sizes.add_program(program);
        }
        if let Some(stored) = stored.filter(|_| self.against.is_none()) {
            let data = StoredFile::of(&input.name, &map, charge)?;
            drop(map);
            stored.add(path, data, *input);
        }
        Ok(sizes)
    }

    /// Returns the budget from the arguments, or else from the settings.
    fn budget(&self, common: &Common) -> Result<Option<u64>, Problem> {
        let config = self.config.read(common)?;
        let Some(text) = config.size.budget.filter(|_| self.budget.is_none()) else {
            return Ok(self.budget.map(|ByteSize(budget)| budget));
        };
        let invalid = |error| Problem::Usage(format!("size.budget in pte.toml: {error}").into());
        text.parse().map(|ByteSize(budget)| Some(budget)).map_err(invalid)
    }

    fn show(&self, all: &[SizeTree], base: Option<&SizeTree>, out: &mut Output) -> fmt::Result {
        for (nth, file) in all.iter().enumerate() {
            if nth > 0 {
                out.write_char('\n')?;
            }
            let (path, bytes) = (&file.name, grouped(file.bytes));
            write!(out, "{BOLD}{path}{BOLD:#}  {DIM}{bytes} bytes")?;
            match base {
                None => {
                    writeln!(out, "{DIM:#}")?;
                    let widest = bytes.len();
                    let depth = self.depth.unwrap_or(DEFAULT_DEPTH);
                    show_parts(file, &Columns { total: file.bytes, widest, depth }, 0, out)?;
                }
                Some(base) => {
                    let change = change(base.bytes, file.bytes);
                    let (change, percent) = (signed(change), percent(change, base.bytes));
                    let path = &base.name;
                    writeln!(out, " · {change} ({percent}) against {path}{DIM:#}")?;
                    self.show_growth(file, base, out)?;
                }
            }
        }
        Ok(())
    }

    fn show_growth(&self, file: &SizeTree, base: &SizeTree, out: &mut Output) -> fmt::Result {
        let rows = Growth::between(base, file, self.depth.unwrap_or(u32::MAX));
        let shown = rows.iter().take(MAX_CHANGES);
        let widest = shown.clone().map(|row| signed(row.change).len()).max().unwrap_or_default();
        for row in shown {
            let path: Vec<_> = row.path.iter().map(|&part| name(part)).collect();
            let (change, path) = (signed(row.change), path.join(" / "));
            let (before, bytes) = (grouped(row.before), grouped(row.bytes));
            let was = match (row.before, row.bytes) {
                (0, _) => "new".to_string(),
                (_, 0) => "gone".to_string(),
                _ => format!("{before} → {bytes}"),
            };
            writeln!(out, "  {change:>widest$}  {NAME}{path}{NAME:#}  {DIM}{was}{DIM:#}")?;
        }
        let more = rows.get(MAX_CHANGES..).unwrap_or_default();
        if !more.is_empty() {
            let change = signed(more.iter().map(|row| row.change).sum());
            writeln!(out, "  {change:>widest$}  {DIM}… {} more{DIM:#}", grouped(wide(more.len())))?;
        }
        Ok(())
    }
}

/// The columns of a file's rows.
struct Columns {
    total: u64,
    widest: usize,
    depth: u32,
}

fn show_parts(file: &SizeTree, columns: &Columns, level: u32, out: &mut Output) -> fmt::Result {
    if level >= columns.depth {
        return Ok(());
    }
    let parts = file.largest_first();
    // Folding one row would save no line.
    let most = if parts.len() > MAX_PARTS.saturating_add(1) { MAX_PARTS } else { parts.len() };
    let (shown, folded) = parts.split_at_checked(most).unwrap_or_default();
    for part in shown {
        let (mut part, mut title) = (*part, name(&part.name));
        let mut below = level.saturating_add(1);
        // A part that is the only one shares the row of its parent.
        while let [only] = part.parts.as_slice()
            && below < columns.depth
        {
            (part, below) = (only, below.saturating_add(1));
            // Writing to a string cannot fail.
            let _ = write!(title, " / {}", name(&only.name));
        }
        show_row(columns, level, part.bytes, &format!("{NAME}{title}{NAME:#}"), out)?;
        show_parts(part, &Columns { depth: columns.depth, ..*columns }, below, out)?;
    }
    if !folded.is_empty() {
        let bytes = folded.iter().map(|part| part.bytes).sum();
        let title = format!("{DIM}… {} more{DIM:#}", grouped(wide(folded.len())));
        show_row(columns, level, bytes, &title, out)?;
    }
    Ok(())
}

fn show_row(
    columns: &Columns,
    level: u32,
    bytes: u64,
    title: &str,
    out: &mut Output,
) -> fmt::Result {
    let Columns { total, widest, .. } = *columns;
    let (number, share, bar) = (grouped(bytes), share(bytes, total), bar(bytes, total));
    let indent = usize::try_from(level).unwrap_or_default().saturating_mul(2);
    writeln!(out, "  {number:>widest$} {DIM}{share:>6}{DIM:#}  {bar} {:indent$}{title}", "")
}

/// Returns the status of a file under a budget. If the file exceeds the budget, prints the excess
/// and the largest parts.
fn compare_with_budget(file: &SizeTree, budget: Option<u64>) -> Status {
    let Some(budget) = budget else { return Status::Good };
    let Some(over) = file.over(budget) else { return Status::Good };
    let largest = file.largest_first().into_iter().take(LARGEST_PARTS);
    let largest: Vec<_> =
        largest.map(|part| format!("{} {}", name(&part.name), text::bytes(part.bytes))).collect();
    bad_news(&format!(
        "{} is {} bytes over the budget of {}: {}",
        file.name,
        grouped(over),
        grouped(budget),
        largest.join(", ")
    ));
    Status::BadNews
}

fn change(before: u64, after: u64) -> i128 {
    i128::from(after).saturating_sub(before.into())
}

fn signed(change: i128) -> String {
    let size = grouped(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX));
    match change {
        0 => "±0".into(),
        1.. => format!("+{size}"),
        _ => format!("−{size}"),
    }
}

/// The number of levels of parts that are shown by default.
const DEFAULT_DEPTH: u32 = 3;

/// The maximum number of rows inside a part. The rest is folded into one row.
const MAX_PARTS: usize = 10;

/// The maximum number of changes that are shown.
const MAX_CHANGES: usize = 20;

/// The number of parts that are named when a budget is exceeded.
const LARGEST_PARTS: usize = 3;
