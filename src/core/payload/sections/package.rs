//! `.ptn` packages of the native backend: ZIP archives of uncompressed members with fixed names.
//!
//! Upstream's writer is `exir/_serialize/_ptn.py`.

use core::ops::Range;

use super::archive::{self, Archive, invalid};
use super::{Section, Sections};
use crate::payload::Unreadable;
use pte_flat::bytes::u16_at;

/// The name of the member with the graph.
const GRAPH: &str = "program.ptg";

/// The names of the other members that upstream's writer may add.
const OTHERS: [&str; 2] = ["program.safetensors", "aliases.json"];

/// The start of the graph, after the header of the first member.
const HEAD_OF_GRAPH: u64 = 41;

/// Returns the range of the graph in a package of `len` bytes that begins with `head`. The graph is
/// the first member.
pub(in crate::payload) fn graph(head: &[u8], len: u64) -> Result<Range<u64>, Unreadable> {
    let member = archive::local(head, &[], 0)?;
    if member.name != GRAPH.as_bytes() || u16_at(head, 28) != Some(0) {
        return Err(invalid(0, "the first member is not program.ptg"));
    }
    let range = HEAD_OF_GRAPH..HEAD_OF_GRAPH.saturating_add(member.size);
    if range.end > len {
        return Err(Unreadable::Part { name: GRAPH, range, len });
    }
    Ok(range)
}

/// Returns the members of a package as sections.
pub(super) fn sections(archive: Archive) -> Result<Sections, Unreadable> {
    let Archive { members, directory } = archive;
    let (mut found, mut has_graph) = (Sections::default(), false);
    for member in members {
        let mut known = [GRAPH].into_iter().chain(OTHERS);
        let name = known.find(|name| *name == member.name).unwrap_or("other member");
        if name == GRAPH {
            has_graph = true;
            if member.range.start != HEAD_OF_GRAPH {
                let why = "program.ptg is not the first member";
                return Err(invalid(member.header, why));
            }
        }
        found.add(Section::new(name, member.range), directory)?;
    }
    if !has_graph {
        return Err(invalid(directory, "no member is program.ptg"));
    }
    Ok(found)
}
