//! Reads a proven file as a model.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Blob, Container, FileModel, HeaderForm, LegacyPtdModel, PtdModel, PteModel, Ranges};
use crate::ptd;
use crate::ptd::Generation;
use crate::pte;
use crate::verify::Verified;
use pte_flat::bytes::{len_of, wide};
use pte_flat::ledger::{Ledger, MemoryError, Refused};
use pte_flat::model::FromView;
use pte_flat::tree::Unknown;
use pte_flat::view::Table;
use pte_flat::write::WriterLayout;
use pte_schema::{flat_tensor, flat_tensor_legacy, program};

impl<'a> pte::Pte<'a> {
    /// Returns the program and its segments as plain values.
    ///
    /// Segments are borrowed from the file in memory. If only the FlatBuffer was read, use
    /// [`to_model_from`](Self::to_model_from).
    ///
    /// A file may list one table many times, and each entry becomes a struct. So the memory for
    /// structs has a budget: 22 bytes for each byte of the FlatBuffer, plus 1 MiB. This includes
    /// the memory for writing them. Genuine files take at most 7 bytes.
    ///
    /// # Errors
    ///
    /// The budget is exceeded, or the system has no memory left.
    pub fn to_model(&self) -> Result<PteModel<'a>, MemoryError> {
        self.model(|range| Blob::from(self.bytes(range).unwrap_or_default()), owned)
    }

    /// Returns the same as [`to_model`](Self::to_model), but leaves the segments in `source`, which
    /// contains the whole file.
    pub fn to_model_from<'s>(&self, source: &'s dyn Ranges) -> Result<PteModel<'s>, MemoryError> {
        self.model(|range| Blob::Range(source, range), owned)
    }

    /// Returns the file with its tables as views, which copy nothing. The segments stay in
    /// `source`, which contains the whole file.
    ///
    /// # Errors
    ///
    /// The errors of [`to_model`](Self::to_model). Only the list of segments takes memory.
    pub fn to_views_from<'s>(
        &self,
        source: &'s dyn Ranges,
    ) -> Result<FileModel<'s, program::view::Program<'a>>, MemoryError> {
        self.model(|range| Blob::Range(source, range), |view, _| Ok(view))
    }

    fn model<'b, R>(
        &self,
        blob: impl Fn(Range<u64>) -> Blob<'b>,
        root: impl FnOnce(program::view::Program<'a>, &mut Ledger) -> Result<R, Refused>,
    ) -> Result<FileModel<'b, R>, MemoryError> {
        let (header, tables) = (self.header(), wide(self.region().len()));
        let form = FileForm {
            header: header.map(|header| HeaderForm::Inserted {
                length: header.length,
                chunk: header.length.checked_next_multiple_of(16).unwrap_or(u32::MAX).max(32),
            }),
            base: header.map_or(0, |header| header.segment_base_offset),
            data_size: header.map_or(0, |header| header.segment_data_size),
            tables: 0..tables,
            len: self.file_len(),
            verified: self.verified(),
        };
        let ranges = (0..self.segment_count()).map(|nth| self.segment_range(nth));
        form.model(self.program(), ranges, blob, root)
    }
}

impl<'a> ptd::Ptd<'a> {
    /// Returns the tables, in the file's own generation, and the segments as plain values. The
    /// budget is that of a [program](pte::Pte::to_model).
    ///
    /// # Errors
    ///
    /// The budget is exceeded, or the system has no memory left.
    pub fn to_model(&self) -> Result<AnyPtd<'a>, MemoryError> {
        self.owned(|range| Blob::from(self.bytes(range).unwrap_or_default()))
    }

    /// Returns the same as [`to_model`](Self::to_model), but leaves the segments in `source`, which
    /// contains the whole file.
    pub fn to_model_from<'s>(&self, source: &'s dyn Ranges) -> Result<AnyPtd<'s>, MemoryError> {
        self.owned(|range| Blob::Range(source, range))
    }

    /// Returns the file with its tables as views, which copy nothing. The segments stay in
    /// `source`, which contains the whole file.
    ///
    /// # Errors
    ///
    /// The errors of [`to_model`](Self::to_model). Only the list of segments takes memory.
    pub fn to_views_from<'s>(
        &self,
        source: &'s dyn Ranges,
    ) -> Result<PtdViews<'s, 'a>, MemoryError> {
        let blob = |range| Blob::Range(source, range);
        Ok(match self.root() {
            ptd::Root::Current(root) => {
                PtdViews::Current(self.model(root, blob, |view, _| Ok(view))?)
            }
            ptd::Root::Legacy(root) => {
                PtdViews::Legacy(self.model(root, blob, |view, _| Ok(view))?)
            }
        })
    }

    fn owned<'b>(&self, blob: impl Fn(Range<u64>) -> Blob<'b>) -> Result<AnyPtd<'b>, MemoryError> {
        Ok(match self.root() {
            ptd::Root::Current(root) => AnyPtd::Current(self.model(root, blob, owned)?),
            ptd::Root::Legacy(root) => AnyPtd::Legacy(self.model(root, blob, owned)?),
        })
    }

    fn model<'b, T: Table<'a>, R>(
        &self,
        view: T,
        blob: impl Fn(Range<u64>) -> Blob<'b>,
        root: impl FnOnce(T, &mut Ledger) -> Result<R, Refused>,
    ) -> Result<FileModel<'b, R>, MemoryError> {
        let (header, start) = (self.header(), self.region_start());
        let (length, chunk) = (header.length, header.flatbuffer_offset);
        let chunk = u32::try_from(chunk).unwrap_or(u32::MAX);
        let form = FileForm {
            header: Some(match self.generation() {
                Generation::Zero => HeaderForm::InFront { length, chunk },
                _ => HeaderForm::Inserted { length, chunk },
            }),
            base: header.segment_base_offset,
            data_size: header.segment_data_size,
            tables: start..start.saturating_add(wide(self.region().len())),
            len: self.file_len(),
            verified: self.verified(),
        };
        let ranges = (0..self.segment_count()).map(|nth| self.segment_range(nth));
        form.model(view, ranges, blob, root)
    }
}

