//! The differences between two lists, as hunks, in O(n log n).

use core::ops::Range;

use alloc::vec::Vec;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

use super::writers::NONE;
use pte_flat::bytes::{index as at_index, narrow};
use pte_flat::cost;

mod increasing;

pub(super) use increasing::longest_increasing;

/// Returns the hunks of Myers' algorithm if that is cheap. Otherwise splits both lists at elements that are
/// unique in each, as patience diff does, and tries again in between. A part that stays too costly is one
/// hunk.
pub(super) fn hunks(before: &[u64], after: &[u64]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let whole = Part { before: &input.before, after: &input.after, at: (0, 0) };
    if is_cheap(&whole.trimmed()) {
        return Diff::compute(Algorithm::Myers, &input).hunks().collect();
    }
    let mut hunks = Vec::new();
    whole.trimmed().split(DEPTH, &mut hunks);
    hunks
}

/// A slice of each of two lists that are compared.
#[derive(Clone, Copy)]
struct Part<'t> {
    before: &'t [Token],
    after: &'t [Token],
    /// The positions of the first elements of both slices in their lists.
    at: (u32, u32),
}

impl<'t> Part<'t> {
    /// Returns the part without the common prefix and the common suffix of the two lists.
    fn trimmed(self) -> Self {
        let front = common(self.before.iter(), self.after.iter());
        let (before, after) = (rest(self.before, front), rest(self.after, front));
        let back = common(before.iter().rev(), after.iter().rev());
        let cut = |list: &'t [Token]| list.get(..list.len().saturating_sub(back));
        let at = (self.at.0.saturating_add(narrow(front)), self.at.1.saturating_add(narrow(front)));
        Self { before: cut(before).unwrap_or_default(), after: cut(after).unwrap_or_default(), at }
    }

    /// Adds the hunks of a trimmed part.
    fn split(self, depth: u32, hunks: &mut Vec<Hunk>) {
        let (one, other) = self.at;
        let end = (
            one.saturating_add(narrow(self.before.len())),
            other.saturating_add(narrow(self.after.len())),
        );
        if self.before.is_empty() && self.after.is_empty() {
            return;
        }
        if is_cheap(&self) {
            let mut input = InternedInput::default();
            input.update_before(self.before.iter().map(|token| token.0));
            input.update_after(self.after.iter().map(|token| token.0));
            let moved = |range: Range<u32>, by: u32| {
                range.start.saturating_add(by)..range.end.saturating_add(by)
            };
            hunks.extend(Diff::compute(Algorithm::Myers, &input).hunks().map(|hunk| Hunk {
                before: moved(hunk.before, one),
                after: moved(hunk.after, other),
            }));
            return;
        }
        let anchors = match depth {
            0 => Vec::new(),
            _ => self.anchors(),
        };
        if anchors.is_empty() {
            hunks.push(Hunk { before: one..end.0, after: other..end.1 });
            return;
        }
        let mut from = (0, 0);
        for to in anchors.into_iter().chain([(self.before.len(), self.after.len())]) {
            let part = Part {
                before: self.before.get(from.0..to.0).unwrap_or_default(),
                after: self.after.get(from.1..to.1).unwrap_or_default(),
                at: (one.saturating_add(narrow(from.0)), other.saturating_add(narrow(from.1))),
            };
            part.trimmed().split(depth.saturating_sub(1), hunks);
            from = (to.0.saturating_add(1), to.1.saturating_add(1));
        }
    }

    /// Returns the anchors: the positions in both lists of elements that are unique in each list.
    /// Only the longest increasing subsequence is kept, so that no two anchors cross.
    fn anchors(self) -> Vec<(usize, usize)> {
        let (before, after) = (once(self.before), once(self.after));
        let mut to_after = vec![NONE; self.before.len()];
        let mut others = after.into_iter().peekable();
        for (token, one) in before {
            while others.next_if(|&(other, _)| other < token).is_some() {}
            if let Some((_, other)) = others.next_if(|&(other, _)| other == token)
                && let Some(slot) = to_after.get_mut(at_index(one))
            {
                *slot = other;
            }
        }
        let in_order = longest_increasing(&to_after);
        let all = to_after.into_iter().zip(in_order).enumerate();
        all.filter_map(|(one, (other, is_in_order))| is_in_order.then_some((one, at_index(other))))
            .collect()
    }
}

