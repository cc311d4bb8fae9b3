//! `pte dump`: blobs and containers. `build.rs` tests that a dump round-trips.

use std::fs;

use super::{BASIC, LINEAR, good, json, sha256};
use crate::support::snapshot::assert_snapshot;

#[test]
fn blobs_are_shown_as_hash_numbers_or_files() {
    let path = "tests/data/pte/v0.2.0_inline_const.pte";
    let folder = tempfile::tempdir().unwrap();
    let blobs = folder.path().join("blobs");
    let storage =
        |how: &str| json(&["dump", "--blobs", how, path])["constant_buffer"][1]["storage"].clone();
    let by_hash = storage("hash");
    let numbers: Vec<u8> =
        storage("inline").as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u8).collect();
    let by_file = storage(&format!("dir={}", blobs.display()));
    let bytes = fs::read(blobs.join(by_file["file"].as_str().unwrap())).unwrap();
    assert_eq!(bytes, numbers);
    assert_eq!(sha256(&bytes), by_hash["sha256"].as_str().unwrap());
    assert_eq!(by_hash["len"], bytes.len());
}

#[test]
fn container_has_stable_field_names() {
    let container = |path: &str| {
        let shown = good(&["dump", "--container", path]);
        let at = shown.find("  \"container\": {").unwrap();
        format!("{path}\n{}\n", &shown[at..])
    };
    let files = [
        LINEAR,
        "tests/data/pte/v0.2.0_inline_const.pte",
        "tests/data/pte/add.pte",
        BASIC,
        "tests/data/ptd/vgen1a_ptd_direct_16.ptd",
    ];
    assert_snapshot("dump-container", &files.map(container).concat());
    // The other keys are the same as without --container.
    let mut with: serde_json::Value =
        serde_json::from_str(&good(&["dump", "--container", LINEAR])).unwrap();
    with.as_object_mut().unwrap().remove("container").unwrap();
    assert_eq!(with, json(&["dump", LINEAR]));
}
