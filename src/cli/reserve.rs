//! Checks that there is enough memory before a verb begins. A failed allocation later would end the
//! process.

use core::sync::atomic::{AtomicU64, Ordering};
use std::io;

use pte::quoted::UntrustedString;

use super::problem::Problem;

/// The memory factor of the running verb; see `verbs!`.
static FACTOR: AtomicU64 = AtomicU64::new(1);

/// The number of bytes of memory that all open files together may need.
static NEEDED: AtomicU64 = AtomicU64::new(0);

/// Sets the number of bytes of memory that each byte of an input may need.
pub(super) fn set_factor(factor: u64) {
    FACTOR.store(factor, Ordering::Relaxed);
}

/// The memory that an open input may need. It is not allocated, but counted as long as this value
/// exists.
#[derive(Debug)]
pub(super) struct Reserved(u64);

impl Reserved {
    /// Counts the memory for an input of `len` bytes, called `name`. Returns an error if there is
    /// too little memory.
    pub(super) fn new(len: u64, name: &UntrustedString) -> Result<Self, Problem> {
        let factor = FACTOR.load(Ordering::Relaxed);
        // Half as much again is added: a growing list is copied, and exists twice during the copy.
        let need = len.saturating_mul(factor).saturating_mul(3) / 2;
        let all = NEEDED.fetch_add(need, Ordering::Relaxed).saturating_add(need);
        let reserved = Self(need);
        if all < SMALL || is_available(all.saturating_add(OVERHEAD)) {
            return Ok(reserved);
        }
        let message = format!("not enough memory: this may take up to {}", super::text::bytes(all));
        Err(Problem::io(name, io::Error::new(io::ErrorKind::OutOfMemory, message)))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        NEEDED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Returns whether `bytes` can be allocated, in pieces of realistic size. A system that overcommits
/// still refuses a single large allocation. Pages that are not written to cost nothing.
fn is_available(bytes: u64) -> bool {
    let mut pieces = Vec::<Vec<u8>>::new();
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    while left > 0 {
        let len = left.min(PIECE);
        let mut piece = Vec::new();
        if piece.try_reserve_exact(len).is_err() || pieces.try_reserve(1).is_err() {
            return false;
        }
        pieces.push(piece);
        left = left.saturating_sub(len);
    }
    true
}

/// The number of bytes below which memory is not checked.
const SMALL: u64 = 1 << 20;

/// The number of bytes for buffers and threads, besides the tables.
const OVERHEAD: u64 = 8 << 20;

const PIECE: usize = 256 << 20;
