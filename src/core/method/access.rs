//! How an instruction uses a value, and the items of lists.

use crate::pte::value_at;
use pte_flat::view::Vector;
use pte_schema::program::view::{ExecutionPlan, KernelTypes};

/// The access of an instruction to one of its operands, for liveness. That of an unknown operator is
/// guessed by the order of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// The data or the shape of the operand is read.
    Read,
    /// The operand is written, or replaced by a result.
    Write,
    /// The operand becomes the first operand, or a view of the first operand.
    Alias,
    /// The memory of the operand is freed.
    Free,
}

impl Access {
    /// Returns whether the access initializes the value: it is written, or becomes another value.
    pub fn defines(self) -> bool {
        matches!(self, Self::Write | Self::Alias)
    }
}

/// Returns the items of a list of tensors, optional ones or not; `None` if `value` is no such list.
pub fn items(plan: ExecutionPlan<'_>, value: i32) -> Option<Vector<'_, i32>> {
    match value_at(plan, value)? {
        KernelTypes::TensorList(list) => list.items(),
        KernelTypes::OptionalTensorList(list) => list.items(),
        _ => None,
    }
}

/// Returns the items of a list of tensors that a call may write. No call writes optional tensors.
pub fn written_items(plan: ExecutionPlan<'_>, value: i32) -> Option<Vector<'_, i32>> {
    match value_at(plan, value)? {
        KernelTypes::TensorList(list) => list.items(),
        _ => None,
    }
}
