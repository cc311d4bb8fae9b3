//! Input files: by path, by URL, or `-` for standard input.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::output::{Output, Progress};
use super::problem::Problem;
#[cfg(feature = "remote")]
use super::remote;
use super::reserve::Reserved;
use super::text::name_of;
use pte::file::open;
pub(super) use pte::file::open_regular;
use pte::flat::ledger::MemoryError;
use pte::payload::{Bundle, PayloadContents, TablesPlace, Unreadable};
use pte::quoted::{Untrusted, UntrustedString};
use pte::{ErrorKind, File, ForeignFormat, Handle, Limits, Source};

/// An opened file, with its name for messages.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) name: UntrustedString,
    pub(super) opened: Handle<Bytes>,
    /// The bundled program that contains the file, if any.
    pub(super) bundle: Option<BundlePlace>,
    /// Whether progress is shown.
    pub(super) progress: bool,
    budget: ReadBudget,
    _reserved: Reserved,
    /// The memory for the graphs of payloads, after they were read.
    reserved_for_graphs: OnceLock<Reserved>,
}

/// The number of bytes that may still be read of a file, or shown as names. Parts may overlap, so their
/// sum may exceed the file's size.
#[derive(Debug)]
pub(super) struct ReadBudget {
    left: AtomicU64,
    total: u64,
}

impl ReadBudget {
    /// Returns the budget for a file of `len` bytes.
    pub(super) fn new(len: u64, limits: &Limits) -> Self {
        let total = len.saturating_mul(limits.amplification.into()).saturating_add(CHUNK);
        Self { left: AtomicU64::new(total), total }
    }
}

/// An input whose parts can be read.
pub(super) trait Readable {
    fn name(&self) -> &UntrustedString;
    fn budget(&self) -> &ReadBudget;
    /// Reads the bytes of a range, without charging it to the read budget.
    fn read_uncharged(&self, range: Range<u64>) -> Result<Vec<u8>, Problem>;

    /// Returns whether progress is shown.
    fn shows_progress(&self) -> bool {
        false
    }

    /// Charges the length of a range to the read budget.
    fn spend(&self, range: &Range<u64>) -> Result<(), Problem> {
        let len = range.end.saturating_sub(range.start);
        let charge = |left: u64| left.checked_sub(len);
        let ReadBudget { left, total } = self.budget();
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, charge) {
            Ok(_) => Ok(()),
            Err(_) => Err(Problem::Unreadable {
                file: self.name().clone(),
                message: format!(
                    "more than {total} bytes would be read: the same data is used repeatedly; \
                     if you trust the file, raise --max-amplification"
                )
                .into(),
            }),
        }
    }

    /// Reads the bytes of a range.
    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Problem> {
        self.spend(&range)?;
        self.read_uncharged(range)
    }

    /// Reads the bytes of a range, one chunk at a time.
    fn try_chunks(
        &self,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        self.spend(&range)?;
        let len = range.end.saturating_sub(range.start);
        let progress = Progress::new(self.shows_progress(), "bytes", len);
        let mut at = range.start;
        while at < range.end {
            let end = at.saturating_add(CHUNK).min(range.end);
            each(&self.read_uncharged(at..end)?)?;
            progress.add(end.saturating_sub(at));
            at = end;
        }
        Ok(())
    }

    /// Copies the bytes of a range to `out`.
    fn copy(&self, range: Range<u64>, out: &mut Output) -> Result<(), Problem> {
        self.try_chunks(range, &mut |chunk| out.bytes(chunk))
    }

    /// Charges a shown name to the read budget, since a small file may repeat a long name in many
    /// rows.
    fn name_again(&self, name: Option<&str>) -> Result<(), Problem> {
        let len = u64::try_from(name.unwrap_or_default().len()).unwrap_or(u64::MAX);
        self.spend(&(0..len))
    }

    /// Returns the problem that something is not in this file.
    fn absent(&self, message: String) -> Problem {
        Problem::Absent { file: self.name().clone(), message: message.into() }
    }
}

