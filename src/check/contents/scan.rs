//! The longer search: every byte behind the FlatBuffers part, and of the blobs in it, for what runs.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{CONTENT_EMBEDDED, code, root_of};
use crate::bytes::wide;
use crate::check::{Findings, Report};
use crate::error::Step;
use crate::file::source::Source;
use crate::limits::Limits;
use crate::opened::{File, OpenError, Opened};

impl<S: Source> Opened<S> {
    /// Searches all of `file`, which is this source's, for what runs: segments, the gaps between
    /// them, what follows the last one, and the blobs inside the FlatBuffers part. How segments and
    /// payloads begin is told by [`check_contents`](Self::check_contents), and not told again.
    ///
    /// Each byte is read once, whatever the file says, and about a megabyte of memory is used;
    /// `read` is told of every piece how many bytes it had.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let bytes: &[u8] = include_bytes!("../../../tests/data/pte/linear.pte");
    /// let opened = pte::Opened::open(bytes, &pte::Limits::UNTRUSTED)?;
    /// let mut done = 0;
    /// let report =
    ///     opened.scan_contents(&opened.file()?, &pte::Limits::UNTRUSTED, |read| done += read)?;
    /// assert!(report.findings().is_empty());
    /// assert_eq!(done, opened.file_len() - opened.file()?.region_range().end);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] where reading fails, [`OpenError::Memory`] where there is no memory.
    pub fn scan_contents(
        &self,
        file: &File<'_>,
        limits: &Limits,
        mut read: impl FnMut(u64),
    ) -> Result<Report, OpenError<S::Error>> {
        let mut out = Findings::new(limits);
        let parts = Parts::of(file);
        inline(file, &parts, &mut out);
        let Range { start, end } = file.region_range().end..self.file_len();
        let mut buffer = buffer(end.saturating_sub(start)).ok_or(OpenError::Memory)?;
        // Where the first byte of the buffer is in the file, and how many are left from before.
        let (mut at, mut kept) = (start, 0usize);
        while at.saturating_add(wide(kept)) < end {
            let pos = at.saturating_add(wide(kept));
            let room = buffer.len().saturating_sub(kept);
            let len = usize::try_from(end.saturating_sub(pos)).map_or(room, |rest| rest.min(room));
            let filled = kept.saturating_add(len);
            self.read_into(pos, buffer.get_mut(kept..filled).unwrap_or_default())?;
            let bytes = buffer.get(..filled).unwrap_or_default();
            // What reaches past what is here is left for the next piece, if there is one.
            let judged = match pos.saturating_add(wide(len)) < end {
                true => filled.saturating_sub(code::REACH),
                false => filled,
            };
            code::search(bytes, judged, |nth, what| {
                let found = at.saturating_add(wide(nth));
                if !parts.is_told(found, bytes.get(nth..)) {
                    parts.tell(found, what, &mut out);
                }
            });
            buffer.copy_within(judged..filled, 0);
            (at, kept) = (at.saturating_add(wide(judged)), filled.saturating_sub(judged));
            read(wide(len));
        }
        Ok(out.report)
    }
}

/// The blobs inside the FlatBuffers part, which is in memory.
fn inline(file: &File<'_>, parts: &Parts, out: &mut Findings) {
    let File::Pte(pte) = file else { return };
    let root = pte.program();
    let payloads = (0..).zip(root.backend_delegate_data().into_iter().flatten());
    let payloads = payloads.filter_map(|(nth, blob)| {
        let path = [Step::Field("backend_delegate_data"), Step::Index(nth), Step::Field("data")];
        Some((blob.data()?, path, "inline payload", nth))
    });
    let constants = (0..).zip(root.constant_buffer().into_iter().flatten());
    let constants = constants.filter_map(|(nth, buffer)| {
        let path = [Step::Field("constant_buffer"), Step::Index(nth), Step::Field("storage")];
        Some((buffer.storage()?, path, "inline constant", nth))
    });
    let mut blobs: Vec<_> = payloads.chain(constants).collect();
    blobs.sort_by_key(|(data, ..)| data.pos());
    // Blobs may share their bytes: each byte is searched once, for the first blob that has it.
    let mut done = 0u64;
    for (data, path, what, nth) in blobs {
        let (begin, bytes) = (u64::from(data.pos()), data.bytes());
        let known = usize::try_from(done.saturating_sub(begin)).unwrap_or(usize::MAX);
        done = done.max(begin.saturating_add(wide(bytes.len())));
        let rest = bytes.get(known.min(bytes.len())..).unwrap_or_default();
        code::search(rest, rest.len(), |at, found| {
            let here = rest.get(at..);
            let at = begin.saturating_add(wide(known)).saturating_add(wide(at));
            if !parts.is_told(at, here) {
                let path = || [&[Step::Field("program")], &path[..]].concat();
                out.find(&CONTENT_EMBEDDED, at, path, || {
                    let inside = at.saturating_sub(begin);
                    format!("{found} at byte {inside} of {what} {nth}")
                });
            }
        });
    }
}

