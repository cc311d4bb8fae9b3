//! Values by themselves: kinds, ids, flags, ranks, quantization and scales.

use pte::Ptd;
use serde_json::{Value, json};

use super::passes;
use super::{found, hold, is_broken, judge};
use crate::support::build;
use crate::support::xnnpack::{Constant, Inner, Input, Output, Tensor, changed, graph, node};

#[test]
fn values_have_six_dimensions_and_bytes_that_can_be_counted() {
    let six: &[u64] = &[1, 2, 1, 2, 1, 2];
    for rank in 0..=6 {
        let values = [(Input, "fp32", &six[..rank]), (Output, "fp32", &six[..rank])];
        let node = node("XNNSigmoid", json!({"input_id": 0, "output_id": 1}));
        passes(&graph(&values, &[node]), &format!("rank {rank}"));
    }
}

/// A value that is not used by a node is judged all the same.
fn with_value(
    role: crate::support::xnnpack::Role,
    datatype: &'static str,
    dims: &'static [u64],
) -> Value {
    let values: [Tensor<'_>; 3] =
        [(Input, "fp32", &[2]), (Output, "fp32", &[2]), (role, datatype, dims)];
    graph(&values, &[node("XNNSigmoid", json!({"input_id": 0, "output_id": 1}))])
}

#[test]
fn datatypes_have_the_quantization_that_is_theirs() {
    let plain = ["fp32", "fp16", "bf16", "int32", "pfp32"];
    let all = [
        "invalid", "fp32", "fp16", "qint8", "quint8", "qint32", "qcint8", "qcint32", "qcint4",
        "qdint8", "qbint4", "qpint8", "int32", "pfp32", "bf16",
    ];
    let kinds: [(&str, &[&str]); 5] = [
        ("", &plain),
        ("qint8", &["qint8", "quint8", "qint32"]),
        ("qcint8", &["qcint8", "qcint4", "qcint32"]),
        ("qbint4", &["qbint4"]),
        ("qdint8", &["qdint8"]),
    ];
    for (model, taken) in kinds {
        let model = if model.is_empty() { "fp32" } else { model };
        let program = with_value(Inner, model, &[2, 32]);
        for datatype in all {
            let change = format!("v2/datatype = \"xnn_datatype_{datatype}\"");
            let program = changed(&program, &change);
            match (taken.contains(&datatype), datatype) {
                (true, _) => passes(&program, datatype),
                (_, "invalid") => is_broken(&judge(&program), "xnnpack-kind", "is none", datatype),
                _ => is_broken(&judge(&program), "xnnpack-quantization", datatype, model),
            }
        }
    }
}

#[test]
fn zero_points_are_elements_of_the_datatype() {
    let rows = [
        ("qint8", -128, true),
        ("qint8", 127, true),
        ("qint8", -129, false),
        ("qint8", 128, false),
        ("quint8", 0, true),
        ("quint8", 255, true),
        ("quint8", -1, false),
        ("quint8", 256, false),
        ("qint32", 0, true),
        ("qint32", 1, false),
        ("qint32", -1, false),
    ];
    for (datatype, zero_point, is_sound) in rows {
        let program = with_value(Inner, datatype, &[2]);
        let program = changed(&program, &format!("q2/zero_point = {zero_point}"));
        let part = format!("the zero point of xnn_datatype_{datatype} is {zero_point}");
        match is_sound {
            true => passes(&program, datatype),
            false => is_broken(&judge(&program), "xnnpack-quantization", &part, datatype),
        }
    }
}

/// Numbers as JSON, as f32, and whether the backend takes them as a scale.
const SCALES: [(&str, f32, bool); 9] = [
    ("1e-37", 1e-37, true),
    ("1.1754944e-38", f32::MIN_POSITIVE, true),
    ("3e38", 3e38, true),
    ("0", 0.0, false),
    ("-0.5", -0.5, false),
    ("1e-39", 1e-39, false),
    ("\"nan\"", f32::NAN, false),
    ("\"inf\"", f32::INFINITY, false),
    ("\"-inf\"", f32::NEG_INFINITY, false),
];

#[test]
fn scales_in_tables_are_normal_and_positive() {
    for (scale, number, is_sound) in SCALES {
        let single = with_value(Inner, "qint8", &[2]);
        let channels = with_value(Inner, "qcint8", &[3, 2]);
        let groups = with_value(Inner, "qbint4", &[1, 96]);
        let list = format!("q2/scale = [1, 1, {scale}]");
        for (program, part) in [
            (changed(&single, &format!("q2/scale = {scale}")), format!("the scale is {number:?}")),
            (changed(&channels, &list), format!("scale 2 is {number:?}")),
            (changed(&groups, &list), format!("scale 2 is {number:?}")),
        ] {
            match is_sound {
                true => passes(&program, scale),
                false => is_broken(&judge(&program), "xnnpack-quantization", &part, scale),
            }
        }
    }
    hold(
        &with_value(Inner, "qcint8", &[3, 2]),
        r#"
        q2/scale = [1, 1] => xnnpack-quantization: 2 scales, and the backend reads 3
        q2/scale = [1, 1, 1, 0]
        -q2/scale => xnnpack-missing: the value has no scales
        q2/channel_dim = 1; q2/scale = [1, 1]
        q2/channel_dim = 2 => xnnpack-quantization: channel_dim 2 of 2 dimensions
        -u2/xvalue_union/quant_params; -u2/xvalue_union/quant_params_type => xnnpack-quantization: no quant_params
        -u2/xvalue_union/quant_params => payload-unreadable: of the payload
        q2/scale_buffer_idx = 1 => xnnpack-constant: constant 1 of 1
    "#,
    );
}

/// The scales of channels are f32, and the scales of groups bf16. `size` bytes are after the graph.
fn with_scales(kind: &'static str, count: u64, size: u64) -> Value {
    let (dims, bytes): (&[u64], _) =
        if kind == "qcint8" { (&[3, 2], 4 * count) } else { (&[1, 96], 2 * count) };
    assert_eq!(count, 3);
    let values: [Tensor<'_>; 3] =
        [(Input, "fp32", &[2]), (Output, "fp32", &[2]), (Inner, kind, dims)];
    let program = graph(&values, &[node("XNNSigmoid", json!({"input_id": 0, "output_id": 1}))]);
    assert!(size <= bytes);
    let change = format!(
        "-q2/scale; q2/scale_buffer_idx = 1; q2/num_scales = 3; c1 = {{\"offset\": 4, \"size\": {size}}}"
    );
    let mut program = changed(&program, &change);
    program["data"][0]["constants"] = json!(16);
    program
}

/// Returns the file, with scales in its constants: each with the last one exchanged.
fn with_bytes(program: &Value, scales: &[u8]) -> Vec<u8> {
    let mut file = build::file(&program.to_string());
    let payload = file.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    let start = u32::from_le_bytes(file[payload + 18..payload + 22].try_into().unwrap());
    let at = payload + start as usize + 4;
    file[at..at + scales.len()].copy_from_slice(scales);
    file
}

fn scale_bytes(kind: &str, last: f32) -> Vec<u8> {
    let scales = [0.5, 2.0, last];
    let skipped = if kind == "qcint8" { 0 } else { 2 };
    scales.iter().flat_map(|scale: &f32| scale.to_le_bytes()[skipped..].to_vec()).collect()
}

#[test]
fn scales_in_constants_are_normal_and_positive() {
    for kind in ["qcint8", "qbint4"] {
        let whole = if kind == "qcint8" { 12 } else { 6 };
        for (name, number, is_sound) in SCALES {
            let bytes = with_bytes(&with_scales(kind, 3, whole), &scale_bytes(kind, number));
            let found = found(&bytes, None);
            match is_sound {
                true => assert!(found.is_empty(), "{kind}, {name}: {found:?}"),
                false => is_broken(&found, "xnnpack-quantization", "scale 2 is ", name),
            }
        }
        let short = with_bytes(&with_scales(kind, 3, whole - 1), &scale_bytes(kind, 1.0));
        let part = format!("{} bytes of scales, and 3 scales take {whole}", whole - 1);
        is_broken(&found(&short, None), "xnnpack-constant-short", &part, kind);
    }
    let program = changed(&with_scales("qbint4", 3, 6), "q2/num_scales = 2");
    is_broken(&judge(&program), "xnnpack-quantization", "2 scales: [1, 96]", "num_scales");
}

/// The named data of the program, or of a `.ptd` that is given with it.
#[test]
fn scales_in_named_data_are_normal_and_positive() {
    let key = "scale_of_a_filter";
    for kind in ["qcint8", "qbint4"] {
        let program = changed(
            &with_scales(kind, 3, 0),
            &format!("c1 = {{\"size\": 6, \"named_key\": \"{key}\"}}"),
        );
        let whole = scale_bytes(kind, 1.0).len();
        for (name, number, is_sound) in SCALES {
            let bytes = scale_bytes(kind, number);
            let mut own = program.clone();
            own["root"]["named_data"] = json!([{"key": key, "segment_index": 1}]);
            let size = own["root"]["segments"][0]["size"].as_u64().unwrap();
            own["root"]["segments"] =
                json!([{"offset": 0, "size": size}, {"offset": size, "size": whole}]);
            own["data"].as_array_mut().unwrap().push(json!({"bytes": bytes}));
            let ptd = build::file(
                &json!({"kind": "ptd", "root": {"segments": [{"size": whole}],
                    "named_data": [{"key": key}]}, "data": [{"bytes": bytes}]})
                .to_string(),
            );
            let ptd = [Ptd::read(&ptd).unwrap()];
            for found in [judge(&own), found(&build::file(&program.to_string()), Some(&ptd))] {
                match is_sound {
                    true => assert!(found.is_empty(), "{kind}, {name}: {found:?}"),
                    false => is_broken(&found, "xnnpack-quantization", "scale 2 is ", name),
                }
            }
        }
        let missing = found(&build::file(&program.to_string()), Some(&[]));
        is_broken(&missing, "delegate-key-unresolved", key, "no file has the key");
        let missing = judge(&program);
        is_broken(&missing, "delegate-key-unresolved", key, "the program has no named data");
    }
}

/// In release 0.1, a separate field gave the quantized type of an input.
#[test]
fn inputs_are_quantized_by_a_field_of_release_0_1() {
    let values: [Tensor<'_>; 4] = [
        (Input, "fp32", &[2, 4]),
        (Constant, "qcint8", &[5, 4]),
        (Constant, "fp32", &[5]),
        (Output, "fp32", &[2, 5]),
    ];
    let ids = json!({"input1_id": 0, "filter_id": 1, "bias_id": 2, "output_id": 3});
    hold(
        &graph(&values, &[node("XNNFullyConnected", ids)]),
        r#"
        v0/dq_datatype = "xnn_datatype_qint8"
        v0/dq_datatype = "xnn_datatype_qint8"; a0/sizes = []; a0/dim_order = [];
            => xnnpack-shape: 1 dimensions of [] share a scale
        v0/dq_datatype = "xnn_datatype_quint8" => xnnpack-quantization: only xnn_datatype_qint8 is taken
        v3/dq_datatype = "xnn_datatype_qint8" => xnnpack-quantization: dq_datatype on a value that is no input
        v0/dq_datatype = "xnn_datatype_qint8"; v0/datatype = "xnn_datatype_int32";
            => xnnpack-quantization: dq_datatype on a value of xnn_datatype_int32
    "#,
    );
}

#[test]
fn values_that_are_quantized_at_run_time_have_no_data() {
    let part = "a value quantized at run time has data";
    let program = with_value(Constant, "qdint8", &[2]);
    is_broken(&judge(&program), "xnnpack-quantization", part, "a constant");
    hold(
        &with_value(Inner, "qdint8", &[2, 3]),
        "v2/flags = 1; v2/external_id = 2; g/num_externs = 3; g/input_ids = [0, 2];
             => xnnpack-quantization: a value quantized at run time has data
         q2/num_nonbatch_dims = 2
         q2/num_nonbatch_dims = 0
         q2/num_nonbatch_dims = 3 => xnnpack-quantization: num_nonbatch_dims 3 of 2 dimensions",
    );
}

/// Values may share scales: each list, and each number of them, is judged.
#[test]
fn each_value_s_scales_are_judged() {
    let values: [Tensor<'_>; 4] = [
        (Input, "fp32", &[2]),
        (Output, "fp32", &[2]),
        (Inner, "qcint8", &[2, 2]),
        (Inner, "qcint8", &[3, 2]),
    ];
    let program = graph(&values, &[node("XNNSigmoid", json!({"input_id": 0, "output_id": 1}))]);
    hold(
        &program,
        r#"
        q3/scale = [1, 1, 0] => xnnpack-quantization: scale 2 is 0.0
        v3/dims = [2, 2]; q3/scale = [1, 0] => xnnpack-quantization: scale 1 is 0.0
        q2/scale = [1, 0] => xnnpack-quantization: scale 1 is 0.0
    "#,
    );
    let shared = changed(
        &program,
        "-q2/scale; -q3/scale; q2/scale_buffer_idx = 1; q3/scale_buffer_idx = 1; \
         q2/num_scales = 2; q3/num_scales = 3; c1 = {\"offset\": 4, \"size\": 12}",
    );
    let mut shared = shared;
    shared["data"][0]["constants"] = json!(16);
    let judged = |last| found(&with_bytes(&shared, &scale_bytes("qcint8", last)), None);
    assert_eq!(judged(1.0), []);
    is_broken(&judged(0.0), "xnnpack-quantization", "scale 2 is 0.0", "shared scales");
}
