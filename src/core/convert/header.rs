//! The header of a safetensors file: a JSON object with a member for each tensor.
//!
//! Tensors are read and written as the types of the `safetensors` package. The package's type for
//! the whole header, `Metadata`, is not used: it is a hash map, so it drops one of two tensors with
//! the same name, and writes `__metadata__` in a random order.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use safetensors::Dtype;
use safetensors::tensor::TensorInfo;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::{ConvertError, HEADER_LIMIT, METADATA};
use pte_flat::bytes::wide;
use pte_flat::quoted::Quoted;

/// A valid header. The data of its tensors fills the rest of the file.
pub(super) struct Header {
    pub(super) metadata: Option<Vec<(String, String)>>,
    /// The tensors, in the order of their data.
    pub(super) tensors: Vec<(String, TensorInfo)>,
}

impl Header {
    /// Parses the header of a file that has `data_len` bytes after it.
    pub(super) fn parse(text: &[u8], data_len: u64) -> Result<Self, ConvertError> {
        let Members { metadata, mut tensors } =
            serde_json::from_slice(text).map_err(ConvertError::Header)?;
        // The order in the file has no meaning. Sorting finds duplicate names, of which one would
        // be lost.
        tensors.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        prove_names(tensors.iter().map(|(name, _)| name.as_str()))?;
        tensors.sort_unstable_by(|(a, one), (b, other)| {
            (one.data_offsets, a).cmp(&(other.data_offsets, b))
        });
        let described = prove_places(tensors.iter().map(|(name, info)| (name.as_str(), info)))?;
        if described != data_len {
            return Err(ConvertError::DataLength { described, given: data_len });
        }
        Ok(Self { metadata, tensors })
    }
}

/// Returns the stored form of a header, padded with spaces to a multiple of 8 bytes. `tensors` are
/// in the order of their data.
pub(super) fn write(
    metadata: Option<&[(String, String)]>,
    tensors: &[(&str, TensorInfo)],
) -> Result<Vec<u8>, ConvertError> {
    let mut names: Vec<&str> = tensors.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    prove_names(names)?;
    prove_places(tensors.iter().map(|(name, info)| (*name, info)))?;
    let mut text =
        serde_json::to_vec(&Written { metadata, tensors }).map_err(ConvertError::Header)?;
    text.resize(text.len().next_multiple_of(8), b' ');
    match wide(text.len()) {
        size @ ..=HEADER_LIMIT => {
            debug_assert_eq!(size % 8, 0, "data begins at whole 8 bytes");
            Ok(text)
        }
        size => Err(ConvertError::HeaderLimit { size }),
    }
}

/// Parses metadata from the JSON in a blob.
pub(super) fn metadata(text: &[u8]) -> Result<Vec<(String, String)>, ConvertError> {
    let texts = serde_json::from_slice::<Texts>(text);
    texts.map(|Texts(texts)| texts).map_err(|error| ConvertError::Metadata { error: Some(error) })
}

/// Returns the metadata as JSON.
pub(super) fn metadata_text(metadata: &[(String, String)]) -> Result<Vec<u8>, ConvertError> {
    serde_json::to_vec(&WrittenTexts(metadata)).map_err(ConvertError::Header)
}

/// Refuses a sorted list of names with a duplicate or with the reserved name.
fn prove_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), ConvertError> {
    let mut last = None;
    for name in names {
        if last == Some(name) {
            return Err(ConvertError::Twice { name: name.into() });
        }
        if name == METADATA {
            return Err(ConvertError::Reserved);
        }
        last = Some(name);
    }
    Ok(())
}

