//! Pairs that differ in one known way.

use pte::model;
use pte::schema::program::TensorDataLocation;
use pte::schema::program::model::{
    Chain, CompileSpec, EValue, ExecutionPlan, FreeCall, Instruction, InstructionArguments, Int,
    KernelCall, KernelTypes, Tensor,
};
use pte::schema::scalar::ScalarType;

use super::renumber::renumber;
use super::{changed, changed_data, diff, lines, sample};

/// Changes a program, and returns the differences. They must be the same if the values, operators and segments are
/// renumbered.
#[track_caller]
pub(super) fn found(name: &str, change: impl Fn(&mut model::PteModel<'_>)) -> Vec<String> {
    let before = sample(name);
    let after = changed(&before, &change);
    let reported = lines(&diff(&before, &after));
    for seed in 1..4 {
        let other = changed(&before, |program| {
            change(program);
            renumber(program, seed);
        });
        assert_eq!(lines(&diff(&before, &other)), reported, "{name} with other numbers");
    }
    let mut back = lines(&diff(&after, &before)).len();
    back += usize::from(back == 0);
    assert_eq!(back, reported.len().max(1), "{name}: as many the other way");
    reported
}

pub(super) fn plan<'m>(program: &'m mut model::PteModel<'_>, nth: usize) -> &'m mut ExecutionPlan {
    &mut program.root.execution_plan.as_mut().unwrap()[nth]
}

pub(super) fn chain(plan: &mut ExecutionPlan) -> &mut Chain {
    &mut plan.chains.as_mut().unwrap()[0]
}

pub(super) fn steps(plan: &mut ExecutionPlan) -> &mut Vec<Instruction> {
    let chain = chain(plan);
    chain.stacktrace = None;
    chain.instructions.as_mut().unwrap()
}

pub(super) fn call(plan: &mut ExecutionPlan, nth: usize) -> &mut KernelCall {
    match &mut steps(plan)[nth].instr_args {
        Some(InstructionArguments::KernelCall(call)) => call,
        other => panic!("{other:?}"),
    }
}

pub(super) fn value(plan: &mut ExecutionPlan, nth: usize) -> &mut EValue {
    &mut plan.values.as_mut().unwrap()[nth]
}

pub(super) fn tensor(plan: &mut ExecutionPlan, nth: usize) -> &mut Tensor {
    match &mut value(plan, nth).val {
        Some(KernelTypes::Tensor(tensor)) => tensor,
        other => panic!("{other:?}"),
    }
}

/// Changes the last byte of the constant of a value.
fn other_constant(program: &mut model::PteModel<'_>, of_plan: usize, of_value: usize) {
    let nth = tensor(plan(program, of_plan), of_value).data_buffer_idx as usize;
    let mut constants = program.constants();
    let mut bytes = constants[nth].to_bytes().unwrap().into_owned();
    let size = {
        let tensor = tensor(plan(program, of_plan), of_value);
        tensor.scalar_type.nbytes(tensor.sizes.iter().flatten().copied()).unwrap() as usize
    };
    bytes[size - 1] ^= 1;
    constants[nth] = bytes.into();
    program.set_constants(constants).unwrap();
}

#[test]
fn a_weight() {
    for name in ["linear.pte", "v0.2.0_inline_const.pte"] {
        let reported = found(name, |program| other_constant(program, 0, 0));
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert!(
            reported[0]
                .starts_with("constants: forward: call 0 aten::permute_copy.out, argument 0")
        );
        assert!(
            reported[0].contains(": data: float32[") && reported[0].contains('#'),
            "{reported:?}"
        );
    }
}

/// A weight that two methods use is one difference.
#[test]
fn a_weight_that_methods_share() {
    let reported = found("multi_method.pte", |program| other_constant(program, 0, 0));
    assert_eq!(reported.len(), 1, "{reported:?}");
}

#[test]
fn an_operator() {
    let reported = found("linear.pte", |program| {
        let plan = plan(program, 0);
        let nth = call(plan, 2).op_index as usize;
        plan.operators.as_mut().unwrap()[nth].name = Some("aten::sigmoid".into());
    });
    assert_eq!(
        reported,
        [
            "instructions: forward: call 2 aten::relu.out: operator: aten::relu.out → aten::sigmoid.out"
        ]
    );
    let reported = found("linear.pte", |program| {
        let plan = plan(program, 0);
        let nth = call(plan, 1).op_index as usize;
        plan.operators.as_mut().unwrap()[nth].overload = Some("other".into());
    });
    assert_eq!(
        reported,
        [
            "instructions: forward: call 1 aten::addmm.out: operator: aten::addmm.out → aten::addmm.other"
        ]
    );
}

/// All calls of an operator become calls of another one: one difference.
#[test]
fn an_operator_of_many_calls() {
    let reported = found("kv_cache_init.pte", |program| {
        let plan = plan(program, 0);
        let nth = call(plan, 3).op_index as usize;
        plan.operators.as_mut().unwrap()[nth].name = Some("aten::other".into());
    });
    assert_eq!(reported.len(), 1, "{reported:?}");
    let place = "instructions: forward: call 3 aten::slice_copy.Tensor_out and ";
    assert!(reported[0].starts_with(place), "{reported:?}");
    assert!(
        reported[0]
            .ends_with(" more: operator: aten::slice_copy.Tensor_out → aten::other.Tensor_out")
    );
}

#[test]
fn the_shape_of_an_input() {
    let reported = found("linear.pte", |program| {
        let plan = plan(program, 0);
        let nth = plan.inputs.as_ref().unwrap()[0] as usize;
        tensor(plan, nth).sizes.as_mut().unwrap()[0] = 3;
    });
    assert_eq!(reported, ["signature: forward: input 0: sizes: [2, 8] → [3, 8]"]);
    let reported = found("linear.pte", |program| {
        let plan = plan(program, 0);
        let nth = plan.outputs.as_ref().unwrap()[0] as usize;
        tensor(plan, nth).scalar_type = ScalarType::HALF;
    });
    assert_eq!(reported, ["signature: forward: output 0: dtype: float32 → float16"]);
    let reported = found("dyn_batch.pte", |program| {
        let plan = plan(program, 0);
        let nth = plan.inputs.as_ref().unwrap()[0] as usize;
        tensor(plan, nth).shape_dynamism = pte::schema::program::TensorShapeDynamism::STATIC;
    });
    assert_eq!(reported, ["signature: forward: input 0: dynamism: DYNAMIC_BOUND → STATIC"]);
}

#[test]
fn the_shape_of_an_intermediate() {
    // The result of the first call, which the second one takes.
    let reported = found("linear.pte", |program| {
        tensor(plan(program, 0), 3).sizes.as_mut().unwrap()[0] = 5;
    });
    assert_eq!(
        reported,
        ["values: forward: call 0 aten::permute_copy.out, argument 2: sizes: [8, 4] → [5, 4]"]
    );
    let reported = found("linear.pte", |program| {
        tensor(plan(program, 0), 3).dim_order = Some(vec![1, 0]);
    });
    assert_eq!(
        reported,
        ["values: forward: call 0 aten::permute_copy.out, argument 2: dim order: [0, 1] → [1, 0]"]
    );
}

/// Among several equal calls, the arguments identify the changed one.
#[test]
fn a_tensor_of_one_of_calls_that_are_alike() {
    let reported = found("device_cuda_idx1.pte", |program| {
        let info = tensor(plan(program, 0), 2).extra_tensor_info.get_or_insert_default();
        info.device_index = 2;
    });
    assert_eq!(reported.len(), 1, "{reported:#?}");
    for name in ["device_cuda_idx1.pte", "kv_cache_init.pte", "llm_sdpa.pte", "xnn_gpt.pte"] {
        let before = sample(name);
        let count = {
            let mut program = pte::Pte::read(&before).unwrap().to_model().unwrap();
            plan(&mut program, 0).values.as_ref().unwrap().len()
        };
        for nth in 0..count {
            let mut sizes = None;
            let after = changed(&before, |program| {
                let plan = plan(program, 0);
                if let Some(KernelTypes::Tensor(tensor)) = &mut value(plan, nth).val
                    && tensor.data_buffer_idx == 0
                    && let Some(size) = tensor.sizes.iter_mut().flatten().last()
                {
                    *size += 1;
                    sizes = Some(*size);
                }
            });
            let reported = lines(&diff(&before, &after));
            if sizes.is_some() && !reported.is_empty() {
                assert!(
                    reported.iter().all(|line| line.contains("sizes")),
                    "{name} {nth}: {reported:#?}"
                );
            }
        }
    }
}

/// The index of a result is shown if there are several.
#[test]
fn the_order_of_outputs() {
    let reported = found("args_boollist.pte", |program| {
        plan(program, 0).outputs.as_mut().unwrap().swap(0, 1);
    });
    assert_eq!(reported.len(), 2, "{reported:#?}");
    assert!(reported[0].contains("result 0 of call 0 → result 1 of call 0"), "{reported:#?}");
    assert!(reported[1].contains("result 1 of call 0 → result 0 of call 0"), "{reported:#?}");
}

#[test]
fn a_payload() {
    // Payloads of XNNPACK are compared by their meaning: see `payload`.
    for name in ["vulkan_conv.pte", "demo_backend.pte"] {
        let reported = found(name, |program| {
            let at = plan(program, 0).delegates.as_ref().unwrap()[0].processed.clone().unwrap();
            let nth = at.index as usize;
            match &mut program.root.backend_delegate_data {
                Some(all) if !all.is_empty() => {
                    *all[nth].data.as_mut().unwrap().last_mut().unwrap() ^= 1;
                }
                _ => {
                    let mut bytes = program.segments[nth].to_bytes().unwrap().into_owned();
                    *bytes.last_mut().unwrap() ^= 1;
                    program.segments[nth] = bytes.into();
                }
            }
        });
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert!(reported[0].starts_with("delegates: forward: call 0 "), "{reported:?}");
        assert!(reported[0].contains(": payload: "), "{reported:?}");
    }
}

#[test]
fn a_backend() {
    let reported = found("demo_backend.pte", |program| {
        plan(program, 0).delegates.as_mut().unwrap()[0].id = Some("Other".into());
    });
    assert_eq!(
        reported,
        ["delegates: forward: call 0 BackendWithCompilerDemo: backend: \
          BackendWithCompilerDemo → Other"]
    );
}

#[test]
fn a_compile_spec() {
    let specs = |program: &mut model::PteModel<'_>, value: &[u8]| {
        let spec = CompileSpec { key: Some("level".into()), value: Some(value.to_vec()) };
        let delegate = &mut plan(program, 0).delegates.as_mut().unwrap()[0];
        delegate.compile_specs.get_or_insert_default().push(spec);
    };
    let reported = found("xnn_delegate_segment.pte", |program| specs(program, b"fast"));
    assert_eq!(
        reported,
        ["delegates: forward: call 0 XnnpackBackend: compile spec: – → \"level\" = \"fast\""]
    );
    let before = changed(&sample("xnn_delegate_segment.pte"), |program| specs(program, &[1, 0]));
    let after = changed(&sample("xnn_delegate_segment.pte"), |program| specs(program, &[2, 0]));
    assert_eq!(
        lines(&diff(&before, &after)),
        ["delegates: forward: call 0 XnnpackBackend, \"level\": compile spec: [1, 0] → [2, 0]"]
    );
}

