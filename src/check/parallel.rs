//! Judges long lists in parts: in parallel if threads are available, else in sequence. Both ways
//! give the same findings in the same order.

use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

use super::report::Findings;

/// Judges the elements `0..len` in parts. Returns the result of `judge` for each part, in order.
pub(crate) fn judge<T: Send>(
    len: u32,
    out: &mut Findings,
    judge: impl Fn(Range<u32>, &mut Findings) -> T + Sync,
) -> Vec<T> {
    let parts = if len < WORTH_A_THREAD { 1 } else { threads() };
    if parts == 1 {
        // A file may have millions of short lists: avoid allocating a list of parts for each.
        return vec![judge(0..len, out)];
    }
    let size = len.div_ceil(parts).max(1);
    let ranges = (0..parts).map(|part| {
        let start = part.saturating_mul(size).min(len);
        start..start.saturating_add(size).min(len)
    });
    let judge = |range: Range<u32>| {
        let mut out = out.another();
        (judge(range, &mut out), out)
    };
    let judged = each(ranges.collect(), &judge);
    let merge = |(given, found): (T, Findings)| {
        out.extend(found);
        given
    };
    judged.into_iter().map(merge).collect()
}

/// The least number of elements for which a thread is started: some hundred microseconds of work.
const WORTH_A_THREAD: u32 = 16384;

#[cfg(not(feature = "std"))]
fn threads() -> u32 {
    1
}

#[cfg(not(feature = "std"))]
fn each<T>(ranges: Vec<Range<u32>>, judge: &impl Fn(Range<u32>) -> T) -> Vec<T> {
    ranges.into_iter().map(judge).collect()
}

/// Whether [`judge_on_one_thread`] was called.
static IS_ALONE: AtomicBool = AtomicBool::new(false);

/// Lets no check of this process start threads. The C library needs it: what a call allocates is in an arena of its
/// thread. Without the feature `std` there are no threads.
pub fn judge_on_one_thread() {
    IS_ALONE.store(true, Ordering::Relaxed);
}

/// Returns the number of threads to use. More than a few would wait for memory.
#[cfg(feature = "std")]
fn threads() -> u32 {
    if IS_ALONE.load(Ordering::Relaxed) {
        return 1;
    }
    std::thread::available_parallelism()
        .map_or(1, |all| u32::try_from(all.get()).unwrap_or(1))
        .min(4)
}

#[cfg(feature = "std")]
fn each<T: Send>(ranges: Vec<Range<u32>>, judge: &(impl Fn(Range<u32>) -> T + Sync)) -> Vec<T> {
    let (first, rest) = match ranges.split_first() {
        Some((first, rest)) => (first.clone(), rest),
        None => return Vec::new(),
    };
    std::thread::scope(|scope| {
        let start = |range: &Range<u32>| {
            let own = range.clone();
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || judge(own));
            (range.clone(), thread.ok())
        };
        let started: Vec<_> = rest.iter().map(start).collect();
        let mut judged = vec![judge(first)];
        // Runs a part on this thread if spawning or joining its thread failed.
        judged.extend(started.into_iter().map(|(range, thread)| {
            let given = thread.and_then(|thread| thread.join().ok());
            given.unwrap_or_else(|| judge(range))
        }));
        judged
    })
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::Policy;
    use crate::rules;
    use pte_core::Limits;
    use pte_flat::bytes::{index, narrow};

    /// Reports a finding for every seventh element, with three rules in turn.
    fn sevenths(range: Range<u32>, out: &mut Findings) -> u32 {
        let len = narrow(range.len());
        for nth in range.filter(|nth| nth % 7 == 0) {
            let rule = rules().nth(index(nth % 3)).unwrap();
            out.find(rule, nth.into(), Vec::new, || format!("{nth}"));
        }
        len
    }

    #[test]
    fn parts_find_what_the_whole_finds_in_the_same_order() {
        for findings_per_rule in [0, 10, 100, u32::MAX] {
            let limits = Limits { findings_per_rule, ..Limits::UNTRUSTED };
            for len in [0, 1, WORTH_A_THREAD - 1, WORTH_A_THREAD, 5 * WORTH_A_THREAD + 3] {
                let (mut whole, mut parts) = (Findings::new(&limits), Findings::new(&limits));
                // Both lists begin with the same two findings, so that the parts add to a list in use.
                sevenths(0..14, &mut whole);
                sevenths(0..14, &mut parts);
                assert_eq!(sevenths(0..len, &mut whole), len);
                assert_eq!(judge(len, &mut parts, sevenths).iter().sum::<u32>(), len);
                assert_eq!(
                    format!("{:?}", parts.report(&Policy::new())),
                    format!("{:?}", whole.report(&Policy::new())),
                    "{len}"
                );
            }
        }
    }
}
