//! Judges one file into a row.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Instant;

use sha2::{Digest, Sha256};

use super::row::{BackendCell, Cell, CountCell, Row, SCHEMA};
use pte_check::{self, Checker, Report, Severity};
use pte_core::file::chunks;
use pte_core::{Backend, File, Handle, Limits, OpenError, Source};
use pte_flat::bytes::{len_of, wide};
use pte_flat::quoted::{Untrusted, UntrustedString, hex};
use pte_schema::program::TensorDataLocation;
use pte_schema::program::view::KernelTypes;
use pte_tools::summary::{ContentSummary, Summary};

/// Decides how much of each file is read and judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The headers, the FlatBuffer, and the rules on its tables. No segment is read.
    Header,
    /// Every rule, and the graphs in payloads.
    #[default]
    Check,
    /// Like [`Check`](Self::Check), and the sha256 of the whole file.
    Hash,
}

impl Depth {
    /// Returns the name of the depth, as it appears in rows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Check => "check",
            Self::Hash => "hash",
        }
    }
}

/// The settings of judging, which all threads share.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    pub(super) depth: Depth,
    pub(super) limits: Limits,
    pub(super) rules: Cell,
}

impl Judge {
    pub(super) fn new(depth: Depth, limits: Limits) -> Self {
        Self { depth, limits, rules: rules_version() }
    }

    /// Returns the row of a file that is not read yet. Only the name is known.
    pub(super) fn row(&self, uri: &str) -> Row {
        Row {
            schema: SCHEMA,
            uri: Cell::of(uri),
            status: "unreadable",
            depth: self.depth.name(),
            tool: env!("CARGO_PKG_VERSION"),
            rules: self.rules.clone(),
            ..Row::default()
        }
    }

    /// Judges `source`, and adds the results to `row`.
    pub(crate) fn judge(&self, source: impl Source<Error = io::Error>, row: &mut Row) {
        let begun = Instant::now();
        let source = Counted { source, reads: AtomicU64::new(0), bytes: AtomicU64::new(0) };
        if let Err(error) = self.fill(&source, row) {
            match error {
                OpenError::Refused(error) => {
                    row.status = "refused";
                    row.code = Some(error.code());
                    row.offset = Some(error.offset());
                    row.message = Some(Cell::of(&UntrustedString::of(&error)));
                }
                error => set_unreadable(row, &error.to_string()),
            }
        }
        row.requests = source.reads.load(Ordering::Relaxed);
        row.bytes_read = source.bytes.load(Ordering::Relaxed);
        row.time_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    }

    fn fill(
        &self,
        source: &Counted<impl Source<Error = io::Error>>,
        row: &mut Row,
    ) -> Result<(), OpenError<io::Error>> {
        let size = source.size().map_err(OpenError::Source)?;
        row.size = Some(size);
        if self.depth == Depth::Hash {
            row.sha256 = Some(digest(&source, size)?);
        }
        let handle = Handle::open(source, &self.limits)?;
        let file = handle.file();
        let (summary, report) = match self.depth {
            Depth::Header => {
                (Summary::of(&file), Checker::new().limits(self.limits).check_tables(&file))
            }
            Depth::Check | Depth::Hash => {
                let report = Checker::new().limits(self.limits).check(&handle)?;
                (Summary::read(&handle, &self.limits)?, report)
            }
        };
        add_summary(row, &summary);
        add_externals(row, &file);
        add_report(row, &report);
        Ok(())
    }
}

/// Marks `row` as that of a file that could not be read.
pub(super) fn set_unreadable(row: &mut Row, message: &str) {
    row.status = "unreadable";
    row.message = Some(Cell::of(message));
}

