//! What the payloads of a file may cost together: bytes that are read, and work on calls.

use alloc::borrow::Cow;
use core::ops::Range;

use pte_core::Limits;
use pte_flat::bytes::len_of;

/// Reads ranges of the file, up to a budget: segments may overlap and be read again.
pub(super) struct Bytes<'r> {
    read: &'r mut dyn FnMut(Range<u64>) -> Option<Cow<'r, [u8]>>,
    left: u64,
    /// Whether a range was not read, because the budget was used up.
    pub(super) is_exhausted: bool,
}

impl<'r> Bytes<'r> {
    /// Returns the bytes of a file of `len` bytes.
    pub(super) fn new(
        read: &'r mut dyn FnMut(Range<u64>) -> Option<Cow<'r, [u8]>>,
        limits: &Limits,
        len: u64,
    ) -> Self {
        Self { read, left: limits.bytes_visited(len), is_exhausted: false }
    }

    pub(super) fn read(&mut self, range: Range<u64>) -> Option<Cow<'r, [u8]>> {
        let is_paid = self.pay(len_of(&range));
        if is_paid { (self.read)(range) } else { None }
    }

    /// Charges a read to the budget. Returns `false` if the budget does not cover it.
    pub(super) fn pay(&mut self, bytes: u64) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or_default();
        self.is_exhausted |= left.is_none();
        left.is_some()
    }
}

/// The budget for the calls of all payloads: the arguments, values and nodes that are visited.
pub(super) struct Work(u64);

/// The budget of a small file.
const LEAST_WORK: u64 = 1 << 18;

impl Work {
    /// Returns the budget for a file of `len` bytes.
    pub(super) fn new(len: u64) -> Self {
        Self(len.max(LEAST_WORK))
    }

    /// Charges work to the budget. Returns `false` if the budget does not cover it.
    pub(super) fn pay(&mut self, work: u64) -> bool {
        let left = self.0.checked_sub(work);
        self.0 = left.unwrap_or_default();
        left.is_some()
    }
}
