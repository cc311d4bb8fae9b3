//! The declarations are printed as `.fbs`, so that a review sees a changed slot, type or default.
//! They are checked by upstream's compatibility rules. `tests/tools/schema_drift.py` compares the
//! printed text with upstream's own files.

use std::fs;
use std::path::PathBuf;

use pte::flat::desc::{Kind, Number, Schema};
use pte::flat::fbs;
use pte::schema::{SCHEMAS, flat_tensor, flat_tensor_legacy, mlx, native, program};

use crate::support::files;
use crate::support::snapshot::assert_snapshot;

/// Returns each schema, with the name of its root where it has two names.
pub(crate) fn schemas() -> impl Iterator<Item = (&'static str, &'static Schema)> {
    SCHEMAS.into_iter().map(|(names, schema)| (names.last().copied().unwrap_or_default(), schema))
}

#[test]
fn declarations_print_as_fbs() {
    for (name, schema) in schemas() {
        assert_snapshot(&format!("schema-{name}"), &text(schema));
    }
}

/// A schema that is not in the list is neither printed nor compared.
#[test]
fn every_declared_schema_has_a_name() {
    let sources = fs::read_dir(files::path("src/schema")).unwrap();
    let sources = sources.map(|entry| entry.unwrap().path());
    let sources = sources.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let declares = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let start = |inside: &str| {
            inside.trim_start().trim_start_matches("views;").trim_start().starts_with("root ")
        };
        text.split("schema! {").skip(1).any(start)
    };
    assert_eq!(sources.filter(declares).count(), SCHEMAS.len());
}

#[test]
fn slots_are_used_once_and_without_gaps() {
    for (name, schema) in schemas() {
        for table in schema.tables {
            let mut next = 0;
            for field in table.fields {
                assert_eq!(field.slot, next, "{name}: {}.{}", table.name, field.name);
                next += field.slots();
            }
        }
    }
}

/// Upstream only ever appends: a field with a higher slot is not older.
#[test]
fn fields_are_only_appended() {
    for (name, schema) in schemas() {
        for table in schema.tables {
            let releases: Vec<_> =
                table.fields.iter().map(|field| field.since.map(release)).collect();
            assert!(releases.is_sorted(), "{name}: {} {releases:?}", table.name);
        }
    }
}

/// An old file has no value for a new field: only zero keeps its meaning.
#[test]
fn every_default_of_both_formats_is_zero() {
    for (name, schema) in schemas().take(3) {
        for (table, field) in
            schema.tables.iter().flat_map(|t| t.fields.iter().map(move |f| (t, f)))
        {
            if let Kind::Scalar(scalar) = field.kind {
                let zero = matches!(scalar.default, Number::Bool(false) | Number::Int(0))
                    || scalar.default == Number::Float(0.0);
                assert!(zero, "{name}: {}.{}", table.name, field.name);
            }
        }
    }
}

/// The walker recurses as deep as a schema is: this bounds its stack.
#[test]
fn depth_is_that_of_the_longest_path() {
    // Program, ExecutionPlan, Chain, Instruction, KernelCall; or … EValue, Tensor, ExtraTensorInfo.
    assert_eq!(program::desc::SCHEMA.root.depth, 5);
    assert_eq!(flat_tensor::desc::SCHEMA.root.depth, 3);
    assert_eq!(flat_tensor_legacy::desc::SCHEMA.root.depth, 2);
    // Program, Method, Graph, Node, NamedArgument, Argument, GraphArg; or … TensorMeta, QuantSpec, AffineGroup.
    assert_eq!(native::desc::SCHEMA.root.depth, 7);
    // MLXGraph, InstructionChain, Instruction, TileNode, IntOrVid.
    assert_eq!(mlx::desc::SCHEMA.root.depth, 5);
}

fn text(schema: &Schema) -> String {
    let mut text = String::new();
    fbs::write(schema, &mut text).unwrap();
    text
}

fn release(release: &str) -> (u32, u32) {
    let (major, minor) = release.split_once('.').unwrap();
    (major.parse().unwrap(), minor.parse().unwrap())
}
