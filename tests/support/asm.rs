//! An assembler with labels for hand-made files, and the smallest sound files.
//!
//! Bytes are written in file order. A *place* is a label, or a label and a distance (`"plan^+4"`,
//! `"end-1"`). It may be used before its label is defined. By convention `name` is the position of
//! an offset or a number, `name*` is the target of the offset, and `name^` is the vtable of the
//! table there.

use std::collections::BTreeMap;

use crate::harvest::harvest;

/// A file that is being written.
#[derive(Clone, Debug, Default)]
pub struct Asm {
    bytes: Vec<u8>,
    labels: BTreeMap<String, usize>,
    /// The fixups, applied in this order when the file is finished.
    edits: Vec<(usize, Value)>,
    cut: Option<String>,
}

/// Bytes that depend on labels.
#[derive(Clone, Debug)]
enum Value {
    Bytes(Vec<u8>),
    /// A place minus this position, as a u32.
    Forward(String),
    /// This position minus a place, as an i32.
    Back(String),
    /// The distance from one place to another, as a u64.
    Span(String, String),
}

impl Asm {
    pub fn new() -> Self {
        Self::default().label("start")
    }

    /// Returns the position of the next byte.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Defines a label at the next byte.
    #[track_caller]
    pub fn label(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        let before = self.labels.insert(name.clone(), self.bytes.len());
        assert_eq!(before, None, "the label {name:?} is laid down twice");
        self
    }

    pub fn bytes(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.bytes.extend_from_slice(bytes.as_ref());
        self
    }

    pub fn u8(self, value: u8) -> Self {
        self.bytes([value])
    }

    pub fn u16(self, value: u16) -> Self {
        self.bytes(value.to_le_bytes())
    }

    pub fn u32(self, value: u32) -> Self {
        self.bytes(value.to_le_bytes())
    }

    pub fn u64(self, value: u64) -> Self {
        self.bytes(value.to_le_bytes())
    }

    pub fn zeros(mut self, count: usize) -> Self {
        self.bytes.resize(self.bytes.len() + count, 0);
        self
    }

    /// Writes zeros up to a multiple of `n`.
    pub fn align(self, n: usize) -> Self {
        let count = self.bytes.len().next_multiple_of(n) - self.bytes.len();
        self.zeros(count)
    }

    /// Writes a FlatBuffers offset to `place`.
    pub fn u32_to(self, place: impl Into<String>) -> Self {
        self.later(Value::Forward(place.into()), 4)
    }

    /// Writes the first word of a table with its vtable at `place`.
    pub fn back_to(self, place: impl Into<String>) -> Self {
        self.later(Value::Back(place.into()), 4)
    }

    /// Writes the distance from `from` to `to`, as a u64.
    pub fn u64_from(self, from: &str, to: &str) -> Self {
        self.later(Value::Span(from.into(), to.into()), 8)
    }

    fn later(mut self, value: Value, size: usize) -> Self {
        self.edits.push((self.bytes.len(), value));
        self.zeros(size)
    }

    /// Writes an offset at `name`, to `name*`.
    #[track_caller]
    pub fn link(self, name: impl Into<String>) -> Self {
        let name = name.into();
        let target = format!("{name}*");
        self.label(name).u32_to(target)
    }

    /// Writes a vtable `name^`, and the first word of its table `name*` at a multiple of 8. `size` is the
    /// declared size, `offsets` has an entry for each slot. The caller writes the fields.
    #[track_caller]
    pub fn table(self, name: &str, size: u16, offsets: &[u16]) -> Self {
        let vtable = format!("{name}^");
        let len = 4 + 2 * u16::try_from(offsets.len()).unwrap();
        let asm = self.align(4).label(&vtable).u16(len).u16(size);
        let asm = offsets.iter().fold(asm, |asm, &offset| asm.u16(offset));
        asm.align(8).label(format!("{name}*")).back_to(vtable)
    }

    /// Writes the length `name*` of a vector with elements of `size` bytes. The caller writes the elements.
    #[track_caller]
    pub fn vector(mut self, name: &str, size: usize, len: u32) -> Self {
        self = self.align(4);
        while !(self.bytes.len() + 4).is_multiple_of(size) {
            self = self.zeros(4);
        }
        self.label(format!("{name}*")).u32(len)
    }

