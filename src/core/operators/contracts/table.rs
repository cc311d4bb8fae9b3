//! The contracts, by operator. If a condition does not hold, the official runtime (1.5.1) aborts,
//! divides by zero, or reads or writes past a tensor. The sources are in format.md, section 6.10.

use super::dtypes::{
    BOOL, BYTE, BYTES, CHAR, COMPLEXIBLE, DOUBLE, EMBEDDED, FLOAT, FLOATS, INDICES, INTEGERS, LONG,
    OPAQUE, QUANTIZED, REAL, SCALES,
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
use super::vocabulary::{Condition, Number, Shape, Subject, Term};

/// Operators by full name, sorted, with the conditions of each.
pub(super) static CONTRACTS: &[(&str, &[Term])] = &[
    (
        "aten::_fft_c2r.out",
        &[
            dtype(In(4, COMPLEXIBLE)),
            // The kernel reads the size of the last dimension before it checks that the dimension exists.
            shape(Below(Last(1), Rank(0))),
            shape(AtLeast(Plus(&Last(1), &Rank(0)), ZERO)),
            shape(Any(&[
                Equal(CapacityNumel(4), ZERO),
                Below(Int(3), Times(&Size(0, &Last(1)), &Const(2))),
            ])),
        ],
    ),
    ("aten::_fft_r2c.out", &[dtype(In(0, COMPLEXIBLE))]),
    (
        "aten::_log_softmax.out",
        &[
            shape(Any(&[Equal(LeadingNumel(0, 1), ZERO), NotEqual(Size(0, &Int(1)), ZERO)])),
            shape(Any(&[IS_LAST, NotEqual(Size(0, &Int(1)), ZERO)])),
            shape(Any(&[IS_LAST, NotEqual(TrailingNumel(0, &Int(1)), ZERO)])),
        ],
    ),
    ("aten::_upsample_bilinear2d_aa.out", UPSAMPLE),
    ("aten::add.Scalar_out", SCALAR),
    ("aten::add.out", PROMOTE),
    ("aten::amax.out", &[shape(NotEqual(Numel(0), ZERO))]),
    ("aten::amin.out", &[shape(NotEqual(Numel(0), ZERO))]),
    ("aten::arange.out", &[number(Steps(None, 0, None))]),
    ("aten::arange.start_out", &[number(Steps(Some(0), 1, Some(2)))]),
    (
        "aten::argmax.out",
        &[
            shape(Any(&[Not(&Null(1)), NotEqual(Numel(0), ZERO)])),
            shape(Any(&[Equal(Numel(3), ZERO), NotEqual(Numel(0), ZERO)])),
        ],
    ),
    (
        "aten::argmin.out",
        &[
            shape(Any(&[Not(&Null(1)), NotEqual(Numel(0), ZERO)])),
            shape(Any(&[Equal(Numel(3), ZERO), NotEqual(Numel(0), ZERO)])),
        ],
    ),
    ("aten::as_strided_copy.out", &[Term { about: Subject::Strided, holds: Strided }]),
    ("aten::avg_pool2d.out", STRIDES),
    ("aten::bitwise_and.Scalar_out", SCALAR),
    ("aten::bitwise_and.Tensor_out", PROMOTE),
    ("aten::bitwise_left_shift.Tensor_Scalar_out", SCALAR),
    ("aten::bitwise_left_shift.Tensor_out", PROMOTE),
    ("aten::bitwise_or.Scalar_out", SCALAR),
    ("aten::bitwise_or.Tensor_out", PROMOTE),
    ("aten::bitwise_right_shift.Tensor_Scalar_out", SCALAR),
    ("aten::bitwise_right_shift.Tensor_out", PROMOTE),
    ("aten::bitwise_xor.Scalar_out", SCALAR),
    ("aten::bitwise_xor.Tensor_out", PROMOTE),
    (
        "aten::bmm.out",
        &[
            shape(Equal(Rank(0), Const(3))),
            shape(Equal(Rank(1), Const(3))),
            shape(Any(&[
                EMPTY,
                Equal(CapacityNumel(1), ZERO),
                AtMost(Size(0, &TWO), Size(1, &ONE)),
            ])),
        ],
    ),
    // The kernel does not check the dimension for tensors without elements.
    ("aten::cat.out", &[shape(Any(&[AtMost(Rank(2), ONE), Below(Int(1), Rank(2))]))]),
    ("aten::clamp.Tensor_out", &[dtype(Promote(&[0, 1, 2]))]),
    ("aten::clamp.out", SCALAR),
    (
        "aten::convolution.out",
        &[
            number(NotEqual(Int(8), ZERO)),
            dtype(Any(&[Equal(CapacityNumel(9), ZERO), In(2, REAL)])),
            dtype(Any(&[Equal(CapacityNumel(9), ZERO), NotIn(2, BOOL)])),
            shape(Any(&[EMPTY, TRANSPOSED, AtLeast(CapacityNumel(2), Size(1, &ZERO))])),
            shape(Any(&[
                EMPTY,
                NOT_TRANSPOSED,
                AtLeast(CapacityNumel(2), Times(&Size(1, &ONE), &Int(8))),
            ])),
        ],
    ),
    (
        "aten::convolution_backward.out",
        &[
            number(NotEqual(Int(9), ZERO)),
            shape(Any(&[
                EMPTY,
                Equal(Item(10, 2), ZERO),
                AtLeast(CapacityNumel(13), Size(2, &ZERO)),
            ])),
        ],
    ),
    ("aten::cumsum.out", &[dtype(In(0, REAL))]),
    (
        "aten::div.Scalar_mode_out",
        &[dtype(NotIn(0, OPAQUE)), number(Any(&[Null(2), EMPTY, NotEqual(Wrapped(1, 0), ZERO)]))],
    ),
    ("aten::div.out", DIV),
    ("aten::div.out_mode", DIV_MODE),
    ("aten::embedding.out", &[dtype(In(1, INDICES))]),
    ("aten::eq.Scalar_out", SCALAR),
    ("aten::eq.Tensor_out", PROMOTE),
    ("aten::floor_divide.out", PROMOTE),
    ("aten::fmod.Scalar_out", SCALAR),
    ("aten::fmod.Tensor_out", PROMOTE),
    ("aten::gather.out", GATHER),
    ("aten::ge.Scalar_out", SCALAR),
    ("aten::ge.Tensor_out", PROMOTE),
    ("aten::gt.Scalar_out", SCALAR),
    ("aten::gt.Tensor_out", PROMOTE),
    ("aten::index.Tensor_out", &[shape(AtMost(IndexedDims(1), Rank(0)))]),
    ("aten::index_put.out", &[shape(AtMost(IndexedDims(1), Rank(0)))]),
    // The kernel reads this size of the tensor of values before it checks the tensor's rank.
    ("aten::index_put_", &[shape(Below(TensorPosition(1), Rank(2)))]),
    ("aten::le.Scalar_out", SCALAR),
    ("aten::le.Tensor_out", PROMOTE),
    ("aten::lt.Scalar_out", SCALAR),
    ("aten::lt.Tensor_out", PROMOTE),
    ("aten::max_pool2d_with_indices.out", STRIDES),
    (
        "aten::max_pool2d_with_indices_backward.grad_input",
        &[
            number(NotEqual(Item(3, 0), ZERO)),
            number(NotEqual(Item(3, 1), ZERO)),
            shape(AtLeast(CapacityNumel(7), Numel(0))),
            index(AtLeast(LeastElement(7), Const(-1))),
            index(Below(GreatestElement(7), Times(&Size(1, &Const(-1)), &Size(1, &Const(-2))))),
        ],
    ),
    ("aten::maximum.out", PROMOTE),
    ("aten::minimum.out", PROMOTE),
    ("aten::mul.Scalar_out", SCALAR),
    ("aten::mul.out", PROMOTE),
    ("aten::narrow_copy.out", &[shape(AtLeast(Int(1), ZERO))]),
    (
        "aten::native_group_norm.out",
        &[
            shape(AtLeast(Rank(0), ONE)),
            // The kernel reads the input's second size if the first size equals `N`, argument 3.
            shape(Any(&[AtLeast(Rank(0), TWO), NotEqual(Size(0, &ZERO), Int(3))])),
            shape(AtLeast(Rank(1), ONE)),
            shape(AtLeast(Rank(2), ONE)),
        ],
    ),
    ("aten::ne.Scalar_out", SCALAR),
    ("aten::ne.Tensor_out", PROMOTE),
    ("aten::pixel_shuffle.out", &[number(NotEqual(Square(1), ZERO))]),
    ("aten::pow.Scalar_out", &[dtype(NotIn(1, OPAQUE))]),
    ("aten::pow.Tensor_Scalar_out", SCALAR),
    ("aten::pow.Tensor_Tensor_out", PROMOTE),
    (
        "aten::remainder.Scalar_out",
        &[dtype(NotIn(0, OPAQUE)), number(Any(&[EMPTY, NotEqual(Wrapped(1, 0), ZERO)]))],
    ),
    ("aten::remainder.Tensor_out", PROMOTE),
    ("aten::replication_pad1d.out", PAD1),
    ("aten::replication_pad2d.out", PAD2),
    ("aten::replication_pad3d.out", PAD3),
    ("aten::rsub.Scalar_out", SCALAR),
    ("aten::scatter.value_out", GATHER),
    ("aten::split_with_sizes_copy.out", &[dtype(Widths(3)), shape(Dimension(2, 0))]),
    ("aten::squeeze_copy.dims_out", &[shape(Dimensions(1, 0))]),
    ("aten::sub.Scalar_out", SCALAR),
    ("aten::sub.out", PROMOTE),
    // The code path for one dimension does not work for a tensor without dimensions.
    ("aten::sum.IntList_out", &[shape(Any(&[NotEqual(Count(1), ONE), NotEqual(Rank(0), ZERO)]))]),
    ("aten::sym_size.int", &[shape(AtLeast(Int(1), ZERO)), shape(Below(Int(1), Rank(0)))]),
    // The kernel computes strides as if the dim order were the default.
    (
        "aten::topk.values",
        &[shape(Any(&[
            Equal(Numel(0), ZERO),
            Equal(Int(1), ZERO),
            AtMost(Span(0, &Int(2)), Numel(0)),
        ]))],
    ),
    ("aten::unbind_copy.int_out", DIMENSION),
    ("aten::unfold_copy.out", DIMENSION),
    ("aten::upsample_bilinear2d.vec_out", UPSAMPLE),
    ("aten::upsample_nearest2d.vec_out", UPSAMPLE),
    (
        "aten::var_mean.correction_out",
        &[dtype(Any(&[Equal(CapacityNumel(4), ZERO), AtLeast(ElementSize(5), ElementSize(4))]))],
    ),
    ("aten::view_as_real_copy.out", &[shape(Equal(Rank(1), Plus(&Rank(0), &ONE)))]),
    ("aten::view_copy.out", &[number(Infers(1))]),
    ("aten::where.self_out", &[dtype(Promote(&[1, 2]))]),
    (
        "executorch_prim::floordiv.Scalar",
        &[
            number(Any(&[Double(0), NotEqual(Int(1), ZERO)])),
            number(Any(&[NotEqual(Int(0), Const(i64::MIN)), NotEqual(Int(1), Const(-1))])),
        ],
    ),
    ("executorch_prim::floordiv.int", DIVISOR),
    ("executorch_prim::mod.Scalar", DIVISOR),
    ("executorch_prim::mod.int", DIVISOR),
    (
        "quantized_decomposed::add.out",
        &[
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
        ],
    ),
    (
        "quantized_decomposed::choose_qparams.Tensor_out",
        &[
            quantized(Below(Int(1), Int(2))),
            quantized(NotEqual(Numel(0), ZERO)),
            quantized(In(0, FLOAT)),
            quantized(In(5, DOUBLE)),
            quantized(In(6, LONG)),
            quantized(Equal(UnresizedNumel(5), ONE)),
            quantized(Equal(UnresizedNumel(6), ONE)),
            MEASURED,
        ],
    ),
    (
        "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
        &[
            quantized(In(0, FLOAT)),
            quantized(Any(&[Equal(LeadingNumel(0, 1), ZERO), NotEqual(WIDTH, ZERO)])),
            quantized(In(2, DOUBLE)),
            quantized(In(3, LONG)),
            quantized(CanResizeTo(2, Shape::Rows(0))),
            quantized(CanResizeTo(3, Shape::Rows(0))),
            MEASURED,
        ],
    ),
    (
        "quantized_decomposed::dequantize_per_channel.out",
        &[
            quantized(Dimension(3, 0)),
            quantized(In(1, SCALES)),
            quantized(In(2, INDICES)),
            quantized(Equal(Numel(1), Size(0, &Int(3)))),
            quantized(Equal(Numel(2), Size(0, &Int(3)))),
            quantized(CanResizeTo(8, Shape::Like(0))),
            quantized(In(0, QUANTIZED)),
            quantized(Equal(Int(6), Dtype(0))),
            quantized(Equal(Int(7), Dtype(8))),
            quantized(Any(&[In(8, FLOATS), In(0, CHAR)])),
            quantized(Any(&[In(8, FLOATS), AtLeast(ElementSize(8), Const(4))])),
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
        ],
    ),
    (
        "quantized_decomposed::dequantize_per_tensor.Tensor_out",
        &[
            quantized(In(1, DOUBLE)),
            quantized(In(2, LONG)),
            quantized(Equal(Numel(1), ONE)),
            quantized(Equal(Numel(2), ONE)),
            quantized(CanResizeTo(7, Shape::Like(0))),
            quantized(In(0, QUANTIZED)),
            quantized(Equal(Int(5), Dtype(0))),
            quantized(Equal(Int(6), Dtype(7))),
            quantized(In(7, FLOATS)),
            quantized(AtMost(Int(3), Int(4))),
        ],
    ),
    (
        "quantized_decomposed::dequantize_per_tensor.out",
        &[
            quantized(CanResizeTo(7, Shape::Like(0))),
            quantized(In(0, QUANTIZED)),
            quantized(Equal(Int(5), Dtype(0))),
            quantized(Equal(Int(6), Dtype(7))),
            quantized(In(7, FLOATS)),
            quantized(AtMost(Int(3), Int(4))),
        ],
    ),
    (
        "quantized_decomposed::dequantize_per_token.out",
        &[
            quantized(In(1, SCALES)),
            quantized(In(2, INDICES)),
            quantized(Equal(Numel(1), LeadingNumel(0, 1))),
            quantized(Equal(Numel(2), LeadingNumel(0, 1))),
            quantized(CanResizeTo(7, Shape::Like(0))),
            quantized(In(0, QUANTIZED)),
            quantized(Equal(Int(5), Dtype(0))),
            quantized(Equal(Int(6), Dtype(7))),
            quantized(In(7, FLOATS)),
            quantized(AtMost(Int(3), Int(4))),
            quantized(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtMost(Int(3), ZERO)])),
            quantized(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtLeast(Int(4), ZERO)])),
            zero_point(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtLeast(LeastElement(2), Int(3))])),
            zero_point(Any(&[NotIn(0, CHAR), NotIn(7, FLOAT), AtMost(GreatestElement(2), Int(4))])),
        ],
    ),
    (
        "quantized_decomposed::embedding_2bit.dtype_out",
        &[
            quantized(Equal(Rank(0), TWO)),
            quantized(AtLeast(Rank(1), ONE)),
            quantized(AtMost(Rank(1), TWO)),
            quantized(Equal(Size(1, &ZERO), Size(0, &ZERO))),
            quantized(Divides(Size(1, &ONE), Times(&Size(0, &ONE), &Const(4)))),
            quantized(In(0, BYTE)),
            quantized(In(7, EMBEDDED)),
            quantized(In(1, EMBEDDED)),
            quantized(Equal(Rank(2), Rank(1))),
            quantized(Equal(Dtype(2), Dtype(7))),
            quantized(Equal(Size(2, &ZERO), Size(1, &ZERO))),
            quantized(Equal(Size(2, &ONE), Size(1, &ONE))),
            quantized(In(5, INDICES)),
            quantized(SOME_ROW),
            quantized(AtMost(Int(3), Int(4))),
            quantized(Equal(Int(6), Dtype(7))),
            quantized(CanResizeTo(7, Shape::And(5, Times(&Size(0, &ONE), &Const(4))))),
            quantized(AtMost(
                Times(&Numel(5), &Times(&Size(0, &ONE), &Const(4))),
                CapacityNumel(7),
            )),
            INDEX_NOT_NEGATIVE,
            INDEX_OF_ROW,
        ],
    ),
    (
        "quantized_decomposed::embedding_2bit.out",
        &[
            quantized(Equal(Rank(0), TWO)),
            quantized(AtLeast(Rank(1), ONE)),
            quantized(AtMost(Rank(1), TWO)),
            quantized(Equal(Size(1, &ZERO), Size(0, &ZERO))),
            quantized(Divides(Size(1, &ONE), Times(&Size(0, &ONE), &Const(4)))),
            quantized(In(0, BYTE)),
            quantized(In(6, EMBEDDED)),
            quantized(In(1, EMBEDDED)),
            quantized(Equal(Rank(2), Rank(1))),
            quantized(Equal(Dtype(2), Dtype(6))),
            quantized(Equal(Size(2, &ZERO), Size(1, &ZERO))),
            quantized(Equal(Size(2, &ONE), Size(1, &ONE))),
            quantized(In(5, INDICES)),
            quantized(SOME_ROW),
            quantized(AtMost(Int(3), Int(4))),
            quantized(CanResizeTo(6, Shape::And(5, Times(&Size(0, &ONE), &Const(4))))),
            quantized(AtMost(
                Times(&Numel(5), &Times(&Size(0, &ONE), &Const(4))),
                CapacityNumel(6),
            )),
            INDEX_NOT_NEGATIVE,
            INDEX_OF_ROW,
        ],
    ),
    (
        "quantized_decomposed::embedding_4bit.dtype_out",
        &[
            quantized(Equal(Rank(0), TWO)),
            quantized(AtLeast(Rank(1), ONE)),
            quantized(AtMost(Rank(1), TWO)),
            quantized(Equal(Size(1, &ZERO), Size(0, &ZERO))),
            quantized(Divides(Size(1, &ONE), Times(&Size(0, &ONE), &Const(2)))),
            quantized(In(0, BYTE)),
            quantized(In(7, EMBEDDED)),
            quantized(In(1, EMBEDDED)),
            quantized(Equal(Rank(2), Rank(1))),
            quantized(Equal(Dtype(2), Dtype(7))),
            quantized(Equal(Size(2, &ZERO), Size(1, &ZERO))),
            quantized(Equal(Size(2, &ONE), Size(1, &ONE))),
            quantized(In(5, INDICES)),
            quantized(SOME_ROW),
            quantized(AtMost(Int(3), Int(4))),
            quantized(Equal(Int(6), Dtype(7))),
            quantized(CanResizeTo(7, Shape::And(5, Times(&Size(0, &ONE), &Const(2))))),
            quantized(AtMost(
                Times(&Numel(5), &Times(&Size(0, &ONE), &Const(2))),
                CapacityNumel(7),
            )),
            INDEX_NOT_NEGATIVE,
            INDEX_OF_ROW,
        ],
    ),
    (
        "quantized_decomposed::embedding_4bit.out",
        &[
            quantized(Equal(Rank(0), TWO)),
            quantized(AtLeast(Rank(1), ONE)),
            quantized(AtMost(Rank(1), TWO)),
            quantized(Equal(Size(1, &ZERO), Size(0, &ZERO))),
            quantized(Divides(Size(1, &ONE), Times(&Size(0, &ONE), &Const(2)))),
            quantized(In(0, BYTE)),
            quantized(In(6, EMBEDDED)),
            quantized(In(1, EMBEDDED)),
            quantized(Equal(Rank(2), Rank(1))),
            quantized(Equal(Dtype(2), Dtype(6))),
            quantized(Equal(Size(2, &ZERO), Size(1, &ZERO))),
            quantized(Equal(Size(2, &ONE), Size(1, &ONE))),
            quantized(In(5, INDICES)),
            quantized(SOME_ROW),
            quantized(AtMost(Int(3), Int(4))),
            quantized(CanResizeTo(6, Shape::And(5, Times(&Size(0, &ONE), &Const(2))))),
            quantized(AtMost(
                Times(&Numel(5), &Times(&Size(0, &ONE), &Const(2))),
                CapacityNumel(6),
            )),
            INDEX_NOT_NEGATIVE,
            INDEX_OF_ROW,
        ],
    ),
    (
        "quantized_decomposed::embedding_byte.dtype_out",
        &[
            quantized(Equal(Rank(0), TWO)),
            quantized(AtLeast(Rank(1), ONE)),
            quantized(AtMost(Rank(1), TWO)),
            quantized(Equal(Size(1, &ZERO), Size(0, &ZERO))),
            quantized(Divides(Size(1, &ONE), Size(0, &ONE))),
            quantized(In(0, BYTES)),
            quantized(In(7, EMBEDDED)),
            quantized(In(1, EMBEDDED)),
            quantized(Equal(Rank(2), Rank(1))),
            quantized(Equal(Dtype(2), Dtype(7))),
            quantized(Equal(Size(2, &ZERO), Size(1, &ZERO))),
            quantized(Equal(Size(2, &ONE), Size(1, &ONE))),
            quantized(In(5, LONG)),
            quantized(SOME_ROW),
            quantized(AtMost(Int(3), Int(4))),
            quantized(Equal(Int(6), Dtype(7))),
            quantized(CanResizeTo(7, Shape::And(5, Size(0, &ONE)))),
            quantized(AtMost(Times(&Numel(5), &Size(0, &ONE)), CapacityNumel(7))),
            INDEX_NOT_NEGATIVE,
            INDEX_OF_ROW,
        ],
    ),
    (
        "quantized_decomposed::embedding_byte.out",
        &[
            quantized(Equal(Rank(0), TWO)),
            quantized(AtLeast(Rank(1), ONE)),
            quantized(AtMost(Rank(1), TWO)),
            quantized(Equal(Size(1, &ZERO), Size(0, &ZERO))),
            quantized(Divides(Size(1, &ONE), Size(0, &ONE))),
            quantized(In(0, BYTES)),
            quantized(In(6, EMBEDDED)),
            quantized(In(1, EMBEDDED)),
            quantized(Equal(Rank(2), Rank(1))),
            quantized(Equal(Dtype(2), Dtype(6))),
            quantized(Equal(Size(2, &ZERO), Size(1, &ZERO))),
            quantized(Equal(Size(2, &ONE), Size(1, &ONE))),
            quantized(In(5, LONG)),
            quantized(SOME_ROW),
            quantized(AtMost(Int(3), Int(4))),
            quantized(CanResizeTo(6, Shape::And(5, Size(0, &ONE)))),
            quantized(AtMost(Times(&Numel(5), &Size(0, &ONE)), CapacityNumel(6))),
            INDEX_NOT_NEGATIVE,
            INDEX_OF_ROW,
        ],
    ),
    (
        "quantized_decomposed::mixed_linear.out",
        &[
            quantized(Any(&[Equal(Rank(2), ONE), NotEqual(Size(2, &ONE), ZERO)])),
            quantized(Any(&[
                Equal(Size(0, &ZERO), ZERO),
                Equal(Size(1, &ZERO), ZERO),
                NotEqual(Size(1, &ONE), ZERO),
            ])),
        ],
    ),
    (
        "quantized_decomposed::quantize_per_channel.out",
        &[
            quantized(Dimension(3, 0)),
            quantized(In(1, DOUBLE)),
            quantized(In(2, LONG)),
            quantized(Equal(Numel(1), Size(0, &Int(3)))),
            quantized(Equal(Numel(2), Size(0, &Int(3)))),
            quantized(CanResizeTo(7, Shape::Like(0))),
            quantized(In(0, FLOATS)),
            quantized(Equal(Int(6), Dtype(7))),
            quantized(In(7, QUANTIZED)),
            quantized(AtLeast(Int(4), Least(7))),
            quantized(AtMost(Int(5), Greatest(7))),
        ],
    ),
    (
        "quantized_decomposed::quantize_per_tensor.Tensor_out",
        &[
            quantized(In(1, DOUBLE)),
            quantized(In(2, LONG)),
            quantized(Equal(Numel(1), ONE)),
            quantized(Equal(Numel(2), ONE)),
            quantized(CanResizeTo(6, Shape::Like(0))),
            quantized(In(0, FLOATS)),
            quantized(Equal(Int(5), Dtype(6))),
            quantized(In(6, QUANTIZED)),
            quantized(AtLeast(Int(3), Least(6))),
            quantized(AtMost(Int(4), Greatest(6))),
        ],
    ),
    (
        "quantized_decomposed::quantize_per_tensor.out",
        &[
            quantized(CanResizeTo(6, Shape::Like(0))),
            quantized(In(0, FLOATS)),
            quantized(Equal(Int(5), Dtype(6))),
            quantized(In(6, QUANTIZED)),
            quantized(AtLeast(Int(3), Least(6))),
            quantized(AtMost(Int(4), Greatest(6))),
        ],
    ),
    (
        "quantized_decomposed::quantize_per_token.out",
        &[
            quantized(In(1, DOUBLE)),
            quantized(In(2, LONG)),
            quantized(Equal(Numel(1), LeadingNumel(0, 1))),
            quantized(Equal(Numel(2), LeadingNumel(0, 1))),
            quantized(CanResizeTo(6, Shape::Like(0))),
            quantized(In(0, FLOATS)),
            quantized(Equal(Int(5), Dtype(6))),
            quantized(In(6, QUANTIZED)),
            quantized(AtLeast(Int(3), Least(6))),
            quantized(AtMost(Int(4), Greatest(6))),
        ],
    ),
];

