//! `pte check --kernels` and `--backends`: what a build of the runtime lacks.

use std::fs;

use super::super::{LINEAR, good, pte, text};

/// A phone that links portable kernels alone fails with status 0x14 at the operators that they lack. The
/// finding says which library has them.
#[test]
fn kernels_that_a_build_lacks_are_errors_with_the_library_to_link() {
    let file = "tests/data/pte/cond.pte";
    assert!(good(&["check", file, "--kernels", "portable,prim"]).starts_with("ok"));
    assert!(good(&["check", file, "--kernels", "optimized,portable_ops_lib"]).starts_with("ok"));
    let (code, shown, _) = outcome(&["check", file, "--kernels", "prim"]);
    assert_eq!(code, 1);
    for text in
        ["operator-missing", "\"aten::mul.out\"", "portable_ops_lib", "instructions[", "0x14"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let (_, missing, _) = outcome(&["ops", file, "--against", "prim"]);
    assert_eq!(missing.lines().count(), shown.matches("operator-missing").count(), "{missing}");

    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("mine.txt");
    fs::write(&list, "aten::sin.out\n").unwrap();
    let (_, shown, _) = outcome(&["check", file, "--kernels", &format!("{},prim", list.display())]);
    assert!(!shown.contains("aten::sin.out\"") && shown.contains("aten::cos.out\""), "{shown}");

    let (code, _, error) = outcome(&["check", file, "--kernels", "portble"]);
    assert_eq!(code, 3);
    assert!(error.contains("portable, optimized, quantized"), "{error}");
}

/// A build that was made for other dtypes has the operator, and no kernel for this call.
#[test]
fn a_kernel_for_other_dtypes_only_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("ops.yaml");
    let yaml = good(&["ops", "--format", "yaml", LINEAR]);
    let kernels = list.to_str().unwrap();
    fs::write(&list, &yaml).unwrap();
    assert!(good(&["check", LINEAR, "--kernels", kernels]).starts_with("ok"));
    fs::write(&list, yaml.replace("6;", "5;")).unwrap();
    let (code, shown, _) = outcome(&["check", LINEAR, "--kernels", kernels]);
    assert_eq!(code, 1);
    assert!(shown.contains("operator-missing") && shown.contains("do not take FLOAT"), "{shown}");
    // A library that has all kernels of the operator makes up for it.
    assert!(
        good(&["check", LINEAR, "--kernels", &format!("{kernels},portable")]).starts_with("ok")
    );
}

#[test]
fn backends_that_a_build_lacks_are_errors() {
    let file = "tests/data/pte/xnn_mixed.pte";
    for backends in ["XnnpackBackend", "android", "VulkanBackend,wheel"] {
        assert!(good(&["check", file, "--backends", backends]).starts_with("ok"), "{backends}");
    }
    let (code, shown, _) = outcome(&["check", file, "--backends", "VulkanBackend"]);
    assert_eq!(code, 1);
    assert!(shown.contains("backend-missing") && shown.contains("XnnpackBackend"), "{shown}");
    let (code, _, error) = outcome(&["check", file, "--backends", "wheel", "--runtime", "1.1"]);
    assert_eq!(code, 2);
    assert!(error.contains("in release 1.1 are not known"), "{error}");
}

/// The exit status, standard output and standard error of a run.
fn outcome(args: &[&str]) -> (i32, String, String) {
    let output = pte(args);
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}
