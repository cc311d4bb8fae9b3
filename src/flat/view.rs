//! Reads over proven bytes: total, infallible, nothing copied.
//!
//! A view exists only after [`walk`](super::walk) has proven what it covers. Its accessors still
//! go through checked reads: the failure branches cannot be reached, a debug build says so if one
//! is, and a release build reads a default instead of doing harm.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use crate::bytes::{array_at, i32_at, index, slice_at, u16_at, u32_at};
use crate::flat::desc::{Number, Prim, TableDesc};

/// A proven table, without its type.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    buf: &'a [u8],
    pos: u32,
    vtable: u32,
}

/// A proven vector of numbers.
#[derive(Clone, Copy)]
pub struct Vector<'a, T> {
    bytes: &'a [u8],
    pos: u32,
    item: PhantomData<T>,
}

/// A proven vector of tables.
#[derive(Clone, Copy)]
pub struct List<'a, T> {
    buf: &'a [u8],
    first: u32,
    len: u32,
    item: PhantomData<T>,
}

/// A number that a table or a vector can hold.
pub trait Scalar: Copy {
    /// How it is stored.
    const PRIM: Prim;
    /// Reads one from as many bytes as it takes.
    fn read_le(bytes: &[u8]) -> Option<Self>;
}

/// A typed view of a table; made from a [`Raw`] that was proven to be one.
pub trait Table<'a>: Copy {
    /// Its declaration.
    const DESC: &'static TableDesc;
    /// Gives proven bytes their type.
    fn from_raw(raw: Raw<'a>) -> Self;
    /// The bytes without their type.
    fn raw(self) -> Raw<'a>;
}

impl<'a> Raw<'a> {
    /// The table at `pos`, which was proven.
    #[inline]
    pub(crate) fn new(buf: &'a [u8], pos: u32) -> Self {
        let back = proven(i32_at(buf, pos));
        // A proven vtable is within the buffer, so the difference does not wrap.
        Self { buf, pos, vtable: pos.wrapping_add_signed(back.wrapping_neg()) }
    }

    /// Where the table begins, from the start of the FlatBuffers part.
    #[inline]
    pub fn pos(self) -> u32 {
        self.pos
    }

    /// Where its vtable begins.
    pub(crate) fn vtable_pos(self) -> u32 {
        self.vtable
    }

    /// Bytes of the vtable.
    pub(crate) fn vtable_len(self) -> u16 {
        proven(u16_at(self.buf, self.vtable))
    }

    /// Bytes of the table as its vtable declares them: a hint, not a bound (format.md §7.8).
    pub(crate) fn declared_size(self) -> u16 {
        proven(u16_at(self.buf, self.vtable.saturating_add(2)))
    }

    /// The offset of `slot` from the table, 0 if the field is absent.
    #[inline]
    pub(crate) fn offset_of(self, slot: u16) -> u16 {
        let entry = 4u32.saturating_add(u32::from(slot).saturating_mul(2));
        if entry >= u32::from(self.vtable_len()) {
            return 0;
        }
        proven(u16_at(self.buf, self.vtable.saturating_add(entry)))
    }

    /// Where the field of `slot` lies; `None` if it is absent.
    #[inline]
    pub(crate) fn field_pos(self, slot: u16) -> Option<u32> {
        match self.offset_of(slot) {
            0 => None,
            offset => Some(self.pos.saturating_add(u32::from(offset))),
        }
    }

    /// Where the offset field of `slot` leads; `None` if it is absent.
    #[inline]
    pub(crate) fn target_pos(self, slot: u16) -> Option<u32> {
        let at = self.field_pos(slot)?;
        Some(at.saturating_add(proven(u32_at(self.buf, at))))
    }

    /// The number in `slot`; `None` if it is absent.
    #[inline]
    pub(crate) fn scalar<T: Scalar>(self, slot: u16) -> Option<T> {
        let at = self.field_pos(slot)?;
        let read = slice_at(self.buf, at, u32::from(T::PRIM.size())).and_then(T::read_le);
        debug_assert!(read.is_some(), "a proven field");
        read
    }

    /// The number in `slot` by its declaration; `None` if it is absent.
    pub(crate) fn number(self, slot: u16, prim: Prim) -> Option<Number> {
        let at = self.field_pos(slot)?;
        let bytes = slice_at(self.buf, at, u32::from(prim.size()))?;
        Number::from_le(bytes, prim)
    }

