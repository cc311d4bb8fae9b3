//! Views of proven bytes. Reading them cannot fail and copies nothing.
//!
//! A view exists only after the verifier has proven its bytes. Its accessors still use checked
//! reads, whose failure branches are unreachable. In these branches a debug build panics, and a
//! release build returns a default.

use core::fmt;

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use crate::bytes::{array_at, further, index, slice_at, sum, u16_at, u32_at};
use crate::cost;
use crate::desc::{Number, Prim, Primitive, TableDesc};

pub mod declare;
mod vector;
mod vtable;

pub use vector::{List, Numbers, Strings, TableIter, Texts, Vector};
pub use vtable::Vtable;

/// A proven table, without its type.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    buf: &'a [u8],
    /// The bytes of the vtable, cut to its declared length: reading a slot past its end fails.
    vtable: &'a [u8],
    pos: u32,
}

/// A number that a table or a vector can hold.
pub trait Scalar: Copy + Primitive {
    /// Reads a value from its bytes.
    fn read_le(bytes: &[u8]) -> Option<Self>;
    /// Appends the values that are stored in `bytes`, one after the other.
    #[cfg(feature = "alloc")]
    fn extend(items: &mut Vec<Self>, bytes: &[u8]) {
        items.extend(bytes.chunks_exact(Self::PRIM.size().into()).filter_map(Self::read_le));
    }
    /// Returns the value as a [`Number`].
    fn to_number(self) -> Number;
    /// Converts stored bytes to values without a copy, if both have the same form in memory.
    ///
    /// # Errors
    ///
    /// Returns the bytes if they must be converted.
    #[cfg(feature = "alloc")]
    fn from_owned(bytes: Vec<u8>) -> Result<Vec<Self>, Vec<u8>> {
        Err(bytes)
    }
    /// Returns values as stored bytes, if both have the same form in memory.
    fn as_bytes(items: &[Self]) -> Option<&[u8]> {
        let _ = items;
        None
    }
}

/// A typed view of a proven table.
pub trait Table<'a>: Copy {
    /// The declaration of the table.
    const DESC: &'static TableDesc;
    /// Adds the type to a proven table. Only this crate can create a [`Proof`].
    fn from_raw(raw: Raw<'a>, proof: Proof) -> Self;
    /// Returns the table without its type.
    fn raw(self) -> Raw<'a>;
}

/// A token which shows that a table was proven to have a type. Only this crate can create one.
#[derive(Clone, Copy, Debug)]
pub struct Proof(pub(crate) ());

/// A proven table, with its declaration.
#[derive(Clone, Copy, Debug)]
pub struct ProvenTable<'a> {
    raw: Raw<'a>,
    desc: &'static TableDesc,
}

impl<'a> ProvenTable<'a> {
    /// Joins a table with the declaration that it was proven to have.
    pub(crate) fn new(raw: Raw<'a>, desc: &'static TableDesc) -> Self {
        Self { raw, desc }
    }

    /// Returns the table without its type.
    pub fn raw(self) -> Raw<'a> {
        self.raw
    }

    /// Returns the declaration.
    pub fn desc(self) -> &'static TableDesc {
        self.desc
    }

    /// Returns the table as type `T`; `None` if it is of another type.
    pub fn view<T: Table<'a>>(self) -> Option<T> {
        core::ptr::eq(self.desc, T::DESC).then(|| T::from_raw(self.raw, Proof(())))
    }
}

/// Returns a table without fields.
pub fn bare<'a, T: Table<'a>>() -> T {
    T::from_raw(Raw::BARE, Proof(()))
}

impl<'a> Raw<'a> {
    /// A table without fields, which is valid as every type. Its bytes are a vtable without
    /// entries, and the offset to that vtable.
    pub const BARE: Self = Self { buf: &[4, 0, 4, 0, 4, 0, 0, 0], vtable: &[4, 0, 4, 0], pos: 4 };

