//! Lists of selected operators: the YAML that ExecuTorch's build writes, and names.

use pte::operators::selected::SelectedOperators;
use pte::operators::{KERNELS, LIBRARIES};
use pte::release::NEWEST;
use pte::schema::scalar::ScalarType;

fn read(text: &str) -> SelectedOperators {
    SelectedOperators::read(text).unwrap()
}

/// Names in YAML may be quoted, with escapes, and have comments behind them.
#[test]
fn names_are_read_in_each_form_of_yaml() {
    for line in [
        "aten::add.out:",
        "aten::add.out: # a comment",
        "aten::add.out:   # a comment",
        "\"aten::add.out\":",
        "'aten::add.out':",
        "\"\\x61ten::add.out\":",
        "\"\\u0061ten::add.out\":",
        "\"\\U00000061ten::add.out\":",
        "? aten::add.out",
    ] {
        let list = read(&format!("operators:\n  {line}\n    is_root_operator: true\n"));
        assert!(list.contains("aten::add.out"), "{line}");
        assert!(!list.contains("aten::add.Scalar_out"), "{line}");
    }
    let quote = read("operators:\n  'it''s':\n    is_root_operator: true\n");
    assert!(quote.contains("it's"));
}

/// A key counts at the start of a line alone; elsewhere it may be a part of a comment in a list of names.
#[test]
fn a_list_of_names_is_no_yaml() {
    let list = read("# all\naten::add.out # operators:\n  aten::mul.out\n");
    assert!(list.contains("aten::add.out") && list.contains("aten::mul.out"));
    let inner = SelectedOperators::read("  operators: x\n");
    assert!(inner.is_err(), "a name with a space");
}

#[test]
fn all_overloads_are_those_of_one_operator() {
    let text = "operators:\n  aten::add:\n    include_all_overloads: true  # all\n";
    let list = read(text);
    for name in ["aten::add.out", "aten::add.Scalar_out", "aten::add", "aten::add.a.b"] {
        assert!(list.contains(name), "{name}");
    }
    for name in ["aten::addmm.out", "aten::sub.out", "add.out"] {
        assert!(!list.contains(name), "{name}");
    }
    for value in ["true", "True", "yes", "on", "y"] {
        assert!(
            read(&format!("include_all_operators: {value}  # all\n")).contains("any"),
            "{value}"
        );
    }
    for value in ["false", "no", ""] {
        assert!(!read(&format!("include_all_operators: {value}\n")).contains("any"), "{value}");
    }
}

/// Of two lists, an operator has the dtypes of both, or all if one of them has it for all.
#[test]
fn merged_lists_have_what_either_has() {
    let typed = |dtype: u8| {
        read(&format!(
            "et_kernel_metadata:\n  aten::add.out:\n  - v1/{dtype};0,1\noperators:\n  aten::add.out:\n    a: b\n"
        ))
    };
    let dtypes = [ScalarType::INT, ScalarType::FLOAT, ScalarType::DOUBLE];
    let taken =
        |list: &SelectedOperators| dtypes.map(|dtype| list.contains_dtype("aten::add.out", dtype));
    let merged = |mut one: SelectedOperators, other: SelectedOperators| {
        one.merge(other);
        one
    };
    assert_eq!(taken(&typed(3)), [true, false, false]);
    assert_eq!(taken(&merged(typed(3), typed(6))), [true, true, false]);
    let named = || read("aten::add.out\n");
    for list in [merged(typed(3), named()), merged(named(), typed(3))] {
        assert_eq!(taken(&list), [true; 3]);
    }
    let all = merged(read("aten::mul.out\n"), read("include_all_operators: true\n"));
    assert!(all.contains("aten::anything"));
}

/// A key of a kernel has the dtype of each tensor. One without dtypes is that of a kernel for all.
#[test]
fn kernel_keys_have_the_dtypes_of_all_tensors() {
    let taken = |keys: &[&str]| {
        let keys: String = keys.iter().map(|key| format!("  - {key}\n")).collect();
        let list = read(&format!("et_kernel_metadata:\n  aten::add.out:\n{keys}"));
        (0..8).filter(|&dtype| list.contains_dtype("aten::add.out", ScalarType(dtype))).collect()
    };
    for (keys, dtypes) in [
        (&["v1/6;0,1|3;0|6;0"][..], vec![3, 6]),
        (&["v1/6;0", "'v1/4;0|1;'"], vec![1, 4, 6]),
        (&["v1/6;0", "default"], (0..8).collect()),
        (&["v2/6;0"], (0..8).collect()),
    ] {
        let found: Vec<i8> = taken(keys);
        assert_eq!(found, dtypes, "{keys:?}");
    }
}

/// The first tensor that a kernel reads, or else the first that it writes, has the dtype that decides.
#[test]
fn dtypes_of_kernels_are_those_of_a_tensor() {
    for kernel in KERNELS {
        let letters: Vec<_> = kernel.letters.chars().collect();
        let first = |of: &str| letters.iter().position(|&letter| of.contains(letter));
        assert_eq!(kernel.typed_arg(), first("tTvohy").or(first("wx@")), "{}", kernel.name);
        // No kernel was run with these dtypes.
        for dtype in [ScalarType::QINT8, ScalarType::FLOAT8E5M2] {
            assert_eq!(kernel.takes(NEWEST, dtype), None, "{}", kernel.name);
        }
    }
    for library in LIBRARIES {
        let oldest = KERNELS.iter().filter(|kernel| kernel.since <= (1, 0));
        for kernel in oldest {
            let has = |release| library.has(kernel.name, release);
            assert_eq!(has((0, 1)), has((1, 0)), "{} of {}", kernel.name, library.name);
            assert_eq!(has(NEWEST), has((99, 0)), "{} of {}", kernel.name, library.name);
        }
    }
}
