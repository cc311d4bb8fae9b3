//! Reads the container in the JSON of a file, and counts the other keys of the root's object.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::{FindBlob, JsonError, KEY, refused};
use crate::error::PathComponent;
use crate::file::FileKind;
use crate::model::{Blob, HeaderForm};
use pte_flat::desc::TableDesc;
use pte_flat::ledger::{Ledger, Refused};
use pte_flat::load::leaf::file_name;
use pte_flat::load::{LoadError, TWICE};
use pte_flat::tree::Unknown;
use pte_flat::write::WriterLayout;
use pte_schema::{flat_tensor, flat_tensor_legacy, program};

/// The contents of the root's object.
pub(super) struct RootContents<'a> {
    pub(super) keys: Keys,
    pub(super) container: Option<Parts<'a>>,
}

/// The number of keys of the root's object that are fields of each root table.
#[derive(Default)]
pub(super) struct Keys {
    pub(super) program: usize,
    pub(super) current: usize,
    pub(super) legacy: usize,
    /// Whether the object has the key `named_data`.
    pub(super) named_data: bool,
}

impl Keys {
    fn count(&mut self, key: &str) {
        let is_in = |desc: &TableDesc| usize::from(desc.field(key).is_some());
        self.program = self.program.saturating_add(is_in(&program::desc::Program));
        self.current = self.current.saturating_add(is_in(&flat_tensor::desc::FlatTensor));
        self.legacy = self.legacy.saturating_add(is_in(&flat_tensor_legacy::desc::FlatTensor));
        self.named_data |= key == "named_data";
    }
}

/// The fields of a container. Absent ones are `None` or 0.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) kind: Option<FileKind>,
    pub(super) generation: Option<u8>,
    pub(super) header: Option<Option<HeaderForm>>,
    pub(super) layout: Option<WriterLayout>,
    pub(super) force_align: Option<u32>,
    pub(super) segment_base_offset: Option<u64>,
    pub(super) segment_alignment: Option<u64>,
    pub(super) padding: u64,
    pub(super) unknown: Unknown,
    pub(super) segments: Vec<Blob<'a>>,
    pub(super) trailing: Blob<'a>,
}

/// Reads the container in `text`, and skips everything else.
pub(super) fn read<'a>(
    text: &str,
    files: &mut FindBlob<'_, 'a>,
    ledger: &mut Ledger,
) -> Result<RootContents<'a>, JsonError> {
    let mut reader = Reader { files, path: Vec::new(), ledger };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Seed(RootOf(&mut reader)).deserialize(&mut json);
    let read = read.and_then(|given| json.end().map(|()| given));
    read.map_err(|error| refused(LoadError::new(&error, reader.path), reader.ledger))
}

struct Reader<'r, 'f, 'a> {
    files: &'r mut FindBlob<'f, 'a>,
    /// The path of the error. A component is added at each level while the error is returned.
    path: Vec<PathComponent>,
    ledger: &'r mut Ledger,
}

impl Reader<'_, '_, '_> {
    /// Adds an item to a vector, and counts its memory.
    fn push<T, E: Error>(&mut self, items: &mut Vec<T>, item: T) -> Result<(), E> {
        self.ledger.push(items, item).map_err(|Refused| E::custom(self.ledger.error()))
    }

    fn within<T, E>(&mut self, step: PathComponent, result: Result<T, E>) -> Result<T, E> {
        if result.is_err() {
            self.path.push(step);
        }
        result
    }
}

struct RootOf<'s, 'r, 'f, 'a>(&'s mut Reader<'r, 'f, 'a>);

