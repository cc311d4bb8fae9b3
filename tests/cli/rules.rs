//! `pte rules` and `pte explain`.

use super::{append_run, good, json, pte, text};
use crate::support::snapshot::assert_snapshot;

/// A file that breaks three rules.
const UNSOUND: &str = "tests/data/pte/synth_all_seg.pte";

#[test]
fn explain_and_rules_show_every_rule() {
    let mut page = String::new();
    let rules = ["planned-arena", "operator-index", "vector-out-of-bounds", "unreadable"];
    for rule in rules.into_iter().chain(["untrusted-upload", "no-such"]) {
        append_run(&mut page, &["explain", rule], &pte(&["explain", rule]));
    }
    assert_snapshot("check-explain", &page);
    let listed = json(&["rules", "--json"]);
    let rules = listed["rules"].as_array().unwrap();
    assert!(rules.len() > 120, "{}", rules.len());
    let list = good(&["rules"]);
    for rule in rules {
        let id = rule["id"].as_str().unwrap();
        assert!(list.contains(id), "{id}");
        assert!(text(&pte(&["explain", id]).stdout).contains(id), "{id}");
    }
}

#[test]
fn similar_rule_names_are_suggested() {
    for (args, near) in [
        (&["explain", "planed-arena"][..], "planned-arena"),
        (&["explain", "vector-out-of-bound"], "vector-out-of-bounds"),
        (&["explain", "Key_Nul"], "key-nul"),
        (&["explain", "planed"], "planned-"),
        (&["explain", "polyglot"], "flat-tensor-polyglot"),
        (&["check", "--allow", "unreadible", UNSOUND], "unreadable"),
        (&["check", "--deny", "warning", UNSOUND], "warnings"),
        (&["check", "--deny", "kernel-dtypes", UNSOUND], "kernel-dtype"),
    ] {
        let done = pte(args);
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert!(stderr.contains(&format!("did you mean {near}")), "{args:?}: {stderr}");
    }
    assert!(!text(&pte(&["explain", "frobnicate"]).stderr).contains("did you mean"));
}
