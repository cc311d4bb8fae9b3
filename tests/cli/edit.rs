//! `pte edit`: changes, unchanged bytes and refusals.

use std::fs;
use std::path::Path;

use super::{BASIC, LINEAR, good, json, pte, text};
use crate::support::build;
use crate::support::files;
use crate::support::programs::{one_segment_listed_often, overlapping_constants};
use crate::support::snapshot::assert_snapshot;

#[test]
fn externalize_and_inline_are_inverse() {
    let folder = tempfile::tempdir().unwrap();
    let [program, data, back] = ["p.pte", "p.ptd", "b.pte"].map(|name| folder.path().join(name));
    let [out, ptd, whole] = [&program, &data, &back].map(|path| path.to_str().unwrap());
    let output = pte(&["edit", LINEAR, "--externalize", "constants", "-o", out]);
    assert_eq!(text(&output.stderr), "note: 2 tensors and blobs moved out\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(pte(&["check", out, "--with", ptd]).status.code(), Some(0));
    good(&["-q", "edit", out, "--inline", ptd, "-o", whole]);
    let digests = |path: &str| {
        let listed = json(&["tensors", "--hash", "--json", path]);
        let rows = listed["tensors"].as_array().unwrap().iter();
        rows.map(|row| row["sha256"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(digests(whole), digests(LINEAR));
}

#[test]
fn payload_constants_move_out_and_back() {
    let sample = "tests/data/pte/v0.5.0_xnn_qs8.pte";
    let folder = tempfile::tempdir().unwrap();
    let paths = ["n.pte", "p.pte", "p.ptd", "b.pte"].map(|name| folder.path().join(name));
    let [named, program, data, back] = paths.each_ref().map(|path| path.to_str().unwrap());
    let notes = |args: &[&str]| {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", text(&done.stderr));
        text(&done.stderr)
    };
    let out = notes(&["edit", sample, "--payload-constants", "named", "-o", named]);
    assert_eq!(out, "note: 4 constants moved out of 1 payloads\n");
    let out = notes(&["edit", sample, "--externalize", "payloads", "-o", program]);
    assert_eq!(
        out,
        "note: 4 constants moved out of 1 payloads\nnote: 4 tensors and blobs moved out\n"
    );
    assert_eq!(pte(&["check", program, "--with", data]).status.code(), Some(0));
    let args = ["edit", program, "--inline", data, "--payload-constants", "inside", "-o", back];
    assert!(notes(&args).ends_with("note: 4 constants moved into 1 payloads\n"));
    assert!(files::read(back).unwrap() == files::read(sample).unwrap());
    // The cases are a program without its data, one whose backend does not copy a constant, and
    // other backends.
    let args = ["edit", program, "--payload-constants", "inside", "-o", back];
    let out = notes(&args);
    assert!(out.contains("note: 4 constants stay outside: the program does not have their keys\n"));
    let sizes = ["--min-size", "200", "--externalize", "payloads"];
    let out = notes(&[&["edit", sample, "-o", program, "--ptd", data][..], &sizes].concat());
    assert!(out.contains("2 constants moved out of 1 payloads\n"), "{out}");
    let vulkan = "tests/data/pte/vulkan_conv.pte";
    let out = notes(&["edit", vulkan, "--payload-constants", "named", "-o", back]);
    assert_eq!(
        out.split_once('\n').unwrap().1,
        "note: 0 constants moved out of 0 payloads\n\
         note: 1 delegates of other backends stay as they are\n"
    );
    assert!(files::read(back).unwrap() == files::read(vulkan).unwrap());
    let done = pte(&["edit", BASIC, "--payload-constants", "named", "-o", back]);
    assert_eq!(done.status.code(), Some(2), "{}", text(&done.stderr));
}

#[test]
fn in_place_replaces_the_file_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pte");
    fs::write(&path, crate::support::programs::traced()).unwrap();
    let file = path.to_str().unwrap();
    let before = files::read(&path).unwrap();
    for args in
        [&["edit", file, "--strip", "stacktrace"][..], &["edit", file, "--align", "16", "-o", file]]
    {
        assert_eq!(pte(args).status.code(), Some(2), "{args:?}");
        assert!(files::read(&path).unwrap() == before);
    }
    good(&["-q", "edit", file, "--strip", "stacktrace", "--in-place"]);
    let after = files::read(&path).unwrap();
    assert!(after.len() < before.len());
    // The second time, there is nothing left to remove.
    good(&["-q", "edit", file, "--strip", "stacktrace", "--in-place"]);
    assert!(files::read(&path).unwrap() == after);
    assert_eq!(only_file(folder.path()), "model.pte");
}

#[test]
fn edit_without_changes_keeps_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("same");
    for file in [LINEAR, BASIC, "tests/data/pte/v0.2.0_inline_const.pte"] {
        good(&["edit", file, "--forget-unknown", "--quiet", "-o", out.to_str().unwrap()]);
        assert!(files::read(&out).unwrap() == files::read(file).unwrap(), "{file}");
    }
}

/// An unchanged copy could be mistaken for a changed file.
#[test]
fn edit_without_an_operation_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("same");
    for rest in [&["-o", out.to_str().unwrap()][..], &["--in-place"], &[]] {
        let done = pte(&[&["edit", LINEAR], rest].concat());
        assert_eq!(done.status.code(), Some(2), "{rest:?}");
        assert!(text(&done.stderr).contains("no change is named"), "{}", text(&done.stderr));
    }
    assert!(!out.exists());
}

/// A change is reported only after it is written.
#[test]
fn edit_reports_nothing_before_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.pte");
    let run = |out: &str| pte(&["edit", LINEAR, "--strip", "stacktrace", "-o", out]);
    let done = run("/nowhere/out.pte");
    assert_eq!(done.status.code(), Some(3));
    assert!(!text(&done.stderr).contains("removed"), "{}", text(&done.stderr));
    let done = run(out.to_str().unwrap());
    assert_eq!(done.status.code(), Some(0));
    assert!(text(&done.stderr).contains("stack traces removed"), "{}", text(&done.stderr));
}

