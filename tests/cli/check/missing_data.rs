//! The verdict `incomplete`: a program needs data of a `.ptd` that is not given.

use std::fs;

use serde_json::json;

use super::{DATA, LINEAR, PROGRAM, append_run, json, pte, run, text};
use crate::support::snapshot::assert_snapshot;

/// A program with an XNNPACK payload whose constants are in a `.ptd`.
const DELEGATE: &str = "tests/data/pte/xnn_external.pte";

/// The keys of tensors are names, those of delegates mostly digests.
#[test]
fn a_program_without_its_data_is_incomplete_and_not_ok() {
    let mut page = String::new();
    for path in [PROGRAM, DELEGATE] {
        append_run(&mut page, &["check", path], &pte(&["check", path]));
    }
    let several = ["check", PROGRAM, LINEAR, DELEGATE];
    let all = pte(&several);
    assert!(text(&all.stdout).ends_with("3 files: 1 ok, 2 incomplete\n"), "{}", text(&all.stdout));
    assert_snapshot("check-external", &page);
    assert_eq!(text(&pte(&["check", LINEAR]).stdout), format!("ok  {LINEAR}\n"));
}

#[test]
fn missing_data_fails_where_it_is_required() {
    let code = |args: &[&str]| pte(&[&["check"], args].concat()).status.code();
    for path in [PROGRAM, DELEGATE] {
        assert_eq!(code(&[path]), Some(0));
        assert_eq!(code(&["--require-data", path]), Some(1));
        assert_eq!(code(&["--require-data", "--max-findings", "0", path]), Some(1));
        assert_eq!(code(&["--preset", "untrusted-upload", path]), Some(1));
        assert_eq!(code(&["--require-data", "--allow", "external-not-judged", path]), Some(0));
        assert_eq!(json_of(&[path])["verdict"], "incomplete");
    }
    assert_eq!(code(&["--require-data", LINEAR]), Some(0));
    assert_eq!(code(&["--require-data", PROGRAM, "--with", DATA]), Some(0));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pte.toml"), "[check]\nrequire-data = true\n").unwrap();
    let program = crate::support::files::path(PROGRAM);
    let done = run(&["check", program.to_str().unwrap()], Some(folder.path()), b"");
    assert_eq!(done.status.code(), Some(1));
}

/// That data is required is no fault of the file: a script distinguishes it from an Error in the file.
#[test]
fn a_file_that_only_lacks_required_data_stays_incomplete() {
    let file = json_of(&["--require-data", PROGRAM]);
    let keys = ["ls.0.bias", "ls.0.weight", "ls.1.bias", "ls.1.weight"];
    assert_eq!(file["verdict"], "incomplete");
    assert_eq!(file["missing"], json!({"count": 4, "keys": keys}));
    assert_eq!(file["findings"][0]["severity"], "error");
    let failures = pte(&["check", "--failures-only", PROGRAM]);
    assert_eq!(text(&failures.stdout), "", "by default it is no failure");
    let failures = pte(&["check", "--failures-only", "--require-data", PROGRAM]);
    assert!(text(&failures.stdout).starts_with("incomplete"), "{}", text(&failures.stdout));
    assert_eq!(json_of(&["--allow", "external-not-judged", PROGRAM])["verdict"], "ok");
    let given = json_of(&[PROGRAM, "--with", DATA]);
    assert_eq!((&given["verdict"], &given["missing"]), (&"ok".into(), &json!(null)));
}

#[test]
fn sarif_has_the_missing_keys_and_the_verdict() {
    let found = json(&["check", "--format", "sarif", DELEGATE]);
    let properties = &found["runs"][0]["results"][0]["properties"];
    assert_eq!(properties["verdict"], "incomplete");
    assert_eq!(properties["missing"]["count"], 4);
    assert_eq!(properties["missing"]["keys"].as_array().unwrap().len(), 4);
}

/// The keys that are kept have the limit of findings.
#[test]
fn at_most_as_many_keys_are_listed_as_findings() {
    let file = json_of(&["--max-findings", "1", PROGRAM]);
    assert_eq!(file["missing"], json!({"count": 4, "keys": ["ls.0.bias"]}));
    let shown = pte(&["check", "--max-findings", "1", PROGRAM]);
    let shown = text(&shown.stdout);
    assert!(shown.contains("missing 4 keys: ls.0.bias and 3 more (--max-findings)"), "{shown}");
}

/// An accepted finding is no longer shown, and the verdict follows.
#[test]
fn a_baseline_accepts_missing_data() {
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known.json");
    let known = known.to_str().unwrap();
    assert!(pte(&["check", PROGRAM, "--write-baseline", known]).status.success());
    let done = pte(&["check", "--require-data", PROGRAM, "--baseline", known]);
    assert_eq!(text(&done.stdout), format!("ok  {PROGRAM}\n"));
    assert_eq!(done.status.code(), Some(0));
}

/// Returns the first file of the document.
fn json_of(args: &[&str]) -> serde_json::Value {
    let done = pte(&[&["check", "--json"], args].concat());
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    document["files"][0].clone()
}
