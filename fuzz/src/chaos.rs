//! A second writer, for any legal layout. The library's writer has only the layouts of known tools.
//!
//! Objects lie in any order that keeps offsets forward, fields in any order inside their table,
//! vtables in front of their table or behind it, shared or not; equal strings may be one; there is
//! more padding than is needed, and what genuine files have been seen to do, however odd.

#![allow(dead_code, unreachable_pub, reason = "a bitfield has more functions than are called")]

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use modular_bitfield::prelude::*;
use pte::file::header::ExtendedHeader;
use pte::flat::desc::{Kind, Number, Prim, Schema};
use pte::flat::tree::{FieldValue, Object};
use pte::model::{PteModel, RootNode, RootStruct};
use pte_tests::trees::object_of;

/// The peculiarities that the layout of a file may have.
#[bitfield(bytes = 2)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    shuffled: bool,
    fields_shuffled: bool,
    vtables_shared: bool,
    vtables_behind: bool,
    vtables_long: bool,
    strings_shared: bool,
    padding: bool,
    defaults: bool,
    unknown_fields: bool,
    empty_unaligned: bool,
    sizes_wrong: bool,
    unforced: bool,
    #[skip]
    __: B4,
}

/// Returns a FlatBuffer with `chunk` at byte 8, and its number of unknown fields.
pub(crate) fn write(
    schema: &Schema,
    root: &Object<'_>,
    chunk: &[u8],
    random: &mut Unstructured<'_>,
) -> Result<(Vec<u8>, u64)> {
    let habits = Habits::from_bytes(random.arbitrary()?);
    let mut nodes = Nodes { habits, nodes: Vec::new(), strings: BTreeMap::new() };
    nodes.table(root);
    let mut out = vec![0; 4];
    out.extend_from_slice(&schema.identifier);
    out.extend_from_slice(chunk);
    let places = vec![0; nodes.nodes.len()];
    let vtables = BTreeMap::new();
    let mut writer =
        Writer { habits, out, places, patches: vec![(0, 0)], vtables, unknown: 0, random };
    // Offsets are unsigned: a node lies behind all nodes that refer to it.
    let mut waiting = vec![0usize; nodes.nodes.len()];
    for node in &nodes.nodes {
        node.targets().for_each(|target| waiting[target] += 1);
    }
    let mut ready = vec![0];
    while !ready.is_empty() {
        let at = match habits.shuffled() {
            true => writer.random.choose_index(ready.len())?,
            false => ready.len() - 1,
        };
        let id = ready.swap_remove(at);
        writer.node(id, &nodes.nodes[id])?;
        for target in nodes.nodes[id].targets() {
            waiting[target] -= 1;
            if waiting[target] == 0 {
                ready.push(target);
            }
        }
    }
    for (at, target) in writer.patches {
        let offset = writer.places[target] - at;
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        writer.out[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    }
    Ok((writer.out, writer.unknown))
}

/// Returns a program in such a layout, and its number of unknown fields.
pub(crate) fn program(
    model: &PteModel<'_>,
    random: &mut Unstructured<'_>,
) -> Result<(Vec<u8>, u64)> {
    let object = object_of(&model.root);
    let schema = <pte::schema::program::model::Program as RootNode>::SCHEMA;
    if model.segments.is_empty() {
        return write(schema, &object, &[], random);
    }
    let length = *random.choose(&[24, ExtendedHeader::CURRENT, 36])?;
    let chunk = length.next_multiple_of(*random.choose(&[8, 16, 64])?);
    let zeros = vec![0; usize::try_from(chunk).unwrap_or_default()];
    let (mut out, unknown) = write(schema, &object, &zeros, random)?;
    let base = (out.len() as u64).next_multiple_of(*random.choose(&[1, 16, 128])?);
    let places = model.root.segments();
    let end = places.iter().map(|(offset, size)| offset + size).max().unwrap_or_default();
    let header = ExtendedHeader {
        length,
        program_size: out.len() as u64,
        segment_base_offset: base,
        segment_data_size: end,
    };
    let header = header.to_bytes();
    out[8..8 + header.len()].copy_from_slice(&header);
    out.resize(usize::try_from(base + end).unwrap_or_default(), 0);
    for ((offset, _), blob) in places.into_iter().zip(&model.segments) {
        let begin = usize::try_from(base + offset).unwrap_or_default();
        let bytes = blob.to_bytes().unwrap_or_else(|error| panic!("in memory: {error}"));
        out[begin..begin + bytes.len()].copy_from_slice(&bytes);
    }
    Ok((out, unknown))
}

enum Node {
    /// Each field by its slot.
    Table {
        cells: Vec<(u16, Cell)>,
        slots: u16,
    },
    Str(Vec<u8>),
    Numbers {
        bytes: Vec<u8>,
        size: usize,
        align: usize,
    },
    Tables(Vec<usize>),
}

enum Cell {
    Inside(Vec<u8>),
    Offset(usize),
}

impl Node {
    fn targets(&self) -> impl Iterator<Item = usize> {
        let (cells, list) = match self {
            Self::Table { cells, .. } => (&cells[..], &[][..]),
            Self::Tables(list) => (&[][..], &list[..]),
            _ => (&[][..], &[][..]),
        };
        let inside = cells.iter().filter_map(|(_, cell)| match cell {
            Cell::Offset(target) => Some(*target),
            Cell::Inside(_) => None,
        });
        inside.chain(list.iter().copied())
    }
}

/// A tree as nodes that refer to each other.
struct Nodes {
    habits: Habits,
    nodes: Vec<Node>,
    strings: BTreeMap<Vec<u8>, usize>,
}

impl Nodes {
    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn table(&mut self, object: &Object<'_>) -> usize {
        let slots = object.desc().fields.last().map_or(0, |last| last.slot + last.slots());
        let id = self.add(Node::Table { cells: Vec::new(), slots });
        let mut filled = Vec::new();
        for (field, value) in object.fields() {
            let slot = field.slot;
            let cell = match (value, field.kind) {
                (FieldValue::Number(number), Kind::Scalar(scalar)) => {
                    if !self.habits.defaults() && same(*number, scalar.default) {
                        continue;
                    }
                    Cell::Inside(stored(*number, scalar.prim))
                }
                (FieldValue::Str(text), _) => Cell::Offset(self.string(text.as_bytes())),
                (FieldValue::Table(table), _) => Cell::Offset(self.table(table)),
                (FieldValue::Scalars(bytes), Kind::Scalars { prim, align, .. }) => {
                    let size = usize::from(prim.size());
                    let forced = if self.habits.unforced() { 1 } else { align as usize };
                    let align = forced.max(size);
                    let bytes = bytes.to_vec();
                    Cell::Offset(self.add(Node::Numbers { bytes, size, align }))
                }
                (FieldValue::Tables(tables), _) => {
                    let list = tables.iter().map(|table| self.table(table)).collect();
                    Cell::Offset(self.add(Node::Tables(list)))
                }
                (FieldValue::Strs(texts), _) => {
                    let list = texts.iter().map(|text| self.string(text.as_bytes())).collect();
                    Cell::Offset(self.add(Node::Tables(list)))
                }
                (FieldValue::Union(tag, table), _) => {
                    filled.push((slot, Cell::Inside(vec![*tag])));
                    let Some(table) = table else { continue };
                    filled.push((slot + 1, Cell::Offset(self.table(table))));
                    continue;
                }
                (value, kind) => panic!("{value:?} in {kind:?}"),
            };
            filled.push((slot, cell));
        }
        if let Node::Table { cells, .. } = &mut self.nodes[id] {
            *cells = filled;
        }
        id
    }

    fn string(&mut self, text: &[u8]) -> usize {
        if self.habits.strings_shared()
            && let Some(known) = self.strings.get(text)
        {
            return *known;
        }
        let id = self.add(Node::Str(text.to_vec()));
        self.strings.insert(text.to_vec(), id);
        id
    }
}

/// Whether the two are stored in the same bytes.
fn same(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Single(a), Number::Single(b)) => a.to_bits() == b.to_bits(),
        (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

fn stored(number: Number, prim: Prim) -> Vec<u8> {
    let bytes = match number {
        Number::Bool(value) => u64::from(value).to_le_bytes(),
        Number::Int(value) => (value as u64).to_le_bytes(),
        Number::Single(value) => u64::from(value.to_bits()).to_le_bytes(),
        Number::Float(value) => value.to_le_bytes(),
    };
    bytes[..usize::from(prim.size())].to_vec()
}

struct Writer<'r, 'u> {
    habits: Habits,
    out: Vec<u8>,
    /// The position of each node.
    places: Vec<usize>,
    /// Offsets to be written, and the nodes that they lead to.
    patches: Vec<(usize, usize)>,
    vtables: BTreeMap<Vec<u8>, usize>,
    unknown: u64,
    random: &'r mut Unstructured<'u>,
}

impl Writer<'_, '_> {
    /// Zeros up to where `at + ahead` is a multiple of `align`, and perhaps as many again.
    fn pad(&mut self, align: usize, ahead: usize) -> Result<()> {
        if self.habits.padding() && self.random.ratio(1, 4)? {
            let more: u8 = self.random.int_in_range(1..=20)?;
            self.out.resize(self.out.len() + usize::from(more), 0);
        }
        let len = (self.out.len() + ahead).next_multiple_of(align) - ahead;
        self.out.resize(len, 0);
        Ok(())
    }

    fn node(&mut self, id: usize, node: &Node) -> Result<()> {
        match node {
            Node::Table { cells, slots } => return self.table(id, cells, *slots),
            Node::Str(text) => {
                self.pad(4, 0)?;
                self.begin(id, text.len());
                self.out.extend_from_slice(text);
                self.out.push(0);
            }
            Node::Numbers { bytes, size, align } => {
                let lax = bytes.is_empty() && self.habits.empty_unaligned();
                self.pad(if lax { 4 } else { (*align).max(4) }, 4)?;
                self.begin(id, bytes.len() / size);
                self.out.extend_from_slice(bytes);
            }
            Node::Tables(list) => {
                self.pad(4, 0)?;
                self.begin(id, list.len());
                for &target in list {
                    self.patches.push((self.out.len(), target));
                    self.out.extend_from_slice(&[0; 4]);
                }
            }
        }
        Ok(())
    }

    /// The node begins here, with its length.
    fn begin(&mut self, id: usize, count: usize) {
        self.places[id] = self.out.len();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.out.extend_from_slice(&count.to_le_bytes());
    }

    fn table(&mut self, id: usize, cells: &[(u16, Cell)], known: u16) -> Result<()> {
        let newer = match self.habits.unknown_fields() && self.random.ratio(1, 4)? {
            true => vec![(known + self.random.int_in_range(0..=2)?, Cell::Inside(vec![9; 4]))],
            false => Vec::new(),
        };
        self.unknown += newer.len() as u64;
        let mut order: Vec<&(u16, Cell)> = cells.iter().chain(&newer).collect();
        if self.habits.fields_shuffled() {
            for nth in (1..order.len()).rev() {
                let other = self.random.int_in_range(0..=nth)?;
                order.swap(nth, other);
            }
        }
        // A table lies at a multiple of 8 or of 4: its wide fields are aligned from there.
        let residue: usize = if self.random.arbitrary()? { 4 } else { 0 };
        let mut offsets = Vec::new();
        let mut end = 4usize;
        for (slot, cell) in &order {
            let size = cell.size();
            end = (end + residue).next_multiple_of(size) - residue;
            offsets.push((*slot, end));
            end += size;
        }
        let slots = order.iter().map(|(slot, _)| slot + 1).max().unwrap_or_default();
        let longer = if self.habits.vtables_long() { self.random.int_in_range(0..=3)? } else { 0 };
        let mut words = vec![0u16; usize::from(slots + longer) + 2];
        words[0] = u16::try_from(words.len() * 2).unwrap_or(u16::MAX);
        words[1] = u16::try_from(end).unwrap_or(u16::MAX);
        if self.habits.sizes_wrong() && self.random.ratio(1, 4)? {
            words[1] = self.random.int_in_range(4..=60)?;
        }
        for (slot, offset) in &offsets {
            words[usize::from(*slot) + 2] = u16::try_from(*offset).unwrap_or(u16::MAX);
        }
        let vtable: Vec<u8> = words.into_iter().flat_map(u16::to_le_bytes).collect();
        let known = self.vtables.get(&vtable).copied().filter(|_| self.habits.vtables_shared());
        let behind = known.is_none() && self.habits.vtables_behind() && self.random.arbitrary()?;
        let mut at = known;
        if known.is_none() && !behind {
            self.pad(2, 0)?;
            at = Some(self.vtable(&vtable));
        }
        self.pad(8, residue_ahead(residue))?;
        let pos = self.out.len();
        self.places[id] = pos;
        self.out.resize(pos + end, 0);
        for ((_, cell), (_, offset)) in order.iter().zip(&offsets) {
            match cell {
                Cell::Inside(bytes) => {
                    self.out[pos + offset..pos + offset + bytes.len()].copy_from_slice(bytes);
                }
                Cell::Offset(target) => self.patches.push((pos + offset, *target)),
            }
        }
        let at = match at {
            Some(at) => at,
            None => {
                self.pad(2, 0)?;
                self.vtable(&vtable)
            }
        };
        let back = i32::try_from(pos as i64 - at as i64).unwrap_or(i32::MAX);
        self.out[pos..pos + 4].copy_from_slice(&back.to_le_bytes());
        Ok(())
    }

    fn vtable(&mut self, bytes: &[u8]) -> usize {
        let at = self.out.len();
        self.out.extend_from_slice(bytes);
        self.vtables.insert(bytes.to_vec(), at);
        at
    }
}

impl Cell {
    fn size(&self) -> usize {
        match self {
            Self::Inside(bytes) => bytes.len(),
            Self::Offset(_) => 4,
        }
    }
}

/// Bytes to go on with until a multiple of 8, for a position of that residue.
fn residue_ahead(residue: usize) -> usize {
    (8 - residue) % 8
}
