//! Tests `size`, `map` and `extract` on standalone payloads and profiles.

use std::path::PathBuf;

use serde_json::Value;

use super::{good, json, pte, run, text};
use crate::support::files;
use crate::support::snapshot::assert_snapshot;

const PROFILE: &str = "tests/data/other/mlp.etdp";
const RECORD: &str = "tests/data/other/linear.etrecord";

/// A program of release 0.5, whose payload has its constants after the graph.
const IN_BLOB: &str = "tests/data/pte/v0.5.0_xnn_qs8.pte";

/// Writes the payload of the first delegate of a program, and returns its path.
fn payload(program: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payload.bin").to_str().unwrap().to_owned();
    good(&["extract", program, "--delegate", "forward:0", "-o", &path, "-q"]);
    (folder, path)
}

fn children(part: &Value) -> &[Value] {
    part["parts"].as_array().map_or(&[], Vec::as_slice)
}

/// Asserts that the parts of each part sum to its bytes.
fn assert_sums(part: &Value, path: &str) {
    if !children(part).is_empty() {
        let sum: u64 = children(part).iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), part["bytes"].as_u64(), "{path}: {}", part["name"]);
        children(part).iter().for_each(|part| assert_sums(part, path));
    }
}

#[test]
fn size_and_map_show_payloads_and_profiles() {
    let (_folder, path) = payload(IN_BLOB);
    let mut page = String::new();
    for file in [&path, PROFILE] {
        page.push_str(&good(&["size", "--depth", "9", file]));
        page.push_str(&good(&["map", file]));
        page.push_str(&good(&["map", "--at", "0", file]));
        page.push_str(&good(&["map", "--at", "100", file]));
    }
    page.push_str(&good(&["map", "--at", "8", &path]));
    page.push_str(&good(&["map", "--at", "32", &path]));
    assert_snapshot("alone", &page.replace(&path, "payload.bin"));
}

#[test]
fn verbs_show_a_record_of_an_export() {
    let mut page = String::new();
    for verb in [
        &["info"][..],
        &["info", "--json"],
        &["check"],
        &["dump", "--compact"],
        &["size"],
        &["map"],
    ] {
        page.push_str(&good(&[verb, &[RECORD]].concat()));
    }
    assert_snapshot("record", &page);
    let bytes = files::read(RECORD).unwrap();
    let piped = run(&["info", "--json", "-"], None, &bytes);
    assert_eq!(piped.status.code(), Some(0), "{}", text(&piped.stderr));
    let edge = good(&["extract", RECORD, "--key", "edge_dialect_exported_program/plus"]);
    assert!(serde_json::from_str::<Value>(&edge).unwrap()["graph_module"].is_object());
    assert_eq!(edge, good(&["extract", RECORD, "--segment", "4"]));
    assert_eq!(pte(&["extract", RECORD, "--key", "edge"]).status.code(), Some(1));
    assert_sums(&json(&["size", "--json", RECORD])["files"][0], RECORD);
}

/// Every byte of every payload counts once, and the rows of the map are adjacent.
#[test]
fn sums_of_payloads_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payload.bin");
    let path = path.to_str().unwrap();
    let mut backends = std::collections::BTreeSet::new();
    for program in files::some_samples() {
        let program = program.to_str().unwrap();
        if program.ends_with(".ptd") {
            continue;
        }
        let info = json(&["info", "--json", program]);
        for method in info["files"][0]["methods"].as_array().unwrap() {
            for nth in 0..method["delegates"].as_u64().unwrap() {
                let name = format!("{}:{nth}", method["name"].as_str().unwrap());
                let done = pte(&["extract", program, "--delegate", &name, "-o", path, "-q"]);
                let summary = pte(&["info", "--json", path]);
                if done.status.code() != Some(0) || summary.status.code() != Some(0) {
                    continue;
                }
                let summary: Value = serde_json::from_slice(&summary.stdout).unwrap();
                backends.insert(summary["files"][0]["backend"].to_string());
                let document = json(&["size", "--json", path]);
                let len = files::metadata(path).unwrap().len();
                assert_eq!(document["files"][0]["bytes"], len, "{program} {name}");
                assert_sums(&document["files"][0], program);
                let map = json(&["map", "--json", path]);
                let mut end = 0;
                for row in map["parts"].as_array().unwrap() {
                    assert_eq!(row["begin"], end, "{program} {name}: {row}");
                    end = row["end"].as_u64().unwrap();
                }
                assert_eq!(end, len, "{program} {name}");
            }
        }
    }
    assert!(backends.len() > 2, "{backends:?}");
}

/// A constant or a graph has the same bytes, whether it is extracted from the payload or from the
/// program.
#[test]
fn parts_of_a_payload_are_extracted() {
    let (_folder, path) = payload(IN_BLOB);
    let listed = json(&["tensors", "--json", IN_BLOB]);
    let rows = listed["tensors"].as_array().unwrap().iter();
    let mut extracted = 0;
    for value in rows.filter(|row| row.get("delegate").is_some()).map(|row| &row["value"]) {
        for form in ["raw", "npy"] {
            let inner = format!("forward:0/{value}");
            let from_program = pte(&["extract", IN_BLOB, "--tensor", &inner, "--as", form]);
            let alone = pte(&["extract", &path, "--tensor", &value.to_string(), "--as", form]);
            assert_eq!(alone.status.code(), Some(0), "{value}: {}", text(&alone.stderr));
            assert_eq!(alone.stdout, from_program.stdout, "{value}");
            extracted += 1;
        }
    }
    assert!(extracted >= 8, "{extracted}");
    let graph = pte(&["extract", &path, "--program"]).stdout;
    assert_eq!(graph, pte(&["extract", IN_BLOB, "--graph", "forward:0"]).stdout);
    for wrong in [&["--tensor", "99"][..], &["--segment", "0"], &["--key", "x"]] {
        assert_eq!(pte(&[&["extract", &path], wrong].concat()).status.code(), Some(1), "{wrong:?}");
    }
}

/// Payloads and profiles, cut to each length, and with each byte of the first part changed. A verb
/// ends with status 0 or 1, and counts the whole file.
#[test]
fn damaged_payloads_and_profiles_are_refused_or_counted() {
    let (_folder, path) = payload(IN_BLOB);
    for path in [PathBuf::from(path), PROFILE.into(), RECORD.into()] {
        let bytes = files::read(path).unwrap();
        let mut damaged: Vec<Vec<u8>> = Vec::new();
        damaged.extend((0..12).map(|nth| bytes[..bytes.len() * nth / 12].to_vec()));
        damaged.extend((0..24).map(|nth| {
            let mut bytes = bytes.clone();
            bytes[nth * 3] ^= 0xff;
            bytes
        }));
        for bytes in damaged {
            for verb in [&["size", "--json"][..], &["map", "--json"]] {
                let done = run(&[verb, &["-"]].concat(), None, &bytes);
                let code = done.status.code();
                assert!(matches!(code, Some(0 | 1)), "{verb:?}: {}", text(&done.stderr));
                if code == Some(0) {
                    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
                    let sized = document.get("files").map_or(&document, |files| &files[0]);
                    assert_eq!(sized["bytes"], bytes.len(), "{verb:?}");
                }
            }
        }
    }
}
