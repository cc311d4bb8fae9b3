//! Reads over proven bytes: total, infallible, nothing copied.
//!
//! A view exists only after `walk` has proven what it covers. Its accessors still
//! go through checked reads: the failure branches cannot be reached, a debug build says so if one
//! is, and a release build reads a default instead of doing harm.

use core::fmt;

use alloc::vec::Vec;

use crate::bytes::{array_at, further, index, slice_at, sum, u16_at, u32_at};
use crate::cost;
use crate::flat::desc::{Number, Prim, TableDesc};

pub(crate) mod declare;
mod vector;

pub use vector::{List, Numbers, Tables, Vector};

/// A proven table, without its type.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    buf: &'a [u8],
    /// No more of it than it says itself: to ask for a slot that it lacks is to read past its end.
    vtable: &'a [u8],
    pos: u32,
}

/// A number that a table or a vector can hold.
pub trait Scalar: Copy {
    /// How it is stored.
    const PRIM: Prim;
    /// Reads one from as many bytes as it takes.
    fn read_le(bytes: &[u8]) -> Option<Self>;
    /// Adds those that stand in a file one after the other.
    fn extend(items: &mut Vec<Self>, bytes: &[u8]) {
        items.extend(bytes.chunks_exact(Self::PRIM.size().into()).filter_map(Self::read_le));
    }
    /// The number that it is.
    fn to_number(self) -> Number;
    /// Returns items of the bytes that they stand in a file as, or the bytes if they are no items.
    ///
    /// # Errors
    ///
    /// Where the bytes are to be copied.
    fn from_owned(bytes: Vec<u8>) -> Result<Vec<Self>, Vec<u8>> {
        Err(bytes)
    }
    /// Returns the items as they stand in a file, if they stand so in memory.
    fn as_bytes(items: &[Self]) -> Option<&[u8]> {
        let _ = items;
        None
    }
}

/// A typed view of a table; made from a [`Raw`] that was proven to be one.
pub trait Table<'a>: Copy {
    /// Its declaration.
    const DESC: &'static TableDesc;
    /// Gives proven bytes their type. Only this crate has a [`Proof`] to give.
    fn from_raw(raw: Raw<'a>, proof: Proof) -> Self;
    /// The bytes without their type.
    fn raw(self) -> Raw<'a>;
}

/// That a table was proven to be of the type that it is given: no one else can make one.
#[derive(Clone, Copy, Debug)]
pub struct Proof(pub(crate) ());

impl<'a> Raw<'a> {
    /// A table without fields, which every table may be: a vtable of its two lengths, and the way
    /// there.
    pub(crate) const BARE: Self =
        Self { buf: &[4, 0, 4, 0, 4, 0, 0, 0], vtable: &[4, 0, 4, 0], pos: 4 };

    /// The table at `pos`, which was proven.
    #[inline]
    pub(crate) fn new(buf: &'a [u8], pos: u32) -> Self {
        cost::charge(1);
        let vtable = vtable_pos(buf, pos);
        let rest = proven(buf.get(index(vtable)..));
        let len = proven(u16_at(rest, 0));
        Self { buf, vtable: proven(rest.get(..len.into())), pos }
    }

    /// The table that the offset at `at` leads to, which was proven.
    #[inline]
    pub(crate) fn at(buf: &'a [u8], at: u32) -> Self {
        Self::new(buf, target(buf, at))
    }

    /// Where the table begins, from the start of the FlatBuffers part.
    #[inline]
    pub fn pos(self) -> u32 {
        self.pos
    }

    /// Where its vtable begins.
    pub(crate) fn vtable_pos(self) -> u32 {
        vtable_pos(self.buf, self.pos)
    }

    /// Bytes of the vtable.
    pub(crate) fn vtable_len(self) -> u16 {
        proven(u16_at(self.vtable, 0))
    }

    /// Slots that the vtable has room for.
    pub(crate) fn slots(self) -> u16 {
        self.vtable_len().saturating_sub(4) / 2
    }

