//! The accesses of calls to their arguments, with known and with unknown operators, and control
//! flow.

use pte::method::{Access, Definitions, Effects, instructions};
use pte::schema::program::view::{InstructionArguments, KernelTypes};
use pte::{Pte, Storage};
use serde_json::json;

use crate::support::build;
use crate::support::files;

/// Returns the accesses of a method's only call: of `aten::add.out`, of `my::op`, or of the
/// delegate if the operator is −1. Values 0 to 7 are tensors, the others are lists of them.
fn accesses(operator: i32, args: &[i32], lists: &[&[i32]], there: &[i32]) -> Vec<(i32, Access)> {
    let tensor = json!({"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [4],
        "dim_order": [0], "allocation_info": {"memory_id": 1}}});
    let mut values = vec![tensor; 8];
    values.extend(
        lists.iter().map(|items| json!({"val_type": "TensorList", "val": {"items": items}})),
    );
    let call = match operator {
        -1 => json!({"instr_args_type": "DelegateCall", "instr_args": {"args": args}}),
        index => json!({"instr_args_type": "KernelCall",
            "instr_args": {"op_index": index, "args": args}}),
    };
    let plan = json!({"name": "forward", "values": values, "inputs": [], "outputs": [],
        "chains": [{"instructions": [call]}], "delegates": [{"id": "Backend"}],
        "non_const_buffer_sizes": [0, 64],
        "operators": [{"name": "aten::add", "overload": "out"}, {"name": "my::op"}]});
    let file = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
    let pte = Pte::read(&file).unwrap();
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    let chain = plan.chains().unwrap().get(0).unwrap();
    let all = Effects::of(plan);
    match chain.instructions().unwrap().get(0).unwrap().instr_args() {
        Some(InstructionArguments::KernelCall(call)) => all.kernel(call),
        Some(InstructionArguments::DelegateCall(call)) => {
            all.delegate(call, |index| there.contains(&index))
        }
        other => panic!("{other:?}"),
    }
}

const fn read(index: i32) -> (i32, Access) {
    (index, Access::Read)
}

const fn written(index: i32) -> (i32, Access) {
    (index, Access::Write)
}

#[test]
fn results_stand_behind_the_rest_and_are_named_twice() {
    type Case<'c> = (&'c [i32], &'c [&'c [i32]], &'c [(i32, Access)]);
    let cases: [Case<'_>; 7] = [
        (&[0, 1, 2, 2], &[], &[read(0), read(1), written(2), written(2)]),
        (&[0, 1, 2, 1, 2], &[], &[read(0), written(1), written(2), written(1), written(2)]),
        // Arguments that are named once, and no arguments.
        (&[0, 1], &[], &[read(0), written(1)]),
        (&[], &[], &[]),
        // One by one, and then as a list; as a list, and as another one of the same.
        (&[0, 1, 2, 8], &[&[1, 2]], &[read(0), written(1), written(2), written(8)]),
        (&[0, 8, 9], &[&[1, 2], &[1, 2]], &[read(0), written(8), written(9)]),
        (&[0, 8, 9], &[&[1, 2], &[1, 3]], &[read(0), read(8), written(9)]),
    ];
    for (args, lists, expected) in cases {
        assert_eq!(accesses(1, args, lists, &[]), expected, "{args:?} {lists:?}");
    }
}

/// As many results as possible count as named a second time. An empty list names no
/// result.
#[test]
fn as_many_results_as_can_be_are_named_twice() {
    assert_eq!(accesses(1, &[0, 1, 1, 1, 1], &[], &[])[..2], [read(0), written(1)]);
    let expected = [read(0), read(1), written(8), written(8)];
    assert_eq!(accesses(1, &[0, 1, 8, 8], &[&[]], &[]), expected);
    for count in 1..=7 {
        let results: Vec<_> = (1..=count).collect();
        let found = accesses(1, &[&[0], &results[..], &results].concat(), &[], &[]);
        assert_eq!(found[0], read(0), "{count}");
        assert!(found[1..].iter().all(|(_, access)| *access == Access::Write), "{found:?}");
    }
}

