//! Changes each field of each table in turn: `diff` reports it, or a row gives the reason.

use std::collections::{BTreeMap, BTreeSet};

use pte::diff::Verdict;
use pte::flat;
use pte::flat::desc::{FieldDesc, Kind, Schema, TableDesc};
use pte::ptd::Root;
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use pte::{File, Limits};
use serde_json::{Value, json};

use super::{diff, sample};
use crate::support::build;

/// A file format: its declarations, files that have every table, and the fields without meaning.
struct Format {
    /// The kind of a file in descriptions of tests.
    kind: &'static str,
    schema: &'static Schema,
    samples: &'static [&'static str],
    /// Fields whose change has no meaning or is refused: table, field, reason. The data of the compared
    /// files are zeros, so a reference to other data may lead to the same.
    left_out: &'static [(&'static str, &'static str, &'static str)],
}

const PROGRAM: Format = Format {
    kind: "pte",
    schema: &program::desc::SCHEMA,
    samples: &[
        "args_custom_op_all_kinds.pte",
        "args_boollist.pte",
        "synth_all_seg.pte",
        "synth_all_inline.pte",
        "device_cuda_idx1.pte",
        "cond.pte",
        "demo_named_data.pte",
        "v0.2.0_inline_const.pte",
    ],
    left_out: &[
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
    ],
};

const CURRENT_DATA: Format = Format {
    kind: "ptd",
    schema: &flat_tensor::desc::SCHEMA,
    samples: &["ptd_dtypes.ptd", "ptd_blobs.ptd", "ptd_basic.ptd"],
    left_out: &[
        ("FlatTensor", "version", "readers refuse any but 0"),
        ("DataSegment", "offset", "the data at it are compared"),
    ],
};

const LEGACY_DATA: Format = Format {
    kind: "ptd-legacy",
    schema: &flat_tensor_legacy::desc::SCHEMA,
    samples: &["vgen1b_ptd_direct_16.ptd", "vgen2a_ptd_direct_16.ptd", "v0.6.0_ptd_direct_16.ptd"],
    left_out: &[
        ("FlatTensor", "version", "readers refuse any but 0"),
        ("FlatTensor", "tensor_alignment", "alignment has no meaning"),
        ("DataSegment", "offset", "the data at it are compared"),
        ("DataSegment", "size", "the layout of a tensor gives the size of its data"),
        ("NamedData", "key", "no sample of an old generation has blobs"),
        ("NamedData", "segment_index", "no sample of an old generation has blobs"),
    ],
};

#[test]
fn every_changed_field_of_a_program_is_reported() {
    assert_changes_are_reported(&PROGRAM);
}

#[test]
fn every_changed_field_of_a_data_file_is_reported() {
    assert_changes_are_reported(&CURRENT_DATA);
    assert_changes_are_reported(&LEGACY_DATA);
}

fn assert_changes_are_reported(format: &Format) {
    // For each field, whether some change of it was reported, and whether some change was not.
    let mut seen: BTreeMap<(&str, &str), BTreeSet<bool>> = BTreeMap::new();
    for name in format.samples {
        let root: Value = serde_json::from_str(&dump(&sample(name))).unwrap();
        let before = whole(&root, format.kind);
        let mut places = BTreeMap::new();
        visit(&root, format.schema.root, "", &mut places);
        for ((table, field), pointers) in places {
            let desc = format.schema.tables.iter().find(|desc| desc.name == table).unwrap();
            let desc = desc.field(field).unwrap();
            for pointer in pointers.iter().take(8) {
                let mut after = root.clone();
                if !change(after.pointer_mut(pointer).unwrap(), desc) {
                    continue;
                }
                let after = whole(&after, format.kind);
                // `diff` does not get files that are refused.
                if File::read_with(&after, &Limits::UNTRUSTED).is_err() {
                    continue;
                }
                let is_reported = diff(&before, &after).verdict == Verdict::Different;
                seen.entry((table, field)).or_default().insert(is_reported);
                if is_reported {
                    break;
                }
            }
        }
    }
    let mut wrong = Vec::new();
    for table in format.schema.tables {
        for field in table.fields {
            let place = (table.name, field.name);
            let is_left_out = format.left_out.iter().any(|row| (row.0, row.1) == place);
            let found = seen.get(&place).cloned().unwrap_or_default();
            if found.contains(&true) == is_left_out {
                wrong.push(format!("{}.{}: {found:?}", table.name, field.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", format.kind, wrong.join("\n"));
}

/// Returns the tables of a file as JSON, blobs included.
fn dump(bytes: &[u8]) -> String {
    let mut text = String::new();
    let options = flat::json::Options { pretty: false, blob: |_: &[u8]| None::<String> };
    match File::read_with(bytes, &Limits::UNTRUSTED).unwrap() {
        File::Pte(pte) => flat::json::write(pte.program(), options, &mut text).map(drop),
        File::Ptd(ptd) => match ptd.root() {
            Root::Current(root) => flat::json::write(root, options, &mut text).map(drop),
            Root::Legacy(root) => flat::json::write(root, options, &mut text).map(drop),
        },
    }
    .unwrap();
    text
}

/// Returns the file of these tables, with zeros for data.
fn whole(root: &Value, kind: &str) -> Vec<u8> {
    let number = |segment: &Value, field: &str| segment[field].as_u64().unwrap_or_default();
    let segments = root["segments"].as_array().into_iter().flatten();
    let ends = segments.map(|segment| number(segment, "offset") + number(segment, "size"));
    let data = json!([{ "zeros": ends.max().unwrap_or_default() + 64 }]);
    build::file(&json!({ "kind": kind, "root": root, "data": data }).to_string())
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
                member.into_iter().for_each(|member| visit(inner, member.table, &here, places));
            }
            _ => {}
        }
    }
}

/// Changes a field of a table. Returns `false` if there is nothing to change.
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
        Kind::Strs => table[name] = json!(["x"]),
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
