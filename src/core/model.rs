//! Files as plain values: read from a proven file or created, changed, and written.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
//! let mut model = pte::Pte::read(bytes)?.to_model()?;
//! for plan in model.root.execution_plan.iter_mut().flatten() {
//!     plan.name = Some("predict".into());
//! }
//! let changed = model.image()?.to_bytes()?;
//! assert!(pte::Check::check(&pte::Pte::read(&changed)?).findings().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `json`, the module `json` reads files from the JSON of a dump and writes them
//! as JSON.

use alloc::vec::Vec;

use crate::error::wraps;
use crate::file::header::{ExtendedHeader, FlatTensorHeader};
use pte_flat::desc::Schema;
use pte_flat::ledger::MemoryError;
use pte_flat::model::Model;
use pte_flat::node::Node;
use pte_flat::tree::Unknown;
use pte_flat::write::{WriteError, WriterLayout};
use pte_schema::{flat_tensor, flat_tensor_legacy, program};

mod blob;
mod budget;
mod constants;
#[cfg(feature = "std")]
mod copy;
mod data;
mod edit;
mod external;
#[cfg(feature = "sha2")]
mod fixed;
mod image;
#[cfg(feature = "json")]
pub mod json;
mod like;
mod read;
mod segments;
#[cfg(feature = "sha2")]
mod share;
#[cfg(feature = "sha2")]
mod shared;
mod writer;
#[cfg(feature = "sha2")]
mod xnnpack;

pub use blob::{Blob, Ranges, ReadError};
pub use budget::Amplified;
pub(crate) use budget::Budget;
pub(crate) use constants::concatenated;
pub use data::DataError;
pub use external::{External, ExternalError, ExternalKind, Inlined};
#[cfg(feature = "sha2")]
pub use fixed::FixedPayload;
pub use image::Image;
pub use read::{AnyPtd, PtdViews};
#[cfg(feature = "sha2")]
pub use share::SharedSegments;
#[cfg(feature = "sha2")]
pub(crate) use share::digests_of_equal_lengths;
#[cfg(feature = "sha2")]
pub use shared::SharedPtd;
#[cfg(feature = "sha2")]
pub use xnnpack::{ConstantHome, MovedConstants};

/// A `.pte`.
pub type PteModel<'a> = FileModel<'a, program::model::Program>;

/// A `.ptd` since release 0.7.
pub type PtdModel<'a> = FileModel<'a, flat_tensor::model::FlatTensor>;

/// A `.ptd` before release 0.7.
pub type LegacyPtdModel<'a> = FileModel<'a, flat_tensor_legacy::model::FlatTensor>;

/// A file: its tables as structs or views, the bytes of its segments, and its container.
#[derive(Clone, Debug)]
pub struct FileModel<'a, R> {
    /// The root table. Its `segments` field has the ranges of `segments`.
    pub root: R,
    /// The bytes of each segment. The root must declare the same sizes.
    pub segments: Vec<Blob<'a>>,
    /// The header, alignments and padding.
    pub container: Container<'a>,
    /// The number of fields and members of a newer writer, which the structs do not hold.
    pub unknown: Unknown,
}

/// The parts of a file besides tables and segments.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// The layout of the tables.
    pub layout: WriterLayout,
    /// The header, if there is one.
    pub header: Option<HeaderForm>,
    /// The start of the segments, if it is fixed and after the tables. Otherwise they begin at the
    /// next multiple of [`segment_alignment`](Self::segment_alignment).
    pub segment_base_offset: Option<u64>,
    /// The alignment of the start of the segments and of each segment.
    pub segment_alignment: u64,
    /// The number of zeros after the last segment that the header counts as data.
    pub padding: u64,
    /// The bytes after the data that the header counts.
    pub trailing: Blob<'a>,
}

/// The form and size of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderForm {
    /// The header is at byte 8 of the FlatBuffer, as in all releases.
    Inserted {
        /// The length of the header in bytes, without padding.
        length: u32,
        /// The length of the header with padding: a multiple of the largest alignment.
        chunk: u32,
    },
    /// The header is in front of a whole FlatBuffer, as in a `.ptd` of January 2025.
    InFront {
        /// The length of the header in bytes, without padding.
        length: u32,
        /// The length of the header with padding.
        chunk: u32,
    },
}

