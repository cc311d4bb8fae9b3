//! The table of ranges.

use maud::{Markup, html};

use super::super::{InWords as _, Row};
use super::left_out;
use crate::text::grouped;

pub(super) fn section(rows: &[Row]) -> Markup {
    let mut table = Table { rows: Vec::new(), left_out: 0 };
    table.add(rows, 0);
    html! {
        section aria-labelledby="ranges" {
            details {
            summary { h2 #ranges { "Ranges" } }
            div.scroll {
                table.s {
                    caption { "Nested ranges in file order" }
                    thead { tr { th scope="col" { "begin" } th.wide scope="col" { "end" }
                        th.n scope="col" { "bytes" } th scope="col" { "what" } } }
                    tbody { @for row in &table.rows { (row) } }
                }
            }
            @if table.left_out > 0 { (left_out(table.left_out, "ranges")) }
            }
        }
    }
}

struct Table {
    rows: Vec<Markup>,
    left_out: usize,
}

impl Table {
    fn add(&mut self, rows: &[Row], level: usize) {
        for row in rows {
            let (title, inner) = row.title();
            if self.rows.len() < MAX_ROWS {
                let kinds = inner.kinds();
                self.rows.push(html! {
                    tr class={ "l" (level.min(4)) } {
                        td.a { (format!("{:#x}", row.begin)) }
                        td.a.wide { (format!("{:#x}", row.end)) }
                        td.n { (grouped(row.bytes)) }
                        td {
                            (title)
                            @if let Some(what) = inner.what { " " span.dim { (what) } }
                            @if !kinds.is_empty() { " " span.dim { (kinds) } }
                        }
                    }
                });
            } else {
                self.left_out = self.left_out.saturating_add(1);
            }
            self.add(&inner.parts, level.saturating_add(1));
        }
    }
}

const MAX_ROWS: usize = 500;
