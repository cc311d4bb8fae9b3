//! Where the graph of an XNNPACK payload is: what its header says, held to its length.

use core::ops::Range;

use crate::bytes::{array_at, u32_at};

/// The graph of an XNNPACK payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Graph {
    /// In this range of the payload, with constants elsewhere.
    At(Range<u64>),
    /// The payload is nothing else, and has its constants inside (before release 0.2).
    Whole,
}

/// Bytes of the header.
pub(crate) const HEADER: u64 = 30;

/// Where the graph of a payload of `len` bytes, which begins with `head`, is; `None` where the
/// backend refuses the payload for its header.
pub(crate) fn xnnpack(head: &[u8], len: u64) -> Option<Graph> {
    if len < HEADER {
        return None;
    }
    match &array_at(head, 4)? {
        b"XH00" => {
            let begin = u64::from(u32_at(head, 10)?);
            let size = u64::from(u32_at(head, 14)?);
            let end = begin.checked_add(size)?;
            (size >= 8 && end <= len).then_some(Graph::At(begin..end))
        }
        b"XN00" | b"XN01" => Some(Graph::Whole),
        _ => None,
    }
}

/// Whether a graph has one of XNNPACK's identifiers.
pub(crate) fn is_graph(bytes: &[u8]) -> bool {
    matches!(array_at(bytes, 4), Some([b'X', b'N', b'0', b'0' | b'1']))
}
