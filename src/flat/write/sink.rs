//! Sinks of the writer, which receive the last bytes first.

use core::ops::ControlFlow::{self, Break, Continue};

use alloc::vec::Vec;

/// Receives the bytes of a buffer from its end to its start. A sink breaks to stop the writer.
pub(super) trait Sink {
    /// Returns the number of bytes so far.
    fn len(&self) -> usize;

    /// Adds `bytes` in front.
    fn prepend(&mut self, bytes: &[u8]) -> ControlFlow<()>;

    /// Adds zeros in front.
    fn prepend_zeros(&mut self, zeros: usize) -> ControlFlow<()>;
}

/// A buffer in memory, its last byte first. It breaks if memory is short.
#[derive(Default)]
pub(super) struct Reversed(Vec<u8>);

impl Reversed {
    /// Returns the buffer in order.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.0.reverse();
        self.0
    }
}

impl Sink for Reversed {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn prepend(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if self.0.try_reserve(bytes.len()).is_err() {
            return Break(());
        }
        self.0.extend(bytes.iter().rev());
        Continue(())
    }

    fn prepend_zeros(&mut self, zeros: usize) -> ControlFlow<()> {
        if self.0.try_reserve(zeros).is_err() {
            return Break(());
        }
        self.0.resize(self.0.len().saturating_add(zeros), 0);
        Continue(())
    }
}

/// A sink that compares with the end of an existing buffer. It breaks at the first difference.
pub(super) struct Same<'r> {
    /// The bytes that are not compared yet.
    left: &'r [u8],
    len: usize,
}

impl<'r> Same<'r> {
    /// Compares with `region`.
    pub(super) fn new(region: &'r [u8]) -> Self {
        Self { left: region, len: 0 }
    }

    /// Removes and returns the last `len` bytes that are not compared yet.
    fn take(&mut self, len: usize) -> Option<&'r [u8]> {
        let at = self.left.len().checked_sub(len)?;
        let (left, taken) = self.left.split_at_checked(at)?;
        self.left = left;
        self.len = self.len.saturating_add(len);
        Some(taken)
    }
}

impl Sink for Same<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn prepend(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        match self.take(bytes.len()) == Some(bytes) {
            true => Continue(()),
            false => Break(()),
        }
    }

    fn prepend_zeros(&mut self, zeros: usize) -> ControlFlow<()> {
        match self.take(zeros).is_some_and(|taken| taken.iter().all(|&byte| byte == 0)) {
            true => Continue(()),
            false => Break(()),
        }
    }
}

/// A sink that only counts the bytes.
#[derive(Default)]
pub(super) struct Length(usize);

impl Sink for Length {
    fn len(&self) -> usize {
        self.0
    }

    fn prepend(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.prepend_zeros(bytes.len())
    }

    fn prepend_zeros(&mut self, zeros: usize) -> ControlFlow<()> {
        self.0 = self.0.saturating_add(zeros);
        Continue(())
    }
}