    /// Returns the proven table at `pos`.
    #[inline]
    pub(crate) fn new(buf: &'a [u8], pos: u32) -> Self {
        cost::charge(1);
        let vtable = vtable_pos(buf, pos);
        let rest = proven(buf.get(index(vtable)..));
        let len = proven(u16_at(rest, 0));
        Self { buf, vtable: proven(rest.get(..len.into())), pos }
    }

    /// Returns the proven table that the offset at `at` leads to.
    #[inline]
    pub(crate) fn at(buf: &'a [u8], at: u32) -> Self {
        Self::new(buf, target(buf, at))
    }

    /// Returns the position of the table in its FlatBuffer.
    #[inline]
    pub fn pos(self) -> u32 {
        self.pos
    }

    /// Returns the position of the vtable.
    pub fn vtable_pos(self) -> u32 {
        vtable_pos(self.buf, self.pos)
    }

    /// Returns the length of the vtable in bytes.
    pub fn vtable_len(self) -> u16 {
        proven(u16_at(self.vtable, 0))
    }

    /// Returns the number of slots in the vtable.
    pub fn slots(self) -> u16 {
        self.vtable_len().saturating_sub(4) / 2
    }

    /// Returns the table's size as its vtable declares it: a hint, not a bound (format.md §7.8).
    pub fn declared_size(self) -> u16 {
        proven(u16_at(self.vtable, 2))
    }

    /// Returns the offset of the field in `slot` from the table; 0 for an absent field.
    #[inline]
    pub fn offset_of(self, slot: u16) -> u16 {
        cost::charge(1);
        let entry = usize::from(slot).saturating_mul(2).saturating_add(4);
        u16_at(self.vtable, entry).unwrap_or_default()
    }

    /// Returns the position of the field in `slot`; `None` if it is absent.
    #[inline]
    pub fn field_pos(self, slot: u16) -> Option<u32> {
        match self.offset_of(slot) {
            0 => None,
            offset => Some(further(self.pos, offset.into())),
        }
    }

    /// Returns the target of the offset in `slot`; `None` for an absent field.
    #[inline]
    pub fn target_pos(self, slot: u16) -> Option<u32> {
        Some(target(self.buf, self.field_pos(slot)?))
    }

    /// Returns the number in `slot`; `None` for an absent field.
    #[inline]
    pub fn scalar<T: Scalar>(self, slot: u16) -> Option<T> {
        let at = self.field_pos(slot)?;
        let read = slice_at(self.buf, index(at), u32::from(T::PRIM.size())).and_then(T::read_le);
        read.or_else(unproven)
    }

    /// Returns the number in `slot`, of type `prim`; `None` for an absent field.
    pub fn number(self, slot: u16, prim: Prim) -> Option<Number> {
        let at = self.field_pos(slot)?;
        let bytes = slice_at(self.buf, index(at), u32::from(prim.size()))?;
        Number::from_le(bytes, prim)
    }

