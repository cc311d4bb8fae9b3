//! Every field of every table, changed one at a time: `diff` reports it, or a row says why not.

use std::collections::{BTreeMap, BTreeSet};

use pte::Pte;
use pte::diff::Verdict;
use pte::flat;
use pte::flat::desc::{FieldDesc, Kind, TableDesc};
use pte::schema::program;
use serde_json::{Value, json};

use super::{diff, sample};
use crate::support::build;

/// Fields whose change is another way to write the same, with why. The data of the programs here are
/// zeros, so that a place that leads to other data leads to the same.
const WRITING: &[(&str, &str, &str)] = &[
    ("ExtraTensorInfo", "mutable_data_segments_idx", "the data that it leads to is compared"),
    ("DataSegment", "offset", "the data at it are compared"),
    ("Chain", "inputs", "no runtime reads it"),
    ("Chain", "outputs", "no runtime reads it"),
    ("Chain", "stacktrace", "for people who debug an export"),
    ("FrameList", "items", "as stacktrace"),
    ("Frame", "filename", "as stacktrace"),
    ("Frame", "lineno", "as stacktrace"),
    ("Frame", "name", "as stacktrace"),
    ("Frame", "context", "as stacktrace"),
];

/// Programs that have every table.
const SAMPLES: &[&str] = &[
    "args_custom_op_all_kinds.pte",
    "args_boollist.pte",
    "synth_all_seg.pte",
    "synth_all_inline.pte",
    "device_cuda_idx1.pte",
    "cond.pte",
    "demo_named_data.pte",
    "v0.2.0_inline_const.pte",
];

#[test]
fn every_field_that_changes_is_reported() {
    // Of each field, whether any change of it was reported, and whether any was not.
    let mut seen: BTreeMap<(&str, &str), BTreeSet<bool>> = BTreeMap::new();
    for name in SAMPLES {
        let root: Value = serde_json::from_str(&dump(&sample(name))).unwrap();
        let before = whole(&root);
        let mut places = BTreeMap::new();
        visit(&root, program::desc::SCHEMA.root, "", &mut places);
        for ((table, field), pointers) in places {
            let desc = program::desc::SCHEMA.tables.iter().find(|desc| desc.name == table).unwrap();
            let desc = desc.field(field).unwrap();
            for pointer in pointers.iter().take(8) {
                let mut after = root.clone();
                if !change(after.pointer_mut(pointer).unwrap(), desc) {
                    continue;
                }
                let after = whole(&after);
                // What cannot be read any more is no question for `diff`.
                if Pte::read(&after).is_err() {
                    continue;
                }
                let is_reported = diff(&before, &after).verdict == Verdict::Different;
                seen.entry((table, field)).or_default().insert(is_reported);
            }
        }
    }
    let mut wrong = Vec::new();
    for table in program::desc::SCHEMA.tables {
        for field in table.fields {
            let place = (table.name, field.name);
            let listed = WRITING.iter().any(|row| (row.0, row.1) == place);
            let found = seen.get(&place).cloned().unwrap_or_default();
            if found.contains(&true) == listed && !table.fields.is_empty() {
                wrong.push(format!("{}.{}: {found:?}", table.name, field.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The tables of a program as JSON, blobs included.
fn dump(bytes: &[u8]) -> String {
    let mut text = String::new();
    let options = flat::json::Options { pretty: false, blob: |_: &[u8]| None::<String> };
    flat::json::write(Pte::read(bytes).unwrap().program(), options, &mut text).unwrap();
    text
}

/// The program of these tables, with zeros for data.
fn whole(root: &Value) -> Vec<u8> {
    let number = |segment: &Value, field: &str| segment[field].as_u64().unwrap_or_default();
    let segments = root["segments"].as_array().into_iter().flatten();
    let ends = segments.map(|segment| number(segment, "offset") + number(segment, "size"));
    let data = json!([{ "zeros": ends.max().unwrap_or_default() + 64 }]);
    build::file(&json!({ "kind": "pte", "root": root, "data": data }).to_string())
}

/// Adds, for each field of each table, the pointers to the tables that could have it.
fn visit<'d>(
    value: &Value,
    desc: &'d TableDesc,
    pointer: &str,
    places: &mut BTreeMap<(&'d str, &'d str), Vec<String>>,
) {
    for field in desc.fields {
        places.entry((desc.name, field.name)).or_default().push(pointer.to_owned());
        let (inner, here) = (&value[field.name], format!("{pointer}/{}", field.name));
        match field.kind {
            Kind::Table(desc) if inner.is_object() => visit(inner, desc, &here, places),
            Kind::Tables(desc) => {
                for (nth, item) in inner.as_array().into_iter().flatten().enumerate() {
                    visit(item, desc, &format!("{here}/{nth}"), places);
                }
            }
            Kind::Union(union) => {
                let name = value[format!("{}_type", field.name)].as_str().unwrap_or_default();
                let member = union.members.iter().find(|member| member.name == name);
                member.into_iter().for_each(|member| visit(inner, member, &here, places));
            }
            _ => {}
        }
    }
}

/// Changes a field of a table; `false` where there is nothing to change.
fn change(table: &mut Value, field: &FieldDesc) -> bool {
    let name = field.name;
    let old = table[name].clone();
    match field.kind {
        Kind::Scalar(scalar) => {
            table[name] = match (scalar.names, &old) {
                (Some(names), old) => {
                    let others = names.values.iter().map(|value| value.name);
                    let known = old.as_str().unwrap_or_default();
                    json!(others.rev().find(|other| *other != known).unwrap())
                }
                (None, Value::Bool(flag)) => json!(!flag),
                (None, Value::Number(number)) if number.is_f64() => {
                    json!(number.as_f64().unwrap() + 1.0)
                }
                (None, Value::Number(number)) => json!(number.as_i64().map_or(0, |n| n ^ 1)),
                (None, _) if scalar.prim == flat::desc::Prim::Bool => json!(true),
                (None, _) => json!(1),
            };
        }
        Kind::Str => table[name] = json!(format!("{}x", old.as_str().unwrap_or_default())),
        Kind::Scalars { .. } => {
            let mut items = old.as_array().cloned().unwrap_or_default();
            // The first one may be reserved.
            match items.last_mut() {
                Some(Value::Bool(flag)) => *flag = !*flag,
                Some(Value::Number(number)) if number.is_f64() => {
                    *number = serde_json::Number::from_f64(number.as_f64().unwrap() + 1.0).unwrap();
                }
                Some(Value::Number(number)) => *number = (number.as_i64().unwrap() ^ 1).into(),
                _ => items.push(json!(0)),
            }
            table[name] = items.into();
        }
        Kind::Table(_) => {
            if old.is_null() {
                return false;
            }
            table.as_object_mut().unwrap().remove(name);
        }
        Kind::Tables(_) => {
            let mut items = old.as_array().cloned().unwrap_or_default();
            match items.pop() {
                Some(_) => table[name] = items.into(),
                None => table[name] = json!([{}]),
            }
        }
        Kind::Union(_) => {
            if old.is_null() {
                return false;
            }
            table.as_object_mut().unwrap().remove(name);
            table.as_object_mut().unwrap().remove(&format!("{name}_type"));
        }
    }
    true
}
