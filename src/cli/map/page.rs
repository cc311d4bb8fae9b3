//! The self-contained page of `pte map --html`. The templates escape all text, and the page forbids the
//! browser to run scripts and to load resources.

use core::fmt::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pte::File;
use pte::map::SizeTree;
use pte::payload::PayloadContents;
use pte::quoted::UntrustedString;
use pte::summary::{ContentSummary, Summary};

use super::Row;
use crate::cli::input::Input;
use crate::cli::output::Output;
use crate::cli::problem::Problem;
use crate::cli::size;
use crate::cli::text::{count, grouped};

mod class;
mod methods;
mod picture;
mod ranges;
mod sizes;

/// Writes the page of a file.
pub(super) fn show(
    input: &Input,
    file: &File<'_>,
    payloads: &[PayloadContents],
    rows: &[Row],
    out: &mut Output,
) -> Result<fmt::Result, Problem> {
    let summary = Summary::of(file);
    let sizes = size::tree(file, payloads, input)?;
    let page = page(&input.name, &summary, file, rows, &sizes);
    Ok(out.write_str(&page.into_string()))
}

fn page(
    path: &UntrustedString,
    summary: &Summary,
    file: &File<'_>,
    rows: &[Row],
    sizes: &SizeTree,
) -> Markup {
    let title = path.to_string();
    let base = title.rsplit('/').next().unwrap_or_default();
    let kind = match &summary.contents {
        ContentSummary::Pte(_) => "program".to_string(),
        ContentSummary::Ptd(data) => format!("named data, generation {}", data.generation),
        // A map is of a model.
        ContentSummary::Payload(_) | ContentSummary::Profile(_) => summary.kind.to_string(),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="color-scheme" content="light dark";
                title { (base) " · pte map" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (base) }
                    p {
                        "." (summary.kind) " " (kind) " · " (grouped(summary.bytes)) " bytes · "
                        (count(file.segment_count().into(), "segment"))
                    }
                    @if base != title { p.path { (title) } }
                }
                main {
                    section aria-labelledby="map" {
                        h2 #map { "Map" }
                        (picture::draw("The whole file, to scale", rows, 0..summary.bytes, None))
                        @if let Some(row) = rows.iter().find(|row| row.name.raw() == TABLES)
                            && row.bytes < summary.bytes
                        {
                            (picture::draw("The FlatBuffers part, to scale", &row.parts, row.begin..row.end, Some("tables")))
                        }
                        (class::legend(sizes))
                    }
                    @if let File::Pte(pte) = file && let ContentSummary::Pte(program) = &summary.contents {
                        (methods::section(pte, program))
                    }
                    (sizes::section(sizes))
                    (ranges::section(rows))
                }
                footer { p { "Every byte is counted once. Made by pte " (env!("CARGO_PKG_VERSION")) "." } }
            }
        }
    }
}

/// Returns the line for omitted rows.
fn left_out(count: usize, noun: &str) -> Markup {
    html! {
        p.cut { "… " (grouped(u64::try_from(count).unwrap_or(u64::MAX))) " more " (noun)
            " than this page shows" }
    }
}

const TABLES: &str = "FlatBuffers part";

const STYLE: &str = include_str!("page/style.css");
