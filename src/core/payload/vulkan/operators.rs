//! The operators that releases of the Vulkan backend and the WebGPU backend register.

use core::fmt;

use crate::release::Release;
use pte_flat::cost;

/// An operator of the backend.
#[derive(Debug)]
pub struct VulkanOperator {
    /// The name in graphs, overload included: `aten.add.Tensor`.
    pub name: &'static str,
    /// A letter for each argument; empty if no exporter writes calls of the operator.
    letters: &'static str,
    /// The first release that registers the operator. Operators before release 0.2 count as of 0.2.
    pub since: Release,
    /// How the shape of the output follows from the arguments.
    pub shape: ShapeRule,
}

/// How the shapes of an operator's outputs follow from its arguments. Numbers are positions of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeRule {
    /// The shape is not compared.
    Any,
    /// The output has the shape of the first tensor. Of several outputs, this is the first.
    Same,
    /// The output has the shape of the first tensor but for the last dimension.
    Rows,
    /// The output has the shape that the tensors broadcast to.
    Broadcast,
    /// The output has as many elements as the first tensor, and the sizes of the list after it.
    View,
    /// The output has the sizes of the list.
    Listed,
    /// The output is the product of two matrices, or of two lists of matrices: those before this position.
    Product(u8),
    /// The output is the product of the first tensor and the transposed second one.
    Linear,
    /// `permute`: the dimensions are those of the list.
    Permute,
    /// `transpose`: two dimensions change places.
    Transpose,
    /// `unsqueeze_copy`: there is another dimension.
    Unsqueeze,
    /// `squeeze_copy`: the listed dimensions that have a size of 1 are removed.
    Squeeze,
    /// `select`: a dimension is removed.
    Select,
    /// `slice`: of a dimension, only a range is kept.
    Slice,
    /// `split`: all outputs but the last have the same size in a dimension.
    Split,
    /// `split_with_sizes_copy`: each output has one of the sizes of the list.
    SplitWithSizes,
    /// `cat`: the tensors of the list are joined.
    Cat,
    /// `expand_copy`: dimensions of size 1 are repeated.
    Expand,
    /// `repeat`: the tensor is repeated along each dimension.
    Repeat,
    /// `constant_pad_nd`: the list has two numbers for each padded dimension, the innermost first.
    Pad,
    /// `unfold_copy`: the windows along a dimension, their elements in a new last dimension.
    Unfold,
    /// The output has no listed dimension, or a size of 1 there, as the bool at this position decides.
    Reduce(u8),
    /// `embedding`: a row of the first tensor for each element of the second.
    Embedding,
    /// `gather`: the output has the shape of the indices.
    Gather,
    /// `index_select`: one dimension has as many elements as there are indices.
    IndexSelect,
    /// `pixel_shuffle`, with the factor at this position.
    PixelShuffle(u8),
    /// `convolution`, transposed or not.
    Convolution,
    /// A convolution whose list of kernel sizes is at this position, before strides, padding and dilations. How many
    /// channels the output has is not compared.
    PackedConvolution(u8),
    /// `avg_pool2d`.
    AveragePool,
    /// `max_pool2d`.
    MaxPool,
    /// `upsample`: the output has the listed height and width, if there are any.
    Upsample,
    /// `grid_sampler_2d`: the output has the height and width of the grid.
    GridSample,
}

/// An argument of an operator.
///
/// Each kind has a letter: `t` a tensor; `s` an integer, a number or a bool; `i` an integer; `b` a bool; `z` a text;
/// `l` a list of numbers; `v` a list of tensors; `o` a list of tensors that may be missing. A capital letter also
/// accepts Null. `w` is a tensor that the call writes, `x` a list of these, `u` a tensor that it reads and writes, `#`
/// an integer that it computes. `.` is any value, which the backend does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument(u8);

/// The kind of values that an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A tensor.
    Tensor,
    /// An integer, a number or a bool.
    Scalar,
    /// An integer. The exporter shares equal numbers, so that it may be stored as a Double.
    Int,
    /// A bool.
    Bool,
    /// A text.
    Text,
    /// A list of numbers, or of values that are integers.
    Numbers,
    /// A list of tensors.
    Tensors,
    /// A list of tensors, or of Nulls.
    OptionalTensors,
    /// An integer that may change between runs.
    SymInt,
    /// Anything.
    Any,
}

