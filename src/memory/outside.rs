//! What a method uses that lies in no arena: sums of bytes, each byte counted once.

use core::ops::Range;

use alloc::vec::Vec;

use crate::Pte;
use crate::cost;
use crate::pte::Storage;
use crate::schema::program::view::{ExecutionPlan, KernelTypes};

/// Bytes that a method uses and that lie in no arena. Whether they take memory depends on how the
/// file is loaded: they may be mapped, in ROM, or copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Constants, in this file.
    pub constants: u64,
    /// Constants that a `.ptd` is to bring, each key counted once; of a sum past 2^64 − 1, that.
    pub external: u64,
    /// Payloads of delegates, in this file. What backends make of them is their own.
    pub payloads: u64,
}

impl Outside {
    pub(super) fn of<'a>(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
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

/// Bytes that any of the ranges has.
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
