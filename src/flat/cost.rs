//! The cost of work, counted in builds with debug assertions and `std`.
//!
//! Each read of a view costs 1 (`flat/view`). Other work is charged where it is done: vectors, sorts, and
//! lookups by keys, which may be long.

pub use counter::*;

/// Charges a lookup of `key` among `len` keys. Each comparison may read the whole key.
#[inline]
pub fn look_up(key: &str, len: usize) {
    charge(key.len().saturating_add(1).saturating_mul(depth(len)));
}

/// Charges a sort of `len` items.
#[inline]
pub fn sort(len: usize) {
    charge(len.saturating_mul(depth(len)));
}

/// Returns the comparisons of a binary search among `len` items.
#[inline]
fn depth(len: usize) -> usize {
    crate::bytes::index(usize::BITS.saturating_sub(len.leading_zeros()))
}

#[cfg(not(all(debug_assertions, feature = "std")))]
mod counter {
    /// Does nothing.
    #[inline(always)]
    pub fn charge(_: usize) {}
}

#[cfg(all(debug_assertions, feature = "std"))]
mod counter {
    use core::cell::Cell;

    std::thread_local! {
        static TAKEN: Cell<u64> = const { Cell::new(0) };
    }

    /// Adds `more` to the cost.
    pub fn charge(more: usize) {
        TAKEN.set(TAKEN.get().saturating_add(crate::bytes::wide(more)));
    }

    /// Returns this thread's cost since the last call.
    pub fn taken() -> u64 {
        TAKEN.replace(0)
    }
}
