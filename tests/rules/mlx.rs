//! Graphs of MLX: the order of instructions in chains that call chains.

use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::fixture::Fixture;

/// Returns the findings in `base/mlx.json` after changes of its graph. `chains` follow the main chain, which calls the
/// first of them or the second before its end.
fn judged(chains: &[Value]) -> Vec<(String, String)> {
    judged_with_init(chains, -1)
}

/// Returns the same of a graph whose chain `init` runs once, before all others.
fn judged_with_init(chains: &[Value], init: i32) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/mlx").unwrap();
    let graph = &mut program["data"][0]["mlx"];
    graph["num_temp_tensors"] = json!(1);
    graph["init_chain_idx"] = json!(init);
    let all = graph["instruction_chains"].as_array_mut().unwrap();
    let condition = json!({"cond": {"literal": 1}, "then_chain_idx": 1, "else_chain_idx": 2});
    let call = json!({"op_type": "IfNode", "op": condition});
    all[0]["instructions"].as_array_mut().unwrap().push(call);
    all.extend(chains.iter().map(|instructions| json!({"instructions": instructions})));
    judge(&Fixture(program))
}

fn copy(x: u32, out: u32) -> Value {
    json!({"op_type": "IdCopyNode", "op": {"x": {"idx": x}, "out": {"idx": out}}})
}

fn call(then: u32, other: u32) -> Value {
    let op = json!({"cond": {"literal": 1}, "then_chain_idx": then, "else_chain_idx": other});
    json!({"op_type": "IfNode", "op": op})
}

#[test]
fn chains_read_what_their_callers_have_written() {
    let sound = judged(&[json!([copy(2, 3)]), json!([copy(1, 3), call(1, 1)])]);
    assert!(sound.is_empty(), "{sound:?}");
    let unwritten = judged(&[json!([copy(3, 2)]), json!([])]);
    is_broken(&unwritten, "mlx-order", "x: tensor 3 is read before it is written");
    let constant = judged(&[json!([]), json!([copy(1, 0)])]);
    is_broken(&constant, "mlx-order", "tensor 0 is a constant");
}

#[test]
fn a_chain_that_calls_itself_is_an_error() {
    is_broken(&judged(&[json!([]), json!([call(1, 2)])]), "mlx-chain", "chain 2 calls itself");
    let round = judged(&[json!([call(2, 3)]), json!([call(0, 3)]), json!([])]);
    is_broken(&round, "mlx-chain", "chain 0 calls itself");
}

/// The init chain may write a constant, but no instruction may change it in place.
#[test]
fn no_chain_changes_a_part_of_a_constant() {
    let part = |dst: u32| {
        let one = json!({"literal": 0});
        let op = json!({"dst": {"idx": dst}, "update": {"idx": 0}, "out": {"idx": 3}, "axis": one,
            "start": one, "stop": one});
        json!({"op_type": "SliceUpdateNode", "op": op})
    };
    let constant = judged_with_init(&[json!([]), json!([]), json!([part(0)])], 3);
    is_broken(&constant, "mlx-order", "dst: tensor 0 is a constant, which is never changed");
    let whole = judged_with_init(&[json!([]), json!([]), json!([copy(0, 0)])], 3);
    assert!(whole.is_empty(), "{whole:?}");
}

/// The backend does not read where a scan begins: its body may write it first.
#[test]
fn where_a_scan_begins_is_not_read() {
    let op = json!({"originals": [], "sliced": [], "outputs": [], "carry": [{"idx": 3}],
        "body_chain_idx": 2, "scan_axis": 0});
    let scan = json!([{"op_type": "ScanNode", "op": op}]);
    let found = judged(&[json!([]), scan, json!([copy(1, 3)])]);
    assert!(found.iter().all(|(rule, _)| rule != "mlx-order"), "{found:?}");
}

