//! What the nodes of payloads have besides their values, and the values that their lists name.

use pte::graph::PayloadGraph;
use pte::{Handle, Limits};
use serde_json::{Value, json};

use crate::support::fixture::Fixture;
use crate::support::xnnpack::{changed, sound};
use crate::support::{build, files};

/// Returns each node of the payloads of a program as a line: its operator, inputs, outputs and attributes.
fn nodes(program: &Value) -> Vec<String> {
    nodes_of(&build::file(&program.to_string()))
}

fn nodes_of(file: &[u8]) -> Vec<String> {
    let handle = Handle::open(file, &Limits::UNTRUSTED).unwrap();
    let graphs = PayloadGraph::all(&handle, &Limits::UNTRUSTED).unwrap();
    let nodes = graphs.iter().flat_map(|graph| graph.nodes(false));
    let operators = nodes.filter_map(|node| {
        let (name, inputs, outputs) = (node.name?, node.inputs?, node.outputs?);
        let attributes = node.attributes.iter();
        let attributes = attributes.map(|one| format!(" {}={}", one.name.raw(), one.value.raw()));
        let attributes: String = attributes.collect();
        Some(format!("{} {inputs:?} {outputs:?}{attributes}", name.raw()))
    });
    operators.collect()
}

#[test]
fn nodes_of_xnnpack_have_the_fields_that_are_not_0() {
    let convolution = "XNNConv2d [0, 1, 2] [3] kernel_height=3 kernel_width=3 subsampling_height=1 \
        subsampling_width=1 dilation_height=1 dilation_width=1 group_input_channels=2 \
        group_output_channels=5 groups=1";
    assert_eq!(nodes(&sound("XNNConv2d")), [convolution]);
    let clamped = "x0/output_min_max = {\"output_max\": 6.5}";
    let clamped = nodes(&changed(&sound("XNNConv2d"), clamped));
    assert_eq!(clamped, [format!("{convolution} output_min=0.0 output_max=6.5")]);
    let padding = "XNNStaticConstantPad [0] [1] pre_paddings=[1, 1] post_paddings=[1, 2]";
    assert_eq!(nodes(&sound("XNNStaticConstantPad")), [padding]);
    assert_eq!(nodes(&sound("XNNStaticTranspose")), ["XNNStaticTranspose [0] [1] perm=[1, 0]"]);
}

#[test]
fn instructions_of_mlx_read_and_write_the_tensors_of_their_lists() {
    let Fixture(mut program) = Fixture::read("base/mlx").unwrap();
    let tensor = |idx: u32| json!({"idx": idx});
    let joined = json!({"tensors": [tensor(1), tensor(0)], "out": tensor(2), "axis": -1});
    let split = json!({"x": tensor(2), "outs": [tensor(1), tensor(0)], "sizes": [], "axis": 1});
    let taken = json!({"x": tensor(1), "out": tensor(2), "index": {"kind": 2, "tid": tensor(0)}});
    let shape = json!([{"is_vid": true, "vid": {"idx": 0}}, {"literal": 3}]);
    let reshaped = json!({"x": tensor(2), "out": tensor(2), "shape": shape});
    program["data"][0]["mlx"]["instruction_chains"][0]["instructions"] = json!([
        {"op_type": "ConcatenateNode", "op": joined},
        {"op_type": "SplitNode", "op": split},
        {"op_type": "TakeNode", "op": taken},
        {"op_type": "ReshapeNode", "op": reshaped},
    ]);
    let expected = [
        "ConcatenateNode [1, 0] [2] axis=-1",
        "SplitNode [2] [1, 0] sizes=[] axis=1",
        "TakeNode [1, 0] [2] axis=0",
        "ReshapeNode [2] [2] shape=[value 0, 3]",
    ];
    assert_eq!(nodes(&program), expected);
}

#[test]
fn calls_of_vulkan_have_their_other_arguments_by_position() {
    let nodes = nodes_of(&files::read("tests/data/pte/vulkan_cat.pte").unwrap());
    let sliced = "aten.slice_copy.Tensor [4] [6] argument 1=1 argument 2=1 argument 3=9223372036854775807 argument 4=1";
    assert!(nodes.iter().any(|node| node == sliced), "{nodes:?}");
    let permuted = "aten.permute_copy.default [6] [8] argument 1=[1, 0]";
    assert!(nodes.iter().any(|node| node == permuted), "{nodes:?}");
}
