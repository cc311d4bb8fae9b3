//! Errors of the verifier: what is wrong, at which offset and path.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

mod kind;

pub use kind::ErrorKind;

/// A result whose error fits in one machine word, so that success stays in a register.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The kind of an error. Each has a stable code.
pub trait Kind: Copy + fmt::Debug + fmt::Display {
    /// Returns the stable name, in kebab case.
    fn code(&self) -> &'static str;
}

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

/// A component of a path from the root table to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathComponent {
    /// A field of a table, or the root itself, by its schema name.
    Field(&'static str),
    /// An element of a vector.
    Index(u32),
    /// The member of a union, by its schema name.
    Variant(&'static str),
}

/// A file offset and a path, such as `0x434, model.subgraphs[0].tensors[2].type<Dense>`.
#[derive(Clone, Copy, Debug)]
pub struct Place<'e> {
    offset: Option<u64>,
    /// The path, innermost component first.
    path: &'e [PathComponent],
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
        Place { offset: Some(self.0.offset), path: &self.0.path }
    }
}

impl<K: Kind> fmt::Display for Error<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.kind, f)
    }
}

impl<K: Kind> core::error::Error for Error<K> {}

impl<'e> Place<'e> {
    /// Creates a place from a path with the innermost component first.
    pub fn new(offset: Option<u64>, path: &'e [PathComponent]) -> Self {
        Self { offset, path }
    }

    /// Returns the path without the offset.
    pub fn path(&self) -> Place<'e> {
        Place { offset: None, path: self.path }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(offset) = self.offset {
            write!(f, "{offset:#x}")?;
            if !self.path.is_empty() {
                f.write_str(", ")?;
            }
        }
        for (nth, component) in self.path.iter().rev().enumerate() {
            match component {
                PathComponent::Field(name) if nth == 0 => f.write_str(name)?,
                PathComponent::Field(name) => write!(f, ".{name}")?,
                PathComponent::Index(index) => write!(f, "[{index}]")?,
                PathComponent::Variant(name) => write!(f, "<{name}>")?,
            }
        }
        Ok(())
    }
}
