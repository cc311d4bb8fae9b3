//! Compares tables field by field, from their declarations. A new field needs a line here only if it is not
//! compared, or is displayed under another name.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::digest::{Hasher, Sha};
use super::text;
use pte_flat::desc::{FieldDesc, Kind, Number, Prim, ScalarDesc, TableDesc};
use pte_flat::view::{Raw, Table};
use pte_schema::scalar::ScalarType;

/// The fields that are not compared: table, field, reason.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("Tensor", "data_buffer_idx", "the data that it leads to is compared"),
    ("Tensor", "allocation_info", "places in arenas are differences of the memory plan"),
    ("ExtraTensorInfo", "mutable_data_segments_idx", "the data that it leads to is compared"),
    ("ExtraTensorInfo", "fully_qualified_name", "a key is compared by its data, a name as a name"),
    ("ExtraTensorInfo", "location", "the data that it leads to is compared"),
    ("TensorMetadata", "fully_qualified_name", "entries are matched by it"),
    ("TensorMetadata", "segment_index", "the data that it leads to is compared"),
    ("TensorMetadata", "offset", "the data that it leads to is compared"),
    ("XNNTensorValue", "id_out", "values are matched by the nodes that name them"),
    ("XNNTensorValue", "num_dims", "the backend takes the length of the list"),
    ("XNNTensorValue", "constant_buffer_idx", "the data that it leads to is compared"),
    ("PerChannelQuant", "scale_buffer_idx", "the data that it leads to is compared"),
    ("PerChannelQuant", "num_scales", "the backend does not read it"),
    ("PerChannelGroupQuant", "scale_buffer_idx", "the data that it leads to is compared"),
    ("PerChannelGroupQuant", "num_scales", "the backend does not read it"),
    ("XNNStaticTranspose", "num_dims", "the backend takes the length of the list"),
    ("XNNStaticReshape", "num_dims", "the backend takes the length of the list"),
    ("XNNStaticSlice", "num_dims", "the backend takes the length of the list"),
];

/// The fields that are shown first, in this order, each with its displayed name. Other fields
/// follow under their own names. Fields with the same displayed name form one difference.
const NAMES: &[(&str, &str)] = &[
    ("scalar_type", "dtype"),
    ("sizes", "sizes"),
    ("dim_order", "dim order"),
    ("shape_dynamism", "dynamism"),
    ("layout", "layout"),
    ("storage_offset", "storage offset"),
    ("requires_grad", "requires_grad"),
    ("device_type", "device"),
    ("device_index", "device"),
];

/// A field that differs: its name, and its text before and after.
pub(super) type Field = (&'static str, String, String);

/// Returns the fields of a table that are compared.
fn compared(desc: &'static TableDesc) -> impl Iterator<Item = &'static FieldDesc> {
    let is_left_out = |name: &str| LEFT_OUT.iter().any(|row| (row.0, row.1) == (desc.name, name));
    desc.fields.iter().filter(move |field| !is_left_out(field.name) && !is_id(desc, field))
}

/// Returns whether a field of a payload's node is the id of a value. Values are matched by the nodes that
/// name them.
fn is_id(desc: &TableDesc, field: &FieldDesc) -> bool {
    desc.name.trim_start_matches('_').starts_with("XNN")
        && field.name.ends_with("_id")
        && field.name != "external_id"
}

/// A table with its declaration.
#[derive(Clone, Copy)]
pub(super) struct TableRef<'a> {
    raw: Option<Raw<'a>>,
    desc: &'static TableDesc,
}

impl<'a> TableRef<'a> {
    pub(super) fn of<T: Table<'a>>(table: T) -> Self {
        Self { raw: Some(table.raw()), desc: T::DESC }
    }

    /// Returns a table without fields.
    pub(super) fn absent(desc: &'static TableDesc) -> Self {
        Self { raw: None, desc }
    }

    /// Returns the member of the union in a table, and its name. `None` without a union or for an unknown tag.
    pub(super) fn member<T: Table<'a>>(
        table: T,
        desc: &'static TableDesc,
    ) -> Option<(&'static str, Self)> {
        let (_, union) = desc.union?;
        let (tag, raw) = table.raw().member(desc)?;
        let member = union.member(tag)?;
        Some((member.name, Self { raw: Some(raw), desc: member.table }))
    }

    /// Returns the fields that are ids of values, with the ids.
    pub(super) fn ids(self) -> impl Iterator<Item = (&'static str, u32)> {
        let fields = self.desc.fields.iter().filter(move |field| is_id(self.desc, field));
        fields.map(move |field| {
            let id = self.raw.and_then(|raw| raw.scalar::<u32>(field.slot));
            (field.name, id.unwrap_or_default())
        })
    }

    /// Adds the table to a digest.
    pub(super) fn hash(self, hasher: &mut Hasher) {
        hash(self.raw, self.desc, hasher);
    }

    /// Returns the number of bytes that hashing reads.
    pub(super) fn len(self) -> u64 {
        let lists = compared(self.desc).map(|field| match field.kind {
            Kind::Scalars { prim, .. } => numbers(self.raw, field, prim).map_or(0, <[u8]>::len),
            _ => 8,
        });
        lists.fold(0, |sum, len| sum.saturating_add(pte_flat::bytes::wide(len)))
    }

    /// Returns the position of the table in its FlatBuffer.
    pub(super) fn pos(self) -> Option<u32> {
        self.raw.map(Raw::pos)
    }

    /// Returns this table's field with the name of `other`, and the table. If there is no such field,
    /// returns `other` without a table: the value is then the default of `other`.
    fn like(self, other: &'static FieldDesc) -> (Option<Raw<'a>>, &'static FieldDesc) {
        match compared(self.desc).find(|field| field.name == other.name) {
            Some(field) => (self.raw, field),
            None => (None, other),
        }
    }
}

