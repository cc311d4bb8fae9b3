//! A tree of tables as a FlatBuffer, by its declaration: no code for any table in particular.
//!
//! One tree has one layout. A table comes before what it refers to, and that in the order of the
//! slots; the fields of a table lie largest first, then by slot, without gaps. Vtables end with
//! their last field, stand in front of the first table that has them, and are shared by all later
//! ones. Numbers equal to their default are left out; all padding is zeros (format.md §0.1).

use core::fmt;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::bytes::{index, wide};
use crate::flat::desc::{Kind, Schema};
use crate::limits::MAX_PROGRAM;

mod object;

#[cfg(feature = "json")]
pub(crate) use object::range;
pub(crate) use object::stored;
pub use object::{Object, SetError, Value};

/// Why a tree cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// It would be longer than FlatBuffers' own bound, 2^31 − 1 bytes.
    TooLarge,
    /// The table is not the root of the schema.
    WrongRoot {
        /// The root of the schema.
        wanted: &'static str,
        /// The table that was given.
        found: &'static str,
    },
}

/// Writes a whole FlatBuffer with `root` as its root: the offset of the root, the identifier,
/// `chunk` at byte 8, and the tables.
///
/// `chunk` is a header of the container, or as many zeros in its place, or nothing. Alignments
/// count from the start of the buffer. They also hold without the chunk, which upstream's tools
/// may strip, if its length is a multiple of 16, the largest alignment of the schemas; what
/// follows the chunk is then the same as without one.
///
/// # Errors
///
/// Where `root` is not the schema's root, or the buffer would be too long.
pub fn write(schema: &Schema, root: &Object, chunk: &[u8]) -> Result<Vec<u8>, WriteError> {
    let (wanted, found) = (schema.root, root.desc());
    if !core::ptr::eq(wanted, found) {
        return Err(WriteError::WrongRoot { wanted: wanted.name, found: found.name });
    }
    let mut writer = Writer { out: Vec::new(), vtables: BTreeMap::new() };
    writer.append(&[0; 4])?;
    writer.append(&schema.identifier)?;
    writer.append(chunk)?;
    let pos = writer.table(root)?;
    writer.link(0, pos);
    Ok(writer.out)
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "the tables take more than {MAX_PROGRAM} bytes"),
            Self::WrongRoot { wanted, found } => {
                write!(f, "the root is a {found}, and the schema's is {wanted}")
            }
        }
    }
}

impl core::error::Error for WriteError {}

struct Writer {
    out: Vec<u8>,
    /// Where each vtable is, by its bytes.
    vtables: BTreeMap<Vec<u8>, u32>,
}

/// What one slot of a table becomes.
struct Part<'t> {
    slot: u16,
    /// Bytes inside the table.
    size: u16,
    /// As many bytes of these.
    bytes: [u8; 8],
    leads_to: Option<Target<'t>>,
}

