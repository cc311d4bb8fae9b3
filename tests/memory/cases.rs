//! Methods of a few instructions, whose live ranges are obvious.

use pte::Pte;
use pte::memory::{LiveRange, Memory, TensorRole};
use serde_json::{Value, json};

use super::plans;
use crate::support::build;

/// A tensor of 16 bytes at `offset` of arena 1.
pub(super) fn planned(offset: u64) -> Value {
    json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [4], "dim_order": [0],
        "allocation_info": {"memory_id": 1, "memory_offset_low": offset}}})
}

pub(super) fn call(op_index: i32, args: &[i32]) -> Value {
    json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": op_index, "args": args}})
}

pub(super) fn moved(from: i32, to: i32) -> Value {
    json!({"instr_args_type": "MoveCall", "instr_args": {"move_from": from, "move_to": to}})
}

pub(super) fn jump(condition: i32, to: usize) -> Value {
    json!({"instr_args_type": "JumpFalseCall",
        "instr_args": {"cond_value_index": condition, "destination_instruction": to}})
}

fn freed(index: i32) -> Value {
    json!({"instr_args_type": "FreeCall", "instr_args": {"value_index": index}})
}

/// A program of one method. Its three operators are an official one, an unknown one, and an
/// official one that works in place.
pub(super) fn program(
    values: &[Value],
    ends: (&[i32], &[i32]),
    size: u64,
    chains: &[Vec<Value>],
) -> Vec<u8> {
    let chains: Vec<_> = chains.iter().map(|all| json!({"instructions": all})).collect();
    let plan = json!({"name": "forward", "values": values, "inputs": ends.0, "outputs": ends.1,
        "chains": chains, "delegates": [{"id": "Backend"}], "non_const_buffer_sizes": [0, size],
        "operators": [{"name": "aten::add", "overload": "out"}, {"name": "my::op"},
            {"name": "aten::index_put_"},
            {"name": "executorch_prim::et_view", "overload": "default"}]});
    build::file(&json!({"root": {"execution_plan": [plan]}}).to_string())
}

type Lives = Vec<Option<(Option<u32>, Option<u32>)>>;

fn lives(file: &[u8]) -> Lives {
    let pte = Pte::read(file).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    let mut all: Vec<_> = memory.arenas().iter().flat_map(|arena| memory.tensors(arena)).collect();
    all.sort_by_key(|tensor| tensor.value);
    all.iter()
        .map(|of| of.live_range.map(|LiveRange { first_use: first, last_use: last }| (first, last)))
        .collect()
}

fn at(first: u32, last: u32) -> Option<(Option<u32>, Option<u32>)> {
    Some((Some(first), Some(last)))
}

const THROUGHOUT: Option<(Option<u32>, Option<u32>)> = Some((None, None));

fn scratch(count: u64) -> Vec<Value> {
    (0..count).map(|nth| planned(16 * nth)).collect()
}

/// `my::op`, which reads and writes.
fn op(reads: &[i32], write: i32) -> Value {
    call(1, &[reads, &[write, write]].concat())
}

#[test]
fn inputs_come_before_and_outputs_stay() {
    let chain = vec![op(&[0], 1), op(&[1], 2), op(&[2], 3)];
    let file = program(&scratch(5), (&[0], &[3]), 80, &[chain]);
    let expected = vec![Some((None, Some(0))), at(0, 1), at(1, 2), Some((Some(2), None)), None];
    assert_eq!(lives(&file), expected);
    // The caller writes an unused input too. A value may be an input and an output.
    let file = program(&scratch(2), (&[0, 1], &[1]), 32, &[vec![]]);
    assert_eq!(lives(&file), [Some((None, Some(0))), THROUGHOUT]);
}

