//! What a verifier notes in uncacheable of how the tables lie: enough to tell that a file is like any other,
//! so that `check/layout` need not look at all of its tables again.

use core::cell::Cell;

use crate::flat::view::{Proof, Raw, Table};

/// How the tables of a proven buffer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Where the root is.
    pub(crate) root: u32,
    /// Tables, each as often as something refers to it.
    pub(crate) tables: u64,
    /// The lowest byte that anything refers to. A table is followed by what it refers to, its
    /// vtable excepted: this is the root, or a vtable.
    pub(crate) lowest: u32,
    /// Whether some table or vector is such that `check/layout` may have something to say of it, or
    /// that a model does not hold all of it.
    pub(crate) odd: bool,
}

impl Verified {
    /// The root of `buf`, whose bytes and type were proven when this was noted.
    pub(crate) fn root<'a, T: Table<'a>>(self, buf: &'a [u8]) -> T {
        T::from_raw(Raw::new(buf, self.root), Proof(()))
    }
}

/// The same while it is being gathered.
pub(super) struct Notes(Cell<Verified>);

impl Notes {
    /// Nothing but the root.
    pub(super) fn new(root: u32) -> Self {
        Self(Cell::new(Verified { root, tables: 0, lowest: root, odd: false }))
    }

    /// A vtable, and whether it is odd.
    pub(super) fn vtable(&self, vtable: u32, odd: bool) {
        let seen = self.0.get();
        self.0.set(Verified { lowest: seen.lowest.min(vtable), odd: seen.odd | odd, ..seen });
    }

    /// So many tables more: no `u64` is too small to count them.
    #[inline]
    pub(super) fn tables(&self, more: u32) {
        let seen = self.0.get();
        self.0.set(Verified { tables: seen.tables.wrapping_add(more.into()), ..seen });
    }

    /// Something that is not as usual.
    #[cold]
    #[inline(never)]
    pub(super) fn odd(&self) {
        self.0.set(Verified { odd: true, ..self.0.get() });
    }

    /// All of it.
    pub(super) fn seen(&self) -> Verified {
        self.0.get()
    }
}
