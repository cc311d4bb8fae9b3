//! What every verb that reads a file says of one that it cannot read: which, and what to do.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{LINEAR, pte, run, text};

/// Verbs that show a file, with what stands before its path.
const VERBS: [&[&str]; 12] = [
    &["info"],
    &["check"],
    &["dump"],
    &["tensors"],
    &["tensors", "--hash", "--stats"],
    &["size"],
    &["memory"],
    &["map"],
    &["map", "--at", "8"],
    &["ops"],
    &["graph"],
    &["diff", LINEAR],
];

/// What was said, wherever.
fn said(done: &Output) -> String {
    text(&done.stdout) + &text(&done.stderr)
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let whole = fs::read(LINEAR).unwrap();
    fs::write(at("short.pte"), &whole[..900]).unwrap();
    fs::write(at("empty.pte"), b"").unwrap();
    fs::create_dir(at("folder")).unwrap();
    for (name, status) in [("short.pte", 1), ("empty.pte", 1), ("folder", 3), ("none.pte", 3)] {
        let path = at(name);
        for verb in VERBS {
            let done = pte(&[verb, &[&path]].concat());
            let told = said(&done);
            let is_search = (verb[0], name) == ("check", "folder");
            let status = if is_search { 1 } else { status };
            assert_eq!(done.status.code(), Some(status), "{verb:?} {name}: {told}");
            assert!(told.contains(name) && !told.contains("panicked"), "{verb:?} {name}: {told}");
            assert!(told.contains("help:") || is_search, "{verb:?} {name}: {told}");
        }
    }
    // The second of two files, and what is given beside one.
    for args in [
        &["diff", &at("short.pte"), LINEAR][..],
        &["size", LINEAR, "--against", &at("short.pte")],
        &["diff", LINEAR, LINEAR, "--with", &at("short.pte")],
    ] {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        assert!(said(&done).contains("short.pte") && said(&done).contains("help:"), "{args:?}");
    }
    let done = pte(&["ops", LINEAR, "--against", LINEAR]);
    assert_eq!(done.status.code(), Some(2));
    assert!(said(&done).contains(LINEAR) && said(&done).contains("--format yaml"));
}

/// A user who may not read a file is told so.
#[cfg(unix)]
#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("secret.pte");
    fs::copy(LINEAR, &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // To some users permissions do not matter: those become another one.
    let is_root = fs::read(&path).is_ok();
    for verb in VERBS {
        if verb[0] == "diff" {
            continue;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_pte"));
        command.args(verb).arg(&path).current_dir(folder.path());
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        let Ok(done) = command.output() else {
            println!("skipped: nobody may not run what was built");
            return;
        };
        let told = said(&done);
        assert_eq!(done.status.code(), Some(3), "{verb:?}: {told}");
        assert!(told.contains("secret.pte") && told.contains("help:"), "{verb:?}: {told}");
    }
}

#[test]
fn standard_input_is_as_good_as_a_file() {
    let whole = fs::read(LINEAR).unwrap();
    for verb in VERBS {
        let (named, piped) =
            (pte(&[verb, &[LINEAR]].concat()), { run(&[verb, &["-"]].concat(), None, &whole) });
        assert_eq!(piped.status.code(), named.status.code(), "{verb:?}");
        let told = said(&piped).replace("<standard input>", LINEAR);
        assert_eq!(told, said(&named), "{verb:?}");
        for bytes in [&whole[..900], b""] {
            let done = run(&[verb, &["-"]].concat(), None, bytes);
            let told = said(&done);
            assert_eq!(done.status.code(), Some(1), "{verb:?}: {told}");
            assert!(
                told.contains("<standard input>") && told.contains("help:"),
                "{verb:?}: {told}"
            );
        }
    }
}

/// Whoever reads the output may go away before there is any: that is no failure, and nothing is said.
#[test]
fn an_output_that_is_closed() {
    let whole = fs::read("tests/data/pte/xnn_gpt.pte").unwrap();
    let more: [&[&str]; 5] = [
        &["map", "--depth", "9"],
        &["map", "--html"],
        &["graph", "--json"],
        &["memory", "--svg"],
        &["size", "--json"],
    ];
    for verb in VERBS.into_iter().chain(more) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pte"))
            .args(verb)
            .arg("-")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It writes nothing before it has read its input.
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(&whole).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(text(&done.stderr), "", "{verb:?}");
        let differ = verb[0] == "diff";
        assert!(
            done.status.code() == Some(0) || differ && done.status.code() == Some(1),
            "{verb:?}: {:?}",
            done.status
        );
    }
}
