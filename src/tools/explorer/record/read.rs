//! Reads the JSON in an ETRecord.

use alloc::vec::Vec;

use serde::de::DeserializeOwned;

use super::Record;
use super::graph::RecordedGraph;
use super::handles::HandleMap;
use pte_core::handle::ReadVec;
use pte_core::payload::{Section, Sections, Unreadable};
use pte_core::{OpenError, Source};

/// Reads the map of handles; `None` in a record without one.
pub(super) fn handle_map<S: Source>(
    source: &S,
    sections: &Sections,
) -> Result<Option<Result<HandleMap, Unreadable>>, OpenError<S::Error>> {
    let map = sections.sections.iter().find(|of| of.name == "debug_handle_map");
    map.map(|map| parse(source, map)).transpose()
}

/// Reads a member as JSON.
pub(super) fn parse<T: DeserializeOwned, S: Source>(
    source: &S,
    member: &Section,
) -> Result<Result<T, Unreadable>, OpenError<S::Error>> {
    let bytes = source.read_vec(member.range.clone())?;
    let why = "a member does not have the JSON of its writer";
    let invalid = |_| Unreadable::Package { at: member.range.start, why };
    Ok(serde_json::from_slice(&bytes).map_err(invalid))
}

impl Record {
    /// Reads the graphs of a record with these members. A graph that cannot be read is kept with the reason.
    pub(in crate::explorer) fn read<S: Source>(
        source: &S,
        sections: Sections,
    ) -> Result<Self, OpenError<S::Error>> {
        let handles = handle_map(source, &sections)?.and_then(Result::ok).unwrap_or_default();
        let mut graphs = Vec::new();
        for (method, member) in sections.exported_programs() {
            let instructions = method.and_then(|method| handles.get(method));
            let name = member.file.as_deref().unwrap_or_default();
            graphs.push(RecordedGraph::new(name, parse(source, member)?, instructions));
        }
        Ok(Self { sections: sections.sections, graphs })
    }
}
