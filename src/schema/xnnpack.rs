//! The part of XNNPACK's graph (`runtime_schema.fbs`) that names data. The other tables are not
//! declared.
//!
//! Slots are upstream's. Later releases appended operators to unions, which are not declared here.

use crate::flat::schema;

schema! {
    root XNNGraph b"XN01" "xnn" "fb_xnnpack";

    enums:

    unions:

    /// The quantization of a value.
    union XNNQuantParams {
        /// A scale for each channel.
        1 PerChannelQuant,
        /// One scale for the tensor.
        2 PerTensorQuant,
        /// Scales that are computed when the graph runs.
        3 PerTokenDynamicQuant,
        /// A scale for each group of each channel.
        4 PerChannelGroupQuant
    }

    /// The kinds of values.
    union XValueUnion {
        /// A tensor.
        1 XNNTensorValue,
        /// A quantized tensor.
        2 XNNQuantizedTensorValue
    }

    tables:

    /// A scale for each channel.
    table PerChannelQuant {
        /// The index of the constant with the scales; 0 if the scales are in this table.
        2 scale_buffer_idx: u32 = 0,
    }

    /// One scale for the tensor.
    table PerTensorQuant {}

    /// Scales that are computed when the graph runs.
    table PerTokenDynamicQuant {}

    /// A scale for each group of each channel.
    table PerChannelGroupQuant {
        /// The index of the constant with the scales; 0 if the scales are in this table.
        4 scale_buffer_idx: u32 = 0,
    }

    /// A tensor.
    table XNNTensorValue {
        /// The index of its constant; 0 if it is not constant.
        3 constant_buffer_idx: u32 = 0,
    }

    /// A quantized tensor.
    table XNNQuantizedTensorValue {
        0 tensor_value: &XNNTensorValue,
        1 quant_params: @XNNQuantParams,
    }

    /// A value.
    table XValue {
        0 xvalue_union: @XValueUnion,
    }

    /// The location of a constant.
    table ConstantDataOffset {
        /// Relative to the header's constant_data_offset, if there is no key.
        0 offset: u64 = 0,
        1 size: u64 = 0,
        /// The key of the named data that holds the constant.
        2 named_key: &str => 0.6,
    }

    /// The root table of a payload.
    table XNNGraph {
        2 xvalues: [&XValue],
        /// Index 0 is reserved.
        8 constant_data: [&ConstantDataOffset],
    }
}
