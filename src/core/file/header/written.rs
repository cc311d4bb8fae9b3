//! Headers as they are written: their bytes, and the padding behind them.

use alloc::vec::Vec;
use binrw::io::Cursor;
use binrw::{BinWrite, binrw};

use super::{ExtendedHeader, FlatTensorHeader};

/// The first 8 bytes of every FlatBuffers file.
#[binrw]
#[brw(little)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandardHeader {
    /// The offset of the root table from the start of the file.
    pub root: u32,
    /// The identifier: `ET12` or `FT01`.
    pub identifier: [u8; 4],
}

/// A header with its padding of zeros, in the form that a writer inserts at byte 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BinWrite)]
#[bw(little)]
pub struct Chunk<H: for<'a> BinWrite<Args<'a> = ()> + 'static> {
    /// The length of the chunk in bytes.
    #[bw(ignore)]
    pub size: u64,
    /// The header in the chunk.
    #[bw(pad_size_to = *size)]
    pub header: H,
}

impl ExtendedHeader {
    /// Returns the header as stored, without padding and without unknown fields.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

impl FlatTensorHeader {
    /// Returns the header as stored, without padding.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

fn to_bytes<H>(header: &H) -> Vec<u8>
where
    H: for<'a> BinWrite<Args<'a> = ()> + binrw::meta::WriteEndian,
{
    let mut out = Cursor::new(Vec::new());
    // Writing to memory can fail only if memory is short.
    let written = header.write(&mut out);
    debug_assert!(written.is_ok(), "a header is written to memory");
    out.into_inner()
}
