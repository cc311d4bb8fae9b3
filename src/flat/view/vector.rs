//! Proven vectors, of numbers and of tables.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::{Proof, Raw, Scalar, Table};
use crate::bytes::{index, sum};
use crate::steps;

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

impl<'a, T: Scalar> Vector<'a, T> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8], pos: u32) -> Self {
        Self { bytes, pos, item: PhantomData }
    }

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
        steps::take(1);
        let first = nth.checked_mul(size)?;
        T::read_le(self.bytes.get(first..)?.get(..size)?)
    }

    /// Its first `len` elements, or all of them.
    pub(crate) fn up_to(self, len: usize) -> Self {
        let end = len.saturating_mul(usize::from(T::PRIM.size()));
        Self { bytes: self.bytes.get(..end).unwrap_or(self.bytes), ..self }
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
        steps::take(1);
        T::read_le(self.chunks.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chunks.size_hint()
    }
}

impl<T: Scalar> ExactSizeIterator for Numbers<'_, T> {}
impl<T: Scalar> FusedIterator for Numbers<'_, T> {}

/// No numbers.
impl<T> Default for Vector<'_, T> {
    fn default() -> Self {
        Self { bytes: &[], pos: 0, item: PhantomData }
    }
}

/// No tables.
impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self { buf: &[], first: 0, len: 0, item: PhantomData }
    }
}

impl<'a, T> List<'a, T> {
    #[inline]
    pub(super) fn new(buf: &'a [u8], first: u32, len: u32) -> Self {
        Self { buf, first, len, item: PhantomData }
    }

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
        Some(Raw::at(self.buf, sum(self.first, nth.saturating_mul(4))))
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
        let raw = self.raw(u32::try_from(nth).ok()?)?;
        Some(T::from_raw(raw, Proof(())))
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
        Some(T::from_raw(raw, Proof(())))
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
