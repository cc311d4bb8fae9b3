//! A map from the ids of a graph's values.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use pte_flat::bytes::index;
use pte_flat::cost;

/// A map from the ids of a graph's values. Every writer numbers values from 0, so smaller ids than
/// the number of values are indices of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct IdMap<T> {
    list: Vec<Option<T>>,
    /// The entries of all other ids.
    others: BTreeMap<u32, T>,
}

impl<T: Copy> IdMap<T> {
    /// Returns an empty map for a graph of `count` values.
    pub(super) fn new(count: usize) -> Self {
        let mut list = Vec::new();
        list.resize(count, None);
        Self { list, others: BTreeMap::new() }
    }

    /// Adds an entry unless the id has one.
    pub(super) fn insert_first(&mut self, id: u32, entry: T) {
        cost::charge(1);
        match self.list.get_mut(index(id)) {
            Some(known) => {
                known.get_or_insert(entry);
            }
            None => {
                cost::look_up("", self.others.len());
                self.others.entry(id).or_insert(entry);
            }
        }
    }

    /// Returns the entry of an id.
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<T> {
        cost::charge(1);
        match self.list.get(index(id)) {
            Some(known) => *known,
            None => {
                cost::look_up("", self.others.len());
                self.others.get(&id).copied()
            }
        }
    }
}
