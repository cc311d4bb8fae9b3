//! Vulkan's payloads: a header, a FlatBuffer with the graph, and constants after it or in named
//! data.
//!
//! WebGPU's payloads have the same layout. The layout and the runtime's checks are in
//! docs/format.md §11.7.

use core::ops::Range;

use binrw::io::Cursor;
use binrw::{BinRead, binrw};

use super::Unreadable;
use crate::file::header;
use pte_flat::bytes::array_at;

header! {
    /// The header of a Vulkan payload. All offsets are relative to the payload.
    #[binrw]
    #[brw(little, magic = b"VH00")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct VulkanHeader {
        /// The length of the header without padding; at least 30.
        pub length: u16,
        /// The start of the graph.
        pub flatbuffer_offset: u32,
        /// The length of the graph in bytes, without padding.
        pub flatbuffer_size: u32,
        /// The start of the constants.
        pub bytes_offset: u32,
        /// The number of bytes of constants; 0 means up to the end of the payload.
        pub bytes_size: u64,
    }
}

impl VulkanHeader {
    /// The length in bytes, without padding.
    pub const LENGTH: u16 = 30;
}

/// The parts of a payload, as ranges in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VulkanParts {
    /// The header.
    pub header: VulkanHeader,
    /// The range of the graph.
    pub graph: Range<u64>,
    /// The range of the constants after the graph.
    pub constants: Range<u64>,
}

impl VulkanParts {
    /// Finds the parts of a payload of `len` bytes that begins with `head`. The first
    /// [`VulkanHeader::LENGTH`] bytes are enough.
    ///
    /// # Errors
    ///
    /// The backend refuses the payload: its magic is wrong, or a range in its header is out of
    /// bounds.
    pub fn of(head: &[u8], len: u64) -> Result<Self, Unreadable> {
        let needed = u64::from(VulkanHeader::LENGTH);
        if len < needed {
            return Err(Unreadable::Short { len, needed });
        }
        // The runtime does not read the first four bytes.
        let rest = head.get(4..).unwrap_or_default();
        let Ok(header) = VulkanHeader::read(&mut Cursor::new(rest)) else {
            return Err(Unreadable::Magic { magic: array_at(head, 4).unwrap_or_default() });
        };
        if header.length < VulkanHeader::LENGTH {
            return Err(Unreadable::Short { len: header.length.into(), needed });
        }
        let start = u64::from(header.flatbuffer_offset);
        let graph = start..start.saturating_add(header.flatbuffer_size.into());
        if start < header.length.into() || graph.is_empty() || graph.end > len {
            return Err(Unreadable::Part { name: "graph", range: graph, len });
        }
        let start = u64::from(header.bytes_offset);
        let end = match header.bytes_size {
            0 => len,
            size => start.saturating_add(size),
        };
        if start < graph.end || start > end || end > len {
            return Err(Unreadable::Part { name: "constants", range: start..end, len });
        }
        Ok(Self { header, graph, constants: start..end })
    }
}
