//! Every operator once in a sound graph, and its attributes beside it.

use pte::schema::xnnpack::desc::SCHEMA;
use serde_json::json;

use super::{hold, is_broken, judge, passes};
use crate::support::xnnpack::{
    BINARY, INTEGERS, Inner, Input, NONE, OTHERS, Output, Tensor, UNARY, changed, every, graph,
    node, sound,
};

/// Attention is the only operator of the schema that the backend does not have.
#[test]
fn every_operator_passes_in_a_sound_graph() {
    let all = every();
    assert_eq!(all.len(), 46);
    let union = SCHEMA.unions.iter().find(|union| union.name == "XNodeUnion").unwrap();
    for member in union.members {
        let is_known = member.name != "XNNScaledDotProductAttention";
        assert_eq!(all.contains(member.name), is_known, "{}", member.name);
    }
    for operator in all {
        passes(&sound(operator), operator);
    }
}

/// Each operator with an output of another number of elements, and with ids that are not there.
#[test]
fn every_operator_has_the_shape_and_the_ids_of_its_values() {
    for operator in BINARY.into_iter().chain(UNARY).chain(OTHERS) {
        let program = sound(operator);
        let attributes = &program["data"][0]["xnnpack"]["xnodes"][0]["xnode_union"];
        let ids = attributes
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, id)| key.ends_with("_id") && **id != json!(NONE));
        let mut wrong = Vec::new();
        for (key, _) in ids {
            wrong.push(format!("n0/{key} = 77"));
            wrong.push(format!("n0/{key} = {NONE}"));
        }
        for change in &wrong {
            let found = judge(&changed(&program, change));
            // Without a bias, the layer is sound.
            if change == &format!("n0/bias_id = {NONE}") {
                assert!(found.is_empty(), "{operator}, {change}: {found:?}");
                continue;
            }
            let part = if change.ends_with("77") { "no value has the id 77" } else { "no value" };
            is_broken(&found, "xnnpack-id", part, &format!("{operator}, {change}"));
        }
        let values = program["data"][0]["xnnpack"]["xvalues"].as_array().unwrap();
        let args = program["root"]["execution_plan"][0]["values"].as_array().unwrap().len();
        assert!(values.len() >= args);
        let last = format!("a{}/sizes/0 = 9; p/non_const_buffer_sizes = [0, 65536]", args - 1);
        let found = judge(&changed(&program, &last));
        is_broken(&found, "xnnpack-shape", "the nodes compute [", operator);
    }
}

#[test]
fn elementwise_operators_take_one_datatype_and_shapes_that_broadcast() {
    hold(
        &sound("XNNAdd"),
        &[
            (
                "v1/datatype = \"xnn_datatype_fp16\"; a1/scalar_type = \"HALF\"",
                "xnnpack-datatype",
                "no kernel for xnn_datatype_fp32, xnn_datatype_fp16, xnn_datatype_fp32",
            ),
            (
                "v1/dims = [2]; v1/num_dims = 1; a1/sizes = [2]",
                "xnnpack-shape",
                "node 0: [2, 3] and [2] do not broadcast",
            ),
            ("v1/dims = [1]; a1/sizes = [1]", "", ""),
            ("v1/dims = [2, 1]; v1/num_dims = 2; a1/sizes = [2, 1]; a1/dim_order = [0, 1]", "", ""),
        ],
    );
    for datatype in ["fp32", "fp16", "bf16", "int32", "qint8", "quint8"] {
        let sizes: &[u64] = &[2, 3];
        for operator in UNARY {
            let values = [(Input, datatype, sizes), (Output, datatype, sizes)];
            let node = node(operator, json!({"input_id": 0, "output_id": 1}));
            let program = graph(&values, &[node]);
            match datatype == "int32" && !INTEGERS.contains(&operator) {
                true => is_broken(&judge(&program), "xnnpack-datatype", "no kernel", operator),
                false => passes(&program, operator),
            }
        }
        for operator in BINARY {
            let values =
                [(Input, datatype, sizes), (Input, datatype, sizes), (Output, datatype, sizes)];
            let ids = json!({"input1_id": 0, "input2_id": 1, "output_id": 2});
            let program = graph(&values, &[node(operator, ids)]);
            match (datatype, operator) {
                ("int32", "XNNPReLU") => {
                    is_broken(&judge(&program), "xnnpack-datatype", "no kernel", operator);
                }
                _ => passes(&program, operator),
            }
        }
    }
}

