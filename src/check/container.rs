//! Rules on the file around the FlatBuffer: sizes, segments, and the offsets of constants.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::report::Findings;
use super::resolve::BASE_MISSING;
use super::rule::{Rule, rules};
use super::site::Plan;
use pte_core::file::header::ExtendedHeader;
use pte_core::{PathComponent, Pte, Storage};
use pte_flat::bytes::{index, narrow};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::program::DataLocation;
use pte_schema::program::view::{KernelTypes, SubsegmentOffsets};

rules! {
    "container";

    FILE_SHORT = Error "file-short"
        "A file has at least 64 bytes."
        "Runtimes read 64 bytes before anything else, and refuse the file."
        MADE_BY_HAND
        Refuses ["1.2", "1.3.1", "1.5", "2.3", "2.4.1"];
    TRAILING_BYTES = Note "trailing-bytes"
        "The file ends with its last segment."
        "Runtimes do not read what follows. It may be a signature, or anything else."
        "Cut the bytes off, or ask the writer of the file what they are."
        Ignores ["7.7.1"]
        untrusted_upload "Bytes that no runtime reads may hide something: a second file may be there.";
    SEGMENTS_OVERLAP = Warning "segments-overlap"
        "No two segments share bytes."
        "No writer does this: shared data is in one segment."
        UNUSUAL
        Ignores ["7.7.3"];
    SEGMENTS_UNSORTED = Warning "segments-unsorted"
        "Segments are listed in the order of the file."
        "Every writer sorts them."
        UNUSUAL
        Ignores ["7.7.3"];
    SEGMENT_PAST_DECLARED = Warning "segment-past-declared"
        "Every segment ends within the size that the header declares for all of them."
        "Runtimes read it all the same."
        UNUSUAL
        Ignores ["7.7.3"];
    SEGMENT_MISALIGNED = Note "segment-misaligned"
        "A segment begins at a multiple of 16."
        "Writers align segments to 16, 128 or 4096 by default; a backend may need that."
        "`pte edit --align 16` writes the file with aligned segments."
        Ignores ["7.7.1", "7.7.3", "7.8"];
    SEGMENT_UNREFERENCED = Warning "segment-unreferenced"
        "Something refers to every segment that has bytes."
        "No writer does this: the purpose of the bytes is unknown, and no runtime reads them."
        "Ask the writer of the file what the segment is for, or leave it out."
        Ignores ["7.7.3"]
        untrusted_upload "Bytes that no runtime reads may hide something.";
    PROGRAM_VERSION = Error "program-version"
        "The program's version is 0."
        "Loading the program is refused."
        "Read the file with the release that wrote it, or export the program again."
        Refuses ["1.3.11", "7.7.12", "8.2 #22114"];
    CONSTANTS_TWICE = Error "constants-twice"
        "Constants are in a segment or in the FlatBuffer, not in both."
        "Loading the program is refused."
        MADE_BY_HAND
        Refuses ["1.3.15"];
    CONSTANT_SEGMENT_INDEX = Error "constant-segment-index"
        "The constant segment is the index of a segment."
        "Loading the program is refused."
        MADE_BY_HAND
        Refuses ["1.3.16", "7.6.5", "7.7.5"];
    CONSTANT_SEGMENT_EMPTY = Note "constant-segment-empty"
        "A constant segment with constants has bytes."
        "Loaders that map files take it for no segment, and refuse the program."
        HARMLESS
        Refuses ["6.1", "7.7.5"];
    CONSTANTS_INLINE = Note "constants-inline"
        "Constants are in a segment, and its list of offsets exists, even if it is empty."
        "Without the list they are in the old place. Runtimes from 1.5 on may be built without it, as PyPI's is, and refuse the program."
        "Export the program again with a current release."
        Refuses ["1.3.13", "3.3"];
    OFFSETS_MISSING = Error "offsets-missing"
        "A list of mutable data has offsets."
        "Loading the data is refused."
        MADE_BY_HAND
        Refuses ["7.6.8", "7.7.6"];
    OFFSETS_UNSORTED = Warning "offsets-unsorted"
        "The offsets of constants are in ascending order and begin with 0."
        "Every writer sorts them, and reserves the first."
        UNUSUAL
        Ignores ["6.1", "7.7.19"];
    CONSTANT_MISALIGNED = Note "constant-misaligned"
        "A constant begins at a multiple of 16 of its segment."
        "Writers align constants to 16 by default; some kernels need it."
        "`pte edit --align 16` writes the file with aligned segments."
        Ignores ["7.7.19", "9.2"];
    CONSTANTS_OVERLAP = Warning "constants-overlap"
        "A constant ends before the next one begins."
        "No writer does this: shared data has one offset."
        UNUSUAL
        Ignores ["7.7.19"];
    MUTABLE_SEGMENT_SHARED = Warning "mutable-segment-shared"
        "No two lists of mutable data are in one segment."
        "Upstream's schema forbids it, and no runtime checks it."
        UNUSUAL
        Ignores ["7.7.20"];
}

