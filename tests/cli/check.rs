//! `pte check`: findings, policies, folders, JSON and SARIF.

use std::fs;

use pte::Pte;
use serde_json::Value;

use super::{BASIC, LINEAR, append_run, good, json, pte, run, text};
use crate::support::build;
use crate::support::files;
use crate::support::fixture::Fixture;
use crate::support::snapshot::assert_snapshot;

mod folders;
mod memory;
mod missing_data;
mod runtime_build;
mod sarif;

/// A hand-written file with every construct. Three of its constructs break a rule.
const UNSOUND: &str = "tests/data/pte/synth_all_seg.pte";
const PROGRAM: &str = "tests/data/pte/external_all.pte";
const DATA: &str = "tests/data/ptd/external_all.default_external_constant.ptd";
const OTHER: &str = "tests/data/ptd/ptd_basic.ptd";

#[test]
fn findings_are_shown_with_bytes_and_help() {
    let mut page = String::new();
    append_run(&mut page, &["check", UNSOUND], &pte(&["check", UNSOUND]));
    assert_snapshot("check-text", &page);
}

#[test]
fn allow_and_deny_change_severities() {
    let code = |args: &[&str]| pte(&[&["check"], args].concat()).status.code();
    let old = "tests/data/pte/v0.2.0_inline_const.pte";
    assert_eq!(code(&[old]), Some(0), "a note");
    assert_eq!(code(&["--deny", "constants-inline", old]), Some(1));
    assert_eq!(code(&["--deny", "warnings", old]), Some(0), "a note is no warning");
    assert_eq!(code(&["--runtime", "1.5.1", old]), Some(1), "this release refuses it");
    assert_eq!(code(&["--runtime", "0.7", old]), Some(0));
    assert_eq!(code(&["--runtime", "0.5", PROGRAM]), Some(0));
    assert_eq!(code(&["--runtime", "0.4", PROGRAM]), Some(1), "EXTERNAL came with 0.5");
    assert_eq!(code(&["--runtime", "0.4", "--allow", "needs-newer-runtime", PROGRAM]), Some(0));
    let allowed = ["int-list-type", "tensor-unbound", "planned-out-of-bounds", "use-after-free"];
    let allowed: Vec<_> = allowed.iter().flat_map(|rule| ["--allow", rule]).collect();
    assert_eq!(code(&[UNSOUND]), Some(1));
    assert_eq!(code(&[&allowed[..], &[UNSOUND]].concat()), Some(0));
    let shown = json(&[&["check", "--json"], &allowed[..], &[UNSOUND]].concat());
    let findings = shown["files"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["severity"] != "error"), "{findings:?}");
    assert_eq!(code(&["--deny", "no-such-rule", UNSOUND]), Some(2));
    for release in ["soon", "1", "1.", "1.5.1.2", "1.+5", "1.5.x", "0.0", "0.15", "-1.5", "1..5"] {
        let option = format!("--runtime={release}");
        assert_eq!(code(&[&option, old]), Some(2), "{release}");
    }
    assert_eq!(code(&["--structure-only", UNSOUND]), Some(0));
}

#[test]
fn with_checks_a_program_against_its_data_file() {
    let ok = json(&["check", "--json", PROGRAM, "--with", DATA]);
    let kinds: Vec<_> = ok["files"].as_array().unwrap().iter().map(|f| &f["kind"]).collect();
    assert_eq!(kinds, ["pte", "ptd"]);
    let mut page = String::new();
    let args = ["check", PROGRAM, "--with", OTHER];
    append_run(&mut page, &args, &pte(&args));
    // The same data file is named twice, by two paths.
    let args = ["check", PROGRAM, "--with", DATA, "--with", &format!("./{DATA}")];
    append_run(&mut page, &args, &pte(&args));
    let folder = tempfile::tempdir().unwrap();
    for (name, path) in [("model.pte", PROGRAM), ("a.ptd", DATA), ("b.ptd", DATA)] {
        fs::copy(files::path(path), folder.path().join(name)).unwrap();
    }
    let args = ["check", "model.pte", "--with", "a.ptd", "--with", "b.ptd"];
    append_run(&mut page, &args, &run(&args, Some(folder.path()), b""));
    let args = ["check", PROGRAM, "--with", "no-such.ptd"];
    append_run(&mut page, &args, &pte(&args));
    assert_snapshot("check-with", &page);
}

