//! A call, and the known values of its arguments.

use super::vocabulary::Arg;
use crate::operators::kind::Kinds;
use crate::operators::scalar::Scalar;
use pte_flat::view::Vector;
use pte_schema::program::view::{KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;

/// The largest number of items of a tensor list that are visited. No genuine call has more, and
/// calls that share a long list stay cheap.
pub(super) const MOST_ITEMS: usize = 64;

/// The known values of a method at the point of a call.
pub trait KnownValues<'a> {
    /// Returns the value at `index`, if it is known.
    fn value(&self, index: i32) -> Option<KernelTypes<'a>>;

    /// Returns the number at `index`, if it is known: a value of the file, or a result that the
    /// file determines.
    fn scalar(&self, index: i32) -> Option<Scalar>;

    /// Returns the kinds that the value at `index` may be of.
    fn kinds(&self, index: i32) -> Kinds;

    /// Returns the tensor whose sizes in the file are the sizes of the tensor at `index` before the
    /// call. Returns `None` if they are unknown.
    fn sized(&self, index: i32) -> Option<Tensor<'a>>;

    /// Returns the range of the elements of the tensor at `index`, if the elements come from a
    /// constant that was read.
    fn elements(&self, index: i32) -> Option<ElementBounds>;
}

/// The range of a constant's elements: for integers the least and the greatest one, for floats
/// whether all are finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementBounds {
    /// Integers.
    Integers {
        /// The smallest element.
        least: i64,
        /// The largest element.
        greatest: i64,
    },
    /// Floats.
    Floats {
        /// Whether all elements are finite.
        are_finite: bool,
    },
}

/// A call to judge by its contract.
#[derive(Debug)]
pub struct Call<'c, 'a, V> {
    /// What is known of the values.
    pub values: &'c V,
    /// The operator's full name.
    pub name: &'static str,
    /// The kinds of its arguments, as letters.
    pub letters: &'static str,
    /// The indices of the arguments.
    pub args: Vector<'a, i32>,
}

impl<'a, V: KnownValues<'a>> Call<'_, 'a, V> {
    /// Returns the value of an argument, if it is known.
    pub(super) fn arg(&self, arg: Arg) -> Option<KernelTypes<'a>> {
        self.values.value(self.args.get(arg.into())?)
    }

    /// Returns an argument that is a number, if it is known.
    pub fn scalar(&self, arg: Arg) -> Option<Scalar> {
        self.values.scalar(self.args.get(arg.into())?)
    }

    /// Returns the kinds that an argument may be of.
    pub(super) fn kinds(&self, arg: Arg) -> Option<Kinds> {
        Some(self.values.kinds(self.args.get(arg.into())?))
    }

    pub(super) fn tensor(&self, arg: Arg) -> Option<Tensor<'a>> {
        match self.arg(arg)? {
            KernelTypes::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    pub(super) fn dtype(&self, arg: Arg) -> Option<ScalarType> {
        self.tensor(arg).map(Tensor::scalar_type)
    }

    /// Returns the range of the elements of an argument, if the elements are known.
    pub fn elements(&self, arg: Arg) -> Option<ElementBounds> {
        self.values.elements(self.args.get(arg.into())?)
    }

    /// Returns the Int at `index`, if it is known.
    pub(super) fn int(&self, index: i64) -> Option<i128> {
        match self.values.scalar(i32::try_from(index).ok()?)? {
            Scalar::Int(int) => Some(int.into()),
            _ => None,
        }
    }
}
