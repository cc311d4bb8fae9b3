//! What a firmware needs of a program: where its bytes may lie, and the memory, operators and backends of its methods.
//! [`Board`] has what a firmware has, and [`Requirements::fit`] compares both.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pte::firmware::Requirements;
//!
//! # let bytes: &[u8] = include_bytes!("../../tests/data/pte/linear.pte");
//! let limits = pte::Limits::UNTRUSTED;
//! let handle = pte::Handle::open(bytes, &limits)?;
//! let needs = Requirements::read("linear.pte", &handle, &limits)?;
//! println!("{} bytes, aligned to {}", needs.bytes, needs.alignment.bytes);
//! for method in &needs.methods {
//!     println!("{}: {:?}", method.identifier, method.arenas);
//! }
//! # Ok(())
//! # }
//! ```

use alloc::string::String;
use alloc::vec::Vec;

use pte_core::model::PtdViews;
use pte_core::operators::usage::UsageReport;
use pte_core::payload::Scratch;
use pte_core::release::NEWEST;
use pte_core::{File, Handle, Limits, OpenError, Pte, Source};
use pte_flat::quoted::UntrustedString;

use crate::memory::{Memory, Outside, PointerWidth, Pools, Target, named_data_bytes};
use crate::summary::{MethodSummary, ProgramSummary, ValueSummary};

mod board;
#[cfg(feature = "serde")]
mod document;
mod identifiers;

pub use board::{
    Advice, Board, Fit, Loads, MissingDtypes, MissingOperator, Region, RegionFit, Use, UseKind,
};
#[cfg(feature = "serde")]
pub use document::{FirmwareDocument, FitDocument};
pub use identifiers::{Identifiers, identifier};

/// What a firmware needs of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Requirements {
    /// The length of the program in bytes.
    pub bytes: u64,
    /// The alignment of its first byte in memory.
    pub alignment: Alignment,
    /// The first 1,024 methods.
    pub methods: Vec<MethodRequirements>,
    /// The number of methods.
    pub method_count: u64,
    /// The bytes of constants that lie in a `.ptd`. Each method counts its own.
    pub external: u64,
    /// The bytes of constants, payloads and named data in the program, which can be moved to a `.ptd`.
    pub movable: u64,
    /// The operators and backends.
    pub usage: UsageReport,
}

/// An alignment, and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alignment {
    /// The alignment in bytes, a power of two.
    pub bytes: u64,
    /// The reason.
    pub reason: AlignmentReason,
}

/// The part of a program, or of the runtime, that asks for the largest alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum AlignmentReason {
    /// The runtime refuses a program at another address. It asks for the alignment of C's `max_align_t`, which is 16
    /// at most.
    Runtime,
    /// The writer aligned segments in the file: constants, payloads and named data.
    Segments,
    /// The writer aligned data in the tables: inline constants and payloads.
    Tables,
}

/// What a firmware needs for a method.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MethodRequirements {
    /// The name, the inputs and the outputs.
    pub summary: MethodSummary,
    /// An identifier in capitals, which no other method of the program has.
    pub identifier: String,
    /// The planned arenas, by memory id.
    pub arenas: Vec<ArenaSize>,
    /// The bytes of inputs and outputs that no arena has, so that the caller provides their memory.
    pub unplanned: u64,
    /// The bytes of the method allocator, of which a backend may take more if its share is unknown. For the newest
    /// runtime with pointers of 32 bits, as [`Pools`] counts them.
    pub method_allocator: u64,
    /// The bytes of the temporary allocator, for the same runtime. Scratch memory of delegates is in it.
    pub temporary_allocator: u64,
}

/// The size of a planned arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ArenaSize {
    /// The memory id.
    pub id: u32,
    /// The bytes that the arena takes.
    pub bytes: u64,
    /// The most bytes that are live at once.
    pub peak: u64,
}

