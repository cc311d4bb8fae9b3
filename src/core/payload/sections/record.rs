//! ETRecords: ZIP archives of uncompressed members, which an exporter writes for its inspector.
//!
//! Upstream's writer is `devtools/etrecord/_etrecord.py`. Graphs and maps are JSON. State dicts,
//! constants, inputs and outputs are archives of `torch.save`.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::archive::{Archive, Member, invalid};
use super::{Section, Sections};
use crate::payload::Unreadable;
use pte_flat::cost;
use pte_flat::inserted;

/// The name of the empty member that identifies an ETRecord.
const IDENTIFIER: &str = "ETRECORD_V0";

/// The prefix of the names of graphs in the edge dialect, followed by a slash and the method.
/// Releases with a single method wrote no slash.
pub(super) const EDGE: &str = "edge_dialect_exported_program";

/// The name of the graph that was lowered.
pub(super) const EXPORTED: &str = "exported_program";

/// The kind of a member that the writer does not know: a graph that a user added.
pub(super) const OTHER: &str = "other member";

/// The members whose name is also the name of the member's kind.
const KINDS: [&str; 8] = [
    IDENTIFIER,
    EXPORTED,
    "debug_handle_map",
    "delegate_map",
    "instruction_id_to_num_outs_map",
    "reference_outputs",
    "representative_inputs",
    "export_graph_id",
];

/// The suffixes of the names of members that belong to a graph.
pub(super) const ENDS: [(&str, &str); 3] = [
    ("_state_dict", "state_dict"),
    ("_constants", "constants"),
    ("_example_inputs", "example_inputs"),
];

/// Returns the members of an ETRecord as sections. The section's name is the member's kind, and its
/// file the member's name. Empty members come last.
pub(super) fn sections(archive: Archive) -> Result<Sections, Unreadable> {
    let Archive { members, directory } = archive;
    let names: BTreeSet<&str> = inserted(members.iter().map(|member| member.name.as_str()));
    if !names.contains(IDENTIFIER) {
        return Err(invalid(directory, "no member is ETRECORD_V0"));
    }
    let kinds: Vec<_> = members.iter().map(|member| kind(&member.name, &names)).collect();
    let section = |(Member { name, range, checksum, .. }, kind): (Member, _)| Section {
        file: Some(name),
        checksum: Some(checksum),
        ..Section::new(kind, range)
    };
    let mut sections: Vec<_> = members.into_iter().zip(kinds).map(section).collect();
    // Empty members come last, so that the numbers of the others are those of older releases.
    sections.sort_by_key(|section| section.range.is_empty());
    Ok(Sections { sections, ..Sections::default() })
}

/// Returns the kind of a member, by its name.
fn kind(name: &str, names: &BTreeSet<&str>) -> &'static str {
    for (end, kind) in ENDS {
        let of = name.strip_suffix(end);
        cost::look_up(name, names.len());
        if of.is_some_and(|of| names.contains(of)) {
            return kind;
        }
    }
    if method(name).is_some() {
        return EDGE;
    }
    KINDS.into_iter().find(|kind| *kind == name).unwrap_or(OTHER)
}

/// Returns the method of an edge-dialect graph, by the name of the member; `None` for another name.
pub(super) fn method(name: &str) -> Option<&str> {
    match name.strip_prefix(EDGE)? {
        "" => Some("forward"),
        rest => rest.strip_prefix('/'),
    }
}
