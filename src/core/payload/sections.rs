//! Payloads that are not FlatBuffers of a known schema. Their headers list sections.
//!
//! The contents of sections are opaque: they are for a device, or for a vendor's compiler. The
//! layouts are in docs/format.md §11.7. Each backend finds its own in its folder beside this one. The archives here are
//! standalone files.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::{Format, Payload, Unreadable};
use crate::backend::Backend;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use crate::pte::Pte;
use archive::{Archive, LONGEST_DIRECTORY};
use pte_flat::bytes::len_of;
use pte_flat::cost;
use pte_schema::program::view::{BackendDelegate, ExecutionPlan};

pub mod archive;
mod exports;
pub(super) mod package;
mod record;

/// The contents of a payload's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sections {
    /// The version of the payload's format or of its writer.
    pub version: Option<String>,
    /// The device that the payload was compiled for.
    pub target: Option<String>,
    /// The number of bytes of memory that the backend needs at each run, besides inputs and
    /// outputs.
    pub scratch: Option<u64>,
    /// The work of a run, if the payload has a command stream of Ethos-U.
    pub work: Option<super::command_stream::Work>,
    /// The sections, in the order of the header.
    pub sections: Vec<Section>,
    /// The start of the central directory of an archive.
    pub directory: Option<u64>,
    /// The starts of the headers of an archive's members, in order.
    pub headers: Vec<u64>,
}

/// A part of a payload, with opaque contents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// The payload's name of the section, or this crate's if the payload has none.
    pub name: &'static str,
    /// The range in the payload.
    pub range: Range<u64>,
    /// The key of the named data with the contents; `None` if the contents are in the range.
    pub key: Option<String>,
    /// For Core ML, the path of a file inside the payload, or the name of the function if the
    /// payload only refers to a model. For an ETRecord, the name of the member.
    pub file: Option<String>,
    /// The CRC-32 of a member of an ETRecord.
    pub checksum: Option<u32>,
}

impl Section {
    pub(crate) fn new(name: &'static str, range: Range<u64>) -> Self {
        Self { name, range, key: None, file: None, checksum: None }
    }
}

impl Sections {
    /// The maximum number of sections of a payload. Genuine payloads have at most 16.
    pub const MOST: usize = 64;

    /// Finds the sections of a payload of `len` bytes. `read` returns a range of the payload, and
    /// is called for headers only. Returns `None` for a backend whose payloads have no known
    /// sections.
    ///
    /// # Errors
    ///
    /// The errors of `read`. The inner error describes an invalid payload.
    pub fn of<B: Deref<Target = [u8]>, E>(
        backend: Backend,
        len: u64,
        mut read: impl FnMut(Range<u64>) -> Result<B, E>,
    ) -> Result<Option<Result<Self, Unreadable>>, E> {
        let read = |range| read(range).map(Some);
        match Format::of(backend) {
            Some(Format::Sections(find)) => Head::with(len, read, find).map(Some),
            _ => Ok(None),
        }
    }

    /// Finds the sections of a standalone file of `len` bytes, as [`of`](Self::of) does: the
    /// sections of a payload, or the members of a `.ptn` package or an ETRecord. Returns `None` for another format.
    ///
    /// # Errors
    ///
    /// The errors of `read`. The inner error describes an invalid file.
    pub fn of_file<B: Deref<Target = [u8]>, E>(
        format: ForeignFormat,
        len: u64,
        read: impl FnMut(Range<u64>) -> Result<B, E>,
    ) -> Result<Option<Result<Self, Unreadable>>, E> {
        let found: fn(Archive) -> Result<Self, Unreadable> = match format {
            ForeignFormat::Payload(backend) => return Self::of(backend, len, read),
            ForeignFormat::Ptn => package::sections,
            ForeignFormat::EtRecord => record::sections,
            _ => return Ok(None),
        };
        let mut read = read;
        Head::with(
            len,
            |range| read(range).map(Some),
            |head| {
                let archive = Archive::read(head, LONGEST_DIRECTORY)?;
                let headers = archive.members.iter().map(|member| member.header).collect();
                let directory = Some(archive.directory);
                Ok(Self { directory, headers, ..found(archive)? })
            },
        )
        .map(Some)
    }

    /// Adds a section, after checking that it lies in a payload of `len` bytes.
    pub(super) fn add(&mut self, section: Section, len: u64) -> Result<(), Unreadable> {
        let Section { name, range, .. } = &section;
        if range.start > range.end || range.end > len {
            return Err(Unreadable::Part { name, range: range.clone(), len });
        }
        if self.sections.len() >= Self::MOST {
            return Err(Unreadable::Sections { most: Self::MOST });
        }
        self.sections.push(section);
        Ok(())
    }
}

