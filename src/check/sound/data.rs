//! Sound data files.

use core::ops::Range;

use super::proof::proven;
use super::tensor::TensorShape;
use crate::Report;
use pte_core::Ptd;
use pte_core::ptd::{self, Index};

/// A data file that breaks no rule of severity Error.
///
/// Only [`Sound::sound`](super::Sound::sound) creates one.
#[derive(Clone, Debug)]
pub struct Data<'a> {
    pub(super) ptd: Ptd<'a>,
    pub(super) report: Report,
    pub(super) index: Index<'a>,
}

/// A named tensor or blob.
#[derive(Clone, Debug)]
pub struct DataEntry<'a> {
    key: &'a str,
    range: Range<u64>,
    shape: Option<TensorShape<'a>>,
}

impl<'a> Data<'a> {
    /// Returns the file: its header, its bytes, and the views of all tables.
    pub fn ptd(&self) -> &Ptd<'a> {
        &self.ptd
    }

    /// Returns the report, which has only Notes and Warnings.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns every tensor and blob, in the order of the file. In old generations, tensors come
    /// first.
    pub fn entries(&self) -> impl Iterator<Item = DataEntry<'a>> {
        self.ptd.entries().map(DataEntry::of)
    }

    /// Returns the entry with a key. If two entries have the key (a Warning), returns the first, as
    /// the runtime does.
    pub fn entry(&self, key: &str) -> Option<DataEntry<'a>> {
        self.index.get(key).map(DataEntry::of)
    }

    /// Returns the range of each segment in the file.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Range<u64>> {
        // Every range was verified when the file was read.
        let ranges = (0..self.ptd.segment_count()).map(|nth| self.ptd.segment_range(nth).ok());
        ranges.map(|range| proven(range, "segment-index", 0..0))
    }
}

impl<'a> DataEntry<'a> {
    fn of(entry: ptd::Entry<'a>) -> Self {
        let shape =
            entry.layout().map(|its| TensorShape::of(its.scalar_type, its.sizes, its.dim_order));
        Self {
            key: proven(entry.key(), "key-missing", ""),
            range: proven(entry.range().ok(), "segment-index, data-out-of-bounds", 0..0),
            shape,
        }
    }

    /// Returns the name of the entry.
    pub fn key(&self) -> &'a str {
        self.key
    }

    /// Returns the range of the entry's bytes in the file. It may be longer than the shape needs (a
    /// Note).
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the shape of a tensor; `None` for an opaque blob.
    pub fn shape(&self) -> Option<TensorShape<'a>> {
        self.shape
    }
}
