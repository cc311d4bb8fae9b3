//! The two independent readers, which are generated when this package is built, and the intended differences
//! from the library.

use core::fmt::Debug;

use flatbuffers::{InvalidFlatbuffer, Verifiable, Verifier, VerifierOptions};
use planus::errors::ErrorKind as Odd;
use pte::flat::ErrorKind as Structure;
use pte::{Error, ErrorKind};

/// The values are the same, unless planus gives up: on what a newer writer may write, and on a table
/// whose vtable lies in front of what refers to the table, where planus does not look. Genuine writers
/// share vtables the other way round. That such a file is accepted, the verifier has a say in.
pub(crate) fn same<T: PartialEq + Debug>(ours: &T, theirs: planus::Result<T>) {
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

/// Returns the verdict of the official verifier on tables whose root offset is at `root`.
pub(crate) fn verdict<T: Verifiable>(tables: &[u8], root: usize) -> Result<(), InvalidFlatbuffer> {
    let options = VerifierOptions {
        // More than the budget lets through.
        max_tables: usize::MAX,
        max_apparent_size: usize::MAX,
        ..VerifierOptions::default()
    };
    let mut verifier = Verifier::new(&options, tables);
    flatbuffers::ForwardsUOffset::<T>::run_verifier(&mut verifier, root)
}

/// Returns whether this library refuses something that FlatBuffers accepts. Each case has an entry in
/// `docs/DESIGN.md` under "Strictness needs evidence", or is a rule of ExecuTorch's own.
pub(crate) fn is_stricter(error: &Error, len: usize) -> bool {
    match error.kind() {
        // A vtable, and so an object, has two words at least.
        ErrorKind::Flat(Structure::VtableLength { len }) => len < 4,
        ErrorKind::Flat(Structure::VtableOutOfBounds { vtable }) => {
            let len = i64::try_from(len).unwrap_or(i64::MAX);
            vtable + 2 <= len && vtable + 4 > len
        }
        ErrorKind::Flat(Structure::ObjectSize { size }) => size < 4,
        // A field lies behind the word that leads to the vtable, the root behind the identifier.
        ErrorKind::Flat(Structure::FieldOffset { offset }) => offset < 4,
        ErrorKind::Flat(Structure::RootOffset { root, .. }) => root < 8,
        // The official verifier lets a table or a vector be its own offset.
        ErrorKind::Flat(Structure::OffsetNull {}) => true,
        // A value with the tag NONE.
        ErrorKind::Flat(Structure::UnionHalf { tag }) => tag == 0,
        ErrorKind::Flat(Structure::WorkLimit { .. }) => true,
        // FlatBuffers does not know what ExecuTorch requires of the values.
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

/// Returns whether this library accepts something that the official verifier of the Rust crate refuses.
pub(crate) fn is_laxer(error: &InvalidFlatbuffer, tables: &[u8]) -> bool {
    match error {
        // flatc itself writes vectors without elements that are not aligned as if they had some.
        InvalidFlatbuffer::Unaligned { position, .. } => {
            position.checked_sub(4).and_then(|at| tables.get(at..*position)) == Some(&[0; 4])
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

own!(bool, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

fn own<T: Own>(item: T) -> T::Owned {
    item.own()
}

macro_rules! made {
    ($($module:ident $reason:literal $file:literal;)*) => {
        $(
            #[allow(warnings, unsafe_code, clippy::all, clippy::allow_attributes_without_reason, reason = $reason)]
            pub(crate) mod $module {
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
    xnnpack_planus "planus made it" "xnnpack_planus.rs";
    xnnpack_values "build.rs made it" "xnnpack_values.rs";
    xnnpack_verifier "build.rs made it" "xnnpack_verifier.rs";
    vulkan_planus "planus made it" "vulkan_planus.rs";
    vulkan_values "build.rs made it" "vulkan_values.rs";
    vulkan_verifier "build.rs made it" "vulkan_verifier.rs";
    bundled_program_planus "planus made it" "bundled_program_planus.rs";
    bundled_program_values "build.rs made it" "bundled_program_values.rs";
    bundled_program_verifier "build.rs made it" "bundled_program_verifier.rs";
    etdump_planus "planus made it" "etdump_planus.rs";
    etdump_values "build.rs made it" "etdump_values.rs";
    etdump_verifier "build.rs made it" "etdump_verifier.rs";
    tosa_planus "planus made it" "tosa_planus.rs";
    tosa_values "build.rs made it" "tosa_values.rs";
    tosa_verifier "build.rs made it" "tosa_verifier.rs";
    native_verifier "build.rs made it" "native_verifier.rs";
    mlx_verifier "build.rs made it" "mlx_verifier.rs";
}