#[test]
fn a_loop_keeps_what_comes_from_outside_and_not_what_it_makes() {
    let truth = json!({"val_type": "Bool", "val": {"bool_val": true}});
    let chain = |body: [Value; 3]| {
        let [a, b, c] = body;
        vec![op(&[0], 1), a, b, c, jump(5, 1), op(&[4], 4)]
    };
    let values = [scratch(5), vec![truth]].concat();
    let of = |body| lives(&program(&values, (&[0], &[4]), 80, &[chain(body)]));
    // Value 1 is read in every iteration; 2 and 3 are defined and used in each.
    let all = of([op(&[1], 2), op(&[2], 3), op(&[3], 4)]);
    assert_eq!(all[1..4], [at(0, 4), at(1, 2), at(2, 3)]);
    assert_eq!(all[4], Some((Some(1), None)), "made in the loop and used behind it");
    // Value 2 is carried to the next iteration: it is read before it is written.
    let all = of([op(&[2], 3), op(&[3], 2), op(&[1], 4)]);
    assert_eq!(all[2], THROUGHOUT);
    // The same for a value that is defined before the loop.
    let all = of([op(&[1], 3), op(&[3], 1), op(&[2], 4)]);
    assert_eq!(all[1], at(0, 4));
}

#[test]
fn what_a_jump_may_pass_over_is_kept_by_a_loop() {
    let truth = json!({"val_type": "Bool", "val": {"bool_val": true}});
    let values = [scratch(2), vec![truth]].concat();
    // Value 1 is written in some iterations, and read in all.
    let chain = vec![op(&[0], 0), jump(2, 3), op(&[0], 1), op(&[1], 0), jump(2, 1)];
    assert_eq!(lives(&program(&values, (&[], &[]), 32, &[chain]))[1], at(1, 4));
    // Without the loop, no later iteration reads it.
    let chain = vec![op(&[0], 0), jump(2, 3), op(&[0], 1), op(&[1], 0)];
    assert_eq!(lives(&program(&values, (&[], &[]), 32, &[chain]))[1], at(2, 3));
}

/// A loop in a loop, and two that cross each other.
#[test]
fn loops_are_as_large_as_they_need_to_be() {
    let truth = json!({"val_type": "Bool", "val": {"bool_val": true}});
    let values = [scratch(3), vec![truth]].concat();
    let write = |index| op(&[], index);
    // The outer loop is 0 to 6, the inner one 2 to 4. No iteration hands 0 or 2 to the next.
    let chain =
        vec![write(0), write(1), op(&[1], 2), op(&[2], 2), jump(3, 2), write(0), jump(3, 0)];
    let all = lives(&program(&values, (&[], &[]), 48, &[chain]));
    assert_eq!(all, [at(0, 5), at(1, 4), at(2, 3)]);
    // The loops are 1 to 4 and 3 to 6. A value of 2 may be read again after the jump to 3.
    let chain = vec![write(0), write(1), write(2), op(&[2], 0), jump(3, 1), write(1), jump(3, 3)];
    let all = lives(&program(&values, (&[], &[]), 48, &[chain]));
    assert_eq!(all[2], at(2, 6));
}

#[test]
fn a_move_uses_one_tensor_under_two_indices() {
    // Value 1 is value 0 after instruction 1, and value 2 after instruction 3.
    let chain = vec![op(&[], 0), moved(0, 1), op(&[1], 3), moved(2, 1), op(&[1], 3)];
    let all = lives(&program(&scratch(4), (&[2], &[]), 64, &[chain]));
    assert_eq!(all, [at(0, 2), at(1, 4), Some((None, Some(4))), at(2, 4)]);
    // Either of two paths may have been taken, so both tensors are live until the end.
    let truth = json!({"val_type": "Bool", "val": {"bool_val": true}});
    let lie = json!({"val_type": "Bool", "val": {}});
    let values = [scratch(3), vec![truth, lie]].concat();
    let chain =
        vec![jump(3, 4), op(&[], 0), moved(0, 2), jump(4, 6), op(&[], 1), moved(1, 2), op(&[], 3)];
    let all = lives(&program(&values, (&[], &[2]), 48, &[chain]));
    assert_eq!(all[..2], [Some((Some(1), None)), Some((Some(4), None))]);
    // In a loop, a value that is moved at the end of an iteration is used at the start of the next.
    let chain = vec![moved(0, 1), op(&[1], 2), moved(2, 1), jump(3, 1)];
    let all = lives(&program(&values, (&[0], &[]), 48, &[chain]));
    assert_eq!(all[2], at(1, 3));
}

