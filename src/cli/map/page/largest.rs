//! The largest parts of a size tree, for a picture that has room for some of them.

use core::cmp::Reverse;

use pte::map::SizeTree;

use crate::text::grouped;

/// Leaves out the smallest parts of a file, until the JSON of the tree has about `room` bytes. Each part keeps its
/// bytes: what it lost is a last part of it, "N smaller parts". Returns the number of parts that were left out.
pub(super) fn keep(file: &mut SizeTree, room: usize) -> u64 {
    let mut all = Vec::new();
    list(&file.parts, &mut all);
    // A part is never larger than its parent, which comes first in the list. So the parents of a kept part are
    // kept too.
    all.sort_by_key(|&(bytes, _)| Reverse(bytes));
    let mut used = 0usize;
    let mut fits = |(_, cost): &&(u64, usize)| {
        used = used.saturating_add(*cost);
        used <= room
    };
    let kept = all.iter().take_while(&mut fits).count();
    let Some(&(least, _)) = all.get(kept) else { return 0 };
    let mut equal = all.iter().take(kept).filter(|(bytes, _)| *bytes == least).count();
    prune(file, least, &mut equal)
}

/// Lists the bytes of each part, and about the length of its JSON.
fn list(parts: &[SizeTree], to: &mut Vec<(u64, usize)>) {
    for part in parts {
        to.push((part.bytes, ROW.saturating_add(part.name.raw().len().min(LONGEST))));
        list(&part.parts, to);
    }
}

/// Leaves out parts of fewer than `least` bytes, and of those with as many all but `equal`.
fn prune(tree: &mut SizeTree, least: u64, equal: &mut usize) -> u64 {
    let mut is_kept = |part: &SizeTree| {
        let is_equal = part.bytes == least && *equal > 0;
        *equal = equal.saturating_sub(usize::from(is_equal));
        part.bytes > least || is_equal
    };
    let parts = core::mem::take(&mut tree.parts).into_iter();
    let (mut kept, small): (Vec<_>, Vec<_>) = parts.partition(|part| is_kept(part));
    kept.sort_by_key(|part| Reverse(part.bytes));
    let mut left_out = 0u64;
    for part in &mut kept {
        left_out = left_out.saturating_add(prune(part, least, equal));
    }
    let number = u64::try_from(small.len()).unwrap_or(u64::MAX);
    let bytes = small.iter().map(|part| part.bytes).fold(0, u64::saturating_add);
    if let Some(mut rest) = small.into_iter().next() {
        if number > 1 {
            rest.name = format!("{} smaller parts", grouped(number)).into();
        }
        rest.bytes = bytes;
        rest.parts.clear();
        kept.push(rest);
        left_out = left_out.saturating_add(number);
    }
    tree.parts = kept;
    left_out
}

/// The bytes of a part in JSON, without its name, and the longest name.
const ROW: usize = 48;
const LONGEST: usize = 1000;
