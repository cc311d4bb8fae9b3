//! The schema of Vulkan's graphs: `backends/vulkan/serialization/schema.fbs`.
//!
//! Upstream changed fields and slots before release 0.3 and kept the identifier `VK00`. Graphs of those
//! releases are refused or read as something else.

use pte_flat::schema;

schema! {
    views;
    root VkGraph b"VK00" "vk" "vkgraph";

    enums:

    /// The datatypes of tensors.
    enum VkDataType: i8 {
        BOOL = 0,
        UINT8 = 1,
        INT8 = 2,
        INT32 = 3,
        FLOAT16 = 4,
        FLOAT32 = 5,
        FLOAT64 = 6,
        INT64 = 7,
        /// Not set: the datatype of the tensor applies.
        UNSET = 127,
    }

    /// The kinds of memory of tensors.
    enum VkStorageType: u8 {
        BUFFER = 0,
        TEXTURE_3D = 1,
        TEXTURE_2D = 2,
        /// Chosen by the runtime.
        DEFAULT_STORAGE = 255,
    }

    /// The layouts of tensors in textures.
    enum VkMemoryLayout: u8 {
        TENSOR_WIDTH_PACKED = 0,
        TENSOR_HEIGHT_PACKED = 1,
        TENSOR_CHANNELS_PACKED = 2,
        PACKED_INT8_4W4C = 3,
        PACKED_INT8_4H4W = 4,
        PACKED_INT8_4W = 5,
        PACKED_INT8_4C = 6,
        PACKED_INT8_4C1W = 8,
        PACKED_INT8_CONV2D = 9,
        /// Chosen by the runtime.
        DEFAULT_LAYOUT = 255,
    }

    unions:

    /// The kinds of values.
    union GraphTypes {
        1 Null,
        2 Int,
        3 Double,
        4 Bool,
        5 VkTensor,
        6 IntList,
        7 DoubleList,
        8 BoolList,
        9 ValueList,
        10 String,
        11 SymInt,
    }

    tables:

    /// A call of an operator.
    table OperatorCall {
        0 node_id: u32 = 0,
        1 name: &str,
        /// The indices of its values.
        2 args: [i32],
    }

    table VkTensor {
        0 datatype: VkDataType = VkDataType::BOOL,
        /// The size of each dimension, outermost first.
        1 dims: [u32],
        /// The index of its constant; negative if it is not constant.
        2 constant_id: i32 = 0,
        /// Tensors with the same number share memory; negative for separate memory.
        3 mem_obj_id: i32 = 0,
        4 storage_type: VkStorageType = VkStorageType::DEFAULT_STORAGE,
        5 memory_layout: VkMemoryLayout = VkMemoryLayout::DEFAULT_LAYOUT,
        6 staging_datatype: VkDataType = VkDataType::UNSET => 1.0,
    }

    table Null {}

    table Int {
        0 int_val: i64 = 0,
    }

    table Bool {
        0 bool_val: bool = false,
    }

    table Double {
        0 double_val: f64 = 0.0,
    }

    table String {
        0 string_val: &str,
    }

    table IntList {
        0 items: [i64],
    }

    table DoubleList {
        0 items: [f64],
    }

    table BoolList {
        0 items: [bool],
    }

    table ValueList {
        /// The indices of the values.
        0 items: [i32],
    }

    /// An integer that may change between runs.
    table SymInt {
        0 value: i32 = 0,
    }

    table VkValue {
        0 value: @GraphTypes,
    }

    /// A range of the bytes behind the graph, or named data.
    table VkBytes {
        /// Relative to the header's bytes_offset; 2^64 − 1 with a key.
        0 offset: u64 = 0,
        1 length: u64 = 0,
        /// The key of the named data.
        2 named_key: &str => 1.0,
    }

    /// The root table of a payload.
    table VkGraph {
        0 version: &str,
        /// The calls, in the order in which they run.
        1 chain: [&OperatorCall],
        2 values: [&VkValue],
        3 input_ids: [u32],
        4 output_ids: [u32],
        5 constants: [&VkBytes],
        6 shaders: [&VkBytes],
        7 storage_type_override: VkStorageType = VkStorageType::DEFAULT_STORAGE,
        8 memory_layout_override: VkMemoryLayout = VkMemoryLayout::DEFAULT_LAYOUT,
    }
}
