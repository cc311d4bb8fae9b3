//! The layout that one vtable gives one table type: proven once, then reused.

use core::cell::Cell;

use super::seen::{Notes, newer_fields};
use super::why;
use crate::bytes::{array_at, index, narrow, slice_at, sum};
use crate::desc::{EIGHTS, Form, PLACES, TableDesc};
use crate::error::Result;

/// The layout that a vtable gives to a table type. It has the size of a cache line, so an index
/// becomes an address by a shift.
///
/// It is filled in place, since moving it afterwards would take longer than proving it. A partly
/// filled layout is never used: the error that stopped the filling ends the verification.
#[repr(align(64))]
pub(super) struct VtableLayout {
    desc: &'static TableDesc,
    vtable: u32,
    /// The number of bytes from the table's start to the end of its last known field; 0 if unproven. Computed
    /// from the fields, since the declared object size is wrong in genuine files (format.md §7.8).
    extent: Cell<u32>,
    /// The last position where a table of this layout ends in the buffer.
    last: Cell<u32>,
    /// The alignment: a table may be at position `pos` if bit `pos % 32` is set.
    aligned: Cell<u32>,
    /// The form of a table with the fields that the vtable has.
    form: Cell<Form>,
    /// The offsets of fields, by layout index; 0 for an absent field.
    at: [Cell<u16>; PLACES],
}

impl VtableLayout {
    /// Creates the layout of a vtable read as `desc`. It is not proven yet.
    #[inline(always)]
    pub(super) fn new(vtable: u32, desc: &'static TableDesc) -> Self {
        Self {
            desc,
            vtable,
            extent: Cell::new(0),
            last: Cell::new(0),
            // No table fits an unproven layout.
            aligned: Cell::new(0),
            form: Cell::new(desc.form),
            at: [const { Cell::new(0) }; PLACES],
        }
    }

    /// Returns whether the layout is proven. Any proven extent includes the 4-byte vtable offset.
    #[inline(always)]
    pub(super) fn is_proven(&self) -> bool {
        self.extent.get() != 0
    }

    /// Returns whether this is the layout of the vtable at `vtable`, read as `desc`.
    #[inline(always)]
    pub(super) fn is(&self, vtable: u32, desc: &'static TableDesc) -> bool {
        self.vtable == vtable && core::ptr::eq(self.desc, desc)
    }

    /// Returns the position of the layout's vtable.
    #[inline(always)]
    pub(super) fn vtable(&self) -> u32 {
        self.vtable
    }

    /// Returns the number of bytes that a table of this layout takes.
    #[inline(always)]
    pub(super) fn extent(&self) -> u32 {
        self.extent.get()
    }

    /// Returns whether a table at `pos` ends in the buffer, and it and its 8-byte fields are aligned.
    #[inline(always)]
    pub(super) fn fits(&self, pos: u32) -> bool {
        pos <= self.last.get() && self.aligned.get().wrapping_shr(pos) & 1 != 0
    }

    /// Returns the form of a table of this layout, which has both halves of its union or its vector.
    #[inline(always)]
    pub(super) fn form(&self) -> Form {
        self.form.get()
    }

    /// Returns the offsets of references, in the order of [`TableDesc::refs`]; 0 for an absent
    /// field. For a union, the offset is that of the tag.
    #[inline(always)]
    pub(super) fn offsets(&self) -> impl Iterator<Item = u16> {
        self.at.iter().map(Cell::get)
    }

    /// Returns the offset at a layout index.
    #[inline(always)]
    pub(super) fn at(&self, place: u16) -> u16 {
        self.at.get(usize::from(place) % PLACES).map_or(0, Cell::get)
    }

    /// Returns the offsets of the tag and of the value of the union at a layout index.
    #[inline(always)]
    pub(super) fn union(&self, place: u16) -> (u16, u16) {
        (self.at(place), self.at(place.saturating_add(1)))
    }

    /// Reads and checks the vtable. The table at `pos` is the first one that uses it.
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
        let is_unusual = self.fill(vtable, entries.as_chunks().0, desc)?;
        // A table that is longer than the buffer fits nowhere, since no table is at position 0.
        self.last.set(narrow(buf.len()).saturating_sub(self.extent()));
        notes.vtable(vtable, is_unusual || u32::from(size) < self.extent());
        Ok(())
    }

    /// Reads the entries of the vtable, and returns whether they are unusual.
    #[inline(always)]
    fn fill(&self, vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Result<bool> {
        // One bit for each byte after the first four: those that any field uses, and those that two use.
        let (mut taken, mut twice) = (0u64, 0u64);
        let mut unexpected = 0u16;
        for (inline, &entry) in desc.inline.iter().zip(entries) {
            let offset = u16::from_le_bytes(entry);
            if offset != 0 {
                if let Some(at) = self.at.get(usize::from(inline.place) % PLACES) {
                    at.set(offset);
                }
                unexpected |= offset & inline.unexpected;
                let bytes = u64::from(inline.bytes).wrapping_shl(u32::from(offset).wrapping_sub(4));
                twice |= taken & bytes;
                taken |= bytes;
            }
        }
        // A field in the first four bytes sets a high bit, since the shift wraps. Usual tables set
        // none. A vtable with a high bit takes the slow path.
        let usual = u64::from(unexpected) | twice | taken >> 60 == 0;
        let extent = match usual {
            true => 68u32.saturating_sub(taken.leading_zeros()),
            false => extent(vtable, entries, desc)?,
        };
        self.extent.set(extent);
        self.aligned.set(0x1111_1111);
        // The offsets of two 8-byte fields must be equal modulo 8.
        let [first, second] = EIGHTS.map(|place| self.at(place));
        if first | second != 0 {
            if first != 0 && second != 0 && (first ^ second) & 4 != 0 {
                return Err(why::misplaced_field(vtable, entries, desc));
            }
            self.aligned.set(0x0101_0101 << ((first | second) & 4));
        }
        // A union with one half is verified as a table with several references is.
        match (desc.form, self.union(0)) {
            (Form::Numbers(_), (0, _)) | (Form::Union, (0, 0)) => self.form.set(Form::Leaf),
            (Form::Union, (0, _) | (_, 0)) => self.form.set(Form::Other),
            _ => {}
        }
        if desc.has_required {
            why::required(vtable, entries, desc)?;
        }
        let newer = entries.len() > desc.inline.len() && newer_fields(entries, desc);
        Ok(!usual || newer)
    }
}

/// Returns the number of bytes from the start of a table to the end of its last known field, for
/// any offsets. A field in the first four bytes is an error, and so is a misaligned field.
#[cold]
#[inline(never)]
fn extent(vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Result<u32> {
    let mut extent = 4;
    for (inline, &entry) in desc.inline.iter().zip(entries) {
        let offset = u16::from_le_bytes(entry);
        if offset != 0 && inline.size() != 0 {
            if offset < 4 || offset & inline.unexpected & 3 != 0 {
                return Err(why::misplaced_field(vtable, entries, desc));
            }
            extent = u32::from(offset).saturating_add(inline.size()).max(extent);
        }
    }
    Ok(extent)
}

/// Returns the position of the vtable of a table at `pos`, whose first four bytes are `back`. A
/// position before the buffer wraps to one past its end, which is refused.
#[inline(always)]
pub(super) fn position(pos: u32, back: u32) -> u32 {
    pos.wrapping_sub(back)
}
