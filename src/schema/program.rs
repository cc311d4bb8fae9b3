//! The schema of a `.pte`, `schema/program.fbs` (format.md §3).
//!
//! It is upstream's at commit `cff6f4dd` (2026-08-22, release 1.5). Slots were only ever appended,
//! so this declaration decodes every release from 0.1 on.

use crate::scalar::ScalarType;
use pte_flat::schema;

schema! {
    root Program b"ET12" "pte" "executorch_flatbuffer";

    enums:

    /// Whether a tensor's sizes may change when the program runs.
    enum TensorShapeDynamism: i8 {
        /// The sizes are fixed.
        STATIC = 0,
        /// The sizes are upper bounds.
        DYNAMIC_BOUND = 1,
        /// The sizes are unknown; the portable runtime refuses such a tensor.
        DYNAMIC_UNBOUND = 2
    }

    /// The location of a tensor's initial data.
    enum TensorDataLocation: i8 {
        /// In this file.
        SEGMENT = 0,
        /// In a `.ptd`, under the tensor's fully qualified name.
        EXTERNAL = 1
    }

    /// The kind of device of a tensor or an arena.
    enum DeviceType: i8 {
        /// The host.
        CPU = 0,
        /// A CUDA device.
        CUDA = 1
    }

    /// The location of a delegate's payload.
    enum DataLocation: i8 {
        /// In `Program.backend_delegate_data`.
        INLINE = 0,
        /// In `Program.segments`.
        SEGMENT = 1
    }

    unions:

    /// The kinds of values of a plan.
    union KernelTypes {
        /// Python's None.
        1 Null,
        /// An integer.
        2 Int,
        /// A boolean.
        3 Bool,
        /// A floating-point number.
        4 Double,
        /// A tensor.
        5 Tensor,
        /// A string.
        6 String,
        /// Indices of Int values.
        7 IntList,
        /// Floating-point numbers.
        8 DoubleList,
        /// Booleans.
        9 BoolList,
        /// Indices of Tensor values.
        10 TensorList,
        /// Indices of Tensor values, −1 for None.
        11 OptionalTensorList
    }

    /// The operations of instructions.
    union InstructionArguments {
        /// A call of an operator.
        1 KernelCall,
        /// A call of a delegate.
        2 DelegateCall,
        /// A move: copies a value.
        3 MoveCall,
        /// A jump that is taken if its condition is false.
        4 JumpFalseCall,
        /// A free: releases a tensor's memory.
        5 FreeCall
    }

    tables:

    /// The pytree specs of a method's inputs and outputs, opaque here.
    table ContainerMetadata {
        0 encoded_inp_str: &str,
        1 encoded_out_str: &str,
    }

    /// Python's None, as a value.
    table Null {}

    /// The place of a planned tensor in its arena.
    table AllocationDetails {
        /// The arena: an index into `ExecutionPlan.non_const_buffer_sizes`, from 1 on.
        0 memory_id: u32 = 0,
        /// The lower half of the offset in bytes; called `memory_offset` before 0.2.
        1 memory_offset_low: u32 = 0,
        /// The upper half of the offset in bytes.
        2 memory_offset_high: u32 = 0 => 0.2,
    }

    /// Fields that few tensors need.
    table ExtraTensorInfo {
        /// The index of a list in `Program.mutable_data_segments`; runtimes ignore it and use the
        /// first.
        0 mutable_data_segments_idx: u64 = 0 => 0.4,
        /// The name of the parameter or buffer; for an EXTERNAL tensor the key of its data.
        1 fully_qualified_name: &str => 0.4,
        2 location: TensorDataLocation = TensorDataLocation::SEGMENT => 0.5,
        3 device_type: DeviceType = DeviceType::CPU => 1.3,
        4 device_index: i8 = 0 => 1.3,
    }

    /// A tensor: constant, planned, or provided when the program runs.
    table Tensor {
        0 scalar_type: ScalarType = ScalarType::BYTE,
        /// In elements; the runtime accepts only 0.
        1 storage_offset: i32 = 0,
        /// The size of each dimension, outermost first.
        2 sizes: [i32],
        /// A permutation of the dimensions, outermost in memory first.
        3 dim_order: [u8],
        4 requires_grad: bool = false,
        /// The index of the constant or mutable data; 0 for none. Called `constant_buffer_idx`
        /// before 0.4.
        5 data_buffer_idx: u32 = 0,
        /// Absent for constants and for tensors that are provided when the program runs.
        6 allocation_info: &AllocationDetails,
        /// Always 0, which means strided.
        7 layout: i8 = 0,
        8 shape_dynamism: TensorShapeDynamism = TensorShapeDynamism::STATIC,
        9 extra_tensor_info: &ExtraTensorInfo => 0.4,
    }

    /// An integer, as a value.
    table Int {
        0 int_val: i64 = 0,
    }

    /// A boolean, as a value.
    table Bool {
        0 bool_val: bool = false,
    }

    /// A floating-point number, as a value.
    table Double {
        0 double_val: f64 = 0.0,
    }

    /// A string, as a value.
    table String {
        0 string_val: &str,
    }

    /// A list of integers, by reference.
    table IntList {
        /// Indices of values of the plan, not the integers themselves.
        0 items: [i64],
    }

    /// A list of floating-point numbers.
    table DoubleList {
        0 items: [f64],
    }

    /// A list of booleans.
    table BoolList {
        0 items: [bool],
    }

    /// A list of tensors, by reference.
    table TensorList {
        /// Indices of values of the plan.
        0 items: [i32],
    }

    /// A list of tensors or None, by reference.
    table OptionalTensorList {
        /// Indices of values of the plan, −1 for None.
        0 items: [i32],
    }

    /// A value of a plan.
    table EValue {
        0 val: @KernelTypes,
    }

    /// An operator by name.
    table Operator {
        /// The name without the overload, such as `aten::add`.
        0 name: &str,
        /// The overload, such as `out`; often empty.
        1 overload: &str,
    }

    /// A call of an operator.
    table KernelCall {
        /// The index in `ExecutionPlan.operators`.
        0 op_index: i32 = 0,
        /// Indices of values: the schema's arguments, then its `out` arguments, then the returns, which
        /// repeat the `out` arguments.
        1 args: [i32],
    }

    /// A call of a delegate.
    table DelegateCall {
        /// The index in `ExecutionPlan.delegates`.
        0 delegate_index: i32 = 0,
        /// Indices of values: inputs, then outputs.
        1 args: [i32],
    }

    /// A move: copies a value to another index.
    table MoveCall {
        0 move_from: i32 = 0,
        1 move_to: i32 = 0,
    }

    /// A jump that is taken if its condition is false.
    table JumpFalseCall {
        /// A Bool value, or a tensor of Bools.
        0 cond_value_index: i32 = 0,
        /// The index of an instruction of the same chain. The index past the last one ends the
        /// chain.
        1 destination_instruction: i32 = 0,
    }

    /// A free: releases a tensor's memory.
    table FreeCall {
        0 value_index: i32 = 0,
    }

    /// An instruction of a chain.
    table Instruction {
        0 instr_args: @InstructionArguments,
    }

    /// A frame of a Python stack trace.
    table Frame {
        0 filename: &str,
        1 lineno: i32 = 0,
        2 name: &str,
        3 context: &str,
    }

    /// The stack trace of one instruction.
    table FrameList {
        0 items: [&Frame],
    }

    /// The location of a delegate's payload.
    table BackendDelegateDataReference {
        0 location: DataLocation = DataLocation::INLINE,
        /// The index in `Program.backend_delegate_data` or `Program.segments`.
        1 index: u32 = 0,
    }

    /// An option for a backend.
    table CompileSpec {
        0 key: &str,
        /// The value, whose format depends on the backend.
        1 value: [u8],
    }

    /// A part of a method that a backend runs.
    table BackendDelegate {
        /// The backend's name, such as `XnnpackBackend`.
        0 id: &str,
        1 processed: &BackendDelegateDataReference,
        2 compile_specs: [&CompileSpec],
    }

    /// A list of instructions. Every known writer makes exactly one for a plan.
    table Chain {
        /// Empty in known files, and ignored by runtimes.
        0 inputs: [i32],
        /// Empty in known files, and ignored by runtimes.
        1 outputs: [i32],
        2 instructions: [&Instruction],
        /// A stack trace for each instruction, if any.
        3 stacktrace: [&FrameList],
    }

    /// A method.
    table ExecutionPlan {
        0 name: &str,
        1 container_meta_type: &ContainerMetadata,
        2 values: [&EValue],
        /// Indices of values.
        3 inputs: [i32],
        /// Indices of values.
        4 outputs: [i32],
        5 chains: [&Chain],
        6 operators: [&Operator],
        7 delegates: [&BackendDelegate],
        /// Bytes of each arena; the first is reserved and 0.
        8 non_const_buffer_sizes: [i64],
        /// The arenas that are not on the CPU.
        9 non_const_buffer_device: [&NonConstBufferDevice] => 1.3,
    }

    /// The device of an arena.
    table NonConstBufferDevice {
        /// An index into `non_const_buffer_sizes`.
        0 buffer_idx: i32 = 0 => 1.3,
        1 device_type: DeviceType = DeviceType::CPU => 1.3,
        2 device_index: i8 = 0 => 1.3,
    }

    /// A constant inside the FlatBuffer.
    table Buffer {
        0 storage: [u8 align 16],
    }

    /// A delegate's payload inside the FlatBuffer.
    table BackendDelegateInlineData {
        0 data: [u8 align 16],
    }

    /// A range of bytes after the FlatBuffer.
    table DataSegment {
        /// Relative to segment_base_offset.
        0 offset: u64 = 0,
        1 size: u64 = 0,
    }

    /// The offsets of pieces in a segment.
    table SubsegmentOffsets {
        0 segment_index: u32 = 0 => 0.2,
        /// Relative to the segment's start; index 0 is reserved.
        1 offsets: [u64] => 0.2,
    }

    /// A segment with a name.
    table NamedData {
        0 key: &str => 0.6,
        1 segment_index: u32 = 0 => 0.6,
    }

    /// The root of a `.pte`.
    table Program {
        /// Always 0 in known files.
        0 version: u32 = 0,
        /// The methods.
        1 execution_plan: [&ExecutionPlan],
        /// The constants of old files. Replaced by `constant_segment`, and empty since 0.4.
        2 constant_buffer: [&Buffer],
        /// The delegates' payloads, shared by all methods.
        3 backend_delegate_data: [&BackendDelegateInlineData],
        4 segments: [&DataSegment],
        /// The place of each constant in its segment.
        5 constant_segment: &SubsegmentOffsets => 0.2,
        /// The initial data of tensors that the program changes; one list in practice.
        6 mutable_data_segments: [&SubsegmentOffsets] => 0.4,
        /// Named blobs for backends.
        7 named_data: [&NamedData] => 0.6,
    }
}

/// Returns whether a value with this tag of `KernelTypes` is a list.
pub fn is_list(tag: u8) -> bool {
    (tag::IntList..=tag::OptionalTensorList).contains(&tag)
}
