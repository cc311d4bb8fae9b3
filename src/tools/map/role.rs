//! The role of one byte.

use core::fmt;
use core::ops::Range;

use super::index;
use pte_core::PathComponent;
use pte_core::file::HeaderField;
use pte_flat::bytes::u32_at;
use pte_flat::desc::{FieldDesc, Kind, Number, Prim, SLOTS_LOOKED_AT, TableDesc};
use pte_flat::view::Raw;

/// The role of a byte. Adjacent bytes of one number or text share it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ByteRole {
    /// A field of a header.
    Header(&'static str),
    /// The length of a vtable.
    VtableLength(u16),
    /// The declared size of a table, which is only a hint.
    TableLength(u16),
    /// An entry of a vtable: the offset of a field in its table, or 0 if the field is absent.
    Entry {
        /// The slot.
        slot: u16,
        /// The offset of the field in its table.
        offset: u16,
    },
    /// The offset from a table to its vtable.
    ToVtable {
        /// The position of the vtable in the file.
        to: u64,
    },
    /// A number, which is a field or an element of a vector.
    Number {
        /// The number.
        value: Number,
        /// The type as stored.
        prim: Prim,
        /// The name of the number, if it is a value of an enum.
        name: Option<&'static str>,
    },
    /// The tag of a union.
    Tag {
        /// The tag.
        tag: u8,
        /// The name of the member that the tag selects; `None` if unknown.
        member: Option<&'static str>,
    },
    /// An offset, which is a field or an element of a vector.
    Offset {
        /// The target of the offset in the file.
        to: u64,
    },
    /// A field of a newer schema, which this version does not know.
    UnknownField {
        /// The slot of the field.
        slot: u16,
    },
    /// Padding between the fields of a table.
    BetweenFields,
    /// Bytes after the fields of a table, but within its declared size.
    BehindFields,
    /// The length of a vector.
    Count(u32),
    /// The length of a string in bytes.
    TextLength(u32),
    /// The bytes of a string.
    Text,
    /// The zero byte after a string.
    Terminator,
    /// Data of a tensor, of a payload or of a blob.
    Data,
    /// Padding: zero bytes inside the FlatBuffer, any bytes between segments.
    Padding,
    /// Unreferenced bytes that are not all zero, or an unreferenced segment.
    Unreferenced,
    /// Bytes after the last segment.
    Trailing,
}

impl ByteRole {
    /// Returns the stable name, in kebab case.
    pub fn id(self) -> &'static str {
        match self {
            Self::Header(_) => "header-field",
            Self::VtableLength(_) => "vtable-length",
            Self::TableLength(_) => "table-length",
            Self::Entry { .. } => "vtable-entry",
            Self::ToVtable { .. } => "offset-to-vtable",
            Self::Number { .. } => "number",
            Self::Tag { .. } => "union-tag",
            Self::Offset { .. } => "offset",
            Self::UnknownField { .. } => "unknown-field",
            Self::BetweenFields => "between-fields",
            Self::BehindFields => "behind-fields",
            Self::Count(_) => "vector-length",
            Self::TextLength(_) => "string-length",
            Self::Text => "string-text",
            Self::Terminator => "string-terminator",
            Self::Data => "data",
            Self::Padding => "padding",
            Self::Unreferenced => "unreferenced",
            Self::Trailing => "trailing",
        }
    }

    /// Adds `begin`, the start of the FlatBuffer in the file, to the targets of offsets.
    pub(super) fn shifted(self, begin: u64) -> Self {
        match self {
            Self::Offset { to } => Self::Offset { to: to.saturating_add(begin) },
            Self::ToVtable { to } => Self::ToVtable { to: to.saturating_add(begin) },
            other => other,
        }
    }
}

