//! The delegates of a program, by the payload that they share, and their calls.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::RequestedKeys;
use super::rules_of;
use crate::site::Plan;
use pte_core::method::{self, Instruction};
use pte_core::{Backend, Pte};
use pte_flat::bytes::{index as at_index, narrow};
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

/// The place of an instruction that calls a delegate. The struct is small: a file may list a call every four bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DelegateInstruction {
    /// The index of the delegate.
    delegate: i32,
    /// The index of the chain.
    chain: u32,
    /// The index in the chain.
    index: u32,
}

impl DelegateInstruction {
    /// Decodes the instruction; its pc counts from the beginning of its chain.
    pub(super) fn read<'a>(
        self,
        view: ExecutionPlan<'a>,
    ) -> Option<(Instruction<'a>, DelegateCall<'a>)> {
        let chain = view.chains()?.get(at_index(self.chain))?;
        let instruction = method::instruction_of_chain(self.chain, chain, self.index)?;
        match instruction.operation() {
            Some(InstructionArguments::DelegateCall(call)) => Some((instruction, call)),
            _ => None,
        }
    }
}

/// The delegates that have payloads with rules.
pub(super) struct Users<'p, 'a> {
    pub(super) plans: Vec<Plan<'p, 'a>>,
    /// The calls, sorted by method and delegate, then in the order of the file.
    pub(super) calls: Vec<DelegateInstruction>,
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
            own.sort_unstable();
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
                    let called = |call: &DelegateInstruction| i64::from(call.delegate);
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

/// Returns the calls of delegates of a method.
fn calls_of(view: ExecutionPlan<'_>) -> impl Iterator<Item = DelegateInstruction> {
    method::instructions(view).filter_map(|instruction| {
        cost::charge(1);
        match instruction.operation() {
            Some(InstructionArguments::DelegateCall(call)) => Some(DelegateInstruction {
                delegate: call.delegate_index(),
                chain: instruction.chain(),
                index: instruction.index(),
            }),
            _ => None,
        }
    })
}
