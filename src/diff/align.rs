//! Which call of one method is which of another.

use core::hash::{Hash, Hasher};
use core::ops::Range;
use std::hash::DefaultHasher;

use alloc::vec::Vec;

use imara_diff::Hunk;

use super::plan::{Delegate, Plan};
use super::steps::NONE;
use super::values::Sort;
use crate::bytes::{index as at_index, narrow};
use crate::method::Instruction;
use crate::schema::program::view::InstructionArguments;

mod hunks;
mod increasing;
mod moved;

use hunks::hunks;

/// A step of both methods, or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    Both(u32, u32),
    Before(u32),
    After(u32),
    /// A step of both that has moved: where it stands in the first one, and there its number in both.
    From(u32, u32),
    /// Where it stands in the second one.
    To(u32),
}

/// All steps, in order. First by what they do with which constants and shapes, and what is left by
/// what they do: a change of all shapes does not keep calls from being recognized.
pub(super) fn align(a: &Plan<'_, '_>, b: &Plan<'_, '_>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let fine = [keys(a, true), keys(b, true)];
    let coarse = [keys(a, false), keys(b, false)];
    let [fine_a, fine_b] = &fine;
    let mut hunks = hunks(fine_a, fine_b);
    for nth in 0..hunks.len() {
        slide(a, b, &fine, &mut hunks, nth);
    }
    let mut at = (0, 0);
    for hunk in joined(a, b, &coarse, hunks) {
        both(&mut pairs, &mut at, hunk.before.start);
        inner(a, b, &coarse, &hunk, &mut pairs);
        at = (hunk.before.end, hunk.after.end);
    }
    both(&mut pairs, &mut at, narrow(a.steps.len()));
    moved::moved(a, b, &fine, pairs)
}

/// Hunks that touch are one. So are two that together have as many steps of one method as of the other,
/// where those from the first to the second are of the same kinds in both, and name at least as much of
/// the same: then nothing was put in and taken out, and one of them was changed.
fn joined(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    [keys_a, keys_b]: &[Vec<u64>; 2],
    hunks: Vec<Hunk>,
) -> Vec<Hunk> {
    // The same inputs say more than the same numbers, which mean nothing.
    let input =
        |plan: &Plan<'_, '_>, at: i32| usize::try_from(at).ok().and_then(|at| plan.input(at));
    let alike = |one: Range<u32>, other: Range<u32>| {
        let pairs = one.zip(other).map(|(one, other)| {
            let (Some(one), Some(other)) = (a.step(one), b.step(other)) else { return 0 };
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
    fn part<'k>(keys: &'k [u64], range: &Range<u32>) -> Option<&'k [u64]> {
        keys.get(at_index(range.start)..at_index(range.end))
    }
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

/// The steps up to `end` are in both.
fn both(pairs: &mut Vec<Pair>, at: &mut (u32, u32), end: u32) {
    let (from, other) = *at;
    pairs.extend((from..end).zip(other..).map(|(one, other)| Pair::Both(one, other)));
}

/// What is between steps that are alike.
fn inner(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    [keys_a, keys_b]: &[Vec<u64>; 2],
    hunk: &Hunk,
    pairs: &mut Vec<Pair>,
) {
    let part = |keys: &[u64], range: &Range<u32>| -> Vec<u64> {
        keys.get(at_index(range.start)..at_index(range.end)).unwrap_or_default().to_vec()
    };
    let (before, after) = (part(keys_a, &hunk.before), part(keys_b, &hunk.after));
    let (from, other) = (hunk.before.start, hunk.after.start);
    let mut at = (from, other);
    let moved =
        |range: Range<u32>, by: u32| range.start.saturating_add(by)..range.end.saturating_add(by);
    for hunk in hunks(&before, &after) {
        let (before, after) = (moved(hunk.before, from), moved(hunk.after, other));
        both(pairs, &mut at, before.start);
        // As many of one as of the other, and of the same kinds: each became the other.
        let kind = |plan: &Plan<'_, '_>, nth| plan.step(nth).map(Instruction::tag);
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

/// A key for each step: of steps that are alike, the same.
fn keys(plan: &Plan<'_, '_>, fine: bool) -> Vec<u64> {
    let key = |step: &Instruction<'_>| {
        // Which steps are aligned is no verdict: they are compared afterwards.
        let mut hasher = DefaultHasher::new();
        step.tag().hash(&mut hasher);
        match step.operation() {
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
            for at in step.operands().iter() {
                let nth = usize::try_from(at).ok();
                let held = nth.and_then(|nth| Some((plan.sort(nth)?, plan.held(nth)?)));
                held.map(|(sort, held)| match sort {
                    Sort::Variable => held.meta,
                    Sort::Fixed | Sort::List => held.digest,
                })
                .hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    plan.steps.iter().map(key).collect()
}

/// Moves a run of steps that only one method has among steps that are alike, to where most of the
/// others have the same numbers in both: where nothing was renumbered, that is where it was put in.
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
        true => agreement(a.step(own), b.step(other)),
        false => agreement(a.step(other), b.step(own)),
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

/// How many arguments have the same numbers.
fn agreement(one: Option<&Instruction<'_>>, other: Option<&Instruction<'_>>) -> i64 {
    let (Some(one), Some(other)) = (one, other) else { return 0 };
    let same =
        one.operands().iter().zip(other.operands().iter()).filter(|(one, other)| one == other);
    i64::try_from(same.count()).unwrap_or(i64::MAX)
}
