//! Graphs of TOSA: versions, the data of constants and shapes, and variables.

use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::fixture::Fixture;

/// Returns the findings in the program of `base/tosa.json`, after a change of its graph and of its only block. The
/// block adds the constant `one` to `x`, which gives `sum`.
fn judged(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/tosa").unwrap();
    change(&mut program["data"][0]["tosa"]);
    judge(&Fixture(program))
}

fn block(graph: &mut Value) -> &mut Value {
    &mut graph["regions"][0]["blocks"][0]
}

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().unwrap().push(item);
}

#[test]
fn two_versions_are_known() {
    let found = |major: i32, minor: i32| {
        judged(|graph| {
            graph["version"]["_major"] = json!(major);
            graph["version"]["_minor"] = json!(minor);
        })
    };
    for (major, minor) in [(1, 0), (1, 1)] {
        assert_eq!(found(major, minor), [], "{major}.{minor}");
    }
    for (major, minor) in [(0, 1), (0, 80), (1, 2), (1, -1), (2, 0), (2, 1)] {
        let part = format!("unknown version {major}.{minor}");
        is_broken(&found(major, minor), "tosa-graph", &part);
    }
}

/// A constant may have more bytes than its shape asks for.
#[test]
fn a_constant_has_the_bytes_of_its_shape() {
    let found =
        |len: usize| judged(|graph| block(graph)["tensors"][1]["data"] = json!(vec![0; len]));
    for len in [12, 13, 16] {
        assert_eq!(found(len), [], "{len}");
    }
    for len in [1, 8, 11] {
        let part = format!("the tensor \"one\" has {len} bytes: expected 12");
        is_broken(&found(len), "tosa-constant", &part);
    }
    is_broken(&found(0), "tosa-constant", "CONST defines a value without data");
}

/// Data of more than 2 GB is elsewhere in the file, at an offset. The offset 1 stands for none.
#[test]
fn data_may_be_elsewhere_in_the_file() {
    let found = |offset: u64| {
        judged(|graph| {
            let tensor = &mut block(graph)["tensors"][1];
            tensor.as_object_mut().unwrap().remove("data");
            tensor["offset"] = json!(offset);
        })
    };
    for offset in [0, 1] {
        is_broken(&found(offset), "tosa-constant", "CONST defines a value without data");
    }
    for offset in [2, 4096] {
        assert_eq!(found(offset), [], "{offset}");
    }
}

/// A shape has a number of 8 bytes for each dimension, and for none no data.
#[test]
fn a_shape_has_a_number_for_each_dimension() {
    let found = |rank: u32, len: usize| {
        judged(|graph| {
            let block = block(graph);
            push(&mut block["shapes"], json!({"name": "s", "rank": rank, "data": vec![1; len]}));
            let operator = json!({"op": "CONST_SHAPE", "attribute_type": "ConstShapeAttribute",
                "attribute": {}, "inputs": [], "outputs": ["s"]});
            push(&mut block["operators"], operator);
        })
    };
    for (rank, len) in [(0, 0), (1, 8), (2, 16), (3, 24), (2, 24)] {
        assert_eq!(found(rank, len), [], "{rank} {len}");
    }
    for (rank, len) in [(1, 7), (2, 8), (2, 15), (3, 16)] {
        let part = format!("the shape \"s\" has {len} bytes: expected {}", rank * 8);
        is_broken(&found(rank, len), "tosa-constant", &part);
    }
    is_broken(&found(1, 0), "tosa-constant", "CONST_SHAPE defines a value without data");
}

/// Sizes that are known when the graph is specialized are −1, but not those of data.
#[test]
fn a_size_is_positive_or_not_known() {
    let of_rule = |nth: usize, size: i32| {
        let mut found = judged(|graph| {
            block(graph)["tensors"][nth]["shape"] = json!([size, 3]);
        });
        found.retain(|(rule, text)| rule == "tosa-shape" && text.contains("has a size of"));
        found.len()
    };
    for nth in [0, 1, 2] {
        for size in [-2, 0] {
            assert_eq!(of_rule(nth, size), 1, "{nth} {size}");
        }
        assert_eq!(of_rule(nth, 1), 0, "{nth}");
    }
    assert_eq!([0, 1, 2].map(|nth| of_rule(nth, -1)), [0, 1, 0]);
}

