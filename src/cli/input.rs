//! Input files: by path, by URL, or `-` for standard input.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use super::identity::identity;
use super::output::Output;
use super::problem::Problem;
use super::progress::Progress;
use super::reserve::Reserved;
use super::text::name_of;
use pte::file::chunks;
pub(super) use pte::file::open_regular;
use pte::flat::bytes::len_of;
use pte::flat::ledger::MemoryError;
use pte::payload::PayloadContents;
use pte::quoted::{Untrusted, UntrustedString, hex};
use pte::schema::program::view::ExecutionPlan;
use pte::{File, Handle, Limits, Source};

pub(super) use self::bytes::{Bytes, Streams, check_len, set_max_stream};
pub(super) use self::text::read_text;

mod bytes;
mod text;

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
        let len = len_of(range);
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
        let len = len_of(&range);
        let progress = Progress::new(self.shows_progress(), "bytes", len);
        for chunk in chunks(range, CHUNK) {
            let len = len_of(&chunk);
            each(&self.read_uncharged(chunk)?)?;
            progress.add(len);
        }
        Ok(())
    }

    /// Returns the SHA-256 of a range as text.
    fn sha256(&self, range: Range<u64>) -> Result<String, Problem> {
        let mut hash = Sha256::new();
        self.try_chunks(range, &mut |chunk| {
            hash.update(chunk);
            Ok(())
        })?;
        Ok(hex(&hash.finalize()))
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

/// Returns the methods of a program, or those called `name`. A missing name counts as an empty one.
pub(super) fn plans<'a>(
    file: &File<'a>,
    name: Option<&str>,
) -> impl Iterator<Item = ExecutionPlan<'a>> {
    let plans = match file {
        File::Pte(pte) => pte.program().execution_plan(),
        File::Ptd(_) => None,
    };
    let takes = move |plan: &ExecutionPlan<'_>| {
        name.is_none_or(|name| plan.name().unwrap_or_default() == name)
    };
    plans.into_iter().flatten().filter(takes)
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
        let graphs = contents.iter().map(|one| len_of(&one.graph)).fold(0, u64::saturating_add);
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
        let found = plans(&self.opened.file(), Some(name)).next();
        let absent = || self.absent(format!("there is no method {:?}", Untrusted::from(name)));
        found.map(|_| ()).ok_or_else(absent)
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
        Problem::refused(&self.name, error)
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

/// The number of bytes in a chunk: a multiple of every element size.
pub(super) const CHUNK: u64 = 1 << 20;
