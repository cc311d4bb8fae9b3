//! The schema of a `.ptd` before release 0.7, `flat_tensor.fbs` (generations 0 to 2, format.md
//! §4.1).
//!
//! Release 0.7 gave slots 1 and 2 of the root other meanings and kept the identifier, which breaks
//! upstream's own rules. `ptd/generation.rs` distinguishes the two.

use crate::scalar::ScalarType;
use pte_flat::schema;

schema! {
    root FlatTensor b"FT01" "ptd" "flat_tensor";

    enums:

    unions:

    tables:

    /// A tensor with its shape, and its place in its segment.
    table TensorMetadata {
        0 fully_qualified_name: &str => 0.5,
        1 scalar_type: ScalarType = ScalarType::BYTE => 0.5,
        /// Called `dim_sizes` in 0.5.
        2 sizes: [i32] => 0.5,
        3 dim_order: [u8] => 0.5,
        4 segment_index: u32 = 0 => 0.5,
        /// Relative to the segment's start.
        5 offset: u64 = 0 => 0.5,
    }

    /// A range of bytes after the FlatBuffer.
    table DataSegment {
        /// Relative to segment_base_offset.
        0 offset: u64 = 0 => 0.5,
        1 size: u64 = 0 => 0.5,
    }

    /// A segment with a name.
    table NamedData {
        0 key: &str => 0.6,
        1 segment_index: u32 = 0 => 0.6,
    }

    /// The root of an old `.ptd`.
    table FlatTensor {
        /// Always 0 in known files.
        0 version: u32 = 0 => 0.5,
        /// The alignment of tensors and segments.
        1 tensor_alignment: u32 = 0 => 0.5,
        2 tensors: [&TensorMetadata] => 0.5,
        3 segments: [&DataSegment] => 0.5,
        4 named_data: [&NamedData] => 0.6,
    }
}
