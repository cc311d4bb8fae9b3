//! A method run twice, with what is known of its values in place of the values.
//!
//! An instruction is judged by what it meets. Where ways meet, a value is what it is on either of
//! them; past a jump back, whatever the loop changes may be anything. So what is found is met on
//! every way that leads there: what is not known, nobody is told.

use alloc::vec::Vec;

use super::judge::{Broken, Judge, is_copied};
use super::state::{By, Cell, Is, Place, State, list};
use super::ways::{Fixed, Noted, Ways};
use super::{MOVE_UNSTORED, place};
use crate::bytes::{index as at_index, narrow};
use crate::check::Findings;
use crate::check::rule::Severity;
use crate::cost;
use crate::error::PathComponent;
use crate::flat::view::{List, Table};
use crate::method::{self, Loop};
use crate::operators::{Gives, Kinds};
use crate::schema::program::tag;
use crate::schema::program::view::{
    Chain, DelegateCall, FreeCall, Instruction, InstructionArguments, KernelCall, KernelTypes,
    MoveCall,
};

/// Items of a list that are looked at wherever it is met; once in each run, all of them are.
const MOST_ITEMS: usize = 64;

pub(super) struct Replay<'c, 'p, 'a> {
    judge: Judge<'c, 'p, 'a>,
    state: State,
    /// Which lists were met in this run, and which were judged.
    met: Vec<bool>,
    judged: Vec<bool>,
    fixed: Fixed,
    /// What was changed, and from what, while a jump ahead is under way.
    changes: Vec<(i32, Cell)>,
    is_logged: bool,
    /// Whether what happens may happen otherwise, or not at all.
    is_imprecise: bool,
    /// Whether an Error was found.
    has_failed: bool,
    is_again: bool,
}

impl<'c, 'p, 'a> Replay<'c, 'p, 'a> {
    pub(super) fn new(judge: Judge<'c, 'p, 'a>) -> Self {
        Self {
            judge,
            state: State::first(judge.plan, judge.values),
            met: judge.plan.each(false),
            judged: judge.plan.each(false),
            fixed: Fixed::of(judge.plan),
            changes: Vec::new(),
            is_logged: false,
            is_imprecise: false,
            has_failed: false,
            is_again: false,
        }
    }

    /// Runs the method twice, if the first time goes well: its values stay as they are in between.
    pub(super) fn run(mut self, out: &mut Findings) {
        self.once(out);
        if !self.has_failed {
            self.is_again = true;
            self.met.fill(false);
            self.judged.fill(false);
            self.once(out);
        }
    }

    fn once(&mut self, out: &mut Findings) {
        self.begin(out);
        let view = self.judge.plan.view;
        for (nth, chain) in (0..).zip(view.chains().into_iter().flatten()) {
            self.chain(nth, chain, out);
        }
        self.end(out);
    }

    /// Whoever runs the method brings its inputs, and memory for the outputs without any.
    fn begin(&mut self, out: &mut Findings) {
        let Judge { plan, values, .. } = self.judge;
        for (nth, index) in (0..).zip(plan.view.inputs().into_iter().flatten()) {
            if self.is_again
                && let Some(broken) = self.judge.input(index, &self.state)
            {
                self.find_end("inputs", nth, broken, out);
            }
            if values.tag(index.into()) == Some(tag::Tensor) && !is_copied(plan, index) {
                self.give(index);
            }
        }
        for (nth, index) in (0..).zip(plan.view.outputs().into_iter().flatten()) {
            if self.is_again
                && let Some(broken) = self.judge.place_of_output(index, &self.state)
            {
                self.find_end("outputs", nth, broken, out);
            }
            if values.is_unstored(index) {
                self.give(index);
            }
        }
    }

    /// The tensor that an end of the method is gets memory of the caller's.
    fn give(&mut self, index: i32) {
        let own = u32::try_from(index).ok().filter(|_| self.judge.values.is_unstored(index));
        self.put(index, own.map_or(Place::Unknown, Place::Of));
    }

    /// Outputs are read.
    fn end(&mut self, out: &mut Findings) {
        for (nth, index) in (0..).zip(self.judge.plan.view.outputs().into_iter().flatten()) {
            if let Some(broken) = self.judge.lacks(index, &self.state, &MOVE_UNSTORED) {
                self.find_end("outputs", nth, broken, out);
            }
        }
    }

