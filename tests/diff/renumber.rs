//! Renumbers the parts of a program: values, operators, delegates, constants, segments.

use pte::model::{self, RootStruct};
use pte::schema::program::DataLocation;
use pte::schema::program::model::{
    EValue, ExecutionPlan, InstructionArguments, KernelTypes, Program, Tensor,
};

/// A permutation of items, which depends on a seed. The first `fixed` items stay.
struct Order {
    /// The new number of each old number.
    new: Vec<usize>,
}

impl Order {
    fn of(len: usize, fixed: usize, seed: u64) -> Self {
        let mut new: Vec<usize> = (0..len).collect();
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        for at in (fixed + 1..len).rev() {
            // Xorshift: any permutation is good enough.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = fixed + (random as usize) % (at - fixed + 1);
            new.swap(at, other);
        }
        Self { new }
    }

    fn apply<T>(&self, all: Vec<T>) -> Vec<T> {
        assert_eq!(all.len(), self.new.len());
        let mut slots: Vec<Option<T>> = all.iter().map(|_| None).collect();
        for (old, item) in all.into_iter().enumerate() {
            slots[self.new[old]] = Some(item);
        }
        slots.into_iter().map(Option::unwrap).collect()
    }

    fn map<N: TryInto<usize> + TryFrom<usize> + Copy>(&self, number: &mut N) {
        let new = (*number).try_into().ok().and_then(|old| self.new.get(old));
        if let Some(new) = new.and_then(|&new| N::try_from(new).ok()) {
            *number = new;
        }
    }
}

/// Gives every part of a program another number.
pub(super) fn renumber(program: &mut model::PteModel<'_>, seed: u64) {
    for (nth, plan) in program.root.execution_plan.iter_mut().flatten().enumerate() {
        unshare(plan);
        values(plan, seed + nth as u64);
        operators(plan, seed);
        delegates(plan, seed);
    }
    data(&mut program.root, seed);
    segments(program, seed);
    program.container.segment_base_offset = None;
    program.lay_out();
}

/// Gives each call its own copy of a constant, and adds unused values.
fn unshare(plan: &mut ExecutionPlan) {
    let mut values = plan.values.take().unwrap_or_default();
    for call in calls(plan) {
        let last = call.len().saturating_sub(2);
        for at in call.iter_mut().take(last) {
            let Some(value) = usize::try_from(*at).ok().and_then(|nth| values.get(nth)) else {
                continue;
            };
            let fixed = match &value.val {
                Some(
                    KernelTypes::Null(_)
                    | KernelTypes::Bool(_)
                    | KernelTypes::Double(_)
                    | KernelTypes::String(_)
                    | KernelTypes::DoubleList(_),
                ) => true,
                Some(KernelTypes::Tensor(tensor)) => is_constant(tensor),
                _ => false,
            };
            if fixed {
                values.push(value.clone());
                *at = values.len() as i32 - 1;
            }
        }
    }
    // Only constant tensors are added: a runtime would create any other one.
    let is_made = |value: &&EValue| matches!(&value.val, Some(KernelTypes::Tensor(tensor)) if !is_constant(tensor));
    let unused = values.iter().rev().filter(|value| !is_made(value));
    let unused = unused.take(3).cloned().collect::<Vec<EValue>>();
    values.extend(unused);
    plan.values = Some(values);
}

fn is_constant(tensor: &Tensor) -> bool {
    tensor.data_buffer_idx != 0 && tensor.allocation_info.is_none()
}

/// The arguments of kernels.
fn calls(plan: &mut ExecutionPlan) -> impl Iterator<Item = &mut Vec<i32>> {
    let chains = plan.chains.iter_mut().flatten();
    let steps = chains.flat_map(|chain| chain.instructions.iter_mut().flatten());
    steps.filter_map(|step| match &mut step.instr_args {
        Some(InstructionArguments::KernelCall(call)) => call.args.as_mut(),
        _ => None,
    })
}

