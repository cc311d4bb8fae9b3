//! Tables as plain structs.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::desc::TableDesc;
use crate::error::{PathComponent, Place};
use crate::ledger::{Ledger, MemoryError, Refused};
use crate::node::Node;
use crate::tree::{FieldValue, Object};
use crate::view::{List, Scalar, Strings, Table, Vector};

pub mod declare;
mod nested;

pub use nested::Nested;
pub use nested::{nested, nested_of};

/// A table as a struct. Numbers are plain fields, and all other fields are optional.
///
/// [`write`](fn@crate::write::write) can write it.
pub trait Model: Node + Sized {
    /// The declaration of the table.
    const DESC: &'static TableDesc;

    /// Converts a tree, such as one from `flat::load`, to a struct. `ledger` counts its memory.
    ///
    /// # Errors
    ///
    /// The tree is of another table, one half of a union is missing, or memory is short.
    fn take_object(object: Object<'_>, ledger: &mut Ledger) -> Result<Self, TreeError>;

    /// Converts a tree to a struct, without a memory budget.
    ///
    /// # Errors
    ///
    /// The errors of [`take_object`](Self::take_object).
    fn from_object(object: Object<'_>) -> Result<Self, TreeError> {
        Self::take_object(object, &mut Ledger::unlimited())
    }
}

/// Conversion from a view to a struct.
pub trait FromView<V> {
    /// Converts a view. The caller charges the memory of the struct itself; `ledger` counts the
    /// memory of everything that the struct refers to.
    ///
    /// If the ledger refuses memory, the struct is incomplete, so the caller must check the ledger.
    /// A `Result` for each table would copy each struct.
    fn read(view: V, ledger: &mut Ledger) -> Self;
}

/// An error in the conversion of a tree to a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeError {
    fault: Fault,
    /// The path to the error, the innermost component first.
    path: Vec<PathComponent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The tree is of another table, which is named here.
    OtherTable(&'static str),
    /// A union has this tag and no value, or a value and no tag.
    HalfUnion(u8),
    /// Recursive fields are nested too deeply.
    Nesting,
    /// There is no memory for the struct.
    Memory(MemoryError),
}

impl TreeError {
    /// The error of a union with only one half.
    pub fn half(tag: u8) -> Self {
        Self { fault: Fault::HalfUnion(tag), path: Vec::new() }
    }

    /// The error of a struct for which memory is short.
    pub(crate) fn memory(error: MemoryError) -> Self {
        Self { fault: Fault::Memory(error), path: Vec::new() }
    }

    /// The error of a recursive field whose table nests too many others.
    pub(crate) fn nesting() -> Self {
        Self { fault: Fault::Nesting, path: Vec::new() }
    }

    /// Returns the error as a memory error, if it is one.
    pub fn as_memory(&self) -> Option<MemoryError> {
        match self.fault {
            Fault::Memory(error) => Some(error),
            _ => None,
        }
    }

    /// Adds an outer component to the path.
    pub fn within(mut self, component: PathComponent) -> Self {
        // After a memory error the path is not extended, since it takes memory too.
        if self.as_memory().is_none() {
            self.path.push(component);
        }
        self
    }

    /// Returns the path from the root to the error; empty for the root itself.
    pub fn place(&self) -> Place<'_> {
        Place::new(None, &self.path)
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::OtherTable(name) => write!(f, "unexpected table {name}"),
            Fault::HalfUnion(0) => f.write_str("a union has a value and no tag"),
            Fault::HalfUnion(tag) => write!(f, "a union has the tag {tag} and no value"),
            Fault::Nesting => nested::too_deep(f),
            Fault::Memory(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TreeError {}

/// Returns a random unknown tag.
#[cfg(feature = "arbitrary")]
pub fn unknown_tag(
    desc: &crate::desc::UnionDesc,
    random: &mut arbitrary::Unstructured<'_>,
) -> arbitrary::Result<u8> {
    let known = u8::try_from(desc.members.len()).unwrap_or(u8::MAX);
    random.int_in_range(known.saturating_add(1)..=u8::MAX)
}

/// Converts a table that another table refers to.
#[inline(always)]
pub fn model<V, M: Model + FromView<V>>(view: V, ledger: &mut Ledger) -> M {
    // The caller checks the ledger at the end.
    let _ = ledger.table(M::DESC);
    M::read(view, ledger)
}

/// Converts a vector of tables to structs.
pub fn models<'a, V: Table<'a>, M: FromView<V>>(views: List<'a, V>, ledger: &mut Ledger) -> Vec<M> {
    let mut models = ledger.vec(views.len(), V::DESC.written().into()).unwrap_or_default();
    for view in views {
        if ledger.is_refused() {
            break;
        }
        models.push(M::read(view, ledger));
    }
    models
}

/// Copies the elements of a vector of numbers.
#[inline]
pub fn numbers<T: Scalar>(vector: Vector<'_, T>, ledger: &mut Ledger) -> Vec<T> {
    let Ok(mut numbers) = ledger.vec(vector.len(), T::PRIM.size().into()) else {
        return Vec::new();
    };
    T::extend(&mut numbers, vector.bytes());
    numbers
}

/// Copies the elements of a vector of strings.
pub fn texts(strings: Strings<'_>, ledger: &mut Ledger) -> Vec<String> {
    let mut texts = ledger.vec(strings.len(), 4).unwrap_or_default();
    for text in strings {
        if ledger.is_refused() {
            break;
        }
        texts.push(ledger.string(text).unwrap_or_default());
    }
    texts
}

/// Returns the tree itself, after checking that it is of the table `desc`.
pub fn checked<'t>(
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

/// Adds the field `name` to the path of an error.
pub fn within<T>(result: Result<T, TreeError>, name: &'static str) -> Result<T, TreeError> {
    result.map_err(|error| error.within(PathComponent::Field(name)))
}

/// Returns the string of a field.
pub fn string_of(
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

/// Returns the vector of strings of a field.
pub fn strings_of(
    value: Option<FieldValue<'_>>,
    ledger: &mut Ledger,
) -> Result<Option<Vec<String>>, TreeError> {
    let Some(FieldValue::Strs(strings)) = value else { return Ok(None) };
    let texts = ledger.vec(strings.len(), 4);
    let mut texts = texts.map_err(|Refused| TreeError::memory(ledger.error()))?;
    for text in strings {
        texts.push(match text {
            Cow::Owned(text) => text,
            Cow::Borrowed(text) => {
                let copy = ledger.string(text);
                copy.map_err(|Refused| TreeError::memory(ledger.error()))?
            }
        });
    }
    Ok(Some(texts))
}

/// Returns the numeric value of a field. Returns `None` if the field is absent, holds no number, or
/// holds a number that does not fit `T`.
pub fn number_of<T: Scalar>(value: Option<FieldValue<'_>>) -> Option<T> {
    match value? {
        FieldValue::Number(number) => {
            T::read_le(number.stored(T::PRIM)?.get(..T::PRIM.size().into())?)
        }
        _ => None,
    }
}

/// Returns the vector of numbers of a field.
pub fn scalars_of<T: Scalar>(
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

/// Returns the table of a field as a struct.
pub fn table_of<M: Model>(
    value: Option<FieldValue<'_>>,
    ledger: &mut Ledger,
) -> Result<Option<M>, TreeError> {
    match value {
        Some(FieldValue::Table(object)) => M::take_object(object, ledger).map(Some),
        _ => Ok(None),
    }
}

/// Returns the vector of tables of a field as structs.
pub fn tables_of<M: Model>(
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
