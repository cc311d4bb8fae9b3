//! The JSON documents of all verbs, beside their JSON Schemas in `docs/schemas`.
//!
//! A schema is made of the documents of the files in tests/data, of their payloads, and of damaged and hostile files.
//! It requires the fields that all of these have, and knows the others. `PTE_BLESS=1` writes the schemas, but removes
//! no field: a document without it needs a higher number.

mod shape;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use pte::{Handle, Limits, Pte};
use serde_json::{Value, json};

use self::shape::{Difference, Document, differences};
use super::{LINEAR, pte, text};
use crate::support::{files, hostile, thinned};

const FOLDER: &str = "docs/schemas";

/// What is asked about each file.
const VERBS: &[&[&str]] = &[
    &["info"],
    &["check", "--no-config"],
    &["check", "--no-config", "--kernels", "portable", "--backends", "VulkanBackend"],
    &["tensors"],
    &["tensors", "--hash", "--stats"],
    &["size"],
    &["size", "--by-module"],
    &["size", "--against", LINEAR],
    &["map"],
    &["map", "--at", "8"],
    &["map", "--at", "128"],
    &["memory"],
    &["memory", "--budget", "1"],
    &["ops"],
    &["ops", "--against", "optimized"],
    &["graph"],
    &["graph", "--payloads"],
    &["profile"],
    &["embed"],
    &["embed", "--board", "examples/boards/pico2.toml"],
    &["diff", LINEAR],
];

/// What is asked once.
const OTHERS: &[&[&str]] = &[
    &["rules"],
    &["explain", "segment-index"],
    &["info", LINEAR, "README.md"],
    &["info", "absent.pte"],
    &["check", "--no-config", "absent.pte"],
    &["size", LINEAR, "tests/data/pte/v0.3.0_linear.pte"],
    &["tensors", "README.md"],
    &["profile", "tests/data/other/mlp.etdp", "--program", LINEAR],
];

/// Every field of every schema is in a document, and every document is what its schema says.
///
/// A debug build asks about a part of the files, so it cannot miss a field that few files have.
#[test]
#[cfg_attr(not(feature = "scan"), ignore = "the schemas have what all features add")]
fn documents_are_what_their_schemas_say() {
    let blesses = env::var_os("PTE_BLESS").is_some();
    let nth = if blesses { 1 } else { thinned(8) };
    let found = documents(nth);
    let folder = files::path(FOLDER);
    let written = fs::read_dir(&folder).unwrap().map(|entry| files::name(&entry.unwrap().path()));
    let names: BTreeSet<_> = written.chain(found.keys().map(|name| file_of(name))).collect();
    let mut wrong = Vec::new();
    for file in names {
        let path = folder.join(&file);
        let schema = fs::read_to_string(&path).unwrap_or_else(|_| "{}".into());
        let known: Value = serde_json::from_str(&schema).unwrap();
        let found = found.iter().find(|(name, _)| file_of(name) == file);
        let now = found.map_or(json!({}), |(_, document)| document.schema());
        let mut differences = differences(&known, &now, nth == 1);
        if blesses {
            differences.retain(|difference| matches!(difference, Difference::Gone(_)));
            if differences.is_empty() {
                fs::write(path, format!("{now:#}\n")).unwrap();
            }
        }
        wrong.extend(differences.iter().map(|difference| format!("{file}: {difference:?}")));
    }
    assert!(
        wrong.is_empty(),
        "A field that is new: PTE_BLESS=1 cargo test --features remote,scan --test command documents. One that is \
         gone or has another type: the number of the document goes up.\n{}",
        wrong.join("\n")
    );
}

