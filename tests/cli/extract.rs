//! `pte extract`: parts of a file, arrays, and folders of all parts.

use std::fs;

use serde_json::Value;

use super::{LINEAR, append_run, good, json, pte, run, sha256, text};
use crate::support::build::file;
use crate::support::files;
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;

/// `tensors --hash` lists the hash of the bytes that `extract` writes.
#[test]
fn extracted_bytes_have_the_listed_hash() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("part");
    let mut compared = 0;
    for path in files::some_samples() {
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
            // Of equal keys, runtimes and `extract` use the first.
            let of_key = rows.iter().filter(|other| other["key"] == row["key"]).count();
            if row["index"].is_null() && of_key > 1 {
                continue;
            }
            good(&[&["extract", path], &what[..], &["-o", out.to_str().unwrap()]].concat());
            assert_eq!(
                sha256(&files::read(&out).unwrap()),
                row["sha256"].as_str().unwrap(),
                "{path} {what:?}"
            );
            compared += 1;
        }
    }
    assert!(compared * thinned(3) > 100, "{compared}");
}

#[test]
fn extract_writes_each_kind_of_part() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("part");
    let take = |args: &[&str]| {
        good(&[&["extract"], args, &["-o", out.to_str().unwrap()]].concat());
        files::read(&out).unwrap()
    };
    let whole = files::read(LINEAR).unwrap();
    assert_eq!(take(&[LINEAR, "--segment", "0"]), whole[0x680..]);
    assert_eq!(take(&[LINEAR, "--program"]), whole[..0x650]);
    assert_eq!(take(&[LINEAR, "--tensor", "forward:1"]), whole[0x700..0x710]);
    let payload = take(&["tests/data/pte/xnn_delegate_segment.pte", "--delegate", "forward:0"]);
    assert_eq!(&payload[4..8], b"XH00", "the magic of XNNPACK's payloads");
    let inline = take(&["tests/data/pte/xnn_delegate_inline.pte", "--delegate", "forward:0"]);
    assert_eq!(&inline[4..8], b"XH00");
    let array = take(&[LINEAR, "--tensor", "forward:1", "--as", "npy"]);
    assert!(array.starts_with(b"\x93NUMPY\x01\x00"));
    assert!(array.ends_with(&whole[0x700..0x710]));
}

#[test]
fn npy_of_a_short_segment_is_refused() {
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

/// A dim order needs the length of the sizes.
#[test]
fn npy_with_an_invalid_dim_order_is_refused() {
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

#[test]
fn extract_all_writes_a_folder_with_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    let path = "tests/data/pte/xnn_delegate_segment.pte";
    good(&["extract", path, "--all", parts.to_str().unwrap()]);
    let index: Value =
        serde_json::from_slice(&files::read(parts.join("index.json")).unwrap()).unwrap();
    let whole = files::read(path).unwrap();
    for part in index["parts"].as_array().unwrap() {
        let at = part["offset"].as_u64().unwrap() as usize;
        let len = part["bytes"].as_u64().unwrap() as usize;
        let bytes = files::read(parts.join(part["file"].as_str().unwrap())).unwrap();
        assert_eq!(bytes, whole[at..at + len], "{part}");
    }
    let again = pte(&["extract", path, "--all", parts.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(3), "a folder that is not empty is refused");
}

#[cfg(unix)]
#[test]
fn extract_all_names_a_link_without_a_target() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let done = pte(&["extract", LINEAR, "--all", link.to_str().unwrap()]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("the target of this link does not exist"), "{said}");
    assert!(!folder.path().join("nowhere").exists());
    // A link to an empty folder stays, and its target gets the parts.
    fs::create_dir(folder.path().join("nowhere")).unwrap();
    good(&["extract", LINEAR, "--all", link.to_str().unwrap()]);
    assert!(link.is_symlink() && folder.path().join("nowhere/index.json").exists());
}

/// Keys are untrusted text: file names that are made of them stay in the folder.
/// The names of keys may be secret.
#[cfg(unix)]
#[test]
fn extract_all_makes_a_folder_as_open_as_any() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("parts");
    let script = format!(
        "umask 077 && exec {} extract {LINEAR} --all {}",
        env!("CARGO_BIN_EXE_pte"),
        out.display()
    );
    let done = std::process::Command::new("sh").args(["-c", &script]).status().unwrap();
    assert!(done.success());
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!out.join("usual").exists());
}

