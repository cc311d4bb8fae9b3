//! Programs in which every field of a schema is present, attacked at each of them: forged counts,
//! wild offsets, broken vtables. The expected error and its place follow from the declaration.

use pte::flat::desc::{Kind, Schema, TableDesc};
use pte::schema::{flat_tensor, flat_tensor_legacy, program};

use super::read;
use crate::support::asm::Asm;
use crate::support::exercise::exercise;
use crate::support::snapshot::assert_snapshot;

/// A file that has every field of a schema, and every member of its unions.
///
/// Labels are paths as refusals show them. `program.execution_plan[0].name` is the position of the
/// offset, a label with `*` that of its target, and a label with `^` that of the target's vtable.
pub(super) struct Every {
    pub(super) asm: Asm,
    /// The path of every string, of every vector with the bytes of its elements, of every table.
    texts: Vec<String>,
    vectors: Vec<(String, usize)>,
    tables: Vec<String>,
    fields: Vec<Field>,
}

/// A field, or one half of a union.
#[derive(Clone)]
struct Field {
    /// The path that a refusal shows, and the label of the field itself.
    path: String,
    label: String,
    /// The position of its offset in the vtable.
    entry: String,
    /// The path of its table.
    table: String,
    offset: u16,
    size: u16,
    holds: Holds,
}

/// The contents of a field.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Number,
    Offset,
    /// The first half of a union.
    Tag(u8),
    /// The second one.
    Value,
}

/// Every field of `program.fbs`, in a file with a header and a segment of 64 bytes.
pub(super) fn every_program() -> Every {
    let asm = Asm::new().link("program").bytes(b"ET12").extended_header(32);
    Every::new(asm, "program", &program::desc::SCHEMA)
}

fn every_flat_tensor(schema: &'static Schema) -> Every {
    let asm = Asm::new().link("flat_tensor").bytes(b"FT01").flat_tensor_header();
    Every::new(asm, "flat_tensor", schema)
}

/// Every field of a `.ptd` as it was before release 0.7.
pub(super) fn every_legacy() -> Every {
    every_flat_tensor(&flat_tensor_legacy::desc::SCHEMA)
}

fn every_file() -> [Every; 3] {
    [every_program(), every_flat_tensor(&flat_tensor::desc::SCHEMA), every_legacy()]
}

#[test]
fn every_field_is_read() {
    let mut text = String::new();
    for file in every_file() {
        let bytes = file.asm.finish();
        exercise(&bytes).unwrap();
        let paths = file.fields.iter().filter(|field| field.path == field.label);
        text.extend(
            paths.map(|field| format!("{:#06x} {}\n", file.asm.at(&field.label), field.path)),
        );
    }
    assert_snapshot("hostile-every-field", &text);
}

#[test]
fn no_count_reaches_past_the_program() {
    for file in every_file() {
        let room = |first: &str| file.asm.at("end") - file.asm.at(first) - 4;
        for (path, size) in &file.vectors {
            let length = format!("{path}*");
            let least = u32::try_from(room(&length) / *size as u64 + 1).unwrap();
            for count in [u32::MAX, 1 << 31, least] {
                let asm = file.asm.clone().patch(&length, count.to_le_bytes());
                refused(&asm, "vector-out-of-bounds", &length, path);
            }
        }
        for path in &file.texts {
            let length = format!("{path}*");
            let least = u32::try_from(room(&length) + 1).unwrap();
            for count in [u32::MAX, 1 << 31, least] {
                let asm = file.asm.clone().patch(&length, count.to_le_bytes());
                refused(&asm, "string-out-of-bounds", &length, path);
            }
            let asm = file.asm.clone().patch(&format!("{path}*+5"), [1]);
            refused(&asm, "string-not-terminated", &format!("{path}*+5"), path);
        }
    }
}