    /// Returns the table that the offset in `slot` leads to.
    #[inline]
    pub fn target(self, slot: u16) -> Option<Raw<'a>> {
        Some(Raw::at(self.buf, self.field_pos(slot)?))
    }

    /// Returns the string that the offset in `slot` leads to. Its UTF-8 is checked at each call.
    #[inline]
    pub fn str(self, slot: u16) -> Option<&'a str> {
        self.target_pos(slot).map(|pos| text(self.buf, pos))
    }

    /// Returns the length in bytes of the string that the offset in `slot` leads to.
    #[inline]
    pub fn str_len(self, slot: u16) -> Option<u32> {
        self.target_pos(slot).map(|pos| proven(u32_at(self.buf, index(pos))))
    }

    /// Returns the vector of numbers that the offset in `slot` leads to.
    #[inline]
    pub fn vector<T: Scalar>(self, slot: u16) -> Option<Vector<'a, T>> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos)));
        Some(Vector::new(self.buf, further(pos, 4), len))
    }

    /// Returns the bytes of the vector that the offset in `slot` leads to, and their position.
    #[inline]
    pub fn vector_bytes(self, slot: u16, prim: Prim) -> Option<(&'a [u8], u32)> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos))).saturating_mul(u32::from(prim.size()));
        Some((proven(slice_at(self.buf, sum(pos, 4), len)), further(pos, 4)))
    }

    /// Returns the vector of tables that the offset in `slot` leads to.
    #[inline]
    pub fn list<T>(self, slot: u16) -> Option<List<'a, T>> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos)));
        Some(List::new(self.buf, further(pos, 4), len))
    }

    /// Returns the vector of strings that the offset in `slot` leads to.
    #[inline]
    pub fn strings(self, slot: u16) -> Option<Strings<'a>> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos)));
        Some(Strings::new(self.buf, further(pos, 4), len))
    }

    /// Returns the tag of the union at `slot`, and its table. The table's vtable is not read yet.
    /// Returns `None` for the tag 0.
    #[inline(always)]
    pub fn union(self, slot: u16) -> Option<(u8, Raw<'a>)> {
        let tag = self.scalar::<u8>(slot).filter(|&tag| tag != 0)?;
        let value = slot.saturating_add(1);
        // The bytes of a table with an unknown tag are unproven, and are not read.
        let at = self.field_pos(value)?;
        let pos = at.wrapping_add(proven(u32_at(self.buf, index(at))));
        Some((tag, Raw { buf: self.buf, vtable: &[], pos }))
    }

    /// Returns the tag and the member of the union in a table of type `desc`. The member of an
    /// unknown tag cannot be read.
    #[inline(always)]
    pub fn member(self, desc: &'static TableDesc) -> Option<(u8, Raw<'a>)> {
        let (_, union) = desc.union?;
        let (tag, raw) = self.tagged(desc)?;
        // The branch is the same for all known tags, so the processor predicts it well.
        Some((tag, if union.member(tag).is_some() { raw.resolved() } else { raw }))
    }

    /// Returns the same as [`member`](Self::member), but faster if members share `vtable`.
    #[inline(always)]
    pub fn member_by(
        self,
        desc: &'static TableDesc,
        vtable: &mut Vtable<'a>,
    ) -> Option<(u8, Raw<'a>)> {
        let (_, union) = desc.union?;
        let (tag, raw) = self.tagged(desc)?;
        union.member(tag).map(|_| (tag, raw.resolved_by(vtable)))
    }

    /// Returns the same as [`member`](Self::member), but does not read the member's vtable yet.
    #[inline(always)]
    pub fn tagged(self, desc: &'static TableDesc) -> Option<(u8, Raw<'a>)> {
        let (slot, _) = desc.union?;
        self.union(slot)
    }

    /// Returns the same table with its vtable read. The tag of its union must be known.
    #[inline(always)]
    pub fn resolved(self) -> Self {
        Self::new(self.buf, self.pos)
    }

    /// Returns the same as [`resolved`](Self::resolved), but faster if tables share `vtable`.
    #[inline(always)]
    pub fn resolved_by(self, vtable: &mut Vtable<'a>) -> Self {
        vtable.table(self.buf, self.pos)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table at {:#x}", self.pos)
    }
}

impl Number {
    /// Reads a number of type `prim` from its bytes.
    pub fn from_le(bytes: &[u8], prim: Prim) -> Option<Self> {
        Some(match prim {
            Prim::Bool => Self::Bool(<bool as Scalar>::read_le(bytes)?),
            Prim::I8 => Self::Int(<i8 as Scalar>::read_le(bytes)?.into()),
            Prim::U8 => Self::Int(<u8 as Scalar>::read_le(bytes)?.into()),
            Prim::I16 => Self::Int(<i16 as Scalar>::read_le(bytes)?.into()),
            Prim::U16 => Self::Int(<u16 as Scalar>::read_le(bytes)?.into()),
            Prim::I32 => Self::Int(<i32 as Scalar>::read_le(bytes)?.into()),
            Prim::U32 => Self::Int(<u32 as Scalar>::read_le(bytes)?.into()),
            Prim::I64 => Self::Int(<i64 as Scalar>::read_le(bytes)?.into()),
            Prim::U64 => Self::Int(<u64 as Scalar>::read_le(bytes)?.into()),
            Prim::F32 => Self::Single(<f32 as Scalar>::read_le(bytes)?),
            Prim::F64 => Self::Float(<f64 as Scalar>::read_le(bytes)?),
        })
    }

