//! Calls every accessor of a file.

use std::fmt;

use pte::Check;
use pte::flat::json;
use pte::ptd::Root;
use pte::schema::program::view::KernelTypes;
use pte::{Error, ErrorKind, File, Handle, Limits, Ptd, Pte};

use crate::mapped::ask_map;

/// Reads `bytes` as every kind of file in every way, and calls every accessor of accepted files. Checks for
/// panics, and the assertions below.
pub fn exercise(bytes: &[u8]) -> Result<(), Error> {
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
