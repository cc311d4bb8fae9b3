//! The operators that a release lacks, and the dtypes that its kernels do not take.

use alloc::string::String;

use super::{OPERATOR_DTYPE, OPERATOR_NEWER};
use crate::kernels::MOST_ITEMS;
use crate::report::Findings;
use crate::site::Plan;
use pte_core::operators::{self, Kernel, Signatures};
use pte_core::release::{NEWEST, Release, was_run};
use pte_core::{Pte, method};
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::program::view::{InstructionArguments, KernelCall, KernelTypes};
use pte_schema::scalar::ScalarType;

/// Judges the operators that methods call, and the dtypes of their calls. The operators of the first releases are not
/// known.
pub(super) fn judge(pte: &Pte<'_>, release: Release, out: &mut Findings) {
    if release >= operators::OLDEST {
        called_operators(pte, release, out);
        dtypes_of_calls(pte, release, out);
    }
}

/// Judges the operators that the methods call. The runtime does not look up the others.
fn called_operators(pte: &Pte<'_>, release: Release, out: &mut Findings) {
    for (nth, plan) in method::distinct(pte) {
        let Some(all) = plan.operators() else { continue };
        let mut is_called = vec![false; all.len()];
        for instruction in method::instructions(plan) {
            let Some(InstructionArguments::KernelCall(call)) = instruction.operation() else {
                continue;
            };
            let operator = usize::try_from(call.op_index()).ok();
            if let Some(called) = operator.and_then(|operator| is_called.get_mut(operator)) {
                *called = true;
            }
        }
        for ((index, operator), is_called) in (0..).zip(all).zip(is_called) {
            if !is_called {
                continue;
            }
            let name = operators::name_until_nul(operator);
            let since = operators::kernel(&name).map(|kernel| kernel.since);
            let Some(brought) = since.filter(|since| *since > release) else {
                continue;
            };
            let path = || path!["program", "execution_plan", nth, "operators", index].to_vec();
            out.find(&OPERATOR_NEWER, operator.raw().pos().into(), path, || {
                is_newer(&name, brought, release)
            });
        }
    }
}

/// Returns the message about an operator that a later release than `release` brought.
pub(crate) fn is_newer(name: &str, brought: Release, release: Release) -> String {
    let ((since, minor), (major, of)) = (brought, release);
    format!("{name} came with release {since}.{minor}, and the file is for {major}.{of}")
}

/// Judges the dtypes of the tensors that the methods' calls get. Each operator is reported once with each dtype.
fn dtypes_of_calls(pte: &Pte<'_>, release: Release, out: &mut Findings) {
    let release = release.min(NEWEST);
    if !was_run(release) {
        return;
    }
    for (nth, view) in method::distinct(pte) {
        let plan = Plan::new(pte, nth, view);
        let signatures = Signatures::of(view);
        let mut reported = vec![0u64; view.operators().map_or(0, |all| all.len())];
        // A moved value may have another dtype than the one in the file.
        let mut is_moved = plan.each(false);
        let moves = method::instructions(view).filter_map(|one| match one.operation() {
            Some(InstructionArguments::MoveCall(call)) => usize::try_from(call.move_to()).ok(),
            _ => None,
        });
        moves.for_each(|value| {
            if let Some(moved) = is_moved.get_mut(value) {
                *moved = true;
            }
        });
        for instruction in method::instructions(view) {
            let Some(call) = instruction.kernel_call() else { continue };
            let Some(kernel) = signatures.kernel(call) else { continue };
            let Some((arg, dtype)) = typed_arg(&plan, kernel, call, &is_moved) else { continue };
            if kernel.takes(release, dtype) != Some(false) {
                continue;
            }
            let operator = usize::try_from(call.op_index()).ok();
            let Some(reported) = operator.and_then(|operator| reported.get_mut(operator)) else {
                continue;
            };
            let bit = u32::try_from(dtype.0).ok().and_then(|code| 1u64.checked_shl(code));
            let is_new = bit.is_some_and(|bit| *reported & bit == 0);
            *reported |= bit.unwrap_or_default();
            if is_new {
                let path = path!["args", arg];
                plan.find_instruction(out, &OPERATOR_DTYPE, &instruction, &path, || {
                    let (name, (major, minor)) = (kernel.name, release);
                    format!("the kernel of {name} in release {major}.{minor} does not take {dtype}")
                });
            }
        }
    }
}

/// Returns the argument of a call that decides about its dtype, and that dtype.
fn typed_arg(
    plan: &Plan<'_, '_>,
    kernel: &Kernel,
    call: KernelCall<'_>,
    is_moved: &[bool],
) -> Option<(u32, ScalarType)> {
    let args = call.args().filter(|args| args.len() == kernel.letters.len())?;
    let arg = kernel.typed_arg()?;
    let mut value = args.get(arg)?;
    let is_fixed =
        |value: i32| usize::try_from(value).is_ok_and(|value| is_moved.get(value) == Some(&false));
    if !is_fixed(value) {
        return None;
    }
    if let Some(items) = method::items(plan.view, value) {
        value = items.into_iter().take(MOST_ITEMS).find(|&item| item >= 0)?;
    }
    match plan.value(value.into())? {
        KernelTypes::Tensor(tensor) if is_fixed(value) => {
            Some((u32::try_from(arg).ok()?, tensor.scalar_type()))
        }
        _ => None,
    }
}
