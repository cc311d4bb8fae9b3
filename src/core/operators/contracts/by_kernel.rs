//! The contracts, by kernel or family of kernels. If a condition does not hold, the newest known release of the
//! runtime aborts, divides by zero, or reads or writes past a tensor. The sources are in format.md, section 6.10.

use super::dtypes::{
    BOOL, BYTE, BYTES, CHAR, COMPLEXIBLE, DEQUANTIZED, DOUBLE, EMBEDDED, FLOAT, INDICES, INTEGERS,
    LONG, OPAQUE, QUANTIZED, REAL_OR_BOOL, SCALES,
};
use super::vocabulary::Condition::{
    Any, AtLeast, AtMost, Below, CanResizeTo, Dimension, Dimensions, Divides, Double, Equal,
    Finite, In, Infers, Not, NotEqual, NotIn, Null, Promote, SameShape, Steps, Strided, Widths,
};
use super::vocabulary::Number::{
    CapacityNumel, Const, Count, Dtype, ElementSize, Greatest, GreatestElement, IndexedDims, Int,
    Item, Last, LeadingNumel, Least, LeastElement, Numel, Plus, PromotedElementSize, Rank, Size,
    Span, Square, TensorPosition, Times, TrailingNumel, UnresizedNumel, Wrapped,
};
use super::vocabulary::{Arg, Condition, Number, Shape, Subject, Term};
use pte_schema::scalar::ScalarType;

/// The kernel resizes its output to 32 bits of each size, and then writes as many elements as all bits say.
pub(crate) const ADAPTIVE_POOL: &[Term] =
    &[number(AtMost(Item(1, 0), Const(MOST_SIZE))), number(AtMost(Item(1, 1), Const(MOST_SIZE)))];

pub(crate) const FFT_C2R: &[Term] = &[
    dtype(In(4, COMPLEXIBLE)),
    // The kernel reads the size of the last dimension before it checks that the dimension exists.
    shape(Below(Last(1), Rank(0))),
    shape(AtLeast(Plus(&Last(1), &Rank(0)), ZERO)),
    shape(Any(&[
        Equal(CapacityNumel(4), ZERO),
        Below(Int(3), Times(&Size(0, &Last(1)), &Const(2))),
    ])),
];

pub(crate) const FFT_R2C: &[Term] = &[dtype(In(0, COMPLEXIBLE))];

pub(crate) const LOG_SOFTMAX: &[Term] = &[
    shape(Any(&[Equal(LeadingNumel(0, 1), ZERO), NotEqual(Size(0, &Int(1)), ZERO)])),
    shape(Any(&[IS_LAST, NotEqual(Size(0, &Int(1)), ZERO)])),
    shape(Any(&[IS_LAST, NotEqual(TrailingNumel(0, &Int(1)), ZERO)])),
];

pub(crate) const EXTREME: &[Term] = &[shape(NotEqual(Numel(0), ZERO))];

pub(crate) const ARANGE: &[Term] = &[number(Steps(None, 0, None))];

pub(crate) const ARANGE_START: &[Term] = &[number(Steps(Some(0), 1, Some(2)))];

pub(crate) const ARGMAX: &[Term] = &[
    shape(Any(&[Not(&Null(1)), NotEqual(Numel(0), ZERO)])),
    shape(Any(&[Equal(Numel(3), ZERO), NotEqual(Numel(0), ZERO)])),
];

pub(crate) const AS_STRIDED_COPY: &[Term] = &[Term { about: Subject::Strided, holds: Strided }];

pub(crate) const BMM: &[Term] = &[
    shape(Equal(Rank(0), Const(3))),
    shape(Equal(Rank(1), Const(3))),
    shape(Any(&[EMPTY, Equal(CapacityNumel(1), ZERO), AtMost(Size(0, &TWO), Size(1, &ONE))])),
];

/// The kernel does not check the dimension for tensors without elements.
pub(crate) const CAT: &[Term] = &[shape(Any(&[AtMost(Rank(2), ONE), Below(Int(1), Rank(2))]))];

