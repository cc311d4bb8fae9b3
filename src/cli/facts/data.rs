//! What is told of a `.ptd`.

use std::collections::BTreeMap;

use pte::Ptd;
use pte::ptd::Generation;
use pte::quoted::UntrustedString;
use pte::schema::scalar::ScalarType;
use serde::Serialize;

use super::length;
use crate::cli::text;

#[derive(Serialize)]
pub(in crate::cli) struct FlatTensor {
    pub(in crate::cli) generation: u8,
    pub(in crate::cli) tensors: u64,
    pub(in crate::cli) blobs: u64,
    pub(in crate::cli) segments: u64,
    /// Bytes by dtype, the largest first.
    pub(in crate::cli) dtypes: Vec<Dtype>,
    /// The largest entries.
    pub(in crate::cli) largest: Vec<Large>,
}

#[derive(Serialize)]
pub(in crate::cli) struct Dtype {
    pub(in crate::cli) dtype: String,
    pub(in crate::cli) tensors: u64,
    pub(in crate::cli) bytes: u64,
}

#[derive(Serialize)]
pub(in crate::cli) struct Large {
    pub(in crate::cli) key: Option<UntrustedString>,
    pub(in crate::cli) bytes: u64,
    #[serde(skip)]
    pub(in crate::cli) text: String,
}

impl FlatTensor {
    pub(super) fn of(ptd: &Ptd<'_>) -> Self {
        let (mut tensors, mut blobs) = (0u64, 0u64);
        let mut dtypes: BTreeMap<i8, (u64, u64)> = BTreeMap::new();
        let mut largest: Vec<(u64, usize)> = Vec::new();
        for (nth, entry) in ptd.entries().enumerate() {
            let bytes = length(&entry.range().unwrap_or_default());
            match entry.layout() {
                Some(layout) => {
                    tensors = tensors.saturating_add(1);
                    let (count, sum) = dtypes.entry(layout.scalar_type.0).or_default();
                    (*count, *sum) = (count.saturating_add(1), sum.saturating_add(bytes));
                }
                None => blobs = blobs.saturating_add(1),
            }
            let at = largest.partition_point(|&(other, _)| other >= bytes);
            if at < MOST_LARGE {
                largest.insert(at, (bytes, nth));
                largest.truncate(MOST_LARGE);
            }
        }
        let mut by_dtype: Vec<_> = dtypes
            .into_iter()
            .map(|(code, (tensors, bytes))| Dtype {
                dtype: ScalarType(code).to_string(),
                tensors,
                bytes,
            })
            .collect();
        by_dtype.sort_by_key(|row| core::cmp::Reverse(row.bytes));
        let mut rows: Vec<(usize, Large)> = Vec::new();
        for (nth, entry) in ptd.entries().enumerate() {
            let Some(rank) = largest.iter().position(|&(_, of)| of == nth) else { continue };
            let text = entry.layout().map_or("blob".to_string(), |layout| {
                text::shape(layout.scalar_type, layout.sizes.into_iter().flatten())
            });
            let bytes = length(&entry.range().unwrap_or_default());
            rows.push((rank, Large { key: entry.key().map(Into::into), bytes, text }));
        }
        rows.sort_by_key(|(rank, _)| *rank);
        Self {
            generation: match ptd.generation() {
                Generation::Zero => 0,
                Generation::One => 1,
                Generation::Two => 2,
                _ => 3,
            },
            tensors,
            blobs,
            segments: ptd.segment_count().into(),
            dtypes: by_dtype,
            largest: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }
}

/// Entries shown of a `.ptd`.
const MOST_LARGE: usize = 10;
