//! Compares two programs: their methods by name, and their named data.

use core::cell::Cell;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::contents::Contents;
use super::method::{self, Reported};
use super::plan::Plan;
use super::{Class, Comparison, DiffError, load, named, text};
use pte_core::{Pte, Source};
use pte_schema::program::view::ExecutionPlan;

/// Adds the differences between two programs, or between their methods with the name `only`.
pub(super) fn compare<S: Source>(
    (old, a): (&Pte<'_>, &mut Contents<'_, S>),
    (new, b): (&Pte<'_>, &mut Contents<'_, S>),
    only: Option<&str>,
    report: &mut Comparison,
) -> Result<(), DiffError<S::Error>> {
    let (before, after) = (old.program(), new.program());
    if only.is_none() {
        if before.version() != after.version() {
            report.header("version", before.version(), after.version());
        }
        load::compare(old, new, report);
    }
    let (left, right) = (methods(old, only), methods(new, only));
    let mut reported = Reported::default();
    let texts = Cell::new(old.region().len().saturating_add(new.region().len()).saturating_mul(8));
    // Methods follow the order of the first file. Methods that only the second file has come last.
    let mut common: Vec<_> = left.iter().collect();
    common.sort_unstable_by_key(|(_, (nth, _))| *nth);
    for (key, (_, one)) in common {
        match right.get(key) {
            Some((_, other)) => {
                let (one, other) =
                    (Plan::of(old, *one, &texts, a)?, Plan::of(new, *other, &texts, b)?);
                method::compare(&one, &other, &mut reported, report);
            }
            None => single(*one, true, report),
        }
    }
    let mut added: Vec<_> = right.iter().filter(|(key, _)| !left.contains_key(*key)).collect();
    added.sort_unstable_by_key(|(_, (nth, _))| *nth);
    added.into_iter().for_each(|(_, (_, plan))| single(*plan, false, report));
    match only {
        None => named::compare((old, a), (new, b), report),
        Some(_) => Ok(()),
    }
}

/// Each method with its index in the program. The key is the method's name, and its index among the
/// methods of that name.
type Methods<'a> = BTreeMap<(Option<&'a str>, usize), (usize, ExecutionPlan<'a>)>;

fn methods<'a>(pte: &Pte<'a>, only: Option<&str>) -> Methods<'a> {
    let mut methods = BTreeMap::new();
    let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for (nth, plan) in pte.program().execution_plan().into_iter().flatten().enumerate() {
        let name = plan.name();
        if only.is_some_and(|only| only != name.unwrap_or_default()) {
            continue;
        }
        let count = counts.entry(name).or_default();
        methods.insert((name, *count), (nth, plan));
        *count = count.saturating_add(1);
    }
    methods
}

/// Reports a method that only one program has.
fn single(plan: ExecutionPlan<'_>, before: bool, report: &mut Comparison) {
    report.add(Class::Methods, || {
        let count = |len: Option<usize>, one: &str, more: &str| match len.unwrap_or_default() {
            1 => format!("1 {one}"),
            len => format!("{len} {more}"),
        };
        let inputs = count(plan.inputs().map(|all| all.len()), "input", "inputs");
        let outputs = count(plan.outputs().map(|all| all.len()), "output", "outputs");
        let chains = plan.chains().into_iter().flatten();
        let instructions =
            chains.map(|chain| chain.instructions().map_or(0, |all| all.len())).sum();
        let instructions = count(Some(instructions), "instruction", "instructions");
        let shown = Some(text::shown(format!("{inputs}, {outputs}, {instructions}")));
        let (old, new) = if before { (shown, None) } else { (None, shown) };
        (plan.name().map_or_else(|| "(no name)".into(), text::plain), "method", old, new)
    });
}
