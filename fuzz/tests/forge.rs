//! Forged samples: reproducible, distinct, and what their class says.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test may")]

use std::collections::{BTreeMap, BTreeSet};

use pte::ErrorKind;
use pte::check::Severity;
use pte_fuzz::forge::{
    Class, ELSEWHERE, errors, make, manifest, rules_of_files, rules_of_pairs, tar::Archive,
};

/// Samples of each class without rules.
const SAMPLES: u64 = 64;

fn samples(class: Class) -> u64 {
    match class {
        Class::Broken => 4 * rules_of_files().len() as u64,
        Class::Pairs => 40 * rules_of_pairs().len() as u64,
        _ => SAMPLES,
    }
}

#[test]
fn samples_depend_on_class_seed_and_number_alone() {
    for class in Class::ALL {
        // Backwards, and only some of them.
        for number in (0..20).rev().step_by(3) {
            let sample = make(class, 5, number).unwrap();
            assert!(Ok(&sample) == make(class, 5, number).as_ref(), "{class:?} {number}");
            assert!(Ok(&sample) != make(class, 6, number).as_ref(), "{class:?} {number}");
        }
    }
}

#[test]
fn samples_are_what_their_class_says() {
    for class in Class::ALL {
        let mut seen = BTreeSet::new();
        for number in 0..samples(class) {
            let sample = make(class, 1, number).unwrap_or_else(|error| panic!("{error}"));
            let found = errors(&sample.file, &sample.data, sample.release);
            assert_eq!(found, sample.errors, "{class:?} {number}");
            match class {
                Class::Broken => assert_eq!(found, [sample.rule.unwrap()], "{number}"),
                Class::Pairs => assert_eq!(found, Vec::from_iter(sample.rule), "{number}"),
                Class::Damaged => {}
                Class::Refused => assert!(!found.is_empty(), "{number}"),
                _ => assert!(found.is_empty(), "{class:?} {number}: {found:?}"),
            }
            assert_eq!(sample.data.is_empty(), class != Class::Pairs, "{class:?} {number}");
            seen.insert((sample.file, sample.data));
        }
        // A small program has few other wirings, so that some of them are made twice.
        let distinct = if class == Class::Rewired { samples(class) / 2 } else { samples(class) };
        assert!(seen.len() as u64 >= distinct, "{class:?}: {} are distinct", seen.len());
    }
}

#[test]
fn every_rule_of_severity_error_is_broken_or_has_a_reason() {
    let rules = pte::check::rules().filter(|rule| rule.severity == Severity::Error);
    let mut known: BTreeSet<&str> = rules.map(|rule| rule.id).collect();
    known.extend(ErrorKind::CODES.iter().map(|code| code.id));
    known.insert(pte::check::UNREADABLE);
    let elsewhere = ELSEWHERE.iter().map(|(id, _)| *id);
    let listed: Vec<&str> =
        rules_of_files().iter().chain(rules_of_pairs()).copied().chain(elsewhere).collect();
    assert_eq!(BTreeSet::from_iter(listed.iter().copied()), known);
    assert_eq!(listed.len(), known.len(), "a rule is in two lists");
    assert!(rules_of_pairs().contains(&"external-unresolved"));
}

#[test]
fn data_files_are_of_every_generation() {
    let mut generations = BTreeMap::new();
    for number in 0..SAMPLES {
        let sample = make(Class::Data, 1, number).unwrap();
        let generation = pte::Ptd::read(&sample.file).unwrap().generation();
        *generations.entry(format!("{generation:?}")).or_insert(0) += 1;
    }
    assert_eq!(generations.len(), 4, "{generations:?}");
}

#[test]
fn damaged_files_are_refused_or_not() {
    let refused = |number: &u64| {
        let sample = make(Class::Damaged, 1, *number).unwrap();
        pte::File::read_with(&sample.file, &pte::Limits::UNTRUSTED).is_err()
    };
    let count = (0..SAMPLES).filter(refused).count();
    assert!((8..56).contains(&count), "{count} of {SAMPLES} are refused");
}

#[test]
fn a_line_of_the_manifest_has_every_fact() {
    let sample = make(Class::Pairs, 3, 1).unwrap();
    let line = manifest::line(Class::Pairs, 3, 1, &sample);
    let json: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(json["class"], "pairs");
    assert_eq!((&json["seed"], &json["number"]), (&3.into(), &1.into()));
    assert_eq!(json["rule"], sample.rule.unwrap());
    assert_eq!(json["errors"][0], sample.rule.unwrap());
    assert_eq!(json["files"][0]["file"], "pairs-000001.pte");
    assert_eq!(json["files"][1]["file"], "pairs-000001.0.ptd");
    assert_eq!(json["files"][0]["size"], sample.file.len());
    assert_eq!(json["files"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(json["runtime"].is_null());
}

#[test]
fn an_archive_has_what_was_added() {
    let mut archive = Archive::new(Vec::new());
    archive.add("a.pte", &[7; 513]).unwrap();
    assert!(archive.add(&"x".repeat(101), &[]).is_err());
    let bytes = archive.finish().unwrap();
    assert_eq!(bytes.len(), 512 + 1024 + 1024);
    assert_eq!(&bytes[..6], b"a.pte\0");
    assert_eq!(&bytes[124..136], b"00000001001\0");
    let sum: u32 = bytes[..512].iter().map(|&byte| u32::from(byte)).sum();
    let own: u32 = bytes[148..156].iter().map(|&byte| u32::from(byte)).sum();
    let written = str::from_utf8(&bytes[148..154]).unwrap();
    assert_eq!(u32::from_str_radix(written, 8), Ok(sum - own + 8 * u32::from(b' ')));
}
