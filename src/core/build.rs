//! Builds new files.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Error, wraps};
use crate::model::Blob;
use pte_flat::quoted::Quoted;
use pte_schema::scalar::ScalarType;

mod ptd;
mod pte;

pub use ptd::{PtdBuilder, Shape};
pub use pte::PteBuilder;

/// A handle to data in a builder. Several entries may share the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment(u32);

pte_flat::errors! {
    /// An error in building a file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum BuildError {
        /// Two entries have the same key. A runtime would find only the first.
        KeyTwice {
            /// The key.
            key: String,
        } => "duplicate key {}", Quoted(key);
        /// The runtime does not know the dtype.
        Dtype {
            /// The key of the tensor.
            key: String,
            /// The dtype of the tensor.
            scalar_type: ScalarType,
        } => "tensor {}: unknown dtype {}", Quoted(key), scalar_type.0;
        /// A size is negative, or the number of bytes exceeds 64 bits.
        Sizes {
            /// The key of the tensor.
            key: String,
        } => "tensor {}: the size cannot be computed", Quoted(key);
        /// The tensor has more dimensions than the runtime supports: 16.
        Rank {
            /// The key of the tensor.
            key: String,
            /// The number of the tensor's dimensions.
            rank: usize,
        } => "tensor {}: {rank} dimensions exceed the limit of 16", Quoted(key);
        /// The dim order is not a permutation of the dimensions.
        DimOrder {
            /// The key of the tensor.
            key: String,
        } => "tensor {}: the dim order is not a permutation of the dimensions", Quoted(key);
        /// The data has more or fewer bytes than the shape needs.
        Size {
            /// The key of the tensor.
            key: String,
            /// The number of bytes that the shape needs.
            nbytes: u64,
            /// The number of bytes in the data.
            given: u64,
        } => "tensor {}: the shape needs {nbytes} bytes, found {given}", Quoted(key);
        /// The alignment is 0.
        Alignment => "invalid alignment 0";
        /// The segment belongs to another builder.
        Segment => "the segment belongs to another builder";
        /// An entry of the converted file has no key, or an incomplete shape.
        Incomplete {
            /// The offset of the entry's table in that file.
            offset: u64,
        } => "the entry at {offset:#x} has no key or no complete shape";
        /// An entry of the converted file has an invalid reference to its data.
        Broken(error: Error) => "{error}, at {}", error.place();
        /// The file would have more than 2^32 segments or 2^64 bytes.
        TooLarge => "the file would exceed 2^32 segments or 2^64 bytes";
    }
}

wraps! { BuildError: Broken(Error) }

/// The data of a segment, and its alignment.
#[derive(Clone, Debug)]
struct Data<'a> {
    bytes: Blob<'a>,
    alignment: u64,
}

/// Returns the offset and size of each segment. Each offset is a multiple of the segment's own
/// alignment and of `segment_alignment` (format.md §9.2, §9.3).
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

/// Returns the least common multiple of two positive numbers.
fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while let Some(rest) = x.checked_rem(y) {
        (x, y) = (y, rest);
    }
    a.checked_div(x)?.checked_mul(b)
}

/// Returns `alignment`, or an error if it is 0.
fn some(alignment: u64) -> Result<u64, BuildError> {
    Some(alignment).filter(|&alignment| alignment > 0).ok_or(BuildError::Alignment)
}
