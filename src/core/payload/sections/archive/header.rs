//! Local headers and entries of the central directory, which describe a member with the same fields.

use super::super::Head;
use super::invalid;
use crate::payload::Unreadable;
use pte_flat::bytes::{array_at, slice_at, sum, u16_at, u32_at, wide};

/// The length of a local header up to the name.
pub(super) const LOCAL: u32 = 30;
/// The length of an entry of the central directory up to the name.
const ENTRY: u32 = 46;
/// The flags that a member has a data descriptor, and that a name is UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;

/// A member as a header describes it.
#[derive(Clone, Copy)]
pub(in super::super) struct Described<'h> {
    pub(in super::super) name: &'h [u8],
    pub(in super::super) size: u64,
    pub(super) checksum: u32,
}

/// Returns the start of a member's contents, after comparing the local header with the central directory.
pub(super) fn contents(
    head: &mut Head<'_>,
    at: u64,
    member: &Described<'_>,
) -> Result<u64, Unreadable> {
    let len = u64::from(LOCAL).saturating_add(wide(member.name.len()));
    let header = head.read(at, len)?;
    let after = at.saturating_add(len);
    let extra = u16_at(&header, 28).unwrap_or_default();
    let found = match u32_at(&header, 22) {
        Some(u32::MAX) => local(&header, &head.read(after, extra.into())?, at)?,
        _ => local(&header, &[], at)?,
    };
    // If the size is in a data descriptor, it is 0 here.
    let has_size = u16_at(&header, 6).is_none_or(|flags| flags & 8 == 0);
    let is_same =
        found.name == member.name && (found.size == member.size || !has_size && found.size == 0);
    if !is_same {
        return Err(invalid(at, "a local header disagrees with the central directory"));
    }
    Ok(after.saturating_add(extra.into()))
}

/// Reads the local header at the start of `bytes`, with its extra fields. `at` is its offset in the file, for errors.
pub(in super::super) fn local<'h>(
    bytes: &'h [u8],
    extra: &[u8],
    at: u64,
) -> Result<Described<'h>, Unreadable> {
    let name = u16_at(bytes, 26).and_then(|len| slice_at(bytes, 30, len.into()));
    let (Some([b'P', b'K', 3, 4]), Some(name)) = (array_at(bytes, 0), name) else {
        return Err(invalid(at, "not a local header"));
    };
    described(name, (bytes, 6), &mut Wide::find(extra), at)
}

/// Reads the entry of the central directory at `next`. Returns the member, the offset of its local header, and the
/// end of the entry.
pub(super) fn entry(
    bytes: &[u8],
    next: usize,
    at: u64,
) -> Result<(Described<'_>, u64, usize), Unreadable> {
    let invalid = || invalid(at, "not an entry of the central directory");
    let bytes = bytes.get(next..).ok_or_else(invalid)?;
    let word = |at: usize| u16_at(bytes, at).map(u32::from).ok_or_else(invalid);
    let (name, extra, comment) = (word(28)?, word(30)?, word(32)?);
    let len = name.saturating_add(extra).saturating_add(comment);
    let end = slice_at(bytes, 0, ENTRY.saturating_add(len)).ok_or_else(invalid)?.len();
    let extra = slice_at(bytes, sum(ENTRY, name), extra).ok_or_else(invalid)?;
    let name = slice_at(bytes, 46, name).ok_or_else(invalid)?;
    let (Some([b'P', b'K', 1, 2]), Some(offset)) = (array_at(bytes, 0), u32_at(bytes, 42)) else {
        return Err(invalid());
    };
    let mut numbers = Wide::find(extra);
    let member = described(name, (bytes, 8), &mut numbers, at)?;
    let offset = numbers.widen(offset).ok_or_else(invalid)?;
    Ok((member, offset, next.saturating_add(end)))
}

/// The numbers of a ZIP64 field: one for each number that its header has no room for.
struct Wide<'e>(&'e [u8]);

impl<'e> Wide<'e> {
    /// Finds the field among extra fields.
    fn find(mut extra: &'e [u8]) -> Self {
        while let (Some(id), Some(len)) = (u16_at(extra, 0), u16_at(extra, 2)) {
            if id == 1 {
                return Self(slice_at(extra, 4, len.into()).unwrap_or_default());
            }
            extra = extra.get(sum(4, len.into())..).unwrap_or_default();
        }
        Self(&[])
    }

    /// Returns a number of the header, or the next of the field if the header has the largest.
    fn widen(&mut self, number: u32) -> Option<u64> {
        if number != u32::MAX {
            return Some(number.into());
        }
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }
}

/// Returns a stored member. Local headers and entries of the central directory have the same fields, beginning with
/// the flags. `at` is the offset in the file, for errors.
fn described<'h>(
    name: &'h [u8],
    (bytes, flags): (&[u8], usize),
    numbers: &mut Wide<'_>,
    at: u64,
) -> Result<Described<'h>, Unreadable> {
    let word = |more: usize| u32_at(bytes, flags.saturating_add(more));
    let mut wide = |number: Option<u32>| numbers.widen(number?);
    // The field has the size first.
    let (size, packed) = (wide(word(16)), wide(word(12)));
    let why = match (u16_at(bytes, flags.saturating_add(2)), u16_at(bytes, flags), size) {
        (Some(0), Some(flags), Some(size)) if flags & !FLAGS == 0 && packed == Some(size) => {
            return Ok(Described { name, size, checksum: word(8).unwrap_or_default() });
        }
        (Some(0), ..) => "a member is encrypted, or without a size",
        _ => {
            return Err(Unreadable::Unsupported {
                at,
                why: "a member is compressed, and must be stored as it is",
                help: "Write the archive again without compression, as its writer does.",
            });
        }
    };
    Err(invalid(at, why))
}
