//! Operators: the signatures and contracts of the official runtime's operators, and which operators
//! programs call.

use alloc::string::String;
use alloc::vec::Vec;

use pte_flat::bytes::until_nul;
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;
use pte_schema::program::view::{ExecutionPlan, KernelCall, Operator};

pub mod contracts;
mod kernel;
mod kernels;
mod kind;
mod library;
mod registered;
mod registration;
mod scalar;
pub mod selected;
pub mod usage;
mod yaml;

pub use kernel::{Copied, Hazard, Kernel, OLDEST};
pub use kernels::{KERNELS, argument_names, kernel, rearranges};
pub use kind::{Gives, Kind, Kinds};
pub use library::{LIBRARIES, Library};
pub use scalar::{LOCAL_SCALAR_DENSE, Scalar};

/// What is known of each operator of a method, by operator index.
#[derive(Debug)]
pub struct Signatures(Vec<Option<&'static Kernel>>);

impl Signatures {
    /// Looks up each operator of `plan` once.
    pub fn of(plan: ExecutionPlan<'_>) -> Self {
        let operators = plan.operators().into_iter().flatten();
        let mut all = Vec::with_capacity(plan.operators().map_or(0, |all| all.len()));
        all.extend(operators.map(|operator| kernel(&name_until_nul(operator))));
        Self(all)
    }

    /// Returns each operator, if it is known.
    pub fn iter(&self) -> impl Iterator<Item = Option<&'static Kernel>> {
        self.0.iter().copied()
    }

    /// Returns whether any operator of the method is known.
    pub fn are_known(&self) -> bool {
        cost::charge(self.0.len());
        self.0.iter().any(Option::is_some)
    }

    /// Returns whether the operator at `index` is known.
    pub fn is_known(&self, index: usize) -> bool {
        self.0.get(index).is_some_and(Option::is_some)
    }

    /// Returns the called operator, if it is known.
    pub fn kernel(&self, call: KernelCall<'_>) -> Option<&'static Kernel> {
        *self.0.get(usize::try_from(call.op_index()).ok()?)?
    }

    /// Returns the arguments of a call with their kinds. `None` if the operator is unknown or the
    /// number of arguments does not match.
    pub fn args<'a>(
        &self,
        call: KernelCall<'a>,
    ) -> Option<impl Iterator<Item = (u32, i32, Kind)> + use<'a>> {
        let letters = self.kernel(call)?.letters;
        let args = call.args().filter(|args| args.len() == letters.len())?;
        let kinds = letters.chars().filter_map(Kind::of);
        Some((0..).zip(args).zip(kinds).map(|((nth, index), kind)| (nth, index, kind)))
    }
}

/// Returns an operator's full name as the runtime reads it: each part ends at its first NUL.
pub fn name_until_nul(operator: Operator<'_>) -> String {
    let (name, overload) = (operator.name().unwrap_or_default(), operator.overload());
    joined(until_nul(name), until_nul(overload.unwrap_or_default()))
}

/// Returns an operator's name with its overload, as the runtime looks it up: `aten::add.out`.
pub fn operator_name(operator: Operator<'_>) -> UntrustedString {
    joined(operator.name().unwrap_or_default(), operator.overload().unwrap_or_default()).into()
}

/// Joins a name and its overload, which may be empty, by a point.
fn joined(name: &str, overload: &str) -> String {
    let mut full =
        String::with_capacity(name.len().saturating_add(overload.len()).saturating_add(1));
    full.push_str(name);
    if !overload.is_empty() {
        full.push('.');
        full.push_str(overload);
    }
    full
}
