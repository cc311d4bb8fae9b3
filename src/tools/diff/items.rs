//! The items of lists.

use pte_flat::view::Vector;
use pte_schema::program::view::KernelTypes;

/// The items of a list that names values.
pub(super) enum Items<'a> {
    Long(Vector<'a, i64>),
    Short(Vector<'a, i32>),
    /// No items: a missing list, which runtimes refuse, or a value that is no list.
    None,
}

impl<'a> Items<'a> {
    pub(super) fn of(list: KernelTypes<'a>) -> Self {
        match list {
            KernelTypes::IntList(list) => list.items().map_or(Self::None, Self::Long),
            KernelTypes::TensorList(list) => list.items().map_or(Self::None, Self::Short),
            KernelTypes::OptionalTensorList(list) => list.items().map_or(Self::None, Self::Short),
            _ => Self::None,
        }
    }

    /// Returns whether there is no list, not even an empty one.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Long(items) => items.len(),
            Self::Short(items) => items.len(),
            Self::None => 0,
        }
    }

    /// Returns item `nth`. If it is not a valid index, returns −1, which stands for no value.
    pub(super) fn get(&self, nth: usize) -> i32 {
        match self {
            Self::Long(items) => {
                items.get(nth).and_then(|item| i32::try_from(item).ok()).unwrap_or(-1)
            }
            Self::Short(items) => items.get(nth).unwrap_or(-1),
            Self::None => -1,
        }
    }
}
