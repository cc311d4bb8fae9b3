//! What a firmware has: regions of memory, operators and backends. And whether a program fits.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use pte_core::operators::Library;
use pte_core::operators::selected::SelectedOperators;
use pte_core::release::NEWEST;
use pte_flat::quoted::UntrustedString;
use pte_schema::scalar::ScalarType;

use super::{Alignment, MethodRequirements, Requirements};

/// A board, and the firmware on it.
#[derive(Clone, Debug)]
pub struct Board {
    /// The name.
    pub name: UntrustedString,
    /// Where the numbers come from, such as the name of a data sheet.
    pub source: Option<UntrustedString>,
    /// The region of the program's bytes.
    pub flash: Region,
    /// The region of memory that no other region is for.
    pub sram: Region,
    /// The regions of certain arenas.
    pub regions: Vec<Region>,
    /// The operators of the firmware; `None` if they are not judged.
    pub operators: Option<SelectedOperators>,
    /// The ids of the firmware's backends; `None` if they are not judged.
    pub backends: Option<BTreeSet<String>>,
    /// The methods that are loaded at the same time.
    pub loads: Loads,
}

/// A region of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The name.
    pub name: UntrustedString,
    /// The size in bytes.
    pub bytes: u64,
    /// The bytes that the firmware itself takes: code, stack, heap, buffers.
    pub reserved: u64,
    /// The arenas in the region, by memory id.
    pub memory_ids: BTreeSet<u32>,
}

/// The methods that are loaded at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Loads {
    /// All methods. Each has its own arenas.
    #[default]
    All,
    /// One method at a time. The methods use the same memory.
    One,
}

/// Whether a program fits a board, and why not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fit<'r> {
    /// The regions that the program uses: flash first, then SRAM, then the others.
    pub regions: Vec<RegionFit<'r>>,
    /// The operators that the firmware lacks.
    pub operators: Vec<MissingOperator<'r>>,
    /// The operators whose kernels in the firmware are for other dtypes.
    pub dtypes: Vec<MissingDtypes<'r>>,
    /// The backends that the firmware lacks.
    pub backends: Vec<&'r UntrustedString>,
    /// What would help.
    pub advice: Vec<Advice<'r>>,
}

/// What a program takes of a region.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RegionFit<'r> {
    /// The name of the region.
    pub name: &'r UntrustedString,
    /// The size of the region in bytes.
    pub bytes: u64,
    /// The bytes that the firmware itself takes.
    pub reserved: u64,
    /// The bytes that the program takes behind them, with padding. Saturates at 2^64 − 1.
    pub needed: u64,
    /// By how many bytes the region is too small, or 0.
    pub over: u64,
    /// The parts, in the order in which they are laid out.
    pub uses: Vec<Use<'r>>,
}

/// A part of what a program takes of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Use<'r> {
    /// The meaning.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub kind: UseKind<'r>,
    /// The number of bytes.
    pub bytes: u64,
}

/// The meaning of a part. A method is given by its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum UseKind<'r> {
    /// The bytes of the program.
    Program,
    /// The constants of the program that are in a `.ptd`.
    External,
    /// An arena of a method.
    Arena {
        /// The method.
        method: &'r str,
        /// The memory id.
        id: u32,
    },
    /// Inputs and outputs of a method outside of its arenas.
    Unplanned {
        /// The method.
        method: &'r str,
    },
    /// The method allocator, for the runtime's structures.
    MethodAllocator {
        /// The method.
        method: &'r str,
    },
    /// The temporary allocator, for scratch memory.
    TemporaryAllocator {
        /// The method.
        method: &'r str,
    },
}

/// An operator that a firmware lacks.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MissingOperator<'r> {
    /// The name with its overload.
    pub name: &'r UntrustedString,
    /// The kernel library of upstream to link; `None` if no library has the operator.
    pub library: Option<&'static str>,
}

/// An operator whose kernels in a firmware are for other dtypes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MissingDtypes<'r> {
    /// The name with its overload.
    pub name: &'r UntrustedString,
    /// The dtypes without a kernel. The document has their names.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::document::dtype_names"))]
    pub dtypes: Vec<ScalarType>,
}

