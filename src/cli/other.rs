//! Payloads, bundled programs and profiles as inputs.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::io;
use std::path::Path;

use pte::map::OtherFile;
use pte::payload::TablesPlace;
use pte::quoted::UntrustedString;
use pte::{Limits, Source};

use super::input::{Bytes, CHUNK, Input, Readable, Streams};
use super::problem::Problem;
use super::reserve::Reserved;
use super::text::name_of;

/// An opened file of any kind.
pub(super) enum AnyInput {
    /// A program or named data.
    Model(Box<Input>),
    /// A payload or a profile.
    Other(Box<OtherInput>),
    /// A bundled program, and the program in it.
    Bundle(Box<OtherFile>, Box<Input>),
}

/// A standalone payload or profile.
pub(super) struct OtherInput {
    pub(super) name: UntrustedString,
    pub(super) file: OtherFile,
    bytes: Bytes,
    /// The number of bytes that may still be read from the file or shown as names.
    left: AtomicU64,
    _reserved: Reserved,
}

impl AnyInput {
    /// Opens `path`. Only headers and tables are read.
    pub(super) fn open(path: &Path, limits: &Limits) -> Result<Self, Problem> {
        let name = name_of(path);
        let bytes = Bytes::open(path, &name, Streams::ModelsAndTables)?;
        Self::of(bytes, name, limits)
    }

    /// Reads the headers and tables of `bytes`, an opened file called `name`.
    pub(crate) fn of(
        bytes: Bytes,
        name: UntrustedString,
        limits: &Limits,
    ) -> Result<Self, Problem> {
        let (head, len) = bytes.head(&name)?;
        let mut reserved = None;
        if let Some(Ok(place)) = TablesPlace::of(&head, len) {
            let tables = place.range.end.saturating_sub(place.range.start);
            if tables > limits.program {
                let limit = limits.program;
                let message = format!("a FlatBuffer of {tables} bytes: the limit is {limit}");
                return Err(Problem::Unreadable { file: name, message: message.into() });
            }
            reserved = Some(Reserved::new(tables, &name)?);
        }
        let opened = OtherFile::read(&bytes, limits);
        let file = match opened.map_err(|error| Problem::open(&name, error))? {
            None => return Ok(Self::Model(Box::new(Input::of(bytes, &name, limits)?))),
            Some(Err(why)) => return Err(bytes.invalid(&name, why)),
            Some(Ok(file)) => file,
        };
        if file.is_bundle() {
            let input = Input::of(bytes, &name, limits)?;
            return Ok(Self::Bundle(Box::new(file), Box::new(input)));
        }
        let budget = len.saturating_mul(limits.amplification.into()).saturating_add(CHUNK);
        let reserved = reserved.map_or_else(|| Reserved::new(0, &name), Ok)?;
        let left = AtomicU64::new(budget);
        Ok(Self::Other(Box::new(OtherInput { name, file, bytes, left, _reserved: reserved })))
    }
}

impl Readable for OtherInput {
    fn name(&self) -> &UntrustedString {
        &self.name
    }

    fn spend(&self, range: &Range<u64>) -> Result<(), Problem> {
        let len = range.end.saturating_sub(range.start);
        let charge = |left: u64| left.checked_sub(len);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, charge) {
            Ok(_) => Ok(()),
            Err(_) => Err(Problem::Unreadable {
                file: self.name.clone(),
                message: "the same data is used repeatedly".into(),
            }),
        }
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Problem> {
        self.spend(&range)?;
        let problem = |error| Problem::io(&self.name, error);
        let memory = || problem(io::ErrorKind::OutOfMemory.into());
        let len = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| memory())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| memory())?;
        bytes.resize(len, 0);
        self.bytes.read_at(range.start, &mut bytes).map_err(problem)?;
        Ok(bytes)
    }

    fn try_chunks(
        &self,
        range: Range<u64>,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut at = range.start;
        while at < range.end {
            let end = at.saturating_add(CHUNK).min(range.end);
            each(&self.read(at..end)?)?;
            at = end;
        }
        Ok(())
    }
}
