//! `.ptn` packages of the native backend: a ZIP archive of stored members, with fixed names.
//!
//! The writer is `exir/_serialize/_ptn.py`. Archives with compression, encryption, ZIP64, comments or sizes
//! behind the contents are refused: it writes none.

use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::{Head, Section, Sections, Stop};
use crate::bytes::{array_at, slice_at, u16_at, u32_at, wide};
use crate::payload::Unreadable;

/// The name of the member with the graph.
const GRAPH: &str = "program.ptg";

/// The names of the other members that the writer makes.
const OTHERS: [&str; 2] = ["program.safetensors", "aliases.json"];

/// The length of a local header up to the name, of an entry of the directory up to the name, and of the
/// end of the directory.
const LOCAL: u32 = 30;
const ENTRY: u32 = 46;
const END: u64 = 22;

/// The longest directory that is read, in bytes. That of the writer has at most 191.
const LONGEST_DIRECTORY: u64 = 1 << 14;

/// The start of the graph: behind the header of the first member.
const HEAD_OF_GRAPH: u64 = 41;

/// The flag of a name in UTF-8: the only one that changes nothing for ASCII.
const UTF8: u16 = 1 << 11;

/// A member as a header describes it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Member<'h> {
    name: &'h [u8],
    size: u32,
}

/// Returns the range of the graph in a package of `len` bytes that begins with `head`. It is the first
/// member.
pub(in crate::payload) fn graph(head: &[u8], len: u64) -> Result<Range<u64>, Unreadable> {
    let member = local(head, 0)?;
    if member.name != GRAPH.as_bytes() || u16_at(head, 28) != Some(0) {
        return Err(invalid(0, "the first member is not program.ptg"));
    }
    let range = HEAD_OF_GRAPH..HEAD_OF_GRAPH.saturating_add(member.size.into());
    if range.end > len {
        return Err(Unreadable::Part { name: GRAPH, range, len });
    }
    Ok(range)
}

/// Finds the members of a package.
pub(super) fn members<B: Deref<Target = [u8]>, E, R>(
    head: &mut Head<R>,
) -> Result<Sections, Stop<E>>
where
    R: FnMut(Range<u64>) -> Result<B, E>,
{
    let len = head.len;
    let at = len.saturating_sub(END);
    let end = head.read(at, END)?;
    // Two disk numbers, two counts of entries, the size and the offset of the directory, and no comment.
    let (count, size) = (u16_at(&end, 10).unwrap_or_default(), u32_at(&end, 12));
    let (size, start) = (size.unwrap_or_default(), u32_at(&end, 16).unwrap_or_default());
    let is_plain = end.get(4..8) == Some(&[0; 4])
        && u16_at(&end, 8) == Some(count)
        && u16_at(&end, 20) == Some(0)
        && u64::from(start).saturating_add(size.into()) == at;
    if array_at(&end, 0) != Some(*b"PK\x05\x06") || !is_plain {
        return Err(invalid(at, "the end of the directory").into());
    }
    let (start, size) = (u64::from(start), u64::from(size));
    if size > LONGEST_DIRECTORY {
        return Err(Unreadable::Part { name: "directory", range: start..at, len }.into());
    }
    let directory = head.read(start, size)?;
    let (mut found, mut names, mut next, mut free) = (Sections::default(), Vec::new(), 0usize, 0);
    for _ in 0..count {
        let at = start.saturating_add(wide(next));
        let (member, offset, after) = entry(&directory, next, at)?;
        next = after;
        let offset = u64::from(offset);
        if offset < free {
            return Err(invalid(at, "members overlap or are out of order").into());
        }
        if names.contains(&member.name) {
            return Err(invalid(at, "two members have the same name").into());
        }
        names.push(member.name);
        let header = head.read(offset, u64::from(LOCAL).saturating_add(wide(member.name.len())))?;
        if local(&header, offset)? != member {
            return Err(invalid(offset, "a member is not what the directory says").into());
        }
        let extra = u16_at(&header, 28).unwrap_or_default();
        let first = offset.saturating_add(wide(header.len())).saturating_add(extra.into());
        let range = first..first.saturating_add(member.size.into());
        free = range.end;
        let mut known = [GRAPH].into_iter().chain(OTHERS);
        let name = known.find(|name| name.as_bytes() == member.name).unwrap_or("other member");
        if name == GRAPH && range.start != HEAD_OF_GRAPH {
            return Err(invalid(offset, "program.ptg is not the first member").into());
        }
        // Members are in front of the directory.
        found.add(Section::new(name, range), start)?;
    }
    if next != directory.len() {
        return Err(invalid(start, "the directory has other bytes behind its entries").into());
    }
    if !names.contains(&GRAPH.as_bytes()) {
        return Err(invalid(start, "no member is program.ptg").into());
    }
    Ok(found)
}

/// Reads the local header at `at` of the file, which `bytes` begin with.
fn local(bytes: &[u8], at: u64) -> Result<Member<'_>, Unreadable> {
    let name = u16_at(bytes, 26).and_then(|len| slice_at(bytes, 30, len.into()));
    match (array_at(bytes, 0), name, stored(bytes, 6)) {
        (Some([b'P', b'K', 3, 4]), Some(name), Some(size)) => Ok(Member { name, size }),
        _ => Err(invalid(at, "not the header of a member that is stored as it is")),
    }
}

/// Reads the entry at `next` of the directory: the member, the offset of its header, and the end of the
/// entry.
fn entry(bytes: &[u8], next: usize, at: u64) -> Result<(Member<'_>, u32, usize), Unreadable> {
    let invalid = || invalid(at, "not an entry of a member that is stored as it is");
    let bytes = bytes.get(next..).ok_or_else(invalid)?;
    let word = |at: usize| u16_at(bytes, at).ok_or_else(invalid);
    let (name, extra, comment) = (word(28)?, word(30)?, word(32)?);
    let len = u32::from(name).saturating_add(extra.into()).saturating_add(comment.into());
    let end = slice_at(bytes, 0, ENTRY.saturating_add(len)).ok_or_else(invalid)?.len();
    let name = slice_at(bytes, 46, name.into()).ok_or_else(invalid)?;
    match (array_at(bytes, 0), stored(bytes, 8), u32_at(bytes, 42)) {
        (Some([b'P', b'K', 1, 2]), Some(size), Some(offset)) => {
            Ok((Member { name, size }, offset, next.saturating_add(end)))
        }
        _ => Err(invalid()),
    }
}

/// Returns the size of a stored member. Both headers have the same fields from the flags on.
fn stored(bytes: &[u8], flags: usize) -> Option<u32> {
    let at = |more: usize| flags.saturating_add(more);
    let is_stored = u16_at(bytes, flags)? & !UTF8 == 0 && u16_at(bytes, at(2))? == 0;
    let (packed, size) = (u32_at(bytes, at(12))?, u32_at(bytes, at(16))?);
    // The largest number stands for a size of ZIP64.
    (is_stored && packed == size && size != u32::MAX).then_some(size)
}

fn invalid(at: u64, why: &'static str) -> Unreadable {
    Unreadable::Package { at, why }
}
