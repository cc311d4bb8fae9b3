//! Trees of tables: from JSON, to JSON, and as bytes.

use std::fs;

use pte::Check;
use pte::flat::desc::{Number, Schema};
use pte::flat::json;
use pte::flat::load::{self, LoadError};
use pte::flat::tree::{FieldValue, Object};
use pte::flat::write::{self, WriterLayout};
use pte::ptd::Root;
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use pte::{Ptd, Pte};
use serde_json::json;

use crate::support::build::assemble;
use crate::support::exercise::exercise;
use crate::support::files::{self, name};
use crate::support::snapshot::assert_snapshot;

mod every_field;
mod layout;

/// The file that is written from a genuine file's dump has the same contents, and a good layout.
#[test]
fn files_come_back_from_their_dumps() {
    let mut findings_before = 0;
    for path in files::everything() {
        let (bytes, name) = (fs::read(&path).unwrap(), name(&path));
        findings_before += layout_findings(&bytes).len();
        let (schema, text) = dump(&bytes);
        let tree = load(&text, schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let written = wrap(&bytes, schema, &tree);
        exercise(&written).unwrap_or_else(|e| panic!("{name}: {e}\n  at {}", e.place()));
        let (_, again) = dump(&written);
        assert!(again == text, "{name}: its dump changed");
        assert_eq!(layout_findings(&written), Vec::<String>::new(), "{name}");
        let tree = load(&again, schema).unwrap();
        assert!(wrap(&bytes, schema, &tree) == written, "{name}: one tree has one layout");
    }
    assert!(findings_before > 0, "some writers leave findings, so that none means something");
}

#[test]
fn blobs_come_from_files() {
    let bytes = files::read("tests/data/pte/v0.2.0_inline_const.pte").unwrap();
    let mut blobs = Vec::new();
    let blob = |blob: &[u8]| {
        blobs.push(blob.to_vec());
        Some(format!("{{\"file\": \"blob {}\"}}", blobs.len() - 1))
    };
    let mut text = String::new();
    let options = json::Options { pretty: true, blob };
    json::write(Pte::read(&bytes).unwrap().program(), options, &mut text).unwrap();
    assert!(blobs.iter().any(|blob| blob.len() > 64));
    let mut files = |name: &str| {
        let nth: usize = name.strip_prefix("blob ").unwrap().parse().unwrap();
        Ok(blobs[nth].clone())
    };
    let schema = &program::desc::SCHEMA;
    let tree = load::read(&text, schema.root, &mut files).unwrap();
    let inline = load(&dump(&bytes).1, schema).unwrap();
    assert_eq!(written(schema, &tree), written(schema, &inline));
    let missing = load::read(&text, schema.root, &mut load::no_files).unwrap_err();
    assert!(missing.message().starts_with("there is no file \"blob "), "{missing}");
}

/// Values that no genuine file has, and that a person may write.
#[test]
fn numbers_and_names_are_read_exactly() {
    let double = |text: &str| {
        let tree = program(&value("Double", &format!("{{\"double_val\": {text}}}")));
        let Some(FieldValue::Union(4, Some(double))) = val(&tree) else { panic!("{tree:?}") };
        let Some(FieldValue::Number(Number::Float(value))) = double.field("double_val") else {
            panic!("{double:?}")
        };
        value.to_bits()
    };
    for value in [0.1, -0.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1e23, 0.1 + 0.2] {
        assert_eq!(double(&format!("{value:?}")), value.to_bits(), "{value:?}");
    }
    for text in
        ["2.2250738585072011e-308", "1.00000000000000011102230246251565", "9007199254740993"]
    {
        assert_eq!(double(text), text.parse::<f64>().unwrap().to_bits(), "{text}");
    }
    assert_eq!(double("3"), 3f64.to_bits());
    assert_eq!(double("-3"), (-3f64).to_bits());
    assert_eq!(double("\"inf\""), f64::INFINITY.to_bits());
    assert_eq!(double("\"-inf\""), f64::NEG_INFINITY.to_bits());
    assert!(f64::from_bits(double("\"nan\"")).is_nan());

    for text in ["9223372036854775807", "-9223372036854775808"] {
        let (tree, schema) =
            (program(&value("Int", &format!("{{\"int_val\": {text}}}"))), &program::desc::SCHEMA);
        let (_, again) = dump(&written(schema, &tree));
        assert!(again.contains(&format!("\"int_val\": {text}")), "{again}");
    }
    let largest = format!("{{\"segments\": [{{\"offset\": {}}}]}}", u64::MAX);
    let tree = program(&largest);
    let Some(FieldValue::Tables(segments)) = tree.field("segments") else { panic!("{tree:?}") };
    let Some(FieldValue::Number(Number::Int(offset))) = segments[0].field("offset") else {
        panic!()
    };
    assert_eq!(*offset, u64::MAX.into());
    for number in [u64::MAX, 1 << 63, (1 << 63) - 1] {
        let tree = program(&format!("{{\"segments\": [{{\"offset\": {number}}}]}}"));
        let (_, again) = dump(&written(&program::desc::SCHEMA, &tree));
        assert!(again.contains(&format!("\"offset\": {number},")), "{number}: {again}");
    }
}

#[test]
fn unions_are_read_in_any_order_and_enums_in_any_form() {
    let schema = &program::desc::SCHEMA;
    let bytes = |text: &str| written(schema, &program(text));
    let tensor = "{\"scalar_type\": \"FLOAT\"}";
    let usual = bytes(&value("Tensor", tensor));
    for other in [
        format!("\"val\": {tensor}, \"val_type\": \"Tensor\""),
        format!("\"val_type\": 5, \"val\": {tensor}"),
        "\"val_type\": \"Tensor\", \"val\": {\"scalar_type\": 6, \"layout\": 0}".to_string(),
    ] {
        let text = format!("{{\"execution_plan\": [{{\"values\": [{{{other}}}]}}]}}");
        assert_eq!(bytes(&text), usual, "{other}");
    }
    let none = bytes("{\"execution_plan\": [{\"values\": [{}]}]}");
    for other in ["\"NONE\"", "0"] {
        let other = format!("\"execution_plan\": [{{\"values\": [{{\"val_type\": {other}}}]}}]");
        assert_eq!(bytes(&format!("{{{other}}}")), none);
    }
    let unnamed = program(&value("Tensor", "{\"scalar_type\": -7}"));
    assert!(dump(&written(schema, &unnamed)).1.contains("\"scalar_type\": -7"));
}

#[test]
fn broken_unions_can_be_written() {
    let schema = &program::desc::SCHEMA;
    let refused = |tree: &Object| Pte::read(&written(schema, tree)).unwrap_err();
    for tag in ["\"Tensor\"", "99"] {
        let half = format!("{{\"execution_plan\": [{{\"values\": [{{\"val_type\": {tag}}}]}}]}}");
        let error = refused(&program(&half));
        assert_eq!(error.code(), "union-half");
        assert_eq!(error.place().path().to_string(), "program.execution_plan[0].values[0].val");
    }
    let mut evalue = Object::new(&program::desc::EValue);
    evalue.set("val", FieldValue::Union(0, Some(Object::new(&program::desc::Null)))).unwrap();
    let mut plan = Object::new(&program::desc::ExecutionPlan);
    plan.set("values", FieldValue::Tables(vec![evalue])).unwrap();
    let mut tree = Object::new(schema.root);
    tree.set("execution_plan", FieldValue::Tables(vec![plan])).unwrap();
    assert_eq!(refused(&tree).code(), "union-half");

    let unknown =
        "{\"execution_plan\": [{\"values\": [{\"val_type\": 99, \"val\": {}}]}]}".to_string();
    let bytes = written(schema, &program(&unknown));
    let report = Pte::read(&bytes).unwrap().check();
    assert!(report.findings().iter().any(|finding| finding.message == "a value of kind 99"));
}

#[test]
fn texts_that_are_no_tree_are_refused_with_their_place() {
    let plan = |inside: &str| format!("{{\"execution_plan\": [{{}}, {{{inside}}}]}}");
    let tensor = |inside: &str| plan(&format!("\"values\": [{{{inside}}}]"));
    let long = "é".repeat(1000);
    let cases = [
        "{".to_string(),
        "".to_string(),
        "[]".to_string(),
        "{} {}".to_string(),
        "{\"versoin\": 0}".to_string(),
        "{\"version\": null}".to_string(),
        "{\"version\": -1}".to_string(),
        "{\"version\": 4294967296}".to_string(),
        "{\"version\": 1.0}".to_string(),
        "{\"version\": true}".to_string(),
        "{\"version\": 0, \"version\": 0}".to_string(),
        "{\n  \"segments\": [{\n    \"offset\": 18446744073709551616\n  }]\n}".to_string(),
        "{\"execution_plan\": {}}".to_string(),
        "{\"constant_segment\": []}".to_string(),
        plan("\"name\": 5"),
        plan("\"inputs\": [0, 1, 2147483648]"),
        plan("\"inputs\": [0, [1]]"),
        plan("\"inputs\": {\"file\": \"inputs\"}"),
        plan("\"inputs\": [0, 1"),
        plan("\"non_const_buffer_sizes\": [\"0\"]"),
        tensor("\"val_type\": \"Tensor\", \"val\": {\"scalar_type\": \"FLAOT\"}"),
        tensor("\"val_type\": \"Tensor\", \"val\": {\"scalar_type\": 128}"),
        tensor("\"val_type\": \"Tensor\", \"val\": {\"requires_grad\": 1}"),
        tensor("\"val_type\": \"Tensor\", \"val\": {\"dim_order\": [256]}"),
        tensor("\"val\": {\"dim_order\": [256]}, \"val_type\": \"Tensor\""),
        tensor("\"val_type\": \"Double\", \"val\": {\"double_val\": \"infinity\"}"),
        tensor("\"val_type\": \"Double\", \"val\": {\"double_val\": 1e999}"),
        tensor("\"val_type\": \"BoolList\", \"val\": {\"items\": [true, \"false\"]}"),
        tensor("\"val_type\": \"Tesnor\", \"val\": {}"),
        tensor("\"val_type\": 256"),
        tensor("\"val_type\": -1"),
        tensor("\"val_type\": \"NONE\", \"val\": {}"),
        tensor("\"val\": {}, \"val_type\": \"NONE\""),
        tensor("\"val_type\": \"Tensor\", \"val\": {}, \"val_type\": \"Tensor\""),
        tensor("\"val_type\": \"Null\", \"val\": {}, \"val\": {}"),
        tensor("\"val\": {}, \"val\": {}, \"val_type\": \"Null\""),
        tensor("\"val_type\": 99, \"val\": {\"items\": []}"),
        tensor("\"val_type\": \"Null\", \"val\": {\"items\": []}"),
        tensor("\"val\": {}"),
        tensor("\"val_type\": \"Tensor\", \"val\": 5"),
        "{\"constant_buffer\": [{\"storage\": {\"sha256\": \"00\", \"len\": 65}}]}".to_string(),
        "{\"constant_buffer\": [{\"storage\": {\"file\": \"a\"}}]}".to_string(),
        "{\"constant_buffer\": [{\"storage\": {\"file\": \"b\", \"len\": 1}}]}".to_string(),
        "{\"constant_buffer\": [{\"storage\": {}}]}".to_string(),
        "{\"constant_buffer\": [{\"storage\": \"AAAA\"}]}".to_string(),
        format!("{{\"version\": \"{long}\"}}"),
    ];
    let rows = cases.iter().map(|text| {
        let error = read(text, &mut |name| match name {
            "b" => Ok(Vec::new()),
            _ => load::no_files(name),
        })
        .unwrap_err();
        let text = if text.len() > 1000 { "{\"version\": \"ééé…\"}" } else { text };
        format!("{text}\n  {error}\n")
    });
    assert_snapshot("load-errors", &rows.collect::<String>());
}

#[test]
fn values_that_do_not_fit_are_refused() {
    use program::desc;
    let bytes = |len| FieldValue::Scalars(vec![0; len].into());
    let int = |value| FieldValue::Number(Number::Int(value));
    let cases = [
        (&desc::Program, "versoin", int(0)),
        (&desc::Program, "version", int(-1)),
        (&desc::Program, "version", int(1 << 32)),
        (&desc::DataSegment, "offset", int(1 << 64)),
        (&desc::Program, "version", FieldValue::Number(Number::Float(0.0))),
        (&desc::Bool, "bool_val", int(1)),
        (&desc::Double, "double_val", int(1)),
        (&desc::Program, "segments", FieldValue::Str("".into())),
        (&desc::Program, "segments", FieldValue::Tables(vec![Object::new(&desc::Null)])),
        (&desc::Program, "constant_segment", FieldValue::Table(Object::new(&desc::Null))),
        (&desc::Tensor, "sizes", bytes(7)),
        (&desc::String, "string_val", bytes(8)),
        (&desc::EValue, "val", FieldValue::Union(1, Some(Object::new(&desc::Tensor)))),
        (&desc::EValue, "val", FieldValue::Union(99, Some(Object::new(&desc::EValue)))),
    ];
    let rows = cases.map(|(desc, name, value)| {
        let mut object = Object::new(desc);
        let error = object.set(name, value).unwrap_err();
        assert_eq!(object.fields().len(), 0);
        format!("{error}\n")
    });
    assert_snapshot("load-set-errors", &rows.concat());
}

#[test]
fn a_value_can_be_replaced_and_taken() {
    let mut object = Object::new(&program::desc::Frame);
    object.set("name", FieldValue::Str("a".into())).unwrap();
    object.set("filename", FieldValue::Str("b".into())).unwrap();
    object.set("name", FieldValue::Str("c".into())).unwrap();
    let fields: Vec<_> = object.fields().map(|(field, _)| field.name).collect();
    assert_eq!(fields, ["filename", "name"], "in the order of the slots");
    assert!(matches!(object.take("name"), Some(FieldValue::Str(text)) if text == "c"));
    assert!(object.take("name").is_none() && object.field("name").is_none());
    assert!(object.field("filename").is_some());
}

#[test]
fn deep_and_large_texts_do_no_harm() {
    let deep = 1_000_000;
    for open in ["[", "{\"val\":", "{\"execution_plan\": ["] {
        assert!(read(&open.repeat(deep), &mut load::no_files).is_err());
    }
    // The value is kept as text until its tag is read.
    let kept = format!(
        "{{\"execution_plan\": [{{\"values\": [{{\"val\": {}{}, \"val_type\": \"Int\"}}]}}]}}",
        "[".repeat(deep),
        "]".repeat(deep)
    );
    let error = read(&kept, &mut load::no_files).unwrap_err();
    assert!(error.message().starts_with("invalid type: sequence"), "{error}");
    let inputs = format!("{{\"execution_plan\": [{{\"inputs\": [{}7]}}]}}", "7,".repeat(deep));
    let bytes = written(&program::desc::SCHEMA, &program(&inputs));
    let pte = Pte::read(&bytes).unwrap();
    let plan = pte.program().execution_plan().unwrap().get(0).unwrap();
    assert_eq!(plan.inputs().unwrap().len(), deep + 1);
}

/// The schema and the dump of a file, blobs as numbers.
fn dump(bytes: &[u8]) -> (&'static Schema, String) {
    let options = json::Options { pretty: true, blob: |_: &[u8]| None };
    let mut text = String::new();
    let schema = match pte::file::sniff(bytes).unwrap() {
        pte::file::FileKind::Pte => {
            json::write(Pte::read(bytes).unwrap().program(), options, &mut text).unwrap();
            &program::desc::SCHEMA
        }
        pte::file::FileKind::Ptd => match Ptd::read(bytes).unwrap().root() {
            Root::Current(root) => {
                json::write(root, options, &mut text).unwrap();
                &flat_tensor::desc::SCHEMA
            }
            Root::Legacy(root) => {
                json::write(root, options, &mut text).unwrap();
                &flat_tensor_legacy::desc::SCHEMA
            }
        },
    };
    (schema, text)
}

/// A file of `tree` with the kind of header and the segments of the file `original`.
fn wrap(original: &[u8], schema: &Schema, tree: &Object<'_>) -> Vec<u8> {
    let (header, base) = match pte::file::sniff(original).unwrap() {
        pte::file::FileKind::Pte => match Pte::read(original).unwrap().header() {
            Some(header) => (json!({"length": header.length}), header.segment_base_offset),
            None => (json!(null), 0),
        },
        pte::file::FileKind::Ptd => {
            (json!({}), Ptd::read(original).unwrap().header().segment_base_offset)
        }
    };
    let data = if base == 0 { &[] } else { &original[base as usize..] };
    assemble(schema, tree, &header, data, 16)
}

/// Returns the ids of the findings on the layout of tables.
fn layout_findings(bytes: &[u8]) -> Vec<String> {
    let report = match pte::file::sniff(bytes).unwrap() {
        pte::file::FileKind::Pte => Pte::read(bytes).unwrap().check(),
        pte::file::FileKind::Ptd => Ptd::read(bytes).unwrap().check(),
    };
    let ids = report.findings().iter().map(|finding| finding.rule.id);
    ids.filter(|id| LAYOUT.contains(id)).map(Into::into).collect()
}

fn load(text: &str, schema: &Schema) -> Result<Object<'static>, LoadError> {
    load::read(text, schema.root, &mut load::no_files)
}

