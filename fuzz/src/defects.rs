//! Defects of programs, each with the rule that must see it.

use pte::schema::program::model::{
    EValue, ExecutionPlan, InstructionArguments, KernelTypes, Program, Tensor,
};
use pte::schema::program::{DataLocation, TensorShapeDynamism};
use pte::schema::scalar::ScalarType;

/// Puts the defect in one of the places that it may be in; whether there was any.
pub(crate) type Defect = fn(&mut Program, usize) -> bool;

/// Every defect, under the id of its rule.
pub(crate) static DEFECTS: &[(&str, Defect)] = &[
    ("program-version", |root, _| {
        root.version = 1;
        true
    }),
    ("plans-missing", |root, _| root.execution_plan.take().is_some()),
    ("plan-name-missing", |root, nth| plan(root, nth).is_some_and(|p| p.name.take().is_some())),
    ("plan-inputs-missing", |root, nth| plan(root, nth).is_some_and(|p| p.inputs.take().is_some())),
    ("plan-outputs-missing", |root, nth| {
        plan(root, nth).is_some_and(|p| p.outputs.take().is_some())
    }),
    ("plan-delegates-missing", |root, nth| {
        plan(root, nth).is_some_and(|p| p.delegates.take().is_some())
    }),
    ("plan-chains-missing", |root, nth| {
        plan(root, nth).is_some_and(|p| p.chains.replace(Vec::new()).is_some())
    }),
    ("plan-arenas-missing", |root, nth| {
        plan(root, nth).is_some_and(|p| p.non_const_buffer_sizes.take().is_some())
    }),
    ("io-index", |root, nth| {
        plan(root, nth).is_some_and(|plan| {
            let len = count(plan);
            plan.inputs.get_or_insert_default().push(len);
            true
        })
    }),
    ("io-index", |root, nth| {
        plan(root, nth).map(|plan| plan.outputs.get_or_insert_default().push(-1)).is_some()
    }),
    ("value-empty", |root, nth| value(root, nth, |_| true).is_some_and(|v| v.val.take().is_some())),
    ("tensor-list-index", |root, nth| {
        let len = plan_lens(root);
        any(root, nth, |val| match val {
            KernelTypes::TensorList(list) => Some(list.items.get_or_insert_default()),
            _ => None,
        })
        .map(|items: &mut Vec<i32>| items.push(len))
        .is_some()
    }),
    ("optional-tensor-list-index", |root, nth| {
        any(root, nth, |val| match val {
            KernelTypes::OptionalTensorList(list) => Some(list.items.get_or_insert_default()),
            _ => None,
        })
        .map(|items: &mut Vec<i32>| items.push(-2))
        .is_some()
    }),
    ("int-list-index", |root, nth| {
        any(root, nth, |val| match val {
            KernelTypes::IntList(list) => Some(list.items.get_or_insert_default()),
            _ => None,
        })
        .map(|items: &mut Vec<i64>| items.push(1 << 32))
        .is_some()
    }),
    ("list-items-missing", |root, nth| {
        any(root, nth, |val| match val {
            KernelTypes::TensorList(list) => Some(&mut list.items),
            _ => None,
        })
        .is_some_and(|items: &mut Option<Vec<i32>>| items.take().is_some())
    }),
    ("string-missing", |root, nth| {
        any(root, nth, |val| match val {
            KernelTypes::String(text) => Some(&mut text.string_val),
            _ => None,
        })
        .is_some_and(|text: &mut Option<String>| text.take().is_some())
    }),
    ("tensor-sizes-missing", |root, nth| {
        tensor(root, nth, |_| true).is_some_and(|t| t.sizes.take().is_some())
    }),
    ("tensor-dim-order-missing", |root, nth| {
        tensor(root, nth, |_| true).is_some_and(|t| t.dim_order.take().is_some())
    }),
    ("tensor-dim-order-length", |root, nth| {
        tensor(root, nth, |_| true).is_some_and(|tensor| {
            let order = tensor.dim_order.get_or_insert_default();
            order.push(u8::try_from(order.len()).unwrap_or(u8::MAX));
            true
        })
    }),
    ("tensor-dim-order", |root, nth| {
        let long = |tensor: &Tensor| tensor.sizes.as_ref().is_some_and(|sizes| sizes.len() > 1);
        tensor(root, nth, long).is_some_and(|tensor| {
            let order = tensor.dim_order.get_or_insert_default();
            let first = order[0];
            order.iter_mut().for_each(|dim| *dim = first);
            true
        })
    }),
    ("tensor-size-negative", |root, nth| {
        let some = |tensor: &Tensor| tensor.sizes.as_ref().is_some_and(|sizes| !sizes.is_empty());
        tensor(root, nth, some)
            .map(|tensor| tensor.sizes.iter_mut().flatten().take(1).for_each(|size| *size = -1))
            .is_some()
    }),
    ("tensor-dtype", |root, nth| {
        tensor(root, nth, |_| true).map(|tensor| tensor.scalar_type = ScalarType(30)).is_some()
    }),
    ("tensor-storage-offset", |root, nth| {
        tensor(root, nth, |_| true).map(|tensor| tensor.storage_offset = 1).is_some()
    }),
    ("tensor-unbound", |root, nth| {
        tensor(root, nth, |_| true)
            .map(|tensor| tensor.shape_dynamism = TensorShapeDynamism::DYNAMIC_UNBOUND)
            .is_some()
    }),
    ("planned-arena", |root, nth| {
        tensor(root, nth, |tensor| tensor.allocation_info.is_some())
            .map(|tensor| tensor.allocation_info.iter_mut().for_each(|place| place.memory_id = 9))
            .is_some()
    }),
    ("planned-out-of-bounds", |root, nth| {
        tensor(root, nth, |tensor| tensor.allocation_info.is_some())
            .map(|tensor| {
                tensor.allocation_info.iter_mut().for_each(|place| place.memory_offset_high = 1)
            })
            .is_some()
    }),
    ("constant-index", |root, nth| {
        let constant =
            |tensor: &Tensor| tensor.data_buffer_idx != 0 && tensor.extra_tensor_info.is_none();
        tensor(root, nth, constant).map(|tensor| tensor.data_buffer_idx = 10_000).is_some()
    }),
    ("arena-negative", |root, nth| {
        plan(root, nth)
            .map(|plan| plan.non_const_buffer_sizes.get_or_insert_default().push(-1))
            .is_some()
    }),
    ("operator-index", |root, nth| {
        call(root, nth, |args| match args {
            InstructionArguments::KernelCall(call) => Some(&mut call.op_index),
            _ => None,
        })
        .map(|index: &mut i32| *index = 1000)
        .is_some()
    }),
    ("args-index", |root, nth| {
        let len = plan_lens(root);
        call(root, nth, |args| match args {
            InstructionArguments::KernelCall(call) => call.args.as_mut()?.first_mut(),
            InstructionArguments::DelegateCall(call) => call.args.as_mut()?.first_mut(),
            _ => None,
        })
        .map(|index: &mut i32| *index = len)
        .is_some()
    }),
    ("args-missing", |root, nth| {
        call(root, nth, |args| match args {
            InstructionArguments::KernelCall(call) => Some(&mut call.args),
            _ => None,
        })
        .is_some_and(|args: &mut Option<Vec<i32>>| args.take().is_some())
    }),
    ("move-index", |root, nth| {
        call(root, nth, |args| match args {
            InstructionArguments::MoveCall(call) => Some(&mut call.move_to),
            _ => None,
        })
        .map(|index: &mut i32| *index = -1)
        .is_some()
    }),
    ("free-index", |root, nth| {
        call(root, nth, |args| match args {
            InstructionArguments::FreeCall(call) => Some(&mut call.value_index),
            _ => None,
        })
        .map(|index: &mut i32| *index = i32::MAX)
        .is_some()
    }),
    ("jump-condition-index", |root, nth| {
        call(root, nth, |args| match args {
            InstructionArguments::JumpFalseCall(call) => Some(&mut call.cond_value_index),
            _ => None,
        })
        .map(|index: &mut i32| *index = i32::MIN)
        .is_some()
    }),
    ("jump-destination", |root, nth| {
        call(root, nth, |args| match args {
            InstructionArguments::JumpFalseCall(call) => Some(&mut call.destination_instruction),
            _ => None,
        })
        .map(|index: &mut i32| *index = 1000)
        .is_some()
    }),
    ("instruction-empty", |root, nth| {
        let plans = root.execution_plan.iter_mut().flatten();
        let chains = plans.flat_map(|plan| plan.chains.iter_mut().flatten());
        let mut all: Vec<_> =
            chains.flat_map(|chain| chain.instructions.iter_mut().flatten()).collect();
        let count = all.len().max(1);
        all.get_mut(nth % count).is_some_and(|instruction| instruction.instr_args.take().is_some())
    }),
    ("operator-name-missing", |root, nth| {
        operator(root, nth).is_some_and(|operator| operator.name.take().is_some())
    }),
    ("operator-overload-missing", |root, nth| {
        operator(root, nth).is_some_and(|operator| operator.overload.take().is_some())
    }),
    ("args-count", |root, nth| {
        let known = |name: &str| name.starts_with("aten::");
        let plans: Vec<_> = root.execution_plan.iter_mut().flatten().collect();
        let mut found = Vec::new();
        for plan in plans {
            // Rules skip instructions that are always jumped over.
            let jumps = format!("{:?}", plan.chains).contains("JumpFalseCall");
            if jumps {
                continue;
            }
            let operators = plan.operators.clone().unwrap_or_default();
            let chains = plan.chains.iter_mut().flatten();
            for instruction in chains.flat_map(|chain| chain.instructions.iter_mut().flatten()) {
                let Some(InstructionArguments::KernelCall(call)) = &mut instruction.instr_args
                else {
                    continue;
                };
                let operator =
                    usize::try_from(call.op_index).ok().and_then(|nth| operators.get(nth));
                if operator.and_then(|o| o.name.as_deref()).is_some_and(known) {
                    found.push(&mut call.args);
                }
            }
        }
        let count = found.len().max(1);
        found.get_mut(nth % count).map(|args| args.get_or_insert_default().pop()).is_some()
    }),
    ("delegate-id-missing", |root, nth| {
        delegate(root, nth).is_some_and(|delegate| delegate.id.take().is_some())
    }),
    ("delegate-payload-missing", |root, nth| {
        delegate(root, nth).is_some_and(|delegate| delegate.processed.take().is_some())
    }),
    ("delegate-location", |root, nth| {
        delegate(root, nth).is_some_and(|delegate| {
            let processed = delegate.processed.get_or_insert_default();
            processed.location = DataLocation(7);
            true
        })
    }),
    ("delegate-spec-key-missing", |root, nth| {
        delegate(root, nth).is_some_and(|delegate| {
            delegate.compile_specs.iter_mut().flatten().any(|spec| spec.key.take().is_some())
        })
    }),
    ("key-missing", |root, nth| {
        let mut named: Vec<_> = root.named_data.iter_mut().flatten().collect();
        let count = named.len().max(1);
        named.get_mut(nth % count).is_some_and(|named| named.key.take().is_some())
    }),
    ("segment-index", |root, nth| {
        let mut named: Vec<_> = root.named_data.iter_mut().flatten().collect();
        let count = named.len().max(1);
        named.get_mut(nth % count).map(|named| named.segment_index = u32::MAX).is_some()
    }),
];

