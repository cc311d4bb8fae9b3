//! Why bytes were refused: what, where in the file, where in the structure, and what to do.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

mod kind;

pub use kind::{Code, ErrorKind, Magic};

/// A result whose error is one word, so that success stays in a register.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why bytes were refused.
///
/// Its text is one line of what and one of where:
///
/// ```
/// let error = pte::Pte::read(b"\x04\0\0\0ET13").unwrap_err();
/// assert_eq!(error.code(), "unknown-identifier");
/// assert_eq!(error.to_string(), "the file identifier is \"ET13\", and only \"ET12\" is known");
/// assert_eq!(error.place().to_string(), "0x4, header");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Refusal>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    kind: ErrorKind,
    offset: u64,
    /// Innermost step first: steps are pushed while the walk unwinds.
    path: Vec<PathComponent>,
}

/// One step of the way from the root of a structure to a place in it.
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

/// A file offset and a path, shown as `0x434, program.execution_plan[0].values[2].val<Tensor>`.
#[derive(Clone, Copy, Debug)]
pub struct Place<'e> {
    offset: Option<u64>,
    /// Innermost first.
    path: &'e [PathComponent],
}

impl Error {
    /// A refusal for `kind` at the file offset `offset`.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(kind: ErrorKind, offset: u64) -> Self {
        Self(Box::new(Refusal { kind, offset, path: Vec::new() }))
    }

    /// The same refusal, one step further from the root.
    #[cold]
    #[inline(never)]
    pub(crate) fn within(mut self, step: PathComponent) -> Self {
        self.0.path.push(step);
        self
    }

    /// The same refusal in a file in which the walked bytes begin at `base`.
    #[cold]
    #[inline(never)]
    pub(crate) fn shifted(mut self, base: u64) -> Self {
        self.0.offset = self.0.offset.saturating_add(base);
        self
    }

    /// The same refusal, at the file offset of what led to it.
    #[cold]
    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.0.offset = offset;
        self
    }

    /// What was wrong, with the numbers that show it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where the wrong bytes are, counted from the start of the file.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The way from the root to the wrong place, outermost step first.
    pub fn path(&self) -> impl Iterator<Item = PathComponent> {
        self.0.path.iter().rev().copied()
    }

    /// The stable name of what was wrong, in kebab case.
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Offset and path, for showing.
    pub fn place(&self) -> Place<'_> {
        Place { offset: Some(self.0.offset), path: &self.0.path }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)
    }
}

impl core::error::Error for Error {}

impl<'e> Place<'e> {
    /// A place from a path whose innermost step comes first.
    pub(crate) fn new(offset: Option<u64>, path: &'e [PathComponent]) -> Self {
        Self { offset, path }
    }

    /// The path alone, without the offset.
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
        for (nth, step) in self.path.iter().rev().enumerate() {
            match step {
                PathComponent::Field(name) if nth == 0 => f.write_str(name)?,
                PathComponent::Field(name) => write!(f, ".{name}")?,
                PathComponent::Index(index) => write!(f, "[{index}]")?,
                PathComponent::Variant(name) => write!(f, "<{name}>")?,
            }
        }
        Ok(())
    }
}
