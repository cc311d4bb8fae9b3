//! Numbers that calls compute or read from tensors.

use super::{COMPARE, all, findings};

/// The dtype of the tensor decides the kind of the number that is read from it.
#[test]
fn a_number_that_is_read_from_a_tensor_has_the_kind_of_its_dtype() {
    let add = "aten::add.out a b i c c";
    all(&[
        (&["aten::_local_scalar_dense ix j", "executorch_prim::mod.int i j y"], &[]),
        (&["aten::_local_scalar_dense a j", "executorch_prim::mod.int i j y"], &["result-type 1"]),
        (&["aten::_local_scalar_dense t j", "aten::full.out (i) j c c"], &[]),
        (&["aten::_local_scalar_dense t i", "aten::full.out (i) j c c"], &["result-type 1"]),
        (&["aten::_local_scalar_dense ix g", "jump g 2", add], &["result-type 1"]),
    ]);
}

/// If no call resizes a tensor, its sizes are known, and so are the numbers computed from them.
#[test]
fn a_second_run_meets_what_the_first_has_computed() {
    all(&[
        (&["aten::sym_size.int a zero j", "executorch_prim::mod.int i j y"], &[]),
        (&["aten::sym_size.int a zero zero"], &["kernel-shape 0"]),
        // A choice between two numbers is known if its condition is.
        (
            &["aten::sym_size.int a zero j", "executorch_prim::sym_ite.Scalar f j j zero"],
            &["kernel-shape 0"],
        ),
        (&["aten::sym_size.int a zero j", "executorch_prim::sym_ite.Scalar no j zero zero"], &[]),
        (
            &["executorch_prim::sub.Scalar j i j", "executorch_prim::mod.int i j y"],
            &["kernel-number 1"],
        ),
        // An Int is never NaN: the runtime converts NaN to another number, which is not a
        // dimension.
        (
            &[
                "aten::sym_size.int a zero j",
                "executorch_prim::truediv.Scalar zero zero x",
                "executorch_prim::round.Scalar x zero",
            ],
            &["kernel-shape 0"],
        ),
        // A number that each iteration computes again is known after the loop.
        (
            &[
                "aten::sym_size.int a zero j",
                "executorch_prim::neg.Scalar i zero",
                COMPARE,
                "jump g 1",
            ],
            &["kernel-shape 0"],
        ),
        (
            &[
                "aten::sym_size.int a zero j",
                "executorch_prim::add.Scalar zero i zero",
                COMPARE,
                "jump g 1",
            ],
            &["kernel-shape 0"],
        ),
        // The second iteration uses the results of the first, if the second certainly runs.
        (
            &["aten::sym_size.int a zero zero", "executorch_prim::lt.Scalar i i g", "jump g 0"],
            &["kernel-shape 0"],
        ),
    ]);
}

/// A call may resize a tensor that is not static, on one path, by another index, or in a list.
#[test]
fn sizes_are_those_of_the_file_until_a_call_may_change_them() {
    let less = "executorch_prim::sub.Scalar j i j";
    let none = ["aten::sym_size.int wide zero j", less, less, "executorch_prim::mod.int i j y"];
    let behind = |lines: &[&'static str]| findings(&[lines, &none].concat());
    let write = "aten::relu.out a wide wide";
    assert_eq!(behind(&[]), ["kernel-number 3"]);
    assert_eq!(behind(&[write]), [""; 0]);
    assert_eq!(behind(&[COMPARE, "jump g 3", write]), [""; 0]);
    assert_eq!(behind(&[COMPARE, "jump g 3", "aten::relu.out b dyn dyn"]), ["kernel-number 6"]);
    assert_eq!(
        behind(&[COMPARE, "jump g 3", "move wide dyn", "aten::relu.out b dyn dyn"]),
        [""; 0]
    );
    assert_eq!(behind(&["aten::unbind_copy.int_out out zero [wide] [wide]"]), [""; 0]);
}

/// No exporter computes a dimension, and the kernel aborts at one that is out of range.
#[test]
fn a_dimension_that_nothing_bounds_is_refused() {
    let size = "aten::sym_size.int a zero j";
    all(&[
        (&[size], &[]),
        (&["executorch_prim::sub.Scalar i i zero", size], &[]),
        (&["aten::_local_scalar_dense ix zero", size], &["kernel-shape 1"]),
        (
            &["executorch_prim::add.Scalar zero i zero", COMPARE, "jump g 0", size],
            &["kernel-shape 3"],
        ),
    ]);
}
