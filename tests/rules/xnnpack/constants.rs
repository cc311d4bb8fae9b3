//! The bytes of constants, behind the graph, in it and in named data.

use pte::flat::{load, write};
use pte::schema::xnnpack::desc::SCHEMA;
use pte::{Ptd, Pte};
use serde_json::{Value, json};

use super::passes;
use super::{found, is_broken, judge};
use crate::support::build;
use crate::support::xnnpack::{
    Constant, Input, Output, Tensor, changed, graph, inline, node, sound,
};

#[test]
fn a_constant_has_the_bytes_of_its_elements() {
    let rows: [(&str, &[u64], u64); 14] = [
        ("fp32", &[3, 5], 60),
        ("fp16", &[3, 5], 30),
        ("bf16", &[3, 5], 30),
        ("int32", &[3, 5], 60),
        ("pfp32", &[3, 5], 60),
        ("qint8", &[3, 5], 15),
        ("quint8", &[3, 5], 15),
        ("qint32", &[3, 5], 60),
        ("qcint8", &[3, 5], 15),
        ("qcint32", &[3, 5], 60),
        // Rows of 4-bit elements are in whole bytes.
        ("qcint4", &[3, 5], 9),
        ("qcint4", &[3, 4], 6),
        ("qbint4", &[3, 32], 48),
        ("fp32", &[], 4),
    ];
    for (datatype, dims, need) in rows {
        let values: [Tensor<'_>; 3] =
            [(Input, "fp32", &[2]), (Output, "fp32", &[2]), (Constant, datatype, dims)];
        let node = node("XNNSigmoid", json!({"input_id": 0, "output_id": 1}));
        let program = graph(&values, &[node]);
        assert_eq!(program["data"][0]["xnnpack"]["constant_data"][1]["size"], json!(need));
        passes(&program, datatype);
        let short = changed(&program, &format!("c1/size = {}", need - 1));
        let part = format!(
            "a constant of {} bytes: {dims:?} of xnn_datatype_{datatype} needs {need}",
            need - 1
        );
        is_broken(&judge(&short), "xnnpack-constant-short", &part, datatype);
    }
}

/// Data with a key must have the length that its shape needs, and that the payload declares.
#[test]
fn constants_in_named_data_have_the_bytes_that_are_read() {
    let program = |says: u64, has: u64| {
        let change = format!("c2 = {{\"size\": {says}, \"named_key\": \"k\"}}");
        let mut program = changed(&sound("XNNFullyConnected"), &change);
        let size = program["root"]["segments"][0]["size"].as_u64().unwrap();
        program["root"]["named_data"] = json!([{"key": "k", "segment_index": 1}]);
        program["root"]["segments"] =
            json!([{"offset": 0, "size": size}, {"offset": size, "size": has}]);
        program["data"].as_array_mut().unwrap().push(json!({"zeros": has}));
        judge(&program)
    };
    assert_eq!(program(20, 20), []);
    assert_eq!(program(0, 20), [], "the size of the data counts");
    is_broken(&program(19, 19), "xnnpack-constant-short", "a constant of 19 bytes", "19");
    is_broken(
        &program(20, 19),
        "delegate-key-short",
        "has 19 bytes, and the payload says 20",
        "20",
    );
}

/// Before release 0.2 a payload was the graph alone, with constants in it.
#[test]
fn payloads_without_a_header_have_their_constants_in_the_graph() {
    let program = sound("XNNFullyConnected");
    let judged = |identifier: &[u8; 4], sizes: [Option<usize>; 2]| {
        let mut graph = program["data"][0]["xnnpack"].clone();
        graph.as_object_mut().unwrap().remove("constant_data");
        let buffers = sizes.map(|size| match size {
            Some(size) => json!({"storage": vec![0u8; size]}),
            None => json!({}),
        });
        let [filter, bias] = buffers;
        graph["constant_buffer"] = json!([{}, filter, bias]);
        let root = load::read(&graph.to_string(), SCHEMA.root, &mut load::no_files).unwrap();
        let mut bytes = write::write(&SCHEMA, &root, &[], &write::WriterLayout::default()).unwrap();
        bytes[4..8].copy_from_slice(identifier);
        let mut program = program.clone();
        program["root"]["segments"] = json!([{"offset": 0, "size": bytes.len()}]);
        program["data"] = json!([{"bytes": bytes}]);
        found(&build::file(&program.to_string()), None)
    };
    for identifier in [b"XN00", b"XN01"] {
        assert_eq!(judged(identifier, [Some(80), Some(20)]), []);
        let short = judged(identifier, [Some(79), Some(20)]);
        is_broken(&short, "xnnpack-constant-short", "a constant of 79 bytes: [5, 4]", "79");
        let short = judged(identifier, [Some(80), Some(19)]);
        is_broken(&short, "xnnpack-constant-short", "a constant of 19 bytes: [5]", "19");
        let empty = judged(identifier, [None, Some(20)]);
        is_broken(&empty, "xnnpack-constant", "constant 1 has no bytes", "no storage");
    }
    for identifier in [b"XN02", b"XM00", b"ET12"] {
        let found = judged(identifier, [Some(80), Some(20)]);
        let is_refused =
            found.iter().any(|(rule, _)| ["payload-magic", "payload-unreadable"].contains(rule));
        assert!(is_refused, "{found:?}");
    }
}

/// A key is looked up in the program, then in each `.ptd`; without one, it may be in an unknown file.
#[test]
fn keys_are_looked_up_in_every_file() {
    let mut program =
        changed(&sound("XNNFullyConnected"), "c2 = {\"size\": 20, \"named_key\": \"k\"}");
    let size = program["root"]["segments"][0]["size"].as_u64().unwrap();
    program["root"]["named_data"] = json!([{"key": "own", "segment_index": 1}]);
    program["root"]["segments"] =
        json!([{"offset": 0, "size": size}, {"offset": size, "size": 16}]);
    program["data"].as_array_mut().unwrap().push(json!({"zeros": 16}));
    let file = build::file(&program.to_string());
    let ptd = |key: &str, size: u32| {
        let root = json!({"segments": [{"size": size}], "named_data": [{"key": key}]});
        build::file(&json!({"kind": "ptd", "root": root, "data": [{"zeros": size}]}).to_string())
    };
    let judged = |files: &[Vec<u8>]| {
        let files: Vec<_> = files.iter().map(|bytes| Ptd::read(bytes).unwrap()).collect();
        let mut found = found(&file, Some(&files));
        found.retain(|(rule, _)| *rule != "key-unused");
        found
    };
    let about_keys = |found: Vec<(&'static str, String)>| {
        found.into_iter().filter(|(rule, _)| rule.starts_with("delegate")).count()
    };
    assert_eq!(about_keys(judge(&program)), 0, "an unknown file may have the key");
    is_broken(&judged(&[]), "delegate-key-unresolved", "uses \"k\"", "no file");
    is_broken(&judged(&[ptd("a", 4)]), "delegate-key-unresolved", "uses \"k\"", "another key");
    assert_eq!(judged(&[ptd("k", 20)]), []);
    assert_eq!(judged(&[ptd("a", 4), ptd("k", 20)]), []);
    let short = judged(&[ptd("a", 40), ptd("k", 19)]);
    is_broken(&short, "delegate-key-short", "has 19 bytes, and the payload says 20", "short");
}

/// The ranges of a header are in the payload, and its constants behind the graph.
#[test]
fn the_parts_of_a_payload_are_in_it() {
    let file = build::file(&sound("XNNFullyConnected").to_string());
    let payload = file.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    let number =
        |at: usize| u32::from_le_bytes(file[payload + at..payload + at + 4].try_into().unwrap());
    let (graph, constants) = (number(14), number(18));
    let len = 4208;
    let judged = |at: usize, value: u32| {
        let mut file = file.clone();
        file[payload + at..payload + at + 4].copy_from_slice(&value.to_le_bytes());
        found(&file, None)
    };
    assert_eq!(judged(14, graph), []);
    for (at, value, part) in [
        (14, len, "the graph would be at bytes 0x20 to"),
        (14, len - 31, "the graph would be at bytes 0x20 to"),
        (10, 0xffff_ffff, "the graph would be at bytes 0xffffffff to"),
        (18, len - 99, "the constants would be at bytes"),
        (18, 31 + graph, "the constants would be at bytes"),
        (22, len - constants + 1, "the constants would be at bytes"),
    ] {
        let found = judged(at, value);
        is_broken(&found, "payload-unreadable", part, &format!("{at}: {value}"));
    }
    let size = Pte::read(&file).unwrap().segment(0).unwrap().len();
    assert_eq!(size, len as usize);
    assert_eq!(judged(22, len - constants), []);
}

/// The runtime frees a payload in a segment after loading it. By then, the backend has copied the
/// constants of layers.
#[test]
fn constants_of_a_segment_are_those_that_the_backend_copies() {
    let dims: &[u64] = &[4, 4];
    let values = [(Input, "fp32", dims), (Constant, "fp32", dims), (Output, "fp32", dims)];
    let two = |a: u32, b: u32| json!({"input1_id": a, "input2_id": b, "output_id": 2});
    let layer =
        json!({"input1_id": 0, "filter_id": 1, "bias_id": 4_294_967_295_u32, "output_id": 2});
    let rows = [
        ("XNNPReLU", two(0, 1), true),
        ("XNNAdd", two(1, 0), true),
        ("XNNMultiply", two(0, 1), true),
        ("XNNBatchMatrixMultiply", two(1, 0), true),
        ("XNNBatchMatrixMultiply", two(0, 1), false),
        ("XNNFullyConnected", layer, false),
    ];
    for (operator, ids, is_freed) in rows {
        let program = graph(&values, &[node(operator, ids)]);
        let part = "each run of the node reads constant 1, which";
        let named = with_named_constant(&program, 64);
        match is_freed {
            true => {
                is_broken(&judge(&program), "xnnpack-constant-freed", part, operator);
                // Releases before 1.4.1 freed named data too.
                is_broken(&judge(&named), "xnnpack-named-referenced", part, operator);
            }
            false => {
                passes(&program, operator);
                passes(&named, operator);
            }
        }
        // An inline payload stays in memory with the program.
        passes(&inline(&program), operator);
    }
}

/// A layer copies its filter and its bias if both are constants. If the other one is computed, it refers to the
/// constant. The backend takes it for copied: it frees named data.
#[test]
fn a_layer_with_a_computed_filter_or_bias_copies_nothing() {
    let layer = |filter: u32, bias: u32| {
        let ids = json!({"input1_id": 0, "filter_id": filter, "bias_id": bias, "output_id": 2});
        node("XNNFullyConnected", ids)
    };
    let values = |constant: &'static [u64]| {
        [(Input, "fp32", &[4, 4][..]), (Constant, "fp32", constant), (Output, "fp32", &[4, 4])]
    };
    let mut vector = values(&[4, 4]);
    vector[0].2 = &[4];
    vector[2].2 = &[4];
    for (about, program, len) in [
        ("computed filter", graph(&values(&[4]), &[layer(0, 1)]), 16),
        ("computed bias", graph(&vector, &[layer(1, 0)]), 64),
    ] {
        let part = "each run of the node reads constant 1, which";
        is_broken(&judge(&program), "xnnpack-constant-freed", part, about);
        let named = with_named_constant(&program, len);
        is_broken(&judge(&named), "xnnpack-named-freed", part, about);
        passes(&inline(&program), about);
    }
    // A filter that another node reads as a term.
    let values = [
        (Input, "fp32", &[4, 4][..]),
        (Constant, "fp32", &[4, 4]),
        (Output, "fp32", &[4, 4]),
        (Output, "fp32", &[4, 4]),
    ];
    let add = node("XNNAdd", json!({"input1_id": 0, "input2_id": 1, "output_id": 3}));
    let named = with_named_constant(&graph(&values, &[layer(1, u32::MAX), add]), 64);
    is_broken(&judge(&named), "xnnpack-named-freed", "reads constant 1", "filter and term");
}

