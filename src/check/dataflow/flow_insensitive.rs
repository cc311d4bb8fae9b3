//! What values may be at any point of any run, in any order of the instructions.
//!
//! The interpreter gives up on a loop or on runs that change values again and again, and on a tensor that may be one of
//! several. Then each instruction is judged once more by these facts: which kinds moves and results give to a value,
//! and which tensors moves and views put there. They are found by following moves from value to value; the cost is
//! that of sorting.

use alloc::vec::Vec;

use super::judge::{Judge, most_items};
use super::known::Known;
use super::rules::MOVE_UNSTORED;
use super::state::{By, Is, Memory, State};
use crate::kernels::BrokenRule;
use crate::values::is_constant;
use pte_core::method::{self, Instruction, MethodControlFlow, ValueChange};
use pte_core::operators::contracts::result_kind;
use pte_core::operators::{Gives, Kinds};
use pte_flat::bytes::index as at;
use pte_flat::cost;
use pte_schema::program::tag;

/// What values may be at any point of any run.
pub(super) struct FlowInsensitive<'c, 'p, 'a> {
    judge: Judge<'c, 'p, 'a>,
    flow: MethodControlFlow,
    /// From value to value, by moves and by results of operators that work in place.
    moves: Edges,
    /// From tensor to view.
    views: Edges,
    /// From the operands of primitive operators to the calls, by their number in `calls`.
    operands: Edges,
    /// The calls whose results are Ints if all operands are, else Doubles.
    calls: Vec<Arithmetic>,
    /// The kinds that results and moves give to each value.
    kinds: Vec<Kinds>,
    /// The frees: the value, and the pc from which on its memory may be freed.
    frees: Vec<(u32, u32)>,
    /// For each tensor, whether it gets memory again: by the caller in each run, by a view call, or by a delegate.
    is_given: Vec<bool>,
    /// For each tensor, whether a call makes it a view. The interpreter follows these.
    is_view: Vec<bool>,
    /// For each value, whether anything is moved there.
    is_moved: Vec<bool>,
}

/// A call whose result is an Int if all operands are, else a Double.
struct Arithmetic {
    result: i32,
    /// The number of operands that are never an Int, as far as is known.
    not_int: usize,
}

/// Pairs of values, sorted by the first.
#[derive(Default)]
struct Edges(Vec<(u32, u32)>);

impl Edges {
    fn add(&mut self, from: i32, to: i32) {
        if let (Ok(from), Ok(to)) = (u32::try_from(from), u32::try_from(to)) {
            self.0.push((from, to));
        }
    }

    fn sort(&mut self) {
        cost::sort(self.0.len());
        self.0.sort_unstable();
        self.0.dedup();
    }

    fn reversed(&self) -> Self {
        let mut reversed = Self(self.0.iter().map(|&(from, to)| (to, from)).collect());
        reversed.sort();
        reversed
    }

    fn from(&self, value: u32) -> impl Iterator<Item = u32> {
        cost::look_up("", self.0.len());
        let first = self.0.partition_point(|&(from, _)| from < value);
        let rest = self.0.get(first..).unwrap_or_default();
        rest.iter().take_while(move |&&(from, _)| from == value).map(|&(_, to)| {
            cost::charge(1);
            to
        })
    }
}

impl<'c, 'p, 'a> FlowInsensitive<'c, 'p, 'a> {
    pub(super) fn of(judge: Judge<'c, 'p, 'a>) -> Self {
        let plan = judge.plan;
        let mut facts = Self {
            judge,
            flow: MethodControlFlow::of(plan.view),
            moves: Edges::default(),
            views: Edges::default(),
            operands: Edges::default(),
            calls: Vec::new(),
            kinds: plan.each(Kinds::NONE),
            frees: Vec::new(),
            is_given: plan.each(false),
            is_view: plan.each(false),
            is_moved: plan.each(false),
        };
        for index in [plan.view.inputs(), plan.view.outputs()].into_iter().flatten().flatten() {
            if judge.values.is_unstored(index) {
                set(&mut facts.is_given, index);
            }
        }
        for instruction in method::instructions(plan.view) {
            facts.record(&instruction);
        }
        facts.moves.sort();
        facts.views.sort();
        facts.operands.sort();
        facts.spread_kinds();
        facts
    }