pub(crate) const CLAMP: &[Term] = &[dtype(Promote(&[0, 1, 2]))];

pub(crate) const CONVOLUTION: &[Term] = &[
    number(NotEqual(Int(8), ZERO)),
    dtype(Any(&[Equal(CapacityNumel(9), ZERO), In(2, REAL_OR_BOOL)])),
    dtype(Any(&[Equal(CapacityNumel(9), ZERO), NotIn(2, BOOL)])),
    shape(Any(&[EMPTY, TRANSPOSED, AtLeast(CapacityNumel(2), Size(1, &ZERO))])),
    shape(Any(&[EMPTY, NOT_TRANSPOSED, AtLeast(CapacityNumel(2), Times(&Size(1, &ONE), &Int(8)))])),
];

pub(crate) const CONVOLUTION_BACKWARD: &[Term] = &[
    number(NotEqual(Int(9), ZERO)),
    shape(Any(&[EMPTY, Equal(Item(10, 2), ZERO), AtLeast(CapacityNumel(13), Size(2, &ZERO))])),
];

pub(crate) const CUMSUM: &[Term] = &[dtype(In(0, REAL_OR_BOOL))];

pub(crate) const DIV_SCALAR_MODE: &[Term] =
    &[dtype(NotIn(0, OPAQUE)), number(Any(&[Null(2), EMPTY, NotEqual(Wrapped(1, 0), ZERO)]))];

pub(crate) const EMBEDDING: &[Term] = &[dtype(In(1, INDICES))];

pub(crate) const INDEX: &[Term] = &[shape(AtMost(IndexedDims(1), Rank(0)))];

/// The kernel reads this size of the tensor of values before it checks the tensor's rank.
pub(crate) const INDEX_PUT_IN_PLACE: &[Term] = &[shape(Below(TensorPosition(1), Rank(2)))];

pub(crate) const MAX_POOL2D_WITH_INDICES_BACKWARD: &[Term] = &[
    number(NotEqual(Item(3, 0), ZERO)),
    number(NotEqual(Item(3, 1), ZERO)),
    shape(AtLeast(CapacityNumel(7), Numel(0))),
    index(AtLeast(LeastElement(7), Const(-1))),
    index(Below(GreatestElement(7), Times(&Size(1, &Const(-1)), &Size(1, &Const(-2))))),
];

pub(crate) const NARROW_COPY: &[Term] = &[shape(AtLeast(Int(1), ZERO))];

pub(crate) const NATIVE_GROUP_NORM: &[Term] = &[
    shape(AtLeast(Rank(0), ONE)),
    // The kernel reads the input's second size if the first size equals `N`, argument 3.
    shape(Any(&[AtLeast(Rank(0), TWO), NotEqual(Size(0, &ZERO), Int(3))])),
    shape(AtLeast(Rank(1), ONE)),
    shape(AtLeast(Rank(2), ONE)),
];

pub(crate) const PIXEL_SHUFFLE: &[Term] = &[number(NotEqual(Square(1), ZERO))];

pub(crate) const POW_SCALAR: &[Term] = &[dtype(NotIn(1, OPAQUE))];

pub(crate) const REMAINDER_SCALAR: &[Term] =
    &[dtype(NotIn(0, OPAQUE)), number(Any(&[EMPTY, NotEqual(Wrapped(1, 0), ZERO)]))];

pub(crate) const SPLIT_WITH_SIZES_COPY: &[Term] = &[dtype(Widths(3)), shape(Dimension(2, 0))];

pub(crate) const SQUEEZE_COPY: &[Term] = &[shape(Dimensions(1, 0))];

/// The code path for one dimension does not work for a tensor without dimensions.
pub(crate) const SUM: &[Term] = &[shape(Any(&[NotEqual(Count(1), ONE), NotEqual(Rank(0), ZERO)]))];

