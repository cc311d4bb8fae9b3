//! The layouts of known FlatBuffers writers.

use core::cmp::Reverse;

use crate::view::Table;

/// The layout that a writer gives to tables: all choices that affect the bytes (format.md §0.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterLayout {
    /// The name of the writer.
    pub name: &'static str,
    /// The order of the fields inside their table.
    pub fields: Fields,
    /// Whether empty vectors are aligned to their element size.
    pub align_empty: bool,
    /// Whether tables share a vtable only if they have the same size. Otherwise a shared vtable has
    /// the size of its first table.
    pub sizes_count: bool,
    /// The alignment of vectors with `force_align`; `None` for the schema's own alignment.
    pub force_align: Option<u32>,
}

/// The layout of FlatBuffers' current builder for Python.
impl Default for WriterLayout {
    fn default() -> Self {
        Self::PYTHON
    }
}

/// The order of the fields inside a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// The smallest field first; fields of equal size by slot.
    BySize,
    /// The last slot first.
    LastFirst,
}

impl WriterLayout {
    /// The layout of flatc.
    pub const FLATC: Self = Self {
        name: "flatc",
        fields: Fields::BySize,
        align_empty: false,
        sizes_count: true,
        force_align: None,
    };

    /// The layout of flatc in 2023.
    pub const FLATC_OLD: Self = Self { name: "flatc-old", align_empty: true, ..Self::FLATC };

    /// The layout of FlatBuffers' builder for Python.
    pub const PYTHON: Self = Self {
        name: "python",
        fields: Fields::LastFirst,
        align_empty: true,
        sizes_count: true,
        force_align: None,
    };

    /// The layout of the Python builder in an older FlatBuffers release.
    pub const PYTHON_OLD: Self = Self { name: "python-old", sizes_count: false, ..Self::PYTHON };

    /// All known layouts.
    pub const ALL: [Self; 4] = [Self::FLATC, Self::PYTHON, Self::PYTHON_OLD, Self::FLATC_OLD];

    /// Returns the layout called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name == name)
    }

    /// Guesses the layout of a file by the order of the fields in its proven root.
    pub fn guess<'a>(root: impl Table<'a>) -> Self {
        let raw = root.raw();
        let offsets = (0..raw.slots()).map(|slot| raw.offset_of(slot));
        let mut present = offsets.filter(|&offset| offset != 0);
        match (present.next(), present.next()) {
            (Some(first), Some(second)) if first > second => Self::PYTHON,
            _ => Self::FLATC,
        }
    }

    /// Sorts the parts of a table in the order in which they are written, which is back to front.
    /// `of` returns the slot and the size of a part.
    pub(super) fn order<T>(&self, parts: &mut [T], of: impl Fn(&T) -> (u16, u16)) {
        match self.fields {
            Fields::BySize => parts.sort_by_key(|part| {
                let (slot, size) = of(part);
                Reverse((size, slot))
            }),
            Fields::LastFirst => parts.sort_by_key(|part| of(part).0),
        }
    }

    /// Returns the alignment of a vector whose `force_align` in the schema is `align`; 0 for none.
    pub(super) fn forced(&self, align: u32) -> u32 {
        match self.force_align {
            Some(forced) if align != 0 => forced,
            _ => align,
        }
    }
}
