//! The bytes of an opened file, on disk or in a `bytes` object.

use core::ops::Range;
use std::fs;
use std::io;
use std::path::Path;

use pte::file::open_regular;
use pte::{Limits, Source as Ranges};
use pyo3::pybacked::PyBackedBytes;

use crate::error::{Failure, Result};

/// The bytes of a file, or a range of them.
#[derive(Debug)]
pub(crate) struct Source {
    bytes: Bytes,
    /// The range that counts: the program in a bundled program, or everything.
    part: Range<u64>,
}

/// The place of the bytes. Bytes in either place can be read from any thread.
#[derive(Debug)]
pub(crate) enum Bytes {
    /// A regular file, which is read by ranges.
    File(fs::File),
    /// A `bytes` object, which cannot change. Other buffers are copied before.
    Object(PyBackedBytes),
}

impl Source {
    /// Opens a regular file. Opening a pipe would block.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let opened = open_regular(path).map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => io::Error::from_raw_os_error(IS_A_DIRECTORY),
            _ => error,
        });
        let (file, len) = opened?;
        Ok(Self { bytes: Bytes::File(file), part: 0..len })
    }

    /// Takes the bytes of an object.
    pub(crate) fn of(bytes: PyBackedBytes) -> Self {
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self { bytes: Bytes::Object(bytes), part: 0..len }
    }

    /// Reads all bytes, if they are within the limit of a FlatBuffer.
    pub(crate) fn read_whole(&self, limits: &Limits) -> Result<Vec<u8>> {
        let len = self.size()?;
        if len > limits.program {
            let limit = limits.program;
            let message = format!("a FlatBuffer of {len} bytes: the limit is {limit}");
            return Err(Failure::Absent { code: "work-limit", message });
        }
        let mut bytes = Vec::new();
        let len = usize::try_from(len).map_err(|_| Failure::Memory)?;
        bytes.try_reserve_exact(len).map_err(|_| Failure::Memory)?;
        bytes.resize(len, 0);
        self.read_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns a range of the same bytes.
    pub(crate) fn within(self, part: Range<u64>) -> Self {
        Self { part, ..self }
    }

    /// Returns where the bytes are.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the offset of the first byte in its file or object.
    pub(crate) fn start(&self) -> u64 {
        self.part.start
    }
}

impl Ranges for Source {
    type Error = io::Error;

    fn size(&self) -> io::Result<u64> {
        Ok(self.part.end.saturating_sub(self.part.start))
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        let pos = self.part.start.saturating_add(pos);
        match &self.bytes {
            Bytes::File(file) => file.read_at(pos, out),
            Bytes::Object(bytes) => (&**bytes)
                .read_at(pos, out)
                .map_err(|error| io::Error::new(io::ErrorKind::UnexpectedEof, error)),
        }
    }

    fn file(&self) -> Option<&fs::File> {
        match &self.bytes {
            // Offsets in a part differ from those in the file, so only a whole file is returned.
            Bytes::File(file) if self.part.start == 0 => Some(file),
            _ => None,
        }
    }
}

/// The number of the error that Python makes an `IsADirectoryError` of.
const IS_A_DIRECTORY: i32 = 21;
