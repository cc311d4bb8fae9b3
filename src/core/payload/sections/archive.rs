//! ZIP archives whose members are stored uncompressed, as Python's `zipfile` writes them.
//!
//! Archives with compression, encryption, ZIP64, comments or data descriptors are refused. The
//! writers of `.ptn` packages and ETRecords use none of these, except for ETRecords above 4 GiB.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::Head;
use crate::payload::Unreadable;
use pte_flat::bytes::{array_at, slice_at, u16_at, u32_at, wide};
use pte_flat::cost;

/// The length of a local header up to the name.
const LOCAL: u32 = 30;
/// The length of a directory entry up to the name.
const ENTRY: u32 = 46;
/// The length of the record at the end of the directory.
const END: u64 = 22;

/// The longest directory that is read, in bytes. An ETRecord has some 420 bytes for each method.
const LONGEST_DIRECTORY: u64 = 1 << 22;

/// The flag that a name is UTF-8.
const UTF8: u16 = 1 << 11;

/// A member of an archive.
pub(super) struct Member {
    pub(super) name: String,
    /// The position of the member's local header.
    pub(super) header: u64,
    /// The range of the member's contents.
    pub(super) range: Range<u64>,
}

/// A member as a header describes it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Described<'h> {
    pub(super) name: &'h [u8],
    pub(super) size: u32,
}

/// Reads the directory of an archive and the local headers of all members, which have the same
/// order. Returns the members, whose names are unique, and the position of the directory.
pub(super) fn members(head: &mut Head<'_>) -> Result<(Vec<Member>, u64), Unreadable> {
    let len = head.len;
    let at = len.saturating_sub(END);
    let end = head.read(at, END)?;
    // The directory's end: two disk numbers, two counts of entries, its size and offset, no comment.
    let (count, size) = (u16_at(&end, 10).unwrap_or_default(), u32_at(&end, 12));
    let (size, start) = (size.unwrap_or_default(), u32_at(&end, 16).unwrap_or_default());
    let is_plain = end.get(4..8) == Some(&[0; 4])
        && u16_at(&end, 8) == Some(count)
        && u16_at(&end, 20) == Some(0)
        && u64::from(start).saturating_add(size.into()) == at;
    if array_at(&end, 0) != Some(*b"PK\x05\x06") || !is_plain {
        return Err(invalid(at, "the end of the directory"));
    }
    let (start, size) = (u64::from(start), u64::from(size));
    if size > LONGEST_DIRECTORY {
        return Err(Unreadable::Directory { at: start, len: size, most: LONGEST_DIRECTORY });
    }
    let directory = head.read(start, size)?;
    let (mut found, mut names, mut next, mut free) = (Vec::new(), BTreeSet::new(), 0usize, 0);
    for _ in 0..count {
        let at = start.saturating_add(wide(next));
        let (member, offset, after) = entry(&directory, next, at)?;
        next = after;
        let offset = u64::from(offset);
        let len = u64::from(LOCAL).saturating_add(wide(member.name.len()));
        if offset < free || offset.saturating_add(len) > start {
            return Err(invalid(at, "members overlap, are out of order or behind the directory"));
        }
        cost::look_up("", names.len());
        if !names.insert(member.name) {
            return Err(invalid(at, "two members have the same name"));
        }
        let name = core::str::from_utf8(member.name);
        let name = name.map_err(|_| invalid(at, "a name is not UTF-8"))?;
        let header = head.read(offset, len)?;
        if local(&header, offset)? != member {
            return Err(invalid(offset, "a member is not what the directory says"));
        }
        let extra = u16_at(&header, 28).unwrap_or_default();
        let first = offset.saturating_add(wide(header.len())).saturating_add(extra.into());
        let range = first..first.saturating_add(member.size.into());
        // All members must be in front of the directory.
        if range.end > start {
            return Err(invalid(offset, "a member would not end in front of the directory"));
        }
        free = range.end;
        found.push(Member { name: name.into(), header: offset, range });
    }
    if next != directory.len() {
        return Err(invalid(start, "the directory has other bytes behind its entries"));
    }
    Ok((found, start))
}

/// Reads the local header at the start of `bytes`. `at` is its offset in the file, for errors.
pub(super) fn local(bytes: &[u8], at: u64) -> Result<Described<'_>, Unreadable> {
    let name = u16_at(bytes, 26).and_then(|len| slice_at(bytes, 30, len.into()));
    let (Some([b'P', b'K', 3, 4]), Some(name)) = (array_at(bytes, 0), name) else {
        return Err(invalid(at, "not the header of a member"));
    };
    Ok(Described { name, size: stored(bytes, 6, at)? })
}

/// Reads the directory entry at `next`. Returns the member, the offset of its local header, and the
/// end of the entry.
fn entry(bytes: &[u8], next: usize, at: u64) -> Result<(Described<'_>, u32, usize), Unreadable> {
    let invalid = || invalid(at, "not an entry of the directory");
    let bytes = bytes.get(next..).ok_or_else(invalid)?;
    let word = |at: usize| u16_at(bytes, at).ok_or_else(invalid);
    let (name, extra, comment) = (word(28)?, word(30)?, word(32)?);
    let len = u32::from(name).saturating_add(extra.into()).saturating_add(comment.into());
    let end = slice_at(bytes, 0, ENTRY.saturating_add(len)).ok_or_else(invalid)?.len();
    let name = slice_at(bytes, 46, name.into()).ok_or_else(invalid)?;
    let (Some([b'P', b'K', 1, 2]), Some(offset)) = (array_at(bytes, 0), u32_at(bytes, 42)) else {
        return Err(invalid());
    };
    Ok((Described { name, size: stored(bytes, 8, at)? }, offset, next.saturating_add(end)))
}

/// Returns the size of a stored member. Local headers and directory entries have the same fields,
/// beginning with the flags. `at` is the offset in the file, for errors.
fn stored(bytes: &[u8], flags: usize, at: u64) -> Result<u32, Unreadable> {
    let after = |more: usize| flags.saturating_add(more);
    let (packed, size) = (u32_at(bytes, after(12)), u32_at(bytes, after(16)));
    let why = match (u16_at(bytes, after(2)), u16_at(bytes, flags), size) {
        // The largest number means that the size is in a ZIP64 field.
        (Some(0), Some(0 | UTF8), Some(size)) if packed == Some(size) && size != u32::MAX => {
            return Ok(size);
        }
        (Some(0), ..) => "a member is encrypted, of 4 GiB or more, or without a size in its header",
        _ => "a member is compressed, and must be stored as it is",
    };
    Err(invalid(at, why))
}

pub(super) fn invalid(at: u64, why: &'static str) -> Unreadable {
    Unreadable::Package { at, why }
}
