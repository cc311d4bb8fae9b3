//! Limits of all verbs: flags, and too little memory.

use std::fs;
use std::process::{Command, Output};

use super::{LINEAR, good, pte, text};
use crate::support::{asm, coreml, files, shared, thinned};

/// Runs the command in an address space of `kilobytes`.
#[cfg(target_os = "linux")]
fn run_in_memory(kilobytes: u32, args: &[&str]) -> Output {
    let script = format!("ulimit -c 0; ulimit -v {kilobytes} && exec \"$@\"");
    Command::new("sh")
        .current_dir(files::path(""))
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_pte")])
        .args(args)
        .output()
        .unwrap()
}

/// The needed memory is checked first: a later failed allocation would end the process.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error_with_the_needed_amount() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.pte");
    let mut bytes = asm::pte_without_header().finish();
    bytes.resize(20_000_000, 0);
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    for args in [&["map", path][..], &["size", path], &["diff", path, path], &["memory", path]] {
        let done = run_in_memory(500_000, args);
        assert_eq!(done.status.code(), Some(3), "{args:?}: {}", text(&done.stderr));
        let stderr = text(&done.stderr);
        assert!(stderr.contains("not enough memory: this may take up to"), "{stderr}");
        assert!(done.stdout.is_empty(), "{args:?}");
    }
    // Enough for verbs that need less, and for all verbs on a small file.
    for args in [&["dump", path][..], &["map", LINEAR], &["check", LINEAR]] {
        let done = run_in_memory(500_000, args);
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", text(&done.stderr));
    }
    let done = run_in_memory(4_000_000, &["map", path]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
}

/// Two bytes of a model may be an operation, an output, or an argument: none has more than a share of the memory.
#[cfg(target_os = "linux")]
#[test]
fn a_model_of_core_ml_needs_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("coreml.blob");
    let path = path.to_str().unwrap();
    let pieces = coreml::field(3, b"").repeat(300_000);
    let argument = coreml::field(2, &coreml::field(1, b"").repeat(300_000));
    let blocks = [
        ("an honest one", coreml::field(3, &coreml::field(1, &[b'x'; 600_000]))),
        ("operations", pieces.clone()),
        ("outputs", coreml::field(3, &pieces)),
        ("arguments", coreml::field(3, &coreml::field(2, &argument))),
    ];
    let mut least = 40_000;
    for (name, block) in blocks {
        fs::write(path, coreml::program(&block)).unwrap();
        let is_enough = |kilobytes: u32| {
            ["check", "info"].iter().all(|verb| {
                let done = run_in_memory(kilobytes, &[verb, path]);
                matches!(done.status.code(), Some(0 | 1))
            })
        };
        match name {
            "an honest one" => {
                let steps = (least..600_000).step_by(8_000 * thinned(2));
                least = steps.clone().find(|&kilobytes| is_enough(kilobytes)).unwrap();
            }
            _ => assert!(is_enough(least + 16_000), "{name} in {least} kB and 16 MB"),
        }
    }
}

/// Rows are made one at a time: all levels of a map need no more memory than one.
#[cfg(target_os = "linux")]
#[test]
fn all_levels_of_a_map_need_the_memory_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("methods.pte");
    // Many methods, each a table of 4 bytes, that share the vtable at 8.
    let count = 100_000u32;
    let mut bytes = b"\x14\0\0\0ET12\x04\0\x04\0\x08\0\x08\0\0\0\x04\0".to_vec();
    let vector = [8, 4, count].into_iter();
    let offsets = (0..count).map(|_| 4 * count);
    let tables = (0..count).map(|nth| 32 + 4 * count + 4 * nth - 8);
    bytes.extend(vector.chain(offsets).chain(tables).flat_map(u32::to_le_bytes));
    // A list may have a table for each 16 bytes.
    bytes.resize(bytes.len().next_multiple_of(16) + 8 * 100_000, 0);
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let is_enough = |kilobytes: u32, more: &[&str]| {
        let done = run_in_memory(kilobytes, &[&["map", path, "--depth"], more].concat());
        done.status.success()
    };
    // Found by halves, since each run takes long.
    let (mut few, mut least) = (40_000u32, 600_000);
    while least - few > 8_000 {
        let middle = few.midpoint(least);
        if is_enough(middle, &["1"]) { least = middle } else { few = middle }
    }
    assert!(least < 600_000, "the memory of one level");
    for more in [&["9"][..], &["3"], &["9", "--json"]] {
        assert!(is_enough(least, more), "{more:?} in {least} kB");
    }
}

#[test]
fn limits_can_be_set_by_flags() {
    let small = pte(&["info", "--max-program", "1000", LINEAR]);
    assert_eq!(small.status.code(), Some(1));
    assert!(text(&small.stderr).contains("error[program-limit]"));
    let shared = pte(&["info", "--max-amplification", "0", LINEAR]);
    assert!(text(&shared.stderr).contains("error[work-limit]"));
    good(&["info", "--limits", "trusted", LINEAR]);
}

/// Files that list a table repeatedly, in 1 GB and in too little memory; one of the families if the command is
/// not optimized.
#[cfg(target_os = "linux")]
#[test]
fn dump_and_edit_do_not_abort_when_memory_is_short() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.pte", "out"].map(|name| folder.path().join(name));
    let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
    for (name, path, slot) in shared::FAMILIES.into_iter().step_by(thinned(16)) {
        fs::write(file, shared::program(path, slot, 8 << 20)).unwrap();
        for verb in ["dump --container --compact", "edit --strip names"] {
            for kilobytes in [1_000_000, 100_000] {
                let args = format!("{verb} {file} -o {out}");
                let args: Vec<_> = args.split(' ').collect();
                let done = run_in_memory(kilobytes, &args);
                let (status, stderr) = (done.status.code(), text(&done.stderr));
                assert!(matches!(status, Some(0..=3)), "{name}: {verb}: {status:?}: {stderr}");
                if kilobytes == 1_000_000 && verb.starts_with("dump") {
                    assert_eq!(status, Some(0), "{name}: {stderr}");
                }
            }
        }
    }
}

/// The memory for JSON is limited by its length.
#[cfg(target_os = "linux")]
#[test]
fn build_refuses_json_over_its_memory_budget() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["in.json", "out"].map(|name| folder.path().join(name));
    let values = vec!["{}"; 2_000_000].join(",");
    fs::write(&file, format!(r#"{{"execution_plan":[{{"values":[{values}]}}]}}"#)).unwrap();
    let args = ["build", file.to_str().unwrap(), "-o", out.to_str().unwrap()];
    for kilobytes in [1_000_000, 100_000] {
        let done = run_in_memory(kilobytes, &args);
        let (status, stderr) = (done.status.code(), text(&done.stderr));
        let (expected, why) = match kilobytes {
            // Too little memory for JSON of this length is detected before it is read.
            100_000 => (3, "not enough memory"),
            _ => (1, "bytes of memory"),
        };
        assert_eq!(status, Some(expected), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}