/// A runtime loads delegates that no instruction calls.
#[test]
fn a_delegate_that_is_not_called() {
    let reported = found("demo_backend.pte", |program| {
        let all = plan(program, 0).delegates.as_mut().unwrap();
        let mut more = all[0].clone();
        more.id = Some("Other".into());
        all.push(more);
    });
    assert_eq!(
        reported,
        ["delegates: forward: delegate 0 of those that are not called: delegate: – → Other"]
    );
}

#[test]
fn a_method() {
    let reported = found("linear.pte", |program| {
        let mut more = plan(program, 0).clone();
        more.name = Some("more".into());
        program.root.execution_plan.as_mut().unwrap().insert(0, more);
    });
    assert_eq!(reported, ["methods: more: method: – → 1 input, 1 output, 3 instructions"]);
}

#[test]
fn two_arguments_swapped() {
    let reported =
        found("add.pte", |program| call(plan(program, 0), 0).args.as_mut().unwrap().swap(0, 1));
    assert_eq!(
        reported,
        ["instructions: forward: call 0 aten::add.out: arguments: 0: input 0, 1: input 1 → \
          0: input 1, 1: input 0"]
    );
}

#[test]
fn one_argument() {
    let reported =
        found("add.pte", |program| call(plan(program, 0), 0).args.as_mut().unwrap()[1] = 0);
    assert_eq!(
        reported,
        ["instructions: forward: call 0 aten::add.out, argument 1: argument: input 1 → input 0"]
    );
    // A new value with another number.
    let reported = found("add.pte", |program| {
        let plan = plan(program, 0);
        let values = plan.values.as_mut().unwrap();
        values.push(EValue { val: Some(KernelTypes::Int(Int { int_val: 2 })) });
        let nth = values.len() as i32 - 1;
        call(plan, 0).args.as_mut().unwrap()[2] = nth;
    });
    assert_eq!(
        reported,
        ["instructions: forward: call 0 aten::add.out, argument 2: argument: 1 → 2"]
    );
    // An item of a list.
    let reported = found("linear.pte", |program| {
        let plan = plan(program, 0);
        let values = plan.values.as_mut().unwrap();
        let items = |value: &EValue| match &value.val {
            Some(KernelTypes::IntList(list)) => list.items.clone(),
            _ => None,
        };
        let list = values.iter().find_map(items).unwrap();
        values[list[0] as usize].val = Some(KernelTypes::Int(Int { int_val: 7 }));
    });
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].ends_with("argument 1: argument: [1, 0] → [7, 0]"), "{reported:?}");
}

