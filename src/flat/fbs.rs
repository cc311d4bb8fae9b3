//! The declarations as FlatBuffers' own schema text.

use core::fmt::{self, Write};

use alloc::vec::Vec;

use crate::desc::{EnumDesc, FieldDesc, Kind, Number, Schema};

/// Writes `schema` as a `.fbs` file, which flatc can read. Comments give the slot of each field and
/// the release that added it.
///
/// ```
/// mod point {
///     pte_flat::schema! {
///         root Point b"PNT0" "point" "example";
///         enums:
///         unions:
///         tables:
///         /// A point.
///         table Point {
///             /// The position.
///             0 x: i32 = 7 => 1.2,
///         }
///     }
/// }
///
/// let mut text = String::new();
/// pte_flat::fbs::write(&point::desc::SCHEMA, &mut text)?;
/// assert!(text.contains("x: int = 7;  // slot 0, since 1.2"), "{text}");
/// # Ok::<(), core::fmt::Error>(())
/// ```
///
/// # Errors
///
/// The errors of `out`.
pub fn write(schema: &Schema, out: &mut impl Write) -> fmt::Result {
    writeln!(out, "namespace {};", schema.namespace)?;
    for desc in enums(schema) {
        writeln!(out, "\nenum {} : {} {{", desc.name, desc.prim.name())?;
        for value in desc.values {
            write!(out, "  {} = {},", value.name, value.number)?;
            comment(out, None, value.since)?;
        }
        writeln!(out, "}}")?;
    }
    for desc in schema.structs {
        writeln!(out, "\nstruct {} {{\n  {}: {};\n}}", desc.name, desc.field, desc.prim.name())?;
    }
    for union in schema.unions {
        writeln!(out, "\nunion {} {{", union.name)?;
        for member in union.members {
            match member.name == member.table.name {
                true => writeln!(out, "  {},", member.name)?,
                false => writeln!(out, "  {}: {},", member.name, member.table.name)?,
            }
        }
        writeln!(out, "}}")?;
    }
    for table in schema.tables {
        writeln!(out, "\ntable {} {{", table.name)?;
        for desc in table.fields {
            field(out, desc)?;
        }
        writeln!(out, "}}")?;
    }
    writeln!(out, "\nroot_type {};", schema.root.name)?;
    if schema.identifier != [0; 4] {
        writeln!(out, "file_identifier \"{}\";", schema.identifier.escape_ascii())?;
    }
    writeln!(out, "file_extension \"{}\";", schema.extension)
}

/// Returns every enum of a field of the schema, in the order of first use.
fn enums(schema: &Schema) -> Vec<&'static EnumDesc> {
    let mut found: Vec<&'static EnumDesc> = Vec::new();
    for field in schema.tables.iter().flat_map(|table| table.fields) {
        if let Kind::Scalar(scalar) = field.kind
            && let Some(names) = scalar.names
            && !found.iter().any(|desc| core::ptr::eq(*desc, names))
        {
            found.push(names);
        }
    }
    found
}

fn field(out: &mut impl Write, field: &FieldDesc) -> fmt::Result {
    write!(out, "  {}: ", field.name)?;
    match field.kind {
        Kind::Scalar(scalar) => {
            let of = scalar.of.map_or(scalar.prim.name(), |of| of.name);
            write!(out, "{}", scalar.names.map_or(of, |names| names.name))?;
            if scalar.optional && scalar.of.is_none() {
                write!(out, " = null")?;
            }
            // Zero is FlatBuffers' default, so it is not written.
            match (scalar.default, scalar.names) {
                (Number::Bool(false) | Number::Int(0), _) => {}
                (Number::Bool(true), _) => write!(out, " = true")?,
                (Number::Int(value), None) => write!(out, " = {value}")?,
                (Number::Int(value), Some(names)) => match names.name_of(value) {
                    Some(name) => write!(out, " = {name}")?,
                    None => write!(out, " = {value}")?,
                },
                (Number::Single(0.0) | Number::Float(0.0), _) => {}
                (Number::Single(value), _) => write!(out, " = {value:?}")?,
                (Number::Float(value), _) => write!(out, " = {value:?}")?,
            }
        }
        Kind::Str => out.write_str("string")?,
        Kind::Strs => out.write_str("[string]")?,
        Kind::Table(desc) => out.write_str(desc.name)?,
        Kind::Scalars { prim, of, .. } => {
            write!(out, "[{}]", of.map_or(prim.name(), |of| of.name))?;
        }
        Kind::Tables(desc) => write!(out, "[{}]", desc.name)?,
        Kind::Union(desc) => out.write_str(desc.name)?,
    }
    match field.kind {
        // A field never has both `force_align` and `required`, so at most one attribute is written.
        Kind::Scalars { align: align @ 1.., .. } => write!(out, " (force_align: {align})")?,
        _ if field.required => out.write_str(" (required)")?,
        _ => {}
    }
    out.write_char(';')?;
    comment(out, Some(field), field.since)
}

fn comment(out: &mut impl Write, field: Option<&FieldDesc>, since: Option<&str>) -> fmt::Result {
    match field.map(|field| (field.slot, field.slots())) {
        Some((slot, 1)) => write!(out, "  // slot {slot}")?,
        Some((slot, _)) => write!(out, "  // slots {slot}, {}", slot.saturating_add(1))?,
        None if since.is_some() => write!(out, "  //")?,
        None => {}
    }
    match (since, field) {
        (Some(since), Some(_)) => writeln!(out, ", since {since}"),
        (Some(since), None) => writeln!(out, " since {since}"),
        (None, _) => writeln!(out),
    }
}