    fn record(&mut self, instruction: &Instruction<'a>) {
        let signatures = &self.judge.kernels.signatures;
        method::for_each_change(signatures, instruction, |change| match change {
            ValueChange::Copy { source, target } => {
                self.moves.add(source, target);
                set(&mut self.is_moved, target);
            }
            ValueChange::Result { target, gives } => self.record_result(instruction, target, gives),
            ValueChange::View { target, base } => {
                base.into_iter().for_each(|base| self.views.add(base, target));
                set(&mut self.is_given, target);
                set(&mut self.is_view, target);
            }
            ValueChange::Delegate { target } => set(&mut self.is_given, target),
            ValueChange::Free { target } => {
                let pc = instruction.pc();
                let from = self.flow.outer.around(pc).map_or(pc, |around| around.begin);
                self.frees.extend(u32::try_from(target).map(|target| (target, from)));
            }
            ValueChange::Any { .. } | ValueChange::Write { .. } => {}
        });
    }

    fn record_result(&mut self, instruction: &Instruction<'a>, target: i32, gives: Gives) {
        let Judge { plan, values, kernels } = self.judge;
        let kinds = match gives {
            Gives::A(kinds) if kinds.is_one() => kinds,
            Gives::A(_) => {
                let state = State::still();
                let known = Known { plan, values, kernels, state: &state };
                let call = instruction.kernel_call().and_then(|call| known.call(call));
                call.and_then(|call| result_kind(&call)).unwrap_or(Kinds::NONE)
            }
            Gives::AsGiven => {
                let read = method::read_arguments(&kernels.signatures, instruction);
                let mut read: Vec<_> = read.into_iter().flatten().collect();
                read.sort_unstable();
                read.dedup();
                let call = i32::try_from(self.calls.len()).unwrap_or(i32::MAX);
                read.iter().for_each(|&operand| self.operands.add(operand, call));
                self.calls.push(Arithmetic { result: target, not_int: read.len() });
                Kinds::NONE
            }
        };
        let all = usize::try_from(target).ok().and_then(|target| self.kinds.get_mut(target));
        all.into_iter().for_each(|all| *all = all.or(kinds));
    }

    /// Returns the kinds that a value may be of: those that it is given, or else that of the file.
    fn kinds_of(&self, value: u32) -> Kinds {
        match self.kinds.get(at(value)) {
            Some(&kinds) if kinds != Kinds::NONE => kinds,
            _ => self.judge.values.tag(value.into()).map_or(Kinds::NONE, Kinds::of),
        }
    }

    /// Gives the kinds of each value to those that are moved or computed from it, until nothing changes.
    fn spread_kinds(&mut self) {
        let plan = self.judge.plan;
        let mut is_set = self.is_moved.clone();
        self.calls.iter().for_each(|call| set(&mut is_set, call.result));
        // A value that is set later has the kind of the file only if nothing else gives it one.
        let mut seen = plan.each(Kinds::NONE);
        let values = || plan.values().map(|(value, _)| value);
        self.spread_from(
            values().filter(|&value| is_set.get(at(value)) == Some(&false)),
            &mut seen,
        );
        self.spread_from(values(), &mut seen);
    }

    /// Spreads the kinds of some values. `seen` are those of each value that have been spread.
    fn spread_from(&mut self, values: impl Iterator<Item = u32>, seen: &mut [Kinds]) {
        let (int, double) = (Kinds::of(tag::Int), Kinds::of(tag::Double));
        let mut worklist: Vec<u32> = values.collect();
        while let Some(value) = worklist.pop() {
            cost::charge(1);
            let kinds = self.kinds_of(value);
            let Some(seen) = seen.get_mut(at(value)) else { continue };
            let new = kinds.without(*seen);
            *seen = seen.or(kinds);
            if new == Kinds::NONE {
                continue;
            }
            let mut gives: Vec<_> = self.moves.from(value).map(|target| (target, new)).collect();
            for call in self.operands.from(value) {
                let Some(call) = self.calls.get_mut(at(call)) else { continue };
                let Ok(result) = u32::try_from(call.result) else { continue };
                if new.and(int) != Kinds::NONE {
                    call.not_int = call.not_int.saturating_sub(1);
                }
                let is_int = call.not_int == 0;
                gives.push((result, new.and(double).or(if is_int { int } else { Kinds::NONE })));
            }
            for (target, more) in gives {
                let Some(all) = self.kinds.get_mut(at(target)) else { continue };
                if more.without(*all) != Kinds::NONE {
                    *all = all.or(more);
                    worklist.push(target);
                }
            }
        }
    }

