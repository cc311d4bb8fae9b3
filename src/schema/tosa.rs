//! The schema of TOSA's graphs: `backends/arm/tosa/schemas/tosa_1.1.fbs`, and what the serializer of `tosa-tools`
//! 2026.8.0 adds to it, with which exporters write.
//!
//! TOSA 1.1 only adds to TOSA 1.0, so that graphs of both are read.

use pte_flat::schema;

/// Declares the schema. Each row of `operators` is a value of `Op`, and the member of `Attribute` with the same number.
macro_rules! with_operators {
    (
        operators { $( $number:tt $OP:ident $Attribute:ident, )* }
        enums { $( $enums:tt )* }
        tables { $( $tables:tt )* }
    ) => {
        schema! {
            views;
            root TosaGraph b"TOSA" "tosa" "tosa";

            enums:

            $( $enums )*

            /// The operators.
            enum Op: u32 {
                UNKNOWN = 0,
                $( $OP = $number, )*
            }

            unions:

            /// The attributes of an operator. Tags from 77 on are new in TOSA 1.1.
            union Attribute {
                $( $number $Attribute, )*
            }

            tables:

            $( $tables )*
        }
    };
}

with_operators! {
    operators {
        1 ARGMAX ArgMaxAttribute,
        2 AVG_POOL2D AvgPool2dAttribute,
        3 CONV2D Conv2dAttribute,
        4 CONV3D Conv3dAttribute,
        5 DEPTHWISE_CONV2D DepthwiseConv2dAttribute,
        6 FFT2D FFT2dAttribute,
        7 MATMUL MatMulAttribute,
        8 MAX_POOL2D MaxPool2dAttribute,
        9 RFFT2D RFFT2dAttribute,
        10 TRANSPOSE_CONV2D TransposeConv2dAttribute,
        11 CLAMP ClampAttribute,
        12 ERF ErfAttribute,
        13 SIGMOID SigmoidAttribute,
        14 TANH TanhAttribute,
        15 ADD AddAttribute,
        16 ARITHMETIC_RIGHT_SHIFT ArithmeticRightShiftAttribute,
        17 BITWISE_AND BitwiseAndAttribute,
        18 BITWISE_OR BitwiseOrAttribute,
        19 BITWISE_XOR BitwiseXorAttribute,
        20 INTDIV IntDivAttribute,
        21 LOGICAL_AND LogicalAndAttribute,
        22 LOGICAL_LEFT_SHIFT LogicalLeftShiftAttribute,
        23 LOGICAL_RIGHT_SHIFT LogicalRightShiftAttribute,
        24 LOGICAL_OR LogicalOrAttribute,
        25 LOGICAL_XOR LogicalXorAttribute,
        26 MAXIMUM MaximumAttribute,
        27 MINIMUM MinimumAttribute,
        28 MUL MulAttribute,
        29 POW PowAttribute,
        30 SUB SubAttribute,
        31 TABLE TableAttribute,
        32 ABS AbsAttribute,
        33 BITWISE_NOT BitwiseNotAttribute,
        34 CEIL CeilAttribute,
        35 CLZ ClzAttribute,
        36 COS CosAttribute,
        37 EXP ExpAttribute,
        38 FLOOR FloorAttribute,
        39 LOG LogAttribute,
        40 LOGICAL_NOT LogicalNotAttribute,
        41 NEGATE NegateAttribute,
        42 RECIPROCAL ReciprocalAttribute,
        43 RSQRT RsqrtAttribute,
        44 SIN SinAttribute,
        45 SELECT SelectAttribute,
        46 EQUAL EqualAttribute,
        47 GREATER GreaterAttribute,
        48 GREATER_EQUAL GreaterEqualAttribute,
        49 REDUCE_ALL ReduceAllAttribute,
        50 REDUCE_ANY ReduceAnyAttribute,
        51 REDUCE_MAX ReduceMaxAttribute,
        52 REDUCE_MIN ReduceMinAttribute,
        53 REDUCE_PRODUCT ReduceProductAttribute,
        54 REDUCE_SUM ReduceSumAttribute,
        55 CONCAT ConcatAttribute,
        56 PAD PadAttribute,
        57 RESHAPE ReshapeAttribute,
        58 REVERSE ReverseAttribute,
        59 SLICE SliceAttribute,
        60 TILE TileAttribute,
        61 TRANSPOSE TransposeAttribute,
        62 GATHER GatherAttribute,
        63 SCATTER ScatterAttribute,
        64 RESIZE ResizeAttribute,
        65 CAST CastAttribute,
        66 RESCALE RescaleAttribute,
        67 CONST ConstAttribute,
        68 IDENTITY IdentityAttribute,
        69 CUSTOM CustomAttribute,
        70 COND_IF CondIfAttribute,
        71 WHILE_LOOP WhileLoopAttribute,
        72 VARIABLE VariableAttribute,
        73 VARIABLE_WRITE VariableWriteAttribute,
        74 VARIABLE_READ VariableReadAttribute,
        75 CONST_SHAPE ConstShapeAttribute,
        76 MATMUL_T_BLOCK_SCALED MatMulTBlockScaledAttribute,
        77 CAST_FROM_BLOCK_SCALED CastFromBlockScaledAttribute,
        78 CAST_TO_BLOCK_SCALED CastToBlockScaledAttribute,
        79 DIM DimAttribute,
        80 CONCAT_SHAPE ConcatShapeAttribute,
        81 ADD_SHAPE AddShapeAttribute,
        82 SUB_SHAPE SubShapeAttribute,
        83 MUL_SHAPE MulShapeAttribute,
        84 SLICE_SHAPE SliceShapeAttribute,
        85 EXP2_SHAPE Exp2ShapeAttribute,
        86 LOG2_CEIL_SHAPE Log2CeilShapeAttribute,
        87 LOG2_FLOOR_SHAPE Log2FloorShapeAttribute,
        88 MAX_SHAPE MaxShapeAttribute,
        89 MIN_SHAPE MinShapeAttribute,
        90 MOD_SHAPE ModShapeAttribute,
        91 DIV_CEIL_SHAPE DivCeilShapeAttribute,
        92 DIV_FLOOR_SHAPE DivFloorShapeAttribute,
        93 ASSERT_EQUAL_SHAPE AssertEqualShapeAttribute,
        94 CONV2D_BLOCK_SCALED Conv2dBlockScaledAttribute,
        95 MAX_POOL2D_ADAPTIVE MaxPool2dAdaptiveAttribute,
        96 AVG_POOL2D_ADAPTIVE AvgPool2dAdaptiveAttribute,
        97 RESHAPE_BLOCK_SCALED ReshapeBlockScaledAttribute,
        98 ROW_GATHER_BLOCK_SCALED RowGatherBlockScaledAttribute,
        99 ROW_GATHER RowGatherAttribute,
        100 MATMUL_T MatMulTAttribute,
    }

    enums {
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
    }

    tables {
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
}
