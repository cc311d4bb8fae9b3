//! Payloads of VGF: the segments, resources and constants of a genuine program, and damaged ones.

use pte::check::Checker;
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
pub(super) fn sample() -> (Vec<u8>, Vec<u8>) {
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
    with_graph_of(Backend::Vgf, payload, each)
}

/// Passes the graph of a backend's payload to `each`.
pub(super) fn with_graph_of<T>(
    backend: Backend,
    payload: &[u8],
    each: impl FnOnce(Result<Option<Graph<'_>>, Unreadable>) -> T,
) -> T {
    let read = |range: std::ops::Range<u64>| {
        Ok::<_, ()>(Some(payload[range.start as usize..range.end as usize].to_vec()))
    };
    let mut found = None;
    let (len, limits) = (payload.len() as u64, &Limits::UNTRUSTED);
    Graph::with(Some(backend), len, read, limits, |graph| found = Some(each(graph))).unwrap();
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

/// Returns the nodes of a graph as lines.
fn lines(graph: &PayloadGraph) -> Vec<String> {
    let lines = graph.nodes(false).map(|node| match node.kind {
        NodeKind::Operator => {
            let attributes = node.attributes.iter();
            let attributes =
                attributes.map(|one| format!(" {}={}", one.name.raw(), one.value.raw()));
            let (name, inputs) = (node.name.unwrap(), node.inputs.unwrap());
            let attributes = attributes.collect::<String>();
            format!("{} {inputs:?} {:?}{attributes}", name.raw(), node.outputs.unwrap())
        }
        kind => format!("{kind:?} {:?} {}", node.argument, node.text.unwrap_or_default()),
    });
    lines.collect()
}

/// Returns the nodes of a payload as lines.
pub(super) fn lines_of(payload: &[u8]) -> Vec<String> {
    with_graph(payload, |graph| lines(&PayloadGraph::of(0..0, graph.unwrap().unwrap())))
}

#[test]
fn the_graph_of_vgf_has_the_operators_of_its_code() {
    let (file, payload) = sample();
    let handle = Handle::open(&file[..], &Limits::UNTRUSTED).unwrap();
    let [graph] = &PayloadGraph::all(&handle, &Limits::UNTRUSTED).unwrap()[..] else { panic!() };
    // As `vgf_dump` of Arm's library prints resources.
    let layer = "pad=[0, 0, 0, 0] stride=[1, 1] dilation=[1, 1] acc_type=3 local_bound=false";
    let zero_points = "input_zp=[0] weight_zp=[0]";
    let expected = [
        "Constant None float32[9, 1, 1, 6]",
        "Constant None float32[2, 1, 1, 9]",
        "Input Some(0) float32[2, 6]",
        "Output Some(1) float32[2, 2]",
        "RESHAPE [2] [4] shape=[2, 1, 1, 6]",
        &format!(
            "CONV2D [4, 0] [5] {layer} bias=[-0.16322023, 0.062098544, 0.3327683, 0.22279845, -0.14612556, \
             0.09790251, 0.101247005, -0.40462223, -0.05928462] {zero_points}"
        ),
        "RESHAPE [5] [6] shape=[2, 9]",
        "MUL [6] [7] input2=[0.70710677] shift=[0]",
        "ERF [7] [8]",
        "ADD [8] [9] input2=[1.0]",
        "MUL [9] [10] input2=[0.5] shift=[0]",
        "MUL [6, 10] [11] shift=[0]",
        "RESHAPE [11] [12] shape=[2, 1, 1, 9]",
        &format!("CONV2D [12, 1] [13] {layer} bias=[0.116927825, -0.14189868] {zero_points}"),
        "RESHAPE [13] [3] shape=[2, 2]",
    ];
    assert_eq!(lines(graph), expected);
    assert_eq!(lines_of(&payload), expected);
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let rows = contents.iter().flat_map(ConstantRow::of_payload).map(|row| {
        let name = datatype_name(row.constant.datatype.name().unwrap());
        (name, row.bytes().unwrap(), row.constant.reader.unwrap().node)
    });
    assert_eq!(rows.collect::<Vec<_>>(), [("float32", 216, 1), ("float32", 72, 9)]);
}

/// The code of a shader has no graph.
#[test]
fn a_segment_of_vgf_without_a_graph_in_its_code_is_a_node() {
    let (_, mut payload) = sample();
    let magic = 0x0723_0203_u32.to_le_bytes();
    let code = payload.windows(4).position(|bytes| bytes == magic).unwrap();
    // OpGraphARM: without it the entry point names nothing.
    let graph = (3 << 16 | 4183_u32).to_le_bytes();
    let at = payload[code..].windows(4).position(|bytes| bytes == graph).unwrap();
    payload[code + at] ^= 0xff;
    let segment = r#"GRAPH [2, 0, 1] [3] name="graph_segment_0" entry_point="graph_partition_0""#;
    assert_eq!(lines_of(&payload).last().unwrap(), segment);
}

/// The driver binds resources to the graph in the code without comparing them.
#[test]
fn a_graph_of_vgf_has_the_formats_and_shapes_of_its_resources() {
    let (_, payload) = sample();
    let judged = |change: &dyn Fn(&mut [u8])| {
        let mut payload = payload.clone();
        change(&mut payload);
        let report = Checker::new().check_payload(&payload).unwrap();
        let found = report.findings().iter().filter(|found| found.rule.id == "vgf-graph");
        found.map(|found| found.message.clone()).collect::<Vec<_>>()
    };
    // The operands of the first instruction with this opcode.
    let operands = |opcode: u32, words: u32| {
        let first = (words << 16 | opcode).to_le_bytes();
        payload.windows(4).position(|bytes| bytes == first).unwrap() + 4
    };
    let set = |at: usize, word: u32| {
        judged(&|payload| payload[at..at + 4].copy_from_slice(&word.to_le_bytes()))
    };
    assert!(judged(&|_| {}).is_empty());
    // OpGraphConstantARM: its type and its number. The second constant has the type 63.
    let constant = operands(4181, 4);
    assert_eq!(set(constant + 8, 7), ["the code has constant 7, and the segment 2"]);
    let shape =
        "constant 0: the code expects the shape [2, 1, 1, 9], and the resource has [9, 1, 1, 6]";
    assert_eq!(set(constant, 63), [shape]);
    // OpTypeFloat 32: numbers of 64 bits have no format here, so only a known one is compared.
    let float = operands(22, 3);
    assert!(set(float + 4, 64).is_empty());
    let format =
        "binding 0, resource 2: the code expects R16_SFLOAT, and the resource is R32_SFLOAT";
    assert_eq!(set(float + 4, 16), [format]);
    // OpDecorate 13 Binding 1: the output is bound to the input's resource, which has another shape.
    let bindings = payload
        .windows(4)
        .enumerate()
        .filter(|(_, word)| *word == (4 << 16 | 71_u32).to_le_bytes());
    let binding = bindings.map(|(at, _)| at + 4).nth(2).unwrap();
    let swapped = set(binding + 8, 0);
    assert_eq!(
        swapped,
        ["binding 0, resource 2: the code expects the shape [2, 2], and the resource has [2, 6]"]
    );
}

#[test]
fn damaged_code_of_vgf_is_read_without_a_panic() {
    let (_, payload) = sample();
    let magic = 0x0723_0203_u32.to_le_bytes();
    let code = payload.windows(4).position(|bytes| bytes == magic).unwrap();
    let mut counts = std::collections::BTreeSet::new();
    for at in (code..0xcb0).step_by(4) {
        for word in [0, 2, 95, 0x1_0000, 4183, u32::MAX] {
            let mut payload = payload.clone();
            payload[at..at + 4].copy_from_slice(&word.to_le_bytes());
            with_graph(&payload, |graph| {
                if let Ok(Some(graph)) = graph {
                    counts.insert(lines(&PayloadGraph::of(0..0, graph)).len());
                }
            });
        }
    }
    assert!(counts.len() > 2, "{counts:?}");
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

/// The table of the constants has, for each, the resource, the dimension of sparsity, the size and the offset.
#[test]
fn a_constant_of_vgf_outside_of_its_section_has_no_data() {
    let (_, payload) = sample();
    let constants = usize::from_le_bytes(payload[64..72].try_into().unwrap());
    for (at, number) in [(24, 1 << 10), (24, u64::MAX), (32, 1 << 32), (32, u64::MAX), (32, 1)] {
        let mut payload = payload.clone();
        payload[constants + at..][..8].copy_from_slice(&u64::to_le_bytes(number));
        let range = with_graph(&payload, |graph| {
            let graph = graph.unwrap().unwrap();
            let value = graph.values.iter().find(|value| value.id == 0).unwrap();
            match &graph.data_of(value).unwrap().place {
                DataPlace::Payload(range) => Some(range.clone()),
                _ => None,
            }
        });
        assert_eq!(range.is_some(), number == 1, "{number:#x} at {at}");
        assert!(range.is_none_or(|range| range.end <= payload.len() as u64));
    }
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
