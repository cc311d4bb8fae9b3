//! Values of a method.

use super::list::ValueList;
use super::method::Method;
use super::proof::proven;
use super::tensor::Tensor;
use pte_flat::view::Vector;
use pte_schema::program::view::{EValue, KernelTypes};

/// A value of a method, in its state before the first instruction. A move may replace it later.
///
/// There is one variant for each member of [`KernelTypes`], under upstream's name.
#[derive(Clone, Copy, Debug)]
pub enum Value<'p> {
    /// Python's None.
    Null,
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
    /// A tensor.
    Tensor(Tensor<'p>),
    /// A string.
    String(&'p str),
    /// A list of integers, in which each item is the index of an `Int` value.
    IntList(ValueList<'p, i64, i64>),
    /// A list of floating-point numbers.
    DoubleList(Vector<'p, f64>),
    /// A list of booleans.
    BoolList(Vector<'p, bool>),
    /// A list of tensors.
    TensorList(ValueList<'p, Tensor<'p>>),
    /// A list in which each item is a tensor or None.
    OptionalTensorList(ValueList<'p, Option<Tensor<'p>>>),
}

/// The rule that checks the items of a list.
const ITEMS: &str = "list-items-missing";

impl<'p> Value<'p> {
    pub(crate) fn of(method: Method<'p>, value: EValue<'p>) -> Self {
        match value.val() {
            Some(KernelTypes::Null(_)) => Self::Null,
            Some(KernelTypes::Int(int)) => Self::Int(int.int_val()),
            Some(KernelTypes::Bool(bool)) => Self::Bool(bool.bool_val()),
            Some(KernelTypes::Double(double)) => Self::Double(double.double_val()),
            Some(KernelTypes::Tensor(view)) => Self::Tensor(Tensor { method, view }),
            Some(KernelTypes::String(string)) => {
                Self::String(proven(string.string_val(), "string-missing", ""))
            }
            Some(KernelTypes::IntList(list)) => Self::IntList(ValueList::new(
                method,
                proven(list.items(), ITEMS, Vector::default()),
            )),
            Some(KernelTypes::DoubleList(list)) => {
                Self::DoubleList(proven(list.items(), ITEMS, Vector::default()))
            }
            Some(KernelTypes::BoolList(list)) => {
                Self::BoolList(proven(list.items(), ITEMS, Vector::default()))
            }
            Some(KernelTypes::TensorList(list)) => Self::TensorList(ValueList::new(
                method,
                proven(list.items(), ITEMS, Vector::default()),
            )),
            Some(KernelTypes::OptionalTensorList(list)) => {
                let items = proven(list.items(), ITEMS, Vector::default());
                Self::OptionalTensorList(ValueList::new(method, items))
            }
            Some(KernelTypes::Unknown(_)) => proven(None, "value-unknown", Self::Null),
            None => proven(None, "value-empty", Self::Null),
        }
    }
}
