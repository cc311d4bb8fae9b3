//! Storage: from when on a tensor has a place for its data.

use alloc::vec::Vec;

use super::kernels::{Kernels, Moment, jumps_back};
use super::spot::Plan;
use super::values::Values;
use crate::flat::view::Vector;
use crate::schema::program::tag;
use crate::schema::program::view::{InstructionArguments, KernelCall, KernelTypes};

/// When each value of a plan gets the place of its data.
pub(super) struct Storage {
    /// The instruction that brings it, by value; none at all where every tensor has its place from
    /// the start. A list has it when the last of its tensors does.
    since: Vec<Moment>,
}

/// From before the first instruction on.
const ALWAYS: Moment = (0, 0);
const NEVER: Moment = (u32::MAX, u32::MAX);

impl Storage {
    /// Who runs the method gives a place to its inputs and outputs. A delegate may give one to what
    /// it is called with, a view has that of its base, and what is moved brings its own.
    pub(super) fn of(plan: &Plan<'_, '_>, values: &Values, kernels: &Kernels) -> Self {
        let mut storage = Self { since: Vec::new() };
        if values.are_stored() {
            return storage;
        }
        storage.since = plan.each(ALWAYS);
        for &index in values.unstored() {
            storage.set(index.into(), NEVER);
        }
        for index in [plan.view.inputs(), plan.view.outputs()].into_iter().flatten().flatten() {
            storage.set(index.into(), ALWAYS);
        }
        if storage.settle() {
            return storage;
        }
        storage.delegates(plan, values);
        storage.brought(plan, kernels);
        for index in (0..).take(plan.len) {
            let Some(held) = list(plan, values, index) else { continue };
            let since = held.iter().filter_map(|item| storage.get(item.into())).max();
            storage.set(index, since.unwrap_or(ALWAYS));
        }
        storage.settle();
        storage
    }

    /// Forgets all moments where there is none but the start; tells whether that is so.
    fn settle(&mut self) -> bool {
        let settled = self.since.iter().all(|&since| since == ALWAYS);
        if settled {
            self.since.clear();
        }
        settled
    }

    /// Whether every tensor has its place from the start.
    pub(super) fn is_whole(&self) -> bool {
        self.since.is_empty()
    }

    /// Whether a tensor, or one of a list of them, has no place yet when that instruction is reached.
    pub(super) fn lacks(&self, index: i32, moment: Moment) -> bool {
        self.get(index.into()).is_some_and(|since| since >= moment)
    }

    /// What a delegate is called with.
    fn delegates(&mut self, plan: &Plan<'_, '_>, values: &Values) {
        let mut lists = plan.each(false);
        for chain in plan.view.chains().into_iter().flatten() {
            for instruction in chain.instructions().into_iter().flatten() {
                let Some(InstructionArguments::DelegateCall(call)) = instruction.instr_args()
                else {
                    continue;
                };
                for index in call.args().into_iter().flatten() {
                    self.set(index.into(), ALWAYS);
                    if let Some(list) = usize::try_from(index).ok().and_then(|i| lists.get_mut(i)) {
                        *list = true;
                    }
                }
            }
        }
        for (index, _) in (0..).zip(lists).filter(|(_, called)| *called) {
            for item in list(plan, values, index).into_iter().flatten() {
                self.set(item.into(), ALWAYS);
            }
        }
    }

    /// What views and moves bring.
    fn brought(&mut self, plan: &Plan<'_, '_>, kernels: &Kernels) {
        for (nth, chain) in (0..).zip(plan.view.chains().into_iter().flatten()) {
            let instructions = || (1u32..).zip(chain.instructions().into_iter().flatten());
            // Where something jumps back, what comes later may have happened.
            let loops =
                instructions().any(|(at, instruction)| jumps_back(at, instruction.instr_args()));
            for (at, instruction) in instructions() {
                let (from, to) = match instruction.instr_args() {
                    Some(InstructionArguments::MoveCall(call)) => {
                        (call.move_from(), call.move_to())
                    }
                    Some(InstructionArguments::KernelCall(call)) => {
                        let Some(view) = view(kernels, call) else { continue };
                        view
                    }
                    _ => continue,
                };
                let moment = (nth, if loops { 0 } else { at });
                if (loops || !self.lacks(from, (nth, at)))
                    && self.get(to.into()).is_some_and(|since| since > moment)
                {
                    self.set(to.into(), moment);
                }
            }
        }
    }

    fn get(&self, index: i64) -> Option<Moment> {
        self.since.get(usize::try_from(index).ok()?).copied()
    }

    fn set(&mut self, index: i64, moment: Moment) {
        let nth = usize::try_from(index).ok();
        if let Some(since) = nth.and_then(|nth| self.since.get_mut(nth)) {
            *since = moment;
        }
    }
}

/// The base and the view of a call that makes one.
pub(super) fn view(kernels: &Kernels, call: KernelCall<'_>) -> Option<(i32, i32)> {
    let (_, view, _) = kernels.args(call)?.find(|(.., kind)| kind.is_view())?;
    Some((call.args()?.get(0)?, view))
}

/// The items of a value that is a list of tensors.
pub(super) fn list<'a>(
    plan: &Plan<'_, 'a>,
    values: &Values,
    index: i64,
) -> Option<Vector<'a, i32>> {
    if !matches!(values.tag(index)?, tag::TensorList | tag::OptionalTensorList) {
        return None;
    }
    match plan.value(index)? {
        KernelTypes::TensorList(list) => list.items(),
        KernelTypes::OptionalTensorList(list) => list.items(),
        _ => None,
    }
}
