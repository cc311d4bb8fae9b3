//! The control flow of a method: loops, made by backward jumps, and forward jumps.

use alloc::vec::Vec;

use super::instruction::instructions;
use pte_flat::bytes::narrow;
use pte_flat::cost;
use pte_schema::program::view::ExecutionPlan;

/// A loop: the instructions that a backward jump repeats, from the first to the last pc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loop {
    /// The first instruction.
    pub begin: u32,
    /// The pc of the backward jump.
    pub end: u32,
}

/// The outermost loops of a method or a chain, in order. Loops that nest or cross count as one.
#[derive(Clone, Debug, Default)]
pub struct OuterLoops(Vec<Loop>);

impl OuterLoops {
    /// Adds the loop of a backward jump. Jumps are recorded in the order of the file.
    pub fn record_backward_jump(&mut self, mut new: Loop) {
        while let Some(last) = self.0.pop_if(|last| last.end >= new.begin) {
            new.begin = new.begin.min(last.begin);
        }
        self.0.push(new);
    }

    /// Returns whether there are no loops.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the loop that contains an instruction.
    pub fn around(&self, pc: u32) -> Option<Loop> {
        cost::look_up("", self.0.len());
        let found = self.0.get(self.0.partition_point(|one| one.end < pc)).copied();
        found.filter(|one| one.begin <= pc)
    }
}

/// The control flow of a method.
#[derive(Debug, Default)]
pub struct MethodControlFlow {
    /// The loops, sorted by begin, an outer loop before its inner ones. Any two are nested or
    /// disjoint. If two overlap in part, the earlier one is extended to the end of the later one.
    pub loops: Vec<Loop>,
    /// The outermost loops.
    pub outer: OuterLoops,
    /// Forward jumps in order: the pc of each jump, and the pc of its target.
    pub forward: Vec<(u32, u32)>,
    /// The pc of the first instruction of each chain.
    pub chains: Vec<u32>,
    /// The number of instructions.
    pub len: u32,
}

impl MethodControlFlow {
    /// Returns the control flow of a method.
    pub fn of(plan: ExecutionPlan<'_>) -> Self {
        let mut flow = Self::default();
        for chain in plan.chains().into_iter().flatten() {
            flow.chains.push(flow.len);
            let len = chain.instructions().map_or(0, |all| all.len());
            flow.len = flow.len.saturating_add(narrow(len));
        }
        for instruction in instructions(plan) {
            let Some(jump) = instruction.jump() else { continue };
            let (pc, target) = (instruction.pc(), jump.target);
            if target <= pc {
                let new = Loop { begin: target, end: pc };
                flow.loops.push(new);
                flow.outer.record_backward_jump(new);
            } else {
                flow.forward.push((pc, target));
            }
        }
        cost::sort(flow.loops.len());
        flow.loops.sort_unstable_by_key(|one| (one.begin, u32::MAX.saturating_sub(one.end)));
        widen_until_nested(&mut flow.loops);
        flow
    }
}

/// If two loops cross, extends the earlier one to the end of the later one.
///
/// The loops are sorted by begin, an outer loop before its inner ones, and stay sorted.
fn widen_until_nested(loops: &mut [Loop]) {
    // The loops that have not ended, each with its end. `crossed` has, for each loop, a later
    // loop that it crosses.
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut crossed: Vec<Option<usize>> = vec![None; loops.len()];
    for (nth, &Loop { begin, end }) in loops.iter().enumerate() {
        while open.pop_if(|&mut (_, open)| open < begin).is_some() {}
        while let Some((earlier, _)) = open.pop_if(|&mut (_, open)| open < end) {
            crossed.get_mut(earlier).into_iter().for_each(|by| *by = Some(nth));
        }
        open.push((nth, end));
    }
    for (nth, by) in crossed.into_iter().enumerate().rev() {
        let until = by.and_then(|by| loops.get(by)).map(|later| later.end);
        if let (Some(until), Some(one)) = (until, loops.get_mut(nth)) {
            one.end = until;
        }
    }
}
