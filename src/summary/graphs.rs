//! The summary of the graphs in payloads.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::program::{
    BackendSummary, DatatypeSummary, GraphSummary, OperatorSummary, WeightSummary,
};
use super::{DataAmount, Scope};
use crate::backend::Backend;
use crate::bytes::wide;
use crate::cost;
use crate::file::source::Source;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use crate::payload::xnnpack::{PayloadConstant, XnnpackGraph, constants_of, tensor_of};
use crate::payload::{Graph, Reader, Unreadable, for_each_graph, readers};
use crate::quoted::UntrustedString;
use crate::schema::xnnpack::view::{XNNQuantParams, XValue, XValueUnion};

/// The counts in the graphs of one backend.
#[derive(Default)]
struct Counts {
    read: u64,
    unreadable: u64,
    operators: BTreeMap<UntrustedString, u64>,
    datatypes: BTreeMap<(Option<&'static str>, Option<&'static str>), u64>,
    constants: DataAmount,
    external: DataAmount,
    /// The weights by datatype, quantization and group size.
    weights: BTreeMap<WeightKind, DataAmount>,
}

/// A datatype, a quantization and a group size.
type WeightKind = (Option<&'static str>, Option<&'static str>, Option<i32>);

/// Reads the graphs of all payloads, and adds their contents to the summaries of their backends.
pub(super) fn add<S: Source>(
    handle: &Handle<S>,
    scope: &Scope,
    limits: &Limits,
    backends: &mut [BackendSummary],
) -> Result<(), OpenError<S::Error>> {
    let mut all: BTreeMap<UntrustedString, Counts> = BTreeMap::new();
    let keys = own_keys(handle);
    for_each_graph(handle, limits, |payload, graph| {
        if !scope.has(payload) {
            return;
        }
        let id = UntrustedString::from(payload.id().unwrap_or_default());
        match graph {
            Ok(None) => {}
            Ok(Some(graph)) => all.entry(id).or_default().add(&graph, Some(&keys)),
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

/// Returns the keys of the named data that is in the program itself.
fn own_keys<S: Source>(handle: &Handle<S>) -> BTreeSet<&str> {
    let mut keys = BTreeSet::new();
    if let File::Pte(pte) = handle.file() {
        for key in pte.named_data().filter_map(|(key, _)| key) {
            cost::look_up(key, keys.len());
            keys.insert(key);
        }
    }
    keys
}

/// Reads the graph of a payload, which is a range of a file. Returns `None` if its schema is not
/// known.
pub(super) fn of_payload<S: Source>(
    source: &S,
    backend: Backend,
    range: Range<u64>,
    limits: &Limits,
) -> Result<Option<Result<GraphSummary, Unreadable>>, OpenError<S::Error>> {
    let mut found = None;
    let len = range.end.saturating_sub(range.start);
    let mut left = limits.bytes_visited(len);
    let at = |pos: u64| range.start.saturating_add(pos);
    let read = |part: Range<u64>| {
        let size = part.end.saturating_sub(part.start);
        let Some(rest) = left.checked_sub(size) else { return Ok(None) };
        left = rest;
        source.read_vec(at(part.start)..at(part.end)).map(Some)
    };
    Graph::with(Some(backend), len, read, limits, |graph| {
        found = graph.transpose().map(|graph| {
            let mut counts = Counts::default();
            graph.map(|graph| {
                counts.add(&graph, None);
                counts.summary()
            })
        });
    })?;
    Ok(found)
}

impl Counts {
    /// Adds the counts of a graph. `keys` are the keys of the program's named data; `None` for a
    /// standalone payload.
    fn add(&mut self, graph: &Graph<'_>, keys: Option<&BTreeSet<&str>>) {
        self.read = self.read.saturating_add(1);
        for operator in graph.operators() {
            let name = UntrustedString::from(operator.unwrap_or("unknown"));
            let count = self.operators.entry(name).or_default();
            *count = count.saturating_add(1);
        }
        if let Graph::Xnnpack(graph) = graph {
            self.add_values(graph, keys);
        }
    }

    fn add_values(&mut self, graph: &XnnpackGraph<'_>, keys: Option<&BTreeSet<&str>>) {
        let (mut constants, readers) = (BTreeSet::new(), readers(graph));
        for value in graph.root().xvalues().into_iter().flatten() {
            let count = self.datatypes.entry(datatype(value)).or_default();
            *count = count.saturating_add(1);
            for nth in constants_of(value).into_iter().filter(|&nth| nth != 0) {
                if constants.insert(nth)
                    && let Ok(constant) = graph.constant(nth)
                {
                    let bytes = match &constant {
                        PayloadConstant::Behind(range) => range.end.saturating_sub(range.start),
                        PayloadConstant::Within { bytes, .. } => wide(bytes.len()),
                        PayloadConstant::Named { size, .. } => *size,
                    };
                    self.constants.add(bytes);
                    let tensor = tensor_of(value).filter(|of| of.constant_buffer_idx() == nth);
                    let reader = tensor.and_then(|tensor| {
                        cost::look_up("", readers.len());
                        readers.get(&tensor.id_out())
                    });
                    if reader.is_some_and(Reader::is_weight) {
                        self.weights.entry(weight_kind(value)).or_default().add(bytes);
                    }
                    if let (PayloadConstant::Named { key, .. }, Some(keys)) = (constant, keys) {
                        cost::look_up(key, keys.len());
                        if !keys.contains(key) {
                            self.external.add(bytes);
                        }
                    }
                }
            }
        }
    }

    fn summary(self) -> GraphSummary {
        let Self { read, unreadable, operators, datatypes, constants, external, weights } = self;
        let nodes = operators.values().fold(0u64, |sum, count| sum.saturating_add(*count));
        let operators = operators.into_iter().map(|(name, calls)| OperatorSummary { name, calls });
        let datatypes = datatypes.into_iter().map(|((datatype, quantization), values)| {
            DatatypeSummary { datatype, quantization, values }
        });
        let (mut operators, mut datatypes): (Vec<_>, Vec<_>) =
            (operators.collect(), datatypes.collect());
        operators.sort_by_key(|operator| Reverse(operator.calls));
        datatypes.sort_by_key(|datatype| Reverse(datatype.values));
        let weights = weights.into_iter().map(|((datatype, quantization, group_size), of)| {
            let DataAmount { count, bytes } = of;
            WeightSummary { datatype, quantization, group_size, count, bytes }
        });
        let mut weights: Vec<_> = weights.collect();
        weights.sort_by_key(|weight| Reverse(weight.bytes));
        GraphSummary { read, unreadable, nodes, operators, datatypes, constants, weights, external }
    }
}

/// Returns the kind of a weight.
fn weight_kind(value: XValue<'_>) -> WeightKind {
    let (datatype, quantization) = datatype(value);
    let group_size = match value.xvalue_union() {
        Some(XValueUnion::XNNQuantizedTensorValue(value)) => match value.quant_params() {
            Some(XNNQuantParams::PerChannelGroupQuant(quant)) => Some(quant.group_size()),
            _ => None,
        },
        _ => None,
    };
    (datatype, quantization, group_size)
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
