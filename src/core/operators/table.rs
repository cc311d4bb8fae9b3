//! The operators of the official runtime, one row each. `tests/tools/kernels.py` writes the letters and
//! the dtypes from installed wheels, and keeps the rest of each row.

use super::contracts::terms::*;
use super::kernel::*;
use super::kind::Kind;

/// The operators of the official runtime, sorted by full name.
pub static KERNELS: &[Kernel] = kernels! {
    "aten::_adaptive_avg_pool2d.out" "tlw." since: (1, 3), dtypes_since: &[((1, 3), 0x80f0)];
    "aten::_cdist_forward.out" "ttdIw." dtypes: FLOATS;
    "aten::_conj_physical.out" "tw." since: (1, 2), dtypes: 0x700;
    "aten::_fft_c2r.out" "tliiw." since: (0, 7), contract: FFT_C2R, dtypes: ANY;
    "aten::_fft_r2c.out" "tlibw." since: (0, 6), contract: FFT_R2C, dtypes: 0x380008df;
    "aten::_local_scalar_dense" "t$" dtypes: 0x8df;
    "aten::_log_softmax.out" "tibw." contract: LOG_SOFTMAX, dtypes: 0x40, dtypes_since: &[((1, 4), 0x8060)];
    "aten::_native_batch_norm_legit.no_stats_out" "tTTbddwww." dtypes: FLOATS;
    "aten::_native_batch_norm_legit.out" "tTTttbddwww." dtypes: FLOATS;
    "aten::_native_batch_norm_legit_no_training.out" "tTTttddwww." dtypes: FLOATS;
    "aten::_pdist_forward.out" "tdw." dtypes: FLOATS;
    "aten::_softmax.out" "tibw." dtypes: FLOATS;
    "aten::_to_copy.out" "tbIw." copied: same(0), dtypes: REAL_OR_BOOL;
    "aten::_upsample_bilinear2d_aa.out" "tlbDDw." since: (1, 0), contract: UPSAMPLE, dtypes: REAL;
    "aten::abs.out" "tw." dtypes: 0x87ff;
    "aten::acos.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::acosh.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::add.Scalar_out" "tssw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::add.out" "ttsw." contract: PROMOTE, dtypes: ANY;
    "aten::addmm.out" "tttssw." hazard: sized(&[1, 2]), dtypes: REAL_OR_BOOL;
    "aten::alias_copy.out" "tw." copied: same(0), dtypes: ANY;
    "aten::allclose.Tensor" "ttddbb@";
    "aten::allclose.out" "ttddbbw.";
    "aten::amax.out" "tlbw." contract: EXTREME, dtypes: REAL_OR_BOOL;
    "aten::amin.out" "tlbw." contract: EXTREME, dtypes: REAL_OR_BOOL;
    "aten::any.all_out" "tw." dtypes: REAL_OR_BOOL;
    "aten::any.dims_out" "tLbw." dtypes: REAL_OR_BOOL;
    "aten::any.out" "tibw." dtypes: REAL_OR_BOOL;
    "aten::arange.out" "sw." contract: ARANGE, dtypes: REAL_OR_BOOL;
    "aten::arange.start_out" "sssw." contract: ARANGE_START, dtypes: REAL_OR_BOOL;
    "aten::argmax.out" "tIbw." contract: ARGMAX, dtypes: REAL;
    "aten::argmin.out" "tIbw." contract: ARGMAX, dtypes: REAL;
    "aten::as_strided_copy.out" "tllIw." contract: AS_STRIDED_COPY, dtypes: REAL_OR_COMPLEX;
    "aten::asin.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::asinh.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::atan.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::atan2.out" "ttw." dtypes: REAL_OR_BOOL;
    "aten::atanh.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::avg_pool2d.out" "tlllbbIw." contract: STRIDES, dtypes: 0x80f0;
    "aten::bitwise_and.Scalar_out" "tsw." contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_and.Tensor_out" "ttw." contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_left_shift.Tensor_Scalar_out" "tsw." since: (1, 1), contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_left_shift.Tensor_out" "ttw." since: (1, 1), contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_not.out" "tw." dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_or.Scalar_out" "tsw." contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_or.Tensor_out" "ttw." contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_right_shift.Tensor_Scalar_out" "tsw." since: (1, 1), contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_right_shift.Tensor_out" "ttw." since: (1, 1), contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_xor.Scalar_out" "tsw." contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_xor.Tensor_out" "ttw." contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bmm.out" "ttw." contract: BMM, dtypes: 0x87ff;
    "aten::cat.out" "viw." contract: CAT, hazard: sized(&[0]), dtypes: REAL_OR_COMPLEX;
    "aten::ceil.out" "tw." dtypes: REAL;
    "aten::clamp.Tensor_out" "tTTw." contract: CLAMP, dtypes: REAL_OR_PROMOTED;
    "aten::clamp.out" "tSSw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::clone.out" "tIw." copied: same(0), dtypes: ANY;
    "aten::constant_pad_nd.out" "tlsw." dtypes: REAL_OR_BOOL;
    "aten::convolution.out" "ttTlllbliw." contract: CONVOLUTION, dtypes: REAL;
    "aten::convolution_backward.out" "tttLlllblimwww." contract: CONVOLUTION_BACKWARD, dtypes: FLOATS;
    "aten::copy.out" "ttbw." copied: reshaped(1), dtypes: REAL_OR_BOOL;
    "aten::copy_" "wtb@" copied: reshaped(1), dtypes: ANY;
    "aten::cos.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::cosh.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::cumsum.out" "tiIw." contract: CUMSUM, dtypes: ANY;
    "aten::detach_copy.out" "tw." copied: same(0), dtypes: ANY;
    "aten::diagonal_copy.out" "tiiiw." dtypes: REAL_OR_COMPLEX;
    "aten::div.Scalar_mode_out" "tsZw." contract: DIV_SCALAR_MODE, dtypes: REAL_OR_BOOL;
    "aten::div.Scalar_out" "tsw." dtypes: REAL_OR_BOOL;
    "aten::div.out" "ttw." contract: DIV, dtypes: REAL_OR_COMPLEX;
    "aten::div.out_mode" "ttZw." contract: DIV_MODE, dtypes: REAL_OR_PROMOTED;
    "aten::elu.out" "tsssw." since: (0, 6), dtypes: 0x88e0;
    "aten::embedding.out" "ttibbw." contract: EMBEDDING, dtypes: ANY;
    "aten::empty.out" "lIw." dtypes: ANY;
    "aten::eq.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::eq.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::erf.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::exp.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::expand_copy.out" "tlbw." copied: reshaped(0), dtypes: ANY;
    "aten::expm1.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::fill.Scalar_out" "tsw." dtypes: REAL_OR_BOOL;
    "aten::fill.Tensor_out" "ttw." dtypes: REAL_OR_BOOL;
    "aten::flip.out" "tlw." dtypes: REAL_OR_BOOL;
    "aten::floor.out" "tw." dtypes: REAL;
    "aten::floor_divide.out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::fmod.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::fmod.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::full.out" "lsw." dtypes: REAL_OR_BOOL;
    "aten::full_like.out" "hsIw." dtypes: ANY;
    "aten::gather.out" "titbw." contract: GATHER, hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::ge.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::ge.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::gelu.out" "tzw." dtypes: FLOATS;
    "aten::glu.out" "tiw." dtypes: FLOATS;
    "aten::grid_sampler_2d.out" "ttiibw." since: (1, 1), dtypes: REAL;
    "aten::gt.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::gt.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::hardtanh.out" "tssw." dtypes: REAL_OR_BOOL;
    "aten::index.Tensor_out" "tow." contract: INDEX, hazard: read(&[1]), dtypes: ANY;
    "aten::index_put.out" "totbw." contract: INDEX, hazard: read(&[1]), dtypes: REAL_OR_BOOL;
    "aten::index_put_" "wotb@" since: (0, 7), contract: INDEX_PUT_IN_PLACE, hazard: read(&[1]), dtypes: 0x18;
    "aten::index_select.out" "titw." hazard: read(&[2]), dtypes: ANY;
    "aten::isinf.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::isnan.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::le.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::le.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::leaky_relu.out" "tsw." dtypes: 0x88e0;
    "aten::lift_fresh_copy.out" "tw." copied: same(0), dtypes: ANY;
    "aten::linear.out" "ttTw." since: (0, 5), hazard: sized(&[0, 1]), dtypes: REAL;
    "aten::log.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::log10.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::log1p.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::log2.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::logical_and.out" "ttw." dtypes: REAL_OR_BOOL;
    "aten::logical_not.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::logical_or.out" "ttw." dtypes: REAL_OR_BOOL;
    "aten::logical_xor.out" "ttw." dtypes: REAL_OR_BOOL;
    "aten::logit.out" "tDw." dtypes: REAL_OR_BOOL;
    "aten::lt.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::lt.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::masked_fill.Scalar_out" "ttsw." dtypes: REAL_OR_BOOL;
    "aten::masked_scatter.out" "tttw." since: (0, 5), dtypes: REAL_OR_BOOL;
    "aten::masked_select.out" "ttw." since: (0, 5), hazard: read(&[1]), dtypes: REAL_OR_BOOL;
    "aten::max.dim_max" "tibww." dtypes: REAL_OR_BOOL;
    "aten::max.unary_out" "tw." since: (0, 5), dtypes: REAL_OR_BOOL;
    "aten::max_pool2d_with_indices.out" "tllllbww." contract: STRIDES, dtypes: REAL;
    "aten::max_pool2d_with_indices_backward.grad_input" "ttllllbtw."
        since: (0, 6), contract: MAX_POOL2D_WITH_INDICES_BACKWARD, hazard: read(&[7]), dtypes: FLOATS;
    "aten::maximum.out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::mean.dtype_out" "tIw." since: (0, 6), dtypes: REAL_OR_BOOL;
    "aten::mean.out" "tLbIw." dtypes: REAL_OR_BOOL;
    "aten::min.dim_min" "tibww." dtypes: REAL_OR_BOOL;
    "aten::min.unary_out" "tw." since: (0, 5), dtypes: REAL_OR_BOOL;
    "aten::minimum.out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::mm.out" "ttw." hazard: sized(&[0, 1]), dtypes: REAL;
    "aten::mul.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::mul.out" "ttw." contract: PROMOTE, dtypes: ANY;
    "aten::narrow_copy.out" "tiiiw." contract: NARROW_COPY, dtypes: ANY;
    "aten::native_dropout.out" "tdBww." since: (0, 7), dtypes: ANY;
    "aten::native_group_norm.out" "tTTiiiidwww." contract: NATIVE_GROUP_NORM, dtypes: FLOATS;
    "aten::native_layer_norm.out" "tlTTdwww." dtypes: FLOATS;
    "aten::ne.Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::ne.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::neg.out" "tw." dtypes: REAL;
    "aten::nonzero.out" "tw." hazard: read(&[0]), dtypes: REAL_OR_BOOL;
    "aten::ones.out" "lw." dtypes: REAL_OR_BOOL;
    "aten::permute_copy.out" "tlw." copied: reshaped(0), dtypes: REAL_OR_COMPLEX;
    "aten::pixel_shuffle.out" "tiw." contract: PIXEL_SHUFFLE, dtypes: ANY;
    "aten::pixel_unshuffle.out" "tiw." dtypes: ANY;
    "aten::pow.Scalar_out" "stw." contract: POW_SCALAR, dtypes: REAL_OR_BOOL;
    "aten::pow.Tensor_Scalar_out" "tsw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::pow.Tensor_Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::prod.int_out" "tibIw." dtypes: REAL_OR_BOOL;
    "aten::prod.out" "tIw." dtypes: REAL_OR_BOOL;
    "aten::rand.out" "lw." since: (0, 7), dtypes: FLOATS;
    "aten::randn.out" "lw." since: (0, 7), dtypes: FLOATS;
    "aten::reciprocal.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::reflection_pad1d.out" "tlw." dtypes: REAL_OR_COMPLEX;
    "aten::reflection_pad2d.out" "tlw." dtypes: REAL_OR_COMPLEX;
    "aten::reflection_pad3d.out" "tlw." dtypes: REAL_OR_COMPLEX;
    "aten::relu.out" "tw." dtypes: REAL;
    "aten::remainder.Scalar_out" "tsw." contract: REMAINDER_SCALAR, dtypes: REAL_OR_BOOL;
    "aten::remainder.Tensor_out" "ttw." contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::repeat.out" "tlw." dtypes: ANY;
    "aten::repeat_interleave.Tensor_out" "tIw." since: (0, 5), hazard: read(&[0]);
    "aten::replication_pad1d.out" "tlw." contract: PAD1, dtypes: REAL_OR_COMPLEX;
    "aten::replication_pad2d.out" "tlw." contract: PAD2, dtypes: REAL_OR_COMPLEX;
    "aten::replication_pad3d.out" "tlw." contract: PAD3, dtypes: REAL_OR_COMPLEX;
    "aten::roll.out" "tllw." dtypes: REAL_OR_BOOL;
    "aten::round.out" "tw." dtypes: REAL;
    "aten::rsqrt.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::rsub.Scalar_out" "tssw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::scalar_tensor.out" "sw." dtypes: REAL_OR_BOOL;
    "aten::scatter.src_out" "tittw." hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::scatter.value_out" "titsw." contract: GATHER, hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::scatter_add.out" "tittw." hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::select_copy.int_out" "tiiw." dtypes: ANY;
    "aten::select_scatter.out" "ttiiw." dtypes: REAL_OR_BOOL;
    "aten::sigmoid.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::sign.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::sin.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::sinh.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::slice_copy.Tensor_out" "tiIIiw." dtypes: ANY;
    "aten::slice_scatter.out" "ttiIIiw." dtypes: REAL_OR_BOOL;
    "aten::split_copy.Tensor_out" "tiix." dtypes: REAL_OR_BOOL;
    "aten::split_with_sizes_copy.out" "tlix." contract: SPLIT_WITH_SIZES_COPY, dtypes: REAL_OR_BOOL;
    "aten::sqrt.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::squeeze_copy.dim_out" "tiw." copied: reshaped(0), dtypes: ANY;
    "aten::squeeze_copy.dims_out" "tlw." contract: SQUEEZE_COPY, copied: reshaped(0), dtypes: ANY;
    "aten::stack.out" "viw." dtypes: REAL_OR_BOOL;
    "aten::sub.Scalar_out" "tssw." contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::sub.out" "ttsw." contract: PROMOTE, dtypes: ANY;
    "aten::sum.IntList_out" "tLbIw." contract: SUM, dtypes: REAL_OR_COMPLEX;
    "aten::sym_numel" "h#" dtypes: ANY;
    "aten::sym_size.int" "hi#" contract: SYM_SIZE, dtypes: ANY;
    "aten::t_copy.out" "tw." copied: reshaped(0), dtypes: REAL_OR_COMPLEX;
    "aten::tan.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::tanh.out" "tw." dtypes: REAL_OR_BOOL;
    "aten::topk.values" "tiibbww." contract: TOPK, hazard: sized(&[0]), dtypes: REAL;
    "aten::transpose_copy.int_out" "tiiw." copied: reshaped(0), dtypes: REAL_OR_COMPLEX;
    "aten::tril.out" "tiw." dtypes: REAL_OR_BOOL;
    "aten::trunc.out" "tw." dtypes: REAL;
    "aten::unbind_copy.int_out" "tix." contract: DIMENSION, dtypes: REAL_OR_BOOL;
    "aten::unfold_copy.out" "tiiiw." since: (0, 6), contract: DIMENSION, dtypes: REAL_OR_BOOL;
    "aten::unsqueeze_copy.out" "tiw." copied: reshaped(0), dtypes: ANY;
    "aten::upsample_bilinear2d.vec_out" "tLbFw." since: (0, 6), contract: UPSAMPLE, dtypes: REAL;
    "aten::upsample_nearest2d.vec_out" "tLFw." since: (0, 6), contract: UPSAMPLE, dtypes: REAL;
    "aten::var.correction_out" "tLSbw." dtypes: FLOATS;
    "aten::var.out" "tLbbw." dtypes: FLOATS;
    "aten::var_mean.correction_out" "tLSbww." since: (1, 3), contract: VAR_MEAN, dtypes_since: &[((1, 3), FLOATS)];
    "aten::view_as_real_copy.out" "tw." since: (0, 7), contract: VIEW_AS_REAL_COPY, dtypes: 0x700;
    "aten::view_copy.out" "tlw." contract: VIEW_COPY, copied: reshaped(0), dtypes: ANY;
    "aten::where.self_out" "tttw." contract: WHERE, dtypes: 0x801;
    "aten::zeros.out" "lw." dtypes: ANY;
    "dim_order_ops::_clone_dim_order.out" "tbLw." since: (1, 0), copied: same(0), dtypes: ANY;
    "dim_order_ops::_empty_dim_order.out" "lLw." since: (0, 5), dtypes: ANY;
    "dim_order_ops::_to_dim_order_copy.out" "tbLw." copied: same(0), dtypes: REAL_OR_COMPLEX;
    "et_copy::_d2h_copy.out" "tw." since: (1, 4), copied: same(0);
    "et_copy::_h2d_copy.out" "tw." since: (1, 4), copied: same(0);
    "executorch_prim::add.Scalar" "nn~";
    "executorch_prim::ceil.Scalar" "d#" since: (0, 5);
    "executorch_prim::eq.Scalar" "ss?";
    "executorch_prim::et_copy_index.tensor" "wti" dtypes: ANY;
    "executorch_prim::et_view.default" "hly" dtypes: ANY;
    "executorch_prim::floordiv.Scalar" "nn~" contract: FLOORDIV;
    "executorch_prim::floordiv.int" "ii#" contract: DIVISOR;
    "executorch_prim::ge.Scalar" "ss?";
    "executorch_prim::gt.Scalar" "ss?";
    "executorch_prim::le.Scalar" "ss?";
    "executorch_prim::lt.Scalar" "ss?";
    "executorch_prim::mod.Scalar" "ii#" contract: DIVISOR;
    "executorch_prim::mod.int" "ii#" contract: DIVISOR;
    "executorch_prim::mul.Scalar" "nn~";
    "executorch_prim::neg.Scalar" "n~";
    "executorch_prim::round.Scalar" "d#" since: (0, 5);
    "executorch_prim::sub.Scalar" "nn~";
    "executorch_prim::sym_float.Scalar" "s%";
    "executorch_prim::sym_int.Scalar" "s#" since: (1, 4);
    "executorch_prim::sym_ite.Scalar" "b..=" since: (1, 4);
    "executorch_prim::sym_max.Scalar" "ii#" since: (1, 0);
    "executorch_prim::sym_min.Scalar" "ii#" since: (1, 0);
    "executorch_prim::sym_not.Scalar" "b?" since: (1, 4);
    "executorch_prim::truediv.Scalar" "nn%";
    "executorch_prim::trunc.Scalar" "d#" since: (0, 5);
    "quantized_decomposed::add.out" "tdiiitdiiidiiiw." contract: ADD;
    "quantized_decomposed::choose_qparams.Tensor_out" "tiidiww." contract: CHOOSE_QPARAMS;
    "quantized_decomposed::choose_qparams_per_token_asymmetric.out" "tiww."
        since: (0, 5), contract: CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC, hazard: read(&[0]);
    "quantized_decomposed::dequantize_per_channel.out" "ttTiiiiIw."
        contract: DEQUANTIZE_PER_CHANNEL, hazard: read(&[2]);
    "quantized_decomposed::dequantize_per_tensor.Tensor_out" "tttiiiIw." contract: DEQUANTIZE_PER_TENSOR_BY_TENSORS;
    "quantized_decomposed::dequantize_per_tensor.out" "tdiiiiIw." contract: DEQUANTIZE_PER_TENSOR;
    "quantized_decomposed::dequantize_per_token.out" "tttiiiiw."
        since: (0, 5), contract: DEQUANTIZE_PER_TOKEN, hazard: read(&[2]);
    "quantized_decomposed::embedding_2bit.dtype_out" "ttTiitIw."
        since: (0, 5), contract: EMBEDDING_2BIT_DTYPE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_2bit.out" "ttTiitw."
        since: (0, 5), contract: EMBEDDING_2BIT, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_4bit.dtype_out" "ttTiitIw."
        contract: EMBEDDING_4BIT_DTYPE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_4bit.out" "ttTiitw." contract: EMBEDDING_4BIT, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_byte.dtype_out" "ttTiitIw."
        contract: EMBEDDING_BYTE_DTYPE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_byte.out" "ttTiitw." contract: EMBEDDING_BYTE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::mixed_linear.out" "tttTIw." contract: MIXED_LINEAR;
    "quantized_decomposed::mixed_mm.out" "tttTw.";
    "quantized_decomposed::quantize_per_channel.out" "tttiiiiw." contract: QUANTIZE_PER_CHANNEL;
    "quantized_decomposed::quantize_per_tensor.Tensor_out" "tttiiiw." contract: QUANTIZE_PER_TENSOR_BY_TENSORS;
    "quantized_decomposed::quantize_per_tensor.out" "tdiiiiw." contract: QUANTIZE_PER_TENSOR;
    "quantized_decomposed::quantize_per_token.out" "tttiiiw." since: (0, 5), contract: QUANTIZE_PER_TOKEN;
};