/// Returns a digest of the fields that differ from their defaults, by name. Tables of two declarations have
/// the same digest if these fields are equal.
pub(super) fn digest(table: TableRef<'_>) -> Sha {
    let mut fields: Vec<_> = compared(table.desc).collect();
    fields.sort_unstable_by_key(|field| field.name);
    let mut hasher = Hasher::of(b'f');
    for field in fields {
        let digest = |raw| {
            let mut hasher = Hasher::of(b'F');
            hash_field(raw, field, &mut hasher);
            hasher.finish()
        };
        let own = digest(table.raw);
        if own != digest(None) {
            hasher.text(Some(field.name)).bytes(&own);
        }
    }
    hasher.finish()
}

/// Adds a table to a digest. A missing table counts as one without fields.
pub(super) fn hash(raw: Option<Raw<'_>>, desc: &'static TableDesc, hasher: &mut Hasher) {
    compared(desc).for_each(|field| hash_field(raw, field, hasher));
}

fn hash_field(raw: Option<Raw<'_>>, field: &FieldDesc, hasher: &mut Hasher) {
    match field.kind {
        Kind::Scalar(scalar) => match number(raw, field, scalar) {
            Number::Bool(flag) => _ = hasher.number(i64::from(flag)),
            Number::Int(int) => _ = hasher.bytes(&int.to_le_bytes()),
            Number::Single(float) => _ = hasher.bytes(&float.to_bits().to_le_bytes()),
            Number::Float(float) => _ = hasher.bytes(&float.to_bits().to_le_bytes()),
        },
        Kind::Str => _ = hasher.text(raw.and_then(|raw| raw.str(field.slot))),
        Kind::Scalars { prim, .. } => {
            // Runtimes refuse a missing list and accept an empty one.
            let items = numbers(raw, field, prim);
            hasher.number(i64::from(items.is_some())).bytes(items.unwrap_or_default());
        }
        Kind::Strs => {
            let strings = raw.and_then(|raw| raw.strings(field.slot));
            hasher.number(strings.map_or(0, |list| i64::from(pte_flat::bytes::narrow(list.len()))));
            strings.into_iter().flatten().for_each(|text| _ = hasher.text(Some(text)));
        }
        Kind::Table(desc) => hash(raw.and_then(|raw| raw.target(field.slot)), desc, hasher),
        Kind::Tables(desc) => {
            let list = raw.and_then(|raw| raw.list::<Raw<'_>>(field.slot));
            let items = list.into_iter().flat_map(|list| list.raws());
            hasher.number(list.map_or(0, |list| i64::from(pte_flat::bytes::narrow(list.len()))));
            items.for_each(|item| hash(Some(item), desc, hasher));
        }
        Kind::Union(union) => {
            let member = raw.and_then(|raw| raw.union(field.slot));
            hasher.number(member.map_or(0, |(tag, _)| tag));
            if let Some((tag, raw)) = member
                && let Some(known) = union.member(tag)
            {
                hash(Some(raw.resolved()), known.table, hasher);
            }
        }
    }
}

/// Returns the fields whose texts differ between two tables. Fields of two declarations are compared by name.
pub(super) fn differing(old: TableRef<'_>, new: TableRef<'_>) -> Vec<Field> {
    let mut texts: Vec<Field> = Vec::new();
    add(old, new, &mut texts);
    texts.retain(|(_, before, after)| before != after);
    let rank = |name: &str| NAMES.iter().position(|row| row.1 == name).unwrap_or(usize::MAX);
    texts.sort_by_key(|(name, ..)| rank(name));
    texts
}

/// Adds the texts of every field, whether they differ or not. Fields of one displayed name share a text.
fn add(old: TableRef<'_>, new: TableRef<'_>, texts: &mut Vec<Field>) {
    let is_old = |name: &str| compared(old.desc).any(|field| field.name == name);
    let only_new = compared(new.desc).filter(|field| !is_old(field.name));
    for field in compared(old.desc).chain(only_new) {
        let ((old, old_field), (new, new_field)) = (old.like(field), new.like(field));
        if let (Kind::Table(old_desc), Kind::Table(new_desc)) = (old_field.kind, new_field.kind) {
            let old =
                TableRef { raw: old.and_then(|raw| raw.target(old_field.slot)), desc: old_desc };
            let new =
                TableRef { raw: new.and_then(|raw| raw.target(new_field.slot)), desc: new_desc };
            add(old, new, texts);
            continue;
        }
        let name = NAMES.iter().find(|row| row.0 == field.name).map_or(field.name, |row| row.1);
        let (before, after) = (text(old, old_field), text(new, new_field));
        match texts.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, one, other)) => {
                one.push_str(&format!(" {before}"));
                other.push_str(&format!(" {after}"));
            }
            None => texts.push((name, before, after)),
        }
    }
}