/// The backend reads a key up to its first NUL, and so the names of backends.
#[test]
fn keys_and_backends_are_read_up_to_a_nul() {
    let values =
        [(Input, "fp32", &[4, 4][..]), (Constant, "fp32", &[4, 4]), (Output, "fp32", &[4, 4])];
    let ids = json!({"input1_id": 0, "filter_id": 1, "bias_id": u32::MAX, "output_id": 2});
    let program = graph(&values, &[node("XNNFullyConnected", ids)]);
    let mut named = with_named_constant(&program, 64);
    passes(&named, "the whole key");
    // The data under the shortened key `key` is too short.
    let long = changed(&named, "c1/named_key = \"key\\u0000x\"");
    named = long;
    let root = &mut named["root"];
    root["named_data"] = json!([
        {"key": "key\0x", "segment_index": 1},
        {"key": "key", "segment_index": 2},
    ]);
    let end = root["segments"][1]["offset"].as_u64().unwrap() + 64;
    root["segments"].as_array_mut().unwrap().push(json!({"offset": end, "size": 4}));
    named["data"].as_array_mut().unwrap().push(json!({"zeros": 4}));
    let found = judge(&named);
    assert!(found.iter().any(|(rule, _)| *rule == "delegate-key-short"), "{found:?}");
    let mut program = changed(&program, "c1/size = 4");
    program["root"]["execution_plan"][0]["delegates"][0]["id"] = json!("XnnpackBackend\0x");
    let found = judge(&program);
    assert!(found.iter().any(|(rule, _)| *rule == "xnnpack-constant-short"), "{found:?}");
}

/// Returns a program whose constant 1 is named data of `len` bytes.
fn with_named_constant(program: &Value, len: u64) -> Value {
    let change = format!("c1/named_key = \"key\"; c1/size = {len}; g/xnodes/0/debug_handle = 1");
    let mut program = changed(program, &change);
    let root = &mut program["root"];
    let offset = root["segments"][0]["size"].as_u64().unwrap();
    root["segments"].as_array_mut().unwrap().push(json!({"offset": offset, "size": len}));
    root["named_data"] = json!([{"key": "key", "segment_index": 1}]);
    program["data"].as_array_mut().unwrap().push(json!({"zeros": len}));
    program
}
