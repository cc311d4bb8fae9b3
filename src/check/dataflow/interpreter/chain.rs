//! The instructions of a chain in their order, with its jumps: where paths meet, and loops.

use alloc::vec::Vec;

use super::AbstractInterpreter;
use crate::dataflow::control_flow::ChainControlFlow;
use crate::dataflow::state::AbstractValue;
use crate::report::Findings;
use pte_core::method::{self, Instruction, Jump, Loop};
use pte_flat::bytes::narrow;
use pte_flat::cost;
use pte_schema::program::view::Chain;

/// The most iterations of a loop that are interpreted after the first one.
const MORE_ITERATIONS: u32 = 2;

/// The place in a chain, and the jumps and loops around it.
struct Walk<'a> {
    /// The number of the chain.
    nth: u32,
    view: Chain<'a>,
    flow: ChainControlFlow,
    /// The next instruction.
    pc: u32,
    /// Whether no path so far leads to the next instruction: it follows a jump that is always taken.
    is_unreached: bool,
    /// The end of the last loop whose modified values were set to unknown.
    imprecise_until: u32,
    /// How often the current loop was repeated.
    repetitions: u32,
    /// The last instruction so far that a forward jump leads to.
    last_join: u32,
    /// Instructions that may be reached in a later iteration only.
    deferred: Vec<u32>,
    /// Jumps that may be taken in a later iteration only.
    later: Vec<(u32, Jump)>,
}

impl<'a> Walk<'a> {
    fn instruction(&self, pc: u32) -> Option<Instruction<'a>> {
        method::instruction_of_chain(self.nth, self.view, pc)
    }

    /// Returns the loop's body without its backward jump, if the body is one basic block.
    fn straight(
        &self,
        repeated: Loop,
    ) -> Option<impl Iterator<Item = Instruction<'a>> + Clone + use<'a>> {
        let (nth, view) = (self.nth, self.view);
        let body = repeated.begin..repeated.end;
        let body = body.filter_map(move |pc| method::instruction_of_chain(nth, view, pc));
        let is_straight = self.last_join <= repeated.begin
            && body.clone().all(|instruction| instruction.jump().is_none());
        is_straight.then_some(body)
    }

    /// Ends the repetition of a loop.
    fn leave_loop(&mut self, is_unreached: bool) {
        (self.repetitions, self.is_unreached) = (0, is_unreached);
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

    /// Goes back to the begin of a loop at its backward jump, or leaves the loop: if every path has left it before,
    /// if a further iteration would be as this one, or if there were enough of them.
    fn end_iteration(
        &mut self,
        walk: &mut Walk<'a>,
        repeated: Loop,
        jump: Jump,
        out: &mut Findings,
    ) {
        let end = walk.pc.saturating_sub(1);
        let was_repeated = core::mem::replace(&mut self.is_repeated, false);
        if walk.is_unreached {
            return walk.leave_loop(true);
        }
        let condition = self.known_bool(jump.condition);
        // The target is the begin of a loop that contains no other and crosses none.
        if repeated == (Loop { begin: jump.target, end }) {
            let has_new = !was_repeated && walk.deferred.last() >= Some(&repeated.begin);
            if !has_new && !self.iteration_has_changed() {
                return walk.leave_loop(condition == Some(false));
            }
            if walk.repetitions < MORE_ITERATIONS && !self.has_error {
                if condition.is_none() {
                    self.record_jump(walk, (end, walk.pc), true);
                }
                walk.repetitions = walk.repetitions.saturating_add(1);
                walk.deferred.retain(|&pc| pc < repeated.begin);
                walk.later.retain(|&(pc, _)| pc < repeated.begin);
                (self.is_repeated, walk.pc) = (true, repeated.begin);
                return;
            }
        }
        self.widen(walk, repeated, out);
        walk.leave_loop(self.known_bool(jump.condition) == Some(false));
    }

    /// Gives up on a loop: what it modifies is unknown, and any of its instructions may have been reached.
    fn widen(&mut self, walk: &mut Walk<'a>, repeated: Loop, out: &mut Findings) {
        let body =
            if repeated.end == walk.pc.saturating_sub(1) { walk.straight(repeated) } else { None };
        self.set_modified_unknown(walk, repeated);
        if let Some(body) = body {
            self.run_last_iteration(body);
        }
        walk.imprecise_until = repeated.end.saturating_add(1);
        for (pc, jump) in core::mem::take(&mut walk.later) {
            if pc >= repeated.begin {
                let leaves = walk.flow.leaves_loop_later(pc, jump, Some(repeated));
                self.record_jump(walk, (pc, jump.target), leaves);
            }
        }
        for pc in core::mem::take(&mut walk.deferred) {
            if let Some(instruction) = walk.instruction(pc).filter(|_| pc >= repeated.begin) {
                self.judge(&instruction, out);
            }
        }
    }

    /// Records a jump, with the state at this point.
    fn record_jump(&self, walk: &mut Walk<'a>, jump: (u32, u32), is_taken_first: bool) {
        walk.flow.record_forward_jump(jump, self.log.len(), is_taken_first);
    }

    /// Returns whether any value differs from what it was when the iteration began.
    fn iteration_has_changed(&mut self) -> bool {
        // The first change of a value has the state from before the iteration.
        keep_first(&mut self.changed_in_iteration);
        let state = &self.state;
        self.changed_in_iteration.iter().any(|(index, old)| state.get(*index) != Some(old))
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
        let before = self.state.get(index).copied();
        self.state.join(self.judge.values, index, other);
        if let Some(before) = before.filter(|_| self.is_in_loop) {
            self.changed_in_iteration.push((index, before));
        }
    }

    /// Sets every value that a loop modifies to unknown. A second pass finds the tensors whose
    /// memory changes through the values that became unknown in the first pass.
    fn set_modified_unknown(&mut self, walk: &Walk<'a>, repeated: Loop) {
        (self.is_imprecise, self.is_widened) = (true, true);
        for _ in ["values", "memory"] {
            for pc in repeated.begin..=repeated.end {
                if let Some(instruction) = walk.instruction(pc) {
                    self.apply(&instruction);
                }
            }
        }
    }

    /// Applies the last iteration of a loop without inner jumps. Results that depend only on values
    /// which the loop does not modify become known again.
    fn run_last_iteration(&mut self, body: impl Iterator<Item = Instruction<'a>>) {
        self.is_imprecise = false;
        body.for_each(|instruction| self.apply(&instruction));
    }
}

/// Keeps the first entry of each value.
fn keep_first(changes: &mut Vec<(i32, AbstractValue)>) {
    cost::sort(changes.len());
    changes.sort_by_key(|&(index, _)| index);
    changes.dedup_by_key(|&mut (index, _)| index);
}