    /// The table that `slot` leads to.
    #[inline]
    pub(crate) fn target(self, slot: u16) -> Option<Raw<'a>> {
        Some(Raw::new(self.buf, self.target_pos(slot)?))
    }

    /// The string that `slot` leads to.
    #[inline]
    pub(crate) fn str(self, slot: u16) -> Option<&'a str> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, pos));
        let text = slice_at(self.buf, pos.saturating_add(4), len)
            .and_then(|bytes| core::str::from_utf8(bytes).ok());
        debug_assert!(text.is_some(), "a proven string");
        Some(text.unwrap_or_default())
    }

    /// The vector of numbers that `slot` leads to.
    #[inline]
    pub(crate) fn vector<T: Scalar>(self, slot: u16) -> Option<Vector<'a, T>> {
        let (bytes, pos) = self.vector_bytes(slot, T::PRIM)?;
        Some(Vector { bytes, pos, item: PhantomData })
    }

    /// The bytes of the vector that `slot` leads to, and where they begin.
    #[inline]
    pub(crate) fn vector_bytes(self, slot: u16, prim: Prim) -> Option<(&'a [u8], u32)> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, pos)).saturating_mul(u32::from(prim.size()));
        let first = pos.saturating_add(4);
        Some((proven(slice_at(self.buf, first, len)), first))
    }

    /// The vector of tables that `slot` leads to.
    #[inline]
    pub(crate) fn list<T>(self, slot: u16) -> Option<List<'a, T>> {
        let pos = self.target_pos(slot)?;
        let len = proven(u32_at(self.buf, pos));
        Some(List { buf: self.buf, first: pos.saturating_add(4), len, item: PhantomData })
    }

    /// The union at `slot`: its tag, and the table if there is one. `None` for the tag 0.
    #[inline]
    pub(crate) fn union(self, slot: u16) -> Option<(u8, Raw<'a>)> {
        let tag = self.scalar::<u8>(slot).filter(|&tag| tag != 0)?;
        let value = slot.saturating_add(1);
        // A tag that is not known leads to bytes that nobody has proven: they are not followed.
        Some((tag, Raw { buf: self.buf, pos: self.target_pos(value)?, vtable: 0 }))
    }

    /// The same table with its vtable found: for a union whose tag is known.
    #[inline]
    pub(crate) fn resolved(self) -> Self {
        Self::new(self.buf, self.pos)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table at {:#x}", self.pos)
    }
}

impl<'a, T: Scalar> Vector<'a, T> {
    /// Elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len().checked_div(usize::from(T::PRIM.size())).unwrap_or_default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The element of that number.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<T> {
        let size = usize::from(T::PRIM.size());
        let first = nth.checked_mul(size)?;
        T::read_le(self.bytes.get(first..)?.get(..size)?)
    }

    /// Every element.
    #[inline]
    pub fn iter(&self) -> Numbers<'a, T> {
        let size = usize::from(T::PRIM.size());
        Numbers { chunks: self.bytes.chunks_exact(size), item: PhantomData }
    }

    /// The elements' bytes as they stand in the file.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the first element begins, from the start of the FlatBuffers part.
    pub fn pos(&self) -> u32 {
        self.pos
    }
}

impl<T: Scalar + fmt::Debug> fmt::Debug for Vector<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Scalar> IntoIterator for Vector<'a, T> {
    type Item = T;
    type IntoIter = Numbers<'a, T>;

    fn into_iter(self) -> Numbers<'a, T> {
        self.iter()
    }
}

/// The elements of a [`Vector`].
#[derive(Clone, Debug)]
pub struct Numbers<'a, T> {
    chunks: core::slice::ChunksExact<'a, u8>,
    item: PhantomData<T>,
}

impl<T: Scalar> Iterator for Numbers<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        T::read_le(self.chunks.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chunks.size_hint()
    }
}

impl<T: Scalar> ExactSizeIterator for Numbers<'_, T> {}
impl<T: Scalar> FusedIterator for Numbers<'_, T> {}

