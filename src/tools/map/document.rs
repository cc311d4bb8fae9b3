//! The documents `pte.size/1` and `pte.map/1`. With the feature `serde` they can be serialized.

use core::ops::Range;

use alloc::vec::Vec;

#[cfg(feature = "sha2")]
use super::Duplicates;
use super::size::part_name;
use super::{Growth, Name, Part, RangeRow, Ranges, SizeTree, Title};
use pte_flat::quoted::UntrustedString;

/// The document `pte.size/1`: the size trees of files.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeDocument<'t> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The largest allowed size in bytes, if any.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub budget: Option<u64>,
    /// The base that the files are compared with, if any.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub against: Option<SizeBase<'t>>,
    /// The files.
    pub files: Vec<SizeEntry<'t>>,
    /// The data that is stored more than once; `None` if it was not searched for.
    #[cfg(feature = "sha2")]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub duplicates: Option<Duplicates<'t>>,
}

/// The base: a file that other files are compared with.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeBase<'t> {
    /// The path or the name of the file.
    pub path: &'t UntrustedString,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// The size tree of one file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeEntry<'t> {
    /// The path or the name of the file.
    pub path: &'t UntrustedString,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The parts of the file.
    pub parts: &'t [SizeTree],
    /// The number of bytes beyond the budget; `None` if the file is within it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub over: Option<u64>,
    /// The parts whose sizes changed; `None` without a base.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub growth: Option<Vec<Growth<'t>>>,
}

impl<'t> SizeDocument<'t> {
    /// Returns the document of `files`. With a `base`, it lists the growth of their parts, at most
    /// `depth` levels down. `budget` is the largest allowed size in bytes.
    #[must_use]
    pub fn new(
        files: &'t [SizeTree],
        budget: Option<u64>,
        base: Option<&'t SizeTree>,
        depth: u32,
    ) -> Self {
        let files = files.iter().map(|file| SizeEntry {
            path: &file.name,
            bytes: file.bytes,
            parts: &file.parts,
            over: budget.and_then(|budget| file.over(budget)),
            growth: base.map(|base| Growth::between(base, file, depth)),
        });
        Self {
            schema: "pte.size/1",
            budget,
            against: base.map(|base| SizeBase { path: &base.name, bytes: base.bytes }),
            files: files.collect(),
            #[cfg(feature = "sha2")]
            duplicates: None,
        }
    }

    /// Adds the data that is stored more than once.
    #[cfg(feature = "sha2")]
    #[must_use]
    pub fn with_duplicates(self, duplicates: Option<Duplicates<'t>>) -> Self {
        Self { duplicates, ..self }
    }
}

/// The document `pte.map/1`: the nested ranges of a file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MapDocument<'d, 'm, 'a> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The path or the name of the file.
    pub path: &'d UntrustedString,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The outermost ranges of the file.
    pub parts: &'d Ranges<'m, 'a>,
}

/// A range of a file, without the ranges inside it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RangeEntry {
    /// The offset of its first byte.
    pub begin: u64,
    /// The offset after its last byte.
    pub end: u64,
    /// The length of the range.
    pub bytes: u64,
    /// The name of the range: that of its part, segment or kind.
    pub name: UntrustedString,
    /// The names of the range's part, outermost first, if that part is outside the part of the
    /// enclosing range.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub part: Option<Vec<UntrustedString>>,
    /// The kind of the object, if the range is an object in the FlatBuffer.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub what: Option<&'static str>,
    /// The number of ranges that were merged to this one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub count: Option<u64>,
}

impl<'d, 'm, 'a> MapDocument<'d, 'm, 'a> {
    /// Returns the document of a file of `bytes` bytes with these ranges.
    #[must_use]
    pub fn new(path: &'d UntrustedString, bytes: u64, parts: &'d Ranges<'m, 'a>) -> Self {
        Self { schema: "pte.map/1", path, bytes, parts }
    }
}

impl RangeEntry {
    /// The maximum number of ranges that a document lists without merging. Each takes a few hundred
    /// bytes.
    pub const MOST_UNFOLDED: usize = 500_000;

    /// Returns the entry of a row. It calls `charge` with each name from the file before keeping
    /// the name.
    pub(super) fn of<E>(
        row: &RangeRow<'_, '_, '_>,
        charge: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let (mut what, mut count, mut part_of_range) = (None, None, None);
        let title = row.title();
        let name = match title {
            Title::Part(part) | Title::Other(part) => {
                if let Name::Object(_, thing) = part.name() {
                    what = Some(thing.name());
                }
                if matches!(title, Title::Other(_)) {
                    part_of_range = Some(part.names(&mut *charge)?);
                }
                part_name(part, charge)?
            }
            Title::Segment(nth) => format!("segment {nth}").into(),
            Title::Alike { name, count: many } => {
                count = Some(many);
                name.into()
            }
        };
        let Range { start: begin, end } = row.range();
        let (bytes, part) = (end.saturating_sub(begin), part_of_range);
        Ok(Self { begin, end, bytes, name, part, what, count })
    }
}

impl Part<'_, '_> {
    /// Returns the names of the part and its parents, outermost first, without tables, vectors and
    /// strings. It calls `charge` with each name from the file before keeping the name.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn names<E>(
        self,
        mut charge: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Vec<UntrustedString>, E> {
        let mut parts = Vec::new();
        let mut part = Some(self);
        while let Some(one) = part.filter(|part| part.parent().is_some()) {
            if !matches!(one.name(), Name::Object(..)) {
                parts.push(part_name(one, &mut charge)?);
            }
            part = one.parent();
        }
        parts.reverse();
        Ok(parts)
    }
}
