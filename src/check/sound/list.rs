//! Lists that refer to values by their indices.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::method::Method;
use pte_flat::view::{Numbers, Scalar, Vector};

/// A list that refers to values of its method by indices of type `I`.
#[derive(Clone, Copy)]
pub struct ValueList<'p, T, I = i32> {
    method: Method<'p>,
    indices: Vector<'p, I>,
    item: PhantomData<T>,
}

/// An item of a [`ValueList`]. The trait is private to the crate, so that only proven indices are
/// resolved.
pub trait Item<'p, I> {
    /// Resolves an index.
    fn of(method: Method<'p>, index: I) -> Self;
}

impl<'p, T: Item<'p, I>, I: Scalar> ValueList<'p, T, I> {
    pub(super) fn new(method: Method<'p>, indices: Vector<'p, I>) -> Self {
        Self { method, indices, item: PhantomData }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Returns the item at `nth`.
    pub fn get(&self, nth: usize) -> Option<T> {
        self.indices.get(nth).map(|index| T::of(self.method, index))
    }

    /// Returns an iterator over the items.
    pub fn iter(&self) -> Items<'p, T, I> {
        Items { method: self.method, indices: self.indices.iter(), item: PhantomData }
    }

    /// Returns the indices of the values, as in the file.
    pub fn indices(&self) -> Vector<'p, I> {
        self.indices
    }
}

impl<'p, T: Item<'p, I>, I: Scalar> IntoIterator for ValueList<'p, T, I> {
    type Item = T;
    type IntoIter = Items<'p, T, I>;

    fn into_iter(self) -> Items<'p, T, I> {
        self.iter()
    }
}

/// An iterator over the items of a [`ValueList`].
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

/// Shows only the indices, since the values may be long and repeated.
impl<T, I: Scalar + fmt::Debug> fmt::Debug for ValueList<'_, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ValueList").field(&self.indices).finish()
    }
}