pub(crate) const SYM_SIZE: &[Term] = &[shape(AtLeast(Int(1), ZERO)), shape(Below(Int(1), Rank(0)))];

/// The kernel computes strides as if the dim order were the default.
pub(crate) const TOPK: &[Term] = &[shape(Any(&[
    Equal(Numel(0), ZERO),
    Equal(Int(1), ZERO),
    AtMost(Span(0, &Int(2)), Numel(0)),
]))];

pub(crate) const VAR_MEAN: &[Term] =
    &[dtype(Any(&[Equal(CapacityNumel(4), ZERO), AtLeast(ElementSize(5), ElementSize(4))]))];

pub(crate) const VIEW_AS_REAL_COPY: &[Term] = &[shape(Equal(Rank(1), Plus(&Rank(0), &ONE)))];

pub(crate) const VIEW_COPY: &[Term] = &[number(Infers(1))];

pub(crate) const WHERE: &[Term] = &[dtype(Promote(&[1, 2]))];

pub(crate) const FLOORDIV: &[Term] = &[
    number(Any(&[Double(0), NotEqual(Int(1), ZERO)])),
    number(Any(&[NotEqual(Int(0), Const(i64::MIN)), NotEqual(Int(1), Const(-1))])),
];

pub(crate) const ADD: &[Term] = &[
    quantized(Equal(Dtype(5), Dtype(0))),
    quantized(Equal(Dtype(14), Dtype(0))),
    quantized(In(0, INTEGERS)),
    quantized(Equal(Numel(5), Numel(0))),
    quantized(Equal(UnresizedNumel(14), Numel(0))),
    quantized(Any(&[Equal(Numel(0), ONE), SameShape(5, 0)])),
    quantized(Any(&[Equal(Numel(0), ONE), SameShape(14, 0)])),
    quantized(AtLeast(Int(3), ZERO)),
    quantized(AtMost(Int(4), Const(255))),
    quantized(AtMost(Int(3), Int(4))),
    quantized(AtLeast(Int(8), ZERO)),
    quantized(AtMost(Int(9), Const(255))),
    quantized(AtMost(Int(8), Int(9))),
    quantized(AtLeast(Int(12), ZERO)),
    quantized(AtMost(Int(13), Const(255))),
    quantized(AtMost(Int(12), Int(13))),
];

pub(crate) const CHOOSE_QPARAMS: &[Term] = &[
    quantized(Below(Int(1), Int(2))),
    quantized(NotEqual(Numel(0), ZERO)),
    quantized(In(0, FLOAT)),
    quantized(In(5, DOUBLE)),
    quantized(In(6, LONG)),
    quantized(Equal(UnresizedNumel(5), ONE)),
    quantized(Equal(UnresizedNumel(6), ONE)),
    MEASURED,
];

pub(crate) const CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC: &[Term] = &[
    quantized(In(0, FLOAT)),
    quantized(Any(&[Equal(LeadingNumel(0, 1), ZERO), NotEqual(WIDTH, ZERO)])),
    quantized(In(2, DOUBLE)),
    quantized(In(3, LONG)),
    quantized(CanResizeTo(2, Shape::Rows(0))),
    quantized(CanResizeTo(3, Shape::Rows(0))),
    MEASURED,
];

pub(crate) const MIXED_LINEAR: &[Term] = &[
    quantized(Any(&[Equal(Rank(2), ONE), NotEqual(Size(2, &ONE), ZERO)])),
    quantized(Any(&[
        Equal(Size(0, &ZERO), ZERO),
        Equal(Size(1, &ZERO), ZERO),
        NotEqual(Size(1, &ONE), ZERO),
    ])),
];

