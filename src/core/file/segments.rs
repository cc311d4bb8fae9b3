//! Converts the offsets and sizes of segments to checked ranges of the file.

use core::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use pte_flat::bytes::len_of;

/// The range of a file in which segments lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentArea {
    base: u64,
    /// The number of bytes from the base. Base plus size does not overflow, and is in the file.
    size: u64,
}

impl SegmentArea {
    /// An empty area, which only empty segments fit.
    pub(crate) const NONE: Self = Self { base: 0, size: 0 };

    /// Returns the area of `size` bytes from `base` on; `None` if it does not lie in a file of
    /// `len` bytes.
    pub(crate) fn new(base: u64, size: u64, len: u64) -> Option<Self> {
        let end = base.checked_add(size)?;
        (end <= len).then_some(Self { base, size })
    }

    /// Extends the area to the end of the file.
    pub(crate) fn up_to(self, len: u64) -> Self {
        if self == Self::NONE {
            return self;
        }
        Self { size: len.saturating_sub(self.base), ..self }
    }

    /// Returns the file range of the segment of `size` bytes at `offset`; `None` if it does not lie
    /// in the area.
    #[inline]
    pub(crate) fn find(self, offset: u64, size: u64) -> Option<Range<u64>> {
        match self.base {
            // Without a base, only empty segments fit.
            0 => (size == 0).then_some(0..0),
            base => within(&(base..base.saturating_add(self.size)), offset, size),
        }
    }

    /// Returns the error of the segment of `size` bytes at `offset`, whose table is at `at`.
    #[cold]
    pub(crate) fn refusal(self, offset: u64, size: u64, at: u64) -> Error {
        let kind = match self.base {
            0 => ErrorKind::SegmentWithoutBase { size },
            _ => ErrorKind::SegmentOutOfBounds { offset, size, limit: self.size },
        };
        Error::new(kind, at)
    }
}

/// Returns the file range of `size` bytes at `offset` of a segment. Errors have no place yet.
pub(crate) fn piece(segment: &Range<u64>, offset: u64, size: u64) -> Result<Range<u64>> {
    within(segment, offset, size).ok_or_else(|| {
        let end = offset.saturating_add(size);
        let size = len_of(segment);
        Error::new(ErrorKind::DataOutOfBounds { end, size }, 0)
    })
}

/// Returns the `size` bytes at `offset` of `range`; `None` if some lie outside the range.
#[inline]
fn within(range: &Range<u64>, offset: u64, size: u64) -> Option<Range<u64>> {
    let begin = range.start.checked_add(offset)?;
    let end = begin.checked_add(size)?;
    (end <= range.end).then_some(begin..end)
}