pub(super) fn check(pte: &Pte<'_>, out: &mut Findings) {
    let root = pte.program();
    let at = root.raw().pos().into();
    if pte.file_len() < 64 {
        out.find(
            &FILE_SHORT,
            0,
            || vec![PathComponent::Field("header")],
            || format!("the file has {} bytes", pte.file_len()),
        );
    }
    if root.version() > 0 {
        let path = || path!["program", "version"].to_vec();
        out.find(&PROGRAM_VERSION, at, path, || format!("version {}", root.version()));
    }
    segments(pte, out);
    constants(pte, out);
    pieces(pte, out);
    let mut seen: Vec<u32> = Vec::new();
    for (nth, list) in (0..).zip(root.mutable_data_segments().into_iter().flatten()) {
        let path = || path!["program", "mutable_data_segments", nth].to_vec();
        if list.offsets().is_none() {
            out.find(&OFFSETS_MISSING, list.raw().pos().into(), path, || {
                "the list has no offsets".into()
            });
        }
        seen.push(list.segment_index());
    }
    cost::sort(seen.len());
    seen.sort_unstable();
    if let Some([first, _]) = seen.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
        let path = || path!["program", "mutable_data_segments"].to_vec();
        out.find(&MUTABLE_SEGMENT_SHARED, at, path, || format!("segment {first} is named twice"));
    }
}

fn segments(pte: &Pte<'_>, out: &mut Findings) {
    let count = pte.segment_count();
    let range = |nth| pte.segment_range(nth).unwrap_or_default();
    let place = |nth: u32| {
        let segments = pte.program().segments();
        let table = segments.and_then(|segments| segments.raw(nth));
        table.map_or(0, |table| u64::from(table.pos()))
    };
    let path = |nth: u32| path!["program", "segments", nth].to_vec();
    let header = pte.header();
    let declared = header
        .filter(|header| header.length >= ExtendedHeader::CURRENT)
        .map(|header| header.segment_base_offset.saturating_add(header.segment_data_size));
    let mut last = 0;
    for (range, nth) in filled(count, range) {
        if range.start < last {
            out.find(
                &SEGMENTS_UNSORTED,
                place(nth),
                || path(nth),
                || format!("segment {nth} begins at byte {}, before an earlier one", range.start),
            );
        }
        last = last.max(range.start);
        if let Some(declared) = declared.filter(|&declared| range.end > declared) {
            out.find(
                &SEGMENT_PAST_DECLARED,
                place(nth),
                || path(nth),
                || {
                    format!(
                        "segment {nth} ends at byte {}, and the header says {declared}",
                        range.end
                    )
                },
            );
        }
    }
    oddities(count, range, references(pte), |rule, nth, message| {
        out.find(rule, place(nth), || path(nth), message);
    });
    overlaps(count, range, |nth, message| {
        out.find(&SEGMENTS_OVERLAP, place(nth), || path(nth), message);
    });
    let region = u64::from(narrow(pte.region().len()));
    let end = (0..count).map(|nth| range(nth).end).max().unwrap_or(0).max(region);
    // Without a header the end of the FlatBuffer is unknown: the region is the whole file.
    if end < pte.file_len() {
        out.find(
            &TRAILING_BYTES,
            end,
            || vec![PathComponent::Field("header")],
            || format!("the last part ends at byte {end}, and the file has {}", pte.file_len()),
        );
    }
}

