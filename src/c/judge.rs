//! The judgement of a file of any kind, and what a report keeps of it.

use core::ptr::NonNull;

use pte_rs::check::{
    CheckDocument, CheckedFile, Checker, FindingRecord, Report, Severity, judge_on_one_thread,
    judged_kind, sarif,
};
use pte_rs::payload::{Bundle, Unreadable};
use pte_rs::quoted::UntrustedString;
use pte_rs::{File, ForeignFormat, Handle, OpenError, Ptd};

use crate::abi::{pte_severity, pte_status};
use crate::memory::{self, Owned};
use crate::options::{DataFile, Options};

/// A judged file.
#[derive(Debug)]
pub(crate) struct Judged {
    file: CheckedFile,
    /// The number of notes, warnings and errors, with those that were not kept.
    counts: [u64; 3],
    findings: Vec<Texts>,
}

/// The texts of a finding, each with a NUL behind it.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) rule: String,
    pub(crate) severity: pte_severity,
    pub(crate) offset: Option<u64>,
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) why: String,
    pub(crate) help: String,
    pub(crate) data_file: String,
}

/// Judges the bytes of a file. What the report keeps is copied, so that a check's memory is free when it ends.
pub(crate) fn check(bytes: &[u8], options: &Options) -> Result<NonNull<Owned<Judged>>, pte_status> {
    judge_on_one_thread();
    memory::within_reserve(options.memory(), || {
        let (file, counts) = judge(bytes, options)?;
        Owned::new(room_of(&file), || Ok(Judged::new(&file, counts)))
    })
}

impl Judged {
    fn new(file: &CheckedFile, counts: [u64; 3]) -> Self {
        let findings = file.findings.iter().map(Texts::new).collect();
        Self { file: file.clone(), counts, findings }
    }

    pub(crate) fn count(&self, severity: pte_severity) -> u64 {
        self.counts.get(place(severity)).copied().unwrap_or_default()
    }

    pub(crate) fn omitted(&self) -> u64 {
        self.file.omitted
    }

    pub(crate) fn findings(&self) -> &[Texts] {
        &self.findings
    }

    /// Returns the document `pte.check/1`.
    pub(crate) fn json(&self) -> Result<Vec<u8>, pte_status> {
        written(&CheckDocument::new(core::slice::from_ref(&self.file)))
    }

    /// Returns the report as SARIF 2.1.0.
    pub(crate) fn sarif(&self) -> Result<Vec<u8>, pte_status> {
        written(&sarif(core::slice::from_ref(&self.file), &[]))
    }

    /// Returns the memory that a document of the report may need.
    pub(crate) fn document_memory(&self) -> usize {
        let findings = self.file.findings.len().saturating_mul(OF_DOCUMENTED_FINDING);
        room_of(&self.file).saturating_mul(16).saturating_add(findings).saturating_add(OF_RULES)
    }
}

impl Texts {
    fn new(finding: &FindingRecord) -> Self {
        let severity = match finding.severity {
            "error" => pte_severity::PTE_ERROR,
            "warning" => pte_severity::PTE_WARNING,
            _ => pte_severity::PTE_NOTE,
        };
        Self {
            rule: terminated(finding.rule),
            severity,
            offset: finding.offset,
            path: terminated(&finding.path),
            message: terminated(&finding.message),
            why: terminated(finding.why.unwrap_or_default()),
            help: terminated(finding.help.unwrap_or_default()),
            data_file: finding.data_file.as_ref().map_or_else(|| terminated(""), terminated),
        }
    }
}

/// Returns the text of a document, with a line break at its end.
pub(crate) fn written(document: &impl serde::Serialize) -> Result<Vec<u8>, pte_status> {
    let mut text = serde_json::to_vec_pretty(document).map_err(|_| pte_status::PTE_BUG)?;
    text.push(b'\n');
    Ok(text)
}

fn terminated(text: impl core::fmt::Display) -> String {
    format!("{text}\0")
}

fn place(severity: pte_severity) -> usize {
    match severity {
        pte_severity::PTE_NOTE => 0,
        pte_severity::PTE_WARNING => 1,
        pte_severity::PTE_ERROR => 2,
    }
}

/// Judges a file as `pte check` does.
fn judge(bytes: &[u8], options: &Options) -> Result<(CheckedFile, [u64; 3]), pte_status> {
    let name = UntrustedString::from(options.name.as_str());
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let format = ForeignFormat::of_ends(head, bytes);
    if let ForeignFormat::BundledProgram(_) = format {
        memory::reserve(of_tables(bytes.len()))?;
        let bundle = match Bundle::read(bytes, &options.limits) {
            Ok(bundle) => bundle,
            Err(why) => return Ok(unreadable(name, why)),
        };
        let Some(range) = bundle.program() else {
            return Ok(alone(CheckedFile::unreadable(name, "the bundle has no program", None)));
        };
        let program = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let program = program.and_then(|(start, end)| bytes.get(start..end)).unwrap_or_default();
        return judge_file(program, Some(range.start), name, options);
    }
    if judged_kind(format).is_none() {
        return judge_file(bytes, None, name, options);
    }
    memory::reserve(of_tables(bytes.len()).saturating_add(of_findings(options)))?;
    let checker = Checker::new().limits(options.limits).policy(options.policy());
    match checker.check_other(bytes, format) {
        Ok(Some(report)) => Ok((CheckedFile::other(name, format, &report), counts(&report))),
        Ok(None) => judge_file(bytes, None, name, options),
        Err(why) => Ok(alone(CheckedFile::damaged(name, format, &why))),
    }
}

