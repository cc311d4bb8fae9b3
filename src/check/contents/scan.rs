//! The scan: searches all bytes after the FlatBuffer, and its blobs, for executable content.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::{CONTENT_EMBEDDED, code, root_of};
use crate::report::Findings;
use pte_core::{File, OpenError, PathComponent, Pte, Source};
use pte_flat::bytes::wide;
use pte_flat::view::Vector;

/// Searches all of `file` for executable content: segments, gaps, the bytes after the last segment,
/// and the blobs inside the FlatBuffer. Content at the beginning of a segment or payload is not
/// reported again: [`judge`](super::judge) reports it.
///
/// Reads each byte from `source` once, for any file, and uses about 1 MB of memory. Calls `read`
/// with the number of bytes of each read.
///
/// # Errors
///
/// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where memory is short.
pub(crate) fn scan<S: Source>(
    file: &File<'_>,
    source: &S,
    mut read: impl FnMut(u64),
    out: &mut Findings,
) -> Result<(), OpenError<S::Error>> {
    let parts = Parts::of(file);
    inline(file, &parts, out);
    let Range { start, end } = file.region_range().end..file.file_len();
    let mut buffer = buffer(end.saturating_sub(start)).ok_or(OpenError::Memory)?;
    // The offset of the buffer in the file, and the number of bytes kept from the previous read.
    let (mut at, mut kept) = (start, 0usize);
    while at.saturating_add(wide(kept)) < end {
        let pos = at.saturating_add(wide(kept));
        let room = buffer.len().saturating_sub(kept);
        let len = usize::try_from(end.saturating_sub(pos)).map_or(room, |rest| rest.min(room));
        let filled = kept.saturating_add(len);
        let rest = buffer.get_mut(kept..filled).unwrap_or_default();
        source.read_at(pos, rest).map_err(OpenError::Source)?;
        let bytes = buffer.get(..filled).unwrap_or_default();
        // Content that may continue in the next read is judged after that read.
        let judged = match pos.saturating_add(wide(len)) < end {
            true => filled.saturating_sub(code::REACH),
            false => filled,
        };
        code::search(bytes, judged, |nth, what| {
            let found = at.saturating_add(wide(nth));
            if !parts.is_reported(found, bytes.get(nth..)) {
                parts.report(found, what, out);
            }
        });
        buffer.copy_within(judged..filled, 0);
        (at, kept) = (at.saturating_add(wide(judged)), filled.saturating_sub(judged));
        read(wide(len));
    }
    Ok(())
}

/// Searches the blobs inside the FlatBuffer.
fn inline(file: &File<'_>, parts: &Parts<'_>, out: &mut Findings) {
    let File::Pte(pte) = file else { return };
    let root = pte.program();
    let blob = |of: Blob, nth: u32| match of {
        Blob::Payload => payload(pte, nth),
        Blob::Constant => root.constant_buffer()?.get(usize::try_from(nth).ok()?)?.storage(),
    };
    let count = |len: Option<usize>| u32::try_from(len.unwrap_or(0)).unwrap_or(u32::MAX);
    let payloads = count(root.backend_delegate_data().map(|list| list.len()));
    let constants = count(root.constant_buffer().map(|list| list.len()));
    let payloads = (0..payloads).map(|nth| (Blob::Payload, nth));
    let all = payloads.chain((0..constants).map(|nth| (Blob::Constant, nth)));
    let mut blobs: Vec<_> =
        all.filter_map(|(of, nth)| Some((blob(of, nth)?.pos(), of, nth))).collect();
    blobs.sort_unstable();
    // Blobs may share their bytes: each byte is searched once, for the first blob that has it.
    let mut done = 0u64;
    for (begin, of, nth) in blobs {
        let bytes = blob(of, nth).map_or(&[][..], |data| data.bytes());
        let begin = u64::from(begin);
        let known = usize::try_from(done.saturating_sub(begin)).unwrap_or(usize::MAX);
        done = done.max(begin.saturating_add(wide(bytes.len())));
        let rest = bytes.get(known.min(bytes.len())..).unwrap_or_default();
        code::search(rest, rest.len(), |at, found| {
            let here = rest.get(at..);
            let at = begin.saturating_add(wide(known)).saturating_add(wide(at));
            if !parts.is_reported(at, here) {
                let (what, list, field) = match of {
                    Blob::Payload => ("inline payload", "backend_delegate_data", "data"),
                    Blob::Constant => ("inline constant", "constant_buffer", "storage"),
                };
                let path = || {
                    let (list, field) = (PathComponent::Field(list), PathComponent::Field(field));
                    vec![PathComponent::Field("program"), list, PathComponent::Index(nth), field]
                };
                out.find(&CONTENT_EMBEDDED, at, path, || {
                    let inside = at.saturating_sub(begin);
                    format!("{found} at byte {inside} of {what} {nth}")
                });
            }
        });
    }
}

/// A kind of blob inside the FlatBuffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Blob {
    Payload,
    Constant,
}

/// Returns payload `nth` inside the FlatBuffer.
fn payload<'a>(pte: &Pte<'a>, nth: u32) -> Option<Vector<'a, u8>> {
    pte.program().backend_delegate_data()?.get(usize::try_from(nth).ok()?)?.data()
}

