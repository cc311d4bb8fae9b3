//! Payloads that are no FlatBuffer of a known schema: the sections that their headers name.
//!
//! The contents of sections are opaque: they are for a device or for a compiler of its vendor. The layouts
//! are in docs/format.md §11.7. Each backend has a file.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::Unreadable;
use crate::backend::Backend;

#[cfg(feature = "json")]
mod coreml;
mod ethosu;
mod openvino;
mod qnn;
mod vendors;
mod vgf;

/// What the header of a payload says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sections {
    /// The version of the format or of its writer.
    pub version: Option<String>,
    /// The device that the payload was compiled for.
    pub target: Option<String>,
    /// The bytes of memory that the backend needs at each run beside inputs and outputs.
    pub scratch: Option<u64>,
    /// The sections, in the order of the header.
    pub sections: Vec<Section>,
}

/// A part of a payload, with opaque contents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// The name: the payload's own, if it has one.
    pub name: &'static str,
    /// The range in the payload.
    pub range: Range<u64>,
    /// The key of the named data that has the contents; `None` if the range has them.
    pub key: Option<String>,
    /// The path of a file in a file system of Core ML, or the function of a reference to one.
    pub file: Option<String>,
}

impl Section {
    fn new(name: &'static str, range: Range<u64>) -> Self {
        Self { name, range, key: None, file: None }
    }
}

impl Sections {
    /// The most sections of a payload. Genuine ones have at most 16.
    pub const MOST: usize = 64;

    /// Finds the sections of a payload of `len` bytes. `read` returns a range of the payload: of headers,
    /// never of contents. `None` for a backend whose payloads have no known sections.
    ///
    /// # Errors
    ///
    /// The errors of `read`. The inner error is that of an invalid payload.
    pub fn of<B: Deref<Target = [u8]>, E>(
        backend: Backend,
        len: u64,
        read: impl FnMut(Range<u64>) -> Result<B, E>,
    ) -> Result<Option<Result<Self, Unreadable>>, E> {
        let mut head = Head { len, read };
        let found = match backend {
            Backend::EthosU => ethosu::sections(&mut head),
            Backend::Vgf => vgf::sections(&mut head),
            Backend::OpenVino => openvino::sections(&mut head),
            Backend::Qnn => qnn::sections(&mut head),
            Backend::Neuropilot => vendors::neuropilot(&mut head),
            Backend::Neutron => vendors::neutron(&mut head),
            Backend::Mps => vendors::mps(&mut head),
            Backend::Cuda | Backend::Metal => vendors::aot_inductor(&mut head),
            #[cfg(feature = "json")]
            Backend::CoreMl => coreml::sections(&mut head),
            _ => return Ok(None),
        };
        match found {
            Ok(sections) => Ok(Some(Ok(sections))),
            Err(Stop::Unreadable(why)) => Ok(Some(Err(why))),
            Err(Stop::Read(error)) => Err(error),
        }
    }

    /// Adds a section that is in a payload of `len` bytes.
    fn add(&mut self, section: Section, len: u64) -> Result<(), Unreadable> {
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

/// The error of a payload that begins with an unknown magic.
fn magic(bytes: &[u8]) -> Unreadable {
    Unreadable::Magic { magic: crate::bytes::array_at(bytes, 0).unwrap_or_default() }
}

/// The headers of a payload, read on demand.
struct Head<R> {
    len: u64,
    read: R,
}

impl<R> Head<R> {
    /// Reads `size` bytes.
    fn read<B, E>(&mut self, start: u64, size: u64) -> Result<B, Stop<E>>
    where
        R: FnMut(Range<u64>) -> Result<B, E>,
    {
        let end = start.saturating_add(size);
        if end > self.len {
            return Err(Unreadable::Short { len: self.len, needed: end }.into());
        }
        (self.read)(start..end).map_err(Stop::Read)
    }
}

/// The reason why sections were not found.
enum Stop<E> {
    Unreadable(Unreadable),
    Read(E),
}

impl<E> From<Unreadable> for Stop<E> {
    fn from(why: Unreadable) -> Self {
        Self::Unreadable(why)
    }
}
