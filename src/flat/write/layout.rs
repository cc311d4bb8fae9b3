//! How the tools that write FlatBuffers lay out a table.

use core::cmp::Reverse;

use crate::flat::view::Table;

/// The habits of a tool, as far as they show in the bytes (format.md §0.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterLayout {
    /// Its name.
    pub name: &'static str,
    /// The order of the fields inside their table.
    pub fields: Fields,
    /// Whether a vector without elements is aligned as if it had some.
    pub align_empty: bool,
    /// Whether tables share a vtable only where they are of one size: otherwise the size in it is
    /// that of the first of them, and says nothing of the others.
    pub sizes_count: bool,
    /// What vectors with `force_align` are aligned to, if not what the schema says.
    pub force_align: Option<u32>,
}

/// That of today's writer of programs.
impl Default for WriterLayout {
    fn default() -> Self {
        Self::PYTHON
    }
}

/// The order of the fields inside a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// Smallest first, and by slot.
    BySize,
    /// The last slot first.
    LastFirst,
}

impl WriterLayout {
    /// What flatc makes of JSON: every `.ptd`, and every `.pte` before 2026-03-06.
    pub const FLATC: Self = Self {
        name: "flatc",
        fields: Fields::BySize,
        align_empty: false,
        sizes_count: true,
        force_align: None,
    };

    /// The same with a release of flatc of 2023.
    pub const FLATC_OLD: Self = Self { name: "flatc-old", align_empty: true, ..Self::FLATC };

    /// What Python's builder makes: every `.pte` since 2026-03-06, which is release 1.3.
    pub const PYTHON: Self = Self {
        name: "python",
        fields: Fields::LastFirst,
        align_empty: true,
        sizes_count: true,
        force_align: None,
    };

    /// The same with an older release of FlatBuffers.
    pub const PYTHON_OLD: Self = Self { name: "python-old", sizes_count: false, ..Self::PYTHON };

    /// Every known one.
    pub const ALL: [Self; 4] = [Self::FLATC, Self::PYTHON, Self::PYTHON_OLD, Self::FLATC_OLD];

    /// The layout of a release's name, as [`name`](Self::name) gives it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name == name)
    }

    /// The layout that a proven root seems to have, by the order of its fields.
    pub fn guess<'a>(root: impl Table<'a>) -> Self {
        let raw = root.raw();
        let offsets = (0..raw.slots()).map(|slot| raw.offset_of(slot));
        let mut present = offsets.filter(|&offset| offset != 0);
        match (present.next(), present.next()) {
            (Some(first), Some(second)) if first > second => Self::PYTHON,
            _ => Self::FLATC,
        }
    }

    /// Puts the parts of a table, each of a slot and a size, in the order in which they are
    /// written: back to front.
    pub(super) fn order<T>(&self, parts: &mut [T], of: impl Fn(&T) -> (u16, u16)) {
        match self.fields {
            Fields::BySize => parts.sort_by_key(|part| {
                let (slot, size) = of(part);
                Reverse((size, slot))
            }),
            Fields::LastFirst => parts.sort_by_key(|part| of(part).0),
        }
    }

    /// What the elements of a vector are aligned to, of which the schema says `align`; 0 for
    /// nothing.
    pub(super) fn forced(&self, align: u32) -> u32 {
        match self.force_align {
            Some(forced) if align != 0 => forced,
            _ => align,
        }
    }
}