    /// Bytes of the table as its vtable declares them: a hint, not a bound (format.md §7.8).
    pub(crate) fn declared_size(self) -> u16 {
        proven(u16_at(self.vtable, 2))
    }

    /// The offset of `slot` from the table, 0 if the field is absent.
    #[inline]
    pub(crate) fn offset_of(self, slot: u16) -> u16 {
        cost::charge(1);
        let entry = usize::from(slot).saturating_mul(2).saturating_add(4);
        u16_at(self.vtable, entry).unwrap_or_default()
    }

    /// Where the field of `slot` lies; `None` if it is absent.
    #[inline]
    pub(crate) fn field_pos(self, slot: u16) -> Option<u32> {
        match self.offset_of(slot) {
            0 => None,
            offset => Some(further(self.pos, offset.into())),
        }
    }

    /// Where the offset field of `slot` leads; `None` if it is absent.
    #[inline]
    pub(crate) fn target_pos(self, slot: u16) -> Option<u32> {
        Some(target(self.buf, self.field_pos(slot)?))
    }

    /// The number in `slot`; `None` if it is absent.
    #[inline]
    pub(crate) fn scalar<T: Scalar>(self, slot: u16) -> Option<T> {
        let at = self.field_pos(slot)?;
        let read = slice_at(self.buf, index(at), u32::from(T::PRIM.size())).and_then(T::read_le);
        read.or_else(unproven)
    }

    /// The number in `slot` by its declaration; `None` if it is absent.
    pub(crate) fn number(self, slot: u16, prim: Prim) -> Option<Number> {
        let at = self.field_pos(slot)?;
        let bytes = slice_at(self.buf, index(at), u32::from(prim.size()))?;
        Number::from_le(bytes, prim)
    }

    /// The table that `slot` leads to.
    #[inline]
    pub(crate) fn target(self, slot: u16) -> Option<Raw<'a>> {
        Some(Raw::at(self.buf, self.field_pos(slot)?))
    }

    /// The string that `slot` leads to: to read it takes as long as it is.
    #[inline]
    pub(crate) fn str(self, slot: u16) -> Option<&'a str> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos)));
        cost::charge(index(len));
        let bytes = slice_at(self.buf, sum(pos, 4), len);
        Some(proven(bytes.and_then(|bytes| core::str::from_utf8(bytes).ok())))
    }

    /// The vector of numbers that `slot` leads to.
    #[inline]
    pub(crate) fn vector<T: Scalar>(self, slot: u16) -> Option<Vector<'a, T>> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos)));
        Some(Vector::new(self.buf, further(pos, 4), len))
    }

    /// The bytes of the vector that `slot` leads to, and where they begin.
    #[inline]
    pub(crate) fn vector_bytes(self, slot: u16, prim: Prim) -> Option<(&'a [u8], u32)> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos))).saturating_mul(u32::from(prim.size()));
        Some((proven(slice_at(self.buf, sum(pos, 4), len)), further(pos, 4)))
    }

    /// The vector of tables that `slot` leads to.
    #[inline]
    pub(crate) fn list<T>(self, slot: u16) -> Option<List<'a, T>> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, index(pos)));
        Some(List::new(self.buf, further(pos, 4), len))
    }

    /// The union at `slot`: its tag, and the table if there is one. `None` for the tag 0.
    #[inline(always)]
    pub(crate) fn union(self, slot: u16) -> Option<(u8, Raw<'a>)> {
        let tag = self.scalar::<u8>(slot).filter(|&tag| tag != 0)?;
        let value = slot.saturating_add(1);
        // An unknown tag leads to unproven bytes: they are not followed.
        let at = self.field_pos(value)?;
        let pos = at.wrapping_add(proven(u32_at(self.buf, index(at))));
        Some((tag, Raw { buf: self.buf, vtable: &[], pos }))
    }

    /// The union of a table of `desc`: its tag, and the member that the tag stands for; of a tag
    /// that is not known, nothing can be asked.
    #[inline(always)]
    pub(crate) fn member(self, desc: &'static TableDesc) -> Option<(u8, Raw<'a>)> {
        let (slot, union) = desc.union?;
        let (tag, raw) = self.union(slot)?;
        // The same for every member: no branch is taken that would wait for the tag.
        Some((tag, if union.member(tag).is_some() { raw.resolved() } else { raw }))
    }

    /// The same table with its vtable found: for a union whose tag is known.
    #[inline(always)]
    pub(crate) fn resolved(self) -> Self {
        Self::new(self.buf, self.pos)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table at {:#x}", self.pos)
    }
}

