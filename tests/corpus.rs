//! Genuine files decode exactly; damaged ones are refused or read, and never do harm.
//!
//! The samples of `tests/data` are always there. With `PTE_CORPUS` naming a folder, its files, their
//! reference decodings (`NAME.json`), its `hostile` folder and its recorded mutations are tried too.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pte::check::{Checker, Severity};
use pte::memory::Memory;
use pte::{Check, Pte};
use serde_json::Value;

use crate::support::exercise::exercise;
use crate::support::files::{self, name};
use crate::support::json::{differences, dump};
use crate::support::snapshot::assert_snapshot;
use crate::support::thinned;

#[test]
fn genuine_files_are_read() {
    for path in files::everything() {
        let bytes = fs::read(&path).unwrap();
        exercise(&bytes).unwrap_or_else(|e| panic!("{}: {e}\n  at {}", name(&path), e.place()));
    }
}

/// The decodings of some samples, one of each writer and kind, show a change of the decoder.
#[test]
fn samples_decode_as_they_did() {
    let samples = files::samples();
    for shown in SHOWN {
        let path = samples.iter().find(|path| name(path) == shown);
        let path = path.unwrap_or_else(|| panic!("{shown} is in tests/data"));
        assert_snapshot(&format!("decode-{shown}"), &dump(&fs::read(path).unwrap()));
    }
}

/// The digest of every sample's decoding shows which samples a change of the decoder affects.
#[test]
fn decodings_have_the_digests_they_had() {
    let rows = files::samples().into_iter().map(|path| {
        let text = dump(&fs::read(&path).unwrap());
        let digest = &sha256(&text)[..16];
        format!("{digest}  {:>6} lines  {}", text.lines().count(), name(&path))
    });
    assert_snapshot("decodings", &rows.collect::<Vec<_>>().join("\n"));
}

/// Every prefix of every sample: a download that stopped.
#[test]
fn cut_files_are_refused_or_read() {
    for path in files::samples() {
        let bytes = fs::read(&path).unwrap();
        let step = (bytes.len() / 500).max(1);
        let cuts = (0..bytes.len().min(256)).chain((256..bytes.len()).step_by(step));
        for cut in cuts {
            let _ = exercise(&bytes[..cut]);
        }
    }
}

/// Every byte of a small file, replaced by each of a few values, as a faulty disk would.
#[test]
fn changed_bytes_are_refused_or_read() {
    let small = |path: &std::path::PathBuf| path.metadata().unwrap().len() < 1500;
    let step = thinned(95);
    for (nth, path) in files::samples().into_iter().filter(small).enumerate() {
        let mut bytes = fs::read(&path).unwrap();
        for at in (nth % step..bytes.len()).step_by(step) {
            let before = bytes[at];
            for changed in [0, 1, 0xff, before ^ 0x80, before.wrapping_add(4)] {
                bytes[at] = changed;
                let _ = exercise(&bytes);
            }
            bytes[at] = before;
        }
    }
}

#[test]
fn decodings_equal_those_of_flatc() {
    let Some(corpus) = files::corpus() else { return };
    let mut compared = 0;
    for path in files::models(&corpus) {
        let golden = path.with_file_name(format!("{}.json", name(&path)));
        let Ok(golden) = fs::read_to_string(golden) else { continue };
        let want: Value = serde_json::from_str(&golden).unwrap();
        let got: Value = serde_json::from_str(&dump(&fs::read(&path).unwrap())).unwrap();
        let mut found = Vec::new();
        differences(&want, &got, "", &mut found);
        assert!(found.is_empty(), "{}: {}", name(&path), found.join("\n"));
        compared += 1;
    }
    println!("{compared} decodings compared");
    assert!(compared > 0, "PTE_CORPUS holds reference decodings");
}

#[test]
fn hostile_files_do_no_harm() {
    let Some(corpus) = files::corpus() else { return };
    let (mut read, mut refused) = (0, 0);
    for entry in fs::read_dir(corpus.join("hostile")).unwrap() {
        match exercise(&fs::read(entry.unwrap().path()).unwrap()) {
            Ok(()) => read += 1,
            Err(_) => refused += 1,
        }
    }
    println!("{read} hostile files read, {refused} refused");
    assert!(read > 0 && refused > 0);
}

