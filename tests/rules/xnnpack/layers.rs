//! The layers: their datatypes, filters, biases and shapes.

use serde_json::{Value, json};

use super::{found, hold, is_broken, judge, passes};
use crate::support::build;
use crate::support::xnnpack::{
    Constant, Inner, Input, Output, Tensor, changed, graph, inline, node, sound,
};

/// Input, filter, the biases, output: the combinations that the backend has kernels for.
type Layer = (&'static str, &'static str, &'static [&'static str], &'static str);

#[rustfmt::skip]
const FLOATS: [Layer; 4] = [
    ("fp32", "fp32", &["fp32"], "fp32"), ("fp16", "fp32", &["fp32"], "fp16"),
    ("fp16", "fp16", &["fp16", "fp32"], "fp16"), ("fp32", "fp16", &["fp16", "fp32"], "fp32"),
];
#[rustfmt::skip]
const LINEAR: [Layer; 15] = [
    ("bf16", "bf16", &["fp32"], "fp32"), ("bf16", "bf16", &["fp32"], "bf16"),
    ("fp32", "qcint8", &["fp32"], "fp32"), ("fp32", "qcint4", &["fp32"], "fp32"),
    ("qdint8", "qcint8", &["fp32"], "fp32"), ("qdint8", "qcint4", &["fp32"], "fp32"),
    ("qdint8", "qbint4", &["fp32"], "fp32"), ("qdint8", "qcint8", &["fp32"], "fp16"),
    ("qdint8", "qcint4", &["fp32"], "fp16"), ("qdint8", "qbint4", &["fp32"], "fp16"),
    ("qdint8", "qbint4", &["fp32"], "bf16"),
    ("qint8", "qcint8", &["qcint32", "qint32"], "qint8"),
    ("qint8", "qcint4", &["qcint32", "qint32"], "qint8"),
    ("qint8", "qint8", &["qint32"], "qint8"), ("quint8", "quint8", &["qint32"], "quint8"),
];
#[rustfmt::skip]
const BYTES: [Layer; 3] = [
    ("qint8", "qint8", &["qint32"], "qint8"), ("qint8", "qcint8", &["qcint32"], "qint8"),
    ("quint8", "quint8", &["qint32"], "quint8"),
];
const DYNAMIC: [Layer; 2] =
    [("qdint8", "qcint8", &["fp32"], "fp32"), ("qdint8", "qcint8", &["fp32"], "fp16")];

/// The operators, with their combinations.
fn layers() -> [(&'static str, Vec<Layer>); 4] {
    let join = |lists: &[&[Layer]]| lists.concat();
    let transposed = [FLOATS[0], FLOATS[1], FLOATS[3]];
    [
        ("XNNFullyConnected", join(&[&FLOATS, &LINEAR])),
        ("XNNConv2d", join(&[&FLOATS, &BYTES, &DYNAMIC])),
        ("XNNDepthwiseConv2d", join(&[&FLOATS, &BYTES])),
        ("XNNConvTranspose2d", join(&[&transposed, &BYTES, &DYNAMIC[..1]])),
    ]
}

/// Returns a layer of these datatypes. One that is quantized when it runs converts its input.
fn layer(operator: &str, datatypes: [&str; 4]) -> Value {
    let [input, filter, bias, output] = datatypes;
    let model = sound(operator);
    let (from, weight, to): (&[u64], &[u64], &[u64]) = match operator {
        "XNNFullyConnected" => (&[2, 32], &[5, 32], &[2, 5]),
        "XNNConv2d" => (&[1, 6, 7, 2], &[5, 3, 3, 2], &[1, 4, 5, 5]),
        "XNNDepthwiseConv2d" => (&[1, 6, 7, 2], &[1, 3, 3, 4], &[1, 4, 5, 4]),
        _ => (&[1, 6, 7, 2], &[5, 3, 3, 2], &[1, 8, 9, 5]),
    };
    let outputs = [*to.last().unwrap()];
    let mut node_of = model["data"][0]["xnnpack"]["xnodes"][0].clone();
    let mut values: Vec<Tensor<'_>> = vec![
        (Input, input, from),
        (Constant, filter, weight),
        (Constant, bias, &outputs),
        (Output, output, to),
    ];
    let mut nodes = Vec::new();
    if input == "qdint8" {
        values[0] = (Input, "fp32", from);
        values.push((Inner, "qdint8", from));
        node_of["xnode_union"]["input1_id"] = json!(4);
        nodes.push(node("XNNConvert", json!({"input_id": 0, "output_id": 4})));
    }
    nodes.push(node_of);
    let mut program = graph(&values, &nodes);
    if operator == "XNNDepthwiseConv2d" && filter == "qcint8" {
        // The channels of its filter are last.
        program = changed(&program, "q1/channel_dim = 3; q1/scale = [0.5, 0.5, 0.5, 0.5]");
    }
    program
}

