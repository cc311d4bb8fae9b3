//! Sound files: every accessor works on a file without an Error, and a file with an Error is
//! refused.

use std::fs;
use std::path::Path;

use pte::Sound;
use pte::check::{Checker, Severity, rules};
use pte::sound::{DataSource, Operation, Value};
use pte::{File, Limits, Ptd, Pte};

use crate::support::files::{self, name};
use crate::support::sound::is_sound;
use crate::support::thinned;

/// Samples with an Error: handmade files, and one that was exported half-planned. Upstream does not
/// look for overlapping constants, so that `synth_dtypes.pte` has no Error.
const UNSOUND: [&str; 3] = ["mutable_unplanned.pte", "synth_all_inline.pte", "synth_all_seg.pte"];

#[test]
fn genuine_files_are_sound_and_others_are_not() {
    for path in files::everything() {
        let bytes = files::read(&path).unwrap();
        assert_eq!(is_sound(&bytes), !UNSOUND.contains(&&*name(&path)), "{}", name(&path));
    }
}

/// A sound file among hostile ones answers every accessor.
#[test]
fn hostile_files_are_refused_or_sound() {
    let Some(corpus) = files::corpus() else { return };
    let (mut sound, mut refused) = (0, 0);
    for entry in fs::read_dir(corpus.join("hostile")).unwrap() {
        match is_sound(&files::read(entry.unwrap().path()).unwrap()) {
            true => sound += 1,
            false => refused += 1,
        }
    }
    println!("{sound} hostile files are sound, {refused} refused");
    assert!(sound > 0 && refused > sound);
}

/// A value of every kind, an instruction of every kind, and every place for a tensor's bytes.
#[test]
fn what_there_is_comes_up_in_genuine_files() {
    let mut seen = std::collections::BTreeSet::new();
    for path in files::samples().into_iter().filter(|path| path.extension().unwrap() == "pte") {
        let bytes = files::read(&path).unwrap();
        let Ok(program) = Pte::read(&bytes).unwrap().sound() else { continue };
        for method in program.methods() {
            for value in method.values() {
                seen.insert(match value {
                    Value::Null => "Null",
                    Value::Int(_) => "Int",
                    Value::Bool(_) => "Bool",
                    Value::Double(_) => "Double",
                    Value::String(_) => "String",
                    Value::IntList(_) => "IntList",
                    Value::DoubleList(_) => "DoubleList",
                    Value::BoolList(_) => "BoolList",
                    Value::TensorList(_) => "TensorList",
                    Value::OptionalTensorList(_) => "OptionalTensorList",
                    Value::Tensor(tensor) => match tensor.storage() {
                        DataSource::Unbound => "unbound",
                        DataSource::Constant(_) => "constant",
                        DataSource::Planned { initial: None, .. } => "planned",
                        DataSource::Planned { initial: Some(_), .. } => "planned with data",
                        DataSource::External { .. } => "external",
                        _ => "unknown",
                    },
                });
            }
            for instruction in method.chains().flat_map(|chain| chain.instructions()) {
                seen.insert(match instruction {
                    Operation::Kernel { .. } => "Kernel",
                    Operation::Delegate { .. } => "Delegate",
                    Operation::Move { .. } => "Move",
                    Operation::JumpFalse { .. } => "JumpFalse",
                    Operation::Free { .. } => "Free",
                });
            }
        }
    }
    // No genuine file frees anything.
    assert_eq!(seen.len(), 15 + 4, "{seen:?}");
}

