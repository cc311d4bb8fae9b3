//! Layers that share packed weights in the backend's weights cache, by the keys of their filters and biases.

use serde_json::{Value, json};

use super::{is_broken, judge, passes};
use crate::support::xnnpack::{Constant, Inner, Input, NONE, Output, Tensor, changed, graph, node};

const RULE: &str = "xnnpack-weights-shared";

/// Returns a program whose constants are named data with these keys, in the order of the constants.
fn named(values: &[Tensor<'_>], nodes: &[Value], keys: &[&str]) -> Value {
    let mut program = graph(values, nodes);
    let mut offset = program["root"]["segments"][0]["size"].as_u64().unwrap();
    let mut names: Vec<&str> = Vec::new();
    for (nth, key) in (1..).zip(keys) {
        let size = program["data"][0]["xnnpack"]["constant_data"][nth]["size"].as_u64().unwrap();
        program =
            changed(&program, &format!("c{nth} = {{\"size\": {size}, \"named_key\": \"{key}\"}}"));
        if !names.contains(key) {
            names.push(key);
            let root = &mut program["root"];
            root["segments"].as_array_mut().unwrap().push(json!({"offset": offset, "size": size}));
            program["data"].as_array_mut().unwrap().push(json!({"zeros": size}));
            offset += size.next_multiple_of(16);
        }
    }
    let entries =
        (1..).zip(&names).map(|(segment, key)| json!({"key": key, "segment_index": segment}));
    program["root"]["named_data"] = entries.collect();
    program
}

/// Returns a convolution without a bias.
fn convolution(
    operator: &str,
    [input, filter, output]: [u32; 3],
    [inputs, outputs, groups, stride]: [u32; 4],
) -> Value {
    node(
        operator,
        json!({
            "kernel_height": 3, "kernel_width": 3, "subsampling_height": stride, "subsampling_width": stride,
            "dilation_height": 1, "dilation_width": 1, "group_input_channels": inputs,
            "group_output_channels": outputs, "groups": groups, "input1_id": input, "filter_id": filter,
            "bias_id": NONE, "output_id": output,
        }),
    )
}

fn linear(ids: [u32; 4], flags: u32) -> Value {
    let [input, filter, bias, output] = ids;
    let union =
        json!({"input1_id": input, "filter_id": filter, "bias_id": bias, "output_id": output});
    let mut node = node("XNNFullyConnected", union);
    node["xnode_union"]["flags"] = json!(flags);
    node
}

/// With other groups, the same filter is packed in another order.
#[test]
fn convolutions_of_other_groups_do_not_share_weights() {
    let two = |channels: u64, groups: u32| {
        let filter: &[u64] = &[4, 3, 3, 2];
        let values: [Tensor<'_>; 6] = [
            (Input, "fp32", &[1, 6, 7, 2]),
            (Constant, "fp32", filter),
            (Output, "fp32", &[1, 4, 5, 4]),
            (Input, "fp32", &[1, 6, 7, channels]),
            (Constant, "fp32", filter),
            (Output, "fp32", &[1, 4, 5, 4]),
        ];
        let nodes = [
            convolution("XNNConv2d", [0, 1, 2], [2, 4, 1, 1]),
            convolution("XNNConv2d", [3, 4, 5], [2, 4 / groups, groups, 1]),
        ];
        named(&values, &nodes, &["k", "k"])
    };
    passes(&two(2, 1), "two alike");
    is_broken(&judge(&two(4, 2)), RULE, "has the weights of", "two groups");
}

/// A filter is packed for each offset of a stride.
#[test]
fn transposed_convolutions_of_other_strides_do_not_share_weights() {
    let two = |stride: u32, to: &[u64]| {
        let (from, filter): (&[u64], &[u64]) = (&[1, 6, 7, 2], &[5, 3, 3, 2]);
        let values: [Tensor<'_>; 6] = [
            (Input, "fp32", from),
            (Constant, "fp32", filter),
            (Output, "fp32", &[1, 8, 9, 5]),
            (Input, "fp32", from),
            (Constant, "fp32", filter),
            (Output, "fp32", to),
        ];
        let nodes = [
            convolution("XNNConvTranspose2d", [0, 1, 2], [2, 5, 1, 1]),
            convolution("XNNConvTranspose2d", [3, 4, 5], [2, 5, 1, stride]),
        ];
        named(&values, &nodes, &["k", "k"])
    };
    passes(&two(1, &[1, 8, 9, 5]), "two alike");
    is_broken(&judge(&two(2, &[1, 13, 15, 5])), RULE, "has the weights of", "another stride");
}

/// The datatype of the input decides how the filter is packed.
#[test]
fn layers_of_inputs_of_another_datatype_do_not_share_weights() {
    let filter: &[u64] = &[5, 32];
    let two = |input: u32| {
        let values: [Tensor<'_>; 6] = [
            (Input, "fp32", &[2, 32]),
            (Constant, "qcint8", filter),
            (Output, "fp32", &[2, 5]),
            (Constant, "qcint8", filter),
            (Output, "fp32", &[2, 5]),
            (Inner, "qdint8", &[2, 32]),
        ];
        let nodes = [
            node("XNNConvert", json!({"input_id": 0, "output_id": 5})),
            linear([5, 1, NONE, 2], 0),
            linear([input, 3, NONE, 4], 0),
        ];
        named(&values, &nodes, &["k", "k"])
    };
    passes(&two(5), "two alike");
    is_broken(&judge(&two(0)), RULE, "has the weights of", "another input");
}

/// The key of packed weights is that of the filter and that of the bias.
#[test]
fn layers_with_another_bias_share_no_weights() {
    let two = |flags: u32, keys: &[&str]| {
        let values: [Tensor<'_>; 7] = [
            (Input, "fp32", &[1, 4]),
            (Constant, "fp32", &[4, 4]),
            (Constant, "fp32", &[4]),
            (Output, "fp32", &[1, 4]),
            (Constant, "fp32", &[4, 4]),
            (Constant, "fp32", &[4]),
            (Output, "fp32", &[1, 4]),
        ];
        named(&values, &[linear([0, 1, 2, 3], 0), linear([0, 4, 5, 6], flags)], keys)
    };
    passes(&two(0, &["k", "b", "k", "b"]), "two alike");
    passes(&two(1, &["k", "b", "k", "c"]), "another bias");
    is_broken(&judge(&two(1, &["k", "b", "k", "b"])), RULE, "has the weights of", "transposed");
}