impl fmt::Display for ByteRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header field {name}"),
            Self::VtableLength(bytes) => write!(f, "length of the vtable: {bytes} bytes"),
            Self::TableLength(bytes) => write!(f, "length of its tables: {bytes} bytes"),
            Self::Entry { slot, offset: 0 } => write!(f, "vtable entry, slot {slot}: absent"),
            Self::Entry { slot, offset } => {
                write!(f, "vtable entry, slot {slot}: at byte {offset} of the table")
            }
            Self::ToVtable { to } => write!(f, "offset to the vtable at {to:#x}"),
            Self::Number { value, prim, name } => {
                let of = prim.name();
                match value {
                    Number::Bool(value) => write!(f, "{of} {value}"),
                    Number::Int(value) => write!(f, "{of} {value}"),
                    Number::Single(value) => write!(f, "{of} {value:?}"),
                    Number::Float(value) => write!(f, "{of} {value:?}"),
                }?;
                name.map_or(Ok(()), |name| write!(f, ", {name}"))
            }
            Self::Tag { tag, member } => {
                write!(f, "tag {tag} of a union")?;
                member.map_or(Ok(()), |member| write!(f, ", {member}"))
            }
            Self::Offset { to } => write!(f, "offset to {to:#x}"),
            Self::UnknownField { slot } => {
                write!(f, "a field that this version does not know, slot {slot}")
            }
            Self::BetweenFields => f.write_str("padding between fields"),
            Self::BehindFields => f.write_str("behind the fields, declared as part of the table"),
            Self::Count(count) => write!(f, "length of the vector: {count} elements"),
            Self::TextLength(bytes) => write!(f, "length of the string: {bytes} bytes"),
            Self::Text => f.write_str("text of the string"),
            Self::Terminator => f.write_str("the zero that ends the string"),
            Self::Data => f.write_str("data"),
            Self::Padding => f.write_str("padding"),
            Self::Unreferenced => f.write_str("nothing refers to it"),
            Self::Trailing => f.write_str("behind the last segment"),
        }
    }
}

/// The role of a byte. Positions count from the start of the FlatBuffer.
#[derive(Clone, Debug)]
pub(super) struct RoleRange {
    pub(super) role: ByteRole,
    /// The range of the bytes that share the role.
    pub(super) range: Range<u32>,
    /// The path component below the object, if the role has one.
    pub(super) step: Option<PathComponent>,
}

impl RoleRange {
    fn new(role: ByteRole, start: u32, bytes: u32, step: Option<PathComponent>) -> Self {
        Self { role, range: start..start.saturating_add(bytes), step }
    }

    pub(super) fn beyond(range: Range<u32>) -> Self {
        Self { role: ByteRole::BehindFields, range, step: None }
    }
}

/// Returns the role of byte `at` in the vtable of `raw`.
pub(super) fn in_vtable(raw: Raw<'_>, desc: &'static TableDesc, at: u32) -> RoleRange {
    let start = raw.vtable_pos();
    match at.saturating_sub(start) / 2 {
        0 => RoleRange::new(ByteRole::VtableLength(raw.vtable_len()), start, 2, None),
        1 => RoleRange::new(
            ByteRole::TableLength(raw.declared_size()),
            start.saturating_add(2),
            2,
            None,
        ),
        word => {
            let slot = u16::try_from(word.saturating_sub(2)).unwrap_or(u16::MAX);
            let role = ByteRole::Entry { slot, offset: raw.offset_of(slot) };
            let start = start.saturating_add(word.saturating_mul(2));
            let field = desc.fields.iter().find(|field| slots(field).contains(&slot));
            let field = field.map(|field| PathComponent::Field(field.name));
            RoleRange::new(role, start, 2, field)
        }
    }
}

fn slots(field: &FieldDesc) -> Range<u16> {
    field.slot..field.slot.saturating_add(field.slots())
}

/// Returns the role of byte `at` in the table `raw`, which is `end` bytes long.
pub(super) fn in_table(raw: Raw<'_>, desc: &'static TableDesc, end: u16, at: u32) -> RoleRange {
    let pos = raw.pos();
    if at.saturating_sub(pos) < 4 {
        return RoleRange::new(ByteRole::ToVtable { to: raw.vtable_pos().into() }, pos, 4, None);
    }
    // The gap around the byte, from the end of the previous field to the start of the next field.
    let (mut from, mut to) = (pos.saturating_add(4), pos.saturating_add(end.into()));
    let mut beside = |range: Range<u32>| {
        match range.start > at {
            true => to = to.min(range.start),
            false => from = from.max(range.end),
        }
        range.contains(&at)
    };
    for field in desc.fields {
        let step = Some(PathComponent::Field(field.name));
        let size = u32::from(field.kind.inline_size());
        if let Kind::Union(union) = field.kind {
            if let Some(start) = raw.field_pos(field.slot)
                && beside(start..start.saturating_add(1))
            {
                let tag = raw.scalar::<u8>(field.slot).unwrap_or_default();
                let member = union.member(tag).map(|member| member.name);
                return RoleRange::new(ByteRole::Tag { tag, member }, start, 1, step);
            }
            if let Some(start) = raw.field_pos(field.slot.saturating_add(1))
                && beside(start..start.saturating_add(4))
            {
                let to = raw.union(field.slot).map_or(0, |(_, value)| value.pos());
                return RoleRange::new(ByteRole::Offset { to: to.into() }, start, 4, step);
            }
            continue;
        }
        let Some(start) = raw.field_pos(field.slot) else { continue };
        if !beside(start..start.saturating_add(size)) {
            continue;
        }
        let role = match field.kind {
            Kind::Scalar(scalar) => match raw.number(field.slot, scalar.prim) {
                Some(value) => {
                    let name = match value {
                        Number::Int(value) => scalar.names.and_then(|names| names.name_of(value)),
                        _ => None,
                    };
                    ByteRole::Number { value, prim: scalar.prim, name }
                }
                None => ByteRole::BetweenFields,
            },
            _ => ByteRole::Offset { to: raw.target_pos(field.slot).unwrap_or_default().into() },
        };
        return RoleRange::new(role, start, size, step);
    }
    // A field of a newer writer has an unknown size, so it ends at the next field.
    let last = desc.slots().saturating_add(SLOTS_LOOKED_AT).min(raw.slots());
    let starts = || (desc.slots()..last).filter_map(|slot| Some((raw.field_pos(slot)?, slot)));
    let before = starts().filter(|(start, _)| *start <= at && *start >= from).max();
    match before {
        Some((start, slot)) => {
            let next = starts().map(|(start, _)| start).filter(|&start| start > at).min();
            let bytes = next.map_or(to, |next| next.min(to)).saturating_sub(start);
            RoleRange::new(ByteRole::UnknownField { slot }, start, bytes, None)
        }
        None => RoleRange::new(ByteRole::BetweenFields, from, to.saturating_sub(from), None),
    }
}

