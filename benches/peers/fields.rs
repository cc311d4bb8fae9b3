//! The peer of `fields`: one walk over every field with the accessors that flatc makes for Rust, nothing
//! verified. See `benches/README.md` for how it is built. Prints the best of 15 runs in milliseconds,
//! and the checksum, which must be that of the benchmark.

#[allow(warnings, clippy::all, reason = "flatc made it")]
mod program_generated;

use std::time::Instant;

use program_generated::executorch_flatbuffer::{String as Text, *};

include!("../support/fields.rs");

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let bytes = std::fs::read(path).expect("readable");
    let (mut best, mut sum) = (f64::MAX, 0);
    for _ in 0..15 {
        let start = Instant::now();
        // Not verified on purpose: what is measured is the reading alone.
        let root = unsafe { flatbuffers::root_unchecked::<Program>(std::hint::black_box(&bytes)) };
        sum = std::hint::black_box(program(root));
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{:.4} ms, checksum {sum}", best * 1e3);
}

fn value(value: EValue<'_>) -> u64 {
    match value.val_type() {
        KernelTypes::Int => value.val_as_int().map_or(0, |it| i64_(it.int_val())),
        KernelTypes::Bool => value.val_as_bool().map_or(0, |it| u64::from(it.bool_val())),
        KernelTypes::Double => value.val_as_double().map_or(0, |it| it.double_val().to_bits()),
        KernelTypes::Tensor => value.val_as_tensor().map_or(0, tensor),
        KernelTypes::String => value.val_as_string().map_or(0, |it: Text| text(it.string_val())),
        KernelTypes::IntList => value.val_as_int_list().map_or(0, |it| each(it.items(), i64_)),
        KernelTypes::DoubleList => {
            value.val_as_double_list().map_or(0, |it| each(it.items(), f64::to_bits))
        }
        KernelTypes::BoolList => value.val_as_bool_list().map_or(0, |it| each(it.items(), u64::from)),
        KernelTypes::TensorList => value.val_as_tensor_list().map_or(0, |it| each(it.items(), i32_)),
        KernelTypes::OptionalTensorList => {
            value.val_as_optional_tensor_list().map_or(0, |it| each(it.items(), i32_))
        }
        _ => 0,
    }
}

fn instruction(it: Instruction<'_>) -> u64 {
    match it.instr_args_type() {
        InstructionArguments::KernelCall => it.instr_args_as_kernel_call().map_or(0, kernel_call),
        InstructionArguments::DelegateCall => {
            it.instr_args_as_delegate_call().map_or(0, delegate_call)
        }
        InstructionArguments::MoveCall => it.instr_args_as_move_call().map_or(0, move_call),
        InstructionArguments::JumpFalseCall => it.instr_args_as_jump_false_call().map_or(0, jump),
        InstructionArguments::FreeCall => {
            it.instr_args_as_free_call().map_or(0, |it| i32_(it.value_index()))
        }
        _ => 0,
    }
}

fn segment(it: DataSegment<'_>) -> u64 {
    it.offset() + it.size_()
}