/// A failed edit creates no output, and keeps the input.
#[test]
fn failed_edit_leaves_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.pte");
    let bytes = folder.path().join("bytes");
    fs::write(&bytes, [1, 2, 3]).unwrap();
    let set = format!("a={}", bytes.display());
    let [out_path, missing] = [out.to_str().unwrap(), "/nowhere/out.pte"];
    let cases: [(&[&str], i32); 9] = [
        (&["edit", LINEAR, "--remove-data", "none", "-o", out_path], 1),
        (&["edit", BASIC, "--set-data", &set, "-o", out_path], 1),
        (&["edit", BASIC, "--strip", "names", "-o", out_path], 2),
        (&["edit", LINEAR, "--align", "3", "-o", out_path], 2),
        (&["edit", LINEAR, "--set-data", "key", "-o", out_path], 2),
        (&["edit", LINEAR, "--inline", LINEAR, "-o", out_path], 1),
        (&["edit", LINEAR, "--align", "64", "-o", missing], 3),
        (&["edit", LINEAR, "--set-data", "k=/nowhere", "-o", out_path], 3),
        (&["edit", "-", "--align", "64", "--in-place"], 1),
    ];
    let mut messages = String::new();
    for (args, status) in cases {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(status), "{args:?}: {}", text(&done.stderr));
        assert!(!out.exists(), "{args:?}");
        messages += &text(&done.stderr).replace(folder.path().to_str().unwrap(), "FOLDER");
        messages += "\n";
    }
    assert_snapshot("edit-refusals", &messages);
}

/// The files of `--set-data` are inputs too.
#[test]
fn set_data_input_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = folder.path().join("labels.txt");
    fs::write(&bytes, "precious").unwrap();
    let labels = bytes.to_str().unwrap();
    let set = format!("labels={labels}");
    let out = folder.path().join("out.pte");
    let out = out.to_str().unwrap();
    for rest in [&["-o", labels][..], &["-o", out, "--externalize", "all", "--ptd", labels]] {
        let done = pte(&[&["edit", LINEAR, "--set-data", &set], rest].concat());
        assert_eq!(done.status.code(), Some(2), "{rest:?}");
        assert!(text(&done.stderr).contains("labels.txt is also an input"), "{rest:?}");
        assert_eq!(files::read(&bytes).unwrap(), b"precious", "{rest:?}");
    }
    let done = pte(&["edit", LINEAR, "--set-data", "labels=-", "-o", out]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("standard input is not a file"));
}

