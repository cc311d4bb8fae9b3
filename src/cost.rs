//! How much work is done, counted in unit tests and nowhere else.
//!
//! Every read of a view is a step (`flat/view`). What a rule does besides is counted where it is
//! done: a vector made, a sort, a lookup by a key that a file may make long.

pub(crate) use counter::*;

/// Counts a lookup by `key` among `len` of them: each comparison may read all of it.
#[inline]
pub(crate) fn look_up(key: &str, len: usize) {
    charge(key.len().saturating_add(1).saturating_mul(depth(len)));
}

/// Counts a sort of `len` things.
#[inline]
pub(crate) fn sort(len: usize) {
    charge(len.saturating_mul(depth(len)));
}

/// Comparisons that find one of `len` things.
#[inline]
fn depth(len: usize) -> usize {
    crate::bytes::index(usize::BITS.saturating_sub(len.leading_zeros()))
}

#[cfg(not(test))]
mod counter {
    /// Nothing.
    #[inline(always)]
    pub(crate) fn charge(_: usize) {}
}

#[cfg(test)]
mod counter {
    extern crate std;

    use core::cell::Cell;

    std::thread_local! {
        static TAKEN: Cell<u64> = const { Cell::new(0) };
    }

    /// Counts `more` steps.
    pub(crate) fn charge(more: usize) {
        TAKEN.set(TAKEN.get().saturating_add(crate::bytes::wide(more)));
    }

    /// The steps of this thread since the last time.
    pub(crate) fn taken() -> u64 {
        TAKEN.replace(0)
    }
}
