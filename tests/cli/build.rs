//! `pte build`: round trips with `pte dump --container`, changed and invalid JSON, and the folder
//! of blobs.

use std::fs;
use std::path::Path;

use pte::Check;
use pte::file::FileKind;
use pte::flat::{json, load};
use pte::model::json::{AnyFile, JsonError};
use pte::model::{self, AnyPtd, FileModel, RootStruct};
use pte::{Handle, Pte, Source};

use super::{BASIC, LINEAR, append_run, good, pte, run, text};
use crate::support::build;
use crate::support::files;
use crate::support::files::{everything, name, samples};
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;

/// Every genuine file round-trips with blobs as files, byte for byte and without a note.
#[test]
fn every_file_round_trips_through_json() {
    let folder = tempfile::tempdir().unwrap();
    let [json, out] = ["model.json", "out"].map(|name| folder.path().join(name));
    let (json, out) = (json.to_str().unwrap(), out.to_str().unwrap());
    let dir = format!("dir={}", folder.path().display());
    for path in everything() {
        good(&["dump", "--container", "--blobs", &dir, path.to_str().unwrap(), "-o", json]);
        good(&["-q", "build", json, "-o", out]);
        assert!(files::read(&path).unwrap() == files::read(out).unwrap(), "{}", name(&path));
    }
}

/// Files round-trip through a pipe too, with blobs as numbers and without line breaks.
#[test]
fn dump_piped_to_build_round_trips() {
    for path in files::some_samples() {
        let path = path.to_str().unwrap();
        let json = good(&["dump", "--container", "--compact", "--blobs", "inline", path]);
        let built = run(&["-q", "build", "-"], None, json.as_bytes());
        assert_eq!((text(&built.stderr), built.status.code()), (String::new(), Some(0)), "{path}");
        assert!(files::read(path).unwrap() == built.stdout, "{path}");
    }
}

#[test]
fn hand_written_json_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w.bin"), [7; 300]).unwrap();
    let build = |args: &[&str], json: &str| run(args, Some(folder.path()), json.as_bytes());
    let data = r#"{"segments": [], "named_data": [{"key": "w"}],
        "container": {"segments": [{"file": "w.bin"}]}}"#;
    let built = build(&["build", "--lay-out", "-"], data);
    assert_eq!(text(&built.stderr), "");
    let ptd = pte::Ptd::read(&built.stdout).unwrap();
    let range = ptd.entries().next().unwrap().range().unwrap();
    assert_eq!(ptd.bytes(range), Some(&[7; 300][..]));
    assert_eq!((ptd.header().flatbuffer_offset, ptd.header().segment_data_size), (48, 300));
    assert!(ptd.header().segment_base_offset.is_multiple_of(128));
    // A program without data needs no container, and has no header.
    let built = build(&["build", "--kind", "pte", "-"], r#"{"version": 0}"#);
    let program = Pte::read(&built.stdout).unwrap();
    assert_eq!((program.header(), built.stdout.len()), (None, 64));
    assert!(text(&built.stderr).contains("error[plans-missing]"), "reported, and built");
    assert_eq!(built.status.code(), Some(0), "broken files are made on purpose");
    let built = build(&["build", "-"], r#"{"segments": [], "named_data": []}"#);
    let whole = files::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ptd/ptd_empty.ptd"));
    assert!(built.stdout == whole.unwrap(), "as today's writer makes it");
    for (generation, legacy) in [("0", true), ("1", true), ("2", true), ("3", false)] {
        let fields = if legacy { "\"tensors\": []," } else { "\"named_data\": []," };
        let container = format!("\"container\": {{\"generation\": {generation}}}");
        let json = format!("{{{fields} \"segments\": [], {container}}}");
        let built = build(&["-q", "build", "-"], &json);
        assert_eq!(text(&built.stderr), "", "{json}");
        let made = pte::Ptd::read(&built.stdout).unwrap().generation();
        assert_eq!(made == pte::ptd::Generation::Zero, generation == "0");
        assert_eq!(made == pte::ptd::Generation::Three, generation == "3");
    }
}

#[test]
fn replaced_blob_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let here = Some(folder.path());
    let dir = format!("dir={}", folder.path().display());
    let json = folder.path().join("m.json");
    good(&["dump", "--container", "--blobs", &dir, LINEAR, "-o", json.to_str().unwrap()]);
    let blob = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let blob = blob.into_iter().find(|path| path.extension().unwrap() == "bin").unwrap();
    fs::write(&blob, [1; 144]).unwrap();
    let built = run(&["build", "m.json"], here, b"");
    assert_eq!(text(&built.stderr), "");
    assert_eq!(Pte::read(&built.stdout).unwrap().segment(0), Some(&[1; 144][..]));
    fs::write(&blob, [2; 1440]).unwrap();
    let mut page = String::new();
    append_run(&mut page, &["build", "m.json"], &run(&["build", "m.json"], here, b""));
    assert!(page.contains("for segment 0, which has 1440; --lay-out"), "{page}");
    let built = run(&["build", "--lay-out", "m.json"], here, b"");
    let program = Pte::read(&built.stdout).unwrap();
    assert_eq!(program.segment(0), Some(&[2; 1440][..]));
    assert_eq!(program.header().unwrap().segment_data_size, 1440);
}