#[test]
fn no_offset_leads_out_of_the_program_or_to_itself() {
    for file in every_file() {
        let (tables, rest) = (file.tables.iter(), file.vectors.iter().map(|(path, _)| path));
        // The root offset has its own error.
        for path in tables.chain(rest).chain(&file.texts).filter(|path| path.contains('.')) {
            let asm = file.asm.clone().patch(path, [0; 4]);
            refused(&asm, "offset-null", path, path);
            for wild in [u32::MAX, 1 << 31, i32::MAX as u32] {
                let asm = file.asm.clone().patch(path, wild.to_le_bytes());
                refused(&asm, "offset-out-of-bounds", path, path);
            }
            for place in ["end", "end-1", "end-3"] {
                refused(&file.asm.clone().point(path, place), "offset-out-of-bounds", path, path);
            }
            let target = format!("{path}*");
            for apart in [1, 2, 3] {
                let place = format!("{target}+{apart}");
                let code = match file.tables.contains(path) {
                    true => "table-misaligned",
                    false => "vector-misaligned",
                };
                refused(&file.asm.clone().point(path, &place), code, &place, path);
            }
        }
    }
}

#[test]
fn no_vtable_is_trusted() {
    for file in every_file() {
        for path in &file.tables {
            let (table, vtable) = (format!("{path}*"), format!("{path}^"));
            let word = |place: &str, value: u16| file.asm.clone().patch(place, value.to_le_bytes());
            for len in [0, 1, 2, 3, 5] {
                refused(&word(&vtable, len), "vtable-length", &vtable, path);
            }
            let past = u16::try_from(file.asm.at("end") - file.asm.at(&vtable) + 1).unwrap() & !1;
            refused(&word(&vtable, past + 2), "vtable-out-of-bounds", &vtable, path);
            for size in [0, 3] {
                let place = format!("{vtable}+2");
                refused(&word(&place, size), "object-size", &place, path);
            }
            let before = u32::try_from(file.asm.at(&table) + 1).unwrap();
            for back in [before, i32::MAX as u32] {
                let asm = file.asm.clone().patch(&table, back.to_le_bytes());
                refused(&asm, "vtable-out-of-bounds", &table, path);
            }
        }
    }
}

#[test]
fn no_field_lies_where_it_cannot() {
    for file in every_file() {
        for Field { path, entry, table, offset, size, .. } in &file.fields {
            let moved = |offset: u16| file.asm.clone().patch(entry, offset.to_le_bytes());
            for offset in [1, 2, 3] {
                refused(&moved(offset), "field-offset", entry, path);
            }
            if *size > 1 {
                refused(&moved(offset + 2), "field-misaligned", entry, path);
            }
            let far = 0xfff0 | (offset % 8);
            refused(&moved(far), "field-out-of-bounds", &format!("{table}*"), table);
        }
    }
}

#[test]
fn half_a_union_is_refused_and_any_other_absence_is_not() {
    for file in every_file() {
        for Field { path, label, entry, table, holds, .. } in &file.fields {
            // The required fields of a FlatTensor depend on its generation.
            if table == "flat_tensor" {
                continue;
            }
            let asm = file.asm.clone().patch(entry, [0; 2]);
            if matches!(holds, Holds::Number | Holds::Offset) {
                exercise(&asm.finish()).unwrap_or_else(|error| panic!("no {label}: {error}"));
                continue;
            }
            // The error is at the remaining half of the union.
            let is_other = |other: &&Field| other.path == *path && other.label != *label;
            let other = file.fields.iter().find(is_other).unwrap();
            refused(&asm, "union-half", &other.label, path);
        }
    }
}

/// Reads `asm`, which must be refused for `code`, at the place `at` of the file and at `path`.
#[track_caller]
fn refused(asm: &Asm, code: &str, at: &str, path: &str) {
    let error = read(&asm.finish()).map(drop).expect_err(path);
    let found = (error.code(), error.offset(), error.place().path().to_string());
    assert_eq!(found, (code, asm.at(at), path.to_owned()));
}

