//! Compares what the runtime requires of a program before it loads a method (format.md §1.3).

use alloc::string::String;

use super::{Class, Comparison, text};
use pte_core::Pte;

/// Adds a difference for each requirement that one program meets and the other one does not.
pub(super) fn compare(old: &Pte<'_>, new: &Pte<'_>, report: &mut Comparison) {
    let mut one = |class, what, before: Option<String>, after: Option<String>| {
        if before.is_some() != after.is_some() {
            let shown = |problem: Option<String>| {
                Some(text::shown(problem.unwrap_or_else(|| "can be loaded".into())))
            };
            let (before, after) = (shown(before), shown(after));
            report.add(class, || (String::new(), what, before, after));
        }
    };
    one(Class::Constants, "segment", constants(old), constants(new));
    one(Class::NamedData, "segments", named_data(old), named_data(new));
    // If a program has methods, these are reported instead of the missing list.
    if methods(old) == 0 && methods(new) == 0 {
        one(Class::Methods, "methods", no_methods(old), no_methods(new));
    }
}

fn methods(pte: &Pte<'_>) -> usize {
    pte.program().execution_plan().map_or(0, |plans| plans.len())
}

/// Returns why a program without a list of methods cannot be loaded; `None` if it has the list.
fn no_methods(pte: &Pte<'_>) -> Option<String> {
    let is_missing = pte.program().execution_plan().is_none();
    is_missing.then(|| "crashes: the list of methods is missing".into())
}

/// Returns why the runtime refuses the constants of a program; `None` if it loads them.
fn constants(pte: &Pte<'_>) -> Option<String> {
    let pieces = pte.program().constant_segment()?;
    // The first offset is reserved: with a single offset there are no constants to load.
    pieces.offsets().filter(|offsets| offsets.len() > 1)?;
    let index = pieces.segment_index();
    if pte.program().constant_buffer().is_some_and(|inline| !inline.is_empty()) {
        return Some("refused: constants in two places".into());
    }
    pte.segment_range(index).err().map(|_| format!("refused: segment {index} is missing"))
}

/// Returns why the runtime refuses the named data of a program; `None` if the data is accepted.
fn named_data(pte: &Pte<'_>) -> Option<String> {
    let program = pte.program();
    let is_refused = program.named_data().is_some() && program.segments().is_none();
    is_refused.then(|| "refused: the list of segments is missing".into())
}
