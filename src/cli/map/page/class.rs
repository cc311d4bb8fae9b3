//! The colour of a part, and what each one means.

use maud::{Markup, html};
use pte::map::SizeTree;

use super::super::Row;
use crate::cli::text::grouped;

/// The colour of a part with a name of ours; others have that of what they are in.
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

/// The colour of a range that lies in one of the colour `around`.
pub(super) fn of_row(row: &Row, around: Option<&'static str>) -> &'static str {
    // What stands in the tables may have the name of anything.
    let own = match (row.what, around) {
        (Some("vtable"), _) => Some("vtables"),
        (Some(_), _) => None,
        // A part of a method is no data.
        (None, Some("tables")) if row.name.raw() == "delegates" => None,
        (None, Some("tables") | None) => of_name(row.name.raw()),
        (None, Some(_)) if row.name.raw() == "padding" => Some("padding"),
        (None, Some(_)) => None,
    };
    own.or(around).or_else(|| of_segment(row)).unwrap_or("loose")
}

/// A segment has the colour of what most of it is.
fn of_segment(row: &Row) -> Option<&'static str> {
    let largest = row.parts.iter().max_by_key(|part| part.bytes)?;
    of_name(largest.name.raw())
}

/// What the colours mean, and how many bytes have each.
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
