//! The kernels of the official runtime, one row each: the name, the letters, the names of the arguments, and other
//! facts. `tests/tools/kernels.py` writes the letters and the dtypes from installed wheels, and keeps the rest of each
//! row.

use super::contracts::by_kernel::*;
use super::kernel::*;
use super::kind::Kind;
use pte_flat::cost;

/// The kernels of the official runtime, sorted by full name.
pub static KERNELS: &[Kernel] = kernels! {
    "aten::_adaptive_avg_pool2d.out" "tlw." "self output_size out"
        since: (1, 3), contract: ADAPTIVE_POOL, dtypes_since: &[((1, 3), 0x80f0)];
    "aten::_cdist_forward.out" "ttdIw." "x1 x2 p compute_mode out" dtypes: FLOATS;
    "aten::_conj_physical.out" "tw." "self out" since: (1, 2), dtypes: 0x700;
    "aten::_fft_c2r.out" "tliiw." "self dim normalization last_dim_size out"
        since: (0, 7), contract: FFT_C2R, dtypes: ANY;
    "aten::_fft_r2c.out" "tlibw." "self dim normalization onesided out"
        since: (0, 6), contract: FFT_R2C, dtypes: 0x380008df;
    "aten::_local_scalar_dense" "t$" "self out" dtypes: 0x8df;
    "aten::_log_softmax.out" "tibw." "self dim half_to_float out"
        contract: LOG_SOFTMAX, dtypes: 0x40, dtypes_since: &[((1, 4), 0x8060)];
    "aten::_native_batch_norm_legit.no_stats_out" "tTTbddwww."
        "input weight bias training momentum eps out save_mean save_invstd" dtypes: FLOATS;
    "aten::_native_batch_norm_legit.out" "tTTttbddwww."
        "input weight bias running_mean running_var training momentum eps out save_mean save_invstd" dtypes: FLOATS;
    "aten::_native_batch_norm_legit_no_training.out" "tTTttddwww."
        "input weight bias running_mean running_var momentum eps out0 out1 out2" dtypes: FLOATS;
    "aten::_pdist_forward.out" "tdw." "self p out" dtypes: FLOATS;
    "aten::_softmax.out" "tibw." "self dim half_to_float out" dtypes: FLOATS;
    "aten::_to_copy.out" "tbIw." "self non_blocking memory_format out" copied: same(0), dtypes: REAL_OR_BOOL;
    "aten::_upsample_bilinear2d_aa.out" "tlbDDw." "self output_size align_corners scales_h scales_w out"
        since: (1, 0), contract: UPSAMPLE, dtypes: REAL;
    "aten::abs.out" "tw." "self out" dtypes: 0x87ff;
    "aten::acos.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::acosh.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::add.Scalar_out" "tssw." "self other alpha out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::add.out" "ttsw." "self other alpha out" contract: PROMOTE, dtypes: ANY;
    "aten::addmm.out" "tttssw." "self mat1 mat2 beta alpha out" hazard: sized(&[1, 2]), dtypes: REAL_OR_BOOL;
    "aten::alias_copy.out" "tw." "self out" copied: same(0), dtypes: ANY;
    "aten::allclose.Tensor" "ttddbb@" "self other rtol atol equal_nan out out";
    "aten::allclose.out" "ttddbbw." "self other rtol atol equal_nan out out";
    "aten::amax.out" "tlbw." "self dim keepdim out" contract: EXTREME, dtypes: REAL_OR_BOOL;
    "aten::amin.out" "tlbw." "self dim keepdim out" contract: EXTREME, dtypes: REAL_OR_BOOL;
    "aten::any.all_out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::any.dims_out" "tLbw." "self dim keepdim out" dtypes: REAL_OR_BOOL;
    "aten::any.out" "tibw." "self dim keepdim out" dtypes: REAL_OR_BOOL;
    "aten::arange.out" "sw." "end out" contract: ARANGE, dtypes: REAL_OR_BOOL;
    "aten::arange.start_out" "sssw." "start end step out" contract: ARANGE_START, dtypes: REAL_OR_BOOL;
    "aten::argmax.out" "tIbw." "self dim keepdim out" contract: ARGMAX, dtypes: REAL;
    "aten::argmin.out" "tIbw." "self dim keepdim out" contract: ARGMAX, dtypes: REAL;
    "aten::as_strided_copy.out" "tllIw." "self size stride storage_offset out"
        contract: AS_STRIDED_COPY, dtypes: REAL_OR_COMPLEX;
    "aten::asin.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::asinh.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::atan.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::atan2.out" "ttw." "self other out" dtypes: REAL_OR_BOOL;
    "aten::atanh.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::avg_pool2d.out" "tlllbbIw."
        "self kernel_size stride padding ceil_mode count_include_pad divisor_override out"
        contract: STRIDES, dtypes: 0x80f0;
    "aten::bitwise_and.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_and.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_left_shift.Tensor_Scalar_out" "tsw." "self other out"
        since: (1, 1), contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_left_shift.Tensor_out" "ttw." "self other out"
        since: (1, 1), contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_not.out" "tw." "self out" dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_or.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_or.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_right_shift.Tensor_Scalar_out" "tsw." "self other out"
        since: (1, 1), contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_right_shift.Tensor_out" "ttw." "self other out"
        since: (1, 1), contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bitwise_xor.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: INTEGERS_OR_BOOL;
    "aten::bitwise_xor.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: INTEGERS_OR_PROMOTED;
    "aten::bmm.out" "ttw." "self mat2 out" contract: BMM, dtypes: 0x87ff;
    "aten::cat.out" "viw." "tensors dim out" contract: CAT, hazard: sized(&[0]), dtypes: REAL_OR_COMPLEX;
    "aten::ceil.out" "tw." "self out" dtypes: REAL;
    "aten::clamp.Tensor_out" "tTTw." "self min max out" contract: CLAMP, dtypes: REAL_OR_PROMOTED;
    "aten::clamp.out" "tSSw." "self min max out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::clone.out" "tIw." "self memory_format out" copied: same(0), dtypes: ANY;
    "aten::constant_pad_nd.out" "tlsw." "self pad value out" dtypes: REAL_OR_BOOL;
    "aten::convolution.out" "ttTlllbliw."
        "input weight bias stride padding dilation transposed output_padding groups out"
        contract: CONVOLUTION, dtypes: REAL;
    "aten::convolution_backward.out" "tttLlllblimwww."
        "grad_output input weight bias_sizes stride padding dilation transposed output_padding groups output_mask out0 out1 out2"
        contract: CONVOLUTION_BACKWARD, dtypes: FLOATS;
    "aten::copy.out" "ttbw." "self src non_blocking out" copied: reshaped(1), dtypes: REAL_OR_BOOL;
    "aten::copy_" "wtb@" "self src non_blocking out" copied: reshaped(1), dtypes: ANY;
    "aten::cos.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::cosh.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::cumsum.out" "tiIw." "self dim dtype out" contract: CUMSUM, dtypes: ANY;
    "aten::detach_copy.out" "tw." "self out" copied: same(0), dtypes: ANY;
    "aten::diagonal_copy.out" "tiiiw." "self offset dim1 dim2 out" dtypes: REAL_OR_COMPLEX;
    "aten::div.Scalar_mode_out" "tsZw." "self other rounding_mode out" contract: DIV_SCALAR_MODE, dtypes: REAL_OR_BOOL;
    "aten::div.Scalar_out" "tsw." "self other out" dtypes: REAL_OR_BOOL;
    "aten::div.out" "ttw." "self other out" contract: DIV, dtypes: REAL_OR_COMPLEX;
    "aten::div.out_mode" "ttZw." "self other rounding_mode out" contract: DIV_MODE, dtypes: REAL_OR_PROMOTED;
    "aten::elu.out" "tsssw." "self alpha scale input_scale out" since: (0, 6), dtypes: 0x88e0;
    "aten::embedding.out" "ttibbw." "weight indices padding_idx scale_grad_by_freq sparse out"
        contract: EMBEDDING, dtypes: ANY;
    "aten::empty.out" "lIw." "size memory_format out" dtypes: ANY;
    "aten::eq.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::eq.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::erf.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::exp.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::expand_copy.out" "tlbw." "self size implicit out" copied: reshaped(0), dtypes: ANY;
    "aten::expm1.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::fill.Scalar_out" "tsw." "self value out" dtypes: REAL_OR_BOOL;
    "aten::fill.Tensor_out" "ttw." "self value out" dtypes: REAL_OR_BOOL;
    "aten::flip.out" "tlw." "self dims out" dtypes: REAL_OR_BOOL;
    "aten::floor.out" "tw." "self out" dtypes: REAL;
    "aten::floor_divide.out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::fmod.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::fmod.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::full.out" "lsw." "size fill_value out" dtypes: REAL_OR_BOOL;
    "aten::full_like.out" "hsIw." "self fill_value memory_format out" dtypes: ANY;
    "aten::gather.out" "titbw." "self dim index sparse_grad out"
        contract: GATHER, hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::ge.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::ge.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::gelu.out" "tzw." "self approximate out" dtypes: FLOATS;
    "aten::glu.out" "tiw." "self dim out" dtypes: FLOATS;
    "aten::grid_sampler_2d.out" "ttiibw." "input grid interpolation_mode padding_mode align_corners out"
        since: (1, 1), dtypes: REAL;
    "aten::gt.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::gt.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::hardtanh.out" "tssw." "self min_val max_val out" dtypes: REAL_OR_BOOL;
    "aten::index.Tensor_out" "tow." "self indices out" contract: INDEX, hazard: read(&[1]), dtypes: ANY;
    "aten::index_put.out" "totbw." "self indices values accumulate out"
        contract: INDEX, hazard: read(&[1]), dtypes: REAL_OR_BOOL;
    "aten::index_put_" "wotb@" "self indices values accumulate out"
        since: (0, 7), contract: INDEX_PUT_IN_PLACE, hazard: read(&[1]), dtypes: 0x18;
    "aten::index_select.out" "titw." "self dim index out" hazard: read(&[2]), dtypes: ANY;
    "aten::isinf.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::isnan.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::le.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::le.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::leaky_relu.out" "tsw." "self negative_slope out" dtypes: 0x88e0;
    "aten::lift_fresh_copy.out" "tw." "self out" copied: same(0), dtypes: ANY;
    "aten::linear.out" "ttTw." "input weight bias out" since: (0, 5), hazard: sized(&[0, 1]), dtypes: REAL;
    "aten::log.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::log10.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::log1p.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::log2.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::logical_and.out" "ttw." "self other out" dtypes: REAL_OR_BOOL;
    "aten::logical_not.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::logical_or.out" "ttw." "self other out" dtypes: REAL_OR_BOOL;
    "aten::logical_xor.out" "ttw." "self other out" dtypes: REAL_OR_BOOL;
    "aten::logit.out" "tDw." "self eps out" dtypes: REAL_OR_BOOL;
    "aten::lt.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::lt.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::masked_fill.Scalar_out" "ttsw." "self mask value out" dtypes: REAL_OR_BOOL;
    "aten::masked_scatter.out" "tttw." "self mask source out" since: (0, 5), dtypes: REAL_OR_BOOL;
    "aten::masked_select.out" "ttw." "self mask out" since: (0, 5), hazard: read(&[1]), dtypes: REAL_OR_BOOL;
    "aten::max.dim_max" "tibww." "self dim keepdim max max_values" dtypes: REAL_OR_BOOL;
    "aten::max.unary_out" "tw." "self out" since: (0, 5), dtypes: REAL_OR_BOOL;
    "aten::max_pool2d_with_indices.out" "tllllbww." "self kernel_size stride padding dilation ceil_mode out indices"
        contract: STRIDES, dtypes: REAL;
    "aten::max_pool2d_with_indices_backward.grad_input" "ttllllbtw."
        "grad_output self kernel_size stride padding dilation ceil_mode indices grad_input"
        since: (0, 6), contract: MAX_POOL2D_WITH_INDICES_BACKWARD, hazard: read(&[7]), dtypes: FLOATS;
    "aten::maximum.out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::mean.dtype_out" "tIw." "self dtype out" since: (0, 6), dtypes: REAL_OR_BOOL;
    "aten::mean.out" "tLbIw." "self dim keepdim dtype out" dtypes: REAL_OR_BOOL;
    "aten::min.dim_min" "tibww." "self dim keepdim min min_indices" dtypes: REAL_OR_BOOL;
    "aten::min.unary_out" "tw." "self out" since: (0, 5), dtypes: REAL_OR_BOOL;
    "aten::minimum.out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::mm.out" "ttw." "self mat2 out" hazard: sized(&[0, 1]), dtypes: REAL;
    "aten::mul.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::mul.out" "ttw." "self other out" contract: PROMOTE, dtypes: ANY;
    "aten::narrow_copy.out" "tiiiw." "self dim start length out" contract: NARROW_COPY, dtypes: ANY;
    "aten::native_dropout.out" "tdBww." "input p train out0 out1" since: (0, 7), dtypes: ANY;
    "aten::native_group_norm.out" "tTTiiiidwww." "input weight bias N C HxW group eps out0 out1 out2"
        contract: NATIVE_GROUP_NORM, dtypes: FLOATS;
    "aten::native_layer_norm.out" "tlTTdwww." "input normalized_shape weight bias eps out0 out1 out2" dtypes: FLOATS;
    "aten::ne.Scalar_out" "tsw." "self other out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::ne.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::neg.out" "tw." "self out" dtypes: REAL;
    "aten::nonzero.out" "tw." "self out" hazard: read(&[0]), dtypes: REAL_OR_BOOL;
    "aten::ones.out" "lw." "size out" dtypes: REAL_OR_BOOL;
    "aten::permute_copy.out" "tlw." "self dims out" copied: reshaped(0), dtypes: REAL_OR_COMPLEX;
    "aten::pixel_shuffle.out" "tiw." "self upscale_factor out" contract: PIXEL_SHUFFLE, dtypes: ANY;
    "aten::pixel_unshuffle.out" "tiw." "self downscale_factor out" dtypes: ANY;
    "aten::pow.Scalar_out" "stw." "self exponent out" contract: POW_SCALAR, dtypes: REAL_OR_BOOL;
    "aten::pow.Tensor_Scalar_out" "tsw." "self exponent out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::pow.Tensor_Tensor_out" "ttw." "self exponent out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::prod.int_out" "tibIw." "self dim keepdim dtype out" dtypes: REAL_OR_BOOL;
    "aten::prod.out" "tIw." "self dtype out" dtypes: REAL_OR_BOOL;
    "aten::rand.out" "lw." "size out" since: (0, 7), dtypes: FLOATS;
    "aten::randn.out" "lw." "size out" since: (0, 7), dtypes: FLOATS;
    "aten::reciprocal.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::reflection_pad1d.out" "tlw." "self padding out" dtypes: REAL_OR_COMPLEX;
    "aten::reflection_pad2d.out" "tlw." "self padding out" dtypes: REAL_OR_COMPLEX;
    "aten::reflection_pad3d.out" "tlw." "self padding out" dtypes: REAL_OR_COMPLEX;
    "aten::relu.out" "tw." "self out" dtypes: REAL;
    "aten::remainder.Scalar_out" "tsw." "self other out" contract: REMAINDER_SCALAR, dtypes: REAL_OR_BOOL;
    "aten::remainder.Tensor_out" "ttw." "self other out" contract: PROMOTE, dtypes: REAL_OR_PROMOTED;
    "aten::repeat.out" "tlw." "self repeats out" dtypes: ANY;
    "aten::repeat_interleave.Tensor_out" "tIw." "repeats output_size out" since: (0, 5), hazard: read(&[0]);
    "aten::replication_pad1d.out" "tlw." "self padding out" contract: PAD1, dtypes: REAL_OR_COMPLEX;
    "aten::replication_pad2d.out" "tlw." "self padding out" contract: PAD2, dtypes: REAL_OR_COMPLEX;
    "aten::replication_pad3d.out" "tlw." "self padding out" contract: PAD3, dtypes: REAL_OR_COMPLEX;
    "aten::roll.out" "tllw." "self shifts dims out" dtypes: REAL_OR_BOOL;
    "aten::round.out" "tw." "self out" dtypes: REAL;
    "aten::rsqrt.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::rsub.Scalar_out" "tssw." "self other alpha out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::scalar_tensor.out" "sw." "s out" dtypes: REAL_OR_BOOL;
    "aten::scatter.src_out" "tittw." "self dim index src out" hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::scatter.value_out" "titsw." "self dim index value out"
        contract: GATHER, hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::scatter_add.out" "tittw." "self dim index src out" hazard: read(&[2]), dtypes: REAL_OR_BOOL;
    "aten::select_copy.int_out" "tiiw." "self dim index out" dtypes: ANY;
    "aten::select_scatter.out" "ttiiw." "self src dim index out" dtypes: REAL_OR_BOOL;
    "aten::sigmoid.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::sign.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::sin.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::sinh.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::slice_copy.Tensor_out" "tiIIiw." "self dim start end step out" dtypes: ANY;
    "aten::slice_scatter.out" "ttiIIiw." "self src dim start end step out" dtypes: REAL_OR_BOOL;
    "aten::split_copy.Tensor_out" "tiix." "self split_size dim out" dtypes: REAL_OR_BOOL;
    "aten::split_with_sizes_copy.out" "tlix." "self split_sizes dim out"
        contract: SPLIT_WITH_SIZES_COPY, dtypes: REAL_OR_BOOL;
    "aten::sqrt.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::squeeze_copy.dim_out" "tiw." "self dim out" copied: reshaped(0), dtypes: ANY;
    "aten::squeeze_copy.dims_out" "tlw." "self dim out" contract: SQUEEZE_COPY, copied: reshaped(0), dtypes: ANY;
    "aten::stack.out" "viw." "tensors dim out" dtypes: REAL_OR_BOOL;
    "aten::sub.Scalar_out" "tssw." "self other alpha out" contract: SCALAR, dtypes: REAL_OR_BOOL;
    "aten::sub.out" "ttsw." "self other alpha out" contract: PROMOTE, dtypes: ANY;
    "aten::sum.IntList_out" "tLbIw." "self dim keepdim dtype out" contract: SUM, dtypes: REAL_OR_COMPLEX;
    "aten::sym_numel" "h#" "self out" dtypes: ANY;
    "aten::sym_size.int" "hi#" "self dim out" contract: SYM_SIZE, dtypes: ANY;
    "aten::t_copy.out" "tw." "self out" copied: reshaped(0), dtypes: REAL_OR_COMPLEX;
    "aten::tan.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::tanh.out" "tw." "self out" dtypes: REAL_OR_BOOL;
    "aten::topk.values" "tiibbww." "self k dim largest sorted values indices"
        contract: TOPK, hazard: sized(&[0]), dtypes: REAL;
    "aten::transpose_copy.int_out" "tiiw." "self dim0 dim1 out" copied: reshaped(0), dtypes: REAL_OR_COMPLEX;
    "aten::tril.out" "tiw." "self diagonal out" dtypes: REAL_OR_BOOL;
    "aten::trunc.out" "tw." "self out" dtypes: REAL;
    "aten::unbind_copy.int_out" "tix." "self dim out" contract: DIMENSION, dtypes: REAL_OR_BOOL;
    "aten::unfold_copy.out" "tiiiw." "self dimension size step out"
        since: (0, 6), contract: DIMENSION, dtypes: REAL_OR_BOOL;
    "aten::unsqueeze_copy.out" "tiw." "self dim out" copied: reshaped(0), dtypes: ANY;
    "aten::upsample_bilinear2d.vec_out" "tLbFw." "input output_size align_corners scale_factors out"
        since: (0, 6), contract: UPSAMPLE, dtypes: REAL;
    "aten::upsample_nearest2d.vec_out" "tLFw." "input output_size scale_factors out"
        since: (0, 6), contract: UPSAMPLE, dtypes: REAL;
    "aten::var.correction_out" "tLSbw." "self dim correction keepdim out" dtypes: FLOATS;
    "aten::var.out" "tLbbw." "self dim unbiased keepdim out" dtypes: FLOATS;
    "aten::var_mean.correction_out" "tLSbww." "self dim correction keepdim out0 out1"
        since: (1, 3), contract: VAR_MEAN, dtypes_since: &[((1, 3), FLOATS)];
    "aten::view_as_real_copy.out" "tw." "self out" since: (0, 7), contract: VIEW_AS_REAL_COPY, dtypes: 0x700;
    "aten::view_copy.out" "tlw." "self size out" contract: VIEW_COPY, copied: reshaped(0), dtypes: ANY;
    "aten::where.self_out" "tttw." "condition self other out" contract: WHERE, dtypes: 0x801;
    "aten::zeros.out" "lw." "size out" dtypes: ANY;
    "dim_order_ops::_clone_dim_order.out" "tbLw." "self non_blocking dim_order out"
        since: (1, 0), copied: same(0), dtypes: ANY;
    "dim_order_ops::_empty_dim_order.out" "lLw." "size dim_order out" since: (0, 5), dtypes: ANY;
    "dim_order_ops::_to_dim_order_copy.out" "tbLw." "self non_blocking dim_order out"
        copied: same(0), dtypes: REAL_OR_COMPLEX;
    "et_copy::_d2h_copy.out" "tw." "self out" since: (1, 4), copied: same(0);
    "et_copy::_h2d_copy.out" "tw." "self out" since: (1, 4), copied: same(0);
    "executorch_prim::add.Scalar" "nn~" "a b out";
    "executorch_prim::ceil.Scalar" "d#" "a out" since: (0, 5);
    "executorch_prim::eq.Scalar" "ss?" "a b out";
    "executorch_prim::et_copy_index.tensor" "wti" "copy_to copy_from index" dtypes: ANY;
    "executorch_prim::et_view.default" "hly" "self size out" dtypes: ANY;
    "executorch_prim::floordiv.Scalar" "nn~" "a b out" contract: FLOORDIV;
    "executorch_prim::floordiv.int" "ii#" "a b out" contract: DIVISOR;
    "executorch_prim::ge.Scalar" "ss?" "a b out";
    "executorch_prim::gt.Scalar" "ss?" "a b out";
    "executorch_prim::le.Scalar" "ss?" "a b out";
    "executorch_prim::lt.Scalar" "ss?" "a b out";
    "executorch_prim::mod.Scalar" "ii#" "a b out" contract: DIVISOR;
    "executorch_prim::mod.int" "ii#" "a b out" contract: DIVISOR;
    "executorch_prim::mul.Scalar" "nn~" "a b out";
    "executorch_prim::neg.Scalar" "n~" "a out";
    "executorch_prim::round.Scalar" "d#" "a out" since: (0, 5);
    "executorch_prim::sub.Scalar" "nn~" "a b out";
    "executorch_prim::sym_float.Scalar" "s%" "a out";
    "executorch_prim::sym_int.Scalar" "s#" "a out" since: (1, 4);
    "executorch_prim::sym_ite.Scalar" "b..=" "b t f out" since: (1, 4);
    "executorch_prim::sym_max.Scalar" "ii#" "a b out" since: (1, 0);
    "executorch_prim::sym_min.Scalar" "ii#" "a b out" since: (1, 0);
    "executorch_prim::sym_not.Scalar" "b?" "a out" since: (1, 4);
    "executorch_prim::truediv.Scalar" "nn%" "a b out";
    "executorch_prim::trunc.Scalar" "d#" "a out" since: (0, 5);
    "quantized_decomposed::add.out" "tdiiitdiiidiiiw."
        "a a_scale a_zero_point a_quant_min a_quant_max b b_scale b_zero_point b_quant_min b_quant_max out_scale out_zero_point out_quant_min out_quant_max out"
        contract: ADD;
    "quantized_decomposed::choose_qparams.Tensor_out" "tiidiww."
        "input quant_min quant_max eps dtype scale_out zero_point_out" contract: CHOOSE_QPARAMS;
    "quantized_decomposed::choose_qparams_per_token_asymmetric.out" "tiww." "input dtype scale_out zero_point_out"
        since: (0, 5), contract: CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC, hazard: read(&[0]);
    "quantized_decomposed::dequantize_per_channel.out" "ttTiiiiIw."
        "input scales zero_points axis quant_min quant_max dtype out_dtype out"
        contract: DEQUANTIZE_PER_CHANNEL, hazard: read(&[2]);
    "quantized_decomposed::dequantize_per_tensor.Tensor_out" "tttiiiIw."
        "input scale zero_point quant_min quant_max dtype out_dtype out" contract: DEQUANTIZE_PER_TENSOR_BY_TENSORS;
    "quantized_decomposed::dequantize_per_tensor.out" "tdiiiiIw."
        "input scale zero_point quant_min quant_max dtype out_dtype out" contract: DEQUANTIZE_PER_TENSOR;
    "quantized_decomposed::dequantize_per_token.out" "tttiiiiw."
        "input scales zero_points quant_min quant_max dtype output_dtype out"
        since: (0, 5), contract: DEQUANTIZE_PER_TOKEN, hazard: read(&[2]);
    "quantized_decomposed::embedding_2bit.dtype_out" "ttTiitIw."
        "weight weight_scales weight_zero_points weight_quant_min weight_quant_max indices dtype out"
        since: (0, 5), contract: EMBEDDING_2BIT_DTYPE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_2bit.out" "ttTiitw."
        "weight weight_scales weight_zero_points weight_quant_min weight_quant_max indices out"
        since: (0, 5), contract: EMBEDDING_2BIT, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_4bit.dtype_out" "ttTiitIw."
        "weight weight_scales weight_zero_points weight_quant_min weight_quant_max indices dtype out"
        contract: EMBEDDING_4BIT_DTYPE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_4bit.out" "ttTiitw."
        "weight weight_scales weight_zero_points weight_quant_min weight_quant_max indices out"
        contract: EMBEDDING_4BIT, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_byte.dtype_out" "ttTiitIw."
        "weight weight_scales weight_zero_points weight_quant_min weight_quant_max indices dtype out"
        contract: EMBEDDING_BYTE_DTYPE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::embedding_byte.out" "ttTiitw."
        "weight weight_scales weight_zero_points weight_quant_min weight_quant_max indices out"
        contract: EMBEDDING_BYTE, hazard: EMBEDDING_HAZARD;
    "quantized_decomposed::mixed_linear.out" "tttTIw." "input weight weight_scales weight_zero_points dtype out"
        contract: MIXED_LINEAR;
    "quantized_decomposed::mixed_mm.out" "tttTw." "input weight weight_scales weight_zero_points out";
    "quantized_decomposed::quantize_per_channel.out" "tttiiiiw."
        "input scales zero_points axis quant_min quant_max dtype out" contract: QUANTIZE_PER_CHANNEL;
    "quantized_decomposed::quantize_per_tensor.Tensor_out" "tttiiiw."
        "input scale zero_point quant_min quant_max dtype out" contract: QUANTIZE_PER_TENSOR_BY_TENSORS;
    "quantized_decomposed::quantize_per_tensor.out" "tdiiiiw." "input scale zero_point quant_min quant_max dtype out"
        contract: QUANTIZE_PER_TENSOR;
    "quantized_decomposed::quantize_per_token.out" "tttiiiw." "input scales zero_points quant_min quant_max dtype out"
        since: (0, 5), contract: QUANTIZE_PER_TOKEN;
};

/// Returns the operator with this full name, if the official runtime has it.
pub fn kernel(operator: &str) -> Option<&'static Kernel> {
    let found = KERNELS.binary_search_by(|kernel| kernel.name.cmp(operator)).ok()?;
    KERNELS.get(found)
}

/// Returns the names of the arguments of a call of `operator`, a full name such as `aten::add.out`. The last argument
/// of most calls repeats the output and has no name. An unknown operator has no names.
pub fn argument_names(operator: &str) -> impl Iterator<Item = &'static str> + use<> {
    cost::look_up(operator, KERNELS.len());
    kernel(operator).map_or("", |kernel| kernel.arguments).split_whitespace()
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
            let unnamed = usize::from(row.letters.ends_with('.'));
            assert_eq!(argument_names(name).count() + unnamed, row.letters.len(), "{name}");
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
        assert!(argument_names("aten::add.out").eq(["self", "other", "alpha", "out"]));
        assert_eq!(argument_names("my::op").count(), 0);
        assert!(was_run(NEWEST), "see docs/new-release.md");
    }
}
