//! Reads JSON values that contain no tables: numbers, vectors of numbers, blobs, tags and keys.

use core::fmt;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::{
    DeserializeSeed, Deserializer, Error, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
};

use super::{Any, Loader};
use crate::desc::{EnumDesc, FieldDesc, Kind, Number, Prim, StructDesc, TableDesc, UnionDesc};
use crate::error::PathComponent;
use crate::ledger::{Ledger, Refused};

pub(super) struct ScalarsOf<'s, 'l, 'f> {
    pub(super) loader: &'s mut Loader<'l, 'f>,
    pub(super) prim: Prim,
    pub(super) of: Option<&'static StructDesc>,
}

impl<'de> Visitor<'de> for ScalarsOf<'_, '_, '_> {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.prim, self.of) {
            (_, Some(of)) => write!(f, "an array of {}", of.name),
            (Prim::U8, _) => f.write_str("an array of ubyte or {\"file\": NAME}"),
            (prim, _) => write!(f, "an array of {}", prim.name()),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
        let Self { loader, prim, of } = self;
        let mut bytes = Vec::new();
        for nth in 0.. {
            let number = match of {
                None => seq.next_element_seed(Any(NumberOf { prim, names: None })),
                Some(of) => seq.next_element_seed(Any(StructOf(of))),
            };
            let Some(number) = loader.within(PathComponent::Index(nth), number)? else { break };
            let stored = number.stored(prim).unwrap_or_default();
            let stored = stored.get(..prim.size().into()).unwrap_or_default();
            let room = loader.ledger.reserve(&mut bytes, stored.len());
            room.map_err(|Refused| loader.no_memory())?;
            bytes.extend_from_slice(stored);
        }
        Ok(bytes)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<u8>, A::Error> {
        if self.prim != Prim::U8 {
            return Err(Error::invalid_type(Unexpected::Map, &self));
        }
        let name = file_name(&mut map, &self)?;
        (self.loader.files)(&name).map_err(Error::custom)
    }
}

/// Reads the name in `{"file": NAME}`.
pub fn file_name<'de, A: MapAccess<'de>>(
    map: &mut A,
    expected: &dyn Expected,
) -> Result<String, A::Error> {
    match map.next_key::<String>()?.as_deref() {
        Some("file") => {}
        Some("sha256" | "len") => {
            return Err(Error::custom(
                "only a hash of the blob is here: dump blobs as numbers or as files",
            ));
        }
        _ => return Err(Error::invalid_type(Unexpected::Map, expected)),
    }
    let name = map.next_value()?;
    match map.next_key::<String>()? {
        Some(key) => Err(Error::custom(format!("{key:?} beside \"file\""))),
        None => Ok(name),
    }
}

/// Reads a string, and counts its memory.
pub(super) struct TextOf<'l> {
    pub(super) ledger: &'l mut Ledger,
}

impl Visitor<'_> for TextOf<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        let copy = self.ledger.string(text);
        copy.map_err(|Refused| E::custom(self.ledger.error()))
    }
}

/// Reads a vector of strings.
pub(super) struct TextsOf<'s, 'l, 'f> {
    pub(super) loader: &'s mut Loader<'l, 'f>,
}

impl<'de> Visitor<'de> for TextsOf<'_, '_, '_> {
    type Value = Vec<Cow<'static, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Self { loader } = self;
        let mut texts = Vec::new();
        for nth in 0.. {
            let text = seq.next_element_seed(Any(TextOf { ledger: loader.ledger }));
            match loader.within(PathComponent::Index(nth), text)? {
                Some(text) => loader.push(&mut texts, text.into())?,
                None => break,
            }
        }
        Ok(texts)
    }
}

pub(super) struct NumberOf {
    pub(super) prim: Prim,
    pub(super) names: Option<&'static EnumDesc>,
}

impl NumberOf {
    fn int<E: Error>(self, value: i128, found: Unexpected<'_>) -> Result<Number, E> {
        match self.prim.range() {
            Some(range) if range.contains(&value) => Ok(Number::Int(value)),
            Some(_) => Err(E::invalid_value(found, &self)),
            None => Err(E::invalid_type(found, &self)),
        }
    }
}

