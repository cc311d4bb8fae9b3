//! Every field of every table and every member of every union, by the declarations: the written
//! file has the intended contents.

use pte::flat::desc::{Kind, Number, Prim, TableDesc};
use pte::flat::tree::{FieldValue, Object};
use pte::schema::{flat_tensor, flat_tensor_legacy, program};
use serde_json::json;

use super::{dump, layout_findings, load};
use crate::support::build::assemble;
use crate::support::exercise::exercise;

#[test]
fn every_field_is_written_and_read() {
    let schemas =
        [&program::desc::SCHEMA, &flat_tensor::desc::SCHEMA, &flat_tensor_legacy::desc::SCHEMA];
    for schema in schemas {
        let mut maker = Maker { last: 0, fields: 0 };
        let (tree, want) = maker.table(schema.root, None);
        let declared: usize = schema.tables.iter().map(|table| table.fields.len()).sum();
        assert!(maker.fields >= declared, "{} fields of {declared}", maker.fields);
        let bytes = assemble(schema, &tree, &json!({}), &[0; 512], 16);
        exercise(&bytes).unwrap_or_else(|e| panic!("{e} at {}", e.place()));
        let (found, text) = dump(&bytes);
        assert!(core::ptr::eq(found, schema));
        let got: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(got, want);
        assert_eq!(layout_findings(&bytes), Vec::<String>::new());
        let loaded = load(&want.to_string(), schema).unwrap();
        assert!(assemble(schema, &loaded, &json!({}), &[0; 512], 16) == bytes);
    }
}

/// Makes trees without a default in them, and the dumps that they should have.
struct Maker {
    last: u8,
    fields: usize,
}

impl Maker {
    /// Returns a table with every field. `tag` is the tag of its union, if the table has one.
    fn table(
        &mut self,
        desc: &'static TableDesc,
        tag: Option<u8>,
    ) -> (Object<'static>, serde_json::Value) {
        let mut object = Object::new(desc);
        let mut want = serde_json::Map::new();
        for field in desc.fields {
            self.fields += 1;
            let name = field.name.to_string();
            let (value, json) = match field.kind {
                // Readers take version 0 alone.
                Kind::Scalar(_) if name == "version" => {
                    (FieldValue::Number(Number::Int(0)), json!(0))
                }
                Kind::Scalar(scalar) => {
                    let (number, mut json) = self.number(scalar.prim);
                    if let (Number::Int(value), Some(names)) = (number, scalar.names)
                        && let Some(name) = names.name_of(value)
                    {
                        json = json!(name);
                    }
                    (FieldValue::Number(number), json)
                }
                Kind::Str => {
                    let text = format!("{} \"é\u{1f600}\0\n\" {}", name, self.next());
                    (FieldValue::Str(text.clone().into()), json!(text))
                }
                Kind::Table(desc) => {
                    let (table, json) = self.table(desc, None);
                    (FieldValue::Table(table), json)
                }
                Kind::Scalars { prim, .. } => {
                    let (numbers, json): (Vec<_>, Vec<_>) =
                        (0..3).map(|_| self.number(prim)).unzip();
                    let bytes = numbers.into_iter().flat_map(|number| stored(number, prim));
                    (FieldValue::Scalars(bytes.collect::<Vec<_>>().into()), json!(json))
                }
                Kind::Strs => {
                    let texts: Vec<_> = (0..3).map(|_| format!("é {}", self.next())).collect();
                    let owned = texts.iter().map(|text| text.clone().into()).collect();
                    (FieldValue::Strs(owned), json!(texts))
                }
                Kind::Tables(desc) => {
                    let union = desc.fields.iter().find_map(|field| match field.kind {
                        Kind::Union(union) => Some(union),
                        _ => None,
                    });
                    let tags = match union {
                        None => vec![None, None],
                        Some(union) => (1..).take(union.members.len()).map(Some).collect(),
                    };
                    let (tables, json): (Vec<_>, Vec<_>) =
                        tags.into_iter().map(|tag| self.table(desc, tag)).unzip();
                    (FieldValue::Tables(tables), json!(json))
                }
                Kind::Union(union) => {
                    let tag = tag.unwrap();
                    let member = union.member(tag).unwrap();
                    let (table, json) = self.table(member.table, None);
                    want.insert(format!("{name}_type"), json!(member.name));
                    (FieldValue::Union(tag, Some(table)), json)
                }
            };
            object.set(field.name, value).unwrap();
            want.insert(name, json);
        }
        (object, want.into())
    }

    fn number(&mut self, prim: Prim) -> (Number, serde_json::Value) {
        let value = self.next();
        match prim {
            Prim::Bool => (Number::Bool(true), json!(true)),
            Prim::F32 => (Number::Single(f32::from(value)), json!(f32::from(value))),
            Prim::F64 => (Number::Float(0.1 * f64::from(value)), json!(0.1 * f64::from(value))),
            // Small enough to lie within the segment, if it is an offset or a size.
            _ => (Number::Int(value.into()), json!(value)),
        }
    }

    fn next(&mut self) -> u8 {
        self.last = self.last % 120 + 1;
        self.last
    }
}

fn stored(number: Number, prim: Prim) -> Vec<u8> {
    match number {
        Number::Bool(value) => vec![value.into()],
        Number::Single(value) => value.to_le_bytes().to_vec(),
        Number::Float(value) => value.to_le_bytes().to_vec(),
        Number::Int(value) => value.to_le_bytes()[..prim.size().into()].to_vec(),
    }
}
