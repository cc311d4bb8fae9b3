//! An index of entries by key, since a file may have its entries in any order.

use core::cmp::Ordering;

use alloc::vec::Vec;

use super::{Entry, Ptd, Root};
use pte_flat::bytes::{index as at_index, narrow};

/// The entries of a data file by their keys, for many lookups.
///
/// The index takes 8 bytes for each entry. Building it takes n log n time, and a lookup log n.
/// Entries are sorted by a digest of the key. If digests are equal, they are sorted by the key.
///
/// ```
/// # fn main() -> pte::Result<()> {
/// # let bytes = include_bytes!("../../../tests/data/ptd/ptd_basic.ptd");
/// let ptd = pte::Ptd::read(bytes)?;
/// let index = ptd.index();
/// for entry in ptd.entries() {
///     let found = entry.key().and_then(|key| index.get(key));
///     assert_eq!(found.map(|found| found.offset()), Some(entry.offset()));
/// }
/// assert!(index.get("no such key").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Index<'a> {
    ptd: Ptd<'a>,
    order: KeyOrder,
}

/// The entries of a data file by their keys, without the file: an [`Index`] that can be kept beside a
/// [`Handle`](crate::Handle).
///
/// ```
/// # fn main() -> pte::Result<()> {
/// # let bytes = include_bytes!("../../../tests/data/ptd/ptd_basic.ptd");
/// let ptd = pte::Ptd::read(bytes)?;
/// let order = ptd.key_order();
/// let first = ptd.key(0).and_then(|key| order.get(&ptd, key));
/// assert_eq!(first.map(|entry| entry.offset()), ptd.entry(0).map(|entry| entry.offset()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct KeyOrder {
    /// The digest of each key and the index of its entry, sorted by digest, key and index.
    sorted: Vec<(u32, u32)>,
}

impl<'a> Ptd<'a> {
    /// Prepares to look up entries by their keys.
    pub fn index(&self) -> Index<'a> {
        Index { ptd: self.clone(), order: self.key_order() }
    }

    /// Sorts the entries by their keys.
    pub fn key_order(&self) -> KeyOrder {
        let numbers = 0..self.entry_count();
        let digests = numbers.filter_map(|nth| Some((digest(self.key(nth)?), nth)));
        let mut sorted: Vec<_> = digests.collect();
        sorted.sort_unstable_by(|(one, a), (other, b)| {
            one.cmp(other).then_with(|| self.key(*a).cmp(&self.key(*b))).then_with(|| a.cmp(b))
        });
        KeyOrder { sorted }
    }

    /// Returns the number of entries.
    pub fn entry_count(&self) -> u32 {
        let count = |len: Option<usize>| narrow(len.unwrap_or_default());
        match self.root {
            Root::Current(root) => count(root.named_data().map(|all| all.len())),
            Root::Legacy(root) => {
                let tensors = count(root.tensors().map(|all| all.len()));
                tensors.saturating_add(count(root.named_data().map(|all| all.len())))
            }
        }
    }

    /// Returns the entry with index `nth`, in the order of [`entries`](Self::entries).
    pub fn entry(&self, nth: u32) -> Option<Entry<'a>> {
        match self.root {
            Root::Current(root) => root.named_data()?.get(at_index(nth)).map(|it| self.named(it)),
            Root::Legacy(root) => {
                let tensors = root.tensors().map_or(0, |all| narrow(all.len()));
                match nth.checked_sub(tensors) {
                    None => root.tensors()?.get(at_index(nth)).map(|it| self.tensor(it)),
                    Some(nth) => root.named_data()?.get(at_index(nth)).map(|it| self.blob(it)),
                }
            }
        }
    }

    /// Returns the key of the entry with index `nth`, without reading the rest of the entry.
    pub fn key(&self, nth: u32) -> Option<&'a str> {
        match self.root {
            Root::Current(root) => root.named_data()?.get(at_index(nth))?.key(),
            Root::Legacy(_) => self.entry(nth)?.key(),
        }
    }
}

impl<'a> Index<'a> {
    /// Returns the entry with a key. If two entries have the key (a Warning), returns the first, as
    /// the runtime does.
    pub fn get(&self, key: &str) -> Option<Entry<'a>> {
        self.order.get(&self.ptd, key)
    }
}

impl KeyOrder {
    /// Returns the entry of `ptd` with a key, as [`Index::get`] does. If this order was made from
    /// another file, an entry may be missed, but a returned entry always has the key.
    pub fn get<'a>(&self, ptd: &Ptd<'a>, key: &str) -> Option<Entry<'a>> {
        ptd.entry(self.position(ptd, key)?)
    }

    /// Returns the index of the entry of `ptd` with a key, in the cases in which [`get`](Self::get)
    /// returns the entry.
    pub fn position(&self, ptd: &Ptd<'_>, key: &str) -> Option<u32> {
        let wanted = digest(key);
        let before = |&(digest, nth): &(u32, u32)| match digest.cmp(&wanted) {
            Ordering::Equal => ptd.key(nth) < Some(key),
            order => order == Ordering::Less,
        };
        let first = self.sorted.partition_point(before);
        let &(_, nth) = self.sorted.get(first).filter(|&&(digest, _)| digest == wanted)?;
        (ptd.key(nth) == Some(key)).then_some(nth)
    }
}

/// Returns a digest that distinguishes most keys. Equal digests of two keys only cost a comparison.
fn digest(key: &str) -> u32 {
    let mut digest = 0u64;
    for chunk in key.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        digest ^= u64::from_le_bytes(word);
        digest = digest.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    u32::try_from(digest.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_different_keys_differ() {
        let mut digests: Vec<_> =
            (0..10_000).map(|nth| digest(&format!("layers.{nth}.weight"))).collect();
        digests.sort_unstable();
        digests.dedup();
        assert!(digests.len() > 9_990, "{}", digests.len());
    }
}
