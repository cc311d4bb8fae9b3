//! Checked files as text.

use core::fmt::{self, Write};

use pte::check::{CheckedFile, FindingRecord, MissingKeys};

use crate::columns::paragraph;
use crate::problem::{DIM, ERROR, NOTE, WARNING};
use crate::text::{count as counted, grouped, name, wide};

pub(in super::super) fn write(files: &[CheckedFile], out: &mut impl Write) -> fmt::Result {
    for file in files {
        let style = match file.verdict {
            "ok" => anstyle::AnsiColor::Green.on_default(),
            "incomplete" => WARNING,
            _ => ERROR,
        };
        writeln!(out, "{style}{}{style:#}  {}", file.verdict, file.path)?;
        write_missing(&file.missing, out)?;
        file.findings.iter().try_for_each(|finding| write_finding(finding, out))?;
        if file.omitted > 0 {
            writeln!(out, "  {DIM}and {} more (--max-findings){DIM:#}", file.omitted)?;
        }
    }
    Ok(())
}

/// Writes the keys of data that was not given.
fn write_missing(missing: &MissingKeys, out: &mut impl Write) -> fmt::Result {
    if missing.is_empty() {
        return Ok(());
    }
    let kept = missing.keys();
    let keys: Vec<_> = kept.iter().take(MAX_KEYS).map(name).collect();
    let (count, more) = (missing.count(), missing.count().saturating_sub(wide(keys.len())));
    write!(out, "  missing {}", counted(count, "key"))?;
    if !keys.is_empty() {
        write!(out, ": {}", keys.join(", "))?;
    }
    if more > 0 {
        let option = if keys.len() < kept.len() { "--json" } else { "--max-findings" };
        write!(out, " {DIM}and {} more ({option}){DIM:#}", grouped(more))?;
    }
    writeln!(out)
}

fn write_finding(finding: &FindingRecord, out: &mut impl Write) -> fmt::Result {
    let style = match finding.severity {
        "error" => ERROR,
        "warning" => WARNING,
        _ => NOTE,
    };
    let (severity, rule) = (finding.severity, finding.rule);
    writeln!(out, "  {style}{severity}[{rule}]{style:#}: {}", finding.message)?;
    if let Some(offset) = finding.offset {
        let comma = if finding.path.raw().is_empty() { "" } else { ", " };
        let data_file = finding.data_file.as_ref();
        let data_file = data_file.map_or(String::new(), |file| format!(" in {file}"));
        writeln!(out, "    at {offset:#x}{data_file}{comma}{}", finding.path)?;
    }
    if let Some(window) = &finding.window {
        write!(out, "    {DIM}{:08x} ", window.begin)?;
        for (nth, byte) in window.bytes.iter().enumerate() {
            write!(out, "{}{byte:02x}", if nth == 8 { "  " } else { " " })?;
        }
        writeln!(out, "{DIM:#}")?;
    }
    for (label, text) in [("why: ", finding.why), ("help:", finding.help)] {
        if let Some(text) = text {
            writeln!(out, "    {DIM}{label}{DIM:#} {}", paragraph(text, 10))?;
        }
    }
    Ok(())
}

/// The maximum number of missing keys that are shown.
const MAX_KEYS: usize = 8;
