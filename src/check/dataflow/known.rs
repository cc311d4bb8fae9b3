//! The known values of a state, by which contracts are judged.

use super::state::State;
use crate::kernels::Kernels;
use crate::site::Plan;
use crate::values::Values;
use pte_core::operators::contracts::{Call, ElementBounds, KnownValues};
use pte_core::operators::{Kernel, Kinds, LOCAL_SCALAR_DENSE, Scalar};
use pte_schema::program::view::{KernelCall, KernelTypes, Tensor};

/// The values of a method in one state.
pub(super) struct Known<'c, 'p, 'a> {
    pub(super) plan: &'c Plan<'p, 'a>,
    pub(super) values: &'c Values,
    pub(super) kernels: &'c Kernels,
    pub(super) state: &'c State,
}

impl<'c, 'p, 'a> Known<'c, 'p, 'a> {
    /// Returns the number that a call of `_local_scalar_dense` reads from a constant, or from a copy of one.
    pub(super) fn constant_scalar(&self, call: &Call<'_, 'a, Self>) -> Option<Scalar> {
        if call.name != LOCAL_SCALAR_DENSE {
            return None;
        }
        let tensor = self.state.tensor(self.values, call.args.get(0)?)?;
        let constant = self.state.elements(tensor)?;
        let dtype = |value: u32| Some(self.plan.tensor(value.into())?.scalar_type());
        (dtype(tensor) == dtype(constant)).then_some(())?;
        self.plan.constant_scalar(constant)
    }

    /// Returns a call of a known operator, with the known values of its arguments.
    pub(super) fn call(&self, call: KernelCall<'a>) -> Option<Call<'_, 'a, Self>> {
        let Kernel { name, letters, .. } = self.kernels.kernel(call)?;
        Some(Call { values: self, name, letters, args: call.args()? })
    }
}

impl<'a> KnownValues<'a> for Known<'_, '_, 'a> {
    fn value(&self, index: i32) -> Option<KernelTypes<'a>> {
        self.plan.value(self.state.known(index)?.into())
    }

    fn scalar(&self, index: i32) -> Option<Scalar> {
        match self.state.computed(index) {
            Some(scalar) => Some(scalar),
            None => self.value(index).and_then(Scalar::of),
        }
    }

    fn kinds(&self, index: i32) -> Kinds {
        self.state.kinds(self.values, index)
    }

    fn sized(&self, index: i32) -> Option<Tensor<'a>> {
        let sized = self.state.sized(self.kernels, self.state.known(index)?)?;
        self.plan.tensor(sized.into())
    }

    fn elements(&self, index: i32) -> Option<ElementBounds> {
        let tensor = self.state.tensor(self.values, index)?;
        self.plan.constant_elements(self.state.elements(tensor)?)
    }
}
