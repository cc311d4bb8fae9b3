//! The declarations are printed as `.fbs`, so that a review sees a changed slot, type or default.
//! They are checked by upstream's compatibility rules, and compared with upstream's own file if it
//! is available.

use std::collections::BTreeMap;
use std::fs;

use pte::flat::desc::{Kind, Number, Schema};
use pte::flat::fbs;
use pte::schema::{bundled_program, etdump, flat_tensor, flat_tensor_legacy, program};
use pte::schema::{mlx, native, qnn, qnn_legacy, tosa, vulkan, xnnpack};

use crate::support::snapshot::assert_snapshot;

static SCHEMAS: [(&str, &Schema); 12] = [
    ("program", &program::desc::SCHEMA),
    ("flat-tensor", &flat_tensor::desc::SCHEMA),
    ("flat-tensor-legacy", &flat_tensor_legacy::desc::SCHEMA),
    ("xnnpack", &xnnpack::desc::SCHEMA),
    ("vulkan", &vulkan::desc::SCHEMA),
    ("tosa", &tosa::desc::SCHEMA),
    ("native", &native::desc::SCHEMA),
    ("mlx", &mlx::desc::SCHEMA),
    ("qnn", &qnn::desc::SCHEMA),
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

/// With `PTE_UPSTREAM_FBS` naming upstream's `program.fbs` or `flat_tensor.fbs`, every table, slot,
/// type and default of it is compared with ours.
#[test]
fn upstream_says_the_same() {
    let Ok(path) = std::env::var("PTE_UPSTREAM_FBS") else {
        println!("skipped: PTE_UPSTREAM_FBS names no .fbs file of upstream");
        return;
    };
    let theirs = tables(&fs::read_to_string(&path).unwrap());
    let root = if theirs.contains_key("Program") { "program" } else { "flat-tensor" };
    let (_, schema) = SCHEMAS.into_iter().find(|(name, _)| *name == root).unwrap();
    let ours = tables(&text(schema));
    assert!(!theirs.is_empty());
    for (table, fields) in &theirs {
        assert_eq!(ours.get(table), Some(fields), "table {table} of {path}");
    }
    assert_eq!(ours.len(), theirs.len());
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

/// Returns the fields of each table in a `.fbs` text, as `name:type=default`. Comments and
/// attributes are removed, and each type has one of its two FlatBuffers spellings.
fn tables(text: &str) -> BTreeMap<String, Vec<String>> {
    let plain: Vec<_> =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let plain = plain.join("\n");
    let mut found = BTreeMap::new();
    for block in plain.split("\ntable ").skip(1) {
        let (name, rest) = block.split_once('{').unwrap();
        let fields = rest.split('}').next().unwrap().split(';').filter_map(|field| {
            let field = field.split('(').next().unwrap();
            let field: String = field.chars().filter(|c| !c.is_whitespace()).collect();
            let (name, kind) = field.split_once(':')?;
            let (kind, default) = kind.split_once('=').unwrap_or((kind, "0"));
            let kind = kind.replace("executorch_flatbuffer.", "");
            let kind = [
                "int8=byte",
                "uint8=ubyte",
                "int32=int",
                "uint32=uint",
                "int64=long",
                "uint64=ulong",
                "float64=double",
            ]
            .iter()
            .filter_map(|pair| pair.split_once('='))
            .fold(kind.to_string(), |kind, (one, other)| {
                match kind.trim_matches(['[', ']']) {
                    bare if bare == one => kind.replace(one, other),
                    _ => kind,
                }
            });
            let default =
                if ["false", "0.0", "STATIC", "SEGMENT", "CPU", "INLINE"].contains(&default) {
                    "0"
                } else {
                    default
                };
            Some(format!("{name}:{kind}={default}"))
        });
        found.insert(name.trim().to_string(), fields.collect());
    }
    found
}
