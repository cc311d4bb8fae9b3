//! The oracle `agree`: compares the library with two independent readers.
//!
//! Both are made when this package is built, from the `.fbs` text that the declarations print:
//! [planus](https://docs.rs/planus) reads values, and the verifier of the official crate
//! [flatbuffers](https://docs.rs/flatbuffers) judges. They never see what the library has thought
//! of the bytes.

use core::ops::Range;

use flatbuffers::InvalidFlatbuffer;
use planus::ReadAsRoot;
use pte::Check;
use pte::file::FileKind;
use pte::model::AnyPtd;
use pte::{Error, File, Limits};

use crate::read::{read, region};
use readers::{
    flat_tensor_legacy_values, flat_tensor_legacy_verifier, flat_tensor_values,
    flat_tensor_verifier, is_laxer, is_stricter, program_values, program_verifier, same, verdict,
};

pub(crate) mod readers;

/// Compares three readers. The official verifier accepts each accepted file, and planus reads the same values
/// from it; the official verifier refuses each file whose structure is refused. Intended differences are named in
/// `is_stricter` and `is_laxer`.
pub fn agree(bytes: &[u8]) {
    let limits = Limits::UNTRUSTED;
    let whole = read(bytes, &limits);
    let Ok(kind) = pte::file::sniff(&bytes[..bytes.len().min(64)]) else { return };
    // Headers are no FlatBuffers.
    let is_structural = |error: &Error| {
        let path = error.place().path().to_string();
        path.starts_with("program") || path.starts_with("flat_tensor")
    };
    if whole.as_ref().is_err_and(|error| !is_structural(error)) {
        return;
    }
    let range = tables(bytes, kind);
    let tables = &bytes[range.clone()];
    match whole {
        Ok(file) => {
            let begin = usize::try_from(file.region_range().start).unwrap_or(usize::MAX);
            assert_eq!((begin, region(&file)), (range.start, tables), "the FlatBuffers part");
            accepted(&file, tables);
        }
        Err(error) => refused(kind, &error, tables),
    }
}

/// Returns the range of the tables by format.md §1 and §2, without the library's help.
fn tables(bytes: &[u8], kind: FileKind) -> Range<usize> {
    let word = |at: usize| {
        let word = bytes[at..].first_chunk().copied().map(u64::from_le_bytes);
        word.and_then(|word| usize::try_from(word).ok()).unwrap_or(usize::MAX)
    };
    match kind {
        FileKind::Pte if bytes[8..].starts_with(b"eh00") => 0..word(16),
        FileKind::Pte => 0..bytes.len(),
        FileKind::Ptd if bytes.starts_with(b"FH01") => word(8)..word(8) + word(16),
        FileKind::Ptd => 0..word(16) + word(24),
    }
}

fn accepted(file: &File<'_>, tables: &[u8]) {
    let verdict = match file {
        File::Pte(pte) => {
            let read = || program_values::table_Program(ReadAsRoot::read_as_root(tables)?);
            same(&pte.to_model().unwrap().root, read());
            verdict::<program_verifier::Program>(tables, 0)
        }
        File::Ptd(ptd) => match ptd.to_model().unwrap() {
            AnyPtd::Current(model) => {
                let read =
                    || flat_tensor_values::table_FlatTensor(ReadAsRoot::read_as_root(tables)?);
                same(&model.root, read());
                verdict::<flat_tensor_verifier::FlatTensor>(tables, 0)
            }
            AnyPtd::Legacy(model) => {
                let read = || {
                    flat_tensor_legacy_values::table_FlatTensor(ReadAsRoot::read_as_root(tables)?)
                };
                same(&model.root, read());
                verdict::<flat_tensor_legacy_verifier::FlatTensor>(tables, 0)
            }
        },
    };
    if let Err(error) = verdict {
        assert!(is_laxer(&error, tables), "only the official verifier refuses: {error:?}");
        let is_reported =
            || file.check().counts().any(|(rule, _)| rule.id == "empty-vector-misaligned");
        let is_misaligned = matches!(error, InvalidFlatbuffer::Unaligned { .. });
        assert!(!is_misaligned || is_reported(), "an empty vector that no finding names");
    }
}

fn refused(kind: FileKind, error: &Error, tables: &[u8]) {
    let accepted = match kind {
        FileKind::Pte => verdict::<program_verifier::Program>(tables, 0).is_ok(),
        // Which of the two layouts it has is a question that FlatBuffers does not know.
        FileKind::Ptd => {
            verdict::<flat_tensor_verifier::FlatTensor>(tables, 0).is_ok()
                && verdict::<flat_tensor_legacy_verifier::FlatTensor>(tables, 0).is_ok()
        }
    };
    if accepted {
        assert!(is_stricter(error, tables.len()), "only we refuse: {error}, at {}", error.place());
    }
}
