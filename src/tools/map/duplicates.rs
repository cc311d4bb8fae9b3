//! Data that is stored more than once: in one file, or in several.

use core::cmp::Reverse;
use core::ops::Range;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use super::{Map, Name, Part, ROOT};
use pte_core::file::chunks;
use pte_core::{Handle, OpenError, Source};
use pte_flat::bytes::{len_of, wide};
use pte_flat::quoted::{UntrustedString, hex};

/// The data in a file: constants, tensors, blobs and payloads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredFile {
    /// The path or the name of the file.
    pub name: UntrustedString,
    data: Vec<Stored>,
    payloads: Vec<Stored>,
}

#[derive(Clone, Debug)]
struct Stored {
    part: Vec<UntrustedString>,
    range: Range<u64>,
    /// The index of the payload that has the data inside it.
    payload: Option<usize>,
}

/// Equal data in files.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Duplicates<'s> {
    /// The number of bytes that are saved if all equal data is stored once.
    pub saved: u64,
    /// The number of bytes that are saved if each file stores its equal data once.
    pub saved_within_files: u64,
    /// The equal data, that which saves most first.
    pub groups: Vec<DuplicateGroup<'s>>,
}

/// Data that is stored in several places.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DuplicateGroup<'s> {
    /// The number of bytes in each place.
    pub bytes: u64,
    /// The number of bytes that are saved if the data is stored once.
    pub saved: u64,
    /// The SHA-256 of the data.
    pub sha256: String,
    /// The places, in the order of the files.
    pub places: Vec<DuplicatePlace<'s>>,
}

/// A place of data.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DuplicatePlace<'s> {
    /// The path or the name of the file.
    pub path: &'s UntrustedString,
    /// The names of the part, outermost first.
    pub part: &'s [UntrustedString],
    /// The offset of the data in the file.
    pub offset: u64,
}

/// The place of data in the lists of files: the index of its file, and that in the list.
type Place = (usize, usize);

/// The length of data and its SHA-256.
type Digested = (u64, [u8; 32]);

impl StoredFile {
    /// Returns the data of at least [`LEAST_BYTES`](Self::LEAST_BYTES) that the map of a file has. Data
    /// that several users share is listed once. It calls `charge` with each name from the file before
    /// keeping the name.
    ///
    /// # Errors
    ///
    /// The first error of `charge`.
    pub fn of<E>(
        name: impl Into<UntrustedString>,
        map: &Map<'_>,
        mut charge: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut file = Self { name: name.into(), data: Vec::new(), payloads: Vec::new() };
        // The payloads that are broken down, by their part: the range, and the bytes in it that are theirs.
        let mut payloads: BTreeMap<u32, (Range<u64>, u64)> = BTreeMap::new();
        let mut leaves = Vec::new();
        for piece in map.pieces() {
            let leaf = map.part(piece.part);
            let owner = owner(leaf);
            let bytes = len_of(&piece.range);
            if let Some(owner) = owner.filter(|owner| owner.node != leaf.node) {
                let (range, sum) = payloads.entry(owner.node).or_insert((piece.range.clone(), 0));
                *range = range.start..piece.range.end;
                *sum = sum.saturating_add(bytes);
            }
            // A part in several pieces shares bytes with others, and is not data as a whole.
            if let (Some(owner), Name::Users(_)) = (owner, leaf.name())
                && bytes == leaf.bytes()
                && bytes >= Self::LEAST_BYTES
            {
                leaves.push((leaf, owner.node, piece.range.clone()));
            }
        }
        let mut nth_of: BTreeMap<u32, usize> = BTreeMap::new();
        for (node, (range, sum)) in payloads {
            let is_whole = sum == len_of(&range);
            if is_whole && sum >= Self::LEAST_BYTES {
                nth_of.insert(node, file.payloads.len());
                let part = map.part(node).names(&mut charge)?;
                file.payloads.push(Stored { part, range, payload: None });
            }
        }
        for (leaf, owner, range) in leaves {
            let part = leaf.names(&mut charge)?;
            file.data.push(Stored { part, range, payload: nth_of.get(&owner).copied() });
        }
        Ok(file)
    }

    /// The smallest data that is compared. Smaller data is not worth a segment.
    pub const LEAST_BYTES: u64 = 64;
}

/// Returns the outermost part with users that is, or has, this part.
fn owner<'m, 'a>(part: Part<'m, 'a>) -> Option<Part<'m, 'a>> {
    let parts = core::iter::successors(Some(part), |part| part.parent());
    parts.filter(|part| part.node != ROOT && matches!(part.name(), Name::Users(_))).last()
}

