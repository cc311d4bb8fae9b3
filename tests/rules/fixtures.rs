//! Two files for each rule, in `tests/rules`: `ID.bad.json` breaks that rule and no other, and
//! `ID.good.json`, as near to it as can be, breaks none.
//!
//! `tests/support/fixture.rs` reads fixtures.
//!
//! Files that break a rule of the layout cannot be written as JSON: see `tests/hostile/finding.rs`.
//! Nor can files of another format: see `tests/cli/foreign.rs`.

use core::fmt::Write;
use std::collections::BTreeSet;
use std::fs;

use pte::check::{Checker, NEWEST, Policy, RULES, Report, Rule, RuntimeBuild};
use pte::operators::selected::SelectedOperators;
use pte::{Handle, Limits, OpenError, Ptd};
use serde_json::json;

use crate::support::build;
use crate::support::fixture::{Fixture, Parts, folder};
use crate::support::snapshot::assert_snapshot;

#[test]
fn every_rule_is_broken_by_a_file_of_its_own_and_by_no_near_one() {
    let (mut wrong, mut goldens) = (String::new(), Vec::new());
    for rules in
        RULES.iter().filter(|rules| !["layout", "kind", "record"].contains(&rules[0].subject))
    {
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
    let found = judge(&good);
    if !found.is_empty() {
        return Err(format!("the good file breaks {found:?}"));
    }
    let found = judge(&bad);
    if found.is_empty() || found.iter().any(|(id, _)| id != rule.id) {
        return Err(format!("the bad file breaks {found:?}"));
    }
    let messages: String = found.iter().map(|(_, place)| format!("  {place}\n")).collect();
    Ok(format!("{} ({})\n{messages}", rule.id, rule.severity))
}

/// Asserts that one rule is found broken once, with a part of the message.
#[track_caller]
pub(super) fn is_broken(found: &[(String, String)], rule: &str, part: &str) {
    assert!(
        matches!(found, [(id, message)] if id == rule && message.contains(part)),
        "{part}: {found:?}"
    );
}

/// Every finding: the rule, and its place and message.
pub(super) fn judge(fixture: &Fixture) -> Vec<(String, String)> {
    let Parts { bytes, with, runtime, kernels, backends, max_memory, also } = fixture.parts();
    let handle = match Handle::open(&bytes[..], &Limits::UNTRUSTED) {
        Ok(handle) => handle,
        Err(OpenError::Refused(error)) => {
            return vec![(error.code().into(), error.to_string())];
        }
        Err(error) => panic!("{error}"),
    };
    let mut policy = Policy::new();
    if let Some(runtime) = runtime {
        let number = |nth: usize| u32::try_from(runtime[nth].as_u64().unwrap()).unwrap();
        policy = policy.runtime((number(0), number(1)));
    }
    if let Some(most) = max_memory {
        policy = policy.max_memory(most.as_u64().unwrap());
    }
    let mut checker = Checker::new().scan(true).policy(policy);
    let kernels = kernels.map(|name| {
        SelectedOperators::of_library(name.as_str().unwrap(), NEWEST).expect("a kernel library")
    });
    let backends = backends.map(|ids| serde_json::from_value(ids).unwrap());
    let build = RuntimeBuild { kernels, backends };
    checker = checker.build(&build);
    let built: Option<Vec<_>> = with.map(|with| {
        with.as_array().unwrap().iter().map(|ptd| build::file(&ptd.to_string())).collect()
    });
    let data: Option<Vec<_>> =
        built.as_ref().map(|built| built.iter().map(|bytes| Ptd::read(bytes).unwrap()).collect());
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

/// Returns a fixture whose payload is given as hexadecimal digits, after a change of the payload.
pub(super) fn with_payload(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Fixture {
    let Fixture(mut program) = Fixture::read(name).unwrap();
    let hex = program["data"][0]["hex"].as_str().unwrap();
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let mut payload: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    change(&mut payload);
    let hex: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
    program["data"] = json!([{ "hex": hex }]);
    Fixture(program)
}

/// Returns where `part` first is in `bytes`.
pub(super) fn place(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).expect("the part is there")
}
