//! The schema as constant data. The verifier, the views and all other readers are driven by it.

use core::ops::RangeInclusive;

pub mod declare;

/// A schema: a root table, and the tables and unions that are reachable from it.
#[derive(Debug)]
pub struct Schema {
    /// The root table.
    pub root: &'static TableDesc,
    /// The file identifier, which is at position 4 of a buffer; zeros if there is none.
    pub identifier: [u8; 4],
    /// The extension of the schema's files, without a dot.
    pub extension: &'static str,
    /// The namespace of upstream's schema file.
    pub namespace: &'static str,
    /// Every struct, in the order of declaration.
    pub structs: &'static [&'static StructDesc],
    /// Every union, in the order of declaration.
    pub unions: &'static [&'static UnionDesc],
    /// Every table, in the order of declaration.
    pub tables: &'static [&'static TableDesc],
}

/// One table.
#[derive(Debug)]
pub struct TableDesc {
    /// The upstream name.
    pub name: &'static str,
    /// The fields, by ascending slot.
    pub fields: &'static [FieldDesc],
    /// The maximum nesting of tables in a value of this type, up to the next recursive field. Only
    /// marked fields may be recursive, so the verifier needs no other depth limit.
    pub depth: u32,
    /// What the verifier reads of the fields, by ascending slot; adjacent in memory. None for a rare
    /// table: it is recursive, or has too many references for a layout.
    refs: Option<&'static [To]>,
    /// The inline bytes of each slot; empty for a slot without a field.
    pub(crate) inline: &'static [Inline],
    /// The kind of table, by the references that the verifier reads.
    pub(crate) form: Form,
    /// Whether the table has a required field.
    pub(crate) has_required: bool,
    /// The slot and the declaration of the table's union. A table has at most one.
    pub union: Option<(u16, &'static UnionDesc)>,
    /// The members of that union.
    pub(crate) members: &'static [Member],
    /// The maximum size of the table in a file, plus an offset to the table, without the vtable.
    written: u16,
    /// A hash of the name. Tables of different types may share a vtable, so the hash is part of the
    /// keys of the layout cache.
    pub(crate) seed: u32,
}

/// The inline bytes of one slot of a table. A slot without a field has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inline {
    /// One bit for each byte, from the lowest bit up.
    pub(crate) bytes: u32,
    /// The bits that must be 0 in the field's offset: the low bits, for alignment, and the bits
    /// from 64 up, since the fast path handles only smaller offsets.
    pub(crate) unexpected: u16,
    /// The index of the field's offset in a layout: the index in [`TableDesc::refs`], one of [`EIGHTS`],
    /// or [`OTHERS`].
    pub(crate) place: u16,
}

impl Inline {
    /// The inline bytes of a field of `size` bytes: 0, 1, 2, 4 or 8.
    const fn new(size: u16, place: u16) -> Self {
        let low = if size < 4 { size.saturating_sub(1) } else { 3 };
        Self { bytes: (1u32 << size).wrapping_sub(1), unexpected: 0xffc0 | low, place }
    }

    /// Returns the size of the field in bytes.
    pub(crate) fn size(self) -> u32 {
        self.bytes.count_ones()
    }
}

/// The references of a table, by their common forms. Most tables have at most one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Leaf,
    Union,
    /// One vector of numbers, with the size of a number in bytes.
    Numbers(u16),
    Other,
}