/// Invalid JSON is refused with the line and the path of the error.
#[test]
fn wrong_json_is_refused_with_line_and_path() {
    let container = |inside: &str| {
        format!("{{\"execution_plan\": [],\n  \"container\": {{\"kind\": \"pte\", {inside}}}}}")
    };
    let data = |inside: &str| {
        format!(
            "{{\"segments\": [{{\"size\": 2}}], \"container\":
            {{\"kind\": \"pte\", \"segments\": [[1, 2]], {inside}}}}}"
        )
    };
    let cases = [
        "".into(),
        "[]".into(),
        "{".into(),
        "{\"version\": 0} {}".into(),
        "{\"version\": 0}".into(),
        "{\"execution_plan\": [], \"versoin\": 0}".into(),
        "{\"execution_plan\": [{\"name\":\n 5}]}".into(),
        "{\"execution_plan\": [], \"segments\": [{\"size\": 1}]}".into(),
        "{\"execution_plan\": [{\"values\": [{\"val_type\": \"Tensor\"}]}]}".into(),
        "{\"execution_plan\": [{\"values\": [{\"val_type\": 99}]}]}".into(),
        "{\"execution_plan\": [], \"container\": 5}".into(),
        "{\"execution_plan\": [], \"container\": {}, \"container\": {}}".into(),
        "{\"execution_plan\": [{\"container\": {}}]}".into(),
        "{\"container\": {\"kind\": \"bpte\"}}".into(),
        "{\"container\": {\"kind\": \"ptd\"}, \"execution_plan\": []}".into(),
        "{\"container\": {\"generation\": 4}}".into(),
        container("\"kind\": \"pte\""),
        container("\"colour\": \"red\""),
        container("\"layout\": \"rust\""),
        container("\"force_align\": 3"),
        container("\"force_align\": 1073741824"),
        container("\"segments\": {}"),
        container("\"segments\": [[1, 2, 256]]"),
        container("\"segments\": [[1, \"2\"]]"),
        container("\"segments\": [{\"sha256\": \"00\", \"len\": 65}]"),
        container("\"segments\": [{\"file\": \"a\", \"len\": 65}]"),
        container("\"segments\": [{\"name\": \"a\"}]"),
        container("\"segments\": [[1]]"),
        container("\"trailing\": 5"),
        container("\"header\": true"),
        container("\"header\": {\"length\": 32}"),
        container("\"header\": {\"length\": 32, \"chunk\": 4294967288}"),
        container("\"header\": {\"length\": 32, \"chunk\": 32, \"magic\": \"eh01\"}"),
        container("\"header\": {\"length\": 16, \"chunk\": 32}"),
        container("\"header\": {\"length\": 24, \"length\": 32, \"chunk\": 32}"),
        container("\"padding\": -1"),
        container("\"segment_base_offset\": \"0\""),
        container("\"segment_base_offset\": 1e3"),
        container("\"unknown\": {\"fields\": 1}"),
        container("\"unknown\": {\"tables\": 1}"),
        container("\"unknown\": {\"fields\": 1, \"fields\": 0}"),
        data("\"header\": null"),
        data("\"padding\": 18446744073709551615"),
        data("\"padding\": 9223372036854775807"),
        data("\"segment_base_offset\": 9223372036854775807"),
        data("\"segment_alignment\": 9223372036854775808"),
        "{\"segments\": [{\"size\": 2, \"offset\": 18446744073709551615}], \"container\":
            {\"kind\": \"pte\", \"segments\": [[1, 2]]}}"
            .into(),
        "{\"segments\": [{\"size\": 2}, {\"size\": 1, \"offset\": 1}], \"container\":
            {\"kind\": \"pte\", \"segments\": [[1, 2], [3]]}}"
            .into(),
    ];
    let mut page = String::new();
    for json in cases {
        let built = run(&["build", "-"], None, json.as_bytes());
        assert_eq!((built.status.code(), built.stdout.len()), (Some(1), 0), "{json}");
        page.push_str(&format!("{json}\n{}\n", text(&built.stderr)));
    }
    let requested =
        run(&["build", "--kind", "ptd", "-"], None, container("\"padding\": 0").as_bytes());
    page.push_str(&format!("--kind ptd\n{}", text(&requested.stderr)));
    let latin = run(&["build", "-"], None, b"{\"named_data\": \"\xe9\"}");
    page.push_str(&format!("Latin 1\n{}", text(&latin.stderr)));
    let model = run(&["build", "-"], None, &files::read(LINEAR).unwrap());
    page.push_str(&format!("A model\n{}", text(&model.stderr)));
    let long = run(&["build", "--max-stream", "10", "-"], None, b"{\"version\": 0}");
    page.push_str(&format!("--max-stream 10\n{}", text(&long.stderr)));
    assert_snapshot("build-errors", &page);
}

/// File names in untrusted JSON cannot leave the folder of blobs.
#[cfg(unix)]
#[test]
fn blobs_outside_of_the_folder_are_refused() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), b"secret").unwrap();
    let folder = outside.path().join("blobs");
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(folder.join("inner/good"), [1]).unwrap();
    fs::write(folder.join("empty"), []).unwrap();
    symlink("inner/good", folder.join("link-inside")).unwrap();
    symlink("../secret", folder.join("link-out")).unwrap();
    symlink("..", folder.join("link-up")).unwrap();
    symlink("/dev/zero", folder.join("link-device")).unwrap();
    symlink("link-loop", folder.join("link-loop")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap();
    assert!(made.success());
    let sparse = fs::File::create(folder.join("sparse")).unwrap();
    sparse.set_len(3 << 30).unwrap();
    let secret = outside.path().join("secret");
    let secret = secret.to_str().unwrap();
    let segment = |name: &str| {
        format!(
            "{{\"segments\": [{{\"size\": 1}}], \"container\": {{\"kind\": \"pte\",
            \"segments\": [{{\"file\": {name:?}}}]}}}}"
        )
    };
    let table =
        |name: &str| format!("{{\"constant_buffer\": [{{\"storage\": {{\"file\": {name:?}}}}}]}}");
    let build = |json: &str| run(&["build", "-"], Some(&folder), json.as_bytes());
    let mut page = String::new();
    for name in [
        "",
        ".",
        "..",
        "/",
        secret,
        "../secret",
        "inner/../../secret",
        "./inner/good",
        "inner",
        "none",
        "no/ne",
        "inner/good/none",
        "nul\\u0000",
        "link-out",
        "link-up/secret",
        "link-device",
        "link-loop",
        "pipe",
    ] {
        let name = name.replace("\\u0000", "\0");
        let json = segment(&name).replace("\\0", "\\u0000");
        let built = build(&json);
        assert!([Some(1), Some(3)].contains(&built.status.code()), "{name}");
        assert_eq!(built.stdout, b"", "{name}");
        let code = built.status.code().unwrap();
        page.push_str(&format!("{name:?}, exit status {code}\n{}\n", text(&built.stderr)));
        let in_tables = build(&table(&name).replace("\\0", "\\u0000"));
        assert_eq!(in_tables.status.code(), Some(code), "{name}");
    }
    let big = build(&table("sparse"));
    page.push_str(&format!("3 GiB in a table\n{}", text(&big.stderr)));
    let many = vec!["{\"file\": \"sparse\"}"; 20].join(",");
    let many = format!("{{\"container\": {{\"kind\": \"pte\", \"segments\": [{many}]}}}}");
    let many = run(&["build", "--lay-out", "-"], Some(&folder), many.as_bytes());
    page.push_str(&format!("3 GiB, 20 times\n{}", text(&many.stderr)));
    assert_snapshot("build-blobs", &page.replace(outside.path().to_str().unwrap(), "OUTSIDE"));
    for name in ["inner/good", "link-inside"] {
        let built = build(&segment(name));
        assert_eq!(built.status.code(), Some(0), "{name}");
        assert_eq!(Pte::read(&built.stdout).unwrap().segment(0), Some(&[1][..]));
    }
    // An empty blob.
    let json = "{\"segments\": [{}, {\"size\": 1}, {}], \"container\": {\"kind\": \"pte\",
        \"segments\": [{\"file\": \"empty\"}, {\"file\": \"inner/good\"}, {\"file\": \"empty\"}]}}";
    let built = build(json);
    assert_eq!(Pte::read(&built.stdout).unwrap().segment(1), Some(&[1][..]));
}

/// A failed build creates no file, and keeps an existing one.
#[test]
fn failed_build_keeps_the_old_output() {
    let folder = tempfile::tempdir().unwrap();
    let here = Some(folder.path());
    let dir = format!("dir={}", folder.path().display());
    let json = folder.path().join("m.json");
    good(&["dump", "--container", "--blobs", &dir, LINEAR, "-o", json.to_str().unwrap()]);
    fs::write(folder.path().join("old.pte"), "old").unwrap();
    let whole = files::read_to_string(&json).unwrap();
    fs::write(folder.path().join("cut.json"), &whole[..1000]).unwrap();
    let tag = whole.replacen("\"val_type\": \"Tensor\"", "\"val_type\": \"Int\"", 1);
    fs::write(folder.path().join("tag.json"), tag).unwrap();
    let before = fs::read_dir(folder.path()).unwrap().count();
    let blob = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let blob = blob.into_iter().find(|name| name.to_str().unwrap().ends_with(".bin")).unwrap();
    let blob = blob.to_str().unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for (json, out, code) in [
        ("cut.json", "old.pte", 1),
        ("tag.json", "old.pte", 1),
        ("none.json", "old.pte", 3),
        ("m.json", "m.json", 2),
        ("m.json", blob, 2),
        ("m.json", "no/new.pte", 3),
        ("m.json", "folder", 3),
        #[cfg(target_os = "linux")]
        ("m.json", "/dev/full", 3),
        // A folder in which no user can create files, not even root.
        #[cfg(target_os = "linux")]
        ("m.json", "/sys/new.pte", 3),
    ] {
        let done = run(&["build", json, "-o", out], here, b"");
        assert_eq!(done.status.code(), Some(code), "{json} {out}: {}", text(&done.stderr));
        assert_ne!(text(&done.stderr), "");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before + 1, "nothing is left");
    }
    assert_eq!(files::read(folder.path().join("old.pte")).unwrap(), b"old");
    assert_eq!(files::read_to_string(&json).unwrap(), whole);
    let done = run(&["build", "m.json", "-o", "old.pte"], here, b"");
    assert_eq!(done.status.code(), Some(0));
    assert!(files::read(folder.path().join("old.pte")).unwrap() == files::read(LINEAR).unwrap());
    for how in ["hash", "inline", "dir="] {
        assert_eq!(pte(&["build", "--blobs", how, "-"]).status.code(), Some(2), "{how}");
    }
}

#[test]
fn build_reports_findings_and_still_writes() {
    let path = "tests/data/pte/synth_all_seg.pte";
    let json = good(&["dump", "--container", "--blobs", "inline", path]);
    let built = run(&["build", "-"], None, json.as_bytes());
    assert_eq!(built.status.code(), Some(0));
    assert!(built.stdout == files::read(path).unwrap());
    let reported = text(&built.stderr).replace("<standard output>", path);
    assert_eq!(reported, text(&pte(&["check", path]).stdout));
}

/// Unknown fields of a newer writer are not in the JSON, and both verbs report them.
#[test]
fn unknown_fields_are_reported() {
    let bytes =
        build::file(r#"{"root": {"execution_plan": [{"values": [{"val_type": 99, "val": {}}]}]}}"#);
    let dumped = run(&["dump", "--container", "-"], None, &bytes);
    assert_eq!(dumped.status.code(), Some(0));
    let mut page = text(&dumped.stderr);
    let json = text(&dumped.stdout);
    let mut build = |what: &str, json: &str| {
        let built = run(&["-q", "build", "-"], None, json.as_bytes());
        page.push_str(&format!("\n{what}\n{}", text(&built.stderr)));
        built.status.code()
    };
    assert_eq!(build("as it was dumped", &json), Some(1));
    let member = json.replace("\"val_type\": 99", "\"val_type\": 99, \"val\": {}");
    assert_eq!(build("with a member", &member), Some(1));
    let lost = "\n    \"unknown\": {\"fields\": 0, \"members\": 1},";
    assert!(member.contains(lost));
    assert_eq!(build("without \"unknown\"", &member.replace(lost, "")), Some(0));
    assert_snapshot("build-unknown", &page);
}

/// Unusual files can be dumped, with a note if `pte build` cannot restore them byte for byte.
#[test]
fn dump_notes_files_that_build_cannot_restore() {
    let note = |json: &str| {
        let dumped = run(&["dump", "--container", "-"], None, &build::file(json));
        assert_eq!(dumped.status.code(), Some(0), "{json}");
        let quiet = run(&["-q", "dump", "--container", "-"], None, &build::file(json));
        assert_eq!((text(&quiet.stderr), quiet.stdout), (String::new(), dumped.stdout));
        text(&dumped.stderr)
    };
    let overlap = r#"{"root": {"segments": [{"size": 4}, {"offset": 2, "size": 4}]},
        "data": [{"zeros": 6}]}"#;
    assert_eq!(
        note(overlap),
        "note: `pte build` cannot restore this file: segment 1 begins at 2, and the one in front \
         ends at 4\n"
    );
    let between = r#"{"root": {"segments": [{"size": 1}, {"offset": 2, "size": 1}]},
        "data": [{"bytes": [1, 2, 3]}]}"#;
    assert_eq!(
        note(between),
        "note: `pte build` makes a file with the same meaning, but other bytes\n"
    );
    let zeros = between.replace("[1, 2, 3]", "[1, 0, 3]");
    assert_eq!(note(&zeros), "");
}

