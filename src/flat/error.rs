//! Errors of the verifier: what is wrong, at which offset and path.

use core::fmt;

// Without a heap an error is its code and its offset.
#[cfg_attr(feature = "alloc", path = "error/full.rs")]
#[cfg_attr(not(feature = "alloc"), path = "error/bare.rs")]
mod held;
mod kind;

pub use held::Error;
pub use kind::ErrorKind;

/// A result. With `alloc` its error fits in one machine word, so that success stays in a register.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The kind of an error. Each has a stable code.
pub trait Kind: Copy + fmt::Debug + fmt::Display {
    /// Returns the stable name, in kebab case.
    fn code(&self) -> &'static str;
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

impl From<&'static str> for PathComponent {
    fn from(field: &'static str) -> Self {
        Self::Field(field)
    }
}

impl From<u32> for PathComponent {
    fn from(index: u32) -> Self {
        Self::Index(index)
    }
}

/// Declares an enum with its `Display`: behind each variant is its message, with the arguments that are no fields. The
/// values of a variant without fields have names for the message.
#[macro_export]
#[doc(hidden)]
macro_rules! messages {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident { $(
            $(#[$vmeta:meta])*
            $Variant:ident
            $({ $( $(#[$fmeta:meta])* $field:ident: $Field:ty ),* $(,)? })?
            $(( $( $value:ident: $Value:ty ),* ))?
            => $message:literal $(, $arg:expr)*;
        )* }
    ) => {
        $(#[$meta])*
        $vis enum $Enum { $(
            $(#[$vmeta])*
            $Variant $({ $( $(#[$fmeta])* $field: $Field ),* })? $(( $($Value),* ))?,
        )* }

        impl core::fmt::Display for $Enum {
            #[allow(unused_doc_comments, unused_variables, reason = "of variants and their fields")]
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self { $(
                    $(#[$vmeta])*
                    Self::$Variant $({ $($field),* })? $(( $($value),* ))? => write!(f, $message $(, $arg)*),
                )* }
            }
        }
    };
}

/// Declares an error as [`messages!`] does.
#[macro_export]
#[doc(hidden)]
macro_rules! errors {
    ($(#[$meta:meta])* pub enum $Error:ident $variants:tt) => {
        $crate::messages! { $(#[$meta])* pub enum $Error $variants }

        impl core::error::Error for $Error {}
    };
}

/// Makes a path of fields, by their names, and indices: `path!["scene", "bodies", nth]`.
#[macro_export]
macro_rules! path {
    ($($component:expr),+ $(,)?) => {
        [$( $crate::PathComponent::from($component) ),+]
    };
}

/// A file offset and a path, such as `0x434, model.subgraphs[0].tensors[2].type<Dense>`.
#[derive(Clone, Copy, Debug)]
pub struct Place<'e> {
    offset: Option<u64>,
    /// The path, innermost component first.
    path: &'e [PathComponent],
}

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