/// The terms of an embedding whose rows have `width` elements. The last term is about the
/// dtype argument, which only the overload `dtype_out` has.
const fn embedding<const OUT: Arg>(
    width: &'static Number,
    rows: &'static [ScalarType],
    indices: &'static [ScalarType],
) -> [Term; 20] {
    [
        quantized(Equal(Rank(0), TWO)),
        quantized(AtLeast(Rank(1), ONE)),
        quantized(AtMost(Rank(1), TWO)),
        quantized(Equal(Size(1, &ZERO), Size(0, &ZERO))),
        quantized(Divides(Size(1, &ONE), *width)),
        quantized(In(0, rows)),
        quantized(In(OUT, EMBEDDED)),
        quantized(In(1, EMBEDDED)),
        quantized(Equal(Rank(2), Rank(1))),
        quantized(Equal(Dtype(2), Dtype(OUT))),
        quantized(Equal(Size(2, &ZERO), Size(1, &ZERO))),
        quantized(Equal(Size(2, &ONE), Size(1, &ONE))),
        quantized(In(5, indices)),
        quantized(SOME_ROW),
        quantized(AtMost(Int(3), Int(4))),
        quantized(CanResizeTo(OUT, Shape::And(5, *width))),
        quantized(AtMost(Times(&Numel(5), width), CapacityNumel(OUT))),
        INDEX_NOT_NEGATIVE,
        INDEX_OF_ROW,
        quantized(Equal(Int(6), Dtype(OUT))),
    ]
}

pub(crate) const EMBEDDING_2BIT: &[Term] =
    without_last(&embedding::<6>(&FOUR_A_BYTE, BYTE, INDICES), 1);
pub(crate) const EMBEDDING_2BIT_DTYPE: &[Term] = &embedding::<7>(&FOUR_A_BYTE, BYTE, INDICES);
pub(crate) const EMBEDDING_4BIT: &[Term] =
    without_last(&embedding::<6>(&TWO_A_BYTE, BYTE, INDICES), 1);
pub(crate) const EMBEDDING_4BIT_DTYPE: &[Term] = &embedding::<7>(&TWO_A_BYTE, BYTE, INDICES);
pub(crate) const EMBEDDING_BYTE: &[Term] =
    without_last(&embedding::<6>(&Size(0, &ONE), BYTES, LONG), 1);
pub(crate) const EMBEDDING_BYTE_DTYPE: &[Term] = &embedding::<7>(&Size(0, &ONE), BYTES, LONG);

const FOUR_A_BYTE: Number = Times(&Size(0, &ONE), &Const(4));
const TWO_A_BYTE: Number = Times(&Size(0, &ONE), &Const(2));

/// The terms of a quantizing kernel with `count` scales and zero points. The range begins at argument `MIN` and ends
/// at `MAX`. The first four terms are about scales and zero points that are tensors.
const fn quantize<const MIN: Arg, const MAX: Arg, const DTYPE: Arg, const OUT: Arg>(
    count: Number,
) -> [Term; 10] {
    [
        quantized(In(1, DOUBLE)),
        quantized(In(2, LONG)),
        quantized(Equal(Numel(1), count)),
        quantized(Equal(Numel(2), count)),
        quantized(CanResizeTo(OUT, Shape::Like(0))),
        quantized(In(0, DEQUANTIZED)),
        quantized(Equal(Int(DTYPE), Dtype(OUT))),
        quantized(In(OUT, QUANTIZED)),
        quantized(AtLeast(Int(MIN), Least(OUT))),
        quantized(AtMost(Int(MAX), Greatest(OUT))),
    ]
}

pub(crate) const QUANTIZE_PER_TENSOR: &[Term] = without_first(QUANTIZE_PER_TENSOR_BY_TENSORS, 4);
pub(crate) const QUANTIZE_PER_TENSOR_BY_TENSORS: &[Term] = &quantize::<3, 4, 5, 6>(ONE);
pub(crate) const QUANTIZE_PER_TOKEN: &[Term] = &quantize::<3, 4, 5, 6>(LeadingNumel(0, 1));
pub(crate) const QUANTIZE_PER_CHANNEL: &[Term] =
    &after(quantized(Dimension(3, 0)), quantize::<4, 5, 6, 7>(Size(0, &Int(3))));