const ALL: [&str; 11] = [
    "fp32", "fp16", "bf16", "int32", "qint8", "quint8", "qint32", "qcint8", "qcint32", "qcint4",
    "qbint4",
];

#[test]
fn layers_take_the_datatypes_that_have_a_kernel() {
    for (operator, taken) in layers() {
        for &(input, filter, biases, output) in &taken {
            for bias in biases {
                let about = format!("{operator}: {input} {filter} {bias} {output}");
                passes(&layer(operator, [input, filter, bias, output]), &about);
            }
        }
    }
}

/// The kernel of bf16 writes f32. The backend adds a value with the dims of the output, and reads
/// them through a null pointer if there are none.
#[test]
fn a_linear_layer_of_bf16_has_an_output_with_dims_that_fit_as_f32() {
    let of = |input, filter, output| layer("XNNFullyConnected", [input, filter, "fp32", output]);
    hold(
        &of("bf16", "bf16", "bf16"),
        r#"
        v3/num_dims = 0; -v3/dims => xnnpack-missing: the output is bf16, and has no dims
        v3/num_dims = 0; v3/dims = []
        v3/dims = [32767, 32768]
        v3/dims = [32768, 32768] => xnnpack-rank: fp32, for the output, takes 4 GiB
    "#,
    );
    // Other kernels write their output, and compute its shape when they run.
    let without = "v3/num_dims = 0; -v3/dims";
    hold(&of("bf16", "bf16", "fp32"), without);
    hold(&of("fp32", "fp32", "fp32"), without);
    hold(&of("qdint8", "qbint4", "bf16"), without);
}

/// The backend refuses to create a layer without channels, and may free memory twice then.
#[test]
fn a_linear_layer_has_channels() {
    for [input, filter, output] in
        [["fp32", "fp32", "fp32"], ["bf16", "bf16", "bf16"], ["qdint8", "qcint8", "fp32"]]
    {
        hold(
            &layer("XNNFullyConnected", [input, filter, "fp32", output]),
            "v1/dims = [0, 32] => xnnpack-attribute: which has no channels
             v1/dims = [5, 0] => xnnpack-attribute: which has no channels",
        );
    }
}

/// Each combination with one of its datatypes exchanged for each other one.
#[test]
fn layers_do_not_take_the_neighbours_of_what_they_take() {
    let mut count = 0;
    for (operator, taken) in layers() {
        let takes = |[input, filter, bias, output]: [&str; 4]| {
            taken
                .iter()
                .any(|&(i, f, b, o)| (i, f, o) == (input, filter, output) && b.contains(&bias))
        };
        for &(input, filter, biases, output) in &taken {
            let own = [input, filter, biases[0], output];
            for place in 0..4 {
                for datatype in ALL {
                    let mut other = own;
                    other[place] = datatype;
                    let is_arg = place == 0 || place == 3;
                    let is_no_arg = datatype.starts_with("qc")
                        || datatype.starts_with("qb")
                        || datatype == "qint32";
                    // Groups need 32 inputs, and one dimension of a bias is too few.
                    let is_no_group =
                        datatype == "qbint4" && (place == 2 || operator != "XNNFullyConnected");
                    if takes(other) || is_arg && is_no_arg || is_no_group {
                        continue;
                    }
                    count += 1;
                    let found = judge(&layer(operator, other));
                    let about = format!("{operator}: {other:?}");
                    is_broken(&found, "xnnpack-datatype", "no kernel for", &about);
                }
            }
        }
    }
    assert!(count > 500, "{count}");
}

