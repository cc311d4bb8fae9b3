//! `pte check`: structure, then every rule; all findings, not the first.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::check::{Checker, Policy};
use pte::quoted::UntrustedString;
use pte::{File, Ptd};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::Common;
use super::input::{self, Input};
use super::output::{Content, Output, Progress, formatted};
use super::problem::{Problem, Status, note};
use super::text::name_of;
use judged::Judged;
use levels::Levels;

pub(super) mod judged;
pub(super) mod levels;
mod sarif;
pub(super) mod show;

/// Tell whether files can be trusted
///
/// Proves the structure of each file, then judges it by every rule. Folders are searched for .pte
/// and .ptd files; links to folders are not followed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte check model.pte                     one file
  pte check models/                       every .pte and .ptd of a folder
  pte check model.pte --with weights.ptd  a program and the data that it is used with
  pte check --deny warnings models/       warnings are bad news too
  pte check --runtime 0.7 model.pte       whether that release reads it
  pte check --scan-blobs model.pte        look for programs in the middle of weights too
  pte check --format sarif models/ -o findings.sarif
  pte explain planned-arena               what a finding means

Exit status: 0 no Error, 1 an Error or a broken file, 2 usage, 3 not readable")]
pub(super) struct Check {
    /// Files and folders, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to show the answer.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Shape,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Prove the structure, and judge nothing else.
    #[arg(long)]
    structure_only: bool,
    /// Search all of segments, blobs and gaps for programs, archives, pickles and scripts: reads whole
    /// files.
    #[arg(long, conflicts_with = "structure_only")]
    scan_blobs: bool,
    /// A .ptd that the programs are used with; it is checked too.
    #[arg(long, value_name = "PTD")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    levels: Levels,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Text,
    Json,
    Sarif,
}

