//! The folder of blobs. Files outside this folder are never read.

use core::cell::{Cell, RefCell};
use core::ops::Range;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use pte::Source;
use pte::model::Blob;
use pte::quoted::{Untrusted, UntrustedString};

use crate::input::open_regular;
use crate::problem::Status;
use crate::text::name_of;

/// A folder whose files are read on demand. As a source, the folder consists of its files, one
/// after the other in the order of their first request.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The length of the JSON text in bytes.
    text: u64,
    /// The files and their offsets in the source.
    files: RefCell<Vec<(u64, PathBuf)>>,
    /// The range of each file in the source, by the file's path with links resolved.
    ranges: RefCell<BTreeMap<PathBuf, Range<u64>>>,
    len: Cell<u64>,
    /// The file that was read last. Only this file is open.
    open: RefCell<Option<(usize, fs::File)>>,
    status: Cell<Option<Status>>,
}

impl Folder {
    /// Creates the folder at `path`, for a JSON text of `text` bytes.
    pub(super) fn new(path: &Path, text: usize) -> Self {
        Self {
            path: path.to_owned(),
            text: u64::try_from(text).unwrap_or(u64::MAX),
            files: RefCell::default(),
            ranges: RefCell::default(),
            len: Cell::new(0),
            open: RefCell::default(),
            status: Cell::new(None),
        }
    }

    /// Returns the bytes of the file called `name`, or the reason why it is refused.
    pub(super) fn blob(&self, name: &str) -> Result<Blob<'_>, String> {
        let within = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !within {
            let name = Untrusted::from(name);
            return Err(format!("{name:?} is not a path inside the folder of blobs"));
        }
        let found = self.find(name);
        let (path, len) = found.map_err(|error| {
            let inside = error.kind() == io::ErrorKind::InvalidInput;
            self.status.set((!inside).then_some(Status::Io));
            let (name, folder, error) =
                (Untrusted::from(name), name_of(&self.path), UntrustedString::of(&error));
            format!("{name:?} in {folder:?}: {error}")
        })?;
        if let Some(range) = self.ranges.borrow().get(&path) {
            return Ok(Blob::Range(self, range.clone()));
        }
        let begin = self.len.get();
        let end = begin
            .checked_add(len)
            .ok_or_else(|| format!("{:?} is too long", Untrusted::from(name)))?;
        self.len.set(end);
        self.files.borrow_mut().push((begin, path.clone()));
        self.ranges.borrow_mut().insert(path, begin..end);
        Ok(Blob::Range(self, begin..end))
    }

    /// Finds the file called `name`. Returns its length, and its path with links resolved.
    fn find(&self, name: &str) -> io::Result<(PathBuf, u64)> {
        let folder = self.path.canonicalize()?;
        let path = folder.join(name).canonicalize()?;
        let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if !path.starts_with(&folder) {
            return refused("this link leads out of the folder");
        }
        let metadata = path.metadata()?;
        if metadata.is_dir() {
            return refused("this is a directory");
        }
        if !metadata.is_file() {
            // Opening a pipe could block forever.
            return refused("not a regular file");
        }
        Ok((path, metadata.len()))
    }

    /// Returns the exit status, if a blob could not be read. `None` if the JSON itself is wrong.
    pub(super) fn status(&self) -> Option<Status> {
        self.status.get()
    }

    /// Returns the number of bytes of the JSON text and of all files that it names.
    pub(super) fn given(&self) -> u64 {
        self.text.saturating_add(self.len.get())
    }

    /// Returns the paths of the files that the JSON names.
    pub(super) fn used(&self) -> Vec<PathBuf> {
        self.files.borrow().iter().map(|(_, path)| path.clone()).collect()
    }
}

impl Source for Folder {
    type Error = io::Error;

    fn size(&self) -> io::Result<u64> {
        Ok(self.len.get())
    }

    /// Reads bytes of one file. A read never spans two files, since each blob is in one.
    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let files = self.files.borrow();
        // Takes the last file at the offset: an empty file has the same offset as the next one.
        let nth = files.partition_point(|(begin, _)| *begin <= pos).saturating_sub(1);
        let Some((begin, path)) = files.get(nth) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", name_of(path)));
        let mut open = self.open.borrow_mut();
        if open.as_ref().is_none_or(|(which, _)| *which != nth) {
            *open = Some((nth, open_regular(path).map_err(named)?.0));
        }
        let Some((_, file)) = open.as_ref() else { return Ok(()) };
        Source::read_at(file, pos.saturating_sub(*begin), out).map_err(named)
    }
}
