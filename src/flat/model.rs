//! Tables as plain structs that own what they hold.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::{PathComponent, Place};
use crate::flat::desc::TableDesc;
use crate::flat::ledger::{Ledger, MemoryError, Refused};
use crate::flat::node::Node;
use crate::flat::tree::{FieldValue, Object};
use crate::flat::view::{List, Scalar, Table, Vector};

pub(crate) mod declare;

/// A table as a struct: every field by its name, numbers by value, everything else optional.
/// [`write`](fn@crate::flat::write::write) takes it as it is.
pub trait Model: Node + Sized {
    /// Its declaration.
    const DESC: &'static TableDesc;

    /// Returns the tree of it, whose strings and bytes are borrowed.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfMemory`].
    fn to_object(&self) -> Result<Object<'_>, MemoryError>;

    /// Returns the struct of a tree, such as `flat::load` makes of JSON. Its memory is counted by
    /// `ledger`.
    ///
    /// # Errors
    ///
    /// Where the tree is of another table, a union in it has a tag or a value alone, or there is no
    /// memory.
    fn take_object(object: Object<'_>, ledger: &mut Ledger) -> Result<Self, TreeError>;

    /// Returns the struct of a tree, without a limit of memory.
    ///
    /// # Errors
    ///
    /// As those of [`take_object`](Self::take_object).
    fn from_object(object: Object<'_>) -> Result<Self, TreeError> {
        Self::take_object(object, &mut Ledger::unlimited())
    }
}

/// A struct of the tables that a view has.
pub(crate) trait FromView<V> {
    /// Returns the struct. What it refers to is counted by `ledger`, itself by the caller. Where the
    /// ledger refuses, the struct is not complete: a `Result` for each table would be copied from one to the next.
    fn read(view: V, ledger: &mut Ledger) -> Self;
}

/// Why a tree is not the struct that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeError {
    fault: Fault,
    /// Innermost step first.
    path: Vec<PathComponent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is of this table.
    OtherTable(&'static str),
    /// A union has this tag and no value, or a value and no tag.
    HalfUnion(u8),
    /// There is no memory for the struct.
    Memory(MemoryError),
}

impl TreeError {
    /// A union of which one half is missing.
    pub(crate) fn half(tag: u8) -> Self {
        Self { fault: Fault::HalfUnion(tag), path: Vec::new() }
    }

    /// No memory for the struct.
    pub(crate) fn memory(error: MemoryError) -> Self {
        Self { fault: Fault::Memory(error), path: Vec::new() }
    }

    /// Returns why there is no memory for the struct, if that is the error.
    pub(crate) fn as_memory(&self) -> Option<MemoryError> {
        match self.fault {
            Fault::Memory(error) => Some(error),
            _ => None,
        }
    }

    /// The same, one step further from the root.
    pub(crate) fn within(mut self, step: PathComponent) -> Self {
        // Where there is no memory, the way there is not worth any.
        if self.as_memory().is_none() {
            self.path.push(step);
        }
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
            Fault::Memory(error) => error.fmt(f),
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

/// Every table of a vector as a struct, as [`FromView::read`] has them.
pub(crate) fn models<'a, V: Table<'a>, M: FromView<V>>(
    views: List<'a, V>,
    ledger: &mut Ledger,
) -> Vec<M> {
    let mut models = ledger.vec(views.len(), V::DESC.written().into()).unwrap_or_default();
    for view in views {
        if ledger.is_refused() {
            break;
        }
        models.push(M::read(view, ledger));
    }
    models
}

/// The elements of a vector, as [`FromView::read`] has them.
#[inline]
pub(crate) fn numbers<T: Scalar>(vector: Vector<'_, T>, ledger: &mut Ledger) -> Vec<T> {
    let Ok(mut numbers) = ledger.vec(vector.len(), T::PRIM.size().into()) else {
        return Vec::new();
    };
    T::extend(&mut numbers, vector.bytes());
    numbers
}

/// Every table of a vector as a tree.
pub(crate) fn tables<M: Model>(models: &[M]) -> Result<FieldValue<'_>, MemoryError> {
    let mut objects = Vec::new();
    objects.try_reserve_exact(models.len())?;
    for model in models {
        objects.push(model.to_object()?);
    }
    Ok(FieldValue::Tables(objects))
}

/// The elements of a vector as they stand in a file.
pub(crate) fn scalars<T: Scalar>(items: &[T]) -> Result<FieldValue<'_>, MemoryError> {
    if let Some(bytes) = T::as_bytes(items) {
        return Ok(FieldValue::Scalars(bytes.into()));
    }
    let size = usize::from(T::PRIM.size());
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(items.len().saturating_mul(size))?;
    for item in items {
        let stored = item.to_number().stored(T::PRIM).unwrap_or_default();
        bytes.extend_from_slice(stored.get(..size).unwrap_or_default());
    }
    Ok(FieldValue::Scalars(bytes.into()))
}

/// A tree as it came, if it is of that table.
pub(crate) fn checked<'t>(
    object: Object<'t>,
    desc: &'static TableDesc,
    ledger: &mut Ledger,
) -> Result<Object<'t>, TreeError> {
    ledger.table(desc).map_err(|Refused| TreeError::memory(ledger.error()))?;
    match core::ptr::eq(object.desc(), desc) {
        true => Ok(object),
        false => Err(TreeError { fault: Fault::OtherTable(object.desc().name), path: Vec::new() }),
    }
}

