//! The shapes that were proven, found again by where the vtable is and what it is read as.

use core::cell::Cell;

use super::shape::Shape;
use crate::bytes::index;
use crate::flat::desc::TableDesc;

/// Shapes proven so far. Where there is no room a shape is proven again for every table, which
/// costs a read for each of its known fields: still linear.
pub(super) struct Shapes {
    places: [Shape; WAYS + PROBES - 1],
    /// Vtables for which there was no room.
    misses: Cell<u16>,
}

const WAYS: usize = 1 << (u32::BITS - SHIFT);
const SHIFT: u32 = 25;
/// Places looked at before giving up; with 4, large programs fall off a cliff.
const PROBES: usize = 8;
/// Misses after which the first place alone is looked at: whoever makes a vtable for each table shall
/// not have each of them looked for in all those places too.
const MISSES: u16 = 1 << 12;

impl Shapes {
    pub(super) fn new() -> Self {
        Self { places: [const { Shape::new() }; WAYS + PROBES - 1], misses: Cell::new(0) }
    }

    /// What is known of the vtable at `vtable` as one of `desc`, if it is in the first place that it may
    /// be in.
    #[inline(always)]
    pub(super) fn known(&self, vtable: u32, desc: &'static TableDesc) -> Option<&Shape> {
        self.places.get(way(vtable, desc)).filter(|shape| shape.is(vtable, desc))
    }

    /// Where that is, or has room; `None` where there is none.
    #[inline(always)]
    pub(super) fn room(&self, vtable: u32, desc: &'static TableDesc) -> Option<&Shape> {
        let (first, others) = self.places.get(way(vtable, desc)..)?.split_first()?;
        if first.is_free() || first.is(vtable, desc) {
            return Some(first);
        }
        self.further(others, vtable, desc)
    }

    /// The same, of the places after the first one.
    #[inline(never)]
    fn further<'s>(
        &self,
        others: &'s [Shape],
        vtable: u32,
        desc: &'static TableDesc,
    ) -> Option<&'s Shape> {
        let misses = self.misses.get();
        let probes = if misses < MISSES { PROBES.saturating_sub(1) } else { 0 };
        let mut shapes = others.iter().take(probes);
        let found = shapes.find(|shape| shape.is(vtable, desc) || shape.is_free());
        if found.is_none() {
            self.misses.set(misses.saturating_add(1));
        }
        found
    }
}

/// The number of the first place that it may be in.
#[inline(always)]
fn way(vtable: u32, desc: &TableDesc) -> usize {
    index((vtable ^ desc.seed).wrapping_mul(0x9e37_79b9) >> SHIFT)
}