/// The segments and payloads of a file, for lookups by offset. Each is only an index, because a
/// file may list the same part every 4 bytes.
struct Parts<'f> {
    file: &'f File<'f>,
    root: &'static str,
    /// Segments that are not empty, sorted by begin, then by end.
    segments: Vec<u32>,
    /// For each position in `segments`, the position of the segment with the greatest end up to it.
    last: Vec<u32>,
    /// The non-empty inline payloads, sorted by begin, then by end.
    payloads: Vec<u32>,
}

/// Returns the byte range of a segment.
fn segment(file: &File<'_>, nth: u32) -> Range<u64> {
    file.segment_range(nth).unwrap_or_default()
}

/// Returns the byte range of a payload inside the FlatBuffer.
fn inside(file: &File<'_>, nth: u32) -> Range<u64> {
    let File::Pte(pte) = file else { return 0..0 };
    payload(pte, nth).map_or(0..0, |data| {
        let begin = u64::from(data.pos());
        begin..begin.saturating_add(wide(data.bytes().len()))
    })
}

/// Returns the indices of the parts that are not empty, sorted by their begin, then by their end.
fn in_order(count: u32, range: impl Fn(u32) -> Range<u64>) -> Vec<u32> {
    let mut parts: Vec<u32> = (0..count).filter(|&nth| !range(nth).is_empty()).collect();
    parts.sort_unstable_by_key(|&nth| (range(nth).start, range(nth).end, nth));
    parts
}

impl<'f> Parts<'f> {
    fn of(file: &'f File<'f>) -> Self {
        let segments = in_order(file.segment_count(), |nth| segment(file, nth));
        let ends = (0..).zip(&segments).scan((0, 0), |latest, (nth, &part)| {
            let end = segment(file, part).end;
            if end > latest.0 {
                *latest = (end, nth);
            }
            Some(latest.1)
        });
        let last = ends.collect();
        let payloads = match file {
            File::Pte(pte) => {
                let count = pte.program().backend_delegate_data().map_or(0, |list| list.len());
                in_order(u32::try_from(count).unwrap_or(u32::MAX), |nth| inside(file, nth))
            }
            File::Ptd(_) => Vec::new(),
        };
        Self { file, root: root_of(file), segments, last, payloads }
    }

    /// Returns the end of the longest segment or payload that begins at `at`.
    fn end_of(&self, at: u64) -> Option<u64> {
        let longest = |parts: &[u32], range: &dyn Fn(u32) -> Range<u64>| {
            let after = parts.partition_point(|&nth| range(nth).start <= at);
            let range = range(*parts.get(after.checked_sub(1)?)?);
            (range.start == at).then_some(range.end)
        };
        longest(&self.segments, &|nth| segment(self.file, nth))
            .max(longest(&self.payloads, &|nth| inside(self.file, nth)))
    }

    /// Returns whether content at `at` was already reported as the beginning of a segment or
    /// payload.
    fn is_reported(&self, at: u64, bytes: Option<&[u8]>) -> bool {
        self.end_of(at).is_some_and(|end| {
            let len = end.saturating_sub(at).min(super::HEAD);
            let head = usize::try_from(len).ok().and_then(|len| bytes?.get(..len));
            head.and_then(code::begins).is_some()
        })
    }

    /// Reports executable content of the kind `what` at the offset `at`.
    #[cold]
    fn report(&self, at: u64, what: &str, out: &mut Findings) {
        let segments = PathComponent::Field("segments");
        let after = self.segments.partition_point(|&nth| segment(self.file, nth).start <= at);
        // If any segment contains the content, one of two does: the last segment that begins before
        // the content, or among the segments up to this one, the one with the greatest end.
        let inside = after.checked_sub(1).and_then(|nth| {
            let furthest = usize::try_from(*self.last.get(nth)?).ok()?;
            let holds = |nth: usize| {
                let nth = *self.segments.get(nth)?;
                Some((segment(self.file, nth), nth)).filter(|(range, _)| at < range.end)
            };
            holds(nth).or_else(|| holds(furthest))
        });
        let mut find = |path: Vec<PathComponent>, message: &dyn Fn() -> String| {
            out.find(&CONTENT_EMBEDDED, at, || path, message);
        };
        match (inside, self.segments.get(after)) {
            (Some((range, nth)), _) => {
                let inside = at.saturating_sub(range.start);
                find(
                    vec![PathComponent::Field(self.root), segments, PathComponent::Index(nth)],
                    &|| format!("{what} at byte {inside} of segment {nth}"),
                );
            }
            (None, Some(nth)) => {
                find(
                    vec![PathComponent::Field(self.root), segments, PathComponent::Index(*nth)],
                    &|| format!("{what} in front of segment {nth}"),
                );
            }
            (None, None) => {
                find(vec![PathComponent::Field("header")], &|| {
                    format!("{what} behind the last segment")
                });
            }
        }
    }
}

/// Returns a buffer for `len` bytes, at most [`PIECE`].
fn buffer(len: u64) -> Option<Vec<u8>> {
    let len = usize::try_from(len).map_or(PIECE, |len| len.min(PIECE));
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    Some(bytes)
}

/// The largest number of bytes in memory at once.
const PIECE: usize = 1 << 20;
