//! What is known of a file once it was judged, under the names of its JSON.

use pte::check::{Report, Severity};
use pte::quoted::UntrustedString;
use pte::{Error, File, Handle, Source};
use serde::Serialize;

use crate::cli::problem::{Problem, Status, io_help};
use crate::cli::rules::UNREADABLE;

#[derive(Serialize)]
pub(super) struct Document<'d> {
    pub(super) schema: &'static str,
    pub(super) files: &'d [Judged],
}

/// A file and its findings.
#[derive(Serialize)]
pub(in crate::cli) struct Judged {
    pub(super) path: UntrustedString,
    pub(super) kind: Option<&'static str>,
    pub(super) verdict: &'static str,
    pub(in crate::cli) findings: Vec<Finding>,
    /// Findings that were counted and not kept.
    pub(super) omitted: u64,
    #[serde(skip)]
    pub(super) status: Status,
}

#[derive(Serialize)]
pub(in crate::cli) struct Finding {
    pub(super) rule: String,
    pub(super) severity: &'static str,
    pub(super) message: UntrustedString,
    pub(super) offset: Option<u64>,
    pub(super) path: UntrustedString,
    /// The companion that the place is in, where it is not in this file.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub(super) inside: Option<UntrustedString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<&'static str>,
    /// The bytes there, and where they begin.
    #[serde(skip)]
    pub(super) window: Option<(u64, Vec<u8>)>,
}

impl Judged {
    /// A file whose structure is proven, with no finding yet.
    pub(in crate::cli) fn new(path: UntrustedString, file: &File<'_>) -> Self {
        let kind = match file {
            File::Pte(_) => "pte",
            File::Ptd(_) => "ptd",
        };
        Self {
            path,
            kind: Some(kind),
            verdict: "ok",
            findings: Vec::new(),
            omitted: 0,
            status: Status::Good,
        }
    }

    /// A file that could not be read, or was refused.
    pub(super) fn problem(path: UntrustedString, problem: &Problem) -> Self {
        let finding = match problem {
            Problem::Refused { error, .. } => Finding::refusal(error),
            _ => Finding {
                rule: UNREADABLE.into(),
                severity: Severity::Error.name(),
                message: match problem {
                    Problem::Absent { message, .. } => message.clone(),
                    Problem::Io { error, .. } => error.clone(),
                    problem => UntrustedString::of(problem),
                },
                offset: None,
                path: UntrustedString::default(),
                inside: None,
                help: match problem {
                    Problem::Io { kind, .. } => io_help(*kind),
                    _ => None,
                },
                window: None,
            },
        };
        Self {
            path,
            kind: None,
            verdict: "error",
            findings: vec![finding],
            omitted: 0,
            status: problem.status(),
        }
    }

    /// Adds what a report found; `companions` are the names of the data files that it was judged with.
    pub(in crate::cli) fn add(
        &mut self,
        opened: &Handle<impl Source>,
        companions: &[UntrustedString],
        report: &Report,
    ) {
        self.findings.extend(report.findings().iter().map(|finding| {
            let inside = finding.data.and_then(|nth| companions.get(nth));
            Finding::of(finding, inside, opened)
        }));
        self.omitted = self.omitted.saturating_add(report.omitted());
        if report.worst() == Some(Severity::Error) {
            (self.verdict, self.status) = ("error", self.status.max(Status::BadNews));
        }
    }
}

impl Finding {
    fn of(
        finding: &pte::check::Finding,
        inside: Option<&UntrustedString>,
        opened: &Handle<impl Source>,
    ) -> Self {
        let begin = finding.offset & !15;
        let end = begin.saturating_add(16).min(opened.file_len());
        let window = opened.read(begin.min(end)..end).ok();
        let window = window.filter(|bytes| !bytes.is_empty() && inside.is_none());
        Self {
            rule: finding.rule.id.into(),
            severity: finding.severity.name(),
            message: finding.message.as_str().into(),
            offset: Some(finding.offset),
            path: UntrustedString::of(&finding.place().path()),
            inside: inside.cloned(),
            help: Some(finding.rule.why),
            window: window.map(|bytes| (begin, bytes)),
        }
    }

    fn refusal(error: &Error) -> Self {
        Self {
            rule: error.code().into(),
            severity: Severity::Error.name(),
            message: UntrustedString::of(error),
            offset: Some(error.offset()),
            path: UntrustedString::of(&error.place().path()),
            inside: None,
            help: Some(error.kind().help()),
            window: None,
        }
    }
}
