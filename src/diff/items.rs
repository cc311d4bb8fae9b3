//! The items of lists.

use crate::flat::view::Vector;
use crate::schema::program::view::KernelTypes;

/// The items of a list that names values.
pub(super) enum Items<'a> {
    Long(Vector<'a, i64>),
    Short(Vector<'a, i32>),
}

impl<'a> Items<'a> {
    pub(super) fn of(list: KernelTypes<'a>) -> Self {
        match list {
            KernelTypes::IntList(list) => Self::Long(list.items().unwrap_or_default()),
            KernelTypes::TensorList(list) => Self::Short(list.items().unwrap_or_default()),
            KernelTypes::OptionalTensorList(list) => Self::Short(list.items().unwrap_or_default()),
            _ => Self::Short(Vector::default()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Long(items) => items.len(),
            Self::Short(items) => items.len(),
        }
    }

    /// Returns the item at `nth`; −1, which means none, for one that is no valid index.
    pub(super) fn get(&self, nth: usize) -> i32 {
        match self {
            Self::Long(items) => {
                items.get(nth).and_then(|item| i32::try_from(item).ok()).unwrap_or(-1)
            }
            Self::Short(items) => items.get(nth).unwrap_or(-1),
        }
    }
}
