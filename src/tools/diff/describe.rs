//! Instructions and values of a method in words.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::fingerprint::ValueClass;
use super::plan::Plan;
use super::text::{plain, quoted, shape};
use super::writers::NONE;
use crate::graph::literal;
use pte_core::method::Instruction;
use pte_schema::program::view::{self, InstructionArguments, KernelTypes};

/// Returns the name of an operator, such as `aten::add.out`.
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

/// Returns the name of an instruction: its operator, its backend or its kind.
pub(super) fn name(plan: &Plan<'_, '_>, instruction: &Instruction<'_>) -> String {
    match instruction.operation() {
        Some(InstructionArguments::KernelCall(call)) => operator(plan, call.op_index()),
        Some(InstructionArguments::DelegateCall(call)) => backend(plan, call.delegate_index()),
        Some(InstructionArguments::MoveCall(_)) => "move".into(),
        Some(InstructionArguments::FreeCall(_)) => "free".into(),
        Some(InstructionArguments::JumpFalseCall(_)) => "jump if false".into(),
        _ => "an unknown instruction".into(),
    }
}

/// Returns the name of the backend of a delegate.
pub(super) fn backend(plan: &Plan<'_, '_>, index: i32) -> String {
    match plan.delegate_view(index) {
        Some(delegate) => plain(plan.text(|| delegate.id()).unwrap_or("(no id)")),
        None => format!("no delegate {index}"),
    }
}

/// Returns the place of an instruction in words, such as `call 3 aten::add.out`.
pub(super) fn place(plan: &Plan<'_, '_>, instruction: &Instruction<'_>) -> String {
    let chain = match instruction.chain() {
        0 => String::new(),
        chain => format!("chain {chain}, "),
    };
    let kind = match instruction.operation() {
        Some(InstructionArguments::KernelCall(_) | InstructionArguments::DelegateCall(_)) => "call",
        _ => "instruction",
    };
    format!("{chain}{kind} {} {}", instruction.index(), name(plan, instruction))
}

/// Returns an instruction with its arguments as text, such as
/// `aten::add.out(input 0, 1, result of call 2)`.
pub(super) fn instruction(plan: &Plan<'_, '_>, instruction: &Instruction<'_>) -> String {
    let mut text = name(plan, instruction);
    text.push('(');
    let args = instruction.operands();
    // The last arguments are the results, each listed twice. All of them are left out.
    let mut count = args.len();
    while let Some(last) = count.checked_sub(1)
        && args.get(last).is_some_and(|at| is_result(plan, instruction, at))
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

/// Returns whether an instruction is the first to write a value.
fn is_result(plan: &Plan<'_, '_>, instruction: &Instruction<'_>, at: i32) -> bool {
    let nth = usize::try_from(at).unwrap_or(usize::MAX);
    plan.input(nth).is_none() && plan.writers.first(nth) == instruction.pc()
}

/// Returns the role of a value in its method, such as `input 0` or `result of call 2`, or else its
/// contents.
pub(super) fn role(plan: &Plan<'_, '_>, at: i32) -> String {
    let nth = usize::try_from(at).unwrap_or(usize::MAX);
    let (Some(value), Some(sort)) = (plan.value(nth), plan.value_class(nth)) else {
        return match plan.fingerprint(nth) {
            Some(_) => "an unknown value".into(),
            None => format!("no value {at}"),
        };
    };
    if let Some(input) = plan.input(nth) {
        return format!("input {input}");
    }
    if sort != ValueClass::Variable {
        return content(plan, nth, value);
    }
    let writer = plan.writers.first(nth);
    // A tensor that has contents before the first write is shown by its name.
    let is_state = plan.fingerprint(nth).is_some_and(|fingerprint| fingerprint.data.is_some());
    if (is_state || writer == NONE)
        && let Some(name) = plan.tensor_name(nth)
    {
        return format!("buffer {}", quoted(name));
    }
    let which = plan.writers.place(nth).map(|place| format!(" {place}")).unwrap_or_default();
    match plan.instruction(writer) {
        Some(instruction) if instruction.chain() == 0 => {
            format!("result{which} of call {}", instruction.index())
        }
        Some(instruction) => {
            format!("result{which} of chain {}, call {}", instruction.chain(), instruction.index())
        }
        None => plan.tensor(nth).map_or_else(
            || content(plan, nth, value),
            |tensor| format!("{} that nothing writes", shape(tensor)),
        ),
    }
}

/// Returns the contents of a value.
pub(super) fn content<'a>(plan: &Plan<'_, 'a>, nth: usize, value: KernelTypes<'a>) -> String {
    let item =
        |at: i64| match usize::try_from(at).ok().and_then(|nth| Some((nth, plan.value(nth)?))) {
            Some((nth, KernelTypes::Int(int))) => match plan.value_class(nth) {
                Some(ValueClass::Fixed) => int.int_val().to_string(),
                _ => role(plan, i32::try_from(at).unwrap_or(-1)),
            },
            Some((_, KernelTypes::IntList(_) | KernelTypes::TensorList(_))) => "a list".into(),
            Some((_, KernelTypes::OptionalTensorList(_))) => "a list".into(),
            Some(_) => role(plan, i32::try_from(at).unwrap_or(-1)),
            None if at == -1 => "None".into(),
            None => format!("no value {at}"),
        };
    if let KernelTypes::Tensor(tensor) = value {
        let name = plan.tensor_name(nth).map(|name| format!(" {}", quoted(name)));
        return format!("constant {}{}", shape(tensor), name.unwrap_or_default());
    }
    let text =
        |string: view::String<'a>| quoted(plan.text(|| string.string_val()).unwrap_or_default());
    literal(value, text, item).unwrap_or_else(|| "an unknown value".into())
}

/// The most items of a list that are shown. A tensor of the runtime has no more dimensions.
const MOST_ITEMS: usize = 16;
