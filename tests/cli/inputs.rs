//! Inputs of all verbs: unreadable files, standard input, pipes and devices.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{LINEAR, append_run, pte, run, text};
use crate::support::snapshot::assert_snapshot;

const PROGRAM: &str = "tests/data/pte/external_all.pte";
const DATA: &str = "tests/data/ptd/external_all.default_external_constant.ptd";

/// Verbs that show a file, with the arguments before its path.
pub(super) const INPUT_VERBS: [&[&str]; 12] = [
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
fn unreadable_files_are_reported_by_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let whole = fs::read(LINEAR).unwrap();
    fs::write(at("short.pte"), &whole[..900]).unwrap();
    fs::write(at("empty.pte"), b"").unwrap();
    fs::create_dir(at("folder")).unwrap();
    for (name, status) in [("short.pte", 1), ("empty.pte", 1), ("folder", 3), ("none.pte", 3)] {
        let path = at(name);
        for verb in INPUT_VERBS {
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
fn file_without_permission_is_reported_by_every_verb() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("secret.pte");
    fs::copy(LINEAR, &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // To some users permissions do not matter: those become another one.
    let is_root = fs::read(&path).is_ok();
    for verb in INPUT_VERBS {
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
fn standard_input_works_for_every_verb() {
    let whole = fs::read(LINEAR).unwrap();
    for verb in INPUT_VERBS {
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

/// One refusal of each way in which a file can be no file to read.
#[test]
fn unreadable_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
    };
    let whole = fs::read(LINEAR).unwrap();
    at("empty.pte", b"");
    at("cut.pte", &whole[..1000]);
    at("text.pte", b"hello, world\n");
    at("lfs.pte", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n");
    at("newer.pte", &[&whole[..4], b"ET13", &whole[8..]].concat());
    fs::create_dir(folder.path().join("folder.pte")).unwrap();
    let mut page = String::new();
    for name in
        ["empty.pte", "cut.pte", "text.pte", "lfs.pte", "newer.pte", "folder.pte", "none.pte"]
    {
        let args = ["info", name];
        append_run(&mut page, &args, &run(&args, Some(folder.path()), b""));
    }
    assert_snapshot("cli-unreadable", &page);
}

/// Every verb, on standard input.
#[test]
fn standard_input_gives_the_same_output_as_a_path() {
    let whole = fs::read(LINEAR).unwrap();
    for args in [
        &["info", "-"][..],
        &["check", "-"],
        &["dump", "-"],
        &["tensors", "--hash", "-"],
        &["ops", "-"],
        &["graph", "-"],
        &["extract", "--segment", "0", "-"],
    ] {
        let piped = run(args, None, &whole);
        assert_eq!(piped.status.code(), Some(0), "{args:?}");
        let by_path: Vec<_> =
            args.iter().map(|arg| if *arg == "-" { LINEAR } else { arg }).collect();
        let given = pte(&by_path);
        let named =
            |out: &Output| String::from_utf8_lossy(&out.stdout).replace(LINEAR, "<standard input>");
        assert_eq!(named(&piped), named(&given), "{args:?}");
    }
    let long = run(&["info", "--max-stream", "1000", "-"], None, &whole);
    assert_eq!(long.status.code(), Some(1), "a stream past its limit");
    for (most, status) in [(whole.len(), 0), (whole.len() - 1, 1)] {
        let done = run(&["info", "--max-stream", &most.to_string(), "-"], None, &whole);
        assert_eq!(done.status.code(), Some(status), "a limit of {most}");
    }
}

/// What is read from a stream is gone: it is opened once, and naming it twice is an error.
#[test]
fn standard_input_given_twice_is_refused() {
    let data = fs::read(DATA).unwrap();
    for args in [
        &["check", "-", "-"][..],
        &["check", "-", PROGRAM, "-"],
        &["check", "-", "--with", "-"],
        &["check", PROGRAM, "--with", "-", "--with", "-"],
        &["info", "-", "-"],
    ] {
        let done = run(args, None, &data);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("standard input") && said.contains("once"), "{args:?}: {said}");
    }
    let done = run(&["check", "--json", PROGRAM, "--with", "-"], None, &data);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let files: Vec<_> = shown["files"].as_array().unwrap().iter().map(|f| &f["path"]).collect();
    assert_eq!(files, [PROGRAM, "<standard input>"]);
}

/// A pipe is read once, to its end, whichever way it is named.
#[cfg(unix)]
#[test]
fn pipe_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    make_pipe(&path);
    let (to, data) = (path.clone(), fs::read(DATA).unwrap());
    let writer = std::thread::spawn(move || fs::write(to, data));
    let path = path.to_str().unwrap();
    let done = pte(&["check", PROGRAM, "--with", path]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    writer.join().unwrap().unwrap();
    let twice = pte(&["check", PROGRAM, path, "--with", path]);
    assert_eq!(twice.status.code(), Some(2), "{}", text(&twice.stdout));
}

/// Where there is no room for what a stream says, that is told.
#[cfg(unix)]
#[test]
fn stream_without_temporary_folder_is_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pte"))
        .args(["info", "-"])
        .env("TMPDIR", "/no/such/folder")
        .stdin(fs::File::open(PROGRAM).unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(said.contains("a temporary file in \"/no/such/folder\""), "{said}");
}

/// A text is read whole, but not a device or a pipe that does not end; what is data is a file.
#[cfg(unix)]
#[test]
fn endless_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    make_pipe(&path);
    let path = path.to_str().unwrap();
    for args in [&["build"][..], &["ops", PROGRAM, "--against"]] {
        // Its first byte is no text.
        let endless = pte(&[args, &["/dev/zero"]].concat());
        let said = text(&endless.stderr);
        assert!(said.contains("is not text"), "{args:?}: {said}");
        let is_usage = args[0] == "ops";
        assert_eq!(endless.status.code(), Some(if is_usage { 2 } else { 1 }), "{args:?}");
        let to = path.to_string();
        let writer = std::thread::spawn(move || {
            let mut pipe = fs::File::options().write(true).open(to).unwrap();
            // The reader goes away.
            while std::io::Write::write_all(&mut pipe, &[b' '; 1 << 16]).is_ok() {}
        });
        let done = pte(&[args, &[path, "--max-stream", "100000"]].concat());
        let said = text(&done.stderr);
        assert!(said.contains("more than 100000 bytes on a stream"), "{args:?}: {said}");
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        writer.join().unwrap();
        let folder = pte(&[args, &["tests"]].concat());
        assert!(text(&folder.stderr).contains("this is a directory"), "{args:?}");
    }
    // Without a writer, a pipe would be waited for.
    for path in ["/dev/zero", path] {
        let out = folder.path().join("out.pte");
        let data = format!("key={path}");
        let done = pte(&["edit", PROGRAM, "--set-data", &data, "-o", out.to_str().unwrap()]);
        assert_eq!(done.status.code(), Some(3), "{path}");
        assert!(text(&done.stderr).contains("not a regular file"), "{path}");
    }
}

#[cfg(unix)]
pub(super) fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}
