//! XNNPACK's payloads: a header, a FlatBuffer with the graph, and constants after it.

use alloc::format;
use alloc::vec;
use core::ops::Range;

use super::{NamedConstant, NamedConstants, Unreadable};
use crate::bytes::{array_at, index, u32_at};
use crate::flat::verify;
use crate::limits::Limits;
use crate::schema::xnnpack::view::{XNNGraph, XNNQuantParams, XValue, XValueUnion};

/// The place of the graph in a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Graph {
    /// A range of the payload. Constants are elsewhere.
    At(Range<u64>),
    /// The whole payload: a FlatBuffer with the constants inside (before release 0.2).
    Whole,
}

/// The length of the header in bytes.
const HEADER: u64 = 30;

/// Returns the place of the graph in a payload of `len` bytes that begins with `head`; `None` if
/// the backend refuses the header.
fn graph(head: &[u8], len: u64) -> Option<Graph> {
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

/// Returns whether a graph has one of XNNPACK's identifiers.
fn is_graph(bytes: &[u8]) -> bool {
    matches!(array_at(bytes, 4), Some([b'X', b'N', b'0', b'0' | b'1']))
}

/// Reads as [`Payload::named_constants`](super::Payload::named_constants) does, for a payload of
/// `len` bytes. The ranges of `read` are those of the payload.
pub(super) fn named_constants<B: AsRef<[u8]>, E>(
    len: u64,
    limits: &Limits,
    mut read: impl FnMut(Range<u64>) -> Result<Option<B>, E>,
    each: impl FnMut(NamedConstant<'_>),
) -> Result<NamedConstants, E> {
    let Some(head) = read(0..len.min(HEADER))? else { return Ok(NamedConstants::Opaque) };
    let range = match graph(head.as_ref(), len) {
        Some(Graph::At(range)) => range,
        // The payload has no named data, since its constants are inside.
        Some(Graph::Whole) => return Ok(NamedConstants::All),
        None => return Ok(NamedConstants::Refused(Unreadable::Header { len })),
    };
    let Some(bytes) = read(range)? else { return Ok(NamedConstants::Opaque) };
    if !is_graph(bytes.as_ref()) {
        return Ok(NamedConstants::Refused(Unreadable::Identifier));
    }
    Ok(match verify::read::<XNNGraph<'_>>(bytes.as_ref(), limits) {
        Ok((graph, _)) => {
            each_named_constant(graph, each);
            NamedConstants::All
        }
        Err(error) => {
            let message = format!("at byte {} of its graph: {error}", error.offset());
            NamedConstants::Refused(Unreadable::Graph(message))
        }
    })
}

/// Calls `each` with every constant of a graph that is named data.
fn each_named_constant(graph: XNNGraph<'_>, mut each: impl FnMut(NamedConstant<'_>)) {
    let Some(constants) = graph.constant_data() else { return };
    let mut used = vec![false; constants.len()];
    for value in graph.xvalues().into_iter().flatten() {
        for constant in constants_of(value).into_iter().flatten() {
            // Constant 0 means that there is none.
            if let Some(used) = used.get_mut(index(constant)).filter(|_| constant != 0) {
                *used = true;
            }
        }
    }
    for (constant, is_used) in constants.iter().zip(used) {
        if let Some(key) = constant.named_key() {
            each(NamedConstant { key, size: constant.size(), is_used });
        }
    }
}

/// Returns the indices of the constants that a value refers to: its data and its scales.
fn constants_of(value: XValue<'_>) -> [Option<u32>; 2] {
    match value.xvalue_union() {
        Some(XValueUnion::XNNTensorValue(tensor)) => [Some(tensor.constant_buffer_idx()), None],
        Some(XValueUnion::XNNQuantizedTensorValue(value)) => {
            let scales = match value.quant_params() {
                Some(XNNQuantParams::PerChannelQuant(quant)) => Some(quant.scale_buffer_idx()),
                Some(XNNQuantParams::PerChannelGroupQuant(quant)) => Some(quant.scale_buffer_idx()),
                _ => None,
            };
            [value.tensor_value().map(|tensor| tensor.constant_buffer_idx()), scales]
        }
        _ => [None, None],
    }
}