/// Judges a program, which may start at `bundled` in a bundle, or a data file.
fn judge_file(
    bytes: &[u8],
    bundled: Option<u64>,
    name: UntrustedString,
    options: &Options,
) -> Result<(CheckedFile, [u64; 3]), pte_status> {
    // The tables are proven and judged in a copy.
    let handle = match Handle::open(bytes, &options.limits) {
        Ok(handle) => handle,
        Err(OpenError::Refused(error)) => return Ok(alone(CheckedFile::refused(name, &error))),
        Err(_) => return Err(pte_status::PTE_NO_MEMORY),
    };
    let file = handle.file();
    memory::reserve(of_file(&handle).saturating_add(of_findings(options)))?;
    let is_program = matches!(file, File::Pte(_));
    let used = options.data.iter().filter(|_| is_program);
    let names: Vec<_> = used.clone().map(|file| file.name.as_str().into()).collect();
    let data: Vec<Ptd<'_>> = used.map(|file| read(file, options)).collect::<Result<_, _>>()?;
    let build = options.build()?;
    let mut checker = Checker::new().limits(options.limits).policy(options.policy());
    checker = checker.build(&build).bundled(bundled).scan(options.scans());
    // Without data files, keys of data are not looked for.
    if !data.is_empty() {
        checker = checker.data(&data);
    }
    let report = checker.check(&handle).map_err(|_| pte_status::PTE_NO_MEMORY)?;
    let mut checked = CheckedFile::new(name, &file);
    checked.add(&handle, &names, &report);
    Ok((checked, counts(&report)))
}

fn read(file: &DataFile, options: &Options) -> Result<Ptd<'static>, pte_status> {
    let ptd = Ptd::read_with(file.bytes, &options.limits).map_err(|_| pte_status::PTE_REFUSED)?;
    memory::reserve(of_tables(ptd.region().len()))?;
    Ok(ptd)
}

fn unreadable(name: UntrustedString, why: Unreadable) -> (CheckedFile, [u64; 3]) {
    alone(match why {
        Unreadable::Graph(error) => CheckedFile::refused(name, &error),
        why => CheckedFile::unreadable(name, UntrustedString::of(&why), None),
    })
}

/// Returns a file whose one finding is an Error.
fn alone(file: CheckedFile) -> (CheckedFile, [u64; 3]) {
    (file, [0, 0, 1])
}

fn counts(report: &Report) -> [u64; 3] {
    [Severity::Note, Severity::Warning, Severity::Error].map(|severity| report.count(severity))
}

/// The first bytes of a file, which show its format.
const HEAD: usize = 64;

/// Returns the memory that judging a file may need at most, besides its findings.
pub(crate) fn of_file(handle: &Handle<&[u8]>) -> usize {
    let tables = usize::try_from(handle.region_len()).unwrap_or(usize::MAX);
    let payloads = match handle.file() {
        File::Pte(pte) => {
            let lengths = pte.payloads().filter_map(Result::ok).map(|payload| payload.len());
            usize::try_from(lengths.max().unwrap_or_default()).unwrap_or(usize::MAX)
        }
        File::Ptd(_) => 0,
    };
    of_tables(tables).saturating_add(of_tables(payloads))
}

/// Returns the memory for tables of `len` bytes. `cargo bench --bench hostile` measures 8 bytes for each.
fn of_tables(len: usize) -> usize {
    len.saturating_mul(OF_TABLE_BYTE).saturating_add(FLOOR)
}

const OF_TABLE_BYTE: usize = 24;
const FLOOR: usize = 1 << 20;

/// Returns the memory for the findings of every rule.
fn of_findings(options: &Options) -> usize {
    let kept = usize::try_from(options.limits.findings_per_rule).unwrap_or(usize::MAX);
    kept.saturating_mul(OF_FINDING).saturating_mul(pte_rs::check::rules().count())
}

/// The memory of a finding while a file is judged: its message, its path, and its record.
const OF_FINDING: usize = 1024;

/// The memory of a finding in a document, besides its texts.
const OF_DOCUMENTED_FINDING: usize = 8192;

/// The memory of the rules in a document.
const OF_RULES: usize = 8 << 20;

/// Returns the memory that a report of `file` needs.
fn room_of(file: &CheckedFile) -> usize {
    let of = |finding: &FindingRecord| {
        let texts =
            [finding.why.unwrap_or_default(), finding.help.unwrap_or_default(), finding.rule];
        let texts = texts.iter().fold(0usize, |sum, text| sum.saturating_add(text.len()));
        let untrusted = [Some(&finding.message), Some(&finding.path), finding.data_file.as_ref()];
        // Escaped, a character of one byte has up to 8: `\u{7f}` has 6. A growing text has twice its room.
        let untrusted = untrusted.into_iter().flatten();
        let untrusted = untrusted.fold(0usize, |sum, text| sum.saturating_add(text.raw().len()));
        texts.saturating_mul(3).saturating_add(untrusted.saturating_mul(24)).saturating_add(1536)
    };
    file.findings
        .iter()
        .fold(4096usize, |sum, finding| sum.saturating_add(of(finding)))
        .saturating_add(file.path.raw().len())
}
