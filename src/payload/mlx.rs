//! MLX's payloads: a header, a FlatBuffer without an identifier, and data behind it.
//!
//! The layout and the checks of the loader are in docs/format.md §11.9.

use core::ops::Range;

use binrw::io::Cursor;
use binrw::{BinRead, binrw};

use super::Unreadable;
use crate::bytes::array_at;

/// The header of an MLX payload. All offsets are relative to the payload.
#[binrw]
#[brw(little, magic = b"MLX0")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MlxHeader {
    /// The start of the data, and the end of the graph with its padding.
    pub data_offset: u64,
    /// The number of bytes of data. The loader does not read it.
    pub data_size: u64,
}

impl MlxHeader {
    /// The length in bytes.
    pub const LENGTH: u16 = 24;
}

/// The parts of a payload, as ranges in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlxParts {
    /// The header.
    pub header: MlxHeader,
    /// The range of the graph.
    pub graph: Range<u64>,
    /// The range behind the graph, up to the end of the payload.
    pub data: Range<u64>,
}

impl MlxParts {
    /// Finds the parts of a payload of `len` bytes that begins with `head`. The first
    /// [`MlxHeader::LENGTH`] bytes are enough.
    ///
    /// # Errors
    ///
    /// The backend refuses the payload: it has another magic, or its graph is not in it.
    pub fn of(head: &[u8], len: u64) -> Result<Self, Unreadable> {
        let needed = u64::from(MlxHeader::LENGTH);
        if len < needed {
            return Err(Unreadable::Short { len, needed });
        }
        // The first four bytes are not read.
        let rest = head.get(4..).unwrap_or_default();
        let Ok(header) = MlxHeader::read(&mut Cursor::new(rest)) else {
            return Err(Unreadable::Magic { magic: array_at(head, 4).unwrap_or_default() });
        };
        let graph = needed..header.data_offset;
        if graph.is_empty() || graph.end > len {
            return Err(Unreadable::Part { name: "graph", range: graph, len });
        }
        let data = graph.end..len;
        Ok(Self { header, graph, data })
    }
}
