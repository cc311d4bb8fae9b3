//! What one vtable promises for one table type: proven once, then reused.

use core::cell::OnceCell;

use super::seen::Notes;
use crate::bytes::{index, sum, u16_at, wide};
use crate::error::{Error, ErrorKind, Result, Step};
use crate::flat::desc::{Kind, MAX_REFS, Prim, SLOTS_LOOKED_AT, TableDesc};

/// A vtable read as one table type: as long as a line of the cache, so that it is found by a shift.
#[repr(align(64))]
pub(super) struct Shape {
    pub(super) vtable: u32,
    desc: &'static TableDesc,
    /// Bytes from the table's start to the end of its last known field. Computed from the fields,
    /// never taken from the declared object size, which genuine files get wrong (format.md §7.8).
    pub(super) extent: u32,
    /// A table fits at a position `pos` with `pos & mask == residue`.
    mask: u32,
    residue: u32,
    /// The offsets of a union's two halves, 0 for an absent one.
    pub(super) tag: u16,
    pub(super) value: u16,
    /// The offset of each field that is looked at, in the order of [`TableDesc::refs`], 0 for an absent
    /// one; for a union that of whichever half is there.
    pub(super) at: [u16; MAX_REFS],
}

/// Shapes proven so far. Where there is no room a shape is proven again for every table, which
/// costs a read for each of its known fields: still linear.
pub(super) struct Shapes([OnceCell<Shape>; WAYS]);

const WAYS: usize = 128;
const MASK: u64 = 127;
/// Cells looked at before giving up; with 4, large programs fall off a cliff.
const PROBES: u64 = 16;

impl Shapes {
    pub(super) fn new() -> Self {
        Self([const { OnceCell::new() }; WAYS])
    }

    /// What is known of the vtable at `vtable` as one of `desc`, if it is in the first place that it may
    /// be in.
    #[inline(always)]
    pub(super) fn known(&self, vtable: i64, desc: &'static TableDesc) -> Option<&Shape> {
        let shape = self.0.get(way(vtable, desc, 0))?.get()?;
        shape.is(vtable, desc).then_some(shape)
    }

    /// The same wherever it is.
    pub(super) fn elsewhere(&self, vtable: i64, desc: &'static TableDesc) -> Option<&Shape> {
        let mut shapes = self.probes(vtable, desc).map_while(OnceCell::get);
        shapes.find(|shape| shape.is(vtable, desc))
    }

    /// Keeps a shape that is not known, or gives it back where there is no room.
    pub(super) fn keep(&self, shape: Shape) -> core::result::Result<&Shape, Shape> {
        match self.probes(shape.vtable.into(), shape.desc).find(|cell| cell.get().is_none()) {
            Some(cell) => Ok(cell.get_or_init(|| shape)),
            None => Err(shape),
        }
    }

    /// Where a shape may be kept, in the order of looking: the first free cell is its.
    fn probes(&self, vtable: i64, desc: &TableDesc) -> impl Iterator<Item = &OnceCell<Shape>> {
        (0..PROBES).filter_map(move |probe| self.0.get(way(vtable, desc, probe)))
    }
}

/// The number of a cell.
#[inline(always)]
fn way(vtable: i64, desc: &TableDesc, probe: u64) -> usize {
    let key = vtable.cast_unsigned() ^ u64::from(desc.seed);
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    usize::try_from(hash.wrapping_add(probe) & MASK).unwrap_or_default()
}

impl Shape {
    /// Whether it is that of a vtable as one of `desc`.
    #[inline(always)]
    fn is(&self, vtable: i64, desc: &'static TableDesc) -> bool {
        core::ptr::eq(self.desc, desc) && i64::from(self.vtable) == vtable
    }

    /// Whether a table at `pos` is aligned, and every 8-byte field of it, in one test.
    #[inline]
    pub(super) fn fits(&self, pos: u32) -> bool {
        pos & self.mask == self.residue
    }
}

/// Where a table at `pos` that begins with `back` says that its vtable is: what has a known shape is
/// there.
#[inline(always)]
pub(super) fn vtable(pos: u32, back: u32) -> i64 {
    i64::from(pos).saturating_sub(back.cast_signed().into())
}

/// Reads the vtable at `vtable` of the table at `pos` as one of `desc`.
pub(super) fn of_table(
    buf: &[u8],
    pos: u32,
    vtable: i64,
    desc: &'static TableDesc,
    notes: &Notes,
) -> Result<Shape> {
    if pos & 3 != 0 {
        return Err(Error::new(ErrorKind::TableMisaligned {}, pos.into()));
    }
    let within = |vtable: &u32| u64::from(*vtable).saturating_add(4) <= wide(buf.len());
    match u32::try_from(vtable).ok().filter(within) {
        Some(vtable) => prove(buf, vtable, desc, notes),
        None => Err(Error::new(ErrorKind::VtableOutOfBounds { vtable }, pos.into())),
    }
}

