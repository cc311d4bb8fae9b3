//! The report as text for a terminal.

use core::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use pte::diff::{Change, Class, Difference, Verdict};
use pte::quoted::Untrusted;

use super::{Found, text, title};
use crate::columns::paragraph;
use crate::output::Output;
use crate::problem::{BOLD, DIM, NAME};
use crate::text::grouped;

pub(super) fn show(found: &Found<'_>, out: &mut Output) -> fmt::Result {
    let (before, after) = (found.before, found.after);
    writeln!(out, "{BOLD}{before}{BOLD:#} → {BOLD}{after}{BOLD:#}")?;
    let style = match found.report.verdict {
        Verdict::Identical | Verdict::Same => ADDED,
        Verdict::Different => CHANGED,
    };
    writeln!(out, "{style}{}{style:#}", paragraph(&found.summary(), 0))?;
    for written in found.written() {
        let (before, after) = (escaped(&written.before), escaped(&written.after));
        writeln!(out, "  {DIM}{}{DIM:#}  {before} → {after}", written.what)?;
    }
    if found.report.verdict == Verdict::Same && !found.ignored && found.written().is_empty() {
        writeln!(out, "  {DIM}in numbers, in the order of things, or in padding{DIM:#}")?;
    }
    for class in Class::ALL {
        let (shown, count) = found.of(class);
        if count == 0 {
            continue;
        }
        writeln!(out, "\n{BOLD}{}{BOLD:#}", title(class))?;
        for difference in &shown {
            row(difference, out)?;
        }
        let shown = u64::try_from(shown.len()).unwrap_or(u64::MAX);
        if let more @ 1.. = count.saturating_sub(shown) {
            writeln!(out, "  {DIM}… {} more{DIM:#}", grouped(more))?;
        }
    }
    match found.hint() {
        Some(hint) => writeln!(out, "\n{DIM}hint:{DIM:#} {hint}"),
        None => Ok(()),
    }
}

fn row(difference: &Difference, out: &mut Output) -> fmt::Result {
    let (sign, style) = match difference.change() {
        Change::Added => ('+', ADDED),
        Change::Removed => ('-', REMOVED),
        Change::Changed => ('~', CHANGED),
    };
    let method = difference.method.as_ref().map_or(String::new(), |method| {
        let colon = if difference.place.is_empty() { "" } else { ": " };
        format!("{NAME}{}{NAME:#}{colon}", escaped(method))
    });
    let (place, what) = (escaped(&difference.place), difference.what);
    let sides = [&difference.before, &difference.after].into_iter().flatten();
    let sides: Vec<_> = sides.map(|side| text(side).to_string()).collect();
    let sides = sides.join(" → ");
    let line = paragraph(&format!("{method}{place}  {DIM}{what}{DIM:#}  {sides}"), 4);
    writeln!(out, "  {style}{sign}{style:#} {line}")
}

/// Marks a text of the report as untrusted: it is escaped when displayed.
fn escaped(text: &str) -> Untrusted<'_> {
    text.into()
}

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();
