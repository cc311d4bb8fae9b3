//! Sound data files.

use core::ops::Range;

use super::proof::proven;
use super::tensor::TensorShape;
use crate::Ptd;
use crate::check::Report;
use crate::ptd::{self, Index};

/// A data file that breaks no rule of severity Error.
///
/// Only [`Ptd::sound`] makes one.
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

    /// What was found all the same: notes and warnings.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns every tensor and blob, in the order of the file; in old generations tensors first.
    pub fn entries(&self) -> impl Iterator<Item = DataEntry<'a>> {
        self.ptd.entries().map(DataEntry::of)
    }

    /// Returns the entry of that key. Of two with one key (a Warning) it is the first, as in the runtime.
    pub fn entry(&self, key: &str) -> Option<DataEntry<'a>> {
        self.index.get(key).map(DataEntry::of)
    }

    /// Returns where each segment lies in the file.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Range<u64>> {
        // Reading the file has verified each of them.
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

    /// Returns its name.
    pub fn key(&self) -> &'a str {
        self.key
    }

    /// Returns where its bytes lie in the file: as many as the shape asks for, or more (a Note).
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns its shape; an opaque blob has none.
    pub fn shape(&self) -> Option<TensorShape<'a>> {
        self.shape
    }
}
