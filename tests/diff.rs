//! Comparisons of two files: one change is one difference, and another encoding is none.

use pte::diff::{Class, Comparison, Difference, Given, Verdict, compare, compare_methods};
use pte::model::{self, AnyPtd};
use pte::{Handle, Limits, Ptd, Pte};
use serde_json::json;

use crate::support::build;

mod fields;
mod form;
mod hostile;
mod moved;
mod one;
mod payload;
mod renumber;
mod same;
mod unused;

/// Compares two files without data files beside them.
#[track_caller]
fn diff(before: &[u8], after: &[u8]) -> Comparison {
    let limits = Limits::UNTRUSTED;
    let (before, after) = (opened(before), opened(after));
    compare(&Given::new(&before), &Given::new(&after), &limits).unwrap()
}

#[track_caller]
fn opened(bytes: &[u8]) -> Handle<&[u8]> {
    Handle::open(bytes, &Limits::UNTRUSTED).unwrap()
}

fn sample(name: &str) -> Vec<u8> {
    let folder = name.rsplit('.').next().unwrap();
    crate::support::files::read(format!("tests/data/{folder}/{name}")).unwrap()
}

/// A program with one thing changed.
#[track_caller]
fn changed(bytes: &[u8], change: impl FnOnce(&mut model::PteModel<'_>)) -> Vec<u8> {
    let mut model = Pte::read(bytes).unwrap().to_model().unwrap();
    change(&mut model);
    model.container.segment_base_offset = None;
    model.lay_out();
    model.image().unwrap().to_bytes().unwrap()
}

/// A current `.ptd` with one thing changed.
#[track_caller]
fn changed_data(bytes: &[u8], change: impl FnOnce(&mut model::PtdModel<'_>)) -> Vec<u8> {
    let AnyPtd::Current(mut model) = Ptd::read(bytes).unwrap().to_model().unwrap() else {
        panic!("an old generation")
    };
    change(&mut model);
    model.image().unwrap().to_bytes().unwrap()
}

/// Returns a difference as one line.
fn line(difference: &Difference) -> String {
    let Difference { class, method, place, what, before, after } = difference;
    let method = method.as_ref().map_or(String::new(), |method| format!("{method}: "));
    let side = |side: &Option<pte::diff::Shown>| match side {
        None => "–".to_string(),
        Some(side) => match side.sha256 {
            Some(sha) => format!("{} #{:02x}{:02x}", side.text, sha[0], sha[1]),
            None => side.text.clone(),
        },
    };
    format!("{}: {method}{place}: {what}: {} → {}", class.id(), side(before), side(after))
}

/// Returns a report as lines.
fn lines(report: &Comparison) -> Vec<String> {
    assert_eq!(report.verdict == Verdict::Different, !report.differences.is_empty());
    let kept: u64 = Class::ALL.iter().map(|&class| report.count(class).min(Comparison::MOST)).sum();
    assert_eq!(kept, report.differences.len() as u64, "all are counted");
    report.differences.iter().map(line).collect()
}

/// The first 1,000 differences of a class are kept, and all are counted.
#[test]
fn differences_of_a_class_are_kept_up_to_a_number() {
    let data = |count: u64| {
        let named: Vec<_> =
            (0..count).map(|nth| json!({"key": format!("{nth}"), "segment_index": 0})).collect();
        let root = json!({"segments": [{"size": 8}], "named_data": named});
        build::file(&json!({"kind": "ptd", "root": root, "data": [{"zeros": 8}]}).to_string())
    };
    for count in [Comparison::MOST, Comparison::MOST + 1] {
        let report = diff(&data(0), &data(count));
        assert_eq!((lines(&report).len(), report.total()), (1000, count));
    }
}

/// Files stay different while a difference of another class is left.
#[test]
fn classes_are_ignored_one_by_one() {
    let before = sample("v0.5.0_cond.pte");
    let mut report = diff(&before, &sample("cond.pte"));
    let classes: Vec<_> = Class::ALL.into_iter().filter(|&class| report.count(class) > 0).collect();
    assert!(classes.len() > 1);
    for (nth, &class) in classes.iter().enumerate() {
        assert_eq!(report.verdict, Verdict::Different);
        report.ignore(class);
        assert_eq!((report.count(class), lines(&report).len()), (0, report.differences.len()));
        assert_eq!(report.verdict == Verdict::Same, nth + 1 == classes.len());
    }
    // The encoding is that of whole files.
    let (before, after) = (sample("v1.0.0_linear.pte"), sample("linear.pte"));
    let (before, after) = (opened(&before), opened(&after));
    let (before, after) = (Given::new(&before), Given::new(&after));
    let report = compare(&before, &after, &Limits::UNTRUSTED).unwrap();
    assert!(report.verdict == Verdict::Same && !report.written.is_empty());
    let report = compare_methods(&before, &after, "forward", &Limits::UNTRUSTED).unwrap();
    assert_eq!((report.verdict, report.written), (Verdict::Same, Vec::new()));
}