/// Returns the unique elements of a list with their positions, sorted by element.
fn once(list: &[Token]) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = list.iter().zip(0..).map(|(token, at)| (token.0, at)).collect();
    cost::sort(all.len());
    all.sort_unstable();
    let groups = all.chunk_by(|one, other| one.0 == other.0);
    groups.filter_map(|group| if let [one] = group { Some(*one) } else { None }).collect()
}

/// Returns whether Myers' algorithm takes at most [`WORK`] steps for each element.
///
/// Runs the forward search without recording the path, and gives up when the steps are spent.
fn is_cheap(part: &Part<'_>) -> bool {
    let len = part.before.len().saturating_add(part.after.len());
    if len <= SHORT || part.before.is_empty() || part.after.is_empty() {
        return true;
    }
    // As the algorithm does, drops elements that only one list has.
    let (known_a, known_b) = (known(part.before), known(part.after));
    let a: Vec<Token> = part.before.iter().copied().filter(|&token| has(&known_b, token)).collect();
    let b: Vec<Token> = part.after.iter().copied().filter(|&token| has(&known_a, token)).collect();
    let mut left = len.saturating_mul(WORK);
    // Round d visits d diagonals, so the steps allow at most this many rounds. `reached` has the
    // furthest position in the first list for each diagonal.
    let most = left.isqrt().saturating_mul(2).min(len);
    let mut reached = vec![0usize; most.saturating_mul(2).saturating_add(3)];
    for distance in 0..most {
        // Diagonal `k` has `x - y = k - most`. A round visits every second diagonal.
        let begin = most.saturating_sub(distance);
        let end = most.saturating_add(distance);
        let mut next = begin;
        while next <= end {
            let k = next;
            next = next.saturating_add(2);
            let at = |k: usize| reached.get(k).copied().unwrap_or_default();
            let (below, above) = (k.saturating_sub(1), k.saturating_add(1));
            let is_down = k == begin || k != end && at(below) < at(above);
            let mut x = match is_down {
                _ if distance == 0 => 0,
                true => at(above),
                false => at(below).saturating_add(1),
            };
            let mut y = x.saturating_add(most).saturating_sub(k);
            // No iterators here: this loop takes nearly all of the time, and tests are hardly optimized.
            let first = x;
            while let (Some(one), Some(other)) = (a.get(x), b.get(y))
                && one.0 == other.0
            {
                (x, y) = (x.saturating_add(1), y.saturating_add(1));
            }
            if x >= a.len() && y >= b.len() {
                return true;
            }
            let steps = x.saturating_sub(first).saturating_add(1);
            cost::charge(steps);
            match left.checked_sub(steps) {
                Some(less) => left = less,
                None => return false,
            }
            if let Some(slot) = reached.get_mut(k) {
                *slot = x;
            }
        }
    }
    false
}

/// Returns the length of the common prefix.
fn common<'t>(
    one: impl Iterator<Item = &'t Token>,
    other: impl Iterator<Item = &'t Token>,
) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

fn rest(list: &[Token], from: usize) -> &[Token] {
    list.get(from..).unwrap_or_default()
}

/// Returns, for each token, whether a list has it.
fn known(list: &[Token]) -> Vec<bool> {
    let len = list.iter().map(|token| at_index(token.0).saturating_add(1)).max().unwrap_or(0);
    let mut known = vec![false; len];
    for token in list {
        known.get_mut(at_index(token.0)).into_iter().for_each(|slot| *slot = true);
    }
    known
}

fn has(known: &[bool], token: Token) -> bool {
    known.get(at_index(token.0)) == Some(&true)
}

/// The number of elements up to which lists are always cheap.
const SHORT: usize = 2048;

/// The most steps for each element.
const WORK: usize = 256;

/// The most levels of splitting.
const DEPTH: u32 = 3;