/// The `.ptd` of `--externalize` must differ from all other files, whether `--ptd` names it or not.
#[test]
fn externalized_data_needs_its_own_path() {
    let folder = tempfile::tempdir().unwrap();
    let [program, data] = ["p.pte", "p.ptd"].map(|name| folder.path().join(name));
    let [out, ptd] = [&program, &data].map(|path| path.to_str().unwrap());
    let edit = |rest: &[&str]| pte(&[&["edit", LINEAR, "--externalize", "all"], rest].concat());
    fs::write(&data, "old").unwrap();
    for (rest, expected) in [
        (&["-o", "-"][..], "name the .ptd with --ptd"),
        (&["-o", out, "--ptd", out], "p.pte is the program: name another .ptd with --ptd"),
    ] {
        let done = edit(rest);
        assert_eq!(done.status.code(), Some(2), "{rest:?}");
        assert!(text(&done.stderr).contains(expected), "{rest:?}: {}", text(&done.stderr));
        assert_eq!(files::read(&data).unwrap(), b"old");
        assert!(!program.exists(), "{rest:?}");
    }
    assert_eq!(edit(&["-o", out, "--ptd", ptd]).status.code(), Some(0), "--ptd names it");
    assert_eq!(pte(&["check", out, "--with", ptd]).status.code(), Some(0));
}

/// What is refused leaves the `.ptd` as it is, also if the program is what cannot be written.
#[test]
fn a_refused_externalize_keeps_the_ptd() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [m, c, m_ptd, shared] = ["m.pte", "c.pte", "m.ptd", "shared.ptd"].map(at);
    let [dot, nowhere, slash] = [".", "nodir/o.pte", "dir.pte/"].map(at);
    let long = at(&"n".repeat(300));
    for name in [&m, &c] {
        fs::copy(files::path(LINEAR), name).unwrap();
    }
    for ptd in [&m_ptd, &shared] {
        fs::write(ptd, "precious").unwrap();
    }
    let cases: [(&[&str], i32); 7] = [
        (&[&m, "-o", &m], 2),
        (&[&m, &c, "-o", &dot], 2),
        (&[&m, "-o", &nowhere, "--ptd", &shared], 3),
        (&[&m, "-o", &slash, "--ptd", &shared], 3),
        (&[&m, "-o", &long, "--ptd", &shared], 3),
        (&[&m, "-o", "/dev/full", "--ptd", &shared], 3),
        (&[&m, "-o", &dot, "--ptd", &shared], 3),
    ];
    for (args, status) in cases {
        let done = pte(&[&["edit", "--externalize", "all"], args].concat());
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(status), "{args:?}: {said}");
        assert!(!said.contains("is replaced"), "{args:?}: {said}");
        for ptd in [&m_ptd, &shared] {
            assert_eq!(fs::read(ptd).unwrap(), b"precious", "{args:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "{args:?}");
    }
}

/// Data that the program still needs is not replaced by a `.ptd` without it.
#[test]
fn a_ptd_that_is_still_needed_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [m, ptd, other, whole] = ["m.pte", "m.ptd", "other.ptd", "whole.pte"].map(at);
    // Tensors request data, and delegates do.
    for (file, first, then) in [
        (LINEAR, ["all", "--min-size", "100"], "all"),
        ("tests/data/pte/xnn_gpt.pte", ["data", "--min-size", "1"], "constants"),
    ] {
        let first = [&["-q", "edit", file, "-o", &m, "--externalize"], &first[..]].concat();
        good(&first);
        let [program, data] = [&m, &ptd].map(|path| fs::read(path).unwrap());
        let again = ["edit", &m, "--in-place", "--externalize", then];
        let done = pte(&again);
        assert_eq!(done.status.code(), Some(2), "{file}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains("needs, and would be replaced"), "{file}");
        assert!(fs::read(&m).unwrap() == program && fs::read(&ptd).unwrap() == data, "{file}");
        // Another .ptd takes the rest, and the same data may be written again.
        let another = ["-q", "edit", &m, "-o", &whole, "--externalize", then, "--ptd", &other];
        good(&another);
        assert_eq!(
            pte(&["check", &whole, "--with", &ptd, "--with", &other]).status.code(),
            Some(0)
        );
        good(&another);
        good(&first);
    }
}

