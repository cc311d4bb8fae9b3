//! The stack traces of a chain: where in a Python program each instruction comes from.

use super::rules::{PATHS_LEAKED, STACKTRACE_LENGTH};
use crate::report::Findings;
use crate::site::Plan;
use pte_core::PathComponent;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;
use pte_schema::program::view::Chain;

/// Judges the stack traces of the chain at `path`.
pub(super) fn judge(
    plan: &Plan<'_, '_>,
    chain: Chain<'_>,
    path: &[PathComponent],
    out: &mut Findings,
) {
    let Some(traces) = chain.stacktrace() else { return };
    let instructions = chain.instructions().map_or(0, |instructions| instructions.len());
    if !traces.is_empty() && traces.len() != instructions {
        plan.find(out, &STACKTRACE_LENGTH, chain.raw(), path, || {
            format!("{} stack traces for {instructions} instructions", traces.len())
        });
    }
    let mut frames = traces.iter().flat_map(|trace| trace.items().into_iter().flatten());
    // One finding per chain is enough: all its paths come from the same machine.
    if let Some(frame) = frames.find(|frame| frame.filename().is_some_and(is_absolute)) {
        plan.find(out, &PATHS_LEAKED, frame.raw(), path, || {
            format!("a stack trace holds {}", Quoted(frame.filename().unwrap_or_default()))
        });
    }
}

/// Returns whether a path of Unix or Windows begins with a root, a drive or a home folder.
fn is_absolute(path: &str) -> bool {
    let is_drive = match path.as_bytes() {
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    };
    is_drive || path.starts_with(['/', '\\', '~'])
}

#[cfg(test)]
mod tests {
    use super::is_absolute;

    #[test]
    fn paths_of_a_machine_begin_at_a_root_a_drive_or_a_home() {
        for path in ["/home/a/model.py", "C:\\a.py", "c:/a.py", "\\\\host\\a.py", "~/a.py"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["", "model.py", "a/b.py", "C:", "1:/a.py", "<eval_with_key>.1"] {
            assert!(!is_absolute(path), "{path}");
        }
    }
}
