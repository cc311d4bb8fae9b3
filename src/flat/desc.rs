//! The shape of a schema as const data: what the walker proves a buffer against, and what every
//! other reading of a declaration starts from.

use core::ops::RangeInclusive;

pub(crate) mod declare;

/// A whole schema: one root, and everything that is reachable from it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Schema {
    /// The root table.
    pub root: &'static TableDesc,
    /// The four bytes at position 4 of a buffer.
    pub identifier: [u8; 4],
    /// The extension of its files, without a dot.
    pub extension: &'static str,
    /// The namespace of upstream's schema file.
    pub namespace: &'static str,
    /// Every union, in the order of declaration.
    pub unions: &'static [&'static UnionDesc],
    /// Every table, in the order of declaration.
    pub tables: &'static [&'static TableDesc],
}

/// One table.
#[derive(Debug)]
#[non_exhaustive]
pub struct TableDesc {
    /// Upstream's name.
    pub name: &'static str,
    /// Every field, by ascending slot.
    pub fields: &'static [FieldDesc],
    /// How many tables deep a value of this type can be. A schema that refers to itself has no
    /// such number and does not compile, so that the walker needs no depth limit.
    pub depth: u32,
    /// The fields that a walker looks at, by ascending slot; the first `refs_len` count.
    refs: [Ref; MAX_REFS],
    refs_len: u16,
    /// What lies in a table for each slot; nothing for those that the type does not know.
    pub(crate) inline: [Inline; MAX_SLOTS],
    slots: u16,
    /// The same in short.
    pub(crate) form: Form,
    /// The slot of its union, of which it has one at most.
    pub(crate) union: Option<(u16, &'static UnionDesc)>,
    /// Bytes that the table takes in a file at most, with an offset to it, and without its vtable.
    written: u16,
    /// Made from the name: tables of different types may share a vtable, and are distinguished by it.
    pub(crate) seed: u32,
}

/// What a walker needs of a field that it looks at, side by side with its neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ref {
    /// The field's name.
    pub(crate) name: &'static str,
    /// What to look at.
    pub(crate) to: To,
}

/// What lies inside a table for one slot: nothing, if no field has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inline {
    /// A bit for each byte.
    pub(crate) bytes: u32,
    /// The bits of its offset by which it would not be at a multiple of 4, if it must, or 64 or more.
    pub(crate) unexpected: u16,
    /// Where a shape notes the offset: at the number of the [`Ref`], or at one of [`EIGHTS`] or
    /// [`OTHERS`].
    pub(crate) place: u16,
}

impl Ref {
    const fn new(field: &FieldDesc, to: To) -> Self {
        Self { name: field.name, to }
    }
}

impl Inline {
    /// One of `size` bytes: 0, 1, 4 or 8.
    const fn new(size: u16, place: u16) -> Self {
        let low = if size < 4 { 0 } else { 3 };
        Self { bytes: (1u32 << size).wrapping_sub(1), unexpected: 0xffc0 | low, place }
    }

    /// Bytes of it.
    pub(crate) fn size(self) -> u32 {
        self.bytes.count_ones()
    }
}

/// What a walker looks at in a table: most have one field at most.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Leaf,
    Union(&'static UnionDesc),
    /// A vector of numbers of so many bytes.
    Numbers(u16),
    Other,
}

