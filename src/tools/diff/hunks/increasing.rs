//! The longest increasing subsequence.

use alloc::vec::Vec;

use crate::diff::writers::NONE;
use pte_flat::bytes::{index as at_index, narrow};
use pte_flat::cost;

/// Returns, for each number of a list, whether it is in the longest increasing subsequence. [`NONE`] is
/// never in it.
pub(in crate::diff) fn longest_increasing(list: &[u32]) -> Vec<bool> {
    cost::sort(list.len());
    // For each length, the smallest last number of a subsequence, and its position.
    let mut tails = Vec::<(u32, u32)>::new();
    // For each number, the position of its predecessor in the subsequence.
    let mut predecessors = vec![NONE; list.len()];
    for (nth, (&number, predecessor)) in list.iter().zip(&mut predecessors).enumerate() {
        if number == NONE {
            continue;
        }
        let len = tails.partition_point(|&(tail, _)| tail < number);
        if let Some(&(_, place)) = len.checked_sub(1).and_then(|last| tails.get(last)) {
            *predecessor = place;
        }
        match tails.get_mut(len) {
            Some(tail) => *tail = (number, narrow(nth)),
            None => tails.push((number, narrow(nth))),
        }
    }
    let mut is_in = vec![false; list.len()];
    let mut at = tails.last().map_or(NONE, |&(_, place)| place);
    while let Some(slot) = is_in.get_mut(at_index(at)) {
        *slot = true;
        at = predecessors.get(at_index(at)).copied().unwrap_or(NONE);
    }
    is_in
}
