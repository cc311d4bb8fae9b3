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
        let (view, region) = (self.program(), self.region());
        let mut ledger = Ledger::of(wide(region.len()));
        let ranges = (0..self.segment_count()).map(|nth| self.segment_range(nth));
        let ranges = gathered(ranges, &mut ledger)?;
        let header = self.header();
        let container = Container {
            header: header.map(|header| HeaderForm::Inserted {
                length: header.length,
                chunk: header.length.checked_next_multiple_of(16).unwrap_or(u32::MAX).max(32),
            }),
            ..container(
                header.map_or(0, |header| header.segment_base_offset),
                header.map_or(0, |header| header.segment_data_size),
                (wide(region.len()), self.file_len()),
                &ranges,
                &blob,
            )?
        };
        let root = root(view, &mut ledger).map_err(|Refused| ledger.error())?;
        finish(root, view, self.verified(), container, ranges, blob)
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
        let blob = |range| Blob::from(self.bytes(range).unwrap_or_default());
        Ok(match self.root() {
            ptd::Root::Current(root) => AnyPtd::Current(self.model(root, blob, owned)?),
            ptd::Root::Legacy(root) => AnyPtd::Legacy(self.model(root, blob, owned)?),
        })
    }

    /// Returns the same as [`to_model`](Self::to_model), but leaves the segments in `source`, which
    /// contains the whole file.
    pub fn to_model_from<'s>(&self, source: &'s dyn Ranges) -> Result<AnyPtd<'s>, MemoryError> {
        let blob = |range| Blob::Range(source, range);
        Ok(match self.root() {
            ptd::Root::Current(root) => AnyPtd::Current(self.model(root, blob, owned)?),
            ptd::Root::Legacy(root) => AnyPtd::Legacy(self.model(root, blob, owned)?),
        })
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

    fn model<'b, T: Table<'a>, R>(
        &self,
        view: T,
        blob: impl Fn(Range<u64>) -> Blob<'b>,
        root: impl FnOnce(T, &mut Ledger) -> Result<R, Refused>,
    ) -> Result<FileModel<'b, R>, MemoryError> {
        let mut ledger = Ledger::of(wide(self.region().len()));
        let ranges = (0..self.segment_count()).map(|nth| self.segment_range(nth));
        let ranges = gathered(ranges, &mut ledger)?;
        let header = self.header();
        let (length, chunk) = (header.length, header.flatbuffer_offset);
        let chunk = u32::try_from(chunk).unwrap_or(u32::MAX);
        let end = self.region_start().saturating_add(wide(self.region().len()));
        let container = Container {
            header: Some(match self.generation() {
                Generation::Zero => HeaderForm::InFront { length, chunk },
                _ => HeaderForm::Inserted { length, chunk },
            }),
            ..container(
                header.segment_base_offset,
                header.segment_data_size,
                (end, self.file_len()),
                &ranges,
                &blob,
            )?
        };
        let root = root(view, &mut ledger).map_err(|Refused| ledger.error())?;
        finish(root, view, self.verified(), container, ranges, blob)
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

/// Collects the ranges of all segments.
fn gathered(
    ranges: impl ExactSizeIterator<Item = crate::Result<Range<u64>>>,
    ledger: &mut Ledger,
) -> Result<Vec<Range<u64>>, MemoryError> {
    let mut gathered = ledger.vec(ranges.len(), OF_SEGMENT).map_err(|Refused| ledger.error())?;
    gathered.extend(ranges.map(Result::unwrap_or_default));
    Ok(gathered)
}

/// Half of the memory for a segment, since the ledger counts this size twice: a blob and a place
/// for reading, a place and a piece for writing. The range and the table are not included.
const OF_SEGMENT: usize = 64;

fn finish<'v, 'b, R>(
    root: R,
    view: impl Table<'v>,
    verified: Verified,
    container: Container<'b>,
    ranges: Vec<Range<u64>>,
    blob: impl Fn(Range<u64>) -> Blob<'b>,
) -> Result<FileModel<'b, R>, MemoryError> {
    // The verifier recorded whether the tables may have unknown parts.
    let unknown = if verified.is_unusual() { Unknown::of(view) } else { Unknown::default() };
    debug_assert_eq!(unknown, Unknown::of(view), "recorded by the verifier");
    let container = Container { layout: WriterLayout::guess(view), ..container };
    let mut segments = Vec::new();
    segments.try_reserve_exact(ranges.len())?;
    segments.extend(ranges.into_iter().map(blob));
    Ok(FileModel { root, segments, container, unknown })
}

/// Returns the container of a file of `len` bytes. Its segments are at `ranges`, and its tables end
/// at `end`.
fn container<'b>(
    base: u64,
    data_size: u64,
    (end, len): (u64, u64),
    ranges: &[Range<u64>],
    blob: impl Fn(Range<u64>) -> Blob<'b>,
) -> Result<Container<'b>, MemoryError> {
    let last = ranges.iter().map(|range| range.end).max();
    let data_end = last.unwrap_or(base).max(end);
    let counted = base.saturating_add(data_size).clamp(data_end, len.max(data_end));
    let place = |range: &Range<u64>| (range.start.saturating_sub(base), len_of(range));
    let mut places = Vec::new();
    places.try_reserve_exact(ranges.len())?;
    places.extend(ranges.iter().map(place));
    Ok(Container {
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
