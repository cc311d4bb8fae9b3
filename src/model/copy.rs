//! Bytes on their way from file to file, which the system may copy by itself.

use core::ops::Range;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use super::blob::{Blob, ReadError};
use super::length;
use crate::bytes::wide;
use crate::file::source::PastEnd;

/// Bytes of a range, or zeros, that are worth a system call for themselves.
const LONG: u64 = 1 << 18;

/// Bytes that the system is asked to copy at once: progress is reported between.
const AT_ONCE: u64 = 1 << 26;

impl Blob<'_> {
    /// Writes the blob to the end of `out`, whose short pieces `small` gathers.
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
            Self::Zeros(zeros) if *zeros >= LONG => {
                small.flush()?;
                match leave_hole(*zeros, out)? {
                    true => done(*zeros),
                    false => self.write_pieces(small, done)?,
                }
                Ok(())
            }
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

/// Lengthens a file by `zeros` bytes that take no room on most file systems, and returns true. Returns
/// false, and changes nothing, where the end of the file is not where the next byte goes.
fn leave_hole(zeros: u64, mut out: &File) -> io::Result<bool> {
    let metadata = out.metadata()?;
    if !metadata.is_file() || out.stream_position()? != metadata.len() {
        return Ok(false);
    }
    let len = metadata.len().checked_add(zeros).ok_or(io::ErrorKind::FileTooLarge)?;
    out.set_len(len)?;
    out.seek(SeekFrom::Start(len))?;
    Ok(true)
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
