//! `pte check`: validates files by their structure and by every rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pte::check::{CheckDocument, CheckedFile, Checker, Policy, RuntimeBuild, judged_kind, sarif};
use pte::quoted::UntrustedString;
use pte::{File, ForeignFormat, Ptd};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::Common;
use super::config::ConfigArguments;
use super::format::{Format, Formats};
use super::identity::identity;
use super::input::{self, Bytes, Input, Streams};
use super::output::{Output, refuse_one_file};
use super::problem::{Problem, Status, note};
use super::refusal;
use super::text::{count as counted, links_note, name_of, wide};
use baseline::Baseline;
use build::BuildArguments;
use policy::PolicyArguments;
use progress::CheckProgress;
use search::{PathToCheck, Search};
use summary::CheckSummary;

mod baseline;
mod build;
mod policy;
mod progress;
mod search;
pub(super) mod show;
mod summary;

/// Validate files and report problems
///
/// Verifies the structure of each file, then checks every rule. Folders are searched for .pte,
/// .ptd and .bpte files. Links in them are not followed without --follow; a path that is given may be a link.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte check model.pte                     one file
  pte check models/                       every .pte, .ptd and .bpte in a folder
  pte check --failures-only models/       only those with an Error
  pte check model.pte --with weights.ptd  a program and the data file that it is used with
  pte check --require-data model.pte      exit status 1 if it needs a .ptd that is not given
  pte check --deny warnings models/       exit status 1 for warnings too
  pte check --runtime 0.7 model.pte       whether release 0.7 can read it
  pte check --kernels portable,prim model.pte   whether it loads with these kernels alone (status 0x14)
  pte check --kernels android --backends android model.pte   whether the Android package has all it needs
  pte check --preset untrusted-upload up/ files from people whom you do not know
  pte check --write-baseline known.json . accept what is found today, and
  pte check --baseline known.json .       show what is new
  pte check --scan-blobs model.pte        search weights for programs and archives
  pte check --format sarif models/ -o findings.sarif
  pte check --max-memory 64MiB up/        exit status 1 if loading one makes a runtime allocate more
  pte explain planned-arena               what a finding means

Verdicts: ok, error, or incomplete: no Error, but the file needs data of a .ptd that is not given.

Exit status: 0 no Error, 1 an Error or a broken file, 2 usage, 3 not readable")]
pub(super) struct Check {
    /// Files and folders, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) format: Format<CheckFormat>,
    /// Show only files with an Error, and broken ones.
    #[arg(long)]
    failures_only: bool,
    /// Verify the structure only, without rules.
    #[arg(long)]
    structure_only: bool,
    /// Search segments, blobs and gaps for programs, archives, pickles and scripts. Reads whole files.
    #[arg(long, conflicts_with = "structure_only")]
    scan_blobs: bool,
    /// Follow links in folders. Each folder is searched once.
    #[arg(long)]
    follow: bool,
    /// A .ptd that the programs are used with, or a folder of them. They are checked too.
    #[arg(long, value_name = "PTD")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildArguments,
    #[command(flatten)]
    policy: PolicyArguments,
    /// Leave out the findings of this file, which --write-baseline has written.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["structure_only", "write_baseline"])]
    baseline: Option<PathBuf>,
    /// Accept all findings: write them to this file, for --baseline.
    #[arg(long, value_name = "FILE", conflicts_with = "structure_only")]
    write_baseline: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CheckFormat {
    Text,
    Json,
    Sarif,
}

impl Formats for CheckFormat {
    const JSON: Self = Self::Json;
}

/// The settings of a check.
struct Settings {
    policy: Policy,
    build: RuntimeBuild,
    /// Whether all bytes are searched for executable content.
    scans: bool,
}

/// A checked file, and the exit status that the file causes.
type Outcome = (CheckedFile, Status);

/// The data files of `--with` that could be read, with their names.
#[derive(Clone, Copy)]
struct DataFiles<'d> {
    names: &'d [UntrustedString],
    files: &'d [Ptd<'d>],
}

