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

/// Returns the text of both streams.
fn output_text(done: &Output) -> String {
    text(&done.stdout) + &text(&done.stderr)
}

#[test]
fn unreadable_files_are_reported_by_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let whole = crate::support::files::read(LINEAR).unwrap();
    fs::write(at("short.pte"), &whole[..900]).unwrap();
    fs::write(at("empty.pte"), b"").unwrap();
    fs::create_dir(at("folder")).unwrap();
    for (name, status) in [("short.pte", 1), ("empty.pte", 1), ("folder", 3), ("none.pte", 3)] {
        let path = at(name);
        for verb in INPUT_VERBS {
            let done = pte(&[verb, &[&path]].concat());
            let shown = output_text(&done);
            let is_search = (verb[0], name) == ("check", "folder");
            let status = if is_search { 1 } else { status };
            assert_eq!(done.status.code(), Some(status), "{verb:?} {name}: {shown}");
            assert!(
                shown.contains(name) && !shown.contains("panicked"),
                "{verb:?} {name}: {shown}"
            );
            assert!(shown.contains("help:") || is_search, "{verb:?} {name}: {shown}");
        }
    }
    // The second of two files, and files of other flags.
    for args in [
        &["diff", &at("short.pte"), LINEAR][..],
        &["size", LINEAR, "--against", &at("short.pte")],
        &["diff", LINEAR, LINEAR, "--with", &at("short.pte")],
    ] {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        assert!(
            output_text(&done).contains("short.pte") && output_text(&done).contains("help:"),
            "{args:?}"
        );
    }
    let done = pte(&["ops", LINEAR, "--against", LINEAR]);
    assert_eq!(done.status.code(), Some(2));
    assert!(output_text(&done).contains(LINEAR) && output_text(&done).contains("--format yaml"));
}

#[cfg(unix)]
#[test]
fn file_without_permission_is_reported_by_every_verb() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("secret.pte");
    fs::copy(crate::support::files::path(LINEAR), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Root ignores permissions, so the command runs as another user.
    let is_root = fs::read(&path).is_ok();
    for verb in INPUT_VERBS {
        if verb[0] == "diff" {
            continue;
        }
        let mut command = super::command();
        command.args(verb).arg(&path).current_dir(folder.path());
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        let Ok(done) = command.output() else {
            println!("skipped: the other user cannot run the command");
            return;
        };
        let shown = output_text(&done);
        assert_eq!(done.status.code(), Some(3), "{verb:?}: {shown}");
        assert!(shown.contains("secret.pte") && shown.contains("help:"), "{verb:?}: {shown}");
    }
}

#[test]
fn standard_input_works_for_every_verb() {
    let whole = crate::support::files::read(LINEAR).unwrap();
    for verb in INPUT_VERBS {
        let (named, piped) =
            (pte(&[verb, &[LINEAR]].concat()), { run(&[verb, &["-"]].concat(), None, &whole) });
        assert_eq!(piped.status.code(), named.status.code(), "{verb:?}");
        let shown = output_text(&piped).replace("<standard input>", LINEAR);
        assert_eq!(shown, output_text(&named), "{verb:?}");
        for bytes in [&whole[..900], b""] {
            let done = run(&[verb, &["-"]].concat(), None, bytes);
            let shown = output_text(&done);
            assert_eq!(done.status.code(), Some(1), "{verb:?}: {shown}");
            assert!(
                shown.contains("<standard input>") && shown.contains("help:"),
                "{verb:?}: {shown}"
            );
        }
    }
}

/// Editors on Windows put a byte order mark in front of UTF-8, and shells write UTF-16.
#[test]
fn text_with_a_byte_order_mark_is_read_or_named() {
    let json = r#"{"version":0,"execution_plan":[]}"#;
    let marked = format!("\u{feff}{json}");
    let [plain, marked] = [json, &marked].map(|text| run(&["build", "-"], None, text.as_bytes()));
    assert_eq!(
        (marked.status.code(), marked.stdout),
        (Some(0), plain.stdout),
        "{}",
        text(&marked.stderr)
    );
    let wide: Vec<u16> = format!("\u{feff}{json}").encode_utf16().collect();
    for bytes in [
        wide.iter().copied().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        wide.iter().copied().flat_map(u16::to_be_bytes).collect(),
    ] {
        let done = run(&["build", "-"], None, &bytes);
        let said = text(&done.stderr);
        assert!(said.contains("UTF-16") && said.contains("byte 0x0\n"), "{said}");
        assert!(said.contains("help: Save the text as UTF-8."), "{said}");
    }
    // The first wrong byte is named, whether it is a NUL or not.
    for (bytes, at) in [(&b"{\0\xff}"[..], "0x1"), (b"{}\xff\0", "0x2")] {
        let said = text(&run(&["build", "-"], None, bytes).stderr);
        assert!(said.contains(&format!("at byte {at}\n")), "{said}");
    }
}

