//! Where segments are: a base and numbers from the file become ranges that lie in the file.

use core::ops::Range;

/// The part of a file in which segments lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentArea {
    base: u64,
    /// Bytes from the base on; base + size does not overflow and lies in the file.
    size: u64,
}

impl SegmentArea {
    /// No room for any segment that has contents.
    pub(crate) const NONE: Self = Self { base: 0, size: 0 };

    /// `size` bytes from `base` on; `None` if they are not in a file of `len` bytes.
    pub(crate) fn new(base: u64, size: u64, len: u64) -> Option<Self> {
        let end = base.checked_add(size)?;
        (end <= len).then_some(Self { base, size })
    }

    /// The same area, ending where the file does.
    pub(crate) fn up_to(self, len: u64) -> Self {
        if self == Self::NONE {
            return self;
        }
        Self { size: len.saturating_sub(self.base), ..self }
    }

    /// Where the segments begin; 0 for none.
    pub(crate) fn base(self) -> u64 {
        self.base
    }

    /// Bytes that may hold segments.
    pub(crate) fn size(self) -> u64 {
        self.size
    }

    /// The file range of `size` bytes at `offset`; `None` if they do not lie in the area.
    pub(crate) fn range(self, offset: u64, size: u64) -> Option<Range<u64>> {
        // Nothing lies anywhere; and with no base there is nowhere to lie.
        if size == 0 && self.base == 0 {
            return Some(0..0);
        }
        subrange(&(self.base..self.base.saturating_add(self.size)), offset, size)
    }
}

/// The `size` bytes at `offset` of `range`; `None` if they do not all lie in it.
pub(crate) fn subrange(range: &Range<u64>, offset: u64, size: u64) -> Option<Range<u64>> {
    let begin = range.start.checked_add(offset)?;
    let end = begin.checked_add(size)?;
    (end <= range.end).then_some(begin..end)
}