/// The part of a field that the verifier reads: a bool, or the target of an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    Bool,
    Str,
    Table(&'static TableDesc),
    Bools,
    /// A vector of numbers, with the size of a number in bytes.
    Numbers(u16),
    Tables(&'static TableDesc),
    Strs,
    /// The tag of a union, with the tag's index in the layout. The value has the next index.
    Union(u16, &'static UnionDesc),
    /// The value of a union, with the index of the union's tag.
    Value(u16),
}

/// One field of a table.
#[derive(Debug)]
pub struct FieldDesc {
    /// The index in the vtable. A union has a second slot, the next one, for its value.
    pub slot: u16,
    /// The upstream name.
    pub name: &'static str,
    /// The kind of value.
    pub kind: Kind,
    /// Whether a table without the field is refused.
    pub required: bool,
    /// Whether the field's table may contain the field again. Readers accept at most
    /// [`MOST_NESTED`] nested tables of such fields.
    pub recursive: bool,
    /// The release of the schema that added the field; `None` if the field is as old as its table.
    pub since: Option<&'static str>,
}

/// The kind of value that a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number inside the table.
    Scalar(ScalarDesc),
    /// An offset to a string.
    Str,
    /// An offset to a table.
    Table(&'static TableDesc),
    /// An offset to a vector of numbers.
    Scalars {
        /// The type of the elements.
        prim: Prim,
        /// The struct type of each element; `None` for plain numbers.
        of: Option<&'static StructDesc>,
        /// `force_align`: the alignment of the first element in bytes; 0 for none.
        align: u32,
    },
    /// An offset to a vector of offsets to tables.
    Tables(&'static TableDesc),
    /// An offset to a vector of offsets to strings.
    Strs,
    /// A tag, and an offset to the table that it selects.
    Union(&'static UnionDesc),
}

/// A number's type, default and names.
#[derive(Clone, Copy, Debug)]
pub struct ScalarDesc {
    /// The type as stored.
    pub prim: Prim,
    /// The value of an absent field.
    pub default: Number,
    /// The names of the values, for an enum.
    pub names: Option<&'static EnumDesc>,
    /// The struct that wraps the number; `None` for a plain number.
    pub of: Option<&'static StructDesc>,
    /// Whether an absent field has no value instead of the default.
    pub optional: bool,
}

/// A struct of one number, which is stored as the number.
#[derive(Debug)]
pub struct StructDesc {
    /// The upstream name.
    pub name: &'static str,
    /// The name of the struct's field.
    pub field: &'static str,
    /// The type of the struct's field.
    pub prim: Prim,
}

/// The type of a number in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Rust's own")]
pub enum Prim {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// A type of Rust that is stored as one number: a primitive type, an enum, or a struct of one number.
pub trait Primitive {
    /// The type as stored.
    const PRIM: Prim;
    /// The struct, if it is one.
    const STRUCT: Option<&'static StructDesc> = None;
}

macro_rules! primitives {
    ($($T:ident $prim:ident),* $(,)?) => { $(
        impl Primitive for $T {
            const PRIM: Prim = Prim::$prim;
        }
    )* };
}

primitives!(
    bool Bool, i8 I8, u8 U8, i16 I16, u16 U16, i32 I32, u32 U32, i64 I64, u64 U64, f32 F32, f64 F64
);

/// A number of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A bool. Any byte but 0 is true.
    Bool(bool),
    /// An integer of any type.
    Int(i128),
    /// f32.
    Single(f32),
    /// f64.
    Float(f64),
}

/// An enum.
#[derive(Debug)]
pub struct EnumDesc {
    /// The upstream name.
    pub name: &'static str,
    /// The type as stored.
    pub prim: Prim,
    /// Every value, in the order of declaration.
    pub values: &'static [EnumValue],
}

/// One value of an enum.
#[derive(Debug)]
pub struct EnumValue {
    /// The number.
    pub number: i64,
    /// The upstream name.
    pub name: &'static str,
    /// The release that added the value; `None` if the value is as old as its enum.
    pub since: Option<&'static str>,
}

/// A union.
#[derive(Debug)]
pub struct UnionDesc {
    /// The upstream name.
    pub name: &'static str,
    /// The members, from tag 1 on. Tag 0 means that the union is empty.
    pub members: &'static [Member],
}

/// A member of a union.
#[derive(Debug)]
pub struct Member {
    /// The upstream name. It is that of the table, unless several members share the table.
    pub name: &'static str,
    /// The table of the member.
    pub table: &'static TableDesc,
}

/// The greatest nesting of recursive fields that readers accept.
///
/// FlatBuffers' own verifier in C++ accepts a depth of 64 tables. The outermost graph of the native
/// backend is at depth 3, and each nested graph is 5 deeper, so that verifier refuses a 13th nested
/// graph. Exporters nest as deep as the control flow of a model: 2 or 3.
pub const MOST_NESTED: u32 = 12;

/// The number of unknown slots that are searched for fields of a newer writer.
pub const SLOTS_LOOKED_AT: u16 = 64;

/// The number of offsets in a vtable's layout.
pub(crate) const PLACES: usize = 16;

/// The number of layout indices for fields that the verifier reads. These indices come first.
const PLACED_REFS: u16 = 13;

/// The layout indices of 8-byte numbers. All other fields that the verifier does not read share
/// [`OTHERS`].
pub(crate) const EIGHTS: [u16; 2] = [13, 14];
const OTHERS: u16 = 15;

/// The most slots of one table.
pub(crate) const MAX_SLOTS: usize = 20;

/// What the verifier reads of a table's fields, and the inline bytes of its slots. [`table!`](crate::table!)
/// makes it of the right size.
#[derive(Debug)]
#[doc(hidden)]
pub struct Places<const REFS: usize, const SLOTS: usize> {
    refs: [To; REFS],
    inline: [Inline; SLOTS],
}

/// Creates a [`TableDesc`] of its name, a constant list of its fields, and its depth.
#[macro_export]
macro_rules! table {
    ($name:expr, $fields:expr, $depth:expr $(,)?) => {{
        // Not a constant: a table may refer to itself.
        static FIELDS: &[$crate::desc::FieldDesc] = $fields;
        const SIZES: (usize, usize) = $crate::desc::TableDesc::sizes(FIELDS);
        static PLACES: $crate::desc::Places<{ SIZES.0 }, { SIZES.1 }> =
            $crate::desc::Places::of(FIELDS);
        $crate::desc::TableDesc::new($name, FIELDS, $depth, &PLACES)
    }};
}

impl<const REFS: usize, const SLOTS: usize> Places<REFS, SLOTS> {
    /// Gives each reference an index in a layout, and each slot its inline bytes.
    pub const fn of(fields: &'static [FieldDesc]) -> Self {
        let mut refs = [To::Str; REFS];
        let mut inline = [Inline::new(0, OTHERS); SLOTS];
        let (mut refs_len, mut eights, mut rest) = (0u16, EIGHTS.as_slice(), fields);
        while let [field, tail @ ..] = rest {
            let to = field.kind.to(refs_len);
            let size = field.kind.inline_size();
            let place = match (to, size, eights) {
                (Some(_), ..) if refs_len >= PLACED_REFS => OTHERS,
                (Some(_), ..) => refs_len,
                (None, 8, [place, ..]) => *place,
                (None, 8, []) => panic_const("a layout has room for two numbers of 8 bytes"),
                (None, ..) => OTHERS,
            };
            if let (8, [_, rest @ ..]) = (size, eights) {
                eights = rest;
            }
            let (_, slots) = inline.split_at_mut(index(field.slot));
            let (_, places) = refs.split_at_mut(index(refs_len));
            match (to, slots, places) {
                (Some(to @ To::Union(..)), [tag, value, ..], [first, second, ..]) => {
                    (*tag, *value) =
                        (Inline::new(1, place), Inline::new(4, place.saturating_add(1)));
                    (*first, *second) = (to, To::Value(place));
                }
                (Some(to), [only, ..], [first, ..]) => {
                    *only = Inline::new(size, place);
                    *first = to;
                }
                (None, [only, ..], _) => *only = Inline::new(size, place),
                _ => panic_const("the sizes are those of other fields"),
            }
            if to.is_some() {
                refs_len = refs_len.saturating_add(field.slots());
            }
            rest = tail;
        }
        Self { refs, inline }
    }
}

impl TableDesc {
    /// Returns the number of references and of slots of a table with these fields.
    #[doc(hidden)]
    pub const fn sizes(fields: &[FieldDesc]) -> (usize, usize) {
        let (mut refs, mut slots, mut rest) = (0u16, 0, fields);
        while let [field, tail @ ..] = rest {
            assert!(field.slot >= slots, "slots ascend, and a union takes two");
            slots = field.slot.saturating_add(field.slots());
            if field.kind.to(0).is_some() {
                refs = refs.saturating_add(field.slots());
            }
            rest = tail;
        }
        assert!(index(slots) <= MAX_SLOTS, "a vtable that is written has room for MAX_SLOTS");
        (index(refs), index(slots))
    }

    /// Creates a table, checked at compile time: slots ascend, there is at most one union (which
    /// takes two slots), and the references fit a layout.
    #[doc(hidden)]
    pub const fn new<const REFS: usize, const SLOTS: usize>(
        name: &'static str,
        fields: &'static [FieldDesc],
        depth: u32,
        places: &'static Places<REFS, SLOTS>,
    ) -> Self {
        // The offsets to the table and to its vtable, and padding for 8-byte numbers.
        let mut written = if fields.is_empty() { 8u16 } else { 12 };
        let (mut union, mut rest) = (None, fields);
        let (mut has_required, mut is_recursive) = (false, false);
        while let [field, tail @ ..] = rest {
            has_required |= field.required;
            is_recursive |= field.recursive;
            // A union also has a tag.
            written =
                written.saturating_add(field.kind.inline_size()).saturating_add(field.slots());
            if let Kind::Union(desc) = field.kind {
                assert!(union.is_none(), "a layout has room for one tag");
                union = Some((field.slot, desc));
            }
            rest = tail;
        }
        let form = match places.refs.as_slice() {
            [] => Form::Leaf,
            [To::Union(..), _] => Form::Union,
            [To::Numbers(size)] => Form::Numbers(*size),
            _ => Form::Other,
        };
        let members = match union {
            Some((_, desc)) => desc.members,
            None => &[],
        };
        let is_rare = is_recursive || REFS > index(PLACED_REFS);
        // A rare table has no layout indices, which a union needs for its two halves.
        assert!(!is_rare || matches!(form, Form::Other) && union.is_none(), "its form is Other");
        Self {
            name,
            fields,
            depth,
            refs: if is_rare { None } else { Some(&places.refs) },
            inline: &places.inline,
            form,
            has_required,
            union,
            members,
            written,
            seed: seed(name),
        }
    }

    /// Returns what the verifier reads of the fields, by ascending slot; `None` for a rare table, whose
    /// references have no layout indices.
    #[inline(always)]
    pub(crate) fn refs(&self) -> Option<&'static [To]> {
        self.refs
    }

    /// Returns the name of the field that has the reference at `index`. A union has two references.
    #[cold]
    pub(crate) fn ref_name(&self, index: usize) -> &'static str {
        let read = self.fields.iter().filter(|field| field.kind.to(0).is_some());
        let mut halves = read.flat_map(|field| (0..field.slots()).map(move |_| field.name));
        halves.nth(index).unwrap_or_default()
    }

    /// Returns the number of slots, gaps included.
    #[inline]
    pub fn slots(&self) -> u16 {
        u16::try_from(self.inline.len()).unwrap_or(u16::MAX)
    }

    /// Returns the most bytes that the table takes in a file, including an offset to it, without
    /// its vtable.
    #[inline]
    pub(crate) fn written(&self) -> u16 {
        self.written
    }

    /// Returns the field called `name`.
    pub fn field(&self, name: &str) -> Option<&'static FieldDesc> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl FieldDesc {
    /// Returns the number of slots: two for a union, else one.
    pub const fn slots(&self) -> u16 {
        match self.kind {
            Kind::Union(_) => 2,
            _ => 1,
        }
    }
}

impl Kind {
    /// Returns what the verifier reads at layout index `place`; `None` for a number, since all its
    /// values are valid.
    pub(crate) const fn to(self, place: u16) -> Option<To> {
        Some(match self {
            Self::Scalar(ScalarDesc { prim: Prim::Bool, .. }) => To::Bool,
            Self::Scalar(_) => return None,
            Self::Str => To::Str,
            Self::Table(desc) => To::Table(desc),
            Self::Scalars { prim: Prim::Bool, .. } => To::Bools,
            Self::Scalars { prim, .. } => To::Numbers(prim.size()),
            Self::Tables(desc) => To::Tables(desc),
            Self::Strs => To::Strs,
            Self::Union(desc) => To::Union(place, desc),
        })
    }

    /// Returns the size of the field in its table. For a union this is the size of the offset; the
    /// tag takes one more byte.
    #[inline]
    pub const fn inline_size(&self) -> u16 {
        match self {
            Self::Scalar(scalar) => scalar.prim.size(),
            _ => 4,
        }
    }
}

impl Prim {
    /// Returns the zero of the type.
    pub const fn zero(self) -> Number {
        match self {
            Self::Bool => Number::Bool(false),
            Self::F32 => Number::Single(0.0),
            Self::F64 => Number::Float(0.0),
            _ => Number::Int(0),
        }
    }

    /// Returns the size in bytes.
    #[inline]
    pub const fn size(self) -> u16 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns the range of an integer type; `None` for bools and floats.
    pub fn range(self) -> Option<RangeInclusive<i128>> {
        Some(match self {
            Self::Bool | Self::F32 | Self::F64 => return None,
            Self::I8 => i8::MIN.into()..=i8::MAX.into(),
            Self::U8 => u8::MIN.into()..=u8::MAX.into(),
            Self::I16 => i16::MIN.into()..=i16::MAX.into(),
            Self::U16 => u16::MIN.into()..=u16::MAX.into(),
            Self::I32 => i32::MIN.into()..=i32::MAX.into(),
            Self::U32 => u32::MIN.into()..=u32::MAX.into(),
            Self::I64 => i64::MIN.into()..=i64::MAX.into(),
            Self::U64 => u64::MIN.into()..=u64::MAX.into(),
        })
    }

    /// Returns FlatBuffers' name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "byte",
            Self::U8 => "ubyte",
            Self::I16 => "short",
            Self::U16 => "ushort",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::I64 => "long",
            Self::U64 => "ulong",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }
}

impl EnumDesc {
    /// Returns the name of `number`, if it has one.
    pub fn name_of(&self, number: i128) -> Option<&'static str> {
        self.values.iter().find(|value| i128::from(value.number) == number).map(|value| value.name)
    }
}

impl UnionDesc {
    /// Returns the member that `tag` selects; `None` for 0 and for an unknown tag.
    #[inline]
    pub fn member(&self, tag: u8) -> Option<&'static Member> {
        self.members.get(usize::from(tag).checked_sub(1)?)
    }
}

/// Returns a hash of a name.
#[expect(clippy::as_conversions, reason = "u8 to u32 is lossless, and From is not const")]
const fn seed(name: &str) -> u32 {
    let (mut seed, mut rest) = (0u32, name.as_bytes());
    while let [byte, tail @ ..] = rest {
        seed = seed.rotate_left(5) ^ *byte as u32;
        rest = tail;
    }
    seed
}

#[expect(clippy::panic, reason = "runs only while compiling, where it is the error message")]
const fn panic_const(message: &'static str) -> ! {
    panic!("{}", message)
}

#[expect(clippy::as_conversions, reason = "u16 to usize is lossless, and From is not const")]
const fn index(slot: u16) -> usize {
    slot as usize
}