#[test]
fn lists_of_moved_dimensions_are_of_their_rank() {
    hold(
        &sound("XNNStaticTranspose"),
        &[
            ("n0/perm = [0, 0]", "xnnpack-attribute", "[0, 0] is no permutation"),
            ("n0/perm = [2, 1]", "xnnpack-attribute", "[2, 1] is no permutation"),
            ("n0/perm = []; n0/num_dims = 0", "xnnpack-attribute", "a permutation of 0 dimensions"),
            (
                "n0/perm = [0, 1, 2, 3, 4, 5, 6]; n0/num_dims = 7",
                "xnnpack-attribute",
                "of 7 dimensions",
            ),
            (
                "n0/perm = [1, 0, 2]; n0/num_dims = 3",
                "xnnpack-shape",
                "[2, 3] is permuted by [1, 0, 2]",
            ),
            ("n0/num_dims = 3", "xnnpack-unread", "num_dims is 3, and there are 2 dimensions"),
        ],
    );
    hold(
        &sound("XNNStaticReshape"),
        &[
            ("n0/new_shape = [0, 2]", "", ""),
            ("n0/new_shape = [3, 0]", "", ""),
            ("n0/new_shape = [0, 0]", "xnnpack-attribute", "2 sizes of 0"),
            ("n0/new_shape = []; n0/num_dims = 0", "xnnpack-attribute", "no dimensions"),
            (
                "n0/new_shape = [4, 0]",
                "xnnpack-shape",
                "[2, 3] does not have the elements of [4, 0]",
            ),
            (
                "n0/new_shape = [3, 3]",
                "xnnpack-shape",
                "[2, 3] does not have the elements of [3, 3]",
            ),
            (
                "n0/new_shape = [1, 1, 1, 1, 1, 3, 2]; n0/num_dims = 7",
                "xnnpack-attribute",
                "7 sizes: at most 6",
            ),
            ("n0/num_dims = 3", "xnnpack-unread", "num_dims is 3, and there are 2 dimensions"),
        ],
    );
    hold(
        &sound("XNNStaticSlice"),
        &[
            ("-n0/offsets", "xnnpack-attribute", "without offsets or sizes"),
            ("-n0/sizes; n0/num_dims = 0", "xnnpack-attribute", "without offsets or sizes"),
            ("n0/offsets = [1, 2, 0]", "xnnpack-attribute", "3 offsets and 2 sizes"),
            ("n0/offsets = [3, 2]", "xnnpack-shape", "the nodes compute [1, 3]"),
            ("n0/offsets = [1, 4]", "xnnpack-shape", "the nodes compute [2, 2]"),
            ("n0/offsets = [4294967295, 2]", "xnnpack-shape", "the nodes compute [0, 3]"),
            (
                "n0/offsets = [0, 0, 0, 0, 0, 0, 0]; n0/sizes = [2, 3, 0, 0, 0, 0, 0]; n0/num_dims = 7",
                "xnnpack-attribute",
                "7 offsets: at most 6",
            ),
            ("n0/num_dims = 3", "xnnpack-unread", "num_dims is 3, and there are 2 dimensions"),
        ],
    );
    hold(
        &sound("XNNStaticConstantPad"),
        &[
            ("n0/pre_paddings = [1]", "xnnpack-attribute", "1 pre_paddings of 2 dimensions"),
            ("n0/post_paddings = [1]", "xnnpack-attribute", "1 post_paddings of 2 dimensions"),
            ("n0/pre_paddings = []", "xnnpack-attribute", "0 pre_paddings of 2 dimensions"),
            ("-n0/post_paddings", "xnnpack-attribute", "0 post_paddings of 2 dimensions"),
            ("n0/pre_paddings = [1, 1, 0]", "", ""),
            ("n0/pre_paddings = [0, 1]; n0/post_paddings = [2, 2]", "", ""),
            ("n0/pre_paddings = [2, 1]", "xnnpack-shape", "the nodes compute [5, 6]"),
            ("n0/post_paddings = [1, 3]", "xnnpack-shape", "the nodes compute [4, 7]"),
        ],
    );
}

