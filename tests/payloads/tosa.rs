//! Graphs of TOSA: what a genuine one has in it, and operators whose operands or attributes are wrong.

use std::fmt::Write as _;

use pte::check::{Checker, Severity};
use pte::flat::load;
use pte::flat::write::{self, WriterLayout};
use pte::graph::PayloadGraph;
use pte::payload::PayloadContents;
use pte::schema::tosa;
use pte::tensors::ConstantRow;
use pte::{Handle, Limits};
use serde_json::{Value, json};

use crate::support::files;
use crate::support::snapshot::assert_snapshot;

/// Returns a payload with one operator. Operands are written `FP32[2,3]`; `INT8[1]=0` is a constant whose bytes are
/// all 0, and `2,3` a constant shape of these numbers. Outputs are separated by `;`, and `2` is a shape of two numbers.
fn payload(op: &str, attribute: &Value, inputs: &[&str], output: &str) -> Vec<u8> {
    written(&graph(op, attribute, inputs, output))
}

/// Returns the graph with one operator.
fn graph(op: &str, attribute: &Value, inputs: &[&str], output: &str) -> Value {
    let (mut tensors, mut shapes) = (Vec::new(), Vec::new());
    let (mut operators, mut ends, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let constant = |op: &str, member: &str, name: &str| json!({"op": op, "attribute_type": member, "attribute": {}, "outputs": [name]});
    for (nth, operand) in inputs.iter().enumerate() {
        let name = format!("in{nth}");
        names.push(name.clone());
        if !operand.contains('[') {
            let numbers: Vec<i64> = operand.split(',').map(|n| n.parse().unwrap()).collect();
            let data: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            operators.push(constant("CONST_SHAPE", "ConstShapeAttribute", &name));
            shapes.push(json!({"name": name, "rank": numbers.len(), "data": data}));
            continue;
        }
        match operand.split_once('=') {
            Some((operand, bytes)) => {
                operators.push(constant("CONST", "ConstAttribute", &name));
                let mut tensor = tensor(&name, operand);
                tensor["data"] = json!(vec![0; bytes.parse().unwrap()]);
                tensors.push(tensor);
            }
            None => {
                tensors.push(tensor(&name, operand));
                ends.push(name);
            }
        }
    }
    let mut outputs = Vec::new();
    for (nth, operand) in output.split_terminator(';').enumerate() {
        let name = format!("out{nth}");
        match operand.parse::<u32>() {
            Ok(rank) => shapes.push(json!({"name": name, "rank": rank})),
            Err(_) => tensors.push(tensor(&name, operand)),
        }
        outputs.push(name);
    }
    let member = op.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        format!("{first}{}", rest.to_lowercase())
    });
    let member = format!("{}Attribute", member.collect::<String>());
    let member = match op {
        "MATMUL" => "MatMulAttribute",
        "MATMUL_T" => "MatMulTAttribute",
        "FFT2D" => "FFT2dAttribute",
        "RFFT2D" => "RFFT2dAttribute",
        "ARGMAX" => "ArgMaxAttribute",
        _ => &member,
    };
    operators.push(json!({
        "op": op, "attribute_type": member, "attribute": attribute, "inputs": names, "outputs": outputs
    }));
    let block = json!({
        "name": "main", "operators": operators, "tensors": tensors, "shapes": shapes,
        "inputs": ends, "outputs": outputs
    });
    let version = json!({"_major": 1, "_minor": 0, "_patch": 0, "_draft": false});
    json!({"version": version, "regions": [{"name": "main", "blocks": [block]}]})
}

/// Returns the payload with a graph.
fn written(graph: &Value) -> Vec<u8> {
    let schema = &tosa::desc::SCHEMA;
    let root = load::read(&graph.to_string(), schema.root, &mut load::no_files).unwrap();
    write::write(schema, &root, &[], &WriterLayout::default()).unwrap()
}

fn tensor(name: &str, operand: &str) -> Value {
    let (datatype, sizes) = operand.trim_end_matches(']').split_once('[').unwrap();
    let sizes: Vec<i32> =
        sizes.split(',').filter(|size| !size.is_empty()).map(|s| s.parse().unwrap()).collect();
    json!({"name": name, "type": datatype, "shape": sizes})
}

/// Returns the Errors and Warnings of a payload.
fn findings(bytes: &[u8]) -> Vec<String> {
    let report = Checker::new().check_payload(bytes).unwrap();
    let rows = report.findings().iter().filter(|found| found.rule.severity > Severity::Note);
    rows.map(|found| format!("{}: {}", found.rule.id, found.message)).collect()
}