/// Checks that each tensor has as many bytes as its shape needs, and begins at the end of the
/// previous tensor. Returns the end of the last tensor.
fn prove_places<'n>(
    tensors: impl IntoIterator<Item = (&'n str, &'n TensorInfo)>,
) -> Result<u64, ConvertError> {
    let mut after = 0;
    for (name, info) in tensors {
        let (begin, end) = (wide(info.data_offsets.0), wide(info.data_offsets.1));
        let Some(given) = end.checked_sub(begin).filter(|_| begin == after) else {
            return Err(ConvertError::Offsets { name: name.into(), begin, end, after });
        };
        let nbytes = nbytes(info);
        if nbytes != Some(given) {
            let (name, dtype) = (name.into(), info.dtype);
            return Err(ConvertError::Size { name, dtype, nbytes, given });
        }
        after = end;
    }
    Ok(after)
}

/// Returns the number of bytes of a tensor; `None` if it is not a whole number or exceeds 64 bits.
fn nbytes(info: &TensorInfo) -> Option<u64> {
    let elements = info.shape.iter().try_fold(1u64, |product, &n| product.checked_mul(wide(n)))?;
    let bits = elements.checked_mul(wide(info.dtype.bitsize()))?;
    (bits % 8 == 0).then_some(bits / 8)
}

/// The members of a header, in the order of the file.
struct Members {
    metadata: Option<Vec<(String, String)>>,
    tensors: Vec<(String, TensorInfo)>,
}

/// The value of a member: a [`TensorInfo`] whose number of sizes is limited.
#[derive(Deserialize)]
struct Member {
    dtype: Dtype,
    shape: Sizes,
    data_offsets: (usize, usize),
}

/// A shape, with at most as many sizes as NumPy allows. The limit is needed since two bytes of a
/// header become a size of eight bytes in memory.
struct Sizes(Vec<usize>);

const MOST_SIZES: usize = 64;

/// A JSON object of strings, in the order of the file.
struct Texts(Vec<(String, String)>);

struct Written<'h> {
    metadata: Option<&'h [(String, String)]>,
    tensors: &'h [(&'h str, TensorInfo)],
}

struct WrittenTexts<'h>(&'h [(String, String)]);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a member for each tensor")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let (mut metadata, mut tensors) = (None, Vec::new());
                while let Some(name) = map.next_key::<String>()? {
                    let named = |error| A::Error::custom(format!("{}: {error}", Quoted(&name)));
                    if name == METADATA {
                        let texts: Option<Texts> = map.next_value().map_err(named)?;
                        if metadata.replace(texts).is_some() {
                            return Err(named(A::Error::custom("it is there twice")));
                        }
                        continue;
                    }
                    let member: Member = map.next_value().map_err(named)?;
                    let Member { dtype, shape: Sizes(shape), data_offsets } = member;
                    tensors.push((name, TensorInfo { dtype, shape, data_offsets }));
                }
                let metadata = metadata.flatten().map(|Texts(texts)| texts);
                Ok(Members { metadata, tensors })
            }
        }
        from.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut texts: Vec<(String, String)> = Vec::new();
                while let Some(text) = map.next_entry()? {
                    texts.push(text);
                }
                let mut keys: Vec<&str> = texts.iter().map(|(key, _)| key.as_str()).collect();
                keys.sort_unstable();
                let twice = keys.windows(2).find(|pair| pair.first() == pair.last());
                match twice.and_then(|pair| pair.first()) {
                    Some(key) => Err(A::Error::custom(format!("{} is there twice", Quoted(key)))),
                    None => Ok(Texts(texts)),
                }
            }
        }
        from.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Sizes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of sizes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sizes, A::Error> {
                let mut sizes = Vec::new();
                while let Some(size) = list.next_element()? {
                    if sizes.len() == MOST_SIZES {
                        let message = format!("more than {MOST_SIZES} dimensions");
                        return Err(A::Error::custom(message));
                    }
                    sizes.push(size);
                }
                Ok(Sizes(sizes))
            }
        }
        from.deserialize_seq(List)
    }
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        if let Some(metadata) = self.metadata {
            map.serialize_entry(METADATA, &WrittenTexts(metadata))?;
        }
        for (name, info) in self.tensors {
            map.serialize_entry(name, info)?;
        }
        map.end()
    }
}

impl Serialize for WrittenTexts<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, text)| (key, text)))
    }
}