impl Check {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let baseline = ("--write-baseline", self.write_baseline.as_deref());
        refuse_one_file(("-o", common.output.as_deref()), baseline)?;
        let config = self.config.read(common)?;
        let say = |message: &str| {
            if !common.quiet {
                note(message);
            }
        };
        let policy = self.policy.policy(&config.check, say)?;
        let preset = self.policy.preset(&config.check)?;
        let scans = self.scan_blobs || preset.is_some_and(|preset| preset.scans);
        let build = self.build.build(policy.release())?;
        let settings = Settings { policy, build, scans: scans && !self.structure_only };
        let accepted = self.baseline.clone().or_else(|| config.baseline());
        let accepted = accepted.filter(|_| self.write_baseline.is_none() && !self.structure_only);
        let mut baseline = accepted.as_deref().map(Baseline::read).transpose()?;
        let mut search = Search { follows: self.follow, ..Search::default() };
        let with = self.data_files(&mut search)?;
        input::once(self.paths.iter().chain(&with))?;
        let mut found = Vec::new();
        self.paths.iter().for_each(|path| search.add_files(path, &mut found));
        if let Some(skipped) = links_note(search.skipped_links) {
            say(&skipped);
        }
        let repeated = drop_repeated(&mut found);
        if repeated > 0 && !common.quiet {
            let (paths, verb) =
                (counted(repeated, "path"), if repeated == 1 { "names" } else { "name" });
            note(&format!("{paths} {verb} a file that is checked already"));
        }
        // Each file is opened once, since it may be a stream.
        let files: Vec<_> = found.iter().map(|found| &found.path).chain(&with).cloned().collect();
        let with: Vec<_> = distinct(&with, common)
            .into_iter()
            .map(|path| (path, Input::open(path, &common.limits())))
            .collect();
        let data = with.iter().filter_map(|(_, input)| as_data(input.as_ref().ok()?));
        let (names, data): (Vec<_>, Vec<_>) = data.unzip();
        // An output must not replace what the check has read.
        let mut inputs = files.clone();
        inputs.extend(accepted.iter().chain(self.build.files(settings.policy.release())).cloned());
        let addresses = found.iter().map(|found| found.path.clone());
        let addresses: Vec<_> =
            addresses.chain(with.iter().map(|(path, _)| path.to_path_buf())).collect();
        let progress = CheckProgress::new(&files, settings.scans, !common.quiet);
        let mut outcomes: Vec<Outcome> = Vec::new();
        run_in_pool(|| {
            outcomes.par_extend(found.into_par_iter().map(|PathToCheck { path, problem }| {
                let data = DataFiles { names: &names, files: &data };
                let outcome = match problem {
                    Some(problem) => Err(problem),
                    None => self.check_path(&path, data, (&settings, &progress), common),
                };
                progress.add_file();
                outcome.unwrap_or_else(|problem| of_problem(name_of(&path), &problem))
            }));
            outcomes.par_extend(with.par_iter().map(|(path, input)| {
                let outcome = match input {
                    Ok(input) => self.check_input(input, None, (&settings, &progress), common),
                    Err(problem) => Ok(of_problem(name_of(path), problem)),
                };
                progress.add_file();
                outcome.unwrap_or_else(|problem| of_problem(name_of(path), &problem))
            }));
        });
        drop(progress);
        if let Some(path) = &self.write_baseline {
            let all = Baseline::of(outcomes.iter().map(|(file, _)| file));
            let count = all.write(path, &inputs)?;
            say(&format!("{} accepted: {}", counted(count, "finding"), name_of(path)));
            baseline = Some(Baseline::of(outcomes.iter().map(|(file, _)| file)));
        }
        if let Some(baseline) = &mut baseline {
            let taken = take_out(baseline, &mut outcomes);
            if taken > 0 && self.write_baseline.is_none() {
                say(&format!("{} left out", counted(taken, "accepted finding")));
            }
        }
        let status = outcomes.iter().map(|(_, status)| *status).max();
        let summary = CheckSummary::of(outcomes.iter().map(|(file, _)| file));
        let shown = outcomes.into_iter().map(|(file, _)| file).zip(addresses);
        let shown = shown.filter(|(file, _)| !self.failures_only || file.has_errors());
        let (checked, addresses): (Vec<_>, Vec<_>) = shown.unzip();
        self.show(&checked, &summary, &addresses, &inputs, common)?;
        Ok(status.unwrap_or(Status::Good))
    }

    /// Returns the data files of `--with`: the named files, and the files in named folders.
    fn data_files(&self, search: &mut Search) -> Result<Vec<PathBuf>, Problem> {
        let mut files = Vec::new();
        for path in &self.with {
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            let mut found = Vec::new();
            search.add_files(path, &mut found);
            let is_data = |found: &PathToCheck| {
                found.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("ptd"))
            };
            let before = files.len();
            files.extend(found.into_iter().filter(is_data).map(|found| found.path));
            if files.len() == before {
                let message = "no .ptd file in this folder".into();
                return Err(Problem::Absent { file: name_of(path), message });
            }
        }
        Ok(files)
    }

    /// Checks a file of any kind.
    fn check_path(
        &self,
        path: &Path,
        data: DataFiles<'_>,
        (settings, progress): (&Settings, &CheckProgress),
        common: &Common,
    ) -> Result<Outcome, Problem> {
        let name = name_of(path);
        let bytes = Bytes::open(path, &name, Streams::ModelsAndTables)?;
        if let Some(format) = bytes.foreign_format(&name)?
            && let Some(outcome) =
                self.check_other(&bytes, &name, format, &settings.policy, common)?
        {
            return Ok(outcome);
        }
        let input = Input::of(bytes, &name, &common.limits())?;
        self.check_input(&input, Some(data), (settings, progress), common)
    }

    /// Checks a standalone payload, profile, package or ETRecord. Returns `None` for any other file,
    /// and for a payload in an unknown form of a backend without rules.
    fn check_other(
        &self,
        bytes: &Bytes,
        name: &UntrustedString,
        format: ForeignFormat,
        policy: &Policy,
        common: &Common,
    ) -> Result<Option<Outcome>, Problem> {
        if judged_kind(format).is_none() {
            return Ok(None);
        }
        let limits = common.limits();
        let checker = Checker::new().limits(limits).policy(policy.clone());
        match checker.check_other(&bytes.all(name, &limits)?, format) {
            Ok(report) => {
                Ok(report
                    .map(|report| with_status(CheckedFile::other(name.clone(), format, &report))))
            }
            Err(why) => Err(Problem::invalid_as(name, format, why)),
        }
    }

    /// Checks a program or named data. `data` is `None` if the file is itself a data file.
    fn check_input(
        &self,
        input: &Input,
        data: Option<DataFiles<'_>>,
        (settings, progress): (&Settings, &CheckProgress),
        common: &Common,
    ) -> Result<Outcome, Problem> {
        let file = input.opened.file();
        if data.is_none() && matches!(file, File::Pte(_)) {
            let message = "this is a program, and --with takes .ptd files".into();
            return Err(Problem::Unreadable { file: input.name.clone(), message });
        }
        let mut checked = CheckedFile::new(&input.name, &file);
        if self.structure_only {
            return Ok(with_status(checked));
        }
        let mut checker = Checker::new().limits(common.limits()).policy(settings.policy.clone());
        checker = checker.build(&settings.build);
        checker =
            checker.scan(settings.scans).bundled(input.bundle.as_ref().map(|of| of.program.start));
        let mut names = &[][..];
        // If no data file of `--with` could be read, the list is empty, and no key resolves.
        if let Some(data) = data.filter(|_| !self.with.is_empty()) {
            checker = checker.data(data.files);
            names = data.names;
        }
        let report = checker.check_with_progress(&input.opened, |bytes| progress.add_bytes(bytes));
        let report = report.map_err(|error| Problem::open(&input.name, error))?;
        checked.add(&input.opened, names, &report);
        Ok(with_status(checked))
    }

    fn show(
        &self,
        checked: &[CheckedFile],
        summary: &CheckSummary,
        addresses: &[PathBuf],
        files: &[PathBuf],
        common: &Common,
    ) -> Result<(), Problem> {
        let format = self.format.chosen();
        let out =
            Output::beside(common.output.as_deref(), self.format.content(), files)?.with_answer();
        out.finish_with(|out| match format {
            CheckFormat::Text => {
                show::write(checked, out)?;
                Ok(summary.write(out)?)
            }
            CheckFormat::Json => out.json(&CheckDocument::new(checked)),
            CheckFormat::Sarif => {
                let paths = addresses.iter().map(|path| path.as_os_str().as_encoded_bytes());
                out.json(&sarif(checked, &paths.collect::<Vec<_>>()))
            }
        })
    }
}

