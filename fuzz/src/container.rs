//! The oracle `container`: the file around the FlatBuffers part.

use core::ops::Range;

use pte::Storage;
use pte::ptd::Generation;
use pte::schema::program::view::KernelTypes;
use pte::{Error, File, Handle, Limits, OpenError, Ptd, Pte, Result};

use crate::read::{assert_reason, assert_refusal, read, region, wide};

/// Reading never panics, and a slice and a source read by ranges get the same verdict. In a file
/// that is accepted the headers encode to the bytes that they were read from, and any range
/// it gives lies in the file, segments behind the FlatBuffers part.
pub fn container(bytes: &[u8]) {
    let limits = Limits::UNTRUSTED;
    let whole = read(bytes, &limits);
    let opened = match Handle::open(bytes, &limits) {
        Ok(opened) => opened,
        Err(OpenError::Refused(error)) => return assert_refused(whole, &error, bytes),
        Err(error) => panic!("while opening: {error}"),
    };
    let file = opened.file();
    let whole = whole.unwrap_or_else(|error| {
        panic!("only the slice is refused: {error}, at {}", error.place());
    });

    assert_header(&whole, bytes);
    assert_eq!(region(&file), region(&whole), "the FlatBuffers part");
    let given = ranges(&whole);
    assert_eq!(ranges(&file), given, "the ranges of the slice and of the source");
    assert_segments(&whole);

    let mut proven: Vec<Range<u64>> = Vec::new();
    for range in given {
        match range {
            Ok(range) => proven.push(range),
            Err(error) => assert_reason(&error, bytes.len()),
        }
    }
    // Many tensors may share a range: each is read once.
    proven.sort_unstable_by_key(|range| (range.start, range.end));
    proven.dedup();
    for range in proven {
        assert_range(&range, &whole, &opened, bytes);
    }
}

fn assert_refused(whole: Result<File<'_>>, error: &Error, bytes: &[u8]) {
    assert_refusal(error, bytes.len());
    match whole {
        Err(other) => assert_eq!(&other, error, "the refusals of the slice and of the source"),
        Ok(_) => panic!("only the source is refused: {error}, at {}", error.place()),
    }
}

/// The kind is the one that the first bytes tell, and the header stands where it was read.
fn assert_header(file: &File<'_>, bytes: &[u8]) {
    let reported = pte::file::sniff(&bytes[..bytes.len().min(64)]);
    let (kind, at, header) = match file {
        File::Pte(pte) => {
            let header = pte.header();
            assert_eq!(header.is_some(), bytes[8..].starts_with(b"eh00"), "the header's magic");
            let written = header.map(|header| header.to_bytes()).unwrap_or_default();
            let known = header.map_or(0, |header| if header.length < 32 { 24 } else { 32 });
            assert_eq!(written.len(), known, "every field of the header");
            (pte::file::FileKind::Pte, 8, written)
        }
        File::Ptd(ptd) => {
            let at = if ptd.generation() == Generation::Zero { 0 } else { 8 };
            let header = ptd.header().to_bytes();
            assert_eq!(header.len(), 40, "every field of the header");
            (pte::file::FileKind::Ptd, at, header)
        }
    };
    assert_eq!(reported, Ok(kind), "the kind");
    assert!(bytes[at..].starts_with(&header), "the header is written as {header:02x?}");
}

/// Every segment is there, and none with contents begins inside the FlatBuffers part; but there is
/// none after the last.
fn assert_segments(file: &File<'_>) {
    let (start, mut segments) = match file {
        File::Pte(pte) => (0, pte_segments(pte)),
        File::Ptd(ptd) => (ptd.region_start(), ptd_segments(ptd)),
    };
    let after = segments.pop().and_then(Result::err).map(|error| error.code());
    assert_eq!(after, Some("segment-index"), "the segment after the last");
    let end = start + wide(region(file).len());
    for segment in segments {
        match segment {
            Ok(segment) => {
                let behind = segment.is_empty() || segment.start >= end;
                assert!(behind, "a segment at {segment:?}, before {end}");
            }
            Err(error) => panic!("an accepted segment: {error}, at {}", error.place()),
        }
    }
}

/// A range lies in the file, and its bytes are the same by every way there.
fn assert_range(range: &Range<u64>, whole: &File<'_>, opened: &Handle<&[u8]>, bytes: &[u8]) {
    assert!(range.start <= range.end, "{range:?} is reversed");
    assert!(range.end <= wide(bytes.len()), "{range:?} ends past {} bytes", bytes.len());
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let there = &bytes[index(range.start)..index(range.end)];
    let given = match whole {
        File::Pte(pte) => pte.bytes(range.clone()),
        File::Ptd(ptd) => ptd.bytes(range.clone()),
    };
    assert_eq!(given, Some(there), "the bytes of {range:?} from the slice");
    let read = opened.read(range.clone());
    assert_eq!(read.as_deref(), Ok(there), "the bytes of {range:?} from the source");
}

/// Every range that a file gives, or why it gives none.
fn ranges(file: &File<'_>) -> Vec<Result<Range<u64>>> {
    match file {
        File::Pte(pte) => {
            let mut ranges = pte_segments(pte);
            ranges.extend(pte.named_data().map(|(_, range)| range));
            for plan in pte.program().execution_plan().into_iter().flatten() {
                for value in plan.values().into_iter().flatten() {
                    let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
                    ranges.extend(stored(pte.storage(tensor)).transpose());
                }
                for delegate in plan.delegates().into_iter().flatten() {
                    ranges.extend(pte.delegate_range(delegate).transpose());
                }
            }
            ranges
        }
        File::Ptd(ptd) => {
            let mut ranges = ptd_segments(ptd);
            ranges.extend(ptd.entries().map(|entry| entry.range()));
            ranges
        }
    }
}

fn stored(storage: Result<Storage<'_>>) -> Result<Option<Range<u64>>> {
    Ok(match storage? {
        Storage::Constant(range) => Some(range),
        Storage::Planned { initial, .. } => initial,
        _ => None,
    })
}

/// Every segment of a program, and what is said of the one after the last.
fn pte_segments(pte: &Pte<'_>) -> Vec<Result<Range<u64>>> {
    let count = pte.program().segments().map_or(0, |segments| segments.len());
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    (0..=count).map(|nth| pte.segment_range(nth)).collect()
}

/// Every segment of a data file, and what is said of the one after the last.
fn ptd_segments(ptd: &Ptd<'_>) -> Vec<Result<Range<u64>>> {
    (0..=ptd.segment_count()).map(|nth| ptd.segment_range(nth)).collect()
}
