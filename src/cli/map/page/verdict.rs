//! The verdict and the findings of a check with the default policy.

use maud::{Markup, html};
use pte::check::CheckedFile;

use super::left_out;
use crate::text::{count, name, wide};

pub(super) fn section(checked: &CheckedFile) -> Markup {
    let findings = &checked.findings;
    let number = |severity: &str| {
        wide(findings.iter().filter(|finding| finding.severity == severity).count())
    };
    let all = wide(findings.len()).saturating_add(checked.omitted);
    let is_bad = checked.verdict == "error";
    html! {
        section aria-labelledby="verdict" {
            h2 #verdict { "Verdict" }
            p.verdict.bad[is_bad] {
                @if is_bad { b { "error" } " The official runtime refuses this file, or may crash on it or misread it." }
                @else if checked.verdict == "incomplete" { b { "incomplete" } " This file needs data of a .ptd file that was not given: without it the official runtime refuses to load, or crashes." }
                @else { b { "ok" } " No rule of severity error is broken. Data in other files and in opaque payloads was not judged." }
            }
            @if all > 0 {
                details open[is_bad] {
                    summary {
                        (count(all, "finding"))
                        @for severity in ["error", "warning", "note"] {
                            @if number(severity) > 0 { " · " (count(number(severity), severity)) }
                        }
                    }
                    div.scroll {
                        table.s.findings {
                            thead { tr { th scope="col" data-k="t" { "severity" } th scope="col" data-k="t" { "rule" }
                                th scope="col" data-k="t" { "what is wrong" } th scope="col" data-k="t" { "where" } } }
                            tbody {
                                @for finding in findings.iter().take(MAX_ROWS) {
                                    tr {
                                        td.{ "s-" (finding.severity) } { (finding.severity) }
                                        td { code { (finding.rule) } }
                                        td { (name(&finding.message)) }
                                        td {
                                            @if let Some(offset) = finding.offset { (format!("{offset:#x} ")) }
                                            code { (name(&finding.path)) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                    @if findings.len() > MAX_ROWS {
                        (left_out(findings.len().saturating_sub(MAX_ROWS), "findings"))
                    }
                }
            }
        }
    }
}

const MAX_ROWS: usize = 100;
