//! The way to what stands in the tables, kept while they are walked.

use core::fmt;

use alloc::vec::Vec;

use super::role::Found;
use super::{index, narrow};
use crate::error::{PathComponent, Place};

/// What a map is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Parts by type and owner.
    Parts,
    /// And each thing by the way to it.
    Things,
    /// And the one that has this byte of the FlatBuffers part.
    Byte(u32),
}

/// What stands in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ObjectKind {
    /// A table, without what it refers to.
    Table,
    /// Where the fields of tables are, named by the way to the first of them.
    Vtable,
    /// A vector with its length: of numbers, or of offsets to tables.
    Vector,
    /// A string with its length and its final zero.
    Text,
}

impl ObjectKind {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Vtable => "vtable",
            Self::Vector => "vector",
            Self::Text => "string",
        }
    }
}

/// The way from the root to a thing, shown as `program.execution_plan[0].values[2].val<Tensor>`.
#[derive(Clone, Copy)]
pub struct TablePath<'m> {
    all: &'m [Last],
    last: u32,
}

/// The last step of a way, and where the way to there stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Last {
    step: PathComponent,
    before: u32,
}

impl<'m> TablePath<'m> {
    pub(super) fn new(all: &'m [Last], last: u32) -> Self {
        Self { all, last }
    }

    /// Its steps, innermost first.
    pub(super) fn back(self) -> impl Iterator<Item = PathComponent> {
        let at = |nth: u32| self.all.get(index(nth));
        core::iter::successors(at(self.last), move |last| at(last.before)).map(|last| last.step)
    }

    /// Its steps, outermost first.
    pub fn steps(self) -> impl Iterator<Item = PathComponent> {
        let steps: Vec<_> = self.back().collect();
        steps.into_iter().rev()
    }
}

/// Paths of the same steps.
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
        let steps: Vec<_> = self.back().collect();
        Place::new(None, &steps).fmt(f)
    }
}

/// The ways to all that is kept, while tables are walked.
pub(super) struct Paths {
    detail: Detail,
    list: Vec<Last>,
    /// The last step of where the walk is.
    here: u32,
    /// As many as something that is kept needs.
    needed: usize,
    hit: Option<(u32, Found)>,
    /// What a table has beyond its fields is asked for last.
    tail: Option<(u32, Found)>,
}

/// Where the walk goes back to.
pub(super) struct Back {
    here: u32,
    len: usize,
}

impl Paths {
    pub(super) fn new(detail: Detail) -> Self {
        Self { detail, list: Vec::new(), here: NOWHERE, needed: 0, hit: None, tail: None }
    }

    /// Goes one step on.
    pub(super) fn enter(&mut self, step: PathComponent) -> Back {
        let back = Back { here: self.here, len: self.list.len() };
        if self.detail != Detail::Parts {
            // What is beyond the most has no way that leads there.
            if back.len < MOST_WAYS {
                self.list.push(Last { step, before: self.here });
                self.here = narrow(back.len);
            } else {
                self.here = NOWHERE;
            }
        }
        back
    }

    /// Goes back, and forgets steps that nothing needs.
    pub(super) fn leave(&mut self, back: Back) {
        self.here = back.here;
        self.list.truncate(back.len.max(self.needed));
    }

    /// The way to here, if what is here is to be a part of its own.
    pub(super) fn keep(
        &mut self,
        pos: u32,
        bytes: u32,
        of: impl FnOnce(u32) -> Found,
    ) -> Option<u32> {
        match self.detail {
            Detail::Parts => return None,
            Detail::Things if self.here == NOWHERE => return None,
            Detail::Things => {}
            Detail::Byte(at) => {
                let inside = at.checked_sub(pos).is_some_and(|from| from < bytes);
                if !inside || self.hit.is_some() {
                    return None;
                }
                self.hit = Some((self.here, of(at)));
            }
        }
        self.needed = self.list.len();
        Some(self.here)
    }

    /// The table at `pos` is declared to be longer than its fields: the way to it, if the byte that is
    /// looked for is there.
    pub(super) fn keep_tail(&mut self, pos: u32, end: u16, declared: u16) -> Option<u32> {
        let Detail::Byte(at) = self.detail else { return None };
        let tail = pos.saturating_add(end.into())..pos.saturating_add(declared.into());
        if !tail.contains(&at) || self.tail.is_some() {
            return None;
        }
        self.tail = Some((self.here, Found::beyond(tail)));
        self.needed = self.list.len();
        Some(self.here)
    }

    /// What has the byte that was looked for.
    pub(super) fn found(&self) -> Option<&(u32, Found)> {
        self.hit.as_ref().or(self.tail.as_ref())
    }

    pub(super) fn finish(self) -> Vec<Last> {
        self.list
    }
}

const NOWHERE: u32 = u32::MAX;

/// Steps that are kept: what comes after them is in parts by type alone.
const MOST_WAYS: usize = 1 << 21;
