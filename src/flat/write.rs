//! Writes tables as a FlatBuffer, driven by their declarations. No code is specific to a table.
//!
//! A FlatBuffer is built back to front, since offsets lead forward. The targets of a table's
//! offsets are written first, in the order of the slots, so they lie after the table. A vtable lies
//! in front of the first table that uses it, and later tables share it. Numbers equal to their
//! default are left out, and padding is zero (format.md §0.1). The output depends only on the
//! tables and the [`WriterLayout`].

use core::ops::ControlFlow::{self, Break, Continue};

use alloc::vec::Vec;

use crate::bytes::{index, wide};
use crate::desc::{FieldDesc, Kind, MAX_SLOTS, Schema};
use crate::limits::MAX_SIZE;
use crate::node::{Held, Node, NodeList, TextList};

pub mod compare;
mod layout;
mod sink;
mod vtables;

pub use layout::WriterLayout;
use sink::{Reversed, Sink};
use vtables::{Vtable, Vtables};

crate::errors! {
    /// The reason why tables cannot be written.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum WriteError {
        /// The buffer would exceed FlatBuffers' limit of 2^31 − 1 bytes.
        TooLarge => "the tables take more than {MAX_SIZE} bytes";
        /// The table is not the root of the schema.
        WrongRoot {
            /// The name of the schema's root.
            wanted: &'static str,
            /// The name of the given table.
            found: &'static str,
        } => "wrong root table: expected {wanted}, found {found}";
        /// The system has no memory left for the bytes.
        OutOfMemory => "out of memory";
    }
}

/// Writes a whole FlatBuffer: the offset of `root`, the identifier, `chunk` at byte 8, and the
/// tables.
///
/// `chunk` is a header of the container, zeros in place of a header, or empty. It does not change
/// the bytes of the tables. The tables stay aligned if the length of `chunk` is a multiple of the
/// largest alignment: 16 by default.
///
/// # Errors
///
/// If `root` is not the schema's root, the buffer would be too long, or memory is short.
pub fn write(
    schema: &Schema,
    root: &dyn Node,
    chunk: &[u8],
    layout: &WriterLayout,
) -> Result<Vec<u8>, WriteError> {
    write_within(schema, root, chunk, layout, MAX_SIZE)
}

/// Writes a FlatBuffer of at most `most` bytes, as [`write()`] does.
pub fn write_within(
    schema: &Schema,
    root: &dyn Node,
    chunk: &[u8],
    layout: &WriterLayout,
    most: u64,
) -> Result<Vec<u8>, WriteError> {
    let (wanted, found) = (schema.root, root.desc());
    if !core::ptr::eq(wanted, found) {
        return Err(WriteError::WrongRoot { wanted: wanted.name, found: found.name });
    }
    let mut writer = Writer::new(layout, Reversed::default());
    writer.most = most.min(MAX_SIZE);
    match writer.whole(schema, root, chunk) {
        Continue(()) => Ok(writer.out.into_bytes()),
        Break(()) => Err(writer.error.unwrap_or(WriteError::OutOfMemory)),
    }
}

/// Writes tables into a sink. A function breaks if the writer or the sink fails.
struct Writer<'l, S> {
    layout: &'l WriterLayout,
    out: S,
    vtables: Vtables,
    /// The largest alignment so far, not counting `force_align`.
    align: u32,
    /// The largest allowed length: at most [`MAX_SIZE`].
    most: u64,
    /// The largest alignment of a vector with `force_align`; 0 without such a vector.
    forced: u32,
    /// One bit for each alignment in [`FORCED`]: whether it would have given the same bytes so far.
    alike: u16,
    /// The error of the writer; `None` if the sink broke.
    error: Option<WriteError>,
}