/// What the bytes behind the FlatBuffers part belong to.
struct Parts {
    root: &'static str,
    /// Segments that are not empty, by where they begin, then by where they end.
    segments: Vec<(Range<u64>, u32)>,
    /// For each of them, which of it and those before ends last.
    last: Vec<u32>,
    /// Where segments and payloads begin, and where the longest one from there on ends.
    starts: BTreeMap<u64, u64>,
}

impl Parts {
    fn of(file: &File<'_>) -> Self {
        let segments = super::segments(file);
        let mut starts = BTreeMap::new();
        let mut start = |range: Range<u64>| {
            let end = starts.entry(range.start).or_insert(range.end);
            *end = range.end.max(*end);
        };
        segments.iter().for_each(|(range, _)| start(range.clone()));
        if let File::Pte(pte) = file {
            let payloads = pte.program().backend_delegate_data().into_iter().flatten();
            for data in payloads.filter_map(|blob| blob.data()) {
                let begin = u64::from(data.pos());
                start(begin..begin.saturating_add(wide(data.bytes().len())));
            }
        }
        let ends = (0..).zip(&segments).scan((0, 0), |latest, (nth, (range, _))| {
            if range.end > latest.0 {
                *latest = (range.end, nth);
            }
            Some(latest.1)
        });
        let last = ends.collect();
        Self { root: root_of(file), segments, last, starts }
    }

    /// Whether what begins at `at` with `bytes` is told already, since a segment or payload does.
    fn is_told(&self, at: u64, bytes: Option<&[u8]>) -> bool {
        self.starts.get(&at).is_some_and(|end| {
            let len = end.saturating_sub(at).min(super::HEAD);
            let head = usize::try_from(len).ok().and_then(|len| bytes?.get(..len));
            head.and_then(code::begins).is_some()
        })
    }

    /// Reports `what` at `at`.
    #[cold]
    fn tell(&self, at: u64, what: &str, out: &mut Findings) {
        let segments = Step::Field("segments");
        let after = self.segments.partition_point(|(range, _)| range.start <= at);
        // The last one that begins before it, or the one that reaches furthest, has it if any does.
        let inside = after.checked_sub(1).and_then(|nth| {
            let furthest = usize::try_from(*self.last.get(nth)?).ok()?;
            let holds = |nth: usize| self.segments.get(nth).filter(|(range, _)| at < range.end);
            holds(nth).or_else(|| holds(furthest))
        });
        let mut find = |path: Vec<Step>, message: &dyn Fn() -> String| {
            out.find(&CONTENT_EMBEDDED, at, || path, message);
        };
        match (inside, self.segments.get(after)) {
            (Some((range, nth)), _) => {
                let inside = at.saturating_sub(range.start);
                find(vec![Step::Field(self.root), segments, Step::Index(*nth)], &|| {
                    format!("{what} at byte {inside} of segment {nth}")
                });
            }
            (None, Some((_, nth))) => {
                find(vec![Step::Field(self.root), segments, Step::Index(*nth)], &|| {
                    format!("{what} in front of segment {nth}")
                });
            }
            (None, None) => {
                find(vec![Step::Field("header")], &|| format!("{what} behind the last segment"));
            }
        }
    }
}

/// A buffer for `len` bytes, or for a piece of them.
fn buffer(len: u64) -> Option<Vec<u8>> {
    let len = usize::try_from(len).map_or(PIECE, |len| len.min(PIECE));
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    Some(bytes)
}

/// Bytes in memory at once.
const PIECE: usize = 1 << 20;
