//! The cache of proven layouts. The key is the vtable's position and the table type.

use core::array;
use core::cell::{Cell, OnceCell};

use super::vtable::VtableLayout;
use crate::bytes::index;
use crate::desc::TableDesc;

/// The layouts proven so far. A layout without a slot is proven again for each table. This costs
/// one read for each known field, so verification stays linear.
pub(super) struct LayoutCache<const CACHE_SLOTS: usize> {
    places: [OnceCell<VtableLayout>; CACHE_SLOTS],
    /// The number of vtables for which no slot was free.
    misses: Cell<u16>,
}

/// Buffers of at least this size are verified with [`MANY_SLOTS`], smaller ones with [`FEW_SLOTS`]. A
/// small cache is cheap to create and fits the L1 cache. A large one has few collisions.
pub(super) const SMALL_BUFFER: u64 = 1 << 14;
// Without `alloc` there is no cache: it would be most of the stack of a microcontroller.
pub(super) const FEW_SLOTS: usize = if cfg!(feature = "alloc") { 64 } else { 0 };
pub(super) const MANY_SLOTS: usize = if cfg!(feature = "alloc") { 256 } else { 0 };

/// The number of slots that are probed. With 4 slots, large buffers take much longer.
const PROBES: usize = 8;
/// The number of misses after which only the first slot is probed. A hostile file may have a vtable for
/// each table, and [`PROBES`] probes for each would be slow.
const MISSES: u16 = 1 << 12;

impl<const CACHE_SLOTS: usize> LayoutCache<CACHE_SLOTS> {
    // Without slots the shift is not used.
    const SHIFT: u32 = u32::BITS - if CACHE_SLOTS == 0 { 1 } else { CACHE_SLOTS.ilog2() };

    pub(super) fn new() -> Self {
        Self { places: array::from_fn(|_| OnceCell::new()), misses: Cell::new(0) }
    }

    /// Returns the layout of the vtable at `vtable`, read as `desc`, if it is in its first slot.
    #[inline(always)]
    pub(super) fn known(&self, vtable: u32, desc: &'static TableDesc) -> Option<&VtableLayout> {
        self.places.get(Self::slot(vtable, desc))?.get().filter(|layout| layout.is(vtable, desc))
    }

    /// Returns the layout from any slot, or a new one, not yet proven; `None` if no slot is free.
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

    /// Finds the slot of the layout, or a free slot, among [`PROBES`] slots near its first one.
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

    /// Returns the index of a layout's first slot, by a multiplicative hash. The factor was chosen
    /// for few collisions in genuine files.
    #[inline(always)]
    fn slot(vtable: u32, desc: &TableDesc) -> usize {
        index((vtable ^ desc.seed).wrapping_mul(0x65da_66bf) >> Self::SHIFT)
    }
}
