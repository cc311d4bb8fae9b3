//! Finds moved instructions: both methods have them, in another order.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;

use alloc::vec::Vec;

use super::Pair;
use crate::diff::fingerprint::ValueClass;
use crate::diff::hunks::longest_increasing;
use crate::diff::plan::Plan;
use crate::diff::writers::NONE;
use pte_core::method::Instruction;
use pte_flat::bytes::{index as at_index, narrow};

/// Marks moved instructions in `pairs`. An instruction has moved if both methods have it with the
/// same operands, and the alignment paired it with another one or with none.
pub(super) fn moved(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    [fine_a, fine_b]: &[Vec<u64>; 2],
    pairs: Vec<Pair>,
) -> Vec<Pair> {
    let exact = [exact(a, fine_a), exact(b, fine_b)];
    let Some(found) = Partners::of(&pairs, a, b, &exact) else { return pairs };
    let in_order = longest_increasing(&found.to_b);
    let (mut all, mut next) = (Vec::with_capacity(pairs.len()), 0u32);
    let behind = |all: &mut Vec<Pair>, range: core::ops::Range<u32>| {
        all.extend(range.map(|other| match found.to_a.get(at_index(other)) {
            None | Some(&NONE) => Pair::After(other),
            Some(_) => Pair::To(other),
        }));
    };
    for ((one, &other), &in_order) in (0u32..).zip(&found.to_b).zip(&in_order) {
        match (other, in_order) {
            (NONE, _) => all.push(Pair::Before(one)),
            (other, false) => all.push(Pair::From(one, other)),
            (other, true) => {
                behind(&mut all, next..other);
                all.push(Pair::Both(one, other));
                next = other.saturating_add(1);
            }
        }
    }
    behind(&mut all, next..narrow(b.instructions.len()));
    all
}

/// For each instruction, its partner in the other method, or [`NONE`].
struct Partners {
    to_b: Vec<u32>,
    to_a: Vec<u32>,
}

impl Partners {
    /// Returns all partners, including those of moved instructions; `None` if nothing moved.
    fn of(
        pairs: &[Pair],
        a: &Plan<'_, '_>,
        b: &Plan<'_, '_>,
        [exact_a, exact_b]: &[Vec<u64>; 2],
    ) -> Option<Self> {
        let mut known =
            Self { to_b: vec![NONE; a.instructions.len()], to_a: vec![NONE; b.instructions.len()] };
        for pair in pairs {
            if let Pair::Both(one, other) = *pair {
                known.set(one, other);
            }
        }
        // The instructions that have no exact partner, sorted by key.
        let left = |exact: &[u64], partners: &[u32], others: &[u64], plan: &Plan<'_, '_>| {
            let all = (0u32..).zip(exact).zip(partners).zip(plan.instructions.iter());
            let left = all.filter(|&(((_, key), &partner), instruction)| {
                others.get(at_index(partner)) != Some(key) && !is_jump(&instruction)
            });
            let mut left: Vec<_> = left.map(|(((nth, &key), _), _)| (key, nth)).collect();
            left.sort_unstable();
            left
        };
        let left_a = left(exact_a, &known.to_b, exact_b, a);
        let left_b = left(exact_b, &known.to_a, exact_a, b);
        let mut new =
            Self { to_b: vec![NONE; a.instructions.len()], to_a: vec![NONE; b.instructions.len()] };
        let (mut of_a, mut of_b) = (groups(&left_a).peekable(), groups(&left_b).peekable());
        let mut are_some = false;
        while let (Some(ones), Some(others)) = (of_a.peek().copied(), of_b.peek().copied()) {
            match key(ones).cmp(&key(others)) {
                core::cmp::Ordering::Less => _ = of_a.next(),
                core::cmp::Ordering::Greater => _ = of_b.next(),
                core::cmp::Ordering::Equal => {
                    // If the counts differ, it is unknown which instructions were added.
                    if ones.len() == others.len() {
                        let pairs = ones.iter().zip(others);
                        pairs.for_each(|(&(_, one), &(_, other))| new.set(one, other));
                        are_some = true;
                    }
                    of_a.next();
                    of_b.next();
                }
            }
        }
        if !are_some {
            return None;
        }
        new.drop_open(&known, &left_a, &left_b);
        new.complete(&known).then_some(new)
    }

