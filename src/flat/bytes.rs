//! Total little-endian reads: every position is allowed, a read past the end is `None`.
//!
//! Positions are `u32`: a verified FlatBuffer is at most 2^31 − 1 bytes long
//! ([`Limits::size`](crate::Limits::size)), so a saturated position is never inside it.

use core::ops::Range;

#[cfg(target_pointer_width = "16")]
compile_error!("pte needs pointers of at least 32 bits");

/// Converts a position to an index. It is lossless: `usize` has at least 32 bits on every target that
/// builds.
#[inline]
#[expect(clippy::as_conversions, reason = "u32 to usize is lossless, see the guard above")]
pub const fn index(pos: u32) -> usize {
    pos as usize
}

/// Converts a length or index to `u64`. It is lossless: `usize` has at most 64 bits on every target of
/// Rust.
#[inline]
#[expect(clippy::as_conversions, reason = "usize to u64 is lossless on every target of Rust")]
pub const fn wide(len: usize) -> u64 {
    len as u64
}

/// Converts a length or count in a FlatBuffer to `u32`. A FlatBuffer has less than 2^31 bytes.
#[inline]
pub fn narrow(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Returns the number of bytes of a range; 0 if it ends before it starts.
#[inline]
pub const fn len_of(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Returns `pos + by`, saturating.
///
/// With a 64-bit `usize` the sum never saturates, and the check costs no instruction. Elsewhere a
/// saturated position is past every buffer.
#[inline]
pub const fn sum(pos: u32, by: u32) -> usize {
    index(pos).saturating_add(index(by))
}

/// Returns `pos + by`. Both are at most the length of a buffer of less than 2^31 bytes, so the sum does
/// not wrap. Later reads are checked in any case.
#[inline]
pub fn further(pos: u32, by: u32) -> u32 {
    debug_assert!(pos.checked_add(by).is_some(), "past every buffer");
    pos.wrapping_add(by)
}

/// Returns the `N` bytes at `pos`.
#[inline]
pub fn array_at<const N: usize>(buf: &[u8], pos: usize) -> Option<[u8; N]> {
    // `get` compares only once: an end that saturates is past every buffer.
    buf.get(pos..pos.saturating_add(N))?.first_chunk().copied()
}

/// Returns the `u16` at `pos`.
#[inline]
pub fn u16_at(buf: &[u8], pos: usize) -> Option<u16> {
    array_at(buf, pos).map(u16::from_le_bytes)
}

/// Returns the `u32` at `pos`.
#[inline]
pub fn u32_at(buf: &[u8], pos: usize) -> Option<u32> {
    array_at(buf, pos).map(u32::from_le_bytes)
}

/// Returns the `len` bytes at `pos`.
#[inline]
pub fn slice_at(buf: &[u8], pos: usize, len: u32) -> Option<&[u8]> {
    buf.get(pos..pos.saturating_add(index(len)))
}

/// Returns a text up to its first NUL, where C and C++ end it.
pub fn until_nul(text: &str) -> &str {
    // A search that does not end early is vectorized.
    let has_nul = text.bytes().fold(false, |found, byte| found | (byte == 0));
    if has_nul { text.split('\0').next().unwrap_or_default() } else { text }
}
