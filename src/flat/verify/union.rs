//! Verifies unions: a tag, and an offset to the table that the tag selects.

use super::Verifier;
use crate::bytes::further;
use crate::desc::{Member, UnionDesc};
use crate::error::{Error, ErrorKind, PathComponent, Result};

/// The offsets of a union's tag and of its value. The offset of an absent half is 0.
type Halves = (u16, u16);

impl<const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'_, TRACE_PATH, CACHE_SLOTS> {
    /// Verifies the union in the table at `pos`, and the union's member.
    #[inline(never)]
    pub(super) fn union(&self, pos: u32, at: Halves, desc: &'static UnionDesc) -> Result<()> {
        match self.variant(pos, at, desc)? {
            None => Ok(()),
            Some((at, member)) => {
                Self::within(self.table(at, member.table), || PathComponent::Variant(member.name))
            }
        }
    }

    /// Verifies that a union with a value has a tag, known or not.
    #[inline(always)]
    pub(super) fn tagged(&self, pos: u32, at: Halves) -> Result<()> {
        if at.0 == 0 { Err(half(0, pos, at)) } else { Ok(()) }
    }

    /// Returns the position of the offset to a union's member, and the member's type. `None` for an empty
    /// union and for an unknown tag.
    #[inline(always)]
    pub(super) fn variant(
        &self,
        pos: u32,
        at: Halves,
        desc: &'static UnionDesc,
    ) -> Result<Option<(u32, &'static Member)>> {
        let (tag, value) = at;
        let tag = if tag == 0 { 0 } else { self.byte(pos, tag) };
        match (tag, value) {
            (0, 0) => Ok(None),
            (0, _) | (_, 0) => Err(half(tag, pos, at)),
            (tag, value) => {
                let member = desc.member(tag);
                // An unknown member is never read, and the layout counts as unusual.
                if member.is_none() {
                    self.notes.record_unusual();
                }
                Ok(member.map(|member| (further(pos, value.into()), member)))
            }
        }
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
