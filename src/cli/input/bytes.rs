//! The bytes of an input: of a file on disk, of a remote one, or of a stream, which is copied.

use core::ops::Range;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use crate::problem::Problem;
#[cfg(feature = "remote")]
use crate::remote;
use pte::file::{FileKind, open};
use pte::flat::bytes::len_of;
use pte::payload::{Bundle, TablesPlace, Unreadable};
use pte::quoted::UntrustedString;
use pte::{ErrorKind, ForeignFormat, Limits, Source};

/// The place of the bytes of an input.
#[derive(Debug)]
enum BytesPlace {
    Disk(DiskFile),
    #[cfg(feature = "remote")]
    Remote(Box<pte::remote::RemoteFile>),
}

/// A file on disk. Its length and its first bytes are asked for once, so that a small file takes one read.
#[derive(Debug)]
struct DiskFile {
    file: fs::File,
    len: u64,
    /// The first bytes: at most [`HEAD_LEN`].
    head: Vec<u8>,
}

/// The number of bytes at the start of a file that are read at once.
const HEAD_LEN: u64 = 1 << 14;

impl DiskFile {
    fn new(file: fs::File, len: u64) -> io::Result<Self> {
        let mut head = vec![0; usize::try_from(len.min(HEAD_LEN)).unwrap_or_default()];
        Source::read_at(&file, 0, &mut head)?;
        Ok(Self { file, len, head })
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(pos).ok().and_then(|pos| self.head.get(pos..)?.get(..out.len()));
        match from {
            Some(bytes) => out.copy_from_slice(bytes),
            None => Source::read_at(&self.file, pos, out)?,
        }
        Ok(())
    }
}

/// A file that is read by ranges, or a range of a file.
#[derive(Debug)]
pub(crate) struct Bytes {
    file: BytesPlace,
    /// The range of the input in the file; `None` for the whole file.
    part: Option<Range<u64>>,
}

/// The kinds of files that may be a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// `.pte` and `.ptd` files.
    Models,
    /// `.pte`, `.ptd` and safetensors files.
    ModelsAndSafetensors,
    /// `.pte` and `.ptd` files, payloads, and other files with known tables.
    ModelsAndTables,
}

fn is_safetensors(head: &[u8]) -> bool {
    ForeignFormat::of(head) == ForeignFormat::Safetensors
}

impl Bytes {
    pub(crate) fn open(
        path: &Path,
        name: &UntrustedString,
        streams: Streams,
    ) -> Result<Self, Problem> {
        if path.as_os_str() == "-" {
            return Self::stream(io::stdin().lock(), name, streams);
        }
        #[cfg(feature = "remote")]
        if let Some(url) = remote::url_of(path) {
            let opened = remote::client().open(&url?);
            let file = opened.map_err(|error| Problem::io(name, error.into()))?;
            return Ok(Self { file: BytesPlace::Remote(Box::new(file)), part: None });
        }
        let problem = |error| Problem::io(name, error);
        match open(path).map_err(problem)? {
            (mut file, Some(0)) => {
                // Files under /proc report a length of 0 although they have contents.
                let mut first = [0];
                let read = file.read(&mut first).map_err(problem)?;
                let first = first.get(..read).unwrap_or_default();
                Self::stream(first.chain(file), name, streams)
            }
            (file, Some(len)) => {
                let file = DiskFile::new(file, len).map_err(problem)?;
                Ok(Self { file: BytesPlace::Disk(file), part: None })
            }
            // A pipe or a device cannot be read by ranges, so it is copied.
            (file, None) => Self::stream(file, name, streams),
        }
    }