/// Returns a term and the ten terms behind it.
const fn after(first: Term, [a, b, c, d, e, f, g, h, i, j]: [Term; 10]) -> [Term; 11] {
    [first, a, b, c, d, e, f, g, h, i, j]
}

/// The terms of a dequantizing kernel with `count` scales and zero points. The first four terms are about scales and
/// zero points that are tensors, the last four about CHAR to FLOAT, for which zero points must be in the range.
const fn dequantize(
    count: Number,
    scales: &'static [ScalarType],
    zero_points: &'static [ScalarType],
) -> [Term; 14] {
    [
        quantized(In(1, scales)),
        quantized(In(2, zero_points)),
        quantized(Equal(Numel(1), count)),
        quantized(Equal(Numel(2), count)),
        quantized(CanResizeTo(7, Shape::Like(0))),
        quantized(In(0, QUANTIZED)),
        quantized(Equal(Int(5), Dtype(0))),
        quantized(Equal(Int(6), Dtype(7))),
        quantized(In(7, DEQUANTIZED)),
        quantized(AtMost(Int(3), Int(4))),
        quantized(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtMost(Int(3), ZERO)])),
        quantized(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtLeast(Int(4), ZERO)])),
        zero_point(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtLeast(LeastElement(2), Int(3))])),
        zero_point(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtMost(GreatestElement(2), Int(4))])),
    ]
}

pub(crate) const DEQUANTIZE_PER_TENSOR: &[Term] =
    without_first(DEQUANTIZE_PER_TENSOR_BY_TENSORS, 4);
pub(crate) const DEQUANTIZE_PER_TENSOR_BY_TENSORS: &[Term] =
    without_last(&dequantize(ONE, DOUBLE, LONG), 4);
pub(crate) const DEQUANTIZE_PER_TOKEN: &[Term] = &dequantize(LeadingNumel(0, 1), SCALES, INDICES);
pub(crate) const DEQUANTIZE_PER_CHANNEL: &[Term] = &[
    quantized(Dimension(3, 0)),
    quantized(In(1, SCALES)),
    quantized(In(2, INDICES)),
    quantized(Equal(Numel(1), Size(0, &Int(3)))),
    quantized(Equal(Numel(2), Size(0, &Int(3)))),
    quantized(CanResizeTo(8, Shape::Like(0))),
    quantized(In(0, QUANTIZED)),
    quantized(Equal(Int(6), Dtype(0))),
    quantized(Equal(Int(7), Dtype(8))),
    quantized(Any(&[In(8, DEQUANTIZED), In(0, CHAR)])),
    quantized(Any(&[In(8, DEQUANTIZED), AtLeast(ElementSize(8), Const(4))])),
    // Without an output dtype, the elements of CHAR are written as FLOAT.
    quantized(Any(&[NotIn(0, CHAR), Not(&Null(7)), AtLeast(ElementSize(8), Const(4))])),
    quantized(AtMost(Int(4), Int(5))),
    // From CHAR to FLOAT, the zero points must be in the range. Missing zero points are 0,
    // and every range of torch contains 0 (`validate_qmin_qmax`).
    quantized(Any(&[NotIn(0, CHAR), NotIn(8, FLOAT), AtMost(Int(4), ZERO)])),
    quantized(Any(&[NotIn(0, CHAR), NotIn(8, FLOAT), AtLeast(Int(5), ZERO)])),
    quantized(Any(&[NotIn(0, CHAR), Not(&Null(7)), AtMost(Int(4), ZERO)])),
    quantized(Any(&[NotIn(0, CHAR), Not(&Null(7)), AtLeast(Int(5), ZERO)])),
    zero_point(Any(&[NotIn(0, CHAR), NotIn(8, FLOAT), AtLeast(LeastElement(2), Int(4))])),
    zero_point(Any(&[NotIn(0, CHAR), NotIn(8, FLOAT), AtMost(GreatestElement(2), Int(5))])),
];