impl<'de, 'a> Visitor<'de> for RootOf<'_, '_, '_, 'a> {
    type Value = RootContents<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a root table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RootContents<'a>, A::Error> {
        let Self(reader) = self;
        let mut given = RootContents { keys: Keys::default(), container: None };
        while let Some(key) = map.next_key::<String>()? {
            if key != KEY {
                map.next_value::<IgnoredAny>()?;
                given.keys.count(&key);
                continue;
            }
            let parts = match given.container {
                Some(_) => Err(A::Error::custom("the container is given twice")),
                None => map.next_value_seed(Seed(PartsOf(&mut *reader))),
            };
            given.container = Some(reader.within(PathComponent::Field(KEY), parts)?);
        }
        Ok(given)
    }
}

/// Passes any value to the visitor.
struct Seed<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Seed<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<V::Value, D::Error> {
        json.deserialize_any(self.0)
    }
}

struct PartsOf<'s, 'r, 'f, 'a>(&'s mut Reader<'r, 'f, 'a>);

impl<'de, 'a> Visitor<'de> for PartsOf<'_, '_, '_, 'a> {
    type Value = Parts<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a container")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'a>, A::Error> {
        let Self(reader) = self;
        let mut parts = Parts::default();
        let mut seen = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let Some(&key) = KEYS.iter().find(|known| *known == &key) else {
                let names = KEYS.join(", ");
                return Err(A::Error::custom(format!("a container has no {key:?}, but {names}")));
            };
            let read = match seen.contains(&key) {
                true => Err(A::Error::custom(TWICE)),
                false => parts.read(key, &mut map, reader),
            };
            reader.within(PathComponent::Field(key), read)?;
            seen.push(key);
        }
        Ok(parts)
    }
}

impl<'a> Parts<'a> {
    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        reader: &mut Reader<'_, '_, 'a>,
    ) -> Result<(), A::Error> {
        match key {
            "kind" => {
                self.kind = Some(match map.next_value::<String>()?.as_str() {
                    "pte" => FileKind::Pte,
                    "ptd" => FileKind::Ptd,
                    other => {
                        let error = format!("the kind {other:?}, which is none of pte, ptd");
                        return Err(A::Error::custom(error));
                    }
                });
            }
            "generation" => {
                let number = map.next_value::<u64>()?;
                let number = u8::try_from(number).ok().filter(|number| *number <= 3);
                self.generation = Some(number.ok_or_else(|| {
                    A::Error::custom("there are the generations 0 to 3 of a .ptd")
                })?);
            }
            "header" => {
                self.header = Some(map.next_value_seed(Seed(HeaderOf(reader)))?);
            }
            "layout" => {
                let name = map.next_value::<String>()?;
                self.layout = Some(WriterLayout::named(&name).ok_or_else(|| {
                    let names: Vec<_> =
                        WriterLayout::ALL.iter().map(|layout| layout.name).collect();
                    let names = names.join(", ");
                    A::Error::custom(format!("the layout {name:?}, which is none of {names}"))
                })?);
            }
            "force_align" => {
                self.force_align = map.next_value()?;
                let fits = |align: u32| align.is_power_of_two() && align <= MOST_ALIGN;
                if !self.force_align.is_none_or(fits) {
                    let error = format!("an alignment is a power of two up to {MOST_ALIGN}");
                    return Err(A::Error::custom(error));
                }
            }
            "segment_base_offset" => self.segment_base_offset = map.next_value()?,
            "segment_alignment" => self.segment_alignment = Some(map.next_value()?),
            "padding" => self.padding = map.next_value()?,
            "unknown" => self.unknown = map.next_value_seed(Seed(UnknownOf))?,
            "segments" => self.segments = map.next_value_seed(Seed(BlobsOf(reader)))?,
            _ => self.trailing = map.next_value_seed(Seed(BlobOf(reader)))?,
        }
        Ok(())
    }
}

/// Reads a header; `None` for null.
struct HeaderOf<'s, 'r, 'f, 'a>(&'s mut Reader<'r, 'f, 'a>);

