//! Graphs of Vulkan: what single flipped bits do, and the checks that a fixture each does not show.

use core::fmt::Write;
use std::collections::{BTreeMap, BTreeSet};

use pte::check::Severity;
use pte::flat::json::Options;
use pte::payload::{Tables, TablesPlace};
use pte::{Backend, Check, Limits, Pte};
use serde_json::{Value, json};

use super::fixtures::{is_broken, judge};
use crate::support::files;
use crate::support::fixture::Fixture;
use crate::support::snapshot::assert_snapshot;

/// A bit of each byte of the graphs is flipped. The others are in fields that the backend does not read, in numbers
/// that may have any value, or between tables.
#[test]
fn most_flipped_bits_of_a_graph_are_errors() {
    let mut golden = String::new();
    for name in ["vulkan_conv", "vulkan_cat"] {
        let bytes = files::read(format!("tests/data/pte/{name}.pte")).unwrap();
        let Flips { all, errors, unseen } = Flips::of(&bytes);
        let share = errors * 100 / all;
        writeln!(golden, "{name}: {errors} of {all} flips are Errors, {share} %. The others:")
            .unwrap();
        for (what, count) in unseen {
            writeln!(golden, "  {count:3} {what}").unwrap();
        }
        assert!(share >= 40, "{golden}");
    }
    assert_snapshot("vulkan-flips", &golden);
}

/// What flipped bits do.
#[derive(Default)]
struct Flips {
    all: usize,
    errors: usize,
    /// The flips without an Error, by what they change.
    unseen: BTreeMap<String, usize>,
}

impl Flips {
    /// Flips a bit of each byte of the first payload's graph.
    fn of(bytes: &[u8]) -> Self {
        let program = Pte::read(bytes).unwrap();
        assert_eq!(program.check().count(Severity::Error), 0);
        let payload = program.payloads().next().unwrap().unwrap().range();
        let (from, to) = (payload.start as usize, payload.end as usize);
        let place = TablesPlace::of_payload(Backend::Vulkan, &bytes[from..to], (to - from) as u64);
        let place = place.unwrap().unwrap();
        let tables = |bytes: &[u8]| {
            let region = &bytes[from + place.range.start as usize..from + place.range.end as usize];
            let mut text = String::new();
            let tables = Tables::read(&place, region, &Limits::UNTRUSTED).unwrap();
            let options = Options { pretty: false, blob: |_: &[u8]| None };
            tables.write_json(options, 0, &mut text).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let whole = tables(bytes);
        let mut flips = Self::default();
        for at in from + place.range.start as usize..from + place.range.end as usize {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1 << (at % 8);
            let report = Pte::read(&damaged).unwrap().check();
            flips.all += 1;
            if report.count(Severity::Error) > 0 {
                flips.errors += 1;
                continue;
            }
            let warned = report.count(Severity::Warning) > 0;
            let what =
                change(&whole, &tables(&damaged)).unwrap_or_else(|| "bytes between tables".into());
            let what = if warned { format!("{what} (with a Warning)") } else { what };
            *flips.unseen.entry(what).or_default() += 1;
        }
        flips
    }
}

/// Returns the first field that differs, without the indices before it.
fn change(before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            // Whether serde_json sorts keys depends on the packages that are built together.
            let keys: BTreeSet<_> = before.keys().collect();
            keys.into_iter().find_map(|key| {
                let (old, new) = (before.get(key)?, after.get(key));
                let Some(new) = new else { return Some(key.clone()) };
                let inner = change(old, new)?;
                let named = !["value", "values"].contains(&key.as_str());
                Some(match inner.is_empty() || !named {
                    true if named => key.clone(),
                    _ if !named && !inner.is_empty() => inner,
                    _ => format!("{key}.{inner}"),
                })
            })
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            before.iter().zip(after).find_map(|(before, after)| change(before, after))
        }
        (before, after) => (before != after).then(String::new),
    }
}

/// Returns the findings in the program of `base/vulkan.json`, after a change of its graph.
fn judged(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let Fixture(mut program) = Fixture::read("base/vulkan").unwrap();
    change(&mut program["data"][0]["vulkan"]);
    judge(&Fixture(program))
}

