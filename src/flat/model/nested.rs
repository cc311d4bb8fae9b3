//! The tables of recursive fields as structs.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{ControlFlow, Deref};

use super::{FromView, Model, TreeError};
use crate::desc::MOST_NESTED;
use crate::ledger::{Ledger, Refused};
use crate::node::{Held, Node};
use crate::tree::{FieldValue, SetError};

/// The table of a recursive field. At most [`MOST_NESTED`] of them are nested, so that a copy, a
/// comparison or a drop cannot exhaust the stack.
///
/// It cannot be changed in place: take out the table, and wrap a new one.
///
/// ```
/// use pte_flat::model::Nested;
///
/// mod tree {
///     pte_flat::schema! {
///         root Tree b"TREE" "tree" "example";
///         enums:
///         unions:
///         tables:
///         /// A tree.
///         table Tree {
///             /// The number of its leaves.
///             0 leaves: i32 = 0,
///             /// The tree below.
///             1 below: ^Tree,
///         }
///     }
/// }
///
/// let below = Nested::new(tree::model::Tree { leaves: 2, below: None })?;
/// assert_eq!(below.into_inner().leaves, 2);
/// # Ok::<(), pte_flat::model::TreeError>(())
/// ```
// An array of one, since a `Vec` of it can be allocated fallibly and becomes the box in place.
#[derive(Clone, PartialEq)]
pub struct Nested<T>(Box<[T; 1]>);

impl<T: Model> Nested<T> {
    /// Wraps a table.
    ///
    /// # Errors
    ///
    /// More than [`MOST_NESTED`] tables would be nested, or memory is short.
    pub fn new(table: T) -> Result<Self, TreeError> {
        if nesting(&table) >= MOST_NESTED {
            return Err(TreeError::nesting());
        }
        let mut ledger = Ledger::unlimited();
        let room = ledger.vec(1, 0).map_err(|Refused| TreeError::memory(ledger.error()))?;
        Self::only(room, table).ok_or_else(|| TreeError::memory(ledger.error()))
    }
}

impl<T> Nested<T> {
    /// Returns the table.
    pub fn into_inner(self) -> T {
        let [table] = *self.0;
        table
    }

    /// Moves a table into `room`, an empty vector with capacity for one.
    fn only(mut room: Vec<T>, table: T) -> Option<Self> {
        room.push(table);
        room.into_boxed_slice().try_into().ok().map(Self)
    }
}

impl<T> Deref for Nested<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let [table] = &*self.0;
        table
    }
}

impl<T: fmt::Debug> fmt::Debug for Nested<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize> serde::Serialize for Nested<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, T: Model + serde::Deserialize<'de>> serde::Deserialize<'de> for Nested<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(T::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, T: Model + arbitrary::Arbitrary<'a>> arbitrary::Arbitrary<'a> for Nested<T> {
    fn arbitrary(random: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Self::new(T::arbitrary(random)?).map_err(|_| arbitrary::Error::IncorrectFormat)
    }
}

/// Returns the greatest nesting of recursive fields in a table.
fn nesting(table: &dyn Node) -> u32 {
    let mut most = 0;
    let visited = table.visit(&mut |field, value| {
        let below = match value {
            Held::Table(table) | Held::Union(_, Some(table)) => nesting(table),
            Held::Tables(tables) => {
                let mut below = 0;
                let all = tables.visit_all(&mut |table| {
                    below = nesting(table).max(below);
                    ControlFlow::Continue(())
                });
                debug_assert!(all.is_continue(), "nothing ends the visit");
                below
            }
            _ => 0,
        };
        most = below.saturating_add(field.recursive.into()).max(most);
        ControlFlow::Continue(())
    });
    debug_assert!(visited.is_continue(), "nothing ends the visit");
    most
}

/// Converts the proven table of a recursive field; the verifier has limited the nesting. Returns
/// `None` if the ledger refuses memory.
pub fn nested<V, M: Model + FromView<V>>(view: V, ledger: &mut Ledger) -> Option<Nested<M>> {
    let room = ledger.vec(1, M::DESC.written().into()).ok()?;
    Nested::only(room, M::read(view, ledger))
}

/// Returns the table of a recursive field as a struct. The tree already limits the nesting.
pub fn nested_of<M: Model>(
    value: Option<FieldValue<'_>>,
    ledger: &mut Ledger,
) -> Result<Option<Nested<M>>, TreeError> {
    let Some(FieldValue::Table(object)) = value else { return Ok(None) };
    let room = ledger.vec(1, 0).map_err(|Refused| TreeError::memory(ledger.error()))?;
    Ok(Nested::only(room, M::take_object(object, ledger)?))
}

/// Writes the message for a table that nests too many others.
pub(crate) fn too_deep(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    fmt::Display::fmt(&SetError::TooDeep, f)
}