/// A program and its `.ptd` on one path, which does not exist yet.
#[cfg(unix)]
#[test]
fn externalized_data_is_not_on_the_path_of_a_new_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [b, dotted, link, target] = ["b.pte", "./b.pte", "link", "q.pte"].map(at);
    std::os::unix::fs::symlink("q.pte", &link).unwrap();
    let a = at("a.pte");
    fs::copy(files::path(LINEAR), &a).unwrap();
    let new = at("new");
    let other = "tests/data/pte/xnn_gpt.pte";
    for args in [
        &[&a, "-o", &b, "--ptd", &dotted][..],
        &[&a, "-o", &link, "--ptd", &target],
        &[&a, "-o", &target, "--ptd", &link],
        &[&a, other, "-o", &new, "--ptd", &format!("{new}/./a.pte")],
    ] {
        let done = pte(&[&["edit", "--externalize", "all"], args].concat());
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains("name another .ptd with --ptd"), "{args:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{args:?}");
    }
}

/// No name of a `.ptd` follows from that of a device or a pipe.
#[cfg(unix)]
#[test]
fn no_ptd_is_named_after_a_device() {
    for out in ["-", "/dev/stdout", "/dev/null", "/dev/fd/1"] {
        let done = pte(&["edit", LINEAR, "--externalize", "all", "-o", out]);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{out}");
        assert!(text(&done.stderr).contains("name the .ptd with --ptd"), "{out}");
        assert!(!Path::new("/dev/stdout.ptd").exists() && !Path::new("/dev/null.ptd").exists());
    }
}

/// `--inline` of a `.ptd` that the program does not use would change nothing.
#[test]
fn inline_of_unused_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.pte");
    for (program, ptd, expected) in [
        (
            "native_mlp.pte",
            "native_mlp.native_weights.ptd",
            "for delegates only data without a shape",
        ),
        ("external_all.pte", "ptd_basic.ptd", "no key of this .ptd is used by the program"),
        ("xnn_external.pte", "ptd_blobs.ptd", "no key of this .ptd is used by the program"),
    ] {
        let (program, ptd) = (format!("tests/data/pte/{program}"), format!("tests/data/ptd/{ptd}"));
        let done = pte(&["edit", &program, "--inline", &ptd, "-o", out.to_str().unwrap()]);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{program}: {said}");
        assert!(said.contains(expected), "{program}: {said}");
        assert!(!out.exists());
    }
}

/// An existing output is replaced, whether its path is given or derived, and the command reports
/// it.
#[test]
fn an_existing_output_is_replaced_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let [program, data] = ["p.pte", "p.ptd"].map(|name| folder.path().join(name));
    let [out, ptd] = [&program, &data].map(|path| path.to_str().unwrap());
    for path in [&program, &data] {
        fs::write(path, "old").unwrap();
    }
    let done = pte(&["edit", LINEAR, "--externalize", "all", "-o", out]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let stderr = text(&done.stderr).replace(folder.path().to_str().unwrap(), "");
    assert!(
        stderr.contains("/p.pte is replaced") && stderr.contains("/p.ptd is replaced"),
        "{stderr}"
    );
    assert_eq!(pte(&["check", out, "--with", ptd]).status.code(), Some(0));
}

