//! Trees of tables that fit their declarations.

use core::fmt;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::desc::{FieldDesc, Kind, MOST_NESTED, Number, TableDesc, UnionDesc};
use crate::ledger::MemoryError;
use crate::quoted::Quoted;

mod read;

pub use read::Unknown;

/// A table with everything that it refers to. Each field has a value of its declared kind. Strings
/// and numbers may be borrowed.
///
/// The depth of a tree is bounded by its schema, with at most [`MOST_NESTED`] nested tables of
/// recursive fields.
#[derive(Clone, Debug)]
pub struct Object<'t> {
    desc: &'static TableDesc,
    /// The present fields, by ascending slot.
    fields: Vec<(&'static FieldDesc, FieldValue<'t>)>,
}

/// The value of a field of an [`Object`].
#[derive(Clone, Debug)]
pub enum FieldValue<'t> {
    /// A number, or the number of an enum's value.
    Number(Number),
    /// A string.
    Str(Cow<'t, str>),
    /// A table.
    Table(Object<'t>),
    /// The elements of a vector of numbers as stored: little-endian.
    Scalars(Cow<'t, [u8]>),
    /// A vector of tables.
    Tables(Vec<Object<'t>>),
    /// A vector of strings.
    Strs(Vec<Cow<'t, str>>),
    /// A union's tag and its table. For an unknown tag, the table may be any member. If the tag is
    /// 0 or the table is missing, readers refuse the union.
    Union(u8, Option<Object<'t>>),
}

/// The reason why a field of an [`Object`] cannot be set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SetError {
    /// The table has no field of that name.
    UnknownField {
        /// The table.
        table: &'static TableDesc,
        /// The given name.
        name: String,
    },
    /// The value does not have the kind of the field.
    WrongValue {
        /// The table.
        table: &'static TableDesc,
        /// The field.
        field: &'static FieldDesc,
    },
    /// More than [`MOST_NESTED`] tables of recursive fields would be nested.
    TooDeep,
    /// There is no memory for the field.
    Memory(MemoryError),
}

impl<'t> Object<'t> {
    /// Creates a table without fields.
    pub fn new(desc: &'static TableDesc) -> Self {
        Self { desc, fields: Vec::new() }
    }

    /// Returns the declaration.
    pub fn desc(&self) -> &'static TableDesc {
        self.desc
    }

    /// Returns the fields that are present, by ascending slot.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&'static FieldDesc, &FieldValue<'t>)> {
        self.fields.iter().map(|(field, value)| (*field, value))
    }

    /// Returns the value of the field called `name`; `None` if it is absent or unknown.
    pub fn field(&self, name: &str) -> Option<&FieldValue<'t>> {
        self.fields().find(|(field, _)| field.name == name).map(|(_, value)| value)
    }

    /// Sets the field called `name`.
    ///
    /// # Errors
    ///
    /// If the table has no such field, the value does not fit, or memory is short.
    pub fn set(&mut self, name: &str, value: FieldValue<'t>) -> Result<(), SetError> {
        let table = self.desc;
        let Some(field) = table.field(name) else {
            return Err(SetError::UnknownField { table, name: name.into() });
        };
        if !fits(&value, field.kind) {
            return Err(SetError::WrongValue { table, field });
        }
        // Each subtree was bounded when its own recursive fields were set.
        if field.recursive && nesting(&value) >= MOST_NESTED {
            return Err(SetError::TooDeep);
        }
        match self.fields.binary_search_by_key(&field.slot, |(field, _)| field.slot) {
            Ok(at) => {
                if let Some((_, slot)) = self.fields.get_mut(at) {
                    *slot = value;
                }
            }
            Err(at) => {
                self.fields.try_reserve_exact(1).map_err(|error| SetError::Memory(error.into()))?;
                self.fields.insert(at, (field, value));
            }
        }
        Ok(())
    }

    /// Removes and returns the value of the field called `name`.
    pub fn take(&mut self, name: &str) -> Option<FieldValue<'t>> {
        let at = self.fields.iter().position(|(field, _)| field.name == name)?;
        Some(self.fields.remove(at).1)
    }
}

impl FieldValue<'_> {
    /// Returns a union with an unknown tag. An empty table of any member stands in for its value.
    pub fn unknown_member(tag: u8, desc: &UnionDesc) -> Self {
        Self::Union(tag, desc.members.first().map(|member| Object::new(member.table)))
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::TooDeep => write!(
                f,
                "tables of recursive fields are more than {MOST_NESTED} deep in one another"
            ),
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
                    Kind::Strs => f.write_str("strings"),
                    Kind::Union(desc) => write!(f, "a member of {} with its tag", desc.name),
                }
            }
        }
    }
}

impl core::error::Error for SetError {}

/// Returns the greatest nesting of recursive fields in `value`.
fn nesting(value: &FieldValue<'_>) -> u32 {
    let of = |object: &Object<'_>| {
        let fields = object.fields();
        let below =
            fields.map(|(field, value)| nesting(value).saturating_add(field.recursive.into()));
        below.max().unwrap_or_default()
    };
    match value {
        FieldValue::Table(object) | FieldValue::Union(_, Some(object)) => of(object),
        FieldValue::Tables(objects) => objects.iter().map(of).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Returns whether a field of `kind` can hold `value`. The writer relies on this check.
fn fits(value: &FieldValue<'_>, kind: Kind) -> bool {
    let is = |object: &Object<'_>, desc: &TableDesc| core::ptr::eq(object.desc, desc);
    match (value, kind) {
        (FieldValue::Number(number), Kind::Scalar(scalar)) => number.stored(scalar.prim).is_some(),
        (FieldValue::Str(_), Kind::Str) | (FieldValue::Strs(_), Kind::Strs) => true,
        (FieldValue::Table(object), Kind::Table(desc)) => is(object, desc),
        (FieldValue::Scalars(bytes), Kind::Scalars { prim, .. }) => {
            bytes.len().is_multiple_of(prim.size().into())
        }
        (FieldValue::Tables(objects), Kind::Tables(desc)) => objects.iter().all(|o| is(o, desc)),
        (FieldValue::Union(_, None), Kind::Union(_)) => true,
        (FieldValue::Union(tag, Some(object)), Kind::Union(desc)) => match desc.member(*tag) {
            Some(member) => is(object, member.table),
            // For an unknown tag, a table of another type could exceed the depth of the schema.
            None => desc.members.iter().any(|member| is(object, member.table)),
        },
        _ => false,
    }
}