/// An equal call in the middle of others.
#[test]
fn an_instruction() {
    for nth in [0, 1, 2] {
        let reported = found("linear.pte", |program| {
            let steps = steps(plan(program, 0));
            steps.insert(nth, steps[1].clone());
        });
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert!(reported[0].starts_with("instructions: forward: call "), "{reported:?}");
        assert!(
            reported[0].contains("aten::addmm.out: instruction: – → aten::addmm.out("),
            "{reported:?}"
        );
        let reported = found("linear.pte", |program| drop(steps(plan(program, 0)).remove(nth)));
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert!(
            reported[0].starts_with(&format!("instructions: forward: call {nth} ")),
            "{reported:?}"
        );
        assert!(reported[0].ends_with(" → –"), "{reported:?}");
    }
    let reported = found("linear.pte", |program| {
        let free = InstructionArguments::FreeCall(FreeCall { value_index: 3 });
        steps(plan(program, 0)).insert(2, Instruction { instr_args: Some(free) });
    });
    assert_eq!(
        reported,
        ["instructions: forward: instruction 2 free: instruction: – → free(result of call 0)"]
    );
}

/// Chains run one after the other, but a runtime may be asked for one.
#[test]
fn the_chain_of_an_instruction() {
    let reported = found("linear.pte", |program| {
        let last = steps(plan(program, 0)).pop().unwrap();
        let chains = plan(program, 0).chains.as_mut().unwrap();
        chains.push(Chain { instructions: Some(vec![last]), ..Chain::default() });
    });
    let chain: Vec<_> = reported.iter().filter(|line| line.contains(": chain: ")).collect();
    assert_eq!(chain.len(), 1, "{reported:?}");
    assert!(chain[0].starts_with("instructions: forward: call "), "{reported:?}");
    assert!(chain[0].ends_with(": chain: 0 → 1"), "{reported:?}");
}