    /// Returns the bytes of a number as type `prim`, padded to 8 bytes: a field stores the first of
    /// them. Returns `None` if the number does not fit.
    pub(crate) fn stored(self, prim: Prim) -> Option<[u8; 8]> {
        match (self, prim) {
            (Self::Bool(value), Prim::Bool) => Some([value.into(), 0, 0, 0, 0, 0, 0, 0]),
            (Self::Single(value), Prim::F32) => {
                let [a, b, c, d] = value.to_le_bytes();
                Some([a, b, c, d, 0, 0, 0, 0])
            }
            (Self::Float(value), Prim::F64) => Some(value.to_le_bytes()),
            // Two's complement: a narrower number has the lower bytes of a wider one.
            (Self::Int(value), _) if prim.range()?.contains(&value) => {
                value.to_le_bytes().first_chunk().copied()
            }
            _ => None,
        }
    }
}

/// Returns the position of the vtable of the proven table at `pos`.
#[inline]
fn vtable_pos(buf: &[u8], pos: u32) -> u32 {
    // A proven vtable is within the buffer, so the difference does not wrap.
    pos.wrapping_sub(proven(u32_at(buf, index(pos))))
}

/// Returns the proven string at `pos`.
#[inline(always)]
fn text(buf: &[u8], pos: u32) -> &str {
    let len = proven(u32_at(buf, index(pos)));
    cost::charge(index(len));
    let bytes = slice_at(buf, sum(pos, 4), len);
    proven(bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()))
}

/// Returns the target of the proven offset at `at`.
#[inline]
fn target(buf: &[u8], at: u32) -> u32 {
    further(at, proven(u32_at(buf, index(at))))
}

/// Returns the result of a read that was proven to succeed. A debug build panics if it failed.
#[inline(always)]
fn proven<T: Default>(read: Option<T>) -> T {
    match read {
        Some(read) => read,
        None => unproven(),
    }
}

#[cold]
#[inline(never)]
fn unproven<T: Default>() -> T {
    debug_assert!(false, "read outside of what was proven");
    T::default()
}

macro_rules! scalars {
    ($($T:ident $number:ident $({ $($more:tt)* })?),*) => {
        $(impl Scalar for $T {
            #[inline]
            fn read_le(bytes: &[u8]) -> Option<Self> {
                array_at(bytes, 0).map($T::from_le_bytes)
            }

            #[inline]
            #[cfg(feature = "alloc")]
            fn extend(items: &mut Vec<Self>, bytes: &[u8]) {
                items.extend(bytes.as_chunks().0.iter().copied().map($T::from_le_bytes));
            }

            fn to_number(self) -> Number {
                Number::$number(self.into())
            }

            $($($more)*)?
        })*
    };
}

scalars!(
    i8 Int,
    u8 Int {
        #[cfg(feature = "alloc")]
        fn from_owned(bytes: Vec<u8>) -> Result<Vec<Self>, Vec<u8>> {
            Ok(bytes)
        }

        fn as_bytes(items: &[Self]) -> Option<&[u8]> {
            Some(items)
        }
    },
    i16 Int,
    u16 Int,
    i32 Int,
    u32 Int,
    i64 Int,
    u64 Int,
    f32 Single,
    f64 Float
);

impl Scalar for bool {
    #[inline]
    fn read_le(bytes: &[u8]) -> Option<Self> {
        bytes.first().map(|&byte| byte != 0)
    }

    fn to_number(self) -> Number {
        Number::Bool(self)
    }
}
