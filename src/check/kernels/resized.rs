//! Finds the tensors whose sizes may differ from those in the file while their method runs.
//!
//! A DYNAMIC_BOUND tensor may be resized, but only by an instruction that writes it. A tensor that
//! no instruction writes keeps the sizes in the file. So does an input if the caller uses its
//! greatest size, which must be expected.

use alloc::vec::Vec;

use crate::check::site::Plan;
use crate::cost;
use crate::method;
use crate::operators::Signatures;

/// The tensors that the instructions of a method may resize.
#[derive(Default)]
pub(super) struct Resized {
    /// For each value, how many instructions may resize it: 0, 1, or 2 for 2 or more. Empty if
    /// every tensor is STATIC.
    counts: Vec<u8>,
}

impl Resized {
    /// Counts for each value of a method the instructions that write it.
    pub(super) fn of(plan: &Plan<'_, '_>, signatures: &Signatures) -> Self {
        let mut resized = Self { counts: plan.each(0) };
        for instruction in method::instructions(plan.view) {
            match instruction.moved() {
                // A moved tensor may be written through its other index any number of times.
                Some((source, target)) => {
                    let twice = [source, source, target, target];
                    twice.into_iter().for_each(|index| resized.mark(plan, index));
                }
                None => method::for_each_changed(signatures, &instruction, |index| {
                    resized.mark(plan, index);
                }),
            }
        }
        resized
    }

    /// Returns how many instructions may resize a tensor: 0, 1, or 2 for 2 or more.
    pub(super) fn count(&self, value: u32) -> u8 {
        let count = usize::try_from(value).ok().and_then(|value| self.counts.get(value));
        count.copied().unwrap_or_default()
    }

    /// Counts a write to a value and to the items of a list. The items of each list are visited at
    /// most twice.
    fn mark(&mut self, plan: &Plan<'_, '_>, index: i32) {
        cost::charge(1);
        if self.increment(index) > 1 {
            return;
        }
        for item in method::items(plan.view, index).into_iter().flatten() {
            cost::charge(1);
            self.increment(item);
        }
    }

    /// Increments the count of a value, and returns the previous count.
    fn increment(&mut self, index: i32) -> u8 {
        let slot = usize::try_from(index).ok().and_then(|index| self.counts.get_mut(index));
        slot.map_or(u8::MAX, |slot| core::mem::replace(slot, slot.saturating_add(1).min(2)))
    }
}
