//! The values that contracts are judged by: those that a state knows.

use super::state::State;
use crate::check::kernels::Kernels;
use crate::check::site::Plan;
use crate::operators::contracts::KnownValues;
use crate::schema::program::view::KernelTypes;

/// The values of a method in one state.
pub(super) struct Known<'c, 'p, 'a> {
    pub(super) plan: &'c Plan<'p, 'a>,
    pub(super) kernels: &'c Kernels,
    pub(super) state: &'c State,
}

impl<'a> KnownValues<'a> for Known<'_, '_, 'a> {
    fn value(&self, index: i32) -> Option<KernelTypes<'a>> {
        self.plan.value(self.state.known(index)?.into())
    }

    fn resize_count(&self, index: i32) -> Option<u8> {
        Some(self.kernels.resize_count(self.state.known(index)?))
    }
}