/// The root table of a file with segments, as a struct or a view.
pub trait RootNode: Node {
    /// The schema of the root.
    const SCHEMA: &'static Schema;

    /// Calls `each` with the offset and size of each segment.
    fn each_segment(&self, each: &mut dyn FnMut(u64, u64));

    /// Returns the number of segments.
    fn segment_count(&self) -> usize;
}

/// The root table of a file with segments, as a struct.
pub trait RootStruct: RootNode + Model {
    /// Returns the offset and size of each segment.
    fn segments(&self) -> Vec<(u64, u64)> {
        let mut places = Vec::with_capacity(self.segment_count());
        self.each_segment(&mut |offset, size| places.push((offset, size)));
        places
    }

    /// Sets the offset and size of each segment.
    fn set_segments(&mut self, segments: &[(u64, u64)]);

    /// Calls `each` with each field that holds the index of a segment.
    fn segment_indices(&mut self, each: &mut dyn FnMut(&mut u32));

    /// Calls `each` with the segment index of each named data, tensor and payload.
    fn data_indices(&mut self, each: &mut dyn FnMut(&mut u32));

    /// Removes the named data with the keys for which `is_out` returns `true`. Returns their segment indices.
    fn remove_named(&mut self, is_out: &mut dyn FnMut(&str) -> bool) -> Vec<u32>;
}

pte_flat::errors! {
    /// An error in writing a model.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum ModelError {
        /// The tables cannot be written.
        Tables(error: WriteError) => "{error}";
        /// The root and the model have different numbers of segments.
        SegmentCount {
            /// The number of segments in the root.
            declared: usize,
            /// The number of segments in the model.
            given: usize,
        } => "the root has {declared} segments, the model {given}";
        /// The root and the model have different sizes for a segment.
        SegmentSize {
            /// The index of the segment.
            index: usize,
            /// The size in the root.
            declared: u64,
            /// The size in the model.
            given: u64,
        } => "the root says {declared} bytes for segment {index}, which has {given}";
        /// Two segments overlap.
        SegmentOverlap {
            /// The index of the later segment.
            index: usize,
            /// The start of that segment, counted from the start of all segments.
            offset: u64,
            /// The end of the segment before it.
            end: u64,
        } => "segment {index} begins at {offset}, and the one in front ends at {end}";
        /// The header is missing, although the file has data or is a `.ptd`.
        HeaderMissing => "data needs a header to say where it is, as does any .ptd";
        /// The header is longer than its chunk, or the chunk would misalign the tables.
        HeaderRoom {
            /// The length of the header.
            length: u32,
            /// The length of the chunk, which is the header with padding.
            chunk: u32,
        } => "a header of {length} bytes in {chunk}: room for it, in whole 8 bytes";
        /// The header is in front of the FlatBuffer, but the file is not an old `.ptd`.
        HeaderInFront => "a header in front of the FlatBuffer is that of an old .ptd: others have it inside";
        /// The tables of an old `.ptd` would also be valid as tables of a current one.
        Polyglot =>
            "the tables would read as those of a current .ptd: segments, or another tensor_alignment, distinguish them";
        /// The tables come from a newer writer, and their unknown parts would be lost.
        Unknown(of: Unknown) =>
            "{} fields and {} members of unions of a newer writer would be lost", of.fields, of.members;
        /// Memory is short.
        Memory(error: MemoryError) => "{error}";
        /// The file is longer than 2^64 − 1 bytes.
        TooLarge => "the file would be longer than a file can be";
        /// The tables are longer than allowed.
        TablesLimit {
            /// The limit in bytes.
            limit: u64,
        } => "the tables take more than the {limit} bytes allowed";
        /// The written file would be many times longer than its contents. Shared bytes count once.
        Amplified(error: Amplified) => "{error}";
        /// Bytes could not be read from their source.
        Read(error: ReadError) => "{error}";
    }
}

impl Container<'_> {
    /// The layout and alignments of current writers, without a header.
    pub const CURRENT: Self = Self {
        layout: WriterLayout::PYTHON,
        header: None,
        segment_base_offset: None,
        segment_alignment: 128,
        padding: 0,
        trailing: Blob::EMPTY,
    };
}

impl HeaderForm {
    /// The header of a current `.pte`.
    pub const PTE: Self = Self::Inserted { length: ExtendedHeader::CURRENT, chunk: 32 };