impl Number {
    /// Reads one from as many bytes as `prim` takes.
    pub(crate) fn from_le(bytes: &[u8], prim: Prim) -> Option<Self> {
        Some(match prim {
            Prim::Bool => Self::Bool(<bool as Scalar>::read_le(bytes)?),
            Prim::I8 => Self::Int(<i8 as Scalar>::read_le(bytes)?.into()),
            Prim::U8 => Self::Int(<u8 as Scalar>::read_le(bytes)?.into()),
            Prim::I32 => Self::Int(<i32 as Scalar>::read_le(bytes)?.into()),
            Prim::U32 => Self::Int(<u32 as Scalar>::read_le(bytes)?.into()),
            Prim::I64 => Self::Int(<i64 as Scalar>::read_le(bytes)?.into()),
            Prim::U64 => Self::Int(<u64 as Scalar>::read_le(bytes)?.into()),
            Prim::F64 => Self::Float(<f64 as Scalar>::read_le(bytes)?),
        })
    }

    /// The bytes of a number, of which `prim` stores the first; `None` if it does not fit.
    pub(crate) fn stored(self, prim: Prim) -> Option<[u8; 8]> {
        match (self, prim) {
            (Self::Bool(value), Prim::Bool) => Some([value.into(), 0, 0, 0, 0, 0, 0, 0]),
            (Self::Float(value), Prim::F64) => Some(value.to_le_bytes()),
            // Two's complement: the lower bytes of a wider number are those of a narrower one.
            (Self::Int(value), _) if prim.range()?.contains(&value) => {
                value.to_le_bytes().first_chunk().copied()
            }
            _ => None,
        }
    }
}

/// Where the vtable of the table at `pos`, which was proven, begins.
#[inline]
fn vtable_pos(buf: &[u8], pos: u32) -> u32 {
    // A proven vtable is within the buffer, so the difference does not wrap.
    pos.wrapping_sub(proven(u32_at(buf, index(pos))))
}

/// Where the offset at `at`, which was proven, leads.
#[inline]
fn target(buf: &[u8], at: u32) -> u32 {
    further(at, proven(u32_at(buf, index(at))))
}

/// What the walk has proven is there. In a debug build the contrary stops the program.
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
    ($($T:ident $prim:ident $number:ident $({ $($more:tt)* })?),*) => {
        $(impl Scalar for $T {
            const PRIM: Prim = Prim::$prim;

            #[inline]
            fn read_le(bytes: &[u8]) -> Option<Self> {
                array_at(bytes, 0).map($T::from_le_bytes)
            }

            #[inline]
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
    i8 I8 Int,
    u8 U8 Int {
        fn from_owned(bytes: Vec<u8>) -> Result<Vec<Self>, Vec<u8>> {
            Ok(bytes)
        }

        fn as_bytes(items: &[Self]) -> Option<&[u8]> {
            Some(items)
        }
    },
    i32 I32 Int,
    u32 U32 Int,
    i64 I64 Int,
    u64 U64 Int,
    f64 F64 Float
);

impl Scalar for bool {
    const PRIM: Prim = Prim::Bool;

    #[inline]
    fn read_le(bytes: &[u8]) -> Option<Self> {
        bytes.first().map(|&byte| byte != 0)
    }

    fn to_number(self) -> Number {
        Number::Bool(self)
    }
}
