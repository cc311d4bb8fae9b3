//! Definitions: the instruction that writes a value first, and whether a value is initialized.

use alloc::vec::Vec;

use super::access::{Access, written_items};
use super::instruction::Instruction;
use crate::Pte;
use crate::pte::Storage;
use pte_flat::bytes::index as at;
use pte_flat::cost;
use pte_schema::program::view::{ExecutionPlan, KernelTypes};

/// Records which values the instructions so far have written.
///
/// A value is initialized at a point of a method if one of these holds:
///
/// - It is not a tensor, or there is no value at that index.
/// - It has data in the file or in a `.ptd`: it is constant, external, or has initial data. Data that
///   cannot be located does not count.
/// - It is an input of the method.
/// - An earlier instruction wrote it, or wrote a list that contains it.
///
/// Instructions count in the order of the file, even if jumps skip them. A move writes its target,
/// and a call writes the views that it makes.
#[derive(Clone, Debug)]
pub struct Definitions<'a> {
    plan: ExecutionPlan<'a>,
    /// For each value, whether it is initialized before the first instruction.
    is_given: Vec<bool>,
    /// For each value, the pc of the first instruction that writes it, or [`UNDEFINED`].
    first: Vec<u32>,
}

const UNDEFINED: u32 = u32::MAX;

impl<'a> Definitions<'a> {
    /// Returns the state before the first instruction of `plan`, a method of `pte`.
    pub fn of(pte: &Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let values = plan.values().into_iter().flatten();
        let mut is_given: Vec<bool> = values
            .map(|value| match value.val() {
                Some(KernelTypes::Tensor(tensor)) => !matches!(
                    pte.storage(tensor),
                    Ok(Storage::Unbound | Storage::Planned { initial: None, .. }) | Err(_)
                ),
                _ => true,
            })
            .collect();
        cost::charge(is_given.len());
        for input in plan.inputs().into_iter().flatten() {
            let slot = usize::try_from(input).ok().and_then(|nth| is_given.get_mut(nth));
            slot.into_iter().for_each(|slot| *slot = true);
        }
        let first = vec![UNDEFINED; is_given.len()];
        Self { plan, is_given, first }
    }

    /// Returns whether a value is initialized after the recorded instructions.
    pub fn is_initialized(&self, value: i32) -> bool {
        let Ok(nth) = usize::try_from(value) else { return true };
        match self.is_given.get(nth) {
            Some(&is_given) => is_given || self.first(nth).is_some(),
            None => true,
        }
    }

    /// Returns the pc of the first recorded instruction that writes a value.
    pub fn first(&self, value: usize) -> Option<u32> {
        self.first.get(value).copied().filter(|&pc| pc != UNDEFINED)
    }

    /// Records what an instruction writes, by its accesses ([`Effects::accesses`]).
    ///
    /// [`Effects::accesses`]: super::Effects::accesses
    pub fn record(&mut self, instruction: &Instruction<'_>, accesses: &[(i32, Access)]) {
        self.record_each(instruction, accesses, |_| {});
    }

    /// Records as [`record`](Self::record) does, and calls `new` with each value that has no
    /// earlier definition. The items of a list come before the list.
    pub fn record_each(
        &mut self,
        instruction: &Instruction<'_>,
        accesses: &[(i32, Access)],
        mut new: impl FnMut(u32),
    ) {
        let pc = instruction.pc();
        for &(value, _) in accesses.iter().filter(|(_, access)| access.defines()) {
            let Ok(list) = u32::try_from(value) else { continue };
            if self.first.get(at(list)) != Some(&UNDEFINED) {
                continue;
            }
            // Many calls may share a list. Its items are recorded once.
            let items = written_items(self.plan, value).into_iter().flatten();
            for value in items.filter_map(|item| u32::try_from(item).ok()).chain([list]) {
                let slot = self.first.get_mut(at(value)).filter(|slot| **slot == UNDEFINED);
                if let Some(slot) = slot {
                    *slot = pc;
                    new(value);
                }
            }
        }
    }
}