/// One of forty equal calls, each of which takes the result of the one before.
#[test]
fn an_instruction_of_a_row() {
    let row = changed(&sample("linear.pte"), |program| {
        let plan = plan(program, 0);
        let values = plan.values.as_mut().unwrap();
        let (mut last, relu) = (7, values[7].clone());
        let first = values.len() as i32;
        values.extend((0..40).map(|_| relu.clone()));
        let step = steps(plan).remove(2);
        for nth in first..first + 40 {
            let mut step = step.clone();
            let Some(InstructionArguments::KernelCall(call)) = &mut step.instr_args else {
                panic!("a call")
            };
            call.args = Some(vec![last, nth, nth]);
            last = nth;
            steps(plan).push(step);
        }
        plan.outputs = Some(vec![last]);
    });
    for nth in [2, 17, 41] {
        let gone = changed(&row, |program| drop(steps(plan(program, 0)).remove(nth)));
        let reported = lines(&diff(&row, &gone));
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert!(
            reported[0].starts_with(&format!("instructions: forward: call {nth} ")),
            "{reported:?}"
        );
        let reported = lines(&diff(&gone, &row));
        assert_eq!(reported.len(), 1, "{reported:?}");
    }
}

#[test]
fn a_jump_and_a_move() {
    let reported = found("cond.pte", |program| {
        let Some(InstructionArguments::JumpFalseCall(jump)) =
            &mut steps(plan(program, 0))[0].instr_args
        else {
            panic!("a jump")
        };
        jump.destination_instruction -= 1;
    });
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].starts_with("instructions: forward: instruction 0 jump if false: target: to ")
    );
    let reported = found("cond.pte", |program| {
        let Some(InstructionArguments::MoveCall(call)) = &mut steps(plan(program, 0))[4].instr_args
        else {
            panic!("a move")
        };
        call.move_from = 3;
    });
    assert_eq!(
        reported,
        ["instructions: forward: instruction 4 move, argument 0: argument: \
          result of call 3 → result of call 1"]
    );
}

