//! Every field of a program, read once through the views.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    reason = "a checksum, for which the same text compiles over another's types"
)]

use pte::schema::program::view::*;

include!("fields.rs");

/// A checksum over every field.
pub(crate) fn read_all(root: Program<'_>) -> u64 {
    program(root)
}

fn value(value: EValue<'_>) -> u64 {
    match value.val() {
        None | Some(KernelTypes::Null(_)) => 0,
        Some(KernelTypes::Int(it)) => i64_(it.int_val()),
        Some(KernelTypes::Bool(it)) => u64::from(it.bool_val()),
        Some(KernelTypes::Double(it)) => it.double_val().to_bits(),
        Some(KernelTypes::Tensor(it)) => tensor(it),
        Some(KernelTypes::String(it)) => text(it.string_val()),
        Some(KernelTypes::IntList(it)) => each(it.items(), i64_),
        Some(KernelTypes::DoubleList(it)) => each(it.items(), f64::to_bits),
        Some(KernelTypes::BoolList(it)) => each(it.items(), u64::from),
        Some(KernelTypes::TensorList(it)) => each(it.items(), i32_),
        Some(KernelTypes::OptionalTensorList(it)) => each(it.items(), i32_),
        Some(_) => 0,
    }
}

fn instruction(instruction: Instruction<'_>) -> u64 {
    match instruction.instr_args() {
        None => 0,
        Some(InstructionArguments::KernelCall(it)) => kernel_call(it),
        Some(InstructionArguments::DelegateCall(it)) => delegate_call(it),
        Some(InstructionArguments::MoveCall(it)) => move_call(it),
        Some(InstructionArguments::JumpFalseCall(it)) => jump(it),
        Some(InstructionArguments::FreeCall(it)) => i32_(it.value_index()),
        Some(_) => 0,
    }
}

fn segment(it: DataSegment<'_>) -> u64 {
    it.offset() + it.size()
}
