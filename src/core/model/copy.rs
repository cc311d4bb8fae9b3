//! Copies bytes between files. The operating system may copy long ranges without this process.

use core::ops::Range;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use super::blob::{Blob, ReadError};
use crate::file::source::PastEnd;
use pte_flat::bytes::{len_of, wide};

/// The length from which a range of a file, or of zeros, is worth a separate system call.
const LONG: u64 = 1 << 18;

/// The maximum number of bytes that one system call copies. Progress is reported in between.
const AT_ONCE: u64 = 1 << 26;

impl Blob<'_> {
    /// Writes the blob to the end of `out`. `small` buffers short pieces. `done` is called with the
    /// length of each piece.
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
            Self::Range(source, range) if len_of(range) >= LONG => match source.range_file() {
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

/// Lengthens a file by `zeros` bytes that take no space on most file systems, and returns true.
///
/// If the file does not end at the position of the next byte, returns false and changes nothing.
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

/// Copies a range of a file to the end of another file.
fn copy(
    mut from: &File,
    range: &Range<u64>,
    mut to: &File,
    done: &mut dyn FnMut(u64),
) -> io::Result<()> {
    from.seek(SeekFrom::Start(range.start))?;
    let mut left = len_of(range);
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
