//! The fixtures that are sound, and whose accessors all work.

use std::fs;

use pte::check::{RULES, Severity};
use pte::flat::load;
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use serde_json::{Value, json};

use crate::support::fixture::{Fixture, folder};
use crate::support::sound::is_sound;
use crate::support::thinned;

/// A file is sound unless it breaks a rule that is an Error. `tests/support/sound.rs` checks each
/// sound file. Rules that need contents, several files, a release, a build or a limit do not
/// count, since [`is_sound`] judges the tables of one file.
#[test]
fn a_file_is_sound_until_it_breaks_a_rule_that_is_an_error() {
    let (mut sound, mut refused) = (0, 0);
    for rule in RULES
        .iter()
        .flat_map(|rules| rules.iter())
        .filter(|r| !["layout", "kind", "record"].contains(&r.subject))
    {
        let good = Fixture::read(&format!("{}.good", rule.id)).unwrap();
        assert!(is_sound(&good.parts().bytes), "{}.good", rule.id);
        let bad = Fixture::read(&format!("{}.bad", rule.id)).unwrap();
        // A conflict of names is in the program by itself.
        let elsewhere = ["constants", "external", "contents", "release", "linked"]
            .contains(&rule.subject)
            || ["delegate-key-unresolved", "memory-limit"].contains(&rule.id);
        let elsewhere = elsewhere && rule.id != "external-key-conflict";
        let expected = rule.severity < Severity::Error || elsewhere;
        assert_eq!(is_sound(&bad.parts().bytes), expected, "{}.bad", rule.id);
        *if expected { &mut sound } else { &mut refused } += 1;
    }
    assert!(sound > 10 && refused > 10, "{sound} sound, {refused} refused");
}

/// A good file with one change may still be sound. Every accessor then works.
#[test]
fn good_files_with_any_one_change_are_refused_or_sound() {
    let (mut sound, mut refused) = (0, 0);
    let bases = fs::read_dir(folder().join("base")).unwrap();
    let bases = bases.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let bases = bases.map(|name| format!("base/{}", name.trim_end_matches(".json")));
    for name in bases.chain(["old-generation.bad".into()]) {
        let Fixture(mut whole) = Fixture::read(&name).unwrap();
        let schema = match whole.get("kind").and_then(Value::as_str) {
            None | Some("pte") => &program::desc::SCHEMA,
            Some("ptd") => &flat_tensor::desc::SCHEMA,
            _ => &flat_tensor_legacy::desc::SCHEMA,
        };
        let mut changed = Vec::new();
        changes(&whole["root"].take(), &mut |root| changed.push(root));
        for root in changed.into_iter().step_by(thinned(11)) {
            // Not every change results in JSON that can be loaded.
            if load::read(&root.to_string(), schema.root, &mut load::no_files).is_err() {
                continue;
            }
            whole["root"] = root;
            match is_sound(&Fixture(whole.clone()).parts().bytes) {
                true => sound += 1,
                false => refused += 1,
            }
        }
    }
    println!("{sound} sound, {refused} refused");
    let enough = 1000 / thinned(11);
    assert!(sound > enough && refused > enough, "{sound} sound, {refused} refused");
}

/// Calls `give` with each copy of a tree that has one change: another leaf, a missing field or
/// element, or a reversed list.
fn changes(tree: &Value, give: &mut dyn FnMut(Value)) {
    let edges = json!([
        -1,
        0,
        1,
        2,
        3,
        17,
        99,
        127,
        255,
        i32::MIN,
        i32::MAX,
        u32::MAX,
        i64::MIN,
        i64::MAX,
        u64::MAX,
        "",
        true
    ]);
    match tree {
        Value::Object(fields) => {
            for (key, value) in fields {
                let mut rest = fields.clone();
                rest.remove(key);
                give(rest.into());
                changes(value, &mut |changed| {
                    let mut fields = fields.clone();
                    fields[key] = changed;
                    give(fields.into());
                });
            }
        }
        Value::Array(list) => {
            give(list.iter().rev().cloned().collect());
            for (nth, value) in list.iter().enumerate() {
                give([&list[..nth], &list[nth + 1..]].concat().into());
                changes(value, &mut |changed| {
                    let mut list = list.clone();
                    list[nth] = changed;
                    give(list.into());
                });
            }
        }
        leaf => edges.as_array().unwrap().iter().filter(|&e| e != leaf).cloned().for_each(give),
    }
}
