//! What the verifier does with a union: a tag, and an offset to the table that the tag stands for.

use super::Verifier;
use crate::bytes::further;
use crate::error::{Error, ErrorKind, PathComponent, Result};
use crate::flat::desc::{TableDesc, UnionDesc};

/// The offsets of a union's tag and of its value, 0 for one that is not there.
type Halves = (u16, u16);

impl<const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'_, TRACE_PATH, CACHE_SLOTS> {
    /// The union of the table at `pos`, and its member.
    #[inline(never)]
    pub(super) fn union(&self, pos: u32, at: Halves, desc: &'static UnionDesc) -> Result<()> {
        match self.variant(pos, at, desc)? {
            None => Ok(()),
            Some((at, member)) => {
                Self::within(self.table(at, member), || PathComponent::Variant(member.name))
            }
        }
    }

    /// Whether the value of a union has a tag, known or not.
    #[inline(always)]
    pub(super) fn tagged(&self, pos: u32, at: Halves) -> Result<()> {
        if at.0 == 0 { Err(half(0, pos, at)) } else { Ok(()) }
    }

    /// Where the offset to the member of a union is, and what the tag says that it is.
    #[inline(always)]
    pub(super) fn variant(
        &self,
        pos: u32,
        at: Halves,
        desc: &'static UnionDesc,
    ) -> Result<Option<(u32, &'static TableDesc)>> {
        let (tag, value) = at;
        let tag = if tag == 0 { 0 } else { self.byte(pos, tag) };
        match (tag, value) {
            (0, 0) => Ok(None),
            (0, _) | (_, 0) => Err(half(tag, pos, at)),
            (tag, value) => {
                let member = desc.member(tag);
                // What an unknown member looks like is not known: it is reported, never read.
                if member.is_none() {
                    self.notes.odd();
                }
                Ok(member.map(|member| (further(pos, value.into()), member)))
            }
        }
    }
}

/// Of a union of which one half is there: the tag's place, or the value's where there is no tag.
#[cold]
#[inline(never)]
fn half(tag: u8, pos: u32, at: Halves) -> Error {
    let offset = match at {
        (0, value) => value,
        (tag, _) => tag,
    };
    Error::new(ErrorKind::UnionHalf { tag }, further(pos, offset.into()).into())
}
