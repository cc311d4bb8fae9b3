//! Growth: the changes in size between parts of the same name in two files.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::SizeTree;
use pte_flat::quoted::UntrustedString;

/// A part whose size changed.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Growth<'t> {
    /// The names from the outermost part to this one.
    pub path: Vec<&'t UntrustedString>,
    /// The number of bytes in the base.
    pub before: u64,
    /// The number of bytes in the file.
    pub bytes: u64,
    /// The difference in bytes.
    pub change: i128,
}

impl<'t> Growth<'t> {
    /// Compares parts of the same name, at most `depth` levels down. Returns those whose sizes
    /// differ, the largest change first, and equal changes by name.
    #[must_use]
    pub fn between(base: &'t SizeTree, file: &'t SizeTree, depth: u32) -> Vec<Self> {
        let mut rows = Vec::new();
        compare(&[base], &[file], depth, &mut Vec::new(), &mut rows);
        rows.retain(|row| row.change != 0);
        rows.sort_by_key(|row| Reverse(row.change.abs()));
        rows
    }
}

/// Compares parts of the same name, level by level, until one of two parts has no inner parts.
fn compare<'t>(
    before: &[&'t SizeTree],
    after: &[&'t SizeTree],
    depth: u32,
    path: &mut Vec<&'t UntrustedString>,
    rows: &mut Vec<Growth<'t>>,
) {
    let sum =
        |parts: &[&SizeTree]| parts.iter().map(|part| part.bytes).fold(0u64, u64::saturating_add);
    let is_whole = |part: &&SizeTree| part.parts.is_empty() && part.bytes > 0;
    if depth == 0 || before.iter().chain(after).any(is_whole) {
        let (before, bytes) = (sum(before), sum(after));
        let change = i128::from(bytes).saturating_sub(before.into());
        rows.push(Growth { path: path.clone(), before, bytes, change });
        return;
    }
    let mut names: BTreeMap<&UntrustedString, [Vec<&SizeTree>; 2]> = BTreeMap::new();
    for part in before.iter().flat_map(|part| &part.parts) {
        let [of_name, _] = names.entry(&part.name).or_default();
        of_name.push(part);
    }
    for part in after.iter().flat_map(|part| &part.parts) {
        let [_, of_name] = names.entry(&part.name).or_default();
        of_name.push(part);
    }
    for (name, [before, after]) in &names {
        path.push(name);
        compare(before, after, depth.saturating_sub(1), path, rows);
        path.pop();
    }
}
