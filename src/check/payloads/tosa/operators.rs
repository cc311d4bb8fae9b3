//! The operators of TOSA, by the tables of the specification.

use pte_schema::tosa::{DType, Op};

/// What the specification says of an operator.
#[derive(Clone, Copy)]
pub(in crate::payloads) struct Form {
    pub(super) op: Op,
    /// The fewest and the most inputs.
    pub(super) inputs: (u16, u16),
    /// The fewest and the most outputs.
    pub(super) outputs: (u16, u16),
    pub(super) types: &'static Types,
    pub(super) shapes: Shapes,
}

/// The datatypes of an operator's operands: inputs by their index, and [`OUT`].
pub(super) struct Types {
    /// Operands that have one datatype.
    pub(super) same: &'static [&'static [u8]],
    /// The datatypes that operands may have.
    pub(super) among: &'static [(u8, &'static [DType])],
    /// The inputs of one dimension.
    pub(super) flat: &'static [u8],
    /// The inputs that are zero points: 0 unless they are INT8.
    pub(super) zeros: &'static [u8],
}

/// The first output.
pub(super) const OUT: u8 = u8::MAX;

/// The shapes of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shapes {
    /// Not judged.
    Any,
    /// The output has the shape of the first input.
    Same,
    /// All inputs and the output have one shape.
    Equal,
    /// The output has as many elements as the first input.
    Elements,
    /// The first inputs, of this number, are broadcast to the output.
    Broadcast(u8),
    /// An axis becomes 1.
    Reduce,
    /// An axis is dropped.
    ArgMax,
    /// Inputs are joined along an axis.
    Concat,
    /// The output has the sizes that the last input has as numbers.
    Reshape,
    /// Axes are put in another order.
    Transpose,
    /// Matrices are multiplied.
    Matmul,
    /// Matrices are multiplied, of which the second, the input with this index, is transposed.
    MatmulTransposed(u8),
    /// A convolution.
    Conv,
    /// A convolution whose scales, pads, strides and dilations are inputs.
    ScaledConv,
    /// A convolution of each channel.
    Depthwise,
    /// A transposed convolution.
    TransposedConv,
    /// A window moves over rows and columns.
    Pool,
    /// A window whose kernel, strides and pads are inputs from this one on.
    AdaptivePool(u8),
    /// Elements are added before and after each axis.
    Pad,
    /// A part of each axis.
    Slice,
    /// Each axis is repeated.
    Tile,
    /// Rows and columns are interpolated.
    Resize,
    /// Rows are read by their index.
    Gather,
    /// Rows and columns of complex numbers, a power of two each.
    Fourier,
    /// As [`Fourier`](Self::Fourier), of real numbers: half of the columns, and one more.
    RealFourier,
    /// A graph is run if the first input, of one element, is true.
    If,
    /// A graph is run again and again: the outputs are as the inputs.
    Loop,
}

impl Form {
    /// Returns the form of an operator; `None` if the specification does not have it.
    pub(in crate::payloads) fn of(op: Op) -> Option<&'static Self> {
        FORMS.iter().find(|form| form.op == op)
    }

    /// Returns whether the input `nth` must be a constant.
    pub(in crate::payloads) fn has_constant(&self, nth: u8) -> bool {
        let is_parameter = match self.op {
            Op::PAD | Op::RESCALE | Op::RESHAPE | Op::RESIZE | Op::SLICE | Op::TABLE | Op::TILE => {
                nth > 0
            }
            Op::MUL => nth == 2,
            _ => false,
        };
        is_parameter || self.types.zeros.contains(&nth)
    }
}

const fn types(same: &'static [&'static [u8]]) -> Types {
    Types { same, among: &[], flat: &[], zeros: &[] }
}

const fn row(op: Op, inputs: u16, types: &'static Types, shapes: Shapes) -> Form {
    Form { op, inputs: (inputs, inputs), outputs: (1, 1), types, shapes }
}

const fn any(op: Op) -> Form {
    Form { op, inputs: (0, u16::MAX), outputs: (0, u16::MAX), types: &ANY, shapes: Shapes::Any }
}

/// An operator on shapes, with as many numbers in each.
const fn on_shapes(op: Op, inputs: u16) -> Form {
    row(op, inputs, &SHAPE, Shapes::Equal)
}

