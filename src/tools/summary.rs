//! A summary of a file, as `pte info` shows it: sizes, methods, operators, data and findings.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
//! use pte::summary::{ContentSummary, Summary};
//!
//! let summary = Summary::of(&pte::File::Pte(pte::Pte::read(bytes)?));
//! assert_eq!(summary.bytes, bytes.len() as u64);
//! if let ContentSummary::Pte(program) = &summary.contents {
//!     for method in &program.methods {
//!         println!("{:?}: {} instructions", method.name, method.instructions);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `serde` a [`SummaryDocument`] serializes as the document `pte.info/1`. The field
//! names of these types are those of the document.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use pte_check::Check as _;
use pte_core::file::header::{ExtendedHeader, FlatTensorHeader};
use pte_core::payload::Payload;
use pte_core::{File, Handle, Limits, OpenError, Ptd, Pte, Source};
use pte_flat::bytes::wide;
use pte_flat::quoted::UntrustedString;

mod data;
mod graphs;
mod other;
mod program;
mod sections;

pub use data::{DtypeSummary, EntrySummary, PtdSummary};
pub use other::{PayloadSummary, ProfileSummary, RecordSummary};
pub use program::{
    BackendSummary, ConstantValue, DatatypeSummary, GraphSummary, LibrarySummary, MethodSummary,
    OperatorSummary, ProgramSummary, SectionAmount, SectionSummary, ValueKind, ValueSummary,
    WeightSummary,
};

/// The document `pte.info/1`: summaries of files.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SummaryDocument {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The files, in the given order.
    pub files: Vec<NamedSummary>,
}

/// A summary with the name of its file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamedSummary {
    /// The path or the name of the file.
    pub path: UntrustedString,
    /// The summary of the file.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub summary: Summary,
}

/// A summary of one file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Summary {
    /// `pte`, `ptd`, `payload` or `etdump`.
    pub kind: &'static str,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The bundled program that contains this program, if any.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub bundle: Option<BundleSummary>,
    /// The header; `None` for a program without one.
    pub header: Option<HeaderSummary>,
    /// The bytes of the file, by part.
    pub parts: PartSizes,
    /// The contents, depending on the kind.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub contents: ContentSummary,
    /// The number of findings of each rule, by its id.
    pub findings: BTreeMap<&'static str, u64>,
}

/// A bundled program. The summary describes the program in it.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BundleSummary {
    /// The size of the bundle in bytes.
    pub bytes: u64,
    /// The start of the program in the bundle. Other offsets count from there.
    pub program_offset: u64,
}

/// The fields of a header. Fields that only the other kind of file has are `None`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeaderSummary {
    /// The length of the header in bytes.
    pub length: u32,
    /// For a `.pte`, the length of the program FlatBuffer in bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub program_size: Option<u64>,
    /// For a `.ptd`, the offset of the FlatTensor FlatBuffer in bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub flatbuffer_offset: Option<u64>,
    /// For a `.ptd`, the length of the FlatTensor FlatBuffer in bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub flatbuffer_size: Option<u64>,
    /// The offset in bytes that segments are counted from.
    pub segment_base_offset: u64,
    /// The number of bytes of all segments; `None` in a header of 24 bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub segment_data_size: Option<u64>,
}

/// The bytes of a file, by part. Their sum is the size of the file.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PartSizes {
    /// The bytes of the FlatBuffer, including the headers in front of it.
    pub flatbuffer: u64,
    /// The bytes between the FlatBuffer and the first segment. Gaps between segments count as
    /// `segments` here, although a [`Map`](crate::map::Map) counts all gaps as padding.
    pub padding: u64,
    /// The bytes from the first segment to the end of the last, with the gaps between them.
    pub segments: u64,
    /// The bytes after the last segment.
    pub trailing: u64,
}

