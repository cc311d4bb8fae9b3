//! Models of OpenVINO, and the arguments of their calls.

use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::fixture::Fixture;
use crate::support::openvino::model;

/// Returns the findings in the program of `base/openvino.json` after a change of its method, with this model.
fn judged(model: &str, change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/openvino").unwrap();
    change(&mut program["root"]["execution_plan"][0]);
    program["data"] = json!([{"openvino": model, "constants": 48, "size": 1024}]);
    judge(&Fixture(program))
}

/// The method has a tensor of floats `[1, 4]` and one of `[1, 3]`.
fn plain() -> String {
    model(&[("f32", "1,4")], &[("FP32", &[1, 3])])
}

#[test]
fn a_call_has_an_argument_for_each_input_and_output() {
    let args = |args: Value| {
        judged(&plain(), |plan| {
            plan["chains"][0]["instructions"][0]["instr_args"]["args"] = args;
        })
    };
    assert_eq!(args(json!([0, 1])), []);
    is_broken(&args(json!([0])), "openvino-call", "1 arguments: the model has 2 inputs");
    is_broken(&args(json!([0, 1, 1])), "openvino-call", "3 arguments: the model has 2 inputs");
    is_broken(&args(json!([1, 0])), "openvino-call", "argument 0: expected the shape [1, 4]");
    is_broken(&args(json!([0, 2])), "openvino-call", "argument 1: the backend takes a Tensor");
    // An Int is a tensor of one i64.
    is_broken(&args(json!([2, 1])), "openvino-call", "expected \"f32\", found LONG");
    let int = model(&[("i64", "1")], &[("FP32", &[1, 3])]);
    let found = judged(&int, |plan| {
        plan["chains"][0]["instructions"][0]["instr_args"]["args"] = json!([2, 1]);
    });
    assert_eq!(found, []);
    let matrix = model(&[("i64", "1,1")], &[("FP32", &[1, 3])]);
    let found = judged(&matrix, |plan| {
        plan["chains"][0]["instructions"][0]["instr_args"]["args"] = json!([2, 1]);
    });
    is_broken(&found, "openvino-call", "argument 0: expected the shape [1, 1]");
}

#[test]
fn shapes_have_bounds_and_types_have_two_names() {
    for shape in ["1,4", " 1, 4 ", "?,4", "-1,?", "1..8,4", "..3,..", "0..,4..4"] {
        let model = model(&[("f32", shape)], &[("FP32", &[1, 3])]);
        assert_eq!(judged(&model, |_| {}), [], "{shape}");
    }
    for (shape, part) in
        [("1", "[1]"), ("2..8,4", "[2..8, 4]"), ("", "[]"), ("1,5", "[1, 5]"), ("?,5", "[?, 5]")]
    {
        let model = model(&[("f32", shape)], &[("FP32", &[1, 3])]);
        let part = format!("argument 0: expected the shape {part}");
        is_broken(&judged(&model, |_| {}), "openvino-call", &part);
    }
    for (element, precision, datatype) in [
        ("f16", "FP16", "HALF"),
        ("bf16", "BF16", "BFLOAT16"),
        ("f64", "FP64", "DOUBLE"),
        ("i64", "I64", "LONG"),
        ("i32", "I32", "INT"),
        ("i16", "I16", "SHORT"),
        ("i8", "I8", "CHAR"),
        ("u8", "U8", "BYTE"),
        ("boolean", "BOOL", "BOOL"),
    ] {
        let model = model(&[(element, "1,4")], &[(precision, &[-1, 3])]);
        let found = judged(&model, |plan| {
            for nth in 0..2 {
                plan["values"][nth]["val"]["scalar_type"] = json!(datatype);
                plan["values"][nth]["val"]["allocation_info"]["memory_offset_low"] =
                    json!(64 * nth);
            }
            plan["non_const_buffer_sizes"] = json!([0, 128]);
        });
        assert_eq!(found, [], "{element}");
        is_broken(&judged(&model, |_| {}), "openvino-call", ", found FLOAT");
    }
    // The backend passes no tensors of other types.
    let model = model(&[("u4", "1,4")], &[("FP32", &[1, 3])]);
    is_broken(&judged(&model, |_| {}), "openvino-call", "expected \"u4\"");
}

/// A tensor that is not static has at most the sizes that the program declares.
#[test]
fn dynamic_tensors_can_have_the_shape_of_the_model() {
    let found = |shape: &str, dynamism: &str| {
        judged(&model(&[("f32", shape)], &[("FP32", &[1, 3])]), |plan| {
            plan["values"][0]["val"]["shape_dynamism"] = json!(dynamism);
        })
    };
    for shape in ["1,4", "1,3", "0..9,?"] {
        assert_eq!(found(shape, "DYNAMIC_BOUND"), [], "{shape}");
    }
    let part = "argument 0: expected the shape";
    is_broken(&found("1,5", "DYNAMIC_BOUND"), "openvino-call", part);
    is_broken(&found("4", "DYNAMIC_BOUND"), "openvino-call", part);
    is_broken(&found("1,3", "STATIC"), "openvino-call", part);
}

/// Subgraphs have inputs and outputs of their own, comments and texts have marks, and quotes are of two kinds.
#[test]
fn only_the_outermost_network_has_inputs_and_outputs() {
    let inner = r#"<layer type="Parameter"><data element_type="x" shape="9"/></layer>"#;
    let subgraph = format!(
        "<layer type='Subgraph' name=\"a > b\"><!-- <layer> --><body><layers>{inner}</layers></body></layer>"
    );
    let model = plain().replacen("<layers>", &format!("<layers>{subgraph}"), 1);
    assert_eq!(judged(&model, |_| {}), []);
}

#[test]
fn a_model_that_is_not_whole_is_refused() {
    let refused = |model: &str, part: &str| {
        is_broken(&judged(model, |_| {}), "openvino-model", part);
    };
    let plain = plain();
    refused("", "the model ends early, or has no inputs and outputs");
    refused("hello", "the model ends early");
    refused(&plain[..plain.len() - 6], "the model ends early");
    refused(&plain[..plain.len() - 1], "an element without an end");
    refused(&plain.replace("</net>", "</nut>"), "an end tag that does not match its start tag");
    refused(&plain.replace("<layers>", "<layers><!--"), "a comment without an end");
    refused(&plain.replace("shape=", "form="), "a layer without a type, a shape or a size");
    refused(&plain.replace("1,4", "1,x"), "a layer without a type, a shape or a size");
    refused(&plain.replace("<dim>1", "<dim>x"), "a dimension that is no number");
    refused(&plain.replace("precision", "p"), "a layer without a type");
    let constant = r#"<layers><layer type="Const"><data offset="40" size="9"/></layer>"#;
    refused(&plain.replace("<layers>", constant), "the constants would be at bytes 0x0 to 0x31");
    let most = constant.replace("\"9\"", &format!("\"{}\"", u64::MAX));
    refused(&plain.replace("<layers>", &most), "the constants would be at bytes 0x0 to");
}