/// The rank of an input's argument counts, not that of its value.
#[test]
fn paddings_are_as_many_as_the_argument_has_dimensions() {
    hold(
        &sound("XNNStaticConstantPad"),
        &[(
            "a0/sizes = [1, 2, 3]; a0/dim_order = [0, 1, 2]",
            "xnnpack-shape",
            "node 0: 2 and 2 paddings of [1, 2, 3]",
        )],
    );
}

#[test]
fn concatenated_values_differ_along_the_axis_alone() {
    hold(
        &sound("XNNConcatenate2"),
        &[
            ("n0/axis = 4294967295", "", ""),
            ("n0/axis = 4294967294", "xnnpack-shape", "the nodes compute [4, 3]"),
            ("n0/axis = 4294967293", "xnnpack-shape", "axis -3 of [2, 3]"),
            ("n0/axis = 2", "xnnpack-shape", "axis 2 of [2, 3]"),
            ("a1/sizes = [2, 4]", "xnnpack-shape", "the nodes compute [2, 7]"),
            ("a1/sizes = [1, 3]", "xnnpack-shape", "[2, 3] and [1, 3] are joined along axis 1"),
            (
                "a1/sizes = [2, 3, 1]; a1/dim_order = [0, 1, 2]",
                "xnnpack-shape",
                "[2, 3, 1] are joined",
            ),
        ],
    );
    for (nth, operator) in (3..).zip(["XNNConcatenate3", "XNNConcatenate4", "XNNConcatenate5"]) {
        let missing = format!("n0/input{nth}_id = {NONE}");
        let found = judge(&changed(&sound(operator), &missing));
        is_broken(&found, "xnnpack-id", "the node names no value", operator);
    }
}