/// A change with which a program may fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Advice<'r> {
    /// Constants, payloads and named data can be moved to a `.ptd` in other memory.
    Externalize {
        /// The bytes of them in the program.
        bytes: u64,
        /// Whether the rest then fits.
        fits: bool,
    },
    /// Another region has room for an arena.
    Move {
        /// The method.
        method: &'r str,
        /// The memory id.
        id: u32,
        /// The bytes of the arena.
        bytes: u64,
        /// The other region.
        region: &'r UntrustedString,
        /// The free bytes there.
        free: u64,
    },
    /// One method alone fits: the methods can use the same memory, one after the other.
    LoadOne {
        /// The region.
        region: &'r UntrustedString,
        /// The bytes that the largest method needs.
        needed: u64,
    },
    /// An arena is larger than what is live at once: a better memory plan is possible.
    Replan {
        /// The method.
        method: &'r str,
        /// The memory id.
        id: u32,
        /// The bytes that no better plan can save: the most that are live at once.
        peak: u64,
        /// The bytes of the arena.
        bytes: u64,
    },
    /// The region is too small by more than any of the other changes saves.
    Shrink {
        /// The region.
        region: &'r UntrustedString,
        /// By how many bytes the region is too small.
        over: u64,
    },
}

impl Board {
    /// Returns all regions: flash, SRAM, then the others.
    pub fn all_regions(&self) -> impl Iterator<Item = &Region> {
        [&self.flash, &self.sram].into_iter().chain(&self.regions)
    }

    /// Returns the region of an arena.
    #[must_use]
    pub fn region_of(&self, memory_id: u32) -> &Region {
        let mut regions = self.regions.iter();
        regions.find(|region| region.memory_ids.contains(&memory_id)).unwrap_or(&self.sram)
    }

    /// Returns what a method takes of a region.
    fn uses_of<'r>(&self, method: &'r MethodRequirements, region: &Region) -> Vec<Use<'r>> {
        let name = method.identifier.as_str();
        let arenas = method.arenas.iter().map(|arena| {
            let kind = UseKind::Arena { method: name, id: arena.id };
            (self.region_of(arena.id), Use { kind, bytes: arena.bytes })
        });
        // Memory that no plan names is in SRAM.
        let others = [
            (UseKind::Unplanned { method: name }, method.unplanned),
            (UseKind::MethodAllocator { method: name }, method.method_allocator),
            (UseKind::TemporaryAllocator { method: name }, method.temporary_allocator),
        ];
        let others = others.into_iter().map(|(kind, bytes)| (&self.sram, Use { kind, bytes }));
        let all = arenas.chain(others);
        let here = all.filter(|(of, part)| core::ptr::eq(*of, region) && part.bytes > 0);
        here.map(|(_, part)| part).collect()
    }
}

impl Requirements {
    /// Compares the requirements with a board.
    #[must_use]
    pub fn fit<'r>(&'r self, board: &'r Board) -> Fit<'r> {
        let regions = board.all_regions().map(|region| self.fit_region(board, region, board.loads));
        let regions: Vec<_> = regions.filter(|of| !of.uses.is_empty() || of.over > 0).collect();
        let operators = board.operators.iter().flat_map(|list| self.usage.missing_from(list));
        let dtypes = board.operators.iter().flat_map(|list| self.usage.missing_dtypes(list));
        let backends = self.usage.total.backends.keys();
        let lacks = |id: &&UntrustedString| {
            board.backends.as_ref().is_some_and(|backends| !backends.contains(id.raw()))
        };
        let mut fit = Fit {
            regions,
            operators: operators.map(MissingOperator::of).collect(),
            dtypes: dtypes.map(|(name, dtypes)| MissingDtypes { name, dtypes }).collect(),
            backends: backends.filter(lacks).collect(),
            advice: Vec::new(),
        };
        fit.advice = self.advice(board, &fit);
        fit
    }

