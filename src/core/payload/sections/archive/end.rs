//! The end of central directory record, and what lies behind it.

use super::super::Head;
use super::invalid;
use crate::payload::Unreadable;
use pte_flat::bytes::{u16_at, wide};
use pte_flat::cost;

/// The length of the record.
pub(super) const END: u64 = 22;
/// The first bytes of the record.
pub(super) const MAGIC: [u8; 4] = *b"PK\x05\x06";
/// What an archive without a sound record at its end lacks.
pub(super) const NO_END: &str = "the end of central directory record";
/// The longest comment behind the end of central directory record.
const LONGEST_COMMENT: u64 = 0xffff;

/// Returns the error of an archive that does not end with the record: what is behind it.
pub(super) fn behind(head: &mut Head<'_>) -> Unreadable {
    let at = head.len.saturating_sub(END);
    let start = at.saturating_sub(LONGEST_COMMENT);
    let last = match head.read(start, head.len.saturating_sub(start)) {
        Ok(last) => last,
        Err(why) => return why,
    };
    cost::charge(last.len());
    let Some(found) = last.windows(MAGIC.len()).rposition(|bytes| bytes == MAGIC) else {
        return invalid(at, NO_END);
    };
    let at = start.saturating_add(wide(found));
    let comment = last.get(found..).and_then(|record| u16_at(record, 20)).unwrap_or_default();
    let why = match at.saturating_add(END).saturating_add(comment.into()) == head.len {
        true => "it ends with a comment, in which readers may find another directory",
        false => "other bytes are behind its end, where readers may find another directory",
    };
    let help = "Write the archive again, without a comment and other bytes behind it.";
    Unreadable::Unsupported { at, why, help }
}
