//! The context of a method, which is needed to resolve indices and ranges.

use core::fmt;

use super::proven;
use pte_core::Pte;
use pte_flat::view::List as Tables;
use pte_schema::program::view::{EValue, ExecutionPlan};

/// A method and its file. Parts of the method use it to resolve indices and ranges.
#[derive(Clone, Copy)]
pub struct Context<'p> {
    pub(super) pte: &'p Pte<'p>,
    pub(super) plan: ExecutionPlan<'p>,
}

impl<'p> Context<'p> {
    pub fn name(self) -> &'p str {
        proven(self.plan.name(), "plan-name-missing", "")
    }

    pub(super) fn values(self) -> Tables<'p, EValue<'p>> {
        proven(self.plan.values(), "plan-values-missing", Tables::default())
    }
}

/// Shows only the name, since the parts of a method refer back to the method.
impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Method").field(&self.name()).finish()
    }
}
