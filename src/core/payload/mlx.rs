//! MLX's payloads: a header, a FlatBuffer without an identifier, and data after it.
//!
//! The layout, and the checks of MLX's loader, are in docs/format.md §11.9.

use binrw::binrw;

use super::Unreadable;
use super::flatbuffer::{FlatBufferFormat, Parts, header_of};
use super::graph::Detail;
use super::sections::Section;
use crate::file::header;
use pte_schema::mlx::desc;

mod form;
mod operands;

pub use operands::{MISSING, Operand, OperandKind, for_each_operand};

pub(super) static FORMAT: FlatBufferFormat = FlatBufferFormat {
    schema: &desc::SCHEMA,
    identifiers: &[],
    header: MlxHeader::FIELDS,
    detail: Detail::Values,
    parts,
    graph: form::graph,
};

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

/// Finds the parts of a payload of `len` bytes that begins with `head`.
fn parts(head: &[u8], len: u64) -> Result<Parts, Unreadable> {
    let needed = u64::from(MlxHeader::LENGTH);
    let header: MlxHeader = header_of(head, len, needed)?;
    let graph = needed..header.data_offset;
    if graph.is_empty() || graph.end > len {
        return Err(Unreadable::Part { name: "graph", range: graph, len });
    }
    let section = Some(Section::new("data", graph.end..len));
    Ok(Parts { graph, section, ..Parts::default() })
}
