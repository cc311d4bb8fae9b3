//! ETRecords: the graphs of an export, and the modules that it has for instructions.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::node::ExplorerNode;
use crate::profile::Profile;
use pte_core::Pte;
use pte_core::payload::Section;
use pte_flat::bytes::index as at;
use pte_flat::cost;
use pte_schema::program::view::ExecutionPlan;

#[cfg(all(feature = "json", feature = "serde"))]
mod graph;
#[cfg(all(feature = "json", feature = "serde"))]
mod handles;
#[cfg(all(feature = "json", feature = "serde"))]
mod modules;
#[cfg(all(feature = "json", feature = "serde"))]
mod read;

/// The module of each instruction of methods, from an ETRecord.
///
/// The record has a debug handle for each instruction, or several for a delegate, and for each node of its graphs the
/// handle and the stack of modules.
#[derive(Clone, Debug, Default)]
pub struct RecordedModules(BTreeMap<String, BTreeMap<u32, String>>);

impl RecordedModules {
    /// Returns the dotted name of an instruction's module, which is empty for the outermost module.
    #[must_use]
    pub fn module(&self, method: &str, instruction: u32) -> Option<&str> {
        cost::look_up(method, self.0.len());
        let modules = self.0.get(method)?;
        cost::look_up("", modules.len());
        modules.get(&instruction).map(String::as_str)
    }

    /// Returns whether the record can be that of a program: the program has one of its methods, and each instruction
    /// that the record has for its methods. An empty record can be that of any.
    #[must_use]
    pub fn can_be_of(&self, pte: &Pte<'_>) -> bool {
        let mut plans = self.0.iter().filter_map(|(method, modules)| {
            let last = modules.last_key_value().map(|(last, _)| at(*last));
            Some((Profile::method(pte, Some(method))?, last))
        });
        let has = |(plan, last): (ExecutionPlan<'_>, Option<usize>)| {
            let chains = plan.chains().into_iter().flatten();
            let counts = chains.map(|chain| chain.instructions().map_or(0, |all| all.len()));
            last.is_none_or(|last| last < counts.fold(0, usize::saturating_add))
        };
        match plans.next() {
            None => self.0.is_empty(),
            Some(first) => has(first) && plans.all(has),
        }
    }
}

/// The members of an ETRecord, and its graphs.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) sections: Vec<Section>,
    #[cfg(all(feature = "json", feature = "serde"))]
    graphs: Vec<graph::RecordedGraph>,
}

impl Record {
    /// Passes the nodes of the graphs to `each`.
    pub(super) fn each_node<E>(
        &self,
        each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
    ) -> Result<(), E> {
        #[cfg(all(feature = "json", feature = "serde"))]
        for (nth, graph) in self.graphs.iter().enumerate() {
            graph.each_node(nth, each)?;
        }
        #[cfg(not(all(feature = "json", feature = "serde")))]
        let _ = each;
        Ok(())
    }
}

#[cfg(not(all(feature = "json", feature = "serde")))]
impl Record {
    /// Takes the members. The graphs are JSON.
    pub(super) fn read<S: pte_core::Source>(
        _: &S,
        sections: pte_core::payload::Sections,
    ) -> Result<Self, pte_core::OpenError<S::Error>> {
        Ok(Self { sections: sections.sections })
    }
}
