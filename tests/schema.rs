//! The declarations are printed as `.fbs`, so that a review sees a changed slot, type or default.
//! They are checked by upstream's compatibility rules. `tests/tools/schema_drift.py` compares the
//! printed text with upstream's own files.

use pte::flat::desc::{Kind, Number, Schema};
use pte::flat::fbs;
use pte::schema::{bundled_program, etdump, flat_tensor, flat_tensor_legacy, program};
use pte::schema::{enn, mlx, native, qnn, qnn_legacy, tosa, vulkan, xnnpack};

use crate::support::snapshot::assert_snapshot;

pub(crate) static SCHEMAS: [(&str, &Schema); 13] = [
    ("program", &program::desc::SCHEMA),
    ("flat-tensor", &flat_tensor::desc::SCHEMA),
    ("flat-tensor-legacy", &flat_tensor_legacy::desc::SCHEMA),
    ("xnnpack", &xnnpack::desc::SCHEMA),
    ("vulkan", &vulkan::desc::SCHEMA),
    ("tosa", &tosa::desc::SCHEMA),
    ("native", &native::desc::SCHEMA),
    ("mlx", &mlx::desc::SCHEMA),
    ("qnn", &qnn::desc::SCHEMA),
    ("enn", &enn::desc::SCHEMA),
    ("qnn-legacy", &qnn_legacy::desc::SCHEMA),
    ("bundled-program", &bundled_program::desc::SCHEMA),
    ("etdump", &etdump::desc::SCHEMA),
];

#[test]
fn declarations_print_as_fbs() {
    for (name, schema) in SCHEMAS {
        assert_snapshot(&format!("schema-{name}"), &text(schema));
    }
}

#[test]
fn slots_are_used_once_and_without_gaps() {
    for (name, schema) in SCHEMAS {
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
    for (name, schema) in SCHEMAS {
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
    for (name, schema) in SCHEMAS.into_iter().take(3) {
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
