//! Loops: at most three iterations are interpreted, fewer if one changes nothing. If values still change, those that
//! the loop modifies become unknown.

use super::AbstractInterpreter;
use super::chain::{Walk, keep_first};
use crate::report::Findings;
use pte_core::method::{self, Instruction, Jump, Loop};

/// The most iterations of a loop that are interpreted after the first one.
const MORE_ITERATIONS: u32 = 2;

impl<'a> Walk<'a> {
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
    /// Goes back to the begin of a loop at its backward jump, or leaves the loop: if every path has left it before,
    /// if a further iteration would be as this one, or if there were enough of them.
    pub(super) fn end_iteration(
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

    /// Returns whether any value differs from what it was when the iteration began.
    fn iteration_has_changed(&mut self) -> bool {
        // The first change of a value has the state from before the iteration.
        keep_first(&mut self.changed_in_iteration);
        let state = &self.state;
        self.changed_in_iteration.iter().any(|(index, old)| state.get(*index) != Some(*old))
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
