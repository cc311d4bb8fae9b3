//! Verifies strings: valid UTF-8, followed by a zero byte.

use super::Verifier;
use crate::bytes::{further, index, narrow, slice_at, sum, wide};
use crate::error::{Error, ErrorKind, PathComponent, Result};

impl<const TRACE_PATH: bool, const CACHE_SLOTS: usize> Verifier<'_, TRACE_PATH, CACHE_SLOTS> {
    #[inline(never)]
    pub(super) fn string(&self, at: u32) -> Result<()> {
        let (pos, len) = self.follow(at)?;
        let text = slice_at(self.buf, sum(pos, 4), len);
        let end = slice_at(self.buf, sum(pos, 4).saturating_add(index(len)), 1);
        let (Some(text), Some([0]), 0) = (text, end, pos & 3) else {
            return Err(self.no_string(pos, len));
        };
        if !is_ascii(text) {
            utf8(text, pos)?;
        }
        self.bytes.spend(u64::from(len).saturating_add(4), pos)
    }

    /// Verifies a vector of strings.
    #[inline(never)]
    pub(super) fn strings(&self, at: u32) -> Result<()> {
        let (first, len) = self.vector(at, 4)?;
        for nth in 0..len {
            let verified = self.string(further(first, nth.wrapping_mul(4)));
            Self::within(verified, || PathComponent::Index(nth))?;
        }
        Ok(())
    }

    /// Returns the error of a string at `pos` that is misaligned, out of bounds, or not terminated.
    #[cold]
    #[inline(never)]
    fn no_string(&self, pos: u32, len: u32) -> Error {
        let end = u64::from(pos).saturating_add(4).saturating_add(len.into());
        if pos & 3 != 0 {
            return Error::new(ErrorKind::VectorMisaligned {}, pos.into());
        }
        if end > wide(self.buf.len()) {
            return Error::new(ErrorKind::StringOutOfBounds { len }, pos.into());
        }
        Error::new(ErrorKind::StringNotTerminated {}, end)
    }
}

/// Returns the same as [`slice::is_ascii`], but faster for short texts such as most names.
#[inline(always)]
fn is_ascii(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks();
    let last = match text.last_chunk() {
        Some(&word) => u64::from_ne_bytes(word),
        None => rest.iter().fold(0, |all, &byte| all | u64::from(byte)),
    };
    let all = words.iter().fold(last, |all, &word| all | u64::from_ne_bytes(word));
    all & 0x8080_8080_8080_8080 == 0
}

/// Verifies the text of the string at `pos`, which is not ASCII.
#[inline(never)]
fn utf8(text: &[u8], pos: u32) -> Result<()> {
    let Err(error) = core::str::from_utf8(text) else { return Ok(()) };
    let valid = narrow(error.valid_up_to());
    let at = pos.saturating_add(4).saturating_add(valid);
    Err(Error::new(ErrorKind::StringNotUtf8 { valid }, at.into()))
}
