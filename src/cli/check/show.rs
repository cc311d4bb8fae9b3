//! Judged files as text.

use core::fmt::{self, Write};

use super::judged::{Finding, Judged};
use crate::cli::problem::{DIM, ERROR, NOTE, WARNING};

pub(in crate::cli) fn write(files: &[Judged], out: &mut impl Write) -> fmt::Result {
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

fn write_finding(finding: &Finding, out: &mut impl Write) -> fmt::Result {
    let style = match finding.severity {
        "error" => ERROR,
        "warning" => WARNING,
        _ => NOTE,
    };
    let (severity, rule) = (finding.severity, &finding.rule);
    writeln!(out, "  {style}{severity}[{rule}]{style:#}: {}", finding.message)?;
    if let Some(offset) = finding.offset {
        let comma = if finding.path.raw().is_empty() { "" } else { ", " };
        let inside = finding.inside.as_ref().map_or(String::new(), |file| format!(" in {file}"));
        writeln!(out, "    at {offset:#x}{inside}{comma}{}", finding.path)?;
    }
    if let Some((begin, bytes)) = &finding.window {
        write!(out, "    {DIM}{begin:08x} ")?;
        for (nth, byte) in bytes.iter().enumerate() {
            write!(out, "{}{byte:02x}", if nth == 8 { "  " } else { " " })?;
        }
        writeln!(out, "{DIM:#}")?;
    }
    match finding.help {
        Some(help) => writeln!(out, "    {DIM}help:{DIM:#} {help}"),
        None => Ok(()),
    }
}
