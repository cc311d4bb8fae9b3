//! The memory that a model takes. It is counted against a budget before it is allocated.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem::size_of;

use crate::bytes::wide;
use crate::desc::TableDesc;
use crate::limits::{MODEL_BYTES, MODEL_FLOOR};

crate::errors! {
    /// An error in allocating memory for a model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum MemoryError {
        /// The model exceeds its memory budget.
        Budget {
            /// The budget in bytes.
            budget: u64,
            /// The bytes counted until the budget was exceeded.
            needed: u64,
        } =>
            "the tables would take at least {needed} bytes of memory: the limit for an input of this length is {budget}";
        /// The system has no memory left.
        OutOfMemory => "out of memory";
    }
}

/// Counts and allocates the memory of one model.
#[derive(Debug)]
pub struct Ledger {
    budget: u64,
    /// The rest of the budget in bytes.
    left: u64,
    /// The error of the first refusal.
    refused: Option<MemoryError>,
}

/// The error of a refused allocation. The [`Ledger`] has the details.
#[derive(Clone, Copy, Debug)]
pub struct Refused;

impl Ledger {
    /// Creates a ledger for a model that is made from `given` bytes of input.
    pub fn of(given: u64) -> Self {
        let budget = given.saturating_mul(MODEL_BYTES).saturating_add(MODEL_FLOOR);
        Self { budget, left: budget, refused: None }
    }

    /// Creates a ledger without a budget.
    pub(crate) fn unlimited() -> Self {
        Self { budget: u64::MAX, left: u64::MAX, refused: None }
    }

    /// Returns the error of the first refusal.
    pub fn error(&self) -> MemoryError {
        self.refused.unwrap_or(MemoryError::OutOfMemory)
    }

    /// Returns the bytes that were counted.
    pub fn spent(&self) -> u64 {
        self.budget.saturating_sub(self.left)
    }

    /// Whether the budget was exceeded.
    #[cfg(feature = "json")]
    pub fn is_exceeded(&self) -> bool {
        matches!(self.refused, Some(MemoryError::Budget { .. }))
    }

    /// Whether anything was refused.
    #[inline]
    pub fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Counts `bytes`.
    #[inline(always)]
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), Refused> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.exceed(bytes)),
        }
    }

    /// Records that `bytes` more bytes exceed the budget.
    #[cold]
    #[inline(never)]
    fn exceed(&mut self, bytes: u64) -> Refused {
        let needed = self.budget.saturating_sub(self.left).saturating_add(bytes);
        self.refused.get_or_insert(MemoryError::Budget { budget: self.budget, needed });
        Refused
    }

    /// Records a failed allocation.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self) -> Refused {
        self.refused.get_or_insert(MemoryError::OutOfMemory);
        Refused
    }

    /// Counts the bytes that a table of type `desc` takes when it is written.
    #[inline]
    pub(crate) fn table(&mut self, desc: &TableDesc) -> Result<(), Refused> {
        self.charge(written(desc.written().into()))
    }

    /// Returns a vector with room for `len` items, each of which takes `size` bytes when written.
    #[inline(always)]
    pub fn vec<T>(&mut self, len: usize, size: usize) -> Result<Vec<T>, Refused> {
        let each = wide(size_of::<T>()).saturating_add(written(wide(size)));
        self.charge(wide(len).saturating_mul(each).saturating_add(OF_VECTOR))?;
        let mut items = Vec::new();
        items.try_reserve_exact(len).map_err(|_| self.refuse())?;
        Ok(items)
    }

    /// Makes room for `more` items in a vector. The capacity doubles.
    #[cfg(feature = "json")]
    #[inline]
    pub(crate) fn reserve<T>(&mut self, items: &mut Vec<T>, more: usize) -> Result<(), Refused> {
        let (len, room) = (items.len(), items.capacity());
        if room.saturating_sub(len) >= more {
            return Ok(());
        }
        let grown = len.saturating_add(more).max(room.saturating_mul(2)).max(4);
        let added = grown.saturating_sub(room).saturating_mul(size_of::<T>());
        self.charge(wide(added))?;
        items.try_reserve_exact(grown.saturating_sub(len)).map_err(|_| self.refuse())
    }

    /// Adds an item to a vector.
    #[cfg(feature = "json")]
    pub fn push<T>(&mut self, items: &mut Vec<T>, item: T) -> Result<(), Refused> {
        self.reserve(items, 1)?;
        items.push(item);
        Ok(())
    }

    /// Returns a copy of `text`.
    #[inline]
    pub fn string(&mut self, text: &str) -> Result<String, Refused> {
        let (len, mut copy) = (wide(text.len()), String::new());
        self.charge(len.saturating_add(written(len)).saturating_add(OF_VECTOR))?;
        copy.try_reserve_exact(text.len()).map_err(|_| self.refuse())?;
        copy.push_str(text);
        Ok(copy)
    }
}

/// Returns the memory for writing `len` bytes: the written file and its copy for checking.
#[inline]
fn written(len: u64) -> u64 {
    len.saturating_mul(2)
}

/// The memory of a vector or string besides its elements: its length and padding when written, and
/// the overhead of an allocation.
const OF_VECTOR: u64 = 8 * 2 + 24;

impl From<alloc::collections::TryReserveError> for MemoryError {
    fn from(_: alloc::collections::TryReserveError) -> Self {
        Self::OutOfMemory
    }
}
