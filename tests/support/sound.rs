//! Calls every accessor of a sound file, and compares the results with the tables.
//!
//! The fuzz target `sound` does the same: see `fuzz/src/lib.rs`.

use core::fmt::Write;
use core::mem::discriminant;
use core::ops::Range;

use pte::Arena;
use pte::Sound;
use pte::check::{Report, Severity};
use pte::file::FileKind;
use pte::quoted::Untrusted;
use pte::sound::{
    Chain, Data, DataSource, Method, Operand, Operation, Program, Tensor, TensorShape, Value,
    ValueList,
};
use pte::{Ptd, Pte};

use crate::restated;

/// Whether `bytes` are a sound file. If so, calls every accessor of its type, and compares the results with
/// the tables.
pub fn is_sound(bytes: &[u8]) -> bool {
    let whole = wide(bytes.len());
    let refused = |report: Report| assert_eq!(report.worst(), Some(Severity::Error), "{report}");
    match pte::file::sniff(bytes) {
        Ok(FileKind::Pte) => {
            let Ok(pte) = Pte::read(bytes) else { return false };
            let Ok(program) = pte.clone().sound().map_err(refused) else { return false };
            restated::program(&pte);
            ask_program(&program, whole);
        }
        Ok(FileKind::Ptd) => {
            let Ok(ptd) = Ptd::read(bytes) else { return false };
            let Ok(data) = ptd.clone().sound().map_err(refused) else { return false };
            restated::data(&ptd);
            ask_data(&data, whole);
        }
        Err(_) => return false,
    }
    true
}

fn ask_program(program: &Program<'_>, whole: u64) {
    assert!(program.report().worst() < Some(Severity::Error));
    let views = program.pte().program();
    assert_eq!(program.methods().len(), views.execution_plan().unwrap_or_default().len());
    for method in program.methods() {
        let found = program.method(method.name()).map(Method::name);
        assert_eq!(found, Some(method.name()));
        ask_method(method, whole);
    }
    assert_eq!(program.named_data().len(), views.named_data().unwrap_or_default().len());
    for (key, range) in program.named_data() {
        assert!(program.segments().any(|segment| segment == range), "{key:?} at {range:?}");
    }
    program.segments().for_each(|range| inside(&range, whole));
}

fn ask_method(method: Method<'_>, whole: u64) {
    let view = method.view();
    assert_eq!(Some(method.name()), view.name());
    assert_eq!(method.values().len(), view.values().unwrap_or_default().len());
    for (index, value) in method.values().enumerate() {
        ask_value(method, value, whole);
        let again = method.value(index).map(|value| shown(&value));
        assert_eq!(again, Some(shown(&value)), "value {index}");
    }
    assert!(method.value(method.values().len()).is_none());
    for ends in [method.inputs(), method.outputs()] {
        ask_operands(method, ends);
        for end in ends {
            let is_end = matches!(
                end.value(),
                Value::Null
                    | Value::Int(_)
                    | Value::Bool(_)
                    | Value::Double(_)
                    | Value::Tensor(_)
                    | Value::String(_)
            );
            assert!(is_end, "{end:?}");
        }
    }
    let memory = method.arenas().try_fold(0, u64::checked_add);
    assert!(memory.is_some_and(|memory| memory < 1 << 47), "{memory:?} bytes of memory");
    for operator in method.operators() {
        let name = operator.to_string();
        let shown = |text| Untrusted::from(text).to_string();
        assert!(name.starts_with(&shown(operator.name())));
        assert!(name.ends_with(&shown(operator.overload())));
        // Escapes make the shown name longer.
        let len = operator.name().len() + operator.overload().len();
        assert!(len < 100, "{name}");
    }
    for delegate in method.delegates() {
        inside(&delegate.payload(), whole);
        for spec in delegate.compile_specs() {
            assert!(!shown(&(delegate, spec.key, spec.value)).is_empty());
        }
    }
    assert!(method.chains().len() > 0, "a chain");
    method.chains().for_each(|chain| ask_chain(method, chain));
}

fn ask_value(method: Method<'_>, value: Value<'_>, whole: u64) {
    match value {
        Value::Null | Value::Int(_) | Value::Bool(_) | Value::Double(_) | Value::String(_) => {}
        Value::Tensor(tensor) => ask_tensor(method, tensor, whole),
        Value::IntList(list) => {
            let numbers = list.iter().zip(list.indices()).all(|(number, index)| {
                let value = usize::try_from(index).ok().and_then(|index| method.value(index));
                matches!(value, Some(Value::Int(other)) if other == number)
            });
            assert!(numbers, "{list:?}");
        }
        Value::DoubleList(list) => assert_eq!(list.iter().count(), list.len()),
        Value::BoolList(list) => assert_eq!(list.iter().count(), list.len()),
        // Each tensor is a value too, and is checked there.
        Value::TensorList(list) => {
            for (nth, (tensor, index)) in list.iter().zip(list.indices()).enumerate() {
                assert!(usize::try_from(index).is_ok_and(|i| is_tensor(method, i, tensor)));
                assert!(list.get(nth).is_some_and(|other| same(other, tensor)));
            }
            assert!(list.get(list.len()).is_none());
        }
        Value::OptionalTensorList(list) => {
            for (tensor, index) in list.iter().zip(list.indices()) {
                let index = usize::try_from(index).ok();
                let value = index.and_then(|index| method.value(index));
                match tensor {
                    Some(tensor) => assert!(index.is_some_and(|i| is_tensor(method, i, tensor))),
                    None => assert!(matches!(value, None | Some(Value::Null)), "{value:?}"),
                }
            }
        }
    }
}

