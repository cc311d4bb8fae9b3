//! A tree of tables as a FlatBuffer, by its declaration: no code for any table in particular.
//!
//! A FlatBuffer is built back to front, since offsets lead forward: what a table refers to is
//! written first, in the order of the slots, and so lies behind it. A vtable stands in front of the
//! first table that was written with it, and is shared by those written later. Numbers equal to
//! their default are left out; all padding is zeros (format.md §0.1). One tree has one
//! [`Layout`]'s bytes.

use core::fmt;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::bytes::{index, wide};
use crate::flat::desc::{Kind, Schema};
use crate::flat::tree::{Object, Value};
use crate::limits::MAX_PROGRAM;

mod layout;

pub use layout::Layout;

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
/// `chunk` is a header of the container, or as many zeros in its place, or nothing. What follows it
/// is the same as without one, and aligned as without one if its length is a multiple of the
/// largest alignment: 16, if `layout` asks for no other.
///
/// # Errors
///
/// Where `root` is not the schema's root, or the buffer would be too long.
pub fn write(
    schema: &Schema,
    root: &Object<'_>,
    chunk: &[u8],
    layout: &Layout,
) -> Result<Vec<u8>, WriteError> {
    write_within(schema, root, chunk, layout, MAX_PROGRAM)
}

/// Writes a FlatBuffer as [`write()`] does, if it has at most `most` bytes.
pub(crate) fn write_within(
    schema: &Schema,
    root: &Object<'_>,
    chunk: &[u8],
    layout: &Layout,
    most: u64,
) -> Result<Vec<u8>, WriteError> {
    let (wanted, found) = (schema.root, root.desc());
    if !core::ptr::eq(wanted, found) {
        return Err(WriteError::WrongRoot { wanted: wanted.name, found: found.name });
    }
    let most = most.min(MAX_PROGRAM);
    let mut writer = Writer { layout, out: Vec::new(), vtables: BTreeMap::new(), align: 1, most };
    let pos = writer.table(root)?;
    writer.pad(writer.align.max(4), 8)?;
    writer.prepend(chunk)?;
    writer.prepend(&schema.identifier)?;
    writer.offset_to(pos)?;
    let mut out = writer.out;
    out.reverse();
    Ok(out)
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

struct Writer<'l> {
    layout: &'l Layout,
    /// The buffer, its last byte first: a position in it counts from the end of the buffer.
    out: Vec<u8>,
    /// Where each vtable is, by its bytes, or those of its offsets.
    vtables: BTreeMap<Vec<u8>, u32>,
    /// The largest alignment that was asked for.
    align: u32,
    /// The largest length, at most [`MAX_PROGRAM`].
    most: u64,
}

/// What one slot of a table becomes.
struct Part {
    slot: u16,
    held: Held,
}

/// What a table holds inside.
enum Held {
    /// As many bytes of these.
    Bytes([u8; 8], u16),
    /// The offset to what was written there.
    Offset(u32),
}