#[test]
fn set_data_key_may_contain_an_equals_sign() {
    let folder = tempfile::tempdir().unwrap();
    let [blob, out] = ["blob.bin", "out.ptd"].map(|name| folder.path().join(name));
    fs::write(&blob, b"new").unwrap();
    let (assigned, out) = (format!("a=b={}", blob.display()), out.to_str().unwrap());
    let done = pte(&["edit", BASIC, "--set-data", &assigned, "-o", out]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let done = pte(&["extract", out, "--key", "a=b"]);
    assert_eq!(text(&done.stdout), "new");
}

#[cfg(unix)]
#[test]
fn full_output_device_is_reported() {
    let done = pte(&["edit", LINEAR, "--align", "64", "-o", "/dev/full"]);
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
}

/// Overlapping segments would be written separately. The module `model::amplified` has more tests.
#[test]
fn overlapping_segments_exceed_the_write_budget() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.pte", "out.pte"].map(|name| folder.path().join(name));
    let [path, out_path] = [&file, &out].map(|path| path.to_str().unwrap());
    let edits: [(Vec<u8>, &[&str]); 3] = [
        (one_segment_listed_often(1000), &["--align", "4096"]),
        (overlapping_constants(200, |_| 0), &["--externalize", "all"]),
        (overlapping_constants(200, |nth| nth), &["--externalize", "all"]),
    ];
    for (bytes, edit) in edits {
        fs::write(&file, bytes).unwrap();
        let done = pte(&[&["-q", "edit", path, "-o", out_path], edit].concat());
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{edit:?}: {stderr}");
        assert!(stderr.contains("different bytes that it is made of"), "{stderr}");
        assert!(stderr.contains("raise --max-amplification"), "{stderr}");
        assert_eq!(only_file(folder.path()), "in.pte", "{edit:?}");
    }
    // With raised limits, the file is written.
    fs::write(&file, overlapping_constants(20, |_| 0)).unwrap();
    let args = ["-q", "edit", path, "-o", out_path, "--externalize", "all"];
    assert_eq!(pte(&args).status.code(), Some(1));
    good(&[&args[..], &["--max-amplification", "20"]].concat());
}

fn only_file(folder: &Path) -> String {
    let mut entries = fs::read_dir(folder).unwrap();
    let entry = entries.next().unwrap().unwrap();
    assert!(entries.next().is_none(), "nothing is left over");
    entry.file_name().to_string_lossy().into_owned()
}

/// `--min-size N` moves data of at least N bytes.
#[test]
fn externalize_moves_data_of_the_minimum_size() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.pte");
    let ptd = folder.path().join("out.ptd");
    let [out_path, ptd_path] = [&out, &ptd].map(|path| path.to_str().unwrap());
    let constants = [LINEAR, "tests/data/pte/xnn_mixed.pte", "tests/data/pte/demo_named_data.pte"];
    for file in constants {
        let edit = |least: u64| {
            let _ = fs::remove_file(&ptd);
            let least = least.to_string();
            let args =
                ["-q", "edit", file, "-o", out_path, "--externalize", "all", "--ptd", ptd_path];
            good(&[&args[..], &["--min-size", &least]].concat());
            if !ptd.exists() {
                return Vec::new();
            }
            let listed = json(&["tensors", "--json", ptd_path]);
            let rows = listed["tensors"].as_array().unwrap().iter();
            rows.map(|row| row["bytes"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        let all = edit(0);
        assert!(!all.is_empty(), "{file}");
        for &bytes in &all {
            for least in [bytes, bytes + 1] {
                let wanted: Vec<_> = all.iter().copied().filter(|&size| size >= least).collect();
                assert_eq!(edit(least), wanted, "{file}: {least}");
            }
        }
    }
}

/// Equal data of a `.ptd` is stored once, and what follows moves up.
#[test]
fn share_stores_equal_data_once() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["in.ptd", "out.ptd", "again.ptd"].map(|name| folder.path().join(name));
    let [input, out, again] = paths.each_ref().map(|path| path.to_str().unwrap());
    fs::write(
        input,
        build::file(
            r#"{"kind": "ptd", "root": {
                "segments": [{"size": 300}, {"offset": 384, "size": 300}, {"offset": 768, "size": 100}],
                "named_data": [{"key": "c", "segment_index": 2}, {"key": "a"}, {"key": "b", "segment_index": 1}]
            }, "data": [{"zeros": 768}, {"hex": "01"}, {"zeros": 99}]}"#,
        ),
    )
    .unwrap();
    let done = pte(&["edit", input, "--share", "-o", out]);
    assert_eq!(text(&done.stderr), "note: 1 equal segments removed, 300 B\n");
    let rows = |path: &str| {
        let listed = json(&["tensors", "--hash", "--json", path]);
        let rows = listed["tensors"].as_array().unwrap().clone();
        let of = |row: &serde_json::Value| (row["key"].clone(), row["sha256"].clone());
        rows.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(rows(out), rows(input), "every key has its data, in the same order");
    let len = |path: &str| fs::metadata(path).unwrap().len();
    assert_eq!(len(input) - len(out), 384);
    let done = pte(&["edit", out, "--share", "-o", again]);
    assert_eq!(text(&done.stderr), "note: no data is stored twice\n");
    assert!(fs::read(again).unwrap() == fs::read(out).unwrap());
}

