//! ZIP archives whose members are stored uncompressed, as Python's `zipfile` and PyTorch write them.
//!
//! Archives with compression, encryption or comments are refused. `.ptn` packages and ETRecords are archives of
//! `zipfile`, with ZIP64 from 2 GiB on. `torch.save` writes ZIP64 always, and data descriptors, which are not read.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::ops::Range;

use super::Head;
use crate::payload::Unreadable;
use directory::Directory;
use pte_flat::bytes::wide;
use pte_flat::cost;

mod checksum;
mod directory;
mod end;
mod header;

pub use checksum::checksum;
pub(super) use header::local;

/// The longest central directory of a package or an ETRecord that is read, in bytes. An ETRecord has some 420 bytes
/// for each method.
pub(super) const LONGEST_DIRECTORY: u64 = 1 << 22;

/// A ZIP archive of uncompressed members.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Archive {
    /// The members, in the order of the archive. Their names are unique.
    pub members: Vec<Member>,
    /// The position of the central directory, which is behind all members.
    pub directory: u64,
}

/// A member of an archive.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Member {
    /// The name, which may have slashes.
    pub name: String,
    /// The position of the member's local header.
    pub header: u64,
    /// The range of the member's contents.
    pub range: Range<u64>,
    /// The CRC-32 of the contents that the central directory gives.
    pub checksum: u32,
}

impl Archive {
    /// Reads the central directory and the local headers of an archive in memory.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if the bytes are no such archive.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        let len = wide(bytes.len());
        let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
        let read =
            |range: Range<u64>| Ok::<_, Infallible>(bytes.get(at(range.start)..at(range.end)));
        let Ok(found) = Head::with(len, read, |head| Self::read(head, len));
        found
    }

    /// Reads a central directory of at most `longest` bytes, and the local headers of all members, which have the same
    /// order.
    pub(super) fn read(head: &mut Head<'_>, longest: u64) -> Result<Self, Unreadable> {
        let Directory { count, size, start } = Directory::find(head)?;
        if size > longest {
            return Err(Unreadable::Directory { at: start, len: size, most: longest });
        }
        let directory = head.read(start, size)?;
        let (mut members, mut names) = (Vec::new(), BTreeSet::new());
        let (mut next, mut free) = (0usize, 0);
        for _ in 0..count {
            let at = start.saturating_add(wide(next));
            let (member, header, after) = header::entry(&directory, next, at)?;
            next = after;
            let len = u64::from(header::LOCAL).saturating_add(wide(member.name.len()));
            if header < free || header.saturating_add(len) > start {
                let why = "members overlap, are out of order or behind the central directory";
                return Err(invalid(at, why));
            }
            cost::look_up("", names.len());
            if !names.insert(member.name) {
                return Err(Unreadable::Unsupported {
                    at,
                    why: "two members have the same name, and readers differ in which one they take",
                    help: "Write the archive again with one member of each name.",
                });
            }
            let name = core::str::from_utf8(member.name);
            let name = name.map_err(|_| invalid(at, "a name is not UTF-8"))?;
            let first = header::contents(head, header, &member)?;
            let range = first..first.saturating_add(member.size);
            // All members must be in front of the central directory.
            if range.end > start {
                let why = "a member would not end in front of the central directory";
                return Err(invalid(header, why));
            }
            free = range.end;
            members.push(Member { name: name.into(), header, range, checksum: member.checksum });
        }
        if next != directory.len() {
            return Err(invalid(start, "the central directory has other bytes behind its entries"));
        }
        Ok(Self { members, directory: start })
    }
}

pub(super) fn invalid(at: u64, why: &'static str) -> Unreadable {
    Unreadable::Package { at, why }
}
