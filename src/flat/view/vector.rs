//! Views of proven vectors: of numbers, of tables and of strings.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::{Proof, Raw, Scalar, Table, Vtable, proven, target, text};
use crate::bytes::{array_at, further, index, narrow, slice_at};
use crate::cost;

/// A proven vector of numbers.
#[derive(Clone, Copy)]
pub struct Vector<'a, T> {
    buf: &'a [u8],
    first: u32,
    len: u32,
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

/// A proven vector of strings.
#[derive(Clone, Copy)]
pub struct Strings<'a> {
    buf: &'a [u8],
    first: u32,
    len: u32,
}

impl<'a, T: Scalar> Vector<'a, T> {
    #[inline]
    pub(super) fn new(buf: &'a [u8], first: u32, len: u32) -> Self {
        Self { buf, first, len, item: PhantomData }
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        index(self.len)
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the element with index `nth`.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<T> {
        let size = u32::from(T::PRIM.size());
        cost::charge(1);
        let nth = u32::try_from(nth).ok().filter(|&nth| nth < self.len)?;
        let at = further(self.first, nth.wrapping_mul(size));
        slice_at(self.buf, index(at), size).and_then(T::read_le)
    }

    /// Returns the first `len` elements, or all if there are fewer.
    pub fn up_to(self, len: usize) -> Self {
        Self { len: self.len.min(narrow(len)), ..self }
    }

    /// Returns an iterator over the elements.
    #[inline]
    pub fn iter(&self) -> Numbers<'a, T> {
        let size = usize::from(T::PRIM.size());
        Numbers { chunks: self.bytes().chunks_exact(size), item: PhantomData }
    }

    /// Returns the bytes of the elements.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        let size = u32::from(T::PRIM.size());
        proven(slice_at(self.buf, index(self.first), self.len.saturating_mul(size)))
    }

    /// Returns the position of the first element in the FlatBuffer.
    pub fn pos(&self) -> u32 {
        self.first
    }
}

/// Reads the first few elements without a branch on their number. Bytes after the elements are read
/// too, and masked out.
impl Vector<'_, i32> {
    /// Returns the first `N` elements, padded with `rest`.
    #[inline(always)]
    pub fn head<const N: usize>(self, rest: i32) -> [i32; N] {
        cost::charge(self.len().min(N));
        let from = index(self.first);
        let bytes = self.buf.get(from..from.saturating_add(N.saturating_mul(4)));
        let Some(elements) = bytes.and_then(|bytes| bytes.as_chunks().0.first_chunk::<N>()) else {
            return self.head_at_the_end([rest; N]);
        };
        let (mut head, len) = ([rest; N], self.len.cast_signed());
        for (slot, element) in head.iter_mut().zip(elements) {
            *slot = i32::from_le_bytes(*element);
        }
        for (nth, slot) in (0i32..).zip(&mut head) {
            // All bits are set if the vector has an element with this index.
            let there = nth.wrapping_sub(len) >> 31;
            *slot = rest ^ ((rest ^ *slot) & there);
        }
        head
    }
}

impl Vector<'_, u8> {
    /// Returns the first eight elements. Missing elements are taken from `rest`.
    #[inline(always)]
    pub fn head(self, rest: [u8; 8]) -> [u8; 8] {
        cost::charge(self.len().min(8));
        let Some(elements) = array_at(self.buf, index(self.first)) else {
            return self.head_at_the_end(rest);
        };
        let gone = u64::MAX.checked_shl(self.len.saturating_mul(8)).unwrap_or_default();
        let (elements, rest) = (u64::from_le_bytes(elements), u64::from_le_bytes(rest));
        (elements & !gone | rest & gone).to_le_bytes()
    }
}

impl<T: Scalar> Vector<'_, T> {
    /// Returns the same as `head`, for a vector close to the end of the buffer.
    #[cold]
    #[inline(never)]
    fn head_at_the_end<const N: usize>(self, rest: [T; N]) -> [T; N] {
        let mut head = rest;
        head.iter_mut().zip(self.iter()).for_each(|(slot, element)| *slot = element);
        head
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

/// An iterator over the elements of a [`Vector`].
#[derive(Clone, Debug)]
pub struct Numbers<'a, T> {
    chunks: core::slice::ChunksExact<'a, u8>,
    item: PhantomData<T>,
}

impl<T: Scalar> Iterator for Numbers<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        cost::charge(1);
        T::read_le(self.chunks.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chunks.size_hint()
    }
}

impl<T: Scalar> ExactSizeIterator for Numbers<'_, T> {}
impl<T: Scalar> FusedIterator for Numbers<'_, T> {}

/// An empty vector.
impl<T> Default for Vector<'_, T> {
    fn default() -> Self {
        Self { buf: &[], first: 0, len: 0, item: PhantomData }
    }
}

