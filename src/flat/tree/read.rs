//! What a tree leaves out of a proven table.

use crate::bytes::wide;
use crate::flat::desc::{FieldDesc, Kind, SLOTS_LOOKED_AT, TableDesc};
use crate::flat::view::{Raw, Table};

/// What a model or a tree does not hold of the table that it was read from: what a newer writer
/// added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// Fields in slots that the declaration does not have. Of a table with more such slots than are
    /// looked at, all that follow count as one field, whether there is any or not.
    pub fields: u64,
    /// Unions whose tag is of no known member; the tree keeps the tag, and any member in its place.
    pub members: u64,
}

impl Unknown {
    /// Counts what a model of a proven table does not hold.
    pub(crate) fn of<'t>(table: impl Table<'t>) -> Self {
        fn desc<'t, T: Table<'t>>(_: T) -> &'static TableDesc {
            T::DESC
        }
        let mut unknown = Self::default();
        unknown.count(table.raw(), desc(table));
        unknown
    }

    /// Whether everything is held.
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
            Kind::Scalar(_) | Kind::Str | Kind::Scalars { .. } => {}
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
                    Some(member) => self.count(value.resolved(), member),
                    None => self.members = self.members.saturating_add(1),
                }
            }
        }
    }
}
