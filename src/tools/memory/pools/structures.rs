//! The runtime's structures in the method allocator and the temporary allocator: their sizes in each release.
//!
//! Printed by `python tests/tools/pools.py --runtime CHECKOUT --sizes`, for x86-64 and for 32-bit Arm. Pointers of 32
//! bits are those of machines that align 64-bit numbers to 8 bytes: Arm, RISC-V, Xtensa.

use pte_core::release::Release;

use super::PointerWidth;

/// A structure of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// A byte: a dimension of a dim order, or whether an input is set.
    Byte,
    /// A size or a stride.
    Size,
    Int64,
    Pointer,
    EValue,
    TensorImpl,
    /// An element of an OptionalTensorList: a pointer to a `TensorImpl`, and whether there is one.
    OptionalTensor,
    /// A `BoxedEvalueList`. In releases before 1.1, an `EValue` contains it.
    BoxedList,
    /// An `ArrayRef`. In releases before 1.1, an `EValue` contains it.
    ArrayRef,
    /// The key and the buffer of a constant in a `.ptd`.
    NamedData,
    MergedDataMap,
    BackendDelegate,
    CompileSpec,
    Chain,
    /// A list of the arguments of an instruction.
    InstructionArgs,
    /// The dtype and dim order of an argument, by which a kernel is found.
    TensorMeta,
    /// The temporary allocator of a caller that gives none.
    PlatformMemoryAllocator,
}

/// The size and alignment of a structure in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) size: u64,
    pub(super) align: u64,
}

/// The layouts of a structure, from a release on.
struct Row {
    structure: Structure,
    since: Release,
    bits_32: Layout,
    bits_64: Layout,
}

const fn row(
    since: Release,
    structure: Structure,
    bits_32: (u64, u64),
    bits_64: (u64, u64),
) -> Row {
    Row {
        structure,
        since,
        bits_32: Layout { size: bits_32.0, align: bits_32.1 },
        bits_64: Layout { size: bits_64.0, align: bits_64.1 },
    }
}

/// The first release whose pools are known.
pub(super) const FIRST: Release = (0, 7);

/// The layouts of all structures, for each the oldest first. The header of each is a file of upstream's `runtime/`.
#[rustfmt::skip]
static STRUCTURES: &[Row] = &[
    // core/portable_type/tensor_impl.h
    row(FIRST,  Structure::Byte,                    (1, 1),  (1, 1)),
    row(FIRST,  Structure::Size,                    (4, 4),  (4, 4)),
    row(FIRST,  Structure::TensorImpl,              (32, 4), (64, 8)),
    // core/evalue.h
    row(FIRST,  Structure::Int64,                   (8, 8),  (8, 8)),
    row(FIRST,  Structure::Pointer,                 (4, 4),  (8, 8)),
    row(FIRST,  Structure::EValue,                  (24, 8), (32, 8)),
    row((1, 1), Structure::EValue,                  (16, 8), (16, 8)),
    row(FIRST,  Structure::OptionalTensor,          (8, 4),  (16, 8)),
    row(FIRST,  Structure::BoxedList,               (0, 1),  (0, 1)),
    row((1, 1), Structure::BoxedList,               (12, 4), (24, 8)),
    row(FIRST,  Structure::ArrayRef,                (0, 1),  (0, 1)),
    row((1, 1), Structure::ArrayRef,                (8, 4),  (16, 8)),
    // executor/tensor_parser.h, core/freeable_buffer.h
    row(FIRST,  Structure::NamedData,               (20, 4), (40, 8)),
    row((1, 1), Structure::NamedData,               (40, 8), (48, 8)),
    // executor/merged_data_map.h
    row(FIRST,  Structure::MergedDataMap,           (0, 1),  (0, 1)),
    row((1, 0), Structure::MergedDataMap,           (12, 4), (24, 8)),
    // executor/method.cpp
    row(FIRST,  Structure::BackendDelegate,         (24, 4), (48, 8)),
    row((1, 1), Structure::BackendDelegate,         (40, 8), (56, 8)),
    row(FIRST,  Structure::Chain,                   (16, 4), (32, 8)),
    row(FIRST,  Structure::InstructionArgs,         (8, 4),  (16, 8)),
    // backend/interface.h
    row(FIRST,  Structure::CompileSpec,             (12, 4), (24, 8)),
    // kernel/operator_registry.h
    row(FIRST,  Structure::TensorMeta,              (12, 4), (24, 8)),
    // executor/platform_memory_allocator.h
    row(FIRST,  Structure::PlatformMemoryAllocator, (28, 4), (48, 8)),
];

impl Structure {
    /// Returns the layout in a release. It has no bytes if the release does not allocate the structure.
    pub(super) fn layout(self, release: Release, width: PointerWidth) -> Layout {
        let is_it = |row: &&Row| row.structure == self && row.since <= release;
        match (STRUCTURES.iter().rfind(is_it), width) {
            (Some(row), PointerWidth::Bits32) => row.bits_32,
            (Some(row), PointerWidth::Bits64) => row.bits_64,
            (None, _) => Layout { size: 0, align: 1 },
        }
    }
}