/// A `.ptd` of either schema.
#[derive(Clone, Debug)]
pub enum AnyPtd<'a> {
    /// The schema since release 0.7.
    Current(PtdModel<'a>),
    /// The schema before release 0.7.
    Legacy(LegacyPtdModel<'a>),
}

/// A `.ptd` of either schema, with its tables as views.
#[derive(Clone, Debug)]
pub enum PtdViews<'s, 'a> {
    /// The schema since release 0.7.
    Current(FileModel<'s, flat_tensor::view::FlatTensor<'a>>),
    /// The schema before release 0.7.
    Legacy(FileModel<'s, flat_tensor_legacy::view::FlatTensor<'a>>),
}

/// Converts a view to a struct.
pub(super) fn owned<V, R: FromView<V>>(view: V, ledger: &mut Ledger) -> Result<R, Refused> {
    let root = R::read(view, ledger);
    if ledger.is_refused() { Err(Refused) } else { Ok(root) }
}

/// Half of the memory for a segment, since the ledger counts this size twice: a blob and a place
/// for reading, a place and a piece for writing. The range and the table are not included.
const OF_SEGMENT: usize = 64;

/// A proven file, without its tables and segments.
struct FileForm {
    header: Option<HeaderForm>,
    /// The start of the segments, and their size with padding, as the header says.
    base: u64,
    data_size: u64,
    /// The range of the tables.
    tables: Range<u64>,
    /// The length of the file.
    len: u64,
    verified: Verified,
}

impl FileForm {
    /// Returns the model of the file. Its segments are at `ranges`.
    fn model<'v, 'b, V: Table<'v>, R>(
        self,
        view: V,
        ranges: impl ExactSizeIterator<Item = crate::Result<Range<u64>>>,
        blob: impl Fn(Range<u64>) -> Blob<'b>,
        root: impl FnOnce(V, &mut Ledger) -> Result<R, Refused>,
    ) -> Result<FileModel<'b, R>, MemoryError> {
        let mut ledger = Ledger::of(len_of(&self.tables));
        let places = ledger.vec(ranges.len(), OF_SEGMENT);
        let mut places: Vec<Range<u64>> = places.map_err(|Refused| ledger.error())?;
        places.extend(ranges.map(Result::unwrap_or_default));
        let container = self.container(&places, &blob)?;
        let root = root(view, &mut ledger).map_err(|Refused| ledger.error())?;
        // The verifier recorded whether the tables may have unknown parts.
        let is_unusual = self.verified.is_unusual();
        let unknown = if is_unusual { Unknown::of(view) } else { Unknown::default() };
        debug_assert_eq!(unknown, Unknown::of(view), "recorded by the verifier");
        let container = Container { layout: WriterLayout::guess(view), ..container };
        let mut segments = Vec::new();
        segments.try_reserve_exact(places.len())?;
        segments.extend(places.into_iter().map(blob));
        Ok(FileModel { root, segments, container, unknown })
    }

    /// Returns the container of the file, without the layout of its tables.
    fn container<'b>(
        &self,
        ranges: &[Range<u64>],
        blob: impl Fn(Range<u64>) -> Blob<'b>,
    ) -> Result<Container<'b>, MemoryError> {
        let &Self { base, len, tables: Range { end, .. }, .. } = self;
        let last = ranges.iter().map(|range| range.end).max();
        let data_end = last.unwrap_or(base).max(end);
        let counted = base.saturating_add(self.data_size).clamp(data_end, len.max(data_end));
        let place = |range: &Range<u64>| (range.start.saturating_sub(base), len_of(range));
        let mut places = Vec::new();
        places.try_reserve_exact(ranges.len())?;
        places.extend(ranges.iter().map(place));
        Ok(Container {
            header: self.header,
            segment_base_offset: (base != 0).then_some(base),
            segment_alignment: match base {
                0 => Container::CURRENT.segment_alignment,
                _ => Container::alignment(base, end, &places),
            },
            padding: counted.saturating_sub(data_end.max(base)),
            trailing: blob(counted.max(base.min(len))..len),
            ..Container::CURRENT
        })
    }
}
