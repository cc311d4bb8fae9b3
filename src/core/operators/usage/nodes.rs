//! The nodes in payloads: which operators delegates run, and with which datatypes.

use alloc::collections::{BTreeMap, BTreeSet};

use super::UsageReport;
use crate::file::source::Source;
use crate::handle::{File, Handle, OpenError};
use crate::limits::Limits;
use crate::payload::for_each_graph;
use crate::payload::graph::{Detail, NO_ID};
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;

/// How delegates use one of their operators.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NodeUsage {
    /// The number of nodes.
    pub nodes: u64,
    /// The datatypes of the values that these nodes read and write, as in the schema of the backend. Empty for
    /// backends of whose values only the operators are shown.
    pub datatypes: BTreeSet<&'static str>,
}

/// The nodes of payloads, by the id of the backend and the operator.
pub type NodeUsages = BTreeMap<(UntrustedString, UntrustedString), NodeUsage>;

impl UsageReport {
    /// Adds the nodes in the payloads of a program. A payload that several delegates share counts once.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn add_nodes<S: Source>(
        &mut self,
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<(), OpenError<S::Error>> {
        // Each payload is visited once, with its first delegate. Methods may share payloads, so
        // ranges are compared.
        let mut ranges = BTreeSet::new();
        if let (Some(_), File::Pte(pte)) = (&self.method, handle.file()) {
            let plans = pte.program().execution_plan().into_iter().flatten();
            let plans = plans.filter(|plan| self.counts(plan.name()));
            let delegates = plans.flat_map(|plan| plan.delegates().into_iter().flatten());
            let payloads = delegates.filter_map(|delegate| pte.payload(delegate).ok()?);
            ranges.extend(payloads.map(|payload| (payload.range().start, payload.range().end)));
        }
        for_each_graph(handle, limits, |payload, graph| {
            let (range, all) = (payload.range(), self.method.is_none());
            if !all && !ranges.contains(&(range.start, range.end)) {
                return;
            }
            // A check reports payloads that cannot be read.
            let Ok(Some(graph)) = graph else { return };
            let backend = UntrustedString::from(payload.id().unwrap_or_default());
            for (nth, node) in (0u32..).zip(&graph.nodes) {
                let usage = self.node(&backend, graph.operator(node));
                if graph.detail >= Detail::Constants {
                    let (reads, writes) = graph.operands(nth);
                    let values = reads.iter().filter(|&&id| id != NO_ID).chain(writes);
                    let values = values.filter_map(|&id| graph.value(id));
                    usage.datatypes.extend(values.filter_map(|value| value.datatype.name()));
                }
            }
        })
    }

    fn node(&mut self, backend: &UntrustedString, operator: Option<&str>) -> &mut NodeUsage {
        cost::look_up("", self.nodes.len());
        let operator = UntrustedString::from(operator.unwrap_or("unknown"));
        let usage = self.nodes.entry((backend.clone(), operator)).or_default();
        usage.nodes = usage.nodes.saturating_add(1);
        usage
    }
}
