//! Rules on what a build of the runtime links: the kernels and backends that a program needs.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::calls::LONGEST_NAME;
use super::kernels::MOST_ITEMS;
use super::report::Findings;
use super::rule::rules;
use super::site::Plan;
use pte_core::operators::selected::SelectedOperators;
use pte_core::operators::{Library, name_until_nul};
use pte_core::release::{NEWEST, Release};
use pte_core::{Pte, method};
use pte_flat::bytes::until_nul;
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;
use pte_schema::program::view::{KernelCall, Operator};
use pte_schema::scalar::ScalarType;

rules! {
    "linked";

    OPERATOR_MISSING = Error "operator-missing"
        "The build of the runtime that the file is judged for has a kernel for each call."
        "Loading the method fails with status 0x14 (OperatorMissing)."
        "Link the library that has the operator, as a whole archive: nothing refers to its kernels. `ops` names it."
        Refuses ["6.11"];
    BACKEND_MISSING = Error "backend-missing"
        "The build of the runtime that the file is judged for has the backend of each delegate."
        "Loading the method fails with status 0x20 (NotFound)."
        "Link the backend, as a whole archive: nothing refers to it. Or lower the model for a backend that is linked."
        Refuses ["7.4.14"];
}

/// A build of the runtime: what it links.
#[derive(Clone, Debug, Default)]
pub struct RuntimeBuild {
    /// The operators that it has kernels of; `None` if they are not judged.
    pub kernels: Option<SelectedOperators>,
    /// The ids of its backends; `None` if they are not judged.
    pub backends: Option<BTreeSet<String>>,
}

/// Reports the calls and delegates that `build` cannot load: each operator, and each of its dtypes, once a method.
pub(super) fn judge(
    pte: &Pte<'_>,
    build: &RuntimeBuild,
    release: Option<Release>,
    out: &mut Findings,
) {
    for (nth, view) in method::distinct(pte) {
        let plan = Plan::new(pte, nth, view);
        if let Some(kernels) = &build.kernels {
            judge_calls(&plan, kernels, release.unwrap_or(NEWEST), out);
        }
        if let Some(backends) = &build.backends {
            judge_delegates(&plan, backends, out);
        }
    }
}

/// Returns the name of an operator, or the beginning of one that is too long for the runtime: operators
/// may share a name of any length.
fn name(operator: Operator<'_>) -> String {
    let len = |text: Option<&str>| text.map_or(0, str::len);
    if len(operator.name()).saturating_add(len(operator.overload())) < LONGEST_NAME {
        return name_until_nul(operator);
    }
    let text = until_nul(operator.name().unwrap_or_default());
    text.chars().take(LONGEST_NAME / 4).chain("…".chars()).collect()
}

/// An operator of a method.
struct Called {
    name: String,
    is_missing: bool,
    /// The dtypes that the build lacks kernels for: a bit for each.
    lacks: u64,
    is_reported: bool,
}

fn judge_calls(
    plan: &Plan<'_, '_>,
    kernels: &SelectedOperators,
    release: Release,
    out: &mut Findings,
) {
    let mut operators: Vec<_> = plan
        .view
        .operators()
        .into_iter()
        .flatten()
        .map(|operator| {
            let name = name(operator);
            cost::charge(name.len());
            let lacks = |&code: &i8| !kernels.contains_dtype(&name, ScalarType(code));
            let lacks = (0..64).filter(lacks).fold(0, |bits, code| bits | bit(ScalarType(code)));
            Called { is_missing: !kernels.contains(&name), lacks, is_reported: false, name }
        })
        .collect();
    for instruction in method::instructions(plan.view) {
        cost::charge(1);
        let Some(call) = instruction.kernel_call() else { continue };
        let operator = usize::try_from(call.op_index()).ok();
        let Some(called) = operator.and_then(|operator| operators.get_mut(operator)) else {
            continue;
        };
        let name = Quoted(&called.name);
        if called.is_missing {
            if !core::mem::replace(&mut called.is_reported, true) {
                plan.find_instruction(out, &OPERATOR_MISSING, &instruction, &[], || {
                    match Library::to_link(&called.name, release) {
                        Some(Library { name: library, target, .. }) => format!(
                            "no linked library has {name}: link {library} (CMake target {target})"
                        ),
                        None => format!(
                            "no linked library has {name}, nor has any of ExecuTorch's: register a kernel for it"
                        ),
                    }
                });
            }
        } else if called.lacks != 0 {
            for dtype in dtypes(plan, call) {
                if called.lacks & bit(dtype) != 0 {
                    called.lacks &= !bit(dtype);
                    plan.find_instruction(out, &OPERATOR_MISSING, &instruction, &[], || {
                        format!("the kernels of {name} that are linked do not take {dtype}")
                    });
                }
            }
        }
    }
}

/// Returns the bit of a dtype; 0 for none that a kernel has.
fn bit(dtype: ScalarType) -> u64 {
    u32::try_from(dtype.0).ok().and_then(|code| 1u64.checked_shl(code)).unwrap_or_default()
}

/// Returns the dtypes of the tensors of a call: of a list, that of its first tensor, as in a kernel key.
fn dtypes<'a>(plan: &Plan<'a, '_>, call: KernelCall<'a>) -> impl Iterator<Item = ScalarType> {
    let args = call.args().into_iter().flatten();
    args.filter_map(|arg| {
        let items = method::items(plan.view, arg);
        let first =
            |items| Iterator::find(&mut Iterator::take(items, MOST_ITEMS), |&item: &i32| item >= 0);
        let tensor = match items {
            Some(items) => first(items.into_iter())?,
            None => arg,
        };
        Some(plan.tensor(tensor.into())?.scalar_type())
    })
}

fn judge_delegates(plan: &Plan<'_, '_>, backends: &BTreeSet<String>, out: &mut Findings) {
    for (nth, delegate) in (0..).zip(plan.view.delegates().into_iter().flatten()) {
        cost::charge(1);
        let Some(id) = delegate.id().map(until_nul) else { continue };
        if !backends.contains(id) {
            let path = path!["delegates", nth];
            plan.find(out, &BACKEND_MISSING, delegate.raw(), &path, || {
                format!("the backend {} is not linked", Quoted(id))
            });
        }
    }
}
