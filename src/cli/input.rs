//! Files that are given on the command line: by path, or `-` for standard input.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::problem::Problem;
use pte::{Limits, Opened, Source};

/// An opened file, and what to call it.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) opened: Opened<Bytes>,
}

/// A file that is read by ranges, or a stream that was read whole.
#[derive(Debug)]
pub(super) enum Bytes {
    File(fs::File),
    Memory(Vec<u8>),
}

impl Input {
    /// Opens `path`, reading no more than the head and the FlatBuffers part of a file.
    pub(super) fn open(path: &Path, limits: &Limits) -> Result<Self, Problem> {
        let name = name_of(path);
        let bytes = Bytes::open(path, &name, limits)?;
        let opened = Opened::open(bytes, limits).map_err(|error| Problem::open(&name, error))?;
        Ok(Self { name, opened })
    }

    /// The bytes of a range that this file's views gave.
    pub(super) fn read(&self, range: core::ops::Range<u64>) -> Result<Vec<u8>, Problem> {
        self.opened.read(range).map_err(|error| Problem::open(&self.name, error))
    }

    /// A refusal of this file.
    pub(super) fn refused(&self, error: pte::Error) -> Problem {
        Problem::Refused { file: self.name.clone(), error }
    }
}

/// What a path is called in messages.
pub(super) fn name_of(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "<standard input>".into(),
        _ => path.to_string_lossy().into_owned(),
    }
}

impl Bytes {
    fn open(path: &Path, name: &str, limits: &Limits) -> Result<Self, Problem> {
        if path.as_os_str() == "-" {
            return Self::stream(io::stdin().lock(), name, limits);
        }
        let file = fs::File::open(path).map_err(|error| Problem::io(name, error))?;
        let metadata = file.metadata().map_err(|error| Problem::io(name, error))?;
        if metadata.is_dir() {
            let error = io::Error::new(io::ErrorKind::IsADirectory, "this is a directory");
            return Err(Problem::io(name, error));
        }
        match metadata.is_file() {
            true => Ok(Self::File(file)),
            // A pipe or a device cannot be read by ranges.
            false => Self::stream(file, name, limits),
        }
    }

    fn stream(mut from: impl Read, name: &str, limits: &Limits) -> Result<Self, Problem> {
        let mut bytes = Vec::new();
        let mut take = |most: u64, bytes: &mut Vec<u8>| {
            from.by_ref().take(most).read_to_end(bytes).map_err(|error| Problem::io(name, error))
        };
        // What cannot be a model is not worth reading whole.
        take(HEAD, &mut bytes)?;
        pte::file::sniff(&bytes).map_err(|error| Problem::Refused { file: name.into(), error })?;
        take(limits.stream.saturating_sub(HEAD), &mut bytes)?;
        if take(1, &mut bytes)? != 0 {
            let message = format!(
                "more than {} bytes on a stream; give the file by its path, or raise --max-stream",
                limits.stream
            );
            return Err(Problem::Absent { file: name.into(), message });
        }
        Ok(Self::Memory(bytes))
    }
}

const HEAD: u64 = 64;

impl Source for Bytes {
    type Error = io::Error;

    fn len(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Source::len(file),
            Self::Memory(bytes) => bytes.as_slice().len().try_into().map_err(io::Error::other),
        }
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(file) => Source::read_at(file, pos, out),
            Self::Memory(bytes) => bytes.as_slice().read_at(pos, out).map_err(io::Error::other),
        }
    }
}
