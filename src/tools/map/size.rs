//! The size tree: the parts of a file by name, as `pte size` shows them.

use core::cmp::Reverse;
use core::fmt;

use alloc::vec::Vec;

use super::{Map, Name, Part};
use pte_core::payload::PayloadContents;
use pte_core::{File, Limits};
use pte_flat::bytes::wide;
use pte_flat::quoted::UntrustedString;

/// A part of a file: its name as text, its bytes and its own parts.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bytes = include_bytes!("../../../tests/data/pte/linear.pte");
/// use pte::map::SizeTree;
///
/// let file = pte::File::Pte(pte::Pte::read(bytes)?);
/// let tree = SizeTree::of("linear.pte", &file, &[], &pte::Limits::UNTRUSTED)?;
/// assert_eq!(tree.bytes, bytes.len() as u64);
/// for part in tree.largest_first() {
///     println!("{}: {} bytes", part.name, part.bytes);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeTree {
    /// The name of the part. For the whole file it is the path.
    pub name: UntrustedString,
    /// The bytes of the part. Every byte of a file counts once, for the first part that uses it.
    pub bytes: u64,
    /// The parts of this part, if any. Together they have all of its bytes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub parts: Vec<SizeTree>,
}

/// The error that the names are too long in total, which happens if many parts share a long name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamesTooLong {
    /// The limit in bytes.
    pub limit: u64,
}

impl SizeTree {
    /// Returns a tree with these parts, which together have `bytes` bytes.
    pub(crate) fn new(path: impl Into<UntrustedString>, bytes: u64, parts: Vec<Self>) -> Self {
        Self { name: path.into(), bytes, parts }
    }

    /// Returns the size tree of `file`, with the name `path`. The graphs and constants in
    /// `payloads` become parts of their delegates.
    ///
    /// # Errors
    ///
    /// [`NamesTooLong`] if the names have more bytes than [`amplification`](Limits::amplification)
    /// times the length of the file plus 4,096.
    pub fn of(
        path: impl Into<UntrustedString>,
        file: &File<'_>,
        payloads: &[PayloadContents],
        limits: &Limits,
    ) -> Result<Self, NamesTooLong> {
        let factor = limits.amplification.into();
        let limit = file.file_len().saturating_mul(factor).saturating_add(MIN_NAMES);
        let mut left = limit;
        Self::try_of(path, file, payloads, |name| {
            left = left.checked_sub(wide(name.len())).ok_or(NamesTooLong { limit })?;
            Ok(())
        })
    }

    /// Returns the size tree as [`of`](Self::of) does. It calls `charge` with each name from the
    /// file before keeping the name, since a small file may use one long name for many parts.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn try_of<E>(
        path: impl Into<UntrustedString>,
        file: &File<'_>,
        payloads: &[PayloadContents],
        charge: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        Self::of_map(path, &Map::with_payloads(file, payloads), charge)
    }

    /// Returns the size tree of a map, as [`try_of`](Self::try_of) does.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn of_map<E>(
        path: impl Into<UntrustedString>,
        map: &Map<'_>,
        mut charge: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let tree = Self::part(map.root(), &mut charge)?;
        Ok(Self { name: path.into(), ..tree })
    }

    /// Adds the parts of the program in a bundled program. `program` is the program's size tree.
    pub fn add_program(&mut self, program: Self) {
        let parts = self.parts.iter_mut();
        for part in parts.filter(|part| part.name.raw() == "program" && part.parts.is_empty()) {
            // In a hostile bundle, another part may own some bytes of the program. The sizes then
            // differ, and this part is skipped.
            if part.bytes == program.bytes {
                part.parts = program.parts;
                return;
            }
        }
    }

    /// Converts a part and its parts. The recursion is as deep as the map, which has a few levels.
    fn part<E>(
        part: Part<'_, '_>,
        charge: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let name = part_name(part, charge)?;
        let parts = part.parts().map(|part| Self::part(part, charge)).collect::<Result<_, _>>()?;
        Ok(Self { name, bytes: part.bytes(), parts })
    }

    /// Returns the number of bytes beyond `budget`; `None` if the file is within it.
    #[must_use]
    pub fn over(&self, budget: u64) -> Option<u64> {
        self.bytes.checked_sub(budget).filter(|&over| over > 0)
    }

    /// Returns the parts, the largest first. Parts of equal size are in the order of the map.
    #[must_use]
    pub fn largest_first(&self) -> Vec<&Self> {
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|part| Reverse(part.bytes));
        parts
    }
}

impl fmt::Display for NamesTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the names of the parts have more than {} bytes: parts share long names",
            self.limit
        )
    }
}

impl core::error::Error for NamesTooLong {}

/// The total length of names, in bytes, that is allowed for any file.
const MIN_NAMES: u64 = 4096;

/// Returns the name of a part. A name of the file is charged.
pub(super) fn part_name<E>(
    part: Part<'_, '_>,
    charge: &mut impl FnMut(&str) -> Result<(), E>,
) -> Result<UntrustedString, E> {
    let name = UntrustedString::of(&part.name());
    if !matches!(part.name(), Name::Fixed(_)) {
        charge(name.raw())?;
    }
    Ok(name)
}
