//! The table of sizes by part.

use maud::{Markup, html};
use pte::map::SizeTree;

use super::{class, left_out};
use crate::size::percent;
use crate::text::{grouped, name};

pub(super) fn section(sizes: &SizeTree) -> Markup {
    let mut table = Table { whole: sizes.bytes, rows: Vec::new(), left_out: 0 };
    table.add(sizes, None, 0);
    html! {
        section aria-labelledby="parts" {
            details {
            summary { h2 #parts { "Parts" } }
            div.scroll {
                table.s {
                    caption { "By part, the largest first; every byte once" }
                    thead { tr { th.n scope="col" { "bytes" } th.n scope="col" { "share" }
                        th.wide scope="col" {} th scope="col" { "part" } } }
                    tbody { @for row in &table.rows { (row) } }
                }
            }
            @if table.left_out > 0 { (left_out(table.left_out, "parts")) }
            }
        }
    }
}

struct Table {
    whole: u64,
    rows: Vec<Markup>,
    left_out: usize,
}

impl Table {
    fn add(&mut self, parent: &SizeTree, around: Option<&'static str>, level: usize) {
        for (nth, part) in parent.largest_first().into_iter().enumerate() {
            if nth >= MAX_PARTS || self.rows.len() >= MAX_ROWS {
                self.left_out = self.left_out.saturating_add(1);
                continue;
            }
            let class = match (level, class::of_name(part.name.raw())) {
                (0, Some(class)) => class,
                _ => around.unwrap_or("loose"),
            };
            self.rows.push(self.row(part, class, level));
            if level < DEPTH {
                self.add(part, Some(class), level.saturating_add(1));
            }
        }
    }

    fn row(&self, part: &SizeTree, class: &str, level: usize) -> Markup {
        let share = percent(part.bytes.into(), self.whole);
        let share = share.trim_start_matches('+');
        html! {
            tr class={ "l" (level) } {
                td.n { (grouped(part.bytes)) }
                td.n { (share) }
                td.wide { span.share { b class=(class) style={ "width:" (share) } {} } }
                td { (name(&part.name)) }
            }
        }
    }
}

/// The number of levels below the first.
const DEPTH: usize = 3;
/// The maximum number of rows inside a part.
const MAX_PARTS: usize = 25;
/// The maximum number of rows of the table.
const MAX_ROWS: usize = 300;
