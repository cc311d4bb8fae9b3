//! Facts about the layout of tables, recorded by the verifier. If nothing unusual was recorded,
//! `check/layout` does not visit the tables again.

use core::cell::Cell;

use super::Verified;
use crate::desc::{SLOTS_LOOKED_AT, TableDesc};

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

/// Returns whether the vtable may have fields that the type does not know. A vtable with thousands
/// of further entries is assumed to have some, since not all entries are read.
pub(super) fn newer_fields(entries: &[[u8; 2]], desc: &TableDesc) -> bool {
    let newer = entries.get(usize::from(desc.slots())..).unwrap_or_default();
    newer.len() > usize::from(SLOTS_LOOKED_AT) || newer.iter().any(|entry| *entry != [0; 2])
}
