//! The document `pte.check/1`: the merged report of several files, as `pte check --json` prints it.
//!
//! With the feature `serde` a [`CheckDocument`] serializes as the document. The field names of these
//! types are those of the document.

use alloc::vec::Vec;

use super::{Finding, MissingKeys, Report, Severity, Verdict, judged_kind};
use pte_core::payload::Unreadable;
use pte_core::{Error, File, ForeignFormat, Handle, Source};
use pte_flat::bytes::wide;
use pte_flat::quoted::UntrustedString;

mod rules;

use rules::UNREADABLE_HELP;
pub use rules::{ABSENT, DOCS_URL, RuleDocument, RuleRecord, RulesDocument, UNREADABLE};

/// The document `pte.check/1`: checked files.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CheckDocument<'d> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The files, in the order given.
    pub files: &'d [CheckedFile],
}

/// A file and its findings.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use pte::check::{CheckedFile, Checker};
/// use pte::{Handle, Limits};
///
/// # let program: &[u8] = include_bytes!("../../tests/data/pte/linear.pte");
/// let handle = Handle::open(program, &Limits::UNTRUSTED)?;
/// let report = Checker::new().check(&handle)?;
/// let mut file = CheckedFile::new("linear.pte", &handle.file());
/// file.add(&handle, &[], &report);
/// assert_eq!(file.verdict, "ok");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CheckedFile {
    /// The path or the name of the file.
    pub path: UntrustedString,
    /// `pte`, `ptd`, or a name of [`judged_kind`]; `None` for a file that was refused, could not be read, or lacks
    /// what was requested.
    pub kind: Option<&'static str>,
    /// The name of the [`Verdict`]: `ok`, `incomplete` or `error`.
    pub verdict: &'static str,
    /// The keys of data that the file needs and that was not given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "MissingKeys::is_empty"))]
    pub missing: MissingKeys,
    /// The findings that were kept, the worst first.
    pub findings: Vec<FindingRecord>,
    /// The number of findings that were counted but not kept.
    pub omitted: u64,
    /// Whether a finding has the severity Error, kept or not.
    #[cfg_attr(feature = "serde", serde(skip))]
    has_errors: bool,
}

/// A finding.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FindingRecord {
    /// The id of the rule, the code of the refusal, [`UNREADABLE`] or [`ABSENT`].
    pub rule: &'static str,
    /// The name of the finding's severity.
    pub severity: &'static str,
    #[cfg_attr(feature = "serde", serde(skip))]
    level: Severity,
    /// What is wrong.
    pub message: UntrustedString,
    /// The offset of the wrong bytes, from the start of the file; `None` if the finding is about
    /// the file as a whole.
    pub offset: Option<u64>,
    /// The path from the root table to these bytes; may be empty.
    pub path: UntrustedString,
    /// The data file with the finding; `None` for the checked file itself.
    #[cfg_attr(feature = "serde", serde(rename = "in", skip_serializing_if = "Option::is_none"))]
    pub data_file: Option<UntrustedString>,
    /// The consequence.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub why: Option<&'static str>,
    /// What to do.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub help: Option<&'static str>,
    /// The bytes around `offset`. They are not part of the document.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub window: Option<ByteWindow>,
}

/// The aligned 16 bytes around a place, fewer at the end of the file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ByteWindow {
    /// The offset of the first byte, from the start of the file.
    pub begin: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl<'d> CheckDocument<'d> {
    /// Returns the document of these files.
    #[must_use]
    pub fn new(files: &'d [CheckedFile]) -> Self {
        Self { schema: "pte.check/1", files }
    }
}

impl CheckedFile {
    /// Returns the record of a file whose structure is proven, without findings.
    #[must_use]
    pub fn new(path: impl Into<UntrustedString>, file: &File<'_>) -> Self {
        let kind = match file {
            File::Pte(_) => "pte",
            File::Ptd(_) => "ptd",
        };
        Self {
            path: path.into(),
            kind: Some(kind),
            verdict: Verdict::Ok.name(),
            missing: MissingKeys::default(),
            findings: Vec::new(),
            omitted: 0,
            has_errors: false,
        }
    }

    /// Returns the record of a file of [`Checker::check_other`](super::Checker::check_other), with the findings of
    /// `report`.
    #[must_use]
    pub fn other(path: impl Into<UntrustedString>, format: ForeignFormat, report: &Report) -> Self {
        let findings = report.findings().iter();
        Self {
            path: path.into(),
            kind: judged_kind(format),
            verdict: report.verdict().name(),
            missing: MissingKeys::default(),
            findings: findings.map(|finding| FindingRecord::of(finding, None, |_| None)).collect(),
            omitted: report.omitted(),
            has_errors: report.worst() == Some(Severity::Error),
        }
    }

    /// Returns the record of a file whose bytes were refused with `error`.
    #[must_use]
    pub fn refused(path: impl Into<UntrustedString>, error: &Error) -> Self {
        Self::unchecked(path.into(), FindingRecord::of_refusal(error))
    }

