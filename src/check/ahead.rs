//! Reading ahead, so that rules do not wait for memory.

use core::array;

/// An iterator that is a few elements ahead of what it gives.
///
/// Rules branch on what they read, often another way than the last time. A branch that waits for
/// memory keeps everything behind it waiting, the next element's reads included; made a few elements
/// early, the reads are done when the branch comes.
pub(super) struct Ahead<I: Iterator> {
    inner: I,
    /// What was read and not given, the next one at `next`.
    ring: [Option<I::Item>; AHEAD],
    next: usize,
    /// Elements still to be read before the first one is given.
    behind: usize,
}

/// Elements ahead: a power of two.
const AHEAD: usize = 16;

impl<I: Iterator> Ahead<I> {
    pub(super) fn new(inner: I) -> Self {
        Self { inner, ring: array::from_fn(|_| None), next: 0, behind: AHEAD }
    }
}

impl<I: Iterator> Iterator for Ahead<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        // One place that reads, so that it is compiled into the loop around it.
        loop {
            let slot = self.ring.get_mut(self.next)?;
            let given = core::mem::replace(slot, self.inner.next());
            self.next = self.next.saturating_add(1) & (AHEAD - 1);
            if self.behind == 0 {
                return given;
            }
            self.behind = self.behind.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{AHEAD, Ahead};

    #[test]
    fn it_gives_what_there_is_in_order_and_then_nothing() {
        for len in [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 5 * AHEAD] {
            let mut ahead = Ahead::new(0..len);
            assert_eq!(ahead.by_ref().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
            assert_eq!(ahead.next(), None);
        }
    }
}
