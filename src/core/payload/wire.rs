//! Protocol Buffers' wire format: messages whose structure is proven, read in place.
//!
//! Nothing is copied or allocated. A message is proven against the fields that are read of it, and then read without
//! errors. Fields that no list names are skipped, as every reader of the format does.

use pte_flat::bytes::{index, wide};
use pte_flat::cost;

/// The fields of a message that contain text, numbers or messages. Other fields are skipped.
#[derive(Debug)]
pub(super) struct Shape(pub(super) &'static [(u32, Kind)]);

/// The contents of a field with a length.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// UTF-8 text.
    Text,
    /// Varints, one after the other.
    Varints,
    /// Numbers of four bytes.
    Words,
    /// Numbers of eight bytes.
    Doubles,
    /// A message.
    Message(&'static Shape),
}

/// A message whose structure is proven.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message<'p>(&'p [u8]);

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'p> {
    Varint(u64),
    Fixed64,
    Bytes(&'p [u8]),
    Fixed32,
}

impl<'p> Message<'p> {
    /// Proves a message.
    ///
    /// # Errors
    ///
    /// The position of the first field that is malformed.
    pub(super) fn prove(bytes: &'p [u8], shape: &'static Shape) -> Result<Self, u64> {
        match malformed(bytes, shape, MOST_DEPTH) {
            None => Ok(Self(bytes)),
            Some(at) => Err(wide(at.as_ptr().addr().saturating_sub(bytes.as_ptr().addr()))),
        }
    }

    /// Returns the bytes.
    pub(super) fn bytes(self) -> &'p [u8] {
        self.0
    }

    /// Returns each value of a field.
    pub(super) fn all(self, number: u32) -> impl Iterator<Item = Field<'p>> {
        Fields(self.0).filter(move |(found, _)| *found == number).map(|(_, field)| field)
    }

    /// Returns each message of a field.
    pub(super) fn messages(self, number: u32) -> impl Iterator<Item = Self> {
        self.all(number).filter_map(Field::bytes).map(Self)
    }

    /// Returns the message of a field. The last one counts.
    pub(super) fn message(self, number: u32) -> Option<Self> {
        self.messages(number).last()
    }

    /// Returns each text of a field.
    pub(super) fn texts(self, number: u32) -> impl Iterator<Item = &'p str> {
        self.all(number)
            .filter_map(Field::bytes)
            .map(|text| core::str::from_utf8(text).unwrap_or_default())
    }

    /// Returns the text of a field; an absent field is the empty text.
    pub(super) fn text(self, number: u32) -> &'p str {
        self.texts(number).last().unwrap_or_default()
    }

    /// Returns the integer of a field; an absent field is 0.
    pub(super) fn number(self, number: u32) -> u64 {
        let numbers = self.all(number).filter_map(|field| match field {
            Field::Varint(value) => Some(value),
            _ => None,
        });
        numbers.last().unwrap_or_default()
    }

    /// Returns the entries of a map: each key and its message.
    pub(super) fn entries(self, number: u32) -> impl Iterator<Item = (&'p str, Self)> {
        self.messages(number).map(|entry| (entry.text(1), entry.message(2).unwrap_or_default()))
    }
}

impl<'p> Field<'p> {
    /// Returns the bytes of a field with a length.
    pub(super) fn bytes(self) -> Option<&'p [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// Returns the rest of `bytes` that begins with the first malformed field; `None` if all are well formed.
fn malformed<'p>(bytes: &'p [u8], shape: &'static Shape, depth: u32) -> Option<&'p [u8]> {
    let mut fields = Fields(bytes);
    loop {
        let before = fields.0;
        if before.is_empty() {
            return None;
        }
        cost::charge(1);
        let Some((number, field)) = fields.next() else { return Some(before) };
        let kind = shape.0.iter().find(|(known, _)| *known == number).map(|(_, kind)| *kind);
        let (Some(kind), Field::Bytes(contents)) = (kind, field) else { continue };
        let is_good = match kind {
            Kind::Text => core::str::from_utf8(contents).is_ok(),
            Kind::Words => contents.len().is_multiple_of(4),
            Kind::Doubles => contents.len().is_multiple_of(8),
            Kind::Varints => {
                let mut numbers = Varints(contents);
                numbers.by_ref().for_each(drop);
                numbers.0.is_empty()
            }
            Kind::Message(inner) => match depth.checked_sub(1) {
                Some(depth) => match malformed(contents, inner, depth) {
                    Some(at) => return Some(at),
                    None => true,
                },
                None => false,
            },
        };
        if !is_good {
            return Some(before);
        }
    }
}

/// The fields of a message. A malformed field ends them.
struct Fields<'p>(&'p [u8]);

impl<'p> Iterator for Fields<'p> {
    type Item = (u32, Field<'p>);

    fn next(&mut self) -> Option<Self::Item> {
        let (tag, rest) = varint(self.0)?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number != 0)?;
        let (field, rest) = match tag & 7 {
            0 => {
                let (value, rest) = varint(rest)?;
                (Field::Varint(value), rest)
            }
            1 => (Field::Fixed64, rest.get(8..)?),
            2 => {
                let (len, rest) = varint(rest)?;
                let (contents, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
                (Field::Bytes(contents), rest)
            }
            5 => (Field::Fixed32, rest.get(4..)?),
            // Groups are in no message that is read.
            _ => return None,
        };
        self.0 = rest;
        Some((number, field))
    }
}

/// Varints, one after the other. A malformed one ends them.
#[derive(Clone, Copy, Debug)]
pub struct Varints<'p>(pub(super) &'p [u8]);

impl Iterator for Varints<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (value, rest) = varint(self.0)?;
        self.0 = rest;
        Some(value)
    }
}

/// Reads a varint: seven bits a byte, the lowest first, in at most ten bytes.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (nth, &byte) in (0u32..10).zip(bytes) {
        value |= u64::from(byte & 0x7f).checked_shl(nth.saturating_mul(7)).unwrap_or_default();
        if byte < 0x80 {
            return Some((value, bytes.get(index(nth).saturating_add(1)..)?));
        }
    }
    None
}

/// The maximum depth of messages in messages, which is that of the official readers.
const MOST_DEPTH: u32 = 100;