/// The place of a program in its bundle.
#[derive(Clone, Debug)]
pub(super) struct BundlePlace {
    /// The length of the bundle in bytes.
    pub(super) len: u64,
    /// The range of the program in the bundle.
    pub(super) program: Range<u64>,
}

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
pub(super) struct Bytes {
    file: BytesPlace,
    /// The range of the input in the file; `None` for the whole file.
    part: Option<Range<u64>>,
}

impl Input {
    /// Opens `path`. Only the headers and the FlatBuffer are read.
    pub(super) fn open(path: &Path, limits: &Limits) -> Result<Self, Problem> {
        let name = name_of(path);
        Self::of(Bytes::open(path, &name, Streams::Models)?, &name, limits)
    }

    /// Reads the headers and the FlatBuffer of `bytes`, an opened file called `name`. If it is a
    /// bundled program, reads the program in it.
    pub(crate) fn of(
        bytes: Bytes,
        name: &UntrustedString,
        limits: &Limits,
    ) -> Result<Self, Problem> {
        match bytes.bundled_program(name, limits)? {
            Some(program) => {
                let len = bytes.size().map_err(|error| Problem::io(name, error))?;
                let bundle = Some(BundlePlace { len, program: program.clone() });
                let input = Self::new(bytes.within(program), name, limits)?;
                Ok(Self { bundle, ..input })
            }
            None => Self::new(bytes, name, limits),
        }
    }

    /// Proves the structure of `bytes`, an opened file called `name`.
    pub(super) fn new(
        bytes: Bytes,
        name: &UntrustedString,
        limits: &Limits,
    ) -> Result<Self, Problem> {
        let opened = Handle::open(bytes, limits).map_err(|error| Problem::open(name, error))?;
        let reserved = Reserved::new(opened.region_len(), name)?;
        let name = name.into();
        let budget = ReadBudget::new(opened.file_len(), limits);
        Ok(Self {
            name,
            opened,
            bundle: None,
            progress: false,
            budget,
            _reserved: reserved,
            reserved_for_graphs: OnceLock::new(),
        })
    }

    /// Returns the contents of the payloads in a program, with their parts. The bytes of their
    /// graphs count as tables.
    pub(super) fn payloads_with_parts(
        &self,
        limits: &Limits,
    ) -> Result<Vec<PayloadContents>, Problem> {
        let contents = PayloadContents::all_with_parts(&self.opened, limits)
            .map_err(|error| Problem::open(&self.name, error))?;
        let len = |range: &Range<u64>| range.end.saturating_sub(range.start);
        let graphs = contents.iter().map(|one| len(&one.graph)).fold(0, u64::saturating_add);
        if self.reserved_for_graphs.get().is_none() {
            let reserved = Reserved::new(graphs, &self.name)?;
            // If another thread was faster, its reservation counts.
            let _ = self.reserved_for_graphs.set(reserved);
        }
        Ok(contents)
    }

    /// Returns the contents of the payloads in a program.
    pub(super) fn payloads(&self, limits: &Limits) -> Result<Vec<PayloadContents>, Problem> {
        let contents = PayloadContents::all(&self.opened, limits);
        contents.map_err(|error| Problem::open(&self.name, error))
    }

    /// Makes the whole read budget available again, for another document about the same file.
    pub(super) fn renew_budget(&self) {
        self.budget.left.store(self.budget.total, Ordering::Relaxed);
    }

    /// Returns a problem if the file has no method called `name`.
    pub(super) fn has_method(&self, name: &str) -> Result<(), Problem> {
        let plans = match self.opened.file() {
            File::Pte(pte) => pte.program().execution_plan(),
            File::Ptd(_) => None,
        };
        let mut names = plans.into_iter().flatten().map(|plan| plan.name().unwrap_or(""));
        if names.any(|other| other == name) {
            return Ok(());
        }
        Err(self.absent(format!("there is no method {:?}", Untrusted::from(name))))
    }

