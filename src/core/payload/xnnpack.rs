//! XNNPACK's payloads: a header, a FlatBuffer with the graph, and constants after it or named.
//!
//! [`XnnpackParts`] finds the parts by the header, and [`XnnpackGraph`] holds a graph of proven
//! structure. The layouts and the runtime's checks are in docs/format.md §11.

use core::ops::Range;

use super::Unreadable;
use crate::limits::Limits;
use crate::verify;
use pte_flat::bytes::{array_at, index, until_nul, wide};
use pte_flat::view::Table;
use pte_schema::xnnpack::view::{XNNGraph, XNNQuantParams, XNNTensorValue, XValue, XValueUnion};

pub(super) mod form;
mod header;
mod keys;
mod node;
pub(super) mod uses;

pub use super::graph::NO_ID;
pub use header::XnnpackHeader;
pub use node::{NodeIds, is_layer};

/// The parts of a payload, as ranges in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XnnpackParts {
    /// The header; `None` if the whole payload is the graph, as before release 0.2.
    pub header: Option<XnnpackHeader>,
    /// The range of the graph.
    pub graph: Range<u64>,
    /// The range of the constants after the graph.
    pub constants: Range<u64>,
}

/// A payload whose graph has a proven structure.
#[derive(Clone, Debug)]
pub struct XnnpackGraph<'p> {
    parts: XnnpackParts,
    root: XNNGraph<'p>,
}

/// The place of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayloadConstant<'p> {
    /// A range of the payload.
    Behind(Range<u64>),
    /// A vector of bytes in the graph, in a payload without a header.
    Within {
        /// The bytes.
        bytes: &'p [u8],
        /// The range of these bytes in the payload.
        range: Range<u64>,
    },
    /// Named data, of the program or of a `.ptd`.
    Named {
        /// The key.
        key: &'p str,
        /// The number of bytes that the payload declares for the data.
        size: u64,
    },
}

/// The reason why a constant with an index does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoConstant {
    /// The list of constants is too short for the index, or absent.
    Index {
        /// The number of constants in the list.
        len: usize,
    },
    /// The constant has no bytes.
    Empty,
    /// The range of the constant ends after the payload's constants.
    Range {
        /// The start of the constant, relative to the start of all constants.
        offset: u64,
        /// The number of bytes.
        size: u64,
        /// The number of bytes of all constants together.
        all: u64,
    },
}

impl XnnpackParts {
    /// Finds the parts of a payload of `len` bytes that begins with `head`. The first
    /// [`XnnpackHeader::LENGTH`] bytes are enough.
    ///
    /// # Errors
    ///
    /// The backend refuses the payload: it has no known magic, or a range is out of bounds.
    pub fn of(head: &[u8], len: u64) -> Result<Self, Unreadable> {
        if len < XnnpackHeader::LENGTH.into() {
            return Err(Unreadable::Short { len, needed: XnnpackHeader::LENGTH.into() });
        }
        let magic = array_at(head, 4).unwrap_or_default();
        let Some(header) = XnnpackHeader::read_from(head) else {
            return match is_graph(magic) {
                true => Ok(Self { header: None, graph: 0..len, constants: 0..0 }),
                false => Err(Unreadable::Magic { magic }),
            };
        };
        let graph = range(header.flatbuffer_offset, header.flatbuffer_size.into());
        let constants = range(header.constant_data_offset, header.constant_data_size);
        if header.flatbuffer_size < LEAST_GRAPH || graph.end > len {
            return Err(Unreadable::Part { name: "graph", range: graph, len });
        }
        if constants.end > len || constants.start < graph.end {
            return Err(Unreadable::Part { name: "constants", range: constants, len });
        }
        Ok(Self { header: Some(header), graph, constants })
    }
}

impl<'p> XnnpackGraph<'p> {
    /// Proves the structure of a graph. `bytes` must be the bytes of [`XnnpackParts::graph`].
    ///
    /// # Errors
    ///
    /// The backend refuses the graph: it has no known identifier, or breaks a structural rule.
    pub fn read(parts: XnnpackParts, bytes: &'p [u8], limits: &Limits) -> Result<Self, Unreadable> {
        let magic = array_at(bytes, 4).unwrap_or_default();
        if !is_graph(magic) {
            return Err(Unreadable::Magic { magic });
        }
        let proven = verify::read(bytes, limits).and_then(|(root, _)| {
            keys::limit(root, limits.bytes_visited(wide(bytes.len())))?;
            Ok(root)
        });
        match proven {
            Ok(root) => Ok(Self { parts, root }),
            Err(error) => Err(Unreadable::Graph(error.shifted(parts.graph.start))),
        }
    }