impl Every {
    fn new(asm: Asm, root: &str, schema: &'static Schema) -> Self {
        let (texts, vectors) = (Vec::new(), Vec::new());
        let mut every = Self { asm, texts, vectors, tables: Vec::new(), fields: Vec::new() };
        every.table(root, schema.root, 0);
        every.asm = every.asm.segments(&[0; 64]);
        every
    }

    fn write(&mut self, step: impl FnOnce(Asm) -> Asm) {
        self.asm = step(core::mem::take(&mut self.asm));
    }

    /// A table with every field, its union holding the member `member`, and all it leads to.
    fn table(&mut self, path: &str, desc: &'static TableDesc, member: usize) {
        self.tables.push(path.to_owned());
        let mut fields: Vec<Field> = Vec::new();
        for field in desc.fields {
            let name = format!("{path}.{}", field.name);
            let mut push = |label: String, slot: u16, size: u16, holds: Holds| {
                let before = fields.last().map_or(4, |last| last.offset + last.size);
                fields.push(Field {
                    path: name.clone(),
                    label,
                    entry: format!("{path}^+{}", 4 + 2 * slot),
                    table: path.to_owned(),
                    offset: before.next_multiple_of(size),
                    size,
                    holds,
                });
            };
            let size = field.kind.inline_size();
            match field.kind {
                Kind::Union(union) => {
                    let tag = u8::try_from(member).unwrap() + 1;
                    push(name.clone(), field.slot, 1, Holds::Tag(tag));
                    let value = format!("{name}<{}>", union.members[member].name);
                    push(value, field.slot + 1, size, Holds::Value);
                }
                Kind::Scalar(_) => push(name.clone(), field.slot, size, Holds::Number),
                _ => push(name.clone(), field.slot, size, Holds::Offset),
            }
        }
        let offsets: Vec<u16> = fields.iter().map(|field| field.offset).collect();
        let end = fields.last().map_or(4, |last| last.offset + last.size);
        self.write(|asm| asm.table(path, end, &offsets));
        let mut at = 4;
        for field in &fields {
            let gap = usize::from(field.offset - at);
            at = field.offset + field.size;
            self.write(|asm| match field.holds {
                Holds::Number => asm.zeros(gap).label(&field.label).zeros(field.size.into()),
                Holds::Tag(tag) => asm.zeros(gap).label(&field.label).u8(tag),
                Holds::Offset | Holds::Value => asm.zeros(gap).link(&field.label),
            });
        }
        self.fields.append(&mut fields);
        for field in desc.fields {
            self.target(&format!("{path}.{}", field.name), field.kind, member);
        }
    }

    /// Adds the target of the field at `path`.
    fn target(&mut self, path: &str, kind: Kind, member: usize) {
        match kind {
            Kind::Scalar(_) => {}
            Kind::Str => {
                self.texts.push(path.to_owned());
                self.write(|asm| asm.string(path, "x"));
            }
            Kind::Table(desc) => self.table(path, desc, 0),
            Kind::Union(desc) => {
                let member = &desc.members[member];
                self.table(&format!("{path}<{}>", member.name), member.table, 0);
            }
            Kind::Scalars { prim, .. } => {
                let size = usize::from(prim.size());
                self.vectors.push((path.to_owned(), size));
                self.write(|asm| asm.vector(path, size, 2).zeros(2 * size));
            }
            Kind::Strs => panic!("no model has a vector of strings"),
            Kind::Tables(desc) => {
                let members = desc.fields.iter().find_map(|field| match field.kind {
                    Kind::Union(union) => Some(union.members.len()),
                    _ => None,
                });
                let count = members.unwrap_or(1);
                let element = |nth| format!("{path}[{nth}]");
                self.vectors.push((path.to_owned(), 4));
                self.write(|asm| asm.vector(path, 4, u32::try_from(count).unwrap()));
                for nth in 0..count {
                    self.write(|asm| asm.link(element(nth)));
                }
                for nth in 0..count {
                    self.table(&element(nth), desc, nth);
                }
            }
        }
    }
}
