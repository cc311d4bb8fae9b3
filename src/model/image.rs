//! A whole file, ready to be written: its pieces in order.

use alloc::vec::Vec;

use super::blob::{Blob, ReadError};
use crate::bytes::wide;
use crate::file::source::Source;

/// A whole file, ready to be written. Its length is known, and no segment is in memory that was not
/// there before.
#[derive(Debug)]
pub struct Image<'m> {
    pieces: Vec<Piece<'m>>,
    len: u64,
}

#[derive(Debug)]
enum Piece<'m> {
    Made(Blob<'static>),
    Given(&'m Blob<'m>),
}

impl<'m> Image<'m> {
    pub(super) fn new() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }

    pub(super) fn bytes(&mut self, bytes: Vec<u8>) {
        self.add(wide(bytes.len()), Piece::Made(bytes.into()));
    }

    pub(super) fn blob(&mut self, blob: &'m Blob<'m>) {
        self.add(blob.len(), Piece::Given(blob));
    }

    /// Zeros up to that length; none if it is reached.
    pub(super) fn zeros_to(&mut self, len: u64) {
        let zeros = len.saturating_sub(self.len);
        self.add(zeros, Piece::Made(Blob::Zeros(zeros)));
    }

    fn add(&mut self, len: u64, piece: Piece<'m>) {
        self.len = self.len.saturating_add(len);
        if len > 0 {
            self.pieces.push(piece);
        }
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none: there are always some.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Gives the file to `each`, piece by piece and in order.
    ///
    /// # Errors
    ///
    /// Where bytes cannot be read from where they are, or the error of `each`.
    pub fn pieces<E: From<ReadError>>(
        &self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for piece in &self.pieces {
            match piece {
                Piece::Made(blob) => blob.pieces(&mut each)?,
                Piece::Given(blob) => blob.pieces(&mut each)?,
            }
        }
        Ok(())
    }

    /// The file in memory.
    ///
    /// # Errors
    ///
    /// Where bytes cannot be read from where they are.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ReadError> {
        let mut out = Vec::new();
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
    /// Those of `out`, and where bytes cannot be read from where they are.
    #[cfg(feature = "std")]
    pub fn write_to(&self, mut out: impl std::io::Write) -> std::io::Result<()> {
        self.pieces(|piece| out.write_all(piece))
    }
}

/// A file that is not written yet can be read, and so be judged.
impl Source for &Image<'_> {
    type Error = ReadError;

    fn size(&self) -> Result<u64, ReadError> {
        Ok(self.len)
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), ReadError> {
        let mut rest = out;
        let mut at = 0u64;
        for piece in &self.pieces {
            let blob = match piece {
                Piece::Made(blob) => blob,
                Piece::Given(blob) => *blob,
            };
            let next = at.saturating_add(blob.len());
            if pos < next && !rest.is_empty() {
                // What was filled of `out` ends where this piece begins, or `pos` lies in it.
                let begin = pos.saturating_sub(at);
                blob.slice(begin..begin.saturating_add(wide(rest.len()))).pieces::<ReadError>(
                    &mut |bytes| {
                        let (now, later) = core::mem::take(&mut rest)
                            .split_at_mut_checked(bytes.len())
                            .ok_or_else(ReadError::past_end)?;
                        now.copy_from_slice(bytes);
                        rest = later;
                        Ok(())
                    },
                )?;
            }
            at = next;
        }
        if rest.is_empty() { Ok(()) } else { Err(ReadError::past_end()) }
    }
}

#[cfg(feature = "std")]
impl From<ReadError> for std::io::Error {
    fn from(error: ReadError) -> Self {
        Self::other(error)
    }
}
