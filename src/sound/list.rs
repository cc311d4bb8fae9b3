//! Lists of indices of values, resolved.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::{Method, Tensor, Value, bare, proven};
use crate::flat::view::{Numbers, Scalar, Vector};

/// A list that refers to values of its method by indices of type `I`.
#[derive(Clone, Copy)]
pub struct List<'p, T, I = i32> {
    method: Method<'p>,
    indices: Vector<'p, I>,
    item: PhantomData<T>,
}

/// A value that something refers to.
#[derive(Clone, Copy)]
pub struct Operand<'p> {
    method: Method<'p>,
    index: u32,
}

/// What an index in a list stands for. It cannot be named outside: what may be resolved is proven.
pub trait Item<'p, I> {
    /// What the index stands for.
    fn of(method: Method<'p>, index: I) -> Self;
}

impl<'p> Operand<'p> {
    /// Which of the method's values it is: the same for all that refer to it.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The value.
    pub fn value(self) -> Value<'p> {
        let value = usize::try_from(self.index).ok().and_then(|index| self.method.value(index));
        proven(value, INDEX, Value::Null)
    }
}

/// The rules of what refers to values: lists of arguments, inputs and outputs, and instructions.
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

impl<'p, T: Item<'p, I>, I: Scalar> List<'p, T, I> {
    pub(super) fn new(method: Method<'p>, indices: Vector<'p, I>) -> Self {
        Self { method, indices, item: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The element of that number.
    pub fn get(&self, nth: usize) -> Option<T> {
        self.indices.get(nth).map(|index| T::of(self.method, index))
    }

    /// Every element.
    pub fn iter(&self) -> Items<'p, T, I> {
        Items { method: self.method, indices: self.indices.iter(), item: PhantomData }
    }

    /// The indices of the values, as the file has them.
    pub fn indices(&self) -> Vector<'p, I> {
        self.indices
    }
}

impl<'p, T: Item<'p, I>, I: Scalar> IntoIterator for List<'p, T, I> {
    type Item = T;
    type IntoIter = Items<'p, T, I>;

    fn into_iter(self) -> Items<'p, T, I> {
        self.iter()
    }
}

/// The elements of a [`List`].
#[derive(Clone, Debug)]
pub struct Items<'p, T, I = i32> {
    method: Method<'p>,
    indices: Numbers<'p, I>,
    item: PhantomData<T>,
}

impl<'p, T: Item<'p, I>, I: Scalar> Iterator for Items<'p, T, I> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.indices.next().map(|index| T::of(self.method, index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
}

impl<'p, T: Item<'p, I>, I: Scalar> ExactSizeIterator for Items<'p, T, I> {}
impl<'p, T: Item<'p, I>, I: Scalar> FusedIterator for Items<'p, T, I> {}

/// The indices alone: what they stand for may be long, and the same again and again.
impl<T, I: Scalar + fmt::Debug> fmt::Debug for List<'_, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("List").field(&self.indices).finish()
    }
}

impl fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Operand").field(&self.index).finish()
    }
}
