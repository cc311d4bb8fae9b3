//! The shapes that were proven, found again by where the vtable is and what it is read as.

use core::array;
use core::cell::{Cell, OnceCell};

use super::shape::Shape;
use crate::bytes::index;
use crate::flat::desc::TableDesc;

/// Shapes proven so far. Where there is no room a shape is proven again for every table, which
/// costs a read for each of its known fields: still linear.
pub(super) struct Shapes<const WAYS: usize> {
    places: [OnceCell<Shape>; WAYS],
    /// Vtables for which there was no room.
    misses: Cell<u16>,
}

/// A program of less bytes is walked with [`FEW`] ways, any other with [`MANY`]. Few are soon there, and
/// stay in the cache beside all else; with many, hardly two shapes of a program ask for the same place.
pub(super) const SHORT: u64 = 1 << 14;
pub(super) const FEW: usize = 64;
pub(super) const MANY: usize = 256;

/// Places looked at before giving up; with 4, large programs fall off a cliff.
const PROBES: usize = 8;
/// Misses after which the first place alone is looked at: whoever makes a vtable for each table shall
/// not have each of them looked for in all those places too.
const MISSES: u16 = 1 << 12;

impl<const WAYS: usize> Shapes<WAYS> {
    const SHIFT: u32 = u32::BITS - WAYS.ilog2();

    pub(super) fn new() -> Self {
        Self { places: array::from_fn(|_| OnceCell::new()), misses: Cell::new(0) }
    }

    /// The shape of the vtable at `vtable` as one of `desc`, if it is in the first place that it may be
    /// in.
    #[inline(always)]
    pub(super) fn known(&self, vtable: u32, desc: &'static TableDesc) -> Option<&Shape> {
        self.places.get(Self::way(vtable, desc))?.get().filter(|shape| shape.is(vtable, desc))
    }

    /// What is known of it, wherever it is, or a shape that is yet to be proven; `None` where there is
    /// no room.
    #[inline(always)]
    pub(super) fn room(&self, vtable: u32, desc: &'static TableDesc) -> Option<&Shape> {
        let way = Self::way(vtable, desc);
        let mut place = self.places.get(way)?;
        if place.get().is_some_and(|shape| !shape.is(vtable, desc)) {
            place = self.further(way, vtable, desc)?;
        }
        if place.get().is_none() {
            place.set(Shape::new(vtable, desc)).ok()?;
        }
        place.get()
    }

    /// The place that it has, or may have, next to the first one.
    #[inline(never)]
    fn further(
        &self,
        way: usize,
        vtable: u32,
        desc: &'static TableDesc,
    ) -> Option<&OnceCell<Shape>> {
        let misses = self.misses.get();
        if misses >= MISSES {
            return None;
        }
        let from = way.min(WAYS.saturating_sub(PROBES));
        let mut places = self.places.iter().skip(from).take(PROBES);
        let found = places.find(|place| place.get().is_none_or(|shape| shape.is(vtable, desc)));
        if found.is_none() {
            self.misses.set(misses.saturating_add(1));
        }
        found
    }

    /// The number of the first place that it may be in. With this factor fewer shapes of genuine files
    /// find theirs taken than with most.
    #[inline(always)]
    fn way(vtable: u32, desc: &TableDesc) -> usize {
        index((vtable ^ desc.seed).wrapping_mul(0x65da_66bf) >> Self::SHIFT)
    }
}
