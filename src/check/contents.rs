//! The bytes after the FlatBuffer: the gaps between segments, and how segments and payloads begin.
//!
//! These rules read the first 64 bytes of each segment, or all bytes if a scan is requested.

use alloc::vec::Vec;
use core::ops::Range;

use self::magic::Heads;
use super::container::{Begin, in_order};
use super::report::Findings;
use super::rule::rules;
use pte_core::handle::ReadVec;
use pte_core::{File, OpenError, Source};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;
use pte_flat::path;

mod code;
#[cfg(feature = "sha2")]
mod digest;
mod magic;
mod scan;

#[cfg(feature = "sha2")]
pub(super) use digest::judge as judge_digests;
pub(super) use scan::scan;

rules! {
    "contents";

    GAP_NOT_ZERO = Warning "gap-not-zero"
        "The bytes between the FlatBuffer and the segments are zero."
        "Every writer writes zeros: other bytes may have been hidden there."
        "Ask the writer of the file what these bytes are: no runtime reads them."
        Ignores ["7.7.3", "9.1"]
        untrusted_upload "Bytes that no runtime reads may hide something.";
    CONTENT_EXECUTABLE = Note "content-executable"
        "No segment or payload begins like a program, an archive, a pickle or a script."
        "Some backends ship code; in an untrusted file it deserves a closer look."
        "Do not trust the file before you know what reads these bytes."
        Ignores ["6.6"]
        untrusted_upload "A model file is data: code in it may be run by a backend.";
    CONTENT_EMBEDDED = Note "content-embedded"
        "No program, archive, pickle or script lies inside a segment, a blob or a gap (in a scan of all bytes)."
        "Weights contain no such thing: it may have been hidden there."
        "Do not trust the file before you know what reads these bytes."
        Ignores ["6.6", "9.1"]
        untrusted_upload "A model file is data: code anywhere in it may be run.";
    NAMED_KEY_DIGEST = Warning "named-key-digest"
        "A key of named data that is a SHA-256 is that of its data (in a scan of all bytes)."
        "Builds with XNNPACK's weights cache take equal keys for equal weights, in all models of a process."
        "Lower the model again, or give the data another key."
        Misreads ["11.3"]
        untrusted_upload "The data may replace the weights of another model in one process.";
    PAYLOAD_MAGIC = Warning "payload-magic"
        "A delegate's payload begins as those of its backend do."
        "The backend refuses it, or takes it for something else."
        "Lower the model again, or find out which backend the payload is for."
        Refuses ["6.6", "7.4.21", "7.7.23", "10"]
        untrusted_upload "The payload is not what its backend reads.";
}

/// Judges the gaps between the segments of `file`, and the first 64 bytes of each segment and
/// payload. The bytes are read from `source`.
pub(crate) fn judge<S: Source>(
    file: &File<'_>,
    source: &S,
    out: &mut Findings,
) -> Result<(), OpenError<S::Error>> {
    let mut window = Window { source, len: file.file_len(), start: 0, bytes: Vec::new() };
    let range_of = |nth| file.segment_range(nth).unwrap_or_default();
    let root = root_of(file);
    let mut end = file.region_range().end;
    let mut heads = Heads::of(file);
    let segments = in_order(file.segment_count(), range_of);
    announce(file, source, segments.iter().map(|begin| range_of(begin.nth)))?;
    for Begin { nth, .. } in segments {
        let range = range_of(nth);
        let path = || path![root, "segments", nth].to_vec();
        if end < range.start {
            let gap = end..range.start.min(end.saturating_add(LONGEST_GAP));
            let bytes = window.read(gap.clone())?;
            if let Some((at, byte)) = (gap.start..).zip(bytes).find(|(_, byte)| **byte != 0) {
                out.find(&GAP_NOT_ZERO, at, path, || {
                    format!("a byte of {byte:#04x} in front of segment {nth}")
                });
            }
        }
        end = end.max(range.end);
        let head = range.start..range.end.min(range.start.saturating_add(HEAD));
        let head = window.read(head)?;
        heads.keep(nth, head);
        if let Some(what) = code::begins(head) {
            out.find(&CONTENT_EXECUTABLE, range.start, path, || {
                format!("segment {nth} begins like {what}")
            });
        }
    }
    inline_payloads(file, out);
    if let File::Pte(pte) = file {
        magic::judge(pte, &heads, out);
    }
    Ok(())
}

/// Announces to `source` all reads of [`judge`]. The segments lie at `ranges`, in ascending order.
fn announce<S: Source>(
    file: &File<'_>,
    source: &S,
    ranges: impl Iterator<Item = Range<u64>>,
) -> Result<(), OpenError<S::Error>> {
    let (mut end, mut window) = (file.region_range().end, 0..0);
    let reads = ranges.flat_map(|range| {
        let gap = end..range.start.min(end.saturating_add(LONGEST_GAP));
        end = end.max(range.end);
        [gap, range.start..range.end.min(range.start.saturating_add(HEAD))]
    });
    let mut windows = reads.filter(|read| !read.is_empty()).filter_map(|read| {
        let is_inside = window.start <= read.start && read.end <= window.end;
        (!is_inside).then(|| {
            window = window_of(&read, file.file_len());
            window.clone()
        })
    });
    source.will_read(&mut windows).map_err(OpenError::Source)
}

/// Returns the name of the root table in paths.
fn root_of(file: &File<'_>) -> &'static str {
    match file {
        File::Pte(_) => "program",
        File::Ptd(_) => "flat_tensor",
    }
}

/// Reports payloads inside the FlatBuffer that begin like executable content.
fn inline_payloads(file: &File<'_>, out: &mut Findings) {
    let File::Pte(pte) = file else { return };
    let blobs = pte.program().backend_delegate_data().into_iter().flatten();
    for (nth, blob) in (0..).zip(blobs) {
        let Some(data) = blob.data() else { continue };
        let head = data.bytes().get(..64).unwrap_or(data.bytes());
        if let Some(what) = code::begins(head) {
            let path = || path!["program", "backend_delegate_data", nth].to_vec();
            out.find(&CONTENT_EXECUTABLE, data.pos().into(), path, || {
                format!("inline payload {nth} begins like {what}")
            });
        }
    }
}

/// A buffered range of the file, which adjacent small reads share.
struct Window<'s, S> {
    source: &'s S,
    /// The length of the file in bytes.
    len: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<S: Source> Window<'_, S> {
    fn read(&mut self, range: Range<u64>) -> Result<&[u8], OpenError<S::Error>> {
        cost::charge(64);
        let end = self.start.saturating_add(wide(self.bytes.len()));
        if range.start < self.start || range.end > end {
            self.bytes = self.source.read_vec(window_of(&range, self.len))?;
            self.start = range.start;
        }
        let from = usize::try_from(range.start.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let len = usize::try_from(len_of(&range)).unwrap_or(usize::MAX);
        Ok(self.bytes.get(from..).and_then(|rest| rest.get(..len)).unwrap_or_default())
    }
}

/// Returns the window to read for `range` in a file of `len` bytes.
fn window_of(range: &Range<u64>, len: u64) -> Range<u64> {
    range.start..range.start.saturating_add(WINDOW).max(range.end).min(len)
}

/// The number of bytes read at the beginning of a segment.
const HEAD: u64 = 64;
/// The largest number of bytes read of a gap. A writer's gap is shorter: no writer aligns to more
/// than 4096 bytes.
const LONGEST_GAP: u64 = 1 << 16;
/// The number of bytes read at once.
const WINDOW: u64 = 1 << 16;
