//! Tables as plain structs that own what they hold.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::{Place, Step};
use crate::flat::desc::TableDesc;
use crate::flat::tree::{Object, Value};
use crate::flat::view::{List, Scalar, Table};

pub(crate) mod declare;

/// A table as a struct: every field by its name, numbers by value, everything else optional.
pub trait Model: Sized {
    /// Its declaration.
    const DESC: &'static TableDesc;

    /// The tree of it, which [`write`](fn@crate::flat::write::write) takes; strings and bytes are
    /// borrowed.
    fn to_object(&self) -> Object<'_>;

    /// The struct of a tree, such as `flat::load` makes of JSON.
    ///
    /// # Errors
    ///
    /// Where the tree is of another table, or a union in it has a tag or a value alone.
    fn from_object(object: Object<'_>) -> Result<Self, TreeError>;
}

/// Why a tree is not the struct that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeError {
    fault: Fault,
    /// Innermost step first.
    path: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is of this table.
    OtherTable(&'static str),
    /// A union has this tag and no value, or a value and no tag.
    HalfUnion(u8),
}

impl TreeError {
    /// A union of which one half is missing.
    pub(crate) fn half(tag: u8) -> Self {
        Self { fault: Fault::HalfUnion(tag), path: Vec::new() }
    }

    /// The same, one step further from the root.
    pub(crate) fn within(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    /// The way from the root to the wrong place, for showing; nothing for the root itself.
    pub fn place(&self) -> Place<'_> {
        Place::new(None, &self.path)
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::OtherTable(name) => write!(f, "this is a table {name}"),
            Fault::HalfUnion(0) => f.write_str("a union has a value, and no tag to say of what"),
            Fault::HalfUnion(tag) => write!(f, "a union has the tag {tag}, and no value"),
        }
    }
}

impl core::error::Error for TreeError {}

/// A tag that the union does not know.
#[cfg(feature = "arbitrary")]
pub(crate) fn unknown_tag(
    desc: &crate::flat::desc::UnionDesc,
    random: &mut arbitrary::Unstructured<'_>,
) -> arbitrary::Result<u8> {
    let known = u8::try_from(desc.members.len()).unwrap_or(u8::MAX);
    random.int_in_range(known.saturating_add(1)..=u8::MAX)
}

/// Every table of a vector as a struct.
pub(crate) fn models<'a, V: Table<'a>, M: From<V>>(views: List<'a, V>) -> Vec<M> {
    views.into_iter().map(Into::into).collect()
}

/// Every table of a vector as a tree.
pub(crate) fn tables<M: Model>(models: &[M]) -> Value<'_> {
    Value::Tables(models.iter().map(Model::to_object).collect())
}

/// The elements of a vector as they stand in a file.
pub(crate) fn scalars<T: Scalar>(items: &[T]) -> Value<'_> {
    Value::Scalars(T::to_bytes(items))
}

/// A tree as it came, if it is of that table.
pub(crate) fn checked<'t>(
    object: Object<'t>,
    desc: &'static TableDesc,
) -> Result<Object<'t>, TreeError> {
    match core::ptr::eq(object.desc(), desc) {
        true => Ok(object),
        false => Err(TreeError { fault: Fault::OtherTable(object.desc().name), path: Vec::new() }),
    }
}

/// The string that a field holds.
pub(crate) fn string_of(value: Option<Value<'_>>) -> Option<String> {
    match value? {
        Value::Str(text) => Some(text.into_owned()),
        _ => None,
    }
}

/// The number that a field holds.
pub(crate) fn number_of<T: Scalar>(value: Option<Value<'_>>) -> Option<T> {
    match value? {
        Value::Number(number) => T::read_le(number.stored(T::PRIM)?.get(..T::PRIM.size().into())?),
        _ => None,
    }
}

/// The numbers that a field holds.
pub(crate) fn scalars_of<T: Scalar>(value: Option<Value<'_>>) -> Option<Vec<T>> {
    match value? {
        Value::Scalars(bytes) => Some(T::from_bytes(&bytes)),
        _ => None,
    }
}

/// The table that a field holds.
pub(crate) fn table_of<M: Model>(value: Option<Value<'_>>) -> Result<Option<M>, TreeError> {
    match value {
        Some(Value::Table(object)) => M::from_object(object).map(Some),
        _ => Ok(None),
    }
}

/// The tables that a field holds.
pub(crate) fn tables_of<M: Model>(value: Option<Value<'_>>) -> Result<Option<Vec<M>>, TreeError> {
    let Some(Value::Tables(objects)) = value else { return Ok(None) };
    let models = (0..).zip(objects).map(|(nth, object)| {
        M::from_object(object).map_err(|error| error.within(Step::Index(nth)))
    });
    models.collect::<Result<_, _>>().map(Some)
}
