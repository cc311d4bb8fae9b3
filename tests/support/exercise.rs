//! Calls every accessor of a file.

use std::fmt;

use pte::flat::json;
use pte::map::{ByteInfo, Map, Name, Nesting, Part, Span, Within};
use pte::ptd::Root;
use pte::schema::program::view::KernelTypes;
use pte::{Error, ErrorKind, File, Handle, Limits, Ptd, Pte};

/// Reads `bytes` as every kind of file in every way, and calls every accessor of accepted files. Checks for
/// panics, and the assertions below.
pub(crate) fn exercise(bytes: &[u8]) -> Result<(), Error> {
    let slice = read_slice(bytes);
    let ranges = read_ranges(bytes);
    assert_eq!(slice.as_ref().err(), ranges.as_ref().err(), "a slice and ranges agree");
    if let Err(error) = &slice {
        assert!(error.offset() <= bytes.len() as u64, "{error} at {}", error.place());
        assert!(ErrorKind::CODES.iter().any(|code| code.id == error.code()));
        assert!(!error.to_string().is_empty() && !error.kind().help().is_empty());
    }
    slice
}

fn read_slice(bytes: &[u8]) -> Result<(), Error> {
    match pte::file::sniff(bytes)? {
        pte::file::FileKind::Pte => ask_pte(&Pte::read(bytes)?, Some(bytes)),
        pte::file::FileKind::Ptd => ask_ptd(&Ptd::read(bytes)?, Some(bytes)),
    }
    Ok(())
}

fn read_ranges(bytes: &[u8]) -> Result<(), Error> {
    let opened = Handle::open(bytes, &Limits::UNTRUSTED).map_err(|error| match error {
        pte::OpenError::Refused(error) => error,
        other => panic!("a slice is read within its length: {other}"),
    })?;
    match opened.file() {
        File::Pte(pte) => ask_pte(&pte, None),
        File::Ptd(ptd) => ask_ptd(&ptd, None),
    }
    Ok(())
}

fn ask_pte(pte: &Pte<'_>, whole: Option<&[u8]>) {
    ask_map(&File::Pte(pte.clone()));
    let len = pte.file_len();
    let inside = |range: std::ops::Range<u64>| {
        assert!(range.start <= range.end && range.end <= len, "{range:?} of {len}");
        if let Some(whole) = whole {
            let expected = &whole[range.start as usize..range.end as usize];
            assert_eq!(pte.bytes(range), Some(expected));
        }
    };
    sink(|out| json::write(pte.program(), options(), out).map(drop));
    sink(|out| write_debug(out, &pte.program()));
    let _ = pte.check();
    (0..pte.segment_count()).for_each(|nth| inside(pte.segment_range(nth).expect("proven")));
    pte.named_data().filter_map(|(_, range)| range.ok()).for_each(inside);
    for plan in pte.program().execution_plan().into_iter().flatten() {
        for delegate in plan.delegates().into_iter().flatten() {
            pte.delegate_range(delegate).ok().flatten().into_iter().for_each(inside);
        }
        for value in plan.values().into_iter().flatten() {
            if let Some(KernelTypes::Tensor(tensor)) = value.val() {
                match pte.storage(tensor) {
                    Ok(pte::Storage::Constant(range)) => inside(range),
                    Ok(pte::Storage::Planned { initial: Some(range), .. }) => inside(range),
                    _ => {}
                }
            }
        }
    }
}

fn ask_ptd(ptd: &Ptd<'_>, whole: Option<&[u8]>) {
    ask_map(&File::Ptd(ptd.clone()));
    let len = ptd.file_len();
    sink(|out| match ptd.root() {
        Root::Current(root) => json::write(root, options(), out).map(drop),
        Root::Legacy(root) => json::write(root, options(), out).map(drop),
    });
    sink(|out| write_debug(out, &ptd.root()));
    let _ = ptd.check();
    for nth in 0..ptd.segment_count() {
        ptd.segment_range(nth).expect("proven");
    }
    for range in ptd.entries().filter_map(|entry| entry.range().ok()) {
        assert!(range.start <= range.end && range.end <= len, "{range:?} of {len}");
        if let Some(whole) = whole {
            let expected = &whole[range.start as usize..range.end as usize];
            assert_eq!(ptd.bytes(range), Some(expected));
        }
    }
}

