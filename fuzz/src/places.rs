//! The positions of all parts of a proven FlatBuffer, found by the declarations: damage is put there.

use pte::flat::desc::{Kind, Prim, TableDesc};

/// A place, and what stands there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An offset to a table, a string or a vector.
    Offset,
    /// A table's way back to its vtable.
    Back,
    /// A vtable's length, or the size of its object.
    Size,
    /// The offset of a field in its table.
    Slot,
    /// The number of elements of a vector.
    Count,
    /// A number of so many bytes.
    Number(usize),
    /// A union's tag.
    Tag,
    /// A byte of a text, or the NUL behind it.
    Text,
}

/// The most places that are reported: a hostile file has many.
const MOST: usize = 1 << 14;

/// All places of the FlatBuffer `buf`, whose root is `desc`.
pub(crate) fn places(buf: &[u8], desc: &'static TableDesc) -> Vec<Place> {
    let mut seeker = Seeker { buf, found: Vec::new() };
    seeker.offset(0, |seeker, pos| seeker.table(pos, desc));
    seeker.found
}

struct Seeker<'b> {
    buf: &'b [u8],
    found: Vec<Place>,
}

impl Seeker<'_> {
    fn add(&mut self, at: usize, what: What) {
        if self.found.len() < MOST {
            self.found.push(Place { at, what });
        }
    }

    fn word(&self, at: usize) -> u32 {
        self.buf[at..].first_chunk().copied().map_or(0, u32::from_le_bytes)
    }

    fn half(&self, at: usize) -> u16 {
        self.buf[at..].first_chunk().copied().map_or(0, u16::from_le_bytes)
    }

    fn offset(&mut self, at: usize, then: impl FnOnce(&mut Self, usize)) {
        self.add(at, What::Offset);
        let pos = at + self.word(at) as usize;
        if self.found.len() < MOST {
            then(self, pos);
        }
    }

    fn table(&mut self, pos: usize, desc: &'static TableDesc) {
        self.add(pos, What::Back);
        let vtable = (pos as i64 - i64::from(self.word(pos).cast_signed())) as usize;
        self.add(vtable, What::Size);
        self.add(vtable + 2, What::Size);
        let len = usize::from(self.half(vtable));
        let at_slot = |seeker: &mut Self, slot: u16| {
            let entry = 4 + 2 * usize::from(slot);
            if entry >= len {
                return None;
            }
            seeker.add(vtable + entry, What::Slot);
            let offset = usize::from(seeker.half(vtable + entry));
            (offset != 0).then_some(pos + offset)
        };
        for field in desc.fields {
            let Some(at) = at_slot(self, field.slot) else { continue };
            match field.kind {
                Kind::Scalar(scalar) => self.add(at, What::Number(scalar.prim.size().into())),
                Kind::Str => self.offset(at, Self::text),
                Kind::Table(desc) => self.offset(at, |seeker, pos| seeker.table(pos, desc)),
                Kind::Scalars { prim, .. } => {
                    self.offset(at, |seeker, pos| seeker.numbers(pos, prim));
                }
                Kind::Strs => self.offset(at, |seeker, pos| {
                    seeker.add(pos, What::Count);
                    for nth in 0..seeker.word(pos) as usize {
                        seeker.offset(pos + 4 + 4 * nth, Self::text);
                    }
                }),
                Kind::Tables(desc) => self.offset(at, |seeker, pos| {
                    seeker.add(pos, What::Count);
                    for nth in 0..seeker.word(pos) as usize {
                        seeker.offset(pos + 4 + 4 * nth, |seeker, pos| seeker.table(pos, desc));
                    }
                }),
                Kind::Union(union) => {
                    self.add(at, What::Tag);
                    let tag = self.buf[at];
                    let Some(at) = at_slot(self, field.slot + 1) else { continue };
                    match union.member(tag) {
                        Some(member) => {
                            self.offset(at, |seeker, pos| seeker.table(pos, member.table))
                        }
                        None => self.add(at, What::Offset),
                    }
                }
            }
        }
    }

    fn text(&mut self, pos: usize) {
        self.add(pos, What::Count);
        let len = self.word(pos) as usize;
        self.add(pos + 4, What::Text);
        self.add(pos + 4 + len / 2, What::Text);
        self.add(pos + 4 + len, What::Text);
    }

    fn numbers(&mut self, pos: usize, prim: Prim) {
        self.add(pos, What::Count);
        let size = usize::from(prim.size());
        for nth in 0..(self.word(pos) as usize).min(8) {
            self.add(pos + 4 + nth * size, What::Number(size));
        }
    }
}