const FLOATS: &[DType] = &[DType::FP32, DType::FP16, DType::BF16];
const INTEGERS: &[DType] = &[DType::INT8, DType::INT16, DType::INT32, DType::INT64];
const WIDE: &[DType] = &[DType::FP32, DType::FP16, DType::BF16, DType::INT32, DType::INT64];
const NARROW: &[DType] = &[DType::FP32, DType::FP16, DType::BF16, DType::INT8, DType::INT16];
const BOOLS: &[DType] = &[DType::BOOL];
const BYTES: &[DType] = &[DType::INT8];
const SINGLES: &[DType] = &[DType::FP32];
const SHAPES: &[DType] = &[DType::SHAPE];
/// Of indices, and of integers that have no narrow form.
const INDICES: &[DType] = &[DType::INT32, DType::INT64];

/// All operands have one datatype, which is one of these.
const fn all(among: &'static [(u8, &'static [DType])]) -> Types {
    Types { among, ..types(&[&[0, 1, OUT]]) }
}

static ANY: Types = types(&[]);
static SAME: Types = all(&[]);
static FLOAT: Types = all(&[(0, FLOATS)]);
static INTEGER: Types = all(&[(0, INTEGERS)]);
static NUMBER: Types = all(&[(0, WIDE)]);
static BOOL: Types = all(&[(0, BOOLS)]);
static INTDIV: Types = all(&[(0, INDICES)]);
static FIRST: Types = types(&[&[0, OUT]]);
static CLAMP: Types = Types { among: &[(0, NARROW)], ..types(&[&[0, OUT]]) };
static COMPARE: Types = Types { among: &[(0, WIDE), (OUT, BOOLS)], ..types(&[&[0, 1]]) };
static SELECT: Types = Types { among: &[(0, BOOLS)], ..types(&[&[1, 2, OUT]]) };
static MUL: Types = Types { flat: &[2], among: &[(2, BYTES)], ..types(&[&[0, 1]]) };
static CONV: Types =
    Types { flat: &[2, 3, 4], zeros: &[3, 4], ..types(&[&[0, 3], &[1, 4], &[2, OUT]]) };
static MATMUL: Types = Types { flat: &[2, 3], zeros: &[2, 3], ..types(&[&[0, 2], &[1, 3]]) };
static ZERO_POINTS: Types = Types { flat: &[1, 2], zeros: &[1, 2], ..types(&[&[0, 1], &[2, OUT]]) };
static PAD: Types = Types { flat: &[2], ..types(&[&[0, 2, OUT]]) };
static RESCALE: Types =
    Types { among: &[(2, BYTES)], zeros: &[3, 4], ..types(&[&[0, 3], &[4, OUT]]) };
static TABLE: Types = types(&[&[0, 1]]);
static ARGMAX: Types = Types { among: &[(OUT, INDICES)], ..types(&[]) };
static GATHER: Types = Types { among: &[(1, INDICES)], ..types(&[&[0, OUT]]) };
static SCATTER: Types = Types { among: &[(1, INDICES)], ..types(&[&[0, 2, OUT]]) };
static ROW_GATHER: Types =
    Types { among: &[(1, INDICES), (2, &[DType::INT32])], ..types(&[&[0, OUT]]) };
static FOURIER: Types = all(&[(0, SINGLES)]);
static IF: Types = Types { among: &[(0, BOOLS)], ..types(&[]) };
static SHAPE: Types = all(&[(0, SHAPES)]);
static DIM: Types = Types { among: &[(OUT, SHAPES)], ..types(&[]) };
static SLICE_SHAPE: Types = Types { among: &[(0, SHAPES)], flat: &[1, 2], ..types(&[&[0, OUT]]) };
static MAX_POOL: Types =
    Types { among: &[(1, SHAPES), (2, SHAPES), (3, SHAPES)], ..types(&[&[0, OUT]]) };
static AVG_POOL: Types = Types {
    among: &[(3, SHAPES), (4, SHAPES), (5, SHAPES)],
    flat: &[1, 2],
    zeros: &[1, 2],
    ..types(&[&[0, 1], &[2, OUT]])
};
static SCALED_CONV: Types =
    Types { among: &[(5, SHAPES), (6, SHAPES), (7, SHAPES)], ..types(&[&[4, OUT]]) };