/// What a walker looks at: a bool, or where a field leads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    Bool,
    Str,
    Table(&'static TableDesc),
    Bools,
    /// Numbers of so many bytes.
    Numbers(u16),
    Tables(&'static TableDesc),
    /// The tag of a union at that place, whose value comes next.
    Union(u16, &'static UnionDesc),
    /// The value of a union at that place.
    Value(u16),
}

/// One field of a table.
#[derive(Debug)]
#[non_exhaustive]
pub struct FieldDesc {
    /// Its index in the vtable; for a union that of the tag, the value being the next one.
    pub slot: u16,
    /// Upstream's name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// The ExecuTorch release that brought it; `None` if it was there in 0.1 (or, for a table that
    /// came later, with the table).
    pub since: Option<&'static str>,
}

/// What a field holds.
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
        /// What each element is.
        prim: Prim,
        /// `force_align`: what writers align the first element to, 0 where they need not.
        align: u32,
    },
    /// An offset to a vector of offsets to tables.
    Tables(&'static TableDesc),
    /// A tag, and an offset to the table that it selects.
    Union(&'static UnionDesc),
}

/// A number's type, default and names.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ScalarDesc {
    /// How it is stored.
    pub prim: Prim,
    /// What an absent field means.
    pub default: Number,
    /// The names of its values, for an enum.
    pub names: Option<&'static EnumDesc>,
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Rust's own")]
pub enum Prim {
    Bool,
    I8,
    U8,
    I32,
    U32,
    I64,
    U64,
    F64,
}

/// A number of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A bool: any byte but 0 is true.
    Bool(bool),
    /// Every integer type.
    Int(i128),
    /// f64.
    Float(f64),
}

/// An enum.
#[derive(Debug)]
#[non_exhaustive]
pub struct EnumDesc {
    /// Upstream's name.
    pub name: &'static str,
    /// How it is stored.
    pub prim: Prim,
    /// Every value, in the order of declaration.
    pub values: &'static [EnumValue],
}

/// One value of an enum.
#[derive(Debug)]
#[non_exhaustive]
pub struct EnumValue {
    /// The number.
    pub number: i8,
    /// Upstream's name.
    pub name: &'static str,
    /// The release that brought it, as for a field.
    pub since: Option<&'static str>,
}

/// A union.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnionDesc {
    /// Upstream's name.
    pub name: &'static str,
    /// The members: tag 1 first, tag 2 next. Tag 0 means none.
    pub members: &'static [&'static TableDesc],
}

/// Slots looked at beyond the known ones of a table, to tell that a newer writer made it.
pub(crate) const SLOTS_LOOKED_AT: u16 = 64;

/// Offsets that a shape has room for.
pub(crate) const PLACES: usize = 16;

/// Most of them are of what a walker looks at, and come first.
const MAX_REFS: usize = 13;

/// The places of numbers of 8 bytes, and of all others that a walker does not look at.
pub(crate) const EIGHTS: [u16; 2] = [13, 14];
const OTHERS: u16 = 15;

/// Most slots of one table.
pub(crate) const MAX_SLOTS: usize = 16;

impl TableDesc {
    /// A table, checked while compiling: slots ascend, a union takes two and is the only one, and
    /// the references fit a shape.
    pub(crate) const fn new(name: &'static str, fields: &'static [FieldDesc], depth: u32) -> Self {
        let mut refs = [Ref { name: "", to: To::Str }; MAX_REFS];
        let mut inline = [Inline::new(0, OTHERS); MAX_SLOTS];
        let (mut refs_len, mut eights) = (0u16, EIGHTS.as_slice());
        // Two offsets, and what aligns the numbers of 8 bytes.
        let mut written = if fields.is_empty() { 8u16 } else { 12 };
        let (mut free, mut union, mut rest) = (0, None, fields);
        while let [field, tail @ ..] = rest {
            assert!(field.slot >= free, "slots ascend, and a union takes two");
            free = field.slot.saturating_add(field.slots());
            // A union has a tag too.
            written =
                written.saturating_add(field.kind.inline_size()).saturating_add(field.slots());
            let to = field.kind.to(refs_len);
            let size = field.kind.inline_size();
            let place = match (to, size, eights) {
                (Some(_), ..) => refs_len,
                (None, 8, [place, ..]) => *place,
                (None, 8, []) => panic_const("a shape has room for two numbers of 8 bytes"),
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
                    (*first, *second) = (Ref::new(field, to), Ref::new(field, To::Value(place)));
                }
                (Some(to), [only, ..], [first, ..]) => {
                    *only = Inline::new(size, place);
                    *first = Ref::new(field, to);
                }
                (None, [only, ..], _) => *only = Inline::new(size, place),
                _ => panic_const("more than MAX_SLOTS slots, or MAX_REFS references"),
            }
            if to.is_some() {
                refs_len = refs_len.saturating_add(field.slots());
            }
            if let Kind::Union(desc) = field.kind {
                assert!(union.is_none(), "a shape has room for one tag");
                union = Some((field.slot, desc));
            }
            rest = tail;
        }
        let form = match refs.split_at(index(refs_len)).0 {
            [] => Form::Leaf,
            [Ref { to: To::Union(_, desc), .. }, _] => Form::Union(desc),
            [Ref { to: To::Numbers(size), .. }] => Form::Numbers(*size),
            _ => Form::Other,
        };
        Self {
            name,
            fields,
            depth,
            refs,
            refs_len,
            inline,
            slots: free,
            form,
            union,
            written,
            seed: seed(name),
        }
    }

    /// The fields that a walker looks at, by ascending slot: at most [`MAX_REFS`].
    #[inline]
    pub(crate) fn refs(&self) -> &[Ref] {
        self.refs.get(..index(self.refs_len)).unwrap_or_default()
    }

    /// Slots of the fields, from 0 on.
    #[inline]
    pub(crate) fn slots(&self) -> u16 {
        self.slots
    }

    /// Returns the bytes that the table takes in a file at most, with an offset to it, and without its
    /// vtable.
    #[inline]
    pub(crate) fn written(&self) -> u16 {
        self.written
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&'static FieldDesc> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl FieldDesc {
    /// Slots that the field takes: two for a union.
    pub const fn slots(&self) -> u16 {
        match self.kind {
            Kind::Union(_) => 2,
            _ => 1,
        }
    }
}

