//! Named data whose key is a digest.

use alloc::vec::Vec;
use core::ops::Range;

use sha2::{Digest, Sha256};

use super::NAMED_KEY_DIGEST;
use crate::data_file;
use crate::report::Findings;
use pte_core::file::source::Source;
use pte_core::handle::OpenError;
use pte_core::{File, Limits};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::{Quoted, hex};

/// The hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// The number of bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Compares each key that looks like a SHA-256 with the data that it names.
///
/// # Errors
///
/// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
pub(crate) fn judge<S: Source>(
    file: &File<'_>,
    source: &S,
    limits: &Limits,
    out: &mut Findings,
) -> Result<(), OpenError<S::Error>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(PIECE).map_err(|_| OpenError::Memory)?;
    buffer.resize(PIECE, 0);
    // Named data may overlap.
    let mut left = limits.bytes_visited(file.file_len());
    for (nth, key, range) in entries(file) {
        let message = match left.checked_sub(len_of(&range)) {
            None => format!("{} is not compared: named data overlaps", Quoted(key)),
            Some(rest) => {
                left = rest;
                let found = digest(source, range.clone(), &mut buffer);
                if hex(&found.map_err(OpenError::Source)?) == key {
                    continue;
                }
                format!("{} is not the SHA-256 of its data", Quoted(key))
            }
        };
        let path = || match file {
            File::Pte(_) => path!["program", "named_data", nth].into(),
            File::Ptd(ptd) => data_file::path(ptd, nth),
        };
        out.find(&NAMED_KEY_DIGEST, range.start, path, || message);
    }
    Ok(())
}

/// Returns the entries whose keys look like a SHA-256: the index, the key, and the range in the file.
fn entries<'a>(file: &File<'a>) -> Vec<(u32, &'a str, Range<u64>)> {
    let kept = |nth: u32, key: Option<&'a str>, range: Option<Range<u64>>| {
        cost::charge(1);
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let key = key.filter(|key| key.len() == DIGITS && key.bytes().all(is_digit));
        Some((nth, key?, range?))
    };
    match file {
        File::Pte(pte) => {
            let all = (0..).zip(pte.named_data());
            all.filter_map(|(nth, (key, range))| kept(nth, key, range.ok())).collect()
        }
        File::Ptd(ptd) => {
            let all = (0..).zip(ptd.entries());
            all.filter_map(|(nth, entry)| kept(nth, entry.key(), entry.range().ok())).collect()
        }
    }
}

/// Returns the SHA-256 of a range.
fn digest<S: Source>(
    source: &S,
    range: Range<u64>,
    buffer: &mut [u8],
) -> Result<Vec<u8>, S::Error> {
    let mut hash = Sha256::new();
    let Range { mut start, end } = range;
    while start < end {
        let rest = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        let len = rest.min(buffer.len());
        let piece = buffer.get_mut(..len).filter(|piece| !piece.is_empty());
        let Some(piece) = piece else { break };
        source.read_at(start, piece)?;
        hash.update(&*piece);
        start = start.saturating_add(wide(len));
    }
    Ok(hash.finalize().to_vec())
}
