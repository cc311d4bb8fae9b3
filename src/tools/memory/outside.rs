//! The memory of a method outside of arenas: sums of bytes, each byte counted once.

use core::ops::Range;

use alloc::vec::Vec;

use pte_core::{Pte, Storage};
use pte_flat::cost;
use pte_schema::program::view::{ExecutionPlan, KernelTypes};

/// The bytes that a method uses outside of arenas. Whether they take memory depends on the loader:
/// they may be mapped, in ROM, or copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Outside {
    /// The constants in this file.
    pub constants: u64,
    /// The constants in a `.ptd`, each key counted once. Saturates at 2^64 − 1.
    pub external: u64,
    /// The payloads of delegates in this file. What backends allocate is not included.
    pub payloads: u64,
}

impl Outside {
    pub(crate) fn of<'a>(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let (mut constants, mut external) = (Vec::new(), Vec::new());
        for value in plan.values().into_iter().flatten() {
            let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
            match pte.storage(tensor) {
                Ok(Storage::Constant(range)) => constants.push(range),
                Ok(Storage::External { key, place: None }) => {
                    let sizes = tensor.sizes().into_iter().flatten();
                    let bytes = tensor.scalar_type().nbytes(sizes);
                    external.push((key.unwrap_or_default(), bytes.unwrap_or_default()));
                }
                _ => {}
            }
        }
        cost::sort(external.len());
        external.sort_unstable();
        external.dedup_by_key(|&mut (key, _)| key);
        let payloads = plan.delegates().into_iter().flatten();
        let payloads = payloads.filter_map(|delegate| pte.delegate_range(delegate).ok()?);
        Self {
            constants: distinct(constants),
            external: external.iter().fold(0, |sum, &(_, bytes)| sum.saturating_add(bytes)),
            payloads: distinct(payloads.collect()),
        }
    }
}

/// Returns the number of bytes of a program's named data, which delegates request by key. Bytes
/// that several keys share are counted once.
pub fn named_data_bytes(pte: &Pte<'_>) -> u64 {
    distinct(pte.named_data().filter_map(|(_, range)| range.ok()).collect())
}

/// Returns the number of bytes that are in at least one range.
fn distinct(mut ranges: Vec<Range<u64>>) -> u64 {
    cost::sort(ranges.len());
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let (mut sum, mut behind) = (0u64, 0);
    for range in ranges {
        sum = sum.saturating_add(range.end.saturating_sub(range.start.max(behind)));
        behind = behind.max(range.end);
    }
    sum
}