/// JSON of any depth is skipped or refused.
#[test]
fn deep_json_is_refused() {
    for key in ["container", "execution_plan", "none"] {
        for open in ["[", "{\"segments\":", "{\"header\":", "{\"container\":"] {
            let deep = format!("{{\"{key}\": {}", open.repeat(100_000));
            let read = model::json::read(&deep, Some(FileKind::Pte), &mut model::json::no_files);
            assert!(matches!(read, Err(JsonError::Text(_))), "{key} {open}");
        }
    }
}

/// The library reads a model from JSON, and the image of a model is a source.
#[test]
fn model_is_read_from_json() {
    for path in samples() {
        let bytes = files::read(&path).unwrap();
        let mut text = String::new();
        match pte::file::sniff(&bytes).unwrap() {
            FileKind::Pte => {
                let pte = Pte::read(&bytes).unwrap();
                write(pte.program(), pte.to_model().unwrap(), pte.region(), None, &mut text);
            }
            FileKind::Ptd => {
                let ptd = pte::Ptd::read(&bytes).unwrap();
                let (region, generation) = (ptd.region(), Some(ptd.generation()));
                match (ptd.root(), ptd.to_model().unwrap()) {
                    (pte::ptd::Root::Current(root), AnyPtd::Current(model)) => {
                        write(root, model, region, generation, &mut text);
                    }
                    (pte::ptd::Root::Legacy(root), AnyPtd::Legacy(model)) => {
                        write(root, model, region, generation, &mut text);
                    }
                    _ => panic!("two schemas of one file"),
                }
            }
        }
        let file = model::json::read(&text, None, &mut model::json::no_files).unwrap();
        let image = match &file {
            AnyFile::Pte(file) => file.image().unwrap(),
            AnyFile::Ptd(file) => file.image().unwrap(),
            AnyFile::LegacyPtd(file) => file.image().unwrap(),
        };
        assert!(image.to_bytes().unwrap() == bytes, "{}", name(&path));
        // The ranges lie inside a piece, span several pieces, or reach past the end.
        let step = bytes.len() / 50 + 1;
        for begin in (0..bytes.len()).step_by(step) {
            for len in [0, 1, step, bytes.len() - begin] {
                let mut out = vec![0xaa; len.min(bytes.len() - begin)];
                image.read_at(begin as u64, &mut out).unwrap();
                assert!(out == bytes[begin..begin + out.len()], "{} {begin}", name(&path));
            }
        }
        assert!(image.read_at(bytes.len() as u64, &mut [0]).is_err());
        assert!(image.read_at(1, &mut vec![0; bytes.len()]).is_err());
        let opened = Handle::open(image, &pte::Limits::UNTRUSTED).unwrap();
        assert_eq!(opened.file().segment_count() as usize, segments(&file));
    }
    let half = r#"{"execution_plan": [{"values": [{"val_type": "Tensor"}]}]}"#;
    let error = model::json::read(half, None, &mut model::json::no_files).unwrap_err();
    assert!(matches!(error, JsonError::Tree(_)));
    assert_eq!(
        error.to_string(),
        "execution_plan[0].values[0].val: a union has the tag 5 and no value"
    );
    let tensor = load::read("{}", &pte::schema::program::desc::Tensor, &mut load::no_files);
    let other = <pte::schema::program::model::Program as pte::flat::model::Model>::from_object(
        tensor.unwrap(),
    );
    assert_eq!(other.unwrap_err().to_string(), "unexpected table Tensor");
}