/// Instructions that the backend takes, and for each a value of a field that it does not take.
#[test]
fn each_number_list_and_text_of_an_instruction_is_judged() {
    let (tensor, value) = (json!({"idx": 1}), json!({"idx": 0}));
    let number = |literal: i64| json!({"literal": literal});
    let datatype = "no datatype of MLX";
    let range = json!({"out": tensor, "start": number(0), "stop": number(4), "step": number(1)});
    let divided = json!({"a": number(7), "b": number(2), "out": value});
    let filled =
        json!({"out": tensor, "shape": [number(2)], "v": {"literal": 0.5}, "scalar_type": 6});
    let gathered =
        json!({"x": tensor, "indices": [tensor], "out": tensor, "axes": [0], "slice_sizes": [1]});
    let padded =
        json!({"x": tensor, "out": tensor, "pad_width": [number(1), number(1)], "mode": "edge"});
    let random = json!({"out": tensor, "shape": [number(2)], "width": 4});
    let scanned = json!({"originals": [tensor], "sliced": [tensor], "outputs": [], "carry": [], "body_chain_idx": 2});
    let place = json!({"axis": number(0), "start": number(0), "stop": number(1), "step": 1});
    let with = |fields: &Value, more: Value| {
        let mut all = fields.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    let sliced = with(&place, json!({"x": tensor, "out": tensor}));
    let updated = with(&place, json!({"dst": tensor, "update": tensor, "out": tensor}));
    let split = json!({"x": tensor, "outs": [tensor, tensor], "sizes": [number(1), number(2)]});
    let attended = json!({"q": tensor, "k": tensor, "v": tensor, "position": tensor, "out": tensor,
        "layer_id": 0, "scale": 1.0});
    let unknown = json!({"x": tensor, "out": tensor, "scalar_type": 6});
    let stored =
        json!({"w": tensor, "scales": tensor, "out": tensor, "mode": "affine", "dtype": 6});
    let taken = json!({"x": tensor, "out": tensor, "index": {"kind": 0}});
    let triangle = json!({"out": tensor, "n": number(2), "m": number(2), "scalar_type": 6});
    for (operator, fields, field, wrong, message) in [
        ("ARangeNode", &range, "scalar_type", json!(7), datatype),
        ("ARangeNode", &range, "step", number(0), "0 is not allowed"),
        ("AsTypeNode", &unknown, "scalar_type", json!(7), datatype),
        ("DequantizeNode", &stored, "dtype", json!(7), datatype),
        ("FloorDivideIntNode", &divided, "b", number(0), "0 is not allowed"),
        (
            "FullLikeNode",
            &with(&unknown, json!({"v": {"literal": 0.5}})),
            "scalar_type",
            json!(7),
            datatype,
        ),
        ("FullNode", &filled, "scalar_type", json!(7), datatype),
        ("FullNode", &filled, "shape", json!([number(0)]), "0 is not allowed"),
        ("GatherNode", &gathered, "axes", json!([-1]), "-1 is not allowed"),
        ("GatherNode", &gathered, "indices", json!([tensor, tensor]), "there are 2, and 1 axes"),
        ("GatherNode", &gathered, "slice_sizes", json!([0]), "0 is not allowed"),
        ("ModIntNode", &divided, "b", number(0), "0 is not allowed"),
        ("PadNode", &padded, "mode", json!("reflect"), "does not have \"reflect\""),
        ("PadNode", &padded, "pad_width", json!([number(1)]), "expected pairs"),
        ("RandomBitsNode", &random, "shape", json!([number(0)]), "0 is not allowed"),
        ("RandomBitsNode", &random, "width", json!(3), "3 is not allowed"),
        (
            "RepeatNode",
            &json!({"x": tensor, "out": tensor, "repeats": number(1)}),
            "repeats",
            number(0),
            "0 is not",
        ),
        ("ScanNode", &scanned, "originals", json!([]), "the list is empty"),
        ("ScanNode", &scanned, "originals", json!([tensor, tensor]), "there are 2, and 1 sliced"),
        ("SliceNode", &sliced, "step", json!(0), "0 is not allowed"),
        ("SliceUpdateNode", &updated, "step", json!(-1), "-1 is not allowed"),
        ("SplitNode", &split, "sizes", json!([]), "the list is empty"),
        (
            "SplitNode",
            &split,
            "sizes",
            json!([number(1), number(1), number(1)]),
            "there are 3, and 2 outs",
        ),
        ("TakeNode", &taken, "index", json!({"kind": 3}), "3 is no kind"),
        ("TriNode", &triangle, "scalar_type", json!(7), datatype),
        ("UpdateAndAttendNode", &attended, "layer_id", Value::Null, "it is missing"),
        ("UpdateAndAttendNode", &attended, "out_dtype", json!(7), datatype),
        ("UpdateAndAttendNode", &attended, "scale", Value::Null, "it is missing"),
    ] {
        let instruction = |fields: &Value| json!([{"op_type": operator, "op": fields}]);
        let of_rule = |fields: &Value| {
            let mut found = judged(&[instruction(fields), json!([])]);
            found.retain(|(rule, _)| rule == "mlx-attribute");
            found
        };
        let sound = of_rule(fields);
        assert!(sound.is_empty(), "{operator}: {sound:?}");
        let mut broken = fields.clone();
        broken[field] = wrong;
        if broken[field].is_null() {
            broken.as_object_mut().unwrap().remove(field);
        }
        let found = of_rule(&broken);
        is_broken(&found, "mlx-attribute", &format!("{field}: "));
        is_broken(&found, "mlx-attribute", message);
    }
}

/// Returns the findings in `base/mlx.json` after a change of its graph and of its method.
fn changed(change: impl FnOnce(&mut Value, &mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/mlx").unwrap();
    let mut graph = program["data"][0]["mlx"].take();
    change(&mut graph, &mut program["root"]["execution_plan"][0]);
    program["data"][0]["mlx"] = graph;
    judge(&Fixture(program))
}

/// The backend reads a version as `std::stoi` does.
#[test]
fn versions_are_numbers_with_anything_behind() {
    let found = |version: &str| changed(|graph, _| graph["version"] = json!(version));
    for version in ["", "1", "0", "+1", "-5", "  1", "1.9", "1x"] {
        assert_eq!(found(version), [], "{version:?}");
    }
    for version in ["2", "+2", "10", "x", " ", "+", "-", "99999999999"] {
        is_broken(&found(version), "mlx-version", "unknown version");
    }
}

/// The backend reads inputs in their order, and writes outputs in any. An order does not matter if a size is 1.
#[test]
fn inputs_are_contiguous() {
    let found = |nth: usize, sizes: [u32; 2], order: [u32; 2]| {
        changed(|graph, plan| {
            // Sizes that differ from those of the graph are another rule.
            for meta in [1, 2] {
                graph["tensor_meta"][meta]["shape"] = json!([{"value": -1}, {"value": -1}]);
            }
            plan["values"][nth]["val"]["sizes"] = json!(sizes);
            plan["values"][nth]["val"]["dim_order"] = json!(order);
        })
    };
    for nth in [0, 1] {
        for sizes in [[2, 3], [1, 3], [3, 1]] {
            assert_eq!(found(nth, sizes, [0, 1]), [], "{nth} {sizes:?}");
        }
        for sizes in [[1, 3], [3, 1], [0, 3]] {
            assert_eq!(found(nth, sizes, [1, 0]), [], "{nth} {sizes:?}");
        }
    }
    is_broken(&found(0, [2, 3], [1, 0]), "mlx-args", "its dimensions are not in order");
    assert_eq!(found(1, [2, 3], [1, 0]), []);
}

/// A size below 0 in a graph is not known; 0 is a size.
#[test]
fn known_sizes_of_a_graph_are_those_of_its_arguments() {
    let found = |size: i32| {
        changed(|graph, _| graph["tensor_meta"][1]["shape"][1] = json!({"value": size}))
    };
    assert_eq!(found(3), []);
    for size in [0, 2, 4] {
        is_broken(
            &found(size),
            "mlx-unread",
            &format!("a size of 3, and the graph's tensor {size}"),
        );
    }
}

/// A list of one size is for all outputs.
#[test]
fn a_split_has_one_size_or_one_for_each_output() {
    let tensor = json!({"idx": 1});
    let found = |count: usize| {
        let sizes = vec![json!({"literal": 1}); count];
        let op = json!({"x": tensor, "outs": [tensor, tensor, tensor], "sizes": sizes});
        let mut found = judged(&[json!([{"op_type": "SplitNode", "op": op}]), json!([])]);
        found.retain(|(rule, _)| rule == "mlx-attribute");
        found
    };
    for count in [1, 3] {
        assert_eq!(found(count), []);
    }
    for count in [2, 4] {
        is_broken(&found(count), "mlx-attribute", &format!("there are {count}, and 3 outs"));
    }
}