/// Returns the terms without the first `count`.
const fn without_first(terms: &'static [Term], count: usize) -> &'static [Term] {
    match terms.split_at_checked(count) {
        Some((_, rest)) => rest,
        None => &[],
    }
}

/// Returns the terms without the last `count`.
const fn without_last(terms: &'static [Term], count: usize) -> &'static [Term] {
    match terms.split_at_checked(terms.len().saturating_sub(count)) {
        Some((rest, _)) => rest,
        None => &[],
    }
}

/// Two tensors have a common dtype.
pub(crate) const PROMOTE: &[Term] = &[dtype(Promote(&[0, 1]))];

/// A tensor and a Scalar have a common dtype (`promote_type_with_scalar`).
pub(crate) const SCALAR: &[Term] = &[dtype(NotIn(0, OPAQUE))];

/// Division has its own common dtype. If it is complex, the kernel does not check the element size
/// of the output.
pub(crate) const DIV: &[Term] = &[
    dtype(NotIn(0, OPAQUE)),
    dtype(NotIn(1, OPAQUE)),
    dtype(Any(&[
        Equal(CapacityNumel(2), ZERO),
        AtLeast(ElementSize(2), PromotedElementSize(0, 1)),
    ])),
    // Integers of the same dtype are divided as integers, also by 0, unless one divisor is used for
    // several elements.
    dtype(Any(&[
        Equal(CapacityNumel(2), ZERO),
        NotEqual(Dtype(0), Dtype(2)),
        NotEqual(Dtype(1), Dtype(2)),
        Not(&Any(&[NotEqual(Numel(1), ONE), Equal(Numel(0), ONE)])),
        NotIn(2, INTEGERS),
    ])),
];

/// Division with a rounding mode; Null means no mode.
pub(crate) const DIV_MODE: &[Term] = &[
    dtype(Any(&[Null(2), Promote(&[0, 1])])),
    dtype(NotIn(0, OPAQUE)),
    dtype(NotIn(1, OPAQUE)),
    dtype(Any(&[
        Not(&Null(2)),
        Equal(CapacityNumel(3), ZERO),
        AtLeast(ElementSize(3), PromotedElementSize(0, 1)),
    ])),
];

/// Pooling checks the number of strides but not their values. It does not check the size of a
/// window either, and visits each of its elements.
pub(crate) const STRIDES: &[Term] = &[
    number(NotEqual(Item(2, 0), ZERO)),
    number(NotEqual(Item(2, 1), ZERO)),
    number(AtMost(Item(1, 0), Const(MOST_SIZE))),
    number(AtMost(Item(1, 1), Const(MOST_SIZE))),
];

/// The greatest size of a dimension.
const MOST_SIZE: i64 = 0x7fff_ffff;

/// An index without elements may have any rank. The kernel still reads its sizes in all dimensions
/// except the indexed one.
pub(crate) const GATHER: &[Term] = &[shape(Any(&[
    NotEqual(Numel(2), ZERO),
    Not(&Any(&[Not(&IS_LAST), NotEqual(Plus(&Rank(2), &ONE), Rank(0))])),
    AtLeast(Rank(2), Rank(0)),
]))];

/// The divisor is not 0, and the quotient fits 64 bits.
pub(crate) const DIVISOR: &[Term] = &[
    number(NotEqual(Int(1), ZERO)),
    number(Any(&[NotEqual(Int(0), Const(i64::MIN)), NotEqual(Int(1), Const(-1))])),
];

pub(crate) const DIMENSION: &[Term] = &[shape(Dimension(1, 0))];

/// There are no images, or the images have rows and columns.
pub(crate) const UPSAMPLE: &[Term] = &[
    shape(Any(&[
        Equal(Size(0, &ZERO), ZERO),
        Equal(Size(0, &ONE), ZERO),
        NotEqual(Size(0, &TWO), ZERO),
    ])),
    shape(Any(&[
        Equal(Size(0, &ZERO), ZERO),
        Equal(Size(0, &ONE), ZERO),
        NotEqual(Size(0, &Const(3)), ZERO),
    ])),
];

/// Padding repeats the elements at an edge, so each dimension that grows must have a size other
/// than 0. The size may be 0 if an outer dimension has a size of 0, since nothing is written then.
pub(crate) const PAD1: &[Term] =
    &[shape(Any(&[AtMost(WIDER, ZERO), Equal(LeadingNumel(0, 1), ZERO), NotEqual(WIDTH, ZERO)]))];
pub(crate) const PAD2: &[Term] = &[
    shape(Any(&[AtMost(HIGHER, ZERO), Equal(LeadingNumel(0, 2), ZERO), NotEqual(HEIGHT, ZERO)])),
    shape(Any(&[
        AtMost(WIDER, ZERO),
        Equal(LeadingNumel(0, 2), ZERO),
        Equal(Plus(&HEIGHT, &HIGHER), ZERO),
        NotEqual(WIDTH, ZERO),
    ])),
];
pub(crate) const PAD3: &[Term] = &[
    shape(Any(&[AtMost(DEEPER, ZERO), Equal(LeadingNumel(0, 3), ZERO), NotEqual(DEPTH, ZERO)])),
    shape(Any(&[
        AtMost(HIGHER, ZERO),
        Equal(LeadingNumel(0, 3), ZERO),
        Equal(Plus(&DEPTH, &DEEPER), ZERO),
        NotEqual(HEIGHT, ZERO),
    ])),
    shape(Any(&[
        AtMost(WIDER, ZERO),
        Equal(LeadingNumel(0, 3), ZERO),
        Equal(Plus(&DEPTH, &DEEPER), ZERO),
        Equal(Plus(&HEIGHT, &HIGHER), ZERO),
        NotEqual(WIDTH, ZERO),
    ])),
];

const WIDTH: Number = Size(0, &Const(-1));
const HEIGHT: Number = Size(0, &Const(-2));
const DEPTH: Number = Size(0, &Const(-3));
const WIDER: Number = Plus(&Item(1, 0), &Item(1, 1));
const HIGHER: Number = Plus(&Item(1, 2), &Item(1, 3));
const DEEPER: Number = Plus(&Item(1, 4), &Item(1, 5));

/// Every index of an embedding is the index of a row.
const INDEX_NOT_NEGATIVE: Term = index(AtLeast(LeastElement(5), ZERO));
const INDEX_OF_ROW: Term = index(Below(GreatestElement(5), Size(0, &ZERO)));

/// The tensor whose range is measured has only finite elements.
const MEASURED: Term = Term { about: Subject::Range, holds: Finite(0) };

/// There are no indices, or there are rows to index.
const SOME_ROW: Condition = Any(&[Equal(Numel(5), ZERO), NotEqual(Size(0, &ZERO), ZERO)]);

/// The first tensor has no elements.
const EMPTY: Condition = Equal(CapacityNumel(0), ZERO);
/// Argument 1 is the last dimension of argument 0.
const IS_LAST: Condition = Any(&[Equal(Int(1), Const(-1)), Equal(Plus(&Int(1), &ONE), Rank(0))]);

const TRANSPOSED: Condition = Condition::Flag(6, true);
const NOT_TRANSPOSED: Condition = Condition::Flag(6, false);

const ZERO: Number = Const(0);
const ONE: Number = Const(1);
const TWO: Number = Const(2);

const fn dtype(holds: Condition) -> Term {
    Term { about: Subject::Dtype, holds }
}

const fn shape(holds: Condition) -> Term {
    Term { about: Subject::Shape, holds }
}

const fn number(holds: Condition) -> Term {
    Term { about: Subject::Number, holds }
}

const fn index(holds: Condition) -> Term {
    Term { about: Subject::Indices, holds }
}

const fn zero_point(holds: Condition) -> Term {
    Term { about: Subject::ZeroPoints, holds }
}

const fn quantized(holds: Condition) -> Term {
    Term { about: Subject::Quantized, holds }
}