    /// Returns the record of a file that could not be read. `message` is the reason.
    #[must_use]
    pub fn unreadable(
        path: impl Into<UntrustedString>,
        message: impl Into<UntrustedString>,
        help: Option<&'static str>,
    ) -> Self {
        let help = help.unwrap_or(UNREADABLE_HELP);
        let finding = FindingRecord::without_place(UNREADABLE, message.into(), Some(help));
        Self::unchecked(path.into(), finding)
    }

    /// Returns the record of a file of a format other than `.pte` and `.ptd` that is damaged or exceeds a limit.
    #[must_use]
    pub fn damaged(
        path: impl Into<UntrustedString>,
        format: ForeignFormat,
        why: &Unreadable,
    ) -> Self {
        if let Unreadable::Graph(error) = why {
            return Self::refused(path, error);
        }
        let message = why.in_file(format).into();
        let finding = FindingRecord::without_place(UNREADABLE, message, Some(why.help()));
        let (offset, part) = why.place().unzip();
        let finding = FindingRecord {
            offset,
            path: part.unwrap_or_default().into(),
            why: Some(why.why()),
            ..finding
        };
        Self::unchecked(path.into(), finding)
    }

    /// Returns the record of a file that lacks what was requested. `message` says what is missing.
    #[must_use]
    pub fn absent(path: impl Into<UntrustedString>, message: impl Into<UntrustedString>) -> Self {
        Self::unchecked(path.into(), FindingRecord::without_place(ABSENT, message.into(), None))
    }

    fn unchecked(path: UntrustedString, finding: FindingRecord) -> Self {
        Self {
            path,
            kind: None,
            verdict: Verdict::Error.name(),
            missing: MissingKeys::default(),
            findings: vec![finding],
            omitted: 0,
            has_errors: true,
        }
    }

    /// Returns whether a finding has the severity Error. A file that only lacks data has one if the policy denies
    /// that, and is still `incomplete`.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// Takes out the findings for which `is_accepted` returns true, and returns their number. The verdict is then
    /// that of the other findings. If findings were not kept, they may be Errors, and the verdict stays.
    pub fn accept(&mut self, mut is_accepted: impl FnMut(&FindingRecord) -> bool) -> u64 {
        let before = self.findings.len();
        self.findings.retain(|finding| !is_accepted(finding));
        let taken = before.saturating_sub(self.findings.len());
        if taken > 0 && self.omitted == 0 {
            let each = self.findings.iter().map(|finding| (finding.rule, finding.level));
            let verdict = Verdict::of(each);
            self.verdict = verdict.name();
            self.has_errors = self.findings.iter().any(|of| of.level == Severity::Error);
            if verdict == Verdict::Ok {
                self.missing = MissingKeys::default();
            }
        }
        wide(taken)
    }

    /// Adds the findings of `report`. Reads the 16 bytes around each finding in the file.
    ///
    /// `data_files` are the names of the files that were given to
    /// [`Checker::data`](super::Checker::data), in the same order.
    pub fn add(
        &mut self,
        handle: &Handle<impl Source>,
        data_files: &[UntrustedString],
        report: &Report,
    ) {
        self.findings.extend(report.findings().iter().map(|finding| {
            let data_file = finding.data.and_then(|nth| data_files.get(nth));
            FindingRecord::of(finding, data_file, |offset| ByteWindow::around(offset, handle))
        }));
        self.omitted = self.omitted.saturating_add(report.omitted());
        if self.verdict != Verdict::Error.name() {
            self.verdict = report.verdict().name();
        }
        self.missing = report.missing().clone();
        self.has_errors |= report.worst() == Some(Severity::Error);
    }
}

impl FindingRecord {
    /// Returns a finding of a file as a whole.
    fn without_place(
        rule: &'static str,
        message: UntrustedString,
        help: Option<&'static str>,
    ) -> Self {
        Self {
            rule,
            severity: Severity::Error.name(),
            level: Severity::Error,
            message,
            offset: None,
            path: UntrustedString::default(),
            data_file: None,
            why: None,
            help,
            window: None,
        }
    }

    fn of(
        finding: &Finding,
        data_file: Option<&UntrustedString>,
        window: impl FnOnce(u64) -> Option<ByteWindow>,
    ) -> Self {
        let window = match data_file {
            None => window(finding.offset),
            Some(_) => None,
        };
        Self {
            rule: finding.rule.id,
            severity: finding.severity.name(),
            level: finding.severity,
            message: finding.message.as_str().into(),
            offset: Some(finding.offset),
            path: UntrustedString::of(&finding.place().path()),
            data_file: data_file.cloned(),
            why: Some(finding.rule.why),
            help: Some(finding.rule.help),
            window,
        }
    }

    fn of_refusal(error: &Error) -> Self {
        let (kind, path) = (error.kind(), UntrustedString::of(&error.place().path()));
        let finding =
            Self::without_place(error.code(), UntrustedString::of(error), Some(kind.help()));
        Self { offset: Some(error.offset()), path, why: Some(kind.why()), ..finding }
    }
}

impl ByteWindow {
    fn around(offset: u64, handle: &Handle<impl Source>) -> Option<Self> {
        let begin = offset & !15;
        let end = begin.saturating_add(16).min(handle.file_len());
        let bytes = handle.read(begin.min(end)..end).ok()?;
        (!bytes.is_empty()).then_some(Self { begin, bytes })
    }
}
