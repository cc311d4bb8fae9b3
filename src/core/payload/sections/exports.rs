//! The graphs of an ETRecord, by the kinds and names of its members.

use super::record::{EDGE, ENDS, EXPORTED, OTHER, method};
use super::{Section, Sections};

impl Sections {
    /// Returns the methods whose edge-dialect graphs an ETRecord has.
    pub fn recorded_methods(&self) -> impl Iterator<Item = &str> {
        self.recorded_graphs().map(|(method, _)| method)
    }

    /// Returns the edge-dialect graphs of an ETRecord, with the name of the method of each.
    pub fn recorded_graphs(&self) -> impl Iterator<Item = (&str, &Section)> {
        self.exported_programs().filter_map(|(method, section)| method.zip(Some(section)))
    }

    /// Returns the graphs of an ETRecord: those in the edge dialect with the name of the method of each, the graph
    /// before it, and those that a user added.
    pub fn exported_programs(&self) -> impl Iterator<Item = (Option<&str>, &Section)> {
        let graphs = self.sections.iter().filter(|section| {
            [EDGE, EXPORTED, OTHER].contains(&section.name) && !section.range.is_empty()
        });
        let named = graphs.filter_map(|section| Some((section.file.as_deref()?, section)));
        let graphs = named.filter(|(name, _)| !ENDS.iter().any(|(end, _)| name.ends_with(end)));
        graphs.map(|(name, section)| (method(name), section))
    }
}
