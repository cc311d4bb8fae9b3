//! Verifies numbers, vectors of numbers, and offsets.

use super::Verifier;
use crate::bytes::{further, index, slice_at, sum, u32_at, wide};
use crate::error::{Error, ErrorKind, Result};

impl<const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'_, TRACE_PATH, CACHE_SLOTS> {
    #[inline(always)]
    pub(super) fn numbers(&self, at: u32, size: u32) -> Result<()> {
        let (pos, len) = self.follow(at)?;
        self.elements(pos, len, size)
    }

    /// Records a bool that is neither 0 nor 1. The byte was already proven to be in the buffer.
    #[inline(always)]
    pub(super) fn bool(&self, at: u32) -> Result<()> {
        if self.byte(at, 0) > 1 {
            self.notes.record_unusual();
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn bool_list(&self, at: u32) -> Result<()> {
        self.vector(at, 1).and_then(|(first, len)| self.bools(first, len))
    }

    /// Records a vector with bools that are neither 0 nor 1, although any byte is a valid bool.
    fn bools(&self, first: u32, len: u32) -> Result<()> {
        let bools = slice_at(self.buf, index(first), len).unwrap_or_default();
        if bools.iter().any(|&byte| byte > 1) {
            self.notes.record_unusual();
        }
        Ok(())
    }

    /// Verifies a vector of elements of `size` bytes. Returns its first position and its length.
    pub(super) fn vector(&self, at: u32, size: u32) -> Result<(u32, u32)> {
        let (pos, len) = self.follow(at)?;
        self.elements(pos, len, size)?;
        Ok((further(pos, 4), len))
    }

    /// Verifies that `len` elements of `size` bytes, in the vector at `pos`, are aligned and in bounds.
    #[inline(always)]
    fn elements(&self, pos: u32, len: u32, size: u32) -> Result<()> {
        let bytes = u64::from(len).saturating_mul(size.into()).saturating_add(4);
        // Tests the alignment of the length and of the elements in one step.
        let apart = further(pos, 4) & (size.wrapping_sub(1) | 3);
        if u64::from(pos).saturating_add(bytes) > wide(self.buf.len()) || apart != 0 {
            return self.odd_elements(pos, len, size);
        }
        self.bytes.spend(bytes, pos)
    }

    /// Reports elements that are misaligned or out of bounds. A misaligned empty vector is valid.
    #[cold]
    #[inline(never)]
    fn odd_elements(&self, pos: u32, len: u32, size: u32) -> Result<()> {
        let bytes = u64::from(len).saturating_mul(size.into());
        let first = u64::from(pos).saturating_add(4);
        if pos & 3 != 0 {
            return Err(Error::new(ErrorKind::VectorMisaligned {}, pos.into()));
        }
        if first.saturating_add(bytes) > wide(self.buf.len()) {
            return Err(Error::new(ErrorKind::VectorOutOfBounds { bytes }, pos.into()));
        }
        // flatc does not align the elements of an empty vector (format.md §7.8).
        if len > 0 {
            return Err(Error::new(ErrorKind::ElementMisaligned { size }, first));
        }
        self.notes.record_unusual();
        self.bytes.spend(4, pos)
    }

    /// Follows the offset at `at`. Returns its target and the 4 bytes at the target.
    #[inline(always)]
    pub(super) fn follow(&self, at: u32) -> Result<(u32, u32)> {
        match u32_at(self.buf, index(at)) {
            Some(offset) => self.reach(at, offset),
            None => Err(self.stray(at, 0)),
        }
    }

    /// Follows `offset`, read from `at`. Returns its target and the 4 bytes at the target.
    #[inline(always)]
    pub(super) fn reach(&self, at: u32, offset: u32) -> Result<(u32, u32)> {
        // An offset of 0 wraps, and leads past the end of every buffer.
        match u32_at(self.buf, sum(at, offset.wrapping_sub(1)).saturating_add(1)) {
            Some(bytes) => Ok((further(at, offset), bytes)),
            None => Err(self.stray(at, offset)),
        }
    }

    /// Returns the error of an offset at `at` that is null or out of bounds.
    #[cold]
    #[inline(never)]
    fn stray(&self, at: u32, offset: u32) -> Error {
        let target = u64::from(at).saturating_add(offset.into());
        let limit = wide(self.buf.len());
        let kind = match offset {
            0 => ErrorKind::OffsetNull {},
            _ => ErrorKind::OffsetOutOfBounds { target, limit },
        };
        Error::new(kind, at.into())
    }

    /// Returns the byte at `offset` of the table at `pos`, which was proven to be in the buffer.
    #[inline]
    pub(super) fn byte(&self, pos: u32, offset: u16) -> u8 {
        slice_at(self.buf, sum(pos, offset.into()), 1)
            .and_then(|byte| byte.first().copied())
            .unwrap_or_default()
    }
}
