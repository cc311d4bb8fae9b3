//! Payloads of VGF: the segments, resources and constants of a genuine program, and damaged ones.

use pte::graph::{NodeKind, PayloadGraph};
use pte::payload::graph::DataPlace;
use pte::payload::{Graph, PayloadContents, Unreadable};
use pte::schema::vgf::desc;
use pte::tensors::{ConstantRow, datatype_name};
use pte::{Backend, Handle, Limits, Pte};
use pte_flat::desc::Schema;
use serde_json::json;

use crate::support::{build, files};

/// Returns the sample, and its payload.
fn sample() -> (Vec<u8>, Vec<u8>) {
    let file = files::read("tests/data/pte/vgf_linear.pte").unwrap();
    let program = Pte::read(&file).unwrap();
    let range = program.payloads().next().unwrap().unwrap().range();
    let payload = program.bytes(range).unwrap().to_vec();
    (file, payload)
}

/// Passes the graph of a payload to `each`.
fn with_graph<T>(
    payload: &[u8],
    each: impl FnOnce(Result<Option<Graph<'_>>, Unreadable>) -> T,
) -> T {
    let read = |range: std::ops::Range<u64>| {
        Ok::<_, ()>(Some(payload[range.start as usize..range.end as usize].to_vec()))
    };
    let mut found = None;
    let (len, limits) = (payload.len() as u64, &Limits::UNTRUSTED);
    Graph::with(Some(Backend::Vgf), len, read, limits, |graph| found = Some(each(graph))).unwrap();
    found.unwrap()
}

/// Returns the values with data: the id, the size, and the place.
fn data(payload: &[u8]) -> Vec<(u32, u64, u64)> {
    with_graph(payload, |graph| {
        let graph = graph.unwrap().unwrap();
        let of = |value| match &graph.data_of(value)?.place {
            DataPlace::Payload(range) => Some((value.id, range.end - range.start, range.start)),
            place => panic!("{place:?}"),
        };
        graph.used_values().filter_map(of).collect()
    })
}

#[test]
fn the_segments_of_vgf_are_nodes_and_its_resources_values() {
    let (file, _) = sample();
    let handle = Handle::open(&file[..], &Limits::UNTRUSTED).unwrap();
    let [graph] = &PayloadGraph::all(&handle, &Limits::UNTRUSTED).unwrap()[..] else { panic!() };
    let nodes = graph.nodes(false).map(|node| match node.kind {
        NodeKind::Operator => {
            let attributes = node.attributes.iter().map(|one| one.value.raw().to_string());
            let name = node.name.unwrap().raw().to_string();
            format!("{name} {:?} {:?}", node.inputs.unwrap(), attributes.collect::<Vec<_>>())
        }
        kind => format!("{kind:?} {:?} {}", node.argument, node.text.unwrap()),
    });
    // As `vgf_dump` of Arm's library prints them.
    let expected = [
        "Constant None float32[9, 1, 1, 6]",
        "Constant None float32[2, 1, 1, 9]",
        "Input Some(0) float32[2, 6]",
        "Output Some(1) float32[2, 2]",
        r#"GRAPH [2, 0, 1] ["\"graph_segment_0\"", "\"graph_partition_0\""]"#,
    ];
    assert_eq!(nodes.collect::<Vec<_>>(), expected);
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let rows = contents.iter().flat_map(ConstantRow::of_payload).map(|row| {
        let name = datatype_name(row.constant.datatype.name().unwrap());
        (name, row.bytes().unwrap(), row.constant.reader.unwrap().node)
    });
    assert_eq!(rows.collect::<Vec<_>>(), [("float32", 216, 0), ("float32", 72, 0)]);
}

#[test]
fn constants_of_older_vgf_are_found_in_their_flatbuffer() {
    let (_, payload) = sample();
    let sections = [16, 32, 48, 64].map(|at| {
        let number =
            |at| u64::from_le_bytes(payload[at..][..8].try_into().unwrap()).try_into().unwrap();
        let (start, size): (usize, usize) = (number(at), number(at + 8));
        payload[start..][..size].to_vec()
    });
    assert_eq!(data(&payload), [(0, 216, 0xcb0), (1, 72, 0xd88)]);
    let schema = Schema { root: &desc::ConstantSection, ..desc::SCHEMA };
    let constants = json!({"data": [
        {"mrt_index": 1, "sparsity_dimension": -1, "raw": [1, 2, 3]},
        {"mrt_index": 9, "sparsity_dimension": -1, "raw": [4]},
    ]});
    let [modules, sequence, resources, _] = sections;
    let old = build::write_graph(&schema, &constants);
    let payload = build::vgf([modules, sequence, resources, old], 3);
    let [(1, 3, start)] = data(&payload)[..] else { panic!() };
    assert_eq!(payload[start as usize..][..3], [1, 2, 3]);
}

#[test]
fn a_damaged_graph_of_vgf_is_unreadable() {
    let (_, payload) = sample();
    let damaged = |at: usize, bytes: &[u8]| {
        let mut payload = payload.clone();
        payload[at..][..bytes.len()].copy_from_slice(bytes);
        with_graph(&payload, |graph| graph.is_err())
    };
    assert!(!damaged(0, b"VGF1"));
    assert!(damaged(0, b"VGF2"), "the magic");
    for section in [16, 32, 48, 64] {
        assert!(damaged(section + 8, &u64::MAX.to_le_bytes()), "the size at {section}");
    }
    let constants = usize::from_le_bytes(payload[64..72].try_into().unwrap());
    assert!(damaged(constants + 8, &[0xff; 8]), "the number of constants");
    for len in 0..payload.len() {
        with_graph(&payload[..len], |graph| drop(graph));
    }
}
