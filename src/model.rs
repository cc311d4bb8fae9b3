//! Files as plain values: taken out of a proven file or made anew, changed, and written.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = include_bytes!("../tests/data/pte/linear.pte");
//! let mut model = pte::Pte::read(bytes)?.to_model()?;
//! for plan in model.root.execution_plan.iter_mut().flatten() {
//!     plan.name = Some("predict".into());
//! }
//! let changed = model.image()?.to_bytes()?;
//! assert!(pte::Pte::read(&changed)?.check().findings().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `json`, files are read from the JSON of a dump too, and written as such: see the
//! module `json`.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::file::header::{ExtendedHeader, FlatTensorHeader};
use crate::flat::desc::Schema;
use crate::flat::ledger::MemoryError;
use crate::flat::model::Model;
use crate::flat::node::Node;
use crate::flat::tree::Unknown;
use crate::flat::write::{WriteError, WriterLayout};
use crate::schema::{flat_tensor, flat_tensor_legacy, program};

mod blob;
mod budget;
mod constants;
#[cfg(feature = "std")]
mod copy;
mod data;
mod edit;
mod external;
mod image;
#[cfg(feature = "json")]
pub mod json;
mod like;
mod read;
mod segments;
mod writer;

pub use blob::{Blob, Ranges, ReadError};
pub use budget::Amplified;
pub(crate) use budget::Budget;
pub(crate) use constants::concatenated;
pub use data::DataError;
pub use external::{External, ExternalError, Inlined};
pub use image::Image;
pub use read::{AnyPtd, PtdViews};

/// A `.pte`.
pub type PteModel<'a> = FileModel<'a, program::model::Program>;

/// A `.ptd` since release 0.7.
pub type PtdModel<'a> = FileModel<'a, flat_tensor::model::FlatTensor>;

/// A `.ptd` before release 0.7.
pub type LegacyPtdModel<'a> = FileModel<'a, flat_tensor_legacy::model::FlatTensor>;

/// A file: its tables as structs or views, the bytes of its segments, and what holds them together.
#[derive(Clone, Debug)]
pub struct FileModel<'a, R> {
    /// The root table. Its `segments` say where each segment lies.
    pub root: R,
    /// The bytes of each segment, as many as the root says.
    pub segments: Vec<Blob<'a>>,
    /// What is around them.
    pub container: Container<'a>,
    /// What the tables of the file that this was taken from have, and these structs have not.
    pub unknown: Unknown,
}

/// How the parts of a file are held together.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// How the tables are laid out.
    pub layout: WriterLayout,
    /// The header, if there is one.
    pub header: Option<HeaderForm>,
    /// Where the segments begin, if that is fixed: where the tables grow past it, and where it is
    /// `None`, the segments begin at the next multiple of [`segment_alignment`](Self::segment_alignment).
    pub segment_base_offset: Option<u64>,
    /// What the segments, as a whole and each of them, are aligned to.
    pub segment_alignment: u64,
    /// Zeros behind the last segment that the header counts as data.
    pub padding: u64,
    /// Bytes behind everything that the header counts.
    pub trailing: Blob<'a>,
}

/// Which header a file has, and the room that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderForm {
    /// Inserted at byte 8 of the FlatBuffer, as all releases do.
    Inserted {
        /// Bytes that the header says it has.
        length: u32,
        /// Bytes of the header with its padding: a multiple of the largest alignment.
        chunk: u32,
    },
    /// In front of a whole FlatBuffer: a `.ptd` of January 2025.
    InFront {
        /// Bytes that the header says it has.
        length: u32,
        /// Bytes of the header with its padding.
        chunk: u32,
    },
}

/// A table that is the root of a file with segments: a struct, or a view of a proven file.
pub trait RootNode: Node {
    /// The schema that it is the root of.
    const SCHEMA: &'static Schema;

    /// Gives the place of each segment to `each`: its offset and its size.
    fn each_segment(&self, each: &mut dyn FnMut(u64, u64));

    /// Returns the number of segments.
    fn segment_count(&self) -> usize;
}

/// A struct that is the root of a file with segments.
pub trait RootStruct: RootNode + Model {
    /// Where each segment lies: its offset and its size.
    fn segments(&self) -> Vec<(u64, u64)> {
        let mut places = Vec::with_capacity(self.segment_count());
        self.each_segment(&mut |offset, size| places.push((offset, size)));
        places
    }

    /// Sets where each segment lies.
    fn set_segments(&mut self, segments: &[(u64, u64)]);

    /// Gives every field that is the index of a segment to `each`.
    fn segment_indices(&mut self, each: &mut dyn FnMut(&mut u32));
}