/// Two tensors have a common dtype.
const PROMOTE: &[Term] = &[dtype(Promote(&[0, 1]))];

/// A tensor and a Scalar have a common dtype (`promote_type_with_scalar`).
const SCALAR: &[Term] = &[dtype(NotIn(0, OPAQUE))];

/// Division has its own common dtype. If it is complex, the kernel does not check the element size
/// of the output.
const DIV: &[Term] = &[
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
const DIV_MODE: &[Term] = &[
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
const STRIDES: &[Term] = &[
    number(NotEqual(Item(2, 0), ZERO)),
    number(NotEqual(Item(2, 1), ZERO)),
    number(AtMost(Item(1, 0), Const(MOST_SIZE))),
    number(AtMost(Item(1, 1), Const(MOST_SIZE))),
];

/// The greatest size of a dimension.
const MOST_SIZE: i64 = 0x7fff_ffff;

/// An index without elements may have any rank. The kernel still reads its sizes in all dimensions
/// except the indexed one.
const GATHER: &[Term] = &[shape(Any(&[
    NotEqual(Numel(2), ZERO),
    Not(&Any(&[Not(&IS_LAST), NotEqual(Plus(&Rank(2), &ONE), Rank(0))])),
    AtLeast(Rank(2), Rank(0)),
]))];

/// The divisor is not 0, and the quotient fits 64 bits.
const DIVISOR: &[Term] = &[
    number(NotEqual(Int(1), ZERO)),
    number(Any(&[NotEqual(Int(0), Const(i64::MIN)), NotEqual(Int(1), Const(-1))])),
];

const DIMENSION: &[Term] = &[shape(Dimension(1, 0))];

/// There are no images, or the images have rows and columns.
const UPSAMPLE: &[Term] = &[
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
const PAD1: &[Term] =
    &[shape(Any(&[AtMost(WIDER, ZERO), Equal(LeadingNumel(0, 1), ZERO), NotEqual(WIDTH, ZERO)]))];
const PAD2: &[Term] = &[
    shape(Any(&[AtMost(HIGHER, ZERO), Equal(LeadingNumel(0, 2), ZERO), NotEqual(HEIGHT, ZERO)])),
    shape(Any(&[
        AtMost(WIDER, ZERO),
        Equal(LeadingNumel(0, 2), ZERO),
        Equal(Plus(&HEIGHT, &HIGHER), ZERO),
        NotEqual(WIDTH, ZERO),
    ])),
];
const PAD3: &[Term] = &[
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
