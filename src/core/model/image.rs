//! A whole file that is ready to be written, as pieces.

use alloc::vec::Vec;

use super::blob::{Blob, ReadError, read_across, with_room};
use crate::file::source::Source;
use pte_flat::bytes::wide;

/// A whole file that is ready to be written. Its length is known, and segments stay in their
/// sources.
#[derive(Debug)]
pub struct Image<'m> {
    /// The pieces with their offsets.
    pieces: Vec<(u64, Piece<'m>)>,
    len: u64,
}

#[derive(Debug)]
enum Piece<'m> {
    Made(Blob<'static>),
    Given(&'m Blob<'m>),
}

impl<'m> Image<'m> {
    pub(crate) fn new() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }

    pub(crate) fn bytes(&mut self, bytes: Vec<u8>) {
        self.add(wide(bytes.len()), Piece::Made(bytes.into()));
    }

    pub(crate) fn blob(&mut self, blob: &'m Blob<'m>) {
        self.add(blob.len(), Piece::Given(blob));
    }

    /// Adds zeros up to the length `len`.
    pub(super) fn zeros_to(&mut self, len: u64) {
        let zeros = len.saturating_sub(self.len);
        self.add(zeros, Piece::Made(Blob::Zeros(zeros)));
    }

    fn add(&mut self, len: u64, piece: Piece<'m>) {
        if len > 0 {
            self.pieces.push((self.len, piece));
        }
        self.len = self.len.saturating_add(len);
    }

    /// Returns the length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Calls `each` with the pieces of the file in order.
    ///
    /// # Errors
    ///
    /// The error of a source whose bytes cannot be read, or the error of `each`.
    pub fn pieces<E: From<ReadError>>(
        &self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pieces.iter().try_for_each(|(_, piece)| piece.blob().pieces(&mut each))
    }

    /// Returns the file in memory.
    ///
    /// # Errors
    ///
    /// The error of a source whose bytes cannot be read, or of memory that is short.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ReadError> {
        let mut out = with_room(self.len)?;
        self.pieces::<ReadError>(|piece| {
            out.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the file to `out`.
    ///
    /// # Errors
    ///
    /// The error of `out`, or of a source whose bytes cannot be read.
    #[cfg(feature = "std")]
    pub fn write_to(&self, mut out: impl std::io::Write) -> std::io::Result<()> {
        self.pieces(|piece| out.write_all(piece))
    }

    /// Writes the file to the end of `out`, a file on disk. Calls `done` with the length of each
    /// piece.
    ///
    /// The operating system copies long ranges of other files on disk without reading them into
    /// this process. Long ranges of zeros become holes of a sparse file.
    ///
    /// # Errors
    ///
    /// The errors of [`write_to`](Self::write_to).
    #[cfg(feature = "std")]
    pub fn write_to_file(
        &self,
        out: &std::fs::File,
        mut done: impl FnMut(u64),
    ) -> std::io::Result<()> {
        use std::io::Write;

        let mut small = std::io::BufWriter::new(out);
        for (_, piece) in &self.pieces {
            piece.blob().write_to_file(&mut small, out, &mut done)?;
        }
        small.flush()
    }
}

/// Reads from the file before it is written, for example to check it.
impl Source for Image<'_> {
    type Error = ReadError;

    fn size(&self) -> Result<u64, ReadError> {
        Ok(self.len)
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), ReadError> {
        let first = self.pieces.partition_point(|(begin, _)| *begin <= pos).saturating_sub(1);
        let pieces = self.pieces.iter().skip(first);
        read_across(pieces.map(|(begin, piece)| (*begin, piece.blob())), pos, out)
    }
}

impl<'m> Piece<'m> {
    fn blob(&self) -> &Blob<'m> {
        match self {
            Self::Made(blob) => blob,
            Self::Given(blob) => blob,
        }
    }
}

#[cfg(feature = "std")]
impl From<ReadError> for std::io::Error {
    fn from(error: ReadError) -> Self {
        Self::other(error)
    }
}
