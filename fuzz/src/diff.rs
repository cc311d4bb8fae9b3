//! The oracle `diff`: two files are the same by meaning only if their models are equal.

use pte::diff::{Given, Verdict, compare};
use pte::schema::program::model::{
    ExecutionPlan, Instruction, InstructionArguments, KernelTypes, Operator, Program, Tensor,
};
use pte::{File, Handle, Limits, Pte, model};

use arbitrary::Unstructured;

use crate::mutate::Xorshift;
use crate::read::read;
use crate::smith;

/// A program and a copy with one mutation: if `diff` finds no difference, their models are equal up to
/// what `diff` leaves out. A file is the same as itself.
///
/// Bytes that are no program make a valid one. References between tables are not mutated, since two of
/// them may lead to equal things.
pub fn diff(bytes: &[u8]) {
    let checksum = bytes
        .iter()
        .fold(bytes.len() as u64, |sum, &byte| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
    let mut random = Xorshift::new(checksum);
    let model = match read(bytes, &Limits::UNTRUSTED) {
        Ok(File::Pte(pte)) => pte.to_model().ok(),
        Ok(File::Ptd(_)) => None,
        Err(_) => smith::program(&mut Unstructured::new(bytes)).ok(),
    };
    let Some(mut model) = model else { return };
    let Some(before) = image(&model) else { return };
    assert_eq!(verdict(&before, &before), Some(Verdict::Identical), "a file and itself");
    for _ in 0..4 {
        let old = model.root.clone();
        mutate(&mut model.root, &mut random);
        let Some(after) = image(&model) else { return };
        if matches!(verdict(&before, &after), Some(Verdict::Identical | Verdict::Same)) {
            let (mut one, mut other) = (read_root(&before), read_root(&after));
            leave_out(&mut one);
            leave_out(&mut other);
            let (one, other) = (format!("{one:?}"), format!("{other:?}"));
            assert!(one == other, "the same, and the models are\n{one}\n{other}");
        }
        model.root = old;
    }
}

fn image(model: &model::PteModel<'_>) -> Option<Vec<u8>> {
    model.image().ok()?.to_bytes().ok()
}

/// Returns the result of a comparison; `None` if one of the files is refused or the limits do not suffice.
fn verdict(before: &[u8], after: &[u8]) -> Option<Verdict> {
    let limits = Limits::UNTRUSTED;
    let before = Handle::open(before, &limits).ok()?;
    let after = Handle::open(after, &limits).ok()?;
    Some(compare(&Given::new(&before), &Given::new(&after), &limits).ok()?.verdict)
}

fn read_root(bytes: &[u8]) -> Program {
    let pte = Pte::read(bytes).unwrap_or_else(|error| panic!("compared, and refused: {error}"));
    pte.to_model().unwrap_or_else(|error| panic!("compared, and no model: {error}")).root
}

/// Changes one field of a random table.
fn mutate(root: &mut Program, random: &mut Xorshift) {
    let plans = root.execution_plan.get_or_insert_default();
    let count = plans.len();
    let Some(plan) = plans.get_mut(random.below(count)) else { return };
    match random.below(10) {
        0 => push(&mut plan.name),
        1 => {
            if let Some(operator) = pick(&mut plan.operators, random) {
                push(if random.below(2) == 0 {
                    &mut operator.name
                } else {
                    &mut operator.overload
                });
            }
        }
        2 => {
            if let Some(delegate) = pick(&mut plan.delegates, random) {
                push(&mut delegate.id);
            }
        }
        3 => {
            if let Some(size) = plan.non_const_buffer_sizes.iter_mut().flatten().nth(1) {
                *size ^= 16;
            }
        }
        4 => {
            if let Some(chain) = pick(&mut plan.chains, random) {
                chain.inputs.get_or_insert_default().push(0);
            }
        }
        5 => {
            if let Some(chain) = pick(&mut plan.chains, random) {
                drop(chain.instructions.as_mut().and_then(Vec::pop));
            }
        }
        6 => drop(plan.outputs.as_mut().and_then(Vec::pop)),
        _ => {
            if let Some(value) = pick(&mut plan.values, random) {
                mutate_value(&mut value.val, random);
            }
        }
    }
}

fn mutate_value(value: &mut Option<KernelTypes>, random: &mut Xorshift) {
    match value {
        Some(KernelTypes::Int(int)) => int.int_val ^= 1 << random.below(63),
        Some(KernelTypes::Bool(bool)) => bool.bool_val = !bool.bool_val,
        Some(KernelTypes::Double(double)) => double.double_val += 1.0,
        Some(KernelTypes::String(text)) => push(&mut text.string_val),
        Some(KernelTypes::DoubleList(list)) => list.items.get_or_insert_default().push(1.0),
        Some(KernelTypes::BoolList(list)) => list.items.get_or_insert_default().push(true),
        Some(KernelTypes::Tensor(tensor)) => mutate_tensor(tensor, random),
        _ => {}
    }
}

fn mutate_tensor(tensor: &mut Tensor, random: &mut Xorshift) {
    match random.below(6) {
        0 => tensor.scalar_type.0 ^= 1,
        1 => tensor.storage_offset ^= 1,
        2 => tensor.requires_grad = !tensor.requires_grad,
        3 => tensor.shape_dynamism.0 ^= 1,
        4 => tensor.layout ^= 1,
        _ => {
            let sizes = tensor.sizes.get_or_insert_default();
            let count = sizes.len();
            if let Some(size) = sizes.get_mut(random.below(count)) {
                *size ^= 1;
            }
        }
    }
}

fn push(text: &mut Option<String>) {
    text.get_or_insert_default().push('x');
}

fn pick<'l, T>(list: &'l mut Option<Vec<T>>, random: &mut Xorshift) -> Option<&'l mut T> {
    let list = list.as_mut()?;
    let count = list.len();
    list.get_mut(random.below(count))
}

