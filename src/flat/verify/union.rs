//! Verifies unions: a tag, and an offset to the table that the tag selects.

use super::Verifier;
use crate::bytes::{further, sum};
use crate::desc::Member;
use crate::error::{Error, ErrorKind, PathComponent, Result};

/// The offsets of a union's tag and of its value. The offset of an absent half is 0.
type Halves = (u16, u16);

impl<const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'_, TRACE_PATH, CACHE_SLOTS> {
    /// Verifies the union in the table at `pos`, and the union's member.
    #[inline(never)]
    pub(super) fn union(&self, pos: u32, at: Halves, members: &'static [Member]) -> Result<()> {
        let tag = if at.0 == 0 { 0 } else { self.byte(pos, at.0) };
        match (tag, at.1) {
            (0, 0) => return Ok(()),
            (0, _) | (_, 0) => return Err(half(tag, pos, at)),
            _ => {}
        }
        let Some((at, member)) = self.variant(pos, at, members)? else { return Ok(()) };
        Self::within(self.table(at, member.table), || PathComponent::Variant(member.name))
    }

    /// Verifies that a union with a value has a tag, known or not.
    #[inline(always)]
    pub(super) fn tagged(&self, pos: u32, at: Halves) -> Result<()> {
        if at.0 == 0 { Err(half(0, pos, at)) } else { Ok(()) }
    }

    /// Returns the position of the offset to a union's member, and the member's type; `None` for an unknown
    /// tag. The vtable has both halves.
    #[inline(always)]
    pub(super) fn variant(
        &self,
        pos: u32,
        at: Halves,
        members: &'static [Member],
    ) -> Result<Option<(u32, &'static Member)>> {
        let tag = self.buf.get(sum(pos, at.0.into()));
        // Tag 0 selects no member, as an unknown tag does.
        match tag.and_then(|&tag| members.get(usize::from(tag).wrapping_sub(1))) {
            Some(member) => Ok(Some((further(pos, at.1.into()), member))),
            None => self.no_member(pos, at).map(|()| None),
        }
    }

    /// Reports a value without a tag. An unknown member is never read, and the layout counts as unusual.
    #[cold]
    #[inline(never)]
    fn no_member(&self, pos: u32, at: Halves) -> Result<()> {
        if self.byte(pos, at.0) == 0 {
            return Err(half(0, pos, at));
        }
        self.notes.record_unusual();
        Ok(())
    }
}

/// Returns the error of a union with only one half, at the position of that half.
#[cold]
#[inline(never)]
fn half(tag: u8, pos: u32, at: Halves) -> Error {
    let offset = match at {
        (0, value) => value,
        (tag, _) => tag,
    };
    Error::new(ErrorKind::UnionHalf { tag }, further(pos, offset.into()).into())
}
