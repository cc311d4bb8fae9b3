//! Which tensors may have other sizes than the file says, while their method runs.
//!
//! A DYNAMIC_BOUND tensor may be resized, but only by what writes to it. What nothing writes to keeps
//! the sizes in the file; an input does where it is as large as it may be, which is a run to expect.

use alloc::vec::Vec;

use super::super::site::Plan;
use super::Kernels;
use crate::cost;
use crate::method;

/// What the instructions of a method may resize.
#[derive(Default)]
pub(super) struct Resized {
    /// By value, how many instructions do: 2 are as many as any. None at all where every tensor is
    /// STATIC.
    values: Vec<u8>,
}

impl Resized {
    /// Of a method, by what its instructions write to.
    pub(super) fn of(plan: &Plan<'_, '_>, kernels: &Kernels) -> Self {
        let mut resized = Self { values: plan.each(0) };
        for instruction in method::instructions(plan.view) {
            match instruction.moved() {
                // Under another index a tensor may be written to as well, any number of times.
                Some((from, to)) => {
                    [from, from, to, to].into_iter().for_each(|index| resized.mark(plan, index));
                }
                None => method::for_each_changed(&kernels.signatures, &instruction, |index| {
                    resized.mark(plan, index);
                }),
            }
        }
        resized
    }

    /// How many instructions may give a tensor other sizes than those in the file.
    pub(super) fn by(&self, value: u32) -> u8 {
        let count = usize::try_from(value).ok().and_then(|value| self.values.get(value));
        count.copied().unwrap_or_default()
    }

    /// A value may be resized, and so may the tensors of a list: those of each are looked at twice at most.
    fn mark(&mut self, plan: &Plan<'_, '_>, index: i32) {
        cost::charge(1);
        // A list that is met again may be one that is written to again.
        if self.count(index) > 1 {
            return;
        }
        for item in method::items(plan.view, index).into_iter().flatten() {
            cost::charge(1);
            self.count(item);
        }
    }

    /// Counts one more, and returns how many there were.
    fn count(&mut self, index: i32) -> u8 {
        let slot = usize::try_from(index).ok().and_then(|index| self.values.get_mut(index));
        slot.map_or(u8::MAX, |slot| core::mem::replace(slot, slot.saturating_add(1).min(2)))
    }
}
