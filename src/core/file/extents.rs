//! The ranges of a file's parts, taken from its header and checked against its length.
//!
//! Rules: format.md §1.5 and §2.6.

use core::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::file::header::{ExtendedHeader, FlatTensorHeader, Head, in_header};
use crate::file::segments::SegmentArea;
use crate::limits::{Limits, MAX_SIZE};

/// The ranges of a file's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extents {
    /// The FlatBuffer, which has all bytes that the verifier may read.
    pub(crate) region: Range<u64>,
    pub(crate) segments: SegmentArea,
}

/// The part of a file that is in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// The whole file.
    File(&'a [u8]),
    /// The FlatBuffer, which has all bytes that the verifier may read.
    Region(&'a [u8]),
}

impl<'a> Part<'a> {
    /// Returns the FlatBuffer, and the whole file if it is in memory.
    pub(crate) fn split(self, extents: &Extents) -> (&'a [u8], Option<&'a [u8]>) {
        match self {
            Self::File(file) => (extents.slice(file), Some(file)),
            Self::Region(region) => (region, None),
        }
    }
}

impl Head {
    /// Returns the ranges of the parts of a file of `len` bytes.
    pub(crate) fn extents(&self, len: u64) -> Result<Extents> {
        match self {
            Self::Pte(None) => Ok(Extents { region: 0..len, segments: SegmentArea::NONE }),
            Self::Pte(Some(header)) => header.extents(len).map_err(in_header),
            Self::Ptd(header, whole) => header.extents(*whole, len).map_err(in_header),
        }
    }
}

impl Extents {
    /// Refuses a FlatBuffer that is longer than the limit.
    pub(crate) fn within(&self, limits: &Limits) -> Result<()> {
        let size = self.region.end.saturating_sub(self.region.start);
        let limit = limits.program.min(MAX_SIZE);
        if size <= limit {
            return Ok(());
        }
        let kind = pte_flat::ErrorKind::SizeLimit { size, limit };
        Err(Error::new(ErrorKind::Flat(kind), self.region.start))
    }

    /// Returns the FlatBuffer of a whole file.
    fn slice<'a>(&self, file: &'a [u8]) -> &'a [u8] {
        let (Ok(start), Ok(end)) =
            (usize::try_from(self.region.start), usize::try_from(self.region.end))
        else {
            return &[];
        };
        file.get(start..end).unwrap_or_default()
    }
}

impl ExtendedHeader {
    /// The file offsets of header fields at which errors point.
    const AT_PROGRAM_SIZE: u64 = 16;
    const AT_BASE: u64 = 24;

    /// Applies the rules of format.md §1.5.
    fn extents(&self, len: u64) -> Result<Extents> {
        let minimum = u64::from(self.length).saturating_add(8);
        if self.program_size < minimum {
            let kind = ErrorKind::ProgramSize { size: self.program_size, minimum };
            return Err(Error::new(kind, Self::AT_PROGRAM_SIZE));
        }
        if self.program_size > len {
            let kind = ErrorKind::FlatbufferTruncated { end: self.program_size, len };
            return Err(Error::new(kind, Self::AT_PROGRAM_SIZE));
        }
        let region = 0..self.program_size;
        let base = self.segment_base_offset;
        let segments = segment_area(base, self.segment_data_size, region.end, len, Self::AT_BASE)?;
        // Runtimes limit a segment by the length of the file, and not by segment_data_size, which a
        // header of 24 bytes does not have.
        Ok(Extents { region, segments: segments.up_to(len) })
    }
}

impl FlatTensorHeader {
    /// The offsets in the header of fields at which errors point.
    const AT_LENGTH: u64 = 4;
    const AT_OFFSET: u64 = 8;
    const AT_SIZE: u64 = 16;
    const AT_SEGMENTS: u64 = 24;

    /// Applies the rules of format.md §2.6.
    fn extents(&self, whole: bool, len: u64) -> Result<Extents> {
        let (offset, size) = (self.flatbuffer_offset, self.flatbuffer_size);
        let at = if whole { 0u64 } else { 8 };
        if offset < u64::from(FlatTensorHeader::MINIMUM) || offset & 7 != 0 || size < 8 {
            let wrong = if size < 8 { Self::AT_SIZE } else { Self::AT_OFFSET };
            let kind = ErrorKind::FlatbufferRange { offset, size };
            return Err(Error::new(kind, at.saturating_add(wrong)));
        }
        if u64::from(self.length) > offset {
            let (end, limit) = (at.saturating_add(self.length.into()), at.saturating_add(offset));
            return Err(Error::new(
                ErrorKind::HeaderOutOfBounds { end, limit },
                at.saturating_add(Self::AT_LENGTH),
            ));
        }
        let end = offset.saturating_add(size);
        if end > len {
            let kind = ErrorKind::FlatbufferTruncated { end, len };
            return Err(Error::new(kind, at.saturating_add(Self::AT_SIZE)));
        }
        let (base, data_size) = (self.segment_base_offset, self.segment_data_size);
        let segments =
            segment_area(base, data_size, end, len, at.saturating_add(Self::AT_SEGMENTS))?;
        let begin = if whole { offset } else { 0 };
        Ok(Extents { region: begin..end, segments })
    }
}

/// Returns the area of the segments from `base` on. The area must begin after the FlatBuffer and
/// lie in the file.
fn segment_area(base: u64, size: u64, after: u64, len: u64, at: u64) -> Result<SegmentArea> {
    if base == 0 && size <= len {
        return Ok(SegmentArea::NONE);
    }
    if base != 0 && base < after {
        return Err(Error::new(ErrorKind::SegmentBase { base, end: after }, at));
    }
    SegmentArea::new(base, size, len)
        .ok_or_else(|| Error::new(ErrorKind::SegmentsTruncated { base, size, len }, at))
}