/// Before the first instruction, a tensor has what the file, a `.ptd` or the caller gives it.
#[test]
fn tensors_with_data_are_initialized_from_the_start() {
    let mut counts = [0, 0];
    for path in files::samples() {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(pte) = Pte::read(&bytes) else { continue };
        for plan in pte.program().execution_plan().into_iter().flatten() {
            let definitions = Definitions::of(&pte, plan);
            let inputs: Vec<_> = plan.inputs().into_iter().flatten().collect();
            for (index, value) in (0..).zip(plan.values().into_iter().flatten()) {
                let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
                let has_data = match pte.storage(tensor) {
                    Ok(Storage::Constant(_) | Storage::External { .. }) => true,
                    Ok(Storage::Planned { initial, .. }) => {
                        counts[1] += usize::from(initial.is_some());
                        initial.is_some()
                    }
                    _ => false,
                };
                let is_given = has_data || inputs.contains(&index);
                assert_eq!(definitions.is_initialized(index), is_given, "{}", path.display());
                counts[0] += 1;
            }
        }
    }
    assert!(counts[0] > 300 && counts[1] > 0, "{counts:?}");
}

/// A call may read the tensor that it writes.
#[test]
fn a_result_may_be_an_argument() {
    assert_eq!(accesses(1, &[2, 1, 2, 2], &[], &[]), [read(2), read(1), written(2), written(2)]);
}

#[test]
fn inputs_of_a_delegate_stand_in_front_of_its_outputs() {
    let of = |there: &[i32]| accesses(-1, &[3, 0, 1, 2], &[], there);
    assert_eq!(of(&[0]), [read(3), read(0), written(1), written(2)]);
    assert_eq!(of(&[3, 1]), [read(3), read(0), read(1), written(2)]);
    assert_eq!(of(&[]), [3, 0, 1, 2].map(written));
}

/// In genuine files, official operators write the arguments that their order implies.
#[test]
fn the_last_argument_is_written() {
    let mut seen = 0;
    for path in files::everything() {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(pte) = Pte::read(&bytes) else { continue };
        for plan in pte.program().execution_plan().into_iter().flatten() {
            let effects = Effects::of(plan);
            for instruction in instructions(plan) {
                let Some(InstructionArguments::KernelCall(call)) = instruction.operation() else {
                    continue;
                };
                let last = call.args().and_then(|args| args.iter().last());
                let value = last.and_then(|last| plan.values()?.get(last as usize)?.val());
                if !matches!(value, Some(KernelTypes::Tensor(_))) {
                    continue;
                }
                let all = effects.kernel(call);
                assert_eq!(all.len(), call.args().unwrap().len());
                let is_written =
                    all.iter().any(|&(at, access)| Some(at) == last && access.defines());
                assert!(is_written, "{}: {all:?}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 300, "{seen}");
}

/// Instructions are numbered over all chains; an invalid target of a jump ends its chain.
#[test]
fn jump_targets_are_resolved_within_their_chain() {
    let jump = |to: i32| {
        json!({"instr_args_type": "JumpFalseCall",
            "instr_args": {"cond_value_index": 3, "destination_instruction": to}})
    };
    let first = json!({"instructions": [jump(1), jump(2)]});
    let second = json!({"instructions": [jump(1), jump(0), jump(3), jump(4), jump(-1)]});
    let third = json!({"instructions": [jump(0)]});
    let plan = json!({"name": "forward", "values": [], "inputs": [], "outputs": [],
        "chains": [first, second, third], "delegates": [], "operators": [],
        "non_const_buffer_sizes": [0]});
    let file = build::file(&json!({"root": {"execution_plan": [plan]}}).to_string());
    let pte = Pte::read(&file).unwrap();
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    let all = instructions(plan).map(|instruction| {
        let jump = instruction.jump().unwrap();
        assert!(instruction.operands().iter().eq([3]));
        (instruction.chain(), instruction.index(), instruction.pc(), jump.target, jump.is_valid)
    });
    let expected = [
        (0, 0, 0, 1, true),
        (0, 1, 1, 2, true),
        (1, 0, 2, 3, true),
        (1, 1, 3, 2, true),
        (1, 2, 4, 5, true),
        (1, 3, 5, 6, true),
        (1, 4, 6, 7, false),
        (2, 0, 7, 7, true),
    ];
    assert!(all.eq(expected));
}
