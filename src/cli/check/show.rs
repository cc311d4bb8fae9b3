//! Checked files as text.

use core::fmt::{self, Write};

use pte::check::{CheckedFile, FindingRecord};

use crate::columns::paragraph;
use crate::problem::{DIM, ERROR, NOTE, WARNING};

pub(in super::super) fn write(files: &[CheckedFile], out: &mut impl Write) -> fmt::Result {
    for file in files {
        let good = anstyle::AnsiColor::Green.on_default();
        let style = if file.verdict == "ok" { good } else { ERROR };
        writeln!(out, "{style}{}{style:#}  {}", file.verdict, file.path)?;
        file.findings.iter().try_for_each(|finding| write_finding(finding, out))?;
        if file.omitted > 0 {
            writeln!(out, "  {DIM}and {} more (--max-findings){DIM:#}", file.omitted)?;
        }
    }
    Ok(())
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
