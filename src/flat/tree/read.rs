//! A proven table as a tree, by its declaration.

use alloc::vec::Vec;

use super::{Object, Value};
use crate::bytes::wide;
use crate::flat::desc::{FieldDesc, Kind, SLOTS_LOOKED_AT, TableDesc};
use crate::flat::view::{Raw, Table};

/// What a tree does not hold of the table that it was read from, since no one here knows what it
/// is: a newer writer's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// Fields in slots that the declaration does not have. Of a table with more such slots than are
    /// looked at, all that follow count as one field, whether there is any or not.
    pub fields: u64,
    /// Unions whose tag is of no known member; the tree keeps the tag, and any member in its place.
    pub members: u64,
}

impl Unknown {
    /// Whether the tree holds everything.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl<'t> Object<'t> {
    /// The tree of a proven table, its strings and numbers borrowed, and what the tree leaves out.
    pub fn of<T: Table<'t>>(table: T) -> (Self, Unknown) {
        let mut unknown = Unknown::default();
        let object = read(table.raw(), T::DESC, &mut unknown);
        (object, unknown)
    }
}

fn read<'t>(raw: Raw<'t>, desc: &'static TableDesc, unknown: &mut Unknown) -> Object<'t> {
    let fields = desc.fields.iter();
    let fields = fields.filter_map(|field| Some((field, value(raw, field, unknown)?))).collect();
    let (known, slots) = (desc.slots(), raw.slots());
    let last = known.saturating_add(SLOTS_LOOKED_AT);
    let more = (known..last.min(slots)).filter(|&slot| raw.offset_of(slot) != 0).count();
    let more = wide(more).saturating_add(u64::from(slots > last));
    unknown.fields = unknown.fields.saturating_add(more);
    Object { desc, fields }
}

fn value<'t>(raw: Raw<'t>, field: &FieldDesc, unknown: &mut Unknown) -> Option<Value<'t>> {
    let slot = field.slot;
    Some(match field.kind {
        Kind::Scalar(scalar) => Value::Number(raw.number(slot, scalar.prim)?),
        Kind::Str => Value::Str(raw.str(slot)?.into()),
        Kind::Table(desc) => Value::Table(read(raw.target(slot)?, desc, unknown)),
        Kind::Scalars { prim, .. } => Value::Scalars(raw.vector_bytes(slot, prim)?.0.into()),
        Kind::Tables(desc) => {
            let list = raw.list::<Raw<'t>>(slot)?;
            let objects: Vec<_> = list.raws().map(|raw| read(raw, desc, unknown)).collect();
            Value::Tables(objects)
        }
        Kind::Union(desc) => {
            let (tag, value) = raw.union(slot)?;
            match desc.member(tag) {
                Some(member) => Value::Union(tag, Some(read(value.resolved(), member, unknown))),
                None => {
                    unknown.members = unknown.members.saturating_add(1);
                    Value::unknown_member(tag, desc)
                }
            }
        }
    })
}
