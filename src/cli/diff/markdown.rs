//! The report as Markdown, such as for a comment on a pull request.

use core::fmt::{self, Write};

use pte::diff::{Change, Class, Difference, Verdict};
use pte::quoted::{Untrusted, UntrustedString};

use super::{Found, text, title};
use crate::output::Output;
use crate::text::{grouped, name};

pub(super) fn show(found: &Found<'_>, out: &mut Output) -> fmt::Result {
    let mut page = String::new();
    let name = |path: &UntrustedString| code(name(path).as_str());
    let sign = match found.report.verdict {
        Verdict::Identical | Verdict::Same => "✅",
        Verdict::Different => "⚠",
    };
    writeln!(page, "### {} → {}\n", name(found.before), name(found.after))?;
    writeln!(page, "{sign} {}", found.summary())?;
    if !found.written().is_empty() {
        writeln!(page, "\n| what | before | after |\n| --- | --- | --- |")?;
        for written in found.written() {
            let (before, after) = (code(written.before.as_str()), code(written.after.as_str()));
            writeln!(page, "| {} | {before} | {after} |", written.what)?;
        }
    }
    let mut left_out = 0u64;
    for class in Class::ALL {
        let (shown, count) = found.of(class);
        if count > 0 {
            let open = if count <= FEW { " open" } else { "" };
            let rows = section(class, &shown, count, open, &page);
            left_out = left_out.saturating_add(u64::from(rows.is_none()));
            page.push_str(&rows.unwrap_or_default());
        }
    }
    if left_out > 0 {
        writeln!(page, "\n… and {left_out} more sections, for which there is no room here")?;
    }
    if let Some(hint) = found.hint() {
        writeln!(page, "\nHint: {hint}")?;
    }
    out.write_str(&page)
}

/// Returns a section with as many differences of a class as fit; `None` if none fits.
fn section(
    class: Class,
    shown: &[&Difference],
    count: u64,
    open: &str,
    page: &str,
) -> Option<String> {
    let mut section = format!(
        "\n<details{open}><summary><b>{}</b> ({})</summary>\n\n\
         |   | where | what | before | after |\n| - | --- | --- | --- | --- |\n",
        title(class),
        grouped(count)
    );
    let mut rows = 0u64;
    for difference in shown {
        let row = row(difference);
        let sum = page.len().saturating_add(section.len()).saturating_add(row.len());
        if sum > ROOM {
            break;
        }
        section.push_str(&row);
        rows = rows.saturating_add(1);
    }
    if rows == 0 {
        return None;
    }
    if let more @ 1.. = count.saturating_sub(rows) {
        section.push_str(&format!("\n… {} more\n", grouped(more)));
    }
    section.push_str("\n</details>\n");
    Some(section)
}

fn row(difference: &Difference) -> String {
    let sign = match difference.change() {
        Change::Added => "+",
        Change::Removed => "−",
        Change::Changed => "~",
    };
    let place = match &difference.method {
        Some(method) if difference.place.is_empty() => method.clone(),
        Some(method) => format!("{method}: {}", difference.place),
        None => difference.place.clone(),
    };
    let side = |side: &Option<_>| side.as_ref().map_or_else(String::new, |side| code(&text(side)));
    let (before, after) = (side(&difference.before), side(&difference.after));
    format!("| {sign} | {} | {} | {before} | {after} |\n", code(place.as_str()), difference.what)
}

/// Returns text as code, so that Markdown, mentions and links in it have no effect.
fn code<'t>(text: impl Into<Untrusted<'t>>) -> String {
    let text = text.into().to_string();
    if text.is_empty() {
        return text;
    }
    // Markdown trims spaces at the ends of a code span.
    if !text.contains(['`', '|', '\\']) && text.trim() == text {
        return format!("`{text}`");
    }
    // In a table, a `|` ends the cell even within a code span.
    let mut out = String::from("<code>");
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' => out.push(c),
            // Writing to a string cannot fail.
            c => _ = write!(out, "&#{};", u32::from(c)),
        }
    }
    out.push_str("</code>");
    out
}

/// The maximum number of bytes before the last lines. GitHub limits a comment to 65,536 characters.
const ROOM: usize = 64_000;

/// The maximum number of differences in a section that is open at first.
const FEW: u64 = 10;
