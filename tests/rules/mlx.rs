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
