//! Differences in words: short, whatever the file has.

use core::fmt::Display;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Shown;
use super::contents::Sha;
use super::plan::Plan;
use super::steps::NONE;
use super::values::Sort;
use crate::method::Instruction;
use crate::quoted::{Quoted, Untrusted};
use crate::schema::program::view::{InstructionArguments, KernelTypes, Tensor};
use crate::schema::scalar::ScalarType;

/// A text without data.
pub(super) fn shown(text: impl Into<String>) -> Shown {
    Shown { text: text.into(), sha256: None }
}

/// Data, with what is said of it.
pub(super) fn data(text: impl Into<String>, sha256: Option<Sha>) -> Shown {
    Shown { text: text.into(), sha256 }
}

/// A text of the file as it is, but for what cannot be shown; of a long one its beginning.
pub(super) fn plain(text: &str) -> String {
    Untrusted::from(text).cut(MOST_CHARACTERS)
}

/// A text of the file in quotes.
pub(super) fn quoted(text: &str) -> String {
    Quoted(text).to_string()
}

/// `0, 2, 1`: the first few numbers of instructions.
pub(super) fn numbers(numbers: &[u32]) -> String {
    few(numbers, MOST_NUMBERS)
}

/// `[0, 2, 1]`: numbers, as many as a shape can have.
pub(super) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    format!("[{}]", few(items, MOST_ITEMS))
}

fn few<T: Display>(items: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut out = String::new();
    for (nth, item) in items.into_iter().enumerate() {
        if nth > 0 {
            out.push_str(", ");
        }
        if nth == most {
            out.push('…');
            break;
        }
        out.push_str(&item.to_string());
    }
    out
}

/// A dtype, as PyTorch calls it.
pub(super) fn dtype(dtype: ScalarType) -> String {
    dtype.torch_name().map_or_else(|| format!("dtype {}", dtype.0), ToString::to_string)
}

/// `float32[2, 8]`.
pub(super) fn shape(tensor: Tensor<'_>) -> String {
    format!("{}{}", dtype(tensor.scalar_type()), list(tensor.sizes().into_iter().flatten()))
}

/// `1 byte`, `2 bytes`.
pub(super) fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".into(),
        _ => format!("{count} bytes"),
    }
}

/// `aten::add.out`.
fn operator(plan: &Plan<'_, '_>, index: i32) -> String {
    let all = plan.view.operators().zip(usize::try_from(index).ok());
    let Some(operator) = all.and_then(|(all, nth)| all.get(nth)) else {
        return format!("no operator {index}");
    };
    let mut text = plain(plan.text(|| operator.name()).unwrap_or_default());
    let overload = plan.text(|| operator.overload());
    if let Some(overload) = overload.filter(|overload| !overload.is_empty()) {
        text.push('.');
        text.push_str(&plain(overload));
    }
    text
}

/// What an instruction does, without its arguments.
pub(super) fn name(plan: &Plan<'_, '_>, step: &Instruction<'_>) -> String {
    match step.operation() {
        Some(InstructionArguments::KernelCall(call)) => operator(plan, call.op_index()),
        Some(InstructionArguments::DelegateCall(call)) => backend(plan, call.delegate_index()),
        Some(InstructionArguments::MoveCall(_)) => "move".into(),
        Some(InstructionArguments::FreeCall(_)) => "free".into(),
        Some(InstructionArguments::JumpFalseCall(_)) => "jump if false".into(),
        _ => "an unknown instruction".into(),
    }
}

/// The backend of a delegate.
pub(super) fn backend(plan: &Plan<'_, '_>, index: i32) -> String {
    match plan.delegate_view(index) {
        Some(delegate) => plain(plan.text(|| delegate.id()).unwrap_or("(no id)")),
        None => format!("no delegate {index}"),
    }
}

/// An instruction by its number: `call 3 aten::add.out`.
pub(super) fn place(plan: &Plan<'_, '_>, step: &Instruction<'_>) -> String {
    let chain = match step.chain() {
        0 => String::new(),
        chain => format!("chain {chain}, "),
    };
    let kind = match step.operation() {
        Some(InstructionArguments::KernelCall(_) | InstructionArguments::DelegateCall(_)) => "call",
        _ => "instruction",
    };
    format!("{chain}{kind} {} {}", step.index(), name(plan, step))
}