#[test]
fn named_data() {
    let first = "demo_named_data.pte";
    let keys: Vec<String> = pte::Pte::read(&sample(first))
        .unwrap()
        .named_data()
        .map(|(key, _)| key.unwrap().to_string())
        .collect();
    let key = keys[0].as_str();
    let reported = found(first, |program| _ = program.set_data(key, vec![1, 2, 3].into()));
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with(&format!("named-data: {key:?}: data: ")), "{reported:?}");
    let reported = found(first, |program| program.remove_data(key).unwrap());
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with(&format!("named-data: {key:?}: entry: ")), "{reported:?}");
    assert!(reported[0].ends_with(" → –"), "{reported:?}");
}

#[test]
fn the_memory_plan() {
    let reported = found("linear.pte", |program| {
        plan(program, 0).non_const_buffer_sizes.as_mut().unwrap()[1] += 16;
    });
    assert_eq!(reported, ["memory-plan: forward: : arena sizes: [224] → [240]"]);
    // The first size belongs to no arena.
    let reported = found("linear.pte", |program| {
        plan(program, 0).non_const_buffer_sizes.as_mut().unwrap()[0] = 1;
    });
    assert!(reported.is_empty(), "{reported:?}");
    let reported = found("linear.pte", |program| {
        tensor(plan(program, 0), 3).allocation_info.as_mut().unwrap().memory_offset_low += 16;
    });
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("call 0 aten::permute_copy.out, argument 2: place: arena 1 at "));
}

