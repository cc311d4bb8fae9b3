//! The records at the end of an archive, with the place of the central directory.

use super::super::Head;
use super::end::{self, END, MAGIC, NO_END};
use super::invalid;
use crate::payload::Unreadable;
use pte_flat::bytes::{array_at, u16_at, u32_at};

/// The lengths of ZIP64's end of central directory record and locator, which lie in front of that record.
const END64: u64 = 56;
const LOCATOR: u64 = 20;

/// The place of a central directory, and the number of its entries.
#[derive(Clone, Copy)]
pub(super) struct Directory {
    pub(super) count: u64,
    pub(super) size: u64,
    pub(super) start: u64,
}

impl Directory {
    /// Finds the central directory by the end of central directory record.
    pub(super) fn find(head: &mut Head<'_>) -> Result<Self, Unreadable> {
        let at = head.len.saturating_sub(END);
        let end = head.read(at, END)?;
        // Two disk numbers, two counts of entries, the size and the offset of the central directory, no comment.
        let (count, size) = (u16_at(&end, 10).unwrap_or_default(), u32_at(&end, 12));
        let (size, start) = (size.unwrap_or_default(), u32_at(&end, 16).unwrap_or_default());
        let has_magic = array_at(&end, 0) == Some(MAGIC);
        let is_plain = end.get(4..8) == Some(&[0; 4])
            && u16_at(&end, 8) == Some(count)
            && u16_at(&end, 20) == Some(0);
        let found = Self { count: count.into(), size: size.into(), start: start.into() };
        let (end, found) = match Self::find64(head, at)? {
            // A number that has no room is the largest one. Readers use the longer record.
            Some((end, long)) => {
                let is_same = |short: u64, long: u64, most: u64| short == long || short == most;
                let (most, few) = (u32::MAX.into(), u16::MAX.into());
                let is_same = is_same(found.count, long.count, few)
                    && is_same(found.size, long.size, most)
                    && is_same(found.start, long.start, most);
                (end, Some(long).filter(|_| is_same))
            }
            None => (at, Some(found)),
        };
        let is_its_end = |found: &Self| found.start.saturating_add(found.size) == end;
        if !has_magic {
            return Err(end::behind(head));
        }
        found.filter(is_its_end).filter(|_| is_plain).ok_or(invalid(at, NO_END))
    }

    /// Finds the central directory by the records of ZIP64 in front of the record at `at`, and where it must end.
    fn find64(head: &mut Head<'_>, at: u64) -> Result<Option<(u64, Self)>, Unreadable> {
        let Some(at) = at.checked_sub(LOCATOR.saturating_add(END64)) else { return Ok(None) };
        let records = head.read(at, LOCATOR.saturating_add(END64))?;
        let number = |at| array_at(&records, at).map(u64::from_le_bytes);
        if array_at(&records, 56) != Some(*b"PK\x06\x07") {
            return Ok(None);
        }
        // The locator: a disk, the position of the other record, the number of disks. The record: its length without
        // this number, two versions, two disks, two counts, the size and the offset of the central directory.
        let found = match (number(24), number(32), number(40), number(48)) {
            (Some(count), Some(all), Some(size), Some(start)) if count == all => {
                Some((at, Self { count, size, start }))
            }
            _ => None,
        };
        let is_plain = array_at(&records, 0) == Some(*b"PK\x06\x06")
            && number(4) == END64.checked_sub(12)
            && number(16) == Some(0)
            && records.get(60..64) == Some(&[0; 4])
            && number(64) == Some(at)
            && u32_at(&records, 72) == Some(1);
        let why = "the ZIP64 end of central directory record";
        found.filter(|_| is_plain).map(Some).ok_or(invalid(at, why))
    }
}
