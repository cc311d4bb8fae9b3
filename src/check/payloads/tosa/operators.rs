//! The operators of TOSA, by the tables of the specification.

use pte_schema::tosa::Op;

/// The datatypes of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Types {
    /// Not judged.
    Any,
    /// That of the inputs is that of the output.
    Same,
    /// As [`Same`](Self::Same), of floating-point numbers.
    Float,
    /// As [`Same`](Self::Same), of booleans.
    Bool,
    /// The inputs have one datatype.
    Inputs,
    /// The inputs have one datatype, and the output has booleans.
    Compare,
}

/// The shapes of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shapes {
    /// Not judged.
    Any,
    /// The output has the shape of the first input.
    Same,
    /// So many inputs are broadcast to the output.
    Broadcast(usize),
    /// An axis becomes 1.
    Reduce,
    /// Inputs are joined along an axis.
    Concat,
    /// The number of elements stays.
    Reshape,
    /// Axes are put in another order.
    Transpose,
    /// Matrices are multiplied.
    Matmul,
    /// A two-dimensional convolution.
    Conv2d,
}

/// What the specification says of an operator.
#[derive(Clone, Copy)]
pub(super) struct Form {
    op: Op,
    /// The fewest and the most inputs.
    pub(super) inputs: (u16, u16),
    /// The fewest and the most outputs.
    pub(super) outputs: (u16, u16),
    pub(super) types: Types,
    pub(super) shapes: Shapes,
}

impl Form {
    /// Returns the form of an operator; `None` if the specification does not have it.
    pub(super) fn of(op: Op) -> Option<&'static Self> {
        FORMS.iter().find(|form| form.op == op)
    }

    /// Returns whether datatypes or shapes are judged.
    pub(super) fn has_shapes(&self) -> bool {
        self.types != Types::Any || self.shapes != Shapes::Any
    }
}

const fn row(op: Op, inputs: u16, types: Types, shapes: Shapes) -> Form {
    Form { op, inputs: (inputs, inputs), outputs: (1, 1), types, shapes }
}

const fn counts(op: Op, inputs: (u16, u16), outputs: (u16, u16)) -> Form {
    Form { op, inputs, outputs, types: Types::Any, shapes: Shapes::Any }
}

/// Any number of inputs or outputs.
const MANY: (u16, u16) = (0, u16::MAX);

