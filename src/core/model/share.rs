//! Stores equal data of one file once.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use super::{Blob, Budget, FileModel, ModelError, ReadError, RootStruct};
use crate::limits::Limits;
use pte_flat::bytes::{index, wide};

/// The data that is no longer stored since equal data is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedSegments {
    /// The number of removed segments.
    pub segments: u64,
    /// The number of bytes in these segments.
    pub bytes: u64,
}

/// The SHA-256 of a blob, with its length. Blobs are equal if these are.
pub(crate) type BlobDigest = (u64, [u8; 32]);

impl<R: RootStruct> FileModel<'_, R> {
    /// Lets named data and payloads with equal bytes share one segment, as upstream's writer does.
    /// Every key and delegate stays. Every runtime reads them by their segment index.
    ///
    /// Of equal segments the one with the largest alignment stays, so that every user has at least the
    /// alignment that it had.
    ///
    /// # Errors
    ///
    /// The error of the data's source. [`ModelError::Amplified`] if segments overlap so much that
    /// reading them exceeds the limits.
    pub fn share_equal(&mut self, limits: &Limits) -> Result<SharedSegments, ModelError> {
        let mut used = BTreeSet::new();
        self.root.data_indices(&mut |nth| {
            used.insert(*nth);
        });
        let held = |&nth: &u32| Some((nth, self.segments.get(index(nth))?));
        let blobs: Vec<_> =
            used.iter().filter_map(held).filter(|(_, blob)| !blob.is_empty()).collect();
        let read = blobs.iter().fold(0u64, |sum, (_, blob)| sum.saturating_add(blob.len()));
        Budget::new(0, blobs.iter().map(|(_, blob)| *blob)).check(read, limits)?;
        let digests = digests_of_equal_lengths(blobs.iter().map(|(_, blob)| *blob))?;
        let places = self.root.segments();
        // Bits beyond the largest alignment that a writer means are chance.
        let alignment = |nth: u32| {
            let offset = places.get(index(nth)).map_or(0, |&(offset, _)| offset);
            offset.trailing_zeros().min(super::segments::MOST.trailing_zeros())
        };
        let mut kept: BTreeMap<BlobDigest, u32> = BTreeMap::new();
        for ((nth, _), digest) in blobs.iter().zip(&digests) {
            let Some(digest) = digest else { continue };
            let kept = kept.entry(*digest).or_insert(*nth);
            if alignment(*nth) > alignment(*kept) {
                *kept = *nth;
            }
        }
        let (mut moves, mut bytes) = (BTreeMap::new(), 0u64);
        for ((nth, blob), digest) in blobs.iter().zip(&digests) {
            let to = digest.as_ref().and_then(|digest| kept.get(digest));
            if let Some(&to) = to.filter(|to| *to != nth) {
                moves.insert(*nth, to);
                bytes = bytes.saturating_add(blob.len());
            }
        }
        let shared = SharedSegments { segments: wide(moves.len()), bytes };
        if !moves.is_empty() {
            self.root.data_indices(&mut |nth| {
                if let Some(&to) = moves.get(nth) {
                    *nth = to;
                }
            });
            self.drop_unused(moves.into_keys().collect());
        }
        Ok(shared)
    }
}

/// Returns the digest of each blob whose length another blob has too. Other blobs equal none, and
/// are not read.
pub(crate) fn digests_of_equal_lengths<'b, 'a: 'b>(
    blobs: impl Iterator<Item = &'b Blob<'a>> + Clone,
) -> Result<Vec<Option<BlobDigest>>, ReadError> {
    let mut lengths: BTreeMap<u64, u32> = BTreeMap::new();
    for blob in blobs.clone() {
        let count = lengths.entry(blob.len()).or_default();
        *count = count.saturating_add(1);
    }
    let is_unique = |blob: &Blob<'_>| lengths.get(&blob.len()).is_none_or(|&count| count < 2);
    blobs.map(|blob| if is_unique(blob) { Ok(None) } else { digest(blob).map(Some) }).collect()
}

/// Returns the digest of a blob.
pub(crate) fn digest(blob: &Blob<'_>) -> Result<BlobDigest, ReadError> {
    let mut digest = Sha256::new();
    blob.pieces::<ReadError>(&mut |piece| {
        digest.update(piece);
        Ok(())
    })?;
    Ok((blob.len(), digest.finalize().into()))
}