/// An in-place operator changes a part of its tensor, and returns the same tensor.
#[test]
fn an_operator_in_place_reads_what_it_changes() {
    let in_place = |first, result| call(2, &[first, 4, 5, 6, result]);
    let null = json!({"val_type": "Null", "val": {}});
    let list = json!({"val_type": "OptionalTensorList", "val": {"items": [3]}});
    let values = [scratch(4), vec![list, null, null_flag()]].concat();
    let chain = vec![op(&[], 1), in_place(0, 2), in_place(1, 2), op(&[2], 3)];
    let all = lives(&program(&values, (&[3], &[]), 64, &[chain]));
    assert_eq!(all, [THROUGHOUT, at(0, 3), at(1, 3), Some((None, Some(3)))]);
}

fn null_flag() -> Value {
    json!({"val_type": "Bool", "val": {}})
}

#[test]
fn a_free_is_the_last_use() {
    let chain = vec![op(&[], 0), op(&[0], 1), freed(0), op(&[1], 1)];
    assert_eq!(lives(&program(&scratch(2), (&[], &[]), 32, &[chain])), [at(0, 2), at(1, 3)]);
}

#[test]
fn lists_use_their_tensors() {
    let list = |items: &[i32]| json!({"val_type": "TensorList", "val": {"items": items}});
    let values = [scratch(4), vec![list(&[0, 1]), list(&[2, 3])]].concat();
    // The second list names the results, since it is named twice.
    let chain = vec![op(&[], 0), op(&[], 1), op(&[4], 5), op(&[2], 0)];
    let all = lives(&program(&values, (&[], &[]), 64, &[chain]));
    assert_eq!(all, [at(0, 3), at(1, 2), at(2, 3), at(2, 2)]);
}

/// The call reads the list, and so also the tensor that the same call writes.
#[test]
fn a_list_and_its_tensor_may_meet_in_one_call() {
    let list = json!({"val_type": "TensorList", "val": {"items": [0]}});
    let values = [scratch(2), vec![list]].concat();
    let chain = vec![op(&[2], 0), op(&[0], 1)];
    assert_eq!(lives(&program(&values, (&[], &[]), 32, &[chain])), [THROUGHOUT, at(1, 1)]);
}

#[test]
fn chains_run_one_after_the_other() {
    let chains = [vec![op(&[], 0)], vec![], vec![op(&[0], 1), op(&[1], 0)]];
    let file = program(&scratch(2), (&[], &[]), 32, &chains);
    assert_eq!(lives(&file), [at(0, 2), at(1, 2)]);
    let pte = Pte::read(&file).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    assert_eq!([0, 1, 2].map(|step| memory.place(step)), [(0, 0), (2, 0), (2, 1)]);
}

#[test]
fn a_delegate_reads_what_is_there_and_writes_the_rest() {
    let delegate = |args: &[i32]| {
        json!({"instr_args_type": "DelegateCall",
            "instr_args": {"delegate_index": 0, "args": args}})
    };
    // Value 3 has the place of 0, and comes before 1 in the call: it is an input, and a view of 0.
    let values = [planned(0), planned(16), planned(32), planned(0)];
    let chain = vec![op(&[], 0), op(&[], 1), delegate(&[3, 1, 2])];
    let all = lives(&program(&values, (&[], &[2]), 48, &[chain]));
    assert_eq!(all, [at(0, 0), at(1, 2), Some((Some(2), None)), at(0, 2)]);
}

