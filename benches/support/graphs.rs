//! Graphs of XNNPACK to measure on.

#![allow(
    dead_code,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "each benchmark uses some of it, and one that goes wrong is meant to stop"
)]

use pte::flat::write::{self, WriterLayout};
use pte::payload::xnnpack::XnnpackHeader;
use pte::schema::xnnpack::{XNNDatatype, desc, model};

/// The id of no value, and the index of no argument.
const NONE: u32 = u32::MAX;

/// Returns a graph that adds an input to itself, and each sum to itself.
pub(crate) fn additions(count: u32) -> Vec<u8> {
    let addition = |nth: u32| {
        model::XNodeUnion::XNNAdd(model::_XNNNode2x1 {
            input1_id: nth,
            input2_id: nth,
            output_id: nth + 1,
            flags: 0,
        })
    };
    let values = (0..=count).map(|id| value(id, vec![2, 3], place(id, count), 0)).collect();
    graph(values, (0..count).map(addition).collect(), None)
}

/// Returns a graph of linear layers in a row. Each has a filter and a bias, which are named data.
pub(crate) fn layers(count: u32) -> Vec<u8> {
    // The constants follow the values that nodes write.
    let filter = |nth: u32| count + 1 + 2 * nth;
    let layer = |nth: u32| {
        model::XNodeUnion::XNNFullyConnected(model::XNNFullyConnected {
            input1_id: nth,
            filter_id: filter(nth),
            bias_id: filter(nth) + 1,
            output_id: nth + 1,
            flags: 0,
        })
    };
    let constants = (0..count).flat_map(|nth| {
        let [filter, bias] = [filter(nth), filter(nth) + 1];
        [value(filter, vec![4, 4], None, filter - count), value(bias, vec![4], None, bias - count)]
    });
    let computed = (0..=count).map(|id| value(id, vec![2, 4], place(id, count), 0));
    let place = |nth: u32| model::ConstantDataOffset {
        offset: 0,
        size: if nth % 2 == 1 { 64 } else { 16 },
        named_key: Some(format!("{nth:064x}")),
    };
    let places = (0..=2 * count).map(place).collect();
    graph(computed.chain(constants).collect(), (0..count).map(layer).collect(), Some(places))
}

/// Returns the argument index and the flags of a value: the first value is the input of the graph, and
/// the value `last` is its output.
fn place(id: u32, last: u32) -> Option<(u32, u32)> {
    match id {
        0 => Some((0, 1)),
        id if id == last => Some((1, 2)),
        _ => None,
    }
}

fn value(
    id_out: u32,
    dims: Vec<u32>,
    argument: Option<(u32, u32)>,
    constant_buffer_idx: u32,
) -> model::XValue {
    let (external_id, flags) = argument.unwrap_or((NONE, 0));
    let tensor = model::XNNTensorValue {
        datatype: XNNDatatype::xnn_datatype_fp32,
        num_dims: u32::try_from(dims.len()).unwrap(),
        dims: Some(dims),
        constant_buffer_idx,
        external_id,
        flags,
        id_out,
        ..model::XNNTensorValue::default()
    };
    model::XValue { xvalue_union: Some(model::XValueUnion::XNNTensorValue(tensor)) }
}

/// Returns a graph without a header, or with one if it has constants.
fn graph(
    xvalues: Vec<model::XValue>,
    operators: Vec<model::XNodeUnion>,
    constant_data: Option<Vec<model::ConstantDataOffset>>,
) -> Vec<u8> {
    let count = u32::try_from(operators.len()).unwrap();
    let node = |(debug_handle, operator)| model::XNode {
        xnode_union: Some(operator),
        debug_handle,
        output_min_max: None,
    };
    let has_header = constant_data.is_some();
    let root = model::XNNGraph {
        version: Some("0".into()),
        xnodes: Some((0..).zip(operators).map(node).collect()),
        xvalues: Some(xvalues),
        num_externs: 2,
        input_ids: Some(vec![0]),
        output_ids: Some(vec![count]),
        constant_data,
        ..model::XNNGraph::default()
    };
    let graph = write::write(&desc::SCHEMA, &root, &[], &WriterLayout::default()).unwrap();
    if !has_header {
        return graph;
    }
    let header = XnnpackHeader {
        length: XnnpackHeader::LENGTH,
        flatbuffer_offset: XnnpackHeader::PADDED,
        flatbuffer_size: u32::try_from(graph.len()).unwrap(),
        constant_data_offset: XnnpackHeader::PADDED + u32::try_from(graph.len()).unwrap(),
        constant_data_size: 0,
    };
    [header.to_bytes(), graph].concat()
}