#[test]
fn values_are_what_the_backend_has() {
    type Change = fn(&mut Value);
    let changes: [(&str, &str, Change); 12] = [
        ("vulkan-missing", "no dims", |g| {
            drop(tensor(g, 3).as_object_mut().unwrap().remove("dims"))
        }),
        ("vulkan-missing", "no output_ids", |g| {
            drop(g.as_object_mut().unwrap().remove("output_ids"))
        }),
        ("vulkan-missing", "no items", |g| {
            g["values"][2] = json!({"value_type": "IntList", "value": {}})
        }),
        ("vulkan-value", "datatype", |g| tensor(g, 3)["datatype"] = json!(8)),
        ("vulkan-value", "staging", |g| tensor(g, 3)["staging_datatype"] = json!(-1)),
        ("vulkan-value", "layout", |g| tensor(g, 3)["memory_layout"] = json!(7)),
        ("vulkan-value", "FLOAT32 has the memory layout", |g| {
            tensor(g, 3)["memory_layout"] = json!(3)
        }),
        ("vulkan-size", "9 dimensions", |g| {
            tensor(g, 0)["dims"] = json!([1, 1, 1, 1, 1, 1, 1, 2, 3])
        }),
        ("vulkan-size", "5 dimensions", |g| tensor(g, 3)["dims"] = json!([1, 1, 1, 2, 3])),
        ("vulkan-size", "elements", |g| tensor(g, 3)["dims"] = json!([65536, 65536])),
        ("vulkan-constant", "out of range", |g| tensor(g, 0)["constant_id"] = json!(1)),
        ("vulkan-value", "is a constant", |g| g["input_ids"] = json!([0])),
    ];
    for (rule, part, change) in changes {
        is_broken(&judged(change), rule, part);
    }
}

#[test]
fn lists_name_values() {
    let with = |items: Value| {
        judged(move |graph| {
            let values = graph["values"].as_array_mut().unwrap();
            values.push(json!({"value_type": "ValueList", "value": {"items": items}}));
            graph["chain"][1] = json!({"name": "aten.cat.default", "args": [5, 2, 4]});
        })
    };
    assert_eq!(with(json!([3])), []);
    assert_eq!(with(json!([])), []);
    is_broken(&with(json!([3, 6])), "vulkan-index", "value 6");
    is_broken(&with(json!([3, 2])), "vulkan-operand", "expected a list of tensors");
    is_broken(&with(json!([4])), "vulkan-order", "reads value 4");
}

#[test]
fn tensors_are_written_before_they_are_read() {
    let unwritten = judged(|graph| graph["input_ids"] = json!([]));
    assert!(unwritten.iter().all(|(rule, _)| rule == "vulkan-order"), "{unwritten:?}");
    let output = judged(|graph| drop(graph["chain"].as_array_mut().unwrap().pop()));
    is_broken(&output, "vulkan-order", "an output of the graph");
    // The output of an unknown operator may be any of its arguments.
    let custom = judged(|graph| graph["chain"][0]["name"] = json!("my.add.default"));
    is_broken(&custom, "vulkan-custom", "my.add.default");
}

#[test]
fn an_operator_is_newer_than_a_release() {
    let Fixture(mut program) = Fixture::read("base/vulkan").unwrap();
    program["data"][0]["vulkan"]["chain"][1]["name"] = json!("aten.log10.default");
    let found = |release: Value| {
        let mut program = program.clone();
        program["runtime"] = release;
        judge(&Fixture(program))
    };
    let newer = "aten.log10.default came with release 1.5, and the file is for 1.4";
    is_broken(&found(json!([1, 4])), "operator-newer", newer);
    assert_eq!(found(json!([1, 5])), []);
}

/// A prepacked constant is there at each run.
#[test]
fn a_prepacked_constant_shares_no_memory() {
    let with = |object: i32| {
        judged(move |graph| {
            graph["chain"][0] = json!({"name": "et_vk.prepack.default", "args": [0, 3]});
            graph["input_ids"] = json!([]);
            tensor(graph, 3)["mem_obj_id"] = json!(object);
        })
    };
    // The delegate's call still has an input.
    is_broken(&with(-1), "vulkan-args", "0 inputs and 1 outputs");
    is_broken(&with(0), "vulkan-memory", "memory object 0");
}

fn tensor(graph: &mut Value, nth: usize) -> &mut Value {
    &mut graph["values"][nth]["value"]
}
