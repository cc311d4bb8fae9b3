//! Tables of one type, read one after the other. Most have the same vtable, which is read once.

use super::{List, Raw, Scalar, Vector, proven, target, unproven, vtable_pos};
use crate::bytes::{further, index, slice_at, u32_at};
use crate::cost;

/// The offsets of the first `N` fields, from the vtable of the last table.
pub(crate) struct Slots<const N: usize> {
    /// The position of that vtable.
    vtable: u32,
    offsets: [u16; N],
}

/// A proven table whose first `N` fields are found without its vtable.
pub(crate) struct Fields<'s, 'a, const N: usize> {
    buf: &'a [u8],
    pos: u32,
    offsets: &'s [u16; N],
}

/// Where the member of a union is. If its tag is known, it is a proven table.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    buf: &'a [u8],
    pos: u32,
}

impl Member<'_> {
    /// No member.
    pub(crate) const NONE: Self = Self { buf: &[], pos: 0 };
}

impl<const N: usize> Slots<N> {
    /// Returns slots that no table has yet.
    pub(crate) fn new() -> Self {
        // No FlatBuffer is so long.
        Self { vtable: u32::MAX, offsets: [0; N] }
    }

    /// Returns the proven table at `pos`.
    #[inline(always)]
    fn at<'a>(&mut self, buf: &'a [u8], pos: u32) -> Fields<'_, 'a, N> {
        cost::charge(1);
        if vtable_pos(buf, pos) != self.vtable {
            self.fill(Raw::new(buf, pos));
        }
        Fields { buf, pos, offsets: &self.offsets }
    }

    #[inline(never)]
    fn fill(&mut self, table: Raw<'_>) {
        self.vtable = table.vtable_pos();
        for (slot, offset) in (0u16..).zip(&mut self.offsets) {
            *offset = table.offset_of(slot);
        }
    }

    /// Returns the table with index `nth` of a list.
    #[inline(always)]
    pub(crate) fn item<'a, T>(&mut self, list: List<'a, T>, nth: u32) -> Option<Fields<'_, 'a, N>> {
        let (buf, pos) = list.place(nth)?;
        Some(self.at(buf, pos))
    }

    /// Returns the table that the offset in a slot of `table` leads to.
    #[inline(always)]
    pub(crate) fn target<'a, const M: usize>(
        &mut self,
        table: &Fields<'_, 'a, M>,
        slot: usize,
    ) -> Option<Fields<'_, 'a, N>> {
        Some(self.at(table.buf, table.target_pos(slot)?))
    }

    /// Returns the member of a union, from [`Fields::union`], whose tag is known.
    #[inline(always)]
    pub(crate) fn member<'a>(&mut self, member: Member<'a>) -> Fields<'_, 'a, N> {
        self.at(member.buf, member.pos)
    }
}

impl<'a, const N: usize> Fields<'_, 'a, N> {
    /// Returns the offset of the field in `slot` from the table; 0 if it is absent.
    #[inline(always)]
    fn offset_of(&self, slot: usize) -> u16 {
        cost::charge(1);
        self.offsets.get(slot).copied().unwrap_or_default()
    }

    /// Returns the position of the field in `slot`; `None` if it is absent.
    #[inline(always)]
    fn field_pos(&self, slot: usize) -> Option<u32> {
        match self.offset_of(slot) {
            0 => None,
            offset => Some(further(self.pos, offset.into())),
        }
    }

    /// Returns the target of the offset in `slot`; `None` if it is absent.
    #[inline(always)]
    fn target_pos(&self, slot: usize) -> Option<u32> {
        Some(target(self.buf, self.field_pos(slot)?))
    }

    /// Returns the number in `slot`; `None` if it is absent.
    #[inline(always)]
    pub(crate) fn scalar<T: Scalar>(&self, slot: usize) -> Option<T> {
        let at = self.field_pos(slot)?;
        let read = slice_at(self.buf, index(at), u32::from(T::PRIM.size())).and_then(T::read_le);
        read.or_else(unproven)
    }

    /// Returns whether the field in `slot` is there.
    #[inline(always)]
    pub(crate) fn has(&self, slot: usize) -> bool {
        self.offset_of(slot) != 0
    }

    /// Returns the vector of numbers that the offset in `slot` leads to.
    #[inline(always)]
    pub(crate) fn vector<T: Scalar>(&self, slot: usize) -> Option<Vector<'a, T>> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos)));
        Some(Vector::new(self.buf, further(pos, 4), len))
    }

    /// Returns the tag of the union at `slot`, 0 if it is absent, and its member.
    #[inline(always)]
    pub(crate) fn union(&self, slot: usize) -> (u8, Member<'a>) {
        let tag = self.scalar::<u8>(slot).unwrap_or_default();
        // Where the member is absent, bytes of the table are read and nothing is at the position.
        let at = further(self.pos, self.offset_of(slot.saturating_add(1)).into());
        let pos = at.wrapping_add(proven(u32_at(self.buf, index(at))));
        (tag, Member { buf: self.buf, pos })
    }
}