/// An operator with its attributes, its inputs and its output.
type Case = (&'static str, Value, &'static [&'static str], &'static str);

const CONV: &[&str] =
    &["INT8[1,5,5,3]", "INT8[8,3,3,3]=216", "INT32[8]=32", "INT8[1]=1", "INT8[1]=1"];
const RESCALE: &[&str] = &["INT32[2,3]", "INT32[1]=4", "INT8[1]=1", "INT32[1]=4", "INT8[1]=1"];

fn conv(pad: i32, stride: i32, acc: &str) -> Value {
    json!({"pad": [pad, pad, pad, pad], "stride": [stride, stride], "dilation": [1, 1], "acc_type": acc})
}

fn rescale(per_channel: bool, unsigned: bool) -> Value {
    json!({
        "scale32": true, "rounding_mode": "SINGLE_ROUND", "per_channel": per_channel,
        "input_unsigned": unsigned
    })
}

const POOL: &[&str] = &["FP32[1,4,4,2]", "2,2", "2,2", "0,0,0,0"];
const BLOCKS: &[&str] = &[
    "FP8E4M3[1,3,3,32]",
    "FP8UE8M0[1,3,3,1]",
    "FP8E4M3[2,1,1,32]=64",
    "FP8UE8M0[2,1,1,1]=2",
    "FP32[2]=8",
    "0,0,0,0",
    "1,1",
    "1,1",
];

fn blocks() -> Value {
    json!({"block_size": "BLOCK_SIZE_32"})
}

/// The reference model accepts each of these, but for the shift of 0.
fn sound() -> Vec<Case> {
    let none = || json!({});
    vec![
        (
            "CONV3D",
            json!({"pad": vec![0; 6], "stride": vec![1; 3], "dilation": vec![1; 3], "acc_type": "INT32"}),
            &["INT8[1,2,2,2,1]", "INT8[1,1,1,1,1]=1", "INT32[1]=4", "INT8[1]=1", "INT8[1]=1"],
            "INT32[1,2,2,2,1]",
        ),
        (
            "TRANSPOSE_CONV2D",
            json!({"out_pad": [-1, 0, 0, 0], "stride": [1, 1], "acc_type": "INT32"}),
            &["INT8[1,2,2,1]", "INT8[1,2,2,1]=4", "INT32[1]=4", "INT8[1]=1", "INT8[1]=1"],
            "INT32[1,2,3,1]",
        ),
        ("ADD", none(), &["FP32[2,3]", "FP32[1,3]"], "FP32[2,3]"),
        ("ARGMAX", json!({"axis": 1, "nan_mode": "PROPAGATE"}), &["FP32[2,3]"], "INT32[2]"),
        ("CLAMP", clamp(1), &["INT8[3]"], "INT8[3]"),
        ("CONCAT", json!({"axis": 1}), &["FP32[2,3]", "FP32[2,1]"], "FP32[2,4]"),
        ("CONV2D", conv(1, 2, "INT32"), CONV, "INT32[1,3,3,8]"),
        (
            "DEPTHWISE_CONV2D",
            conv(0, 1, "INT32"),
            &["INT8[1,5,5,3]", "INT8[3,3,3,2]=54", "INT32[6]=24", "INT8[1]=1", "INT8[1]=1"],
            "INT32[1,3,3,6]",
        ),
        (
            "TRANSPOSE_CONV2D",
            json!({"out_pad": [0, 0, 0, 1], "stride": [2, 2], "acc_type": "FP32"}),
            &["FP32[1,2,2,3]", "FP32[4,3,3,3]=432", "FP32[1]=4", "FP32[1]=4", "FP32[1]=4"],
            "FP32[1,5,6,4]",
        ),
        ("GATHER", none(), &["FP32[1,5,2]", "INT32[1,3]"], "FP32[1,3,2]"),
        (
            "MATMUL",
            none(),
            &["INT8[1,2,3]", "INT8[1,3,4]", "INT8[1]=1", "INT8[1]=1"],
            "INT32[1,2,4]",
        ),
        ("MAX_POOL2D", pool(), &["FP32[1,4,4,2]"], "FP32[1,2,2,2]"),
        ("PAD", none(), &["FP32[2,3]", "0,1,2,0", "FP32[1]=4"], "FP32[3,5]"),
        ("REDUCE_SUM", json!({"axis": 1}), &["FP32[2,3]"], "FP32[2,1]"),
        ("RESCALE", rescale(false, false), RESCALE, "INT8[2,3]"),
        ("RESHAPE", none(), &["FP32[2,3]", "6"], "FP32[6]"),
        (
            "RESIZE",
            json!({"mode": "NEAREST"}),
            &["FP32[1,2,2,1]", "4,2,4,2", "-1,-1", "1,1"],
            "FP32[1,4,4,1]",
        ),
        ("SELECT", none(), &["BOOL[2]", "INT8[2]", "INT8[1]"], "INT8[2]"),
        ("SLICE", none(), &["FP32[2,6]", "0,1", "2,3"], "FP32[2,3]"),
        ("TABLE", none(), &["INT8[3]", "INT8[256]=256"], "INT8[3]"),
        ("TILE", none(), &["FP32[2,3]", "2,1"], "FP32[4,3]"),
        ("TRANSPOSE", json!({"perms": [1, 0]}), &["FP32[2,3]"], "FP32[3,2]"),
        ("FFT2D", none(), &["FP32[1,4,8]", "FP32[1,4,8]"], "FP32[1,4,8];FP32[1,4,8]"),
        ("RFFT2D", none(), &["FP32[1,4,8]"], "FP32[1,4,5];FP32[1,4,5]"),
        (
            "MATMUL_T",
            none(),
            &["INT8[2,2,3]", "INT8[1,4,3]", "INT8[1]=1", "INT8[1]=1"],
            "INT32[2,2,4]",
        ),
        ("MAX_POOL2D_ADAPTIVE", json!({"nan_mode": "PROPAGATE"}), POOL, "FP32[1,2,2,2]"),
        ("CONV2D_BLOCK_SCALED", blocks(), BLOCKS, "FP32[1,3,3,2]"),
        ("CAST_FROM_BLOCK_SCALED", blocks(), &["FP8E4M3[2,64]", "FP8UE8M0[2,2]"], "FP32[2,64]"),
        ("ADD_SHAPE", none(), &["1,2", "3,4"], "2"),
        ("CONCAT_SHAPE", none(), &["1,2", "3"], "3"),
        ("DIM", json!({"axis": 1}), &["FP32[2,3]"], "1"),
    ]
}

fn clamp(len: usize) -> Value {
    json!({"min_val": vec![0; len], "max_val": vec![1; len], "nan_mode": "PROPAGATE"})
}

fn pool() -> Value {
    json!({"kernel": [2, 2], "stride": [2, 2], "pad": [0, 0, 0, 0], "nan_mode": "PROPAGATE"})
}

/// The reference model refuses each of these, or crashes.
fn wrong() -> Vec<Case> {
    let none = || json!({});
    vec![
        ("ABS", none(), &["BOOL[2]"], "BOOL[2]"),
        ("ADD", none(), &["FP32[2,3]", "FP32[2]"], "FP32[2,3]"),
        ("ADD", none(), &["FP32[2,3]", "FP16[2,3]"], "FP32[2,3]"),
        ("ADD", none(), &["FP32[0]", "FP32[0]"], "FP32[0]"),
        ("ARGMAX", json!({"axis": 2, "nan_mode": "PROPAGATE"}), &["FP32[2,3]"], "INT32[2]"),
        ("CLAMP", clamp(1), &["FP32[3]"], "FP32[3]"),
        ("CLAMP", json!({"min_val": [0], "max_val": [1]}), &["INT8[3]"], "INT8[3]"),
        ("CONCAT", json!({"axis": 1}), &["FP32[2,3]", "FP32[3,1]"], "FP32[2,4]"),
        ("CONV2D", conv(1, 2, "FP32"), CONV, "INT32[1,3,3,8]"),
        ("CONV2D", conv(0, 0, "INT32"), CONV, "INT32[1,3,3,8]"),
        ("CONV2D", conv(1, 3, "INT32"), CONV, "INT32[1,2,2,8]"),
        ("CONV2D", conv(1, 2, "INT32"), CONV, "FP32[1,3,3,8]"),
        ("GATHER", none(), &["FP32[1,5,2]", "FP32[1,3]"], "FP32[1,3,2]"),
        (
            "MATMUL",
            none(),
            &["INT8[1,2,3]", "INT8[1,4,4]", "INT8[1]=1", "INT8[1]=1"],
            "INT32[1,2,4]",
        ),
        ("MAX_POOL2D", pool(), &["FP32[1,5,4,2]"], "FP32[1,2,2,2]"),
        ("PAD", none(), &["FP32[2,3]", "0,1", "FP32[1]=4"], "FP32[3,3]"),
        ("REDUCE_SUM", json!({"axis": -1}), &["FP32[2,3]"], "FP32[2,1]"),
        ("RESCALE", rescale(true, false), RESCALE, "INT8[2,3]"),
        ("RESCALE", rescale(false, true), RESCALE, "INT8[2,3]"),
        ("RESHAPE", none(), &["FP32[2,3]", "7"], "FP32[6]"),
        ("SLICE", none(), &["FP32[2,6]", "0,4", "2,3"], "FP32[2,3]"),
        ("TABLE", none(), &["INT8[3]", "INT8[255]=255"], "INT8[3]"),
        ("TRANSPOSE", json!({"perms": [0, 0]}), &["FP32[2,3]"], "FP32[2,2]"),
        ("ABS", none(), &["FP32[1,1,1,1,1,1,2]"], "FP32[1,1,1,1,1,1,2]"),
        ("REVERSE", json!({"axis": -1}), &["FP32[2,3]"], "FP32[2,3]"),
        (
            "RESIZE",
            json!({"mode": "NEAREST"}),
            &["FP32[1,2,2,1]", "4,2,4,2", "-1,-1", "4,4"],
            "FP32[1,4,4,1]",
        ),
        ("FFT2D", none(), &["FP32[1,3,8]", "FP32[1,3,8]"], "FP32[1,3,8];FP32[1,3,8]"),
        ("FFT2D", none(), &["FP32[1,4,8]", "FP32[1,4,8]"], "FP32[1,4,8];FP32[1,4,4]"),
        ("FFT2D", none(), &["FP32[1,4,8]", "FP32[1,4,8]"], "FP32[1,4,8]"),
        ("RFFT2D", none(), &["FP32[1,4,8]"], "FP32[1,4,4];FP32[1,4,4]"),
        ("RFFT2D", none(), &["FP16[1,4,8]"], "FP16[1,4,5];FP16[1,4,5]"),
        (
            "MATMUL_T",
            none(),
            &["INT8[2,2,3]", "INT8[1,3,4]", "INT8[1]=1", "INT8[1]=1"],
            "INT32[2,2,4]",
        ),
        (
            "MAX_POOL2D_ADAPTIVE",
            json!({"nan_mode": "PROPAGATE"}),
            &["FP32[1,4,4,2]", "2,2", "2,2", "2,0,0,0"],
            "FP32[1,3,2,2]",
        ),
        ("CONV2D_BLOCK_SCALED", blocks(), BLOCKS, "FP32[1,3,3,3]"),
        ("CONV2D_BLOCK_SCALED", json!({"block_size": 9}), BLOCKS, "FP32[1,3,3,2]"),
        ("CAST_FROM_BLOCK_SCALED", blocks(), &["FP8E4M3[2,33]", "FP8UE8M0[2,2]"], "FP32[2,33]"),
        ("CAST_FROM_BLOCK_SCALED", blocks(), &["FP8E4M3[2,64]"], "FP32[2,64]"),
        ("ADD_SHAPE", none(), &["1,2", "3"], "2"),
        ("ADD_SHAPE", none(), &["1,2", "INT32[2]"], "2"),
        ("ASSERT_EQUAL_SHAPE", none(), &["1,2", "1"], ""),
        ("CONCAT_SHAPE", none(), &["1,2", "3"], "4"),
        ("DIM", json!({"axis": 2}), &["FP32[2,3]"], "1"),
        ("DIM", json!({"axis": 1}), &["FP32[2,3]"], "INT32[1]"),
        ("COND_IF", json!({"then_graph": "main", "else_graph": "main"}), &["INT8[1]"], "INT8[1]"),
        ("COND_IF", json!({"then_graph": "a", "else_graph": "b"}), &["BOOL[1]"], "INT8[1]"),
        ("WHILE_LOOP", none(), &["INT8[1]", "INT8[1]"], "INT8[1]"),
        (
            "WHILE_LOOP",
            json!({"cond_graph": "main", "body_graph": "main"}),
            &["INT8[1]"],
            "INT8[2]",
        ),
    ]
}

#[test]
fn sound_operators_have_no_findings() {
    for (op, attribute, inputs, output) in sound() {
        let found = findings(&payload(op, &attribute, inputs, output));
        assert!(found.is_empty(), "{op} of {inputs:?}: {found:?}");
    }
}

#[test]
fn operators_with_wrong_operands_or_attributes_are_errors() {
    let mut text = String::new();
    for (op, attribute, inputs, output) in wrong() {
        let found = findings(&payload(op, &attribute, inputs, output));
        assert!(!found.is_empty(), "{op} of {inputs:?}");
        writeln!(text, "{op} ({}) -> {output}", inputs.join(", ")).unwrap();
        found.iter().for_each(|line| writeln!(text, "  {line}").unwrap());
    }
    assert_snapshot("tosa-operators", &text);
}

/// Control flow names the regions that it runs, which have the inputs and outputs of the operator.
#[test]
fn control_flow_runs_regions_of_its_inputs_and_outputs() {
    let region = |name: &str, output: &str| {
        let mut graph = graph("REDUCE_ANY", &json!({"axis": 0}), &["BOOL[1]"], output);
        let mut region = graph["regions"][0].take();
        region["name"] = json!(name);
        region
    };
    let errors = |op: &str, attribute: Value, inputs: &[&str], output: &str| {
        let mut graph = graph(op, &attribute, inputs, output);
        let regions = graph["regions"].as_array_mut().unwrap();
        regions.extend([region("one", "BOOL[1]"), region("two", "BOOL[1]")]);
        findings(&written(&graph))
    };
    let if_of = |then: &str| json!({"then_graph": then, "else_graph": "two"});
    let while_of = |cond: &str| json!({"cond_graph": cond, "body_graph": "two"});
    let none: [&str; 0] = [];
    assert_eq!(errors("COND_IF", if_of("one"), &["BOOL[1]", "BOOL[1]"], "BOOL[1]"), none);
    assert_eq!(errors("WHILE_LOOP", while_of("one"), &["BOOL[1]"], "BOOL[1]"), none);
    let missing = errors("COND_IF", if_of("three"), &["BOOL[1]", "BOOL[1]"], "BOOL[1]");
    assert_eq!(missing, [r#"tosa-operator: COND_IF: there is no then_graph "three""#]);
    let counts = errors("COND_IF", if_of("one"), &["BOOL[1]"], "BOOL[1]");
    let expected = r#"tosa-operator: COND_IF: then_graph "one" has 1 inputs and 1 outputs"#;
    assert_eq!(counts, [expected]);
    let wide = errors("COND_IF", if_of("one"), &["BOOL[2]", "BOOL[1]"], "BOOL[1]");
    let expected = "tosa-shape: COND_IF: input 0 has the shape [2]: expected one element";
    assert_eq!(wide, [expected]);
    let other = errors("WHILE_LOOP", while_of("one"), &["BOOL[1]"], "BOOL[2]");
    let expected = "tosa-shape: WHILE_LOOP: output 0 has another datatype or shape than input 0";
    assert_eq!(other, [expected]);
}

#[test]
fn a_genuine_graph_has_attributes_and_named_constants() {
    let file = files::read("tests/data/pte/tosa_linear.pte").unwrap();
    let handle = Handle::open(&file[..], &Limits::UNTRUSTED).unwrap();
    let graphs = PayloadGraph::all(&handle, &Limits::UNTRUSTED).unwrap();
    let nodes = graphs.iter().flat_map(|graph| graph.nodes(false));
    let convolution = nodes
        .into_iter()
        .find(|node| node.name.as_ref().is_some_and(|name| name.raw() == "CONV2D"));
    let attributes = convolution.unwrap().attributes;
    let attributes: Vec<_> =
        attributes.iter().map(|one| format!("{}={}", one.name.raw(), one.value.raw())).collect();
    assert_eq!(
        attributes,
        [
            "pad=[0, 0, 0, 0]",
            "stride=[1, 1]",
            "dilation=[1, 1]",
            "local_bound=false",
            "acc_type=int32"
        ]
    );
    let contents = PayloadContents::all(&handle, &Limits::UNTRUSTED).unwrap();
    let rows = contents.iter().flat_map(ConstantRow::of_payload).map(|row| {
        let name = row.constant.name.as_ref().unwrap().as_untrusted().raw().to_string();
        (name, row.constant.dims.clone(), row.bytes().unwrap())
    });
    let rows: Vec<_> = rows.take(2).collect();
    let expected = [
        ("aten_convolution_default_weight_ohwi", vec![3, 1, 1, 4], 12),
        ("b__frozen_param1", vec![3], 12),
    ];
    assert_eq!(rows, expected.map(|(name, dims, bytes)| (name.to_string(), dims, bytes)));
}
