//! The summary of the graphs in payloads.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::program::{
    BackendSummary, DatatypeSummary, GraphSummary, OperatorSummary, WeightSummary,
};
use super::{DataAmount, Scope};
use pte_core::handle::ReadVec;
use pte_core::payload::graph::{DataPlace, Detail};
use pte_core::payload::{Graph, Unreadable, for_each_graph};
use pte_core::{Backend, File, Handle, Limits, OpenError, Source};
use pte_flat::bytes::len_of;
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;

/// The counts in the graphs of one backend.
#[derive(Default)]
struct Counts {
    read: u64,
    unreadable: u64,
    operators: BTreeMap<UntrustedString, u64>,
    /// The number of values by datatype and quantization.
    datatypes: Option<BTreeMap<ValueType, u64>>,
    data: Option<Data>,
    /// The weights by datatype, quantization and group size.
    weights: Option<BTreeMap<WeightKind, DataAmount>>,
}

/// The data of the constants. Each piece of data counts once, although several constants, graphs and
/// methods may share it.
#[derive(Default)]
struct Data {
    /// The pieces, each with whether it is counted as a weight.
    pieces: BTreeMap<Piece, bool>,
    all: DataAmount,
    external: DataAmount,
}

/// A piece of data.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    /// Named data, by its key.
    Key(Box<str>),
    /// A range of the file.
    Range(u64, u64),
}

/// The sizes of the named data that is in the file, by key.
pub(super) type NamedSizes<'k> = BTreeMap<&'k str, u64>;

/// The keys of one graph that were counted, by the position and length of the key in memory, each with
/// whether it is counted as a weight. Many constants may share one long key.
type SeenKeys = BTreeMap<(usize, usize), bool>;

/// The names of a datatype and of a quantization.
type ValueType = (Option<&'static str>, Option<&'static str>);

/// A datatype, a quantization and a group size.
type WeightKind = (Option<&'static str>, Option<&'static str>, Option<i32>);

