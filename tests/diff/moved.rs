//! Instructions in another order, exchanged delegates, and differences whose sides look the same.

use pte::schema::program::model::{InstructionArguments, JumpFalseCall};

use super::one::{call, found, plan, steps, value};
use super::{changed, diff, lines, sample};

/// A moved instruction is one difference, with its old and its new position.
#[test]
fn a_call_that_moved() {
    let reported = found("linear.pte", |program| steps(plan(program, 0)).swap(0, 1));
    assert_eq!(
        reported,
        ["instructions: forward: call 0 aten::permute_copy.out: order: at 0 → at 1"]
    );
    // Both instructions read an input, and a delegate takes their results.
    let reported = found("device_cuda_idx1.pte", |program| steps(plan(program, 0)).swap(0, 1));
    assert_eq!(
        reported,
        ["instructions: forward: call 0 et_copy::_h2d_copy.out: order: at 0 → at 1"]
    );
    let reported = found("xnn_gpt.pte", |program| steps(plan(program, 0)).swap(0, 2));
    let line = "instructions: forward: call 0 aten::alias_copy.out and 1 more: order: \
                at 0, 1 → at 2, 1";
    assert_eq!(reported, [line]);
}

/// Calls that exchange their arguments have not moved.
#[test]
fn what_calls_read() {
    let reported = found("device_cuda_idx1.pte", |program| {
        let plan = plan(program, 0);
        call(plan, 0).args.as_mut().unwrap()[0] = 1;
        call(plan, 1).args.as_mut().unwrap()[0] = 0;
    });
    assert_eq!(
        reported,
        [
            "instructions: forward: call 0 et_copy::_h2d_copy.out, argument 0: argument: \
             input 0 → input 1",
            "instructions: forward: call 1 et_copy::_h2d_copy.out, argument 0: argument: \
             input 1 → input 0",
        ]
    );
}

/// Two calls of two delegates in another order: each keeps its arguments and results.
#[test]
fn delegates_in_another_order() {
    let two = changed(&sample("xnn_mixed.pte"), |program| {
        // Both calls read the input, and the instruction between them is removed.
        let plan = plan(program, 0);
        let steps = steps(plan);
        steps.drain(1..2);
        if let Some(InstructionArguments::DelegateCall(call)) = &mut steps[1].instr_args {
            call.args = Some(vec![0, 7]);
        }
    });
    let swapped = changed(&two, |program| steps(plan(program, 0)).swap(0, 1));
    let line = "instructions: forward: call 0 XnnpackBackend: order: at 0 → at 1";
    assert_eq!(lines(&diff(&two, &swapped)), [line]);
}

/// The calls exchange their delegates. No delegate has changed.
#[test]
fn delegates_in_each_others_place() {
    for name in ["xnn_mixed.pte", "xnn_gpt.pte"] {
        let reported = found(name, |program| {
            plan(program, 0).delegates.as_mut().unwrap().swap(0, 1);
            // The two calls still refer to delegates by the same numbers.
        });
        assert_eq!(reported.len(), 1, "{reported:#?}");
        let (first, second) = if name == "xnn_mixed.pte" { (0, 2) } else { (4, 6) };
        let line = format!(
            "delegates: forward: call {first} XnnpackBackend and 1 more: delegates: \
             those of calls {first}, {second} → those of calls {second}, {first}"
        );
        assert_eq!(reported, [line]);
    }
}

/// If both sides of a line look the same, a suffix distinguishes them.
#[test]
fn sides_that_look_the_same() {
    let jumps = |news: usize| {
        changed(&sample("cond.pte"), |program| {
            let plan = plan(program, 0);
            let steps = steps(plan);
            steps.insert(6, steps[6].clone());
            for _ in 0..news {
                steps.insert(6, steps[1].clone());
            }
            let end = steps.len() as i32;
            for (nth, to) in [(0, 7), (5, end)] {
                let Some(InstructionArguments::JumpFalseCall(jump)) = &mut steps[nth].instr_args
                else {
                    panic!("a jump")
                };
                let JumpFalseCall { destination_instruction, .. } = jump;
                *destination_instruction = to;
            }
        })
    };
    assert_eq!(
        lines(&diff(&jumps(0), &jumps(1))),
        [
            "instructions: forward: instruction 0 jump if false: target: to call 7 aten::cos.out → \
             to call 7 aten::cos.out, which is at 6 in the first file",
            "instructions: forward: call 6 aten::sin.out: instruction: – → \
             aten::sin.out(input 1, result of call 1, result of call 1)",
        ]
    );
    // A result of the second call. With an added call in front, it has another number.
    let reads = |news: usize| {
        changed(&sample("linear.pte"), |program| {
            let plan = plan(program, 0);
            let (spare, copy) = (value(plan, 7).clone(), value(plan, 7).clone());
            let values = plan.values.as_mut().unwrap();
            values.extend([spare, copy]);
            let count = values.len() as i32;
            let steps = steps(plan);
            let with = |nth: usize, args: &[i32]| {
                let mut step = steps[nth].clone();
                let Some(InstructionArguments::KernelCall(call)) = &mut step.instr_args else {
                    panic!("a call")
                };
                call.args = Some(args.to_vec());
                step
            };
            let relu = with(2, &[2, count - 2, count - 2]);
            let last = with(2, &[if news == 0 { count - 2 } else { 3 }, 10, 10]);
            let new = with(2, &[2, count - 1, count - 1]);
            steps.insert(1, relu);
            *steps.last_mut().unwrap() = last;
            if news > 0 {
                steps.insert(0, new);
            }
        })
    };
    let reported = lines(&diff(&reads(0), &reads(1)));
    let line = "instructions: forward: call 3 aten::relu.out, argument 0: argument: \
                result of call 1 → result of call 1, which is at 0 in the first file";
    assert!(reported.iter().any(|reported| reported == line), "{reported:#?}");
}

/// A jump to just behind the last instruction ends the method. A jump further is invalid.
#[test]
fn jumps_to_the_end() {
    let jump = |to: i32| {
        move |program: &mut pte::model::PteModel<'_>| {
            let Some(InstructionArguments::JumpFalseCall(jump)) =
                &mut steps(plan(program, 0))[5].instr_args
            else {
                panic!("a jump")
            };
            jump.destination_instruction = to;
        }
    };
    let place = "instructions: forward: instruction 5 jump if false: target";
    assert_eq!(found("cond.pte", jump(11)), [format!("{place}: to the end → to 11, past the end")]);
    let line = format!("{place}: to the end → to -1, in front of the first");
    assert_eq!(found("cond.pte", jump(-1)), [line]);
}
