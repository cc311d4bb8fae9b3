//! An error without a heap: [`Held`] is its value, and [`Path`] is empty.

use core::ops::{Deref, DerefMut};

use super::PathComponent;

/// A value, with the interface of a `Box`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held<T>(T);

/// A path, with the interface of a `Vec`. Components are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path;

impl<T> Held<T> {
    pub(super) fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl Path {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn push(&mut self, _: PathComponent) {}
}

impl Deref for Path {
    type Target = [PathComponent];

    fn deref(&self) -> &[PathComponent] {
        &[]
    }
}
