//! Bools that keep the value in the file: no instruction changes them.

use alloc::vec::Vec;

use super::kernels::Kernels;
use super::site::Plan;
use pte_core::method;
use pte_flat::cost;
use pte_schema::program::view::KernelTypes;

/// For each value, whether neither an instruction nor the caller can change it. Only Bools are looked up.
pub(crate) struct ConstantBools(Vec<bool>);

impl ConstantBools {
    pub(crate) fn of(plan: &Plan<'_, '_>, kernels: &Kernels) -> Self {
        let mut is_constant = plan.each(true);
        let mut change = |value: i32| {
            cost::charge(1);
            let slot = usize::try_from(value).ok().and_then(|value| is_constant.get_mut(value));
            slot.into_iter().for_each(|slot| *slot = false);
        };
        for instruction in method::instructions(plan.view) {
            method::for_each_changed(&kernels.signatures, &instruction, &mut change);
        }
        plan.view.inputs().into_iter().flatten().for_each(&mut change);
        Self(is_constant)
    }

    /// Returns the Bool at `value`, if it is constant.
    pub(crate) fn get(&self, plan: &Plan<'_, '_>, value: i32) -> Option<bool> {
        let is_constant = usize::try_from(value).ok().and_then(|value| self.0.get(value).copied());
        match plan.value(value.into()) {
            Some(KernelTypes::Bool(flag)) if is_constant == Some(true) => Some(flag.bool_val()),
            _ => None,
        }
    }
}