    /// Copies a stream to an unnamed temporary file, since the stream may be too long for memory.
    fn stream(
        mut from: impl Read,
        name: &UntrustedString,
        streams: Streams,
    ) -> Result<Self, Problem> {
        let problem = |error| Problem::io(name, error);
        let mut head = Vec::new();
        from.by_ref().take(ForeignFormat::HEAD).read_to_end(&mut head).map_err(problem)?;
        // A stream of an unsupported format is not read to its end.
        let is_tensors = streams == Streams::ModelsAndSafetensors && is_safetensors(&head);
        if !is_tensors {
            let refused = |error| Problem::refused(name, error);
            let is_bundle = matches!(ForeignFormat::of(&head), ForeignFormat::BundledProgram(_));
            let is_tables = streams == Streams::ModelsAndTables
                && (TablesPlace::of(&head, u64::MAX).is_some_and(|place| place.is_ok())
                    || matches!(
                        ForeignFormat::of(&head),
                        ForeignFormat::Payload(_) | ForeignFormat::EtRecord
                    )
                    // JSON, which payloads of Core ML begin with. Their format is known by their end.
                    || head.starts_with(b"{"));
            if !is_tables && !is_bundle {
                pte::file::sniff(&head).map_err(refused)?;
            }
        }
        let folder = std::env::temp_dir();
        let mut spool = tempfile::tempfile().map_err(|error| {
            let message = format!("a stream needs a temporary file in {folder:?}: {error}");
            problem(io::Error::new(error.kind(), message))
        })?;
        spool.write_all(&head).map_err(problem)?;
        let rest = max_stream().saturating_sub(ForeignFormat::HEAD);
        let copied = io::copy(&mut from.by_ref().take(rest), &mut spool).map_err(problem)?;
        if copied == rest && from.read(&mut [0]).map_err(problem)? != 0 {
            return Err(long_stream(name));
        }
        let spool = spool.size().and_then(|len| DiskFile::new(spool, len)).map_err(problem)?;
        Ok(Self { file: BytesPlace::Disk(spool), part: None })
    }

    /// Returns the range of the program in a bundled program; `None` for any other file.
    pub(super) fn bundled_program(
        &self,
        name: &UntrustedString,
        limits: &Limits,
    ) -> Result<Option<Range<u64>>, Problem> {
        let (head, len) = self.head(name)?;
        if !matches!(ForeignFormat::of(&head), ForeignFormat::BundledProgram(_)) {
            return Ok(None);
        }
        let bytes = self.read(0..len, name, limits)?;
        let bundle = Bundle::read(&bytes, limits).map_err(|why| Problem::invalid(name, why))?;
        let message = "the bundle has no program".into();
        let none = || Problem::Unreadable { file: name.into(), message };
        bundle.program().map(Some).ok_or_else(none)
    }

    /// Restricts the bytes to a range of the same file.
    pub(super) fn within(self, part: Range<u64>) -> Self {
        Self { part: Some(part), ..self }
    }

    /// Reads the whole file, if its length is within the limits.
    pub(crate) fn all(&self, name: &UntrustedString, limits: &Limits) -> Result<Vec<u8>, Problem> {
        let len = self.size().map_err(|error| Problem::io(name, error))?;
        self.read(0..len, name, limits)
    }

    /// Returns the first bytes and the length of the file.
    pub(crate) fn head(&self, name: &UntrustedString) -> Result<(Vec<u8>, u64), Problem> {
        let problem = |error| Problem::io(name, error);
        let len = self.size().map_err(problem)?;
        let mut head = vec![0; usize::try_from(len.min(ForeignFormat::HEAD)).unwrap_or_default()];
        self.read_at(0, &mut head).map_err(problem)?;
        Ok((head, len))
    }

    /// Returns the format of a file that is neither a `.pte` nor a `.ptd` file.
    pub(crate) fn foreign_format(
        &self,
        name: &UntrustedString,
    ) -> Result<Option<ForeignFormat>, Problem> {
        let (head, len) = self.head(name)?;
        match pte::file::sniff(&head).map_err(|error| error.kind()) {
            Err(ErrorKind::OtherFormat { .. }) => self.format(&head, len, name).map(Some),
            _ => Ok(None),
        }
    }

    /// Recognizes the format of a file of `len` bytes that begins with `head`.
    pub(crate) fn format(
        &self,
        head: &[u8],
        len: u64,
        name: &UntrustedString,
    ) -> Result<ForeignFormat, Problem> {
        let size = len.min(ForeignFormat::HEAD);
        let mut tail = vec![0; usize::try_from(size).unwrap_or_default()];
        self.read_at(len.saturating_sub(size), &mut tail)
            .map_err(|error| Problem::io(name, error))?;
        Ok(ForeignFormat::of_ends(head, &tail))
    }

