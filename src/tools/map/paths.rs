//! Paths to tables, vtables, vectors and strings, recorded during a visit of the tables.

use core::fmt;
use core::ops::Range;

use alloc::vec::Vec;

use super::role::RoleRange;
use super::{index, narrow};
use pte_core::{PathComponent, Place};
use pte_flat::bytes::len_of;

/// The level of detail of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// Parts by type and owner only.
    Parts,
    /// In addition, the path of each table, vtable, vector and string.
    Objects,
    /// In addition, the path of the object that contains this byte of the file.
    Byte(u64),
}

/// The kind of an object in the FlatBuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum ObjectKind {
    /// A table, without the objects that it refers to.
    Table,
    /// A vtable. Its path is that of the first table that uses it.
    Vtable,
    /// A vector with its length, of numbers or of offsets to tables.
    Vector,
    /// A string with its length and its terminating zero.
    #[cfg_attr(feature = "serde", serde(rename = "string"))]
    Text,
}

impl ObjectKind {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Vtable => "vtable",
            Self::Vector => "vector",
            Self::Text => "string",
        }
    }
}

/// The path from the root to an object, such as
/// `program.execution_plan[0].values[2].val<Tensor>`.
#[derive(Clone, Copy)]
pub struct TablePath<'m> {
    all: &'m [Last],
    last: u32,
}

/// The last component of a path, and the index of the path before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Last {
    component: PathComponent,
    before: u32,
}

impl<'m> TablePath<'m> {
    pub(super) fn new(all: &'m [Last], last: u32) -> Self {
        Self { all, last }
    }

    /// Returns the components of the path, the innermost first.
    pub(super) fn back(self) -> impl Iterator<Item = PathComponent> {
        let at = |nth: u32| self.all.get(index(nth));
        core::iter::successors(at(self.last), move |last| at(last.before))
            .map(|last| last.component)
    }

    /// Returns the components of the path, the outermost first.
    pub fn components(self) -> impl Iterator<Item = PathComponent> {
        let components: Vec<_> = self.back().collect();
        components.into_iter().rev()
    }
}

/// Two paths are equal if their components are equal.
impl PartialEq for TablePath<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.back().eq(other.back())
    }
}

impl Eq for TablePath<'_> {}

impl fmt::Debug for TablePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TablePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let components: Vec<_> = self.back().collect();
        Place::new(None, &components).fmt(f)
    }
}

/// Records paths during a visit of the tables.
pub(super) struct Paths {
    precision: Precision,
    /// The range of the visited FlatBuffer in the file.
    region: Range<u64>,
    list: Vec<Last>,
    /// The index of the current path.
    here: u32,
    /// The number of components, from the start of the list, that kept paths need.
    needed: usize,
    hit: Option<Found>,
    /// The role of the wanted byte if it lies after the fields of a table. It is used only if no
    /// other object contains the byte.
    tail: Option<Found>,
}

/// The path and the role of the wanted byte.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The index of the last component of the path.
    pub(super) last: u32,
    pub(super) role: RoleRange,
    /// The start of the FlatBuffer in the file, from which the role's positions count.
    pub(super) begin: u64,
}

/// The state to restore when a table has been visited.
pub(super) struct Back {
    here: u32,
    len: usize,
}

impl Paths {
    pub(super) fn new(precision: Precision) -> Self {
        Self {
            precision,
            region: 0..0,
            list: Vec::new(),
            here: NO_PATH,
            needed: 0,
            hit: None,
            tail: None,
        }
    }

    /// Begins the visit of the FlatBuffer with this range in the file.
    pub(super) fn begin(&mut self, region: Range<u64>) {
        self.region = region;
    }

    /// Adds a component to the current path.
    pub(super) fn enter(&mut self, component: PathComponent) -> Back {
        let back = Back { here: self.here, len: self.list.len() };
        if self.precision != Precision::Parts {
            // Beyond this limit, no paths are recorded.
            if back.len < MOST_COMPONENTS {
                self.list.push(Last { component, before: self.here });
                self.here = narrow(back.len);
            } else {
                self.here = NO_PATH;
            }
        }
        back
    }

    /// Restores the previous path, and drops components that no kept path needs.
    pub(super) fn leave(&mut self, back: Back) {
        self.here = back.here;
        self.list.truncate(back.len.max(self.needed));
    }

    /// Returns the current path, if the object there becomes a part or contains the wanted byte.
    pub(super) fn keep(
        &mut self,
        pos: u32,
        bytes: u32,
        of: impl FnOnce(u32) -> RoleRange,
    ) -> Option<u32> {
        match self.precision {
            Precision::Parts => return None,
            Precision::Objects if self.here == NO_PATH => return None,
            Precision::Objects => {}
            Precision::Byte(_) => {
                let at = self.wanted()?;
                let inside = at.checked_sub(pos).is_some_and(|from| from < bytes);
                // A table of a payload goes before the object that contains the payload.
                let is_of_payload =
                    self.tail.as_ref().is_some_and(|tail| tail.begin != self.region.start);
                if !inside || self.hit.is_some() || is_of_payload {
                    return None;
                }
                self.hit = Some(Found { last: self.here, role: of(at), begin: self.region.start });
            }
        }
        self.needed = self.list.len();
        Some(self.here)
    }

    /// Keeps the path of the table at `pos` if the wanted byte lies in the table's tail: after its last
    /// field, and before the end that its vtable declares, which may be behind the FlatBuffer.
    pub(super) fn keep_tail(&mut self, pos: u32, end: u16, declared: u16) -> Option<u32> {
        let at = self.wanted()?;
        let region = len_of(&self.region);
        let most = u32::try_from(region).unwrap_or(u32::MAX);
        let tail = pos.saturating_add(end.into())..pos.saturating_add(declared.into()).min(most);
        if !tail.contains(&at) || self.tail.is_some() {
            return None;
        }
        let role = RoleRange::beyond(tail);
        self.tail = Some(Found { last: self.here, role, begin: self.region.start });
        self.needed = self.list.len();
        Some(self.here)
    }

    /// Returns the position of the wanted byte in the visited FlatBuffer.
    fn wanted(&self) -> Option<u32> {
        let Precision::Byte(at) = self.precision else { return None };
        let at = self.region.contains(&at).then(|| at.saturating_sub(self.region.start))?;
        u32::try_from(at).ok()
    }

    /// Returns the path and the role of the wanted byte.
    pub(super) fn found(&self) -> Option<&Found> {
        self.hit.as_ref().or(self.tail.as_ref())
    }

    pub(super) fn finish(self) -> Vec<Last> {
        self.list
    }
}

const NO_PATH: u32 = u32::MAX;

/// The maximum number of recorded components. Later objects are attributed by type only.
const MOST_COMPONENTS: usize = 1 << 21;
