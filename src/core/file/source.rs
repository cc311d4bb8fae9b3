//! Sources of bytes that can be read by ranges, such as slices and files.

use core::fmt;
use core::ops::Range;
#[cfg(feature = "std")]
use std::{fs, io, path::Path};

use pte_flat::bytes::wide;

/// Bytes that can be read by ranges, such as a file, a slice or a remote object.
pub trait Source {
    /// The error of a failed read.
    type Error;

    /// Returns the number of bytes.
    ///
    /// # Errors
    ///
    /// The error of the source.
    fn size(&self) -> Result<u64, Self::Error>;

    /// Fills `out` with the bytes from `pos` on.
    ///
    /// # Errors
    ///
    /// The error of the source, or of a source that ends too early.
    fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), Self::Error>;

    /// Fills each buffer with the bytes from its position on. A remote source joins neighbouring
    /// ranges in few requests.
    ///
    /// # Errors
    ///
    /// The errors of [`read_at`](Self::read_at).
    fn read_many(&self, reads: &mut [(u64, &mut [u8])]) -> Result<(), Self::Error> {
        reads.iter_mut().try_for_each(|(pos, out)| self.read_at(*pos, out))
    }

    /// Announces ranges that will be read soon, in ascending order. A remote source requests them
    /// together, and other sources do nothing.
    ///
    /// # Errors
    ///
    /// The error of the source.
    fn will_read(&self, ranges: &mut dyn Iterator<Item = Range<u64>>) -> Result<(), Self::Error> {
        let _ = ranges;
        Ok(())
    }

    /// Returns the file on disk with the same bytes at the same offsets, if there is one. The
    /// system may copy from that file, which moves its cursor.
    #[cfg(feature = "std")]
    fn file(&self) -> Option<&fs::File> {
        None
    }
}

/// The error of a read past the end of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastEnd;

impl fmt::Display for PastEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a read past the end of the bytes")
    }
}

impl core::error::Error for PastEnd {}

impl Source for &[u8] {
    type Error = PastEnd;

    fn size(&self) -> Result<u64, PastEnd> {
        Ok(wide(self.len()))
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> Result<(), PastEnd> {
        let bytes = usize::try_from(pos).ok().and_then(|pos| self.get(pos..)?.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(PastEnd)?);
        Ok(())
    }
}

/// Splits a range into ranges of `size` bytes. The last one may be shorter.
pub fn chunks(range: Range<u64>, size: u64) -> impl Iterator<Item = Range<u64>> {
    let Range { start: mut at, end } = range;
    core::iter::from_fn(move || {
        let start = at;
        at = start.saturating_add(size.max(1)).min(end);
        (start < end).then_some(start..at)
    })
}

/// Opens the file at `path`. Returns the length of a regular file, or `None` for a pipe or a device.
///
/// # Errors
///
/// The errors of the system. A directory is refused.
#[cfg(feature = "std")]
pub fn open(path: &Path) -> io::Result<(fs::File, Option<u64>)> {
    let file = fs::File::open(path)?;
    let len = length(&file.metadata()?)?;
    Ok((file, len))
}

/// Opens a regular file and returns its length. Anything else is refused before it is opened, since
/// opening a pipe would block.
///
/// # Errors
///
/// The errors of the system, or the file is not a regular one.
#[cfg(feature = "std")]
pub fn open_regular(path: &Path) -> io::Result<(fs::File, u64)> {
    let refused = || io::Error::other("not a regular file");
    length(&path.metadata()?)?.ok_or_else(refused)?;
    match open(path)? {
        (file, Some(len)) => Ok((file, len)),
        // The file was replaced after the check.
        (_, None) => Err(refused()),
    }
}

#[cfg(feature = "std")]
fn length(metadata: &fs::Metadata) -> io::Result<Option<u64>> {
    match metadata.is_dir() {
        true => Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a directory")),
        false => Ok(metadata.is_file().then_some(metadata.len())),
    }
}

#[cfg(feature = "std")]
impl Source for fs::File {
    type Error = io::Error;

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_exact_at(self, out, pos);
        #[cfg(not(unix))]
        {
            use std::io::{Read, Seek, SeekFrom};
            let mut file = self;
            file.seek(SeekFrom::Start(pos))?;
            file.read_exact(out)
        }
    }

    fn file(&self) -> Option<&fs::File> {
        Some(self)
    }
}
