//! Unused values, which have no use to match them by.

use pte::schema::program::model::{EValue, Int, KernelTypes};

use super::one::{plan, value};
use super::renumber::renumber;
use super::{changed, diff, lines, sample};

/// A runtime makes every tensor when it loads a method, and refuses one that does not fit.
#[test]
fn a_tensor_that_nothing_uses() {
    let unused = |sizes: Vec<i32>, offset: u32| {
        changed(&sample("linear.pte"), |program| {
            let plan = plan(program, 0);
            let mut more = value(plan, 3).clone();
            let Some(KernelTypes::Tensor(tensor)) = &mut more.val else { panic!("a tensor") };
            tensor.sizes = Some(sizes.clone());
            tensor.allocation_info.as_mut().unwrap().memory_offset_low = offset;
            plan.values.as_mut().unwrap().push(more);
        })
    };
    let (without, with) = (sample("linear.pte"), unused(vec![8, 4], 0));
    let line = "unused: forward: a value that nothing uses: value: – → float32[8, 4]";
    assert_eq!(lines(&diff(&without, &with)), [line]);
    let line = "unused: forward: a value that nothing uses: sizes: [8, 4] → [4, 4]";
    assert_eq!(lines(&diff(&with, &unused(vec![4, 4], 0))), [line]);
    let line =
        "memory-plan: forward: a value that nothing uses: place: arena 1 at 0 → arena 1 at 16";
    assert_eq!(lines(&diff(&with, &unused(vec![8, 4], 16))), [line]);
    let line = "unused: forward: a value that nothing uses: value: float32[8, 4] → –";
    assert_eq!(lines(&diff(&with, &without)), [line]);
    let renumbered = changed(&with, |program| renumber(program, 5));
    assert_eq!(lines(&diff(&with, &renumbered)), Vec::<String>::new());
}

/// Unused tensors are one difference. Equal ones cancel, under any numbers.
#[test]
fn tensors_that_nothing_uses() {
    let unused = |rows: &[i32]| {
        changed(&sample("linear.pte"), |program| {
            let plan = plan(program, 0);
            for &rows in rows {
                let mut more = value(plan, 3).clone();
                let Some(KernelTypes::Tensor(tensor)) = &mut more.val else { panic!("a tensor") };
                tensor.sizes = Some(vec![rows, 4]);
                plan.values.as_mut().unwrap().push(more);
            }
        })
    };
    let line = "unused: forward: values that nothing uses: values: \
                float32[1, 4] → float32[4, 4], float32[5, 4]";
    let reported = lines(&diff(&unused(&[1, 2, 3]), &unused(&[2, 4, 3, 5])));
    let sorted = "unused: forward: values that nothing uses: values: \
                  float32[1, 4] → float32[5, 4], float32[4, 4]";
    assert!(reported == [line] || reported == [sorted], "{reported:?}");
    let line = "unused: forward: a value that nothing uses: value: – → float32[2, 4]";
    assert_eq!(lines(&diff(&unused(&[2, 3]), &unused(&[3, 2, 2]))), [line]);
}

/// An unused literal is reported if the other file has no equal one. A copy has no meaning.
#[test]
fn a_literal_that_nothing_uses() {
    let unused = |int_val: i64| {
        changed(&sample("add.pte"), |program| {
            let values = plan(program, 0).values.as_mut().unwrap();
            values.push(EValue { val: Some(KernelTypes::Int(Int { int_val })) });
        })
    };
    // The scalar by which the second summand is multiplied is a 1.
    assert_eq!(lines(&diff(&sample("add.pte"), &unused(1))), Vec::<String>::new());
    let line = "unused: forward: a value that nothing uses: value: Int 7 → Int 8";
    assert_eq!(lines(&diff(&unused(7), &unused(8))), [line]);
    let line = "unused: forward: a value that nothing uses: value: – → Int 7";
    assert_eq!(lines(&diff(&sample("add.pte"), &unused(7))), [line]);
}

/// A constant that only an unused value refers to.
#[test]
fn a_constant_that_nothing_uses() {
    let unused = changed(&sample("linear.pte"), |program| {
        let plan = plan(program, 0);
        let mut more = value(plan, 0).clone();
        let Some(KernelTypes::Tensor(tensor)) = &mut more.val else { panic!("a tensor") };
        tensor.sizes = Some(vec![8, 4]);
        plan.values.as_mut().unwrap().push(more);
    });
    let line = "unused: forward: a value that nothing uses: value: – → constant float32[8, 4]";
    assert_eq!(lines(&diff(&sample("linear.pte"), &unused)), [line]);
}