    fn set(&mut self, one: u32, other: u32) {
        self.to_b.get_mut(at_index(one)).into_iter().for_each(|slot| *slot = other);
        self.to_a.get_mut(at_index(other)).into_iter().for_each(|slot| *slot = one);
    }

    /// Removes a new pair if a former partner of its instructions would then have no partner.
    fn drop_open(&mut self, known: &Self, left_a: &[(u64, u32)], left_b: &[(u64, u32)]) {
        let at = |list: &[u32], nth: u32| list.get(at_index(nth)).copied().unwrap_or(NONE);
        let mut open: Vec<(u32, u32)> = Vec::new();
        open.extend(left_a.iter().map(|&(_, one)| (one, NONE)));
        open.extend(left_b.iter().map(|&(_, other)| (NONE, other)));
        open.retain(|&(one, other)| at(&self.to_b, one) == NONE && at(&self.to_a, other) == NONE);
        while let Some((one, other)) = open.pop() {
            let (partner_b, partner_a) = (at(&known.to_b, one), at(&known.to_a, other));
            let pairs =
                [(at(&self.to_a, partner_b), partner_b), (partner_a, at(&self.to_b, partner_a))];
            for (one, other) in
                pairs.into_iter().filter(|&(one, other)| one != NONE && other != NONE)
            {
                self.to_b.get_mut(at_index(one)).into_iter().for_each(|slot| *slot = NONE);
                self.to_a.get_mut(at_index(other)).into_iter().for_each(|slot| *slot = NONE);
                open.push((one, other));
            }
        }
    }

    /// Adds the known pairs whose instructions have no new partner. Returns whether there were any
    /// new pairs before.
    fn complete(&mut self, known: &Self) -> bool {
        let are_some = self.to_b.iter().any(|&other| other != NONE);
        for (one, &other) in (0u32..).zip(&known.to_b) {
            let is_free = |list: &[u32], nth| list.get(at_index(nth)) == Some(&NONE);
            if is_free(&self.to_b, one) && is_free(&self.to_a, other) {
                self.set(one, other);
            }
        }
        are_some
    }
}

/// Splits a sorted list into groups of one key.
fn groups(sorted: &[(u64, u32)]) -> impl Iterator<Item = &[(u64, u32)]> {
    sorted.chunk_by(|one, other| one.0 == other.0)
}

fn key(group: &[(u64, u32)]) -> Option<u64> {
    group.first().map(|&(key, _)| key)
}

/// Returns whether an instruction is a jump, whose meaning depends on its place.
fn is_jump(instruction: &Instruction<'_>) -> bool {
    instruction.jump().is_some()
}

/// Returns a key for each instruction: its operation, its operands, and the uses of its results. A value is
/// identified by its definition and its first use, since value numbers have no meaning.
fn exact(plan: &Plan<'_, '_>, fine: &[u64]) -> Vec<u64> {
    let kind = |instruction: u32| fine.get(at_index(instruction)).copied();
    // The first use of each value outside its definition.
    let mut users = vec![None; plan.value_count()];
    for (number, instruction) in (0u32..).zip(plan.instructions.iter()) {
        for (place, at) in (0u32..).zip(instruction.operands().iter()) {
            let nth = usize::try_from(at).unwrap_or(usize::MAX);
            if plan.writers.first(nth) != number
                && let Some(user @ None) = users.get_mut(nth)
            {
                *user = Some((kind(number), place));
            }
        }
    }
    let key = |(number, instruction): (u32, Instruction<'_>)| {
        let mut hasher = DefaultHasher::new();
        (kind(number), instruction.chain()).hash(&mut hasher);
        for at in instruction.operands().iter() {
            let nth = usize::try_from(at).unwrap_or(usize::MAX);
            if plan.value_class(nth) != Some(ValueClass::Variable) {
                continue;
            }
            let writer = plan.writers.first(nth);
            let made = match writer == number {
                true => (None, users.get(nth).copied().flatten()),
                false => (kind(writer), None),
            };
            made.hash(&mut hasher);
            plan.writers.place(nth).hash(&mut hasher);
            (plan.input(nth), plan.output(nth)).hash(&mut hasher);
            plan.fingerprint(nth).map(|fingerprint| fingerprint.digest).hash(&mut hasher);
        }
        hasher.finish()
    };
    (0u32..).zip(plan.instructions.iter()).map(key).collect()
}