fn add_summary(row: &mut Row, summary: &Summary) {
    row.kind = Some(summary.kind);
    row.flatbuffer_bytes = Some(summary.parts.flatbuffer);
    row.padding_bytes = Some(summary.parts.padding);
    row.segment_bytes = Some(summary.parts.segments);
    row.trailing_bytes = Some(summary.parts.trailing);
    let program = match &summary.contents {
        ContentSummary::Pte(program) => program,
        ContentSummary::Ptd(data) => {
            row.version = Some(data.generation.into());
            return;
        }
        ContentSummary::Payload(_) | ContentSummary::Profile(_) | ContentSummary::Record(_) => {
            return;
        }
    };
    row.version = Some(program.version.into());
    let names = program.methods.iter().filter_map(|method| method.name.as_ref());
    row.methods = row.first(names, Cell::of);
    row.operators = row.first(&program.operators, |of| CountCell::new(&of.name, of.calls));
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for backend in &program.backends {
        let known = Backend::of_id(backend.id.raw()).map_or("unknown", Backend::name);
        let count = kinds.entry(known).or_default();
        *count = count.saturating_add(backend.delegates);
    }
    row.payloads = row.first(kinds, |(name, count)| CountCell::new(name, count));
    row.backends = row.first(&program.backends, |of| BackendCell {
        id: Cell::of(&of.id),
        delegates: of.delegates,
        bytes: of.bytes,
        nodes: of.graphs.as_ref().map_or(0, |graphs| graphs.nodes),
    });
    row.external_tensors = program.external.count;
    row.external_bytes = program.external.bytes;
}

/// Adds the keys of tensors whose data is in another file.
fn add_externals(row: &mut Row, file: &File<'_>) {
    let File::Pte(pte) = file else { return };
    let plans = pte.program().execution_plan().into_iter().flatten();
    let mut keys = BTreeSet::new();
    for value in plans.flat_map(|plan| plan.values().into_iter().flatten()) {
        let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
        let Some(extra) = tensor.extra_tensor_info() else { continue };
        if extra.location() == TensorDataLocation::EXTERNAL
            && let Some(key) = extra.fully_qualified_name()
        {
            keys.insert(key);
        }
    }
    row.external_keys = row.first(keys, |key| Cell::of(Untrusted::from(key)));
}

fn add_report(row: &mut Row, report: &Report) {
    row.status = report.verdict().name();
    row.missing_keys = row.first(report.missing().keys(), Cell::of);
    row.is_cut |=
        row.missing_keys.len() < usize::try_from(report.missing().count()).unwrap_or(usize::MAX);
    row.missing = report.missing().count();
    row.findings = row.first(report.counts(), |(rule, count)| CountCell::new(rule.id, count));
    for (rule, count) in report.counts() {
        let all = match rule.severity {
            Severity::Error => &mut row.errors,
            Severity::Warning => &mut row.warnings,
            Severity::Note => &mut row.notes,
        };
        *all = all.saturating_add(count);
    }
    let first = report.findings().iter().find(|finding| finding.severity == Severity::Error);
    if let Some(first) = first {
        row.code = Some(first.rule.id);
        row.offset = Some(first.offset);
        row.message = Some(Cell::of(first.message.as_str()));
    }
}

fn digest(
    source: &impl Source<Error = io::Error>,
    size: u64,
) -> Result<Cell, OpenError<io::Error>> {
    let mut sha = Sha256::new();
    let mut buffer = vec![0u8; CHUNK];
    for chunk in chunks(0..size, wide(CHUNK)) {
        let len = usize::try_from(len_of(&chunk)).unwrap_or(CHUNK);
        let piece = buffer.get_mut(..len).unwrap_or_default();
        source.read_at(chunk.start, piece).map_err(OpenError::Source)?;
        sha.update(&*piece);
    }
    Ok(Cell::of(hex(&sha.finalize()).as_str()))
}

/// Returns a digest of the ids and severities of all rules.
fn rules_version() -> Cell {
    let mut sha = Sha256::new();
    for rule in pte_check::rules() {
        sha.update(rule.id);
        sha.update(rule.severity.name());
    }
    Cell::of(hex(sha.finalize().get(..4).unwrap_or_default()).as_str())
}

/// A source that counts reads.
struct Counted<S> {
    source: S,
    reads: AtomicU64,
    bytes: AtomicU64,
}

impl<S: Source> Source for &Counted<S> {
    type Error = S::Error;

    fn size(&self) -> Result<u64, S::Error> {
        self.source.size()
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), S::Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(u64::try_from(out.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.source.read_at(pos, out)
    }

    fn will_read(&self, ranges: &mut dyn Iterator<Item = Range<u64>>) -> Result<(), S::Error> {
        self.source.will_read(ranges)
    }
}

/// The number of bytes that are hashed at once.
const CHUNK: usize = 1 << 18;
