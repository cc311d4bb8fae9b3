//! Tables that can be written one at a time, without a tree of all of them in memory.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

pub mod declare;

use super::desc::{FieldDesc, Kind, Number, TableDesc};
use super::tree::{FieldValue, Object};
use super::view::{List, Raw, Scalar, Strings, Table};

/// A table that can be written: a tree, a struct, or a view of a proven file.
pub trait Node: sealed::Sealed {
    /// Returns the declaration of the table.
    fn desc(&self) -> &'static TableDesc;

    /// Calls `visit` with each field that is present, by ascending slot.
    fn visit(&self, visit: &mut Visit<'_>) -> ControlFlow<()>;
}

/// A callback for one field of a [`Node`].
pub type Visit<'v> = dyn FnMut(&'static FieldDesc, Held<'_>) -> ControlFlow<()> + 'v;

/// The value of a field of a [`Node`].
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it lives for one call")]
#[non_exhaustive]
pub enum Held<'n> {
    /// A number.
    Number(Number),
    /// A string.
    Str(&'n str),
    /// A table.
    Table(&'n dyn Node),
    /// The elements of a vector of numbers, as stored.
    Bytes(&'n [u8]),
    /// A vector of numbers.
    Numbers(&'n dyn NumberList),
    /// A vector of tables.
    Tables(&'n dyn NodeList),
    /// A vector of strings.
    Strs(&'n dyn TextList),
    /// A union's tag and its table.
    Union(u8, Option<&'n dyn Node>),
}

/// A vector of numbers in memory.
pub trait NumberList: sealed::Sealed {
    /// Returns the number of elements.
    fn count(&self) -> usize;

    /// Calls `visit` with the elements as stored: a few at a time, the last elements first.
    fn visit_back(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()>;
}

/// A vector of tables.
pub trait NodeList: sealed::Sealed {
    /// Returns the number of tables.
    fn count(&self) -> usize;

    /// Calls `visit` with each table.
    fn visit_all(&self, visit: &mut dyn FnMut(&dyn Node) -> ControlFlow<()>) -> ControlFlow<()>;
}

/// A vector of strings.
pub trait TextList: sealed::Sealed {
    /// Returns the number of strings.
    fn count(&self) -> usize;

    /// Calls `visit` with each string.
    fn visit_all(&self, visit: &mut dyn FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()>;
}

/// A proven table with its declaration.
struct Proven<'a> {
    raw: Raw<'a>,
    desc: &'static TableDesc,
}

/// A proven vector of tables with their declaration.
struct ProvenList<'a> {
    list: List<'a, Raw<'a>>,
    desc: &'static TableDesc,
}

/// Calls `visit` with each present field of a view.
pub fn visit_view<'a, T: Table<'a>>(table: T, visit: &mut Visit<'_>) -> ControlFlow<()> {
    Proven { raw: table.raw(), desc: T::DESC }.visit(visit)
}

/// A field that [`Node::visit`] of a struct comes to.
type Field = Option<&'static FieldDesc>;

/// Calls `visit` with what a struct has in a field, if there is anything.
fn visit_some(field: Field, held: Option<Held<'_>>, visit: &mut Visit<'_>) -> ControlFlow<()> {
    match (field, held) {
        (Some(field), Some(held)) => visit(field, held),
        _ => ControlFlow::Continue(()),
    }
}

/// Calls `visit` with a number of a struct.
pub fn visit_number<T: Scalar>(
    field: Field,
    number: Option<T>,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    visit_some(field, number.map(|number| Held::Number(number.to_number())), visit)
}

/// Calls `visit` with a string of a struct.
pub fn visit_text(field: Field, text: &Option<String>, visit: &mut Visit<'_>) -> ControlFlow<()> {
    visit_some(field, text.as_deref().map(Held::Str), visit)
}

/// Calls `visit` with a table of a struct.
pub fn visit_table<N: Node>(
    field: Field,
    table: Option<&N>,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    visit_some(field, table.map(|table| Held::Table(table)), visit)
}

/// Calls `visit` with a vector of numbers of a struct.
pub fn visit_numbers<T: Scalar>(
    field: Field,
    numbers: &Option<Vec<T>>,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    visit_some(field, numbers.as_ref().map(|numbers| Held::Numbers(numbers)), visit)
}

/// Calls `visit` with a vector of strings of a struct.
pub fn visit_texts(
    field: Field,
    texts: &Option<Vec<String>>,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    visit_some(field, texts.as_ref().map(|texts| Held::Strs(texts)), visit)
}

/// Calls `visit` with a vector of tables of a struct.
pub fn visit_tables<N: Node>(
    field: Field,
    tables: &Option<Vec<N>>,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    visit_some(field, tables.as_ref().map(|tables| Held::Tables(tables)), visit)
}

impl Proven<'_> {
    /// Calls `visit` with the value of `field`, if the field is present.
    fn visit_field(&self, field: &'static FieldDesc, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let (raw, slot) = (self.raw, field.slot);
        match field.kind {
            Kind::Scalar(scalar) => match raw.number(slot, scalar.prim) {
                Some(number) => visit(field, Held::Number(number)),
                None => ControlFlow::Continue(()),
            },
            Kind::Str => match raw.str(slot) {
                Some(text) => visit(field, Held::Str(text)),
                None => ControlFlow::Continue(()),
            },
            Kind::Table(desc) => match raw.target(slot) {
                Some(raw) => visit(field, Held::Table(&Self { raw, desc })),
                None => ControlFlow::Continue(()),
            },
            Kind::Scalars { prim, .. } => match raw.vector_bytes(slot, prim) {
                Some((bytes, _)) => visit(field, Held::Bytes(bytes)),
                None => ControlFlow::Continue(()),
            },
            Kind::Tables(desc) => match raw.list(slot) {
                Some(list) => visit(field, Held::Tables(&ProvenList { list, desc })),
                None => ControlFlow::Continue(()),
            },
            Kind::Strs => match raw.strings(slot) {
                Some(strings) => visit(field, Held::Strs(&strings)),
                None => ControlFlow::Continue(()),
            },
            Kind::Union(union) => {
                let Some((tag, value)) = raw.union(slot) else { return ControlFlow::Continue(()) };
                match union.member(tag) {
                    Some(known) => {
                        let member = Self { raw: value.resolved(), desc: known.table };
                        visit(field, Held::Union(tag, Some(&member)))
                    }
                    None => FieldValue::unknown_member(tag, union).visit(field, visit),
                }
            }
        }
    }
}

impl Node for Proven<'_> {
    fn desc(&self) -> &'static TableDesc {
        self.desc
    }

    fn visit(&self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        self.desc.fields.iter().try_for_each(|field| self.visit_field(field, visit))
    }
}

impl NodeList for ProvenList<'_> {
    fn count(&self) -> usize {
        self.list.len()
    }

    fn visit_all(&self, visit: &mut dyn FnMut(&dyn Node) -> ControlFlow<()>) -> ControlFlow<()> {
        self.list.raws().try_for_each(|raw| visit(&Proven { raw, desc: self.desc }))
    }
}

impl Node for Object<'_> {
    fn desc(&self) -> &'static TableDesc {
        Object::desc(self)
    }

    fn visit(&self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        self.fields().try_for_each(|(field, value)| value.visit(field, visit))
    }
}

impl FieldValue<'_> {
    /// Calls `visit` with this value as the value of `field`.
    pub fn visit(&self, field: &'static FieldDesc, visit: &mut Visit<'_>) -> ControlFlow<()> {
        visit(
            field,
            match self {
                Self::Number(number) => Held::Number(*number),
                Self::Str(text) => Held::Str(text),
                Self::Table(object) => Held::Table(object),
                Self::Scalars(bytes) => Held::Bytes(bytes),
                Self::Tables(objects) => Held::Tables(objects),
                Self::Strs(texts) => Held::Strs(texts),
                Self::Union(tag, None) => Held::Union(*tag, None),
                Self::Union(tag, Some(object)) => Held::Union(*tag, Some(object)),
            },
        )
    }
}