/// Removes what `diff` leaves out: fields without meaning, and unused operators, literals and constants.
fn leave_out(root: &mut Program) {
    for segment in root.segments.iter_mut().flatten() {
        segment.offset = 0;
    }
    for plan in root.execution_plan.iter_mut().flatten() {
        let (used_values, used_operators) = used(plan);
        for chain in plan.chains.iter_mut().flatten() {
            (chain.inputs, chain.outputs, chain.stacktrace) = (None, None, None);
        }
        for (operator, is_used) in plan.operators.iter_mut().flatten().zip(used_operators) {
            if !is_used {
                *operator = Operator::default();
            }
        }
        for (value, is_used) in plan.values.iter_mut().flatten().zip(used_values) {
            let is_variable = matches!(&value.val, Some(KernelTypes::Tensor(tensor))
                if tensor.data_buffer_idx == 0 && tensor.extra_tensor_info.is_none());
            if !is_used && !is_variable {
                value.val = None;
            }
        }
    }
}

/// Returns, for each value and each operator, whether it is used.
fn used(plan: &ExecutionPlan) -> (Vec<bool>, Vec<bool>) {
    let mut values = vec![false; plan.values.as_ref().map_or(0, Vec::len)];
    let mut operators = vec![false; plan.operators.as_ref().map_or(0, Vec::len)];
    fn mark(list: &mut [bool], index: i32) {
        let slot = usize::try_from(index).ok().and_then(|index| list.get_mut(index));
        slot.into_iter().for_each(|slot| *slot = true);
    }
    let ends = plan.inputs.iter().chain(&plan.outputs).flatten();
    ends.for_each(|&index| mark(&mut values, index));
    let instructions = plan.chains.iter().flatten().flat_map(|chain| &chain.instructions).flatten();
    for Instruction { instr_args, .. } in instructions {
        match instr_args {
            Some(InstructionArguments::KernelCall(call)) => {
                mark(&mut operators, call.op_index);
                call.args.iter().flatten().for_each(|&index| mark(&mut values, index));
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                call.args.iter().flatten().for_each(|&index| mark(&mut values, index));
            }
            Some(InstructionArguments::MoveCall(call)) => {
                mark(&mut values, call.move_from);
                mark(&mut values, call.move_to);
            }
            Some(InstructionArguments::JumpFalseCall(call)) => {
                mark(&mut values, call.cond_value_index);
            }
            Some(InstructionArguments::FreeCall(call)) => mark(&mut values, call.value_index),
            _ => {}
        }
    }
    let lists: Vec<i32> = plan
        .values
        .iter()
        .flatten()
        .zip(&values)
        .filter(|(_, is_used)| **is_used)
        .flat_map(|(value, _)| match &value.val {
            Some(KernelTypes::IntList(list)) => {
                let items = list.items.iter().flatten();
                items.filter_map(|&item| i32::try_from(item).ok()).collect()
            }
            Some(KernelTypes::TensorList(list)) => list.items.clone().unwrap_or_default(),
            Some(KernelTypes::OptionalTensorList(list)) => list.items.clone().unwrap_or_default(),
            _ => Vec::new(),
        })
        .collect();
    lists.into_iter().for_each(|index| mark(&mut values, index));
    (values, operators)
}
