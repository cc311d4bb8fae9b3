//! Compares jump targets.

use alloc::vec::Vec;

use crate::diff::align::Pair;
use pte_core::method::{Instruction, Jump};
use pte_flat::bytes::{index as at_index, narrow};

/// For each instruction of each method, the index of the first pair, from this instruction on,
/// that both methods have. Two jump targets are equal if their indices here are equal.
pub(super) struct Targets {
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Targets {
    pub(super) fn new(pairs: &[Pair], before: usize, after: usize) -> Self {
        let last = narrow(pairs.len());
        let mut targets = Self { before: vec![last; before], after: vec![last; after] };
        let mut next = last;
        for (nth, pair) in (0..last).zip(pairs).rev() {
            if let Pair::Both(..) = pair {
                next = nth;
            }
            let set = |all: &mut Vec<u32>, at: u32| {
                all.get_mut(at_index(at)).into_iter().for_each(|slot| *slot = next);
            };
            match *pair {
                Pair::Both(one, other) => {
                    set(&mut targets.before, one);
                    set(&mut targets.after, other);
                }
                Pair::Before(one) | Pair::From(one, _) => set(&mut targets.before, one),
                Pair::After(other) | Pair::To(other) => set(&mut targets.after, other),
            }
        }
        targets
    }

    /// Returns whether two jumps go to the same place.
    pub(super) fn same(
        &self,
        (old, from): (&Instruction<'_>, Jump),
        (new, to): (&Instruction<'_>, Jump),
    ) -> bool {
        let target = |all: &[u32], instruction: &Instruction<'_>, jump: Jump| match jump.is_valid {
            false => None,
            true if jump.target == instruction.chain_end() => Some((0, true)),
            true => all.get(at_index(jump.target)).map(|&at| (at, false)),
        };
        let (one, other) = (target(&self.before, old, from), target(&self.after, new, to));
        one == other && (one.is_some() || from.destination == to.destination)
    }
}