#[rustfmt::skip]
static FORMS: &[Form] = &[
    row(Op::ARGMAX, 1, Types::Any, Shapes::Any),
    row(Op::AVG_POOL2D, 3, Types::Any, Shapes::Any),
    row(Op::CONV2D, 5, Types::Any, Shapes::Conv2d),
    row(Op::CONV3D, 5, Types::Any, Shapes::Any),
    row(Op::DEPTHWISE_CONV2D, 5, Types::Any, Shapes::Any),
    counts(Op::FFT2D, (2, 2), (2, 2)),
    row(Op::MATMUL, 4, Types::Any, Shapes::Matmul),
    row(Op::MAX_POOL2D, 1, Types::Same, Shapes::Any),
    counts(Op::RFFT2D, (1, 1), (2, 2)),
    row(Op::TRANSPOSE_CONV2D, 5, Types::Any, Shapes::Any),
    row(Op::CLAMP, 1, Types::Same, Shapes::Same),
    row(Op::ERF, 1, Types::Float, Shapes::Same),
    row(Op::SIGMOID, 1, Types::Float, Shapes::Same),
    row(Op::TANH, 1, Types::Float, Shapes::Same),
    row(Op::ADD, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::ARITHMETIC_RIGHT_SHIFT, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::BITWISE_AND, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::BITWISE_OR, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::BITWISE_XOR, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::INTDIV, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::LOGICAL_AND, 2, Types::Bool, Shapes::Broadcast(2)),
    row(Op::LOGICAL_LEFT_SHIFT, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::LOGICAL_RIGHT_SHIFT, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::LOGICAL_OR, 2, Types::Bool, Shapes::Broadcast(2)),
    row(Op::LOGICAL_XOR, 2, Types::Bool, Shapes::Broadcast(2)),
    row(Op::MAXIMUM, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::MINIMUM, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::MUL, 3, Types::Inputs, Shapes::Broadcast(2)),
    row(Op::POW, 2, Types::Float, Shapes::Broadcast(2)),
    row(Op::SUB, 2, Types::Same, Shapes::Broadcast(2)),
    row(Op::TABLE, 2, Types::Any, Shapes::Same),
    row(Op::ABS, 1, Types::Same, Shapes::Same),
    row(Op::BITWISE_NOT, 1, Types::Same, Shapes::Same),
    row(Op::CEIL, 1, Types::Float, Shapes::Same),
    row(Op::CLZ, 1, Types::Same, Shapes::Same),
    row(Op::COS, 1, Types::Float, Shapes::Same),
    row(Op::EXP, 1, Types::Float, Shapes::Same),
    row(Op::FLOOR, 1, Types::Float, Shapes::Same),
    row(Op::LOG, 1, Types::Float, Shapes::Same),
    row(Op::LOGICAL_NOT, 1, Types::Bool, Shapes::Same),
    row(Op::NEGATE, 3, Types::Any, Shapes::Same),
    row(Op::RECIPROCAL, 1, Types::Float, Shapes::Same),
    row(Op::RSQRT, 1, Types::Float, Shapes::Same),
    row(Op::SIN, 1, Types::Float, Shapes::Same),
    row(Op::SELECT, 3, Types::Any, Shapes::Broadcast(3)),
    row(Op::EQUAL, 2, Types::Compare, Shapes::Broadcast(2)),
    row(Op::GREATER, 2, Types::Compare, Shapes::Broadcast(2)),
    row(Op::GREATER_EQUAL, 2, Types::Compare, Shapes::Broadcast(2)),
    row(Op::REDUCE_ALL, 1, Types::Bool, Shapes::Reduce),
    row(Op::REDUCE_ANY, 1, Types::Bool, Shapes::Reduce),
    row(Op::REDUCE_MAX, 1, Types::Same, Shapes::Reduce),
    row(Op::REDUCE_MIN, 1, Types::Same, Shapes::Reduce),
    row(Op::REDUCE_PRODUCT, 1, Types::Same, Shapes::Reduce),
    row(Op::REDUCE_SUM, 1, Types::Same, Shapes::Reduce),
    Form { inputs: (1, u16::MAX), ..row(Op::CONCAT, 1, Types::Same, Shapes::Concat) },
    row(Op::PAD, 3, Types::Any, Shapes::Any),
    row(Op::RESHAPE, 2, Types::Any, Shapes::Reshape),
    row(Op::REVERSE, 1, Types::Same, Shapes::Same),
    row(Op::SLICE, 3, Types::Any, Shapes::Any),
    row(Op::TILE, 2, Types::Any, Shapes::Any),
    row(Op::TRANSPOSE, 1, Types::Same, Shapes::Transpose),
    row(Op::GATHER, 2, Types::Any, Shapes::Any),
    row(Op::SCATTER, 3, Types::Any, Shapes::Any),
    row(Op::RESIZE, 4, Types::Any, Shapes::Any),
    row(Op::CAST, 1, Types::Any, Shapes::Same),
    row(Op::RESCALE, 5, Types::Any, Shapes::Same),
    row(Op::CONST, 0, Types::Any, Shapes::Any),
    row(Op::IDENTITY, 1, Types::Same, Shapes::Same),
    counts(Op::CUSTOM, MANY, MANY),
    counts(Op::COND_IF, MANY, MANY),
    counts(Op::WHILE_LOOP, MANY, MANY),
    counts(Op::VARIABLE, MANY, MANY),
    counts(Op::VARIABLE_WRITE, MANY, MANY),
    counts(Op::VARIABLE_READ, MANY, MANY),
    row(Op::CONST_SHAPE, 0, Types::Any, Shapes::Any),
    // TOSA 1.1 is a draft: the numbers of operands may change.
    counts(Op::MATMUL_T_BLOCK_SCALED, MANY, MANY),
    counts(Op::CAST_FROM_BLOCK_SCALED, MANY, MANY),
    counts(Op::CAST_TO_BLOCK_SCALED, MANY, MANY),
    counts(Op::DIM, MANY, MANY),
    counts(Op::CONCAT_SHAPE, MANY, MANY),
    counts(Op::ADD_SHAPE, MANY, MANY),
    counts(Op::SUB_SHAPE, MANY, MANY),
    counts(Op::MUL_SHAPE, MANY, MANY),
    counts(Op::SLICE_SHAPE, MANY, MANY),
    counts(Op::EXP2_SHAPE, MANY, MANY),
    counts(Op::LOG2_CEIL_SHAPE, MANY, MANY),
    counts(Op::LOG2_FLOOR_SHAPE, MANY, MANY),
    counts(Op::MAX_SHAPE, MANY, MANY),
    counts(Op::MIN_SHAPE, MANY, MANY),
    counts(Op::MOD_SHAPE, MANY, MANY),
    counts(Op::DIV_CEIL_SHAPE, MANY, MANY),
    counts(Op::DIV_FLOOR_SHAPE, MANY, MANY),
    counts(Op::ASSERT_EQUAL_SHAPE, MANY, MANY),
    counts(Op::CONV2D_BLOCK_SCALED, MANY, MANY),
    counts(Op::MAX_POOL2D_ADAPTIVE, MANY, MANY),
    counts(Op::AVG_POOL2D_ADAPTIVE, MANY, MANY),
];