impl Check {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let policy = self.levels.policy()?;
        input::once(self.paths.iter().chain(&self.with))?;
        if let Some(message) = self.levels.note().filter(|_| !common.quiet) {
            note(&message);
        }
        let mut found = Vec::new();
        self.paths.iter().for_each(|path| gather(path, &mut found));
        // Each is opened once, since it may be a stream. A file that cannot be read gets its own entry.
        let with: Vec<_> = self
            .companions(common)
            .into_iter()
            .map(|path| (path, Input::open(path, &common.limits())))
            .collect();
        let data = with.iter().filter_map(|(_, input)| as_data(input.as_ref().ok()?));
        let (names, data): (Vec<_>, Vec<_>) = data.unzip();
        let files: Vec<_> =
            found.iter().map(|found| found.path.clone()).chain(self.with.iter().cloned()).collect();
        let work = Work::new(self, &files, common);
        let mut judged = Vec::new();
        side_by_side(|| {
            judged.par_extend(found.into_par_iter().map(|Found { path, problem }| {
                let input = problem.map_or_else(|| Input::open(&path, &common.limits()), Err);
                let with = Some((&names[..], &data[..]));
                let judged = self.judge(&path, input.as_ref(), with, (&policy, &work), common);
                work.file();
                judged
            }));
            judged.par_extend(with.par_iter().map(|(path, input)| {
                let judged = self.judge(path, input.as_ref(), None, (&policy, &work), common);
                work.file();
                judged
            }));
        });
        drop(work);
        self.show(&judged, &files, common)?;
        Ok(judged.iter().map(|file| file.status).max().unwrap_or(Status::Good))
    }

    /// The files of `--with`, each once: one that is given twice has all of its keys twice.
    fn companions(&self, common: &Common) -> Vec<&Path> {
        let mut seen = BTreeSet::new();
        let mut distinct = Vec::new();
        for path in &self.with {
            let is_repeated = input::identity(path).is_some_and(|identity| !seen.insert(identity));
            if !is_repeated {
                distinct.push(path.as_path());
            } else if !common.quiet {
                let name = name_of(path);
                note(&format!("{name} is given twice to --with, and is used once"));
            }
        }
        distinct
    }

    /// Judges a file, or reports why there is none: a program with its companions and their names, or a
    /// companion itself.
    fn judge(
        &self,
        path: &Path,
        input: Result<&Input, &Problem>,
        companions: Option<(&[UntrustedString], &[Ptd<'_>])>,
        (policy, work): (&Policy, &Work),
        common: &Common,
    ) -> Judged {
        let judged = match input {
            Ok(input) => self.judge_input(input, companions, (policy, work), common),
            Err(problem) => return Judged::problem(name_of(path), problem),
        };
        judged.unwrap_or_else(|problem| Judged::problem(name_of(path), &problem))
    }

    fn judge_input(
        &self,
        input: &Input,
        companions: Option<(&[UntrustedString], &[Ptd<'_>])>,
        (policy, work): (&Policy, &Work),
        common: &Common,
    ) -> Result<Judged, Problem> {
        let file = input.opened.file();
        if companions.is_none() && matches!(file, File::Pte(_)) {
            return Err(input.absent("a program, and --with takes .ptd files".into()));
        }
        let mut judged = Judged::new(input.name.clone(), &file);
        if self.structure_only {
            return Ok(judged);
        }
        let mut checker =
            Checker::new().limits(common.limits()).policy(policy.clone()).scan(self.scan_blobs);
        // Of data that could not be read nothing resolves.
        let mut names = &[][..];
        if let Some((own, data)) = companions.filter(|_| !self.with.is_empty()) {
            checker = checker.data(data);
            names = own;
        }
        let report = checker.check_with_progress(&input.opened, |bytes| work.bytes(bytes));
        let report = report.map_err(|error| Problem::open(&input.name, error))?;
        judged.add(&input.opened, names, &report);
        Ok(judged)
    }

    fn show(&self, judged: &[Judged], files: &[PathBuf], common: &Common) -> Result<(), Problem> {
        let shape = if self.json { Shape::Json } else { self.format };
        let content = if shape == Shape::Text { Content::Text } else { Content::Plain };
        let mut out = Output::beside(common.output.as_deref(), content, files)?;
        match shape {
            Shape::Text => {
                let written = show::write(judged, &mut out);
                formatted(out, written)
            }
            Shape::Json => {
                out.json(&judged::Document { schema: "pte.check/1", files: judged })?;
                out.finish()
            }
            Shape::Sarif => {
                out.json(&sarif::document(judged))?;
                out.finish()
            }
        }
    }
}

/// Runs `work` where it can use threads, or where none can be had on this one alone.
fn side_by_side(work: impl FnOnce() + Send) {
    let pool = ThreadPoolBuilder::new().build();
    let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    match pool.or_else(|_| alone()) {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// How far the work is: in files, or where all of them is read, in bytes.
struct Work {
    progress: Progress,
    in_bytes: bool,
}

impl Work {
    fn new(check: &Check, files: &[PathBuf], common: &Common) -> Self {
        let (unit, total) = match check.scan_blobs {
            true => {
                ("bytes", files.iter().filter_map(|path| Some(path.metadata().ok()?.len())).sum())
            }
            false => ("files", files.len().try_into().unwrap_or(0)),
        };
        let progress = Progress::new(!common.quiet, unit, total);
        Self { progress, in_bytes: check.scan_blobs }
    }

    /// A file is done.
    fn file(&self) {
        if !self.in_bytes {
            self.progress.add(1);
        }
    }

    /// So many bytes are.
    fn bytes(&self, read: u64) {
        if self.in_bytes {
            self.progress.add(read);
        }
    }
}

/// A companion as data, if it is a sound `.ptd`.
fn as_data(input: &Input) -> Option<(UntrustedString, Ptd<'_>)> {
    match input.opened.file() {
        File::Ptd(ptd) => Some((input.name.clone(), ptd)),
        _ => None,
    }
}

/// What was named, or found in a folder that was.
struct Found {
    path: PathBuf,
    /// Why it is not to be opened.
    problem: Option<Problem>,
}

impl Found {
    fn problem(path: PathBuf, error: io::Error) -> Self {
        let problem = Problem::io(name_of(&path), error);
        Self { path, problem: Some(problem) }
    }
}

/// `path` itself, or every `.pte` and `.ptd` below it, by name; what cannot be searched, and what
/// has such a name and is no file, is there too.
fn gather(path: &Path, all: &mut Vec<Found>) {
    if path.as_os_str() == "-" || !path.is_dir() {
        all.push(Found { path: path.to_owned(), problem: None });
        return;
    }
    let mut folders = vec![path.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        if let Err(error) = search(&folder, &mut folders, &mut found) {
            found.push(Found::problem(folder, error));
        }
    }
    if found.is_empty() {
        let message = "there is no .pte or .ptd file in this folder".into();
        let problem = Problem::Absent { file: name_of(path), message };
        found.push(Found { path: path.to_owned(), problem: Some(problem) });
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    all.append(&mut found);
}

fn search(folder: &Path, folders: &mut Vec<PathBuf>, found: &mut Vec<Found>) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let path = entry.path();
        // A link to a folder is not followed: it could lead in a circle.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push(path),
            _ if !is_named_model(&path) => {}
            Ok(_) => found.push(match regular(&path) {
                Ok(()) => Found { path, problem: None },
                Err(error) => Found::problem(path, error),
            }),
            Err(error) => found.push(Found::problem(path, error)),
        }
    }
    Ok(())
}

fn is_named_model(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("pte") || extension.eq_ignore_ascii_case("ptd")
    })
}

/// Whether something with the name of a model is a regular file, and why not. It is not opened: a
/// pipe would be waited for.
fn regular(path: &Path) -> io::Result<()> {
    let kind = match path.metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return Err(io::Error::new(error.kind(), "this link leads nowhere"));
        }
        Err(error) => return Err(error),
    };
    match () {
        () if kind.is_file() => Ok(()),
        () if kind.is_dir() => Err(io::Error::other("a link to a folder, which is not searched")),
        () => Err(io::Error::other("not a regular file, but a pipe, a socket or a device")),
    }
}
