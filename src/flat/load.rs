//! Reads JSON as a tree of tables, by its declaration: the inverse of [`json`](super::json).
//!
//! The reader accepts what a dump writes, and more: fields may be in any order or absent, enum
//! values and union tags may be numbers, and doubles may be written as integers.

use core::fmt;
use core::mem::size_of;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::bytes::wide;
use crate::desc::{FieldDesc, Kind, MOST_NESTED, TableDesc, UnionDesc};
use crate::error::{PathComponent, Place};
use crate::ledger::{Ledger, Refused};
use crate::quoted::Untrusted;
use crate::tree::{FieldValue, Object, SetError};

pub mod leaf;

use leaf::{Key, KeyOf, NumberOf, ScalarsOf, StructOf, TagOf, TextOf, TextsOf};

/// Returns the bytes of a blob that a dump wrote as `{"file": NAME}`, or an error message.
pub type ReadBlob<'f> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'f;

/// An error in the JSON of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    message: String,
    line: usize,
    column: usize,
    /// The path to the error, the innermost component first.
    path: Vec<PathComponent>,
}

/// The message for a duplicate field.
pub const TWICE: &str = "the field is given twice";

/// A [`ReadBlob`] that has no blobs.
///
/// # Errors
///
/// Always.
pub fn no_files(name: &str) -> Result<Vec<u8>, String> {
    Err(format!("there is no file {name:?}"))
}

/// Reads the JSON of a table of type `desc`. Blobs must be numbers, or names known to `files`.
///
/// The tree may take 22 bytes of memory for each byte of the text, plus 1 MiB. The blobs of `files`
/// do not count.
///
/// # Errors
///
/// The first place that is not valid JSON, does not fit the schema, or takes too much memory.
pub fn read(
    text: &str,
    desc: &'static TableDesc,
    files: &mut ReadBlob<'_>,
) -> Result<Object<'static>, LoadError> {
    read_beside(text, desc, None, files)
}

/// Reads the JSON of a table as [`read`] does, but ignores the key `beside` of the root's object.
pub fn read_beside(
    text: &str,
    desc: &'static TableDesc,
    beside: Option<&str>,
    files: &mut ReadBlob<'_>,
) -> Result<Object<'static>, LoadError> {
    read_within(text, desc, beside, files, &mut Ledger::of(wide(text.len())))
}

/// Reads the JSON of a table as [`read_beside`] does. `ledger` counts the memory of the tree.
pub fn read_within(
    text: &str,
    desc: &'static TableDesc,
    beside: Option<&str>,
    files: &mut ReadBlob<'_>,
    ledger: &mut Ledger,
) -> Result<Object<'static>, LoadError> {
    let mut loader = Loader { files, beside, path: Vec::new(), nesting: 0, ledger };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Any(TableOf { loader: &mut loader, desc }).deserialize(&mut json);
    let read = read.and_then(|object| json.end().map(|()| object));
    read.map_err(|error| LoadError::new(&error, loader.path))
}

impl LoadError {
    /// Returns the error of a parser, with the path that was read.
    pub fn new(error: &serde_json::Error, path: Vec<PathComponent>) -> Self {
        let (line, column) = (error.line(), error.column());
        let message = shortened(&unplaced(error));
        Self { message, line, column, path }
    }

    /// Returns the message: what was found and what was expected.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the line of the error, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the byte position in the line, counted from 1; 0 for the end of the previous line.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the path from the root to the error; empty for the root itself.
    pub fn place(&self) -> Place<'_> {
        Place::new(None, &self.path)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, line, column, path } = self;
        if !path.is_empty() {
            write!(f, "{}: ", self.place())?;
        }
        write!(f, "{} (line {line}, column {column})", Untrusted::from(message.as_str()))
    }
}

impl core::error::Error for LoadError {}

struct Loader<'l, 'f> {
    files: &'l mut ReadBlob<'f>,
    /// A key of the root's object that is ignored, since it is not a field.
    beside: Option<&'l str>,
    /// The path of an error, the innermost component first.
    path: Vec<PathComponent>,
    /// The number of recursive fields that are being read.
    nesting: u32,
    ledger: &'l mut Ledger,
}

impl Loader<'_, '_> {
    /// Appends an item to a vector, and counts its memory.
    fn push<T, E: Error>(&mut self, items: &mut Vec<T>, item: T) -> Result<(), E> {
        self.ledger.push(items, item).map_err(|Refused| self.no_memory())
    }

