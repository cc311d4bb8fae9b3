//! What one vtable promises for one table type: proven once, then reused.

use core::cell::Cell;

use super::seen::Notes;
use super::why;
use crate::bytes::{array_at, index, slice_at, sum, u16_at};
use crate::error::{Error, ErrorKind, Result};
use crate::flat::desc::{MAX_REFS, SLOTS_LOOKED_AT, TableDesc};

/// A vtable read as one table type: as long as a line of the cache, so that it is found by a shift.
///
/// It is filled where it lies. To move what was just written in small pieces would take longer than to
/// prove it. What is half filled is refused, with which the walk ends: nobody asks for it.
#[repr(align(64))]
pub(super) struct Shape {
    /// The table type; none where nothing has been proven yet.
    desc: Cell<Option<&'static TableDesc>>,
    vtable: Cell<u32>,
    /// Bytes from the table's start to the end of its last known field. Computed from the fields,
    /// never taken from the declared object size, which genuine files get wrong (format.md §7.8).
    extent: Cell<u32>,
    /// A table fits at a position `pos` with `pos & mask == residue`.
    mask: Cell<u32>,
    residue: Cell<u32>,
    /// The offsets of a union's two halves, 0 for an absent one.
    tag: Cell<u16>,
    value: Cell<u16>,
    at: [Cell<u16>; MAX_REFS],
}

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
const PROBES: usize = 16;
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
    pub(super) fn room(&self, vtable: u32, desc: &'static TableDesc) -> Option<&Shape> {
        let misses = self.misses.get();
        let probes = if misses < MISSES { PROBES } else { 1 };
        let mut shapes = self.places.get(way(vtable, desc)..)?.iter().take(probes);
        let found = shapes.find(|shape| shape.is(vtable, desc) || shape.desc.get().is_none());
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

impl Shape {
    /// Nothing proven yet.
    pub(super) const fn new() -> Self {
        Self {
            desc: Cell::new(None),
            vtable: Cell::new(0),
            extent: Cell::new(0),
            mask: Cell::new(0),
            residue: Cell::new(0),
            tag: Cell::new(0),
            value: Cell::new(0),
            at: [const { Cell::new(0) }; MAX_REFS],
        }
    }

    /// Whether it is that of a vtable as one of `desc`.
    #[inline(always)]
    pub(super) fn is(&self, vtable: u32, desc: &'static TableDesc) -> bool {
        self.is_at(vtable) && self.desc.get().is_some_and(|its| core::ptr::eq(its, desc))
    }

    /// Whether its vtable is there.
    #[inline(always)]
    pub(super) fn is_at(&self, vtable: u32) -> bool {
        self.vtable.get() == vtable
    }

    /// Where its vtable is.
    pub(super) fn vtable(&self) -> u32 {
        self.vtable.get()
    }

    /// Bytes of a table.
    #[inline(always)]
    pub(super) fn extent(&self) -> u32 {
        self.extent.get()
    }

    /// Whether a table at `pos` is aligned, and every 8-byte field of it, in one test.
    #[inline(always)]
    pub(super) fn fits(&self, pos: u32) -> bool {
        pos & self.mask.get() == self.residue.get()
    }

    /// The offsets of what is looked at, in the order of [`TableDesc::refs`], 0 for an absent field; for
    /// a union that of whichever half is there.
    #[inline(always)]
    pub(super) fn offsets(&self) -> impl Iterator<Item = u16> {
        self.at.iter().map(Cell::get)
    }

    /// The first of them.
    #[inline(always)]
    pub(super) fn first(&self) -> u16 {
        let [first, ..] = &self.at;
        first.get()
    }

    /// The offsets of a union's tag and of its value, 0 for one that is not there.
    #[inline(always)]
    pub(super) fn union(&self) -> (u16, u16) {
        (self.tag.get(), self.value.get())
    }

    /// Reads the vtable at `vtable` of the table at `pos` as one of `desc`.
    pub(super) fn prove(
        &self,
        buf: &[u8],
        pos: u32,
        vtable: u32,
        desc: &'static TableDesc,
        notes: &Notes,
    ) -> Result<()> {
        if pos & 3 != 0 {
            return Err(Error::new(ErrorKind::TableMisaligned {}, pos.into()));
        }
        if array_at::<4>(buf, index(vtable)).is_none() {
            let back = pos.wrapping_sub(vtable).cast_signed();
            let vtable = i64::from(pos).saturating_sub(back.into());
            return Err(Error::new(ErrorKind::VtableOutOfBounds { vtable }, pos.into()));
        }
        let refuse = |kind| Err(Error::new(kind, vtable.into()));
        if vtable & 1 != 0 {
            return refuse(ErrorKind::VtableMisaligned {});
        }
        let len = u16_at(buf, index(vtable)).unwrap_or_default();
        if len < 4 || len & 1 != 0 {
            return refuse(ErrorKind::VtableLength { len });
        }
        let Some(entries) = slice_at(buf, sum(vtable, 4), u32::from(len.saturating_sub(4))) else {
            return refuse(ErrorKind::VtableOutOfBounds { vtable: vtable.into() });
        };
        let size = u16_at(buf, sum(vtable, 2)).unwrap_or_default();
        if size < 4 {
            let at = vtable.saturating_add(2);
            return Err(Error::new(ErrorKind::ObjectSize { size }, at.into()));
        }
        let odd = self.fill(vtable, entries.as_chunks().0, desc)?;
        notes.vtable(vtable, odd || u32::from(size) < self.extent());
        self.vtable.set(vtable);
        self.desc.set(Some(desc));
        Ok(())
    }

    /// Reads the entries of the vtable: whether they are odd.
    fn fill(&self, vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Result<bool> {
        let (mut extent, mut least) = (4u32, 4u16);
        // Of where fields must be a multiple of something: the bits that are 1 in one, and 0 in one.
        let (mut ones, mut zeros) = (0u16, 0u16);
        // The bytes that are taken, a bit each, of a table that is no longer than any known one, and
        // those that are twice.
        let (mut taken, mut twice) = (0u64, 0u64);
        for (inline, &entry) in desc.inline().iter().zip(entries) {
            let offset = u16::from_le_bytes(entry);
            if offset == 0 || inline.size == 0 {
                continue;
            }
            extent = u32::from(offset).saturating_add(inline.size.into()).max(extent);
            least = least.min(offset);
            ones |= offset & inline.low;
            zeros |= !offset & inline.low;
            let bytes = u64::from(inline.bytes).wrapping_shl(offset.into());
            twice |= taken & bytes;
            taken |= bytes;
            if let Some(at) = self.at.get(usize::from(inline.nth)) {
                at.set(offset);
            }
        }
        // A table lies at a multiple of 4; fields of 8 bytes, which alone look at the third bit, ask more.
        if least < 4 || ones & 3 != 0 || ones & zeros & 4 != 0 {
            return Err(why::misplaced_field(vtable, entries, desc));
        }
        let odd = twice != 0 || extent > u64::BITS;
        let (mask, residue) = (3 | (ones | zeros) & 4, ones & 4);
        self.extent.set(extent);
        self.mask.set(mask.into());
        self.residue.set(residue.into());
        if let Some((slot, _)) = desc.union {
            let half =
                |slot: u16| entries.get(usize::from(slot)).copied().map_or(0, u16::from_le_bytes);
            self.tag.set(half(slot));
            self.value.set(half(slot.saturating_add(1)));
        }
        Ok(odd || newer_fields(entries, desc))
    }
}

/// Where a table at `pos` that begins with `back` says that its vtable is. No buffer is as long as
/// 2^31: what lies in front of it becomes a position past its end, and a position within it is meant.
#[inline(always)]
pub(super) fn vtable(pos: u32, back: u32) -> u32 {
    pos.wrapping_sub(back)
}

/// Whether the vtable may have fields that the type does not know. One that claims thousands, which each
/// of many tables may share, does: nobody looks at all of them.
fn newer_fields(entries: &[[u8; 2]], desc: &TableDesc) -> bool {
    let newer = entries.get(usize::from(desc.slots())..).unwrap_or_default();
    newer.len() > usize::from(SLOTS_LOOKED_AT) || newer.iter().any(|entry| *entry != [0; 2])
}
