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
fn concatenated_values_differ_along_the_axis_alone() {
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
        r#"
        n0/axis = 2
        n0/axis = 4294967294 => xnnpack-shape: are joined along axis 1
        n0/axis = 4294967293 => xnnpack-shape: are joined along axis 0
        n0/axis = 4294967292 => xnnpack-shape: axis -4 of [2, 3, 4]
    "#,
    );
}

#[test]
fn a_softmax_has_elements_to_add() {
    let values: [Tensor<'_>; 2] = [(Input, "qint8", &[2, 3]), (Output, "qint8", &[2, 3])];
    let node = node("XNNSoftmax", json!({"input_id": 0, "output_id": 1}));
    let found = judge(&graph(&values, &[node]));
    is_broken(&found, "xnnpack-datatype", "no kernel for xnn_datatype_qint8", "softmax");
}

/// Elements that are moved or clamped keep their scale, so both values have the same.
#[test]
fn moved_elements_keep_their_quantization() {
    for (operator, sizes) in [
        ("XNNClamp", [2, 3]),
        ("XNNCopy", [2, 3]),
        ("XNNStaticTranspose", [3, 2]),
        ("XNNStaticReshape", [3, 2]),
    ] {
        let values: [Tensor<'_>; 2] = [(Input, "qint8", &[2, 3]), (Output, "qint8", &sizes)];
        let attributes = match operator {
            "XNNClamp" | "XNNCopy" => json!({"input_id": 0, "output_id": 1}),
            "XNNStaticTranspose" => {
                json!({"num_dims": 2, "perm": [1, 0], "input_id": 0, "output_id": 1})
            }
            _ => json!({"num_dims": 2, "new_shape": [3, 2], "input_id": 0, "output_id": 1}),
        };
        hold(
            &graph(&values, &[node(operator, attributes)]),
            r#"
            q1/scale = 0.25 => xnnpack-datatype: different scales or zero points
            q1/zero_point = 1 => xnnpack-datatype: different scales or zero points
            q0/zero_point = 1; q1/zero_point = 1
        "#,
        );
    }
    // A sigmoid computes them.
    let values: [Tensor<'_>; 2] = [(Input, "qint8", &[2, 3]), (Output, "qint8", &[2, 3])];
    let node = node("XNNSigmoid", json!({"input_id": 0, "output_id": 1}));
    hold(
        &graph(&values, &[node]),
        r#"
        q1/scale = 0.25; q1/zero_point = 3
    "#,
    );
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
