//! The file around the FlatBuffers part: headers in front, segments behind, and where bytes come
//! from.

pub mod header;
pub(crate) mod segments;
pub(crate) mod source;

use crate::error::Result;
use header::Head;

/// The two kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program.
    Pte,
    /// Named tensors and blobs.
    Ptd,
}

/// Tells the kind of a file from its first bytes; 64 are enough.
///
/// # Errors
///
/// Where they are those of another kind of file, named in the error, or of an unknown version.
pub fn sniff(head: &[u8]) -> Result<Kind> {
    Ok(match Head::read(head, u64::MAX)? {
        Head::Pte(_) => Kind::Pte,
        Head::Ptd(..) => Kind::Ptd,
    })
}