impl<'de> Visitor<'de> for HeaderOf<'_, '_, '_, '_> {
    type Value = Option<HeaderForm>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a header's length and chunk")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(reader) = self;
        let (mut length, mut chunk, mut in_front) = (None::<u32>, None::<u32>, None::<bool>);
        while let Some(key) = map.next_key::<String>()? {
            let (name, read) = match key.as_str() {
                "length" => ("length", once(&mut map, &mut length)),
                "chunk" => ("chunk", once(&mut map, &mut chunk)),
                "in_front" => ("in_front", once(&mut map, &mut in_front)),
                _ => {
                    let error = format!("a header has no {key:?}, but length, chunk, in_front");
                    return Err(A::Error::custom(error));
                }
            };
            reader.within(PathComponent::Field(name), read)?;
        }
        let (Some(length), Some(chunk)) = (length, chunk) else {
            return Err(A::Error::custom("a header has a length and a chunk"));
        };
        if chunk > MOST_CHUNK {
            let error = format!("a header of more than {MOST_CHUNK} bytes with its padding");
            return reader.within(PathComponent::Field("chunk"), Err(A::Error::custom(error)));
        }
        Ok(Some(match in_front.unwrap_or_default() {
            true => HeaderForm::InFront { length, chunk },
            false => HeaderForm::Inserted { length, chunk },
        }))
    }
}

struct UnknownOf;

impl<'de> Visitor<'de> for UnknownOf {
    type Value = Unknown;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with numbers of fields and members")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unknown, A::Error> {
        let (mut fields, mut members) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "fields" => once(&mut map, &mut fields)?,
                "members" => once(&mut map, &mut members)?,
                _ => return Err(A::Error::custom(format!("{key:?} beside fields and members"))),
            }
        }
        let (fields, members) = (fields.unwrap_or_default(), members.unwrap_or_default());
        Ok(Unknown { fields, members })
    }
}

/// Reads the value of a field. A field that is already set is an error.
fn once<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
    field: &mut Option<T>,
) -> Result<(), A::Error> {
    match field.replace(map.next_value()?) {
        None => Ok(()),
        Some(_) => Err(A::Error::custom(TWICE)),
    }
}

struct BlobsOf<'s, 'r, 'f, 'a>(&'s mut Reader<'r, 'f, 'a>);

impl<'de, 'a> Visitor<'de> for BlobsOf<'_, '_, '_, 'a> {
    type Value = Vec<Blob<'a>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of blobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Self(reader) = self;
        let mut blobs = Vec::new();
        for nth in 0.. {
            let blob = seq.next_element_seed(Seed(BlobOf(&mut *reader)));
            match reader.within(PathComponent::Index(nth), blob)? {
                Some(blob) => reader.push(&mut blobs, blob)?,
                None => break,
            }
        }
        Ok(blobs)
    }
}

struct BlobOf<'s, 'r, 'f, 'a>(&'s mut Reader<'r, 'f, 'a>);

impl<'de, 'a> Visitor<'de> for BlobOf<'_, '_, '_, 'a> {
    type Value = Blob<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of bytes or {\"file\": NAME}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Blob<'a>, A::Error> {
        let Self(reader) = self;
        let mut bytes = Vec::new();
        for nth in 0.. {
            let byte = seq.next_element::<u8>();
            match reader.within(PathComponent::Index(nth), byte)? {
                Some(byte) => reader.push(&mut bytes, byte)?,
                None => break,
            }
        }
        Ok(bytes.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Blob<'a>, A::Error> {
        let name = file_name(&mut map, &self)?;
        (self.0.files)(&name).map_err(A::Error::custom)
    }
}

const KEYS: [&str; 11] = [
    "kind",
    "generation",
    "header",
    "layout",
    "force_align",
    "segment_base_offset",
    "segment_alignment",
    "padding",
    "unknown",
    "segments",
    "trailing",
];

/// The largest alignment that a known writer uses.
const MOST_ALIGN: u32 = 4096;

/// The maximum length of a header with padding, which is far more than any alignment.
const MOST_CHUNK: u32 = 1 << 16;