    /// Sets a field of a table, and counts the memory of the value.
    fn set<E: Error>(
        &mut self,
        object: &mut Object<'static>,
        name: &str,
        value: FieldValue<'static>,
    ) -> Result<(), E> {
        let field = wide(size_of::<(&FieldDesc, FieldValue<'_>)>());
        self.ledger.charge(field).map_err(|Refused| self.no_memory())?;
        object.set(name, value).map_err(E::custom)
    }

    fn no_memory<E: Error>(&self) -> E {
        E::custom(self.ledger.error())
    }

    fn within<T, E>(&mut self, component: PathComponent, result: Result<T, E>) -> Result<T, E> {
        if result.is_err() {
            self.path.push(component);
        }
        result
    }

    /// Reads the value of `field`, which is not a union.
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        field: &'static FieldDesc,
        map: &mut A,
    ) -> Result<FieldValue<'static>, A::Error> {
        let loader = &mut *self;
        let value = match field.kind {
            Kind::Scalar(scalar) => {
                let (prim, names) = (scalar.prim, scalar.names);
                let number = match scalar.of {
                    None => map.next_value_seed(Any(NumberOf { prim, names })),
                    Some(of) => map.next_value_seed(Any(StructOf(of))),
                };
                number.map(FieldValue::Number)
            }
            Kind::Str | Kind::Union(_) => map
                .next_value_seed(Any(TextOf { ledger: loader.ledger }))
                .map(|text| FieldValue::Str(text.into())),
            Kind::Table(desc) if field.recursive => {
                loader.nesting = loader.nesting.saturating_add(1);
                let table = match loader.nesting {
                    ..=MOST_NESTED => map.next_value_seed(Any(TableOf { loader, desc })),
                    _ => Err(A::Error::custom(SetError::TooDeep)),
                };
                self.nesting = self.nesting.saturating_sub(1);
                table.map(FieldValue::Table)
            }
            Kind::Table(desc) => {
                map.next_value_seed(Any(TableOf { loader, desc })).map(FieldValue::Table)
            }
            Kind::Scalars { prim, of, .. } => map
                .next_value_seed(Any(ScalarsOf { loader, prim, of }))
                .map(|bytes| FieldValue::Scalars(bytes.into())),
            Kind::Strs => map.next_value_seed(Any(TextsOf { loader })).map(FieldValue::Strs),
            Kind::Tables(desc) => {
                map.next_value_seed(Any(TablesOf { loader, desc })).map(FieldValue::Tables)
            }
        };
        self.within(PathComponent::Field(field.name), value)
    }
}

/// Passes any value to the visitor.
struct Any<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Any<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<V::Value, D::Error> {
        json.deserialize_any(self.0)
    }
}

struct TableOf<'s, 'l, 'f> {
    loader: &'s mut Loader<'l, 'f>,
    desc: &'static TableDesc,
}

impl<'de> Visitor<'de> for TableOf<'_, '_, '_> {
    type Value = Object<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the fields of {}", self.desc.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'static>, A::Error> {
        let Self { loader, desc } = self;
        let mut object = Object::new(desc);
        let mut union: Option<Halves<'de>> = None;
        let beside = loader.beside.take();
        while let Some(key) = map.next_key_seed(KeyOf { desc, beside })? {
            let (field, twice) = match key {
                Key::Beside => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Key::Field(field) => {
                    let value = loader.field(field, &mut map)?;
                    let twice = object.field(field.name).is_some();
                    loader.set(&mut object, field.name, value)?;
                    (field, twice)
                }
                Key::Tag(field, desc) => {
                    let tag = map.next_value_seed(Any(TagOf(desc)));
                    let tag = loader.within(PathComponent::Field(field.name), tag)?;
                    let halves = union.get_or_insert(Halves::of(field, desc));
                    (field, halves.tag.replace(tag).is_some())
                }
                Key::Union(field, desc) => {
                    let halves = union.get_or_insert(Halves::of(field, desc));
                    let member = match halves.tag {
                        Some(tag) => {
                            let loader = &mut *loader;
                            map.next_value_seed(MemberOf { loader, desc, tag }).map(Member::Read)
                        }
                        None => map.next_value::<&'de RawValue>().map(Member::Kept),
                    };
                    let member = loader.within(PathComponent::Field(field.name), member)?;
                    (field, halves.member.replace(member).is_some())
                }
            };
            if twice {
                let error = A::Error::custom(TWICE);
                return loader.within(PathComponent::Field(field.name), Err(error));
            }
        }
        if let Some(halves) = union {
            let name = halves.field.name;
            let value = halves.join(loader).map_err(A::Error::custom);
            if let Some(value) = loader.within(PathComponent::Field(name), value)? {
                loader.set(&mut object, name, value)?;
            }
        }
        Ok(object)
    }
}

