//! Rules on XNNPACK payloads, on small graphs with one change.

use pte::check::Checker;
use pte::{Handle, Limits, Ptd};
use serde_json::Value;

use crate::support::build;
use crate::support::xnnpack::changed;

mod calls;
mod constants;
mod layers;
mod operators;
mod order;
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

/// A row of a table: changes, the rule that they break ("" for none), and a part of the message.
type Row = (&'static str, &'static str, &'static str);

/// Judges a sound program with the changes of each row, and reports all rows that fail.
#[track_caller]
fn hold(program: &Value, rows: &[Row]) {
    passes(program, "without a change");
    let mut wrong = String::new();
    for &(changes, rule, part) in rows {
        let found = judge(&changed(program, changes));
        let fits = match (rule, found.first()) {
            ("", first) => first.is_none(),
            (_, None) => false,
            (_, Some((_, message))) => {
                message.contains(part) && found.iter().all(|(id, _)| *id == rule)
            }
        };
        if !fits {
            wrong += &format!("\n{changes}: {rule:?} {part:?} expected\n    {found:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
