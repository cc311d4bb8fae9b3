//! References to values by index, already resolved.

use core::fmt;

use super::list::Item;
use super::method::Method;
use super::proof::{bare, proven};
use super::tensor::Tensor;
use super::value::Value;

/// A reference to a value of a method.
#[derive(Clone, Copy)]
pub struct Operand<'p> {
    method: Method<'p>,
    index: u32,
}

impl<'p> Operand<'p> {
    /// Returns the index of the value in its method.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Returns the value.
    pub fn value(self) -> Value<'p> {
        let value = usize::try_from(self.index).ok().and_then(|index| self.method.value(index));
        proven(value, INDEX, Value::Null)
    }
}

/// The rules that check indices of values in arguments, inputs, outputs and other instructions.
const INDEX: &str = "args-index, io-index, move-index, free-index, jump-condition-index";

impl<'p> Item<'p, i32> for Operand<'p> {
    fn of(method: Method<'p>, index: i32) -> Self {
        Self { method, index: proven(u32::try_from(index).ok(), INDEX, 0) }
    }
}

impl<'p> Item<'p, i64> for i64 {
    fn of(method: Method<'p>, index: i64) -> Self {
        let int = match usize::try_from(index).ok().and_then(|index| method.value(index)) {
            Some(Value::Int(int)) => Some(int),
            _ => None,
        };
        proven(int, "int-list-index, int-list-type", 0)
    }
}

impl<'p> Item<'p, i32> for Tensor<'p> {
    fn of(method: Method<'p>, index: i32) -> Self {
        let tensor = match usize::try_from(index).ok().and_then(|index| method.value(index)) {
            Some(Value::Tensor(tensor)) => Some(tensor),
            _ => None,
        };
        proven(tensor, "tensor-list-index, tensor-list-type", Self { method, view: bare() })
    }
}

impl<'p> Item<'p, i32> for Option<Tensor<'p>> {
    fn of(method: Method<'p>, index: i32) -> Self {
        if index == -1 {
            return None;
        }
        let tensor = match usize::try_from(index).ok().and_then(|index| method.value(index)) {
            Some(Value::Tensor(tensor)) => Some(Some(tensor)),
            Some(Value::Null) => Some(None),
            _ => None,
        };
        proven(tensor, "optional-tensor-list-index, optional-tensor-list-type", None)
    }
}

impl fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Operand").field(&self.index).finish()
    }
}