/// Reads the vtable at `vtable` as one of `desc`.
fn prove(buf: &[u8], vtable: u32, desc: &'static TableDesc, notes: &Notes) -> Result<Shape> {
    let refuse = |kind| Err(Error::new(kind, vtable.into()));
    if vtable & 1 != 0 {
        return refuse(ErrorKind::VtableMisaligned {});
    }
    let len = u16_at(buf, index(vtable)).unwrap_or_default();
    let size = u16_at(buf, sum(vtable, 2)).unwrap_or_default();
    if len < 4 || len & 1 != 0 {
        return refuse(ErrorKind::VtableLength { len });
    }
    if u64::from(vtable).saturating_add(len.into()) > wide(buf.len()) {
        return refuse(ErrorKind::VtableOutOfBounds { vtable: vtable.into() });
    }
    if size < 4 {
        let at = vtable.saturating_add(2);
        return Err(Error::new(ErrorKind::ObjectSize { size }, at.into()));
    }
    let at = [0; MAX_REFS];
    let mut shape = Shape { vtable, desc, extent: 4, mask: 3, residue: 0, tag: 0, value: 0, at };
    let mut at = shape.at.iter_mut();
    // The bytes that fields take, a bit each, of a table that is no longer than any known one.
    let (mut taken, mut odd) = (0u64, newer_fields(buf, vtable, len, desc));
    for field in desc.fields {
        let step = |error: Error| error.within(Step::Field(field.name));
        let mut place = |slot: u16, size: u16| -> Result<u16> {
            let entry = entry(vtable, len, slot);
            let offset = entry.and_then(|entry| u16_at(buf, index(entry))).unwrap_or_default();
            if offset == 0 {
                return Ok(0);
            }
            let refuse = |kind| Err(step(Error::new(kind, entry.unwrap_or_default().into())));
            if offset < 4 {
                return refuse(ErrorKind::FieldOffset { offset });
            }
            shape.extent = shape.extent.max(u32::from(offset).saturating_add(size.into()));
            let bytes = (1u64 << size).saturating_sub(1);
            let bytes = if offset <= 56 { bytes << offset } else { u64::MAX };
            odd |= taken & bytes != 0 || offset > 56;
            taken |= bytes;
            // A table lies at a multiple of 4, so only 8-byte fields ask more of its position.
            let residue = u32::from(offset).wrapping_neg() & 7;
            let apart = match size {
                8 if shape.mask == 3 => {
                    (shape.mask, shape.residue) = (7, residue);
                    residue & 3 != 0
                }
                8 => residue != shape.residue,
                4 => offset & 3 != 0,
                _ => false,
            };
            match apart {
                true => refuse(ErrorKind::FieldMisaligned { size: size.into() }),
                false => Ok(offset),
            }
        };
        match field.kind {
            Kind::Scalar(scalar) => {
                let offset = place(field.slot, scalar.prim.size())?;
                if scalar.prim == Prim::Bool {
                    set(at.next(), offset);
                }
            }
            Kind::Union(_) => {
                let tag = place(field.slot, 1)?;
                let value = place(field.slot.saturating_add(1), 4)?;
                (shape.tag, shape.value) = (tag, value);
                set(at.next(), if tag == 0 { value } else { tag });
            }
            _ => set(at.next(), place(field.slot, 4)?),
        }
    }
    notes.vtable(vtable, odd || u32::from(size) < shape.extent);
    Ok(shape)
}

/// Whether the vtable has fields that the type does not know. Of a vtable that claims thousands,
/// which each of many tables may share, the first few are looked at.
fn newer_fields(buf: &[u8], vtable: u32, len: u16, desc: &TableDesc) -> bool {
    let (known, slots) = (desc.slots(), len.saturating_sub(4) >> 1);
    (known..slots.min(known.saturating_add(SLOTS_LOOKED_AT))).any(|slot| {
        let entry = entry(vtable, len, slot).and_then(|entry| u16_at(buf, index(entry)));
        entry.is_some_and(|offset| offset != 0)
    })
}

/// Why the table at `pos` cannot be there: it is misaligned, or ends past the end, or a field is.
#[cold]
#[inline(never)]
pub(super) fn misplaced(buf: &[u8], pos: u32, shape: &Shape) -> Error {
    if pos & 3 != 0 {
        return Error::new(ErrorKind::TableMisaligned {}, pos.into());
    }
    let end = u64::from(pos).saturating_add(shape.extent.into());
    let limit = wide(buf.len());
    if end > limit {
        return Error::new(ErrorKind::FieldOutOfBounds { end, limit }, pos.into());
    }
    // Its first field of 8 bytes: the others are as far off.
    let len = u16_at(buf, index(shape.vtable)).unwrap_or_default();
    let kind = ErrorKind::FieldMisaligned { size: 8 };
    for field in shape.desc.fields {
        let entry = entry(shape.vtable, len, field.slot);
        let offset = entry.and_then(|entry| u16_at(buf, index(entry))).unwrap_or_default();
        if offset != 0 && field.kind.inline_size() == 8 {
            let at = pos.saturating_add(offset.into());
            return Error::new(kind, at.into()).within(Step::Field(field.name));
        }
    }
    Error::new(kind, pos.into())
}

/// Where a vtable of `len` bytes at `vtable` holds the offset of `slot`.
fn entry(vtable: u32, len: u16, slot: u16) -> Option<u32> {
    let entry = u32::from(slot).saturating_mul(2).saturating_add(4);
    (entry < u32::from(len)).then(|| vtable.saturating_add(entry))
}

fn set(slot: Option<&mut u16>, offset: u16) {
    if let Some(slot) = slot {
        *slot = offset;
    }
}