/// The alignments that exporters may give to data in the tables.
pub const FORCED: [u32; 12] = [1, 2, 4, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/// The bytes in front of the chunk: the offset of the root, and the identifier.
pub(crate) const HEAD: usize = 8;

/// The inline bytes of one slot of a table.
#[derive(Clone, Copy, Default)]
struct Part {
    slot: u16,
    /// The bytes of the slot, or the position of the target if it is an offset.
    bytes: [u8; 8],
    size: u16,
    is_offset: bool,
}

/// The parts of a table.
#[derive(Default)]
struct Parts {
    parts: [Part; MAX_SLOTS],
    len: usize,
}

impl<'l, S: Sink> Writer<'l, S> {
    fn new(layout: &'l WriterLayout, out: S) -> Self {
        let vtables = Vtables::new(layout.sizes_count);
        let most = MAX_SIZE;
        Self { layout, out, vtables, align: 1, most, forced: 0, alike: u16::MAX, error: None }
    }

    /// Writes the whole buffer.
    fn whole(&mut self, schema: &Schema, root: &dyn Node, chunk: &[u8]) -> ControlFlow<()> {
        let pos = self.body(root)?;
        self.prepend(chunk)?;
        self.prepend(&schema.identifier)?;
        self.offset_to(pos)
    }

    /// Writes everything after the chunk, and returns the position of the root.
    fn body(&mut self, root: &dyn Node) -> ControlFlow<(), u32> {
        let pos = self.table(root)?;
        let align = self.align.max(4);
        if self.forced != 0 {
            self.compare_forced(align, HEAD, self.forced);
        }
        self.pad(align.max(self.forced), HEAD)?;
        Continue(pos)
    }

    fn table(&mut self, node: &dyn Node) -> ControlFlow<(), u32> {
        let mut parts = Parts::default();
        node.visit(&mut |field, value| self.field(field, value, &mut parts))?;
        let parts = parts.parts.get_mut(..parts.len).unwrap_or_default();
        self.layout.order(parts, |part| (part.slot, part.size));
        let end = self.pos();
        let mut places = [0; MAX_SLOTS];
        for part in parts.iter() {
            match part.is_offset {
                true => self.offset_to(u32::from_le_bytes(first_half(part.bytes)))?,
                false => {
                    self.pad(part.size.into(), 0)?;
                    self.prepend(part.bytes.get(..part.size.into()).unwrap_or_default())?;
                }
            }
            if let Some(place) = places.get_mut(usize::from(part.slot)) {
                *place = self.pos();
            }
        }
        self.pad(4, 0)?;
        let pos = self.pos().saturating_add(4);
        let vtable = Vtable::new(pos, end, &places);
        let known = self.vtables.find(&vtable);
        // A new vtable is put in front of the table.
        let at = known.unwrap_or_else(|_| pos.saturating_add(length(vtable.bytes().len())));
        // The offset is negative for a shared vtable, which lies after the table.
        let offset = i64::from(at).saturating_sub(pos.into());
        self.prepend(&i32::try_from(offset).unwrap_or(i32::MAX).to_le_bytes())?;
        if let Err(rank) = known {
            let kept = self.vtables.insert(rank, vtable, at);
            self.or(kept.map_err(|_| WriteError::OutOfMemory))?;
            self.prepend(vtable.bytes())?;
        }
        Continue(pos)
    }

    /// Writes the target of a field, and adds the field's slot to `parts`.
    fn field(&mut self, field: &FieldDesc, value: Held<'_>, parts: &mut Parts) -> ControlFlow<()> {
        let slot = field.slot;
        let pos = match (value, field.kind) {
            (Held::Number(number), Kind::Scalar(scalar)) => {
                let [bytes, default] =
                    [number, scalar.default].map(|number| number.stored(scalar.prim));
                if scalar.optional || bytes != default {
                    parts.add(slot, bytes.unwrap_or_default(), scalar.prim.size());
                }
                return Continue(());
            }
            (Held::Union(tag, node), _) => {
                if tag != 0 {
                    parts.add(slot, [tag, 0, 0, 0, 0, 0, 0, 0], 1);
                }
                if let Some(node) = node {
                    let pos = self.table(node)?;
                    parts.add_offset(slot.saturating_add(1), pos);
                }
                return Continue(());
            }
            (Held::Str(text), _) => self.string(text)?,
            (Held::Table(node), _) => self.table(node)?,
            (Held::Bytes(bytes), Kind::Scalars { prim, align, .. }) => {
                let count = bytes.len().checked_div(prim.size().into()).unwrap_or_default();
                self.align_elements(bytes.len(), prim.size(), align)?;
                self.prepend(bytes)?;
                self.count(count)?
            }
            (Held::Numbers(numbers), Kind::Scalars { prim, align, .. }) => {
                let count = numbers.count();
                self.align_elements(count.saturating_mul(prim.size().into()), prim.size(), align)?;
                numbers.visit_back(&mut |bytes| self.prepend(bytes))?;
                self.count(count)?
            }
            (Held::Tables(nodes), _) => self.tables(nodes)?,
            (Held::Strs(texts), _) => self.strings(texts)?,
            // A mismatch cannot occur: values fit their fields (see `flat::node::sealed`).
            (Held::Number(_) | Held::Bytes(_) | Held::Numbers(_), _) => return Continue(()),
        };
        parts.add_offset(slot, pos);
        Continue(())
    }

    fn string(&mut self, text: &str) -> ControlFlow<(), u32> {
        self.pad(4, text.len().saturating_add(1))?;
        self.prepend(&[0])?;
        self.prepend(text.as_bytes())?;
        self.count(text.len())
    }

    /// Writes the padding for a vector of `len` bytes with elements of `size` bytes.
    fn align_elements(&mut self, len: usize, size: u16, align: u32) -> ControlFlow<()> {
        self.pad(4, len)?;
        if len == 0 && !self.layout.align_empty {
            return Continue(());
        }
        let forced = self.layout.forced(align).max(size.into());
        if align == 0 {
            return self.pad(forced, len);
        }
        self.compare_forced(size.into(), len, forced);
        self.forced = self.forced.max(forced);
        let align = self.align;
        self.pad(forced, len)?;
        self.align = align;
        Continue(())
    }

    fn tables(&mut self, nodes: &dyn NodeList) -> ControlFlow<(), u32> {
        let mut places = self.places(nodes.count())?;
        nodes.visit_all(&mut |node| {
            places.push(self.table(node)?);
            Continue(())
        })?;
        self.offsets(&places)
    }

    fn strings(&mut self, texts: &dyn TextList) -> ControlFlow<(), u32> {
        let mut places = self.places(texts.count())?;
        texts.visit_all(&mut |text| {
            places.push(self.string(text)?);
            Continue(())
        })?;
        self.offsets(&places)
    }

    /// Returns a vector with room for `count` positions.
    fn places(&mut self, count: usize) -> ControlFlow<(), Vec<u32>> {
        let mut places = Vec::new();
        let room = places.try_reserve_exact(count);
        self.or(room.map_err(|_| WriteError::OutOfMemory))?;
        Continue(places)
    }

    /// Writes a vector of offsets to `places`, and returns its position.
    fn offsets(&mut self, places: &[u32]) -> ControlFlow<(), u32> {
        self.pad(4, 0)?;
        for pos in places.iter().rev() {
            self.offset_to(*pos)?;
        }
        self.count(places.len())
    }

    /// Writes the length of a vector or string in front of its elements.
    fn count(&mut self, count: usize) -> ControlFlow<(), u32> {
        let count = u32::try_from(count).map_err(|_| WriteError::TooLarge);
        let count = self.or(count)?;
        self.prepend(&count.to_le_bytes())?;
        Continue(self.pos())
    }

    /// Writes an offset to `pos`.
    fn offset_to(&mut self, pos: u32) -> ControlFlow<()> {
        self.pad(4, 0)?;
        let offset = self.pos().saturating_add(4).saturating_sub(pos);
        self.prepend(&offset.to_le_bytes())
    }

    /// Writes zeros such that `more` further bytes begin at a multiple of `align`.
    fn pad(&mut self, align: u32, more: usize) -> ControlFlow<()> {
        self.align = self.align.max(align);
        match padding(self.out.len(), more, align) {
            0 => Continue(()),
            zeros => {
                self.room(zeros)?;
                self.out.prepend_zeros(zeros)
            }
        }
    }

    /// Updates `alike`: clears the bit of each alignment in [`FORCED`] that would pad differently
    /// from `own`. Alignments below `least` count as `least`.
    fn compare_forced(&mut self, least: u32, more: usize, own: u32) {
        let zeros = |align: u32| padding(self.out.len(), more, align.max(least));
        let mut bit = 1u16;
        for align in FORCED {
            if zeros(align) != zeros(own) {
                self.alike &= !bit;
            }
            bit = bit.wrapping_shl(1);
        }
    }

    fn prepend(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.room(bytes.len())?;
        self.out.prepend(bytes)
    }

    /// Breaks if `more` bytes exceed the limit.
    fn room(&mut self, more: usize) -> ControlFlow<()> {
        let len = self.out.len().checked_add(more).filter(|len| wide(*len) <= self.most);
        self.or(len.map(drop).ok_or(WriteError::TooLarge))
    }

    /// Returns the value of `result`, or records its error and breaks.
    fn or<T>(&mut self, result: Result<T, WriteError>) -> ControlFlow<(), T> {
        match result {
            Ok(value) => Continue(value),
            Err(error) => {
                self.error = Some(error);
                Break(())
            }
        }
    }

    /// Returns the position of the last write, counted from the end of the buffer.
    fn pos(&self) -> u32 {
        length(self.out.len())
    }
}

impl Parts {
    fn add(&mut self, slot: u16, bytes: [u8; 8], size: u16) {
        self.push(Part { slot, bytes, size, is_offset: false });
    }

    fn add_offset(&mut self, slot: u16, pos: u32) {
        let [a, b, c, d] = pos.to_le_bytes();
        self.push(Part { slot, bytes: [a, b, c, d, 0, 0, 0, 0], size: 4, is_offset: true });
    }

    fn push(&mut self, part: Part) {
        if let Some(place) = self.parts.get_mut(self.len) {
            *place = part;
            self.len = self.len.saturating_add(1);
        }
    }
}

/// Returns the number of zeros that pad `len` and `more` bytes to a multiple of `align`.
fn padding(len: usize, more: usize, align: u32) -> usize {
    let len = len.saturating_add(more);
    let padded = len.checked_next_multiple_of(index(align)).unwrap_or(usize::MAX);
    padded.saturating_sub(len)
}

fn first_half([a, b, c, d, ..]: [u8; 8]) -> [u8; 4] {
    [a, b, c, d]
}

/// Converts a length, which is at most [`MAX_SIZE`].
fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