    /// Writes a string `name*`: its length, its bytes and a zero.
    #[track_caller]
    pub fn string(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        self.vector(name, 1, text.len().try_into().unwrap()).bytes(text).u8(0)
    }

    /// Writes the extended header of a `.pte` with `length` bytes, with the offsets of the labels `end`,
    /// `segments begin` and `segments end`.
    pub fn extended_header(self, length: u32) -> Self {
        let asm = self.label("header").bytes(b"eh00").label("header.length").u32(length);
        let asm = asm.label("header.program_size").u64_from("start", "end");
        let asm = asm.label("header.segment_base_offset").u64_from("start", "segments begin");
        let asm = asm.label("header.segment_data_size");
        match length {
            ..32 => asm.zeros(8),
            32.. => asm.u64_from("segments begin", "segments end"),
        }
        .label("header.rest")
        .zeros(length.saturating_sub(32) as usize)
        .align(8)
    }

    /// Writes the header of a `.ptd` with its padding, at byte 8 (format.md §2.2).
    pub fn flat_tensor_header(self) -> Self {
        let asm = self.label("header").bytes(b"FH01").label("header.length").u32(40);
        let asm = asm.label("header.flatbuffer_offset").u64_from("header", "chunk end");
        let asm = asm.label("header.flatbuffer_size").u64_from("chunk end", "end+8");
        let asm = asm.label("header.segment_base_offset").u64_from("start", "segments begin");
        let asm = asm.label("header.segment_data_size").u64_from("segments begin", "segments end");
        asm.label("header.padding").zeros(8).label("chunk end")
    }

    /// Ends the FlatBuffer, and writes one segment of `bytes`.
    pub fn segments(self, bytes: &[u8]) -> Self {
        let asm = self.align(16).label("end").label("segments begin");
        asm.bytes(bytes).label("segments end")
    }

    /// Overwrites the bytes at `place`.
    #[track_caller]
    pub fn patch(mut self, place: &str, bytes: impl AsRef<[u8]>) -> Self {
        let at = self.find(place);
        self.edits.push((at, Value::Bytes(bytes.as_ref().to_vec())));
        self
    }

    /// Changes the offset at `place` to `target`.
    #[track_caller]
    pub fn point(mut self, place: &str, target: &str) -> Self {
        let at = self.find(place);
        self.edits.push((at, Value::Forward(target.into())));
        self
    }

    /// Changes the vtable of the table at `place` to `vtable`.
    #[track_caller]
    pub fn point_back(mut self, place: &str, vtable: &str) -> Self {
        let at = self.find(place);
        self.edits.push((at, Value::Back(vtable.into())));
        self
    }

    /// Cuts the file at `place`.
    pub fn cut(mut self, place: &str) -> Self {
        self.cut = Some(place.into());
        self
    }

    /// Returns the position of a place.
    #[track_caller]
    pub fn at(&self, place: &str) -> u64 {
        self.find(place) as u64
    }

    #[track_caller]
    fn find(&self, place: &str) -> usize {
        let (label, distance) = place.split_at(place.find(['+', '-']).unwrap_or(place.len()));
        let Some(at) = self.labels.get(label) else { panic!("no label {label:?}") };
        match distance {
            "" => *at,
            distance => at.checked_add_signed(distance.parse().unwrap()).unwrap(),
        }
    }

    /// Returns the file.
    #[track_caller]
    pub fn finish(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for (at, value) in &self.edits {
            let value = match value {
                Value::Bytes(bytes) => bytes.clone(),
                Value::Forward(place) => word(self.find(place) as i64 - *at as i64),
                Value::Back(place) => word(*at as i64 - self.find(place) as i64),
                Value::Span(from, to) => {
                    (self.find(to) as u64 - self.find(from) as u64).to_le_bytes().to_vec()
                }
            };
            bytes[*at..*at + value.len()].copy_from_slice(&value);
        }
        if let Some(place) = &self.cut {
            bytes.truncate(self.find(place));
        }
        harvest(&bytes);
        bytes
    }
}

/// Encodes a distance in 32 bits, signed or unsigned.
fn word(distance: i64) -> Vec<u8> {
    i32::try_from(distance).unwrap().to_le_bytes().to_vec()
}

