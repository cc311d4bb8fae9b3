//! The schema of XNNPACK's graphs: `backends/xnnpack/serialization/runtime_schema.fbs`, which has all
//! fields of its AOT twin `schema.fbs`.
//!
//! Upstream only appended fields and union members in releases. Graphs before 2024-02-22 have the
//! identifier `XN00`, which the runtime accepts as well.

use pte_flat::schema;

schema! {
    root XNNGraph b"XN01" "xnn" "fb_xnnpack";

    enums:

    /// The datatypes of values.
    enum XNNDatatype: i16 {
        /// No datatype.
        xnn_datatype_invalid = 0,
        /// f32.
        xnn_datatype_fp32 = 1,
        /// f16.
        xnn_datatype_fp16 = 2,
        /// i8, one scale and zero point.
        xnn_datatype_qint8 = 3,
        /// u8, one scale and zero point.
        xnn_datatype_quint8 = 4,
        /// i32, one scale.
        xnn_datatype_qint32 = 5,
        /// i8, a scale for each channel.
        xnn_datatype_qcint8 = 6,
        /// i32, a scale for each channel.
        xnn_datatype_qcint32 = 7,
        /// 4-bit integers, two in a byte, a scale for each channel.
        xnn_datatype_qcint4 = 8,
        /// i8, scales computed when the graph runs.
        xnn_datatype_qdint8 = 9,
        /// 4-bit integers, two in a byte, a scale for each group of a channel.
        xnn_datatype_qbint4 = 10,
        /// As qdint8, packed for a kernel. No payload may have it.
        xnn_datatype_qpint8 = 11,
        /// i32.
        xnn_datatype_int32 = 12,
        /// f32, packed for a kernel.
        xnn_datatype_pfp32 = 13,
        /// bf16.
        xnn_datatype_bf16 = 14,
    }

    unions:

    /// The quantization of a value.
    union XNNQuantParams {
        1 PerChannelQuant,
        2 PerTensorQuant,
        3 PerTokenDynamicQuant,
        4 PerChannelGroupQuant,
    }

    /// The operators of nodes.
    union XNodeUnion {
        1 XNNAdd = _XNNNode2x1,
        2 XNNFullyConnected,
        3 XNNSoftmax = _XNNNode1x1,
        4 XNNSigmoid = _XNNNode1x1,
        5 XNNStaticTranspose,
        6 XNNClamp = _XNNNode1x1,
        7 XNNConv2d = _XNNNodeConv,
        8 XNNDiv = _XNNNode2x1,
        9 XNNStaticResizeBilinear2D,
        10 XNNStaticConstantPad,
        11 XNNAvgPooling2d = _XNNPooling2D,
        12 XNNMinimum = _XNNNode2x1,
        13 XNNDepthwiseConv2d = _XNNNodeConv,
        14 XNNMaxPooling2d = _XNNPooling2D,
        15 XNNMultiply = _XNNNode2x1,
        16 XNNSubtract = _XNNNode2x1,
        17 XNNFloor = _XNNNode1x1,
        18 XNNConvert = _XNNNode1x1,
        19 XNNGlobalAvgPooling2d = _XNNNode1x1,
        20 XNNStaticReshape,
        21 XNNArgMaxPooling2d,
        22 XNNSquareRoot = _XNNNode1x1,
        23 XNNCeiling = _XNNNode1x1,
        24 XNNHardswish = _XNNNode1x1,
        25 XNNLeakyReLU,
        26 XNNMaximum = _XNNNode2x1,
        27 XNNNegate = _XNNNode1x1,
        28 XNNSquare = _XNNNode1x1,
        29 XNNELU,
        30 XNNAbs = _XNNNode1x1,
        31 XNNPReLU = _XNNNode2x1,
        32 XNNConcatenate2 = _XNNCat,
        33 XNNConcatenate3 = _XNNCat,
        34 XNNConcatenate4 = _XNNCat,
        35 XNNStaticSlice,
        36 XNNScaledDotProductAttention,
        37 XNNBatchMatrixMultiply = _XNNNode2x1,
        38 XNNConcatenate5 = _XNNCat,
        39 XNNConvTranspose2d = _XNNNodeConv,
        40 XNNReciprocalSquareRoot = _XNNNode1x1,
        41 XNNLog = _XNNNode1x1,
        42 XNNGelu = _XNNNode1x1,
        43 XNNTanh = _XNNNode1x1,
        44 XNNExp = _XNNNode1x1,
        45 XNNSin = _XNNNode1x1,
        46 XNNCopy = _XNNNode1x1,
        47 XNNCos = _XNNNode1x1,
    }

    /// The kinds of values.
    union XValueUnion {
        1 XNNTensorValue,
        2 XNNQuantizedTensorValue,
    }

    tables:

    /// A constant inside the FlatBuffer, in payloads without a header.
    table Buffer {
        /// The bytes.
        0 storage: [u8 align 16],
    }

    /// A scale for each channel.
    table PerChannelQuant {
        /// A scale for each index of `channel_dim`.
        0 scale: [f32],
        /// The dimension that the scales belong to.
        1 channel_dim: i32 = 0,
        /// The index of the constant with the scales, as f32; 0 if the scales are in this table.
        2 scale_buffer_idx: u32 = 0 => 0.7,
        /// The runtime does not read it.
        3 num_scales: u32 = 0 => 0.7,
    }

    /// Scales that are computed when the graph runs.
    table PerTokenDynamicQuant {
        /// The number of innermost dimensions that share a scale.
        0 num_nonbatch_dims: i32 = 0,
    }

    /// One scale for the tensor.
    table PerTensorQuant {
        0 scale: f32 = 0.0,
        1 zero_point: i32 = 0,
    }

    /// A scale for each group of each channel.
    table PerChannelGroupQuant {
        0 scale: [f32],
        /// The dimension of the channels.
        1 channel_dim: i32 = 0,
        /// The number of elements that share a scale.
        2 group_size: i32 = 0,
        /// Scales as bf16. Deprecated: releases from 0.7 on neither write nor read it.
        3 scale_bf16: [u16] => 0.4,
        /// The index of the constant with the scales, as bf16; 0 if the scales are in this table.
        4 scale_buffer_idx: u32 = 0 => 0.7,
        5 num_scales: u32 = 0 => 0.7,
    }

    table XNNTensorValue {
        0 datatype: XNNDatatype = XNNDatatype::xnn_datatype_invalid,
        /// The runtime ignores this field, and uses the length of `dims`.
        1 num_dims: u32 = 0,
        /// The size of each dimension, outermost first.
        2 dims: [u32],
        /// The index of its constant; 0 if it is not constant.
        3 constant_buffer_idx: u32 = 0,
        /// The index of an argument of the call; 2^32 − 1 for none.
        4 external_id: u32 = 0,
        /// 1 for an input of the graph, 2 for an output.
        5 flags: u32 = 0,
        /// The id that nodes use.
        6 id_out: u32 = 0,
        /// The type that an input is quantized to. Only payloads of before release 0.2 have it.
        7 dq_datatype: XNNDatatype = XNNDatatype::xnn_datatype_invalid,
    }

    /// A quantized tensor.
    table XNNQuantizedTensorValue {
        0 tensor_value: &XNNTensorValue,
        1 quant_params: @XNNQuantParams,
    }

    /// The range that a node's output is clamped to.
    table OutputMinMax {
        0 output_min: f32 = 0.0,
        1 output_max: f32 = 0.0,
    }

    /// A node: an operator, its values and its attributes.
    table XNode {
        0 xnode_union: @XNodeUnion,
        /// The number of the node in messages and profiles.
        2 debug_handle: u32 = 0,
        3 output_min_max: &OutputMinMax,
    }

    table XValue {
        0 xvalue_union: @XValueUnion,
    }

    /// A transposition.
    table XNNStaticTranspose {
        0 num_dims: u32 = 0,
        1 perm: [u32],
        2 input_id: u32 = 0,
        3 output_id: u32 = 0,
        4 flags: u32 = 0,
    }

    /// A bilinear resize of images.
    table XNNStaticResizeBilinear2D {
        0 new_height: u32 = 0,
        1 new_width: u32 = 0,
        2 input_id: u32 = 0,
        3 output_id: u32 = 0,
        4 flags: u32 = 0,
    }

    /// A padding with one number.
    table XNNStaticConstantPad {
        0 pre_paddings: [u32],
        1 post_paddings: [u32],
        2 padding_value: f32 = 0.0,
        3 input_id: u32 = 0,
        4 output_id: u32 = 0,
        5 flags: u32 = 0,
    }

    /// A node with two inputs and one output.
    table _XNNNode2x1 {
        0 input1_id: u32 = 0,
        1 input2_id: u32 = 0,
        2 output_id: u32 = 0,
        3 flags: u32 = 0,
    }

    /// A node with one input and one output.
    table _XNNNode1x1 {
        0 input_id: u32 = 0,
        1 output_id: u32 = 0,
        2 flags: u32 = 0,
    }

    /// A concatenation of two to five values.
    table _XNNCat {
        0 axis: u32 = 0,
        1 input1_id: u32 = 0,
        2 input2_id: u32 = 0,
        /// 2^32 − 1 for an unused input, as for the next ones.
        3 input3_id: u32 = 0,
        4 input4_id: u32 = 0,
        5 output_id: u32 = 0,
        6 flags: u32 = 0,
        7 input5_id: u32 = 0,
    }

    /// An exponential linear unit.
    table XNNELU {
        0 alpha: f32 = 0.0,
        1 input_id: u32 = 0,
        2 output_id: u32 = 0,
        3 flags: u32 = 0,
    }

    /// A linear layer.
    table XNNFullyConnected {
        0 input1_id: u32 = 0,
        1 filter_id: u32 = 0,
        /// 2^32 − 1 for none.
        2 bias_id: u32 = 0,
        3 output_id: u32 = 0,
        4 flags: u32 = 0,
    }

    /// A convolution.
    table _XNNNodeConv {
        0 padding_top: u32 = 0,
        1 padding_right: u32 = 0,
        2 padding_bottom: u32 = 0,
        3 padding_left: u32 = 0,
        4 kernel_height: u32 = 0,
        5 kernel_width: u32 = 0,
        6 subsampling_height: u32 = 0,
        7 subsampling_width: u32 = 0,
        8 dilation_height: u32 = 0,
        9 dilation_width: u32 = 0,
        10 group_input_channels: u32 = 0,
        11 group_output_channels: u32 = 0,
        12 groups: u32 = 0,
        13 adjustment_height: u32 = 0,
        14 adjustment_width: u32 = 0,
        15 input1_id: u32 = 0,
        16 filter_id: u32 = 0,
        /// 2^32 − 1 for none.
        17 bias_id: u32 = 0,
        18 output_id: u32 = 0,
        19 flags: u32 = 0,
    }

    /// A pooling of images.
    table _XNNPooling2D {
        0 padding_top: u32 = 0,
        1 padding_right: u32 = 0,
        2 padding_bottom: u32 = 0,
        3 padding_left: u32 = 0,
        4 pooling_height: u32 = 0,
        5 pooling_width: u32 = 0,
        6 stride_height: u32 = 0,
        7 stride_width: u32 = 0,
        8 dilation_height: u32 = 0,
        9 dilation_width: u32 = 0,
        10 input_id: u32 = 0,
        11 output_id: u32 = 0,
        12 flags: u32 = 0,
    }

    /// A reshape.
    table XNNStaticReshape {
        0 num_dims: u32 = 0,
        /// At most one size is 0: it is computed from the others.
        1 new_shape: [u32],
        2 input_id: u32 = 0,
        3 output_id: u32 = 0,
        4 flags: u32 = 0,
    }

    /// A slice.
    table XNNStaticSlice {
        0 num_dims: u32 = 0,
        1 offsets: [u32],
        2 sizes: [u32],
        3 input_id: u32 = 0,
        4 output_id: u32 = 0,
        5 flags: u32 = 0,
    }

    /// Attention. The runtime has no such node.
    table XNNScaledDotProductAttention {
        0 query_id: u32 = 0,
        1 key_id: u32 = 0,
        2 value_id: u32 = 0,
        3 scale_id: u32 = 0,
        4 mask_id: u32 = 0,
        5 output_id: u32 = 0,
        6 flags: u32 = 0,
    }

    /// A maximum pooling that also outputs indices.
    table XNNArgMaxPooling2d {
        0 padding_top: u32 = 0,
        1 padding_right: u32 = 0,
        2 padding_bottom: u32 = 0,
        3 padding_left: u32 = 0,
        4 pooling_height: u32 = 0,
        5 pooling_width: u32 = 0,
        6 input_id: u32 = 0,
        7 output_value_id: u32 = 0,
        8 output_index_id: u32 = 0,
        9 flags: u32 = 0,
    }

    /// A leaky rectified linear unit.
    table XNNLeakyReLU {
        0 negative_slope: f32 = 0.0,
        1 input_id: u32 = 0,
        2 output_id: u32 = 0,
        3 flags: u32 = 0,
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
        /// Always "0".
        0 version: &str,
        1 xnodes: [&XNode],
        2 xvalues: [&XValue],
        /// The number of arguments that the graph uses.
        3 num_externs: u32 = 0,
        /// The runtime ignores this field, and uses the flags of values.
        4 input_ids: [u32],
        /// The runtime ignores this field, and uses the flags of values.
        5 output_ids: [u32],
        /// Constants of a payload without a header. Index 0 is reserved.
        6 constant_buffer: [&Buffer],
        /// The runtime does not read it.
        7 mem_buffer_sizes: [u32],
        /// Constants behind the graph or in named data. Index 0 is reserved.
        8 constant_data: [&ConstantDataOffset],
    }
}
