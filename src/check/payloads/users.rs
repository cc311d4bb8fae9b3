//! The delegates of a program, by the payload that they share, and their calls.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::RequestedKeys;
use super::rules_of;
use crate::site::Plan;
use pte_core::method::{self, Instruction};
use pte_core::{Backend, Pte};
use pte_flat::bytes::narrow;
use pte_flat::cost;
use pte_schema::program::view::{DelegateCall, ExecutionPlan, InstructionArguments};

/// A delegate that has a payload. The struct is small: a file may list a delegate every four bytes.
pub(super) struct User {
    /// The index of the delegate's method in [`Users::plans`].
    pub(super) plan: u32,
    /// The index of the delegate.
    pub(super) delegate: u32,
    /// The range of the delegate's calls in [`Users::calls`].
    pub(super) calls: Range<u32>,
}

/// The index of a delegate, an instruction that calls the delegate, and the call.
pub(super) type DelegateInstruction<'a> = (i32, Instruction<'a>, DelegateCall<'a>);

/// The delegates that have payloads with rules.
pub(super) struct Users<'p, 'a> {
    pub(super) plans: Vec<Plan<'p, 'a>>,
    /// The calls, sorted by method and delegate, then in the order of the file.
    pub(super) calls: Vec<DelegateInstruction<'a>>,
    pub(super) by_range: BTreeMap<(u64, u64, Backend), Vec<User>>,
}

impl<'p, 'a> Users<'p, 'a> {
    pub(super) fn of(pte: &'p Pte<'a>, requested: &mut RequestedKeys) -> Self {
        let (mut plans, mut calls) = (Vec::new(), Vec::new());
        let mut by_range: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (nth, view) in method::distinct(pte) {
            if view.delegates().is_none_or(|delegates| delegates.is_empty()) {
                continue;
            }
            let first = calls.len();
            calls.extend(calls_of(view));
            let own = calls.get_mut(first..).unwrap_or_default();
            cost::sort(own.len());
            own.sort_by_key(|&(delegate, ..)| delegate);
            let own = calls.get(first..).unwrap_or_default();
            for (delegate, table) in (0u32..).zip(view.delegates().into_iter().flatten()) {
                // Other rules report delegates without a payload, and payloads that do not resolve.
                let Ok(Some(payload)) = pte.payload(table) else { continue };
                // The keys that other payloads request are unknown.
                let rules = payload.backend().and_then(rules_of);
                requested.is_incomplete |= rules.is_none_or(|rules| !rules.has_keys);
                // Of some backends there are no genuine samples to hold a rule against.
                if let Some(backend) = payload.backend().filter(|backend| backend.has_samples()) {
                    let Range { start, end } = payload.range();
                    cost::look_up("", by_range.len());
                    cost::look_up("", own.len());
                    let called = |&(of, ..): &DelegateInstruction<'_>| i64::from(of);
                    let at = |bound: i64| {
                        let before = own.partition_point(|call| called(call) < bound);
                        narrow(first.saturating_add(before))
                    };
                    let bound = i64::from(delegate);
                    let calls = at(bound)..at(bound.saturating_add(1));
                    let user = User { plan: narrow(plans.len()), delegate, calls };
                    by_range.entry((start, end, backend)).or_default().push(user);
                }
            }
            plans.push(Plan::new(pte, nth, view));
        }
        Self { plans, calls, by_range }
    }
}

/// Returns the calls of delegates of a method, each with the index of the delegate.
fn calls_of(view: ExecutionPlan<'_>) -> impl Iterator<Item = DelegateInstruction<'_>> {
    method::instructions(view).filter_map(|instruction| {
        cost::charge(1);
        match instruction.operation() {
            Some(InstructionArguments::DelegateCall(call)) => {
                Some((call.delegate_index(), instruction, call))
            }
            _ => None,
        }
    })
}
