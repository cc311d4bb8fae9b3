//! The schema of TOSA's graphs: `backends/arm/tosa/schemas/tosa_1.1.fbs`, and what the serializer of `tosa-tools`
//! 2026.8.0 adds to it, with which exporters write.
//!
//! TOSA 1.1 only adds to TOSA 1.0, so that graphs of both are read.

use pte_flat::schema;

schema! {
    root TosaGraph b"TOSA" "tosa" "tosa";

    enums:

    /// The datatypes of tensors.
    enum DType: u32 {
        UNKNOWN = 0,
        BOOL = 1,
        INT4 = 2,
        INT8 = 3,
        INT16 = 4,
        INT32 = 5,
        INT48 = 6,
        FP32 = 7,
        FP16 = 8,
        BF16 = 9,
        SHAPE = 10,
        FP8E4M3 = 11,
        FP8E5M2 = 12,
        FP6E2M3 = 13,
        FP6E3M2 = 14,
        FP4E2M1 = 15,
        FP8UE8M0 = 16,
        INT64 = 17,
        MXINT8 = 18,
    }

    /// How a resize interpolates.
    enum ResizeMode: u32 {
        UNKNOWN = 0,
        NEAREST = 1,
        BILINEAR = 2,
    }

    /// How NaN is propagated.
    enum NanPropagationMode: u32 {
        UNKNOWN = 0,
        PROPAGATE = 1,
        IGNORE = 2,
    }

    /// How a rescale rounds.
    enum RoundingMode: u32 {
        UNKNOWN = 0,
        SINGLE_ROUND = 1,
        INEXACT_ROUND = 2,
        DOUBLE_ROUND = 3,
    }

    /// The number of elements that share a scale.
    enum BlockSize: u32 {
        UNKNOWN = 0,
        BLOCK_SIZE_1 = 1,
        BLOCK_SIZE_32 = 32,
    }

    /// The shape of a block.
    enum BlockShape: u32 {
        UNKNOWN = 0,
        BLOCK_SHAPE_32 = 32,
    }

    /// The operators.
    enum Op: u32 {
        UNKNOWN = 0,
        ARGMAX = 1,
        AVG_POOL2D = 2,
        CONV2D = 3,
        CONV3D = 4,
        DEPTHWISE_CONV2D = 5,
        FFT2D = 6,
        MATMUL = 7,
        MAX_POOL2D = 8,
        RFFT2D = 9,
        TRANSPOSE_CONV2D = 10,
        CLAMP = 11,
        ERF = 12,
        SIGMOID = 13,
        TANH = 14,
        ADD = 15,
        ARITHMETIC_RIGHT_SHIFT = 16,
        BITWISE_AND = 17,
        BITWISE_OR = 18,
        BITWISE_XOR = 19,
        INTDIV = 20,
        LOGICAL_AND = 21,
        LOGICAL_LEFT_SHIFT = 22,
        LOGICAL_RIGHT_SHIFT = 23,
        LOGICAL_OR = 24,
        LOGICAL_XOR = 25,
        MAXIMUM = 26,
        MINIMUM = 27,
        MUL = 28,
        POW = 29,
        SUB = 30,
        TABLE = 31,
        ABS = 32,
        BITWISE_NOT = 33,
        CEIL = 34,
        CLZ = 35,
        COS = 36,
        EXP = 37,
        FLOOR = 38,
        LOG = 39,
        LOGICAL_NOT = 40,
        NEGATE = 41,
        RECIPROCAL = 42,
        RSQRT = 43,
        SIN = 44,
        SELECT = 45,
        EQUAL = 46,
        GREATER = 47,
        GREATER_EQUAL = 48,
        REDUCE_ALL = 49,
        REDUCE_ANY = 50,
        REDUCE_MAX = 51,
        REDUCE_MIN = 52,
        REDUCE_PRODUCT = 53,
        REDUCE_SUM = 54,
        CONCAT = 55,
        PAD = 56,
        RESHAPE = 57,
        REVERSE = 58,
        SLICE = 59,
        TILE = 60,
        TRANSPOSE = 61,
        GATHER = 62,
        SCATTER = 63,
        RESIZE = 64,
        CAST = 65,
        RESCALE = 66,
        CONST = 67,
        IDENTITY = 68,
        CUSTOM = 69,
        COND_IF = 70,
        WHILE_LOOP = 71,
        VARIABLE = 72,
        VARIABLE_WRITE = 73,
        VARIABLE_READ = 74,
        CONST_SHAPE = 75,
        MATMUL_T_BLOCK_SCALED = 76,
        CAST_FROM_BLOCK_SCALED = 77,
        CAST_TO_BLOCK_SCALED = 78,
        DIM = 79,
        CONCAT_SHAPE = 80,
        ADD_SHAPE = 81,
        SUB_SHAPE = 82,
        MUL_SHAPE = 83,
        SLICE_SHAPE = 84,
        EXP2_SHAPE = 85,
        LOG2_CEIL_SHAPE = 86,
        LOG2_FLOOR_SHAPE = 87,
        MAX_SHAPE = 88,
        MIN_SHAPE = 89,
        MOD_SHAPE = 90,
        DIV_CEIL_SHAPE = 91,
        DIV_FLOOR_SHAPE = 92,
        ASSERT_EQUAL_SHAPE = 93,
        CONV2D_BLOCK_SCALED = 94,
        MAX_POOL2D_ADAPTIVE = 95,
        AVG_POOL2D_ADAPTIVE = 96,
        RESHAPE_BLOCK_SCALED = 97,
        ROW_GATHER_BLOCK_SCALED = 98,
        ROW_GATHER = 99,
        MATMUL_T = 100,
    }

    unions:

    /// The attributes of an operator. Tags from 77 on are new in TOSA 1.1.
    union Attribute {
        1 ArgMaxAttribute,
        2 AvgPool2dAttribute,
        3 Conv2dAttribute,
        4 Conv3dAttribute,
        5 DepthwiseConv2dAttribute,
        6 FFT2dAttribute,
        7 MatMulAttribute,
        8 MaxPool2dAttribute,
        9 RFFT2dAttribute,
        10 TransposeConv2dAttribute,
        11 ClampAttribute,
        12 ErfAttribute,
        13 SigmoidAttribute,
        14 TanhAttribute,
        15 AddAttribute,
        16 ArithmeticRightShiftAttribute,
        17 BitwiseAndAttribute,
        18 BitwiseOrAttribute,
        19 BitwiseXorAttribute,
        20 IntDivAttribute,
        21 LogicalAndAttribute,
        22 LogicalLeftShiftAttribute,
        23 LogicalRightShiftAttribute,
        24 LogicalOrAttribute,
        25 LogicalXorAttribute,
        26 MaximumAttribute,
        27 MinimumAttribute,
        28 MulAttribute,
        29 PowAttribute,
        30 SubAttribute,
        31 TableAttribute,
        32 AbsAttribute,
        33 BitwiseNotAttribute,
        34 CeilAttribute,
        35 ClzAttribute,
        36 CosAttribute,
        37 ExpAttribute,
        38 FloorAttribute,
        39 LogAttribute,
        40 LogicalNotAttribute,
        41 NegateAttribute,
        42 ReciprocalAttribute,
        43 RsqrtAttribute,
        44 SinAttribute,
        45 SelectAttribute,
        46 EqualAttribute,
        47 GreaterAttribute,
        48 GreaterEqualAttribute,
        49 ReduceAllAttribute,
        50 ReduceAnyAttribute,
        51 ReduceMaxAttribute,
        52 ReduceMinAttribute,
        53 ReduceProductAttribute,
        54 ReduceSumAttribute,
        55 ConcatAttribute,
        56 PadAttribute,
        57 ReshapeAttribute,
        58 ReverseAttribute,
        59 SliceAttribute,
        60 TileAttribute,
        61 TransposeAttribute,
        62 GatherAttribute,
        63 ScatterAttribute,
        64 ResizeAttribute,
        65 CastAttribute,
        66 RescaleAttribute,
        67 ConstAttribute,
        68 IdentityAttribute,
        69 CustomAttribute,
        70 CondIfAttribute,
        71 WhileLoopAttribute,
        72 VariableAttribute,
        73 VariableWriteAttribute,
        74 VariableReadAttribute,
        75 ConstShapeAttribute,
        76 MatMulTBlockScaledAttribute,
        77 CastFromBlockScaledAttribute,
        78 CastToBlockScaledAttribute,
        79 DimAttribute,
        80 ConcatShapeAttribute,
        81 AddShapeAttribute,
        82 SubShapeAttribute,
        83 MulShapeAttribute,
        84 SliceShapeAttribute,
        85 Exp2ShapeAttribute,
        86 Log2CeilShapeAttribute,
        87 Log2FloorShapeAttribute,
        88 MaxShapeAttribute,
        89 MinShapeAttribute,
        90 ModShapeAttribute,
        91 DivCeilShapeAttribute,
        92 DivFloorShapeAttribute,
        93 AssertEqualShapeAttribute,
        94 Conv2dBlockScaledAttribute,
        95 MaxPool2dAdaptiveAttribute,
        96 AvgPool2dAdaptiveAttribute,
        97 ReshapeBlockScaledAttribute,
        98 RowGatherBlockScaledAttribute,
        99 RowGatherAttribute,
        100 MatMulTAttribute,
    }

    tables:

    table ArgMaxAttribute {
        0 axis: i32 = 0,
        1 nan_mode: NanPropagationMode = NanPropagationMode::UNKNOWN,
    } also ReduceMaxAttribute, ReduceMinAttribute;

    table AvgPool2dAttribute {
        0 kernel: [i32],
        1 stride: [i32],
        2 pad: [i32],
        3 acc_type: DType = DType::UNKNOWN,
    }

    table AvgPool2dAdaptiveAttribute {
        0 acc_type: DType = DType::UNKNOWN,
    }

    table Conv2dAttribute {
        0 pad: [i32],
        1 stride: [i32],
        2 dilation: [i32],
        3 local_bound: bool = false,
        4 acc_type: DType = DType::UNKNOWN,
    } also Conv3dAttribute, DepthwiseConv2dAttribute;

    table FFT2dAttribute {
        0 inverse: bool = false,
        1 local_bound: bool = false,
    }

    table MatMulAttribute {} also ErfAttribute, SigmoidAttribute, TanhAttribute, AddAttribute,
        BitwiseAndAttribute, BitwiseOrAttribute, BitwiseXorAttribute, IntDivAttribute,
        LogicalAndAttribute, LogicalLeftShiftAttribute, LogicalRightShiftAttribute,
        LogicalOrAttribute, LogicalXorAttribute, MulAttribute, PowAttribute, SubAttribute,
        TableAttribute, AbsAttribute, BitwiseNotAttribute, CeilAttribute, ClzAttribute,
        CosAttribute, ExpAttribute, FloorAttribute, LogAttribute, LogicalNotAttribute,
        NegateAttribute, ReciprocalAttribute, RsqrtAttribute, SinAttribute, SelectAttribute,
        EqualAttribute, GreaterAttribute, GreaterEqualAttribute, PadAttribute, ReshapeAttribute,
        SliceAttribute, TileAttribute, GatherAttribute, ScatterAttribute, CastAttribute,
        ConstAttribute, IdentityAttribute, VariableAttribute, VariableWriteAttribute,
        VariableReadAttribute, ConstShapeAttribute, RowGatherAttribute, MatMulTAttribute,
        ConcatShapeAttribute, AddShapeAttribute, SubShapeAttribute, MulShapeAttribute,
        SliceShapeAttribute, Exp2ShapeAttribute, Log2CeilShapeAttribute, Log2FloorShapeAttribute,
        MaxShapeAttribute, MinShapeAttribute, ModShapeAttribute, DivCeilShapeAttribute,
        DivFloorShapeAttribute;

    table MaxPool2dAttribute {
        0 kernel: [i32],
        1 stride: [i32],
        2 pad: [i32],
        3 nan_mode: NanPropagationMode = NanPropagationMode::UNKNOWN,
    }

    table MaxPool2dAdaptiveAttribute {
        0 nan_mode: NanPropagationMode = NanPropagationMode::UNKNOWN,
    } also MaximumAttribute, MinimumAttribute;

    table RFFT2dAttribute {
        0 local_bound: bool = false,
    }

    table TransposeConv2dAttribute {
        0 out_pad: [i32],
        1 stride: [i32],
        2 local_bound: bool = false,
        3 acc_type: DType = DType::UNKNOWN,
    }

    table ClampAttribute {
        0 min_val: [u8 align 8],
        1 max_val: [u8 align 8],
        2 nan_mode: NanPropagationMode = NanPropagationMode::UNKNOWN,
    }

    table ArithmeticRightShiftAttribute {
        0 round: bool = false,
    }

    table ReduceAllAttribute {
        0 axis: i32 = 0,
    } also ReduceAnyAttribute, ReduceProductAttribute, ReduceSumAttribute, ConcatAttribute,
        ReverseAttribute, DimAttribute;

    table TransposeAttribute {
        0 perms: [i32],
    }

    table ResizeAttribute {
        0 mode: ResizeMode = ResizeMode::UNKNOWN,
    }

    table RescaleAttribute {
        0 scale32: bool = false,
        1 rounding_mode: RoundingMode = RoundingMode::UNKNOWN,
        2 per_channel: bool = false,
        3 input_unsigned: bool = false,
        4 output_unsigned: bool = false,
    }

    table CustomAttribute {
        0 operator_name: &str,
        1 domain_name: &str,
        2 implementation_attrs: [u8],
    }

    table CondIfAttribute {
        0 then_graph: &str,
        1 else_graph: &str,
    }

    table WhileLoopAttribute {
        0 cond_graph: &str,
        1 body_graph: &str,
    }

    table MatMulTBlockScaledAttribute {
        0 block_size: BlockSize = BlockSize::UNKNOWN,
    } also CastFromBlockScaledAttribute, CastToBlockScaledAttribute, Conv2dBlockScaledAttribute,
        ReshapeBlockScaledAttribute, RowGatherBlockScaledAttribute;

    /// What a reader needs to know.
    table SerializationCompatibility {
        /// The oldest library that reads the file.
        0 min_reader_version: &SoftwareVersion,
        /// A bit for each feature.
        1 features: u64 = 0,
    }

    /// The version of the serialization library, since TOSA 1.1.
    table SoftwareVersion {
        0 _major: i32 = -1,
        1 _minor: i32 = -1,
        2 _micro: i32 = -1,
        3 _modifier: &str,
    }

    table AssertEqualShapeAttribute {
        0 allow_broadcast: bool = false,
    }

    /// The version of TOSA.
    table Version {
        0 _major: i32 = -1,
        1 _minor: i32 = -1,
        2 _patch: i32 = -1,
        3 _draft: bool = true,
    }

    table TosaTensor {
        0 name: &str,
        /// The size of each dimension, outermost first.
        1 shape: [i32],
        2 r#type: DType = DType::UNKNOWN,
        /// The elements of a constant.
        3 data: [u8 align 8],
        4 variable: bool = false,
        5 is_unranked: bool = false,
        /// The name of the variable, if the tensor is one.
        6 variable_name: &str,
        /// The offset of the data in a file of more than 2 GB. Values up to 1 are ignored.
        7 offset: u64 = 0,
        8 size: u64 = 0,
        // The offset and the size of the scales in a large file, slots 12 and 13, are not declared.
        /// The datatype of the scales of blocks.
        9 scale_type: DType = DType::UNKNOWN,
        10 scale_data: [u8 align 8],
        11 block_shape: BlockShape = BlockShape::UNKNOWN,
    }

    /// A shape: a value of an operator.
    table TosaShape {
        0 name: &str,
        1 rank: u32 = 0,
        /// The sizes of a constant shape, as 64-bit numbers.
        2 data: [u8 align 8],
    }

    /// Where an operator comes from.
    table OpLocation {
        0 text: &str,
    }

    /// An operator with its operands.
    table TosaOperator {
        0 op: Op = Op::UNKNOWN,
        1 attribute: @Attribute,
        /// The names of tensors and shapes.
        3 inputs: [&str],
        4 outputs: [&str],
        5 location: &OpLocation,
    }

    /// Operators that run in order, and their values.
    table TosaBasicBlock {
        /// Unique in its region.
        0 name: &str,
        1 operators: [&TosaOperator],
        2 tensors: [&TosaTensor],
        /// The names of tensors.
        3 inputs: [&str],
        4 outputs: [&str],
        5 shapes: [&TosaShape],
    }

    /// A list of blocks.
    table TosaRegion {
        0 name: &str,
        1 blocks: [&TosaBasicBlock],
    }

    /// The root table of a payload.
    table TosaGraph {
        0 version: &Version (required),
        1 regions: [&TosaRegion],
        /// Since TOSA 1.1.
        2 software_version: &SoftwareVersion,
        3 compatibility: &SerializationCompatibility,
    }
}
