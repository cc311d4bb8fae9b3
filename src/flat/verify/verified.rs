//! What is known of a buffer after its proof.

use crate::view::{Proof, Raw, Table};

/// Facts about the layout of a proven buffer. Only the verifier makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    pub(super) root: u32,
    pub(super) tables: u64,
    pub(super) lowest: u32,
    pub(super) is_unusual: bool,
}

impl Verified {
    /// Returns the root of `buf`. The bytes and the type must be those that were proven.
    pub fn root<'a, T: Table<'a>>(self, buf: &'a [u8]) -> T {
        T::from_raw(Raw::new(buf, self.root), Proof(()))
    }

    /// Returns the position of the root table.
    #[must_use]
    pub fn position(self) -> u32 {
        self.root
    }

    /// Returns the number of visited tables. A table counts once for each reference to it.
    #[must_use]
    pub fn tables(self) -> u64 {
        self.tables
    }

    /// Returns the lowest position that is referred to: that of the root or of a vtable. Every other
    /// target lies after the table that refers to it.
    #[must_use]
    pub fn lowest(self) -> u32 {
        self.lowest
    }

    /// Returns whether the layout is unusual: `check/layout` may report a table or vector, or a model
    /// may lose a part of it.
    #[must_use]
    pub fn is_unusual(self) -> bool {
        self.is_unusual
    }
}
