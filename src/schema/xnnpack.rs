//! The part of XNNPACK's graph (`runtime_schema.fbs`) that names data: the rest is the backend's own.
//!
//! Slots as upstream has them; ops were appended to unions that are not followed here.

use crate::flat::schema;

schema! {
    root XNNGraph b"XN01" "xnn" "fb_xnnpack";

    enums:

    unions:

    /// How a value is quantized.
    union XNNQuantParams {
        /// A scale for each channel.
        1 PerChannelQuant,
        /// One scale.
        2 PerTensorQuant,
        /// Scales that are computed.
        3 PerTokenDynamicQuant,
        /// A scale for each group of each channel.
        4 PerChannelGroupQuant
    }

    /// What a value can be.
    union XValueUnion {
        /// A tensor.
        1 XNNTensorValue,
        /// A quantized tensor.
        2 XNNQuantizedTensorValue
    }

    tables:

    /// A scale for each channel.
    table PerChannelQuant {
        /// Which constant has the scales; 0 where they are here.
        2 scale_buffer_idx: u32 = 0,
    }

    /// One scale.
    table PerTensorQuant {}

    /// Scales that are computed.
    table PerTokenDynamicQuant {}

    /// A scale for each group of each channel.
    table PerChannelGroupQuant {
        /// Which constant has the scales; 0 where they are here.
        4 scale_buffer_idx: u32 = 0,
    }

    /// A tensor.
    table XNNTensorValue {
        /// Which constant it is; 0 for none.
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

    /// Where a constant is.
    table ConstantDataOffset {
        /// Counted from the header's constant_data_offset, where there is no key.
        0 offset: u64 = 0,
        1 size: u64 = 0,
        /// The key of the named data that it is.
        2 named_key: &str => 0.6,
    }

    /// The root of a payload.
    table XNNGraph {
        2 xvalues: [&XValue],
        /// Index 0 is reserved.
        8 constant_data: [&ConstantDataOffset],
    }
}