/// Every byte belongs to one part: the pieces cover the file without gaps, and parts sum to their parent.
pub(crate) fn ask_map(file: &File<'_>) {
    ask_pieces(&Map::of(file), file.file_len());
    let map = Map::in_detail(file);
    ask_pieces(&map, file.file_len());
    // A byte and a depth that vary between files.
    let at = u64::from(
        map.pieces()
            .iter()
            .fold(7, |sum: u32, piece| sum.wrapping_mul(31).wrapping_add(piece.range.end as u32)),
    );
    let nestings = [(1, 4), (9, 4), (9, usize::MAX)];
    let (depth, most) = nestings[(at % 3) as usize];
    let spans = map.nested(Nesting { depth, most });
    ask_spans(&spans, 0..file.file_len());
    ask_byte(file, &map, at.checked_rem(file.file_len()).unwrap_or_default());
    assert!(ByteInfo::of(file, file.file_len()).is_none());
}

/// Nested ranges cover their parent, and the kinds of a range sum to it.
fn ask_spans(spans: &[Span<'_, '_>], of: std::ops::Range<u64>) {
    let mut end = of.start;
    for span in spans {
        assert_eq!(span.range.start, end, "no gap, no overlap");
        assert!(span.range.start < span.range.end, "{span:?}");
        end = span.range.end;
        match &span.within {
            Within::Spans(spans) => ask_spans(spans, span.range.clone()),
            Within::Kinds(kinds) => {
                let sum: u64 = kinds.iter().map(|kind| kind.bytes).sum();
                assert_eq!(sum, span.range.end - span.range.start, "{span:?}");
                assert!(kinds.iter().all(|kind| kind.count > 0), "{kinds:?}");
            }
            _ => {}
        }
    }
    assert_eq!(end, of.end);
}

/// `--at` and the list of ranges agree.
pub(crate) fn ask_byte(file: &File<'_>, map: &Map<'_>, at: u64) {
    let info = ByteInfo::of(file, at).expect("a byte of the file");
    let piece = map.at(at).expect("a piece");
    assert!(info.range().contains(&at) && info.piece().contains(&at), "{info}");
    let part = map.part(piece.part);
    match part.name() {
        Name::Object(path, _) => {
            let components: Vec<_> = path.components().collect();
            let found: Vec<_> = info.path().take(components.len()).collect();
            assert_eq!(found, components, "{info}");
            assert_eq!(info.piece(), piece.range, "{info}");
            assert_eq!(info.part().name(), part.name(), "{info}");
        }
        // A map without details may have similar neighbours.
        name => assert!(
            info.part().name() == name && info.piece().start <= piece.range.start,
            "{info} {name}"
        ),
    }
    assert!(!info.role().id().is_empty() && !info.role().to_string().is_empty());
}

fn ask_pieces(map: &Map<'_>, len: u64) {
    let mut end = 0;
    for piece in map.pieces() {
        assert_eq!(piece.range.start, end, "no gap, no overlap");
        assert!(piece.range.start < piece.range.end, "{piece:?}");
        let part = map.part(piece.part);
        assert_eq!(part.parts().count(), 0, "{part:?} has bytes besides those of its parts");
        assert!(part.parent().is_some(), "{piece:?} belongs to something");
        assert_eq!(map.at(piece.range.start), Some(piece));
        assert_eq!(map.at(piece.range.end - 1), Some(piece));
        end = piece.range.end;
    }
    assert_eq!((end, map.at(end)), (len, None));
    assert_eq!(map.root().bytes(), len);
    sum(map.root());
}

fn sum(part: Part<'_, '_>) {
    assert!(!part.name().to_string().is_empty() || part.bytes() > 0);
    if part.parts().next().is_some() {
        assert_eq!(part.parts().map(Part::bytes).sum::<u64>(), part.bytes(), "{part:?}");
        part.parts().for_each(sum);
    }
}

fn options() -> json::Options<impl FnMut(&[u8]) -> Option<String>> {
    json::Options { pretty: false, blob: |_: &[u8]| None }
}

fn write_debug(out: &mut dyn fmt::Write, value: &dyn fmt::Debug) -> fmt::Result {
    write!(out, "{value:?}")
}

/// A writer that discards text.
fn sink(write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) {
    struct Nowhere;
    impl fmt::Write for Nowhere {
        fn write_str(&mut self, _: &str) -> fmt::Result {
            Ok(())
        }
    }
    write(&mut Nowhere).expect("nowhere takes everything");
}
