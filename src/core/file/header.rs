//! The headers, declared with binrw for reading and writing. They are read from the first 64 bytes.
//! The layouts are in format.md §1.1 and §2.1.

#[cfg(feature = "alloc")]
use binrw::{BinRead, binrw};

use super::plain::file_header;
use crate::error::{Error, ErrorKind, Magic, PathComponent, Result};
use crate::foreign::ForeignFormat;
use crate::limits::HEAD;
use pte_flat::bytes::{u32_at, wide};
use pte_schema::{flat_tensor, program};

#[cfg(feature = "alloc")]
mod written;

#[cfg(feature = "alloc")]
pub use written::{Chunk, StandardHeader};

file_header! {
    /// The extended header of a `.pte`, at byte 8. It gives the end of the FlatBuffer and the start of
    /// the segments. A program without segment data has no header.
    #[binrw]
    #[brw(little, magic = b"eh00")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ExtendedHeader {
        /// The length of this header in bytes, with its magic and without padding: 24 up to release 0.7, 32
        /// since 1.0. A newer writer may append fields.
        #[br(assert(length >= Self::MINIMUM, ErrorKind::HeaderLength {
            length, minimum: Self::MINIMUM,
        }))]
        pub length: u32,
        /// The length of the FlatBuffer in bytes from the start of the file, including the headers.
        pub program_size: u64,
        /// The start of the segments; 0 if there are none.
        pub segment_base_offset: u64,
        /// The number of bytes from `segment_base_offset` to the end of the last segment. A 24-byte
        /// header does not have this field, so its value is 0.
        #[br(if(length >= Self::CURRENT))]
        #[bw(if(*length >= Self::CURRENT))]
        pub segment_data_size: u64,
    }
}

file_header! {
    /// The header of a `.ptd`, at byte 8; at byte 0 in generation 0.
    #[binrw]
    #[brw(little, magic = b"FH01")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FlatTensorHeader {
        /// The length of this header in bytes, with its magic and without padding: always 40.
        #[br(assert(length >= Self::MINIMUM, ErrorKind::HeaderLength {
            length, minimum: Self::MINIMUM,
        }))]
        pub length: u32,
        /// The length of the chunk inserted at byte 8: this header and its padding. In generation 0 it is the
        /// start of the FlatBuffer.
        pub flatbuffer_offset: u64,
        /// The length of the FlatBuffer in bytes, without that chunk.
        pub flatbuffer_size: u64,
        /// The start of the segments.
        pub segment_base_offset: u64,
        /// The number of bytes from `segment_base_offset` to the end of the last segment.
        pub segment_data_size: u64,
    }
}

/// The headers of a file of either kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Head {
    Pte(Option<ExtendedHeader>),
    /// The header, and whether the FlatBuffer begins after it instead of around it (generation 0).
    Ptd(FlatTensorHeader, bool),
}

impl ExtendedHeader {
    /// The length of the shortest form in bytes.
    pub const MINIMUM: u32 = 24;
    /// The length of the current form in bytes.
    pub const CURRENT: u32 = 32;
}

impl FlatTensorHeader {
    /// The length of the only form in bytes.
    pub const MINIMUM: u32 = 40;
}

impl Head {
    /// Reads the headers of a file of `len` bytes from its first bytes (64, or all of a shorter file).
    pub(crate) fn read(head: &[u8], len: u64) -> Result<Self> {
        Self::read_fields(head, len).map_err(in_header)
    }

    fn read_fields(head: &[u8], len: u64) -> Result<Self> {
        let head = head.get(..HEAD).unwrap_or(head);
        if let Some(magic) = versioned(head, 0, &FLAT_TENSOR_MAGIC) {
            known_header(magic, FLAT_TENSOR_MAGIC, 0)?;
            return read_header(FlatTensorHeader::decode, head, 0, FlatTensorHeader::MINIMUM, len)
                .map(|header| Self::Ptd(header, true));
        }
        if let Some(identifier) = versioned(head, 4, &PROGRAM) {
            known_identifier(identifier, PROGRAM)?;
            return Self::pte(head, len);
        }
        if let Some(identifier) = versioned(head, 4, &FLAT_TENSOR) {
            known_identifier(identifier, FLAT_TENSOR)?;
            return Self::ptd(head, len);
        }
        let format = ForeignFormat::of(head);
        Err(Error::new(
            match format {
                ForeignFormat::Unknown | ForeignFormat::Zeros if len < 8 => {
                    return Err(too_short(len, 8));
                }
                _ => ErrorKind::OtherFormat { format },
            },
            0,
        ))
    }

