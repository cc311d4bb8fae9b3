//! Memory that a verb may need, asked for before it begins: later, there is no way to report that there
//! is too little.

use core::sync::atomic::{AtomicU64, Ordering};
use std::io;

use pte::quoted::UntrustedString;

use super::problem::Problem;

/// The factor of the verb that runs; see [`factors`](super::factors).
static FACTOR: AtomicU64 = AtomicU64::new(1);

/// Bytes that all files together may need which are open.
static NEEDED: AtomicU64 = AtomicU64::new(0);

/// Sets how many bytes of memory each byte of an input may need.
pub(super) fn set_factor(factor: u64) {
    FACTOR.store(factor, Ordering::Relaxed);
}

/// Memory that is needed for an input as long as this exists. Nothing is held.
#[derive(Debug)]
pub(super) struct Reserved(u64);

impl Reserved {
    /// Finds out whether there is enough memory for an input of `len` bytes, called `name`.
    pub(super) fn new(len: u64, name: &UntrustedString) -> Result<Self, Problem> {
        let factor = FACTOR.load(Ordering::Relaxed);
        // Lists that grow are in memory twice for a moment, half of them unused.
        let need = len.saturating_mul(factor).saturating_mul(3) / 2;
        let all = NEEDED.fetch_add(need, Ordering::Relaxed).saturating_add(need);
        let reserved = Self(need);
        if all < SMALL || is_there(all.saturating_add(BESIDES)) {
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

/// Whether as many bytes can be allocated, piece by piece as they would be: a system that gives out more than
/// it has refuses a single large piece all the same. Pages that nothing writes to cost nothing.
fn is_there(bytes: u64) -> bool {
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

/// Bytes that are there in any case.
const SMALL: u64 = 1 << 20;

/// Bytes besides those of the tables: buffers, and what threads need.
const BESIDES: u64 = 8 << 20;

const PIECE: usize = 256 << 20;