/// Returns the segments that something in the program refers to.
pub(super) fn references<'p>(pte: &'p Pte<'_>) -> impl Iterator<Item = u32> + 'p {
    let root = pte.program();
    let lists = root.mutable_data_segments().into_iter().flatten().chain(root.constant_segment());
    let named = root.named_data().into_iter().flatten().map(|entry| entry.segment_index());
    let plans = root.execution_plan().into_iter().flatten();
    let delegates = plans.flat_map(|plan| plan.delegates().into_iter().flatten());
    let payloads = delegates.filter_map(|delegate| delegate.processed());
    let payloads = payloads.filter(|payload| payload.location() == DataLocation::SEGMENT);
    lists
        .map(SubsegmentOffsets::segment_index)
        .chain(named)
        .chain(payloads.map(|payload| payload.index()))
}

/// Returns the range and the index of each non-empty segment, in the order of their indices.
pub(super) fn filled(
    count: u32,
    range: impl Fn(u32) -> Range<u64>,
) -> impl Iterator<Item = (Range<u64>, u32)> {
    (0..count).map(move |nth| (range(nth), nth)).filter(|(range, _)| !range.is_empty())
}

/// The sort key of a segment: its offset, then its index.
///
/// The key has only 12 bytes, because a file may list a segment every 4 bytes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Begin {
    start: [u8; 8],
    pub(super) nth: u32,
}

/// Returns those of the `count` segments that are not empty, sorted by their offset in the file.
pub(super) fn in_order(count: u32, range: impl Fn(u32) -> Range<u64>) -> Vec<Begin> {
    let mut begins = Vec::with_capacity(index(count));
    let begin = |(range, nth): (Range<u64>, u32)| Begin { start: range.start.to_be_bytes(), nth };
    begins.extend(filled(count, range).map(begin));
    cost::sort(begins.len());
    begins.sort_unstable();
    begins
}

