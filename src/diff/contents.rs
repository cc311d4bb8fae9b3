//! The data of a file and its `.ptd` files, hashed in chunks, each range once.

use core::ops::Range;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use super::{DiffError, Given, Whose};
use crate::file::source::Source;
use crate::handle::{File, Handle, OpenError};
use crate::limits::Limits;

/// A SHA-256.
pub(super) type Sha = [u8; 32];

/// The data of one side: its file, and the `.ptd` files that it is used with.
pub(super) struct Contents<'g, S> {
    whose: Whose,
    file: &'g Handle<S>,
    data: &'g [&'g Handle<S>],
    keys: BTreeMap<&'g str, (usize, Range<u64>)>,
    known: BTreeMap<(usize, u64, u64), Sha>,
    /// The bytes that may still be read. Ranges may overlap, so their sum may exceed the file.
    left: u64,
    most: u64,
}

/// The number of bytes read at once.
const CHUNK: u64 = 1 << 20;

impl<'g, S: Source> Contents<'g, S> {
    pub(super) fn new(
        given: &'g Given<'g, S>,
        whose: Whose,
        limits: &Limits,
    ) -> Result<Self, DiffError<S::Error>> {
        let mut most = given.file.file_len();
        let mut keys = BTreeMap::new();
        for (nth, &opened) in given.data.iter().enumerate() {
            let whose = whose.with(nth);
            let File::Ptd(ptd) = opened.file() else {
                return Err(DiffError::NoData(whose));
            };
            for entry in ptd.entries() {
                if let (Some(key), Ok(range)) = (entry.key(), entry.range()) {
                    // The first of two equal keys wins, as in runtimes.
                    keys.entry(key).or_insert((nth, range));
                }
            }
            most = most.saturating_add(opened.file_len());
        }
        let most = most.saturating_mul(limits.amplification.into()).saturating_add(CHUNK);
        let known = BTreeMap::new();
        Ok(Self { whose, file: given.file, data: &given.data, keys, known, left: most, most })
    }

    /// Returns the digest of a range of the file.
    pub(super) fn hash(&mut self, range: Range<u64>) -> Result<Sha, DiffError<S::Error>> {
        self.hash_in(0, range)
    }

    /// Returns the digest and the length of the data of a key in the `.ptd` files.
    pub(super) fn hash_key(
        &mut self,
        key: &str,
    ) -> Result<Option<(Sha, u64)>, DiffError<S::Error>> {
        let Some((nth, range)) = self.keys.get(key).cloned() else { return Ok(None) };
        let len = range.end.saturating_sub(range.start);
        self.hash_in(nth.saturating_add(1), range).map(|sha| Some((sha, len)))
    }

    /// Returns the digest of a range. File 0 is the compared one, the others are its `.ptd` files.
    fn hash_in(&mut self, file: usize, range: Range<u64>) -> Result<Sha, DiffError<S::Error>> {
        let place = (file, range.start, range.end);
        if let Some(&known) = self.known.get(&place) {
            return Ok(known);
        }
        let beside = file.checked_sub(1).and_then(|nth| Some((nth, self.data.get(nth)?)));
        let (opened, whose) = match beside {
            Some((nth, opened)) => (*opened, self.whose.with(nth)),
            None => (self.file, self.whose),
        };
        let len = range.end.saturating_sub(range.start);
        let left = self.left.checked_sub(len).ok_or(DiffError::Work(whose, self.most))?;
        self.left = left;
        let mut sha = Sha256::new();
        let mut at = range.start;
        while at < range.end {
            let end = at.saturating_add(CHUNK).min(range.end);
            sha.update(opened.read(at..end).map_err(|error| DiffError::Open(whose, error))?);
            at = end;
        }
        let sha = sha.finalize().into();
        self.known.insert(place, sha);
        Ok(sha)
    }
}

impl Whose {
    /// Returns the name of a `.ptd` that this file is used with.
    fn with(self, nth: usize) -> Self {
        match self {
            Self::Before | Self::WithBefore(_) => Self::WithBefore(nth),
            Self::After | Self::WithAfter(_) => Self::WithAfter(nth),
        }
    }
}

/// Returns whether two files have the same bytes. Reads up to the first difference.
pub(super) fn identical<S: Source>(
    before: &Handle<S>,
    after: &Handle<S>,
) -> Result<bool, DiffError<S::Error>> {
    let len = before.file_len();
    if len != after.file_len() {
        return Ok(false);
    }
    let read = |whose, file: &Handle<S>, range: Range<u64>| -> Result<Vec<u8>, _> {
        file.read(range).map_err(|error: OpenError<S::Error>| DiffError::Open(whose, error))
    };
    let mut at = 0;
    while at < len {
        let end = at.saturating_add(CHUNK).min(len);
        if read(Whose::Before, before, at..end)? != read(Whose::After, after, at..end)? {
            return Ok(false);
        }
        at = end;
    }
    Ok(true)
}

/// A hasher of typed fields.
#[derive(Clone, Default)]
pub(super) struct Hasher(Sha256);

impl Hasher {
    /// Returns a hasher for a kind of things. Digests of different kinds are never equal.
    pub(super) fn of(kind: u8) -> Self {
        let mut hasher = Self::default();
        hasher.bytes(&[kind]);
        hasher
    }

    /// Adds bytes, after their number.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(crate::bytes::wide(bytes.len()).cast_signed());
        self.0.update(bytes);
        self
    }

    pub(super) fn number(&mut self, number: impl Into<i64>) -> &mut Self {
        self.0.update(number.into().to_le_bytes());
        self
    }

    pub(super) fn text(&mut self, text: Option<&str>) -> &mut Self {
        self.number(i64::from(text.is_some())).bytes(text.unwrap_or_default().as_bytes())
    }

    pub(super) fn finish(self) -> Sha {
        self.0.finalize().into()
    }
}
