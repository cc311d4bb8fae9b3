//! Facts about the layout of tables, recorded by the verifier. If nothing unusual was recorded,
//! `check/layout` does not visit the tables again.

use core::cell::Cell;

use crate::view::{Proof, Raw, Table};

/// Facts about the layout of a proven buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The position of the root table.
    pub root: u32,
    /// The number of visited tables. A table counts once for each reference to it.
    pub tables: u64,
    /// The lowest position that is referred to: that of the root or of a vtable. Every other target
    /// lies after the table that refers to it.
    pub lowest: u32,
    /// Whether the layout is unusual: `check/layout` may report a table or vector, or a model may
    /// lose a part of it.
    pub is_unusual: bool,
}

impl Verified {
    /// Returns the root of `buf`. The bytes and the type must be those that were proven.
    pub fn root<'a, T: Table<'a>>(self, buf: &'a [u8]) -> T {
        T::from_raw(Raw::new(buf, self.root), Proof(()))
    }
}

/// Collects [`Verified`] during verification.
pub(super) struct Notes(Cell<Verified>);

impl Notes {
    /// Creates the facts of a buffer in which only the root is known.
    pub(super) fn new(root: u32) -> Self {
        Self(Cell::new(Verified { root, tables: 0, lowest: root, is_unusual: false }))
    }

    /// Records a vtable, and whether it is unusual.
    pub(super) fn vtable(&self, vtable: u32, is_unusual: bool) {
        let seen = self.0.get();
        self.0.set(Verified {
            lowest: seen.lowest.min(vtable),
            is_unusual: seen.is_unusual | is_unusual,
            ..seen
        });
    }

    /// Adds `more` tables. Their total cannot exceed `u64`.
    #[inline]
    pub(super) fn tables(&self, more: u32) {
        let seen = self.0.get();
        self.0.set(Verified { tables: seen.tables.wrapping_add(more.into()), ..seen });
    }

    /// Records that the layout is unusual.
    #[cold]
    #[inline(never)]
    pub(super) fn record_unusual(&self) {
        self.0.set(Verified { is_unusual: true, ..self.0.get() });
    }

    /// Returns the facts.
    pub(super) fn seen(&self) -> Verified {
        self.0.get()
    }
}
