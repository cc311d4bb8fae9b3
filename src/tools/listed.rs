//! Lists that are made while they are serialized, item by item, to save memory.

use core::cell::Cell;

use serde::{Serialize, Serializer};

/// Items that are serialized as a list, once.
pub(crate) struct Listed<I>(Cell<Option<I>>);

impl<I> Listed<I> {
    pub(crate) fn new(items: I) -> Self {
        Self(Cell::new(Some(items)))
    }
}

impl<I: Iterator<Item: Serialize>> Serialize for Listed<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten())
    }
}
