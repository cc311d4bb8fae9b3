//! Bundled programs: every verb reads the program inside.

use std::fs;

use pte::flat::write::{self, WriterLayout};
use pte::schema::bundled_program::desc::SCHEMA;
use pte::schema::bundled_program::model::{
    BundledMethodTestCase, BundledMethodTestSuite, BundledProgram, Tensor, Value, ValueUnion,
};

use super::{LINEAR, good, json, pte, text};

/// Returns the path of a bundle with a program. The returned folder must be kept alive.
fn bundle(program: Vec<u8>) -> (tempfile::TempDir, String) {
    bundle_of(program, vec![BundledMethodTestCase::default(); 3])
}

/// Returns the path of a bundle with a program and test cases.
fn bundle_of(program: Vec<u8>, cases: Vec<BundledMethodTestCase>) -> (tempfile::TempDir, String) {
    let suite =
        BundledMethodTestSuite { method_name: Some("forward".into()), test_cases: Some(cases) };
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
    let (_folder, path) = bundle(crate::support::files::read(LINEAR).unwrap());
    for verb in ["info", "memory", "ops", "graph", "tensors"] {
        let shown = |path: &str| {
            let mut document = json(&[verb, "--json", path]);
            // The offset of the program in the bundle is expected to differ.
            document.as_object_mut().unwrap().shift_remove("program_offset");
            if let Some(file) = document["files"].get_mut(0) {
                file.as_object_mut().unwrap().shift_remove("bundle");
            }
            document.to_string().replace(path, "model")
        };
        assert_eq!(shown(&path), shown(LINEAR), "{verb}");
    }
    let rules = |path: &str| {
        let document = json(&["check", "--json", path]);
        let findings = document["files"][0]["findings"].as_array().unwrap().clone();
        findings.into_iter().map(|found| found["rule"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((rules(&path), rules(LINEAR)), (vec!["file-kind".into()], vec![]));
    // The tables of the bundle itself are dumped.
    let tables = json(&["dump", &path]);
    assert_eq!(tables["method_test_suites"][0]["test_cases"].as_array().unwrap().len(), 3);
    assert_eq!(tables["program"]["len"], crate::support::files::read(LINEAR).unwrap().len());
    let shown = good(&["diff", &path, LINEAR]);
    assert!(shown.contains("bundles were not compared"), "{shown}");
}

/// Offsets count from the start of the program, as they do without a bundle. Each verb that shows
/// offsets says so.
#[test]
fn verbs_say_where_the_program_of_a_bundle_is() {
    let (_folder, path) = bundle(crate::support::files::read(LINEAR).unwrap());
    let (whole, program) = (fs::read(&path).unwrap(), crate::support::files::read(LINEAR).unwrap());
    let start = whole.windows(program.len()).position(|window| window == program).unwrap();
    let found = &json(&["info", "--json", &path])["files"][0]["bundle"];
    assert_eq!((found["bytes"].as_u64(), found["program_offset"].as_u64()), {
        (Some(whole.len() as u64), Some(start as u64))
    });
    let shown = good(&["info", &path]);
    assert!(shown.contains("bundled program") && shown.contains(&format!("{start:#x}")), "{shown}");
    assert_eq!(json(&["tensors", "--json", &path])["program_offset"], start);
    for verb in ["tensors", "check"] {
        let shown = good(&[verb, &path]);
        assert!(shown.contains("offsets count from"), "{verb}: {shown}");
        assert!(shown.contains(&format!("{start:#x}")), "{verb}: {shown}");
    }
}

/// Bundles in a folder of models are checked too.
#[test]
fn check_of_a_folder_judges_bundles() {
    let (folder, _) = bundle(crate::support::files::read(LINEAR).unwrap());
    let shown = good(&["check", folder.path().to_str().unwrap()]);
    assert!(shown.contains("model.bpte") && shown.contains("file-kind"), "{shown}");
}

#[test]
fn a_damaged_bundle_is_refused_with_its_offset() {
    let (_folder, path) = bundle(crate::support::files::read(LINEAR).unwrap());
    let mut bytes = fs::read(&path).unwrap();
    bytes[0..4].copy_from_slice(&0x00ff_fff0u32.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    for verb in ["info", "check", "dump", "size", "tensors"] {
        let done = pte(&[verb, &path]);
        assert_eq!(done.status.code(), Some(1), "{verb}");
        let shown = text(&done.stdout) + &text(&done.stderr);
        assert!(shown.contains("root-offset") && shown.contains("at 0x0"), "{verb}: {shown}");
    }
}

#[test]
fn dump_of_a_method_refuses_a_bundle() {
    let (_folder, path) = bundle(crate::support::files::read(LINEAR).unwrap());
    let done = pte(&["dump", "--method", "forward", &path]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("only a program has methods"), "{}", text(&done.stderr));
}

/// A sound program does not make its bundle safe: an executable may be hidden after the program.
#[test]
fn untrusted_upload_accepts_no_bundle_and_no_payload() {
    let (_folder, path) = bundle(crate::support::files::read(LINEAR).unwrap());
    let done = pte(&["check", "--preset", "untrusted-upload", &path, "tests/data/other/mlp.etdp"]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(text(&done.stdout).matches("error[file-kind]").count(), 2);
}

/// The parts of the program are those of a standalone program, and the test inputs are separate
/// parts.
#[test]
fn size_and_map_of_a_bundle_have_the_program_and_the_test_inputs() {
    let tensor = |numbers: usize| Value {
        val: Some(ValueUnion::Tensor(Tensor {
            sizes: Some(vec![numbers as i32]),
            data: Some(vec![1; numbers]),
            ..Tensor::default()
        })),
    };
    let case = BundledMethodTestCase {
        inputs: Some(vec![tensor(40), tensor(60)]),
        expected_outputs: Some(vec![tensor(7)]),
    };
    let program = crate::support::files::read(LINEAR).unwrap();
    let (_folder, path) = bundle_of(program.clone(), vec![case]);
    let document = json(&["size", "--json", &path]);
    let parts = document["files"][0]["parts"].as_array().unwrap();
    let part = |name: &str| parts.iter().find(|part| part["name"] == name).unwrap();
    assert_eq!(part("test inputs")["bytes"], 100);
    assert_eq!(part("expected outputs")["bytes"], 7);
    assert_eq!(part("program")["bytes"], program.len());
    assert_eq!(part("program")["parts"], json(&["size", "--json", LINEAR])["files"][0]["parts"]);
    let rows = json(&["map", "--json", &path]);
    let row = rows["parts"].as_array().unwrap().iter().find(|row| row["name"] == "program");
    let (row, start) = (row.unwrap(), row.unwrap()["begin"].as_u64().unwrap());
    let alone = json(&["map", "--json", LINEAR]);
    let ends = |rows: &serde_json::Value, start: u64| -> Vec<_> {
        let rows = rows["parts"].as_array().unwrap().iter();
        rows.map(|row| (row["name"].clone(), row["end"].as_u64().unwrap() - start)).collect()
    };
    assert_eq!(ends(row, start), ends(&alone, 0));
    let byte = json(&["map", "--json", "--at", &(start + 8).to_string(), &path]);
    assert_eq!((&byte["byte"]["program"], &byte["byte"]["offset"]), (&start.into(), &8.into()));
    assert_eq!(byte["byte"]["text"], "header field magic");
    let extracted = pte(&["extract", "--bundled", &path]);
    assert_eq!(extracted.stdout, program);
    let refused = pte(&["extract", "--bundled", LINEAR]);
    assert!(text(&refused.stderr).contains("this is not a bundled program"));
}

#[test]
fn a_bundle_is_not_edited_and_its_program_is_judged() {
    let (_folder, path) = bundle(crate::support::files::read(LINEAR).unwrap());
    let done = pte(&["edit", "--align", "64", &path, "-o", "-"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("cannot be written"), "{}", text(&done.stderr));
    let mut broken = crate::support::files::read(LINEAR).unwrap();
    broken.truncate(100);
    let (_folder, path) = bundle(broken);
    assert_eq!(pte(&["check", &path]).status.code(), Some(1));
    // The tables of the bundle are truncated.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..60]).unwrap();
    assert_eq!(pte(&["info", &path]).status.code(), Some(1));
}
