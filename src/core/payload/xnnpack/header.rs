//! The header in front of a graph, declared with binrw (docs/format.md §11.1).

use alloc::vec::Vec;
use binrw::io::Cursor;
use binrw::{BinRead, BinWrite, binrw};

use crate::file::header;

header! {
/// The header of an XNNPACK payload. All offsets are relative to the payload.
#[binrw]
#[brw(little, magic = b"XH00")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XnnpackHeader {
    /// The length of the header without padding. It is 30 in every genuine payload, and the runtime
    /// does not read it.
    pub length: u16,
    /// The start of the graph.
    pub flatbuffer_offset: u32,
    /// The length of the graph in bytes, without padding.
    pub flatbuffer_size: u32,
    /// The start of the constants.
    pub constant_data_offset: u32,
    /// The number of bytes of constants. It is 0 since release 0.6, as writers put constants in
    /// named data.
    pub constant_data_size: u64,
}
}

impl XnnpackHeader {
    /// The length in bytes, without padding.
    pub const LENGTH: u16 = 30;

    /// The length with the padding that every writer adds.
    pub const PADDED: u32 = 32;

    /// Reads the header at the start of `head`; `None` if there is no header, or it is truncated.
    pub(super) fn read_from(head: &[u8]) -> Option<Self> {
        // The runtime does not read the first four bytes.
        let rest = head.get(4..usize::from(Self::LENGTH))?;
        Self::read(&mut Cursor::new(rest)).ok()
    }

    /// Returns the header as stored, with its padding.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Cursor::new(Vec::from([0; 4]));
        out.set_position(4);
        // Writing to memory can fail only if memory is short.
        let written = self.write(&mut out);
        debug_assert!(written.is_ok(), "a header is written to memory");
        let mut bytes = out.into_inner();
        bytes.resize(pte_flat::bytes::index(Self::PADDED), 0);
        bytes
    }
}