impl Argument {
    /// Returns the kind of values that the argument takes.
    pub fn kind(self) -> ArgumentKind {
        match self.0.to_ascii_lowercase() {
            b't' | b'w' | b'u' => ArgumentKind::Tensor,
            b's' => ArgumentKind::Scalar,
            b'i' => ArgumentKind::Int,
            b'b' => ArgumentKind::Bool,
            b'z' => ArgumentKind::Text,
            b'l' => ArgumentKind::Numbers,
            b'v' | b'x' => ArgumentKind::Tensors,
            b'o' => ArgumentKind::OptionalTensors,
            b'#' => ArgumentKind::SymInt,
            _ => ArgumentKind::Any,
        }
    }

    /// Returns whether the argument may be Null.
    pub fn may_be_null(self) -> bool {
        self.0.is_ascii_uppercase()
    }

    /// Returns whether the call reads the tensors of the argument.
    pub fn is_read(self) -> bool {
        !matches!(self.0, b'w' | b'x' | b'#' | b'.')
    }

    /// Returns whether the call writes the tensors of the argument.
    pub fn is_written(self) -> bool {
        matches!(self.0, b'w' | b'x' | b'u')
    }
}

/// Shows the kind of values that the argument takes.
impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind() {
            ArgumentKind::Tensor => "a tensor",
            ArgumentKind::Scalar => "an Int, Double, Bool or SymInt",
            ArgumentKind::Int => "an Int or SymInt",
            ArgumentKind::Bool => "a Bool",
            ArgumentKind::Text => "a String",
            ArgumentKind::Numbers => "a list of numbers",
            ArgumentKind::Tensors => "a list of tensors",
            ArgumentKind::OptionalTensors => "a list of tensors or Nulls",
            ArgumentKind::SymInt => "a SymInt",
            ArgumentKind::Any => "anything",
        })?;
        f.write_str(if self.may_be_null() { " or Null" } else { "" })
    }
}

impl VulkanOperator {
    /// Returns the operator with a name; `None` if no release registers it.
    pub fn of(name: &str) -> Option<&'static Self> {
        cost::look_up("", OPERATORS.len());
        let nth = OPERATORS.binary_search_by(|row| row.name.cmp(name)).ok()?;
        OPERATORS.get(nth)
    }

    /// Returns whether releases register operators of the namespace of a name: what is before its first dot.
    pub fn is_of_known_namespace(name: &str) -> bool {
        let namespace = |name: &str| name.split_once('.').map(|(namespace, _)| namespace.len());
        let Some(len) = namespace(name) else { return false };
        cost::charge(OPERATORS.len());
        let known =
            |row: &Self| namespace(row.name) == Some(len) && row.name.get(..len) == name.get(..len);
        OPERATORS.iter().any(known)
    }

    /// Returns whether every release of the backend throws, unless images are packed by channels.
    pub fn packs_channels(&self) -> bool {
        PACKED_BY_CHANNELS.contains(&self.name)
    }

    /// Returns the arguments, the output last; `None` if no exporter writes calls of the operator.
    pub fn arguments(&self) -> Option<impl ExactSizeIterator<Item = Argument> + Clone + use<>> {
        let letters = self.letters;
        (!letters.is_empty()).then(|| letters.bytes().map(Argument))
    }
}

const fn row(
    name: &'static str,
    letters: &'static str,
    since: Release,
    shape: ShapeRule,
) -> VulkanOperator {
    VulkanOperator { name, letters, since, shape }
}

use ShapeRule::*;