    fn chain(&mut self, chain: u32, view: Chain<'a>, out: &mut Findings) {
        let Some(instructions) = view.instructions() else { return };
        let len = narrow(instructions.len());
        let mut ways = Ways::of(self.judge.plan, &self.fixed, view, len);
        // Where nothing leads to: behind a jump that is always taken.
        let mut is_dead = false;
        let mut imprecise_until = 0;
        // What nothing leads to before something jumps back.
        let mut later: Vec<u32> = Vec::new();
        let numbered = method::instructions_of_chain(chain, 0, view);
        for (of, instruction) in numbered.zip(instructions) {
            let nth = of.index();
            is_dead &= !self.arrive(&mut ways, nth);
            self.is_imprecise = nth < imprecise_until;
            self.is_logged = ways.are_open();
            is_dead &= !(self.is_imprecise && ways.are_leading_to(nth));
            let Some(args) = of.operation() else { continue };
            if !is_dead {
                self.judge(args, (chain, nth), instruction, out);
                self.apply(args);
            } else if ways.are_leading_to(nth) {
                later.push(nth);
            }
            if let Some(jump) = of.jump() {
                let condition = self.flag(jump.condition);
                let is_first = !is_dead && condition != Some(true);
                // In a loop it may be taken the next time around.
                let around = ways.around(nth);
                if is_first || around.is_some() {
                    let is_first = is_first || ways.leave_later(nth, jump, around);
                    ways.record_forward_jump(
                        nth,
                        jump,
                        Noted { least: self.changes.len(), is_first },
                    );
                }
                is_dead |= condition == Some(false);
                let back = ways.back(nth, jump).filter(|_| condition != Some(true));
                if let Some(around) = back.filter(|_| nth >= imprecise_until) {
                    self.is_logged = ways.are_open();
                    self.forget(around, instructions);
                    imprecise_until = around.end.saturating_add(1);
                    for nth in core::mem::take(&mut later) {
                        let instruction = instructions.get(at_index(nth));
                        let Some(instruction) = instruction.filter(|_| nth >= around.begin) else {
                            continue;
                        };
                        if let Some(args) = instruction.instr_args() {
                            self.judge(args, (chain, nth), instruction, out);
                        }
                    }
                }
            }
        }
        self.arrive(&mut ways, len);
        (self.is_imprecise, self.is_logged) = (false, false);
        self.changes.clear();
    }

    /// Whether jumps lead to that instruction before anything jumps back. What was changed since the
    /// first jump that leads there may be as it was.
    fn arrive(&mut self, ways: &mut Ways, nth: u32) -> bool {
        let Some(noted) = ways.arrive(nth) else { return false };
        while self.changes.len() > noted.least
            && let Some((index, old)) = self.changes.pop()
        {
            cost::charge(1);
            self.state.join(self.judge.values, index, old);
        }
        noted.is_first
    }

    /// What a loop changes may be anything. What is changed in the data of a tensor is seen once it
    /// is known which values are other ones.
    fn forget(&mut self, around: Loop, instructions: List<'a, Instruction<'a>>) {
        self.is_imprecise = true;
        for _ in ["values", "data"] {
            for nth in around.begin..=around.end {
                let instruction = instructions.get(at_index(nth));
                instruction.and_then(Instruction::instr_args).into_iter().for_each(|args| {
                    self.apply(args);
                });
            }
        }
    }

    /// The Bool that a value is, if it is one that the file has.
    fn flag(&self, index: i32) -> Option<bool> {
        match self.judge.plan.value(self.state.held(index)?.into())? {
            KernelTypes::Bool(flag) => Some(flag.bool_val()),
            _ => None,
        }
    }

    fn judge(
        &mut self,
        args: InstructionArguments<'a>,
        spot: (u32, u32),
        instruction: Instruction<'a>,
        out: &mut Findings,
    ) {
        let judged = &mut self.judged;
        let most = |index| {
            let most = Self::most(judged, index);
            Self::meet(judged, index);
            most
        };
        let Some((rule, arg, message)) = self.judge.instruction(args, &self.state, most) else {
            return;
        };
        let is_error = rule.severity == Severity::Error;
        self.has_failed |= is_error;
        // What is only suspicious was told the first time.
        if self.is_again && !is_error {
            return;
        }
        let (table, steps) = place(spot, args, arg);
        let table = table.unwrap_or_else(|| instruction.raw());
        self.judge.plan.find(out, rule, table, &steps, || message);
    }

    fn find_end(&mut self, ends: &'static str, nth: u32, broken: Broken, out: &mut Findings) {
        let (rule, message) = broken;
        self.has_failed = true;
        let plan = self.judge.plan;
        let steps = [PathComponent::Field(ends), PathComponent::Index(nth)];
        plan.find(out, rule, plan.view.raw(), &steps, || message);
    }

    /// How many items of a list are looked at: one call may name it millions of times.
    fn most(met: &[bool], index: i32) -> usize {
        let met = usize::try_from(index).ok().and_then(|index| met.get(index));
        if met == Some(&false) { usize::MAX } else { MOST_ITEMS }
    }

    /// What an instruction does to the values.
    fn apply(&mut self, args: InstructionArguments<'a>) {
        match args {
            InstructionArguments::KernelCall(call) => self.called(call),
            InstructionArguments::DelegateCall(call) => self.delegated(call),
            InstructionArguments::MoveCall(call) => self.moved(call),
            InstructionArguments::FreeCall(call) => self.freed(call),
            _ => {}
        }
    }

