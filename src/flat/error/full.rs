//! An error with its kind, its offset and its path, on the heap.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::{ErrorKind, Kind, PathComponent, Place};

/// An error of reading bytes. A format above FlatBuffers has more kinds of errors than
/// [`ErrorKind`], so the kind is a parameter.
///
/// `Display` writes a message. [`place`](Self::place) has the offset and the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error<K = ErrorKind>(Box<Refusal<K>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal<K> {
    kind: K,
    offset: u64,
    /// The path, innermost component first, since components are added while the verifier returns.
    path: Vec<PathComponent>,
}

impl<K: Kind> Error<K> {
    /// Creates an error at an offset.
    #[cold]
    #[inline(never)]
    pub fn new(kind: K, offset: u64) -> Self {
        Self(Box::new(Refusal { kind, offset, path: Vec::new() }))
    }

    /// Converts the kind.
    #[cold]
    pub fn lift<L: From<K>>(self) -> Error<L> {
        let Refusal { kind, offset, path } = *self.0;
        Error(Box::new(Refusal { kind: kind.into(), offset, path }))
    }

    /// Adds an outer component to the path.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn within(mut self, component: PathComponent) -> Self {
        self.0.path.push(component);
        self
    }

    /// Adds `base`, the start of the FlatBuffer in the file, to the offset.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn shifted(mut self, base: u64) -> Self {
        self.0.offset = self.0.offset.saturating_add(base);
        self
    }

    /// Replaces the kind.
    #[cold]
    #[must_use]
    pub fn of_kind(mut self, kind: K) -> Self {
        self.0.kind = kind;
        self
    }

    /// Replaces the offset.
    #[cold]
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset = offset;
        self
    }

    /// Returns the kind of the error, with its values.
    pub fn kind(&self) -> K {
        self.0.kind
    }

    /// Returns the offset of the wrong bytes in the file.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the path from the root to the error, the outermost component first.
    pub fn path(&self) -> impl Iterator<Item = PathComponent> {
        self.0.path.iter().rev().copied()
    }

    /// Returns the stable code of the error, in kebab case.
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Returns the offset and the path, for display.
    pub fn place(&self) -> Place<'_> {
        Place::new(Some(self.0.offset), &self.0.path)
    }
}

impl<K: Kind> fmt::Display for Error<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.kind, f)
    }
}

impl<K: Kind> core::error::Error for Error<K> {}