/// The operators, sorted by name. `tests/tools/vulkan.py` writes names, letters and releases from upstream's tags and
/// PyTorch's schemas, and keeps the rest of each row.
static OPERATORS: &[VulkanOperator] = &[
    row("add", "ii#", (0, 7), Any),
    row("aten._log_softmax.default", "tibw", (0, 3), Same),
    row("aten._native_batch_norm_legit_no_training.default", "tTTttssx", (0, 3), Same),
    row("aten._softmax.default", "tibw", (0, 3), Same),
    row("aten._to_copy.default", "t......w", (0, 5), Same),
    row("aten._weight_int4pack_mm.default", "ttitw", (0, 4), Rows),
    row("aten._weight_int8pack_mm.default", "tttw", (0, 3), Rows),
    row("aten.abs.default", "tw", (0, 2), Same),
    row("aten.add.Tensor", "ttsw", (0, 2), Broadcast),
    row("aten.addmm.default", "tttssw", (0, 3), Product(3)),
    row("aten.alias_copy.default", "tw", (1, 5), Same),
    row("aten.amax.default", "tlbw", (0, 5), Reduce(2)),
    row("aten.amin.default", "tlbw", (0, 5), Reduce(2)),
    row("aten.arange.start_step", "sss....w", (0, 3), Any),
    row("aten.argmax.default", "tIbw", (1, 1), Reduce(2)),
    row("aten.argmin.default", "tIbw", (1, 1), Reduce(2)),
    row("aten.avg_pool2d.default", "tlllbbIw", (0, 3), AveragePool),
    row("aten.bitwise_and.Tensor", "ttw", (1, 2), Broadcast),
    row("aten.bitwise_not.default", "tw", (1, 3), Same),
    row("aten.bitwise_or.Tensor", "ttw", (1, 4), Broadcast),
    row("aten.bmm.default", "ttw", (0, 3), Product(2)),
    row("aten.cat.default", "viw", (0, 3), Cat),
    row("aten.clamp.default", "tSSw", (0, 2), Same),
    row("aten.clone.default", "t.w", (0, 3), Same),
    row("aten.constant_pad_nd.default", "tlsw", (0, 4), Pad),
    row("aten.convolution.default", "ttTlllbliw", (0, 3), Convolution),
    row("aten.cos.default", "tw", (0, 3), Same),
    row("aten.div.Tensor", "ttw", (0, 2), Broadcast),
    row("aten.div.Tensor_mode", "ttZw", (0, 2), Broadcast),
    row("aten.embedding.default", "ttibbw", (0, 3), Embedding),
    row("aten.eq.Scalar", "tsw", (1, 4), Same),
    row("aten.eq.Tensor", "ttw", (1, 0), Broadcast),
    row("aten.exp.default", "tw", (0, 3), Same),
    row("aten.expand_copy.default", "tlbw", (1, 0), Expand),
    row("aten.flip.default", "tlw", (0, 5), Same),
    row("aten.full.default", "ls....w", (0, 3), Listed),
    row("aten.full_like.default", "ts.....w", (0, 3), Same),
    row("aten.gather.default", "titbw", (1, 1), Gather),
    row("aten.ge.Scalar", "tsw", (1, 4), Same),
    row("aten.ge.Tensor", "ttw", (1, 0), Broadcast),
    row("aten.gelu.default", "tzw", (0, 3), Same),
    row("aten.grid_sampler_2d.default", "ttiibw", (1, 4), GridSample),
    row("aten.gt.Scalar", "tsw", (1, 4), Same),
    row("aten.gt.Tensor", "ttw", (1, 0), Broadcast),
    row("aten.hardshrink.default", "tsw", (0, 3), Same),
    row("aten.hardsigmoid.default", "tw", (0, 5), Same),
    row("aten.hardswish.default", "tw", (0, 4), Same),
    row("aten.hardtanh.default", "tssw", (0, 2), Same),
    row("aten.index.Tensor", "tow", (1, 2), Any),
    row("aten.index_select.default", "titw", (0, 3), IndexSelect),
    row("aten.le.Scalar", "tsw", (1, 4), Same),
    row("aten.le.Tensor", "ttw", (1, 0), Broadcast),
    row("aten.leaky_relu.default", "tsw", (0, 6), Same),
    row("aten.linear.default", "ttTw", (0, 3), Linear),
    row("aten.log10.default", "tw", (1, 5), Same),
    row("aten.logical_and.default", "ttw", (1, 3), Broadcast),
    row("aten.logical_not.default", "tw", (1, 4), Same),
    row("aten.logical_or.default", "ttw", (1, 4), Broadcast),
    row("aten.lt.Scalar", "tsw", (1, 4), Same),
    row("aten.lt.Tensor", "ttw", (1, 0), Broadcast),
    row("aten.max_pool2d.default", "tllllbw", (1, 0), MaxPool),
    row("aten.max_pool2d_with_indices.default", "tllllbx", (0, 2), MaxPool),
    row("aten.mean.dim", "tLb.w", (0, 5), Reduce(2)),
    row("aten.minimum.default", "ttw", (0, 4), Broadcast),
    row("aten.mm.default", "ttw", (0, 2), Product(2)),
    row("aten.mul.Tensor", "ttw", (0, 2), Broadcast),
    row("aten.native_group_norm.default", "tTTiiiisx", (0, 7), Same),
    row("aten.native_layer_norm.default", "tlTTsx", (0, 3), Same),
    row("aten.ne.Scalar", "tsw", (1, 4), Same),
    row("aten.neg.default", "tw", (0, 3), Same),
    row("aten.ones.default", "l....w", (0, 3), Listed),
    row("aten.ones_like.default", "t.....w", (0, 3), Same),
    row("aten.permute.default", "tlw", (0, 3), Permute),
    row("aten.permute_copy.default", "tlw", (0, 3), Permute),
    row("aten.pixel_shuffle.default", "tiw", (1, 3), PixelShuffle(1)),
    row("aten.pow.Tensor_Scalar", "tsw", (1, 1), Same),
    row("aten.pow.Tensor_Tensor", "ttw", (0, 2), Broadcast),
    row("aten.relu.default", "tw", (0, 2), Same),
    row("aten.relu6.default", "tw", (1, 0), Same),
    row("aten.repeat.default", "tlw", (0, 3), Repeat),
    row("aten.repeat_interleave.self_int", "tiIIw", (0, 5), Any),
    row("aten.round.default", "tw", (0, 7), Same),
    row("aten.rsqrt.default", "tw", (0, 5), Same),
    row("aten.scalar_tensor.default", "s....w", (1, 0), Any),
    row("aten.select.int", "tiiw", (0, 3), Select),
    row("aten.select_copy.int", "tiiw", (0, 3), Select),
    row("aten.sigmoid.default", "tw", (0, 2), Same),
    row("aten.sin.default", "tw", (0, 3), Same),
    row("aten.slice.Tensor", "tiIIiw", (0, 3), Slice),
    row("aten.slice_copy.Tensor", "tiIIiw", (0, 3), Slice),
    row("aten.split.Tensor", "tiix", (0, 3), Split),
    row("aten.split_with_sizes_copy.default", "tlix", (0, 3), SplitWithSizes),
    row("aten.sqrt.default", "tw", (0, 3), Same),
    row("aten.squeeze_copy.dims", "tlw", (0, 4), Squeeze),
    row("aten.sub.Tensor", "ttsw", (0, 2), Broadcast),
    row("aten.sum.dim_IntList", "tLb.w", (0, 2), Reduce(2)),
    row("aten.tan.default", "tw", (0, 7), Same),
    row("aten.tanh.default", "tw", (0, 2), Same),
    row("aten.transpose.int", "tiiw", (0, 5), Transpose),
    row("aten.unfold_copy.default", "tiiiw", (1, 5), Unfold),
    row("aten.unsqueeze_copy.default", "tiw", (0, 3), Unsqueeze),
    row("aten.upsample_bilinear2d.vec", "tLbLw", (0, 7), Upsample),
    row("aten.upsample_nearest2d.vec", "tLLw", (0, 3), Upsample),
    row("aten.var.dim", "tLbbw", (0, 7), Reduce(3)),
    row("aten.view_copy.default", "tlw", (0, 3), View),
    row("aten.where.self", "tttw", (0, 7), Broadcast),
    row("aten.zeros.default", "l....w", (0, 3), Listed),
    row("aten.zeros_like.default", "t.....w", (0, 3), Same),
    row("choose_qparams.tensor", "tiis.x", (0, 7), Any),
    row("choose_qparams_per_token_asymmetric.default", "t.x", (0, 7), Any),
    row("conv_with_clamp.default", "ttTlllbliSSw", (0, 3), Convolution),
    row("dequantize_per_tensor.default", "tsiii..w", (0, 7), Same),
    row("dequantize_per_token.default", "tttii..w", (0, 7), Same),
    row("dim_order_ops._clone_dim_order.default", "t.Lw", (1, 4), Same),
    row("dim_order_ops._to_dim_order_copy.default", "t.....Lw", (1, 1), Same),
    row("et_vk.adamw_step.default", "uuutsssssssx", (1, 4), Any),
    row("et_vk.add_q8ta_q8ta_q8to.default", "ttsisisisw", (1, 1), Broadcast),
    row("et_vk.add_q8ta_q8ta_q8to.test", "", (1, 1), Any),
    row("et_vk.apply_rotary_emb.default", "ttttx", (0, 5), Any),
    row("et_vk.apply_rotary_emb_hf.default", "ttttix", (1, 3), Any),
    row("et_vk.apply_rotary_emb_interleaved.default", "ttw", (1, 3), Any),
    row("et_vk.binary_add_with_clamp.default", "tTSSw", (1, 0), Broadcast),
    row("et_vk.binary_div_with_clamp.default", "tTSSw", (1, 0), Broadcast),
    row("et_vk.binary_mul_with_clamp.default", "tTSSw", (1, 0), Broadcast),
    row("et_vk.binary_sub_with_clamp.default", "tTSSw", (1, 0), Broadcast),
    row("et_vk.conv1d_dw.default", "", (1, 3), Any),
    row("et_vk.conv1d_pw.default", "", (1, 3), Any),
    row("et_vk.conv2d_gemm.default", "", (1, 4), Any),
    row("et_vk.conv2d_q8csw.default", "", (1, 0), Any),
    row("et_vk.conv2d_q8ta_q8csw.default", "tsitttTlllliw", (1, 0), PackedConvolution(7)),
    row("et_vk.conv2d_q8ta_q8csw_q8to.default", "tsitttsiTlllliw", (1, 1), PackedConvolution(9)),
    row("et_vk.conv2d_q8ta_q8csw_q8to_dw.default", "tsitttsiTlllliw", (1, 1), PackedConvolution(9)),
    row("et_vk.conv_with_clamp.default", "ttTlllbliSSw", (0, 4), Convolution),
    row("et_vk.embedding_q4gsw.default", "ttitbw", (1, 3), Any),
    row("et_vk.fused_ce.default", "ttsx", (1, 4), Any),
    row("et_vk.grid_priors.default", "tisw", (0, 4), Any),
    row("et_vk.linear_dW.default", "ttw", (1, 4), Any),
    row("et_vk.linear_dq8ca_q4gsw.default", "ttttttiTw", (1, 0), Rows),
    row("et_vk.linear_q4gsw.default", "tttiTw", (1, 0), Rows),
    row("et_vk.linear_q4gsw_backward.default", "tttiw", (1, 4), Any),
    row("et_vk.linear_q8csw.default", "", (1, 0), Any),
    row("et_vk.linear_q8ta_q8csw.default", "tsitttTw", (1, 0), Rows),
    row("et_vk.linear_qcs4w.default", "tttw", (0, 7), Rows),
    row("et_vk.linear_weight_int4.default", "ttitiw", (0, 5), Rows),
    row("et_vk.prepack.default", "tw", (0, 5), Same),
    row("et_vk.q4gsw_linear.default", "", (1, 4), Any),
    row("et_vk.q4gsw_requant.default", "ttiw", (1, 4), Any),
    row("et_vk.q8ta_add.default", "ttsisisisw", (1, 2), Broadcast),
    row("et_vk.q8ta_conv2d.default", "tsitttsiTllllizw", (1, 2), PackedConvolution(9)),
    row("et_vk.q8ta_conv2d_dw.default", "tsitttsiTllllizw", (1, 2), PackedConvolution(9)),
    row("et_vk.q8ta_conv2d_general.default", "", (1, 2), Any),
    row("et_vk.q8ta_conv2d_im2col.default", "", (1, 2), Any),
    row("et_vk.q8ta_conv2d_pw.default", "tsitttsiTllllizw", (1, 2), PackedConvolution(9)),
    row("et_vk.q8ta_conv2d_transposed.default", "tsitttsiTlllllizw", (1, 3), Any),
    row("et_vk.q8ta_linear.default", "tsitttsiTzw", (1, 2), Rows),
    row("et_vk.q8ta_linear_gemv.default", "tsitttsiTzw", (1, 2), Rows),
    row("et_vk.q8ta_pixel_shuffle.default", "tsisiiw", (1, 3), PixelShuffle(5)),
    row("et_vk.q8ta_relu.default", "tsisiw", (1, 2), Same),
    row("et_vk.rms_norm.default", "ttsw", (1, 3), Same),
    row("et_vk.sdpa.default", "tttTSw", (1, 3), Rows),
    row("et_vk.select_as_symint.default", "tii#", (1, 1), Any),
    row("etvk.choose_qparams_per_row.default", "", (1, 0), Any),
    row("etvk.conv2d_q8ta_q8csw_q8to.test_buffer", "", (1, 1), Any),
    row("etvk.conv2d_q8ta_q8csw_q8to.test_texture", "", (1, 1), Any),
    row("etvk.copy_channel_offset", "", (0, 3), Any),
    row("etvk.copy_offset", "", (0, 3), Any),
    row("etvk.qdq8ta_conv2d_input.default", "", (1, 1), Any),
    row("etvk.test_conv2d_q8ta_q8csw_q8to.default", "", (1, 2), Any),
    row("floordiv", "ii#", (1, 3), Any),
    row("llama.custom_sdpa.default", "tttiTsbSw", (0, 6), Any),
    row("mul", "ii#", (1, 3), Any),
    row("quantize_per_tensor.default", "tsiii.w", (0, 7), Same),
    row("quantize_per_token.default", "tttii.w", (0, 7), Same),
    row("quantized_decomposed.choose_qparams.tensor", "tiis.x", (1, 0), Any),
    row("quantized_decomposed.choose_qparams_per_token_asymmetric.default", "t.x", (1, 0), Any),
    row("quantized_decomposed.dequantize_per_channel.default", "ttTiii..w", (1, 0), Same),
    row("quantized_decomposed.dequantize_per_tensor.default", "tsiii..w", (1, 1), Same),
    row("quantized_decomposed.dequantize_per_tensor.tensor", "tttii..w", (1, 0), Same),
    row("quantized_decomposed.dequantize_per_token.default", "tttii..w", (1, 0), Same),
    row("quantized_decomposed.quantize_per_channel.default", "tttiii.w", (1, 0), Same),
    row("quantized_decomposed.quantize_per_tensor.default", "tsiii.w", (1, 1), Same),
    row("quantized_decomposed.quantize_per_tensor.tensor", "tttii.w", (1, 0), Same),
    row("quantized_decomposed.quantize_per_token.default", "tttii.w", (1, 0), Same),
    row("sdpa_with_kv_cache.default", "tttuuiiTsbSw", (0, 5), Any),
    row("sub", "ii#", (1, 3), Any),
    row("sym_size.int", "ti#", (0, 7), Any),
    row("testing.compute_attn_weight_with_kv_cache.default", "", (1, 1), Any),
    row("torchao.choose_qparams_affine.default", "Tzl.SSS..bx", (1, 0), Any),
    row("torchao.dequantize_affine.default", "tltT.SS.w", (1, 0), Any),
    row("torchao.quantize_affine.default", "tltT.SSw", (1, 0), Any),
    row("update_cache.default", "tuiw", (0, 6), Any),
];

