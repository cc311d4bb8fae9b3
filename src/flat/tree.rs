//! A tree of tables: what is written, and what holds it to its declaration.

use core::fmt;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::flat::desc::{FieldDesc, Kind, Number, TableDesc, UnionDesc};
use crate::flat::ledger::MemoryError;
use crate::quoted::Quoted;

mod read;

pub use read::Unknown;

/// A table and everything below it: the fields that are there, each of its declared kind. Strings
/// and numbers may be borrowed.
///
/// No schema refers to itself, so a tree is as shallow as its schema.
#[derive(Clone, Debug)]
pub struct Object<'t> {
    desc: &'static TableDesc,
    /// By ascending slot.
    fields: Vec<(&'static FieldDesc, FieldValue<'t>)>,
}

/// What a field of an [`Object`] holds.
#[derive(Clone, Debug)]
pub enum FieldValue<'t> {
    /// A number or the number of an enum's value.
    Number(Number),
    /// A string.
    Str(Cow<'t, str>),
    /// A table.
    Table(Object<'t>),
    /// The elements of a vector of numbers as they stand in a file: little-endian.
    Scalars(Cow<'t, [u8]>),
    /// A vector of tables.
    Tables(Vec<Object<'t>>),
    /// A union's tag and its table. A member that the schema does not know may be stood in for by
    /// any other one; either half may be missing (0 for the tag), which readers refuse.
    Union(u8, Option<Object<'t>>),
}

/// Why an [`Object`] does not take a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SetError {
    /// The table has no field of that name.
    UnknownField {
        /// The table.
        table: &'static TableDesc,
        /// The name that was asked for.
        name: String,
    },
    /// The field holds something else.
    WrongValue {
        /// The table.
        table: &'static TableDesc,
        /// The field.
        field: &'static FieldDesc,
    },
    /// There is no memory for the field.
    Memory(MemoryError),
}

impl<'t> Object<'t> {
    /// A table without fields.
    pub fn new(desc: &'static TableDesc) -> Self {
        Self { desc, fields: Vec::new() }
    }

    /// A table with these fields, in the order of the declaration, each of which fits.
    pub(crate) fn filled<const N: usize>(
        desc: &'static TableDesc,
        values: [Option<FieldValue<'t>>; N],
    ) -> Result<Self, MemoryError> {
        let mut fields = Vec::new();
        fields.try_reserve_exact(values.iter().flatten().count())?;
        let values = desc.fields.iter().zip(values);
        fields.extend(values.filter_map(|(field, value)| Some((field, value?))));
        Ok(Self { desc, fields })
    }

    /// Its declaration.
    pub fn desc(&self) -> &'static TableDesc {
        self.desc
    }

    /// The fields that are there, by ascending slot.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&'static FieldDesc, &FieldValue<'t>)> {
        self.fields.iter().map(|(field, value)| (*field, value))
    }

    /// What the field of that name holds; `None` if it is absent or unknown.
    pub fn field(&self, name: &str) -> Option<&FieldValue<'t>> {
        self.fields().find(|(field, _)| field.name == name).map(|(_, value)| value)
    }

    /// Gives the field of that name a value, whether it had one or not.
    ///
    /// # Errors
    ///
    /// Where the table has no such field, the field holds something else, or there is no memory.
    pub fn set(&mut self, name: &str, value: FieldValue<'t>) -> Result<(), SetError> {
        let table = self.desc;
        let Some(field) = table.field(name) else {
            return Err(SetError::UnknownField { table, name: name.into() });
        };
        if !fits(&value, field.kind) {
            return Err(SetError::WrongValue { table, field });
        }
        match self.fields.binary_search_by_key(&field.slot, |(field, _)| field.slot) {
            Ok(at) => {
                if let Some((_, held)) = self.fields.get_mut(at) {
                    *held = value;
                }
            }
            Err(at) => {
                self.fields.try_reserve_exact(1).map_err(|error| SetError::Memory(error.into()))?;
                self.fields.insert(at, (field, value));
            }
        }
        Ok(())
    }

    /// Takes the value of the field of that name out; the field is then absent.
    pub fn take(&mut self, name: &str) -> Option<FieldValue<'t>> {
        let at = self.fields.iter().position(|(field, _)| field.name == name)?;
        Some(self.fields.remove(at).1)
    }
}

impl FieldValue<'_> {
    /// A union of a tag that the schema does not know, with a member in the unknown one's place.
    pub(crate) fn unknown_member(tag: u8, desc: &UnionDesc) -> Self {
        Self::Union(tag, desc.members.first().map(|member| Object::new(member)))
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::UnknownField { table, name } => {
                write!(f, "{} has no field {}", table.name, Quoted(name))
            }
            Self::WrongValue { table, field } => {
                write!(f, "{}.{} takes ", table.name, field.name)?;
                match field.kind {
                    Kind::Scalar(scalar) => match scalar.prim.range() {
                        Some(range) => {
                            write!(f, "a number from {} to {}", range.start(), range.end())
                        }
                        None => write!(f, "a {}", scalar.prim.name()),
                    },
                    Kind::Str => f.write_str("a string"),
                    Kind::Table(desc) => write!(f, "a table {}", desc.name),
                    Kind::Scalars { prim, .. } => {
                        write!(f, "bytes, {} for each {}", prim.size(), prim.name())
                    }
                    Kind::Tables(desc) => write!(f, "tables {}", desc.name),
                    Kind::Union(desc) => write!(f, "a member of {} with its tag", desc.name),
                }
            }
        }
    }
}

impl core::error::Error for SetError {}

/// Whether a field of `kind` can hold `value`: what the layout relies on.
fn fits(value: &FieldValue<'_>, kind: Kind) -> bool {
    let is = |object: &Object<'_>, desc: &TableDesc| core::ptr::eq(object.desc, desc);
    match (value, kind) {
        (FieldValue::Number(number), Kind::Scalar(scalar)) => number.stored(scalar.prim).is_some(),
        (FieldValue::Str(_), Kind::Str) => true,
        (FieldValue::Table(object), Kind::Table(desc)) => is(object, desc),
        (FieldValue::Scalars(bytes), Kind::Scalars { prim, .. }) => {
            bytes.len().is_multiple_of(prim.size().into())
        }
        (FieldValue::Tables(objects), Kind::Tables(desc)) => objects.iter().all(|o| is(o, desc)),
        (FieldValue::Union(_, None), Kind::Union(_)) => true,
        (FieldValue::Union(tag, Some(object)), Kind::Union(desc)) => match desc.member(*tag) {
            Some(member) => is(object, member),
            // Only members keep the tree as shallow as its schema.
            None => desc.members.iter().any(|member| is(object, member)),
        },
        _ => false,
    }
}
