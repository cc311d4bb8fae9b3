//! Bytes on their way from file to file, which the system may copy by itself.

use core::ops::Range;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use super::blob::{Blob, ReadError};
use super::length;
use crate::bytes::wide;
use crate::file::source::PastEnd;

/// Bytes of a range that are worth a call of the system of their own.
const LONG: u64 = 1 << 18;

/// Bytes that the system is asked to copy at once: whoever waits is told how far it is.
const AT_ONCE: u64 = 1 << 26;

impl Blob<'_> {
    /// Writes it to the end of `out`, for which `small` holds back what is short.
    pub(super) fn write_to_file(
        &self,
        small: &mut BufWriter<&File>,
        out: &File,
        done: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        match self {
            Self::Parts(parts) => {
                parts.iter().try_for_each(|part| part.write_to_file(small, out, done))
            }
            Self::Range(source, range) if length(range) >= LONG => match source.range_file() {
                Some(file) => {
                    small.flush()?;
                    copy(file, range, out, done)
                }
                None => self.write_pieces(small, done),
            },
            _ => self.write_pieces(small, done),
        }
    }

    fn write_pieces(&self, out: &mut impl Write, done: &mut dyn FnMut(u64)) -> io::Result<()> {
        self.pieces(&mut |piece: &[u8]| {
            done(wide(piece.len()));
            out.write_all(piece)
        })
    }
}

/// Copies a range of a file to the end of another one.
fn copy(
    mut from: &File,
    range: &Range<u64>,
    mut to: &File,
    done: &mut dyn FnMut(u64),
) -> io::Result<()> {
    from.seek(SeekFrom::Start(range.start))?;
    let mut left = length(range);
    while left > 0 {
        let copied = io::copy(&mut from.take(left.min(AT_ONCE)), &mut to)?;
        if copied == 0 {
            return Err(ReadError::new(PastEnd).into());
        }
        done(copied);
        left = left.saturating_sub(copied);
    }
    Ok(())
}
