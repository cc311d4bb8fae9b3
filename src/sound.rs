//! Files in which nothing is wrong: what the rules have proven needs no `Option`.
//!
//! [`Pte`] says that a file can be read, [`Program`] that it also makes sense: no rule of severity
//! Error is broken. There is no other way to make one than [`Pte::sound`], so the type is the proof,
//! and its owner asks for tensors, data and calls without a case for what cannot be. [`Ptd`]
//! becomes [`Data`] in the same way.
//!
//! An `Option` is left where absence has a meaning, or where only a Note or a Warning speaks of it.
//!
//! ```
//! use pte::sound::{Instruction, Value};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = include_bytes!("../tests/data/pte/linear.pte");
//! let program = pte::Pte::read(bytes)?.sound()?;
//! for method in program.methods() {
//!     for chain in method.chains() {
//!         for instruction in chain.instructions() {
//!             let Instruction::Kernel { operator, args } = instruction else { continue };
//!             println!("{operator}");
//!             for arg in args {
//!                 if let Value::Tensor(tensor) = arg.value() {
//!                     println!("  {} bytes, {:?}", tensor.shape().nbytes(), tensor.storage());
//!                 }
//!             }
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```

use crate::check::{Report, Severity};
use crate::flat::view::{Proof, Raw, Table};
use crate::{Ptd, Pte};

mod code;
mod data;
mod list;
mod method;
mod program;
mod tensor;
mod value;

pub use code::{Chain, CompileSpec, Delegate, Instruction, Operator};
pub use data::{Data, Entry};
pub use list::{Items, List, Operand};
pub use method::Method;
pub use program::Program;
pub use tensor::{Dtype, Shape, Storage, Tensor};
pub use value::Value;

impl<'a> Pte<'a> {
    /// Judges the program, with the limits for untrusted files; it is sound if no rule of
    /// severity Error is broken.
    ///
    /// Data that is in a `.ptd` is not looked for: a program is sound by itself.
    ///
    /// # Errors
    ///
    /// Everything that was found, where that is so bad.
    pub fn sound(self) -> Result<Program<'a>, Report> {
        let report = without_error(self.check())?;
        Ok(Program { pte: self, report })
    }
}

impl<'a> Ptd<'a> {
    /// Judges the data file, with the limits for untrusted files; it is sound if no rule of
    /// severity Error is broken.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let bytes = include_bytes!("../tests/data/ptd/ptd_basic.ptd");
    /// let data = pte::Ptd::read(bytes)?.sound()?;
    /// for entry in data.entries() {
    ///     println!("{:?}: {} bytes", entry.key(), entry.range().end - entry.range().start);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Everything that was found, where that is so bad.
    pub fn sound(self) -> Result<Data<'a>, Report> {
        let report = without_error(self.check())?;
        Ok(Data { index: self.index(), ptd: self, report })
    }
}

fn without_error(report: Report) -> Result<Report, Report> {
    if report.worst() == Some(Severity::Error) { Err(report) } else { Ok(report) }
}

/// What is there, as `rules` have proven: no file that breaks them gets here. In a debug build the
/// contrary stops the program; a release build goes on with something harmless.
///
/// This is the one place where anything is taken for granted. The rules are named, by their ids, so
/// that a test can hold each of them to be an Error.
#[inline]
fn proven<T>(found: Option<T>, rules: &'static str, otherwise: T) -> T {
    debug_assert!(found.is_some(), "not there, in spite of {rules}");
    found.unwrap_or(otherwise)
}

/// A table without fields, for [`proven`] to go on with.
fn bare<'a, T: Table<'a>>() -> T {
    T::from_raw(Raw::BARE, Proof(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::program::view;

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "in spite of tensor-dtype"))]
    fn what_was_proven_and_is_not_there_stops_a_debug_build_alone() {
        assert_eq!(proven(Some(1), "tensor-dtype", 0), 1);
        assert_eq!(proven(None, "tensor-dtype", 7), 7);
    }

    #[test]
    fn a_bare_table_has_no_fields() {
        let tensor = bare::<view::Tensor<'_>>();
        assert!(tensor.sizes().is_none() && tensor.extra_tensor_info().is_none());
        assert_eq!(tensor.data_buffer_idx(), 0);
        assert!(bare::<view::EValue<'_>>().val().is_none());
    }
}