/// The exporter writes such a filter for `nn.Linear(1, 1)` of 4 bits, and the runtime crashes when it loads it.
#[test]
fn a_filter_of_half_a_byte_is_refused() {
    for (filter, inputs, outputs, is_refused) in [
        ("qcint4", 1, 1, true),
        ("qcint4", 2, 1, false),
        ("qcint4", 1, 2, false),
        ("qcint8", 1, 1, false),
    ] {
        let (rows, filters, results) = ([3, inputs], [outputs, inputs], [3, outputs]);
        let values: [Tensor<'_>; 4] = [
            (Input, "fp32", &rows),
            (Inner, "qdint8", &rows),
            (Constant, filter, &filters),
            (Output, "fp32", &results),
        ];
        let ids = json!({"input1_id": 1, "filter_id": 2, "bias_id": u32::MAX, "output_id": 3});
        let convert = node("XNNConvert", json!({"input_id": 0, "output_id": 1}));
        let program = graph(&values, &[convert, node("XNNFullyConnected", ids)]);
        let about = format!("{filter} [{outputs}, {inputs}]");
        match is_refused {
            true => is_broken(
                &judge(&program),
                "xnnpack-constant-short",
                "a filter of one element of xnn_datatype_qcint4",
                &about,
            ),
            false => passes(&program, &about),
        }
    }
}