/// JSON with a changed byte at any position is refused, or gives another file.
#[test]
fn damaged_json_never_panics() {
    let (mut refused, mut unbuildable, mut unreadable, mut built) = (0, 0, 0, 0);
    for path in ["tests/data/pte/multi_method.pte", BASIC, LINEAR] {
        let text = good(&["dump", "--container", "--compact", "--blobs", "inline", path]);
        let tail = text.find("\"container\"").unwrap();
        // More positions are tried in the container, which has the most fields.
        let places =
            (0..tail).step_by(7 * thinned(13)).chain((tail..text.len()).step_by(thinned(13)));
        for (at, with) in places.flat_map(|at| DAMAGE.map(|with| (at, with))) {
            let damaged = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            let read = model::json::read(&damaged, None, &mut model::json::no_files);
            let image = match &read {
                Err(_) => {
                    refused += 1;
                    continue;
                }
                Ok(AnyFile::Pte(file)) => file.image(),
                Ok(AnyFile::Ptd(file)) => file.image(),
                Ok(AnyFile::LegacyPtd(file)) => file.image(),
            };
            let Ok(image) = image else {
                unbuildable += 1;
                continue;
            };
            let opened = Handle::open(image, &pte::Limits::UNTRUSTED);
            match opened {
                Err(_) => unreadable += 1,
                Ok(handle) => {
                    handle.file().check();
                    built += 1;
                }
            }
        }
    }
    println!("{refused} {unbuildable} {unreadable} {built}");
    let part = thinned(20);
    assert!(refused > 10_000 / part && unbuildable > 50 / part && built > 1_000 / part);
    assert_eq!(unreadable, 0, "of these, what can be written can be read");
}