    /// Returns for each value the first of some tensors that is put there along the edges, if any.
    fn reached(&self, from: impl Iterator<Item = u32>, edges: &[&Edges]) -> Vec<Option<u32>> {
        let mut reached = self.judge.plan.each(None);
        let mut worklist = Vec::new();
        for first in from {
            worklist.push(first);
            while let Some(value) = worklist.pop() {
                cost::charge(1);
                match reached.get_mut(at(value)) {
                    Some(slot) if slot.is_none() => *slot = Some(first),
                    _ => continue,
                }
                worklist.extend(edges.iter().flat_map(|edges| edges.from(value)));
            }
        }
        reached
    }

    /// Judges the operands of all instructions, and the ends of a run. Calls `find` with each broken rule: the
    /// instruction, or the field and the number of an input or output.
    pub(super) fn judge(&self, mut find: impl FnMut(Place<'a>, BrokenRule)) {
        self.judge_in(&mut self.kinds_state(), &[], &mut find);
        self.judge_in(&mut self.constants_state(), &[], &mut find);
        let (mut state, freed) = self.memory_state();
        self.judge_in(&mut state, &freed, &mut find);
        let sized = self.reached(self.largest_first().into_iter(), &[&self.moves]);
        for (nth, index) in (0..).zip(self.judge.plan.view.outputs().into_iter().flatten()) {
            let tensor = usize::try_from(index).ok().and_then(|index| *sized.get(index)?);
            let broken = tensor.and_then(|tensor| self.judge.output_buffer(index, tensor));
            if let Some((rule, message)) = broken {
                find(Place::End("outputs", nth), (rule, None, message));
            }
        }
    }

    /// Judges everything in one state. `freed` are tensors that have no memory from a pc on, in the order of pcs.
    fn judge_in(
        &self,
        state: &mut State,
        freed: &[(u32, u32)],
        find: &mut impl FnMut(Place<'a>, BrokenRule),
    ) {
        let Judge { plan, values, .. } = self.judge;
        let mut freed = freed.iter().peekable();
        let mut seen = plan.each(false);
        let mut free_until = |pc: u32, state: &mut State| {
            while let Some((_, tensor)) = freed.next_if(|&&(from, _)| from <= pc) {
                state.change(*tensor, |value| value.memory = Memory::Freed);
            }
        };
        free_until(0, state);
        for (nth, index) in (0..).zip(plan.view.inputs().into_iter().flatten()) {
            if let Some((rule, message)) = self.judge.input(index, state) {
                find(Place::End("inputs", nth), (rule, None, message));
            }
        }
        for instruction in method::instructions(plan.view) {
            free_until(instruction.pc(), state);
            let most = |list| most_items(&mut seen, list);
            if let Some(broken) = self.judge.operands(&instruction, state, most) {
                find(Place::Instruction(instruction), broken);
            }
        }
        free_until(u32::MAX, state);
        for (nth, index) in (0..).zip(plan.view.outputs().into_iter().flatten()) {
            let memory = values.is_unstored(index).then(|| self.judge.output_memory(index, state));
            let data = || self.judge.lacks_data(index, state, &MOVE_UNSTORED);
            if let Some((rule, message)) = memory.flatten().or_else(data) {
                find(Place::End("outputs", nth), (rule, None, message));
            }
        }
    }

    /// Returns a state in which each value is of the kinds that moves and results give to it.
    fn kinds_state(&self) -> State {
        let mut state = State::unknown(self.judge.plan);
        for (index, &some) in (0..).zip(&self.kinds).filter(|&(_, &some)| some != Kinds::NONE) {
            let by = if self.is_moved(index) { By::Move } else { By::Result };
            let is = Is::OneOf { may: Kinds::ANY, some };
            state.change(index, |value| (value.is, value.by) = (is, by));
        }
        state
    }

    /// Returns a state in which each value that may be an alias or a view of a constant is one.
    fn constants_state(&self) -> State {
        let mut state = State::unknown(self.judge.plan);
        let is_constant = |&index: &u32| {
            i32::try_from(index).is_ok_and(|index| is_constant(self.judge.plan, index))
        };
        let reached = self.reached(self.tensors().filter(is_constant), &[&self.moves, &self.views]);
        for (index, constant) in (0..).zip(reached) {
            let Some(constant) = constant.filter(|&constant| constant != index) else { continue };
            state.change(constant, |value| value.memory = Memory::Of(constant));
            self.put(&mut state, index, constant);
        }
        state
    }

    /// Returns a state in which each value that may be a tensor without memory is one; and the tensors that are freed,
    /// each after the pc from which on they may be.
    fn memory_state(&self) -> (State, Vec<(u32, u32)>) {
        let mut state = State::unknown(self.judge.plan);
        let mut frees = self.frees.clone();
        cost::sort(frees.len());
        frees.sort_unstable_by_key(|&(value, from)| (from, value));
        let back = self.reached(frees.iter().map(|&(value, _)| value), &[&self.moves.reversed()]);
        cost::sort(frees.len());
        frees.sort_unstable();
        let pc_of = |free: u32| {
            cost::look_up("", frees.len());
            frees.get(frees.partition_point(|&(value, _)| value < free)).map(|&(_, from)| from)
        };
        let mut freed: Vec<(u32, u32)> = Vec::new();
        let is_view = |&tensor: &u32| self.is_view.get(at(tensor)) == Some(&true);
        for tensor in self.tensors().filter(|tensor| !is_view(tensor)) {
            let Some(pc) = back.get(at(tensor)).copied().flatten().and_then(pc_of) else {
                continue;
            };
            // The next run frees what nothing gives memory to again.
            let is_given = self.is_given.get(at(tensor)) == Some(&true);
            freed.push((if is_given { pc } else { 0 }, tensor));
        }
        cost::sort(freed.len());
        freed.sort_unstable();
        let missing = self.judge.values.unstored().iter().copied();
        let missing = missing.filter(|&tensor| self.is_given.get(at(tensor)) == Some(&false));
        for tensor in missing.clone() {
            state.change(tensor, |value| value.memory = Memory::Missing);
        }
        let sources = freed.iter().map(|&(_, tensor)| tensor).chain(missing);
        for (index, tensor) in (0..).zip(self.reached(sources, &[&self.moves, &self.views])) {
            // A tensor that was moved away does not return.
            let is_own = tensor == Some(index) && self.is_moved(index);
            if let Some(tensor) = tensor.filter(|_| !is_own) {
                self.put(&mut state, index, tensor);
            }
        }
        (state, freed)
    }

    fn tensors(&self) -> impl Iterator<Item = u32> {
        let is_tensor = |&index: &u32| self.judge.values.tag(index.into()) == Some(tag::Tensor);
        self.judge.plan.values().map(|(index, _)| index).filter(is_tensor)
    }

    fn largest_first(&self) -> Vec<u32> {
        let mut tensors: Vec<_> = self.tensors().collect();
        cost::sort(tensors.len());
        tensors.sort_by_key(|&tensor| core::cmp::Reverse(self.judge.nbytes(tensor)));
        tensors
    }

    fn put(&self, state: &mut State, index: u32, tensor: u32) {
        let by = if self.is_moved(index) { By::Move } else { By::File };
        state.change(index, |value| (value.is, value.by) = (Is::Known(tensor), by));
    }

    fn is_moved(&self, index: u32) -> bool {
        self.is_moved.get(at(index)) == Some(&true)
    }
}

fn set(flags: &mut [bool], index: i32) {
    let flag = usize::try_from(index).ok().and_then(|index| flags.get_mut(index));
    flag.into_iter().for_each(|flag| *flag = true);
}

/// A place that breaks a rule.
pub(super) enum Place<'a> {
    Instruction(Instruction<'a>),
    /// An input or output: the field, and its number there.
    End(&'static str, u32),
}
