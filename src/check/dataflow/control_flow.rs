//! The control flow of one chain, as the interpreter follows it. That of a whole method, for liveness, is in
//! `method/cfg.rs`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::state::AbstractValue;
use crate::constant_bools::ConstantBools;
use crate::site::Plan;
use pte_core::method::{self, Jump, Loop, OuterLoops};
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_schema::program::view::Chain;

/// The most instructions with pending jumps for which a state is restored. With more, it is joined.
const MOST_RESTORED: usize = 8;

/// The loops of a chain, and the forward jumps that have not reached their target yet.
///
/// Pcs count from the beginning of the chain.
pub(super) struct ChainControlFlow {
    loops: OuterLoops,
    /// Forward jumps by their target.
    pending: BTreeMap<u32, PendingJumps>,
    /// How often the log has been cut.
    cuts: u32,
    /// The cuts to lengths that the log has not been cut below since: the count, and the length.
    lowest: Vec<(u32, usize)>,
    /// For each instruction, whether any path leads to it; empty if the chain has no loop.
    reachable: Vec<bool>,
}

/// Forward jumps to one instruction that has not been reached yet.
#[derive(Default)]
pub(super) struct PendingJumps {
    /// The lengths of the change log when the first and the last of these jumps were recorded, or shorter ones that
    /// the log had since.
    pub(super) log_len: Range<usize>,
    /// How often the log had been cut when `log_len` was right.
    cuts: u32,
    /// Whether any of these jumps can be taken before any backward jump.
    pub(super) is_taken_first: bool,
    /// What values were at the last of these jumps, if the state has been restored since.
    pub(super) restored: Vec<(i32, AbstractValue)>,
}

impl PendingJumps {
    /// Takes later cuts of the log into account.
    fn settle(&mut self, lowest: &[(u32, usize)], cuts: u32) {
        cost::look_up("", lowest.len());
        let later = lowest.partition_point(|&(cut, _)| cut <= self.cuts);
        if let Some(&(_, len)) = lowest.get(later) {
            self.log_len = self.log_len.start.min(len)..self.log_len.end.min(len);
        }
        self.cuts = cuts;
    }
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
        Self { loops, pending: BTreeMap::new(), cuts: 0, lowest: Vec::new(), reachable }
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

    /// Records a jump, if it leads forward. `log_len` is the length of the change log.
    pub(super) fn record_forward_jump(
        &mut self,
        (pc, target): (u32, u32),
        log_len: usize,
        is_taken_first: bool,
    ) {
        if target > pc {
            cost::look_up("", self.pending.len());
            let new = || PendingJumps {
                log_len: log_len..log_len,
                cuts: self.cuts,
                ..PendingJumps::default()
            };
            let all = self.pending.entry(target).or_insert_with(new);
            all.settle(&self.lowest, self.cuts);
            all.log_len = all.log_len.start.min(log_len)..all.log_len.end.max(log_len);
            all.is_taken_first |= is_taken_first;
        }
    }

    /// Records that the log was cut to a length, since the state was joined.
    pub(super) fn cut(&mut self, to: usize) {
        self.cuts = self.cuts.saturating_add(1);
        while self.lowest.pop_if(|&mut (_, len)| len >= to).is_some() {}
        self.lowest.push((self.cuts, to));
    }

    /// Returns whether the state can be restored to what it was when the log had the length `to`; now it has the
    /// length `from`. Each pending jump must have been recorded before the former, or now.
    pub(super) fn can_restore(&mut self, from: usize, to: usize) -> bool {
        let is_kept = |len: usize| len <= to || len == from;
        let (lowest, cuts) = (&self.lowest, self.cuts);
        self.pending.len() <= MOST_RESTORED
            && self.pending.values_mut().all(|one| {
                one.settle(lowest, cuts);
                is_kept(one.log_len.start) && is_kept(one.log_len.end)
            })
    }

    /// Records that the state was restored to what it was when the log had the length `to`. `changed` is what the
    /// values were before.
    pub(super) fn restore(&mut self, to: usize, changed: &[(i32, AbstractValue)]) {
        for jumps in self.pending.values_mut().filter(|jumps| jumps.log_len.end > to) {
            cost::charge(changed.len());
            jumps.restored.extend_from_slice(changed);
            jumps.log_len = jumps.log_len.start.min(to)..to;
        }
    }

    /// Removes and returns the forward jumps to an instruction.
    pub(super) fn take_jumps_to(&mut self, pc: u32) -> Option<PendingJumps> {
        let first = self.pending.first_entry().filter(|first| *first.key() <= pc)?;
        let mut jumps = first.remove();
        jumps.settle(&self.lowest, self.cuts);
        Some(jumps)
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
    let mut reachable = vec![false; index(len)];
    let mut worklist = vec![0];
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