#[rustfmt::skip]
static FORMS: &[Form] = &[
    row(Op::ARGMAX, 1, &ARGMAX, Shapes::ArgMax),
    row(Op::AVG_POOL2D, 3, &ZERO_POINTS, Shapes::Pool),
    row(Op::CONV2D, 5, &CONV, Shapes::Conv),
    row(Op::CONV3D, 5, &CONV, Shapes::Conv),
    row(Op::DEPTHWISE_CONV2D, 5, &CONV, Shapes::Depthwise),
    Form { outputs: (2, 2), ..row(Op::FFT2D, 2, &FOURIER, Shapes::Fourier) },
    row(Op::MATMUL, 4, &MATMUL, Shapes::Matmul),
    row(Op::MAX_POOL2D, 1, &FIRST, Shapes::Pool),
    Form { outputs: (2, 2), ..row(Op::RFFT2D, 1, &FOURIER, Shapes::RealFourier) },
    row(Op::TRANSPOSE_CONV2D, 5, &CONV, Shapes::TransposedConv),
    row(Op::CLAMP, 1, &CLAMP, Shapes::Same),
    row(Op::ERF, 1, &FLOAT, Shapes::Same),
    row(Op::SIGMOID, 1, &FLOAT, Shapes::Same),
    row(Op::TANH, 1, &FLOAT, Shapes::Same),
    row(Op::ADD, 2, &NUMBER, Shapes::Broadcast(2)),
    row(Op::ARITHMETIC_RIGHT_SHIFT, 2, &INTEGER, Shapes::Broadcast(2)),
    row(Op::BITWISE_AND, 2, &INTEGER, Shapes::Broadcast(2)),
    row(Op::BITWISE_OR, 2, &INTEGER, Shapes::Broadcast(2)),
    row(Op::BITWISE_XOR, 2, &INTEGER, Shapes::Broadcast(2)),
    row(Op::INTDIV, 2, &INTDIV, Shapes::Broadcast(2)),
    row(Op::LOGICAL_AND, 2, &BOOL, Shapes::Broadcast(2)),
    row(Op::LOGICAL_LEFT_SHIFT, 2, &INTEGER, Shapes::Broadcast(2)),
    row(Op::LOGICAL_RIGHT_SHIFT, 2, &INTEGER, Shapes::Broadcast(2)),
    row(Op::LOGICAL_OR, 2, &BOOL, Shapes::Broadcast(2)),
    row(Op::LOGICAL_XOR, 2, &BOOL, Shapes::Broadcast(2)),
    row(Op::MAXIMUM, 2, &NUMBER, Shapes::Broadcast(2)),
    row(Op::MINIMUM, 2, &NUMBER, Shapes::Broadcast(2)),
    row(Op::MUL, 3, &MUL, Shapes::Broadcast(2)),
    row(Op::POW, 2, &FLOAT, Shapes::Broadcast(2)),
    row(Op::SUB, 2, &NUMBER, Shapes::Broadcast(2)),
    row(Op::TABLE, 2, &TABLE, Shapes::Elements),
    row(Op::ABS, 1, &NUMBER, Shapes::Same),
    row(Op::BITWISE_NOT, 1, &INTEGER, Shapes::Same),
    row(Op::CEIL, 1, &FLOAT, Shapes::Same),
    row(Op::CLZ, 1, &INTDIV, Shapes::Same),
    row(Op::COS, 1, &FLOAT, Shapes::Same),
    row(Op::EXP, 1, &FLOAT, Shapes::Same),
    row(Op::FLOOR, 1, &FLOAT, Shapes::Same),
    row(Op::LOG, 1, &FLOAT, Shapes::Same),
    row(Op::LOGICAL_NOT, 1, &BOOL, Shapes::Same),
    row(Op::NEGATE, 3, &ZERO_POINTS, Shapes::Same),
    row(Op::RECIPROCAL, 1, &FLOAT, Shapes::Same),
    row(Op::RSQRT, 1, &FLOAT, Shapes::Same),
    row(Op::SIN, 1, &FLOAT, Shapes::Same),
    row(Op::SELECT, 3, &SELECT, Shapes::Broadcast(3)),
    row(Op::EQUAL, 2, &COMPARE, Shapes::Broadcast(2)),
    row(Op::GREATER, 2, &COMPARE, Shapes::Broadcast(2)),
    row(Op::GREATER_EQUAL, 2, &COMPARE, Shapes::Broadcast(2)),
    row(Op::REDUCE_ALL, 1, &BOOL, Shapes::Reduce),
    row(Op::REDUCE_ANY, 1, &BOOL, Shapes::Reduce),
    row(Op::REDUCE_MAX, 1, &FIRST, Shapes::Reduce),
    row(Op::REDUCE_MIN, 1, &FIRST, Shapes::Reduce),
    row(Op::REDUCE_PRODUCT, 1, &FLOAT, Shapes::Reduce),
    row(Op::REDUCE_SUM, 1, &NUMBER, Shapes::Reduce),
    Form { inputs: (1, u16::MAX), ..row(Op::CONCAT, 1, &SAME, Shapes::Concat) },
    row(Op::PAD, 3, &PAD, Shapes::Pad),
    row(Op::RESHAPE, 2, &FIRST, Shapes::Reshape),
    row(Op::REVERSE, 1, &FIRST, Shapes::Same),
    row(Op::SLICE, 3, &FIRST, Shapes::Slice),
    row(Op::TILE, 2, &FIRST, Shapes::Tile),
    row(Op::TRANSPOSE, 1, &FIRST, Shapes::Transpose),
    row(Op::GATHER, 2, &GATHER, Shapes::Gather),
    row(Op::SCATTER, 3, &SCATTER, Shapes::Same),
    row(Op::RESIZE, 4, &ANY, Shapes::Resize),
    row(Op::CAST, 1, &ANY, Shapes::Same),
    row(Op::RESCALE, 5, &RESCALE, Shapes::Same),
    row(Op::CONST, 0, &ANY, Shapes::Any),
    row(Op::IDENTITY, 1, &FIRST, Shapes::Same),
    any(Op::CUSTOM),
    Form { types: &IF, inputs: (1, u16::MAX), shapes: Shapes::If, ..any(Op::COND_IF) },
    Form { shapes: Shapes::Loop, ..any(Op::WHILE_LOOP) },
    any(Op::VARIABLE),
    any(Op::VARIABLE_WRITE),
    any(Op::VARIABLE_READ),
    row(Op::CONST_SHAPE, 0, &ANY, Shapes::Any),
    row(Op::MATMUL_T_BLOCK_SCALED, 4, &ANY, Shapes::MatmulTransposed(2)),
    row(Op::CAST_FROM_BLOCK_SCALED, 2, &ANY, Shapes::Same),
    Form { outputs: (1, 2), ..row(Op::CAST_TO_BLOCK_SCALED, 1, &ANY, Shapes::Same) },
    row(Op::DIM, 1, &DIM, Shapes::Any),
    Form { inputs: (1, u16::MAX), ..row(Op::CONCAT_SHAPE, 1, &SHAPE, Shapes::Concat) },
    on_shapes(Op::ADD_SHAPE, 2),
    on_shapes(Op::SUB_SHAPE, 2),
    on_shapes(Op::MUL_SHAPE, 2),
    row(Op::SLICE_SHAPE, 3, &SLICE_SHAPE, Shapes::Any),
    on_shapes(Op::EXP2_SHAPE, 1),
    on_shapes(Op::LOG2_CEIL_SHAPE, 1),
    on_shapes(Op::LOG2_FLOOR_SHAPE, 1),
    on_shapes(Op::MAX_SHAPE, 2),
    on_shapes(Op::MIN_SHAPE, 2),
    on_shapes(Op::MOD_SHAPE, 2),
    on_shapes(Op::DIV_CEIL_SHAPE, 2),
    on_shapes(Op::DIV_FLOOR_SHAPE, 2),
    Form { outputs: (0, 0), ..on_shapes(Op::ASSERT_EQUAL_SHAPE, 2) },
    row(Op::CONV2D_BLOCK_SCALED, 8, &SCALED_CONV, Shapes::ScaledConv),
    row(Op::MAX_POOL2D_ADAPTIVE, 4, &MAX_POOL, Shapes::AdaptivePool(1)),
    row(Op::AVG_POOL2D_ADAPTIVE, 6, &AVG_POOL, Shapes::AdaptivePool(3)),
    Form { inputs: (2, 3), outputs: (1, 2), ..row(Op::RESHAPE_BLOCK_SCALED, 2, &FIRST, Shapes::Reshape) },
    Form { inputs: (3, 4), outputs: (1, 2), ..row(Op::ROW_GATHER_BLOCK_SCALED, 3, &FIRST, Shapes::Any) },
    row(Op::ROW_GATHER, 3, &ROW_GATHER, Shapes::Any),
    row(Op::MATMUL_T, 4, &MATMUL, Shapes::MatmulTransposed(1)),
];