/// Returns each data file once, since a repeated file would repeat all of its keys.
fn distinct<'p>(files: &'p [PathBuf], common: &Common) -> Vec<&'p Path> {
    let mut seen = BTreeSet::new();
    let mut distinct = Vec::new();
    for path in files {
        let is_repeated = identity(path).is_some_and(|own| !seen.insert(own));
        if !is_repeated {
            distinct.push(path.as_path());
        } else if !common.quiet {
            let name = name_of(path);
            note(&format!("{name} is given twice to --with, and is used once"));
        }
    }
    distinct
}

/// Removes the findings in `baseline` from all files, and returns their number.
fn take_out(baseline: &mut Baseline, outcomes: &mut [Outcome]) -> u64 {
    let mut all = 0u64;
    for (file, status) in outcomes {
        let taken = baseline.take_out(file);
        if taken > 0 && !file.has_errors() {
            *status = Status::Good;
        }
        all = all.saturating_add(taken);
    }
    all
}

/// Removes paths of files that are already in the list, and returns their number.
fn drop_repeated(found: &mut Vec<PathToCheck>) -> u64 {
    let (mut seen, all) = (BTreeSet::new(), found.len());
    // Adjacent paths mostly have the same folder, whose place is asked for once.
    let mut last: Option<(PathBuf, Option<PathBuf>)> = None;
    // A link and its target have different places. A path without a name or a folder has none.
    let mut place = |path: &Path| {
        let name = path.file_name()?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if last.as_ref().is_none_or(|(last, _)| last.as_os_str() != folder.as_os_str()) {
            last = Some((folder.to_owned(), folder.canonicalize().ok()));
        }
        let (_, canonical) = last.as_ref()?;
        // Compared as texts, which is faster than part by part.
        Some(canonical.as_ref()?.join(name).into_os_string())
    };
    found.retain(|found| place(&found.path).is_none_or(|place| seen.insert(place)));
    wide(all.saturating_sub(found.len()))
}

/// Returns the outcome of a file that was checked.
fn with_status(file: CheckedFile) -> Outcome {
    let status = if file.has_errors() { Status::BadNews } else { Status::Good };
    (file, status)
}

/// Returns the outcome of a file that was refused, or that could not be read.
fn of_problem(name: UntrustedString, problem: &Problem) -> Outcome {
    (refusal::checked(name, problem), problem.status())
}

/// Runs `work` in a pool of threads, or on this thread if no thread can be started.
fn run_in_pool(work: impl FnOnce() + Send) {
    let pool = ThreadPoolBuilder::new().build();
    let this_thread = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    match pool.or_else(|_| this_thread()) {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Returns the name and the data of an input; `None` if it is not a `.ptd`.
fn as_data(input: &Input) -> Option<(UntrustedString, Ptd<'_>)> {
    match input.opened.file() {
        File::Ptd(ptd) => Some((input.name.clone(), ptd)),
        File::Pte(_) => None,
    }
}
