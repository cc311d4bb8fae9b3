//! Indices in constants, wherever they come from when a kernel uses them.

use serde_json::{Value, json};

use super::fixtures::judge;
use crate::support::fixture::Fixture;

/// Returns the rules that a fixture breaks after `calls` are put first and its embedding uses the
/// indices in value `indices`. Value 5 is the constant with the indices, 7 a planned tensor, 8
/// Null, 9 a list of the size of the indices, and 11 a tensor without memory.
fn broken(fixture: &str, indices: u32, calls: &[(&str, Value)]) -> Vec<String> {
    let Fixture(mut file) = Fixture::read(fixture).unwrap();
    let plan = &mut file["root"]["execution_plan"][0];
    let values = plan["values"].as_array_mut().unwrap();
    let mut planned = values[5].clone();
    planned["val"]["data_buffer_idx"] = json!(0);
    let mut view = planned.clone();
    planned["val"]["allocation_info"] = json!({"memory_id": 1, "memory_offset_low": 160});
    view["val"]["shape_dynamism"] = json!("DYNAMIC_BOUND");
    values.push(planned);
    values.push(json!({"val_type": "Null", "val": {}}));
    values.push(json!({"val_type": "IntList", "val": {"items": [10]}}));
    values.push(json!({"val_type": "Int", "val": {"int_val": 2}}));
    values.push(view);
    plan["non_const_buffer_sizes"] = json!([0, 192]);
    let operators = plan["operators"].as_array_mut().unwrap();
    for (name, overload) in [("aten::clone", "out"), ("executorch_prim::et_view", "default")] {
        operators.push(json!({"name": name, "overload": overload}));
    }
    let instructions = plan["chains"][0]["instructions"].as_array_mut().unwrap();
    instructions[0]["instr_args"]["args"][5] = json!(indices);
    for (nth, (kind, args)) in calls.iter().enumerate() {
        instructions.insert(nth, json!({"instr_args_type": kind, "instr_args": args}));
    }
    judge(&Fixture(file)).into_iter().map(|(rule, _)| rule).collect()
}

#[test]
fn indices_of_a_constant_are_known_after_copies_views_and_moves() {
    let call =
        |operator: u32, args: &[u32]| ("KernelCall", json!({"op_index": operator, "args": args}));
    let clone = || call(1, &[5, 8, 7, 7]);
    let view = || call(2, &[5, 9, 11]);
    let moved = || ("MoveCall", json!({"move_from": 5, "move_to": 7}));
    let ways =
        [(7, vec![clone()]), (11, vec![view()]), (7, vec![moved()]), (7, vec![clone(), clone()])];
    for (indices, calls) in ways {
        assert_eq!(broken("index-contents.good", indices, &calls), [""; 0], "{indices} {calls:?}");
        assert_eq!(broken("index-contents.bad", indices, &calls), ["index-contents"]);
    }
    // An operator that computes other elements.
    assert!(broken("index-contents.bad", 7, &[]).is_empty());
}