fn values(plan: &mut ExecutionPlan, seed: u64) {
    let all = plan.values.take().unwrap_or_default();
    let order = Order::of(all.len(), 0, seed);
    let mut all = order.apply(all);
    for value in &mut all {
        match &mut value.val {
            Some(KernelTypes::IntList(list)) => {
                list.items.iter_mut().flatten().for_each(|at| order.map(at));
            }
            Some(KernelTypes::TensorList(list)) => {
                list.items.iter_mut().flatten().for_each(|at| order.map(at));
            }
            Some(KernelTypes::OptionalTensorList(list)) => {
                list.items.iter_mut().flatten().for_each(|at| order.map(at));
            }
            _ => {}
        }
    }
    plan.values = Some(all);
    plan.inputs.iter_mut().flatten().for_each(|at| order.map(at));
    plan.outputs.iter_mut().flatten().for_each(|at| order.map(at));
    let chains = plan.chains.iter_mut().flatten();
    for step in chains.flat_map(|chain| chain.instructions.iter_mut().flatten()) {
        match &mut step.instr_args {
            Some(InstructionArguments::KernelCall(call)) => {
                call.args.iter_mut().flatten().for_each(|at| order.map(at));
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                call.args.iter_mut().flatten().for_each(|at| order.map(at));
            }
            Some(InstructionArguments::MoveCall(call)) => {
                order.map(&mut call.move_from);
                order.map(&mut call.move_to);
            }
            Some(InstructionArguments::JumpFalseCall(call)) => {
                order.map(&mut call.cond_value_index);
            }
            Some(InstructionArguments::FreeCall(call)) => order.map(&mut call.value_index),
            _ => {}
        }
    }
}

fn operators(plan: &mut ExecutionPlan, seed: u64) {
    let Some(mut all) = plan.operators.take() else { return };
    // An unused operator.
    all.extend(all.first().cloned());
    let order = Order::of(all.len(), 0, seed);
    plan.operators = Some(order.apply(all));
    let chains = plan.chains.iter_mut().flatten();
    for step in chains.flat_map(|chain| chain.instructions.iter_mut().flatten()) {
        if let Some(InstructionArguments::KernelCall(call)) = &mut step.instr_args {
            order.map(&mut call.op_index);
        }
    }
}

fn delegates(plan: &mut ExecutionPlan, seed: u64) {
    let Some(all) = plan.delegates.take() else { return };
    let order = Order::of(all.len(), 0, seed);
    plan.delegates = Some(order.apply(all));
    let chains = plan.chains.iter_mut().flatten();
    for step in chains.flat_map(|chain| chain.instructions.iter_mut().flatten()) {
        if let Some(InstructionArguments::DelegateCall(call)) = &mut step.instr_args {
            order.map(&mut call.delegate_index);
        }
    }
}

/// Constants, initial data and payloads in the tables.
fn data(root: &mut Program, seed: u64) {
    let offsets = root.constant_segment.as_ref().and_then(|at| at.offsets.as_ref());
    let buffers = root.constant_buffer.as_ref().map_or(0, |buffers| buffers.len());
    let in_segment = offsets.is_some_and(|offsets| !offsets.is_empty());
    let count = if in_segment { offsets.map_or(0, |offsets| offsets.len()) } else { buffers };
    let constants = Order::of(count, 1, seed);
    if in_segment {
        let offsets = root.constant_segment.as_mut().unwrap().offsets.as_mut().unwrap();
        *offsets = constants.apply(std::mem::take(offsets));
    } else if let Some(buffers) = &mut root.constant_buffer {
        *buffers = constants.apply(std::mem::take(buffers));
    }
    let states = root.mutable_data_segments.iter_mut().flatten().next();
    let states = states.and_then(|states| states.offsets.as_mut()).map(|offsets| {
        let order = Order::of(offsets.len(), 1, seed);
        *offsets = order.apply(std::mem::take(offsets));
        order
    });
    let payloads = root.backend_delegate_data.as_mut().map(|payloads| {
        let order = Order::of(payloads.len(), 0, seed);
        *payloads = order.apply(std::mem::take(payloads));
        order
    });
    if let Some(named) = &mut root.named_data {
        *named = Order::of(named.len(), 0, seed).apply(std::mem::take(named));
    }
    for plan in root.execution_plan.iter_mut().flatten() {
        for value in plan.values.iter_mut().flatten() {
            let Some(KernelTypes::Tensor(tensor)) = &mut value.val else { continue };
            match (&states, tensor.allocation_info.is_some()) {
                (_, false) => constants.map(&mut tensor.data_buffer_idx),
                (Some(states), true) => states.map(&mut tensor.data_buffer_idx),
                _ => {}
            }
        }
        for delegate in plan.delegates.iter_mut().flatten() {
            let (Some(at), Some(payloads)) = (&mut delegate.processed, &payloads) else { continue };
            if at.location == DataLocation::INLINE {
                payloads.map(&mut at.index);
            }
        }
    }
}

fn segments(program: &mut model::PteModel<'_>, seed: u64) {
    let order = Order::of(program.segments.len(), 0, seed + 7);
    program.segments = order.apply(std::mem::take(&mut program.segments));
    let places = order.apply(program.root.segments());
    program.root.set_segments(&places);
    program.root.segment_indices(&mut |index| order.map(index));
}
