//! Loops that never end.

use super::{COMPARE, all};

#[test]
fn a_loop_ends_if_its_condition_may_change() {
    all(&[
        (&[COMPARE, "jump g 0"], &[]),
        (&["aten::add.out a b i c c", "jump g 0"], &["loop-endless 1"]),
        // A call that only reads the condition does not change it.
        (&["aten::copy.out a b no c c", "jump no 0"], &["loop-forever 1"]),
        (&["my::op a no", "jump no 0"], &[]),
        (&["delegate a g", "jump g 0"], &[]),
        (&["delegate a i", "jump g 0"], &["loop-endless 1"]),
        // In another chain, the value is changed once.
        (
            &[COMPARE, "jump g 0", "chain", "aten::add.out a b i c c", "jump g 0"],
            &["loop-endless 1"],
        ),
        (
            &["aten::add.out a b i c c", "jump g 0", "chain", COMPARE, "jump g 0"],
            &["loop-endless 1"],
        ),
        // A jump to itself is not a loop around another instruction.
        (&[COMPARE, "jump g 1", "jump g 0"], &["jump-to-itself 1"]),
    ]);
}

#[test]
fn a_branch_inside_a_loop_does_not_end_it() {
    let add = "aten::add.out a b i c c";
    all(&[
        (&["jump g 2", add, "jump no 0"], &["loop-forever 2"]),
        (&["jump f 2", add, "jump g 0"], &["loop-endless 2"]),
        // A jump leaves the loop, to the end or to a place before it.
        (&["jump g 3", add, "jump no 0", add], &[]),
        (&[COMPARE, add, "jump g 0", add, "jump no 2"], &[]),
    ]);
}