impl<'a, T> List<'a, T> {
    /// Elements.
    #[inline]
    pub fn len(&self) -> usize {
        index(self.len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The table of that number, without its type.
    #[inline]
    pub(crate) fn raw(&self, nth: u32) -> Option<Raw<'a>> {
        if nth >= self.len {
            return None;
        }
        let at = self.first.saturating_add(nth.saturating_mul(4));
        Some(Raw::new(self.buf, at.saturating_add(proven(u32_at(self.buf, at)))))
    }

    /// Every table, without its type.
    #[inline]
    pub(crate) fn raws(self) -> impl Iterator<Item = Raw<'a>> {
        (0..self.len).filter_map(move |nth| self.raw(nth))
    }

    /// Where the first element's offset lies, from the start of the FlatBuffers part.
    pub fn pos(&self) -> u32 {
        self.first
    }
}

impl<'a, T: Table<'a>> List<'a, T> {
    /// The table of that number.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<T> {
        self.raw(u32::try_from(nth).ok()?).map(T::from_raw)
    }

    /// Every table.
    #[inline]
    pub fn iter(&self) -> Tables<'a, T> {
        Tables { list: *self, next: 0 }
    }
}

impl<'a, T: Table<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Table<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = Tables<'a, T>;

    fn into_iter(self) -> Tables<'a, T> {
        self.iter()
    }
}

/// The tables of a [`List`].
#[derive(Clone)]
pub struct Tables<'a, T> {
    list: List<'a, T>,
    next: u32,
}

impl<'a, T: Table<'a>> Iterator for Tables<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let raw = self.list.raw(self.next)?;
        self.next = self.next.saturating_add(1);
        Some(T::from_raw(raw))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = index(self.list.len.saturating_sub(self.next));
        (left, Some(left))
    }
}

impl<'a, T: Table<'a>> ExactSizeIterator for Tables<'a, T> {}
impl<'a, T: Table<'a>> FusedIterator for Tables<'a, T> {}

impl<'a, T: Table<'a> + fmt::Debug> fmt::Debug for Tables<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
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
}

/// What the walk has proven is there. In a debug build the contrary stops the program.
#[inline]
fn proven<T: Default>(read: Option<T>) -> T {
    debug_assert!(read.is_some(), "read outside of what was proven");
    read.unwrap_or_default()
}

macro_rules! scalars {
    ($($T:ident $prim:ident),*) => {
        $(impl Scalar for $T {
            const PRIM: Prim = Prim::$prim;

            #[inline]
            fn read_le(bytes: &[u8]) -> Option<Self> {
                array_at(bytes, 0).map($T::from_le_bytes)
            }
        })*
    };
}

scalars!(i8 I8, u8 U8, i32 I32, u32 U32, i64 I64, u64 U64, f64 F64);

impl Scalar for bool {
    const PRIM: Prim = Prim::Bool;

    #[inline]
    fn read_le(bytes: &[u8]) -> Option<Self> {
        bytes.first().map(|&byte| byte != 0)
    }
}