fn text(raw: Option<Raw<'_>>, field: &FieldDesc) -> String {
    match field.kind {
        Kind::Scalar(scalar) => match (number(raw, field, scalar), scalar.names) {
            (Number::Int(int), Some(names)) if names.name == "ScalarType" => {
                text::dtype(ScalarType(i8::try_from(int).unwrap_or_default()))
            }
            (Number::Int(int), Some(names)) => {
                names.name_of(int).map_or_else(|| int.to_string(), ToString::to_string)
            }
            (Number::Int(int), None) => int.to_string(),
            (Number::Bool(flag), _) => flag.to_string(),
            (Number::Single(float), _) => float.to_string(),
            (Number::Float(float), _) => float.to_string(),
        },
        Kind::Str => raw.and_then(|raw| raw.str(field.slot)).map_or("none".into(), text::quoted),
        Kind::Scalars { prim, .. } => {
            let size = usize::from(prim.size()).max(1);
            let Some(items) = numbers(raw, field, prim) else { return "none".into() };
            let items = items.chunks(size);
            text::list(items.filter_map(|item| match Number::from_le(item, prim)? {
                Number::Int(int) => Some(int.to_string()),
                Number::Bool(flag) => Some(flag.to_string()),
                Number::Single(float) => Some(float.to_string()),
                Number::Float(float) => Some(float.to_string()),
            }))
        }
        // No compared table has such fields, which a test checks.
        Kind::Table(_) | Kind::Tables(_) | Kind::Strs | Kind::Union(_) => "tables".into(),
    }
}

fn number(raw: Option<Raw<'_>>, field: &FieldDesc, scalar: ScalarDesc) -> Number {
    raw.and_then(|raw| raw.number(field.slot, scalar.prim)).unwrap_or(scalar.default)
}

fn numbers<'a>(raw: Option<Raw<'a>>, field: &FieldDesc, prim: Prim) -> Option<&'a [u8]> {
    Some(raw?.vector_bytes(field.slot, prim)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pte_schema::{flat_tensor, flat_tensor_legacy, program, xnnpack};

    /// The tables that are compared by their declarations.
    fn tables() -> impl Iterator<Item = &'static TableDesc> {
        let desc = (&program::desc::Tensor, &program::desc::ExtraTensorInfo);
        let data = (&flat_tensor::desc::TensorLayout, &flat_tensor_legacy::desc::TensorMetadata);
        // The tables of payloads that do not refer to other tables.
        let of_payloads = xnnpack::desc::SCHEMA.tables.iter().copied();
        let refers = |desc: &&TableDesc| {
            desc.fields.iter().any(|field| {
                matches!(field.kind, Kind::Table(_) | Kind::Tables(_) | Kind::Union(_))
            })
        };
        let of_payloads = of_payloads.filter(move |desc| !refers(desc));
        [desc.0, desc.1, data.0, data.1].into_iter().chain(of_payloads)
    }

    #[test]
    fn fields_that_are_left_out_or_named_exist() {
        for (table, field, _) in LEFT_OUT {
            let found = tables().find(|desc| desc.name == *table);
            assert!(found.unwrap().field(field).is_some(), "{table}.{field}");
        }
        for (field, _) in NAMES {
            assert!(tables().flat_map(compared).any(|known| known.name == *field));
        }
    }

    /// `text` has no form for lists of tables and unions.
    #[test]
    fn no_compared_table_has_lists_of_tables() {
        for field in tables().flat_map(compared) {
            assert!(!matches!(field.kind, Kind::Tables(_) | Kind::Union(_)), "{}", field.name);
        }
    }
}