    fn fit_region<'r>(&'r self, board: &Board, region: &'r Region, loads: Loads) -> RegionFit<'r> {
        let mut parts = Vec::new();
        if core::ptr::eq(region, &board.flash) {
            let files = [(UseKind::Program, self.bytes), (UseKind::External, self.external)];
            let files = files.map(|(kind, bytes)| Use { kind, bytes });
            parts.extend(files.into_iter().filter(|part| part.bytes > 0));
        }
        let fit = |method: Vec<Use<'r>>| {
            let uses = parts.iter().copied().chain(method).collect();
            RegionFit::of(region, uses, self.alignment)
        };
        let methods = self.methods.iter().map(|method| board.uses_of(method, region));
        match loads {
            Loads::All => fit(methods.flatten().collect()),
            Loads::One => {
                let largest = methods.map(&fit).max_by_key(|fit| fit.needed);
                largest.unwrap_or_else(|| fit(Vec::new()))
            }
        }
    }

    /// Returns what would help where a region is too small.
    fn advice<'r>(&'r self, board: &'r Board, fit: &Fit<'r>) -> Vec<Advice<'r>> {
        let mut advice = Vec::new();
        let over = fit.regions.iter().filter(|of| of.over > 0);
        for (of, region) in over.flat_map(|of| Some((of, board.region(of.name)?))) {
            let before = advice.len();
            let is_flash = core::ptr::eq(region, &board.flash);
            if is_flash && self.movable > 0 && self.external == 0 {
                let (bytes, fits) = (self.movable, self.movable >= of.over);
                advice.push(Advice::Externalize { bytes, fits });
            }
            if board.loads == Loads::All && self.methods.len() > 1 {
                let one = self.fit_region(board, region, Loads::One);
                if one.over == 0 {
                    advice.push(Advice::LoadOne { region: of.name, needed: one.needed });
                }
            }
            let largest = of.uses.iter().filter_map(|part| match part.kind {
                UseKind::Arena { method, id } => Some((part.bytes, method, id)),
                _ => None,
            });
            if let Some((bytes, method, id)) = largest.max_by_key(|&(bytes, ..)| bytes) {
                advice.extend(self.replan(of, (method, id, bytes)));
                let others = board
                    .all_regions()
                    .skip(1)
                    .map(|other| self.fit_region(board, other, board.loads));
                let free = others
                    .filter(|other| other.name != of.name && other.free() >= bytes)
                    .max_by_key(RegionFit::free);
                if let Some(other) = free {
                    let (region, free) = (other.name, other.free());
                    advice.push(Advice::Move { method, id, bytes, region, free });
                }
            }
            if advice.len() == before {
                advice.push(Advice::Shrink { region: of.name, over: of.over });
            }
        }
        advice
    }

    /// Returns the advice to plan an arena anew, if that can save enough.
    fn replan<'r>(
        &'r self,
        of: &RegionFit<'r>,
        (method, id, bytes): (&'r str, u32, u64),
    ) -> Option<Advice<'r>> {
        let owner = self.methods.iter().find(|one| one.identifier == method)?;
        let peak = owner.arenas.iter().find(|arena| arena.id == id)?.peak;
        let saved = bytes.checked_sub(peak)?;
        (saved >= of.over).then_some(Advice::Replan { method, id, peak, bytes })
    }
}

impl Board {
    /// Returns the region called `name`.
    fn region(&self, name: &UntrustedString) -> Option<&Region> {
        self.all_regions().find(|region| region.name == *name)
    }
}

impl Fit<'_> {
    /// Returns whether the program fits.
    #[must_use]
    pub fn fits(&self) -> bool {
        let Self { regions, operators, dtypes, backends, advice: _ } = self;
        let has_room = regions.iter().all(|region| region.over == 0);
        has_room && operators.is_empty() && dtypes.is_empty() && backends.is_empty()
    }
}

impl<'r> RegionFit<'r> {
    /// Lays out parts behind the reserved bytes.
    fn of(region: &'r Region, uses: Vec<Use<'r>>, program: Alignment) -> Self {
        let Region { name, bytes, reserved, memory_ids: _ } = region;
        let end = uses.iter().fold(*reserved, |end, part| {
            let alignment = match part.kind {
                UseKind::Program | UseKind::External => program.bytes,
                _ => Alignment::RUNTIME.bytes,
            };
            let start = end.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
            start.saturating_add(part.bytes)
        });
        let (needed, over) = (end.saturating_sub(*reserved), end.saturating_sub(*bytes));
        Self { name, bytes: *bytes, reserved: *reserved, needed, over, uses }
    }

    /// Returns the bytes that are left.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.bytes.saturating_sub(self.reserved).saturating_sub(self.needed)
    }
}

impl<'r> MissingOperator<'r> {
    fn of(name: &'r UntrustedString) -> Self {
        let library = Library::to_link(name.raw(), NEWEST).map(|library| library.name);
        Self { name, library }
    }
}
