//! The file around the FlatBuffer: the headers, the segments, and the source of bytes.

pub(crate) mod extents;
#[cfg(feature = "alloc")]
mod fields;
pub mod header;
mod plain;
pub(crate) mod segments;
pub mod source;

use crate::error::Result;
use crate::limits::HEAD;
#[cfg(feature = "alloc")]
pub use fields::HeaderField;
#[cfg(feature = "alloc")]
pub(crate) use fields::{fields, header};
use header::Head;
use pte_flat::bytes::wide;

pub use source::chunks;
#[cfg(feature = "std")]
pub use source::{open, open_regular};

/// The two kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A program.
    Pte,
    /// Named tensors and blobs.
    Ptd,
}

/// Returns the kind of a file from its first 64 bytes, or from all bytes of a shorter file.
///
/// ```
/// use pte::file::{FileKind, sniff};
///
/// assert_eq!(sniff(include_bytes!("../../tests/data/ptd/ptd_basic.ptd")), Ok(FileKind::Ptd));
/// let error = sniff(b"PK\x03\x04").unwrap_err();
/// assert!(error.to_string().starts_with("this is a ZIP archive"));
/// ```
///
/// # Errors
///
/// The first bytes are those of another format, which the error names, or of an unknown
/// version.
pub fn sniff(head: &[u8]) -> Result<FileKind> {
    let len = if head.len() < HEAD { wide(head.len()) } else { u64::MAX };
    Ok(match Head::read(head, len)? {
        Head::Pte(_) => FileKind::Pte,
        Head::Ptd(..) => FileKind::Ptd,
    })
}
