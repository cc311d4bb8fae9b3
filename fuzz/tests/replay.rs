//! What is in the tree, whole and damaged, through every oracle, on a stable toolchain.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use pte_fuzz::mutate::{Xorshift, mutate};
use pte_fuzz::{ORACLES, replay};

/// Damaged copies of each seed.
const MUTATIONS: u64 = 200;

#[test]
fn seeds_are_accepted() {
    let seeds = seeds();
    for (path, bytes) in &seeds {
        let extension = path.extension();
        if extension.is_some_and(|extension| extension == "safetensors") {
            let opened = pte::convert::Safetensors::open(&&bytes[..]).map(drop);
            assert!(opened.is_ok(), "{}: {opened:?}", path.display());
            continue;
        }
        let refused = match path.extension().and_then(|extension| extension.to_str()) {
            Some("pte") => pte::Pte::read(bytes).err(),
            Some("ptd") => pte::Ptd::read(bytes).err(),
            _ => panic!("{} is of no kind that is read", path.display()),
        };
        assert_eq!(refused, None, "{}", path.display());
    }
    let distinct: BTreeSet<&Vec<u8>> = seeds.iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(distinct.len(), seeds.len(), "two seeds are the same");
}

#[test]
fn files_hold() {
    let mut files = seeds();
    files.extend(below("../tests/data"));
    files.extend(below("regressions"));
    for &(name, oracle) in ORACLES {
        let broken: Vec<_> = files
            .iter()
            .filter(|(_, bytes)| !replay::holds(oracle, bytes))
            .map(|(path, _)| path.display().to_string())
            .collect();
        assert!(broken.is_empty(), "{name} fails for {broken:#?}");
    }
}

#[test]
fn damaged_seeds_hold() {
    let (mut accepted, mut refused) = (0u64, BTreeSet::new());
    for (path, seed) in seeds() {
        for nth in 0..MUTATIONS {
            let bytes = mutate(&seed, &mut Xorshift::new(nth));
            match pte::Pte::read(&bytes).err().zip(pte::Ptd::read(&bytes).err()) {
                None => accepted += 1,
                Some((error, _)) => drop(refused.insert(error.code())),
            }
            for &(name, oracle) in ORACLES {
                if !replay::holds(oracle, &bytes) {
                    let kept = keep(name, &bytes);
                    let seed = path.display();
                    panic!("{name} fails for mutation {nth} of {seed}, kept in {}", kept.display());
                }
            }
        }
    }
    // Damage that everything survives, or nothing does, would test little.
    assert!(accepted > 500, "only {accepted} damaged files were accepted");
    assert!(refused.len() > 20, "only {refused:?}");
}

#[test]
fn every_target_has_an_oracle_and_a_folder() {
    let oracles: BTreeSet<String> = ORACLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let declared: BTreeSet<String> = manifest
        .split("[[bin]]\nname = \"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    assert_eq!(declared, oracles, "Cargo.toml");
    assert_eq!(names_in("fuzz_targets", ".rs"), oracles, "fuzz_targets");
    assert_eq!(names_in("regressions", ""), oracles, "regressions");
}

/// Every seed; a checkout without them fails, since a replay of nothing would succeed.
fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let seeds = below("seeds");
    assert!(!seeds.is_empty(), "there are no seeds");
    seeds
}

fn below(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let path = root().join(folder);
    replay::files(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn names_in(folder: &str, suffix: &str) -> BTreeSet<String> {
    fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.strip_suffix(suffix).unwrap().to_owned())
        .collect()
}

/// Writes a failing input where it can be taken from.
fn keep(target: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}-failure"));
    fs::write(&path, bytes).unwrap();
    path
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