fn is_tensor(method: Method<'_>, index: usize, tensor: Tensor<'_>) -> bool {
    matches!(method.value(index), Some(Value::Tensor(other)) if same(other, tensor))
}

fn same(one: Tensor<'_>, other: Tensor<'_>) -> bool {
    shown(&one) == shown(&other)
}

fn ask_tensor(method: Method<'_>, tensor: Tensor<'_>, whole: u64) {
    let nbytes = ask_shape(tensor.shape());
    let filled = |range: Range<u64>| {
        inside(&range, whole);
        assert_eq!(range.end - range.start, nbytes, "{tensor:?}");
    };
    let placed = |place: Arena| {
        let nth = usize::try_from(place.memory_id).ok().and_then(|id| id.checked_sub(1));
        let arena = nth.and_then(|nth| method.arenas().nth(nth));
        let end = place.offset.checked_add(nbytes);
        assert!(end.zip(arena).is_some_and(|(end, arena)| end <= arena), "{tensor:?}");
    };
    match tensor.storage() {
        DataSource::Unbound => {}
        DataSource::Constant(range) => filled(range),
        DataSource::Planned { place, initial } => {
            placed(place);
            initial.into_iter().for_each(filled);
        }
        DataSource::External { key, place } => {
            let extra = tensor.view().extra_tensor_info();
            assert_eq!(extra.and_then(|extra| extra.fully_qualified_name()), Some(key));
            place.into_iter().for_each(placed);
        }
        other => panic!("a storage that is not known here: {other:?}"),
    }
}

/// Checks a shape and its bytes.
fn ask_shape(shape: TensorShape<'_>) -> u64 {
    let dtype = shape.dtype();
    assert!(!dtype.runtime_name().is_empty() && !dtype.torch_name().is_empty());
    assert_eq!(Some(dtype.element_size()), dtype.scalar_type().element_size(), "{dtype}");
    assert_eq!((shape.sizes().len(), shape.dim_order().len()), (shape.rank(), shape.rank()));
    let bytes = shape.sizes().try_fold(dtype.element_size(), |n, size| n.checked_mul(size.into()));
    // A size of 0 may follow sizes whose product overflows only with the element size.
    let bytes = bytes.unwrap_or(if shape.sizes().any(|size| size == 0) { 0 } else { u64::MAX });
    assert_eq!(shape.nbytes(), bytes, "{shape:?}");
    bytes
}

fn ask_operands(method: Method<'_>, operands: ValueList<'_, Operand<'_>>) {
    assert_eq!(operands.iter().len(), operands.len());
    assert_eq!(operands.is_empty(), operands.iter().next().is_none());
    for (operand, index) in operands.iter().zip(operands.indices()) {
        assert_eq!(i64::from(operand.index()), i64::from(index));
        ask_operand(method, operand);
    }
}

fn ask_operand(method: Method<'_>, operand: Operand<'_>) {
    let value = usize::try_from(operand.index()).ok().and_then(|index| method.value(index));
    let value = value.map(|value| discriminant(&value));
    assert_eq!(value, Some(discriminant(&operand.value())), "{operand:?}");
}

fn ask_chain(method: Method<'_>, chain: Chain<'_>) {
    let len = chain.view().instructions().unwrap_or_default().len();
    assert_eq!(chain.instructions().len(), len);
    for (nth, instruction) in chain.instructions().enumerate() {
        match instruction {
            Operation::Kernel { operator, args } => {
                assert!(method.operators().any(|other| other.to_string() == operator.to_string()));
                ask_operands(method, args);
            }
            Operation::Delegate { delegate, args } => {
                assert!(method.delegates().any(|other| shown(&other) == shown(&delegate)));
                ask_operands(method, args);
            }
            Operation::Move { from, to } => {
                ask_operand(method, from);
                ask_operand(method, to);
            }
            Operation::JumpFalse { condition, to } => {
                ask_operand(method, condition);
                assert!(to.is_none_or(|to| to < len && chain.get(to).is_some()), "{to:?}");
            }
            Operation::Free { value } => ask_operand(method, value),
        }
        assert!(chain.get(nth).is_some());
    }
    assert!(chain.get(len).is_none());
}

fn ask_data(data: &Data<'_>, whole: u64) {
    assert!(data.report().worst() < Some(Severity::Error));
    for entry in data.entries() {
        let range = entry.range();
        inside(&range, whole);
        let bytes = entry.shape().map_or(0, ask_shape);
        assert!(bytes <= range.end - range.start, "{entry:?}");
        assert_eq!(data.entry(entry.key()).map(|first| first.key()), Some(entry.key()));
        assert!(data.ptd().bytes(range).is_some());
    }
    data.segments().for_each(|range| inside(&range, whole));
}

fn inside(range: &Range<u64>, whole: u64) {
    assert!(range.start <= range.end && range.end <= whole, "{range:?} of {whole}");
}

fn shown(value: &dyn core::fmt::Debug) -> String {
    let mut text = String::new();
    assert!(write!(text, "{value:?}").is_ok());
    text
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
