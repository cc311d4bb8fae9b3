//! The cache of proven layouts, by the vtable's position and the table type.

use core::array;
use core::cell::{Cell, OnceCell};

use super::vtable::VtableLayout;
use crate::bytes::index;
use crate::flat::desc::TableDesc;

/// LayoutCache proven so far. Where there is no room a layout is proven again for every table, which
/// costs a read for each of its known fields: still linear.
pub(super) struct LayoutCache<const CACHE_SLOTS: usize> {
    places: [OnceCell<VtableLayout>; CACHE_SLOTS],
    /// Vtables for which no slot was free.
    misses: Cell<u16>,
}

/// A program of less bytes is verified with [`FEW_SLOTS`] ways, any other with [`MANY_SLOTS`]. Few are soon there, and
/// stay in the cache beside all else; with many, hardly two layouts of a program ask for the same place.
pub(super) const SMALL_PROGRAM: u64 = 1 << 14;
pub(super) const FEW_SLOTS: usize = 64;
pub(super) const MANY_SLOTS: usize = 256;

/// Places looked at before giving up; with 4, large programs fall off a cliff.
const PROBES: usize = 8;
/// Misses after which the first place alone is looked at: whoever makes a vtable for each table shall
/// not have each of them looked for in all those places too.
const MISSES: u16 = 1 << 12;

impl<const CACHE_SLOTS: usize> LayoutCache<CACHE_SLOTS> {
    const SHIFT: u32 = u32::BITS - CACHE_SLOTS.ilog2();

    pub(super) fn new() -> Self {
        Self { places: array::from_fn(|_| OnceCell::new()), misses: Cell::new(0) }
    }

    /// The layout of the vtable at `vtable` as one of `desc`, if it is in the first place that it may be
    /// in.
    #[inline(always)]
    pub(super) fn known(&self, vtable: u32, desc: &'static TableDesc) -> Option<&VtableLayout> {
        self.places.get(Self::slot(vtable, desc))?.get().filter(|layout| layout.is(vtable, desc))
    }

    /// What is known of it, wherever it is, or a layout that is yet to be proven; `None` where there is
    /// no room.
    #[inline(always)]
    pub(super) fn room(&self, vtable: u32, desc: &'static TableDesc) -> Option<&VtableLayout> {
        let slot = Self::slot(vtable, desc);
        let mut place = self.places.get(slot)?;
        if place.get().is_some_and(|layout| !layout.is(vtable, desc)) {
            place = self.further(slot, vtable, desc)?;
        }
        if place.get().is_none() {
            place.set(VtableLayout::new(vtable, desc)).ok()?;
        }
        place.get()
    }

    /// The place that it has, or may have, next to the first one.
    #[inline(never)]
    fn further(
        &self,
        slot: usize,
        vtable: u32,
        desc: &'static TableDesc,
    ) -> Option<&OnceCell<VtableLayout>> {
        let misses = self.misses.get();
        if misses >= MISSES {
            return None;
        }
        let from = slot.min(CACHE_SLOTS.saturating_sub(PROBES));
        let mut places = self.places.iter().skip(from).take(PROBES);
        let found = places.find(|place| place.get().is_none_or(|layout| layout.is(vtable, desc)));
        if found.is_none() {
            self.misses.set(misses.saturating_add(1));
        }
        found
    }

    /// The number of the first place that it may be in. With this factor fewer layouts of genuine files
    /// find theirs taken than with most.
    #[inline(always)]
    fn slot(vtable: u32, desc: &TableDesc) -> usize {
        index((vtable ^ desc.seed).wrapping_mul(0x65da_66bf) >> Self::SHIFT)
    }
}
