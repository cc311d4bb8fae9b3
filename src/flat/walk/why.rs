//! Why a table cannot be where it is: told in full, and only where one is refused.

use super::shape::Shape;
use crate::bytes::{sum, u16_at, wide};
use crate::error::{Error, ErrorKind, Step};
use crate::flat::desc::{Inline, TableDesc};

/// Why the fields of a table cannot be where the entries of its vtable say: the first that is too near
/// its start, misaligned, or one of 8 bytes where another one of them is misaligned then.
#[cold]
#[inline(never)]
pub(super) fn misplaced_field(vtable: u32, entries: &[[u8; 2]], desc: &TableDesc) -> Error {
    let mut eight = None;
    let wrong = |(_, (inline, offset)): &(usize, (&Inline, u16))| {
        let (offset, size) = (*offset, inline.size);
        let apart = offset & size.wrapping_sub(1) & 3 != 0;
        let other = size == 8 && *eight.get_or_insert(offset & 7) != offset & 7;
        offset < 4 || apart || other
    };
    let offsets = entries.iter().copied().map(u16::from_le_bytes);
    let fields = desc.inline().iter().zip(offsets).enumerate();
    let mut there = fields.filter(|(_, (inline, offset))| *offset != 0 && inline.size != 0);
    let (slot, offset, size) = there
        .find(wrong)
        .map_or((0, 0, 0), |(slot, (inline, offset))| (slot, offset, inline.size.into()));
    let kind = match offset {
        ..4 => ErrorKind::FieldOffset { offset },
        _ => ErrorKind::FieldMisaligned { size },
    };
    let at = u64::from(vtable).saturating_add(4).saturating_add(wide(slot).saturating_mul(2));
    // Of a union both slots are its field's.
    let field = desc.fields.iter().rfind(|field| usize::from(field.slot) <= slot);
    Error::new(kind, at).within(Step::Field(field.map_or("", |field| field.name)))
}

/// Why the table at `pos` cannot be there: it is misaligned, or ends past the end, or a field is.
#[cold]
#[inline(never)]
pub(super) fn misplaced(buf: &[u8], pos: u32, shape: &Shape, desc: &TableDesc) -> Error {
    if pos & 3 != 0 {
        return Error::new(ErrorKind::TableMisaligned {}, pos.into());
    }
    let end = u64::from(pos).saturating_add(shape.extent().into());
    let limit = wide(buf.len());
    if end > limit {
        return Error::new(ErrorKind::FieldOutOfBounds { end, limit }, pos.into());
    }
    // Its first field of 8 bytes: the others are as far off. There is one, or the table would fit: it is
    // found before a slot is asked for that the vtable does not have.
    let kind = ErrorKind::FieldMisaligned { size: 8 };
    for field in desc.fields {
        let entry = u32::from(field.slot).saturating_mul(2).saturating_add(4);
        let offset = u16_at(buf, sum(shape.vtable(), entry)).unwrap_or_default();
        if offset != 0 && field.kind.inline_size() == 8 {
            let at = pos.saturating_add(offset.into());
            return Error::new(kind, at.into()).within(Step::Field(field.name));
        }
    }
    Error::new(kind, pos.into())
}
