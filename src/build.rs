//! Builds new files.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::Error;
use crate::model::Blob;
use crate::quoted::Quoted;
use crate::schema::scalar::ScalarType;

mod ptd;
mod pte;

pub use ptd::{PtdBuilder, Shape};
pub use pte::PteBuilder;

/// The data of one or more entries of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment(u32);

/// An error in building a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// Two entries have one key. A runtime would only find the first.
    KeyTwice {
        /// The key.
        key: String,
    },
    /// The runtime does not know the dtype.
    Dtype {
        /// The key of the tensor.
        key: String,
        /// Its dtype.
        scalar_type: ScalarType,
    },
    /// A size is negative, or there are more bytes than 64 bits count.
    Sizes {
        /// The key of the tensor.
        key: String,
    },
    /// There are more dimensions than any tensor of the runtime has: 16.
    Rank {
        /// The key of the tensor.
        key: String,
        /// Its dimensions.
        rank: usize,
    },
    /// The dim order is no permutation of the dimensions.
    DimOrder {
        /// The key of the tensor.
        key: String,
    },
    /// There are more or fewer bytes than the shape asks for.
    Size {
        /// The key of the tensor.
        key: String,
        /// Bytes that the shape asks for.
        nbytes: u64,
        /// Bytes that there are.
        given: u64,
    },
    /// Data cannot be aligned to nothing.
    Alignment,
    /// The segment is one of another builder.
    Segment,
    /// The file that an entry is taken from says no key for it, or no full shape.
    Incomplete {
        /// Where its table lies in that file.
        offset: u64,
    },
    /// The file that an entry is taken from says that its data is where none is.
    Broken(Error),
    /// There is more than a file can hold: 2^32 segments, or 2^64 bytes.
    TooLarge,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyTwice { key } => write!(f, "the key {} is there twice", Quoted(key)),
            Self::Dtype { key, scalar_type } => {
                write!(f, "tensor {}: no runtime knows dtype {}", Quoted(key), scalar_type.0)
            }
            Self::Sizes { key } => {
                write!(f, "tensor {}: its size cannot be computed", Quoted(key))
            }
            Self::Rank { key, rank } => {
                write!(f, "tensor {}: {rank} dimensions, and a tensor has at most 16", Quoted(key))
            }
            Self::DimOrder { key } => write!(
                f,
                "tensor {}: its dim order is no permutation of its dimensions",
                Quoted(key)
            ),
            Self::Size { key, nbytes, given } => {
                write!(f, "tensor {}: {given} bytes, and its shape asks for {nbytes}", Quoted(key))
            }
            Self::Alignment => f.write_str("an alignment of 0"),
            Self::Segment => f.write_str("a segment of another builder"),
            Self::Incomplete { offset } => {
                write!(f, "the entry at {offset:#x} has no key, or no full shape")
            }
            Self::Broken(error) => write!(f, "{error}, at {}", error.place()),
            Self::TooLarge => f.write_str("the file would be longer than a file can be"),
        }
    }
}

impl core::error::Error for BuildError {}

impl From<Error> for BuildError {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

/// The data of a segment, and its alignment.
#[derive(Clone, Debug)]
struct Data<'a> {
    bytes: Blob<'a>,
    alignment: u64,
}

/// Returns the offset and size of each segment. Each lies at a multiple of its own alignment and of
/// `segment_alignment` (format.md §9.2, §9.3).
fn places(data: &[Data<'_>], segment_alignment: u64) -> Result<Vec<(u64, u64)>, BuildError> {
    let mut end = 0u64;
    let place = |data: &Data<'_>| {
        let align = lcm(segment_alignment, data.alignment)?;
        let (offset, size) = (end.checked_next_multiple_of(align)?, data.bytes.len());
        end = offset.checked_add(size)?;
        Some((offset, size))
    };
    data.iter().map(place).collect::<Option<_>>().ok_or(BuildError::TooLarge)
}

/// Returns the least common multiple of two numbers other than 0.
fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while let Some(rest) = x.checked_rem(y) {
        (x, y) = (y, rest);
    }
    a.checked_div(x)?.checked_mul(b)
}

/// Refuses an alignment of 0.
fn some(alignment: u64) -> Result<u64, BuildError> {
    Some(alignment).filter(|&alignment| alignment > 0).ok_or(BuildError::Alignment)
}
