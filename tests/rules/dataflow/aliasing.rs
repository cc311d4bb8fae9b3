//! Outputs that share memory with other arguments of their call.

use super::all;

#[test]
fn outputs_share_no_bytes_with_inputs() {
    all(&[
        (&["aten::add.out b c i a a"], &[]),
        (&["aten::add.out a' c i a a"], &["args-overlap 0"]),
        (&["aten::add.out deep c i a a"], &["args-overlap 0"]),
        (&["inputs a", "aten::add.out a' c i a a"], &["args-overlap 0"]),
        // A tensor without elements overlaps none.
        (&["aten::add.out e e i big big"], &[]),
        // A tensor with an invalid shape has no known bytes.
        (&["aten::add.out deeper c i a a"], &[]),
        // A value that was replaced has no known bytes either.
        (&["move b a'", "aten::add.out a' c i a a"], &[]),
        // A result at the place of another argument is not read. It is put there after the call.
        (&["aten::add.out b c i a a'"], &[]),
        (&["aten::copy_ a c f a'"], &[]),
        // An offset has two halves.
        (&["aten::add.out far c i a a"], &[]),
        (&["aten::add.out far far i big big"], &["args-overlap 0"]),
        // Only the index tensor of a scatter decides which elements are written.
        (&["aten::scatter_add.out b i ix c a a"], &[]),
        (&["aten::scatter_add.out b i ix' c a a"], &["index-overlap 0"]),
        (&["aten::scatter_add.out b i ix a' a a"], &["args-overlap 0"]),
        (&["aten::where.self_out t b a' a a"], &["args-overlap 0"]),
        // The worse of the two is reported.
        (&["aten::scatter_add.out a' i ix' c a a"], &["index-overlap 0"]),
        // A tensor whose shape alone is read, and one whose memory is elsewhere now.
        (&["aten::full_like.out a' i n a a"], &[]),
        (&["executorch_prim::et_view.default b (i) a'", "aten::add.out a' c i a a"], &[]),
        (&["executorch_prim::et_view.default a' (i) b", "aten::add.out b c i a a"], &[]),
        (&["move a b", "aten::add.out a' c i b b"], &["args-overlap 1"]),
        (&["move a b", "aten::add.out a c i b b"], &[]),
    ]);
}

/// A kernel that checks indices, counts or masks first reads them again while it writes.
#[test]
fn kernels_do_not_read_again_what_they_overwrite() {
    let view = "executorch_prim::et_view.default ix' (i) w";
    all(&[
        (&["aten::gather.out b i ix f c c"], &[]),
        (&["aten::gather.out b i ix' f a a"], &["index-overlap 0"]),
        (&["aten::index_select.out b i ix' a a"], &["index-overlap 0"]),
        (&["aten::index.Tensor_out b <ix'> a a"], &["index-overlap 0"]),
        (&["aten::index_put_ a <ix'> b f j"], &["index-overlap 0"]),
        (&["aten::masked_select.out b shape ix ix"], &["index-overlap 0"]),
        (&["aten::nonzero.out a ix' ix'"], &["index-overlap 0"]),
        (&["aten::repeat_interleave.Tensor_out ix' n ix' ix'"], &["index-overlap 0"]),
        // Each row of the input is read after the scales of earlier rows are written.
        (&[&format!("{QPARAMS} a i scale point scale")], &[]),
        (&[&format!("{QPARAMS} a i scale' point scale'")], &["index-overlap 0"]),
        // An index that is a view of planned memory, or is the output itself.
        (&[view, "aten::scatter.src_out b i w c a a"], &["index-overlap 1"]),
        (&["aten::scatter.src_out ix' i ix' ix ix' ix'"], &["index-overlap 0"]),
    ]);
}

/// If no call writes the index tensor, its elements are those that another tensor left in its
/// memory.
#[test]
fn an_index_that_nothing_writes_is_not_written_over() {
    let written = "aten::relu.out b a a";
    all(&[
        (&[written, "aten::gather.out b i ix' f c c"], &["index-overlap 1"]),
        (&["aten::gather.out b i ix' f c c", written], &["index-overlap 0"]),
        (&[written, "aten::index.Tensor_out b <ix'> c c"], &["index-overlap 1"]),
        // An index that is an input, one that a call writes, and one that shares no memory.
        (&["inputs ix'", written, "aten::gather.out b i ix' f c c"], &[]),
        (&[written, "aten::clone.out ix n ix' ix'", "aten::gather.out b i ix' f c c"], &[]),
        (&[written, "aten::gather.out b i ix f c c"], &[]),
    ]);
}

const QPARAMS: &str = "quantized_decomposed::choose_qparams_per_token_asymmetric.out";

#[test]
fn an_output_that_is_resized_is_no_input_and_no_small_view() {
    let view = "executorch_prim::et_view.default b (i) view";
    all(&[
        (&["aten::cat.out [a,b] i dyn dyn"], &[]),
        (&["aten::cat.out [dyn] i dyn dyn"], &["output-resized 0"]),
        (&["move dyn small", "aten::cat.out [dyn] i small small"], &["output-resized 1"]),
        (&["aten::cat.out [a,b] i a a"], &[]),
        (&[view, "aten::relu.out a view view"], &["view-capacity 1"]),
        (&["executorch_prim::et_view.default b (i) a'", "aten::relu.out c a' a'"], &[]),
    ]);
}