/// A whole instruction: `aten::add.out(input 0, 1, result of call 2)`.
pub(super) fn instruction(plan: &Plan<'_, '_>, step: &Instruction<'_>) -> String {
    let mut text = name(plan, step);
    text.push('(');
    let args = step.operands();
    // Behind the arguments stand what it gives, and that once more.
    let mut count = args.len();
    while let Some(last) = count.checked_sub(1)
        && args.get(last).is_some_and(|at| is_result(plan, step, at))
    {
        count = last;
    }
    let all: Vec<i32> = args.iter().take(count.min(MOST_ITEMS)).collect();
    for (nth, at) in all.into_iter().enumerate() {
        if nth > 0 {
            text.push_str(", ");
        }
        text.push_str(&role(plan, at));
    }
    if count > MOST_ITEMS {
        text.push_str(", …");
    }
    text.push(')');
    text
}

/// Returns whether a step is the first to write a value.
fn is_result(plan: &Plan<'_, '_>, step: &Instruction<'_>, at: i32) -> bool {
    let nth = usize::try_from(at).unwrap_or(usize::MAX);
    plan.input(nth).is_none() && plan.writers.first(nth) == step.pc()
}

/// What a value is for, or what is in it.
pub(super) fn role(plan: &Plan<'_, '_>, at: i32) -> String {
    let nth = usize::try_from(at).unwrap_or(usize::MAX);
    let (Some(value), Some(sort)) = (plan.value(nth), plan.sort(nth)) else {
        return match plan.held(nth) {
            Some(_) => "an unknown value".into(),
            None => format!("no value {at}"),
        };
    };
    if let Some(input) = plan.input(nth) {
        return format!("input {input}");
    }
    if sort != Sort::Variable {
        return content(plan, nth, value);
    }
    let writer = plan.writers.first(nth);
    // What has contents before anything writes it is told by its name.
    let is_state = plan.held(nth).is_some_and(|held| held.data.is_some());
    if (is_state || writer == NONE)
        && let Some(name) = plan.tensor_name(nth)
    {
        return format!("buffer {}", quoted(name));
    }
    let which = plan.writers.place(nth).map(|place| format!(" {place}")).unwrap_or_default();
    match plan.step(writer) {
        Some(step) if step.chain() == 0 => format!("result{which} of call {}", step.index()),
        Some(step) => format!("result{which} of chain {}, call {}", step.chain(), step.index()),
        None => plan.tensor(nth).map_or_else(
            || content(plan, nth, value),
            |tensor| format!("{} that nothing writes", shape(tensor)),
        ),
    }
}

/// What is in a value.
pub(super) fn content<'a>(plan: &Plan<'_, 'a>, nth: usize, value: KernelTypes<'a>) -> String {
    let item =
        |at: i64| match usize::try_from(at).ok().and_then(|nth| Some((nth, plan.value(nth)?))) {
            Some((nth, KernelTypes::Int(int))) => match plan.sort(nth) {
                Some(Sort::Fixed) => int.int_val().to_string(),
                _ => role(plan, i32::try_from(at).unwrap_or(-1)),
            },
            Some((_, KernelTypes::IntList(_) | KernelTypes::TensorList(_))) => "a list".into(),
            Some((_, KernelTypes::OptionalTensorList(_))) => "a list".into(),
            Some(_) => role(plan, i32::try_from(at).unwrap_or(-1)),
            None if at == -1 => "None".into(),
            None => format!("no value {at}"),
        };
    match value {
        KernelTypes::Null(_) => "None".into(),
        KernelTypes::Int(int) => int.int_val().to_string(),
        KernelTypes::Bool(bool) => bool.bool_val().to_string(),
        KernelTypes::Double(double) => format!("{:?}", double.double_val()),
        KernelTypes::String(text) => quoted(plan.text(|| text.string_val()).unwrap_or_default()),
        KernelTypes::Tensor(tensor) => {
            let name = plan.tensor_name(nth).map(|name| format!(" {}", quoted(name)));
            format!("constant {}{}", shape(tensor), name.unwrap_or_default())
        }
        KernelTypes::IntList(items) => list(items.items().into_iter().flatten().map(item)),
        KernelTypes::DoubleList(items) => {
            list(items.items().into_iter().flatten().map(|item| format!("{item:?}")))
        }
        KernelTypes::BoolList(items) => list(items.items().into_iter().flatten()),
        KernelTypes::TensorList(items) => {
            list(items.items().into_iter().flatten().map(|at| item(at.into())))
        }
        KernelTypes::OptionalTensorList(items) => {
            list(items.items().into_iter().flatten().map(|at| item(at.into())))
        }
        _ => "an unknown value".into(),
    }
}

/// As many as a line can show.
const MOST_CHARACTERS: usize = 100;

/// As many as the runtime takes sizes.
const MOST_ITEMS: usize = 16;

/// Numbers of instructions in a line.
const MOST_NUMBERS: usize = 8;
