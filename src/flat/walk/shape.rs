//! What one vtable promises for one table type: proven once, then reused.

use core::cell::Cell;

use super::seen::Notes;
use super::why;
use crate::bytes::{array_at, index, slice_at, sum};
use crate::error::Result;
use crate::flat::desc::{EIGHTS, PLACES, SLOTS_LOOKED_AT, TableDesc};

/// A vtable read as one table type: as long as a line of the cache, so that it is found by a shift.
///
/// It is filled where it lies. To move what was just written in small pieces would take longer than to
/// prove it. What is half filled is refused, with which the walk ends: nobody asks for it.
#[repr(align(64))]
pub(super) struct Shape {
    desc: &'static TableDesc,
    vtable: u32,
    /// Bytes from the table's start to the end of its last known field, 0 as long as nothing is proven.
    /// Computed from the fields, never taken from the declared object size, which genuine files get
    /// wrong (format.md §7.8).
    extent: Cell<u32>,
    /// A table fits at a position `pos` with `pos & mask == residue`.
    mask: Cell<u32>,
    residue: Cell<u32>,
    /// The offsets of fields, each at its place, 0 for one that is not there.
    at: [Cell<u16>; PLACES],
}

impl Shape {
    /// That of a vtable as one of `desc`, of which nothing is proven yet.
    #[inline(always)]
    pub(super) fn new(vtable: u32, desc: &'static TableDesc) -> Self {
        Self {
            desc,
            vtable,
            extent: Cell::new(0),
            // A table lies at a multiple of 4; nothing fits one of which nothing is proven.
            mask: Cell::new(3),
            residue: Cell::new(4),
            at: [const { Cell::new(0) }; PLACES],
        }
    }

    /// Whether it is proven: four bytes of a table, at the least, say where its vtable is.
    #[inline(always)]
    pub(super) fn is_proven(&self) -> bool {
        self.extent.get() != 0
    }

    /// Whether it is that of a vtable as one of `desc`.
    #[inline(always)]
    pub(super) fn is(&self, vtable: u32, desc: &'static TableDesc) -> bool {
        self.is_at(vtable) && core::ptr::eq(self.desc, desc)
    }

    /// Whether its vtable is there.
    #[inline(always)]
    pub(super) fn is_at(&self, vtable: u32) -> bool {
        self.vtable == vtable
    }

    /// Where its vtable is.
    pub(super) fn vtable(&self) -> u32 {
        self.vtable
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
    /// a union that of its tag.
    #[inline(always)]
    pub(super) fn offsets(&self) -> impl Iterator<Item = u16> {
        self.at.iter().map(Cell::get)
    }

    /// The offset at a place.
    #[inline(always)]
    pub(super) fn at(&self, place: u16) -> u16 {
        self.at.get(usize::from(place) % PLACES).map_or(0, Cell::get)
    }

    /// The offsets of the union at a place: of its tag and of its value.
    #[inline(always)]
    pub(super) fn union(&self, place: u16) -> (u16, u16) {
        (self.at(place), self.at(place.saturating_add(1)))
    }

    /// Reads the vtable, of the table at `pos`.
    #[inline(always)]
    pub(super) fn prove(&self, buf: &[u8], pos: u32, notes: &Notes) -> Result<()> {
        let (vtable, desc) = (self.vtable, self.desc);
        let [a, b, c, d] = array_at(buf, index(vtable)).unwrap_or_default();
        let (len, size) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let entries = slice_at(buf, sum(vtable, 4), u32::from(len.saturating_sub(4)));
        let apart = (vtable | u32::from(len)) & 1;
        let (Some(entries), 4.., 4.., 0) = (entries, len, size, apart) else {
            return Err(why::no_vtable(buf, pos, vtable));
        };
        let odd = self.fill(vtable, entries.as_chunks().0, desc)?;
        notes.vtable(vtable, odd || u32::from(size) < self.extent());
        Ok(())
    }

    /// Reads the entries of the vtable: whether they are odd.
    #[inline(always)]
    fn fill(&self, vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Result<bool> {
        // The bytes that fields take, a bit each from the table's fifth on, and those that two take.
        let (mut taken, mut twice) = (0u64, 0u64);
        let mut astray = 0u16;
        for (inline, &entry) in desc.inline.iter().zip(entries) {
            let offset = u16::from_le_bytes(entry);
            if offset != 0 {
                if let Some(at) = self.at.get(usize::from(inline.place) % PLACES) {
                    at.set(offset);
                }
                astray |= offset & inline.astray;
                let bytes = u64::from(inline.bytes).wrapping_shl(u32::from(offset).wrapping_sub(4));
                twice |= taken & bytes;
                taken |= bytes;
            }
        }
        // A field in the first four has come out at the other end, where no table is expected to
        // have any, nor beyond: whoever has is looked at again.
        let usual = u64::from(astray) | twice | taken >> 60 == 0;
        let extent = match usual {
            true => 68u32.saturating_sub(taken.leading_zeros()),
            false => extent(vtable, entries, desc)?,
        };
        self.extent.set(extent);
        self.residue.set(0);
        // Fields of 8 bytes ask for more than a multiple of 4.
        let [first, second] = EIGHTS.map(|place| self.at(place));
        if first | second != 0 {
            if first != 0 && second != 0 && (first ^ second) & 4 != 0 {
                return Err(why::misplaced_field(vtable, entries, desc));
            }
            self.mask.set(7);
            self.residue.set(u32::from((first | second) & 4));
        }
        let newer = entries.len() > usize::from(desc.slots()) && newer_fields(entries, desc);
        Ok(!usual || newer)
    }
}

/// Bytes from the start of a table to the end of its last known field, wherever they are. It refuses
/// what is in the first four, or is not at a multiple of 4 and must be.
#[cold]
#[inline(never)]
fn extent(vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Result<u32> {
    let mut extent = 4;
    for (inline, &entry) in desc.inline.iter().zip(entries) {
        let offset = u16::from_le_bytes(entry);
        if offset != 0 && inline.size() != 0 {
            if offset < 4 || offset & inline.astray & 3 != 0 {
                return Err(why::misplaced_field(vtable, entries, desc));
            }
            extent = u32::from(offset).saturating_add(inline.size()).max(extent);
        }
    }
    Ok(extent)
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