fn plan(root: &mut Program, nth: usize) -> Option<&mut ExecutionPlan> {
    let plans = root.execution_plan.as_mut()?;
    let count = plans.len().max(1);
    plans.get_mut(nth % count)
}

fn count(plan: &ExecutionPlan) -> i32 {
    i32::try_from(plan.values.as_ref().map_or(0, Vec::len)).unwrap_or(i32::MAX)
}

/// One past the last value of the longest plan.
fn plan_lens(root: &Program) -> i32 {
    root.execution_plan.iter().flatten().map(count).max().unwrap_or_default()
}

fn value(root: &mut Program, nth: usize, wanted: impl Fn(&EValue) -> bool) -> Option<&mut EValue> {
    let plans = root.execution_plan.iter_mut().flatten();
    let values = plans.flat_map(|plan| plan.values.iter_mut().flatten());
    let mut all: Vec<_> = values.filter(|value| wanted(value)).collect();
    let count = all.len().max(1);
    (!all.is_empty()).then(|| all.swap_remove(nth % count))
}

/// Something of one of the values that have it.
fn any<T>(
    root: &mut Program,
    nth: usize,
    of: impl Fn(&mut KernelTypes) -> Option<&mut T>,
) -> Option<&mut T> {
    let plans = root.execution_plan.iter_mut().flatten();
    let values = plans.flat_map(|plan| plan.values.iter_mut().flatten());
    let mut all: Vec<&mut T> = values.filter_map(|value| of(value.val.as_mut()?)).collect();
    let count = all.len().max(1);
    (!all.is_empty()).then(|| all.swap_remove(nth % count))
}