#[test]
fn a_name() {
    let reported = found("mutable_names.pte", |program| {
        let values = plan(program, 0).values.as_mut().unwrap();
        let extra = values.iter_mut().find_map(|value| match &mut value.val {
            Some(KernelTypes::Tensor(tensor)) => {
                tensor.extra_tensor_info.as_mut().filter(|extra| {
                    extra.location == TensorDataLocation::SEGMENT
                        && extra.fully_qualified_name.is_some()
                })
            }
            _ => None,
        });
        extra.unwrap().fully_qualified_name = Some("other".into());
    });
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].starts_with("names: forward: ") && reported[0].ends_with(" → \"other\""),
        "{reported:?}"
    );
}

#[test]
fn what_a_buffer_starts_with() {
    let reported = found("mutable_init.pte", |program| {
        let nth = program.root.mutable_data_segments.as_ref().unwrap()[0].segment_index;
        let mut bytes = program.segments[nth as usize].to_bytes().unwrap().into_owned();
        bytes[0] ^= 1;
        program.segments[nth as usize] = bytes.into();
    });
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].starts_with("constants: forward: call 0 aten::add.out, argument 0"),
        "{reported:?}"
    );
}

#[test]
fn the_version_and_the_containers() {
    let reported = found("linear.pte", |program| program.root.version = 1);
    assert_eq!(reported, ["header: : version: 0 → 1"]);
    let reported = found("linear.pte", |program| {
        let meta = plan(program, 0).container_meta_type.as_mut().unwrap();
        meta.encoded_out_str = Some("*".into());
    });
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with("signature: forward: outputs: container: "), "{reported:?}");
    let reported = found("linear.pte", |program| {
        let outputs = plan(program, 0).outputs.as_mut().unwrap();
        outputs.push(outputs[0]);
    });
    assert_eq!(reported, ["signature: forward: : outputs: 1 → 2"]);
}

#[test]
fn an_entry_of_a_data_file() {
    let before = sample("ptd_basic.ptd");
    let one = |change: &dyn Fn(&mut model::PtdModel<'_>)| {
        lines(&diff(&before, &changed_data(&before, |ptd| change(ptd))))
    };
    let data = vec![9; 48];
    let reported = one(&|ptd| assert!(ptd.set_data("a", data.clone().into()).unwrap()));
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with("named-data: \"a\": data: float32[3, 4] #"), "{reported:?}");
    let reported = one(&|ptd| ptd.remove_data("b").unwrap());
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with("named-data: \"b\": entry: int64[5] #"), "{reported:?}");
    let reported = one(&|ptd| {
        let entries = ptd.root.named_data.as_mut().unwrap();
        let entry = entries.iter_mut().find(|entry| entry.key.as_deref() == Some("a")).unwrap();
        entry.tensor_layout.as_mut().unwrap().sizes = Some(vec![4, 3]);
    });
    assert_eq!(reported, ["named-data: \"a\": sizes: [3, 4] → [4, 3]"]);
    let old = sample("v0.6.0_external.default_external_constant.ptd");
    let new = sample("v1.0.0_external.default_external_constant.ptd");
    assert_eq!(
        lines(&diff(&old, &new)),
        ["header: : generation: generation 2 (release 0.6) → generation 3 (release 0.7 and later)"]
    );
}

/// Data is read piece by piece, up to its last byte.
#[test]
fn the_last_byte_of_long_data() {
    let before = sample("ptd_basic.ptd");
    let with = |last: u8| {
        changed_data(&before, |ptd| {
            let mut data = vec![0; (1 << 20) + 1];
            data.push(last);
            ptd.set_data("long", data.into()).unwrap();
        })
    };
    let reported = lines(&diff(&with(1), &with(2)));
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].starts_with("named-data: \"long\": data: "), "{reported:?}");
    assert!(lines(&diff(&with(1), &with(1))).is_empty());
}
