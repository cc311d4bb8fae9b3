//! `pte dump`: blobs and containers. `build.rs` tests the round trips of dumps.

use std::fs;

use super::{BASIC, LINEAR, good, json, pte, sha256, text};
use crate::support::files;
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
    let bytes = files::read(blobs.join(by_file["file"].as_str().unwrap())).unwrap();
    assert_eq!(bytes, numbers);
    assert_eq!(sha256(&bytes), by_hash["sha256"].as_str().unwrap());
    assert_eq!(by_hash["len"], bytes.len());
}

/// Other verbs print JSON only with `--json`, so people add it here too.
#[test]
fn dump_accepts_json_and_prints_the_same() {
    assert_eq!(good(&["dump", "--json", LINEAR]), good(&["dump", LINEAR]));
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

/// The payload of a program is shown as a standalone file and inside the program.
#[test]
fn the_graph_of_a_payload_is_shown_in_its_program_and_alone() {
    let path = "tests/data/pte/xnn_delegate_inline.pte";
    let whole = json(&["dump", "--payloads", path]);
    let payload = &whole["payloads"][0];
    assert_eq!((&payload["method"], &payload["delegate"]), (&"forward".into(), &0.into()));
    assert_eq!(payload["id"], "XnnpackBackend");
    let bytes = files::read(path).unwrap();
    let at = usize::try_from(payload["offset"].as_u64().unwrap()).unwrap();
    let len = usize::try_from(payload["size"].as_u64().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("payload.bin");
    fs::write(&alone, &bytes[at..at + len]).unwrap();
    assert_eq!(json(&["dump", alone.to_str().unwrap()]), payload["tables"]);
    assert_eq!(payload["tables"]["xnodes"][0]["xnode_union_type"], "XNNFullyConnected");
    // The other keys are the same as without --payloads.
    let mut without = whole.clone();
    without.as_object_mut().unwrap().remove("payloads");
    assert_eq!(without, json(&["dump", path]));
    assert_snapshot("dump-payloads", &good(&["dump", "--payloads", path]));
}

#[test]
fn a_payload_that_cannot_be_read_has_a_reason_in_place_of_tables() {
    let mut bytes = files::read("tests/data/pte/xnn_delegate_inline.pte").unwrap();
    let at = bytes.windows(4).position(|window| window == b"XH00").unwrap() - 4;
    bytes[at + 10] = 0xf0;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.pte");
    fs::write(&path, &bytes).unwrap();
    let payload = &json(&["dump", "--payloads", path.to_str().unwrap()])["payloads"][0];
    assert_eq!(payload["tables"], serde_json::Value::Null);
    let why = payload["unreadable"].as_str().unwrap();
    assert!(why.contains("the graph would be at bytes"), "{why}");
    // A payload has no container.
    let alone = folder.path().join("payload.bin");
    fs::write(&alone, &bytes[at..]).unwrap();
    let status = |args: &[&str]| pte(args).status.code();
    assert_eq!(status(&["dump", alone.to_str().unwrap()]), Some(1));
    bytes[at + 10] = 32;
    fs::write(&alone, &bytes[at..]).unwrap();
    assert_eq!(status(&["dump", "--container", alone.to_str().unwrap()]), Some(2));
}

/// The file of a blob has its hash as name. One whose bytes were changed since is not taken for it.
#[test]
fn blob_that_was_changed_is_not_taken_for_the_one_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let [blobs, out] = ["blobs", "out.json"].map(|name| folder.path().join(name));
    let dir = format!("dir={}", blobs.display());
    let args = ["dump", "--container", "--blobs", &dir, LINEAR, "-o", out.to_str().unwrap()];
    good(&args);
    good(&args);
    let blob = fs::read_dir(&blobs).unwrap().next().unwrap().unwrap().path();
    for break_it in [&(|| fs::write(&blob, b"changed").unwrap()) as &dyn Fn(), &|| {
        fs::remove_file(&blob).unwrap();
        fs::create_dir(&blob).unwrap();
    }] {
        break_it();
        let done = pte(&args);
        assert_eq!(done.status.code(), Some(1));
        let message = text(&done.stderr);
        assert!(message.contains("other bytes than its name says"), "{message}");
    }
}
