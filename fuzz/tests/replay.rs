//! Runs every oracle on the files of the repository, whole and damaged, on a stable toolchain.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use arbitrary::Unstructured;
use pte::Limits;
use pte::model::json;
use pte::payload::{Tables, TablesPlace};
use pte::schema::program::model::KernelTypes;
use pte::schema::{flat_tensor, flat_tensor_legacy as legacy, program};
use pte_fuzz::mutate::{Xorshift, mutate};
use pte_fuzz::{ORACLES, replay, smith};

/// Random inputs for each oracle.
const DRAWS: u64 = 200;

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
            Some("pte") => pte::Pte::read(bytes).err().map(|error| error.to_string()),
            Some("ptd") => pte::Ptd::read(bytes).err().map(|error| error.to_string()),
            Some("json") => {
                let text = str::from_utf8(bytes).unwrap();
                json::read(text, None, &mut json::no_files).err().map(|error| error.to_string())
            }
            Some("payload") => {
                let place = TablesPlace::of(&bytes[..64], bytes.len() as u64).unwrap().unwrap();
                let tables = &bytes[usize::try_from(place.range.start).unwrap()..];
                let read = Tables::read(&place, tables, &Limits::UNTRUSTED);
                read.err().map(|error| error.to_string())
            }
            _ => panic!("{} is neither a .pte, nor a .ptd, nor a dump", path.display()),
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
    for (name, oracle) in ORACLES {
        let broken: Vec<_> = files
            .iter()
            .filter(|(_, bytes)| !replay::holds(oracle, bytes))
            .map(|(path, _)| path.display().to_string())
            .collect();
        assert!(broken.is_empty(), "{name} fails for {broken:#?}");
    }
}

/// Only we refuse a vtable that says of itself that it has one word, or none: the official verifier
/// reads the first word, and no field.
#[test]
fn a_vtable_of_two_bytes_at_the_end_is_refused() {
    let bytes = regression("agree/vtable-of-two-bytes-at-the-end.pte");
    let error = pte::Pte::read(&bytes).unwrap_err();
    assert!(
        matches!(error.kind(), pte::ErrorKind::Flat(pte::flat::ErrorKind::VtableOutOfBounds { vtable })
            if usize::try_from(vtable).unwrap() + 2 == bytes.len()),
        "{error}"
    );
}

/// FlatBuffers' verifiers do not look at the identifier, which generation 0 has inside.
#[test]
fn generation_0_has_its_own_identifier() {
    let bytes = regression("agree/generation-0-without-an-identifier.ptd");
    assert_eq!(pte::Ptd::read(&bytes).unwrap_err().code(), "unknown-identifier");
}

/// The official Rust verifier does not look at the offset to a member that it does not know; that of
/// C++ does, and so do we.
#[test]
fn the_offset_to_an_unknown_member_is_aligned() {
    let bytes = regression("agree/unknown-member-misaligned.pte");
    let error = pte::Pte::read(&bytes).unwrap_err();
    assert_eq!(
        error.kind(),
        pte::ErrorKind::Flat(pte::flat::ErrorKind::FieldMisaligned { size: 4 })
    );
    assert!(error.place().to_string().ends_with(".val"), "{}", error.place());
}

/// A double that is no number has 52 bits that JSON does not tell.
#[test]
fn a_number_that_is_none_comes_back_as_one() {
    let bytes = regression("roundtrip/number-that-is-none.pte");
    let model = pte::Pte::read(&bytes).unwrap().to_model().unwrap();
    let plans = model.root.execution_plan.iter().flatten();
    let mut values = plans.flat_map(|plan| plan.values.iter().flatten());
    assert!(values.any(|value| matches!(&value.val, Some(KernelTypes::DoubleList(list))
            if list.items.iter().flatten().any(|number| number.is_nan()))
        || matches!(&value.val, Some(KernelTypes::Double(d)) if d.double_val.is_nan())));
}

#[test]
fn damaged_seeds_hold() {
    let seeds = &seeds();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = |first: usize| damage(seeds.iter().skip(first).step_by(threads));
    let parts = std::thread::scope(|scope| {
        let parts = (0..threads).map(|first| scope.spawn(move || part(first)));
        let parts = parts.collect::<Vec<_>>().into_iter();
        parts.map(|part| part.join().unwrap()).collect::<Vec<_>>()
    });
    let accepted: u64 = parts.iter().map(|part| part.0).sum();
    let refused: BTreeSet<_> = parts.into_iter().flat_map(|part| part.1).collect();
    // Damage that everything survives, or nothing does, would test little.
    assert!(accepted > 500, "only {accepted} damaged files were accepted");
    assert!(refused.len() > 20, "only {refused:?}");
}

/// Runs every oracle on damaged copies of seeds. Returns how many copies are accepted, and the codes of the others.
fn damage<'s>(
    seeds: impl Iterator<Item = &'s (PathBuf, Vec<u8>)>,
) -> (u64, BTreeSet<&'static str>) {
    let (mut accepted, mut refused) = (0, BTreeSet::new());
    for (path, seed) in seeds {
        for nth in 0..MUTATIONS {
            let bytes = mutate(seed, &mut Xorshift::new(nth));
            match pte::Pte::read(&bytes).err().zip(pte::Ptd::read(&bytes).err()) {
                None => accepted += 1,
                Some((error, _)) => drop(refused.insert(error.code())),
            }
            for (name, oracle) in ORACLES {
                if !replay::holds(oracle, &bytes) {
                    let kept = keep(name, &bytes);
                    let seed = path.display();
                    panic!("{name} fails for mutation {nth} of {seed}, kept in {}", kept.display());
                }
            }
        }
    }
    (accepted, refused)
}

/// Structured targets hold for what they draw from random bytes.
#[test]
fn draws_hold() {
    let mut programs = 0u64;
    for nth in 0..DRAWS {
        let mut random = Xorshift::new(nth);
        let len = 64 << random.below(6);
        let bytes: Vec<u8> = (0..len).map(|_| random.next_u64().to_le_bytes()[3]).collect();
        programs += u64::from(smith::program(&mut Unstructured::new(&bytes)).is_ok());
        for (name, oracle) in ORACLES {
            if !replay::holds(oracle, &bytes) {
                panic!("{name} fails for draw {nth}, kept in {}", keep(name, &bytes).display());
            }
        }
    }
    assert!(programs > DRAWS / 2, "only {programs} draws made a program");
}

#[test]
fn the_dictionary_of_dumps_has_every_field() {
    let words = fs::read_to_string(root().join("dict/json.dict")).unwrap();
    for schema in [&program::desc::SCHEMA, &flat_tensor::desc::SCHEMA, &legacy::desc::SCHEMA] {
        for field in schema.tables.iter().flat_map(|table| table.fields) {
            let word = format!("\"\\\"{}\\\"\"", field.name);
            assert!(words.contains(&word), "{word} is missing");
        }
    }
}

#[test]
fn every_oracle_has_a_folder_of_regressions() {
    let oracles: BTreeSet<String> = ORACLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names_in("regressions", ""), oracles);
}

/// Every seed; a checkout without them fails, since a replay of nothing would succeed.
fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let seeds = below("seeds");
    assert!(!seeds.is_empty(), "there are no seeds");
    seeds
}

fn regression(name: &str) -> Vec<u8> {
    fs::read(root().join("regressions").join(name)).unwrap()
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
