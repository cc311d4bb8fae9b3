//! The schema of a `.ptd` since release 0.7, `extension/flat_tensor/serialize/flat_tensor.fbs`
//! (generation 3, format.md §4).

use crate::scalar::ScalarType;
use pte_flat::schema;

schema! {
    root FlatTensor b"FT01" "ptd" "flat_tensor";

    enums:

    unions:

    tables:

    /// A tensor's shape.
    table TensorLayout {
        0 scalar_type: ScalarType = ScalarType::BYTE => 0.7,
        /// The size of each dimension, outermost first.
        1 sizes: [i32] => 0.7,
        /// A permutation of the dimensions, outermost in memory first.
        2 dim_order: [u8] => 0.7,
    }

    /// A range of bytes after the FlatBuffer.
    table DataSegment {
        /// Relative to segment_base_offset.
        0 offset: u64 = 0 => 0.5,
        1 size: u64 = 0 => 0.5,
    }

    /// A segment with a name, and with a shape if it is a tensor.
    table NamedData {
        0 key: &str => 0.6,
        1 segment_index: u32 = 0 => 0.6,
        /// Absent for an opaque blob.
        2 tensor_layout: &TensorLayout => 0.7,
    }

    /// The root of a `.ptd`.
    table FlatTensor {
        /// Always 0 in known files.
        0 version: u32 = 0 => 0.5,
        1 segments: [&DataSegment] => 0.7,
        2 named_data: [&NamedData] => 0.7,
    }
}
