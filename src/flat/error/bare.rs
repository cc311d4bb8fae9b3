//! An error without a heap: its code and its offset. It is small, since each frame of the verifier may have one.

use core::fmt;
use core::marker::PhantomData;

use super::{ErrorKind, Kind, PathComponent};

/// An error of reading bytes: its code and its offset. With the feature `alloc` it also has a message and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error<K = ErrorKind> {
    code: &'static str,
    /// The position in a buffer in memory.
    offset: usize,
    kind: PhantomData<K>,
}

impl<K: Kind> Error<K> {
    /// Creates an error at an offset.
    #[cold]
    #[inline(never)]
    pub fn new(kind: K, offset: u64) -> Self {
        Self { code: kind.code(), offset: position(offset), kind: PhantomData }
    }

    /// Converts the kind.
    #[cold]
    pub fn lift<L: From<K>>(self) -> Error<L> {
        Error { code: self.code, offset: self.offset, kind: PhantomData }
    }

    /// Returns the error itself, which has no path.
    #[must_use]
    pub fn within(self, _: PathComponent) -> Self {
        self
    }

    /// Adds `base`, the start of the FlatBuffer in the file, to the offset.
    #[cold]
    #[must_use]
    pub fn shifted(mut self, base: u64) -> Self {
        self.offset = self.offset.saturating_add(position(base));
        self
    }

    /// Replaces the offset.
    #[cold]
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = position(offset);
        self
    }

    /// Returns the offset of the wrong bytes in the file.
    pub fn offset(&self) -> u64 {
        crate::bytes::wide(self.offset)
    }

    /// Returns the stable code of the error, in kebab case.
    pub fn code(&self) -> &'static str {
        self.code
    }
}

impl<K: Kind> fmt::Display for Error<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl<K: Kind> core::error::Error for Error<K> {}

fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
