//! The summary of the graphs in payloads.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::DataAmount;
use super::program::{BackendSummary, DatatypeSummary, GraphSummary, OperatorSummary};
use crate::backend::Backend;
use crate::file::source::Source;
use crate::handle::{Handle, OpenError, ReadVec};
use crate::limits::Limits;
use crate::payload::xnnpack::{PayloadConstant, XnnpackGraph, constants_of, tensor_of};
use crate::payload::{Graph, Unreadable, for_each_graph};
use crate::quoted::UntrustedString;
use crate::schema::xnnpack::view::{XValue, XValueUnion};

/// What was counted of the graphs of one backend.
#[derive(Default)]
struct Counts {
    read: u64,
    unreadable: u64,
    operators: BTreeMap<UntrustedString, u64>,
    datatypes: BTreeMap<(Option<&'static str>, Option<&'static str>), u64>,
    constants: DataAmount,
}

/// Reads the graphs of all payloads, and adds what they consist of to the summaries of their backends.
pub(super) fn add<S: Source>(
    handle: &Handle<S>,
    limits: &Limits,
    backends: &mut [BackendSummary],
) -> Result<(), OpenError<S::Error>> {
    let mut all: BTreeMap<UntrustedString, Counts> = BTreeMap::new();
    for_each_graph(handle, limits, |payload, graph| {
        let id = UntrustedString::from(payload.id().unwrap_or_default());
        match graph {
            Ok(None) => {}
            Ok(Some(graph)) => all.entry(id).or_default().add(&graph),
            Err(_) => {
                let counts = all.entry(id).or_default();
                counts.unreadable = counts.unreadable.saturating_add(1);
            }
        }
    })?;
    for backend in backends {
        backend.graphs = all.remove(&backend.id).map(Counts::summary);
    }
    Ok(())
}

/// Reads the graph of one payload as a file of its own; `None` if its tables are not known.
pub(super) fn of_payload<S: Source>(
    source: &S,
    (backend, len): (Backend, u64),
    limits: &Limits,
) -> Result<Option<Result<GraphSummary, Unreadable>>, OpenError<S::Error>> {
    let mut found = None;
    let mut left = limits.bytes_visited(len);
    let read = |part: Range<u64>| {
        let size = part.end.saturating_sub(part.start);
        let Some(rest) = left.checked_sub(size) else { return Ok(None) };
        left = rest;
        source.read_vec(part).map(Some)
    };
    Graph::with(Some(backend), len, read, limits, |graph| {
        found = graph.transpose().map(|graph| {
            let mut counts = Counts::default();
            graph.map(|graph| {
                counts.add(&graph);
                counts.summary()
            })
        });
    })?;
    Ok(found)
}

impl Counts {
    fn add(&mut self, graph: &Graph<'_>) {
        self.read = self.read.saturating_add(1);
        for operator in graph.operators() {
            let name = UntrustedString::from(operator.unwrap_or("unknown"));
            let count = self.operators.entry(name).or_default();
            *count = count.saturating_add(1);
        }
        if let Graph::Xnnpack(graph) = graph {
            self.add_values(graph);
        }
    }

    fn add_values(&mut self, graph: &XnnpackGraph<'_>) {
        let mut constants = BTreeSet::new();
        for value in graph.root().xvalues().into_iter().flatten() {
            let count = self.datatypes.entry(datatype(value)).or_default();
            *count = count.saturating_add(1);
            for nth in constants_of(value).into_iter().filter(|&nth| nth != 0) {
                if constants.insert(nth)
                    && let Ok(constant) = graph.constant(nth)
                {
                    self.constants.add(match constant {
                        PayloadConstant::Behind(range) => range.end.saturating_sub(range.start),
                        PayloadConstant::Within { bytes, .. } => crate::bytes::wide(bytes.len()),
                        PayloadConstant::Named { size, .. } => size,
                    });
                }
            }
        }
    }

    fn summary(self) -> GraphSummary {
        let Self { read, unreadable, operators, datatypes, constants } = self;
        let nodes = operators.values().fold(0u64, |sum, count| sum.saturating_add(*count));
        let operators = operators.into_iter().map(|(name, calls)| OperatorSummary { name, calls });
        let datatypes = datatypes.into_iter().map(|((datatype, quantization), values)| {
            DatatypeSummary { datatype, quantization, values }
        });
        let (mut operators, mut datatypes): (Vec<_>, Vec<_>) =
            (operators.collect(), datatypes.collect());
        operators.sort_by_key(|operator| Reverse(operator.calls));
        datatypes.sort_by_key(|datatype| Reverse(datatype.values));
        GraphSummary { read, unreadable, nodes, operators, datatypes, constants }
    }
}

/// Returns the names of a value's datatype and quantization.
fn datatype(value: XValue<'_>) -> (Option<&'static str>, Option<&'static str>) {
    let quantization = match value.xvalue_union() {
        Some(XValueUnion::XNNQuantizedTensorValue(value)) => value.quant_params(),
        _ => None,
    };
    let datatype = tensor_of(value).and_then(|tensor| tensor.datatype().name());
    (datatype, quantization.and_then(|quantization| quantization.name()))
}