/// The string that a field holds.
pub(crate) fn string_of(
    value: Option<FieldValue<'_>>,
    ledger: &mut Ledger,
) -> Result<Option<String>, TreeError> {
    match value {
        Some(FieldValue::Str(Cow::Owned(text))) => Ok(Some(text)),
        Some(FieldValue::Str(Cow::Borrowed(text))) => {
            ledger.string(text).map(Some).map_err(|Refused| TreeError::memory(ledger.error()))
        }
        _ => Ok(None),
    }
}

/// The number that a field holds.
pub(crate) fn number_of<T: Scalar>(value: Option<FieldValue<'_>>) -> Option<T> {
    match value? {
        FieldValue::Number(number) => {
            T::read_le(number.stored(T::PRIM)?.get(..T::PRIM.size().into())?)
        }
        _ => None,
    }
}

/// The numbers that a field holds.
pub(crate) fn scalars_of<T: Scalar>(
    value: Option<FieldValue<'_>>,
    ledger: &mut Ledger,
) -> Result<Option<Vec<T>>, TreeError> {
    let Some(FieldValue::Scalars(bytes)) = value else { return Ok(None) };
    let bytes = match bytes {
        Cow::Owned(bytes) => match T::from_owned(bytes) {
            Ok(items) => return Ok(Some(items)),
            Err(bytes) => Cow::Owned(bytes),
        },
        bytes => bytes,
    };
    let size = T::PRIM.size().into();
    let count = bytes.len().checked_div(size).unwrap_or_default();
    let numbers = ledger.vec(count, size);
    let mut numbers = numbers.map_err(|Refused| TreeError::memory(ledger.error()))?;
    T::extend(&mut numbers, &bytes);
    Ok(Some(numbers))
}

/// The table that a field holds.
pub(crate) fn table_of<M: Model>(
    value: Option<FieldValue<'_>>,
    ledger: &mut Ledger,
) -> Result<Option<M>, TreeError> {
    match value {
        Some(FieldValue::Table(object)) => M::take_object(object, ledger).map(Some),
        _ => Ok(None),
    }
}

/// The tables that a field holds.
pub(crate) fn tables_of<M: Model>(
    value: Option<FieldValue<'_>>,
    ledger: &mut Ledger,
) -> Result<Option<Vec<M>>, TreeError> {
    let Some(FieldValue::Tables(objects)) = value else { return Ok(None) };
    let models = ledger.vec(objects.len(), 0);
    let mut models = models.map_err(|Refused| TreeError::memory(ledger.error()))?;
    for (nth, object) in (0..).zip(objects) {
        let model = M::take_object(object, ledger);
        models.push(model.map_err(|error| error.within(PathComponent::Index(nth)))?);
    }
    Ok(Some(models))
}
