//! What calls do with their arguments: what they read, and what they write.
//!
//! ```
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../tests/data/pte/add.pte");
//! use pte::roles::{Role, Roles};
//! use pte::schema::program::view::InstructionArguments;
//!
//! let pte = pte::Pte::read(bytes)?;
//! for plan in pte.program().execution_plan().into_iter().flatten() {
//!     let roles = Roles::of(&pte, plan);
//!     let chains = plan.chains().into_iter().flatten();
//!     for instruction in chains.flat_map(|chain| chain.instructions()).flatten() {
//!         if let Some(InstructionArguments::KernelCall(call)) = instruction.instr_args() {
//!             let all = roles.kernel(call);
//!             let written = all.iter().filter(|(_, role)| *role == Role::Written);
//!             // The sum is named as the result, and once more behind it.
//!             assert!(written.map(|(value, _)| *value).eq([2, 2]));
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The table of operators by which it is known is the rules' ([`check`](crate::check)).

pub use crate::check::roles::{Role, Roles};
