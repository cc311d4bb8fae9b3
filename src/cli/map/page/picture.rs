//! Nested ranges as bars that are drawn to scale.

use core::ops::Range;

use maud::{Markup, html};

use super::super::{InWords as _, Row};
use super::class;
use crate::text::grouped;

/// A bar of the picture.
struct Bar {
    begin: u64,
    bytes: u64,
    title: String,
    class: &'static str,
}

/// Draws the rows of `range`, and their nested rows below. Rows without a class get `around`.
pub(super) fn draw(
    caption: &str,
    rows: &[Row],
    range: Range<u64>,
    around: Option<&'static str>,
) -> Markup {
    let whole = range.end.saturating_sub(range.start);
    let mut levels: Vec<Vec<Bar>> = Vec::new();
    collect(rows, around, 0, whole, &mut levels);
    let share = |bytes: u64| {
        let millionths = u128::from(bytes).saturating_mul(1_000_000);
        let millionths = millionths.checked_div(whole.into()).unwrap_or_default();
        format!("{}.{:04}%", millionths / 10_000, millionths % 10_000)
    };
    html! {
        figure {
            figcaption { (caption) }
            div.rows role="img" aria-label=(summary(caption, rows)) {
                @for level in &levels {
                    div.row {
                        @for bar in level {
                            @let left = share(bar.begin.saturating_sub(range.start));
                            @let width = share(bar.bytes);
                            @let thin = bar.bytes.saturating_mul(MIN_TEXT_FRACTION) < whole;
                            i.(bar.class).thin[thin] title=(bar.title)
                                style={ "left:" (left) ";width:" (width) }
                            {
                                @if !thin { (bar.title) }
                            }
                        }
                    }
                }
            }
            div.ends aria-hidden="true" {
                span { (format!("{:#x}", range.start)) }
                span { (format!("{:#x}", range.end)) }
            }
        }
    }
}

fn collect(
    rows: &[Row],
    around: Option<&'static str>,
    level: usize,
    whole: u64,
    levels: &mut Vec<Vec<Bar>>,
) {
    for row in rows {
        if level >= MAX_LEVELS || row.bytes.saturating_mul(MIN_WIDTH_FRACTION) < whole {
            continue;
        }
        if levels.len() <= level {
            levels.push(Vec::new());
        }
        let (title, inner) = row.title();
        let class = class::of_row(row, around);
        let inner_class = if inner.bytes == row.bytes { class } else { "loose" };
        if let Some(bars) = levels.get_mut(level)
            && bars.len() < MAX_BARS
        {
            let title = format!("{title}, {} bytes", grouped(row.bytes));
            bars.push(Bar { begin: row.begin, bytes: row.bytes, title, class });
        }
        collect(&inner.parts, Some(inner_class), level.saturating_add(1), whole, levels);
    }
}

/// Describes the picture in words, for screen readers.
fn summary(caption: &str, rows: &[Row]) -> String {
    let mut largest: Vec<_> = rows.iter().collect();
    largest.sort_by_key(|row| core::cmp::Reverse(row.bytes));
    let parts =
        largest.iter().take(5).map(|row| format!("{} {} bytes", row.title().0, grouped(row.bytes)));
    let parts: Vec<_> = parts.collect();
    format!("{caption}: {}. The table of ranges below has all of it.", parts.join(", "))
}

/// The maximum number of levels of bars.
const MAX_LEVELS: usize = 4;
/// The maximum number of bars on a level.
const MAX_BARS: usize = 500;
/// Bars narrower than this fraction of the picture are left out. The table still has them.
const MIN_WIDTH_FRACTION: u64 = 2000;
/// Bars narrower than this fraction of the picture have no text.
const MIN_TEXT_FRACTION: u64 = 40;
