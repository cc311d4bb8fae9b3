//! For each value of a method, the instruction that writes it first.

use alloc::vec::Vec;

use super::instructions::Instructions;
use pte_core::Pte;
use pte_core::method::{Definitions, Effects};
use pte_flat::bytes::index as at_index;
use pte_schema::program::view::ExecutionPlan;

/// For each value, the instruction that writes it first.
pub(super) struct Writers<'a> {
    definitions: Definitions<'a>,
    /// For each value, its index among the results of the instruction that writes it first.
    place: Vec<u32>,
    /// For each instruction, the number of its results.
    results: Vec<u32>,
}

/// The pc or value index that stands for none.
pub(super) const NONE: u32 = u32::MAX;

impl<'a> Writers<'a> {
    pub(super) fn of(pte: &Pte<'a>, plan: ExecutionPlan<'a>, all: &Instructions<'a>) -> Self {
        let mut definitions = Definitions::of(pte, plan);
        let mut place = vec![0; plan.values().map_or(0, |values| values.len())];
        let mut results = vec![0u32; all.len()];
        let effects = Effects::of(plan);
        for (instruction, count) in all.iter().zip(&mut results) {
            let accesses = effects.accesses(&instruction, &definitions);
            definitions.record_each(&instruction, &accesses, |value| {
                place.get_mut(at_index(value)).into_iter().for_each(|place| *place = *count);
                *count = count.saturating_add(1);
            });
        }
        Self { definitions, place, results }
    }

    /// Returns the pc of the instruction that writes a value first; [`NONE`] if there is none.
    pub(super) fn first(&self, nth: usize) -> u32 {
        self.definitions.first(nth).unwrap_or(NONE)
    }

    /// Returns the index of a value among the results of its writer, if there are several.
    pub(super) fn place(&self, nth: usize) -> Option<u32> {
        let results = self.results.get(at_index(self.first(nth)))?;
        self.place.get(nth).copied().filter(|_| *results > 1)
    }
}
