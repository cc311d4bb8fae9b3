//! Judges the instructions of a method: each call by itself if no value changes, else by dataflow.

use super::calls;
use super::dataflow::{self, Judge, State};
use super::kernels::Kernels;
use super::report::Findings;
use super::site::Plan;
use super::values::Values;

/// Judges the operators and instructions of a method.
pub(super) fn check(plan: &Plan<'_, '_>, values: &Values, out: &mut Findings) {
    if plan.view.chains().is_none() {
        return;
    }
    let mut kernels = Kernels::of(plan);
    if values.are_dynamic() {
        kernels.watch_sizes(plan);
    }
    kernels.watch_indices(plan);
    let is_still = dataflow::is_still(plan, values, &kernels);
    let judge = Judge { plan, values, kernels: &kernels };
    let by_itself = |call| judge.kernel(call, &State::still(), |_| 0);
    let by_itself = (is_still && kernels.signatures.are_known()).then_some(by_itself);
    let has_other = calls::check(plan, values, &kernels, by_itself, out);
    if !is_still || has_other {
        dataflow::check(judge, out);
    }
}