/// Why a model cannot be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// The tables cannot.
    Tables(WriteError),
    /// The root says that there are other segments than there are.
    SegmentCount {
        /// Segments of the root.
        declared: usize,
        /// Segments with bytes.
        given: usize,
    },
    /// The root says that a segment has another size than it has.
    SegmentSize {
        /// Which one.
        index: usize,
        /// Bytes, by the root.
        declared: u64,
        /// Bytes that there are.
        given: u64,
    },
    /// A segment begins before the one in front of it ends.
    SegmentOverlap {
        /// Which one.
        index: usize,
        /// Where it begins, counted from the first byte of the segments.
        offset: u64,
        /// Where the one in front of it ends.
        end: u64,
    },
    /// There is data, and no header to say where; or it is to be a `.ptd`, which always has one.
    HeaderMissing,
    /// The header does not fit its chunk, or the chunk would leave the tables misaligned.
    HeaderRoom {
        /// Bytes of the header.
        length: u32,
        /// Bytes of its chunk.
        chunk: u32,
    },
    /// The header is to be in front of the FlatBuffer, which is where an old `.ptd` alone has it.
    HeaderInFront,
    /// The tables of an old `.ptd` would read as those of release 0.7, too, with contents in both, or
    /// instead, since it has no segments.
    Polyglot,
    /// The tables were taken from a file of a newer writer, and parts of them are not known.
    Unknown(Unknown),
    /// There is no memory for what is to be written.
    Memory(MemoryError),
    /// The file is longer than 2^64 − 1 bytes.
    TooLarge,
    /// The tables are longer than allowed.
    TablesLimit {
        /// Bytes that they may have.
        limit: u64,
    },
    /// The file is many times longer than what it is made of.
    Amplified(Amplified),
    /// Bytes could not be read from where they are.
    Read(ReadError),
}

impl Container<'_> {
    /// The layout and alignments of today's writers: no header, since that depends on the data.
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
    /// What a `.pte` gets today.
    pub const PTE: Self = Self::Inserted { length: ExtendedHeader::CURRENT, chunk: 32 };

    /// What a `.ptd` gets today.
    pub const PTD: Self = Self::Inserted { length: FlatTensorHeader::MINIMUM, chunk: 48 };

    /// Bytes of the header, and with its padding.
    fn room(self) -> (u32, u32) {
        match self {
            Self::Inserted { length, chunk } | Self::InFront { length, chunk } => (length, chunk),
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tables(error) => error.fmt(f),
            Self::SegmentCount { declared, given } => {
                write!(f, "the root says {declared} segments, and there are {given}")
            }
            Self::SegmentSize { index, declared, given } => {
                write!(f, "the root says {declared} bytes for segment {index}, which has {given}")
            }
            Self::SegmentOverlap { index, offset, end } => {
                write!(f, "segment {index} begins at {offset}, and the one in front ends at {end}")
            }
            Self::HeaderMissing => {
                f.write_str("data needs a header to say where it is, as does any .ptd")
            }
            Self::HeaderRoom { length, chunk } => {
                write!(f, "a header of {length} bytes in {chunk}: room for it, in whole 8 bytes")
            }
            Self::HeaderInFront => f.write_str(
                "a header in front of the FlatBuffer is that of an old .ptd: others have it inside",
            ),
            Self::Polyglot => f.write_str(
                "the tables would read as those of a current .ptd: segments, or another \
                 tensor_alignment, tell them apart",
            ),
            Self::Unknown(Unknown { fields, members }) => write!(
                f,
                "{fields} fields and {members} members of unions are of a newer writer, and would \
                 be lost"
            ),
            Self::Memory(error) => error.fmt(f),
            Self::TooLarge => f.write_str("the file would be longer than a file can be"),
            Self::TablesLimit { limit } => {
                write!(f, "the tables take more than the {limit} bytes allowed")
            }
            Self::Amplified(error) => error.fmt(f),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ModelError {}

impl From<WriteError> for ModelError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::OutOfMemory => Self::Memory(MemoryError::OutOfMemory),
            error => Self::Tables(error),
        }
    }
}

impl From<MemoryError> for ModelError {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<Amplified> for ModelError {
    fn from(error: Amplified) -> Self {
        Self::Amplified(error)
    }
}

impl From<ReadError> for ModelError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// The bytes of a range.
fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

macro_rules! root {
    ($schema:ident $Root:ident, |$root:ident, $each:ident| $indices:block) => {
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
                // No segments are as good as an empty list of them.
                if self.segments.is_some() || !segments.is_empty() {
                    self.segments = Some(segments.iter().map(place).collect());
                }
            }

            fn segment_indices(&mut self, $each: &mut dyn FnMut(&mut u32)) {
                let $root = self;
                $indices
            }
        }
    };
}

root!(program Program, |root, each| {
    root.constant_segment.iter_mut().for_each(|constants| each(&mut constants.segment_index));
    let mutable = root.mutable_data_segments.iter_mut().flatten();
    mutable.for_each(|mutable| each(&mut mutable.segment_index));
    let delegates = root.execution_plan.iter_mut().flatten().flat_map(|plan| &mut plan.delegates);
    for processed in delegates.flatten().filter_map(|delegate| delegate.processed.as_mut()) {
        if processed.location == program::DataLocation::SEGMENT {
            each(&mut processed.index);
        }
    }
    let named = root.named_data.iter_mut().flatten();
    named.for_each(|named| each(&mut named.segment_index));
});

root!(flat_tensor FlatTensor, |root, each| {
    let named = root.named_data.iter_mut().flatten();
    named.for_each(|named| each(&mut named.segment_index));
});

root!(flat_tensor_legacy FlatTensor, |root, each| {
    let tensors = root.tensors.iter_mut().flatten();
    tensors.for_each(|tensor| each(&mut tensor.segment_index));
    let named = root.named_data.iter_mut().flatten();
    named.for_each(|named| each(&mut named.segment_index));
});
