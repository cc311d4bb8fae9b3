//! Payloads, bundled programs and profiles as inputs.

use core::ops::Range;
use std::path::Path;

use pte::Limits;
use pte::flat::bytes::len_of;
use pte::map::OtherFile;
use pte::payload::TablesPlace;
use pte::quoted::UntrustedString;

use super::input::{Bytes, Input, ReadBudget, Readable, Streams, check_len};
use super::problem::Problem;
use super::reserve::Reserved;
use super::text::name_of;

/// An opened file of any kind.
pub(super) enum AnyInput {
    /// A program or named data, and the bundled program that it is in.
    Model(Box<Input>, Option<Box<OtherFile>>),
    /// A payload or a profile.
    Other(Box<OtherInput>),
}

/// A standalone payload or profile.
pub(super) struct OtherInput {
    pub(super) name: UntrustedString,
    pub(super) file: OtherFile,
    bytes: Bytes,
    budget: ReadBudget,
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
            check_len(&place.range, &name, limits)?;
            let tables = len_of(&place.range);
            reserved = Some(Reserved::new(tables, &name)?);
        }
        let opened = OtherFile::read(&bytes, limits);
        let file = match opened.map_err(|error| Problem::open(&name, error))? {
            None => return Ok(Self::Model(Box::new(Input::of(bytes, &name, limits)?), None)),
            Some(Err(why)) => return Err(bytes.invalid(&name, why)),
            Some(Ok(file)) => file,
        };
        if file.is_bundle() {
            let input = Input::of(bytes, &name, limits)?;
            return Ok(Self::Model(Box::new(input), Some(Box::new(file))));
        }
        let budget = ReadBudget::new(len, limits);
        let reserved = reserved.map_or_else(|| Reserved::new(0, &name), Ok)?;
        Ok(Self::Other(Box::new(OtherInput { name, file, bytes, budget, _reserved: reserved })))
    }
}

impl Readable for OtherInput {
    fn name(&self) -> &UntrustedString {
        &self.name
    }

    fn budget(&self) -> &ReadBudget {
        &self.budget
    }

    fn read_uncharged(&self, range: Range<u64>) -> Result<Vec<u8>, Problem> {
        self.bytes.read_unlimited(range, &self.name)
    }
}
