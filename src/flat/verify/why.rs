//! Computes errors of tables and vtables, mostly after a table was refused.

use crate::bytes::{array_at, index, slice_at, sum, u16_at, wide};
use crate::desc::{FieldDesc, Inline, TableDesc};
use crate::error::{Error, ErrorKind, PathComponent, Result};

/// Returns the error of a table at `pos` whose vtable, at `vtable`, is invalid.
#[cold]
#[inline(never)]
pub(super) fn no_vtable(buf: &[u8], pos: u32, vtable: u32) -> Error {
    if pos & 3 != 0 {
        return Error::new(ErrorKind::TableMisaligned {}, pos.into());
    }
    let Some([a, b, c, d]) = array_at(buf, index(vtable)) else {
        // The vtable is in front of the buffer or past its end.
        let back = pos.wrapping_sub(vtable).cast_signed();
        let vtable = i64::from(pos).saturating_sub(back.into());
        return Error::new(ErrorKind::VtableOutOfBounds { vtable }, pos.into());
    };
    let (len, size) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    if vtable & 1 != 0 {
        Error::new(ErrorKind::VtableMisaligned {}, vtable.into())
    } else if len < 4 || len & 1 != 0 {
        Error::new(ErrorKind::VtableLength { len }, vtable.into())
    } else if slice_at(buf, index(vtable), len.into()).is_none() {
        Error::new(ErrorKind::VtableOutOfBounds { vtable: vtable.into() }, vtable.into())
    } else {
        Error::new(ErrorKind::ObjectSize { size }, vtable.saturating_add(2).into())
    }
}

/// Returns the error of the first invalid entry of a vtable: an offset below 4, a misaligned
/// offset, or the offset of an 8-byte field that cannot be aligned together with another one.
#[cold]
#[inline(never)]
pub(super) fn misplaced_field(vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Error {
    let mut eight = None;
    let wrong = |(_, (inline, offset)): &(usize, (&Inline, u16))| {
        let (offset, size) = (*offset, inline.size());
        let apart = offset & inline.unexpected & 3 != 0;
        let other = size == 8 && *eight.get_or_insert(offset & 7) != offset & 7;
        offset < 4 || apart || other
    };
    let offsets = entries.iter().copied().map(u16::from_le_bytes);
    let fields = desc.inline.iter().zip(offsets).enumerate();
    let mut there = fields.filter(|(_, (inline, offset))| *offset != 0 && inline.size() != 0);
    let (slot, offset, size) = there
        .find(wrong)
        .map_or((0, 0, 0), |(slot, (inline, offset))| (slot, offset, inline.size()));
    let kind = match offset {
        ..4 => ErrorKind::FieldOffset { offset },
        _ => ErrorKind::FieldMisaligned { size },
    };
    let at = u64::from(vtable).saturating_add(4).saturating_add(wide(slot).saturating_mul(2));
    // Both slots of a union belong to its field.
    let field = desc.fields.iter().rfind(|field| usize::from(field.slot) <= slot);
    Error::new(kind, at).within(PathComponent::Field(field.map_or("", |field| field.name)))
}

/// Verifies that a vtable has an entry for each required field.
#[inline(never)]
pub(super) fn required(vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Result<()> {
    let is_absent = |slot: u16| entries.get(usize::from(slot)).is_none_or(|entry| *entry == [0; 2]);
    match desc.fields.iter().find(|field| field.required && is_absent(field.slot)) {
        None => Ok(()),
        Some(FieldDesc { name, .. }) => {
            Err(Error::new(ErrorKind::FieldMissing { field: name }, vtable.into()))
        }
    }
}

/// Returns the error of the table at `pos`: the table or a field is misaligned, or the table is out
/// of bounds.
#[cold]
#[inline(never)]
pub(super) fn misplaced(buf: &[u8], pos: u32, vtable: u32, extent: u32, desc: &TableDesc) -> Error {
    if pos & 3 != 0 {
        return Error::new(ErrorKind::TableMisaligned {}, pos.into());
    }
    let end = u64::from(pos).saturating_add(extent.into());
    let limit = wide(buf.len());
    if end > limit {
        return Error::new(ErrorKind::FieldOutOfBounds { end, limit }, pos.into());
    }
    // Reports the first 8-byte field: all are misaligned alike. There is one, since the table would
    // fit otherwise. The loop finds this field before it reads past the end of the vtable.
    let kind = ErrorKind::FieldMisaligned { size: 8 };
    for field in desc.fields {
        let entry = u32::from(field.slot).saturating_mul(2).saturating_add(4);
        let offset = u16_at(buf, sum(vtable, entry)).unwrap_or_default();
        if offset != 0 && field.kind.inline_size() == 8 {
            let at = pos.saturating_add(offset.into());
            return Error::new(kind, at.into()).within(PathComponent::Field(field.name));
        }
    }
    Error::new(kind, pos.into())
}
