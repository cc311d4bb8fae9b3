//! The arguments of a call.

use super::super::Site;
use super::numbers::{MOST_NUMBERS, Numbers, number};
use crate::payloads::sizes::Sizes;
use pte_core::payload::vulkan::VulkanOperator;
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::view::Vector;
use pte_schema::vulkan::view::{GraphTypes, VkTensor};

/// A call of an operator, whose arguments are of the kinds that it takes.
pub(super) struct Call<'c, 's, 'p> {
    pub(super) site: &'c Site<'s, 'p>,
    pub(super) operator: &'static VulkanOperator,
    pub(super) args: Vector<'p, i32>,
}

impl<'p> Call<'_, '_, 'p> {
    /// Returns the value of an argument.
    pub(super) fn value(&self, at: usize) -> Option<GraphTypes<'p>> {
        self.site.values.get(usize::try_from(self.args.get(at)?).ok()?)?.value()
    }

    /// Returns the shape of an argument that is a tensor; `None` if it has more dimensions than are compared.
    pub(super) fn sizes(&self, at: usize) -> Option<Sizes> {
        match self.value(at)? {
            GraphTypes::VkTensor(tensor) => sizes(tensor),
            _ => None,
        }
    }

    /// Returns the values of a list; `None` if the budget does not cover them.
    pub(super) fn list(&self, at: usize, budget: &mut u64) -> Option<Vector<'p, i32>> {
        match self.value(at)? {
            GraphTypes::ValueList(list) => {
                let items = list.items()?;
                *budget = budget.checked_sub(wide(items.len()))?;
                cost::charge(items.len());
                Some(items)
            }
            _ => None,
        }
    }

    /// Returns the numbers of an argument; `None` if one is computed when the graph runs, or if there are many.
    pub(super) fn numbers(&self, at: usize) -> Option<Numbers> {
        match self.value(at)? {
            GraphTypes::IntList(list) => Numbers::of(list.items()?.iter()),
            GraphTypes::ValueList(list) => {
                let items = list.items()?;
                let mut unknown = false;
                let numbers =
                    Numbers::of(items.up_to(MOST_NUMBERS.saturating_add(1)).iter().map(|id| {
                        let value =
                            usize::try_from(id).ok().and_then(|id| self.site.values.get(id));
                        let number = value.and_then(|value| number(value.value()?));
                        unknown |= number.is_none();
                        number.unwrap_or_default()
                    }));
                numbers.filter(|_| !unknown)
            }
            GraphTypes::Null(_) => Some(Numbers::default()),
            value => Numbers::of([number(value)?].into_iter()),
        }
    }

    /// Returns four lists of numbers, the first at `at`.
    pub(super) fn lists(&self, at: usize) -> Option<[Numbers; 4]> {
        let list = |nth| self.numbers(at.checked_add(nth)?);
        Some([list(0)?, list(1)?, list(2)?, list(3)?])
    }

    pub(super) fn number(&self, at: usize) -> Option<i64> {
        number(self.value(at)?)
    }

    pub(super) fn flag(&self, at: usize) -> Option<bool> {
        match self.value(at)? {
            GraphTypes::Bool(flag) => Some(flag.bool_val()),
            _ => None,
        }
    }

    /// Returns the axis of a tensor that an argument names; `Some(None)` if the tensor has no such axis.
    pub(super) fn axis(&self, at: usize, tensor: Sizes) -> Option<Option<usize>> {
        Some(wrapped(self.number(at)?, tensor.all().len()))
    }
}

/// Returns the shape of a tensor; `None` if a size is too large to be compared.
pub(super) fn sizes(tensor: VkTensor<'_>) -> Option<Sizes> {
    Sizes::of(tensor.dims().unwrap_or_default().iter())
}

/// Returns an axis that counts from the end if it is negative; `None` if there is no such axis.
pub(super) fn wrapped(axis: i64, rank: usize) -> Option<usize> {
    let from_end = if axis < 0 { i64::try_from(rank).ok()? } else { 0 };
    usize::try_from(axis.checked_add(from_end)?).ok().filter(|axis| *axis < rank)
}
