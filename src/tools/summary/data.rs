//! The summary of a `.ptd`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use pte_core::Ptd;
use pte_core::ptd::Generation;
use pte_flat::bytes::len_of;
use pte_flat::quoted::UntrustedString;
use pte_schema::scalar::ScalarType;

/// The summary of a `.ptd`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PtdSummary {
    /// The number of the [`Generation`], 0 to 3.
    pub generation: u8,
    /// The number of named tensors.
    pub tensors: u64,
    /// The number of named blobs.
    pub blobs: u64,
    /// The number of segments.
    pub segments: u64,
    /// The bytes of each dtype, the largest first.
    pub dtypes: Vec<DtypeSummary>,
    /// The ten largest entries, the largest first.
    pub largest: Vec<EntrySummary>,
}

/// The tensors of one dtype.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DtypeSummary {
    /// The dtype. The document has its name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::displayed"))]
    pub dtype: ScalarType,
    /// The number of tensors.
    pub tensors: u64,
    /// The number of bytes of these tensors.
    pub bytes: u64,
}

/// An entry of a `.ptd`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EntrySummary {
    /// The key.
    pub key: Option<UntrustedString>,
    /// The bytes in the file.
    pub bytes: u64,
    /// The dtype; `None` for a blob. This field is not in the document.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub dtype: Option<ScalarType>,
    /// The first 17 sizes: one more than a tensor can have. This field is not in the document.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub sizes: Vec<i32>,
}

impl PtdSummary {
    pub(crate) fn of(ptd: &Ptd<'_>) -> Self {
        let (mut tensors, mut blobs) = (0u64, 0u64);
        let mut dtypes: BTreeMap<i8, (u64, u64)> = BTreeMap::new();
        let mut largest: Vec<(u64, usize)> = Vec::new();
        for (nth, entry) in ptd.entries().enumerate() {
            let bytes = len_of(&entry.range().unwrap_or_default());
            match entry.layout() {
                Some(layout) => {
                    tensors = tensors.saturating_add(1);
                    let (count, sum) = dtypes.entry(layout.scalar_type.0).or_default();
                    (*count, *sum) = (count.saturating_add(1), sum.saturating_add(bytes));
                }
                None => blobs = blobs.saturating_add(1),
            }
            let at = largest.partition_point(|&(other, _)| other >= bytes);
            if at < MAX_ENTRIES {
                largest.insert(at, (bytes, nth));
                largest.truncate(MAX_ENTRIES);
            }
        }
        let by_dtype = dtypes.into_iter().map(|(code, (tensors, bytes))| DtypeSummary {
            dtype: ScalarType(code),
            tensors,
            bytes,
        });
        let mut by_dtype: Vec<_> = by_dtype.collect();
        by_dtype.sort_by_key(|row| core::cmp::Reverse(row.bytes));
        let mut rows: Vec<(usize, EntrySummary)> = Vec::new();
        for (nth, entry) in ptd.entries().enumerate() {
            let Some(rank) = largest.iter().position(|&(_, of)| of == nth) else { continue };
            let (layout, range) = (entry.layout(), entry.range().unwrap_or_default());
            let sizes = layout.and_then(|layout| layout.sizes).into_iter().flatten();
            let row = EntrySummary {
                key: entry.key().map(Into::into),
                bytes: len_of(&range),
                dtype: layout.map(|layout| layout.scalar_type),
                sizes: sizes.take(super::program::MAX_SIZES).collect(),
            };
            rows.push((rank, row));
        }
        rows.sort_by_key(|(rank, _)| *rank);
        Self {
            generation: match ptd.generation() {
                Generation::Zero => 0,
                Generation::One => 1,
                Generation::Two => 2,
                Generation::Three => 3,
            },
            tensors,
            blobs,
            segments: ptd.segment_count().into(),
            dtypes: by_dtype,
            largest: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }
}

/// The number of largest entries that are listed.
const MAX_ENTRIES: usize = 10;
