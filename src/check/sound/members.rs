//! The members of a method: values, inputs and outputs, operators, delegates, and chains.

use super::code::{Chain, Delegate, Operator};
use super::list::ValueList;
use super::method::Method;
use super::operand::Operand;
use super::proof::proven;
use super::value::Value;
use pte_flat::view::{List as Tables, Vector};
use pte_schema::program::view::EValue;

impl<'p> Method<'p> {
    /// Returns every value in its state before the first instruction.
    pub fn values(self) -> impl ExactSizeIterator<Item = Value<'p>> {
        self.table().into_iter().map(move |value| Value::of(self, value))
    }

    /// Returns the value at `index`.
    pub fn value(self, index: usize) -> Option<Value<'p>> {
        self.table().get(index).map(|value| Value::of(self, value))
    }

    /// Returns the inputs of the method.
    pub fn inputs(self) -> ValueList<'p, Operand<'p>> {
        let indices = proven(self.plan.inputs(), "plan-inputs-missing", Vector::default());
        ValueList::new(self, indices)
    }

    /// Returns the outputs of the method.
    pub fn outputs(self) -> ValueList<'p, Operand<'p>> {
        let indices = proven(self.plan.outputs(), "plan-outputs-missing", Vector::default());
        ValueList::new(self, indices)
    }

    /// Returns the operators that the method calls. There are none if the list is missing, since
    /// then no instruction calls one.
    pub fn operators(self) -> impl ExactSizeIterator<Item = Operator<'p>> {
        self.plan.operators().unwrap_or_default().into_iter().map(Operator)
    }

    /// Returns the delegates, which are the parts of the method that backends run.
    pub fn delegates(self) -> impl ExactSizeIterator<Item = Delegate<'p>> {
        let delegates = proven(self.plan.delegates(), "plan-delegates-missing", Tables::default());
        delegates.into_iter().map(move |view| Delegate { method: self, view })
    }

    /// Returns the chains of instructions. There is at least one.
    pub fn chains(self) -> impl ExactSizeIterator<Item = Chain<'p>> {
        let chains = proven(self.plan.chains(), "plan-chains-missing", Tables::default());
        chains.into_iter().map(move |view| Chain { method: self, view })
    }

    fn table(self) -> Tables<'p, EValue<'p>> {
        proven(self.plan.values(), "plan-values-missing", Tables::default())
    }
}
