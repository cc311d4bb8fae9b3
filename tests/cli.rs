//! The command, run as its users run it: output, standard error and exit status.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::build::file;
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;

mod budget;
mod build;
mod check;
mod convert;
mod diff;
mod edit;
mod graph;
mod help;
mod inputs;
mod limits;
mod map;
mod memory;
mod named;
mod ops;
mod size;
mod untrusted;
#[cfg(target_os = "linux")]
mod written;

const LINEAR: &str = "tests/data/pte/linear.pte";
const BASIC: &str = "tests/data/ptd/ptd_basic.ptd";

/// What is shown of files of different kinds. Each screen is a page of documentation.
#[test]
fn info_shows_a_file_on_one_screen() {
    for (page, file) in [
        ("program", LINEAR),
        ("delegates", "tests/data/pte/xnn_gpt.pte"),
        ("control-flow", "tests/data/pte/cond.pte"),
        ("methods", "tests/data/pte/multi_method.pte"),
        ("external", "tests/data/pte/external_all.pte"),
        ("dynamic", "tests/data/pte/dyn_two.pte"),
        ("oldest", "tests/data/pte/v0.2.0_inline_const.pte"),
        ("data", BASIC),
        ("data-generation-0", "tests/data/ptd/vgen1a_ptd_direct_16.ptd"),
        ("data-generation-2", "tests/data/ptd/v0.6.0_ptd_direct_16.ptd"),
        ("data-odd-keys", "tests/data/ptd/ptd_keys.ptd"),
    ] {
        assert_snapshot(&format!("info-{page}"), &good(&["info", file]));
    }
}

#[test]
fn info_as_json_has_stable_names() {
    assert_snapshot(
        "info-json-program",
        &good(&["info", "--json", "tests/data/pte/xnn_external.pte"]),
    );
    assert_snapshot("info-json-data", &good(&["info", "--json", BASIC]));
}

/// The parts of every file sum to its size.
#[test]
fn info_accounts_for_every_byte() {
    for path in files::everything() {
        let shown = json(&["info", "--json", path.to_str().unwrap()]);
        let file = &shown["files"][0];
        let parts = file["parts"].as_object().unwrap();
        let sum: u64 = parts.values().map(|part| part.as_u64().unwrap()).sum();
        assert_eq!(sum, path.metadata().unwrap().len(), "{}", name(&path));
        assert_eq!(file["bytes"], sum);
    }
}

#[test]
fn tensors_are_listed_with_digest_and_statistics() {
    let list = |args: &[&str]| good(&[&["tensors"], args].concat());
    assert_snapshot("tensors-program", &list(&["--hash", "--stats", LINEAR]));
    assert_snapshot("tensors-mutable", &list(&["tests/data/pte/v0.6.0_mutable_init.pte"]));
    assert_snapshot("tensors-external", &list(&["tests/data/pte/external_all.pte"]));
    assert_snapshot("tensors-dtypes", &list(&["--stats", "tests/data/ptd/ptd_dtypes.ptd"]));
    assert_snapshot("tensors-blobs", &list(&["--hash", "--json", "tests/data/ptd/ptd_blobs.ptd"]));
    assert_snapshot("tensors-json", &list(&["--stats", "--json", LINEAR]));
}

#[test]
fn the_largest_tensors_come_first() {
    for path in ["tests/data/pte/xnn_gpt.pte", "tests/data/ptd/ptd_dtypes.ptd", LINEAR] {
        let rows = |args: &[&str]| {
            let listed = json(&[&["tensors", "--json", path], args].concat());
            listed["tensors"].as_array().unwrap().clone()
        };
        let mut all = rows(&[]);
        // Equal ones keep their order.
        all.sort_by_key(|row| std::cmp::Reverse(row["bytes"].as_u64()));
        for most in [0, 1, 3, 1000] {
            let shown = rows(&["--largest", &most.to_string()]);
            assert_eq!(shown, all[..most.min(all.len())], "{path}");
        }
    }
}