    /// Returns the problem that a model needs more memory than the system has, or than its budget.
    pub(super) fn no_memory(&self, error: MemoryError) -> Problem {
        match error {
            MemoryError::OutOfMemory => {
                Problem::io(self.name.clone(), io::ErrorKind::OutOfMemory.into())
            }
            error => {
                Problem::Unreadable { file: self.name.clone(), message: error.to_string().into() }
            }
        }
    }

    /// Returns the problem that the file is refused.
    pub(super) fn refused(&self, error: pte::Error) -> Problem {
        Problem::Refused { file: self.name.clone(), error }
    }
}

impl Readable for Input {
    fn name(&self) -> &UntrustedString {
        &self.name
    }

    fn budget(&self) -> &ReadBudget {
        &self.budget
    }

    fn read_uncharged(&self, range: Range<u64>) -> Result<Vec<u8>, Problem> {
        self.opened.read(range).map_err(|error| Problem::open(&self.name, error))
    }

    fn shows_progress(&self) -> bool {
        self.progress
    }
}

/// The identity of a file, which is the same for all paths to the file.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);
#[cfg(not(unix))]
pub(super) type Identity = PathBuf;

/// Returns the identity of the file at `path`, if the file exists.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok()
}

/// Returns the metadata of `path`. For `-`, they are those of standard input, which may be a
/// redirected file.
#[cfg(unix)]
fn metadata(path: &Path) -> io::Result<fs::Metadata> {
    use std::os::fd::AsFd;
    match path.as_os_str() == "-" {
        true => fs::File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata(),
        false => path.metadata(),
    }
}

/// Refuses paths that name a stream twice, since a stream can be read only once.
pub(super) fn once<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Problem> {
    let mut streams = BTreeSet::new();
    for path in paths.into_iter().filter(|path| is_stream(path)) {
        if !streams.insert(identity(path)) {
            let name = match path.as_os_str() == "-" {
                true => "standard input".into(),
                false => name_of(path),
            };
            let message = format!("{name} is a stream and can be given only once");
            return Err(Problem::Usage(message.into()));
        }
    }
    Ok(())
}

/// Returns the bytes of a file that the command itself has written.
pub(super) fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// Returns whether a path names standard input or a pipe.
pub(super) fn is_stream(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            return true;
        }
    }
    path.as_os_str() == "-"
}

