//! What a file makes its loader allocate: unused arenas, and the limit of the caller.

use std::fs;

use super::{LINEAR, json, pte, run, text};
use crate::support::fixture::Fixture;

/// A program of 1 kB with an arena of 4 GB, where tensors reach 96 bytes.
fn greedy() -> Vec<u8> {
    let Fixture(mut whole) = Fixture::read("base/call").unwrap();
    whole["root"]["execution_plan"][0]["non_const_buffer_sizes"][1] = 4_294_965_868_u64.into();
    Fixture(whole).parts().bytes
}

#[test]
fn an_arena_that_nothing_uses_is_a_warning_and_an_error_for_uploads() {
    let check = |args: &[&str]| run(&[args, &["-"]].concat(), None, &greedy());
    let done = check(&["check"]);
    let shown = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{shown}");
    let message = "warning[arena-unused]: arena 1 has 4294965868 bytes, and tensors reach 96";
    assert!(shown.contains(message), "{shown}");
    let upload = check(&["check", "--preset", "untrusted-upload"]);
    assert_eq!(upload.status.code(), Some(1));
    assert!(text(&upload.stdout).contains("error[arena-unused]"), "{}", text(&upload.stdout));
}

#[test]
fn max_memory_limits_what_loading_allocates() {
    let code = |args: &[&str]| pte(&[&["check"], args].concat()).status.code();
    let total = json(&["info", "--json", LINEAR])["files"][0]["load_memory"]["total"].clone();
    let total = total.as_u64().unwrap();
    assert_eq!(code(&["--max-memory", &total.to_string(), LINEAR]), Some(0));
    assert_eq!(code(&["--max-memory", &(total - 1).to_string(), LINEAR]), Some(1));
    assert_eq!(code(&["--max-memory", "1MiB", LINEAR]), Some(0));
    assert_eq!(code(&["--max-memory", "much", LINEAR]), Some(2));
    let done = run(&["check", "--max-memory", "64MiB", "-"], None, &greedy());
    let shown = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{shown}");
    assert!(shown.contains("error[memory-limit]: loading allocates 42949"), "{shown}");
    assert!(shown.contains("the limit is 67108864: 4294965868 for arenas"), "{shown}");
    let folder = tempfile::tempdir().unwrap();
    let set = |text: &str| fs::write(folder.path().join("pte.toml"), text).unwrap();
    let here = |args: &[&str]| {
        let path = crate::support::files::path(LINEAR);
        run(&[&["check", path.to_str().unwrap()], args].concat(), Some(folder.path()), b"")
    };
    set("[check]\nmax-memory = \"1 kB\"\n");
    assert_eq!(here(&[]).status.code(), Some(1));
    assert_eq!(here(&["--max-memory", "1MB"]).status.code(), Some(0), "an argument replaces it");
    set("[check]\nmax-memory = \"1 acre\"\n");
    assert_eq!(here(&[]).status.code(), Some(2));
}

#[test]
fn info_has_what_loading_allocates() {
    let document = run(&["info", "--json", "-"], None, &greedy());
    let document: serde_json::Value = serde_json::from_slice(&document.stdout).unwrap();
    let memory = &document["files"][0]["load_memory"];
    assert_eq!(memory["arenas"], 4_294_965_868_u64);
    let parts = memory.as_object().unwrap().iter().filter(|(name, _)| *name != "total");
    let sum: u64 = parts.map(|(_, bytes)| bytes.as_u64().unwrap()).sum();
    assert_eq!(memory["total"], sum);
    let shown = run(&["info", "-"], None, &greedy());
    let shown = text(&shown.stdout);
    let line = shown.lines().find(|line| line.contains("to load all methods"));
    assert!(line.is_some_and(|line| line.contains("4.3 GB arenas")), "{shown}");
    assert!(!text(&pte(&["info", LINEAR]).stdout).contains("to load all methods"));
}
