//! The schema of an ETDump, a profile of runs: `devtools/etdump/etdump_schema_flatcc.fbs`.

use crate::scalar::ScalarType;
use pte_flat::schema;

schema! {
    views;
    root ETDump b"ED00" "etdp" "etdump";

    enums:

    /// The kinds of values.
    enum ValueType: i8 {
        Null = 0,
        Int = 1,
        Bool = 2,
        Float = 3,
        Double = 4,
        Tensor = 5,
        TensorList = 6,
        String = 7,
    }

    unions:

    tables:

    table Null {}

    /// A tensor; its data is in another file.
    table Tensor {
        0 scalar_type: ScalarType = ScalarType::BYTE,
        1 sizes: [i64],
        2 strides: [i64],
        /// The start of its data in the file of debug data.
        3 offset: i64 = 0,
    }

    table Int {
        0 int_val: i64 = 0,
    }

    table Bool {
        0 bool_val: bool = false,
    }

    /// A single-precision number.
    table Float {
        0 float_val: f32 = 0.0,
    }

    table Double {
        0 double_val: f64 = 0.0,
    }

    table String {
        0 string_val: &str,
    }

    table TensorList {
        0 tensors: [&Tensor],
    }

    table Value {
        /// The kind of the value: which of the following fields is used.
        0 val: ValueType = ValueType::Null,
        1 tensor: &Tensor,
        2 tensor_list: &TensorList,
        3 int_value: &Int,
        4 float_value: &Float,
        5 double_value: &Double,
        6 bool_value: &Bool,
        7 output: &Bool,
    }

    /// A value that an instruction computed.
    table DebugEvent {
        0 chain_index: u64 = 0,
        /// The index of the instruction; −1 for an event of no instruction.
        1 instruction_id: i32 = -1,
        2 debug_entry: &Value,
        3 delegate_debug_id_int: i32 = -1,
        4 delegate_debug_id_str: &str,
        5 name: &str,
    }

    /// An allocation.
    table AllocationEvent {
        0 allocator_id: i32 = 0,
        1 allocation_size: u64 = 0,
    }

    /// The time that an instruction took.
    table ProfileEvent {
        0 name: &str,
        /// The index of the chain.
        1 chain_index: i32 = 0,
        /// The index of the instruction; −1 for an event of no instruction.
        2 instruction_id: i32 = -1,
        3 delegate_debug_id_int: i32 = -1,
        4 delegate_debug_id_str: &str,
        5 delegate_debug_metadata: [u8],
        /// In ticks of the clock that the runtime was built with.
        6 start_time: u64 = 0,
        7 end_time: u64 = 0,
    }

    /// An event: one of the three.
    table Event {
        0 profile_event: &ProfileEvent,
        1 allocation_event: &AllocationEvent,
        2 debug_event: &DebugEvent,
    }

    table Allocator {
        0 name: &str,
    }

    /// One run.
    table RunData {
        0 name: &str,
        1 bundled_input_index: i32 = -1,
        2 allocators: [&Allocator],
        3 events: [&Event],
    }

    /// The root table.
    table ETDump {
        0 version: u32 = 0,
        1 run_data: [&RunData],
    }
}