/// Every number of linear.pte is known.
#[test]
fn a_program_says_what_it_does() {
    let bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let program = Pte::read(&bytes).unwrap().sound().unwrap();
    let method = program.method("forward").unwrap();
    assert!(program.method("backward").is_none());
    let Value::Tensor(bias) = method.value(1).unwrap() else { panic!("a tensor") };
    assert_eq!(bias.storage(), DataSource::Constant(0x700..0x710));
    assert_eq!(bias.shape().sizes().collect::<Vec<_>>(), [4]);
    assert_eq!((bias.shape().nbytes(), bias.shape().dtype().torch_name()), (16, "float32"));
    assert_eq!(method.inputs().iter().map(|input| input.index()).collect::<Vec<_>>(), [2]);
    let calls: Vec<_> = method
        .chains()
        .flat_map(|chain| chain.instructions())
        .map(|instruction| match instruction {
            Operation::Kernel { operator, .. } => operator.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(calls, ["aten::permute_copy.out", "aten::addmm.out", "aten::relu.out"]);
}

#[test]
fn a_report_says_why_a_file_is_not_sound() {
    let mut bytes = files::read("tests/data/pte/linear.pte").unwrap();
    let at = {
        let pte = Pte::read(&bytes).unwrap();
        let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
        plan.inputs().unwrap().pos() as usize
    };
    bytes[at] = 99;
    let pte = Pte::read(&bytes).unwrap();
    let none_kept = Limits { findings_per_rule: 0, ..Limits::UNTRUSTED };
    let none_kept = Checker::new().limits(none_kept).check_tables(&File::Pte(pte.clone()));
    assert_eq!(none_kept.to_string(), "1 × error");
    let report = pte.sound().unwrap_err();
    let text = report.to_string();
    assert!(text.starts_with("1 × error, the first: io-index, value 99 is asked for"), "{text}");
    assert!(text.ends_with("program.execution_plan[0].inputs[0]"), "{text}");
    assert_eq!(pte::check::Report::default().to_string(), "nothing was found");
    let error: Box<dyn std::error::Error> = report.into();
    assert!(error.source().is_none());
}

/// Notes and warnings do not keep a file from being sound, and are kept.
#[test]
fn a_sound_file_keeps_what_was_found() {
    let bytes = files::read("tests/data/ptd/vgen1b_ptd_direct_16.ptd").unwrap();
    let data = Ptd::read(&bytes).unwrap().sound().unwrap();
    let found: Vec<_> = data.report().findings().iter().map(|finding| finding.rule.id).collect();
    assert!(found.contains(&"old-generation"), "{found:?}");
}

/// Every byte of small files, replaced by each of a few values. All accessors work on a file that
/// is still sound.
#[test]
fn every_byte_of_small_files() {
    let (mut sound, mut refused) = (0, 0);
    for path in files::samples() {
        let mut bytes = files::read(&path).unwrap();
        if bytes.len() > 1700 {
            continue;
        }
        for at in (0..bytes.len()).step_by(thinned(95)) {
            let byte = bytes[at];
            for other in [0, 1, 2, 4, 0x7f, 0x80, 0xff, byte ^ 1, byte ^ 2, byte.wrapping_add(4)] {
                bytes[at] = other;
                match is_sound(&bytes) {
                    true => sound += 1,
                    false => refused += 1,
                }
            }
            bytes[at] = byte;
        }
    }
    println!("{sound} sound, {refused} refused");
    let enough = 10_000 / thinned(80);
    assert!(sound > enough && refused > enough, "{sound} sound, {refused} refused");
}

/// Every assumption rests on rules that exist and are Errors: a Warning proves nothing.
#[test]
fn what_is_taken_for_granted_is_an_error_where_it_is_not_so() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("src/check/sound");
    let mut named = std::collections::BTreeSet::new();
    let mut calls = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let text = files::read_to_string(entry.unwrap().path()).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        calls += text.matches("proven(").count();
        // A string of words with hyphens, and commas between them.
        for string in text.split('"').skip(1).step_by(2).filter(|text| text.contains('-')) {
            named.extend(string.split(", ").map(String::from));
        }
    }
    for id in &named {
        let rule = rules().find(|rule| rule.id == id);
        assert_eq!(rule.map(|rule| rule.severity), Some(Severity::Error), "{id}");
    }
    assert!(named.len() > 40 && calls > 40, "{} rules in {calls} places", named.len());
}