/// The operators of images that have to be packed by channels (`VK_CHECK_COND` on `packed_dim_of` in
/// `backends/vulkan/runtime/graph/ops/impl`, since they were registered).
static PACKED_BY_CHANNELS: &[&str] = &[
    "aten.avg_pool2d.default",
    "aten.convolution.default",
    "aten.flip.default",
    "aten.index_select.default",
    "aten.max_pool2d.default",
    "aten.max_pool2d_with_indices.default",
    "et_vk.conv_with_clamp.default",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_sorted_and_end_with_what_they_write() {
        assert!(OPERATORS.is_sorted_by(|a, b| a.name < b.name));
        for row in OPERATORS {
            let Some(last) = row.letters.bytes().last() else { continue };
            assert!(b"wx#".contains(&last), "{}", row.name);
            let known = |letter: u8| b"tsibzlvowxu#.TSIBZLVO".contains(&letter);
            assert!(row.letters.bytes().all(known), "{}", row.name);
        }
    }

    #[test]
    fn operators_are_found_by_name() {
        assert_eq!(VulkanOperator::of("aten.add.Tensor").unwrap().since, (0, 2));
        assert!(VulkanOperator::of("aten.add.Tensos").is_none());
        assert!(VulkanOperator::is_of_known_namespace("aten.add.Tensos"));
        assert!(!VulkanOperator::is_of_known_namespace("my.add.Tensor"));
        assert!(!VulkanOperator::is_of_known_namespace("add"));
    }
}
