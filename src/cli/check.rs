//! `pte check`: structure, then every rule; all findings, not the first.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::{File, Ptd};
use rayon::prelude::*;

use super::Common;
use super::input::Input;
use super::output::{Content, Output, Progress, formatted};
use super::problem::{Problem, Status};
use super::text::name_of;
use judged::Judged;
use levels::Levels;

mod judged;
mod levels;
mod sarif;
mod show;

/// Tell whether files can be trusted
///
/// Proves the structure of each file, then judges it by every rule. Folders are searched for .pte
/// and .ptd files.
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
        self.levels.known()?;
        let (mut files, mut judged) = (Vec::new(), Vec::new());
        for path in &self.paths {
            let before = (files.len(), judged.len());
            gather(path, &mut files, &mut judged);
            if before == (files.len(), judged.len()) {
                let message = "there is no .pte or .ptd file in this folder".into();
                let problem = Problem::Absent { file: String::new(), message };
                judged.push(Judged::problem(name_of(path), &problem));
            }
        }
        // Data that cannot be read is told as a file of its own.
        let opened: Vec<_> =
            self.with.iter().filter_map(|path| Input::open(path, &common.limits()).ok()).collect();
        let (names, data): (Vec<_>, Vec<_>) = opened.iter().filter_map(as_data).unzip();
        let work = Work::new(self, &files, common);
        judged.par_extend(files.par_iter().map(|path| {
            let judged = self.judge(path, Some((&names, &data)), &work, common);
            work.file();
            judged
        }));
        let with = self.with.par_iter().map(|path| self.judge(path, None, &work, common));
        judged.par_extend(with);
        drop(work);
        files.extend(self.with.iter().cloned());
        self.show(&judged, &files, common)?;
        Ok(judged.iter().map(|file| file.status).max().unwrap_or(Status::Good))
    }

    /// Judges a file: a program with its companions and their names, or a companion itself.
    fn judge(
        &self,
        path: &Path,
        companions: Option<(&[String], &[Ptd<'_>])>,
        work: &Work,
        common: &Common,
    ) -> Judged {
        let judge = |input: &Input| {
            let file = input.opened.file().map_err(|error| input.refused(error))?;
            if companions.is_none() && matches!(file, File::Pte(_)) {
                let message = "a program, and --with takes .ptd files".into();
                return Err(Problem::Absent { file: input.name.clone(), message });
            }
            let mut judged = Judged::new(name_of(path), &file);
            if !self.structure_only {
                let contents = input.opened.check_contents(&file, &common.limits());
                let contents = contents.map_err(|error| Problem::open(&input.name, error))?;
                judged.add(input, &[], &contents, &self.levels);
                if self.scan_blobs {
                    let read = |bytes| work.bytes(bytes);
                    let found = input.opened.scan_contents(&file, &common.limits(), read);
                    let found = found.map_err(|error| Problem::open(&input.name, error))?;
                    judged.add(input, &[], &found, &self.levels);
                }
                judged.add(input, &[], &file.check_with(&common.limits()), &self.levels);
                if let Some(release) = self.levels.release() {
                    let report = file.check_release(release, &common.limits());
                    judged.add(input, &[], &report, &self.levels);
                }
                // Of data that could not be read nothing resolves.
                if let (File::Pte(pte), Some((names, data))) = (&file, companions)
                    && !self.with.is_empty()
                {
                    let report = input.opened.check_with_data(pte, data, &common.limits());
                    let report = report.map_err(|error| Problem::open(&input.name, error))?;
                    judged.add(input, names, &report, &self.levels);
                }
            }
            Ok(judged)
        };
        let done = Input::open(path, &common.limits()).and_then(|input| judge(&input));
        done.unwrap_or_else(|problem| Judged::problem(name_of(path), &problem))
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

/// How far the work is: in files, or where all of them is read, in bytes.
struct Work {
    progress: Progress,
    in_bytes: bool,
}

impl Work {
    fn new(check: &Check, files: &[PathBuf], common: &Common) -> Self {
        let all = files.iter().chain(&check.with);
        let (unit, total) = match check.scan_blobs {
            true => ("bytes", all.filter_map(|path| Some(path.metadata().ok()?.len())).sum()),
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
fn as_data(input: &Input) -> Option<(String, Ptd<'_>)> {
    match input.opened.file() {
        Ok(File::Ptd(ptd)) => Some((input.name.clone(), ptd)),
        _ => None,
    }
}

/// `path` itself, or every `.pte` and `.ptd` below it, by name; what cannot be searched is told.
fn gather(path: &Path, files: &mut Vec<PathBuf>, told: &mut Vec<Judged>) {
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    let mut folders = vec![path.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        if let Err(error) = search(&folder, &mut folders, &mut found) {
            let name = name_of(&folder);
            told.push(Judged::problem(name.clone(), &Problem::io(name, error)));
        }
    }
    found.sort_unstable();
    files.append(&mut found);
}

fn search(
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    found: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let path = entry.path();
        let model = path.extension().is_some_and(|extension| {
            extension.eq_ignore_ascii_case("pte") || extension.eq_ignore_ascii_case("ptd")
        });
        // A link to a folder is not followed: it could lead in a circle.
        if entry.file_type()?.is_dir() {
            folders.push(path);
        } else if model && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}
