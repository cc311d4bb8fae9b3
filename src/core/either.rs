//! A proven file of either kind.

use core::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::file::{FileKind, sniff};
use crate::foreign::ForeignFormat;
use crate::limits::Limits;
use crate::ptd::Ptd;
use crate::pte::Pte;
use pte_flat::bytes::wide;

/// A proven file of either kind.
#[derive(Clone, Debug)]
pub enum File<'a> {
    /// A program.
    Pte(Pte<'a>),
    /// Named tensors and blobs.
    Ptd(Ptd<'a>),
}

impl<'a> File<'a> {
    /// Proves a whole file of either kind.
    ///
    /// # Errors
    ///
    /// The first place that breaks a rule of the structure.
    pub fn read_with(bytes: &'a [u8], limits: &Limits) -> Result<Self, Error> {
        match sniff(bytes).map_err(|error| of_ends(error, bytes))? {
            FileKind::Pte => Pte::read_with(bytes, limits).map(Self::Pte),
            FileKind::Ptd => Ptd::read_with(bytes, limits).map(Self::Ptd),
        }
    }

    /// Returns the length of the whole file in bytes.
    pub fn file_len(&self) -> u64 {
        match self {
            Self::Pte(pte) => pte.file_len(),
            Self::Ptd(ptd) => ptd.file_len(),
        }
    }

    /// Returns the range of the FlatBuffer in the file.
    pub fn region_range(&self) -> Range<u64> {
        let (start, region) = match self {
            Self::Pte(pte) => (0, pte.region()),
            Self::Ptd(ptd) => (ptd.region_start(), ptd.region()),
        };
        start..start.saturating_add(wide(region.len()))
    }

    /// Returns the number of segments.
    pub fn segment_count(&self) -> u32 {
        match self {
            Self::Pte(pte) => pte.segment_count(),
            Self::Ptd(ptd) => ptd.segment_count(),
        }
    }

    /// Returns the range of segment `index` in the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SegmentIndex`] if there is no such segment.
    pub fn segment_range(&self, index: u32) -> Result<Range<u64>, Error> {
        match self {
            Self::Pte(pte) => pte.segment_range(index),
            Self::Ptd(ptd) => ptd.segment_range(index),
        }
    }
}

/// Returns the refusal of a file with the format that its last bytes tell too.
fn of_ends(error: Error, bytes: &[u8]) -> Error {
    match error.kind() {
        ErrorKind::OtherFormat { .. } => {
            error.of_kind(ErrorKind::OtherFormat { format: ForeignFormat::of_ends(bytes, bytes) })
        }
        _ => error,
    }
}