#[test]
fn with_takes_a_folder_of_data_files() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data/deep");
    fs::create_dir_all(&data).unwrap();
    fs::copy(files::path(PROGRAM), folder.path().join("model.pte")).unwrap();
    let check = |with| run(&["check", "model.pte", "--with", with], Some(folder.path()), b"");
    let empty = check("data");
    assert_eq!(empty.status.code(), Some(1));
    assert!(text(&empty.stderr).contains("no .ptd file in this folder"), "{}", text(&empty.stderr));
    fs::copy(files::path(DATA), data.join("weights.ptd")).unwrap();
    let found = check("data");
    assert_eq!(text(&found.stdout), "ok  model.pte\nok  data/deep/weights.ptd\n2 files: 2 ok\n");
    // Each folder has one.
    fs::create_dir(folder.path().join("empty")).unwrap();
    let args = ["check", "model.pte", "--with", "data", "--with", "empty"];
    let done = run(&args, Some(folder.path()), b"");
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("no .ptd file in this folder"), "{}", text(&done.stderr));
}

/// A stack trace names files on the machine that exported the program.
#[test]
fn leaked_paths_are_a_note_and_an_error_for_uploads() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model.pte"), with_traces()).unwrap();
    let here = |args: &[&str]| run(args, Some(folder.path()), b"");
    let upload = ["check", "--preset", "untrusted-upload", "model.pte"];
    let mut page = String::new();
    for args in [&["check", "model.pte"][..], &upload, &["info", "model.pte"]] {
        append_run(&mut page, args, &here(args));
    }
    assert_snapshot("check-paths-leaked", &page);
    let edit = ["edit", "model.pte", "--strip", "stacktrace", "--in-place", "--quiet"];
    assert!(here(&edit).status.success());
    assert_eq!(text(&here(&upload).stdout), "ok  model.pte\n");
}

/// Returns a program with a stack trace that contains a path of its exporter.
fn with_traces() -> Vec<u8> {
    Fixture::read("paths-leaked.bad").unwrap().parts().bytes
}

/// The preset reads whole files, so it finds a script inside a weight.
#[test]
fn preset_for_uploads_scans_blobs() {
    let mut bytes = files::read(LINEAR).unwrap();
    bytes[0x684..0x68e].copy_from_slice(b"#!/bin/sh\n");
    let upload = ["check", "--preset", "untrusted-upload", "-"];
    assert_eq!(run(&["check", "-"], None, &bytes).status.code(), Some(0));
    let done = run(&upload, None, &bytes);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stdout).contains("error[content-embedded]"), "{}", text(&done.stdout));
    assert_eq!(pte(&["check", "--preset", "upload", LINEAR]).status.code(), Some(2));
}

/// An accepted finding is identified by file, rule and path. It stays accepted if its offset
/// changes.
#[test]
fn baseline_leaves_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let at = Some(folder.path());
    fs::copy(files::path(UNSOUND), folder.path().join("model.pte")).unwrap();
    assert_eq!(run(&["check", "."], at, b"").status.code(), Some(1));
    let written = run(&["check", ".", "--write-baseline", "known.json"], at, b"");
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stdout));
    let known = ["check", "model.pte", "--baseline", "known.json"];
    let done = run(&known, at, b"");
    assert_eq!((done.status.code(), &*text(&done.stdout)), (Some(0), "ok  model.pte\n"));
    fs::copy(files::path(UNSOUND), folder.path().join("new.pte")).unwrap();
    let done = run(&[&known[..], &["new.pte"]].concat(), at, b"");
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stdout));
    // What is accepted leaves the Errors that are not.
    let rest = ["check", "model.pte", "--write-baseline", "rest.json", "--allow", "use-after-free"];
    run(&rest, at, b"");
    let done = run(&["check", "model.pte", "--baseline", "rest.json"], at, b"");
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stdout));
    assert!(text(&done.stdout).contains("error[use-after-free]"), "{}", text(&done.stdout));
    // A refused file is not checked, so it is never accepted.
    fs::write(folder.path().join("model.pte"), b"broken").unwrap();
    assert_eq!(run(&known, at, b"").status.code(), Some(1));
    fs::write(folder.path().join("known.json"), b"{}").unwrap();
    assert_eq!(run(&known, at, b"").status.code(), Some(2), "no baseline");
}