/// Returns the operator with this full name, if the official runtime has it.
pub fn kernel(operator: &str) -> Option<&'static Kernel> {
    let found = KERNELS.binary_search_by(|kernel| kernel.name.cmp(operator)).ok()?;
    KERNELS.get(found)
}

/// Returns whether an operator views or copies its first argument, possibly with other sizes or
/// strides. `operator` is its full name.
pub fn rearranges(operator: &str) -> bool {
    // Copies between devices do not count: graphs must show them.
    let is_on_device = !operator.starts_with("et_copy::");
    kernel(operator).is_some_and(|kernel| {
        let copies = kernel.copied.as_ref().is_some_and(|copied| copied.source == 0);
        copies && is_on_device || kernel.letters.chars().filter_map(Kind::of).any(Kind::is_view)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{NEWEST, was_run};

    #[test]
    fn rows_are_sorted_and_their_facts_fit_their_letters() {
        assert!(KERNELS.len() > 250);
        assert!(KERNELS.is_sorted_by(|one, next| one.name < next.name));
        for row in KERNELS {
            let name = row.name;
            assert!(row.letters.chars().all(|letter| Kind::of(letter).is_some()), "{name}");
            assert!(kernel(name).is_some_and(|found| core::ptr::eq(found, row)));
            assert!((OLDEST..=NEWEST).contains(&row.since), "{name}");
            let letter = |arg: u32| row.letters.chars().nth(usize::try_from(arg).unwrap()).unwrap();
            let hazard = row.hazard.iter();
            for &arg in hazard.flat_map(|hazard| hazard.read_again.iter().chain(hazard.sized_again))
            {
                assert!("tTov".contains(letter(arg)), "{name}: {arg} is {}", letter(arg));
            }
            assert!(row.dtypes_since.is_sorted_by(|(one, _), (next, _)| one < next), "{name}");
            assert!(row.dtypes_since.iter().all(|&(release, _)| was_run(release)), "{name}");
            if let Some(copied) = &row.copied {
                assert!(letter(copied.source) == 't' && row.letters.contains('w'), "{name}");
            }
        }
        assert!(kernel("aten::add").is_none());
        assert!(was_run(NEWEST), "see docs/new-release.md");
    }
}