impl Kind {
    /// What a walker looks at, at that place; `None` for a number, of which every value is as good.
    const fn to(self, place: u16) -> Option<To> {
        Some(match self {
            Self::Scalar(ScalarDesc { prim: Prim::Bool, .. }) => To::Bool,
            Self::Scalar(_) => return None,
            Self::Str => To::Str,
            Self::Table(desc) => To::Table(desc),
            Self::Scalars { prim: Prim::Bool, .. } => To::Bools,
            Self::Scalars { prim, .. } => To::Numbers(prim.size()),
            Self::Tables(desc) => To::Tables(desc),
            Self::Union(desc) => To::Union(place, desc),
        })
    }

    /// Bytes of the field inside its table; for a union those of the offset, its tag being one.
    #[inline]
    pub const fn inline_size(&self) -> u16 {
        match self {
            Self::Scalar(scalar) => scalar.prim.size(),
            _ => 4,
        }
    }
}

impl Prim {
    /// Bytes of one.
    #[inline]
    pub const fn size(self) -> u16 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// What a number of that type can be; `None` for those that are no whole numbers.
    pub(crate) fn range(self) -> Option<RangeInclusive<i128>> {
        Some(match self {
            Self::Bool | Self::F64 => return None,
            Self::I8 => i8::MIN.into()..=i8::MAX.into(),
            Self::U8 => u8::MIN.into()..=u8::MAX.into(),
            Self::I32 => i32::MIN.into()..=i32::MAX.into(),
            Self::U32 => u32::MIN.into()..=u32::MAX.into(),
            Self::I64 => i64::MIN.into()..=i64::MAX.into(),
            Self::U64 => u64::MIN.into()..=u64::MAX.into(),
        })
    }

    /// FlatBuffers' name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "byte",
            Self::U8 => "ubyte",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::I64 => "long",
            Self::U64 => "ulong",
            Self::F64 => "double",
        }
    }
}

impl EnumDesc {
    /// The name of a value, if it has one.
    pub fn name_of(&self, number: i128) -> Option<&'static str> {
        self.values.iter().find(|value| i128::from(value.number) == number).map(|value| value.name)
    }
}

impl UnionDesc {
    /// The member that `tag` selects; `None` for 0 and for a tag that is not known.
    #[inline]
    pub fn member(&self, tag: u8) -> Option<&'static TableDesc> {
        self.members.get(usize::from(tag).checked_sub(1)?).copied()
    }
}

/// A number that differs from name to name.
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