/// A variable may be read before it is written, and be written again. A constant is none.
#[test]
fn variables_are_read_and_written_in_any_order() {
    let with = |is_variable: bool, lists: &[[&str; 3]]| {
        judged(|graph| {
            let block = block(graph);
            let tensor =
                json!({"name": "v", "shape": [2, 3], "type": "FP32", "variable": is_variable});
            push(&mut block["tensors"], tensor);
            for [one, other, output] in lists {
                let operator = json!({"op": "ADD", "attribute_type": "AddAttribute", "attribute": {},
                    "inputs": [one, other], "outputs": [output]});
                push(&mut block["operators"], operator);
            }
        })
    };
    let (twice, once) = (&[["x", "x", "v"], ["x", "one", "v"]][..], &[["x", "x", "v"]][..]);
    assert_eq!(with(false, once), []);
    assert_eq!(with(true, once), []);
    assert_eq!(with(true, twice), []);
    is_broken(&with(false, twice), "tosa-value", "\"v\" is defined twice");
    for is_variable in [false, true] {
        is_broken(&with(is_variable, &[]), "tosa-value", "neither defined nor used");
    }
    let read = judged(|graph| {
        let block = block(graph);
        let tensor = json!({"name": "v", "shape": [1, 3], "type": "FP32", "variable": true});
        push(&mut block["tensors"], tensor);
        block["operators"][1]["inputs"][1] = json!("v");
    });
    assert_eq!(read, []);
    let constant = judged(|graph| block(graph)["tensors"][1]["variable"] = json!(true));
    is_broken(&constant, "tosa-constant", "CONST defines a variable");
}

/// The zero points of floating-point numbers are 0 of either sign.
#[test]
fn zero_points_of_floats_are_zero() {
    let found = |bytes: [u8; 4]| {
        judged(|graph| {
            let block = block(graph);
            let zero = json!({"name": "zero", "shape": [1], "type": "FP32", "data": bytes});
            push(&mut block["tensors"], zero);
            let constant = json!({"op": "CONST", "attribute_type": "ConstAttribute",
                "attribute": {}, "inputs": [], "outputs": ["zero"]});
            let negated = json!({"op": "NEGATE", "attribute_type": "NegateAttribute",
                "attribute": {}, "inputs": ["x", "zero", "zero"], "outputs": ["y"]});
            push(&mut block["tensors"], json!({"name": "y", "shape": [2, 3], "type": "FP32"}));
            push(&mut block["operators"], constant);
            push(&mut block["operators"], negated);
        })
    };
    for zero in [0.0f32, -0.0] {
        assert_eq!(found(zero.to_le_bytes()), [], "{zero}");
    }
    for number in [1.0f32, -1.0, f32::MIN_POSITIVE, f32::from_bits(1)] {
        is_broken(&found(number.to_le_bytes()), "tosa-constant", "NEGATE");
    }
}

/// The sizes of an argument are compared where both sides are known before a run.
#[test]
fn an_argument_has_the_bytes_of_its_tensor() {
    let called = |change: fn(&mut Value)| {
        let Fixture(mut program) = Fixture::read("base/tosa").unwrap();
        program["root"]["execution_plan"][0]["values"][1]["val"]["sizes"] = json!([2, 2]);
        change(&mut program);
        judge(&Fixture(program))
    };
    is_broken(&called(|_| {}), "tosa-call", "has 16 bytes, and the graph's tensor 24");
    let dynamic = called(|program| {
        let value = &mut program["root"]["execution_plan"][0]["values"][1]["val"];
        value["shape_dynamism"] = json!("DYNAMIC_BOUND");
    });
    assert_eq!(dynamic, []);
    let unranked = called(|program| {
        let tensors = &mut block(&mut program["data"][0]["tosa"])["tensors"];
        for tensor in tensors.as_array_mut().unwrap() {
            if tensor["name"] == "sum" {
                tensor["is_unranked"] = json!(true);
            }
        }
    });
    assert_eq!(unranked, []);
}
