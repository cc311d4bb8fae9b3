//! Bytes that are not tables: in memory, or still where they were.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::length;
use crate::bytes::wide;
use crate::file::source::Source;

/// Bytes in memory, or a range of a source, which is read when it is needed.
#[derive(Clone)]
pub enum Blob<'a> {
    /// These.
    Bytes(Cow<'a, [u8]>),
    /// Those of a source.
    Range(&'a dyn Ranges, Range<u64>),
}

/// A [`Source`] of any kind.
pub trait Ranges {
    /// Fills `out` with the bytes from `pos` on.
    ///
    /// # Errors
    ///
    /// Whatever the source finds.
    fn read_range(&self, pos: u64, out: &mut [u8]) -> Result<(), ReadError>;
}

/// Why bytes could not be read from where they are.
#[derive(Debug)]
pub struct ReadError(Box<dyn core::error::Error + Send + Sync>);

/// Bytes read at once.
const PIECE: u64 = 1 << 20;

impl<S: Source<Error: core::error::Error + Send + Sync + 'static>> Ranges for S {
    fn read_range(&self, pos: u64, out: &mut [u8]) -> Result<(), ReadError> {
        self.read_at(pos, out).map_err(|error| ReadError(Box::new(error)))
    }
}

impl Blob<'_> {
    /// No bytes.
    pub const EMPTY: Self = Self::Bytes(Cow::Borrowed(&[]));

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => wide(bytes.len()),
            Self::Range(_, range) => length(range),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives all bytes to `each`, piece by piece: no more of a source than one piece is in memory.
    ///
    /// # Errors
    ///
    /// The error of the source, or that of `each`.
    pub fn pieces<E: From<ReadError>>(
        &self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Bytes(bytes) => each(bytes),
            Self::Range(source, range) => {
                let mut at = range.start;
                let mut piece = Vec::new();
                while at < range.end {
                    let len = range.end.saturating_sub(at).min(PIECE);
                    piece.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
                    source.read_range(at, &mut piece)?;
                    each(&piece)?;
                    at = at.saturating_add(len);
                }
                Ok(())
            }
        }
    }

    /// All bytes, in memory.
    ///
    /// # Errors
    ///
    /// The error of the source.
    pub fn to_bytes(&self) -> Result<Cow<'_, [u8]>, ReadError> {
        if let Self::Bytes(bytes) = self {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut out = Vec::new();
        self.pieces::<ReadError>(|piece| {
            out.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(out.into())
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
        }
    }
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
