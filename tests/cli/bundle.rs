//! Bundled programs: every verb reads the program in them.

use std::fs;

use pte::flat::write::{self, WriterLayout};
use pte::schema::bundled_program::desc::SCHEMA;
use pte::schema::bundled_program::model::{
    BundledMethodTestCase, BundledMethodTestSuite, BundledProgram,
};

use super::{LINEAR, json, pte, text};

/// Returns the path of a bundle of a program, in a folder that must be kept.
fn bundle(program: Vec<u8>) -> (tempfile::TempDir, String) {
    let suite = BundledMethodTestSuite {
        method_name: Some("forward".into()),
        test_cases: Some(vec![BundledMethodTestCase::default(); 3]),
    };
    let root = BundledProgram {
        version: 2,
        method_test_suites: Some(vec![suite]),
        program: Some(program),
    };
    let bytes = write::write(&SCHEMA, &root, &[], &WriterLayout::FLATC).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bpte");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn verbs_read_the_program_in_a_bundle() {
    let (_folder, path) = bundle(fs::read(LINEAR).unwrap());
    for verb in ["info", "check", "size", "map", "memory", "ops", "graph", "tensors"] {
        let shown = |path: &str| {
            let mut document = json(&[verb, "--json", path]).to_string();
            document = document.replace(path, "model");
            document
        };
        assert_eq!(shown(&path), shown(LINEAR), "{verb}");
    }
    // The tables of the bundle itself are dumped.
    let tables = json(&["dump", &path]);
    assert_eq!(tables["method_test_suites"][0]["test_cases"].as_array().unwrap().len(), 3);
    assert_eq!(tables["program"]["len"], fs::read(LINEAR).unwrap().len());
    assert_eq!(pte(&["diff", &path, LINEAR]).status.code(), Some(0));
}

#[test]
fn a_bundle_is_not_edited_and_its_program_is_judged() {
    let (_folder, path) = bundle(fs::read(LINEAR).unwrap());
    let done = pte(&["edit", "--align", "64", &path, "-o", "-"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("cannot be written"), "{}", text(&done.stderr));
    let mut broken = fs::read(LINEAR).unwrap();
    broken.truncate(100);
    let (_folder, path) = bundle(broken);
    assert_eq!(pte(&["check", &path]).status.code(), Some(1));
    // A bundle whose tables are cut.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..60]).unwrap();
    assert_eq!(pte(&["info", &path]).status.code(), Some(1));
}