/// Reads the graphs of all payloads, and adds their contents to the summaries of their backends.
pub(super) fn add<S: Source>(
    handle: &Handle<S>,
    (scope, named): (&Scope, &NamedSizes<'_>),
    limits: &Limits,
    backends: &mut [BackendSummary],
) -> Result<(), OpenError<S::Error>> {
    let mut all: BTreeMap<UntrustedString, Counts> = BTreeMap::new();
    for_each_graph(handle, limits, |payload, graph| {
        if !scope.has(payload) {
            return;
        }
        let id = UntrustedString::from(payload.id().unwrap_or_default());
        match graph {
            Ok(None) => {}
            Ok(Some(graph)) => all.entry(id).or_default().add(&graph, payload.range().start, named),
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

/// Returns the sizes of the named data that is in the program itself.
pub(super) fn named_sizes<S: Source>(handle: &Handle<S>) -> NamedSizes<'_> {
    let mut named = NamedSizes::new();
    if let File::Pte(pte) = handle.file() {
        for (key, range) in pte.named_data() {
            let Some(key) = key else { continue };
            cost::look_up(key, named.len());
            // If keys are equal, runtimes use the first entry.
            named.entry(key).or_insert(len_of(&range.unwrap_or_default()));
        }
    }
    named
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
    let len = len_of(&range);
    let mut left = limits.bytes_visited(len);
    let at = |pos: u64| range.start.saturating_add(pos);
    let read = |part: Range<u64>| {
        let size = len_of(&part);
        let Some(rest) = left.checked_sub(size) else { return Ok(None) };
        left = rest;
        source.read_vec(at(part.start)..at(part.end)).map(Some)
    };
    Graph::with(Some(backend), len, read, limits, |graph| {
        found = graph.transpose().map(|graph| {
            let mut counts = Counts::default();
            graph.map(|graph| {
                counts.add(&graph, range.start, &NamedSizes::new());
                counts.summary()
            })
        });
    })?;
    Ok(found)
}

impl Counts {
    /// Adds the counts of a graph, whose payload begins at `start`. `named` is the named data of the
    /// file.
    fn add(&mut self, graph: &Graph<'_>, start: u64, named: &NamedSizes<'_>) {
        self.read = self.read.saturating_add(1);
        for operator in graph.operators() {
            let name = UntrustedString::from(operator.unwrap_or("unknown"));
            let count = self.operators.entry(name).or_default();
            *count = count.saturating_add(1);
        }
        // The values of some graphs are not summarized.
        if graph.detail < Detail::Values {
            return;
        }
        let datatypes = self.datatypes.get_or_insert_default();
        for value in &graph.values {
            let quantization = graph.quantization_of(value).and_then(|of| of.name);
            let count = datatypes.entry((value.datatype.name(), quantization)).or_default();
            *count = count.saturating_add(1);
        }
        let has_constants = graph.detail >= Detail::Constants;
        let has_weights = graph.detail >= Detail::Weights;
        let mut weights = has_weights.then(|| self.weights.get_or_insert_default());
        let (data, mut seen) = (self.data.get_or_insert_default(), SeenKeys::new());
        let readers = graph.readers();
        for one in &graph.data {
            if has_constants && one.value.is_none() {
                continue;
            }
            let reader = one.value.filter(|_| !one.is_scales).and_then(|value| readers.get(value));
            let is_weight = has_weights && reader.is_some_and(|reader| reader.is_weight());
            let (is_new_weight, bytes) = match &one.place {
                DataPlace::Named { key, size } => {
                    (data.add_key((key, *size), is_weight, &mut seen, named), *size)
                }
                DataPlace::Payload(range) => {
                    (data.add_range(start, range, is_weight), len_of(range))
                }
                DataPlace::Nowhere => continue,
            };
            if is_new_weight
                && let Some(weights) = &mut weights
                && let Some(value) = one.value.and_then(|value| graph.value(value))
            {
                let quantization = graph.quantization_of(value);
                let kind = (
                    value.datatype.name(),
                    quantization.and_then(|of| of.name),
                    quantization.and_then(|of| of.of.group_size()),
                );
                weights.entry(kind).or_default().add(bytes);
            }
        }
    }

    fn summary(self) -> GraphSummary {
        let Self { read, unreadable, operators, datatypes, data, weights } = self;
        let nodes = operators.values().fold(0u64, |sum, count| sum.saturating_add(*count));
        let operators = operators.into_iter().map(|(name, calls)| OperatorSummary { name, calls });
        let mut operators: Vec<_> = operators.collect();
        operators.sort_by_key(|operator| Reverse(operator.calls));
        let datatypes = datatypes.map(|datatypes| {
            let datatypes = datatypes.into_iter().map(|((datatype, quantization), values)| {
                DatatypeSummary { datatype, quantization, values }
            });
            let mut datatypes: Vec<_> = datatypes.collect();
            datatypes.sort_by_key(|datatype| Reverse(datatype.values));
            datatypes
        });
        let weights = weights.map(|weights| {
            let weights = weights.into_iter().map(|((datatype, quantization, group_size), of)| {
                let DataAmount { count, bytes } = of;
                WeightSummary { datatype, quantization, group_size, count, bytes }
            });
            let mut weights: Vec<_> = weights.collect();
            weights.sort_by_key(|weight| Reverse(weight.bytes));
            weights
        });
        let (constants, external) = data.map(|data| (data.all, data.external)).unzip();
        GraphSummary { read, unreadable, nodes, operators, datatypes, constants, weights, external }
    }
}

impl Data {
    /// Adds named data with the size that a graph declares. Returns whether it is a weight that was
    /// not counted before.
    fn add_key(
        &mut self,
        (key, size): (&str, u64),
        is_weight: bool,
        seen: &mut SeenKeys,
        named: &NamedSizes<'_>,
    ) -> bool {
        cost::look_up("", seen.len());
        let known = seen.entry((key.as_ptr().addr(), key.len()));
        if let Entry::Occupied(known) = &known
            && (*known.get() || !is_weight)
        {
            return false;
        }
        known.and_modify(|known| *known = true).or_insert(is_weight);
        cost::look_up(key, self.pieces.len());
        let (is_new, is_new_weight) = self.add_piece(Piece::Key(key.into()), is_weight);
        if is_new {
            self.all.add(size);
            cost::look_up(key, named.len());
            if !named.contains_key(key) {
                self.external.add(size);
            }
        }
        is_new_weight
    }

    /// Adds a range of the payload that begins at `start`. Returns whether it is a weight that was
    /// not counted before.
    fn add_range(&mut self, start: u64, range: &Range<u64>, is_weight: bool) -> bool {
        let at = |pos: u64| start.saturating_add(pos);
        cost::look_up("", self.pieces.len());
        let piece = Piece::Range(at(range.start), at(range.end));
        let (is_new, is_new_weight) = self.add_piece(piece, is_weight);
        if is_new {
            self.all.add(len_of(range));
        }
        is_new_weight
    }

    /// Returns whether the piece is new, and whether it is a weight that was not counted before.
    fn add_piece(&mut self, piece: Piece, is_weight: bool) -> (bool, bool) {
        match self.pieces.entry(piece) {
            Entry::Vacant(entry) => {
                entry.insert(is_weight);
                (true, is_weight)
            }
            Entry::Occupied(mut entry) => {
                let was_weight = *entry.get();
                entry.insert(was_weight || is_weight);
                (false, is_weight && !was_weight)
            }
        }
    }
}
