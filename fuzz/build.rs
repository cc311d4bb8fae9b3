//! Independent readers of the same schemas, made from the `.fbs` text that the declarations print:
//! planus reads values, the official crate's verifier judges.
//!
//! planus parses that text and counts the slots by itself, so a field that is declared in a wrong
//! slot is found where the text is right, and the other way round.

#![allow(clippy::panic, clippy::expect_used, reason = "a build that cannot go on says so")]

use core::fmt::Write;
use heck::{ToSnakeCase, ToUpperCamelCase};
use std::path::{Path, PathBuf};
use std::{env, fs};

use pte_flat::desc::{FieldDesc, Kind, Schema, TableDesc};
use pte_schema::{
    bundled_program, etdump, flat_tensor, flat_tensor_legacy, mlx, native, program, tosa, vulkan,
    xnnpack,
};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    schema(&out, "program", &program::desc::SCHEMA);
    schema(&out, "flat_tensor", &flat_tensor::desc::SCHEMA);
    schema(&out, "flat_tensor_legacy", &flat_tensor_legacy::desc::SCHEMA);
    schema(&out, "xnnpack", &xnnpack::desc::SCHEMA);
    schema(&out, "vulkan", &vulkan::desc::SCHEMA);
    schema(&out, "bundled_program", &bundled_program::desc::SCHEMA);
    schema(&out, "etdump", &etdump::desc::SCHEMA);
    schema(&out, "tosa", &tosa::desc::SCHEMA);
    // planus has no recursive tables, which the native backend has, and no optional structs, which MLX has.
    judge(&out, "native", &native::desc::SCHEMA);
    judge(&out, "mlx", &mlx::desc::SCHEMA);
}

/// Makes both readers of a schema.
fn schema(out: &Path, name: &str, schema: &Schema) {
    judge(out, name, schema);
    let mut text = String::new();
    pte_flat::fbs::write(schema, &mut text).expect("a string takes text");
    // For planus this is the word that declares an attribute, also where a field has the name.
    let text = text.replace(" attribute:", " attribute_:");
    let file = out.join(format!("{name}.fbs"));
    save(&file, &text);
    let declarations = planus_translation::translate_files(&[&file]);
    let declarations = declarations.unwrap_or_else(|| panic!("planus refuses {}", file.display()));
    let reader = planus_codegen::generate_rust(&declarations, false);
    // It derives serde's traits, which are not needed here.
    let serde = "::serde::Serialize, ::serde::Deserialize";
    let reader = reader.expect("planus makes code").replace(&format!(", {serde}"), "");
    let reader = reader.replace(serde, "");
    save(&out.join(format!("{name}_planus.rs")), &reader);
    save(&out.join(format!("{name}_values.rs")), &values(name, schema));
}

/// Makes the official verifier of a schema.
fn judge(out: &Path, name: &str, schema: &Schema) {
    save(&out.join(format!("{name}_verifier.rs")), &verifier(schema));
}

