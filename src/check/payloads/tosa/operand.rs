//! What the rules read of an operator, from a TOSA graph or from code.

use alloc::string::String;

use super::operators::Form;
use crate::payloads::sizes::Sizes;
use pte_flat::view::Vector;
use pte_schema::tosa::DType;

/// A tensor or a shape that an operator reads or writes.
#[derive(Clone, Copy)]
pub(in crate::payloads) struct Operand<'p> {
    pub(in crate::payloads) dtype: DType,
    /// The sizes of a tensor, if all are known, or the number of a shape's numbers.
    pub(in crate::payloads) sizes: Option<Sizes>,
    /// The numbers of a constant shape.
    pub(in crate::payloads) numbers: Option<Numbers<'p>>,
    /// Whether this is a constant whose first number is not 0.
    pub(in crate::payloads) is_nonzero: bool,
}

/// A list of integers.
#[derive(Clone, Copy)]
pub(in crate::payloads) enum Numbers<'p> {
    /// The integers of an attribute.
    Short(Vector<'p, i32>),
    /// The bytes of a shape.
    Shape(Vector<'p, u8>),
    /// Constants of code.
    Listed(&'p [i64]),
}

impl Numbers<'_> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Short(list) => list.len(),
            Self::Shape(bytes) => bytes.len() / 8,
            Self::Listed(list) => list.len(),
        }
    }

    pub(super) fn get(self, nth: usize) -> Option<i64> {
        match self {
            Self::Short(list) => list.get(nth).map(i64::from),
            Self::Shape(bytes) => {
                bytes.bytes().as_chunks().0.get(nth).map(|bytes| i64::from_le_bytes(*bytes))
            }
            Self::Listed(list) => list.get(nth).copied(),
        }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = i64> {
        (0..self.len()).filter_map(move |nth| self.get(nth))
    }
}

/// How a graph names the datatypes of tensors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::payloads) enum Naming {
    /// By TOSA's enum.
    Tosa,
    /// By the type of a number in code: INT4 is INT8, INT48 is INT64, and a shape is a tensor of INT32.
    Code,
}

impl Naming {
    /// Returns the name of a datatype of the specification.
    pub(super) fn name(self, dtype: DType) -> DType {
        match dtype {
            DType::INT4 if self == Self::Code => DType::INT8,
            DType::INT48 if self == Self::Code => DType::INT64,
            DType::SHAPE if self == Self::Code => DType::INT32,
            dtype => dtype,
        }
    }
}

/// The values of an operator's attributes: those of a table, or operands of code.
pub(in crate::payloads) trait Attributes {
    /// Returns a number or a bool; `None` if the operator has none of this name, or if it is not known.
    fn number(&self, name: &str) -> Option<i64>;

    /// Returns a list of integers; `None` if the operator has none of this name, or if it is not known.
    fn list(&self, name: &str) -> Option<Numbers<'_>>;

    /// Returns what is wrong with an attribute that is an element of a tensor with this datatype.
    fn unlike_element(&self, name: &str, datatype: DType) -> Option<String>;
}

/// An operator with all that the specification judges.
#[derive(Clone, Copy)]
pub(in crate::payloads) struct Operator<'o> {
    pub(in crate::payloads) form: &'static Form,
    pub(in crate::payloads) naming: Naming,
    /// Whether the graph is of TOSA 1.0: later versions mix floating-point numbers.
    pub(in crate::payloads) is_first: bool,
    /// `None` if the operator has the table of another one.
    pub(in crate::payloads) attributes: Option<&'o dyn Attributes>,
    pub(in crate::payloads) inputs: &'o [Operand<'o>],
    pub(in crate::payloads) outputs: &'o [Operand<'o>],
}