/// An empty list.
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

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        index(self.len)
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the table with index `nth`, without its type.
    #[inline]
    pub fn raw(&self, nth: u32) -> Option<Raw<'a>> {
        if nth >= self.len {
            return None;
        }
        Some(Raw::at(self.buf, further(self.first, nth.wrapping_mul(4))))
    }

    /// Returns table `nth`, as [`raw`](Self::raw) does. `vtable` is that of the previous table,
    /// which adjacent tables often share.
    #[inline(always)]
    pub fn raw_by(&self, nth: u32, vtable: &mut Vtable<'a>) -> Option<Raw<'a>> {
        if nth >= self.len {
            return None;
        }
        let pos = target(self.buf, further(self.first, nth.wrapping_mul(4)));
        Some(vtable.table(self.buf, pos))
    }

    /// Returns an iterator over the tables, without their type.
    #[inline]
    pub fn raws(self) -> impl Iterator<Item = Raw<'a>> {
        (0..self.len).filter_map(move |nth| self.raw(nth))
    }

    /// Returns the position in the FlatBuffer of the offset to the first table.
    pub fn pos(&self) -> u32 {
        self.first
    }
}

impl<'a, T: Table<'a>> List<'a, T> {
    /// Returns the table with index `nth`.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<T> {
        let raw = self.raw(u32::try_from(nth).ok()?)?;
        Some(T::from_raw(raw, Proof(())))
    }

    /// Returns an iterator over the tables.
    #[inline]
    pub fn iter(&self) -> TableIter<'a, T> {
        TableIter { list: *self, next: 0 }
    }
}

impl<'a, T: Table<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Table<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = TableIter<'a, T>;

    fn into_iter(self) -> TableIter<'a, T> {
        self.iter()
    }
}

impl<'a> Strings<'a> {
    #[inline]
    pub(super) fn new(buf: &'a [u8], first: u32, len: u32) -> Self {
        Self { buf, first, len }
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        index(self.len)
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the string with index `nth`. Its UTF-8 is checked at each call.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<&'a str> {
        self.place(u32::try_from(nth).ok()?).map(|pos| text(self.buf, pos))
    }

    /// Returns the position of the string with index `nth` in the FlatBuffer.
    pub fn place(&self, nth: u32) -> Option<u32> {
        cost::charge(1);
        let is_there = nth < self.len;
        is_there.then(|| target(self.buf, further(self.first, nth.wrapping_mul(4))))
    }

    /// Returns an iterator over the strings.
    #[inline]
    pub fn iter(&self) -> Texts<'a> {
        Texts { strings: *self, next: 0 }
    }

    /// Returns the position in the FlatBuffer of the offset to the first string.
    pub fn pos(&self) -> u32 {
        self.first
    }
}

impl fmt::Debug for Strings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for Strings<'a> {
    type Item = &'a str;
    type IntoIter = Texts<'a>;

    fn into_iter(self) -> Texts<'a> {
        self.iter()
    }
}

/// An iterator over the strings of a [`Strings`].
#[derive(Clone, Debug)]
pub struct Texts<'a> {
    strings: Strings<'a>,
    next: u32,
}

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let text = self.strings.get(index(self.next))?;
        self.next = self.next.saturating_add(1);
        Some(text)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = index(self.strings.len.saturating_sub(self.next));
        (left, Some(left))
    }
}

impl ExactSizeIterator for Texts<'_> {}
impl FusedIterator for Texts<'_> {}

/// An iterator over the tables of a [`List`].
#[derive(Clone)]
pub struct TableIter<'a, T> {
    list: List<'a, T>,
    next: u32,
}

impl<'a, T: Table<'a>> Iterator for TableIter<'a, T> {
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

impl<'a, T: Table<'a>> ExactSizeIterator for TableIter<'a, T> {}
impl<'a, T: Table<'a>> FusedIterator for TableIter<'a, T> {}

impl<'a, T: Table<'a> + fmt::Debug> fmt::Debug for TableIter<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn head_returns_the_elements_filled_up_with_the_rest() {
        for len in 0..=20 {
            // The number of bytes in the buffer after the elements: none, too few, or enough.
            for more in [0, 1, 3, 4, 7, 31, 100] {
                let bytes: Vec<u8> = (1..=120).take(index(len) + more).collect();
                let rest = [210, 211, 212, 213, 214, 215, 216, 217];
                let head = Vector::<u8>::new(&bytes, 0, len).head(rest);
                let want = (1..).take(index(len)).chain(rest.into_iter().skip(index(len)));
                assert!(want.take(8).eq(head), "{len}, {more} behind: {head:?}");
                let bytes: Vec<u8> = (1i32..=20).flat_map(i32::to_le_bytes).collect();
                let bytes = &bytes[..bytes.len().min(index(len) * 4 + more)];
                let head = Vector::<i32>::new(bytes, 0, len).head::<16>(-7);
                let want = (1..).take(index(len)).chain(core::iter::repeat(-7));
                assert!(want.take(16).eq(head), "{len}, {more} behind: {head:?}");
            }
        }
    }
}
