//! The release that brought each operator, as far as the official wheels show it.

/// A release of the runtime: its major and minor number.
type Release = (u32, u32);

/// The oldest release whose operators are known.
pub const OLDEST: Release = (0, 4);

/// Operators that [`OLDEST`] does not have, sorted, and the first release that has them. No
/// release after it lacks them. The facts are from PyPI's wheels (format.md §6.11).
static SINCE: &[(&str, Release)] = &[
    ("aten::_adaptive_avg_pool2d.out", (1, 3)),
    ("aten::_conj_physical.out", (1, 2)),
    ("aten::_fft_c2r.out", (0, 7)),
    ("aten::_fft_r2c.out", (0, 6)),
    ("aten::_upsample_bilinear2d_aa.out", (1, 0)),
    ("aten::bitwise_left_shift.Tensor_Scalar_out", (1, 1)),
    ("aten::bitwise_left_shift.Tensor_out", (1, 1)),
    ("aten::bitwise_right_shift.Tensor_Scalar_out", (1, 1)),
    ("aten::bitwise_right_shift.Tensor_out", (1, 1)),
    ("aten::elu.out", (0, 6)),
    ("aten::grid_sampler_2d.out", (1, 1)),
    ("aten::index_put_", (0, 7)),
    ("aten::linear.out", (0, 5)),
    ("aten::masked_scatter.out", (0, 5)),
    ("aten::masked_select.out", (0, 5)),
    ("aten::max.unary_out", (0, 5)),
    ("aten::max_pool2d_with_indices_backward.grad_input", (0, 6)),
    ("aten::mean.dtype_out", (0, 6)),
    ("aten::min.unary_out", (0, 5)),
    ("aten::native_dropout.out", (0, 7)),
    ("aten::rand.out", (0, 7)),
    ("aten::randn.out", (0, 7)),
    ("aten::repeat_interleave.Tensor_out", (0, 5)),
    ("aten::unfold_copy.out", (0, 6)),
    ("aten::upsample_bilinear2d.vec_out", (0, 6)),
    ("aten::upsample_nearest2d.vec_out", (0, 6)),
    ("aten::var_mean.correction_out", (1, 3)),
    ("aten::view_as_real_copy.out", (0, 7)),
    ("dim_order_ops::_clone_dim_order.out", (1, 0)),
    ("dim_order_ops::_empty_dim_order.out", (0, 5)),
    ("et_copy::_d2h_copy.out", (1, 4)),
    ("et_copy::_h2d_copy.out", (1, 4)),
    ("executorch_prim::ceil.Scalar", (0, 5)),
    ("executorch_prim::round.Scalar", (0, 5)),
    ("executorch_prim::sym_int.Scalar", (1, 4)),
    ("executorch_prim::sym_ite.Scalar", (1, 4)),
    ("executorch_prim::sym_max.Scalar", (1, 0)),
    ("executorch_prim::sym_min.Scalar", (1, 0)),
    ("executorch_prim::sym_not.Scalar", (1, 4)),
    ("executorch_prim::trunc.Scalar", (0, 5)),
    ("quantized_decomposed::choose_qparams_per_token_asymmetric.out", (0, 5)),
    ("quantized_decomposed::dequantize_per_token.out", (0, 5)),
    ("quantized_decomposed::embedding_2bit.dtype_out", (0, 5)),
    ("quantized_decomposed::embedding_2bit.out", (0, 5)),
    ("quantized_decomposed::quantize_per_token.out", (0, 5)),
];

/// Returns the release that brought an operator, by its full name. Returns `None` if [`OLDEST`] has
/// the operator, or if it is unknown.
pub fn since(operator: &str) -> Option<Release> {
    let found = SINCE.binary_search_by(|&(name, _)| name.cmp(operator)).ok()?;
    SINCE.get(found).map(|&(_, release)| release)
}

#[cfg(test)]
mod tests {
    use super::{OLDEST, SINCE};
    use crate::operators::signature;

    #[test]
    fn releases_of_operators_are_sorted_and_have_signatures() {
        assert!(SINCE.is_sorted_by(|(one, _), (next, _)| one < next));
        for (name, release) in SINCE {
            assert!(signature(name).is_some() && *release > OLDEST, "{name}");
        }
    }
}
