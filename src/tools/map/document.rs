//! The documents `pte.size/1` and `pte.map/1`. With the feature `serde` they can be serialized.

use core::ops::Range;

use alloc::vec::Vec;

#[cfg(feature = "sha2")]
use super::Duplicates;
use super::{
    Growth, KindTotal, Map, Name, Nesting, ObjectKind, Part, SizeTree, Span, Title, Within,
};
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
pub struct MapDocument<'d, P = Vec<RangeEntry>> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The path or the name of the file.
    pub path: &'d UntrustedString,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The outermost ranges of the file: a list, or [`RangeRows`](super::RangeRows).
    pub parts: P,
}

/// A range of a file with the ranges inside it.
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
    /// The ranges inside this range, which together have all of its bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub parts: Vec<RangeEntry>,
    /// The totals by kind, if the ranges inside are not listed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub kinds: Vec<KindEntry>,
}

/// The totals of one kind of part.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KindEntry {
    /// The name of the part. For an object in the FlatBuffer, it is the type of its table.
    pub name: &'static str,
    /// The kind of the object, if the part is an object in the FlatBuffer.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub what: Option<&'static str>,
    /// The number of parts.
    pub count: u64,
    /// The number of bytes of these parts.
    pub bytes: u64,
}

impl<'d, P> MapDocument<'d, P> {
    /// Returns the document of a file of `bytes` bytes with these ranges.
    #[must_use]
    pub fn new(path: &'d UntrustedString, bytes: u64, parts: P) -> Self {
        Self { schema: "pte.map/1", path, bytes, parts }
    }
}

impl RangeEntry {
    /// The maximum number of ranges that a document lists without merging. Each takes a few hundred
    /// bytes.
    pub const MOST_UNFOLDED: usize = 500_000;

    /// Returns the ranges of a file. It calls `charge` with each name from the file before keeping
    /// the name, since a small file may use one long name for many ranges.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn all<E>(
        map: &Map<'_>,
        nesting: Nesting,
        mut charge: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Vec<Self>, E> {
        map.nested(nesting).iter().map(|span| Self::of(span, &mut charge)).collect()
    }

    /// Moves the range, and the ranges inside it, by `by` bytes.
    pub fn shift(&mut self, by: u64) {
        self.begin = self.begin.saturating_add(by);
        self.end = self.end.saturating_add(by);
        self.parts.iter_mut().for_each(|range| range.shift(by));
    }

    /// Converts a range. The recursion is as deep as the nesting.
    fn of<E>(
        span: &Span<'_, '_>,
        charge: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut entry = Self::without_contents(span.range.clone(), span.title, charge)?;
        match &span.within {
            Within::Spans(spans) => {
                entry.parts =
                    spans.iter().map(|span| Self::of(span, charge)).collect::<Result<_, _>>()?;
            }
            Within::Kinds(all) => entry.kinds = all.iter().map(KindEntry::of).collect(),
            Within::Nothing => {}
        }
        Ok(entry)
    }

    /// Returns a range without the ranges inside it.
    pub(super) fn without_contents<E>(
        range: Range<u64>,
        title: Title<'_, '_>,
        charge: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let (mut what, mut count, mut part_of_range) = (None, None, None);
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
        let Range { start: begin, end } = range;
        let (bytes, part) = (end.saturating_sub(begin), part_of_range);
        let (parts, kinds) = (Vec::new(), Vec::new());
        Ok(Self { begin, end, bytes, name, part, what, count, parts, kinds })
    }
}

impl KindEntry {
    pub(crate) fn of(kind: &KindTotal) -> Self {
        let what = kind.what.map(ObjectKind::name);
        Self { name: kind.name, what, count: kind.count, bytes: kind.bytes }
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

fn part_name<E>(
    part: Part<'_, '_>,
    charge: &mut impl FnMut(&str) -> Result<(), E>,
) -> Result<UntrustedString, E> {
    let name = UntrustedString::of(&part.name());
    if !matches!(part.name(), Name::Fixed(_)) {
        charge(name.raw())?;
    }
    Ok(name)
}