impl Visitor<'_> for NumberOf {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(names) = self.names {
            return write!(f, "a name of {} or a {}", names.name, names.prim.name());
        }
        match (self.prim, self.prim.range()) {
            (_, Some(range)) => write!(f, "a number from {} to {}", range.start(), range.end()),
            (Prim::Bool, _) => f.write_str("true or false"),
            _ => f.write_str("a number, \"inf\", \"-inf\" or \"nan\""),
        }
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Number, E> {
        match self.prim {
            Prim::Bool => Ok(Number::Bool(value)),
            _ => Err(E::invalid_type(Unexpected::Bool(value), &self)),
        }
    }

    #[expect(clippy::as_conversions, reason = "the nearest double, as for any decimal")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        match self.prim {
            Prim::F32 => Ok(Number::Single(value as f32)),
            Prim::F64 => Ok(Number::Float(value as f64)),
            _ => self.int(value.into(), Unexpected::Signed(value)),
        }
    }

    #[expect(clippy::as_conversions, reason = "the nearest double, as for any decimal")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        match self.prim {
            Prim::F32 => Ok(Number::Single(value as f32)),
            Prim::F64 => Ok(Number::Float(value as f64)),
            _ => self.int(value.into(), Unexpected::Unsigned(value)),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        match self.prim {
            Prim::F32 => Ok(single(value)),
            Prim::F64 => Ok(Number::Float(value)),
            _ => Err(E::invalid_type(Unexpected::Float(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Number, E> {
        let number = match (self.prim, self.names) {
            (Prim::F32, _) => not_finite(name).map(single),
            (Prim::F64, _) => not_finite(name).map(Number::Float),
            (_, Some(names)) => {
                let value = names.values.iter().find(|value| value.name == name);
                value.map(|value| Number::Int(value.number.into()))
            }
            (_, None) => return Err(E::invalid_type(Unexpected::Str(name), &self)),
        };
        number.ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }
}

/// Reads a struct of one number.
pub(super) struct StructOf(pub(super) &'static StructDesc);

impl<'de> Visitor<'de> for StructOf {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the field {} of {}", self.0.field, self.0.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        let StructDesc { name, field, prim } = self.0;
        match map.next_key::<Cow<'_, str>>()? {
            Some(key) if key == *field => {}
            _ => return Err(Error::invalid_type(Unexpected::Map, &self)),
        }
        let number = map.next_value_seed(Any(NumberOf { prim: *prim, names: None }))?;
        match map.next_key::<Cow<'_, str>>()? {
            Some(key) => Err(Error::custom(format!("{name} has no field {key:?}: it has {field}"))),
            None => Ok(number),
        }
    }
}

#[expect(clippy::as_conversions, reason = "the nearest float, as for any decimal")]
fn single(value: f64) -> Number {
    Number::Single(value as f32)
}

/// Returns the infinity or NaN that a string names, since JSON has no literals for these.
fn not_finite(name: &str) -> Option<f64> {
    match name {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

pub(super) struct TagOf(pub(super) &'static UnionDesc);

impl Visitor<'_> for TagOf {
    type Value = u8;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a member of {}, NONE, or a number from 0 to 255", self.0.name)
    }

    fn visit_u64<E: Error>(self, tag: u64) -> Result<u8, E> {
        u8::try_from(tag).map_err(|_| E::invalid_value(Unexpected::Unsigned(tag), &self))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<u8, E> {
        if name == "NONE" {
            return Ok(0);
        }
        let tag = (1..).zip(self.0.members).find(|(_, member)| member.name == name);
        let tag = tag.map(|(tag, _): (u8, _)| tag);
        tag.ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }
}

/// The meaning of a key in the object of a table.
pub(super) enum Key {
    /// The extra key beside the fields.
    Beside,
    Field(&'static FieldDesc),
    Union(&'static FieldDesc, &'static UnionDesc),
    Tag(&'static FieldDesc, &'static UnionDesc),
}

pub(super) struct KeyOf<'b> {
    pub(super) desc: &'static TableDesc,
    pub(super) beside: Option<&'b str>,
}

impl<'de> DeserializeSeed<'de> for KeyOf<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Key, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyOf<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a field of {}", self.desc.name)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
        let Self { desc, beside } = self;
        if beside == Some(name) {
            return Ok(Key::Beside);
        }
        if let Some(field) = desc.field(name) {
            return Ok(match field.kind {
                Kind::Union(desc) => Key::Union(field, desc),
                _ => Key::Field(field),
            });
        }
        if let Some(field) = name.strip_suffix("_type").and_then(|name| desc.field(name))
            && let Kind::Union(desc) = field.kind
        {
            return Ok(Key::Tag(field, desc));
        }
        let table = desc.name;
        if desc.fields.is_empty() {
            return Err(E::custom(format!("{table} has no field {name:?}: it has none at all")));
        }
        let names: Vec<_> = desc.fields.iter().map(|field| field.name).collect();
        Err(E::custom(format!("{table} has no field {name:?}: it has {}", names.join(", "))))
    }
}
