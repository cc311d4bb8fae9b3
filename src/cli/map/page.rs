//! The self-contained page of `pte map --html`. The templates escape all text. The page forbids the
//! browser to load resources, and to run any script but its own, which searches, sorts and unfolds.

use core::fmt::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pte::check::{CheckedFile, Checker};
use pte::map::SizeTree;
use pte::payload::PayloadContents;
use pte::quoted::UntrustedString;
use pte::summary::{ContentSummary, Summary};
use pte::tensors::ModuleTree;
use pte::{File, Limits};
use sha2::{Digest, Sha256};

use super::Row;
use crate::input::Input;
use crate::memory::svg;
use crate::output::Output;
use crate::problem::Problem;
use crate::size;
use crate::text::{count, grouped};

mod class;
mod graph;
mod methods;
mod picture;
mod pieces;
mod ranges;
mod sizes;
mod treemap;
mod verdict;

/// Writes the page of a file.
pub(super) fn show(
    input: &Input,
    file: &File<'_>,
    payloads: &[PayloadContents],
    rows: &[Row],
    limits: &Limits,
    out: &mut Output,
) -> Result<fmt::Result, Problem> {
    let summary = Summary::of(file);
    let sizes = size::tree(file, payloads, input)?;
    let modules = ModuleTree::of(file, payloads);
    let mut checked = CheckedFile::new(&input.name, file);
    let report = Checker::new().limits(*limits).check(&input.opened);
    checked.add(&input.opened, &[], &report.map_err(|error| Problem::open(&input.name, error))?);
    let methods = match (file, &summary.contents) {
        (File::Pte(pte), ContentSummary::Pte(program)) => methods::section(input, pte, program)?,
        _ => html! {},
    };
    let facts = Facts { summary: &summary, file, rows, sizes: &sizes, modules: &modules };
    let page = page(&input.name, &facts, &checked, &methods);
    Ok(out.write_str(&page.into_string()))
}

/// The facts about a file that the page shows.
struct Facts<'f, 'a> {
    summary: &'f Summary,
    file: &'f File<'a>,
    rows: &'f [Row],
    sizes: &'f SizeTree,
    modules: &'f ModuleTree,
}

fn page(
    path: &UntrustedString,
    facts: &Facts<'_, '_>,
    checked: &CheckedFile,
    methods: &Markup,
) -> Markup {
    let Facts { summary, file, rows, sizes, modules } = *facts;
    let title = path.to_string();
    let base = title.rsplit('/').next().unwrap_or_default();
    let kind = match &summary.contents {
        ContentSummary::Pte(_) => "program".to_string(),
        ContentSummary::Ptd(data) => format!("named data, generation {}", data.generation),
        // Only models have pages, so this is never shown.
        ContentSummary::Payload(_) | ContentSummary::Profile(_) | ContentSummary::Record(_) => {
            summary.kind.to_string()
        }
    };
    let pieces = pieces::Rows::of(modules);
    let has_methods = matches!(summary.contents, ContentSummary::Pte(_));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="color-scheme" content="light dark";
                title { (base) " · pte map" }
                style { (PreEscaped(STYLE)) (PreEscaped(svg::STYLE)) }
            }
            body {
                header {
                    h1 { (base) }
                    p {
                        "." (summary.kind) " " (kind) " · " (grouped(summary.bytes)) " bytes · "
                        (count(file.segment_count().into(), "segment"))
                    }
                    @if base != title { p.path { (title) } }
                    nav {
                        a href="#verdict" { "Verdict" } " " a href="#sizes" { "Sizes" } " "
                        a href="#pieces" { "Pieces" } " "
                        @if has_methods { a href="#methods" { "Methods" } " " }
                        a href="#map" { "Map" } " " a href="#parts" { "Parts" } " "
                        a href="#ranges" { "Ranges" }
                    }
                    p.search hidden {
                        input #search type="search" placeholder="Search pieces, instructions, parts, ranges"
                            aria-label="Search";
                        span #found role="status" {}
                    }
                }
                main {
                    (verdict::section(checked))
                    (treemap::section(modules, &pieces))
                    (pieces.section(modules.bytes))
                    (methods)
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
                    (sizes::section(sizes))
                    (ranges::section(rows))
                }
                footer { p { "Every byte is counted once. Made by pte " (env!("CARGO_PKG_VERSION")) "." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Returns the content security policy: nothing is loaded, and only the page's script runs.
fn policy() -> String {
    let digest = base64(&Sha256::digest(SCRIPT.as_bytes()));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; \
         form-action 'none'"
    )
}

/// Returns bytes in base64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |nth: usize| u32::from(chunk.get(nth).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (nth, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = usize::try_from(bits >> shift & 63).unwrap_or_default();
            let digit = DIGITS.get(digit).copied().map_or('=', char::from);
            text.push(if nth <= chunk.len() { digit } else { '=' });
        }
    }
    text
}

/// Returns a line with the number of omitted rows.
fn left_out(count: usize, noun: &str) -> Markup {
    html! {
        p.cut { "… " (grouped(u64::try_from(count).unwrap_or(u64::MAX))) " more " (noun)
            " than this page shows" }
    }
}

const TABLES: &str = "FlatBuffers part";

const STYLE: &str = include_str!("page/style.css");

const SCRIPT: &str = include_str!("page/script.js");

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_padded() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