/// What an offset leads to.
#[derive(Clone, Copy)]
enum Target<'t> {
    Str(&'t str),
    Table(&'t Object),
    Scalars { bytes: &'t [u8], size: u16, align: u32 },
    Tables(&'t [Object]),
}

impl Writer {
    fn table(&mut self, object: &Object) -> Result<u32, WriteError> {
        let parts = parts(object);
        let vtable = self.vtable(&parts)?;
        // The largest fields come first, right behind the first word.
        self.align(parts.first().map_or(4, |part| part.size).max(4).into())?;
        let pos = self.pos();
        self.append(&pos.saturating_sub(vtable).to_le_bytes())?;
        let mut offsets = Vec::new();
        for part in &parts {
            offsets.extend(part.leads_to.map(|target| (self.pos(), target)));
            self.append(part.bytes.get(..part.size.into()).unwrap_or_default())?;
        }
        for (at, target) in offsets {
            let pos = self.target(target)?;
            self.link(at, pos);
        }
        Ok(pos)
    }

    /// The vtable of a table of `parts`, written now or before.
    fn vtable(&mut self, parts: &[Part<'_>]) -> Result<u32, WriteError> {
        let slots = parts.iter().map(|part| part.slot.saturating_add(1)).max().unwrap_or(0);
        let mut words = alloc::vec![0u16; usize::from(slots).saturating_add(2)];
        let mut size = 4u16;
        for part in parts {
            if let Some(word) = words.get_mut(usize::from(part.slot).saturating_add(2)) {
                *word = size;
            }
            size = size.saturating_add(part.size);
        }
        let len = slots.saturating_mul(2).saturating_add(4);
        for (word, value) in words.iter_mut().zip([len, size]) {
            *word = value;
        }
        let bytes: Vec<u8> = words.into_iter().flat_map(u16::to_le_bytes).collect();
        if let Some(&pos) = self.vtables.get(&bytes) {
            return Ok(pos);
        }
        self.pad_to(2, 0)?;
        let pos = self.pos();
        self.append(&bytes)?;
        self.vtables.insert(bytes, pos);
        Ok(pos)
    }

    fn target(&mut self, target: Target<'_>) -> Result<u32, WriteError> {
        match target {
            Target::Table(object) => self.table(object),
            Target::Str(text) => {
                let pos = self.vector(4, text.len())?;
                self.append(text.as_bytes())?;
                self.append(&[0])?;
                Ok(pos)
            }
            Target::Scalars { bytes, size, align } => {
                // Elements are aligned even where there are none, which some verifiers ask for;
                // upstream's `force_align` is for contents.
                let align = if bytes.is_empty() { 4 } else { align };
                let count = bytes.len().checked_div(size.into()).unwrap_or_default();
                let pos = self.vector(align.max(size.into()), count)?;
                self.append(bytes)?;
                Ok(pos)
            }
            Target::Tables(objects) => {
                let pos = self.vector(4, objects.len())?;
                let mut at = self.pos();
                self.zeros(objects.len().saturating_mul(4))?;
                for object in objects {
                    let pos = self.table(object)?;
                    self.link(at, pos);
                    at = at.saturating_add(4);
                }
                Ok(pos)
            }
        }
    }

    /// The length word of a vector of `count` elements, the first of which is aligned to `align`.
    fn vector(&mut self, align: u32, count: usize) -> Result<u32, WriteError> {
        self.align(align.max(4))?;
        let pos = self.pos();
        let count = u32::try_from(count).map_err(|_| WriteError::TooLarge)?;
        self.append(&count.to_le_bytes())?;
        Ok(pos)
    }

    /// Zeros up to where, after one word, there is a multiple of `align`.
    fn align(&mut self, align: u32) -> Result<(), WriteError> {
        self.pad_to(align, 4)
    }

    fn pad_to(&mut self, align: u32, lead: u32) -> Result<(), WriteError> {
        let next = self.pos().saturating_add(lead);
        let aligned = next.checked_next_multiple_of(align).unwrap_or(u32::MAX);
        self.zeros(index(aligned.saturating_sub(next)))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.room(bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn zeros(&mut self, count: usize) -> Result<(), WriteError> {
        let len = self.room(count)?;
        self.out.resize(len, 0);
        Ok(())
    }

    /// The length with `more` bytes.
    fn room(&self, more: usize) -> Result<usize, WriteError> {
        let len = self.out.len().checked_add(more).filter(|len| wide(*len) <= MAX_PROGRAM);
        len.ok_or(WriteError::TooLarge)
    }

    /// Where the next byte goes: there is never more than [`MAX_PROGRAM`] in front of it.
    fn pos(&self) -> u32 {
        u32::try_from(self.out.len()).unwrap_or(u32::MAX)
    }

    /// Makes the offset at `at` lead to `pos`.
    fn link(&mut self, at: u32, pos: u32) {
        let offset = pos.saturating_sub(at).to_le_bytes();
        let place = self.out.get_mut(index(at)..).and_then(<[u8]>::first_chunk_mut);
        debug_assert!(place.is_some(), "an offset is written before what it leads to");
        if let Some(place) = place {
            *place = offset;
        }
    }
}

/// What the slots of a table become: largest first, then by slot.
fn parts(object: &Object) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for (field, value) in object.fields() {
        let (slot, offset) = (field.slot, |slot, target| Part {
            slot,
            size: 4,
            bytes: [0; 8],
            leads_to: Some(target),
        });
        match (value, field.kind) {
            (Value::Number(number), Kind::Scalar(scalar)) => {
                let [bytes, default] =
                    [*number, scalar.default].map(|number| stored(number, scalar.prim));
                if bytes != default {
                    let (size, bytes) = (scalar.prim.size(), bytes.unwrap_or_default());
                    parts.push(Part { slot, size, bytes, leads_to: None });
                }
            }
            (Value::Union(tag, object), _) => {
                if *tag != 0 {
                    let bytes = [*tag, 0, 0, 0, 0, 0, 0, 0];
                    parts.push(Part { slot, size: 1, bytes, leads_to: None });
                }
                let object = object.as_ref().map(Target::Table);
                parts.extend(object.map(|target| offset(slot.saturating_add(1), target)));
            }
            (Value::Str(text), _) => parts.push(offset(slot, Target::Str(text))),
            (Value::Table(object), _) => parts.push(offset(slot, Target::Table(object))),
            (Value::Scalars(bytes), Kind::Scalars { prim, align }) => {
                let size = prim.size();
                parts.push(offset(slot, Target::Scalars { bytes, size, align }));
            }
            (Value::Tables(objects), _) => parts.push(offset(slot, Target::Tables(objects))),
            // An object holds only what fits its fields.
            (Value::Number(_) | Value::Scalars(_), _) => {}
        }
    }
    parts.sort_by_key(|part| (core::cmp::Reverse(part.size), part.slot));
    parts
}
