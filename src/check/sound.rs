//! Sound files: accessors without `Option`, for files that break no rule of severity Error.
//!
//! A [`Pte`] has a proven structure, and a [`Program`] is also sound. Only [`Pte::sound`] creates
//! one, so the type is the proof: no part of its tensors, data and calls is missing or invalid.
//! In the same way, a sound [`Ptd`] becomes [`Data`].
//!
//! Accessors return an `Option` only if absence has a meaning, or is only a Note or a Warning.
//!
//! ```
//! use pte::Sound;
//! use pte::sound::{Operation, Value};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
//! let program = pte::Pte::read(bytes)?.sound()?;
//! for method in program.methods() {
//!     for chain in method.chains() {
//!         for instruction in chain.instructions() {
//!             let Operation::Kernel { operator, args } = instruction else { continue };
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

use crate::{Check, Report, Severity};
use pte_core::{Ptd, Pte};

mod code;
mod data;
mod list;
mod members;
mod method;
mod operand;
mod program;
mod proof;
mod tensor;
mod value;

pub use code::{Chain, CompileSpec, Delegate, Operation, Operator};
pub use data::{Data, DataEntry};
pub use list::{Items, ValueList};
pub use method::Method;
pub use operand::Operand;
pub use program::Program;
pub use tensor::{DataSource, Dtype, Tensor, TensorShape};
pub use value::Value;

/// Files whose types need fewer options if no rule of severity Error is broken.
pub trait Sound {
    /// The sound form.
    type Sound;

    /// Checks the file, with the limits for untrusted files. It is sound if it breaks no rule of
    /// severity Error.
    ///
    /// Data in a `.ptd` is not resolved, since a program is checked without other files.
    ///
    /// ```
    /// use pte::sound::Sound;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let bytes = include_bytes!("../../tests/data/ptd/ptd_basic.ptd");
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
    /// The report, if it has an Error.
    fn sound(self) -> Result<Self::Sound, Report>;
}

impl<'a> Sound for Pte<'a> {
    type Sound = Program<'a>;

    fn sound(self) -> Result<Program<'a>, Report> {
        let report = without_error(self.check())?;
        Ok(Program { pte: self, report })
    }
}

impl<'a> Sound for Ptd<'a> {
    type Sound = Data<'a>;

    fn sound(self) -> Result<Data<'a>, Report> {
        let report = without_error(self.check())?;
        Ok(Data { index: self.index(), ptd: self, report })
    }
}

fn without_error(report: Report) -> Result<Report, Report> {
    if report.worst() == Some(Severity::Error) { Err(report) } else { Ok(report) }
}