    /// The header of a current `.ptd`.
    pub const PTD: Self = Self::Inserted { length: FlatTensorHeader::MINIMUM, chunk: 48 };

    /// Returns the length of the header, and its length with padding.
    fn room(self) -> (u32, u32) {
        match self {
            Self::Inserted { length, chunk } | Self::InFront { length, chunk } => (length, chunk),
        }
    }
}

wraps! { ModelError: Memory(MemoryError), Amplified(Amplified), Read(ReadError) }

impl From<WriteError> for ModelError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::OutOfMemory => Self::Memory(MemoryError::OutOfMemory),
            error => Self::Tables(error),
        }
    }
}

macro_rules! root {
    (
        $schema:ident $Root:ident, |$root:ident, $each:ident| $data:block
        $( and $others:block without $empty:ident )?
    ) => {
        impl RootNode for $schema::model::$Root {
            const SCHEMA: &'static Schema = &$schema::desc::SCHEMA;

            fn each_segment(&self, each: &mut dyn FnMut(u64, u64)) {
                self.segments.iter().flatten().for_each(|place| each(place.offset, place.size));
            }

            fn segment_count(&self) -> usize {
                self.segments.as_ref().map_or(0, Vec::len)
            }
        }

        impl RootNode for $schema::view::$Root<'_> {
            const SCHEMA: &'static Schema = &$schema::desc::SCHEMA;

            fn each_segment(&self, each: &mut dyn FnMut(u64, u64)) {
                let places = self.segments().into_iter().flatten();
                places.for_each(|place| each(place.offset(), place.size()));
            }

            fn segment_count(&self) -> usize {
                self.segments().map_or(0, |segments| segments.len())
            }
        }

        impl RootStruct for $schema::model::$Root {
            fn set_segments(&mut self, segments: &[(u64, u64)]) {
                let place = |&(offset, size)| $schema::model::DataSegment { offset, size };
                // If there are no segments, an absent list stays absent.
                if self.segments.is_some() || !segments.is_empty() {
                    self.segments = Some(segments.iter().map(place).collect());
                }
            }

            fn segment_indices(&mut self, $each: &mut dyn FnMut(&mut u32)) {
                $(
                    let $root = &mut *self;
                    $others
                )?
                self.data_indices($each);
            }

            fn data_indices(&mut self, $each: &mut dyn FnMut(&mut u32)) {
                let $root = self;
                $data
                let named = $root.named_data.iter_mut().flatten();
                named.for_each(|named| $each(&mut named.segment_index));
            }

            fn remove_named(&mut self, is_out: &mut dyn FnMut(&str) -> bool) -> Vec<u32> {
                let mut unused = Vec::new();
                if let Some(list) = &mut self.named_data {
                    list.retain(|entry| {
                        let is_out = entry.key.as_deref().is_some_and(&mut *is_out);
                        unused.extend(is_out.then_some(entry.segment_index));
                        !is_out
                    });
                }
                $( if !unused.is_empty() {
                    self.$empty = self.$empty.take().filter(|list| !list.is_empty());
                } )?
                unused
            }
        }
    };
}

root!(program Program, |root, each| {
    let delegates = root.execution_plan.iter_mut().flatten().flat_map(|plan| &mut plan.delegates);
    for processed in delegates.flatten().filter_map(|delegate| delegate.processed.as_mut()) {
        if processed.location == program::DataLocation::SEGMENT {
            each(&mut processed.index);
        }
    }
} and {
    // A list without constants has the segment index 0 but refers to no segment. Constant 0 is
    // reserved.
    let constants = root.constant_segment.as_mut().filter(|list| {
        list.segment_index != 0 || list.offsets.as_ref().is_some_and(|offsets| offsets.len() > 1)
    });
    constants.into_iter().for_each(|constants| each(&mut constants.segment_index));
    let mutable = root.mutable_data_segments.iter_mut().flatten();
    mutable.for_each(|mutable| each(&mut mutable.segment_index));
} without named_data);

root!(flat_tensor FlatTensor, |root, each| {});

root!(flat_tensor_legacy FlatTensor, |root, each| {
    let tensors = root.tensors.iter_mut().flatten();
    tensors.for_each(|tensor| each(&mut tensor.segment_index));
});