/// The replacements of a byte: nothing, a digit, several digits, a delimiter, or `null`.
const DAMAGE: [&str; 8] = ["", "0", "9", "99999999", "-", "\"", "]", "null"];

fn segments(file: &AnyFile<'_>) -> usize {
    match file {
        AnyFile::Pte(file) => file.segments.len(),
        AnyFile::Ptd(file) => file.segments.len(),
        AnyFile::LegacyPtd(file) => file.segments.len(),
    }
}

fn write<'a, R: RootStruct>(
    root: impl pte::flat::view::Table<'a>,
    mut file: FileModel<'_, R>,
    region: &[u8],
    generation: Option<pte::ptd::Generation>,
    text: &mut String,
) {
    assert!(file.lay_out_like(region));
    let options = json::Options { pretty: true, blob: |_: &[u8]| None };
    let key = model::json::KEY;
    let written = json::write_beside(root, options, text, key, |text| {
        model::json::write(&file, generation, true, *text, |blob, text| {
            core::fmt::Write::write_str(text, &format!("{:?}", blob.to_bytes().unwrap()))
        })
    });
    written.unwrap();
}

/// By default, blobs are in the folder of the JSON, for relative and absolute paths.
#[test]
fn blobs_default_to_the_folder_of_the_json() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    let json = r#"{"container": {"kind": "pte", "segments": [{"file": "w"}]}}"#;
    fs::write(folder.path().join("a/m.json"), json).unwrap();
    fs::write(folder.path().join("a/w"), [5; 8]).unwrap();
    let from = |args: &[&str], here: &str| {
        let here = folder.path().join(here);
        run(&[&["-q", "build", "--lay-out"], args].concat(), Some(Path::new(&here)), b"")
    };
    for (args, here) in
        [(&["a/m.json"][..], "."), (&["m.json"], "a"), (&["a/m.json", "--blobs", "dir=a"], ".")]
    {
        let built = from(args, here);
        assert_eq!(text(&built.stderr), "", "{args:?}");
        assert_eq!(Pte::read(&built.stdout).unwrap().segment(0), Some(&[5; 8][..]));
    }
    assert_eq!(from(&["m.json", "--blobs", "dir=.."], "a").status.code(), Some(3));
}