impl Writer<'_> {
    fn table(&mut self, object: &Object<'_>) -> Result<u32, WriteError> {
        let mut parts = Vec::new();
        for (field, value) in object.fields() {
            self.field(field.slot, value, field.kind, &mut parts)?;
        }
        self.layout.order(&mut parts, |part| (part.slot, part.held.size()));
        let end = self.pos();
        let slots = parts.iter().map(|part| index(part.slot.into()).saturating_add(1)).max();
        let mut places = alloc::vec![0; slots.unwrap_or_default()];
        for Part { slot, held } in parts {
            match held {
                Held::Bytes(bytes, size) => {
                    self.pad(size.into(), 0)?;
                    self.prepend(bytes.get(..size.into()).unwrap_or_default())?;
                }
                Held::Offset(pos) => self.offset_to(pos)?,
            }
            if let Some(place) = places.get_mut(usize::from(slot)) {
                *place = self.pos();
            }
        }
        self.pad(4, 0)?;
        let pos = self.pos().saturating_add(4);
        let vtable = vtable(pos, end, &places);
        let key =
            if self.layout.sizes_count { &*vtable } else { vtable.get(4..).unwrap_or_default() };
        let known = self.vtables.get(key).copied();
        // A new one goes right in front.
        let at = known.unwrap_or_else(|| pos.saturating_add(length(&vtable)));
        // Negative where the vtable was written before, and so lies behind.
        let offset = i64::from(at).saturating_sub(pos.into());
        self.prepend(&i32::try_from(offset).unwrap_or(i32::MAX).to_le_bytes())?;
        if known.is_none() {
            self.vtables.insert(key.to_vec(), at);
            self.prepend(&vtable)?;
        }
        Ok(pos)
    }

    /// Writes what the field refers to, and notes what its table holds.
    fn field(
        &mut self,
        slot: u16,
        value: &Value<'_>,
        kind: Kind,
        parts: &mut Vec<Part>,
    ) -> Result<(), WriteError> {
        let held = match (value, kind) {
            (Value::Number(number), Kind::Scalar(scalar)) => {
                let [bytes, default] =
                    [*number, scalar.default].map(|number| number.stored(scalar.prim));
                if bytes == default {
                    return Ok(());
                }
                Held::Bytes(bytes.unwrap_or_default(), scalar.prim.size())
            }
            (Value::Union(tag, object), _) => {
                if *tag != 0 {
                    let held = Held::Bytes([*tag, 0, 0, 0, 0, 0, 0, 0], 1);
                    parts.push(Part { slot, held });
                }
                if let Some(object) = object {
                    let held = Held::Offset(self.table(object)?);
                    parts.push(Part { slot: slot.saturating_add(1), held });
                }
                return Ok(());
            }
            (Value::Str(text), _) => Held::Offset(self.string(text)?),
            (Value::Table(object), _) => Held::Offset(self.table(object)?),
            (Value::Scalars(bytes), Kind::Scalars { prim, align }) => {
                Held::Offset(self.scalars(bytes, prim.size(), align)?)
            }
            (Value::Tables(objects), _) => Held::Offset(self.tables(objects)?),
            // An object holds only what fits its fields.
            (Value::Number(_) | Value::Scalars(_), _) => return Ok(()),
        };
        parts.push(Part { slot, held });
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<u32, WriteError> {
        self.pad(4, text.len().saturating_add(1))?;
        self.prepend(&[0])?;
        self.counted(text.as_bytes(), text.len())
    }

    fn scalars(&mut self, bytes: &[u8], size: u16, align: u32) -> Result<u32, WriteError> {
        self.pad(4, bytes.len())?;
        if !bytes.is_empty() || self.layout.align_empty {
            self.pad(self.layout.forced(align).max(size.into()), bytes.len())?;
        }
        self.counted(bytes, bytes.len().checked_div(size.into()).unwrap_or_default())
    }

    fn tables(&mut self, objects: &[Object<'_>]) -> Result<u32, WriteError> {
        let mut places = Vec::new();
        for object in objects {
            places.push(self.table(object)?);
        }
        self.pad(4, 0)?;
        for pos in places.into_iter().rev() {
            self.offset_to(pos)?;
        }
        self.counted(&[], objects.len())
    }

    /// The last elements of a vector of `count`, and its length.
    fn counted(&mut self, bytes: &[u8], count: usize) -> Result<u32, WriteError> {
        self.prepend(bytes)?;
        let count = u32::try_from(count).map_err(|_| WriteError::TooLarge)?;
        self.prepend(&count.to_le_bytes())?;
        Ok(self.pos())
    }

    /// The offset to what was written at `pos`.
    fn offset_to(&mut self, pos: u32) -> Result<(), WriteError> {
        self.pad(4, 0)?;
        let offset = self.pos().saturating_add(4).saturating_sub(pos);
        self.prepend(&offset.to_le_bytes())
    }

    /// Zeros, so that what comes in front of `more` further bytes' end is aligned.
    fn pad(&mut self, align: u32, more: usize) -> Result<(), WriteError> {
        self.align = self.align.max(align);
        let len = self.out.len().saturating_add(more);
        let padded = len.checked_next_multiple_of(index(align)).unwrap_or(usize::MAX);
        let zeros = padded.saturating_sub(len);
        let len = self.room(zeros)?;
        self.out.resize(len, 0);
        Ok(())
    }

    fn prepend(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.room(bytes.len())?;
        self.out.extend(bytes.iter().rev());
        Ok(())
    }

    /// The length with `more` bytes.
    fn room(&self, more: usize) -> Result<usize, WriteError> {
        let len = self.out.len().checked_add(more).filter(|len| wide(*len) <= self.most);
        len.ok_or(WriteError::TooLarge)
    }

    /// Where what was written last begins, from the end of the buffer: there is never more than
    /// [`MAX_PROGRAM`].
    fn pos(&self) -> u32 {
        length(&self.out)
    }
}

impl Held {
    fn size(&self) -> u16 {
        match self {
            Self::Bytes(_, size) => *size,
            Self::Offset(_) => 4,
        }
    }
}

/// The vtable of a table at `pos`, counted from the end of the buffer as its `end` and the places
/// of its slots (0 for none): at least two words, and up to the last slot that there is.
fn vtable(pos: u32, end: u32, places: &[u32]) -> Vec<u8> {
    let offsets = places.iter().map(|&place| match place {
        0 => 0,
        place => pos.saturating_sub(place),
    });
    let len = places.len().saturating_mul(2).saturating_add(4);
    let first = [u32::try_from(len).unwrap_or(u32::MAX), pos.saturating_sub(end)];
    // A table of the widest schema has a few hundred bytes.
    let words =
        first.into_iter().chain(offsets).map(|word| u16::try_from(word).unwrap_or(u16::MAX));
    words.flat_map(u16::to_le_bytes).collect()
}

/// The length of what has at most [`MAX_PROGRAM`] bytes.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