fn save(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Writes functions that convert planus' tables to the structs of the library.
fn values(module: &str, schema: &Schema) -> String {
    let mut text = format!(
        "use pte::schema::{module}::model;\n\
         use super::{module}_planus::{} as planus_;\n",
        schema.namespace,
    );
    for union in schema.unions {
        let name = union.name;
        let mut arms = String::new();
        for member in union.members {
            let (member, table) = (member.name, member.table.name);
            let _ = writeln!(
                arms,
                "planus_::{}Ref::{}(member) => model::{name}::{member}(table_{table}(member)?),",
                name.to_upper_camel_case(),
                member.to_upper_camel_case(),
            );
        }
        let _ = write!(
            text,
            "fn union_{name}(read: planus_::{}Ref<'_>) -> planus::Result<model::{name}> {{\n\
             Ok(match read {{ {arms} }})\n}}\n",
            name.to_upper_camel_case(),
        );
    }
    for table in schema.tables {
        let name = table.name;
        let fields: String = table.fields.iter().map(|field| value(module, field)).collect();
        let _ = write!(
            text,
            "#[allow(unused_variables, reason = \"a table may have no fields\")]\n\
             pub(crate) fn table_{name}(read: planus_::{}Ref<'_>) \
             -> planus::Result<model::{name}> {{\n\
             Ok(model::{name} {{ {fields} }})\n}}\n",
            name.to_upper_camel_case(),
        );
    }
    text
}

fn value(module: &str, field: &FieldDesc) -> String {
    let name = field.name;
    // planus puts a `_` behind a word of Rust, and so does not need `r#`.
    let (own, accessor) = match name {
        "type" => ("r#type", String::from("type_")),
        name => (name, name.to_snake_case()),
    };
    let read = match (field.kind, field.required) {
        (Kind::Scalar(_) | Kind::Union(_), _) | (_, false) => format!("read.{accessor}()?"),
        // A required field is no `Option`.
        (_, true) => format!("Some(read.{accessor}()?)"),
    };
    let value = match field.kind {
        Kind::Scalar(scalar) => match scalar.names {
            None => read,
            Some(desc) if desc.name == "ScalarType" => {
                format!("pte::schema::scalar::ScalarType({read} as i8)")
            }
            Some(desc) => format!(
                "pte::schema::{module}::{}({read} as {})",
                desc.name,
                rust(scalar.prim.name())
            ),
        },
        Kind::Str => format!("{read}.map(String::from)"),
        Kind::Table(desc) => format!("{read}.map(table_{}).transpose()?", desc.name),
        Kind::Scalars { .. } => {
            format!("{read}.map(|items| items.iter().map(super::own).collect())")
        }
        Kind::Strs => format!(
            "{read}.map(|items| items.iter().map(|item| Ok(String::from(item?)))\
             .collect::<planus::Result<Vec<_>>>()).transpose()?"
        ),
        Kind::Tables(desc) => format!(
            "{read}.map(|items| items.iter().map(|item| table_{}(item?)).collect::<planus::Result<Vec<_>>>())\
             .transpose()?",
            desc.name
        ),
        Kind::Union(desc) => format!("{read}.map(union_{}).transpose()?", desc.name),
    };
    format!("{own}: {value},\n")
}

/// Writes the verification of each table by the official crate, as flatc does.
fn verifier(schema: &Schema) -> String {
    let mut text = String::from("use flatbuffers::{ForwardsUOffset, Vector};\n");
    schema.tables.iter().for_each(|table| verify(table, &mut text));
    text
}

fn verify(table: &TableDesc, text: &mut String) {
    let name = table.name;
    let _ = write!(
        text,
        "pub(crate) enum {name} {{}}\n\
         impl flatbuffers::Verifiable for {name} {{\n\
         fn run_verifier(v: &mut flatbuffers::Verifier<'_, '_>, pos: usize) \
         -> Result<(), flatbuffers::InvalidFlatbuffer> {{\n\
         v.visit_table(pos)?"
    );
    for field in table.fields {
        let slot = 4 + 2 * field.slot;
        let of = match field.kind {
            Kind::Scalar(scalar) => rust(scalar.prim.name()).to_owned(),
            Kind::Str => String::from("ForwardsUOffset<&str>"),
            Kind::Table(desc) => format!("ForwardsUOffset<{}>", desc.name),
            Kind::Scalars { prim, .. } => {
                format!("ForwardsUOffset<Vector<'_, {}>>", rust(prim.name()))
            }
            Kind::Strs => String::from("ForwardsUOffset<Vector<'_, ForwardsUOffset<&str>>>"),
            Kind::Tables(desc) => {
                format!("ForwardsUOffset<Vector<'_, ForwardsUOffset<{}>>>", desc.name)
            }
            Kind::Union(desc) => {
                // C++ requires of an unknown member that its offset is there and aligned.
                let mut arms = String::new();
                for (tag, member) in (1..).zip(desc.members) {
                    let member = member.table.name;
                    let _ = write!(
                        arms,
                        "{tag} => v.verify_union_variant::<ForwardsUOffset<{member}>>(\"\", pos),"
                    );
                }
                let _ = write!(
                    text,
                    ".visit_union::<u8, _>(\"{name}_type\", {slot}, \"{name}\", {}, false, \
                     |tag, v, pos| match tag {{ {arms} _ => v.in_buffer::<u32>(pos) }})?",
                    slot + 2,
                    name = field.name,
                );
                continue;
            }
        };
        let (name, required) = (field.name, field.required);
        let _ = write!(text, ".visit_field::<{of}>(\"{name}\", {slot}, {required})?");
    }
    text.push_str(".finish(); Ok(()) } }\n");
}

/// Rust's name of FlatBuffers' type.
fn rust(name: &str) -> &str {
    match name {
        "bool" => "bool",
        "byte" => "i8",
        "ubyte" => "u8",
        "short" => "i16",
        "ushort" => "u16",
        "int" => "i32",
        "uint" => "u32",
        "long" => "i64",
        "ulong" => "u64",
        "float" => "f32",
        "double" => "f64",
        other => panic!("no type of Rust for {other}"),
    }
}
