//! Aligns the instructions of two methods.

use core::hash::{Hash, Hasher};
use core::ops::Range;
use std::hash::DefaultHasher;

use alloc::vec::Vec;

use imara_diff::Hunk;

use super::fingerprint::ValueClass;
use super::hunks::hunks;
use super::plan::{Delegate, Plan};
use super::writers::NONE;
use pte_core::method::Instruction;
use pte_flat::bytes::{index as at_index, narrow};
use pte_schema::program::view::InstructionArguments;

mod moved;

/// An instruction of both methods, or of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    Both(u32, u32),
    Before(u32),
    After(u32),
    /// A moved instruction, listed at its place in the first method: its pc in the first and in the
    /// second method.
    From(u32, u32),
    /// A moved instruction, listed at its place in the second method: its pc in the second method.
    To(u32),
}

/// Returns all instructions of both methods, in order. They are aligned by operator, constants and
/// shapes first. The others are then aligned by operator alone, since all shapes may have changed.
pub(super) fn align(a: &Plan<'_, '_>, b: &Plan<'_, '_>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let fine = [keys(a, true), keys(b, true)];
    let [fine_a, fine_b] = &fine;
    let mut hunks = hunks(fine_a, fine_b);
    for nth in 0..hunks.len() {
        slide(a, b, &fine, &mut hunks, nth);
    }
    let coarse = [keys(a, false), keys(b, false)];
    let mut at = (0, 0);
    for hunk in joined(a, b, &coarse, hunks) {
        both(&mut pairs, &mut at, hunk.before.start);
        inner(a, b, &coarse, &hunk, &mut pairs);
        at = (hunk.before.end, hunk.after.end);
    }
    both(&mut pairs, &mut at, narrow(a.instructions.len()));
    moved::moved(a, b, &fine, pairs)
}

/// Merges adjacent hunks.
///
/// Also merges two hunks, and the instructions between them, if this range has the same keys in
/// both methods. Pairing the range one by one must agree in at least as many arguments as the
/// current alignment. The hunks are then changed calls, not an added call and a removed one.
fn joined(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    [keys_a, keys_b]: &[Vec<u64>; 2],
    hunks: Vec<Hunk>,
) -> Vec<Hunk> {
    // The same input is stronger evidence than the same value index.
    let input =
        |plan: &Plan<'_, '_>, at: i32| usize::try_from(at).ok().and_then(|at| plan.input(at));
    let alike = |one: Range<u32>, other: Range<u32>| {
        let pairs = one.zip(other).map(|(one, other)| {
            let (Some(one), Some(other)) = (a.instruction(one), b.instruction(other)) else {
                return 0;
            };
            let args = one.operands().iter().zip(other.operands().iter());
            args.fold(0i64, |sum, (one, other)| {
                sum.saturating_add(match (input(a, one), input(b, other)) {
                    (Some(one), Some(other)) if one == other => 4,
                    (None, None) if one == other => 1,
                    _ => 0,
                })
            })
        });
        pairs.fold(0, i64::saturating_add)
    };
    let is_change = |first: &Hunk, second: &Hunk| {
        let before = first.before.start..second.before.end;
        let after = first.after.start..second.after.end;
        first.before.len() != first.after.len()
            && before.len() == after.len()
            && part(keys_a, &before) == part(keys_b, &after)
            && alike(before, after)
                >= alike(first.before.end..second.before.start, first.after.end..second.after.start)
    };
    let mut joined: Vec<Hunk> = Vec::new();
    for hunk in hunks {
        match joined.last_mut() {
            Some(last)
                if (last.before.end, last.after.end) == (hunk.before.start, hunk.after.start)
                    || is_change(last, &hunk) =>
            {
                (last.before.end, last.after.end) = (hunk.before.end, hunk.after.end);
            }
            _ => joined.push(hunk),
        }
    }
    joined
}

/// Returns the keys of a range of instructions.
fn part<'k>(keys: &'k [u64], range: &Range<u32>) -> &'k [u64] {
    keys.get(at_index(range.start)..at_index(range.end)).unwrap_or_default()
}

/// Adds the common instructions from `at` up to `end`, a pc of the first method.
fn both(pairs: &mut Vec<Pair>, at: &mut (u32, u32), end: u32) {
    let (from, other) = *at;
    pairs.extend((from..end).zip(other..).map(|(one, other)| Pair::Both(one, other)));
}

/// Aligns the instructions of a hunk by their coarse keys.
fn inner(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    [keys_a, keys_b]: &[Vec<u64>; 2],
    hunk: &Hunk,
    pairs: &mut Vec<Pair>,
) {
    let (before, after) = (part(keys_a, &hunk.before), part(keys_b, &hunk.after));
    let (from, other) = (hunk.before.start, hunk.after.start);
    let mut at = (from, other);
    let moved =
        |range: Range<u32>, by: u32| range.start.saturating_add(by)..range.end.saturating_add(by);
    for hunk in hunks(before, after) {
        let (before, after) = (moved(hunk.before, from), moved(hunk.after, other));
        both(pairs, &mut at, before.start);
        // With the same kinds in the same order, each instruction is paired with its counterpart.
        let kind = |plan: &Plan<'_, '_>, nth| plan.instruction(nth).map(|one| one.tag());
        let kinds =
            before.clone().map(|nth| kind(a, nth)).eq(after.clone().map(|nth| kind(b, nth)));
        at = (before.end, after.end);
        if kinds {
            pairs.extend(before.zip(after).map(|(one, other)| Pair::Both(one, other)));
        } else {
            pairs.extend(before.map(Pair::Before));
            pairs.extend(after.map(Pair::After));
        }
    }
    both(pairs, &mut at, hunk.before.end);
}