/// Calls `found` for each non-empty segment that is misaligned, and for each that is not in
/// `references`.
pub(super) fn oddities(
    count: u32,
    range: impl Fn(u32) -> Range<u64>,
    references: impl Iterator<Item = u32>,
    mut found: impl FnMut(&'static Rule, u32, &dyn Fn() -> String),
) {
    let mut used = vec![false; index(count)];
    cost::charge(used.len());
    for nth in references {
        if let Some(used) = used.get_mut(index(nth)) {
            *used = true;
        }
    }
    for (range, nth) in filled(count, range) {
        if range.start & 15 != 0 {
            found(&SEGMENT_MISALIGNED, nth, &|| {
                format!("segment {nth} begins at byte {}", range.start)
            });
        }
        if used.get(index(nth)) == Some(&false) {
            found(&SEGMENT_UNREFERENCED, nth, &|| format!("nothing refers to segment {nth}"));
        }
    }
}

/// Calls `found` for each segment that begins before an earlier one ends.
pub(super) fn overlaps(
    count: u32,
    range: impl Fn(u32) -> Range<u64>,
    mut found: impl FnMut(u32, &dyn Fn() -> String),
) {
    let mut last: Option<(u64, u32)> = None;
    for Begin { nth, .. } in in_order(count, &range) {
        let range = range(nth);
        match last {
            Some((end, earlier)) if range.start < end => {
                found(nth, &|| format!("segment {nth} shares bytes with segment {earlier}"));
                if range.end > end {
                    last = Some((range.end, nth));
                }
            }
            _ => last = Some((range.end, nth)),
        }
    }
}

fn constants(pte: &Pte<'_>, out: &mut Findings) {
    let root = pte.program();
    let at = root.raw().pos().into();
    let inline = root.constant_buffer().map_or(0, |buffers| buffers.len());
    let segment = root.constant_segment();
    let count = segment.and_then(SubsegmentOffsets::offsets).map_or(0, |offsets| offsets.len());
    let path = |field| move || path!["program", field].to_vec();
    if inline > 0 && count > 1 {
        out.find(&CONSTANTS_TWICE, at, path("constant_buffer"), || {
            format!("{count} constants in a segment, and {inline} in the FlatBuffers part")
        });
    } else if inline > 1 {
        out.find(&CONSTANTS_INLINE, at, path("constant_buffer"), || {
            format!("{inline} constants in the FlatBuffers part")
        });
    } else if count == 0 {
        out.find(&CONSTANTS_INLINE, at, path("constant_segment"), || {
            "no constants, and no segment that says so".into()
        });
    }
    let Some(segment) = segment.filter(|_| count > 1) else { return };
    let at = segment.raw().pos().into();
    let path = path("constant_segment");
    match pte.segment_range(segment.segment_index()) {
        Err(_) => out.find(&CONSTANT_SEGMENT_INDEX, at, path, || {
            let (index, count) = (segment.segment_index(), pte.segment_count());
            format!("segment {index} is asked for, and there are {count}")
        }),
        Ok(_) if !pte.has_base() => out.find(&BASE_MISSING, at, path, || {
            format!("{count} constants in a segment of a file that has no place for segments")
        }),
        Ok(range) if range.is_empty() => out.find(&CONSTANT_SEGMENT_EMPTY, at, path, || {
            format!("{count} constants in an empty segment")
        }),
        Ok(_) => {}
    }
    let mut last = 0;
    for (nth, offset) in (0..).zip(segment.offsets().into_iter().flatten()) {
        let offset_path = || [path(), path!["offsets", nth].to_vec()].concat();
        if nth == 0 && offset != 0 {
            out.find(&OFFSETS_UNSORTED, at, offset_path, || {
                format!("constant 0, which stands for none, is at byte {offset} of the segment")
            });
        } else if offset < last {
            return out.find(&OFFSETS_UNSORTED, at, offset_path, || {
                format!("constant {nth} is at byte {offset}, before the one in front of it")
            });
        }
        last = offset;
    }
}

/// Reports constants that are misaligned, and constants that overlap the next one.
fn pieces(pte: &Pte<'_>, out: &mut Findings) {
    let Some(segment) = pte.program().constant_segment() else { return };
    let Ok(whole) = pte.segment_range(segment.segment_index()) else { return };
    let Some(offsets) = segment.offsets().filter(|offsets| offsets.len() > 1) else { return };
    let mut starts: Vec<u64> = offsets.iter().collect();
    cost::sort(starts.len());
    starts.sort_unstable();
    let apart = || starts.iter().filter(|&start| start & 15 != 0);
    if let Some(first) = apart().next() {
        let path = || path!["program", "constant_segment"].to_vec();
        out.find(&CONSTANT_MISALIGNED, segment.raw().pos().into(), path, || {
            format!(
                "offsets that are no multiples of 16: {}, the least is {first}",
                apart().count()
            )
        });
    }
    for (nth, view) in (0..).zip(pte.program().execution_plan().into_iter().flatten()) {
        let plan = Plan::new(pte, nth, view);
        for (index, value) in plan.values() {
            let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
            let Ok(Storage::Constant(range)) = pte.storage(tensor) else { continue };
            let start = range.start.saturating_sub(whole.start);
            let end = range.end.saturating_sub(whole.start);
            cost::look_up("", starts.len());
            let next = starts.get(starts.partition_point(|&other| other <= start));
            if let Some(next) = next.filter(|&&next| next < end) {
                let path = [PathComponent::Field("data_buffer_idx")];
                plan.find_value(out, &CONSTANTS_OVERLAP, tensor.raw(), index, &path, || {
                    format!("bytes {start} to {end}, and another constant begins at {next}")
                });
            }
        }
    }
}