    fn pte(head: &[u8], len: u64) -> Result<Self> {
        let Some(magic) = versioned(head, 8, &EXTENDED_MAGIC) else { return Ok(Self::Pte(None)) };
        known_header(magic, EXTENDED_MAGIC, 8)?;
        read_header(ExtendedHeader::decode, head, 8, ExtendedHeader::MINIMUM, len)
            .map(|header| Self::Pte(Some(header)))
    }

    fn ptd(head: &[u8], len: u64) -> Result<Self> {
        let Some(magic) = versioned(head, 8, &FLAT_TENSOR_MAGIC) else {
            return Err(match len < 8 + u64::from(FlatTensorHeader::MINIMUM) {
                true => too_short(len, 8 + u64::from(FlatTensorHeader::MINIMUM)),
                false => Error::new(ErrorKind::HeaderMissing {}, 8),
            });
        };
        known_header(magic, FLAT_TENSOR_MAGIC, 8)?;
        read_header(FlatTensorHeader::decode, head, 8, FlatTensorHeader::MINIMUM, len)
            .map(|header| Self::Ptd(header, false))
    }
}

/// Returns the four bytes at `pos`, if they equal `known` apart from the version, which is the final two
/// digits.
fn versioned(head: &[u8], pos: usize, known: &[u8; 4]) -> Option<[u8; 4]> {
    let found: [u8; 4] = *head.get(pos..)?.first_chunk()?;
    let [a, b, c, d] = found;
    let same = found == *known || (c.is_ascii_digit() && d.is_ascii_digit());
    (same && [a, b] == [known[0], known[1]]).then_some(found)
}

fn known_identifier(identifier: [u8; 4], known: [u8; 4]) -> Result<()> {
    if identifier == known {
        return Ok(());
    }
    let (identifier, known) = (Magic(identifier), Magic(known));
    Err(Error::new(ErrorKind::UnknownIdentifier { identifier, known }, 4))
}

fn known_header(magic: [u8; 4], known: [u8; 4], at: u64) -> Result<()> {
    if magic == known {
        return Ok(());
    }
    Err(Error::new(ErrorKind::UnknownHeader { magic: Magic(magic), known: Magic(known) }, at))
}

/// Reads the header at `at`, whose magic was already compared.
fn read_header<H>(
    decode: fn(&[u8]) -> Result<H, Option<ErrorKind>>,
    head: &[u8],
    at: usize,
    minimum: u32,
    len: u64,
) -> Result<H> {
    let bytes = head.get(at..).unwrap_or_default();
    decode(bytes).map_err(|refused| match refused {
        // The only field that the declaration can refuse is the length, 4 bytes after the magic.
        Some(kind) => Error::new(kind, wide(at).saturating_add(4)),
        // The magic was found, so the file must end inside the header.
        None => {
            let length = u32_at(bytes, 4).unwrap_or(minimum).max(minimum);
            too_short(len, wide(at).saturating_add(length.into()))
        }
    })
}

/// Returns the error of a file that is too short. Its offset is the end of the file.
fn too_short(len: u64, needed: u64) -> Error {
    Error::new(ErrorKind::FileTooShort { len, needed }, len)
}

pub(super) fn in_header(error: Error) -> Error {
    error.within(PathComponent::Field("header"))
}

const PROGRAM: [u8; 4] = program::desc::SCHEMA.identifier;
const FLAT_TENSOR: [u8; 4] = flat_tensor::desc::SCHEMA.identifier;
const EXTENDED_MAGIC: [u8; 4] = ExtendedHeader::MAGIC;
const FLAT_TENSOR_MAGIC: [u8; 4] = FlatTensorHeader::MAGIC;
