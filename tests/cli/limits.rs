//! The command where memory is short.

use std::process::{Command, Output};

use super::text;
use crate::support::asm;

/// Runs the command within an address space of so many kilobytes.
fn within(kilobytes: u32, args: &[&str]) -> Output {
    let script = format!("ulimit -c 0; ulimit -v {kilobytes} && exec \"$@\"");
    Command::new("sh")
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_pte")])
        .args(args)
        .output()
        .unwrap()
}

/// Before work begins, memory is asked for: an allocation that fails later ends the process.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error_that_says_how_much_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.pte");
    let mut bytes = asm::pte_without_header().finish();
    bytes.resize(20_000_000, 0);
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    for args in [&["map", path][..], &["size", path], &["diff", path, path], &["memory", path]] {
        let done = within(500_000, args);
        assert_eq!(done.status.code(), Some(3), "{args:?}: {}", text(&done.stderr));
        let stderr = text(&done.stderr);
        assert!(stderr.contains("not enough memory: this may take up to"), "{stderr}");
        assert!(done.stdout.is_empty(), "{args:?}");
    }
    // Enough for verbs that take less, and for all of them on a small file.
    for args in [&["tensors", path][..], &["map", super::LINEAR], &["check", super::LINEAR]] {
        let done = within(500_000, args);
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", text(&done.stderr));
    }
    let done = within(4_000_000, &["map", path]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
}
