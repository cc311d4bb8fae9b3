//! What calls do with the memory of their arguments, for those who ask where data lives.

use core::fmt;

use alloc::vec::Vec;

use super::kernels::Kernels;
use super::spot::Plan;
use crate::Pte;
use crate::flat::view::Vector;
use crate::operators::Kind;
use crate::schema::program::view::{DelegateCall, ExecutionPlan, KernelCall, KernelTypes};

/// What the calls of a method do with their arguments.
///
/// The file does not say it. What the operators of the official runtime write is known from their
/// signatures; for others, and for delegates, it is told by the order of arguments (format.md §6.5).
pub struct Roles<'p, 'a> {
    plan: Plan<'p, 'a>,
    kernels: Kernels,
}

/// What a call does with one of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// Its data or its shape is read.
    Read,
    /// It is written, or replaced by a result.
    Written,
    /// It becomes the tensor, or a view of the tensor, that is the first argument.
    Alias,
}

impl<'p, 'a> Roles<'p, 'a> {
    /// Of `plan`, a method of `pte`. Takes as long as it has operators.
    pub fn of(pte: &'p Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let plan = Plan::new(pte, 0, plan);
        let kernels = Kernels::of(&plan);
        Self { plan, kernels }
    }

    /// The arguments of a call of an operator, as indices of values, and what is done with each: what
    /// is read stands first. Results that are named a second time are told a second time, and so is a
    /// list of them.
    pub fn kernel(&self, call: KernelCall<'a>) -> Vec<(i32, Role)> {
        let mut roles = self.known(call).unwrap_or_else(|| self.stranger(call));
        roles.sort_by_key(|&(_, role)| role);
        roles
    }

    /// The arguments of a call of a delegate, in their order: inputs, then outputs. How many are inputs
    /// the file does not say; but whatever `is_there` already, since it is an input of the method, has
    /// data in the file or was written before, is one, and so is what stands in front of it.
    pub fn delegate(
        &self,
        call: DelegateCall<'a>,
        is_there: impl Fn(i32) -> bool,
    ) -> Vec<(i32, Role)> {
        let args: Vec<_> = call.args().into_iter().flatten().collect();
        let inputs = args.iter().rposition(|&index| is_there(index));
        let inputs = inputs.map_or(0, |last| last.saturating_add(1));
        let role = |nth: usize| if nth < inputs { Role::Read } else { Role::Written };
        args.iter().enumerate().map(|(nth, &index)| (index, role(nth))).collect()
    }

    fn known(&self, call: KernelCall<'a>) -> Option<Vec<(i32, Role)>> {
        let (_, letters) = self.kernels.signature(call)?;
        // The result of an operator that works in place is its first argument, of which it may
        // change a part.
        let first = letters.chars().next().and_then(Kind::of);
        let has_result = letters.chars().filter_map(Kind::of).any(|kind| kind.gives().is_some());
        let is_in_place = has_result && first.is_some_and(Kind::is_written);
        let mut has_written = false;
        let roles = self.kernels.args(call)?.map(|(nth, index, kind)| {
            let role = match kind.gives() {
                _ if kind.is_view() => Role::Alias,
                Some(_) if is_in_place => Role::Alias,
                Some(_) => Role::Written,
                None if is_in_place && nth == 0 => Role::Read,
                None if kind.is_written() => {
                    has_written = true;
                    Role::Written
                }
                // Results are named a second time, one by one or as a list, and not read there.
                None if kind.is_anything() && has_written => Role::Written,
                None => Role::Read,
            };
            (index, role)
        });
        Some(roles.collect())
    }

    /// Of an operator that nobody knows, the file does not say what it writes. But every exporter
    /// puts the results behind the rest, and names them a second time at the end: one by one, or
    /// as a list of them.
    fn stranger(&self, call: KernelCall<'a>) -> Vec<(i32, Role)> {
        let args: Vec<_> = call.args().into_iter().flatten().collect();
        let Some((&last, before)) = args.split_last() else { return Vec::new() };
        let list = self.list(last);
        let items: Vec<_> =
            list.filter(|list| list.len() <= before.len()).into_iter().flatten().collect();
        let is_list_again =
            |&other: &i32| list.is_some() && self.list(other).is_some_and(|of| is_same(of, list));
        // From there on all are results.
        let reads = match () {
            () if !items.is_empty() && before.ends_with(&items) => {
                before.len().saturating_sub(items.len())
            }
            () if before.last().is_some_and(is_list_again) => before.len().saturating_sub(1),
            () => {
                let repeats = |&count: &usize| {
                    let (front, back) = args.split_at(args.len().saturating_sub(count));
                    front.ends_with(back)
                };
                let count = (1..=MOST_RESULTS.min(before.len())).rev().find(repeats);
                let twice = count.map(|count| count.saturating_mul(2));
                args.len().saturating_sub(twice.unwrap_or(1))
            }
        };
        let role = |nth: usize| if nth < reads { Role::Read } else { Role::Written };
        args.iter().enumerate().map(|(nth, &index)| (index, role(nth))).collect()
    }

    /// The items of a list of tensors.
    pub(crate) fn list(&self, index: i32) -> Option<Vector<'a, i32>> {
        match self.plan.value(index.into())? {
            KernelTypes::TensorList(list) => list.items(),
            _ => None,
        }
    }
}

impl fmt::Debug for Roles<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roles").finish_non_exhaustive()
    }
}

/// Whether two lists have the same tensors, as far as it is worth looking.
fn is_same(list: Vector<'_, i32>, other: Option<Vector<'_, i32>>) -> bool {
    other.is_some_and(|other| {
        list.len() == other.len()
            && !list.is_empty()
            && list.iter().zip(other).take(MOST_RESULTS).all(|(one, other)| one == other)
    })
}

/// More results than any operator has.
const MOST_RESULTS: usize = 16;
