//! MLX's payloads: a header, a FlatBuffer without an identifier, and data after it.
//!
//! The layout, and the checks of MLX's loader, are in docs/format.md §11.9.

use core::ops::Range;

use binrw::io::Cursor;
use binrw::{BinRead, binrw};

use super::Unreadable;
use crate::file::header;
use pte_flat::bytes::array_at;

header! {
    /// The header of an MLX payload. All offsets are relative to the payload.
    #[binrw]
    #[brw(little, magic = b"MLX0")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MlxHeader {
        /// The start of the data, and the end of the graph including its padding.
        pub data_offset: u64,
        /// The number of bytes of data. MLX's loader does not read this field.
        pub data_size: u64,
    }
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
    /// The range after the graph, up to the end of the payload.
    pub data: Range<u64>,
}

impl MlxParts {
    /// Finds the parts of a payload of `len` bytes that begins with `head`. The first
    /// [`MlxHeader::LENGTH`] bytes are enough.
    ///
    /// # Errors
    ///
    /// The backend refuses the payload: its magic is wrong, or its graph is out of bounds.
    pub fn of(head: &[u8], len: u64) -> Result<Self, Unreadable> {
        let needed = u64::from(MlxHeader::LENGTH);
        if len < needed {
            return Err(Unreadable::Short { len, needed });
        }
        // The runtime does not read the first four bytes.
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
