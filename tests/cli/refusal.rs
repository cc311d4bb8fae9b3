//! Refused files in JSON.

use serde_json::Value;

use super::{LINEAR, pte, text};

fn document(args: &[&str]) -> Value {
    let done = pte(args);
    assert_eq!(done.status.code(), Some(1), "{args:?}");
    assert!(text(&done.stderr).contains("other-format"), "{args:?}: standard error has it too");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// A refused file has the form that `check --json` gives it.
#[test]
fn every_verb_with_json_has_one_form_for_a_refusal() {
    let done = pte(&["check", "--json", "README.md"]);
    let checked: Value = serde_json::from_slice(&done.stdout).unwrap();
    let want = &checked["files"][0];
    assert_eq!(want["findings"][0]["rule"], "other-format");
    for verb in ["tensors", "memory", "map", "graph"] {
        let found = document(&[verb, "--json", "README.md"]);
        assert_eq!(found["schema"], "pte.error/1", "{verb}");
        assert_eq!(found["files"], Value::from(vec![want.clone()]), "{verb}");
    }
    let found = document(&["diff", "--json", LINEAR, "README.md"]);
    assert_eq!(found["files"][0], *want);
    for verb in ["info", "ops", "size"] {
        let found = document(&[verb, "--json", LINEAR, "README.md"]);
        assert_eq!(found["files"].as_array().unwrap().len(), 1, "{verb}");
        assert_eq!(found["refused"], Value::from(vec![want.clone()]), "{verb}");
    }
}

/// A file that cannot be read is worse than one that is refused, in any order. Documents follow one another.
#[test]
fn the_worst_status_of_several_files_counts() {
    let status = |files: &[&str]| pte(&[&["tensors"], files].concat()).status.code();
    let (refused, missing) = ("README.md", "no-such-file");
    for files in
        [[LINEAR, missing, refused], [missing, refused, LINEAR], [refused, LINEAR, missing]]
    {
        assert_eq!(status(&files), Some(3), "{files:?}");
    }
    for files in [[refused, LINEAR], [LINEAR, refused]] {
        assert_eq!(status(&files), Some(1), "{files:?}");
    }
    let done = pte(&["tensors", "--json", LINEAR, refused, LINEAR]);
    let shown = text(&done.stdout);
    assert!(!shown.contains("\n\n"), "{shown}");
    let documents = serde_json::Deserializer::from_str(&shown).into_iter::<Value>();
    let schemas: Vec<_> = documents.map(|document| document.unwrap()["schema"].clone()).collect();
    assert_eq!(schemas, ["pte.tensors/1", "pte.error/1", "pte.tensors/1"]);
}

#[test]
fn a_missing_file_has_the_same_form() {
    for args in [
        &["map", "--json", "no-such-file"][..],
        &["ops", "--json", LINEAR, "--against", "no-such-file"],
        &["check", "--json", LINEAR, "--baseline", "no-such-file"],
        &["check", "--json", LINEAR, "--config", "no-such-file"],
    ] {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(3), "{args:?}");
        let found: Value = serde_json::from_slice(&done.stdout).unwrap();
        let file = &found["files"][0];
        assert_eq!(file["path"], "no-such-file", "{args:?}");
        assert_eq!(file["findings"][0]["rule"], "unreadable", "{args:?}");
    }
}

/// A good file that lacks the requested method is not reported as unreadable.
#[test]
fn a_request_that_a_file_cannot_meet_is_no_unreadable_file() {
    for verb in ["tensors", "memory", "graph"] {
        let done = pte(&[verb, "--json", "--method", "no such", LINEAR]);
        assert_eq!(done.status.code(), Some(1), "{verb}");
        let found: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(found["files"][0]["findings"][0]["rule"], "absent", "{verb}");
    }
    let done = pte(&["info", "--json", "--method", "no such", LINEAR]);
    let found: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(found["refused"][0]["findings"][0]["rule"], "absent");
}

/// A usage error concerns no file, so it has no document. `-o FILE` is written completely or not at
/// all.
#[test]
fn usage_errors_and_output_files_have_no_document() {
    let done = pte(&["map", "--json", "--depth", "0", LINEAR]);
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(2), ""));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let done = pte(&["map", "--json", "README.md", "-o", out.to_str().unwrap()]);
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(1), ""));
    assert!(!out.exists());
}

/// The place of an error in a text is said once, and JSON has no colours.
#[test]
fn an_invalid_text_has_one_place() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    let args = ["check", "--json", LINEAR, "--baseline", empty.to_str().unwrap()];
    let done = pte(&args);
    assert_eq!(done.status.code(), Some(2));
    let said = text(&done.stderr);
    assert_eq!(said.matches("line 1").count(), 1, "{said}");
    assert!(said.contains("help: `pte check --write-baseline"), "{said}");
    let found: Value = serde_json::from_slice(&done.stdout).unwrap();
    let finding = &found["files"][0]["findings"][0];
    assert_eq!(finding["message"], "EOF while parsing a value, at line 1, column 0");
    assert!(finding["help"].is_string());
}