fn read(text: &str, files: &mut load::ReadBlob<'_>) -> Result<Object<'static>, LoadError> {
    load::read(text, program::desc::SCHEMA.root, files)
}

#[track_caller]
fn program(text: &str) -> Object<'static> {
    read(text, &mut load::no_files).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn written(schema: &Schema, tree: &Object<'_>) -> Vec<u8> {
    write::write(schema, tree, &[], &WriterLayout::default()).unwrap()
}

/// A program with one value.
fn value(member: &str, inside: &str) -> String {
    let value = format!("{{\"val_type\": \"{member}\", \"val\": {inside}}}");
    format!("{{\"execution_plan\": [{{\"values\": [{value}]}}]}}")
}

/// Returns the only value of the program.
fn val<'t>(tree: &'t Object<'t>) -> Option<&'t FieldValue<'t>> {
    let Some(FieldValue::Tables(plans)) = tree.field("execution_plan") else { return None };
    let Some(FieldValue::Tables(values)) = plans[0].field("values") else { return None };
    values[0].field("val")
}

const LAYOUT: [&str; 7] = [
    "bool-byte",
    "empty-vector-misaligned",
    "fields-overlap",
    "header-referenced",
    "object-size-too-small",
    "padding-not-zero",
    "unknown-field",
];
