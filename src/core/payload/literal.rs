//! The arguments of nodes that are not values of the graph: numbers, texts and lists.

use super::wire::Varints;
use pte_flat::desc::{FieldDesc, Kind, Number, Prim};
use pte_flat::view::{Raw, Vector};

/// An argument of a node that is not a value of the graph.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attribute<'p> {
    /// The name of the parameter.
    pub name: &'p str,
    /// The argument.
    pub literal: Literal<'p>,
}

/// A literal argument.
#[derive(Clone, Copy, Debug)]
pub enum Literal<'p> {
    /// No argument.
    None,
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A floating-point number of four bytes.
    Single(f32),
    /// A bool.
    Bool(bool),
    /// A text.
    Text(&'p str),
    /// A number that the graph computes, by its index.
    Value(u32),
    /// The name of an enum's value.
    Name(&'static str),
    /// A list of integers.
    Ints(Vector<'p, i64>),
    /// A list of integers of four bytes.
    ShortInts(Vector<'p, i32>),
    /// A list of unsigned integers of four bytes.
    Words(Vector<'p, u32>),
    /// A list of floating-point numbers.
    Floats(Vector<'p, f64>),
    /// A list of bools.
    Bools(Vector<'p, bool>),
    /// A list of integers, as Protocol Buffers packs them.
    Varints(Varints<'p>),
    /// A list of f32 of four bytes each.
    Singles(&'p [u8]),
    /// A list whose elements are apart, as a range of [`Graph::listed`](super::graph::Graph::listed). It may be cut.
    Listed {
        /// The index of the first element.
        begin: u32,
        /// The index after the last element.
        end: u32,
    },
}

impl<'p> Literal<'p> {
    /// Returns a field of a table that is a number, a text or a list of integers. `None` for any other field, and for
    /// an absent one that has no default.
    pub(super) fn of_field(table: Raw<'p>, field: &'static FieldDesc) -> Option<Self> {
        match field.kind {
            Kind::Scalar(scalar) => {
                let number = table.number(field.slot, scalar.prim);
                let number = number.or(Some(scalar.default).filter(|_| !scalar.optional))?;
                let name = match (number, scalar.names) {
                    (Number::Int(number), Some(names)) => names.name_of(number),
                    _ => None,
                };
                name.map(Self::Name).or_else(|| Self::of_number(number))
            }
            Kind::Str => table.str(field.slot).map(Self::Text),
            Kind::Scalars { prim: Prim::I32, of: None, .. } => {
                table.vector(field.slot).map(Self::ShortInts)
            }
            Kind::Scalars { prim: Prim::U32, of: None, .. } => {
                table.vector(field.slot).map(Self::Words)
            }
            _ => None,
        }
    }

    /// Returns a number; `None` for an integer of more than eight bytes.
    pub(super) fn of_number(number: Number) -> Option<Self> {
        Some(match number {
            Number::Bool(is_true) => Self::Bool(is_true),
            Number::Int(number) => Self::Int(i64::try_from(number).ok()?),
            Number::Single(number) => Self::Single(number),
            Number::Float(number) => Self::Float(number),
        })
    }
}
