//! A method, and what it holds.

use core::fmt;

use super::{Chain, Delegate, List, Operand, Operator, Value, proven};
use crate::Pte;
use crate::flat::view::{List as Tables, Vector};
use crate::schema::program::view::{EValue, ExecutionPlan};

/// A method of a sound program.
#[derive(Clone, Copy)]
pub struct Method<'p> {
    pub(super) pte: &'p Pte<'p>,
    pub(super) plan: ExecutionPlan<'p>,
}

impl<'p> Method<'p> {
    /// Its name.
    pub fn name(self) -> &'p str {
        proven(self.plan.name(), "plan-name-missing", "")
    }

    /// Every value, as it is when the method begins.
    pub fn values(self) -> impl ExactSizeIterator<Item = Value<'p>> {
        self.table().into_iter().map(move |value| Value::of(self, value))
    }

    /// The value of that index.
    pub fn value(self, index: usize) -> Option<Value<'p>> {
        self.table().get(index).map(|value| Value::of(self, value))
    }

    /// What it takes.
    pub fn inputs(self) -> List<'p, Operand<'p>> {
        let indices = proven(self.plan.inputs(), "plan-inputs-missing", Vector::default());
        List::new(self, indices)
    }

    /// What it gives.
    pub fn outputs(self) -> List<'p, Operand<'p>> {
        let indices = proven(self.plan.outputs(), "plan-outputs-missing", Vector::default());
        List::new(self, indices)
    }

    /// Bytes of each arena. The first is arena 1: the entry in front of it is reserved.
    pub fn arenas(self) -> impl ExactSizeIterator<Item = u64> {
        let sizes = self.plan.non_const_buffer_sizes();
        let sizes = proven(sizes, "plan-arenas-missing", Vector::default());
        let sizes = sizes.into_iter().skip(1);
        sizes.map(|size| proven(u64::try_from(size).ok(), "arena-negative", 0))
    }

    /// The operators that it calls; none where the list is missing, since nothing asks for one.
    pub fn operators(self) -> impl ExactSizeIterator<Item = Operator<'p>> {
        self.plan.operators().unwrap_or_default().into_iter().map(Operator)
    }

    /// The parts of it that backends run.
    pub fn delegates(self) -> impl ExactSizeIterator<Item = Delegate<'p>> {
        let delegates = proven(self.plan.delegates(), "plan-delegates-missing", Tables::default());
        delegates.into_iter().map(move |view| Delegate { method: self, view })
    }

    /// Its chains of instructions, of which there is at least one.
    pub fn chains(self) -> impl ExactSizeIterator<Item = Chain<'p>> {
        let chains = proven(self.plan.chains(), "plan-chains-missing", Tables::default());
        chains.into_iter().map(move |view| Chain { method: self, view })
    }

    /// All fields, as the file has them.
    pub fn view(self) -> ExecutionPlan<'p> {
        self.plan
    }

    fn table(self) -> Tables<'p, EValue<'p>> {
        proven(self.plan.values(), "plan-values-missing", Tables::default())
    }
}

/// Its name alone: everything in it refers to it.
impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Method").field(&self.name()).finish()
    }
}