    /// Reads a whole payload in memory.
    ///
    /// # Errors
    ///
    /// The errors of [`XnnpackParts::of`] and [`read`](Self::read).
    pub fn parse(bytes: &'p [u8], limits: &Limits) -> Result<Self, Unreadable> {
        let parts = XnnpackParts::of(bytes, wide(bytes.len()))?;
        let at = |pos: u64| usize::try_from(pos).unwrap_or(usize::MAX);
        let graph = bytes.get(at(parts.graph.start)..at(parts.graph.end)).unwrap_or_default();
        Self::read(parts, graph, limits)
    }

    /// Returns the parts.
    pub fn parts(&self) -> &XnnpackParts {
        &self.parts
    }

    /// Returns the root table of the graph.
    pub fn root(&self) -> XNNGraph<'p> {
        self.root
    }

    /// Returns the position of a table of the graph in the payload.
    pub fn position(&self, table: impl Table<'p>) -> u64 {
        self.parts.graph.start.saturating_add(table.raw().pos().into())
    }

    /// Returns the constant with index `nth`, which must not be 0: that index means no constant.
    ///
    /// # Errors
    ///
    /// The runtime refuses the index.
    pub fn constant(&self, nth: u32) -> Result<PayloadConstant<'p>, NoConstant> {
        if self.parts.header.is_none() {
            let buffers = self.root.constant_buffer().unwrap_or_default();
            let buffer = buffers.get(index(nth)).ok_or(NoConstant::Index { len: buffers.len() })?;
            let storage = buffer.storage().ok_or(NoConstant::Empty)?;
            let (bytes, start) = (storage.bytes(), u64::from(storage.pos()));
            let start = self.parts.graph.start.saturating_add(start);
            let range = start..start.saturating_add(wide(bytes.len()));
            return Ok(PayloadConstant::Within { bytes, range });
        }
        let constants = self.root.constant_data().unwrap_or_default();
        let entry = constants.get(index(nth)).ok_or(NoConstant::Index { len: constants.len() })?;
        let (offset, size) = (entry.offset(), entry.size());
        // A constant with a key is named data, even if the key is empty.
        if let Some(key) = entry.named_key().map(until_nul) {
            return Ok(PayloadConstant::Named { key, size });
        }
        let Range { start, end } = self.parts.constants;
        let all = end.saturating_sub(start);
        match offset.checked_add(size) {
            Some(last) if last <= all => Ok(PayloadConstant::Behind(
                start.saturating_add(offset)..start.saturating_add(last),
            )),
            _ => Err(NoConstant::Range { offset, size, all }),
        }
    }
}

/// Returns the tensor of a value; `None` if the kind is unknown or a quantized value has no tensor.
pub fn tensor_of(value: XValue<'_>) -> Option<XNNTensorValue<'_>> {
    match value.xvalue_union()? {
        XValueUnion::XNNTensorValue(tensor) => Some(tensor),
        XValueUnion::XNNQuantizedTensorValue(value) => value.tensor_value(),
        XValueUnion::Unknown(_) => None,
    }
}

/// Returns the indices of the constants that a value uses as data and as scales; 0 for none.
pub fn constants_of(value: XValue<'_>) -> [u32; 2] {
    let data = tensor_of(value).map_or(0, XNNTensorValue::constant_buffer_idx);
    let scales = match value.xvalue_union() {
        Some(XValueUnion::XNNQuantizedTensorValue(value)) => match value.quant_params() {
            Some(XNNQuantParams::PerChannelQuant(quant)) => quant.scale_buffer_idx(),
            Some(XNNQuantParams::PerChannelGroupQuant(quant)) => quant.scale_buffer_idx(),
            _ => 0,
        },
        _ => 0,
    };
    [data, scales]
}

/// Returns whether `identifier` is one of an XNNPACK graph.
fn is_graph(identifier: [u8; 4]) -> bool {
    matches!(identifier, [b'X', b'N', b'0', b'0' | b'1'])
}

fn range(offset: u32, size: u64) -> Range<u64> {
    let start = u64::from(offset);
    start..start.saturating_add(size)
}

/// The length in bytes of the shortest graph that the runtime accepts.
const LEAST_GRAPH: u32 = 8;