#[test]
fn settings_are_those_of_the_nearest_pte_toml() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    let file = folder.path().join("model.pte");
    fs::write(&file, with_traces()).unwrap();
    let file = file.to_str().unwrap();
    let set = |settings: &str| fs::write(folder.path().join("pte.toml"), settings).unwrap();
    let code = |args: &[&str]| run(args, Some(&inner), b"").status.code();
    assert_eq!(code(&["check", file]), Some(0));
    set("[check]\npreset = \"untrusted-upload\"\n");
    assert_eq!(code(&["check", file]), Some(1));
    assert_eq!(code(&["check", file, "--no-config"]), Some(0));
    assert_eq!(code(&["check", file, "--allow", "paths-leaked"]), Some(0));
    set(
        "[check]\ndeny = [\"paths-leaked\"]\n[size]\nbudget = \"100 B\"\n[memory]\nbudget = [\"1=8\"]\n",
    );
    assert_eq!(code(&["check", file]), Some(1));
    assert_eq!(code(&["size", file]), Some(1));
    assert_eq!(code(&["size", file, "--budget", "1MB"]), Some(0), "an argument replaces it");
    assert_eq!(code(&["memory", file]), Some(1));
    set("[check]\nallow = [\"paths-leaked\"]\nruntime = \"9.9.9.9\"\n");
    assert_eq!(code(&["check", file]), Some(2), "no release");
    // A baseline lies beside the settings.
    set("[check]\ndeny = [\"paths-leaked\"]\n");
    let known = folder.path().join("known.json");
    assert_eq!(code(&["check", file, "--write-baseline", known.to_str().unwrap()]), Some(0));
    set("[check]\ndeny = [\"paths-leaked\"]\nbaseline = \"known.json\"\n");
    assert_eq!(code(&["check", file]), Some(0));
    set("[check]\nbaseline = \"nowhere.json\"\n");
    assert_ne!(code(&["check", file]), Some(0), "no baseline");
    assert_eq!(code(&["check", "--structure-only", file]), Some(0), "nothing is judged by it");
    set("[check]\nallowed = []\n");
    let done = run(&["check", file], Some(&inner), b"");
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("unknown field `allowed`"), "{}", text(&done.stderr));
    // The search for a `pte.toml` ends at the root of a repository.
    fs::create_dir(folder.path().join("a/.git")).unwrap();
    assert_eq!(code(&["check", file]), Some(0));
}

