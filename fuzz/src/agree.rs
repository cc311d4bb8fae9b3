//! The oracle `agree`: two readers that others wrote say the same of a file.
//!
//! Both are made when this package is built, from the `.fbs` text that the declarations print:
//! [planus](https://docs.rs/planus) reads values, and the verifier of the official crate
//! [flatbuffers](https://docs.rs/flatbuffers) judges. They never see what the library has thought
//! of the bytes.

use core::fmt::Debug;
use core::ops::Range;

use flatbuffers::{InvalidFlatbuffer, Verifiable, Verifier, VerifierOptions};
use planus::ReadAsRoot;
use planus::errors::ErrorKind as Odd;
use pte::file::FileKind;
use pte::model::AnyPtd;
use pte::{Error, ErrorKind, File, Limits};

use crate::read::{read, region};

/// What is accepted is accepted by the official verifier, and planus reads the same values from it.
/// What is refused for its structure is refused by the official verifier. Where the three differ on
/// purpose, the difference has a name in [`is_stricter`] or [`is_laxer`].
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

/// Where the tables lie, by format.md §1 and §2 and by nothing else.
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
            verdict::<program_verifier::Program>(tables)
        }
        File::Ptd(ptd) => match ptd.to_model().unwrap() {
            AnyPtd::Current(model) => {
                let read =
                    || flat_tensor_values::table_FlatTensor(ReadAsRoot::read_as_root(tables)?);
                same(&model.root, read());
                verdict::<flat_tensor_verifier::FlatTensor>(tables)
            }
            AnyPtd::Legacy(model) => {
                let read = || {
                    flat_tensor_legacy_values::table_FlatTensor(ReadAsRoot::read_as_root(tables)?)
                };
                same(&model.root, read());
                verdict::<flat_tensor_legacy_verifier::FlatTensor>(tables)
            }
        },
    };
    if let Err(error) = verdict {
        let lax = is_laxer(&error, file);
        assert!(lax, "only the official verifier refuses: {error:?}");
    }
}

/// The values are the same, unless planus gives up: on what a newer writer may write, and on a table
/// whose vtable lies in front of what refers to the table, where planus does not look. Genuine writers
/// share vtables the other way round. That such a file is accepted, the verifier has a say in.
fn same<T: PartialEq + Debug>(ours: &T, theirs: planus::Result<T>) {
    match theirs {
        // Numbers that are none are equal as texts alone.
        Ok(theirs) if *ours == theirs || format!("{ours:?}") == format!("{theirs:?}") => {}
        Ok(theirs) => panic!("planus reads {theirs:#?}\nand we read {ours:#?}"),
        Err(error) => match error.error_kind {
            Odd::UnknownEnumTag { .. } | Odd::UnknownUnionTag { .. } | Odd::InvalidOffset => {}
            // A vtable that ends between a union's tag, which is 0 then, and its value.
            Odd::InvalidVtableLength { length } if length >= 6 && length % 2 == 0 => {}
            _ => panic!("planus refuses what we accept: {error}"),
        },
    }
}

fn refused(kind: FileKind, error: &Error, tables: &[u8]) {
    let accepted = match kind {
        FileKind::Pte => verdict::<program_verifier::Program>(tables).is_ok(),
        // Which of the two layouts it has is a question that FlatBuffers does not know.
        FileKind::Ptd => {
            verdict::<flat_tensor_verifier::FlatTensor>(tables).is_ok()
                && verdict::<flat_tensor_legacy_verifier::FlatTensor>(tables).is_ok()
        }
    };
    if accepted {
        assert!(is_stricter(error, tables.len()), "only we refuse: {error}, at {}", error.place());
    }
}

fn verdict<T: Verifiable>(tables: &[u8]) -> Result<(), InvalidFlatbuffer> {
    let options = VerifierOptions {
        // More than the budget lets through.
        max_tables: usize::MAX,
        max_apparent_size: usize::MAX,
        ..VerifierOptions::default()
    };
    let mut verifier = Verifier::new(&options, tables);
    flatbuffers::ForwardsUOffset::<T>::run_verifier(&mut verifier, 0)
}