impl<N: Node> NodeList for Vec<N> {
    fn count(&self) -> usize {
        self.len()
    }

    fn visit_all(&self, visit: &mut dyn FnMut(&dyn Node) -> ControlFlow<()>) -> ControlFlow<()> {
        self.iter().try_for_each(|node| visit(node))
    }
}

impl TextList for Strings<'_> {
    fn count(&self) -> usize {
        self.len()
    }

    fn visit_all(&self, visit: &mut dyn FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        self.iter().try_for_each(visit)
    }
}

impl<T: AsRef<str>> TextList for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn visit_all(&self, visit: &mut dyn FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        self.iter().try_for_each(|text| visit(text.as_ref()))
    }
}

impl<T: Scalar> NumberList for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn visit_back(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
        if let Some(bytes) = T::as_bytes(self) {
            return visit(bytes);
        }
        let size = usize::from(T::PRIM.size());
        self.rchunks(AT_ONCE).try_for_each(|items| {
            let (mut bytes, mut len) = ([0; AT_ONCE * 8], 0);
            for (room, item) in bytes.chunks_exact_mut(size).zip(items) {
                let stored = item.to_number().stored(T::PRIM).unwrap_or_default();
                room.copy_from_slice(stored.get(..size).unwrap_or_default());
                len = size.saturating_add(len);
            }
            visit(bytes.get(..len).unwrap_or_default())
        })
    }
}

/// The number of elements that are converted to bytes at once.
const AT_ONCE: usize = 64;

/// Seals the traits. Only this crate implements them, since the writer relies on tables that fit
/// their declaration.
pub mod sealed {
    use alloc::vec::Vec;

    /// A marker for types of this crate.
    pub trait Sealed {}
    impl Sealed for super::Proven<'_> {}
    impl Sealed for super::ProvenList<'_> {}
    impl Sealed for super::Object<'_> {}
    impl Sealed for super::Strings<'_> {}
    impl<T> Sealed for Vec<T> {}
}
