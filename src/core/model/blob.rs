//! Blobs: bytes in memory, or ranges of a source.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::ops::Range;

use crate::file::source::{PastEnd, Source};
use pte_flat::bytes::{len_of, wide};
use pte_flat::ledger::MemoryError;

/// Bytes in memory, or a range of a source. The range is read on demand.
#[derive(Clone)]
pub enum Blob<'a> {
    /// Bytes in memory.
    Bytes(Cow<'a, [u8]>),
    /// A range of a source.
    Range(&'a dyn Ranges, Range<u64>),
    /// This number of zeros.
    Zeros(u64),
    /// Several blobs, one after the other.
    Parts(Vec<Blob<'a>>),
}

/// A [`Source`] of any type, as a trait object.
pub trait Ranges {
    /// Fills `out` with the bytes from `pos` on.
    ///
    /// # Errors
    ///
    /// The error of the source.
    fn read_range(&self, pos: u64, out: &mut [u8]) -> Result<(), ReadError>;

    /// Returns the same as [`Source::file`].
    #[cfg(feature = "std")]
    fn range_file(&self) -> Option<&std::fs::File> {
        None
    }
}

/// An error in reading bytes from their source.
#[derive(Debug)]
pub struct ReadError(Box<dyn core::error::Error + Send + Sync>);

/// The maximum number of bytes that are read at once.
const PIECE: u64 = 1 << 20;

/// The zeros that are passed on in one call.
const ZEROS: [u8; 4096] = [0; 4096];

impl<S: Source<Error: core::error::Error + Send + Sync + 'static>> Ranges for S {
    fn read_range(&self, pos: u64, out: &mut [u8]) -> Result<(), ReadError> {
        self.read_at(pos, out).map_err(ReadError::new)
    }

    #[cfg(feature = "std")]
    fn range_file(&self) -> Option<&std::fs::File> {
        self.file()
    }
}

impl ReadError {
    /// Wraps the error of a source.
    pub(crate) fn new(error: impl core::error::Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}

impl<'a> Blob<'a> {
    /// No bytes.
    pub const EMPTY: Self = Self::Bytes(Cow::Borrowed(&[]));

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => wide(bytes.len()),
            Self::Range(_, range) => len_of(range),
            Self::Zeros(zeros) => *zeros,
            Self::Parts(parts) => parts.iter().fold(0, |sum, part| part.len().saturating_add(sum)),
        }
    }

    /// Returns a range of the blob, cut off at the blob's end.
    pub fn slice(&self, range: Range<u64>) -> Self {
        let (begin, end) = (range.start.min(self.len()), range.end.min(self.len()));
        let len = end.saturating_sub(begin);
        match self {
            Self::Bytes(bytes) => {
                let cut = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
                let range = cut(begin)..cut(begin.saturating_add(len));
                Self::Bytes(match bytes {
                    Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(range).unwrap_or_default()),
                    Cow::Owned(bytes) => Cow::Owned(bytes.get(range).unwrap_or_default().to_vec()),
                })
            }
            Self::Range(source, whole) => {
                let begin = whole.start.saturating_add(begin);
                Self::Range(*source, begin..begin.saturating_add(len))
            }
            Self::Zeros(_) => Self::Zeros(len),
            Self::Parts(_) => Cutter::new(self).slice(begin..end),
        }
    }

    /// Adds more bytes at the end.
    pub fn append(&mut self, more: Self) {
        match self {
            Self::Parts(parts) => parts.push(more),
            _ => {
                let first = mem::replace(self, Self::EMPTY);
                *self = Self::Parts(vec![first, more]);
            }
        }
    }

    /// Returns whether the blob is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` with all bytes, piece by piece. Only one piece of a source is in memory at a
    /// time.
    ///
    /// # Errors
    ///
    /// The error of the source, or that of `each`.
    pub fn pieces<E: From<ReadError>>(
        &self,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Parts(parts) => parts.iter().try_for_each(|part| part.pieces(each)),
            Self::Zeros(zeros) => {
                let mut left = *zeros;
                while left > 0 {
                    let len = left.min(wide(ZEROS.len()));
                    let len = usize::try_from(len).unwrap_or(ZEROS.len());
                    each(ZEROS.get(..len).unwrap_or_default())?;
                    left = left.saturating_sub(wide(len));
                }
                Ok(())
            }
            Self::Bytes(bytes) => each(bytes),
            Self::Range(source, range) => {
                let mut at = range.start;
                let mut piece = Vec::new();
                while at < range.end {
                    let len = range.end.saturating_sub(at).min(PIECE);
                    let room = usize::try_from(len).unwrap_or(usize::MAX);
                    let more = room.saturating_sub(piece.len());
                    reserve(&mut piece, more)?;
                    piece.resize(room, 0);
                    source.read_range(at, &mut piece)?;
                    each(&piece)?;
                    at = at.saturating_add(len);
                }
                Ok(())
            }
        }
    }

    /// Fills `out` with the bytes from `pos` on.
    ///
    /// # Errors
    ///
    /// The error of the source, or [`PastEnd`].
    pub(crate) fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), ReadError> {
        match self {
            Self::Bytes(bytes) => (&**bytes).read_range(pos, out),
            Self::Range(source, range) => {
                let begin = range.start.saturating_add(pos);
                match begin.checked_add(wide(out.len())) {
                    Some(end) if end <= range.end => source.read_range(begin, out),
                    _ => Err(ReadError::new(PastEnd)),
                }
            }
            Self::Zeros(_) => {
                out.fill(0);
                Ok(())
            }
            Self::Parts(parts) => {
                let mut begin = 0u64;
                let places = parts.iter().map(|part| {
                    let at = begin;
                    begin = begin.saturating_add(part.len());
                    (at, part)
                });
                read_across(places, pos, out)
            }
        }
    }

    /// Returns all bytes in memory.
    ///
    /// # Errors
    ///
    /// The error of the source, or [`MemoryError::OutOfMemory`].
    pub fn to_bytes(&self) -> Result<Cow<'_, [u8]>, ReadError> {
        if let Self::Bytes(bytes) = self {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut out = with_room(self.len())?;
        self.pieces::<ReadError>(&mut |piece| {
            out.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(out.into())
    }
}

/// Cuts many ranges out of a blob. It finds the parts of a range in log n steps.
pub(super) struct Cutter<'b, 'a> {
    blob: &'b Blob<'a>,
    /// The non-empty parts of the blob, with their offsets.
    parts: Vec<(u64, &'b Blob<'a>)>,
}

impl<'b, 'a> Cutter<'b, 'a> {
    pub(super) fn new(blob: &'b Blob<'a>) -> Self {
        let mut parts = Vec::new();
        if let Blob::Parts(all) = blob {
            let mut begin = 0u64;
            for part in all.iter().filter(|part| !part.is_empty()) {
                parts.push((begin, part));
                begin = begin.saturating_add(part.len());
            }
        }
        Self { blob, parts }
    }

    /// Returns a range of the blob, cut off at the blob's end.
    pub(super) fn slice(&self, range: Range<u64>) -> Blob<'a> {
        if !matches!(self.blob, Blob::Parts(_)) {
            return self.blob.slice(range);
        }
        let first = self.parts.partition_point(|(begin, _)| *begin <= range.start);
        let parts = self.parts.iter().skip(first.saturating_sub(1));
        let parts = parts.take_while(|(begin, _)| *begin < range.end);
        let cut = parts.map(|(first, part)| {
            part.slice(range.start.saturating_sub(*first)..range.end.saturating_sub(*first))
        });
        Blob::Parts(cut.filter(|part| !part.is_empty()).collect())
    }
}

