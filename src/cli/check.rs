//! `pte check`: structure, then every rule; all findings, not the first.

use core::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::input::Input;
use super::output::{Output, formatted};
use super::problem::{DIM, ERROR, NOTE, Problem, Status, WARNING, printable};
use super::text::name_of;
use super::{Common, Format};
use pte::check::{Report, Severity};
use pte::file::Kind;
use pte::{Error, File};

/// Tell whether files can be trusted
///
/// Proves the structure of each file, then reports what is legal and suspicious. Folders are
/// searched for .pte and .ptd files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pte check model.pte            one file
  pte check models/              every .pte and .ptd of a folder
  curl -s URL | pte check -      standard input
  pte check --json models/ | jq '.files[] | select(.verdict == \"error\").path'

Exit status: 0 no Error, 1 an Error or a broken file, 2 usage, 3 not readable")]
pub(super) struct Check {
    /// Files and folders, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    format: Format,
    /// Prove the structure, and judge nothing else.
    #[arg(long)]
    structure_only: bool,
    /// A .ptd that the program is used with; checked too.
    #[arg(long, value_name = "PTD")]
    with: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    files: Vec<Judged>,
}

/// What is known of a file once it was judged.
#[derive(Serialize)]
struct Judged {
    path: String,
    kind: Option<&'static str>,
    verdict: &'static str,
    findings: Vec<Finding>,
    #[serde(skip)]
    status: Status,
    /// Findings that were counted and not kept.
    omitted: u64,
}

#[derive(Serialize)]
struct Finding {
    rule: String,
    severity: &'static str,
    message: String,
    offset: Option<u64>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'static str>,
}

impl Check {
    pub(super) fn run(&self, common: &Common) -> Result<Status, Problem> {
        let (mut files, mut judged) = (Vec::new(), Vec::new());
        for path in &self.paths {
            let before = (files.len(), judged.len());
            gather(path, &mut files, &mut judged);
            if before == (files.len(), judged.len()) {
                let message = "there is no .pte or .ptd file in this folder".into();
                judged.push(Judged::problem(
                    name_of(path),
                    &Problem::Absent { file: String::new(), message },
                ));
            }
        }
        files.extend(self.with.iter().cloned());
        judged.extend(files.iter().map(|path| self.judge(path, common)));
        let status = judged.iter().map(|file| file.status).max().unwrap_or(Status::Good);
        let mut out = Output::beside(common.output.as_deref(), self.format.content(), &files)?;
        if self.format.is_json() {
            out.json(&Document { schema: "pte.check/1", files: judged })?;
            out.finish()?;
        } else {
            let written = judged.iter().try_for_each(|file| write_text(file, &mut out));
            formatted(out, written)?;
        }
        Ok(status)
    }

    fn judge(&self, path: &Path, common: &Common) -> Judged {
        let path_name = name_of(path);
        let done = Input::open(path, &common.limits()).and_then(|input| {
            let file = input.opened.file().map_err(|error| input.refused(error))?;
            let kind = match file {
                File::Pte(_) => Kind::Pte,
                File::Ptd(_) => Kind::Ptd,
            };
            let report = (!self.structure_only).then(|| file.check_with(&common.limits()));
            Ok((kind, report.unwrap_or_default()))
        });
        match done {
            Ok((kind, report)) => Judged::report(path_name, kind, &report),
            Err(problem) => Judged::problem(path_name, &problem),
        }
    }
}

impl Judged {
    fn report(path: String, kind: Kind, report: &Report) -> Self {
        let findings: Vec<_> = report.findings().iter().map(Finding::of).collect();
        let status = match report.worst() {
            Some(Severity::Error) => Status::BadNews,
            _ => Status::Good,
        };
        let found: u64 = report.counts().map(|(_, count)| count).sum();
        let kept = u64::try_from(findings.len()).unwrap_or(u64::MAX);
        Self {
            path,
            kind: Some(match kind {
                Kind::Pte => "pte",
                Kind::Ptd => "ptd",
            }),
            verdict: verdict(status),
            findings,
            status,
            omitted: found.saturating_sub(kept),
        }
    }

    fn problem(path: String, problem: &Problem) -> Self {
        let finding = match problem {
            Problem::Refused { error, .. } => Finding::refusal(error),
            _ => Finding {
                rule: "unreadable".into(),
                severity: "error",
                message: match problem {
                    Problem::Absent { message, .. } => message.clone(),
                    Problem::Io { error, .. } => error.to_string(),
                    problem => problem.to_string(),
                },
                offset: None,
                path: String::new(),
                help: None,
            },
        };
        let status = problem.status();
        Self { path, kind: None, verdict: "error", findings: vec![finding], status, omitted: 0 }
    }
}

impl Finding {
    fn of(finding: &pte::check::Finding) -> Self {
        Self {
            rule: finding.rule.id.into(),
            severity: match finding.rule.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            message: finding.message.clone(),
            offset: Some(finding.offset),
            path: finding.place().path().to_string(),
            help: Some(finding.rule.why),
        }
    }

    fn refusal(error: &Error) -> Self {
        Self {
            rule: error.code().into(),
            severity: "error",
            message: error.to_string(),
            offset: Some(error.offset()),
            path: error.place().path().to_string(),
            help: Some(error.kind().help()),
        }
    }
}

fn verdict(status: Status) -> &'static str {
    match status {
        Status::Good => "ok",
        _ => "error",
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

fn write_text(file: &Judged, out: &mut Output) -> core::fmt::Result {
    let style = if file.verdict == "ok" { anstyle::AnsiColor::Green.on_default() } else { ERROR };
    writeln!(out, "{style}{}{style:#}  {}", file.verdict, printable(&file.path))?;
    for finding in &file.findings {
        let style = match finding.severity {
            "error" => ERROR,
            "warning" => WARNING,
            _ => NOTE,
        };
        let (severity, rule) = (finding.severity, &finding.rule);
        writeln!(out, "  {style}{severity}[{rule}]{style:#}: {}", printable(&finding.message))?;
        if let Some(offset) = finding.offset {
            let comma = if finding.path.is_empty() { "" } else { ", " };
            writeln!(out, "    at {offset:#x}{comma}{}", finding.path)?;
        }
        if let Some(help) = finding.help {
            writeln!(out, "    {DIM}help:{DIM:#} {help}")?;
        }
    }
    if file.omitted > 0 {
        writeln!(out, "  {DIM}and {} more (--max-findings){DIM:#}", file.omitted)?;
    }
    Ok(())
}
