//! Files that break one rule of severity Error and no other.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pte::ErrorKind;
use pte::check::Severity;

use super::{Class, Sample, data, errors, fixed, image, model, refused, vary};
use crate::defects::DEFECTS;
use crate::mutate::Xorshift;
use crate::smith;

/// The rules of severity Error that no sample breaks, with the reason.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("backend-missing", "is about the backends of a build, not about a file alone"),
    ("field-missing", "is about payloads: tables of programs and data files require no field"),
    ("memory-limit", "is about the limit of a caller, not about a file alone"),
    ("nesting-limit", "is about payloads: only graphs of the native backend are in one another"),
    ("operator-missing", "is about the kernels of a build, not about a file alone"),
    ("program-limit", "takes a FlatBuffer of more than 2 GiB, or a lower limit of the reader"),
    ("record-checksum", "is about an ETRecord, and samples are programs and data files"),
    ("record-graph", "is about an ETRecord, and samples are programs and data files"),
    ("record-json", "is about an ETRecord, and samples are programs and data files"),
    ("record-tensors", "is about an ETRecord, and samples are programs and data files"),
    ("tensor-size", "is an error of an accessor; check reports tensor-size-negative and the like"),
    ("unreadable", "is about a path, not about a file's bytes"),
    ("wrong-kind", "is about the kind that a reader expects, not about a file's bytes"),
];

/// The rules of single files, and those of pairs.
static ALL: LazyLock<(Vec<&'static str>, Vec<&'static str>)> = LazyLock::new(|| {
    let rules = pte::check::rules().filter(|rule| rule.severity == Severity::Error);
    let codes = ErrorKind::CODES.iter().map(|code| code.id);
    let mut all: Vec<_> = rules.map(|rule| rule.id).chain(codes).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|id| ELSEWHERE.iter().all(|(elsewhere, _)| elsewhere != id));
    all.into_iter().partition(|id| FIXTURES.get(id).is_none_or(|fixture| !fixture.is_pair()))
});

/// The bad fixture of each rule that has one.
pub(super) static FIXTURES: LazyLock<BTreeMap<&'static str, fixed::Description>> =
    LazyLock::new(|| {
        let rules = pte::check::rules().filter(|rule| rule.severity == Severity::Error);
        let here =
            rules.filter(|rule| ELSEWHERE.iter().all(|(elsewhere, _)| *elsewhere != rule.id));
        here.filter_map(|rule| Some((rule.id, fixed::Description::read(rule.id)?))).collect()
    });

/// Returns the rules of severity Error that a single file can break, in order.
pub fn rules_of_files() -> &'static [&'static str] {
    &ALL.0
}

/// Returns the rules of severity Error that a program breaks with its data files, in order.
pub fn rules_of_pairs() -> &'static [&'static str] {
    &ALL.1
}

/// Returns the rule that a sample is to break.
pub(super) fn rule_of(class: Class, number: u64) -> Option<&'static str> {
    let nth = |rules: &[&'static str], number: u64| {
        rules.get((number % rules.len() as u64) as usize).copied()
    };
    match class {
        Class::Broken => nth(rules_of_files(), number),
        // Every second pair is sound.
        Class::Pairs if number % 2 == 1 => nth(rules_of_pairs(), number / 2),
        _ => None,
    }
}

/// Attempts at a break that keeps to one rule, before the fixture alone is varied.
const ATTEMPTS: usize = 24;

/// Makes the file `number`: it breaks rule `number` modulo their number.
pub(super) fn file(number: u64, random: &mut Xorshift) -> Option<Sample> {
    let rule = rule_of(Class::Broken, number)?;
    let Some(fixture) = FIXTURES.get(rule) else {
        let file = refused::file(rule, random)?;
        return Some(sample(rule, file, None));
    };
    let release = fixture.release();
    let breaks = |file: &[u8]| errors(file, &[], release) == [rule];
    let defects: Vec<_> = DEFECTS.iter().filter(|(id, _)| *id == rule).collect();
    let is_made = !defects.is_empty() && random.below(2) == 0;
    for _ in 0..ATTEMPTS {
        let file = if is_made {
            let (_, apply) = defects[random.below(defects.len())];
            let mut program = model(smith::program, random)?;
            let is_applied = apply(&mut program.root, random.below(256));
            program.container.trailing = data::bytes(8 + random.below(24), random).into();
            if is_applied { image(&program) } else { None }
        } else {
            let [file, ..] = &fixture.perturbed(random, &|files| breaks(&files[0]))[..] else {
                return None;
            };
            vary::file(file, random)
        };
        if let Some(file) = file.filter(|file| breaks(file)) {
            return Some(sample(rule, file, release));
        }
    }
    let mut files = fixture.perturbed(random, &|files| breaks(&files[0]));
    let file = files.swap_remove(0);
    breaks(&file).then(|| sample(rule, file, release))
}

fn sample(rule: &'static str, file: Vec<u8>, release: Option<(u32, u32)>) -> Sample {
    Sample { file, data: Vec::new(), rule: Some(rule), release, errors: vec![rule] }
}
