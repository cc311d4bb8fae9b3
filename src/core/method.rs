//! Methods: instructions, control flow, and the effects of instructions on values.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../tests/data/pte/add.pte");
//! use pte::method::{self, Access, Definitions, Effects};
//!
//! let pte = pte::Pte::read(bytes)?;
//! for plan in pte.program().execution_plan().into_iter().flatten() {
//!     let effects = Effects::of(plan);
//!     let mut definitions = Definitions::of(&pte, plan);
//!     for instruction in method::instructions(plan) {
//!         let all = effects.accesses(&instruction, &definitions);
//!         definitions.record(&instruction, &all);
//!         let written = all.iter().filter(|(_, access)| *access == Access::Write);
//!         // The call names the sum twice: as the result, and again at the end.
//!         assert!(written.map(|(value, _)| *value).eq([2, 2]));
//!         assert_eq!(definitions.first(2), Some(instruction.pc()));
//!     }
//! }
//! # Ok(())
//! # }
//! ```

use alloc::collections::BTreeSet;

use crate::pte::Pte;
use pte_flat::cost;
use pte_flat::view::Table;
use pte_schema::program::view::ExecutionPlan;

mod access;
mod cfg;
mod change;
mod defs;
mod effects;
mod instruction;

pub use access::{Access, items, written_items};
pub use cfg::{Loop, MethodControlFlow, OuterLoops};
pub use change::{ValueChange, for_each_change, for_each_changed, may_change, read_arguments};
pub use defs::Definitions;
pub use effects::Effects;
pub use instruction::{Instruction, Jump, Operands, instructions};
pub use instruction::{instruction_of_chain, instructions_of_chain};

/// Returns the methods of a program with their indices. An untrusted file may list one table
/// millions of times: the table is returned once.
pub fn distinct<'a>(pte: &Pte<'a>) -> impl Iterator<Item = (u32, ExecutionPlan<'a>)> {
    let mut returned = BTreeSet::new();
    let plans = (0..).zip(pte.program().execution_plan().into_iter().flatten());
    plans.filter(move |(_, view)| {
        cost::look_up("", returned.len());
        returned.insert(view.raw().pos())
    })
}
