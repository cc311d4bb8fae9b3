//! Two files for each rule, in `tests/rules`: `ID.bad.json` breaks that rule and no other, and
//! `ID.good.json`, as near to it as can be, breaks none.
//!
//! A fixture is what [`build::file`] takes, or the difference to one:
//!
//! ```text
//! {
//!   "base": "call",                    base/call.json; ID.good.json where a bad one says nothing
//!   "set": {"/root/version": 1},       JSON pointers; one past the end of a list, or "-", appends
//!   "remove": ["/root/segments"],
//!   "with": [{…}],                     the .ptd files that a program is judged with
//!   "runtime": [0, 7],                 the release that the file is judged for
//!   "also": ["plans-empty"]            what both break, where nothing breaks the rule alone
//! }
//! ```
//!
//! What breaks a rule of the layout cannot be written as JSON: see `tests/hostile/finding.rs`.

use core::fmt::Write;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pte::check::{Checker, Policy};
use pte::check::{RULES, Report, Rule};
use pte::{Handle, Limits, OpenError, Ptd};
use serde_json::{Map, Value};

use crate::support::build;
use crate::support::snapshot::assert_snapshot;

#[test]
fn every_rule_is_broken_by_a_file_of_its_own_and_by_no_near_one() {
    let (mut wrong, mut goldens) = (String::new(), Vec::new());
    for rules in RULES.iter().filter(|rules| rules[0].subject != "layout") {
        let mut golden = String::new();
        for rule in *rules {
            match broken(rule) {
                Ok(text) => golden.push_str(&text),
                Err(why) => writeln!(wrong, "{}: {why}", rule.id).unwrap(),
            }
        }
        goldens.push((rules[0].subject, golden));
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    for (subject, golden) in goldens {
        assert_snapshot(&format!("rules-{subject}"), &golden);
    }
}

#[test]
fn every_fixture_is_of_a_rule() {
    let known: BTreeSet<_> = RULES.iter().flat_map(|rules| rules.iter()).map(|r| r.id).collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some((id, rest)) = name.split_once('.').filter(|(_, rest)| rest.ends_with("json")) {
            assert!(known.contains(id) && ["good.json", "bad.json"].contains(&rest), "{name}");
        }
    }
}

/// Returns the findings in the bad file of a rule, after checking both files.
fn broken(rule: &Rule) -> Result<String, String> {
    let good = Fixture::read(&format!("{}.good", rule.id))?;
    let bad = Fixture::read(&format!("{}.bad", rule.id))?;
    let found = good.judge();
    if !found.is_empty() {
        return Err(format!("the good file breaks {found:?}"));
    }
    let found = bad.judge();
    if found.is_empty() || found.iter().any(|(id, _)| id != rule.id) {
        return Err(format!("the bad file breaks {found:?}"));
    }
    let messages: String = found.iter().map(|(_, place)| format!("  {place}\n")).collect();
    Ok(format!("{} ({})\n{messages}", rule.id, rule.severity))
}

/// A file and its companions, as descriptions.
pub(super) struct Fixture(pub(super) Value);

/// The same, made.
pub(super) struct Parts {
    pub(super) bytes: Vec<u8>,
    with: Option<Value>,
    runtime: Option<Value>,
    also: Value,
}

impl Fixture {
    pub(super) fn read(name: &str) -> Result<Self, String> {
        let path = folder().join(format!("{name}.json"));
        let text = fs::read_to_string(&path).map_err(|_| format!("{name}.json is missing"))?;
        let mut json: Value = serde_json::from_str(&text).map_err(|e| format!("{name}: {e}"))?;
        let own = json.as_object_mut().ok_or("a fixture is an object")?;
        let base = match own.remove("base") {
            Some(base) => format!("base/{}", base.as_str().ok_or("a base is a name")?),
            None if own.contains_key("root") => return Ok(Self(json)),
            None => name.replace(".bad", ".good"),
        };
        let Self(mut whole) = Self::read(&base)?;
        let changes = own.remove("set").unwrap_or_default();
        for pointer in own.remove("remove").iter().flat_map(|list| list.as_array().unwrap()) {
            remove(&mut whole, pointer.as_str().unwrap());
        }
        for (pointer, value) in changes.as_object().unwrap_or(&Map::new()) {
            set(&mut whole, pointer, value.clone());
        }
        for (key, value) in std::mem::take(own) {
            whole[key.as_str()] = value;
        }
        Ok(Self(whole))
    }

    pub(super) fn parts(&self) -> Parts {
        let mut json = self.0.clone();
        let with = json.as_object_mut().unwrap().remove("with");
        let runtime = json.as_object_mut().unwrap().remove("runtime");
        let also = json.as_object_mut().unwrap().remove("also").unwrap_or_default();
        Parts { bytes: build::file(&json.to_string()), with, runtime, also }
    }

    /// Every finding: the rule, and its place and message.
    pub(super) fn judge(&self) -> Vec<(String, String)> {
        let Parts { bytes, with, runtime, also } = self.parts();
        let handle = match Handle::open(&bytes[..], &Limits::UNTRUSTED) {
            Ok(handle) => handle,
            Err(OpenError::Refused(error)) => {
                return vec![(error.code().into(), error.to_string())];
            }
            Err(error) => panic!("{error}"),
        };
        let mut checker = Checker::new().scan(true);
        if let Some(runtime) = runtime {
            let number = |nth: usize| u32::try_from(runtime[nth].as_u64().unwrap()).unwrap();
            checker = checker.policy(Policy::new().runtime((number(0), number(1))));
        }
        let built: Option<Vec<_>> = with.map(|with| {
            with.as_array().unwrap().iter().map(|ptd| build::file(&ptd.to_string())).collect()
        });
        let data: Option<Vec<_>> = built
            .as_ref()
            .map(|built| built.iter().map(|bytes| Ptd::read(bytes).unwrap()).collect());
        if let Some(data) = &data {
            checker = checker.data(data);
        }
        let mut found = list(&checker.check(&handle).unwrap());
        for id in also.as_array().into_iter().flatten() {
            let known = found.len();
            found.retain(|(rule, _)| rule != id);
            assert!(found.len() < known, "{id} is not broken");
        }
        found
    }
}

fn list(report: &Report) -> Vec<(String, String)> {
    let found = report.findings().iter();
    found
        .map(|finding| {
            let inside = finding.data.map_or(String::new(), |nth| format!("with[{nth}] "));
            let path = finding.place().path().to_string();
            (finding.rule.id.into(), format!("{inside}{path}: {}", finding.message))
        })
        .collect()
}

#[track_caller]
fn set(json: &mut Value, pointer: &str, value: Value) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match json.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} leads nowhere")) {
        Value::Array(list) => match last.parse().unwrap_or(list.len()) {
            nth if nth < list.len() => list[nth] = value,
            _ => list.push(value),
        },
        object => object[last] = value,
    }
}

#[track_caller]
fn remove(json: &mut Value, pointer: &str) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match json.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} leads nowhere")) {
        Value::Array(list) => drop(list.remove(last.parse().unwrap())),
        object => {
            let removed = object.as_object_mut().unwrap().remove(last);
            assert!(removed.is_some(), "{pointer} leads nowhere");
        }
    }
}

pub(super) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rules"))
}