/// What `tensors --hash` says of a tensor is what `extract` gives of it.
#[test]
fn extracted_bytes_have_the_digest_that_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("part");
    let mut compared = 0;
    for path in files::samples() {
        let path = path.to_str().unwrap();
        let listed = json(&["tensors", "--hash", "--json", path]);
        let rows = listed["tensors"].as_array().unwrap();
        for row in rows.iter().filter(|row| !row["sha256"].is_null()).take(3) {
            let place = format!("{}:{}", row["method"].as_str().unwrap_or_default(), row["index"]);
            let what = match (row["index"].is_null(), row["key"].as_str()) {
                (true, Some(key)) if !key.contains('\0') => ["--key", key],
                (false, _) => ["--tensor", &place],
                _ => continue,
            };
            // A runtime takes the first of equal keys, and so does `extract`.
            let of_key = rows.iter().filter(|other| other["key"] == row["key"]).count();
            if row["index"].is_null() && of_key > 1 {
                continue;
            }
            good(&[&["extract", path], &what[..], &["-o", out.to_str().unwrap()]].concat());
            assert_eq!(
                sha256(&fs::read(&out).unwrap()),
                row["sha256"].as_str().unwrap(),
                "{path} {what:?}"
            );
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn extract_takes_each_kind_of_part() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("part");
    let take = |args: &[&str]| {
        good(&[&["extract"], args, &["-o", out.to_str().unwrap()]].concat());
        fs::read(&out).unwrap()
    };
    let whole = fs::read(LINEAR).unwrap();
    assert_eq!(take(&[LINEAR, "--segment", "0"]), whole[0x680..]);
    assert_eq!(take(&[LINEAR, "--program"]), whole[..0x650]);
    assert_eq!(take(&[LINEAR, "--tensor", "forward:1"]), whole[0x700..0x710]);
    let payload = take(&["tests/data/pte/xnn_delegate_segment.pte", "--delegate", "forward:0"]);
    assert_eq!(&payload[4..8], b"XH00", "what XNNPACK's payloads begin with");
    let inline = take(&["tests/data/pte/xnn_delegate_inline.pte", "--delegate", "forward:0"]);
    assert_eq!(&inline[4..8], b"XH00");
    let array = take(&[LINEAR, "--tensor", "forward:1", "--as", "npy"]);
    assert!(array.starts_with(b"\x93NUMPY\x01\x00"));
    assert!(array.ends_with(&whole[0x700..0x710]));
}

/// A segment that is shorter than its tensor is no array, whatever lies behind it.
#[test]
fn an_array_has_all_of_its_bytes() {
    let done = |bytes: u64| {
        let json = serde_json::json!({
            "kind": "ptd", "root": {
                "segments": [{"size": bytes}, {"offset": 16, "size": 16}],
                "named_data": [{"key": "w", "tensor_layout": {
                    "scalar_type": "FLOAT", "sizes": [4], "dim_order": [0]
                }}, {"key": "b", "segment_index": 1}]
            },
            "data": [{"zeros": 32}]
        });
        let bytes = file(&json.to_string());
        run(&["extract", "-", "--key", "w", "--as", "npy"], None, &bytes)
    };
    let whole = done(16);
    assert_eq!((whole.status.code(), whole.stdout.len()), (Some(0), 128 + 16));
    let short = done(12);
    assert_eq!((short.status.code(), short.stdout.len()), (Some(1), 0));
    assert!(text(&short.stderr).contains("the tensor's shape does not fit its bytes"));
}

/// A dim order that is not as long as the sizes puts no array in order.
#[test]
fn an_array_has_a_dim_order_for_each_size() {
    for (order, status) in [(&[0, 1][..], 0), (&[1, 0], 0), (&[0], 1), (&[], 1), (&[0, 1, 2], 1)] {
        let json = serde_json::json!({
            "kind": "ptd", "data": [{"zeros": 24}], "root": {
                "segments": [{"size": 24}],
                "named_data": [{"key": "w", "tensor_layout": {
                    "scalar_type": "FLOAT", "sizes": [2, 3], "dim_order": order
                }}]
            }
        });
        let bytes = file(&json.to_string());
        let done = run(&["extract", "-", "--key", "w", "--as", "npy"], None, &bytes);
        assert_eq!(done.status.code(), Some(status), "{order:?}: {}", text(&done.stderr));
    }
}

/// The same bytes as numbers of two dtypes have two statistics.
#[test]
fn statistics_are_those_of_the_dtype() {
    let entry = |key: &str, dtype: &str| {
        serde_json::json!({"key": key, "tensor_layout":
            {"scalar_type": dtype, "sizes": [1], "dim_order": [0]}})
    };
    let json = serde_json::json!({
        "kind": "ptd", "data": [{"hex": "0000803f"}], "root": {
            "segments": [{"size": 4}],
            "named_data": [entry("f", "FLOAT"), entry("i", "INT"), entry("g", "FLOAT")]
        }
    });
    let done = run(&["tensors", "--stats", "--json", "-"], None, &file(&json.to_string()));
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    let most = |nth: usize| listed["tensors"][nth]["stats"]["max"].to_string();
    assert_eq!([most(0), most(1), most(2)], ["1.0", "1065353216", "1.0"]);
}

/// What comes from outside may have a place in an arena, as a state has that is loaded from a `.ptd`.
#[test]
fn the_place_of_an_external_tensor_is_listed() {
    let json = serde_json::json!({"root": {"execution_plan": [{"name": "forward", "values": [
        {"val_type": "Tensor", "val": {"scalar_type": "FLOAT", "sizes": [1], "dim_order": [0],
            "allocation_info": {"memory_id": 2, "memory_offset_low": 16, "memory_offset_high": 1},
            "extra_tensor_info": {"fully_qualified_name": "k", "location": "EXTERNAL"}}}]}]}});
    let done = run(&["tensors", "--json", "-"], None, &file(&json.to_string()));
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    let row = &listed["tensors"][0];
    assert_eq!(row["storage"], "external");
    assert_eq!((&row["memory_id"], &row["memory_offset"]), (&2.into(), &4_294_967_312_u64.into()));
}

/// Whoever could read a file can read what replaces it, and nobody else.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("segment.bin");
    fs::write(&out, "old").unwrap();
    for mode in [0o600, 0o640] {
        fs::set_permissions(&out, fs::Permissions::from_mode(mode)).unwrap();
        good(&["extract", LINEAR, "--segment", "0", "-o", out.to_str().unwrap()]);
        assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn extract_all_writes_a_folder_with_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    let path = "tests/data/pte/xnn_delegate_segment.pte";
    good(&["extract", path, "--all", parts.to_str().unwrap()]);
    let index: Value =
        serde_json::from_slice(&fs::read(parts.join("index.json")).unwrap()).unwrap();
    let whole = fs::read(path).unwrap();
    for part in index["parts"].as_array().unwrap() {
        let at = part["offset"].as_u64().unwrap() as usize;
        let len = part["bytes"].as_u64().unwrap() as usize;
        let bytes = fs::read(parts.join(part["file"].as_str().unwrap())).unwrap();
        assert_eq!(bytes, whole[at..at + len], "{part}");
    }
    let again = pte(&["extract", path, "--all", parts.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(3), "a folder that is not empty is left alone");
}

/// A key is text from a stranger; what is made of it is a name inside of the folder.
#[test]
fn keys_do_not_lead_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let keys = ["../../x", "/etc/x", "..", ".", "a/b", "a\\\\b", "index.json", "nul\\u0000"];
    let entries = keys.map(|key| format!(r#"{{"key": "{key}"}}"#)).join(", ");
    let root = format!(r#"{{"segments": [{{"size": 4}}], "named_data": [{entries}]}}"#);
    let bytes = file(&format!(r#"{{"kind": "ptd", "root": {root}, "data": [{{"zeros": 4}}]}}"#));
    fs::write(folder.path().join("keys.ptd"), bytes).unwrap();
    let done = run(&["extract", "keys.ptd", "--all", "parts"], Some(folder.path()), b"");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the file and the folder");
    let names = fs::read_dir(folder.path().join("parts")).unwrap();
    for name in names.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        let (stem, extension) = name.rsplit_once('.').unwrap();
        assert!(stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{name}");
        assert!(extension == "bin" || name == "index.json", "{name}");
    }
}

#[test]
fn what_is_not_in_the_file_is_said() {
    let mut page = String::new();
    for args in [
        &["extract", LINEAR, "--segment", "9"][..],
        &["extract", LINEAR, "--key", "nothing"],
        &["extract", LINEAR, "--tensor", "forward:2"],
        &["extract", LINEAR, "--delegate", "forward:0"],
        &["extract", LINEAR, "--delegate", "forward"],
        &["extract", "tests/data/ptd/ptd_dtypes.ptd", "--tensor", "bfloat16", "--as", "npy"],
        &["extract", LINEAR, "--segment", "0", "--as", "npy"],
        &["extract", LINEAR],
        &["man", "nothing"],
    ] {
        told(&mut page, args, &pte(args));
    }
    assert_snapshot("cli-absent", &page);
}

/// One refusal of each way in which a file can be no file to read.
#[test]
fn what_cannot_be_read_is_said() {
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
        told(&mut page, &args, &run(&args, Some(folder.path()), b""));
    }
    assert_snapshot("cli-unreadable", &page);
}

#[test]
fn check_tells_of_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(LINEAR).unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    fs::write(folder.path().join("a-good.pte"), &whole).unwrap();
    fs::write(folder.path().join("inner/b-cut.pte"), &whole[..100]).unwrap();
    fs::write(folder.path().join("inner/c-good.PTD"), fs::read(BASIC).unwrap()).unwrap();
    fs::write(folder.path().join("inner/no-model.txt"), "not looked at").unwrap();
    let mut page = String::new();
    for args in [
        &["check", "."][..],
        &["check", "--json", "."],
        &["check", "a-good.pte"],
        &["check", "nothing.pte"],
    ] {
        told(&mut page, args, &run(args, Some(folder.path()), b""));
    }
    assert_snapshot("cli-check", &page);
}

/// Every verb, on standard input.
#[test]
fn standard_input_is_a_file_too() {
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

#[test]
fn output_files_appear_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dump.json");
    good(&["dump", LINEAR, "-o", out.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&out).unwrap(), good(&["dump", LINEAR]));
    // A refusal leaves what was there, and nothing beside it.
    let cut = folder.path().join("cut.pte");
    fs::write(&cut, &fs::read(LINEAR).unwrap()[..1000]).unwrap();
    let refused = pte(&["dump", cut.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&out).unwrap(), good(&["dump", LINEAR]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    // An input is never overwritten.
    let same = pte(&["dump", cut.to_str().unwrap(), "-o", cut.to_str().unwrap()]);
    assert_eq!(same.status.code(), Some(1), "refused before it is opened for writing");
    let copy = folder.path().join("copy.pte");
    fs::copy(LINEAR, &copy).unwrap();
    let same = pte(&["dump", copy.to_str().unwrap(), "-o", copy.to_str().unwrap()]);
    assert_eq!(same.status.code(), Some(2));
    assert_eq!(fs::read(&copy).unwrap(), fs::read(LINEAR).unwrap());
    let nowhere =
        pte(&["dump", LINEAR, "-o", folder.path().join("no/dump.json").to_str().unwrap()]);
    assert_eq!(nowhere.status.code(), Some(3));
}

#[test]
fn blobs_are_digests_numbers_or_files() {
    let path = "tests/data/pte/v0.2.0_inline_const.pte";
    let folder = tempfile::tempdir().unwrap();
    let blobs = folder.path().join("blobs");
    let storage =
        |how: &str| json(&["dump", "--blobs", how, path])["constant_buffer"][1]["storage"].clone();
    let by_hash = storage("hash");
    let numbers: Vec<u8> =
        storage("inline").as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u8).collect();
    let by_file = storage(&format!("dir={}", blobs.display()));
    let bytes = fs::read(blobs.join(by_file["file"].as_str().unwrap())).unwrap();
    assert_eq!(bytes, numbers);
    assert_eq!(sha256(&bytes), by_hash["sha256"].as_str().unwrap());
    assert_eq!(by_hash["len"], bytes.len());
}

/// A reader that goes away, such as `head`, is no failure.
#[test]
fn a_closed_pipe_is_silent() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pte"))
        .args(["dump", "--blobs", "inline", "tests/data/pte/xnn_gpt.pte"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn limits_are_flags() {
    let small = pte(&["info", "--max-program", "1000", LINEAR]);
    assert_eq!(small.status.code(), Some(1));
    assert!(text(&small.stderr).contains("error[program-limit]"));
    let shared = pte(&["info", "--max-amplification", "0", LINEAR]);
    assert!(text(&shared.stderr).contains("error[work-limit]"));
    good(&["info", "--limits", "trusted", LINEAR]);
}

#[test]
fn colour_is_asked_for_or_left_out() {
    assert!(!good(&["info", LINEAR]).contains('\u{1b}'), "not on a pipe");
    assert!(good(&["--color", "always", "info", LINEAR]).contains('\u{1b}'));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("info.txt");
    good(&["--color", "always", "info", LINEAR, "-o", out.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&out).unwrap(), good(&["info", LINEAR]), "never in a file");
}

/// What a terminal must not be told: a file's names are text from a stranger.
#[test]
fn names_cannot_move_the_cursor() {
    let whole = fs::read(LINEAR).unwrap();
    let at = whole.windows(7).position(|window| window == b"forward").unwrap();
    let mut bytes = whole;
    bytes[at..at + 7].copy_from_slice(b"\x1b[2Jabc");
    for args in [&["info", "-"][..], &["tensors", "-"], &["ops", "-"], &["graph", "-"]] {
        let shown = run(args, None, &bytes);
        assert_eq!(shown.status.code(), Some(0));
        assert!(!text(&shown.stdout).contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn help_completions_and_manual_are_printed() {
    assert_snapshot("cli-help", &good(&["--help"]));
    for verb in [
        "info", "check", "dump", "build", "tensors", "size", "extract", "edit", "convert",
        "schema", "ops", "graph", "diff",
    ] {
        let help = good(&[verb, "--help"]);
        assert!(help.contains("Examples:") && help.contains("Exit status:"), "{verb}");
        assert!(good(&["man", verb]).contains(".TH"), "{verb}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(good(&["completions", shell]).contains("pte"), "{shell}");
    }
    assert_eq!(
        pte(&["--version"]).stdout,
        format!("pte {}\n", env!("CARGO_PKG_VERSION")).into_bytes()
    );
    for wrong in [&[][..], &["frobnicate"], &["info"], &["info", "--frobnicate", LINEAR]] {
        assert_eq!(pte(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn schema_is_the_declaration() {
    let mut text = String::new();
    pte::flat::fbs::write(&pte::schema::program::desc::SCHEMA, &mut text).unwrap();
    assert_eq!(good(&["schema"]), text);
    assert!(good(&["schema", "flat-tensor-legacy"]).contains("tensor_alignment"));
}

pub(crate) fn pte(args: &[&str]) -> Output {
    run(args, None, b"")
}

fn run(args: &[&str], folder: Option<&Path>, input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pte"))
        .args(args)
        .current_dir(folder.unwrap_or(Path::new(env!("CARGO_MANIFEST_DIR"))))
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The output of a command that must succeed without a word on standard error.
fn good(args: &[&str]) -> String {
    let done = pte(args);
    assert_eq!(text(&done.stderr), "", "{args:?}");
    assert_eq!(done.status.code(), Some(0), "{args:?}");
    text(&done.stdout)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&good(args)).unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A command and what it said, as a page shows it.
fn told(page: &mut String, args: &[&str], done: &Output) {
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    let code = done.status.code().unwrap();
    page.push_str(&format!("$ pte {}\n{out}{err}exit status {code}\n\n", args.join(" ")));
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
