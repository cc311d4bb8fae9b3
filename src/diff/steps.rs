//! The instructions of a plan: what each takes, and what it writes.

use alloc::vec;
use alloc::vec::Vec;

use crate::bytes::{index as at_index, narrow};
use crate::flat::view::Vector;
use crate::pte::{Pte, Storage};
use crate::roles::{Role, Roles};
use crate::schema::program::view::{ExecutionPlan, InstructionArguments, KernelCall, KernelTypes};

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    /// Which chain, and which of its instructions.
    pub(super) chain: u32,
    pub(super) index: u32,
    /// The number of the chain's first step among all steps, and of that behind its last one.
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) does: Option<InstructionArguments<'a>>,
}

/// The arguments of an instruction: indices of values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Args<'a> {
    Many(Vector<'a, i32>),
    Few([i32; 2], usize),
}

impl<'a> Args<'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Many(all) => all.len(),
            Self::Few(_, len) => len,
        }
    }

    pub(super) fn get(self, nth: usize) -> Option<i32> {
        match self {
            Self::Many(all) => all.get(nth),
            Self::Few(all, len) => all.get(nth).copied().filter(|_| nth < len),
        }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = i32> + 'a {
        (0..self.len()).filter_map(move |nth| self.get(nth))
    }
}

impl<'a> Step<'a> {
    pub(super) fn args(&self) -> Args<'a> {
        match self.does {
            Some(InstructionArguments::KernelCall(call)) => {
                Args::Many(call.args().unwrap_or_default())
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                Args::Many(call.args().unwrap_or_default())
            }
            Some(InstructionArguments::MoveCall(call)) => {
                Args::Few([call.move_from(), call.move_to()], 2)
            }
            Some(InstructionArguments::FreeCall(call)) => Args::Few([call.value_index(), 0], 1),
            Some(InstructionArguments::JumpFalseCall(call)) => {
                Args::Few([call.cond_value_index(), 0], 1)
            }
            _ => Args::Few([0; 2], 0),
        }
    }

    /// What it does, by its tag.
    pub(super) fn kind(&self) -> u8 {
        self.does.map_or(0, |does| does.tag())
    }
}

/// The instructions of all chains, which run one after the other.
pub(super) fn steps(plan: ExecutionPlan<'_>) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for (chain, of) in (0..).zip(plan.chains().into_iter().flatten()) {
        let instructions = of.instructions().unwrap_or_default();
        let begin = narrow(steps.len());
        let end = begin.saturating_add(narrow(instructions.len()));
        for (index, instruction) in (0..).zip(instructions) {
            steps.push(Step { chain, index, begin, end, does: instruction.instr_args() });
        }
    }
    steps
}

/// Which step writes each value first.
pub(super) struct Writers {
    first: Vec<u32>,
    /// Which of the results of that step it is.
    place: Vec<u32>,
    /// How many results each step has.
    results: Vec<u32>,
    lists: Vec<bool>,
}

/// No step.
pub(super) const NONE: u32 = u32::MAX;

impl Writers {
    pub(super) fn of<'a>(pte: &Pte<'a>, plan: ExecutionPlan<'a>, steps: &[Step<'a>]) -> Self {
        let count = plan.values().map_or(0, |values| values.len());
        let mut writers = Self {
            first: vec![NONE; count],
            place: vec![0; count],
            results: vec![0; steps.len()],
            lists: vec![false; count],
        };
        let mut is_input = vec![false; count];
        for input in plan.inputs().into_iter().flatten() {
            let slot = usize::try_from(input).ok().and_then(|nth| is_input.get_mut(nth));
            slot.into_iter().for_each(|slot| *slot = true);
        }
        let roles = Roles::of(pte, plan);
        for (number, step) in (0..).zip(steps) {
            match step.does {
                Some(InstructionArguments::KernelCall(call)) => {
                    writers.kernel(&roles, number, call);
                }
                Some(InstructionArguments::DelegateCall(call)) => {
                    let is_there = |at: i32| {
                        let nth = usize::try_from(at).ok();
                        let is_input = nth.and_then(|nth| is_input.get(nth)).copied();
                        is_input != Some(false) || !writers.is_empty(pte, plan, nth)
                    };
                    let args = roles.delegate(call, is_there).into_iter();
                    for (at, _) in args.filter(|&(_, role)| role != Role::Read) {
                        writers.write(at, number);
                    }
                }
                Some(InstructionArguments::MoveCall(call)) => {
                    writers.write(call.move_to(), number);
                }
                _ => {}
            }
        }
        writers
    }

    /// The step that writes a value first; [`NONE`] if there is none.
    pub(super) fn first(&self, nth: usize) -> u32 {
        self.first.get(nth).copied().unwrap_or(NONE)
    }

    /// Which of its writer's results a value is, if there are several.
    pub(super) fn place(&self, nth: usize) -> Option<u32> {
        let results = self.results.get(at_index(self.first(nth)))?;
        self.place.get(nth).copied().filter(|_| *results > 1)
    }

    fn is_empty(&self, pte: &Pte<'_>, plan: ExecutionPlan<'_>, nth: Option<usize>) -> bool {
        let Some(nth) = nth.filter(|&nth| self.first(nth) == NONE) else { return false };
        match plan.values().and_then(|values| values.get(nth)).and_then(|value| value.val()) {
            // Without a data index nothing has to be computed of its sizes.
            Some(KernelTypes::Tensor(tensor)) => {
                tensor.data_buffer_idx() == 0
                    && !matches!(pte.storage(tensor), Ok(Storage::External { .. }))
            }
            _ => false,
        }
    }

    fn write(&mut self, at: i32, number: u32) {
        let Ok(nth) = usize::try_from(at) else { return };
        let Some(slot) = self.first.get_mut(nth).filter(|slot| **slot == NONE) else { return };
        *slot = number;
        if let (Some(place), Some(results)) =
            (self.place.get_mut(nth), self.results.get_mut(at_index(number)))
        {
            *place = *results;
            *results = results.saturating_add(1);
        }
    }

    fn kernel<'a>(&mut self, roles: &Roles<'_, 'a>, number: u32, call: KernelCall<'a>) {
        for (at, role) in roles.kernel(call) {
            if role == Role::Read {
                continue;
            }
            // Several results are named as a list. A list that many calls share is looked at once.
            let nth = usize::try_from(at).unwrap_or(usize::MAX);
            let new = self.lists.get_mut(nth).filter(|done| !**done);
            if let (Some(done), Some(items)) = (new, roles.list(at)) {
                *done = true;
                items.into_iter().for_each(|item| self.write(item, number));
            }
            self.write(at, number);
        }
    }
}