/// An axis from the end, of more dimensions than two.
#[test]
fn a_negative_axis_counts_from_the_end() {
    let values: [Tensor<'_>; 3] =
        [(Input, "fp32", &[2, 3, 4]), (Input, "fp32", &[2, 3, 5]), (Output, "fp32", &[2, 3, 9])];
    let attributes = json!({"axis": NONE, "input1_id": 0, "input2_id": 1, "input3_id": NONE,
        "input4_id": NONE, "input5_id": NONE, "output_id": 2});
    hold(
        &graph(&values, &[node("XNNConcatenate2", attributes)]),
        &[
            ("n0/axis = 2", "", ""),
            ("n0/axis = 4294967294", "xnnpack-shape", "are joined along axis 1"),
            ("n0/axis = 4294967293", "xnnpack-shape", "are joined along axis 0"),
            ("n0/axis = 4294967292", "xnnpack-shape", "axis -4 of [2, 3, 4]"),
        ],
    );
}

/// A slice whose end is 0 ends with its dimension.
#[test]
fn a_slice_of_no_size_from_0_on_takes_all() {
    hold(
        &sound("XNNStaticSlice"),
        &[
            (
                "n0/offsets = [0, 2]; n0/sizes = [0, 3]; a1/sizes = [4, 3]; \
          p/non_const_buffer_sizes = [0, 4096]",
                "",
                "",
            ),
            ("n0/offsets = [0, 2]; n0/sizes = [0, 3]", "xnnpack-shape", "the nodes compute [4, 3]"),
            ("n0/offsets = [1, 2]; n0/sizes = [0, 3]", "xnnpack-shape", "the nodes compute [0, 3]"),
        ],
    );
    hold(
        &sound("XNNArgMaxPooling2d"),
        &[("a0/sizes = [1, 4, 6, 0]", "xnnpack-shape", "images of [1, 4, 6, 0]")],
    );
}

#[test]
fn pooling_windows_are_inside_of_32_bits_and_step_on() {
    for operator in ["XNNAvgPooling2d", "XNNMaxPooling2d"] {
        hold(
            &sound(operator),
            &[
                ("n0/pooling_height = 0", "xnnpack-attribute", "a window of 0 × 2"),
                ("n0/pooling_width = 0", "xnnpack-attribute", "a window of 2 × 0"),
                (
                    "n0/pooling_height = 2147483648",
                    "xnnpack-attribute",
                    "a window of 2147483648 × 2",
                ),
                ("n0/stride_height = 0", "xnnpack-attribute", "stride_height is 0"),
                ("n0/stride_width = 0", "xnnpack-attribute", "stride_width is 0"),
                ("n0/flags = 4", "", ""),
                (
                    "n0/flags = 4; n0/padding_top = 1",
                    "xnnpack-attribute",
                    "paddings beside the flag",
                ),
                (
                    "n0/padding_top = 1; n0/padding_bottom = 1",
                    "xnnpack-shape",
                    "compute [1, 3, 3, 3]",
                ),
                (
                    "n0/padding_left = 1; n0/padding_right = 1",
                    "xnnpack-shape",
                    "compute [1, 2, 4, 3]",
                ),
                ("n0/stride_height = 1", "xnnpack-shape", "compute [1, 3, 3, 3]"),
                ("n0/stride_width = 1", "xnnpack-shape", "compute [1, 2, 5, 3]"),
                (
                    "x0/output_min_max = {\"output_min\": 1, \"output_max\": 0}",
                    "xnnpack-attribute",
                    "clamped to 1.0 … 0.0",
                ),
                ("x0/output_min_max = {\"output_min\": 1, \"output_max\": 1}", "", ""),
                (
                    "a0/sizes = [4, 6, 3]; a0/dim_order = [0, 1, 2]",
                    "xnnpack-shape",
                    "images of [4, 6, 3]",
                ),
                ("a0/sizes = [0, 4, 6, 3]", "xnnpack-shape", "images of [0, 4, 6, 3]"),
                ("a0/sizes = [1, 0, 6, 3]", "xnnpack-shape", "images of [1, 0, 6, 3]"),
                ("a0/sizes = [1, 4, 6, 0]", "xnnpack-shape", "images of [1, 4, 6, 0]"),
            ],
        );
    }
    // Only the maximum pooling uses its dilation.
    hold(&sound("XNNAvgPooling2d"), &[("n0/dilation_height = 0; n0/dilation_width = 2", "", "")]);
    hold(
        &sound("XNNMaxPooling2d"),
        &[
            ("n0/dilation_height = 0", "xnnpack-attribute", "dilation_height is 0"),
            ("n0/dilation_width = 0", "xnnpack-attribute", "dilation_width is 0"),
            ("n0/dilation_width = 2", "xnnpack-shape", "compute [1, 2, 2, 3]"),
        ],
    );
    hold(
        &sound("XNNArgMaxPooling2d"),
        &[
            ("n0/pooling_height = 0", "xnnpack-attribute", "a window of 0 × 2"),
            ("n0/pooling_height = 5", "xnnpack-shape", "the window is 5 × 2"),
            ("n0/flags = 4", "", ""),
            ("n0/flags = 4; n0/padding_left = 1", "xnnpack-attribute", "paddings beside the flag"),
            ("n0/output_index_id = 1; n0/output_value_id = 2", "xnnpack-datatype", "no kernel"),
            (
                "a2/scalar_type = \"LONG\"; a2/allocation_info/memory_offset_low = 512;\
          p/non_const_buffer_sizes = [0, 1024]",
                "",
                "",
            ),
            (
                "a1/scalar_type = \"LONG\"; a1/allocation_info/memory_offset_low = 512;\
          p/non_const_buffer_sizes = [0, 1024]",
                "xnnpack-args",
                "argument 1 is of LONG",
            ),
        ],
    );
}

#[test]
fn resized_images_have_a_size_that_a_float_counts() {
    hold(
        &sound("XNNStaticResizeBilinear2D"),
        &[
            ("n0/new_height = 0", "xnnpack-attribute", "a new size of 0 × 6"),
            ("n0/new_width = 0", "xnnpack-attribute", "a new size of 5 × 0"),
            ("n0/new_height = 16777216", "xnnpack-attribute", "a new size of 16777216 × 6"),
            ("n0/new_height = 16777215", "xnnpack-shape", "compute [1, 16777215, 6, 4]"),
            ("n0/new_width = 16777216", "xnnpack-attribute", "a new size of 5 × 16777216"),
            ("n0/flags = 4", "", ""),
            ("n0/flags = 8", "", ""),
            ("n0/flags = 32", "", ""),
            ("n0/flags = 12", "xnnpack-attribute", "flags 0xc"),
            ("n0/flags = 1", "xnnpack-attribute", "flags 0x1"),
            ("a0/sizes = [1, 0, 3, 4]", "xnnpack-shape", "an image of [1, 0, 3, 4]"),
            ("a0/sizes = [1, 2, 0, 4]", "xnnpack-shape", "an image of [1, 2, 0, 4]"),
        ],
    );
}

/// The backend of release 0.2 kept the dimensions of an average without the flag.
#[test]
fn averages_are_of_two_dimensions_which_release_0_2_keeps() {
    hold(
        &sound("XNNGlobalAvgPooling2d"),
        &[
            ("n0/flags = 0", "", ""),
            ("n0/flags = 0; a1/sizes = [1, 3]; a1/dim_order = [0, 1]", "", ""),
            (
                "n0/flags = 0; a1/sizes = [1, 1, 3]; a1/dim_order = [0, 1, 2]",
                "xnnpack-shape",
                "the nodes compute [1, 3]",
            ),
            (
                "a1/sizes = [1, 3]; a1/dim_order = [0, 1]",
                "xnnpack-shape",
                "the nodes compute [1, 1, 1, 3]",
            ),
            ("a0/sizes = [4, 3]; a0/dim_order = [0, 1]", "xnnpack-shape", "an average over [4, 3]"),
        ],
    );
}

#[test]
fn a_softmax_has_elements_to_add() {
    hold(
        &sound("XNNSoftmax"),
        &[
            ("a0/sizes = [2, 0]; a1/sizes = [2, 0]", "xnnpack-shape", "a softmax of [2, 0]"),
            ("a0/sizes = []; a0/dim_order = []", "xnnpack-shape", "a softmax of []"),
        ],
    );
    let values: [Tensor<'_>; 2] = [(Input, "qint8", &[2, 3]), (Output, "qint8", &[2, 3])];
    let node = node("XNNSoftmax", json!({"input_id": 0, "output_id": 1}));
    let found = judge(&graph(&values, &[node]));
    is_broken(&found, "xnnpack-datatype", "no kernel for xnn_datatype_qint8", "softmax");
}

/// A flag transposes the second matrix; one that is quantized has a scale for each column.
#[test]
fn matrices_have_one_inner_size() {
    hold(
        &sound("XNNBatchMatrixMultiply"),
        &[
            ("a1/sizes = [2, 5, 4]; n0/flags = 1", "", ""),
            ("a1/sizes = [4, 5]; a1/dim_order = [0, 1]", "", ""),
            ("a1/sizes = [1, 4, 5]", "", ""),
            ("a1/sizes = [2, 5, 4]", "xnnpack-shape", "a product of [2, 3, 4] and [2, 5, 4]"),
            ("n0/flags = 1", "xnnpack-shape", "a product of [2, 3, 4] and [2, 4, 5]"),
            ("a1/sizes = [3, 4, 5]", "xnnpack-shape", "[2] and [3] do not broadcast"),
            (
                "a1/sizes = [4]; a1/dim_order = [0]",
                "xnnpack-shape",
                "a product of [2, 3, 4] and [4]",
            ),
        ],
    );
}

/// Elements that are moved keep their scale, so both values have the same.
#[test]
fn moved_elements_keep_their_quantization() {
    for (operator, sizes) in
        [("XNNCopy", [2, 3]), ("XNNStaticTranspose", [3, 2]), ("XNNStaticReshape", [3, 2])]
    {
        let values: [Tensor<'_>; 2] = [(Input, "qint8", &[2, 3]), (Output, "qint8", &sizes)];
        let attributes = match operator {
            "XNNCopy" => json!({"input_id": 0, "output_id": 1}),
            "XNNStaticTranspose" => {
                json!({"num_dims": 2, "perm": [1, 0], "input_id": 0, "output_id": 1})
            }
            _ => json!({"num_dims": 2, "new_shape": [3, 2], "input_id": 0, "output_id": 1}),
        };
        hold(
            &graph(&values, &[node(operator, attributes)]),
            &[
                ("q1/scale = 0.25", "xnnpack-datatype", "different scales or zero points"),
                ("q1/zero_point = 1", "xnnpack-datatype", "different scales or zero points"),
                ("q0/zero_point = 1; q1/zero_point = 1", "", ""),
            ],
        );
    }
    // A sigmoid computes them.
    let values: [Tensor<'_>; 2] = [(Input, "qint8", &[2, 3]), (Output, "qint8", &[2, 3])];
    let node = node("XNNSigmoid", json!({"input_id": 0, "output_id": 1}));
    hold(&graph(&values, &[node]), &[("q1/scale = 0.25; q1/zero_point = 3", "", "")]);
}

/// The official runtime runs a conversion between any two datatypes of single elements.
#[test]
fn values_are_converted_between_all_datatypes_of_single_elements() {
    let sizes: &[u64] = &[2, 3];
    let ids = || json!({"input_id": 0, "output_id": 1});
    let all = ["fp32", "fp16", "bf16", "int32", "qint8", "quint8"];
    for from in all {
        for to in all {
            let values = [(Input, from, sizes), (Output, to, sizes)];
            passes(&graph(&values, &[node("XNNConvert", ids())]), &format!("{from} to {to}"));
        }
        for to in ["qdint8", "qcint8", "qint32", "qcint32", "qcint4", "pfp32"] {
            let values = [(Input, from, sizes), (Inner, to, sizes)];
            let program = graph(&values, &[node("XNNConvert", ids())]);
            let taken = [("fp32", "qdint8"), ("fp16", "qdint8"), ("qint8", "qcint8")];
            if taken.contains(&(from, to)) {
                passes(&program, &format!("{from} to {to}"));
                continue;
            }
            let part = format!("no kernel for xnn_datatype_{from}, xnn_datatype_{to}");
            is_broken(&judge(&program), "xnnpack-datatype", &part, "convert");
        }
    }
}

/// Attention, an unknown operator, and a node without one.
#[test]
fn nodes_are_of_operators_that_the_backend_has() {
    let attention = "x0 = {\"xnode_union_type\": \"XNNScaledDotProductAttention\", \
        \"xnode_union\": {\"output_id\": 1}}";
    hold(
        &sound("XNNSigmoid"),
        &[
            (attention, "xnnpack-kind", "the backend has no XNNScaledDotProductAttention"),
            ("x0 = {}", "xnnpack-kind", "a node without an operator"),
        ],
    );
}