/// Such files report a length of 0.
#[cfg(target_os = "linux")]
#[test]
fn files_under_proc_are_not_empty() {
    let done = pte(&["info", "/proc/version"]);
    let said = text(&done.stderr);
    assert!(said.contains("this is a text file"), "{said}");
}

/// Links that lead in a circle have advice.
#[cfg(unix)]
#[test]
fn a_loop_of_links_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one.pte", "two.pte"].map(|name| folder.path().join(name));
    std::os::unix::fs::symlink(&one, &two).unwrap();
    std::os::unix::fs::symlink(&two, &one).unwrap();
    let done = pte(&["info", one.to_str().unwrap()]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("help: Check the links in the path"), "{said}");
}

/// A refusal of each kind.
#[test]
fn unreadable_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
    };
    let whole = crate::support::files::read(LINEAR).unwrap();
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

#[test]
fn standard_input_gives_the_same_output_as_a_path() {
    let whole = crate::support::files::read(LINEAR).unwrap();
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

#[test]
fn standard_input_given_twice_is_refused() {
    let data = crate::support::files::read(DATA).unwrap();
    for args in [
        &["check", "-", "-"][..],
        &["check", "-", PROGRAM, "-"],
        &["check", "-", "--with", "-"],
        &["check", PROGRAM, "--with", "-", "--with", "-"],
        &["info", "-", "-"],
    ] {
        let done = run(args, None, &data);
        let message = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {message}");
        assert!(
            message.contains("standard input") && message.contains("once"),
            "{args:?}: {message}"
        );
    }
    let done = run(&["check", "--json", PROGRAM, "--with", "-"], None, &data);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let files: Vec<_> = shown["files"].as_array().unwrap().iter().map(|f| &f["path"]).collect();
    assert_eq!(files, [PROGRAM, "<standard input>"]);
}

/// A pipe is read once, as `PATH` or as `--with`.
#[cfg(unix)]
#[test]
fn pipe_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    make_pipe(&path);
    let (to, data) = (path.clone(), crate::support::files::read(DATA).unwrap());
    let writer = std::thread::spawn(move || fs::write(to, data));
    let path = path.to_str().unwrap();
    let done = pte(&["check", PROGRAM, "--with", path]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    writer.join().unwrap().unwrap();
    let twice = pte(&["check", PROGRAM, path, "--with", path]);
    assert_eq!(twice.status.code(), Some(2), "{}", text(&twice.stdout));
}

#[cfg(unix)]
#[test]
fn stream_without_temporary_folder_is_an_error() {
    let mut child = super::command()
        .args(["info", "-"])
        .env("TMPDIR", "/no/such/folder")
        .stdin(fs::File::open(crate::support::files::path(PROGRAM)).unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(message.contains("a temporary file in \"/no/such/folder\""), "{message}");
}

/// Texts are read from devices and pipes up to a limit; data only from regular files.
#[cfg(unix)]
#[test]
fn endless_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    make_pipe(&path);
    let path = path.to_str().unwrap();
    for args in [&["build"][..], &["ops", PROGRAM, "--against"]] {
        // The first byte is not text.
        let endless = pte(&[args, &["/dev/zero"]].concat());
        let message = text(&endless.stderr);
        assert!(message.contains("is not text"), "{args:?}: {message}");
        let is_usage = args[0] == "ops";
        assert_eq!(endless.status.code(), Some(if is_usage { 2 } else { 1 }), "{args:?}");
        let to = path.to_string();
        let writer = std::thread::spawn(move || {
            let mut pipe = fs::File::options().write(true).open(to).unwrap();
            // Ends when the reader closes the pipe.
            while std::io::Write::write_all(&mut pipe, &[b' '; 1 << 16]).is_ok() {}
        });
        let done = pte(&[args, &[path, "--max-stream", "100000"]].concat());
        let message = text(&done.stderr);
        assert!(message.contains("more than 100000 bytes on a stream"), "{args:?}: {message}");
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        writer.join().unwrap();
        let folder = pte(&[args, &["tests"]].concat());
        assert!(text(&folder.stderr).contains("this is a directory"), "{args:?}");
    }
    // Opening a pipe without a writer would block.
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
