//! Adds, replaces and removes segments of a model, and computes their offsets.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Blob, Container, FileModel, HeaderForm, RootStruct};
use pte_flat::bytes::{index, narrow};

/// The alignments that known writers use for segments, the most common first.
const ALIGNMENTS: [u64; 13] = [128, 16, 4096, 2048, 1024, 512, 256, 64, 32, 8, 4, 2, 1];

/// The largest alignment that is assumed to be intended. A larger one is assumed to be chance.
pub(super) const MOST: u64 = 4096;

/// The place of a segment before a change.
struct OldPlace {
    offset: u64,
    size: u64,
    /// The end of the segment before it.
    before: u64,
}

impl OldPlace {
    /// A new segment has no place.
    const NONE: Self = Self { offset: u64::MAX, size: 0, before: 0 };
}

/// Returns the places of segments, given their offsets and sizes.
fn old_places(places: &[(u64, u64)]) -> Vec<OldPlace> {
    let mut before = 0u64;
    let old = places.iter().map(|&(offset, size)| {
        let end = offset.saturating_add(size);
        OldPlace { offset, size, before: core::mem::replace(&mut before, end) }
    });
    old.collect()
}

impl<'a, R: RootStruct> FileModel<'a, R> {
    /// Adds a segment, and returns its index.
    pub fn add_segment(&mut self, blob: Blob<'a>) -> u32 {
        let nth = self.hold(blob);
        self.lay_out();
        nth
    }

    /// Adds a segment without laying out the file. A caller can so add many segments, and lay out
    /// the file once.
    pub(super) fn hold(&mut self, blob: Blob<'a>) -> u32 {
        self.segments.push(blob);
        narrow(self.segments.len().saturating_sub(1))
    }

    /// Replaces the bytes of a segment, and returns the old bytes; `None` if there is no such
    /// segment.
    pub fn replace_segment(&mut self, nth: u32, blob: Blob<'a>) -> Option<Blob<'a>> {
        let segment = self.segments.get_mut(index(nth))?;
        let old = core::mem::replace(segment, blob);
        self.lay_out();
        Some(old)
    }

    /// Replaces the bytes of a segment for one field that refers to it, and returns the segment
    /// index for that field. If other fields refer to the segment too, the segment is kept and a
    /// new one is added.
    pub(super) fn own_segment(&mut self, nth: u32, blob: Blob<'a>) -> u32 {
        let mut uses = 0usize;
        self.root.segment_indices(&mut |used| {
            uses = uses.saturating_add(usize::from(*used == nth));
        });
        if uses > 1 || index(nth) >= self.segments.len() {
            return self.add_segment(blob);
        }
        self.replace_segment(nth, blob);
        nth
    }

    /// Removes the segments in `candidates` to which no field refers, and updates the indices of
    /// the other segments.
    pub fn drop_unused(&mut self, mut candidates: Vec<u32>) {
        let mut in_use = BTreeSet::new();
        self.root.segment_indices(&mut |used| {
            in_use.insert(*used);
        });
        candidates.retain(|nth| !in_use.contains(nth));
        candidates.sort_unstable();
        candidates.dedup();
        let is_out = |nth: usize| candidates.binary_search(&narrow(nth)).is_ok();
        let mut nth = 0..;
        self.segments.retain(|_| !nth.next().is_some_and(is_out));
        let old = old_places(&self.root.segments());
        let old: Vec<_> = (0..).zip(old).filter(|&(nth, _)| !is_out(nth)).collect();
        let old: Vec<_> = old.into_iter().map(|(_, place)| place).collect();
        self.root.set_segments(&old.iter().map(|old| (old.offset, old.size)).collect::<Vec<_>>());
        self.root.segment_indices(&mut |used| {
            let before = candidates.partition_point(|nth| nth < used);
            *used = used.saturating_sub(narrow(before));
        });
        self.lay_out_from(candidates.first().map_or(usize::MAX, |nth| index(*nth)), old);
    }

    /// Aligns each segment to `alignment` bytes.
    pub fn align(&mut self, alignment: u64) {
        self.container.segment_alignment = alignment.max(1);
        let places: Vec<_> = self.root.segments().iter().map(|_| (u64::MAX, 0)).collect();
        self.root.set_segments(&places);
        self.lay_out();
    }

    /// Computes the offsets of segments after changes. Segments before the first change keep their
    /// offsets. Later segments keep their own alignment if it is larger than the container's.
    pub fn lay_out(&mut self) {
        let old = old_places(&self.root.segments());
        self.lay_out_from(usize::MAX, old);
    }

    /// Computes the offsets of segments, which had the places `old`. From segment `first` on, they
    /// move to the end of the segment before.
    fn lay_out_from(&mut self, first: usize, old: Vec<OldPlace>) {
        let align = self.container.segment_alignment.max(1);
        let (mut end, mut moved) = (0u64, false);
        let mut places = Vec::with_capacity(self.segments.len());
        let mut old = old.into_iter();
        for (nth, segment) in self.segments.iter().enumerate() {
            let OldPlace { offset, size, before } = old.next().unwrap_or(OldPlace::NONE);
            moved |= nth >= first || offset < end || offset == u64::MAX;
            if moved {
                let usual = before.checked_next_multiple_of(align);
                let own = match offset.trailing_zeros() {
                    _ if Some(offset) == usual || offset == u64::MAX => 1,
                    zeros => 1u64.checked_shl(zeros).unwrap_or(MOST).min(MOST),
                };
                end = end.checked_next_multiple_of(align.max(own)).unwrap_or(u64::MAX);
            } else {
                end = offset;
            }
            places.push((end, segment.len()));
            moved |= size != segment.len();
            end = end.saturating_add(segment.len());
        }
        // If all segments are empty, they get the offset 0: without a segment base, no runtime
        // loads an empty segment at another offset.
        if places.iter().all(|&(_, size)| size == 0) {
            places.iter_mut().for_each(|(begin, _)| *begin = 0);
        }
        self.root.set_segments(&places);
        self.container.segment_base_offset = None;
        self.container.padding = 0;
        let (mut is_used, count) = (false, self.segments.len());
        self.root.segment_indices(&mut |used| is_used |= index(*used) < count);
        if (end > 0 || is_used) && self.container.header.is_none() {
            let (length, chunk) = if R::SCHEMA.extension == "pte" { (32, 32) } else { (40, 48) };
            let align = self.container.layout.force_align.unwrap_or(16).max(16);
            let chunk = u32::next_multiple_of(chunk, align);
            self.container.header = Some(HeaderForm::Inserted { length, chunk });
        }
    }
}

impl Container<'_> {
    /// Finds the alignment of segments. `places` has their offsets from `base` and their sizes. The
    /// tables end at `end`.
    pub(super) fn alignment(base: u64, end: u64, places: &[(u64, u64)]) -> u64 {
        let explains = |align: u64| {
            let next = |end: u64| end.checked_next_multiple_of(align);
            let mut last = 0;
            next(end) == Some(base)
                && places.iter().all(|&(offset, size)| {
                    let fits = next(last) == Some(offset);
                    last = offset.saturating_add(size);
                    fits
                })
        };
        let divides = |align: &u64| {
            let bits = places.iter().fold(base, |bits, (offset, _)| bits | offset);
            bits.checked_rem(*align) == Some(0)
        };
        let explained = ALIGNMENTS.into_iter().find(|&align| explains(align));
        let largest = ALIGNMENTS.into_iter().filter(divides).max();
        explained.or(largest).unwrap_or(1)
    }
}
