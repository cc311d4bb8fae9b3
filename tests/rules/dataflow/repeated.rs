//! What one run or iteration leaves is what the next begins with.

use super::{COMPARE, LESS, USED, VIEW, all};

const SIZE: &str = "aten::sym_size.int a zero (i)";
const LIST: &str = "executorch_prim::et_view.default a (i) u";
const NEXT: &str = "executorch_prim::add.Scalar i j i";
const END: &str = "executorch_prim::eq.Scalar i j g";

#[test]
fn a_result_replaces_a_list() {
    all(&[
        (&[SIZE], &[]),
        (&[SIZE, LIST], &["result-type 1"]),
        // The next run uses it.
        (&[LIST, SIZE], &["result-type 0"]),
        (&["aten::_local_scalar_dense t [a,b]", "aten::cat.out [a,b] i c c"], &["result-type 1"]),
        // An operator that works in place returns its first argument.
        (&[LIST, "aten::copy_ a b f (i)"], &["move-type 0"]),
    ]);
}

#[test]
fn a_later_run_begins_with_what_the_runs_before_left() {
    all(&[
        // The free is on one path, the move on another, and both are done in two runs.
        (
            &["outputs a", COMPARE, "jump g 4", "move b a", "jump no 5", "free a", "move c a"],
            &["use-after-free outputs[0]"],
        ),
        // A Double arrives in the second run, and in the fourth.
        (
            &["executorch_prim::floordiv.int j j f", "move y j"],
            &["move-type-unread 1", "move-type 0"],
        ),
        (&[LIST, "move j i", "move zero j", "move x zero"], &["move-type-unread 3", "move-type 0"]),
        // The caller's memory for the output is given to a larger tensor.
        (&["inputs dyn", "outputs u", "move big u"], &["move-output-larger outputs[0]"]),
        (&["outputs u", "move b u"], &[]),
        (
            &["outputs u", COMPARE, "jump g 3", "move big u", COMPARE, "jump g 6", "move b u"],
            &["move-output-larger outputs[0]"],
        ),
    ]);
}

/// Each loop counts, so no iteration is like another.
#[test]
fn a_later_iteration_begins_with_what_the_iterations_before_left() {
    let divide = "executorch_prim::truediv.Scalar i i j";
    let integer = "executorch_prim::floordiv.int j j zero";
    all(&[
        (&["free a", NEXT, END, "jump g 0"], &[]),
        (&["aten::add.out a b j c c", "free c", NEXT, END, "jump g 0"], &["use-after-free 0"]),
        // With a branch inside.
        (
            &[COMPARE, "jump g 3", "free c", "aten::add.out a b f c c", NEXT, END, "jump g 0"],
            &["use-after-free 3"],
        ),
        (&[COMPARE, "jump g 3", integer, divide, NEXT, END, "jump g 0"], &["result-type 2"]),
        (&[VIEW, COMPARE, "jump g 4", USED, "free u", NEXT, END, "jump g 0"], &[]),
        // In a loop in a loop.
        (
            &["aten::add.out a b f c c", NEXT, END, "jump g 1", "free c", NEXT, END, "jump g 0"],
            &["use-after-free 0"],
        ),
        (
            &[
                "aten::add.out a b f c c",
                NEXT,
                END,
                "jump g 1",
                "executorch_prim::neg.Scalar i a",
                NEXT,
                END,
                "jump g 0",
            ],
            &["result-type 0"],
        ),
        (&[NEXT, END, "jump g 0", integer, divide, NEXT, END, "jump g 0"], &["result-type 3"]),
        (
            &[
                COMPARE,
                "jump g 3",
                "move k a",
                NEXT,
                END,
                "jump g 3",
                "aten::add.out c c f a a",
                COMPARE,
                "jump g 0",
            ],
            &["constant-written 6"],
        ),
        // The loop may be left by a jump that is not taken before the fifth iteration.
        (
            &[
                "executorch_prim::add.Scalar j j zero",
                "executorch_prim::add.Scalar zero zero zero",
                "executorch_prim::add.Scalar zero j zero",
                "jump f 9",
                NEXT,
                "executorch_prim::lt.Scalar i zero f",
                COMPARE,
                "jump g 3",
                VIEW,
                USED,
            ],
            &["storage-missing 9"],
        ),
        // The loop is left before.
        (
            &["jump f 5", "free c", "move no f", LESS, "jump g 0", "aten::add.out a b i c c"],
            &["use-after-free 5"],
        ),
        (&["jump f 4", "free c", LESS, "jump g 0", "aten::add.out a b i c c"], &[]),
    ]);
}
