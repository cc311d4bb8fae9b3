//! A whole file, ready to be written: its pieces in order.

use alloc::vec::Vec;

use super::blob::{Blob, ReadError};
use crate::bytes::wide;

/// A whole file, ready to be written. Its length is known, and no segment is in memory that was not
/// there before.
#[derive(Debug)]
pub struct Image<'m> {
    pieces: Vec<Piece<'m>>,
    len: u64,
}

#[derive(Debug)]
enum Piece<'m> {
    Bytes(Vec<u8>),
    Zeros(u64),
    Blob(&'m Blob<'m>),
}

/// Zeros written at once.
const ZEROS: [u8; 4096] = [0; 4096];

impl<'m> Image<'m> {
    pub(super) fn new() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }

    pub(super) fn bytes(&mut self, bytes: Vec<u8>) {
        self.add(wide(bytes.len()), Piece::Bytes(bytes));
    }

    pub(super) fn blob(&mut self, blob: &'m Blob<'m>) {
        self.add(blob.len(), Piece::Blob(blob));
    }

    /// Zeros up to that length; none if it is reached.
    pub(super) fn zeros_to(&mut self, len: u64) {
        let zeros = len.saturating_sub(self.len);
        self.add(zeros, Piece::Zeros(zeros));
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
                Piece::Bytes(bytes) => each(bytes)?,
                Piece::Blob(blob) => blob.pieces(&mut each)?,
                Piece::Zeros(zeros) => {
                    let mut left = *zeros;
                    while left > 0 {
                        let len = left.min(wide(ZEROS.len()));
                        let len = usize::try_from(len).unwrap_or(ZEROS.len());
                        each(ZEROS.get(..len).unwrap_or_default())?;
                        left = left.saturating_sub(wide(len));
                    }
                }
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

#[cfg(feature = "std")]
impl From<ReadError> for std::io::Error {
    fn from(error: ReadError) -> Self {
        Self::other(error)
    }
}