/// Data that is too short for its shape is an Error of the data file, which `--with` also checks.
#[test]
fn short_data_is_reported_for_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let ptd = |size: u32| {
        let layout = r#"{"scalar_type": "FLOAT", "sizes": [1], "dim_order": [0]}"#;
        let entry = format!(r#"{{"key": "w", "tensor_layout": {layout}}}"#);
        let root = format!(r#"{{"segments": [{{"size": {size}}}], "named_data": [{entry}]}}"#);
        build::file(&format!(r#"{{"kind": "ptd", "root": {root}, "data": [{{"zeros": 4}}]}}"#))
    };
    let (enough, short) = (at("enough.ptd"), at("short.ptd"));
    fs::write(&enough, ptd(4)).unwrap();
    fs::write(&short, ptd(3)).unwrap();
    for (data, code) in [(&enough, 0), (&short, 1)] {
        let args = ["check", "--json", "tests/data/pte/linear.pte", "--with", data];
        let done = pte(&args);
        assert_eq!(done.status.code(), Some(code));
        let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
        let found = shown["files"][1]["findings"].as_array().unwrap();
        assert_eq!(found.iter().any(|f| f["rule"] == "data-too-short"), code == 1);
    }
}

#[test]
fn scan_blobs_searches_blobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pte");
    let mut bytes = files::read("tests/data/pte/linear.pte").unwrap();
    bytes[0x684..0x68e].copy_from_slice(b"#!/bin/sh\n");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let rules = |args: &[&str]| -> Vec<String> {
        let shown = json(&[&["check", "--json"], args, &[path]].concat());
        let found = shown["files"][0]["findings"].as_array().unwrap();
        found.iter().map(|f| format!("{} {} {}", f["rule"], f["offset"], f["path"])).collect()
    };
    let script = r#""content-embedded" 1668 "program.segments[0]""#;
    assert!(rules(&[]).is_empty());
    assert_eq!(rules(&["--scan-blobs"]), [script]);
    assert!(rules(&["--scan-blobs", "--allow", "content-embedded"]).is_empty());
    let both = pte(&["check", "--scan-blobs", "--structure-only", path]);
    assert_eq!(both.status.code(), Some(2));
}

/// The runtime of release 0.6 reads old data files, but newer releases do not.
#[test]
fn with_and_runtime_check_a_pair_for_a_release() {
    let program = "tests/data/pte/v0.6.0_external.pte";
    let data = "tests/data/ptd/v0.6.0_external.default_external_constant.ptd";
    let code = |more: &[&str]| {
        let args = [&["check", program, "--with", data], more].concat();
        pte(&args).status.code()
    };
    assert_eq!(code(&[]), Some(1));
    for (release, expected) in [("0.4", 1), ("0.6", 0), ("0.7", 1), ("1.5.1", 1)] {
        assert_eq!(code(&["--runtime", release]), Some(expected), "{release}");
    }
    assert_eq!(code(&["--runtime", "0.6", "--deny", "external-generation"]), Some(1));
}

/// No declared field is newer than the newest known release.
#[test]
fn newest_release_is_that_of_the_schemas() {
    let schemas = good(&["schema"]) + &good(&["schema", "flat-tensor"]);
    let releases = schemas.match_indices("since ").filter_map(|(at, word)| {
        let release = schemas[at + word.len()..].split(|c: char| c != '.' && !c.is_numeric());
        let (major, minor) = release.into_iter().next()?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    let releases: Vec<(u32, u32)> = releases.collect();
    assert!(releases.len() > 20, "{releases:?}");
    assert!(releases.iter().all(|release| *release <= pte::check::NEWEST), "{releases:?}");
}

/// An unknown future release is checked like the newest known release, with a note.
#[test]
fn future_release_is_checked_as_the_newest() {
    let old = "tests/data/pte/v0.2.0_inline_const.pte";
    let (major, minor) = pte::check::NEWEST;
    for (release, noted) in [((major, minor), false), ((major, minor + 1), true)] {
        let release = format!("{}.{}", release.0, release.1);
        let done = pte(&["check", "--runtime", &release, old]);
        assert_eq!(done.status.code(), Some(1), "{release}");
        assert_eq!(
            text(&done.stderr).contains("is not known: files are checked for"),
            noted,
            "{release}"
        );
        assert_eq!(text(&pte(&["-q", "check", "--runtime", &release, old]).stderr), "");
    }
}

/// A refusal cannot be allowed, since the rest of the file was not read.
#[test]
fn refusals_cannot_be_allowed() {
    for name in ["vector-out-of-bounds", "unreadable"] {
        let done = pte(&["check", "--allow", name, UNSOUND]);
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(&format!("{name} cannot be allowed: reading ends there")),
            "{stderr}"
        );
        let denied = pte(&["check", "--deny", name, "tests/data/pte/linear.pte"]);
        assert_eq!(denied.status.code(), Some(0), "it is an Error already");
    }
}

/// A program or a missing file is not a data file. Then no key resolves.
#[test]
fn with_needs_a_readable_ptd() {
    let program = "tests/data/pte/linear.pte";
    for companion in [program, "tests/data/no-such-file.ptd"] {
        let shown = pte(&["check", PROGRAM, "--with", companion]);
        assert_ne!(shown.status.code(), Some(0), "{companion}");
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(text.contains("error[external-unresolved]"), "{companion}: {text}");
        assert!(text.contains("error[unreadable]"), "{companion}: {text}");
    }
}

/// Release 1.0 followed 0.7, so versions in between are refused.
#[test]
fn nonexistent_releases_are_refused() {
    let status = |release: &str| {
        pte(&["check", "--runtime", release, "tests/data/pte/add.pte"]).status.code()
    };
    for release in ["0.0", "0.8", "0.9", "0.10", "1", "", "1.", "+1.0", "1.0.0.0"] {
        assert_eq!(status(release), Some(2), "{release:?}");
    }
    for release in ["0.7", "1.0", "1.0.1"] {
        assert_ne!(status(release), Some(2), "{release:?}");
    }
}

/// The requested stack size prevents threads from starting, so the main thread does the work.
#[test]
fn check_works_without_threads() {
    let done = super::command()
        .args(["check", PROGRAM, "tests/data/ptd"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RUST_MIN_STACK", "1000000000000000")
        .output()
        .unwrap();
    assert_eq!((done.status.code(), text(&done.stderr).as_str()), (Some(0), ""));
}

/// A payload is checked without its program, by its graph and its constants.
#[test]
fn a_payload_of_xnnpack_is_checked_as_a_file_of_its_own() {
    let bytes = files::read("tests/data/pte/xnn_delegate_inline.pte").unwrap();
    let program = Pte::read(&bytes).unwrap();
    let range = program.payloads().next().unwrap().unwrap().range();
    let mut payload = program.bytes(range).unwrap().to_vec();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payload.bin");
    let path = path.to_str().unwrap();
    let judged = |payload: &[u8]| {
        fs::write(path, payload).unwrap();
        let done = pte(&["check", "--json", path]);
        let document: Value = serde_json::from_str(&text(&done.stdout)).unwrap();
        let file = document["files"][0].clone();
        let findings = file["findings"].as_array().unwrap().iter();
        let mut rules = findings.map(|found| found["rule"].as_str().unwrap().to_owned());
        // Each standalone payload has a Note on its kind.
        let rule = rules.rfind(|rule| rule != "file-kind").unwrap_or_default();
        (done.status.code(), file["kind"].clone(), rule)
    };
    assert_eq!(judged(&payload), (Some(0), "payload".into(), String::new()));
    payload[8] = 31;
    assert_eq!(judged(&payload), (Some(0), "payload".into(), "xnnpack-unread".into()));
    payload[18] = 0;
    assert_eq!(judged(&payload), (Some(1), Value::Null, "unreadable".into()));
    assert_eq!(judged(&payload[..29]), (Some(1), Value::Null, "unreadable".into()));
}

/// Each other file that `check` takes may come on standard input.
#[test]
fn other_files_on_standard_input_are_judged_as_by_their_path() {
    for file in
        ["mlx_mlp.payload", "native_conv.payload", "mlp.etdp", "linear.etrecord", "n_alias.ptn"]
    {
        let path = format!("tests/data/other/{file}");
        let stream = run(&["check", "--json", "-"], None, &files::read(&path).unwrap());
        let expected = good(&["check", "--json", &path]).replace(&path, "<standard input>");
        assert_eq!(text(&stream.stdout), expected, "{file}");
        assert_eq!(stream.status.code(), Some(0), "{file}");
    }
}

/// Payloads of MLX and of the native backend name their constants by keys.
#[test]
fn keys_of_mlx_and_native_payloads_are_missing_until_their_data_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (mlx, data) = (path("mlx.pte"), path("mlx.ptd"));
    good(&["edit", "-q", "tests/data/pte/mlx_mlp.pte", "--externalize", "all", "-o", &mlx]);
    let native = "tests/data/pte/native_mlp.pte";
    let weights = "tests/data/ptd/native_mlp.native_weights.ptd";
    let judged = |args: &[&str]| {
        let done = run(&[&["check", "--json"], args].concat(), None, &[]);
        let found: Value = serde_json::from_slice(&done.stdout).unwrap();
        let file = &found["files"][0];
        let keys = file["missing"]["keys"].as_array().map_or(0, Vec::len);
        (file["verdict"].as_str().unwrap().to_owned(), keys)
    };
    for (program, own, other) in [(mlx.as_str(), data.as_str(), weights), (native, weights, &data)]
    {
        assert_eq!(judged(&[program]), ("incomplete".into(), 4), "{program}");
        assert_eq!(judged(&[program, "--with", own]), ("ok".into(), 0), "{program}");
        assert_eq!(judged(&[program, "--with", other]).0, "error", "{program}");
    }
    // One weight of the native program has 4 bytes in place of 2,048.
    let short = path("short.ptd");
    let header = br#"{"ls.0.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let parts = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 4]];
    fs::write(path("short.safetensors"), parts.concat()).unwrap();
    good(&["convert", &path("short.safetensors"), "-o", &short]);
    let done = run(&["check", "--json", native, "--with", &short], None, &[]);
    assert!(text(&done.stdout).contains("delegate-key-short"), "{}", text(&done.stdout));
}

/// A folder has two good files and a broken one, and is named twice.
#[test]
fn check_of_several_files_ends_with_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    let whole = files::read(LINEAR).unwrap();
    fs::write(folder.path().join("a.pte"), &whole).unwrap();
    fs::write(folder.path().join("b.pte"), &whole[..100]).unwrap();
    fs::write(folder.path().join("c.ptd"), files::read(BASIC).unwrap()).unwrap();
    let check = |args: &[&str]| run(&[&["check"], args].concat(), Some(folder.path()), b"");
    let shown = text(&check(&["."]).stdout);
    assert!(shown.ends_with("3 files: 2 ok, 1 with errors · 1 error\n"), "{shown}");
    let alone = text(&check(&["a.pte"]).stdout);
    assert_eq!(alone, "ok  a.pte\n", "one file needs no summary");

    let failures = check(&["--failures-only", "."]);
    assert_eq!(failures.status.code(), Some(1));
    let shown = text(&failures.stdout);
    assert!(shown.contains("b.pte") && !shown.contains("a.pte"), "{shown}");
    assert!(shown.ends_with("3 files: 2 ok, 1 with errors · 1 error\n"), "{shown}");
    let document: Value =
        serde_json::from_slice(&check(&["--failures-only", "--json", "."]).stdout).unwrap();
    assert_eq!(document["files"].as_array().unwrap().len(), 1);
    // In SARIF, each result has the URI of its file.
    let sarif: Value =
        serde_json::from_slice(&check(&["--failures-only", "--format", "sarif", "."]).stdout)
            .unwrap();
    assert!(sarif.to_string().contains("b.pte") && !sarif.to_string().contains("a.pte"));
}

#[test]
fn check_judges_a_file_once_however_often_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    fs::write(folder.path().join("inner/a.pte"), files::read(LINEAR).unwrap()).unwrap();
    let named = [".", "inner", "inner/a.pte", "./inner/../inner/a.pte"];
    let done = run(&[&["check", "--json"], &named[..]].concat(), Some(folder.path()), b"");
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["files"].as_array().unwrap().len(), 1);
    let message = text(&done.stderr);
    assert!(message.contains("3 paths name a file that is checked already"), "{message}");
}