/// Returns an empty vector with room for `len` bytes.
pub(super) fn with_room(len: u64) -> Result<Vec<u8>, ReadError> {
    let mut out = Vec::new();
    reserve(&mut out, usize::try_from(len).unwrap_or(usize::MAX))?;
    Ok(out)
}

impl Default for Blob<'_> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<'a> From<&'a [u8]> for Blob<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<Vec<u8>> for Blob<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl fmt::Debug for Blob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Range(_, range) => write!(f, "the bytes at {:#x}..{:#x}", range.start, range.end),
            Self::Zeros(zeros) => write!(f, "{zeros} zeros"),
            Self::Parts(parts) => f.debug_list().entries(parts).finish(),
        }
    }
}

/// Reserves memory for `more` bytes after those of `out`.
pub(super) fn reserve(out: &mut Vec<u8>, more: usize) -> Result<(), ReadError> {
    out.try_reserve_exact(more).map_err(|error| ReadError::new(MemoryError::from(error)))
}

/// Fills `out` with the bytes from `pos` on. They are taken from adjacent blobs, each given with
/// its offset.
///
/// Blobs that end before `pos` may be omitted.
pub(super) fn read_across<'b, 'a: 'b>(
    blobs: impl Iterator<Item = (u64, &'b Blob<'a>)>,
    pos: u64,
    mut out: &mut [u8],
) -> Result<(), ReadError> {
    let mut at = pos;
    for (begin, blob) in blobs {
        let skipped = at.saturating_sub(begin);
        let left = blob.len().saturating_sub(skipped);
        let len = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let (now, later) = mem::take(&mut out).split_at_mut_checked(len).unwrap_or_default();
        if !now.is_empty() {
            blob.read_at(skipped, now)?;
        }
        at = at.saturating_add(wide(len));
        out = later;
        if out.is_empty() {
            break;
        }
    }
    if out.is_empty() { Ok(()) } else { Err(ReadError::new(PastEnd)) }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&*self.0)
    }
}
