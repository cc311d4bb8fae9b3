//! Counts the parts of a proven table that a tree or struct cannot hold.

use crate::bytes::wide;
use crate::desc::{FieldDesc, Kind, SLOTS_LOOKED_AT, TableDesc};
use crate::view::{Raw, Table};

/// Counts of fields and union members of a newer writer, which a model or tree cannot hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// The number of fields in unknown slots. In a table with more than 64 unknown slots, all slots
    /// after the first 64 count as one field, present or not.
    pub fields: u64,
    /// The number of unions with an unknown tag. The tree keeps the tag.
    pub members: u64,
}

impl Unknown {
    /// Counts the unknown parts of a proven table and of all tables below it.
    pub fn of<'t>(table: impl Table<'t>) -> Self {
        fn desc<'t, T: Table<'t>>(_: T) -> &'static TableDesc {
            T::DESC
        }
        let mut unknown = Self::default();
        unknown.count(table.raw(), desc(table));
        unknown
    }

    /// Returns whether all counts are zero.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    fn count(&mut self, raw: Raw<'_>, desc: &'static TableDesc) {
        desc.fields.iter().for_each(|field| self.count_field(raw, field));
        let (known, slots) = (desc.slots(), raw.slots());
        let last = known.saturating_add(SLOTS_LOOKED_AT);
        let more = (known..last.min(slots)).filter(|&slot| raw.offset_of(slot) != 0).count();
        let more = wide(more).saturating_add(u64::from(slots > last));
        self.fields = self.fields.saturating_add(more);
    }

    fn count_field(&mut self, raw: Raw<'_>, field: &FieldDesc) {
        match field.kind {
            Kind::Scalar(_) | Kind::Str | Kind::Strs | Kind::Scalars { .. } => {}
            Kind::Table(desc) => {
                raw.target(field.slot).into_iter().for_each(|table| self.count(table, desc));
            }
            Kind::Tables(desc) => {
                let list = raw.list::<Raw<'_>>(field.slot);
                let tables = list.into_iter().flat_map(|list| list.raws());
                tables.for_each(|table| self.count(table, desc));
            }
            Kind::Union(desc) => {
                let Some((tag, value)) = raw.union(field.slot) else { return };
                match desc.member(tag) {
                    Some(member) => self.count(value.resolved(), member.table),
                    None => self.members = self.members.saturating_add(1),
                }
            }
        }
    }
}
