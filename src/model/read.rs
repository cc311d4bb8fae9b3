//! A proven file as a model.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Blob, Container, File, HeaderForm, LegacyPtd, Ptd, Pte, Ranges, Root, length};
use crate::bytes::wide;
use crate::flat::tree::{Object, Unknown};
use crate::flat::view::Table;
use crate::flat::walk::Seen;
use crate::flat::write::Layout;
use crate::ptd::Generation;
use crate::{ptd, pte};

impl<'a> pte::Pte<'a> {
    /// The program and its segments as plain values.
    ///
    /// Segments are borrowed; where only the FlatBuffers part was read, see
    /// [`to_model_from`](Self::to_model_from). Its structs may take many times the room of its
    /// tables: a few dozen bytes for each that a hostile file makes of four.
    pub fn to_model(&self) -> Pte<'a> {
        self.model(|range| Blob::from(self.bytes(range).unwrap_or_default()))
    }

    /// The same, its segments left in `source`, which has the whole file.
    pub fn to_model_from<'s>(&self, source: &'s dyn Ranges) -> Pte<'s> {
        self.model(|range| Blob::Range(source, range))
    }

    fn model<'b>(&self, blob: impl Fn(Range<u64>) -> Blob<'b>) -> Pte<'b> {
        let program = self.program();
        let region = self.region();
        let ranges = (0..self.segment_count()).map(|nth| self.segment_range(nth));
        let ranges: Vec<_> = ranges.map(|range| range.unwrap_or_default()).collect();
        let header = self.header();
        let container = Container {
            header: header.map(|header| HeaderForm::Inserted {
                length: header.length,
                chunk: header.length.checked_next_multiple_of(16).unwrap_or(u32::MAX).max(32),
            }),
            ..container(
                header.map_or(0, |header| header.segment_base_offset),
                header.map_or(0, |header| header.segment_data_size),
                (wide(region.len()), self.file_len()),
                &ranges,
                &blob,
            )
        };
        finish(program, self.seen(), container, ranges, blob)
    }
}

impl<'a> ptd::Ptd<'a> {
    /// The tables and segments as plain values: those of its own generation.
    pub fn to_model(&self) -> AnyPtd<'a> {
        self.model(|range| Blob::from(self.bytes(range).unwrap_or_default()))
    }

    /// The same, its segments left in `source`, which has the whole file.
    pub fn to_model_from<'s>(&self, source: &'s dyn Ranges) -> AnyPtd<'s> {
        self.model(|range| Blob::Range(source, range))
    }

    fn model<'b>(&self, blob: impl Fn(Range<u64>) -> Blob<'b>) -> AnyPtd<'b> {
        let ranges = (0..self.segment_count()).map(|nth| self.segment_range(nth));
        let ranges: Vec<_> = ranges.map(|range| range.unwrap_or_default()).collect();
        let header = self.header();
        let (length, chunk) = (header.length, header.flatbuffer_offset);
        let chunk = u32::try_from(chunk).unwrap_or(u32::MAX);
        let end = self.region_start().saturating_add(wide(self.region().len()));
        let container = Container {
            header: Some(match self.generation() {
                Generation::Zero => HeaderForm::InFront { length, chunk },
                _ => HeaderForm::Inserted { length, chunk },
            }),
            ..container(
                header.segment_base_offset,
                header.segment_data_size,
                (end, self.file_len()),
                &ranges,
                &blob,
            )
        };
        let seen = self.seen();
        match self.root() {
            ptd::Root::Current(root) => {
                AnyPtd::Current(finish(root, seen, container, ranges, blob))
            }
            ptd::Root::Legacy(root) => AnyPtd::Legacy(finish(root, seen, container, ranges, blob)),
        }
    }
}

/// A `.ptd` of either schema.
#[derive(Clone, Debug)]
pub enum AnyPtd<'a> {
    /// Since release 0.7.
    Current(Ptd<'a>),
    /// Before.
    Legacy(LegacyPtd<'a>),
}

fn finish<'v, 'b, T: Table<'v>, R: Root + From<T>>(
    root: T,
    seen: Seen,
    container: Container<'b>,
    ranges: Vec<Range<u64>>,
    blob: impl Fn(Range<u64>) -> Blob<'b>,
) -> File<'b, R> {
    let count = || Object::of(root).1;
    // Whatever is not known was noted by the walk.
    let unknown = if seen.odd { count() } else { Unknown::default() };
    debug_assert_eq!(unknown, count(), "noted by the walk");
    let container = Container { layout: Layout::guess(root), ..container };
    let segments = ranges.into_iter().map(blob).collect();
    File { root: R::from(root), segments, container, unknown }
}

/// What is around the segments at `ranges` of a file of `len` bytes, whose tables end at `end`.
fn container<'b>(
    base: u64,
    data_size: u64,
    (end, len): (u64, u64),
    ranges: &[Range<u64>],
    blob: impl Fn(Range<u64>) -> Blob<'b>,
) -> Container<'b> {
    let last = ranges.iter().map(|range| range.end).max();
    let data_end = last.unwrap_or(base).max(end);
    let counted = base.saturating_add(data_size).clamp(data_end, len.max(data_end));
    let place = |range: &Range<u64>| (range.start.saturating_sub(base), length(range));
    let places: Vec<_> = ranges.iter().map(place).collect();
    Container {
        segment_base_offset: (base != 0).then_some(base),
        segment_alignment: match base {
            0 => Container::CURRENT.segment_alignment,
            _ => Container::alignment(base, end, &places),
        },
        padding: counted.saturating_sub(data_end.max(base)),
        trailing: blob(counted.max(base.min(len))..len),
        ..Container::CURRENT
    }
}
