//! What is named on the command line, found in a folder or written in a file, however odd.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{pte, run, text};
use crate::support::build;

const PROGRAM: &str = "tests/data/pte/external_all.pte";
const DATA: &str = "tests/data/ptd/external_all.default_external_constant.ptd";

/// What is read from a stream is gone: it is opened once, and naming it twice is an error.
#[test]
fn standard_input_is_named_once() {
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

/// A gate that passes over what it cannot read is none. Nothing is opened that would be waited for.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_told_in_its_place() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(PROGRAM, at("c-good.pte")).unwrap();
    symlink("nowhere", at("a-dangling.pte")).unwrap();
    symlink("c-good.pte", at("b-link.pte")).unwrap();
    symlink("e-loop.ptd", at("e-loop.ptd")).unwrap();
    fs::create_dir(at("inner")).unwrap();
    symlink("inner", at("d-folder.PTE")).unwrap();
    let _socket = UnixListener::bind(at("f-socket.pte")).unwrap();
    pipe(&at("inner/pipe.ptd"));
    pipe(&at("no-model.txt"));
    let done = run(&["check", "--json", "."], Some(folder.path()), b"");
    assert_eq!(done.status.code(), Some(3));
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let files = shown["files"].as_array().unwrap();
    let told: Vec<_> = files
        .iter()
        .map(|file| {
            let rule = file["findings"][0]["rule"].as_str().unwrap_or("none");
            (file["path"].as_str().unwrap(), rule)
        })
        .collect();
    let expected = [
        ("./a-dangling.pte", "unreadable"),
        ("./b-link.pte", "none"),
        ("./c-good.pte", "none"),
        ("./d-folder.PTE", "unreadable"),
        ("./e-loop.ptd", "unreadable"),
        ("./f-socket.pte", "unreadable"),
        ("./inner/pipe.ptd", "unreadable"),
    ];
    assert_eq!(told, expected);
    let message = files[0]["findings"][0]["message"].as_str().unwrap();
    assert_eq!(message, "this link leads nowhere");
}

/// A pipe is read once, to its end, whichever way it is named.
#[cfg(unix)]
#[test]
fn a_pipe_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let (to, data) = (path.clone(), fs::read(DATA).unwrap());
    let writer = std::thread::spawn(move || fs::write(to, data));
    let path = path.to_str().unwrap();
    let done = pte(&["check", PROGRAM, "--with", path]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    writer.join().unwrap().unwrap();
    let twice = pte(&["check", PROGRAM, path, "--with", path]);
    assert_eq!(twice.status.code(), Some(2), "{}", text(&twice.stdout));
}

/// Names that are no text are told apart, and those with odd characters are those of the files.
#[cfg(unix)]
#[test]
fn names_are_those_of_the_files() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let names: [&[u8]; 5] =
        [b"a\xfe.pte", b"a\xff.pte", b"b\\c.pte", b"d e#f?.pte", "g\u{202e}\n.pte".as_bytes()];
    for name in names {
        fs::copy(PROGRAM, folder.path().join(OsStr::from_bytes(name))).unwrap();
    }
    let done = run(&["check", "--json", "."], Some(folder.path()), b"");
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let paths: Vec<_> = shown["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    let expected =
        ["./a\\xfe.pte", "./a\\xff.pte", "./b\\c.pte", "./d e#f?.pte", "./g\u{202e}\n.pte"];
    assert_eq!(paths, expected);
    fs::write(folder.path().join("b\\c.pte"), "").unwrap();
    let done = run(&["check", "--format", "sarif", "b\\c.pte"], Some(folder.path()), b"");
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    let place = &shown["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "b%5Cc.pte");
}

/// A stack that no memory has room for: no thread can be had, and one is enough.
#[test]
fn without_threads_the_work_is_done_all_the_same() {
    let done = Command::new(env!("CARGO_BIN_EXE_pte"))
        .args(["check", PROGRAM, "tests/data/ptd"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RUST_MIN_STACK", "1000000000000000")
        .output()
        .unwrap();
    assert_eq!((done.status.code(), text(&done.stderr).as_str()), (Some(0), ""));
}

/// Where there is no room for what a stream says, that is told.
#[cfg(unix)]
#[test]
fn a_stream_needs_a_temporary_file() {
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

#[cfg(unix)]
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Characters that are not seen, or turn what is read around, never reach the screen; in JSON they
/// are escaped, and mean the same.
#[test]
fn what_is_not_seen_is_escaped() {
    let odd = "a\u{61c}\u{ad}\u{180e}\u{e0041}\u{3164}\u{115f}\u{1160}\u{ffa0}\u{2800}\u{fe0f}\
               \u{e0100}\u{34f}\u{202e}\u{200b}\u{2066}\u{feff}\u{2028}\u{1d173}z";
    let plain = "naïve 名前 🎉";
    let names = format!(r#"{{"key": "{odd}"}}, {{"key": "{odd}"}}, {{"key": "{plain}"}}"#);
    let root = format!(r#"{{"segments": [{{"size": 8}}], "named_data": [{names}]}}"#);
    let bytes =
        build::file(&format!(r#"{{"kind": "ptd", "root": {root}, "data": [{{"zeros": 8}}]}}"#));
    for args in [
        &["info", "-"][..],
        &["info", "--json", "-"],
        &["tensors", "-"],
        &["tensors", "--json", "-"],
        &["dump", "-"],
        &["check", "-"],
        &["check", "--json", "-"],
        &["check", "--format", "sarif", "-"],
    ] {
        let done = run(args, None, &bytes);
        assert_eq!(done.status.code(), Some(0), "{args:?} {}", text(&done.stderr));
        let shown = text(&done.stdout);
        for c in odd.chars().filter(|c| !c.is_ascii()) {
            assert!(!shown.contains(c), "{args:?} shows {}", c.escape_unicode());
        }
        assert!(args[0] == "check" || shown.contains(plain), "{args:?}");
        let json = serde_json::from_str::<Value>(&shown);
        let name = match (args, &json) {
            (["dump", ..], Ok(json)) => Some(&json["named_data"][0]["key"]),
            (["tensors", "--json", ..], Ok(json)) => Some(&json["tensors"][0]["key"]),
            _ => None,
        };
        assert!(name.is_none_or(|name| name == odd), "{args:?}: {name:?}");
        assert_eq!(name.is_some(), matches!(args, ["dump", ..] | ["tensors", "--json", ..]));
    }
}

/// A text is read whole, but not a device or a pipe that does not end; what is data is a file.
#[cfg(unix)]
#[test]
fn a_text_that_does_not_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let path = path.to_str().unwrap();
    for args in [&["build"][..], &["ops", PROGRAM, "--against"]] {
        // Its first byte is no text.
        let endless = pte(&[args, &["/dev/zero"]].concat());
        let said = text(&endless.stderr);
        assert!(said.contains("is no text"), "{args:?}: {said}");
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
        assert!(text(&done.stderr).contains("this is no regular file"), "{path}");
    }
}