fn tensor(root: &mut Program, nth: usize, wanted: impl Fn(&Tensor) -> bool) -> Option<&mut Tensor> {
    any(root, nth, |val| match val {
        KernelTypes::Tensor(tensor) if wanted(tensor) => Some(tensor),
        _ => None,
    })
}

/// Something of one of the instructions that have it.
fn call<T>(
    root: &mut Program,
    nth: usize,
    of: impl Fn(&mut InstructionArguments) -> Option<&mut T>,
) -> Option<&mut T> {
    let plans = root.execution_plan.iter_mut().flatten();
    let chains = plans.flat_map(|plan| plan.chains.iter_mut().flatten());
    let all = chains.flat_map(|chain| chain.instructions.iter_mut().flatten());
    let mut all: Vec<&mut T> =
        all.filter_map(|instruction| of(instruction.instr_args.as_mut()?)).collect();
    let count = all.len().max(1);
    (!all.is_empty()).then(|| all.swap_remove(nth % count))
}

fn operator(root: &mut Program, nth: usize) -> Option<&mut pte::schema::program::model::Operator> {
    let plans = root.execution_plan.iter_mut().flatten();
    let mut all: Vec<_> = plans.flat_map(|plan| plan.operators.iter_mut().flatten()).collect();
    let count = all.len().max(1);
    (!all.is_empty()).then(|| all.swap_remove(nth % count))
}

fn delegate(
    root: &mut Program,
    nth: usize,
) -> Option<&mut pte::schema::program::model::BackendDelegate> {
    let plans = root.execution_plan.iter_mut().flatten();
    let mut all: Vec<_> = plans.flat_map(|plan| plan.delegates.iter_mut().flatten()).collect();
    let count = all.len().max(1);
    (!all.is_empty()).then(|| all.swap_remove(nth % count))
}
