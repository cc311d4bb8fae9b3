//! `pte scan`: a row about each file of any number of folders and lists.

use core::num::NonZeroUsize;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::quoted::UntrustedString;
use pte::scan::{Depth, RowFormat, Scan, ScanError, ScanRoot, Totals};

use super::Common;
use super::output::{Content, Output};
use super::problem::{Problem, Status, bad_news, note};
use super::progress::Progress;
use super::text::{bytes, count, links_note};

/// Write a row about each of many files
///
/// Rows are Parquet or NDJSON, in parts of at most --part-rows rows (50,000), in the folder that -o
/// names. A file that is refused or cannot be read is a row too. Folders are searched for .pte and .ptd
/// files. Links in them are not followed without --follow; a path that is given may be a link.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte scan models/ -o rows
  pte scan 'models/**/v2/*.pte' -o rows --depth hash
  find /models -name '*.pte' | pte scan - -o rows --format ndjson
  pte scan models/ -o rows --resume         after an interruption, or for new files
  duckdb -c \"select status, count(*) from 'rows/*.parquet' group by 1\"

Exit status: 0 all rows are written, 2 usage, 3 rows could not be written, a listing failed, or no file
could be read")]
pub(super) struct ScanFiles {
    /// Files, URLs, folders, patterns with *, ? and **, or - for a list on standard input, one a line.
    #[arg(required = true, value_name = "ROOT")]
    roots: Vec<PathBuf>,
    /// How much of each file is read.
    #[arg(long, value_name = "DEPTH", default_value = "check")]
    depth: DepthArgument,
    /// The format of the rows.
    #[arg(long, value_name = "FORMAT", default_value = "parquet")]
    format: FormatArgument,
    /// How many files are judged at once. The number of cores, if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Add rows to those of an earlier scan, and skip files that it has rows of.
    #[arg(long)]
    resume: bool,
    /// Follow links in folders. Each folder is searched once.
    #[arg(long)]
    follow: bool,
    /// The most rows of a part.
    #[arg(long, value_name = "N", default_value = "50000")]
    part_rows: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DepthArgument {
    /// Headers, tables, and the rules on them.
    Header,
    /// Every rule, and the graphs in payloads.
    Check,
    /// As check, with the sha256 of each file.
    Hash,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArgument {
    Parquet,
    Ndjson,
    Both,
}

impl ScanFiles {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let Some(folder) = &common.output else {
            return Err(Problem::Usage("name a folder for the rows with -o".into()));
        };
        if self.roots.iter().filter(|root| is_list(root)).count() > 1 {
            return Err(Problem::Usage("- can be given only once".into()));
        }
        let roots = self.roots.iter().map(|root| match is_list(root) {
            true => ScanRoot::List(Box::new(io::BufReader::new(io::stdin()))),
            false => ScanRoot::Path(root.clone()),
        });
        let scan = Scan::new()
            .depth(match self.depth {
                DepthArgument::Header => Depth::Header,
                DepthArgument::Check => Depth::Check,
                DepthArgument::Hash => Depth::Hash,
            })
            .format(match self.format {
                FormatArgument::Parquet => RowFormat::Parquet,
                FormatArgument::Ndjson => RowFormat::Ndjson,
                FormatArgument::Both => RowFormat::Both,
            })
            .limits(common.limits())
            .rows_of_part(self.part_rows)
            .resume(self.resume)
            .follow(self.follow);
        #[cfg(feature = "remote")]
        let scan = scan.client(super::remote::client());
        let scan = match self.jobs {
            Some(jobs) => scan.jobs(jobs.get()),
            None => scan,
        };
        let progress = Progress::counter(!common.quiet, "files");
        let done = scan.run(roots.collect(), folder, |_| progress.add(1));
        drop(progress);
        let totals = done.map_err(problem)?;
        if !common.quiet {
            show(&totals)?;
            if let Some(skipped) = links_note(totals.skipped_links) {
                note(&skipped);
            }
        }
        for root in &totals.failed_roots {
            bad_news(&format!("a listing failed: {}", root.raw()));
        }
        let is_nothing_read =
            totals.files > 0 && totals.unreadable == totals.files && totals.skipped == 0;
        let failed = !totals.failed_roots.is_empty() || is_nothing_read;
        Ok(if failed { Status::Io } else { Status::Good })
    }
}

fn is_list(root: &Path) -> bool {
    root.as_os_str() == "-"
}

fn problem(failed: ScanError) -> Problem {
    let ScanError { place, error } = failed;
    match error.kind() {
        io::ErrorKind::AlreadyExists => Problem::Usage(UntrustedString::of(&format!(
            "{place} {error}: continue it with --resume, or name another folder"
        ))),
        _ => Problem::io(place, error),
    }
}

fn show(totals: &Totals) -> Result<(), Problem> {
    use core::fmt::Write;
    let out = Output::open(None, Content::Text)?;
    let read = bytes(totals.bytes_read);
    let mut parts = vec![format!("{} ok", totals.ok)];
    for (count, what) in [
        (totals.incomplete, "incomplete"),
        (totals.errors, "with an Error"),
        (totals.refused, "refused"),
        (totals.unreadable, "unreadable"),
        (totals.skipped, "skipped"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    let files = count(totals.files, "file");
    let all = count(totals.parts, "part");
    let parts = parts.join(", ");
    out.finish_with(|out| Ok(writeln!(out, "{files}: {parts}; {read} read, {all} of rows")?))
}
