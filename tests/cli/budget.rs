//! Verbs that take a file apart, where memory is short.

use std::fs;
use std::process::Command;

use super::text;
use crate::support::shared;

/// Runs the command with `kilobytes` of address space.
#[cfg(target_os = "linux")]
fn within(kilobytes: u32, args: &str) -> (Option<i32>, String) {
    let script = format!("ulimit -v {kilobytes}; exec {} {args}", env!("CARGO_BIN_EXE_pte"));
    let done = Command::new("sh").args(["-c", &script]).output().unwrap();
    (done.status.code(), text(&done.stderr))
}

/// Tables that are listed over and over, once more than 389 times the file, in 1 GB and in less than they
/// would take.
#[cfg(target_os = "linux")]
#[test]
fn verbs_that_take_a_file_apart_end_without_an_abort_where_memory_is_short() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.pte", "out"].map(|name| folder.path().join(name));
    let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
    for (name, path, slot) in shared::FAMILIES {
        fs::write(file, shared::program(path, slot, 8 << 20)).unwrap();
        for verb in ["dump --container --compact", "edit --strip names"] {
            for kilobytes in [1_000_000, 100_000] {
                let (status, said) = within(kilobytes, &format!("{verb} {file} -o {out}"));
                assert!(matches!(status, Some(0..=3)), "{name}: {verb}: {status:?}: {said}");
                if kilobytes == 1_000_000 && verb.starts_with("dump") {
                    assert_eq!(status, Some(0), "{name}: {said}");
                }
            }
        }
    }
}

/// The way from JSON is bounded by its text.
#[cfg(target_os = "linux")]
#[test]
fn json_that_would_take_more_than_its_budget_ends_in_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.json", "out"].map(|name| folder.path().join(name));
    let values = vec!["{}"; 2_000_000].join(",");
    fs::write(&file, format!(r#"{{"execution_plan":[{{"values":[{values}]}}]}}"#)).unwrap();
    let args = format!("build {} -o {}", file.to_str().unwrap(), out.to_str().unwrap());
    for kilobytes in [1_000_000, 100_000] {
        let (status, said) = within(kilobytes, &args);
        let (wanted, why) = match kilobytes {
            // Less than what JSON of that length may take is found out before it is read.
            100_000 => (3, "not enough memory"),
            _ => (1, "bytes of memory"),
        };
        assert_eq!(status, Some(wanted), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