/// The contents of a file, depending on its kind.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum ContentSummary {
    /// A program.
    Pte(Box<ProgramSummary>),
    /// Named tensors and blobs.
    Ptd(Box<PtdSummary>),
    /// A delegate's payload as a standalone file.
    Payload(Box<PayloadSummary>),
    /// A profile of runs.
    Profile(Box<ProfileSummary>),
    /// An ETRecord: a record of an export.
    Record(Box<RecordSummary>),
}

/// The number of some tensors or blobs, and the number of their bytes. Shared data counts once,
/// unless the documentation of a field says otherwise.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DataAmount {
    /// The number of tensors or blobs.
    pub count: u64,
    /// The number of bytes of these tensors or blobs.
    pub bytes: u64,
}

impl SummaryDocument {
    /// Returns the document of these files.
    pub fn new(files: impl IntoIterator<Item = NamedSummary>) -> Self {
        Self { schema: "pte.info/1", files: files.into_iter().collect() }
    }
}

impl Summary {
    /// Summarizes `file` from its FlatBuffer. No segment is read.
    #[must_use]
    pub fn of(file: &File<'_>) -> Self {
        Self::of_method(file, None)
    }

    fn of_method(file: &File<'_>, method: Option<&str>) -> Self {
        let (kind, header, parts, contents) = match file {
            File::Pte(pte) => {
                let header = pte.header().map(HeaderSummary::of_pte);
                let contents = ContentSummary::Pte(Box::new(ProgramSummary::of(pte, method)));
                ("pte", header, PartSizes::of_pte(pte), contents)
            }
            File::Ptd(ptd) => {
                let header = Some(HeaderSummary::of_ptd(ptd.header()));
                let contents = ContentSummary::Ptd(Box::new(PtdSummary::of(ptd)));
                ("ptd", header, PartSizes::of_ptd(ptd), contents)
            }
        };
        let findings = file.check().counts().map(|(rule, count)| (rule.id, count)).collect();
        let bytes = file.file_len();
        Self { kind, bytes, bundle: None, header, parts, contents, findings }
    }

    /// Summarizes an opened file, as [`of`](Self::of) does, and reads the graphs and headers in the
    /// payloads of its delegates. No constant is read.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use pte::summary::{ContentSummary, Summary};
    /// use pte::{Handle, Limits};
    ///
    /// # let bytes: &[u8] = include_bytes!("../../tests/data/pte/xnn_gpt.pte");
    /// let handle = Handle::open(bytes, &Limits::UNTRUSTED)?;
    /// let summary = Summary::read(&handle, &Limits::UNTRUSTED)?;
    /// let ContentSummary::Pte(program) = summary.contents else { return Err("not a .pte".into()) };
    /// let graphs = program.backends[0].graphs.as_ref().ok_or("no graph")?;
    /// assert_eq!(graphs.operators[0].name.to_string(), "XNNStaticReshape");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn read<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Self, OpenError<S::Error>> {
        Self::read_method(handle, None, limits)
    }

    /// Summarizes an opened file, as [`read`](Self::read) does, but only the first method called
    /// `method` of a program, with its operators, backends and tensors. Named data and the parts
    /// are those of the whole file.
    pub fn read_method<S: Source>(
        handle: &Handle<S>,
        method: Option<&str>,
        limits: &Limits,
    ) -> Result<Self, OpenError<S::Error>> {
        let mut summary = Self::of_method(&handle.file(), method);
        if let ContentSummary::Pte(program) = &mut summary.contents {
            let scope = Scope::of(&handle.file(), method);
            let named = graphs::named_sizes(handle);
            graphs::add(handle, (&scope, &named), limits, &mut program.backends)?;
            sections::add(handle, (&scope, &named), limits, &mut program.backends)?;
        }
        Ok(summary)
    }

    /// Records that the file is the program at `program_offset` in a bundled program of `bytes`.
    #[must_use]
    pub fn bundled(self, bytes: u64, program_offset: u64) -> Self {
        Self { bundle: Some(BundleSummary { bytes, program_offset }), ..self }
    }

    /// Adds the name of the file.
    #[must_use]
    pub fn named(self, path: impl Into<UntrustedString>) -> NamedSummary {
        NamedSummary { path: path.into(), summary: self }
    }
}

