//! Folders of `pte check`, and the links in them.

use std::fs;

use serde_json::Value;

#[cfg(unix)]
use super::super::inputs::make_pipe;
use super::super::{BASIC, LINEAR, append_run, json, run, text};
use super::PROGRAM;
use crate::support::files;
use crate::support::snapshot::assert_snapshot;

/// Files are checked in parallel, but listed by path.
#[test]
fn check_reads_whole_folders() {
    let shown = json(&["check", "--json", "tests/data/ptd"]);
    let files = shown["files"].as_array().unwrap();
    assert!(files.len() > 25);
    assert!(files.iter().all(|file| file["verdict"] == "ok"));
    let paths: Vec<_> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(paths.is_sorted(), "sorted by path, in any order of completion");
    let empty = tempfile::tempdir().unwrap();
    let done = run(&["check", "."], Some(empty.path()), b"");
    assert_eq!(done.status.code(), Some(1), "an empty folder is an error");
}

#[test]
fn check_reports_every_file_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let whole = files::read(LINEAR).unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    fs::write(folder.path().join("a-good.pte"), &whole).unwrap();
    fs::write(folder.path().join("inner/b-cut.pte"), &whole[..100]).unwrap();
    fs::write(folder.path().join("inner/c-good.PTD"), files::read(BASIC).unwrap()).unwrap();
    fs::write(folder.path().join("inner/no-model.txt"), "not looked at").unwrap();
    let mut page = String::new();
    for args in [
        &["check", "."][..],
        &["check", "--json", "."],
        &["check", "a-good.pte"],
        &["check", "nothing.pte"],
    ] {
        append_run(&mut page, args, &run(args, Some(folder.path()), b""));
    }
    assert_snapshot("cli-check", &page);
}

/// Models that are not regular files are reported and not opened, since opening a pipe would block.
#[cfg(unix)]
#[test]
fn irregular_files_in_a_folder_are_reported() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(files::path(PROGRAM), at("c-good.pte")).unwrap();
    symlink("nowhere", at("a-dangling.pte")).unwrap();
    symlink("c-good.pte", at("b-link.pte")).unwrap();
    symlink("e-loop.ptd", at("e-loop.ptd")).unwrap();
    fs::create_dir(at("inner")).unwrap();
    symlink("inner", at("d-folder.PTE")).unwrap();
    let _socket = UnixListener::bind(at("f-socket.pte")).unwrap();
    make_pipe(&at("inner/pipe.ptd"));
    make_pipe(&at("no-model.txt"));
    let check = |args: &[&str]| {
        let done = run(&[&["check", "--json", "."], args].concat(), Some(folder.path()), b"");
        assert_eq!(done.status.code(), Some(3));
        let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
        let files = shown["files"].as_array().unwrap().iter().map(|file| {
            let finding = &file["findings"][0];
            let rule = finding["rule"].as_str().unwrap_or("none").to_owned();
            (file["path"].as_str().unwrap().to_owned(), rule, finding["message"].to_string())
        });
        (files.collect::<Vec<_>>(), text(&done.stderr))
    };
    let names = |files: &[(String, String, String)]| -> Vec<(String, String)> {
        files.iter().map(|(path, rule, _)| (path.clone(), rule.clone())).collect()
    };
    let named = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(path, rule)| ((*path).into(), (*rule).into())).collect()
    };
    let (files, _) = check(&["--follow"]);
    // The folder `inner` is searched once, by its own path.
    let expected = [
        ("./a-dangling.pte", "unreadable"),
        ("./b-link.pte", "external-not-judged"),
        ("./c-good.pte", "external-not-judged"),
        ("./e-loop.ptd", "unreadable"),
        ("./f-socket.pte", "unreadable"),
        ("./inner/pipe.ptd", "unreadable"),
    ];
    assert_eq!(names(&files), named(&expected));
    assert_eq!(files[0].2, "\"the target of this link does not exist\"");
    let (files, stderr) = check(&[]);
    let expected = [
        ("./c-good.pte", "external-not-judged"),
        ("./f-socket.pte", "unreadable"),
        ("./inner/pipe.ptd", "unreadable"),
    ];
    assert_eq!(names(&files), named(&expected));
    assert_eq!(stderr, "note: 4 links in folders are not followed: use --follow\n");
}

/// A search does not leave its folder by a link, unless that is asked for. A path that is given may be a
/// link, and a cycle of links ends.
#[cfg(unix)]
#[test]
fn links_in_folders_are_followed_only_on_request() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["in/sub", "out/more"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    for name in ["in/a.pte", "out/b.pte", "out/more/c.pte"] {
        fs::copy(files::path(LINEAR), at(name)).unwrap();
    }
    symlink("../../out", at("in/sub/out")).unwrap();
    symlink("..", at("in/sub/up")).unwrap();
    symlink("../in", at("out/back")).unwrap();
    symlink("../out/b.pte", at("in/b.pte")).unwrap();
    symlink("in", at("link")).unwrap();
    let shown = |args: &[&str]| {
        let done = run(&[&["check"], args].concat(), Some(folder.path()), b"");
        assert_eq!(done.status.code(), Some(0));
        let lines: Vec<_> = text(&done.stdout).lines().map(String::from).collect();
        let files = lines.iter().filter_map(|line| line.strip_prefix("ok  "));
        (files.map(String::from).collect::<Vec<_>>(), text(&done.stderr))
    };
    let (files, stderr) = shown(&["in"]);
    assert_eq!(files, ["in/a.pte"]);
    assert_eq!(stderr, "note: 3 links in folders are not followed: use --follow\n");
    let (files, stderr) = shown(&["--follow", "in"]);
    assert_eq!(files, ["in/a.pte", "in/b.pte", "in/sub/out/b.pte", "in/sub/out/more/c.pte"]);
    assert_eq!(stderr, "");
    assert_eq!(shown(&["link"]).0, ["link/a.pte"], "a given folder may be a link");
    assert_eq!(shown(&["in/b.pte"]), (vec!["in/b.pte".into()], String::new()));
    assert_eq!(shown(&["-q", "in"]).1, "");
}
