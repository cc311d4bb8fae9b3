//! What one vtable promises for one table type: proven once, then reused.

use core::cell::OnceCell;

use crate::bytes::{i32_at, index, u16_at, wide};
use crate::error::{Error, ErrorKind, Result, Step};
use crate::flat::desc::{Kind, MAX_REFS, TableDesc};

/// A vtable read as one table type.
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
    /// The offset of each reference field, in the order of [`TableDesc::refs`], 0 for an absent
    /// one; for a union that of whichever half is there.
    pub(super) at: [u16; MAX_REFS],
}

/// Shapes proven so far. Where there is no room a shape is proven again for every table, which
/// costs a read for each of its known fields: still linear.
pub(super) struct Shapes([OnceCell<Shape>; WAYS]);

/// A shape, kept for the next table or made for this one.
pub(super) enum Found<'s> {
    Kept(&'s Shape),
    Fresh(Shape),
}

const WAYS: usize = 128;
/// Cells looked at before giving up; with 4, large programs fall off a cliff.
const PROBES: u32 = 16;

impl Shapes {
    pub(super) fn new() -> Self {
        Self([const { OnceCell::new() }; WAYS])
    }

    /// What the vtable at `vtable` promises for a table of `desc`.
    #[inline]
    pub(super) fn of(
        &self,
        buf: &[u8],
        vtable: u32,
        desc: &'static TableDesc,
    ) -> Result<Found<'_>> {
        let hash = vtable.wrapping_mul(0x9e37_79b1) >> 16;
        for probe in 0..PROBES {
            let way = index(hash.wrapping_add(probe)) & (WAYS - 1);
            let Some(cell) = self.0.get(way) else { continue };
            match cell.get() {
                Some(shape) if shape.vtable == vtable && core::ptr::eq(shape.desc, desc) => {
                    return Ok(Found::Kept(shape));
                }
                Some(_) => {}
                None => {
                    let shape = prove(buf, vtable, desc)?;
                    return Ok(Found::Kept(cell.get_or_init(|| shape)));
                }
            }
        }
        prove(buf, vtable, desc).map(Found::Fresh)
    }
}

impl Found<'_> {
    #[inline]
    pub(super) fn shape(&self) -> &Shape {
        match self {
            Self::Kept(shape) => shape,
            Self::Fresh(shape) => shape,
        }
    }
}

impl Shape {
    /// Whether every 8-byte field of a table at `pos` is aligned, in one test.
    #[inline]
    pub(super) fn fits(&self, pos: u32) -> bool {
        pos & self.mask == self.residue
    }
}

/// Where the table at `pos`, of which 4 bytes are there, has its vtable: 4 bytes are there too.
#[inline]
pub(super) fn vtable_of(buf: &[u8], pos: u32) -> Result<u32> {
    if pos & 3 != 0 {
        return Err(Error::new(ErrorKind::TableMisaligned {}, pos.into()));
    }
    let back = i32_at(buf, pos).unwrap_or_default();
    let vtable = i64::from(pos).saturating_sub(back.into());
    match u32::try_from(vtable) {
        Ok(within) if u64::from(within).saturating_add(4) <= wide(buf.len()) => Ok(within),
        _ => Err(Error::new(ErrorKind::VtableOutOfBounds { vtable }, pos.into())),
    }
}

/// Reads the vtable at `vtable` as one of `desc`.
#[cold]
#[inline(never)]
fn prove(buf: &[u8], vtable: u32, desc: &'static TableDesc) -> Result<Shape> {
    let refuse = |kind| Err(Error::new(kind, vtable.into()));
    if vtable & 1 != 0 {
        return refuse(ErrorKind::VtableMisaligned {});
    }
    let len = u16_at(buf, vtable).unwrap_or_default();
    let size = u16_at(buf, vtable.saturating_add(2)).unwrap_or_default();
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
    let mut shape =
        Shape { vtable, desc, extent: 4, mask: 0, residue: 0, tag: 0, value: 0, at: [0; MAX_REFS] };
    let mut at = shape.at.iter_mut();
    for field in desc.fields {
        let step = |error: Error| error.within(Step::Field(field.name));
        let mut place = |slot: u16, size: u16| -> Result<u16> {
            let entry = entry(vtable, len, slot);
            let offset = entry.and_then(|entry| u16_at(buf, entry)).unwrap_or_default();
            if offset == 0 {
                return Ok(0);
            }
            let refuse = |kind| Err(step(Error::new(kind, entry.unwrap_or_default().into())));
            if offset < 4 {
                return refuse(ErrorKind::FieldOffset { offset });
            }
            shape.extent = shape.extent.max(u32::from(offset).saturating_add(size.into()));
            // A table lies at a multiple of 4, so only 8-byte fields ask more of its position.
            let residue = u32::from(offset).wrapping_neg() & 7;
            let apart = match size {
                8 if shape.mask == 0 => {
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
            Kind::Scalar(scalar) => drop(place(field.slot, scalar.prim.size())?),
            Kind::Union(_) => {
                let tag = place(field.slot, 1)?;
                let value = place(field.slot.saturating_add(1), 4)?;
                (shape.tag, shape.value) = (tag, value);
                set(at.next(), if tag == 0 { value } else { tag });
            }
            _ => set(at.next(), place(field.slot, 4)?),
        }
    }
    Ok(shape)
}

/// Which field of the table at `pos` is misaligned: its first of 8 bytes.
#[cold]
#[inline(never)]
pub(super) fn misaligned(buf: &[u8], pos: u32, shape: &Shape) -> Error {
    let len = u16_at(buf, shape.vtable).unwrap_or_default();
    let kind = ErrorKind::FieldMisaligned { size: 8 };
    for field in shape.desc.fields {
        let entry = entry(shape.vtable, len, field.slot);
        let offset = entry.and_then(|entry| u16_at(buf, entry)).unwrap_or_default();
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