/// What we refuse and FlatBuffers does not: each has an entry in `docs/DESIGN.md` under "Strictness
/// needs evidence", or is a rule of ExecuTorch's own.
fn is_stricter(error: &Error, len: usize) -> bool {
    match error.kind() {
        // A vtable, and so an object, has two words at least.
        ErrorKind::VtableLength { len } => len < 4,
        ErrorKind::VtableOutOfBounds { vtable } => {
            let len = i64::try_from(len).unwrap_or(i64::MAX);
            vtable + 2 <= len && vtable + 4 > len
        }
        ErrorKind::ObjectSize { size } => size < 4,
        // A field lies behind the word that leads to the vtable, the root behind the identifier.
        ErrorKind::FieldOffset { offset } => offset < 4,
        ErrorKind::RootOffset { root, .. } => root < 8,
        // The official verifier lets a table or a vector be its own offset.
        ErrorKind::OffsetNull {} => true,
        // A value with the tag NONE.
        ErrorKind::UnionHalf { tag } => tag == 0,
        ErrorKind::WorkLimit { .. } => true,
        // What the bytes mean is ExecuTorch's business.
        ErrorKind::UnknownIdentifier { .. }
        | ErrorKind::FlatTensorLayout {}
        | ErrorKind::FlatTensorPolyglot {}
        | ErrorKind::FlatTensorVersion { .. }
        | ErrorKind::SegmentOutOfBounds { .. }
        | ErrorKind::SegmentWithoutBase { .. }
        | ErrorKind::SegmentBase { .. } => true,
        _ => false,
    }
}

/// What we accept and the official verifier of the Rust crate does not.
fn is_laxer(error: &InvalidFlatbuffer, file: &File<'_>) -> bool {
    match error {
        // flatc itself writes vectors without elements that are not aligned as if they had some.
        InvalidFlatbuffer::Unaligned { .. } => {
            let report = file.check();
            report.counts().any(|(rule, _)| rule.id == "empty-vector-misaligned")
        }
        // A tag that is there, says NONE, and has no value: C++ accepts it too.
        InvalidFlatbuffer::InconsistentUnion { .. } => true,
        _ => false,
    }
}

/// An item of a vector, which some vectors give by reference.
trait Own {
    type Owned;

    fn own(self) -> Self::Owned;
}

impl<T: Copy> Own for &T {
    type Owned = T;

    fn own(self) -> T {
        *self
    }
}

macro_rules! own {
    ($($T:ty),*) => {
        $(impl Own for $T {
            type Owned = Self;

            fn own(self) -> Self {
                self
            }
        })*
    };
}

own!(bool, i8, u8, i32, u32, i64, u64, f64);

fn own<T: Own>(item: T) -> T::Owned {
    item.own()
}

macro_rules! made {
    ($($module:ident $reason:literal $file:literal;)*) => {
        $(
            #[allow(warnings, unsafe_code, clippy::all, clippy::allow_attributes_without_reason, reason = $reason)]
            mod $module {
                include!(concat!(env!("OUT_DIR"), "/", $file));
            }
        )*
    };
}

made! {
    program_planus "planus made it" "program_planus.rs";
    program_values "build.rs made it" "program_values.rs";
    program_verifier "build.rs made it" "program_verifier.rs";
    flat_tensor_planus "planus made it" "flat_tensor_planus.rs";
    flat_tensor_values "build.rs made it" "flat_tensor_values.rs";
    flat_tensor_verifier "build.rs made it" "flat_tensor_verifier.rs";
    flat_tensor_legacy_planus "planus made it" "flat_tensor_legacy_planus.rs";
    flat_tensor_legacy_values "build.rs made it" "flat_tensor_legacy_values.rs";
    flat_tensor_legacy_verifier "build.rs made it" "flat_tensor_legacy_verifier.rs";
}