/// Emits the enums and the `view` module of a [`schema!`](crate::flat::schema!) declaration.
macro_rules! view {
    (
        $( root $Root:ident $identifier:literal $extension:literal $namespace:literal; )?
        enums: $(
            $(#[$em:meta])* enum $E:ident: $P:ident {
                $( $(#[$vm:meta])* $V:ident = $number:literal $( => $vsince:literal )? ),* $(,)?
            }
        )*
        unions: $(
            $(#[$um:meta])* union $U:ident { $( $(#[$mm:meta])* $tag:literal $M:ident ),* $(,)? }
        )*
        tables: $(
            $(#[$tm:meta])* table $T:ident { $(
                $(#[$fm:meta])* $slot:literal $f:ident:
                $( & $R:ident )? $( [ $SV:ident $( align $align:literal )? ] )? $( [ & $RV:ident ] )?
                $( @ $FU:ident )? $( $S:ident = $default:expr )?
                $( => $since:literal )?
            ),* $(,)? }
        )*
    ) => {
        $(
            $(#[$em])*
            ///
            /// Open: a value without a name is kept as it is.
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $E(pub $P);

            impl $E {
                $( $(#[$vm])* pub const $V: Self = Self($number); )*

                /// Upstream's name of the value, if it has one.
                pub fn name(self) -> Option<&'static str> {
                    Self::DESC.name_of(self.0.into())
                }

                pub(crate) const DESC: &'static $crate::flat::desc::EnumDesc = &desc::$E;
                pub(crate) const PRIM: $crate::flat::desc::Prim = Self::DESC.prim;

                pub(crate) const fn number(self) -> $crate::flat::desc::Number {
                    $crate::flat::desc::Number::Int($crate::flat::view::int(self.0))
                }
            }

            impl core::fmt::Debug for $E {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    core::fmt::Display::fmt(self, f)
                }
            }

            impl core::fmt::Display for $E {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    match self.name() {
                        Some(name) => f.pad(name),
                        None => core::fmt::Display::fmt(&self.0, f),
                    }
                }
            }

            impl $crate::flat::view::Scalar for $E {
                const PRIM: $crate::flat::desc::Prim = Self::PRIM;

                #[inline]
                fn read_le(bytes: &[u8]) -> Option<Self> {
                    <$P as $crate::flat::view::Scalar>::read_le(bytes).map(Self)
                }
            }
        )*

        /// Views of proven tables: `Copy`, total, nothing optional that was proven.
        #[allow(unused_imports, reason = "a schema of enums has no tables")]
        pub mod view {
            use super::*;
            use $crate::flat::desc::TableDesc;
            use $crate::flat::view::{List, Raw, Table, Vector};

            $(
                $(#[$um])*
                #[derive(Clone, Copy, Debug)]
                pub enum $U<'a> {
                    $( $(#[$mm])* #[doc = concat!("Tag ", stringify!($tag), ".")] $M($M<'a>), )*
                    /// A tag that is not known; what it leads to is not read.
                    Unknown(u8),
                }
            )*
            $(
                $(#[$tm])*
                #[derive(Clone, Copy)]
                pub struct $T<'a>(Raw<'a>);

                impl<'a> $T<'a> { $(
                    $(#[$fm])*
                    #[doc = concat!("\n\nSlot ", stringify!($slot), ".")]
                    $( #[doc = concat!("Since release ", stringify!($since), ".")] )?
                    #[inline]
                    $( pub fn $f(self) -> Option<$crate::flat::view::target!('a, $R)> {
                        $crate::flat::view::read_target!(self.0, $slot, $R)
                    } )?
                    $( pub fn $f(self) -> Option<Vector<'a, $SV>> { self.0.vector($slot) } )?
                    $( pub fn $f(self) -> Option<List<'a, $RV<'a>>> { self.0.list($slot) } )?
                    $( pub fn $f(self) -> Option<$FU<'a>> { self.0.union($slot).map($FU::of) } )?
                    $( pub fn $f(self) -> $S { self.0.scalar($slot).unwrap_or($default) } )?
                )* }

                impl<'a> Table<'a> for $T<'a> {
                    const DESC: &'static TableDesc = &desc::$T;

                    #[inline]
                    fn from_raw(raw: Raw<'a>) -> Self {
                        Self(raw)
                    }

                    #[inline]
                    fn raw(self) -> Raw<'a> {
                        self.0
                    }
                }

                impl core::fmt::Debug for $T<'_> {
                    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.debug_struct(stringify!($T))
                            $( .field(stringify!($f), &self.$f()) )*
                            .finish()
                    }
                }
            )*
            $(
                impl<'a> $U<'a> {
                    #[inline]
                    fn of((tag, raw): (u8, Raw<'a>)) -> Self {
                        match tag {
                            $( $tag => Self::$M($M(raw.resolved())), )*
                            unknown => Self::Unknown(unknown),
                        }
                    }

                    /// Upstream's name of the member; `None` for a tag that is not known.
                    pub fn name(self) -> Option<&'static str> {
                        match self {
                            $( Self::$M(_) => Some(stringify!($M)), )*
                            Self::Unknown(_) => None,
                        }
                    }
                }
            )*
        }
    };
}

macro_rules! target {
    ($a:lifetime, str) => { &$a str };
    ($a:lifetime, $R:ident) => { $R<$a> };
}

macro_rules! read_target {
    ($raw:expr, $slot:literal, str) => {
        $raw.str($slot)
    };
    ($raw:expr, $slot:literal, $R:ident) => {
        $raw.target($slot).map($R)
    };
}

pub(crate) use {read_target, target, view};

/// An enum's number, widened; `From` is not const.
#[expect(clippy::as_conversions, reason = "i8 to i128 is lossless, and From is not const")]
pub(crate) const fn int(number: i8) -> i128 {
    number as i128
}