#[test]
fn what_is_read_first_is_a_view_or_comes_from_the_run_before() {
    // Value 2 overlaps 0 and 1, 3 overlaps nothing, and 4 has the place of 0 and is written.
    let wide = json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [8],
        "dim_order": [0], "allocation_info": {"memory_id": 1}}});
    let values = [planned(0), planned(16), wide, planned(32), planned(0)];
    let add = |a, b, out| call(0, &[a, b, 5, out, out]);
    let values = [&values[..], &[json!({"val_type": "Int", "val": {"int_val": 1}})]].concat();
    let chain = vec![op(&[], 0), op(&[], 1), op(&[], 4), add(2, 2, 3), add(3, 2, 3)];
    let all = lives(&program(&values, (&[], &[]), 48, &[chain]));
    assert_eq!(all, [at(0, 0), at(1, 1), at(1, 4), at(3, 4), at(2, 2)]);
    let chain = vec![add(3, 3, 3)];
    let file = program(&values, (&[], &[]), 48, &[chain]);
    assert_eq!(lives(&file)[3], THROUGHOUT);
    let pte = Pte::read(&file).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    let state = memory.tensors(&memory.arenas()[0]).iter().find(|tensor| tensor.value == 3);
    assert_eq!(state.unwrap().role, TensorRole::State);
}

/// Exporters plan a place for the output of `et_view`, which nothing uses: the view shows its tensor's bytes.
#[test]
fn outputs_of_et_view_are_views_without_memory_of_their_own() {
    let shape = json!({"val_type": "IntList", "val": {"items": [5]}});
    let size = json!({"val_type": "Int", "val": {"int_val": 4}});
    let values = [scratch(4), vec![shape, size]].concat();
    let view = |of, to| call(3, &[of, 4, to]);
    // 1 is a view of 0, and 2 is a view of the view.
    let chain = vec![op(&[], 0), view(0, 1), view(1, 2), op(&[2], 3)];
    let file = program(&values, (&[], &[3]), 64, &[chain]);
    assert_eq!(lives(&file), [at(0, 3), at(1, 3), at(2, 3), Some((Some(3), None))]);
    let pte = Pte::read(&file).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    let arena = &memory.arenas()[0];
    let views: Vec<_> = memory.tensors(arena).iter().map(|tensor| tensor.is_view).collect();
    assert_eq!(views, [false, true, true, false]);
    assert_eq!(arena.peak, 32, "only 0 and 3 have memory");
}

/// An output that is a view lives to the end, as its tensor does.
#[test]
fn a_view_in_a_loop_and_one_that_is_an_output_have_lives_of_their_own() {
    let shape = json!({"val_type": "IntList", "val": {"items": [4]}});
    let size = json!({"val_type": "Int", "val": {"int_val": 4}});
    let values = [scratch(3), vec![shape, size]].concat();
    let view = |of, to| call(3, &[of, 3, to]);
    let chain = vec![op(&[], 0), view(0, 1), op(&[1], 2), jump(2, 1)];
    let file = program(&values, (&[], &[1]), 48, &[chain]);
    let pte = Pte::read(&file).unwrap();
    let memory = Memory::of(&pte, plans(&pte).next().unwrap());
    let of =
        |value| *memory.tensors(&memory.arenas()[0]).iter().find(|t| t.value == value).unwrap();
    assert_eq!((of(1).is_view, of(1).live_range.unwrap().last_use), (true, None));
    assert_eq!((of(0).is_view, of(0).live_range.unwrap().last_use), (false, None));
}

/// A short forward jump inside a longer one: after its target, the longer jump may still skip instructions.
#[test]
fn forward_jump_inside_a_longer_one_does_not_shorten_it() {
    let truth = json!({"val_type": "Bool", "val": {"bool_val": true}});
    let values = [scratch(4), vec![truth]].concat();
    let chain =
        vec![op(&[], 2), op(&[], 0), jump(4, 6), jump(4, 4), moved(0, 2), op(&[], 1), op(&[2], 3)];
    let all = lives(&program(&values, (&[], &[]), 64, &[chain]));
    // The jump to 6 skips the move, and the last call reads value 2 itself.
    assert_eq!([all[0], all[2]], [at(1, 6), at(0, 6)]);
}

/// The condition of a backward jump is last used by the jump. No iteration passes it to the next one.
#[test]
fn condition_of_a_loop_lives_up_to_its_jump() {
    let chain = vec![op(&[], 0), op(&[], 1), op(&[1], 2), jump(2, 1)];
    let all = lives(&program(&scratch(3), (&[], &[]), 48, &[chain]));
    assert_eq!(all, [at(0, 0), at(1, 2), at(2, 3)]);
}
