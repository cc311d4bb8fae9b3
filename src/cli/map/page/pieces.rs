//! The table of pieces: each tensor, constant and other piece with its module, layout and owner.

use std::collections::BTreeMap;

use maud::{Markup, html};
use pte::tensors::ModuleTree;

use super::{class, left_out};
use crate::size::percent;
use crate::text::{grouped, name};

/// The rows of the table, the largest first, with their ids.
pub(super) struct Rows<'t> {
    rows: Vec<(String, &'t ModuleTree)>,
    /// The id of each row, by the address of the row's piece.
    ids: BTreeMap<*const ModuleTree, usize>,
    left_out: usize,
}

impl<'t> Rows<'t> {
    pub(super) fn of(tree: &'t ModuleTree) -> Self {
        let mut rows = Vec::new();
        collect(tree, "", &mut rows);
        rows.sort_by_key(|(_, piece)| core::cmp::Reverse(piece.bytes));
        let left_out = rows.len().saturating_sub(MAX_ROWS);
        rows.truncate(MAX_ROWS);
        let ids = (1..).zip(&rows).map(|(nth, (_, piece))| (core::ptr::from_ref(*piece), nth));
        Self { ids: ids.collect(), rows, left_out }
    }

    /// Returns the id of the row of a piece.
    pub(super) fn id(&self, piece: &ModuleTree) -> Option<String> {
        self.ids.get(&core::ptr::from_ref(piece)).map(|nth| format!("p{nth}"))
    }

    pub(super) fn section(&self, whole: u64) -> Markup {
        html! {
            section aria-labelledby="pieces" {
                details open[self.rows.len() <= FEW_ROWS] {
                    summary { h2 #pieces { "Pieces" } }
                    div.scroll {
                        table.s.pieces {
                            caption { "Each tensor, constant and other piece, the largest first" }
                            thead { tr { th.n scope="col" data-k="n" { "bytes" } th.n scope="col" data-k="n" { "share" }
                                th scope="col" data-k="t" { "name" } th scope="col" data-k="t" { "shape" }
                                th scope="col" data-k="t" { "owner" } } }
                            tbody {
                                @for (nth, (path, piece)) in (1..).zip(&self.rows) {
                                    (row(nth, path, piece, whole))
                                }
                            }
                        }
                    }
                    @if self.left_out > 0 { (left_out(self.left_out, "pieces")) }
                }
            }
        }
    }
}

fn collect<'t>(tree: &'t ModuleTree, above: &str, rows: &mut Vec<(String, &'t ModuleTree)>) {
    for part in &tree.parts {
        let path = match above {
            "" => name(&part.name),
            above => join(above, &name(&part.name)),
        };
        match part.parts.is_empty() {
            true => rows.push((path, part)),
            false => collect(part, &path, rows),
        }
    }
}

/// Returns the path of a part. The names of modules are joined with dots.
pub(super) fn join(above: &str, name: &str) -> String {
    match above.contains(' ') || name.contains(' ') {
        true => format!("{above} / {name}"),
        false => format!("{above}.{name}"),
    }
}

fn row(nth: u64, path: &str, piece: &ModuleTree, whole: u64) -> Markup {
    let share = percent(piece.bytes.into(), whole);
    let class = class::of_name(piece.part).unwrap_or("loose");
    html! {
        tr id={ "p" (nth) } {
            td.n { (grouped(piece.bytes)) }
            td.n { (share.trim_start_matches('+')) }
            td { b.dot.(class) title=(piece.part) {} (path)
                @if piece.count > 1 { " " span.dim { "× " (grouped(piece.count)) } } }
            td { @if let Some(layout) = &piece.layout { code { (name(layout.as_str())) } } }
            td { @if let Some(owner) = &piece.owner { (name(owner)) } }
        }
    }
}

const MAX_ROWS: usize = 500;
/// The maximum number of rows that are shown unfolded.
const FEW_ROWS: usize = 40;