    fn moved(&mut self, call: MoveCall<'a>) {
        if let Some(from) = self.state.get(call.move_from()).copied() {
            self.becomes(call.move_to(), from.is, By::Move);
        }
    }

    fn freed(&mut self, call: FreeCall<'a>) {
        self.put(call.value_index(), Place::Freed);
    }

    /// A delegate may give a place to what has none.
    fn delegated(&mut self, call: DelegateCall<'a>) {
        for index in call.args().into_iter().flatten() {
            self.place_by_delegate(index);
            let Some(items) = list(self.judge.plan, self.judge.values, index) else { continue };
            let most = Self::most(&self.met, index);
            Self::meet(&mut self.met, index);
            for item in items.into_iter().take(most) {
                self.place_by_delegate(item);
            }
        }
    }

    fn place_by_delegate(&mut self, index: i32) {
        let tensor = self.state.tensor(self.judge.values, index);
        let place = tensor.map(|tensor| self.state.place(tensor));
        if matches!(place, Some(Place::Missing | Place::Freed)) {
            self.put(index, Place::Unknown);
        }
    }

    fn called(&mut self, call: KernelCall<'a>) {
        let Some(args) = self.judge.kernels.args(call) else {
            // What it does to its arguments is not known, but that it makes no list another one.
            for index in call.args().into_iter().flatten() {
                Self::meet(&mut self.met, index);
                self.becomes(index, Cell::UNKNOWN, By::File);
            }
            return;
        };
        let first = call.args().and_then(|args| args.get(0));
        let mut is_in_place = false;
        for (nth, index, kind) in args {
            is_in_place |= nth == 0 && kind.is_written();
            Self::meet(&mut self.met, index);
            if kind.is_view() {
                let base = first.and_then(|base| self.state.tensor(self.judge.values, base));
                let place = base.map_or(Place::Unknown, |base| self.state.place(base));
                self.put(index, place);
            }
            let Some(gives) = kind.gives() else { continue };
            // The result of an operator that works in place is its argument.
            let alias = first.and_then(|first| self.state.get(first)).filter(|_| is_in_place);
            match alias {
                Some(alias) => self.becomes(index, alias.is, By::Move),
                None => self.becomes(index, Is::Some(self.given(gives, call)), By::Result),
            }
        }
    }

    /// The kinds that the result of a call may be of.
    fn given(&self, gives: Gives, call: KernelCall<'a>) -> Kinds {
        if let Gives::A(kinds) = gives {
            return kinds;
        }
        let (int, double) = (Kinds::of(tag::Int), Kinds::of(tag::Double));
        let args = self.judge.kernels.args(call).into_iter().flatten();
        let read = args.filter(|(.., kind)| kind.gives().is_none());
        let (mut all, mut any) = (true, false);
        for (_, index, _) in read {
            let kinds = self.state.kinds(self.judge.values, index);
            all &= kinds == int;
            any |= kinds == double;
        }
        match (all, any) {
            (true, _) => int,
            (_, true) => double,
            _ => int.or(double),
        }
    }

    fn meet(met: &mut [bool], list: i32) {
        let met = usize::try_from(list).ok().and_then(|list| met.get_mut(list));
        met.into_iter().for_each(|met| *met = true);
    }

    /// A value is another one from here on; a list never is.
    fn becomes(&mut self, index: i32, is: Is, by: By) {
        let is_list = |tag| (tag::IntList..=tag::OptionalTensorList).contains(&tag);
        let Some(&cell) = self.state.get(index) else { return };
        if self.judge.values.tag(index.into()).is_some_and(is_list) {
            return;
        }
        let is = if self.is_imprecise { Cell::UNKNOWN } else { is };
        self.set(index, Cell { is, by, ..cell });
    }

    /// The data of the tensor that a value is, is elsewhere from here on.
    fn put(&mut self, index: i32, place: Place) {
        let Some(tensor) = self.state.tensor(self.judge.values, index) else {
            let kinds = self.state.kinds(self.judge.values, index);
            if kinds.and(Kinds::of(tag::Tensor)) != Kinds::NONE {
                self.state.blur();
            }
            return;
        };
        let Ok(tensor) = i32::try_from(tensor) else { return };
        let Some(&cell) = self.state.get(tensor) else { return };
        let place = if self.is_imprecise { Place::Unknown } else { place };
        self.set(tensor, Cell { place, ..cell });
    }

    fn set(&mut self, index: i32, cell: Cell) {
        // What stays as it is was noted when it became so.
        if let Some(old) = self.state.set(index, cell)
            && self.is_logged
            && old != cell
        {
            self.changes.push((index, old));
        }
    }
}
