//! What calls do with the memory of their arguments, for those who ask where data lives.

use alloc::vec::Vec;

use super::kernels::{Kernels, Kind};
use super::spot::Plan;
use crate::Pte;
use crate::flat::view::Vector;
use crate::schema::program::view::{ExecutionPlan, KernelCall, KernelTypes};

/// What the operators of a plan do with their arguments.
pub(crate) struct Roles<'p, 'a> {
    plan: Plan<'p, 'a>,
    kernels: Kernels,
}

/// What a call does with one of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Its data or its shape is read.
    Read,
    /// It is written, or replaced by a result.
    Written,
    /// It becomes the tensor, or a view of the tensor, that is the first argument.
    Alias,
}

impl<'p, 'a> Roles<'p, 'a> {
    pub(crate) fn of(pte: &'p Pte<'a>, plan: ExecutionPlan<'a>) -> Self {
        let plan = Plan::new(pte, 0, plan);
        let kernels = Kernels::of(&plan);
        Self { plan, kernels }
    }

    /// The arguments of a call, and what is done with each: what is read stands first.
    pub(crate) fn kernel(&self, call: KernelCall<'a>) -> Vec<(i32, Role)> {
        let mut roles = self.known(call).unwrap_or_else(|| self.stranger(call));
        roles.sort_by_key(|&(_, role)| role);
        roles
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
        let items = self.list(last).filter(|list| list.len() <= before.len());
        let items: Vec<_> = items.into_iter().flatten().collect();
        let count = match before.ends_with(&items) {
            true if !items.is_empty() => items.len(),
            _ => {
                let repeats = |&count: &usize| {
                    let (front, back) = args.split_at(args.len().saturating_sub(count));
                    front.ends_with(back)
                };
                (1..=MOST_RESULTS.min(before.len())).rev().find(repeats).unwrap_or_default()
            }
        };
        let mut results = before.split_at(before.len().saturating_sub(count)).1.to_vec();
        results.push(last);
        results.sort_unstable();
        let is_result = |index: i32| results.binary_search(&index).is_ok();
        let role = |index| if is_result(index) { Role::Written } else { Role::Read };
        args.iter().map(|&index| (index, role(index))).collect()
    }

    /// The items of a list of tensors.
    pub(crate) fn list(&self, index: i32) -> Option<Vector<'a, i32>> {
        match self.plan.value(index.into())? {
            KernelTypes::TensorList(list) => list.items(),
            _ => None,
        }
    }
}

/// More results than any operator has.
const MOST_RESULTS: usize = 16;