/// Each field of a real document is held: without it, or with another type, the document is not what its schema says.
#[test]
fn removed_field_of_a_document_is_found() {
    let document = document(&["check", "tests/data/pte/synth_all_seg.pte"]).unwrap();
    let schema = fs::read_to_string(files::path(FOLDER).join("pte.check.1.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let judge = |document: &Value| {
        let mut shape = Document::default();
        shape.add(document);
        differences(&schema, &shape.schema(), false)
    };
    assert_eq!(judge(&document), []);
    let finding = "/files/0/findings/0";
    for (place, field) in
        [("", "files"), ("/files/0", "verdict"), (finding, "rule"), (finding, "offset")]
    {
        let mut other = document.clone();
        let object = other.pointer_mut(place).unwrap().as_object_mut().unwrap();
        let value = object.remove(field).unwrap();
        let place = place.replace("/0", "[]");
        assert_eq!(judge(&other), [Difference::Absent(format!("{place}/{field}"))]);
        let object = other.pointer_mut(&place.replace("[]", "/0")).unwrap();
        object[field] = json!(!value.is_boolean());
        assert_eq!(judge(&other), [Difference::Type(format!("{place}/{field}: boolean"))]);
    }
}

/// Returns the name of the file with the schema of a document: `pte.check.1.json` for `pte.check/1`.
fn file_of(document: &str) -> String {
    document.replace('/', ".") + ".json"
}

/// Writes the payloads of programs, damaged programs that are read, and files of hostile families.
fn made(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        all.push(path);
    };
    let mut known = BTreeSet::new();
    for path in files::samples() {
        let (name, bytes) = (files::name(&path), fs::read(&path).unwrap());
        let Ok(pte) = Pte::read(&bytes) else { continue };
        for payload in pte.payloads() {
            let payload = pte.bytes(payload.unwrap().range()).unwrap();
            if known.insert(payload.to_vec()) {
                write(format!("{name}.{}.payload", known.len()), payload);
            }
        }
    }
    for name in ["linear.pte", "cond.pte", "vulkan_conv.pte"] {
        let bytes = files::read(format!("tests/data/pte/{name}")).unwrap();
        let mut damaged = (0..bytes.len()).step_by(11).map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] = 0xff;
            bytes
        });
        let is_read = |bytes: &Vec<u8>| Handle::open(&bytes[..], &Limits::UNTRUSTED).is_ok();
        let damaged = damaged.by_ref().filter(is_read).step_by(4).take(20);
        damaged.enumerate().for_each(|(nth, bytes)| write(format!("{nth}.{name}"), &bytes));
    }
    for (nth, family) in hostile::families().iter().enumerate() {
        write(format!("{nth}.pte"), &family.make(4).0);
    }
    all
}

/// Returns all documents about every `nth` file, by their names.
fn documents(nth: usize) -> BTreeMap<String, Document> {
    let mut paths = files::samples();
    let others = fs::read_dir(files::path("tests/data/other")).unwrap();
    paths.extend(others.map(|entry| entry.unwrap().path()));
    let folder = tempfile::tempdir().unwrap();
    paths.extend(made(folder.path()));
    paths.sort();
    let of_verb = |verb: &[&str]| -> Vec<Value> {
        let about = |path: &Path| document(&[verb, &[path.to_str().unwrap()]].concat());
        let found: Vec<_> = paths.iter().step_by(nth).filter_map(|path| about(path)).collect();
        assert!(!found.is_empty(), "{verb:?} has no document");
        found
    };
    let of_verb = &of_verb;
    let mut all = written();
    all.extend(OTHERS.iter().filter_map(|args| document(args)));
    thread::scope(|scope| {
        let running: Vec<_> = VERBS.iter().map(|verb| scope.spawn(|| of_verb(verb))).collect();
        running.into_iter().for_each(|verb| all.extend(verb.join().unwrap()));
    });
    let mut found = BTreeMap::<String, Document>::new();
    for document in &all {
        let name = document["schema"].as_str().unwrap_or_else(|| panic!("{document}"));
        found.entry(name.into()).or_default().add(document);
    }
    found
}

/// Returns the document that a command prints. About some files it prints none.
fn document(args: &[&str]) -> Option<Value> {
    serde_json::from_slice(&pte(&[args, &["--json"]].concat()).stdout).ok()
}

/// Returns the documents that are written as files: an index of parts, a baseline, and rows about files.
fn written() -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let write = |args: &[&str]| {
        let done = pte(args);
        assert!(done.status.code() < Some(2), "{args:?}: {}", text(&done.stderr));
    };
    write(&["extract", "tests/data/pte/xnn_gpt.pte", "--all", &path("parts")]);
    write(&["check", "--no-config", "tests/data/pte", "--write-baseline", &path("known.json")]);
    let read = |name: &str| serde_json::from_str(&fs::read_to_string(path(name)).unwrap()).unwrap();
    let mut all = vec![read("parts/index.json"), read("known.json")];
    if cfg!(feature = "scan") {
        fs::write(path("cut.pte"), &files::read(LINEAR).unwrap()[..900]).unwrap();
        for (rows, depth) in [("rows", "check"), ("hashes", "hash")] {
            let args = ["--depth", depth, "--format", "ndjson"];
            write(
                &[&["scan", "tests/data", &path("cut.pte"), "-o", &path(rows)], &args[..]].concat(),
            );
        }
        let rows = ["rows", "hashes"].map(|rows| fs::read_dir(path(rows)).unwrap());
        for entry in rows.into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.extension() == Some("ndjson".as_ref()) {
                let rows = fs::read_to_string(path).unwrap();
                all.extend(rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()));
            }
        }
    }
    all
}