/// Returns the role of byte `at` in the vector of numbers at `pos`.
pub(super) fn in_numbers(pos: u32, bytes: &[u8], prim: Prim, at: u32) -> RoleRange {
    let (first, size) = (pos.saturating_add(4), u32::from(prim.size()));
    let len = bytes.len().checked_div(index(size)).unwrap_or_default();
    let Some(rel) = at.checked_sub(first) else {
        return RoleRange::new(ByteRole::Count(super::narrow(len)), pos, 4, None);
    };
    let nth = rel.checked_div(size).unwrap_or_default();
    let start = nth.saturating_mul(size);
    let element = bytes.get(index(start)..).and_then(|rest| rest.get(..index(size)));
    let role = match element.and_then(|element| Number::from_le(element, prim)) {
        Some(value) => ByteRole::Number { value, prim, name: None },
        None => ByteRole::Data,
    };
    RoleRange::new(role, first.saturating_add(start), size, Some(PathComponent::Index(nth)))
}

/// Returns the role of byte `at` in the vector of tables at `pos`.
pub(super) fn in_tables(region: &[u8], pos: u32, at: u32) -> RoleRange {
    let word = |pos: u32| u32_at(region, index(pos)).unwrap_or_default();
    let first = pos.saturating_add(4);
    let Some(rel) = at.checked_sub(first) else {
        return RoleRange::new(ByteRole::Count(word(pos)), pos, 4, None);
    };
    let nth = rel / 4;
    let start = first.saturating_add(nth.saturating_mul(4));
    let to = u64::from(start).saturating_add(word(start).into());
    RoleRange::new(ByteRole::Offset { to }, start, 4, Some(PathComponent::Index(nth)))
}

/// Returns the role of byte `at` in the string of `len` bytes at `pos`.
pub(super) fn in_text(pos: u32, len: u32, at: u32) -> RoleRange {
    let first = pos.saturating_add(4);
    match at.checked_sub(first) {
        None => RoleRange::new(ByteRole::TextLength(len), pos, 4, None),
        Some(rel) if rel < len => RoleRange::new(ByteRole::Text, first, len, None),
        Some(_) => RoleRange::new(ByteRole::Terminator, first.saturating_add(len), 1, None),
    }
}

/// Returns the role of byte `at` in a header, which has these fields and reaches from `start` to
/// `end`.
pub(super) fn in_header(
    fields: &[&[HeaderField]],
    mut start: u64,
    at: u64,
    end: u64,
) -> (ByteRole, Range<u64>) {
    for &(name, bytes) in fields.iter().copied().flatten() {
        let next = start.saturating_add(bytes.into());
        if at < next {
            return (ByteRole::Header(name), start..next);
        }
        start = next;
    }
    (ByteRole::Header(BEHIND), start..end)
}

/// The name of the bytes behind the known fields of a header.
pub(super) const BEHIND: &str = "of a newer writer";

/// The fields at the start of every FlatBuffer with an identifier.
pub(super) const STANDARD: &[HeaderField] = &[("root offset", 4), ("identifier", 4)];