/// Removed data leaves no hole.
#[test]
fn data_after_removed_data_moves_up() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.ptd");
    good(&["-q", "edit", BASIC, "--remove-data", "a", "-o", out.to_str().unwrap()]);
    let before = json(&["tensors", "--json", BASIC]);
    let after = json(&["tensors", "--json", out.to_str().unwrap()]);
    assert_eq!(after["tensors"][0]["bytes"], before["tensors"][1]["bytes"]);
    let moved = fs::metadata(&out).unwrap().len();
    assert_eq!(after["tensors"][0]["offset"].as_u64().unwrap() + 40, moved);
    assert_eq!(after["tensors"][0]["offset"], 256, "the first multiple of 128 behind the tables");
}

/// Programs of one network get one `.ptd`, in which equal data is stored once.
#[test]
fn several_programs_get_one_ptd() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let sample = "tests/data/pte/v0.5.0_xnn_qs8.pte";
    for (name, of) in [("a.pte", sample), ("b.pte", sample), ("c.pte", LINEAR)] {
        fs::copy(files::path(of), at(name)).unwrap();
    }
    let programs = ["a.pte", "b.pte", "c.pte"].map(at);
    let [a, b, c] = programs.each_ref().map(String::as_str);
    let edit = |rest: &[&str]| pte(&[&["edit", a, b, c], rest].concat());
    let out = at("out");
    let done = edit(&["--externalize", "payloads", "--share", "-o", &out]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("less than apart"), "{}", text(&done.stderr));
    let ptd = at("out/shared.ptd");
    let named = json(&["tensors", "--json", &ptd]);
    assert_eq!(named["tensors"].as_array().unwrap().len(), 4, "c has no payload: {named}");
    for program in ["a", "b"] {
        let program = at(&format!("out/{program}.pte"));
        assert_eq!(pte(&["check", &program, "--with", &ptd]).status.code(), Some(0));
        let back = at("back.pte");
        let args = ["-q", "edit", &program, "--inline", &ptd, "--payload-constants", "inside"];
        good(&[&args[..], &["-o", &back]].concat());
        assert!(files::read(&back).unwrap() == files::read(sample).unwrap());
    }
    // In place, with constants of all programs.
    let done = edit(&["--externalize", "constants", "--ptd", &ptd, "--in-place"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(pte(&["check", c, "--with", &ptd]).status.code(), Some(0));
    for (rest, expected) in [
        (&["--strip", "names", "-o", &out][..], "several files need --externalize"),
        (&["--externalize", "all"], "name a folder for the programs with -o"),
        (&["--externalize", "all", "--in-place"], "name the .ptd of all programs with --ptd"),
        (&["--externalize", "all", "--in-place", "--ptd", a], "a.pte is a program"),
    ] {
        let done = edit(rest);
        assert_eq!(done.status.code(), Some(2), "{rest:?}");
        assert!(text(&done.stderr).contains(expected), "{rest:?}: {}", text(&done.stderr));
    }
    let same = pte(&["edit", a, &at("out/a.pte"), "--externalize", "all", "-o", &at("other")]);
    assert!(text(&same.stderr).contains("has the name of another program"));
    assert!(!folder.path().join("other").exists(), "nothing is written");
}

/// Data of a program that moves nothing out, since its constants are outside already, is not replaced by that of
/// another program under the same key.
#[test]
fn programs_with_one_key_do_not_lose_the_data_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["one.pte", "other.pte", "w.ptd"].map(|name| folder.path().join(name));
    let [one, other, data] = paths.each_ref().map(|path| path.to_str().unwrap());
    let linear = files::read(LINEAR).unwrap();
    fs::write(one, &linear).unwrap();
    let mut changed = linear;
    changed[0x680..0x6c0].fill(0);
    fs::write(other, changed).unwrap();
    good(&["-q", "edit", one, "--externalize", "constants", "--in-place", "--ptd", data]);
    let before = fs::read(data).unwrap();
    let args = ["edit", one, other, "--externalize", "constants", "--in-place", "--ptd", data];
    let done = pte(&args);
    assert_eq!(done.status.code(), Some(2), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("a program keeps it, and another moves it out"));
    assert!(fs::read(data).unwrap() == before);
}

