//! The contents of a VGF payload: its tables, its constants, and the entry points of its code.

use core::ops::Range;

use super::{Sections, Unreadable};
use crate::limits::Limits;
use crate::verify;
use pte_flat::bytes::{array_at, u32_at, wide};
use pte_flat::cost;

use pte_flat::view::{Table, Vector};

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
        if !section.starts_with(MAGIC) {
            return Ok(None);
        }
        let count = array_at(section, MAGIC.len()).map(u64::from_le_bytes);
        let len = count.and_then(|count| usize::try_from(count).ok()?.checked_mul(ENTRY));
        let table = len.and_then(|len| section.get(START..)?.get(..len));
        let table = table.ok_or("the section is shorter than its table of constants")?;
        let end = wide(START.saturating_add(table.len()));
        Ok(Some(table.chunks_exact(ENTRY).map(move |entry| Self::read(entry, end))))
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

/// Returns whether SPIR-V code has an entry point with a name. The error describes what is wrong with the code.
///
/// # Errors
///
/// The code has no header, or an instruction that is not whole.
pub fn has_entry_point(code: Vector<'_, u32>, name: &str) -> Result<bool, &'static str> {
    cost::charge(code.len());
    if code.get(0) != Some(SPIRV_MAGIC) || code.len() < SPIRV_HEADER {
        return Err("the code does not begin with a header of SPIR-V");
    }
    let (mut at, mut has_name) = (SPIRV_HEADER, false);
    while let Some(first) = code.get(at) {
        let [low, high, length @ ..] = first.to_le_bytes();
        let length = usize::from(u16::from_le_bytes(length));
        let end = at.saturating_add(length);
        if length == 0 || end > code.len() {
            return Err("an instruction of the code is not whole");
        }
        // The name follows the ids in front of it.
        let begin = match u16::from_le_bytes([low, high]) {
            ENTRY_POINT => Some(3),
            GRAPH_ENTRY_POINT => Some(2),
            _ => None,
        };
        if let Some(begin) = begin {
            let words = (at.saturating_add(begin)..end).filter_map(|at| code.get(at));
            let text = words.flat_map(u32::to_le_bytes).take_while(|byte| *byte != 0);
            cost::charge(name.len());
            has_name |= text.eq(name.bytes());
        }
        at = end;
    }
    Ok(has_name)
}

/// The first bytes of a section of constants.
const MAGIC: &[u8; 8] = b"CONST00\0";

/// The start of the table of constants, and the length of an entry.
const START: usize = 16;
const ENTRY: usize = 24;

/// The first word of SPIR-V code, and the number of words of its header.
const SPIRV_MAGIC: u32 = 0x0723_0203;
const SPIRV_HEADER: usize = 5;

/// `OpEntryPoint` and `OpGraphEntryPointARM`.
const ENTRY_POINT: u16 = 15;
const GRAPH_ENTRY_POINT: u16 = 4182;