impl Requirements {
    /// Reads the requirements of a program, called `name`. Of a `.ptd`, only the bytes and the alignment are known.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn read<S: Source>(
        name: impl Into<UntrustedString>,
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Self, OpenError<S::Error>> {
        let mut needs = Self {
            bytes: handle.file_len(),
            alignment: Alignment::RUNTIME,
            methods: Vec::new(),
            method_count: 0,
            external: 0,
            movable: 0,
            usage: UsageReport::default(),
        };
        let file = handle.file();
        needs.alignment = Alignment::of(&file).ok_or(OpenError::Memory)?;
        let File::Pte(pte) = file else { return Ok(needs) };
        needs.usage.add(name, &pte);
        needs.movable = named_data_bytes(&pte);
        let scratch = Scratch::read(handle, limits)?;
        let target = Target::new(NEWEST, PointerWidth::Bits32);
        let summary = ProgramSummary::of(&pte, None);
        needs.method_count = summary.method_count;
        let mut identifiers = Identifiers::default();
        let plans = pte.program().execution_plan().into_iter().flatten();
        for (summary, plan) in summary.methods.into_iter().zip(plans) {
            let memory = Memory::of(&pte, plan);
            let Outside { constants, external, payloads } = memory.outside();
            needs.external = needs.external.saturating_add(external);
            needs.movable = needs.movable.saturating_add(constants).saturating_add(payloads);
            let arenas = memory.arenas().iter().map(|arena| ArenaSize {
                id: arena.id,
                bytes: arena.needed(),
                peak: arena.peak,
            });
            let pools = target.map(|target| Pools::of(&pte, plan, &scratch, target));
            let (method, temporary) =
                pools.map_or((0, 0), |pools| (pools.method.bytes, pools.temporary.bytes));
            let unplanned = memory.unplanned().iter().filter(|tensor| tensor.is_end);
            needs.methods.push(MethodRequirements {
                identifier: identifiers.unique(plan.name().unwrap_or_default()),
                arenas: arenas.collect(),
                unplanned: unplanned.filter_map(|of| of.bytes).fold(0, u64::saturating_add),
                method_allocator: method,
                temporary_allocator: temporary,
                summary,
            });
        }
        // Methods may share constants, which are then counted repeatedly.
        needs.movable = needs.movable.min(needs.bytes);
        Ok(needs)
    }
}

impl MethodRequirements {
    /// Returns the name of the method, or an empty one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.summary.name.as_ref().map_or("", UntrustedString::raw)
    }

    /// Returns the largest number of bytes of an input or output; `None` if it is no tensor, or the number is unknown.
    #[must_use]
    pub fn bytes_of(value: &ValueSummary) -> Option<u64> {
        value.dtype?.nbytes(value.sizes.iter().flatten().copied())
    }
}

impl Alignment {
    /// The alignment that every program needs.
    pub const RUNTIME: Self = Self { bytes: 16, reason: AlignmentReason::Runtime };

    /// Returns the alignment of a file; `None` if memory is short.
    fn of(file: &File<'_>) -> Option<Self> {
        // The list of segments is read, and no bytes.
        let (count, container) = match file {
            File::Pte(pte) => (pte.segment_count(), pte.to_views_from(&NO_BYTES).ok()?.container),
            File::Ptd(ptd) => match ptd.to_views_from(&NO_BYTES).ok()? {
                PtdViews::Current(views) => (ptd.segment_count(), views.container),
                PtdViews::Legacy(views) => (ptd.segment_count(), views.container),
            },
        };
        let segments = if count > 0 { container.segment_alignment } else { 1 };
        let tables = match file {
            File::Pte(pte) => inline_alignment(pte),
            File::Ptd(_) => 1,
        };
        let asked = [
            Self::RUNTIME,
            Self { bytes: segments, reason: AlignmentReason::Segments },
            Self { bytes: tables, reason: AlignmentReason::Tables },
        ];
        // The first of equal ones: the runtime is the stronger reason.
        asked.into_iter().reduce(|most, one| if one.bytes > most.bytes { one } else { most })
    }
}

/// Returns the largest power of two, up to [`MOST`], at whose multiples all inline constants and payloads of a program
/// begin.
fn inline_alignment(pte: &Pte<'_>) -> u64 {
    let program = pte.program();
    let constants = program.constant_buffer().into_iter().flatten();
    let payloads = program.backend_delegate_data().into_iter().flatten();
    let data = constants.filter_map(|one| one.storage());
    let data = data.chain(payloads.filter_map(|one| one.data()));
    let places = data.filter(|data| !data.bytes().is_empty()).map(|data| u64::from(data.pos()));
    match places.fold(0, |bits, place| bits | place) {
        0 => 1,
        bits => 1u64.checked_shl(bits.trailing_zeros()).unwrap_or(MOST).min(MOST),
    }
}

/// The largest alignment that is assumed to be intended. A larger one is assumed to be chance.
const MOST: u64 = 4096;

/// A source without bytes, for views whose segments are not read.
const NO_BYTES: &[u8] = &[];