/// A key that is in the program and in the `.ptd` has data in each: neither is lost.
#[test]
fn inline_does_not_replace_data_of_the_program() {
    let sample = "tests/data/pte/xnn_gpt.pte";
    let folder = tempfile::tempdir().unwrap();
    let paths = ["p.pte", "p.ptd", "o.ptd", "out.pte", "six"].map(|name| folder.path().join(name));
    let [program, data, other, out, six] = paths.each_ref().map(|path| path.to_str().unwrap());
    good(&["-q", "edit", sample, "--externalize", "data", "-o", program, "--ptd", data]);
    let key = json(&["tensors", "--json", data])["tensors"][0]["key"].as_str().unwrap().to_owned();
    fs::write(six, b"sixsix").unwrap();
    let set = format!("{key}={six}");
    good(&["-q", "edit", data, "--set-data", &set, "-o", other]);
    for args in [
        &["edit", sample, "--inline", other, "-o", out][..],
        &["edit", program, "--inline", data, "--inline", other, "-o", out],
    ] {
        let done = pte(args);
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        assert!(text(&done.stderr).contains("duplicate key"), "{}", text(&done.stderr));
    }
    good(&["-q", "edit", program, "--inline", data, "-o", out]);
    assert_eq!(pte(&["diff", sample, out]).status.code(), Some(0));
}

/// The rules on payloads hold for what is written too: here a delegate whose named data is too short.
#[test]
fn edit_that_a_payload_does_not_fit_is_refused() {
    let sample = "tests/data/pte/xnn_gpt.pte";
    let folder = tempfile::tempdir().unwrap();
    let [out, six] = ["out.pte", "six"].map(|name| folder.path().join(name));
    fs::write(&six, b"sixsix").unwrap();
    let tensors = json(&["tensors", "--json", sample]);
    let rows = tensors["tensors"].as_array().unwrap();
    let key = rows.iter().find(|row| row["storage"] == "blob").unwrap()["key"].as_str().unwrap();
    let set = format!("{key}={}", six.display());
    let done = pte(&["edit", sample, "--set-data", &set, "-o", out.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("delegate-key-short"), "{}", text(&done.stderr));
    assert!(!out.exists());
}

#[test]
fn constants_that_moved_out_and_back_leave_nothing_behind() {
    let sample = "tests/data/pte/v0.2.0_xnn_all_inline.pte";
    let folder = tempfile::tempdir().unwrap();
    let paths = ["n.pte", "i.pte"].map(|name| folder.path().join(name));
    let [named, inside] = paths.each_ref().map(|path| path.to_str().unwrap());
    good(&["-q", "edit", sample, "--payload-constants", "named", "-o", named]);
    good(&["-q", "edit", named, "--payload-constants", "inside", "-o", inside]);
    let found = json(&["check", "--no-config", "--json", inside])["files"][0]["findings"].clone();
    let rules = found.as_array().unwrap().iter().map(|finding| finding["rule"].clone());
    assert!(!rules.into_iter().any(|rule| rule == "trailing-bytes"), "{found}");
}
