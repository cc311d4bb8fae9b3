//! The longest increasing subsequence.

use alloc::vec;
use alloc::vec::Vec;

use crate::bytes::{index as at_index, narrow};
use crate::cost;
use crate::diff::steps::NONE;

/// Returns which numbers of a list belong to its longest increasing subsequence. [`NONE`] is no number.
pub(super) fn longest_increasing(list: &[u32]) -> Vec<bool> {
    cost::sort(list.len());
    // The last number and its place, for the best subsequence of each length.
    let mut tails = Vec::<(u32, u32)>::new();
    // For each number, the place of the one in front of it.
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