#[test]
fn matrices_take_the_datatypes_that_have_a_kernel() {
    let all = ["fp32", "fp16", "bf16", "int32", "qint8", "quint8"];
    let taken = [
        ["fp32", "fp32", "fp32"],
        ["fp16", "fp16", "fp16"],
        ["qint8", "qint8", "qint8"],
        ["bf16", "bf16", "fp32"],
    ];
    let ids = json!({"input1_id": 0, "input2_id": 1, "output_id": 2});
    for a in all {
        for b in all {
            for to in all {
                let values: [Tensor<'_>; 3] =
                    [(Input, a, &[3, 4]), (Input, b, &[4, 5]), (Output, to, &[3, 5])];
                let program = graph(&values, &[node("XNNBatchMatrixMultiply", ids.clone())]);
                match taken.contains(&[a, b, to]) {
                    true => passes(&program, a),
                    false => is_broken(&judge(&program), "xnnpack-datatype", "no kernel", a),
                }
            }
        }
    }
    let values: [Tensor<'_>; 3] =
        [(Input, "fp32", &[3, 4]), (Constant, "qcint8", &[5, 4]), (Output, "fp32", &[3, 5])];
    let quantized = graph(&values, &[node("XNNBatchMatrixMultiply", ids.clone())]);
    let quantized = changed(&quantized, "n0/flags = 1");
    hold(
        &quantized,
        r#"
        v1/dims = [1, 5, 4]; v1/num_dims = 3; q1/channel_dim = 1 => xnnpack-shape: the nodes compute [1, 3, 5]
        n0/flags = 0; v1/dims = [4, 5] => xnnpack-attribute: 4 scales for matrices of [4, 5]
        q1/channel_dim = 1 => xnnpack-attribute: 4 scales for matrices of [5, 4]
        v1/dims = [20]; v1/num_dims = 1; q1/scale = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
            => xnnpack-attribute: a matrix of [20]
    "#,
    );
    let values: [Tensor<'_>; 3] =
        [(Input, "qint8", &[3, 4]), (Input, "qint8", &[4, 5]), (Output, "qint8", &[3, 5])];
    hold(
        &graph(&values, &[node("XNNBatchMatrixMultiply", ids)]),
        r#"
        q1/zero_point = 1 => xnnpack-attribute: the second matrix has the zero point 1
        q0/zero_point = 1
    "#,
    );
}

/// Filters and biases that are computed: only floats of a linear layer.
#[test]
fn filters_are_constants_unless_a_linear_layer_has_floats() {
    let sizes: [&[u64]; 4] = [&[2, 4], &[5, 4], &[5], &[2, 5]];
    let ids = json!({"input1_id": 0, "filter_id": 1, "bias_id": 2, "output_id": 3});
    let with = |filter, bias, types: [&'static str; 4]| {
        let roles = [Input, filter, bias, Output];
        let values: Vec<_> = (0..4).map(|nth| (roles[nth], types[nth], sizes[nth])).collect();
        graph(&values, &[node("XNNFullyConnected", ids.clone())])
    };
    passes(&with(Input, Input, ["fp32"; 4]), "all computed");
    // The channels of a computed filter are those of its argument.
    hold(
        &with(Input, Input, ["fp32"; 4]),
        r#"
        v1/dims = [0, 4]
        a0/sizes = [2, 0]; a1/sizes = [5, 0] => xnnpack-shape: an input of [2, 0] and a filter of [5, 0]
        a1/sizes = [0, 4]; a3/sizes = [2, 0] => xnnpack-shape: an input of [2, 4] and a filter of [0, 4]
    "#,
    );
    // Inline, since the runtime frees a payload in a segment, with the bias.
    passes(&inline(&with(Input, Constant, ["fp16"; 4])), "a filter of fp16");
    let bytes = ["qint8", "qint8", "qint32", "qint8"];
    passes(&with(Constant, Constant, bytes), "constants");
    let found = judge(&with(Input, Constant, bytes));
    is_broken(&found, "xnnpack-attribute", "the filter is no constant", "filter");
    // Only constants are converted to the datatype of the input.
    passes(&inline(&with(Constant, Constant, ["fp16", "fp32", "fp32", "fp16"])), "converted");
    for types in [["fp16", "fp32", "fp32", "fp16"], ["fp32", "fp16", "fp32", "fp32"]] {
        let found = judge(&with(Input, Constant, types));
        is_broken(&found, "xnnpack-attribute", "the filter is no constant", "not converted");
    }
    let found = judge(&with(Constant, Constant, ["bf16", "bf16", "fp32", "fp32"]));
    assert!(found.is_empty(), "{found:?}");
    let found = judge(&with(Input, Constant, ["bf16", "bf16", "fp32", "fp32"]));
    is_broken(&found, "xnnpack-attribute", "the filter is no constant", "bf16");
    for operator in ["XNNConv2d", "XNNDepthwiseConv2d", "XNNConvTranspose2d"] {
        for (value, name) in [(1, "filter"), (2, "bias")] {
            let change = format!("v{value}/constant_buffer_idx = 0");
            let found = judge(&changed(&sound(operator), &change));
            let part = format!("the {name} is no constant");
            is_broken(&found, "xnnpack-attribute", &part, operator);
        }
    }
}

#[test]
fn groups_of_a_filter_fill_its_rows() {
    let program = layer("XNNFullyConnected", ["qdint8", "qbint4", "fp32", "fp32"]);
    hold(
        &program,
        r#"
        q1/group_size = 16; q1/scale = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
            => xnnpack-attribute: 32 input channels in groups of 16
        q1/group_size = 64; q1/scale = [1, 1] => xnnpack-attribute: in groups of 64
        q1/group_size = 0 => xnnpack-quantization: group_size 0
        q1/group_size = -32 => xnnpack-quantization: group_size -32
        q1/scale = [1, 1, 1, 1] => xnnpack-quantization: 4 scales: [5, 32] in groups of 32 needs 5
        q1/scale = [1, 1, 1, 1, 1, 1] => xnnpack-quantization: 6 scales
        q1/scale = [1, 1, 0, 1, 1] => xnnpack-quantization: scale 2 is 0.0
        q1/channel_dim = 2 => xnnpack-quantization: channel_dim 2 of 2 dimensions
        v1/dims = [160]; v1/num_dims = 1 => xnnpack-quantization: 1 dimensions: groups need two
        q4/num_nonbatch_dims = 2 => xnnpack-attribute: num_nonbatch_dims 2 of [2, 32]
        q4/num_nonbatch_dims = 3 => xnnpack-quantization: num_nonbatch_dims 3 of 2 dimensions
        q4/num_nonbatch_dims = -1 => xnnpack-quantization: num_nonbatch_dims -1
    "#,
    );
}

#[test]
fn channels_of_a_filter_are_where_its_layer_reads_them() {
    let linear = layer("XNNFullyConnected", ["qdint8", "qcint8", "fp32", "fp32"]);
    let many = format!("q1/scale = {:?}", vec![1.0; 32]);
    hold(
        &linear,
        &format!(
            "q1/channel_dim = 1; {many} => xnnpack-attribute: the filter's channel_dim is 1, and the node's 0
             n1/flags = 1 => xnnpack-attribute: the filter's channel_dim is 0, and the node's 1
             q1/channel_dim = -1 => xnnpack-quantization: channel_dim -1 of 2 dimensions"
        ),
    );
    let convolution = layer("XNNConv2d", ["qdint8", "qcint8", "fp32", "fp32"]);
    hold(
        &convolution,
        r#"
        q1/channel_dim = 3 => xnnpack-attribute: channel_dim is 3, and the node's 0
        q4/num_nonbatch_dims = 3
        q4/num_nonbatch_dims = 4 => xnnpack-attribute: num_nonbatch_dims 4 of [1, 6, 7, 2]
    "#,
    );
    let depthwise = layer("XNNDepthwiseConv2d", ["qint8", "qcint8", "qcint32", "qint8"]);
    hold(
        &depthwise,
        r#"
        q1/channel_dim = 0 => xnnpack-attribute: channel_dim is 0, and the node's 3
        v1/dims = [2, 3, 3, 2] => xnnpack-attribute: 2 scales for 4 output channels
    "#,
    );
    let transposed = layer("XNNConvTranspose2d", ["qint8", "qcint8", "qcint32", "qint8"]);
    hold(
        &transposed,
        r#"
        q1/channel_dim = 1 => xnnpack-attribute: channel_dim is 1, and the node's 0
        v1/dims = [3, 5, 3, 2] => xnnpack-attribute: 3 scales for 5 output channels
    "#,
    );
}

#[test]
fn images_are_as_large_as_the_kernel_and_have_its_channels() {
    for (operator, channels) in [("XNNConv2d", 5), ("XNNDepthwiseConv2d", 4)] {
        hold(
            &sound(operator),
            &format!(
                "a0/sizes = [1, 6, 7, 3] => xnnpack-shape: images of [1, 6, 7, 3]: the node takes 2 channels
                 a0/sizes = [1, 2, 7, 2] => xnnpack-shape: are smaller than the kernel
                 a0/sizes = [1, 6, 2, 2] => xnnpack-shape: are smaller than the kernel
                 a0/sizes = [0, 6, 7, 2] => xnnpack-shape: images of [0, 6, 7, 2]
                 a0/sizes = [6, 7, 2]; a0/dim_order = [0, 1, 2] => xnnpack-shape: images of [6, 7, 2]
                 n0/padding_top = 1 => xnnpack-shape: the nodes compute [1, 5, 5, {channels}]
                 n0/padding_bottom = 1 => xnnpack-shape: the nodes compute [1, 5, 5, {channels}]
                 n0/padding_left = 1 => xnnpack-shape: the nodes compute [1, 4, 6, {channels}]
                 n0/padding_right = 1 => xnnpack-shape: the nodes compute [1, 4, 6, {channels}]
                 n0/subsampling_height = 2 => xnnpack-shape: the nodes compute [1, 2, 5, {channels}]
                 n0/subsampling_width = 2 => xnnpack-shape: the nodes compute [1, 4, 3, {channels}]
                 n0/dilation_height = 2 => xnnpack-shape: the nodes compute [1, 2, 5, {channels}]
                 n0/dilation_width = 2 => xnnpack-shape: the nodes compute [1, 4, 3, {channels}]
                 n0/dilation_height = 3 => xnnpack-shape: are smaller than the kernel
                 n0/dilation_height = 3; n0/padding_top = 1;
                     => xnnpack-shape: the nodes compute [1, 1, 5, {channels}]"
            ),
        );
    }
}

/// The backend computes the factor of the sums in f32, and refuses to create the layer. In a graph that it changed
/// before, it frees memory twice then.
#[test]
fn the_scales_of_a_layer_make_no_factor_of_256_or_more() {
    let too_large = "xnnpack-scale: the backend takes less than 256";
    let mut count = 0;
    for (operator, taken) in layers() {
        for (input, filter, biases, output) in taken {
            // Inputs and outputs of bytes, one scale for each: 0.5 × the filter's ÷ 0.5.
            if !["qint8", "quint8"].contains(&input) {
                continue;
            }
            let program = layer(operator, [input, filter, biases[0], output]);
            hold(
                &program,
                &format!(
                    "q0/scale = 255.99998
                     q0/scale = 256.0 => {too_large}
                     q0/scale = 3e38; q3/scale = 2e-38 => {too_large}
                     q0/scale = 2e-38; q3/scale = 3e38
                     q3/scale = 0.0009765625 => xnnpack-scale: scales 0.5 × 0.5 ÷ 0.0009765625 are 256.0"
                ),
            );
            let filter_scale = match filter.starts_with("qc") {
                true => "q1/scale/1",
                false => "q1/scale",
            };
            hold(
                &program,
                &format!(
                    "{filter_scale} = 255.99998
                     {filter_scale} = 256.0 => {too_large}"
                ),
            );
            count += 1;
        }
    }
    assert_eq!(count, 13);
    // The sums of a layer that is quantized when it runs are scaled to f32.
    let dynamic = layer("XNNConv2d", ["qdint8", "qcint8", "fp32", "fp32"]);
    hold(&dynamic, "q1/scale/1 = 1e30");
}

/// Scales in a constant are compared as those in the graph.
#[test]
fn the_largest_scale_of_a_filter_may_be_in_a_constant() {
    let program = layer("XNNConv2d", ["qint8", "qcint8", "qcint32", "qint8"]);
    // The constant of the bias has the scales of the filter too.
    let bytes = build::file(&changed(&program, "q1/scale_buffer_idx = 2").to_string());
    let payload = bytes.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    let constants = u32::from_le_bytes(bytes[payload + 18..payload + 22].try_into().unwrap());
    let bias = payload + constants as usize + 5 * 3 * 3 * 2;
    for (scale, is_refused) in [(255.0_f32, false), (256.0, true)] {
        let mut bytes = bytes.clone();
        for (nth, scale) in [0.5, 0.5, 0.5, scale, 0.5].into_iter().enumerate() {
            bytes[bias + 4 * nth..][..4].copy_from_slice(&scale.to_le_bytes());
        }
        let found = found(&bytes, None);
        match is_refused {
            true => is_broken(&found, "xnnpack-scale", "0.5 × 256.0 ÷ 0.5", "256"),
            false => assert!(found.is_empty(), "{found:?}"),
        }
    }
}

/// Only a product with a constant matrix has bounds, and others than layers have.
#[test]
fn the_scales_of_a_product_with_a_constant_matrix_have_two_bounds() {
    let ids = json!({"input1_id": 0, "input2_id": 1, "output_id": 2});
    for (role, is_judged) in [(Constant, true), (Input, false)] {
        let values: [Tensor<'_>; 3] =
            [(Input, "qint8", &[3, 4]), (role, "qint8", &[4, 5]), (Output, "qint8", &[3, 5])];
        let program = graph(&values, &[node("XNNBatchMatrixMultiply", ids.clone())]);
        for (change, part) in [
            ("q0/scale = 255.0", None),
            (
                "q0/scale = 255.00002",
                Some("are 255.00002: the backend takes more than 0 and at most 255"),
            ),
            ("q0/scale = 2e-38; q2/scale = 3e38", Some("are 0.0: the backend takes more than 0")),
        ] {
            let changed = inline(&changed(&program, change));
            match part.filter(|_| is_judged) {
                Some(part) => is_broken(&judge(&changed), "xnnpack-scale", part, change),
                None => passes(&changed, change),
            }
        }
    }
}

/// Convolutions and averages of fp16 round the range of their output to fp16 before they compare it.
#[test]
fn a_range_of_fp16_holds_two_numbers() {
    let range = |least, most| {
        format!("x0/output_min_max = {{\"output_min\": {least}, \"output_max\": {most}}}")
    };
    let average = changed(
        &sound("XNNAvgPooling2d"),
        r#"v0/datatype = "xnn_datatype_fp16"; v1/datatype = "xnn_datatype_fp16";
           a0/scalar_type = "HALF"; a1/scalar_type = "HALF""#,
    );
    let half = |operator| layer(operator, ["fp16", "fp32", "fp32", "fp16"]);
    let float = |operator| layer(operator, ["fp32", "fp32", "fp32", "fp32"]);
    let of_half = [half("XNNConv2d"), half("XNNDepthwiseConv2d"), average];
    let others = [
        half("XNNConvTranspose2d"),
        half("XNNFullyConnected"),
        float("XNNConv2d"),
        sound("XNNAvgPooling2d"),
    ];
    for (least, most, is_one) in [
        ("1", "1", true),
        ("1", "1.00048828125", true),
        ("1", "1.0004884", false),
        ("65504", "65519", true),
        ("65504", "65520", false),
        ("70000", "80000", true),
        ("0", "2.98e-8", true),
        ("0", "2.99e-8", false),
        ("-70000", "1e30", false),
        ("-0.0", "0.0", true),
    ] {
        let change = range(least, most);
        for program in &of_half {
            let changed = changed(program, &change);
            match is_one {
                true => {
                    is_broken(&judge(&changed), "xnnpack-attribute", "one number of fp16", &change)
                }
                false => passes(&changed, &change),
            }
        }
        for program in &others {
            passes(&changed(program, &change), &change);
        }
    }
}

/// A filter of three dimensions has its channels in the last one, as one of four.
#[test]
fn the_channels_of_a_depthwise_filter_are_in_its_last_dimension() {
    let depthwise = layer("XNNDepthwiseConv2d", ["qint8", "qcint8", "qcint32", "qint8"]);
    let flat = "v1/dims = [1, 9, 4]; v1/num_dims = 3; q1/channel_dim = 2";
    passes(&changed(&depthwise, flat), "three dimensions");
    hold(
        &depthwise,
        r#"
        c2/size = 12; v2/dims = [3]; q2/scale = [1, 1, 1];
            => xnnpack-constant-short: a bias of 12 bytes: the node reads 4 elements of xnn_datatype_qcint32
    "#,
    );
}

/// The filter of groups cannot be stored as inputs by outputs.
#[test]
fn a_filter_of_groups_is_not_transposed() {
    hold(
        &layer("XNNFullyConnected", ["qdint8", "qbint4", "fp32", "fp32"]),
        r#"
        n1/flags = 1; v1/dims = [32, 6]; q1/scale = [1, 1, 1, 1, 1, 1]; c1/size = 96; c1/offset = 0;
            => xnnpack-attribute: 32 input channels in groups of 32
    "#,
    );
}

/// The second matrix, if it is quantized: a constant, with a scale for each column of each batch.
#[test]
fn quantized_matrices_are_constants_with_a_scale_for_each_column() {
    let ids = json!({"input1_id": 3, "input2_id": 1, "output_id": 2, "flags": 1});
    let values: [Tensor<'_>; 4] = [
        (Input, "fp32", &[2, 3, 4]),
        (Constant, "qcint8", &[10, 1, 4]),
        (Output, "fp32", &[10, 3, 1]),
        (Inner, "qdint8", &[2, 3, 4]),
    ];
    let nodes = [
        node("XNNConvert", json!({"input_id": 0, "output_id": 3})),
        node("XNNBatchMatrixMultiply", ids),
    ];
    let program = changed(&graph(&values, &nodes), "a0/sizes = [1, 3, 4]; v0/dims = [1, 3, 4]");
    hold(
        &program,
        r#"
        q3/num_nonbatch_dims = 2 => xnnpack-attribute: num_nonbatch_dims 2 of [2, 3, 4]
        v1/dims = [2, 5, 4]; q1/scale = [1, 1] => xnnpack-attribute: 2 scales for matrices of [2, 5, 4]
        v1/dims = [2, 5, 4]; q1/scale = [1, 1, 1, 1, 1]; q1/channel_dim = 1;
            => xnnpack-attribute: 5 scales for matrices of [2, 5, 4]
    "#,
    );
    let values: [Tensor<'_>; 4] = [
        (Input, "fp32", &[3, 4]),
        (Inner, "qcint8", &[5, 4]),
        (Output, "fp32", &[3, 5]),
        (Input, "qint8", &[5, 4]),
    ];
    let nodes = [
        node("XNNConvert", json!({"input_id": 3, "output_id": 1})),
        node(
            "XNNBatchMatrixMultiply",
            json!({"input1_id": 0, "input2_id": 1, "output_id": 2, "flags": 1}),
        ),
    ];
    let found = judge(&graph(&values, &nodes));
    is_broken(&found, "xnnpack-attribute", "a quantized matrix is no constant", "computed");
}