    /// Refuses a file of another format than `format`, which `what` names. `help` says what to give.
    pub(crate) fn must_be(
        &self,
        format: ForeignFormat,
        name: &UntrustedString,
        (what, help): (&str, &'static str),
    ) -> Result<(), Problem> {
        let (head, len) = self.head(name)?;
        let is = match pte::file::sniff(&head) {
            Ok(FileKind::Pte) => "a .pte program".into(),
            Ok(_) => "a .ptd data file".into(),
            Err(_) => match self.format(&head, len, name)? {
                found if found == format => return Ok(()),
                found => found.to_string(),
            },
        };
        let message = format!("this is no {what}: it is {is}").into();
        Err(Problem::WrongFormat { file: name.clone(), message, help })
    }

    /// Returns the problem that a payload, a package, a profile or an ETRecord is invalid.
    pub(crate) fn invalid(&self, name: &UntrustedString, why: Unreadable) -> Problem {
        let format = self.head(name).and_then(|(head, len)| self.format(&head, len, name));
        match format {
            Ok(format) => Problem::invalid_as(name, format, why),
            Err(problem) => problem,
        }
    }

    /// Reads the bytes of a FlatBuffer, if its length is within the limits.
    pub(crate) fn read(
        &self,
        range: Range<u64>,
        name: &UntrustedString,
        limits: &Limits,
    ) -> Result<Vec<u8>, Problem> {
        check_len(&range, name, limits)?;
        self.read_unlimited(range, name)
    }

    /// Reads the bytes of a range of any length.
    pub(crate) fn read_unlimited(
        &self,
        range: Range<u64>,
        name: &UntrustedString,
    ) -> Result<Vec<u8>, Problem> {
        let problem = |error| Problem::io(name, error);
        let len = len_of(&range);
        let memory = || problem(io::ErrorKind::OutOfMemory.into());
        let len = usize::try_from(len).map_err(|_| memory())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| memory())?;
        bytes.resize(len, 0);
        self.read_at(range.start, &mut bytes).map_err(problem)?;
        Ok(bytes)
    }

    /// Returns whether the file is a safetensors file, judged by its first bytes.
    pub(crate) fn is_safetensors(&self) -> io::Result<bool> {
        let mut head = [0; 64];
        let len = usize::try_from(self.size()?).map_or(head.len(), |len| len.min(head.len()));
        let head = head.get_mut(..len).unwrap_or_default();
        self.read_at(0, head)?;
        Ok(is_safetensors(head))
    }
}

impl Source for Bytes {
    type Error = io::Error;

    fn size(&self) -> io::Result<u64> {
        match &self.part {
            Some(part) => Ok(len_of(part)),
            None => match &self.file {
                BytesPlace::Disk(file) => Ok(file.len),
                #[cfg(feature = "remote")]
                BytesPlace::Remote(file) => file.size(),
            },
        }
    }

    fn read_at(&self, pos: u64, out: &mut [u8]) -> io::Result<()> {
        let start = self.part.as_ref().map_or(0, |part| part.start);
        let pos = start.saturating_add(pos);
        match &self.file {
            BytesPlace::Disk(file) => file.read_at(pos, out),
            #[cfg(feature = "remote")]
            BytesPlace::Remote(file) => file.read_at(pos, out),
        }
    }

    // A disk needs no notice.
    #[cfg(feature = "remote")]
    fn will_read(&self, ranges: &mut dyn Iterator<Item = Range<u64>>) -> io::Result<()> {
        let BytesPlace::Remote(file) = &self.file else { return Ok(()) };
        let start = self.part.as_ref().map_or(0, |part| part.start);
        file.will_read(
            &mut ranges
                .map(|range| range.start.saturating_add(start)..range.end.saturating_add(start)),
        )
    }

    fn file(&self) -> Option<&fs::File> {
        match &self.file {
            // Offsets in a part differ from those in the file, so only a whole file is returned.
            BytesPlace::Disk(disk) => self.part.is_none().then_some(&disk.file),
            #[cfg(feature = "remote")]
            BytesPlace::Remote(_) => None,
        }
    }
}

/// Returns a problem if a FlatBuffer at `range` exceeds the limits.
pub(crate) fn check_len(
    range: &Range<u64>,
    name: &UntrustedString,
    limits: &Limits,
) -> Result<(), Problem> {
    let (len, limit) = (len_of(range), limits.program);
    if len <= limit {
        return Ok(());
    }
    let message = format!("a FlatBuffer of {len} bytes: the limit is {limit}");
    Err(Problem::Unreadable { file: name.into(), message: message.into() })
}

pub(super) fn long_stream(name: &UntrustedString) -> Problem {
    let message = format!(
        "more than {} bytes on a stream; give the file by its path, or raise --max-stream",
        max_stream()
    );
    Problem::Unreadable { file: name.into(), message: message.into() }
}

/// The maximum number of bytes that are read from a stream.
static MAX_STREAM: OnceLock<u64> = OnceLock::new();

/// Sets the maximum number of bytes that are read from a stream. Later calls have no effect.
pub(crate) fn set_max_stream(bytes: u64) {
    let _ = MAX_STREAM.set(bytes);
}

pub(super) fn max_stream() -> u64 {
    MAX_STREAM.get().copied().unwrap_or(1 << 30)
}
