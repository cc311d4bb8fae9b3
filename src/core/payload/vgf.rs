//! The contents of a VGF payload: its tables, its constants, and its code.

use core::ops::Range;

use super::{Sections, Unreadable};
use crate::limits::Limits;
use crate::verify;
use pte_flat::bytes::{array_at, u32_at, wide};
use pte_flat::view::{List, Table, Vector};
use pte_schema::vgf::view::{BindingSlot, Module, ModuleCode};

mod code;
pub(super) mod form;
pub(super) mod sections;
mod spirv;
mod tosa;

pub use code::module::{
    CodeOperand, CodeOperator, GraphEnd, GraphInterface, GraphTensor, ModuleGraph, OperandKind,
};

/// Proves the FlatBuffer of a section. The offset of an error is relative to the payload.
///
/// # Errors
///
/// A structural rule is broken.
pub fn table<'b, T: Table<'b>>(
    section: &Range<u64>,
    bytes: &'b [u8],
    limits: &Limits,
) -> Result<T, Unreadable> {
    match verify::verify_bare(bytes, T::DESC, limits) {
        Ok((root, _)) => root.view().ok_or(Unreadable::Magic { magic: [0; 4] }),
        Err(error) => Err(Unreadable::Graph(error.shifted(section.start))),
    }
}

/// Returns the range of a section; `None` if the payload has none with this name.
#[must_use]
pub fn section<'s>(sections: &'s Sections, name: &str) -> Option<&'s Range<u64>> {
    let found = sections.sections.iter().find(|section| section.name == name)?;
    Some(&found.range)
}

/// Returns the SPIR-V code of a module; `None` if it has none.
#[must_use]
pub fn words(module: Module<'_>) -> Option<Vector<'_, u32>> {
    match module.code()? {
        ModuleCode::SPIRV(code) => code.words(),
        _ => None,
    }
}

/// Returns the resource of each slot.
pub fn slots<'p>(list: Option<List<'p, BindingSlot<'p>>>) -> impl Iterator<Item = u32> + use<'p> {
    list.into_iter().flatten().map(|slot| slot.mrt_index())
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The index of the resource.
    pub mrt_index: u32,
    /// The dimension of a sparse constant; -1 for another one.
    pub sparsity_dimension: i32,
    /// The range in the section.
    pub range: Range<u64>,
}

impl Constant {
    /// Reads the table of a section. Returns `None` without the magic: such a section is a FlatBuffer. The error
    /// describes what is wrong with the table.
    ///
    /// # Errors
    ///
    /// The section is shorter than its table.
    pub fn all(
        section: &[u8],
    ) -> Result<Option<impl ExactSizeIterator<Item = Self> + Clone + use<'_>>, &'static str> {
        let Some(end) = Self::table_end(section) else { return Ok(None) };
        let table = usize::try_from(end).ok().and_then(|end| section.get(START..end));
        let table = table.ok_or("the section is shorter than its table of constants")?;
        Ok(Some(table.chunks_exact(ENTRY).map(move |entry| Self::read(entry, end))))
    }

    /// Returns the end of the table in a section that begins with `start`, 16 bytes; `None` without the magic.
    fn table_end(start: &[u8]) -> Option<u64> {
        let count = array_at(start.strip_prefix(MAGIC)?, 0).map_or(u64::MAX, u64::from_le_bytes);
        Some(count.saturating_mul(wide(ENTRY)).saturating_add(wide(START)))
    }

    /// Reads an entry. Offsets count from `end`, the end of the table.
    fn read(entry: &[u8], end: u64) -> Self {
        let word = |at| u32_at(entry, at).unwrap_or_default();
        let number = |at| array_at(entry, at).map(u64::from_le_bytes).unwrap_or_default();
        let start = end.saturating_add(number(16));
        Self {
            mrt_index: word(0),
            sparsity_dimension: word(4).cast_signed(),
            range: start..start.saturating_add(number(8)),
        }
    }
}

/// Returns the name of a `VkFormat`, without `VK_FORMAT_`, and the bytes of an element; `None` if the backend does not
/// have the format.
#[must_use]
pub fn format(number: u32) -> Option<(&'static str, u64)> {
    FORMATS.iter().find(|format| format.0 == number).map(|(_, name, size)| (*name, *size))
}

/// The formats that the backend has: the number, the name, and the bytes of an element.
static FORMATS: [(u32, &str, u64); 28] = [
    (13, "R8_UINT", 1),
    (14, "R8_SINT", 1),
    (20, "R8G8_UINT", 2),
    (21, "R8G8_SINT", 2),
    (38, "R8G8B8A8_SNORM", 4),
    (41, "R8G8B8A8_UINT", 4),
    (42, "R8G8B8A8_SINT", 4),
    (74, "R16_UINT", 2),
    (75, "R16_SINT", 2),
    (76, "R16_SFLOAT", 2),
    (81, "R16G16_UINT", 4),
    (82, "R16G16_SINT", 4),
    (83, "R16G16_SFLOAT", 4),
    (95, "R16G16B16A16_UINT", 8),
    (96, "R16G16B16A16_SINT", 8),
    (97, "R16G16B16A16_SFLOAT", 8),
    (98, "R32_UINT", 4),
    (99, "R32_SINT", 4),
    (100, "R32_SFLOAT", 4),
    (101, "R32G32_UINT", 8),
    (102, "R32G32_SINT", 8),
    (103, "R32G32_SFLOAT", 8),
    (107, "R32G32B32A32_UINT", 16),
    (108, "R32G32B32A32_SINT", 16),
    (109, "R32G32B32A32_SFLOAT", 16),
    (111, "R64_SINT", 8),
    (1_000_460_000, "R8_BOOL_ARM", 1),
    (1_000_460_001, "R16_SFLOAT_FPENCODING_BFLOAT16_ARM", 2),
];

/// The first bytes of a section of constants.
const MAGIC: &[u8; 8] = b"CONST00\0";

/// The start of the table of constants, and the length of an entry.
const START: usize = 16;
const ENTRY: usize = 24;