/// Returns a key for each instruction; equal keys mean similar instructions.
fn keys(plan: &Plan<'_, '_>, fine: bool) -> Vec<u64> {
    let key = |instruction: &Instruction<'_>| {
        // A collision is harmless: aligned instructions are compared afterwards.
        let mut hasher = DefaultHasher::new();
        instruction.tag().hash(&mut hasher);
        match instruction.operation() {
            Some(InstructionArguments::KernelCall(call)) => {
                plan.operator(call.op_index()).hash(&mut hasher);
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let delegate = plan.delegate(call.delegate_index());
                let of = |delegate: &Delegate| match fine {
                    true => delegate.digest,
                    false => delegate.id,
                };
                delegate.map(of).hash(&mut hasher);
            }
            _ => {}
        }
        if fine {
            for at in instruction.operands().iter() {
                let nth = usize::try_from(at).ok();
                let fingerprint =
                    nth.and_then(|nth| Some((plan.value_class(nth)?, plan.fingerprint(nth)?)));
                fingerprint
                    .map(|(class, fingerprint)| match class {
                        ValueClass::Variable => fingerprint.meta,
                        ValueClass::Fixed | ValueClass::List => fingerprint.digest,
                    })
                    .hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    plan.instructions.iter().map(|one| key(&one)).collect()
}

/// Slides a hunk that only adds or only removes instructions. The hunk may slide along instructions
/// with equal keys. It stops where the most arguments of the paired instructions agree.
fn slide(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    [keys_a, keys_b]: &[Vec<u64>; 2],
    hunks: &mut [Hunk],
    nth: usize,
) {
    let Some(hunk) = hunks.get(nth).cloned() else { return };
    let (own, keys, removal) = match (hunk.before.is_empty(), hunk.after.is_empty()) {
        (false, true) => (hunk.before.clone(), keys_a, true),
        (true, false) => (hunk.after.clone(), keys_b, false),
        _ => return,
    };
    let other = if removal { hunk.after.start } else { hunk.before.start };
    let agree = |own: u32, other: u32| match removal {
        true => agreement(a.instruction(own), b.instruction(other)),
        false => agreement(a.instruction(other), b.instruction(own)),
    };
    let key = |nth: u32| keys.get(at_index(nth));
    let side = |hunk: &Hunk| if removal { hunk.before.clone() } else { hunk.after.clone() };
    let floor =
        nth.checked_sub(1).and_then(|last| hunks.get(last)).map_or(0, |last| side(last).end);
    let next = nth.saturating_add(1);
    let ceiling = hunks.get(next).map_or(narrow(keys.len()), |next| side(next).start);
    let (mut best, mut best_score) = (0i64, 0i64);
    let (mut score, mut moved) = (0i64, 0i64);
    let (mut range, mut at) = (own.clone(), other);
    while range.end < ceiling && key(range.start) == key(range.end) {
        let change = agree(range.start, at).saturating_sub(agree(range.end, at));
        (score, moved) = (score.saturating_add(change), moved.saturating_add(1));
        range = range.start.saturating_add(1)..range.end.saturating_add(1);
        at = at.saturating_add(1);
        if score > best_score {
            (best, best_score) = (moved, score);
        }
    }
    (score, moved, range, at) = (0, 0, own, other);
    while range.start > floor
        && key(range.start.saturating_sub(1)) == key(range.end.saturating_sub(1))
    {
        range = range.start.saturating_sub(1)..range.end.saturating_sub(1);
        at = at.saturating_sub(1);
        let change = agree(range.end, at).saturating_sub(agree(range.start, at));
        (score, moved) = (score.saturating_add(change), moved.saturating_sub(1));
        if score > best_score {
            (best, best_score) = (moved, score);
        }
    }
    let by = |range: &Range<u32>| {
        let moved = |nth: u32| u32::try_from(i64::from(nth).saturating_add(best)).unwrap_or(NONE);
        moved(range.start)..moved(range.end)
    };
    if let Some(hunk) = hunks.get_mut(nth) {
        (hunk.before, hunk.after) = (by(&hunk.before), by(&hunk.after));
    }
}

/// Returns the number of equal arguments.
fn agreement(one: Option<Instruction<'_>>, other: Option<Instruction<'_>>) -> i64 {
    let (Some(one), Some(other)) = (one, other) else { return 0 };
    let same =
        one.operands().iter().zip(other.operands().iter()).filter(|(one, other)| one == other);
    i64::try_from(same.count()).unwrap_or(i64::MAX)
}
