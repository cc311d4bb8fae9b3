//! `pte info`: screens, JSON and sums.

use super::{BASIC, LINEAR, good, json};
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;

/// Screens of files of different kinds.
#[test]
fn info_shows_a_file_on_one_screen() {
    for (page, file) in [
        ("program", LINEAR),
        ("delegates", "tests/data/pte/xnn_gpt.pte"),
        ("control-flow", "tests/data/pte/cond.pte"),
        ("methods", "tests/data/pte/multi_method.pte"),
        ("external", "tests/data/pte/external_all.pte"),
        ("dynamic", "tests/data/pte/dyn_two.pte"),
        ("oldest", "tests/data/pte/v0.2.0_inline_const.pte"),
        ("data", BASIC),
        ("data-generation-0", "tests/data/ptd/vgen1a_ptd_direct_16.ptd"),
        ("data-generation-2", "tests/data/ptd/v0.6.0_ptd_direct_16.ptd"),
        ("data-odd-keys", "tests/data/ptd/ptd_keys.ptd"),
    ] {
        assert_snapshot(&format!("info-{page}"), &good(&["info", file]));
    }
}

#[test]
fn info_json_has_stable_field_names() {
    assert_snapshot(
        "info-json-program",
        &good(&["info", "--json", "tests/data/pte/xnn_external.pte"]),
    );
    assert_snapshot("info-json-data", &good(&["info", "--json", BASIC]));
}

/// The parts of every file sum to its size.
#[test]
fn info_parts_sum_to_the_file_size() {
    for path in files::everything() {
        let shown = json(&["info", "--json", path.to_str().unwrap()]);
        let file = &shown["files"][0];
        let parts = file["parts"].as_object().unwrap();
        let sum: u64 = parts.values().map(|part| part.as_u64().unwrap()).sum();
        assert_eq!(sum, path.metadata().unwrap().len(), "{}", name(&path));
        assert_eq!(file["bytes"], sum);
    }
}