/// The size of the result is limited to a mebibyte for a line of JSON.
#[test]
fn short_json_cannot_make_a_huge_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w"), vec![7; 100_000]).unwrap();
    let often = vec!["{\"file\": \"w\"}"; 1000].join(",");
    let places = vec!["{}"; 1000].join(",");
    let pages = vec!["[1]"; 5000].join(",");
    let empty = vec!["{}"; 5000].join(",");
    let of = |segments: &str, blobs: &str, rest: &str| {
        format!(
            r#"{{"segments":[{segments}],"container":{{"kind":"pte","segments":[{blobs}]{rest}}}}}"#
        )
    };
    let cases = [
        of(r#"{"size":1}"#, "[1]", r#","padding":1000000000"#),
        of(r#"{"size":1}"#, "[1]", r#","segment_base_offset":1000000000"#),
        of(r#"{"size":1,"offset":1000000000}"#, "[1]", ""),
        of(&places, &often, ""),
        of("{},{}", "[1],[2]", r#","segment_alignment":1073741824"#),
        of(&empty, &pages, r#","segment_alignment":4096"#),
        // The data in the tables is aligned to pages.
        of("", "", r#","force_align":4096"#).replacen(
            '{',
            &format!("{{\"constant_buffer\":[{}],", vec![r#"{"storage":[1]}"#; 2000].join(",")),
            1,
        ),
    ];
    for json in cases {
        // The offset in the JSON is kept.
        let lay_out = if json.contains("000000000") { "-q" } else { "--lay-out" };
        let args = ["build", "-", lay_out, "-o", "out"];
        let done = run(&args, Some(folder.path()), json.as_bytes());
        let (stderr, json) = (text(&done.stderr), &json[..json.len().min(100)]);
        assert_eq!(done.status.code(), Some(1), "{json}: {stderr}");
        assert!(stderr.contains("raise --max-amplification"), "{json}: {stderr}");
        assert!(!folder.path().join("out").exists(), "{json}");
    }
    let small = of(r#"{"size":1}"#, "[1]", r#","padding":1000000"#);
    let done = run(&["-q", "build", "-", "-o", "out"], Some(folder.path()), small.as_bytes());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    // Zeros take no disk space and no time.
    let long = of(r#"{"size":1}"#, "[1]", r#","padding":2000000000"#);
    let args = ["-q", "build", "-", "-o", "out", "--max-amplification", "4294967295"];
    let done = run(&args, Some(folder.path()), long.as_bytes());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(files::metadata(folder.path().join("out")).unwrap().len() > 2_000_000_000);
}

/// A long file is compared in chunks when it is dumped.
#[test]
fn long_file_round_trips_through_json() {
    let data: Vec<u8> = (0..5_000_000_u32).map(|nth| (nth % 251) as u8).collect();
    let mut built = ::pte::build::PtdBuilder::new();
    built.blob("a", data).unwrap();
    let bytes = built.finish().unwrap().image().unwrap().to_bytes().unwrap();
    let done = run(&["dump", "--container", "-"], None, &bytes);
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
}
