//! The colours of parts, as CSS classes, and the legend.

use maud::{Markup, html};
use pte::map::SizeTree;

use super::super::Row;
use crate::text::grouped;

/// Returns the class of a part with a fixed name. Other parts get the class of their parent.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "header" => "header",
        "padding" | "header padding" => "padding",
        "FlatBuffers part" => "tables",
        "vtables" => "vtables",
        "constants" | "inline constants" => "constants",
        "mutable data" => "mutable",
        "delegates" | "inline payloads" => "delegates",
        "named data" => "named",
        "tensors" => "tensors",
        "blobs" => "blobs",
        "unreferenced bytes" | "unreferenced segments" | "trailing bytes" => "loose",
        _ => return None,
    })
}

/// Returns the class of a range that is inside a range of class `around`.
pub(super) fn of_row(row: &Row, around: Option<&'static str>) -> &'static str {
    // Inside the tables, a name may come from the file, so it is not used.
    let own = match (row.what, around) {
        (Some("vtable"), _) => Some("vtables"),
        (Some(_), _) => None,
        // The part `delegates` of a method consists of tables, not payloads.
        (None, Some("tables")) if row.name.raw() == "delegates" => None,
        (None, Some("tables") | None) => of_name(row.name.raw()),
        (None, Some(_)) if row.name.raw() == "padding" => Some("padding"),
        (None, Some(_)) => None,
    };
    own.or(around).or_else(|| of_segment(row)).unwrap_or("loose")
}

/// Returns the class of the largest part of a segment.
fn of_segment(row: &Row) -> Option<&'static str> {
    let largest = row.parts.iter().max_by_key(|part| part.bytes)?;
    of_name(largest.name.raw())
}

/// Returns the legend: each colour with its part and the part's size.
pub(super) fn legend(sizes: &SizeTree) -> Markup {
    html! {
        ul.legend {
            @for part in &sizes.parts {
                @if let Some(class) = of_name(part.name.raw()) {
                    li { b class=(class) {} (part.name) " " span.dim { (grouped(part.bytes)) } }
                }
            }
        }
    }
}