/// Calls `each` with every payload of a program whose backend has sections, and with the sections.
/// A payload that several delegates share is read once.
///
/// Only headers are read. `limits` bounds the bytes that are read, since payloads may overlap.
/// Payloads beyond that bound are left out.
///
/// # Errors
///
/// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
pub fn for_each_sections<S: Source>(
    handle: &Handle<S>,
    limits: &Limits,
    mut each: impl FnMut(&Payload<'_>, Result<Sections, Unreadable>),
) -> Result<(), OpenError<S::Error>> {
    let File::Pte(pte) = handle.file() else { return Ok(()) };
    let mut left = Some(limits.bytes_visited(pte.file_len()));
    for payload in pte.distinct_payloads() {
        let (range, len) = (payload.range(), payload.len());
        let Some(backend) = payload.backend() else { continue };
        let read = |part: Range<u64>| {
            left = left.and_then(|left| left.checked_sub(len_of(&part)));
            if left.is_none() {
                return Ok(Vec::new());
            }
            let at = |pos: u64| range.start.saturating_add(pos);
            handle.source().read_vec(at(part.start)..at(part.end))
        };
        let Some(found) = Sections::of(backend, len, read)? else { continue };
        if left.is_none() {
            break;
        }
        each(&payload, found);
    }
    Ok(())
}

/// The memory that a program's payloads need at each run, besides inputs and outputs.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// The number of bytes that each payload needs. A key is the payload's start and end in the file.
    bytes: BTreeMap<(u64, u64), u64>,
}

impl Scratch {
    /// Reads the headers of all payloads, as [`for_each_sections`] does.
    pub fn read<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Self, OpenError<S::Error>> {
        let mut bytes = BTreeMap::new();
        for_each_sections(handle, limits, |payload, found| {
            if let Some(scratch) = found.ok().and_then(|found| found.scratch) {
                let Range { start, end } = payload.range();
                bytes.insert((start, end), scratch);
            }
        })?;
        Ok(Self { bytes })
    }

    /// Returns the largest number of bytes that a delegate of `plan` needs, since delegates run one
    /// after the other. Returns 0 if no payload declares a number.
    pub fn of(&self, pte: &Pte<'_>, plan: ExecutionPlan<'_>) -> u64 {
        if self.bytes.is_empty() {
            return 0;
        }
        let delegates = plan.delegates().into_iter().flatten();
        let bytes = delegates.filter_map(|delegate| self.of_delegate(pte, delegate));
        bytes.max().unwrap_or_default()
    }

    /// Returns the number of bytes that a delegate needs; `None` if its payload declares no number.
    pub fn of_delegate(&self, pte: &Pte<'_>, delegate: BackendDelegate<'_>) -> Option<u64> {
        let range = pte.delegate_range(delegate).ok()??;
        cost::look_up("", self.bytes.len());
        self.bytes.get(&(range.start, range.end)).copied()
    }
}

/// The error of a payload that begins with an unknown magic.
pub(super) fn magic(bytes: &[u8]) -> Unreadable {
    Unreadable::Magic { magic: pte_flat::bytes::array_at(bytes, 0).unwrap_or_default() }
}

/// The headers of a payload, read on demand.
pub(super) struct Head<'r> {
    pub(super) len: u64,
    read: &'r mut dyn FnMut(Range<u64>) -> Option<Bytes<'r>>,
}

/// Bytes of a header.
pub(super) type Bytes<'r> = Box<dyn Deref<Target = [u8]> + 'r>;

impl<'r> Head<'r> {
    /// Reads `size` bytes.
    pub(super) fn read(&mut self, start: u64, size: u64) -> Result<Bytes<'r>, Unreadable> {
        self.read_range(start..start.saturating_add(size))
    }

    /// Reads a range.
    pub(super) fn read_range(&mut self, range: Range<u64>) -> Result<Bytes<'r>, Unreadable> {
        let Range { start, end } = range;
        let short = Unreadable::Short { len: self.len, needed: end };
        if end > self.len {
            return Err(short);
        }
        // After an error of `read`, what was found is not used.
        (self.read)(start..end).ok_or(short)
    }

    /// Finds something in a payload of `len` bytes. If `read` returns `None`, an error is found.
    pub(super) fn with<T, B: Deref<Target = [u8]> + 'r, E>(
        len: u64,
        mut read: impl FnMut(Range<u64>) -> Result<Option<B>, E>,
        find: impl FnOnce(&mut Head<'_>) -> Result<T, Unreadable>,
    ) -> Result<Result<T, Unreadable>, E> {
        let mut failed = None;
        let mut read = |range| match read(range) {
            Ok(bytes) => bytes.map(|bytes| -> Bytes<'r> { Box::new(bytes) }),
            Err(error) => {
                failed = Some(error);
                None
            }
        };
        let found = find(&mut Head { len, read: &mut read });
        failed.map_or(Ok(found), Err)
    }
}

/// Finds the sections of a payload by its headers.
pub(super) type Reader = fn(&mut Head<'_>) -> Result<Sections, Unreadable>;
