//! The vtables written so far, which later tables can share.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

use crate::bytes::index;
use crate::desc::MAX_SLOTS;

/// The length of the longest vtable in bytes.
const MOST: usize = 4 + 2 * MAX_SLOTS;

/// The bytes of a vtable.
#[derive(Clone, Copy)]
pub(super) struct Vtable {
    bytes: [u8; MOST],
    len: usize,
}

/// The vtables that were written, with their positions.
pub(super) struct Vtables {
    /// Whether tables share a vtable only if they have the same size.
    sizes_count: bool,
    /// The vtables and their positions, in the order of writing.
    written: Vec<(Vtable, u32)>,
    /// Indices of `written`, sorted by the vtables' bytes.
    sorted: Vec<u32>,
}

impl Vtable {
    /// Creates the vtable of the table from `pos` to `end`, whose slots are at `places` (0 for
    /// none), all counted from the end of the buffer. The lengths of the vtable and of the table
    /// come first, then an entry for each slot up to the last one in use.
    pub(super) fn new(pos: u32, end: u32, places: &[u32; MAX_SLOTS]) -> Self {
        let slots = places.iter().rposition(|&place| place != 0);
        let slots = slots.map_or(0, |last| last.saturating_add(1));
        let len = slots.saturating_mul(2).saturating_add(4);
        let offsets = places.iter().take(slots).map(|&place| match place {
            0 => 0,
            place => pos.saturating_sub(place),
        });
        let first = [u32::try_from(len).unwrap_or(u32::MAX), pos.saturating_sub(end)];
        // Each word fits 16 bits: the widest table has only a few hundred bytes.
        let words =
            first.into_iter().chain(offsets).map(|word| u16::try_from(word).unwrap_or(u16::MAX));
        let mut bytes = [0; MOST];
        for (room, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *room = word.to_le_bytes();
        }
        Self { bytes, len }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Returns the bytes that must be equal for two vtables to be shared.
    fn key(&self, sizes_count: bool) -> &[u8] {
        if sizes_count { self.bytes() } else { self.bytes().get(4..).unwrap_or_default() }
    }
}

impl Vtables {
    pub(super) fn new(sizes_count: bool) -> Self {
        Self { sizes_count, written: Vec::new(), sorted: Vec::new() }
    }

    /// Returns the position of an equal vtable, or the rank at which to insert this one.
    pub(super) fn find(&self, vtable: &Vtable) -> Result<u32, usize> {
        let key = vtable.key(self.sizes_count);
        let entry = |nth: &u32| self.written.get(index(*nth));
        let order = self.sorted.binary_search_by(|nth| {
            entry(nth).map_or(&[][..], |(other, _)| other.key(self.sizes_count)).cmp(key)
        });
        let found = order.map(|rank| self.sorted.get(rank).and_then(entry));
        found.map(|entry| entry.map_or(0, |&(_, at)| at))
    }

    /// Records a vtable that was written at `at`.
    pub(super) fn insert(
        &mut self,
        rank: usize,
        vtable: Vtable,
        at: u32,
    ) -> Result<(), TryReserveError> {
        self.written.try_reserve(1)?;
        self.sorted.try_reserve(1)?;
        self.sorted.insert(rank.min(self.sorted.len()), super::length(self.written.len()));
        self.written.push((vtable, at));
        Ok(())
    }
}