#[test]
fn extract_all_file_names_stay_inside_the_folder() {
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
fn missing_parts_are_reported() {
    let mut page = String::new();
    for args in [
        &["extract", LINEAR, "--segment", "9"][..],
        &["extract", LINEAR, "--key", "nothing"],
        &["extract", LINEAR, "--tensor", "forward:2"],
        &["extract", LINEAR, "--delegate", "forward:0"],
        &["extract", LINEAR, "--delegate", "forward"],
        &["extract", LINEAR, "--segment", "0", "--as", "npy"],
        &["extract", LINEAR],
        &["man", "nothing"],
    ] {
        append_run(&mut page, args, &pte(args));
    }
    assert_snapshot("cli-absent", &page);
}

#[test]
fn all_and_output_cannot_be_combined() {
    let folder = tempfile::tempdir().unwrap();
    let [all, one] = ["all", "one"].map(|name| folder.path().join(name));
    for verb in [&["extract", LINEAR][..], &["man"]] {
        let rest = ["--all", all.to_str().unwrap(), "-o", one.to_str().unwrap()];
        let done = pte(&[verb, &rest].concat());
        assert_eq!(done.status.code(), Some(2), "{verb:?}");
        assert!(text(&done.stderr).contains("cannot be combined"), "{verb:?}");
        assert!(!all.exists() && !one.exists(), "{verb:?}");
    }
}

/// The name of a method may contain colons: the index follows the last one.
#[test]
fn extract_finds_the_tensors_of_a_method_with_colons() {
    let whole = files::read(LINEAR).unwrap();
    for name in ["a:b", ":", "forward:1", "a::"] {
        let mut model = ::pte::Pte::read(&whole).unwrap().to_model().unwrap();
        model.root.execution_plan.as_mut().unwrap()[0].name = Some(name.into());
        let bytes = model.image().unwrap().to_bytes().unwrap();
        for nth in [0, 1] {
            let place = |name: &str| format!("{name}:{nth}");
            let before = pte(&["extract", LINEAR, "--tensor", &place("forward")]);
            let after = run(&["extract", "-", "--tensor", &place(name)], None, &bytes);
            assert_eq!(
                after.status.code(),
                before.status.code(),
                "{name}: {}",
                text(&after.stderr)
            );
            assert_eq!(after.stdout, before.stdout, "{name}");
        }
        assert!(
            !run(&["extract", "-", "--tensor", &format!("{name}:1")], None, &bytes)
                .stdout
                .is_empty()
        );
    }
}

/// A segment may be longer than its tensor: the array has the bytes of its shape alone.
#[test]
fn npy_of_a_longer_segment_has_the_bytes_of_its_shape() {
    for order in [[0, 1], [1, 0]] {
        let json = serde_json::json!({
            "kind": "ptd", "data": [{"hex": "01020304050607080909"}], "root": {
                "segments": [{"size": 10}],
                "named_data": [{"key": "w", "tensor_layout": {
                    "scalar_type": "BYTE", "sizes": [2, 4], "dim_order": order
                }}]
            }
        });
        let bytes = file(&json.to_string());
        let done = run(&["extract", "-", "--key", "w", "--as", "npy"], None, &bytes);
        let wanted: [u8; 8] = match order {
            [0, _] => [1, 2, 3, 4, 5, 6, 7, 8],
            _ => [1, 3, 5, 7, 2, 4, 6, 8],
        };
        assert_eq!(done.stdout[128..], wanted, "{order:?}");
    }
}

/// NumPy has no bfloat16 and no 8-bit floats: their bits are integers, and a note names the view.
#[test]
fn npy_of_bfloat16_has_its_bits() {
    for (name, descr) in [("bfloat16", "'<u2'"), ("float8_e5m2", "'|u1'")] {
        let args = ["extract", "tests/data/ptd/ptd_dtypes.ptd", "--tensor", name, "--as", "npy"];
        let done = pte(&args);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let head = String::from_utf8_lossy(&done.stdout[10..70]).to_string();
        assert!(head.contains(&format!("'descr': {descr}")), "{head}");
        assert!(text(&done.stderr).contains(&format!(".view(ml_dtypes.{name})")));
    }
}

/// Returns the index that `--all` wrote, after comparing each part with the file.
fn parts(path: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    good(&["extract", path, "--all", parts.to_str().unwrap(), "--quiet"]);
    let index = files::read(parts.join("index.json")).unwrap();
    let index: Value = serde_json::from_slice(&index).unwrap();
    let whole = files::read(path).unwrap();
    let all = index["parts"].as_array().unwrap().clone();
    for part in &all {
        let at = part["offset"].as_u64().unwrap() as usize;
        let len = part["bytes"].as_u64().unwrap() as usize;
        let bytes = files::read(parts.join(part["file"].as_str().unwrap())).unwrap();
        assert_eq!(bytes, whole[at..at + len], "{path}: {part}");
    }
    all
}

/// Payloads, packages, profiles and ETRecords have tables, constants and sections.
#[test]
fn extract_all_writes_the_parts_of_other_files() {
    let what = |path: &str| -> Vec<String> {
        parts(path).iter().map(|part| part["what"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(what("tests/data/other/mlp.etdp"), ["tables"]);
    let package = what("tests/data/other/n_alias.ptn");
    assert_eq!(package, ["tables", "section 0", "section 1", "section 2"]);
    let record = parts("tests/data/other/linear.etrecord");
    let keys: Vec<_> = record.iter().map(|part| part["key"].as_str().unwrap()).collect();
    assert!(keys.contains(&"ETRECORD_V0"), "the empty member too: {keys:?}");
    assert!(keys.contains(&"debug_handle_map"), "{keys:?}");
    let folder = tempfile::tempdir().unwrap();
    let payload = folder.path().join("payload");
    let payload = payload.to_str().unwrap();
    let program = "tests/data/pte/v0.5.0_xnn_qs8.pte";
    good(&["extract", program, "--delegate", "forward:0", "-o", payload]);
    let found = what(payload);
    assert_eq!(found[0], "tables");
    assert!(
        found.len() > 1 && found[1..].iter().all(|one| one.starts_with("constant ")),
        "{found:?}"
    );
    // The ids are those of `--tensor`.
    let id = found[1].trim_start_matches("constant ");
    assert_eq!(pte(&["extract", payload, "--tensor", id]).status.code(), Some(0));
    let shown = text(&pte(&["extract", payload, "--tensor", "9999"]).stderr);
    assert!(shown.contains("values that have: ") && shown.contains(id), "{shown}");
}
