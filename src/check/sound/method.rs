//! A method.

use core::fmt;

use super::proof::proven;
use pte_core::Pte;
use pte_flat::view::Vector;
use pte_schema::program::view::ExecutionPlan;

/// A method of a sound program.
#[derive(Clone, Copy)]
pub struct Method<'p> {
    pub(super) pte: &'p Pte<'p>,
    pub(super) plan: ExecutionPlan<'p>,
}

impl<'p> Method<'p> {
    /// Returns the name of the method.
    pub fn name(self) -> &'p str {
        proven(self.plan.name(), "plan-name-missing", "")
    }

    /// Returns the size of each arena in bytes. The first is that of arena 1, since entry 0 in the
    /// file is reserved.
    pub fn arenas(self) -> impl ExactSizeIterator<Item = u64> {
        let sizes = self.plan.non_const_buffer_sizes();
        let sizes = proven(sizes, "plan-arenas-missing", Vector::default());
        let sizes = sizes.into_iter().skip(1);
        sizes.map(|size| proven(u64::try_from(size).ok(), "arena-negative", 0))
    }

    /// Returns the view of the method's table, with all fields of the file.
    pub fn view(self) -> ExecutionPlan<'p> {
        self.plan
    }
}

/// Shows only the name, since the parts of a method refer back to the method.
impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Method").field(&self.name()).finish()
    }
}
