//! The instructions of a chain in their order, with its jumps: where paths meet.

use alloc::vec::Vec;

use super::AbstractInterpreter;
use crate::dataflow::control_flow::ChainControlFlow;
use crate::dataflow::state::AbstractValue;
use crate::report::Findings;
use pte_core::method::{self, Instruction, Jump};
use pte_flat::bytes::narrow;
use pte_flat::cost;
use pte_schema::program::view::Chain;

/// The place in a chain, and the jumps and loops around it.
pub(super) struct Walk<'a> {
    /// The number of the chain.
    pub(super) nth: u32,
    pub(super) view: Chain<'a>,
    pub(super) flow: ChainControlFlow,
    /// The next instruction.
    pub(super) pc: u32,
    /// Whether no path so far leads to the next instruction: it follows a jump that is always taken.
    pub(super) is_unreached: bool,
    /// The end of the last loop whose modified values were set to unknown.
    pub(super) imprecise_until: u32,
    /// How often the current loop was repeated.
    pub(super) repetitions: u32,
    /// The last instruction so far that a forward jump leads to.
    pub(super) last_join: u32,
    /// Instructions that may be reached in a later iteration only.
    pub(super) deferred: Vec<u32>,
    /// Jumps that may be taken in a later iteration only.
    pub(super) later: Vec<(u32, Jump)>,
}

impl<'a> Walk<'a> {
    pub(super) fn instruction(&self, pc: u32) -> Option<Instruction<'a>> {
        method::instruction_of_chain(self.nth, self.view, pc)
    }
}

impl<'a> AbstractInterpreter<'_, '_, 'a> {
    pub(super) fn run_chain(&mut self, nth: u32, view: Chain<'a>, out: &mut Findings) {
        let Some(instructions) = view.instructions() else { return };
        let len = narrow(instructions.len());
        let mut walk = Walk {
            nth,
            view,
            flow: ChainControlFlow::of(self.judge.plan, &self.constants, view, len),
            pc: 0,
            is_unreached: false,
            imprecise_until: 0,
            repetitions: 0,
            last_join: 0,
            deferred: Vec::new(),
            later: Vec::new(),
        };
        while let Some(instruction) = walk.instruction(walk.pc) {
            cost::charge(1);
            self.step(&mut walk, &instruction, out);
        }
        self.join_jumps_to(&mut walk, len);
        (self.is_imprecise, self.is_logging, self.is_in_loop) = (false, false, false);
        self.log.clear();
    }

    /// Judges and applies the next instruction, and goes on to the one after it or to the begin of its loop.
    fn step(&mut self, walk: &mut Walk<'a>, instruction: &Instruction<'a>, out: &mut Findings) {
        let pc = walk.pc;
        self.join_jumps_to(walk, pc);
        let around = walk.flow.around(pc);
        if around.is_some_and(|around| around.begin == pc) {
            self.changed_in_iteration.clear();
        }
        self.is_imprecise = pc < walk.imprecise_until;
        self.is_logging = walk.flow.has_pending_jumps();
        self.is_in_loop = around.is_some();
        walk.is_unreached &= !(self.is_imprecise && walk.flow.is_reachable(pc));
        if !walk.is_unreached {
            self.judge(instruction, out);
            self.apply(instruction);
        } else if walk.flow.is_reachable(pc) {
            walk.deferred.push(pc);
        }
        walk.pc = pc.saturating_add(1);
        let Some(jump) = instruction.jump() else { return };
        let condition = self.known_bool(jump.condition);
        if !walk.is_unreached && condition != Some(true) {
            self.record_jump(walk, (pc, jump.target), true);
        } else if around.is_some() {
            walk.later.push((pc, jump));
        }
        match walk.flow.repeated_loop(pc, jump) {
            Some(repeated) if condition != Some(true) && pc >= walk.imprecise_until => {
                self.end_iteration(walk, repeated, jump, out);
            }
            _ => walk.is_unreached |= condition == Some(false),
        }
    }

    /// Records a jump, with the state at this point.
    pub(super) fn record_jump(&self, walk: &mut Walk<'a>, jump: (u32, u32), is_taken_first: bool) {
        walk.flow.record_forward_jump(jump, self.log.len(), is_taken_first);
    }

    /// Joins the state with the states of the forward jumps to `pc`. A value that changed after the
    /// first of these jumps may still be as it was at that jump. If only jumps lead to `pc`, the state
    /// is that of the jumps.
    fn join_jumps_to(&mut self, walk: &mut Walk<'a>, pc: u32) {
        let Some(jumps) = walk.flow.take_jumps_to(pc) else { return };
        (walk.last_join, self.has_joined) = (pc, true);
        let (first, last) = (jumps.log_len.start, jumps.log_len.end);
        // Some of the jumps can be taken before any backward jump.
        if walk.is_unreached && jumps.is_taken_first {
            if walk.flow.can_restore(self.log.len(), last) {
                self.restore(&mut walk.flow, last);
            }
            walk.is_unreached = false;
        }
        while self.log.len() > first
            && let Some((index, old)) = self.log.pop()
        {
            self.join(index, old);
        }
        walk.flow.cut(first);
        for (index, value) in jumps.restored {
            self.join(index, value);
        }
    }

    /// Restores the state to what it was when the log had the length `to`.
    fn restore(&mut self, flow: &mut ChainControlFlow, to: usize) {
        let mut changed: Vec<(i32, AbstractValue)> = Vec::new();
        while self.log.len() > to
            && let Some((index, old)) = self.log.pop()
        {
            changed.extend(self.state.set(index, old).map(|new| (index, new)));
        }
        keep_first(&mut changed);
        flow.restore(to, &changed);
        if self.is_in_loop {
            self.changed_in_iteration.append(&mut changed);
        }
    }

    /// Joins a value with its state on another path.
    fn join(&mut self, index: i32, other: AbstractValue) {
        cost::charge(1);
        let before = self.state.get(index);
        self.state.join(self.judge.values, index, other);
        if let Some(before) = before.filter(|_| self.is_in_loop) {
            self.changed_in_iteration.push((index, before));
        }
    }
}

/// Keeps the first entry of each value.
pub(super) fn keep_first(changes: &mut Vec<(i32, AbstractValue)>) {
    cost::sort(changes.len());
    changes.sort_by_key(|&(index, _)| index);
    changes.dedup_by_key(|&mut (index, _)| index);
}