/// The payloads to summarize: those of all methods, or of one.
struct Scope {
    /// The ranges in the file of the payloads of one method; `None` for all methods.
    of_method: Option<BTreeSet<(u64, u64)>>,
}

impl Scope {
    fn of(file: &File<'_>, method: Option<&str>) -> Self {
        let (File::Pte(pte), Some(method)) = (file, method) else {
            return Self { of_method: None };
        };
        let plan = program::plans(pte, Some(method)).next();
        let delegates = plan.into_iter().flat_map(|plan| plan.delegates().into_iter().flatten());
        let ranges = delegates.filter_map(|delegate| pte.delegate_range(delegate).ok()?);
        Self { of_method: Some(ranges.map(|range| (range.start, range.end)).collect()) }
    }

    fn has(&self, payload: &Payload<'_>) -> bool {
        let Range { start, end } = payload.range();
        self.of_method.as_ref().is_none_or(|ranges| ranges.contains(&(start, end)))
    }
}

impl HeaderSummary {
    fn of_pte(header: ExtendedHeader) -> Self {
        Self {
            length: header.length,
            program_size: Some(header.program_size),
            flatbuffer_offset: None,
            flatbuffer_size: None,
            segment_base_offset: header.segment_base_offset,
            segment_data_size: (header.length >= ExtendedHeader::CURRENT)
                .then_some(header.segment_data_size),
        }
    }

    fn of_ptd(header: FlatTensorHeader) -> Self {
        Self {
            length: header.length,
            program_size: None,
            flatbuffer_offset: Some(header.flatbuffer_offset),
            flatbuffer_size: Some(header.flatbuffer_size),
            segment_base_offset: header.segment_base_offset,
            segment_data_size: Some(header.segment_data_size),
        }
    }
}

impl PartSizes {
    fn of_pte(pte: &Pte<'_>) -> Self {
        let ranges = (0..pte.segment_count()).filter_map(|nth| pte.segment_range(nth).ok());
        Self::of(wide(pte.region().len()), pte.file_len(), ranges)
    }

    fn of_ptd(ptd: &Ptd<'_>) -> Self {
        let end = wide(ptd.region().len()).saturating_add(ptd.region_start());
        let ranges = (0..ptd.segment_count()).filter_map(|nth| ptd.segment_range(nth).ok());
        let declared = ptd.declared_end().min(ptd.file_len());
        Self::of(end, ptd.file_len(), ranges.chain(core::iter::once(declared..declared)))
    }

    fn of(flatbuffer: u64, len: u64, ranges: impl Iterator<Item = Range<u64>>) -> Self {
        let (mut first, mut last) = (len, flatbuffer);
        for range in ranges {
            // An empty segment may be the last one. Then the bytes in front of it are padding.
            last = last.max(range.end);
            if !range.is_empty() {
                first = first.min(range.start);
            }
        }
        // Without segments, all bytes after the FlatBuffer are trailing.
        let first = first.min(last);
        Self {
            flatbuffer,
            padding: first.saturating_sub(flatbuffer),
            segments: last.saturating_sub(first),
            trailing: len.saturating_sub(last),
        }
    }
}

impl DataAmount {
    /// Sums up data. The map has the length of each range by its start.
    fn of(ranges: &BTreeMap<u64, u64>) -> Self {
        let mut data = Self::default();
        ranges.values().for_each(|&bytes| data.add(bytes));
        data
    }

    fn add(&mut self, bytes: u64) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Returns whether a number is 0, so that a document leaves it out.
#[cfg(feature = "serde")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Serializes a value as its text.
#[cfg(feature = "serde")]
fn displayed<S: serde::Serializer>(
    value: &impl core::fmt::Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Serializes an optional value as its text, or as null.
#[cfg(feature = "serde")]
fn displayed_or_null<S: serde::Serializer>(
    value: &Option<impl core::fmt::Display>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