#[test]
fn recorded_mutations_do_no_harm() {
    let Some(corpus) = files::corpus() else { return };
    let lines = fs::read_to_string(corpus.join("hostile/mutations.jsonl")).unwrap();
    let mut refused = 0;
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        refused += usize::from(exercise(&mutation(&corpus, &row)).is_err());
    }
    println!("{} mutations, {refused} refused", lines.lines().count());
    assert!(refused > 0);
}

/// Files that the official runtime did not end on, with the step it hung in.
#[test]
fn recorded_hangs_have_errors() {
    let Some(corpus) = files::corpus() else { return };
    let read = |name: &str| fs::read_to_string(corpus.join("hostile").join(name)).unwrap();
    let mut hangs: Vec<(String, Vec<u8>)> = Vec::new();
    let index: Value = serde_json::from_str(&read("index.json")).unwrap();
    for row in index["files"].as_array().unwrap() {
        let run = &row["runtime"]["minimal"];
        if run["verdict"] == "hang" {
            let file = corpus.join("hostile").join(row["file"].as_str().unwrap());
            hangs.push((run["step"].to_string(), fs::read(file).unwrap()));
        }
    }
    for line in read("mutations.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["minimal"] == "hang" {
            hangs.push((row["step_minimal"].to_string(), mutation(&corpus, &row)));
        }
    }
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    for (step, bytes) in hangs {
        let why = match Checker::new().check_bytes(&bytes) {
            Err(_) => "refused",
            Ok(report) if report.worst() == Some(Severity::Error) => "an Error",
            Ok(report) => panic!("{step} hangs: {report}"),
        };
        *classes.entry(format!("{step}: {why}")).or_default() += 1;
    }
    println!("{classes:#?}");
}

/// Arenas end where their last tensor ends, but for its alignment and gaps of a planner. Files with names of `synth`
/// were written by hand, with an arena of 1 TiB.
#[test]
fn genuine_exports_leave_little_of_their_arenas_unused() {
    let (mut arenas, mut most) = (0, (0, String::new()));
    for path in files::everything().into_iter().filter(|path| !name(path).starts_with("synth")) {
        let bytes = fs::read(&path).unwrap();
        let Ok(pte) = Pte::read(&bytes) else { continue };
        let found = pte.check();
        assert!(!found.counts().any(|(rule, _)| rule.id == "arena-unused"), "{}", name(&path));
        for plan in pte.program().execution_plan().into_iter().flatten() {
            for arena in Memory::of(&pte, plan).arenas() {
                arenas += 1;
                most =
                    most.max((arena.planned.unwrap_or(0).saturating_sub(arena.reach), name(&path)));
            }
        }
    }
    println!("{arenas} arenas, of which at most {} bytes are unused ({})", most.0, most.1);
    assert!(arenas > 50 && most.0 < 1 << 20);
}

/// Returns a recorded mutation of a file of the corpus.
fn mutation(corpus: &Path, row: &Value) -> Vec<u8> {
    let mut bytes = fs::read(corpus.join(row["seed"].as_str().unwrap())).unwrap();
    for patch in row["patches"].as_array().unwrap() {
        let (at, hex) = (patch[0].as_u64().unwrap() as usize, patch[1].as_str().unwrap());
        for nth in 0..hex.len() / 2 {
            bytes[at + nth] = u8::from_str_radix(&hex[2 * nth..2 * nth + 2], 16).unwrap();
        }
    }
    bytes
}

fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

const SHOWN: [&str; 10] = [
    "linear.pte",
    "cond.pte",
    "args_custom_op_all_kinds.pte",
    "v0.2.0_inline_const.pte",
    "v0.6.0_mutable_init.pte",
    "xnn_delegate_segment.pte",
    "ptd_basic.ptd",
    "v0.6.0_ptd_direct_16.ptd",
    "vgen1a_ptd_direct_16.ptd",
    "vgen1b_ptd_direct_16.ptd",
];
