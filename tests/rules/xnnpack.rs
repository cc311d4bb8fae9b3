//! Rules on XNNPACK payloads, on small graphs with one change.

use pte::check::Checker;
use pte::{Handle, Limits, Ptd};
use serde_json::Value;

use crate::support::build;
use crate::support::xnnpack::{changed, sound};

mod calls;
mod constants;
mod layers;
mod operators;
mod order;
mod packed;
mod values;

/// Returns the rules that a file breaks, with the messages.
fn found(bytes: &[u8], data: Option<&[Ptd<'_>]>) -> Vec<(&'static str, String)> {
    let handle = Handle::open(bytes, &Limits::UNTRUSTED).unwrap();
    let mut checker = Checker::new();
    if let Some(data) = data {
        checker = checker.data(data);
    }
    let report = checker.check(&handle).unwrap();
    report.findings().iter().map(|found| (found.rule.id, found.message.clone())).collect()
}

fn judge(program: &Value) -> Vec<(&'static str, String)> {
    found(&build::file(&program.to_string()), None)
}

/// Asserts that a program breaks no rule.
#[track_caller]
fn passes(program: &Value, about: &str) {
    let found = judge(program);
    assert!(found.is_empty(), "{about}: {found:?}");
}

/// Asserts that findings are of one rule, and that the first message has a part.
#[track_caller]
fn is_broken(found: &[(&'static str, String)], rule: &str, part: &str, about: &str) {
    let fits = found.first().is_some_and(|(_, message)| message.contains(part))
        && found.iter().all(|(id, _)| *id == rule);
    assert!(fits, "{about}: {rule}, {part:?} expected: {found:?}");
}

/// Sound programs of one operator, with changes.
const ROWS: &str = include_str!("xnnpack/rows.txt");

#[test]
fn a_change_of_a_sound_program_breaks_its_rule_alone() {
    let mut judged = 0;
    for section in ROWS.split("\n[").skip(1) {
        let (operators, rows) = section.split_once("]\n").unwrap();
        for operator in operators.split(' ') {
            judged += hold(&sound(operator), rows);
        }
    }
    assert!(judged > 250, "{judged}");
}

/// Judges a sound program with the changes of each row, and reports all rows that fail. A row is
/// `CHANGES`, which breaks no rule, or `CHANGES => RULE: PART OF THE MESSAGE`. Returns the number of rows.
#[track_caller]
fn hold(program: &Value, rows: &str) -> usize {
    passes(program, "without a change");
    let (mut wrong, mut count) = (String::new(), 0);
    let rows = rows.replace(";\n", "; ");
    let rows = rows.lines().map(str::trim).filter(|row| !row.is_empty() && !row.starts_with('#'));
    for row in rows {
        let (changes, broken) = row.split_once("=> ").unwrap_or((row, ""));
        let found = judge(&changed(program, changes));
        let fits = match (broken.split_once(": "), found.first()) {
            (None, first) => broken.is_empty() && first.is_none(),
            (_, None) => false,
            (Some((rule, part)), Some((_, message))) => {
                message.contains(part) && found.iter().all(|(id, _)| *id == rule)
            }
        };
        if !fits {
            wrong += &format!("\n{row}\n    {found:?}");
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    count
}