impl Bytes {
    pub(super) fn open(
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
            let refused = |error| Problem::Refused { file: name.into(), error };
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
    fn bundled_program(
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
    fn within(self, part: Range<u64>) -> Self {
        Self { part: Some(part), ..self }
    }

    /// Reads the whole file, if its length is within the limits.
    pub(super) fn all(&self, name: &UntrustedString, limits: &Limits) -> Result<Vec<u8>, Problem> {
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
    pub(super) fn foreign_format(
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
    pub(super) fn format(
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

    /// Returns the problem that a payload, a package, a profile or an ETRecord is invalid.
    pub(super) fn invalid(&self, name: &UntrustedString, why: Unreadable) -> Problem {
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
    pub(super) fn read_unlimited(
        &self,
        range: Range<u64>,
        name: &UntrustedString,
    ) -> Result<Vec<u8>, Problem> {
        let problem = |error| Problem::io(name, error);
        let len = range.end.saturating_sub(range.start);
        let memory = || problem(io::ErrorKind::OutOfMemory.into());
        let len = usize::try_from(len).map_err(|_| memory())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| memory())?;
        bytes.resize(len, 0);
        self.read_at(range.start, &mut bytes).map_err(problem)?;
        Ok(bytes)
    }

    /// Returns whether the file is a safetensors file, judged by its first bytes.
    pub(super) fn is_safetensors(&self) -> io::Result<bool> {
        let mut head = [0; 64];
        let len = usize::try_from(self.size()?).map_or(head.len(), |len| len.min(head.len()));
        let head = head.get_mut(..len).unwrap_or_default();
        self.read_at(0, head)?;
        Ok(is_safetensors(head))
    }
}

/// Returns a problem if a FlatBuffer at `range` exceeds the limits.
pub(super) fn check_len(
    range: &Range<u64>,
    name: &UntrustedString,
    limits: &Limits,
) -> Result<(), Problem> {
    let (len, limit) = (range.end.saturating_sub(range.start), limits.program);
    if len <= limit {
        return Ok(());
    }
    let message = format!("a FlatBuffer of {len} bytes: the limit is {limit}");
    Err(Problem::Unreadable { file: name.into(), message: message.into() })
}

fn long_stream(name: &UntrustedString) -> Problem {
    let message = format!(
        "more than {} bytes on a stream; give the file by its path, or raise --max-stream",
        max_stream()
    );
    Problem::Unreadable { file: name.into(), message: message.into() }
}

/// The maximum number of bytes that are read from a stream.
static MAX_STREAM: OnceLock<u64> = OnceLock::new();

/// Sets the maximum number of bytes that are read from a stream. Later calls have no effect.
pub(super) fn set_max_stream(bytes: u64) {
    let _ = MAX_STREAM.set(bytes);
}

fn max_stream() -> u64 {
    MAX_STREAM.get().copied().unwrap_or(1 << 30)
}

/// The error that a file is not text, with the offset of the first offending byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoText(pub(super) usize);

/// Reads the text at `path`. A regular file is read completely, and a stream or a device within the
/// limits. Reading ends at the first NUL, and at the first byte that is not UTF-8.
pub(super) fn read_text(path: &Path) -> Result<Result<String, NoText>, Problem> {
    let name = name_of(path);
    let problem = |error| Problem::io(&name, error);
    let (mut file, mut stdin);
    let (from, len): (&mut dyn Read, _) = match path.as_os_str() == "-" {
        true => {
            stdin = io::stdin().lock();
            (&mut stdin, None)
        }
        false => {
            let (opened, len) = open(path).map_err(problem)?;
            file = opened;
            (&mut file, len)
        }
    };
    // Files under /proc report a length of 0 although they have contents.
    let len = len.filter(|&len| len > 0);
    // One byte more than the limit is read, to detect a longer stream.
    let mut from = from.take(len.unwrap_or(max_stream().saturating_add(1)));
    let (mut bytes, mut valid) = (Vec::new(), 0usize);
    let mut piece = vec![0; PIECE];
    loop {
        let read = match from.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(problem)?,
        };
        let read = piece.get(..read).unwrap_or_default();
        if read.is_empty() {
            break;
        }
        if let Some(at) = read.iter().position(|&byte| byte == 0) {
            return Ok(Err(NoText(bytes.len().saturating_add(at))));
        }
        let memory = |_| problem(io::ErrorKind::OutOfMemory.into());
        bytes.try_reserve(read.len()).map_err(memory)?;
        bytes.extend_from_slice(read);
        match core::str::from_utf8(bytes.get(valid..).unwrap_or_default()) {
            Ok(_) => valid = bytes.len(),
            Err(error) => {
                valid = valid.saturating_add(error.valid_up_to());
                if error.error_len().is_some() {
                    return Ok(Err(NoText(valid)));
                }
            }
        }
        if len.is_none() && u64::try_from(bytes.len()).is_ok_and(|len| len > max_stream()) {
            return Err(long_stream(&name));
        }
    }
    Ok(String::from_utf8(bytes).map_err(|_| NoText(valid)))
}

/// The kinds of files that may be a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streams {
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

/// The number of bytes in a chunk: a multiple of every element size.
pub(super) const CHUNK: u64 = 1 << 20;

/// The number of bytes of a text that are read at once.
const PIECE: usize = 1 << 16;

impl Source for Bytes {
    type Error = io::Error;

    fn size(&self) -> io::Result<u64> {
        match &self.part {
            Some(part) => Ok(part.end.saturating_sub(part.start)),
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
