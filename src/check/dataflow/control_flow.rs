//! The control flow of one chain, as the interpreter follows it. That of a whole method, for liveness, is in
//! `method/cfg.rs`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::constant_bools::ConstantBools;
use crate::site::Plan;
use pte_core::method::{self, Jump, Loop, OuterLoops};
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_schema::program::view::Chain;

/// The loops of a chain, and the forward jumps that have not reached their target yet.
///
/// Pcs count from the beginning of the chain.
pub(super) struct ChainControlFlow {
    loops: OuterLoops,
    /// Forward jumps by their target.
    pending: BTreeMap<u32, PendingJumps>,
    /// For each instruction, whether any path leads to it; empty if the chain has no loop.
    reachable: Vec<bool>,
}

/// Forward jumps to one instruction that has not been reached yet.
#[derive(Clone, Copy)]
pub(super) struct PendingJumps {
    /// The length of the change log when the first of these jumps was recorded.
    pub(super) log_len: usize,
    /// Whether any of these jumps can be taken before any backward jump.
    pub(super) is_taken_first: bool,
}

impl ChainControlFlow {
    pub(super) fn of(
        plan: &Plan<'_, '_>,
        constants: &ConstantBools,
        chain: Chain<'_>,
        len: u32,
    ) -> Self {
        let mut loops = OuterLoops::default();
        for instruction in method::instructions_of_chain(0, 0, chain) {
            let (end, jump) = (instruction.pc(), instruction.jump());
            if let Some(jump) = jump.filter(|jump| jump.target <= end) {
                loops.record_backward_jump(Loop { begin: jump.target, end });
            }
        }
        let reachable =
            if loops.is_empty() { Vec::new() } else { reachable(plan, constants, chain, len) };
        Self { loops, pending: BTreeMap::new(), reachable }
    }

    /// Returns whether any path leads to an instruction of a chain with a loop. For a chain without
    /// loops, returns `false`: there the interpreter finds unreachable instructions itself.
    pub(super) fn is_reachable(&self, pc: u32) -> bool {
        self.reachable.get(index(pc)) == Some(&true)
    }

    /// Returns whether the jump at `pc` leaves the loop `around`, and a later iteration can reach
    /// this jump.
    pub(super) fn leaves_loop_later(&self, pc: u32, jump: Jump, around: Option<Loop>) -> bool {
        around.is_some_and(|around| jump.target > around.end) && self.is_reachable(pc)
    }

    /// Returns the loop that contains an instruction.
    pub(super) fn around(&self, pc: u32) -> Option<Loop> {
        self.loops.around(pc)
    }

    /// Returns the loop that a backward jump repeats; `None` for a forward jump.
    pub(super) fn repeated_loop(&self, pc: u32, jump: Jump) -> Option<Loop> {
        (jump.target <= pc).then(|| self.around(pc))?
    }

    /// Records a forward jump.
    pub(super) fn record_forward_jump(&mut self, pc: u32, jump: Jump, new: PendingJumps) {
        if jump.target > pc {
            cost::look_up("", self.pending.len());
            let all = self.pending.entry(jump.target).or_insert(new);
            all.log_len = all.log_len.min(new.log_len);
            all.is_taken_first |= new.is_taken_first;
        }
    }

    /// Removes and returns the forward jumps to an instruction.
    pub(super) fn take_jumps_to(&mut self, pc: u32) -> Option<PendingJumps> {
        let first = self.pending.first_entry().filter(|first| *first.key() <= pc)?;
        Some(first.remove())
    }

    /// Returns whether any forward jump has not reached its target yet.
    pub(super) fn has_pending_jumps(&self) -> bool {
        !self.pending.is_empty()
    }
}

/// Returns for each of the `len` instructions of a chain whether any path leads to it.
fn reachable(
    plan: &Plan<'_, '_>,
    constants: &ConstantBools,
    chain: Chain<'_>,
    len: u32,
) -> Vec<bool> {
    let mut reachable = alloc::vec![false; index(len)];
    let mut worklist = alloc::vec![0];
    while let Some(pc) = worklist.pop() {
        cost::charge(1);
        match reachable.get_mut(index(pc)) {
            Some(slot) if !*slot => *slot = true,
            _ => continue,
        }
        let next = pc.saturating_add(1);
        let instruction = method::instruction_of_chain(0, chain, pc);
        let Some(jump) = instruction.and_then(|instruction| instruction.jump()) else {
            worklist.push(next);
            continue;
        };
        let condition = constants.get(plan, jump.condition);
        if condition != Some(false) {
            worklist.push(next);
        }
        if condition != Some(true) {
            worklist.push(jump.target);
        }
    }
    reachable
}
