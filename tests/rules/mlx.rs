//! Graphs of MLX: the order of instructions in chains that call chains.

use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::fixture::Fixture;

/// Returns the findings in `base/mlx.json` after changes of its graph. `chains` follow the main chain, which calls the
/// first of them or the second before its end.
fn judged(chains: &[Value]) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/mlx").unwrap();
    let graph = &mut program["data"][0]["mlx"];
    graph["num_temp_tensors"] = json!(1);
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