impl<'s> Duplicates<'s> {
    /// Finds equal data in `files`. A payload that is equal as a whole is not compared by its
    /// constants again.
    ///
    /// `read` passes on the bytes of a range of the file with an index. Only data whose length and whose
    /// first bytes equal those of other data is read to its end, once for payloads and once for
    /// data.
    ///
    /// # Errors
    ///
    /// The first error of `read`.
    pub fn find<E>(
        files: &'s [StoredFile],
        mut read: impl FnMut(usize, Range<u64>, &mut dyn FnMut(&[u8])) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut all = Vec::new();
        for (nth, file) in files.iter().enumerate() {
            let payloads = file.payloads.iter().enumerate();
            all.extend(payloads.map(|(of, stored)| ((nth, of), &stored.range)));
        }
        let payloads = equal(all, &mut read)?;
        let mut repeated: Vec<_> = payloads.values().flat_map(|all| all.iter().skip(1)).collect();
        repeated.sort_unstable();
        let mut all = Vec::new();
        for (nth, file) in files.iter().enumerate() {
            let is_repeated = |stored: &Stored| {
                stored.payload.is_some_and(|of| repeated.binary_search(&&(nth, of)).is_ok())
            };
            let data = file.data.iter().enumerate().filter(|(_, stored)| !is_repeated(stored));
            all.extend(data.map(|(of, stored)| ((nth, of), &stored.range)));
        }
        let data = equal(all, &mut read)?;
        let mut found = Self { saved: 0, saved_within_files: 0, groups: Vec::new() };
        found.add(files, payloads, |file| &file.payloads);
        found.add(files, data, |file| &file.data);
        found.groups.sort_by_key(|group| Reverse(group.saved));
        Ok(found)
    }

    /// Finds equal data in one file, which `handle` reads.
    ///
    /// # Errors
    ///
    /// The error of a read.
    pub fn of_handle<S: Source>(
        stored: &'s StoredFile,
        handle: &Handle<S>,
    ) -> Result<Self, OpenError<S::Error>> {
        Self::find(core::slice::from_ref(stored), |_, range, each| {
            chunks(range, CHUNK).try_for_each(|chunk| {
                each(&handle.read(chunk)?);
                Ok(())
            })
        })
    }

    fn add(
        &mut self,
        files: &'s [StoredFile],
        equal: BTreeMap<Digested, Vec<Place>>,
        list: impl Fn(&'s StoredFile) -> &'s [Stored],
    ) {
        for ((bytes, sha256), all) in equal {
            let places = all.iter().filter_map(|&(file, nth)| {
                let file = files.get(file)?;
                let stored = list(file).get(nth)?;
                let (path, part) = (&file.name, stored.part.as_slice());
                Some(DuplicatePlace { path, part, offset: stored.range.start })
            });
            let places: Vec<_> = places.collect();
            let times = |count: usize| bytes.saturating_mul(wide(count));
            let within = all.windows(2).filter(|pair| matches!(pair, [a, b] if a.0 == b.0)).count();
            let saved = times(places.len().saturating_sub(1));
            self.saved = self.saved.saturating_add(saved);
            self.saved_within_files = self.saved_within_files.saturating_add(times(within));
            self.groups.push(DuplicateGroup { bytes, saved, sha256: hex(&sha256), places });
        }
    }
}

/// Returns the places of equal data by its digest. The places are in the order of the files.
fn equal<E>(
    all: Vec<(Place, &Range<u64>)>,
    read: &mut impl FnMut(usize, Range<u64>, &mut dyn FnMut(&[u8])) -> Result<(), E>,
) -> Result<BTreeMap<Digested, Vec<Place>>, E> {
    let by_length = repeated(all, |(_, range)| Ok(len_of(range)))?;
    let mut digest = |file: usize, range: Range<u64>| {
        let mut sha = Sha256::new();
        read(file, range, &mut |bytes| sha.update(bytes))?;
        Ok(<[u8; 32]>::from(sha.finalize()))
    };
    let by_beginning = repeated(by_length, |((file, _), range)| {
        let end = range.end.min(range.start.saturating_add(BEGINNING));
        Ok((len_of(range), digest(*file, range.start..end)?))
    })?;
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (place, range) in by_beginning {
        let key = (len_of(range), digest(place.0, range.clone())?);
        groups.entry(key).or_default().push(place);
    }
    groups.retain(|_, places| places.len() > 1);
    Ok(groups)
}

/// Keeps the items whose key another item has too.
fn repeated<T, K: Ord + Copy, E>(
    items: Vec<T>,
    mut key: impl FnMut(&T) -> Result<K, E>,
) -> Result<Vec<T>, E> {
    let keys = items.iter().map(&mut key).collect::<Result<Vec<_>, E>>()?;
    let mut counts: BTreeMap<K, bool> = BTreeMap::new();
    for &key in &keys {
        counts.entry(key).and_modify(|is_repeated| *is_repeated = true).or_insert(false);
    }
    let is_repeated = |key| counts.get(key).copied().unwrap_or_default();
    let kept = items.into_iter().zip(&keys).filter(|(_, key)| is_repeated(key));
    Ok(kept.map(|(item, _)| item).collect())
}

/// The number of bytes that are compared before the whole data is read.
const BEGINNING: u64 = 4096;

/// The number of bytes that are read at once.
const CHUNK: u64 = 1 << 20;
