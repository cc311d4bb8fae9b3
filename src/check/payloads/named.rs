//! The named data that the payloads of a program can name: its own, and that of `.ptd` files.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use core::ops::Range;

use super::Bytes;
use crate::container;
use pte_core::{Ptd, Pte};
use pte_flat::bytes::{index, len_of};
use pte_flat::cost;
use pte_flat::inserted;

/// The named data of a program and of `.ptd` files, by key.
pub(crate) struct NamedSizes<'d> {
    /// The range of each entry of the program; `None` if the range is invalid.
    own: BTreeMap<&'d str, Option<Range<u64>>>,
    /// For each key, the index of the `.ptd` file that has it, and of the entry in that file.
    others: BTreeMap<&'d str, (u32, u32)>,
    data: Option<&'d [Ptd<'d>]>,
    /// Whether a key that is not found may be in a `.ptd` that the caller did not give.
    may_be_elsewhere: bool,
    /// Whether the payloads belong to a program.
    is_program: bool,
}

/// The size of named data.
pub(crate) enum NamedSize {
    /// The number of bytes; `u64::MAX` if their range is invalid.
    Bytes(u64),
    /// No file has the key.
    Missing,
    /// A `.ptd` that the caller did not give may have the key.
    Elsewhere,
}

impl<'d> NamedSizes<'d> {
    /// Finds the keys of a program, and the keys of the `.ptd` files `data` if the caller gave
    /// any.
    pub(crate) fn new(pte: &'d Pte<'d>, data: Option<&'d [Ptd<'d>]>) -> Self {
        let (mut own, mut others) = (BTreeMap::new(), BTreeMap::new());
        for (key, range) in pte.named_data() {
            let Some(key) = key else { continue };
            cost::look_up(key, own.len());
            own.entry(key).or_insert(range.ok());
        }
        for (file, ptd) in (0..).zip(data.unwrap_or_default()) {
            for (nth, entry) in (0..).zip(ptd.entries()) {
                let Some(key) = entry.key() else { continue };
                cost::look_up(key, others.len());
                others.entry(key).or_insert((file, nth));
            }
        }
        // A program without named data may have a segment that nothing refers to. That segment
        // then has the data, so a missing key is not in a `.ptd`.
        let may_be_elsewhere = data.is_none() && (!own.is_empty() || !has_unnamed_segment(pte));
        Self { own, others, data, may_be_elsewhere, is_program: true }
    }

    /// Returns the named data of a payload without a program. Any key may be elsewhere.
    pub(super) fn unknown() -> Self {
        Self {
            own: BTreeMap::new(),
            others: BTreeMap::new(),
            data: None,
            may_be_elsewhere: true,
            is_program: false,
        }
    }

    /// Returns the size of the data with the key `key`. Without named data in the program, the data may be in a `.ptd`
    /// that is not given, if `may_be_external`: all constants of the payload are named data, and the key is one that
    /// the backend's writer makes.
    pub(crate) fn get(&self, key: &str, may_be_external: impl FnOnce() -> bool) -> NamedSize {
        cost::look_up(key, self.own.len());
        cost::look_up(key, self.others.len());
        // Invalid ranges are reported by other rules.
        let len = |range: Option<Range<u64>>| range.map_or(u64::MAX, |range| len_of(&range));
        if let Some(range) = self.own.get(key) {
            return NamedSize::Bytes(len(range.clone()));
        }
        match self.other(key) {
            Some((ptd, nth)) => NamedSize::Bytes(len(ptd.range(nth))),
            None if self.own.is_empty() && self.is_program && !may_be_external() => {
                NamedSize::Missing
            }
            None if self.may_be_elsewhere => NamedSize::Elsewhere,
            None => NamedSize::Missing,
        }
    }

    /// Returns whether a key is one of the program's own.
    pub(crate) fn is_own(&self, key: &str) -> bool {
        cost::look_up(key, self.own.len());
        self.own.contains_key(key)
    }

    /// Returns the range of one of the program's own keys, if it is valid.
    #[cfg(feature = "json")]
    pub(super) fn own_range(&self, key: &str) -> Option<Range<u64>> {
        self.own.get(key).cloned().flatten()
    }

    /// Reads the first `len` bytes of the data with a key.
    pub(super) fn bytes<'r>(
        &self,
        key: &str,
        len: u64,
        bytes: &mut Bytes<'r>,
    ) -> Option<Cow<'r, [u8]>> {
        if let Some(range) = self.own.get(key) {
            let Range { start, end } = range.clone()?;
            return bytes.read(start..start.saturating_add(len).min(end));
        }
        if !bytes.pay(len) {
            return None;
        }
        let (ptd, nth) = self.other(key)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        ptd.bytes(ptd.range(nth)?)?.get(..len).map(|bytes| Cow::Owned(bytes.to_vec()))
    }

    fn other(&self, key: &str) -> Option<(&'d Ptd<'d>, u32)> {
        let &(file, nth) = self.others.get(key)?;
        Some((self.data?.get(index(file))?, nth))
    }
}

/// Returns whether a program has a segment with bytes that nothing refers to.
fn has_unnamed_segment(pte: &Pte<'_>) -> bool {
    let used: BTreeSet<u32> = inserted(container::references(pte));
    cost::sort(used.len());
    (0..pte.segment_count()).any(|nth| {
        let has_bytes = pte.segment_range(nth).is_ok_and(|range| !range.is_empty());
        has_bytes && !used.contains(&nth)
    })
}

/// Returns whether a key is a SHA-256 in hexadecimal, which writers of several backends name data by.
pub(super) fn is_digest(key: &str) -> bool {
    key.len() == 64 && is_hex(key)
}

/// Returns whether a text is hexadecimal.
pub(super) fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
