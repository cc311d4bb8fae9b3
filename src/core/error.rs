//! Errors of reading a file: what is wrong, at which offset and path, and what to do.

pub use pte_flat::{PathComponent, Place};

mod kind;

pub use kind::{Code, ErrorKind, Magic};

/// A result whose error fits in one machine word, so that success stays in a register.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error of reading a file.
///
/// `Display` writes a message. [`place`](pte_flat::Error::place) has the offset and the path:
///
/// ```
/// let error = pte::Pte::read(b"\x04\0\0\0ET13").unwrap_err();
/// assert_eq!(error.code(), "unknown-identifier");
/// assert_eq!(error.to_string(), "unknown file identifier \"ET13\": expected \"ET12\"");
/// assert_eq!(error.place().to_string(), "0x4, header");
/// ```
pub type Error = pte_flat::Error<ErrorKind>;

/// Converts each of the errors that an error wraps into it.
#[cfg(feature = "alloc")]
macro_rules! wraps {
    ($Error:ident: $( $Variant:ident($Wrapped:ty) ),+) => { $(
        impl From<$Wrapped> for $Error {
            fn from(error: $Wrapped) -> Self {
                Self::$Variant(error)
            }
        }
    )+ };
}

#[cfg(feature = "alloc")]
pub(crate) use wraps;