/// The smallest program: one plan, `forward`, which returns a constant tensor; with a header of 32 bytes and a
/// segment with the constant.
pub fn pte() -> Asm {
    pte_with_header(32)
}

/// The same program with a header of `length` bytes.
pub fn pte_with_header(length: u32) -> Asm {
    let asm = Asm::new().link("program").bytes(b"ET12").extended_header(length);
    program(asm, 8).segments(&[0x55; 8])
}

/// The same program without header and segment: its constant is empty.
pub fn pte_without_header() -> Asm {
    program(Asm::new().link("program").bytes(b"ET12"), 0).label("end")
}

/// The tables of [`pte`], with a segment of `size` bytes.
fn program(asm: Asm, size: u64) -> Asm {
    let elements = u32::try_from(size).unwrap() / 4;
    asm.table("program", 16, &[0, 4, 0, 0, 8, 12])
        .link("execution_plan")
        .link("segments")
        .link("constant_segment")
        .vector("execution_plan", 4, 1)
        .link("plan")
        .table("plan", 36, &[4, 0, 8, 12, 16, 20, 24, 28, 32])
        .link("name")
        .link("values")
        .link("inputs")
        .link("outputs")
        .link("chains")
        .link("operators")
        .link("delegates")
        .link("non_const_buffer_sizes")
        .string("name", "forward")
        .vector("values", 4, 2)
        .link("values[0]")
        .link("values[1]")
        .vector("inputs", 4, 0)
        .vector("outputs", 4, 1)
        .u32(1)
        .vector("chains", 4, 1)
        .link("chain")
        .vector("operators", 4, 0)
        .vector("delegates", 4, 0)
        .vector("non_const_buffer_sizes", 8, 1)
        .u64(0)
        .table("chain", 8, &[0, 0, 4])
        .link("instructions")
        .vector("instructions", 4, 0)
        .table("values[0]", 12, &[4, 8])
        .label("values[0].tag")
        .u32(2)
        .link("int")
        .table("int", 16, &[8])
        .zeros(4)
        .label("int_val")
        .u64(7)
        .table("values[1]", 12, &[4, 8])
        .label("values[1].tag")
        .u32(5)
        .link("tensor")
        .table("tensor", 20, &[4, 0, 8, 12, 0, 16])
        .label("scalar_type")
        .u32(6)
        .link("sizes")
        .link("dim_order")
        .label("data_buffer_idx")
        .u32(1)
        .vector("sizes", 4, 1)
        .u32(elements)
        .vector("dim_order", 1, 1)
        .u8(0)
        .vector("segments", 4, 1)
        .link("segment")
        .table("segment", 24, &[8, 16])
        .zeros(4)
        .label("segment.offset")
        .u64(0)
        .label("segment.size")
        .u64(size)
        .table("constant_segment", 12, &[4, 8])
        .label("constant_segment.segment_index")
        .u32(0)
        .link("offsets")
        .vector("offsets", 8, 2)
        .u64(0)
        .label("offsets[1]")
        .u64(0)
}

/// The smallest data file: one tensor, `w`.
pub fn ptd() -> Asm {
    Asm::new()
        .link("flat_tensor")
        .bytes(b"FT01")
        .flat_tensor_header()
        .table("flat_tensor", 16, &[4, 8, 12])
        .label("version")
        .u32(0)
        .link("segments")
        .link("named_data")
        .vector("segments", 4, 1)
        .link("segment")
        .vector("named_data", 4, 1)
        .link("named")
        .table("segment", 24, &[8, 16])
        .zeros(4)
        .label("segment.offset")
        .u64(0)
        .label("segment.size")
        .u64(8)
        .table("named", 16, &[4, 8, 12])
        .link("key")
        .label("segment_index")
        .u32(0)
        .link("layout")
        .string("key", "w")
        .table("layout", 16, &[4, 8, 12])
        .label("scalar_type")
        .u32(6)
        .link("sizes")
        .link("dim_order")
        .vector("sizes", 4, 1)
        .u32(2)
        .vector("dim_order", 1, 1)
        .u8(0)
        .segments(&[0x55; 8])
}
