//! Calls of each operator: one that keeps its contract, and arguments that break it.

const DTYPE: &str = "kernel-dtype";
pub(super) const SHAPE: &str = "kernel-shape";
pub(super) const NUMBER: &str = "kernel-number";
const QUANTIZED: &str = "quantized-contract";
const STRIDED: &str = "strided-out-of-bounds";

/// The names of operators, the arguments of a call, and replacements of one argument that break the
/// contract.
///
/// An argument is `FLOAT[2,3]`, a STATIC tensor, `FLOAT[2,3]~`, one that may be resized, or
/// `FLOAT[2,3]~^`, one that a call before has resized, if to the same sizes, and `FLOAT[2,3]r` is stored
/// first dimension last; `-`,
/// Null; `(1,2)`, an IntList; `b(1,0)`, a BoolList; `{…;…}`, a TensorList, and `<…;…>` an
/// OptionalTensorList, where `_` is no tensor; `'…'`, a String; a number with or without a point; `true`; or `.`, the
/// argument before once more.
pub(super) type Row = (&'static str, &'static str, &'static [(usize, &'static str, &'static str)]);

pub(super) const ROWS: &[Row] = &[
    (
        "aten::mul.out aten::eq.Tensor_out aten::ge.Tensor_out aten::gt.Tensor_out \
         aten::le.Tensor_out aten::lt.Tensor_out aten::ne.Tensor_out aten::bitwise_and.Tensor_out \
         aten::bitwise_or.Tensor_out aten::bitwise_xor.Tensor_out \
         aten::bitwise_left_shift.Tensor_out aten::bitwise_right_shift.Tensor_out \
         aten::floor_divide.out aten::fmod.Tensor_out aten::remainder.Tensor_out aten::maximum.out \
         aten::minimum.out aten::pow.Tensor_Tensor_out",
        "INT[2,3] LONG[2,3] LONG[2,3] .",
        &[
            (0, "QINT8[2,3]", DTYPE),
            (1, "QINT32[2,3]", DTYPE),
            (0, "BITS16[2,3]", DTYPE),
            (1, "18[2,3]", DTYPE),
            (0, "FLOAT8E5M2[2,3]", DTYPE),
            (1, "FLOAT8E4M3FN[2,3]~", DTYPE),
            (0, "UINT16[2,3]", DTYPE),
            (1, "UINT64[2,3]~", DTYPE),
        ],
    ),
    ("aten::maximum.out", "UINT16[2] UINT16[2] UINT16[2] .", &[(1, "UINT32[2]", DTYPE)]),
    (
        "aten::add.out aten::sub.out",
        "FLOAT[2] FLOAT[2] 1 FLOAT[2] .",
        &[(0, "UINT16[2]", DTYPE), (1, "QUINT8[2]", DTYPE)],
    ),
    (
        "aten::clamp.Tensor_out",
        "FLOAT[2] FLOAT[2] FLOAT[2] FLOAT[2] .",
        &[(0, "BITS16[2]", DTYPE), (1, "UINT32[2]", DTYPE), (2, "FLOAT8E5M2[2]", DTYPE)],
    ),
    ("aten::clamp.Tensor_out", "FLOAT[2] - FLOAT[2] FLOAT[2] .", &[(2, "UINT16[2]", DTYPE)]),
    (
        "aten::clamp.Tensor_out",
        "FLOAT[2] DOUBLE[2] FLOAT[2] DOUBLE[2] .",
        &[(2, "UINT16[2]", DTYPE), (2, "FLOAT8E5M2[2]", DTYPE)],
    ),
    (
        "aten::where.self_out",
        "BOOL[2] FLOAT[2] FLOAT[2] FLOAT[2] .",
        &[(1, "UINT16[2]", DTYPE), (2, "QINT8[2]", DTYPE)],
    ),
    (
        "aten::add.Scalar_out aten::sub.Scalar_out aten::rsub.Scalar_out",
        "FLOAT[2] 2 1 FLOAT[2] .",
        &[(0, "QINT8[2]", DTYPE), (0, "BITS16[2]~", DTYPE)],
    ),
    ("aten::clamp.out", "FLOAT[2] 2 - FLOAT[2] .", &[(0, "QINT8[2]", DTYPE), (0, "21[2]", DTYPE)]),
    (
        "aten::bitwise_and.Scalar_out aten::bitwise_or.Scalar_out aten::bitwise_xor.Scalar_out \
         aten::bitwise_left_shift.Tensor_Scalar_out aten::bitwise_right_shift.Tensor_Scalar_out \
         aten::eq.Scalar_out aten::ge.Scalar_out aten::gt.Scalar_out aten::le.Scalar_out \
         aten::lt.Scalar_out aten::ne.Scalar_out aten::mul.Scalar_out aten::fmod.Scalar_out \
         aten::remainder.Scalar_out aten::pow.Tensor_Scalar_out",
        "INT[2] 2 INT[2] .",
        &[(0, "QINT32[2]", DTYPE), (0, "BITS16[2]", DTYPE)],
    ),
    ("aten::pow.Scalar_out", "2 INT[2] INT[2] .", &[(1, "QINT32[2]", DTYPE)]),
    (
        "aten::remainder.Scalar_out",
        "BYTE[2]~ 3 BYTE[2] .",
        &[(1, "256", NUMBER), (1, "-4294967296", NUMBER)],
    ),
    ("aten::remainder.Scalar_out", "CHAR[2] 128 CHAR[2] .", &[(1, "256", NUMBER)]),
    (
        "aten::remainder.Scalar_out",
        "SHORT[2] 256 SHORT[2] .",
        &[(1, "65536", NUMBER), (1, "-65536", NUMBER), (0, "CHAR[2]", NUMBER)],
    ),
    (
        "aten::remainder.Scalar_out",
        "INT[2] 65536 INT[2] .",
        &[(1, "4294967296", NUMBER), (0, "SHORT[2]", NUMBER)],
    ),
    (
        "aten::squeeze_copy.dims_out",
        "FLOAT[1,3] (-2) FLOAT[3] .",
        &[(1, "(-3)", SHAPE), (1, "(2)", SHAPE), (1, "(0,-3)", SHAPE)],
    ),
    ("aten::remainder.Scalar_out", "INT[0] 4294967296 INT[0] .", &[(0, "INT[1]", NUMBER)]),
    (
        "aten::remainder.Scalar_out",
        "LONG[2] 4294967296 LONG[2] .",
        &[(0, "SHORT[2]", NUMBER), (1, "0", NUMBER)],
    ),
    (
        "aten::div.Scalar_mode_out",
        "INT[2] 2 'floor' INT[2] .",
        &[(0, "QINT32[2]", DTYPE), (1, "4294967296", NUMBER)],
    ),
    (
        "aten::div.out",
        "FLOAT[2] FLOAT[2] FLOAT[2] .",
        &[(0, "QINT8[2]", DTYPE), (1, "BITS16[2]", DTYPE), (0, "9[2]", DTYPE), (1, "9[2]", DTYPE)],
    ),
    ("aten::div.out", "9[2] 9[2] 9[2] .", &[(2, "FLOAT[2]", DTYPE)]),
    // A common dtype may be wider than either.
    (
        "aten::div.out",
        "FLOAT[2] 8[2] 9[2] .",
        &[(2, "FLOAT[2]", DTYPE), (2, "8[2]", DTYPE), (0, "DOUBLE[2]", DTYPE)],
    ),
    ("aten::div.out", "BFLOAT16[2] 8[2] 9[2] .", &[(2, "8[2]", DTYPE)]),
    ("aten::div.out", "HALF[2] 8[2] FLOAT[2] .", &[(2, "HALF[2]", DTYPE)]),
    ("aten::div.out", "INT[2] INT[2] FLOAT[2] .", &[(2, "INT[2]", DTYPE)]),
    ("aten::div.out", "INT[2] INT[1] INT[2] .", &[(1, "INT[2]", DTYPE)]),
    ("aten::div.out", "SHORT[2] INT[2] SHORT[2] .", &[(1, "SHORT[2]", DTYPE)]),
    ("aten::div.out", "LONG[0] LONG[0] LONG[0] .", &[(0, "QINT8[0]", DTYPE)]),
    (
        "aten::div.out_mode",
        "FLOAT[2] FLOAT[2] 'floor' FLOAT[2] .",
        &[(0, "UINT16[2]", DTYPE), (1, "QINT8[2]", DTYPE)],
    ),
    (
        "aten::embedding.out",
        "FLOAT[4,3] LONG[2] 0 false false FLOAT[2,3] .",
        &[(1, "FLOAT[2]", DTYPE), (1, "SHORT[2]~", DTYPE)],
    ),
    ("aten::cumsum.out", "INT[2] 0 - LONG[2] .", &[(0, "QINT32[2]", DTYPE), (0, "9[2]", DTYPE)]),
    (
        "aten::_fft_r2c.out",
        "FLOAT[2,4] (1) 0 true 9[2,3] .",
        &[(0, "UINT16[2,4]", DTYPE), (0, "QINT32[2,4]~", DTYPE)],
    ),
    (
        "aten::_fft_c2r.out",
        "9[2,3] (1) 0 4 FLOAT[2,4] .",
        &[
            (4, "UINT16[2,4]", DTYPE),
            (0, "9[2,2]", SHAPE),
            (0, "9[2,0]", SHAPE),
            (3, "6", SHAPE),
            (1, "(100000)", SHAPE),
            (1, "(0,2)", SHAPE),
            (1, "(-3)", SHAPE),
        ],
    ),
    (
        "aten::split_with_sizes_copy.out",
        "FLOAT[2,3] (1,2) 1 {FLOAT[2,1];FLOAT[2,2]} .",
        &[
            (3, "{FLOAT[2,1];HALF[2,2]~}", DTYPE),
            // A dimension below −rank.
            (2, "-3", SHAPE),
        ],
    ),
    (
        "aten::var_mean.correction_out",
        "FLOAT[2,3] (1) 1 false FLOAT[2] FLOAT[2] .",
        &[(5, "BYTE[2]", DTYPE), (4, "DOUBLE[2]", DTYPE)],
    ),
    (
        "aten::bmm.out",
        "FLOAT[2,3,4] FLOAT[2,4,5] FLOAT[2,3,5] .",
        &[(0, "FLOAT[2,3,5]", SHAPE), (1, "FLOAT[2,3,5]", SHAPE), (1, "FLOAT[8]~", SHAPE)],
    ),
    ("aten::bmm.out", "FLOAT[2,3,0] FLOAT[2,4,5] FLOAT[2,3,5] .", &[(0, "FLOAT[6]", SHAPE)]),
    // A tensor that a call has resized is not judged by its sizes in the file. A tensor that no
    // call resizes is, such as an input, which has its maximum size.
    (
        "aten::bmm.out",
        "FLOAT[2,3,9]~^ FLOAT[2,4,5] FLOAT[2,3,5] .",
        &[(0, "FLOAT[2,3,9]", SHAPE), (0, "FLOAT[2,3,9]~", SHAPE)],
    ),
    (
        "aten::cat.out",
        "{FLOAT[2,0];FLOAT[2,0]~;FLOAT[0]} 1 FLOAT[2,0] .",
        &[(1, "2", SHAPE), (1, "9223372036854775807", SHAPE)],
    ),
    ("aten::cat.out", "{FLOAT[0];FLOAT[0]} 3 FLOAT[0] .", &[]),
    (
        "aten::gather.out",
        "FLOAT[2,3,0] -1 LONG[0,3] false FLOAT[0,3] .",
        &[(1, "0", SHAPE), (1, "1", SHAPE), (2, "LONG[0]", SHAPE), (2, "LONG[0]~", SHAPE)],
    ),
    ("aten::gather.out", "FLOAT[2,3] 0 LONG[0,3] false FLOAT[0,3] .", &[(2, "LONG[0]", SHAPE)]),
    (
        "aten::scatter.value_out",
        "FLOAT[2,3,1] 2 LONG[0,3] 1 FLOAT[2,3,1] .",
        &[(1, "1", SHAPE), (2, "LONG[0]", SHAPE)],
    ),
    // If a tensor is stored first dimension last, its last dimension has the longest stride.
    (
        "aten::topk.values",
        "FLOAT[2,3] 2 1 true true FLOAT[2,2] LONG[2,2] .",
        &[(0, "FLOAT[2,3]r", SHAPE), (0, "FLOAT[2,3]r~", SHAPE)],
    ),
    ("aten::topk.values", "FLOAT[2,3]r 2 0 true true FLOAT[2,3]r LONG[2,3]r .", &[]),
    (
        "aten::sum.IntList_out",
        "FLOAT[] () false - FLOAT[] .",
        &[(1, "(0)", SHAPE), (1, "(-1)", SHAPE)],
    ),
    ("aten::sum.IntList_out", "FLOAT[2] (0) false - FLOAT[] .", &[(0, "FLOAT[]~", SHAPE)]),
    (
        "aten::view_copy.out",
        "FLOAT[0] (0,2) FLOAT[0,2] .",
        &[
            (1, "(0,-1)", NUMBER),
            (1, "(-1,0)", NUMBER),
            // In 64-bit arithmetic, this product is 0 too.
            (1, "(-1,9223372036854775807,-9223372036854775808,2)", NUMBER),
        ],
    ),
    ("aten::view_copy.out", "FLOAT[2,3] (3,-1) FLOAT[3,2] .", &[(1, "(0,-1)", NUMBER)]),
    (
        "aten::as_strided_copy.out",
        "FLOAT[2,3] (2,2) (3,1) 1 FLOAT[2,2] .",
        &[
            (3, "2", STRIDED),
            (3, "-1", STRIDED),
            (2, "(4,1)", STRIDED),
            (2, "(-1,1)", STRIDED),
            (2, "(1,-1)", STRIDED),
            (0, "FLOAT[5]", STRIDED),
        ],
    ),
    (
        "aten::as_strided_copy.out",
        "FLOAT[2,3] (4,2) (0,1) - FLOAT[4,2] .",
        &[(2, "(2,0)", STRIDED), (2, "(0,-1)", STRIDED)],
    ),
    (
        "aten::convolution.out",
        "FLOAT[1,4,5,5] FLOAT[2,4,1,1] FLOAT[2] (1,1) (0,0) (1,1) false (0,0) 1 FLOAT[1,2,5,5] .",
        &[
            (8, "0", NUMBER),
            (2, "FLOAT[1]", SHAPE),
            (2, "FLOAT[1]~", SHAPE),
            (2, "BOOL[2]", DTYPE),
            (2, "UINT16[2]", DTYPE),
            (2, "9[2]~", DTYPE),
        ],
    ),
    (
        "aten::convolution.out",
        "FLOAT[1,4,5,5] FLOAT[4,3,1,1] FLOAT[6] (1,1) (0,0) (1,1) true (0,0) 2 FLOAT[1,6,5,5] .",
        &[(8, "0", NUMBER), (2, "FLOAT[5]", SHAPE)],
    ),
    (
        "aten::convolution_backward.out",
        "FLOAT[1,2,5,5] FLOAT[1,4,5,5] FLOAT[2,4,1,1] (2) (1,1) (0,0) (1,1) false (0,0) 1 \
         b(1,1,1) FLOAT[1,4,5,5] FLOAT[2,4,1,1] FLOAT[2] .",
        &[(9, "0", NUMBER), (13, "FLOAT[1]", SHAPE)],
    ),
    (
        "aten::convolution_backward.out",
        "FLOAT[1,2,5,5] FLOAT[1,4,5,5] FLOAT[2,4,1,1] - (1,1) (0,0) (1,1) false (0,0) 1 \
         b(1,1,0) FLOAT[1,4,5,5] FLOAT[2,4,1,1] FLOAT[1] .",
        &[(10, "b(1,1,1)", SHAPE)],
    ),
    (
        "aten::_adaptive_avg_pool2d.out",
        "FLOAT[1,1,4,4] (2,2) FLOAT[1,1,2,2] .",
        // The low 32 bits are the sizes of the output.
        &[(1, "(4294967298,2)", NUMBER), (1, "(2,1125899906842626)", NUMBER)],
    ),
    (
        "aten::max_pool2d_with_indices.out",
        "FLOAT[1,1,4,4] (2,2) (2,2) (0,0) (1,1) false FLOAT[1,1,2,2] LONG[1,1,2,2] .",
        &[(2, "(0,2)", NUMBER), (2, "(2,0)", NUMBER), (2, "(0)", NUMBER)],
    ),
    (
        "aten::avg_pool2d.out",
        "FLOAT[1,1,4,4] (2,2) () (0,0) false true - FLOAT[1,1,2,2] .",
        &[
            (2, "(2,0)", NUMBER),
            (1, "(2,9223372036854775807)", NUMBER),
            (1, "(2147483648,2)", NUMBER),
        ],
    ),
    (
        "aten::max_pool2d_with_indices_backward.grad_input",
        "FLOAT[1,1,2,2] FLOAT[1,1,4,4] (2,2) (2,2) (0,0) (1,1) false LONG[1,1,2,2] \
         FLOAT[1,1,4,4] .",
        &[(3, "(0,2)", NUMBER), (3, "(2,0)", NUMBER), (7, "LONG[1,1,1,2]", SHAPE)],
    ),
    (
        "aten::pixel_shuffle.out",
        "FLOAT[1,4,2,2] 2 FLOAT[1,1,4,4] .",
        &[(1, "4294967296", NUMBER), (1, "-9223372036854775808", NUMBER)],
    ),
    (
        "aten::upsample_nearest2d.vec_out",
        "FLOAT[1,1,2,2] (4,4) - FLOAT[1,1,4,4] .",
        &[(0, "FLOAT[1,1,0,2]", SHAPE), (0, "FLOAT[1,1,2,0]", SHAPE)],
    ),
    ("aten::upsample_nearest2d.vec_out", "FLOAT[1,0,0,2] (4,4) - FLOAT[1,0,4,4]~ .", &[]),
    ("aten::upsample_nearest2d.vec_out", "FLOAT[0,1,2,0] (4,4) - FLOAT[0,1,4,4]~ .", &[]),
    (
        "aten::upsample_bilinear2d.vec_out",
        "FLOAT[1,1,2,2] (4,4) true - FLOAT[1,1,4,4] .",
        &[(0, "FLOAT[1,1,0,2]", SHAPE), (0, "FLOAT[1,1,2,0]", SHAPE)],
    ),
    (
        "aten::_upsample_bilinear2d_aa.out",
        "FLOAT[1,1,4,4] (2,2) true - - FLOAT[1,1,2,2] .",
        &[(0, "FLOAT[1,1,0,4]", SHAPE), (0, "FLOAT[1,1,4,0]", SHAPE)],
    ),
    (
        "aten::_log_softmax.out",
        "FLOAT[0,2]~ 1 false FLOAT[0,2]~ .",
        &[
            (0, "FLOAT[2,0]", SHAPE),
            (0, "FLOAT[2,0,3]", SHAPE),
            // A size whose upper bound is 0 is 0, however it is resized.
            (0, "FLOAT[2,0,3]~", SHAPE),
            (1, "0", SHAPE),
        ],
    ),
    (
        "aten::_log_softmax.out",
        "FLOAT[2,3] 0 false FLOAT[2,3] .",
        &[(0, "FLOAT[2,0]", SHAPE), (0, "FLOAT[2,3,0]", SHAPE), (0, "FLOAT[0,0]~", SHAPE)],
    ),
    ("aten::_log_softmax.out", "FLOAT[0,0] -1 false FLOAT[0,0] .", &[(1, "0", SHAPE)]),
    ("aten::sym_size.int", "FLOAT[2,3]~ 1 =", &[(1, "2", SHAPE), (1, "-1", SHAPE)]),
    ("aten::narrow_copy.out", "FLOAT[2,3] 1 0 2 FLOAT[2,2] .", &[(1, "-1", SHAPE)]),
    (
        "aten::unbind_copy.int_out",
        "FLOAT[2,3] -2 {FLOAT[3];FLOAT[3]} .",
        &[(1, "-3", SHAPE), (1, "2", SHAPE)],
    ),
    ("aten::unfold_copy.out", "FLOAT[2,3] -1 1 1 FLOAT[2,3,1] .", &[(1, "-3", SHAPE)]),
    (
        "aten::amin.out aten::amax.out",
        "FLOAT[2,3] (1) false FLOAT[2] .",
        &[(0, "FLOAT[2,0]", SHAPE), (0, "FLOAT[2,0]~", SHAPE)],
    ),
    ("aten::argmin.out aten::argmax.out", "FLOAT[2] - false LONG[]~ .", &[(0, "FLOAT[0]", SHAPE)]),
    ("aten::argmin.out aten::argmax.out", "FLOAT[0,3] 1 false LONG[0] .", &[(3, "LONG[1]", SHAPE)]),
    ("aten::replication_pad1d.out", "FLOAT[2,3] (1,1) FLOAT[2,5] .", &[(0, "FLOAT[2,0]", SHAPE)]),
    (
        "aten::replication_pad2d.out",
        "FLOAT[2,3,3] (1,1,1,1) FLOAT[2,5,5] .",
        &[(0, "FLOAT[2,0,3]", SHAPE), (0, "FLOAT[2,3,0]", SHAPE)],
    ),
    // The output is empty, but the elements to repeat are checked all the same.
    (
        "aten::replication_pad2d.out",
        "FLOAT[1,3,2] (0,-2,2,0) FLOAT[1,5,0] .",
        &[(0, "FLOAT[1,0,2]", SHAPE), (0, "FLOAT[1,0,2]~", SHAPE)],
    ),
    ("aten::replication_pad2d.out", "FLOAT[0,0,2] (0,-2,2,0) FLOAT[0,2,0] .", &[]),
    ("aten::replication_pad2d.out", "FLOAT[1,0,0] (1,1,0,0) FLOAT[1,0,2] .", &[]),
    (
        "aten::replication_pad3d.out",
        "FLOAT[2,3,3,3] (1,1,1,1,1,1) FLOAT[2,5,5,5] .",
        &[(0, "FLOAT[2,3,3,0]", SHAPE), (0, "FLOAT[2,3,0,3]", SHAPE), (0, "FLOAT[2,0,3,3]", SHAPE)],
    ),
    (
        "aten::replication_pad3d.out",
        "FLOAT[1,2,1,2] (0,-2,0,-1,1,0) FLOAT[1,3,0,0] .",
        &[(0, "FLOAT[1,0,1,2]", SHAPE)],
    ),
    (
        "aten::replication_pad3d.out",
        "FLOAT[1,0,0,0] (1,1,1,1,0,0) FLOAT[1,0,2,2] .",
        &[(1, "(1,1,1,1,1,0)", SHAPE)],
    ),
    (
        "aten::arange.out",
        "3 FLOAT[3] .",
        &[(0, "inf", NUMBER), (0, "1e308", NUMBER), (0, "2147483648", NUMBER)],
    ),
    (
        "aten::arange.start_out",
        "0 3 1 FLOAT[3] .",
        &[
            (1, "inf", NUMBER),
            (0, "-9223372036854775808", NUMBER),
            (2, "1e-10", NUMBER),
            (2, "false", NUMBER),
        ],
    ),
    (
        "aten::native_group_norm.out",
        "FLOAT[1,2,2,2] FLOAT[2] FLOAT[2] 1 2 4 1 0.5 FLOAT[1,2,2,2] FLOAT[1,1] FLOAT[1,1] .",
        &[
            (0, "FLOAT[]", SHAPE),
            (0, "FLOAT[1]", SHAPE),
            (1, "FLOAT[]", SHAPE),
            (2, "FLOAT[]", SHAPE),
        ],
    ),
    (
        "aten::index.Tensor_out",
        "FLOAT[3,3] <-;BYTE[3]> FLOAT[9]~ .",
        &[
            (1, "<-;BYTE[3,3]>", SHAPE),
            (1, "<BOOL[3,3,3]>", SHAPE),
            (1, "<LONG[1];BOOL[3,3]>", SHAPE),
            (1, "<BYTE[3];BYTE[3,3]>", SHAPE),
        ],
    ),
    ("aten::index.Tensor_out", "FLOAT[] <BOOL[]> FLOAT[1]~ .", &[(1, "<BOOL[1]>", SHAPE)]),
    // No mask: one dimension each.
    (
        "aten::index.Tensor_out",
        "FLOAT[3,3] <LONG[2,2];LONG[2,2]> FLOAT[2,2] .",
        &[(1, "<LONG[2,2];LONG[2,2];LONG[2,2]>", SHAPE)],
    ),
    (
        "aten::index.Tensor_out",
        "FLOAT[3,3] <_;BYTE[3]> FLOAT[9]~ .",
        &[(1, "<_;BYTE[3,3]>", SHAPE)],
    ),
    (
        "aten::index_put.out",
        "FLOAT[3,3] <BOOL[3,3]> FLOAT[1] false FLOAT[3,3] .",
        &[(1, "<-;BOOL[3,3]>", SHAPE), (0, "FLOAT[3]", SHAPE)],
    ),
    ("aten::index_put_", "FLOAT[3] <LONG[1]> FLOAT[1] false =", &[(2, "FLOAT[]", SHAPE)]),
    (
        "aten::index_put_",
        "FLOAT[1,4,3] <_;LONG[2]> FLOAT[1,2,3] false =",
        &[(2, "FLOAT[6]~", SHAPE)],
    ),
    ("aten::view_as_real_copy.out", "9[2] FLOAT[2,2] .", &[(1, "FLOAT[]", SHAPE)]),
    (
        "executorch_prim::floordiv.int executorch_prim::mod.int executorch_prim::mod.Scalar \
         executorch_prim::floordiv.Scalar",
        "3 2 =",
        &[(1, "0", NUMBER)],
    ),
    (
        "executorch_prim::floordiv.int executorch_prim::mod.int executorch_prim::mod.Scalar \
         executorch_prim::floordiv.Scalar",
        "-9223372036854775808 1 =",
        &[(1, "-1", NUMBER)],
    ),
    ("executorch_prim::floordiv.Scalar", "3.5 0 =", &[(0, "3", NUMBER)]),
    ("executorch_prim::floordiv.Scalar", "3 0.0 =", &[(1, "0", NUMBER)]),
    (
        "quantized_decomposed::quantize_per_tensor.out",
        "FLOAT[2,3] 0.5 0 -128 127 1 CHAR[2,3] .",
        &[
            (0, "FLOAT[3,3]", QUANTIZED),
            (0, "FLOAT[3]~", QUANTIZED),
            (0, "INT[2,3]", QUANTIZED),
            (0, "BFLOAT16[2,3]", QUANTIZED),
            (3, "-129", QUANTIZED),
            (4, "128", QUANTIZED),
            (5, "0", QUANTIZED),
            (6, "CHAR[2,3,1]", QUANTIZED),
            (6, "CHAR[5,1]~", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::quantize_per_tensor.out",
        "HALF[2]~ 0.5 0 0 65535 27 UINT16[2] .",
        &[(3, "-1", QUANTIZED), (4, "65536", QUANTIZED)],
    ),
    (
        "quantized_decomposed::quantize_per_tensor.out",
        "FLOAT[2] 0.5 0 -32768 32767 2 SHORT[2] .",
        &[(3, "-32769", QUANTIZED), (4, "32768", QUANTIZED)],
    ),
    (
        "quantized_decomposed::quantize_per_tensor.out",
        "FLOAT[2] 0.5 0 -2147483648 2147483647 3 INT[2] .",
        &[(3, "-2147483649", QUANTIZED), (4, "2147483648", QUANTIZED)],
    ),
    (
        "quantized_decomposed::quantize_per_tensor.Tensor_out",
        "FLOAT[2,3] DOUBLE[1] LONG[1] 0 255 0 BYTE[2,3] .",
        &[
            (1, "FLOAT[1]", QUANTIZED),
            (1, "DOUBLE[2]", QUANTIZED),
            (2, "INT[1]", QUANTIZED),
            (2, "LONG[0]", QUANTIZED),
            (3, "-1", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::quantize_per_channel.out",
        "FLOAT[2,3] DOUBLE[3] LONG[3] 1 -128 127 1 CHAR[2,3] .",
        &[
            (1, "DOUBLE[2]", QUANTIZED),
            (1, "FLOAT[3]", QUANTIZED),
            (2, "LONG[4]", QUANTIZED),
            (2, "INT[3]", QUANTIZED),
            (3, "0", QUANTIZED),
            (3, "2", QUANTIZED),
            (3, "-3", QUANTIZED),
            (5, "128", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::quantize_per_token.out",
        "FLOAT[2,3] DOUBLE[2,1] LONG[2,1] -128 127 1 CHAR[2,3] .",
        &[(1, "DOUBLE[3,1]", QUANTIZED), (2, "LONG[1]", QUANTIZED), (5, "2", QUANTIZED)],
    ),
    (
        "quantized_decomposed::dequantize_per_tensor.out",
        "CHAR[2,3] 0.5 0 -128 127 1 - FLOAT[2,3] .",
        &[
            (0, "BYTE[2,3]", QUANTIZED),
            (0, "CHAR[2,4]", QUANTIZED),
            (3, "128", QUANTIZED),
            (5, "2", QUANTIZED),
            (6, "7", QUANTIZED),
            (7, "INT[2,3]", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::dequantize_per_tensor.Tensor_out",
        "CHAR[2,3] DOUBLE[1] LONG[1] -128 127 1 - FLOAT[2,3] .",
        &[(1, "DOUBLE[2]", QUANTIZED), (1, "FLOAT[1]", QUANTIZED), (2, "INT[1]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::dequantize_per_channel.out",
        "CHAR[2,3] DOUBLE[3] LONG[3] -1 -128 127 1 - FLOAT[2,3] .",
        &[
            (1, "HALF[3]", QUANTIZED),
            (1, "DOUBLE[2]", QUANTIZED),
            (2, "SHORT[3]", QUANTIZED),
            (2, "LONG[2]", QUANTIZED),
            (3, "2", QUANTIZED),
            (4, "1", QUANTIZED),
            (5, "-1", QUANTIZED),
            (8, "BYTE[2,3]", QUANTIZED),
            // Without an output dtype, elements of FLOAT are written.
            (8, "HALF[2,3]", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::dequantize_per_channel.out",
        "BYTE[2,3] FLOAT[2] - 0 0 255 0 7 DOUBLE[2,3] .",
        &[(7, "6", QUANTIZED), (3, "1", QUANTIZED)],
    ),
    // Only from CHAR, and only to FLOAT, are the zero points held to the range; without any it is 0.
    (
        "quantized_decomposed::dequantize_per_channel.out",
        "BYTE[2,3] DOUBLE[2] LONG[2] 0 1 255 0 - FLOAT[2,3] .",
        &[(2, "LONG[3]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::dequantize_per_channel.out",
        "CHAR[2,3] DOUBLE[2] LONG[2] 0 1 127 1 7 DOUBLE[2,3] .",
        &[(7, "-", QUANTIZED)],
    ),
    (
        "quantized_decomposed::dequantize_per_channel.out",
        "CHAR[2,3] DOUBLE[2] - 0 0 127 1 6 FLOAT[2,3] .",
        &[(4, "1", QUANTIZED)],
    ),
    (
        "quantized_decomposed::dequantize_per_token.out",
        "CHAR[2,3] DOUBLE[2,1] LONG[2,1] -128 127 1 6 FLOAT[2,3] .",
        &[
            (1, "DOUBLE[3,1]", QUANTIZED),
            (2, "LONG[1]", QUANTIZED),
            (3, "1", QUANTIZED),
            (4, "-1", QUANTIZED),
            (6, "5", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::choose_qparams.Tensor_out",
        "FLOAT[2,3] -128 127 0.5 1 DOUBLE[1] LONG[1] .",
        &[
            (0, "HALF[2,3]", QUANTIZED),
            (0, "FLOAT[2,0]", QUANTIZED),
            (2, "-128", QUANTIZED),
            (5, "FLOAT[1]", QUANTIZED),
            (5, "DOUBLE[2]", QUANTIZED),
            // The kernel does not resize it.
            (5, "DOUBLE[2]~", QUANTIZED),
            (6, "INT[1]", QUANTIZED),
            (6, "LONG[0]", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
        "FLOAT[2,3] 1 DOUBLE[2,1] LONG[2,1] .",
        &[
            (0, "HALF[2,3]", QUANTIZED),
            (0, "FLOAT[2,0]", QUANTIZED),
            (2, "FLOAT[2,1]", QUANTIZED),
            (2, "DOUBLE[2]", QUANTIZED),
            (3, "INT[2,1]", QUANTIZED),
            (3, "LONG[2,3]", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::add.out",
        "BYTE[2,3] 0.5 0 0 255 BYTE[2,3] 0.5 0 0 255 0.5 0 0 255 BYTE[2,3] .",
        &[
            (0, "CHAR[2,3]", QUANTIZED),
            (5, "BYTE[3]", QUANTIZED),
            (5, "BYTE[6]~", QUANTIZED),
            (5, "BYTE[3,2]", QUANTIZED),
            // The kernel does not resize it.
            (14, "BYTE[3,2]~", QUANTIZED),
            (14, "BYTE[2,4]", QUANTIZED),
            (14, "SHORT[2,3]", QUANTIZED),
            (3, "-1", QUANTIZED),
            (4, "256", QUANTIZED),
            (8, "256", QUANTIZED),
            (12, "-1", QUANTIZED),
            (13, "-1", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::add.out",
        "LONG[] 0.5 0 0 255 LONG[1] 0.5 0 0 255 0.5 0 0 255 LONG[1,1] .",
        &[],
    ),
    (
        "quantized_decomposed::mixed_linear.out",
        "FLOAT[2,4] CHAR[3,4] FLOAT[3,2] - - FLOAT[2,3] .",
        &[(2, "FLOAT[3,0]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::mixed_linear.out",
        "FLOAT[0,0] CHAR[3,0] FLOAT[3] - - FLOAT[0,3] .",
        &[(0, "FLOAT[2,0]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::embedding_byte.out",
        "CHAR[4,6] FLOAT[4,2] FLOAT[4,2] -128 127 LONG[2] FLOAT[2,6] .",
        &[
            (0, "CHAR[4,6,1]", QUANTIZED),
            (0, "SHORT[4,6]", QUANTIZED),
            (1, "FLOAT[]", QUANTIZED),
            (1, "FLOAT[3,2]", QUANTIZED),
            (1, "FLOAT[4,4]", QUANTIZED),
            (1, "FLOAT[4,0]", QUANTIZED),
            (1, "DOUBLE[4,2]", QUANTIZED),
            (2, "FLOAT[4]", QUANTIZED),
            (2, "FLOAT[4,1]", QUANTIZED),
            (2, "HALF[4,2]", QUANTIZED),
            (3, "128", QUANTIZED),
            (5, "INT[2]", QUANTIZED),
            (5, "LONG[2,2]", QUANTIZED),
            (6, "FLOAT[6]", QUANTIZED),
            (6, "FLOAT[2,5]", QUANTIZED),
            (6, "DOUBLE[2,6]", QUANTIZED),
        ],
    ),
    // Without rows, every index is out of range.
    (
        "quantized_decomposed::embedding_byte.out quantized_decomposed::embedding_4bit.out \
         quantized_decomposed::embedding_2bit.out",
        "BYTE[0,2] FLOAT[0] - -2 1 LONG[0] FLOAT[1,8]~ .",
        &[(5, "LONG[1]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::embedding_byte.dtype_out \
         quantized_decomposed::embedding_4bit.dtype_out \
         quantized_decomposed::embedding_2bit.dtype_out",
        "BYTE[0,2] FLOAT[0] - -2 1 LONG[0] 6 FLOAT[1,8]~ .",
        &[(5, "LONG[1]", QUANTIZED)],
    ),
    // An output of no dimensions, or of more than there are, even if it has room.
    (
        "quantized_decomposed::embedding_byte.out",
        "CHAR[4,1] FLOAT[4] - -128 127 LONG[1] FLOAT[1,1]~ .",
        &[(6, "FLOAT[]", QUANTIZED), (6, "FLOAT[1,1,1]~", QUANTIZED)],
    ),
    (
        "quantized_decomposed::embedding_byte.dtype_out",
        "BYTE[4,6] FLOAT[4] - 0 255 LONG[2] 6 FLOAT[2,6] .",
        &[(6, "5", QUANTIZED), (5, "INT[2]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::embedding_4bit.out",
        "BYTE[4,3] FLOAT[4,3] - -8 7 INT[2] FLOAT[2,6] .",
        &[
            (0, "CHAR[4,3]", QUANTIZED),
            (1, "FLOAT[4,4]", QUANTIZED),
            (4, "-9", QUANTIZED),
            (5, "SHORT[2]", QUANTIZED),
            (6, "FLOAT[6]", QUANTIZED),
            (6, "FLOAT[2,3]", QUANTIZED),
        ],
    ),
    (
        "quantized_decomposed::embedding_4bit.out",
        "BYTE[4,3] FLOAT[4] - -8 7 LONG[2,1] FLOAT[2,6] .",
        &[(5, "LONG[2,2]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::embedding_4bit.dtype_out",
        "BYTE[4,3] FLOAT[4] - -8 7 LONG[2] 6 FLOAT[2,6] .",
        &[(6, "5", QUANTIZED)],
    ),
    (
        "quantized_decomposed::embedding_2bit.out",
        "BYTE[4,3] FLOAT[4,4] - -2 1 LONG[2] FLOAT[2,12] .",
        &[(1, "FLOAT[4,5]", QUANTIZED), (6, "FLOAT[2,6]", QUANTIZED)],
    ),
    (
        "quantized_decomposed::embedding_2bit.dtype_out",
        "BYTE[4,3] FLOAT[4] - -2 1 LONG[2] - FLOAT[2,12] .",
        &[(6, "5", QUANTIZED)],
    ),
];