/// The halves of a union (tag and member) that were read so far.
struct Halves<'de> {
    field: &'static FieldDesc,
    desc: &'static UnionDesc,
    tag: Option<u8>,
    member: Option<Member<'de>>,
}

enum Member<'de> {
    Read(Object<'static>),
    /// The unparsed JSON of a member that was read before its tag.
    Kept(&'de RawValue),
}

impl Halves<'_> {
    fn of(field: &'static FieldDesc, desc: &'static UnionDesc) -> Self {
        Self { field, desc, tag: None, member: None }
    }

    /// Returns the value; `None` for an empty union.
    fn join(self, loader: &mut Loader<'_, '_>) -> serde_json::Result<Option<FieldValue<'static>>> {
        let Self { field, desc, tag, member } = self;
        let Some(tag) = tag else {
            let error = format!("{}_type is missing: it names the member of the union", field.name);
            return Err(serde_json::Error::custom(error));
        };
        let object = match member {
            None if tag == 0 => return Ok(None),
            None => None,
            Some(Member::Read(object)) => Some(object),
            Some(Member::Kept(json)) => {
                let mut json = serde_json::Deserializer::from_str(json.get());
                let member = MemberOf { loader, desc, tag }.deserialize(&mut json);
                // The line and the column are left out: they count from the start of the member.
                Some(member.map_err(|error| serde_json::Error::custom(unplaced(&error)))?)
            }
        };
        Ok(Some(FieldValue::Union(tag, object)))
    }
}

struct MemberOf<'s, 'l, 'f> {
    loader: &'s mut Loader<'l, 'f>,
    desc: &'static UnionDesc,
    tag: u8,
}

impl<'de> DeserializeSeed<'de> for MemberOf<'_, '_, '_> {
    type Value = Object<'static>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Object<'static>, D::Error> {
        let Self { loader, desc, tag } = self;
        if tag == 0 {
            return Err(Error::custom("a union of NONE has no value"));
        }
        if let Some(member) = desc.member(tag) {
            let read = Any(TableOf { loader, desc: member.table }).deserialize(json);
            return loader.within(PathComponent::Variant(member.name), read);
        }
        Any(TableOf { loader, desc: &UNKNOWN }).deserialize(json)?;
        // An empty table is the same for every type, so the first member's type stands in.
        let stand_in = desc.members.first().map(|member| Object::new(member.table));
        stand_in.ok_or_else(|| Error::custom("a union without members has no value"))
    }
}

struct TablesOf<'s, 'l, 'f> {
    loader: &'s mut Loader<'l, 'f>,
    desc: &'static TableDesc,
}

impl<'de> Visitor<'de> for TablesOf<'_, '_, '_> {
    type Value = Vec<Object<'static>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {}", self.desc.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Object<'static>>, A::Error> {
        let Self { loader, desc } = self;
        let mut objects = Vec::new();
        for nth in 0.. {
            let object = seq.next_element_seed(Any(TableOf { loader: &mut *loader, desc }));
            match loader.within(PathComponent::Index(nth), object)? {
                Some(object) => loader.push(&mut objects, object)?,
                None => break,
            }
        }
        Ok(objects)
    }
}

/// Returns the text of an error without its line and column.
fn unplaced(error: &serde_json::Error) -> String {
    let (line, column, mut text) = (error.line(), error.column(), error.to_string());
    let place = format!(" at line {line} column {column}");
    text.truncate(text.strip_suffix(&place).map_or(text.len(), str::len));
    text
}

/// Removes the middle of a long message.
fn shortened(text: &str) -> String {
    let cut = |nth| text.char_indices().nth(nth).map(|(at, _)| at);
    let tail = text.char_indices().rev().nth(SHOWN_TAIL).map(|(at, _)| at);
    match (cut(SHOWN_HEAD), tail) {
        (Some(head), Some(tail)) if head < tail => {
            let (head, tail) = (text.get(..head), text.get(tail..));
            format!("{} … {}", head.unwrap_or_default(), tail.unwrap_or_default())
        }
        _ => text.into(),
    }
}

/// The declaration of an unknown union member. It has no fields.
static UNKNOWN: TableDesc = crate::table!("an unknown member", &[], 1);

/// The number of characters that are kept of a long message, at its start and at its end.
const SHOWN_HEAD: usize = 120;
const SHOWN_TAIL: usize = 200;
