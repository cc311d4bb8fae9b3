//! Budgets of the verifier. Shared data is charged at each visit, not only once.

use core::cell::Cell;

use crate::error::{Error, ErrorKind, Result};

/// A limit on visits, and how much of the limit is left.
pub(super) struct Budget {
    what: &'static str,
    most: u64,
    left: Cell<u64>,
}

impl Budget {
    pub(super) fn new(what: &'static str, most: u64) -> Self {
        Self { what, most, left: Cell::new(most) }
    }

    /// Charges `more` units for a visit at `pos`.
    #[inline]
    pub(super) fn spend(&self, more: u64, pos: u32) -> Result<()> {
        // What is left after an error does not matter, since it ends the verification.
        let (left, is_spent) = self.left.get().overflowing_sub(more);
        self.left.set(left);
        if is_spent { Err(self.spent(pos)) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn spent(&self, pos: u32) -> Error {
        Error::new(ErrorKind::WorkLimit { limit: self.most, what: self.what }, pos.into())
    }
}
