//! The rules on XNNPACK's graphs: what the backend of the official runtime checks, and what it needs
//! without checking (format.md §11).
//!
//! A graph is judged in the order in which the backend reads it: its values, its nodes, and the
//! shapes of each call. A stage with findings ends the judgement of the graph, since the later ones
//! rely on it.

use alloc::borrow::Cow;

pub(super) use self::calls::Seen;
use self::order::Order;
use self::packed::{GraphLayers, Packed};
use self::plain::Vtables;
use self::scales::Place;
use self::unread::Unread;
use self::value::Values;
use super::{BackendRules, Bytes, Judge, NamedSizes, Outcome, PartPlace, Subject};
use crate::report::Findings;
use crate::rule::rules;
use pte_core::Backend;
use pte_core::payload::xnnpack::{NodeIds, XnnpackGraph, XnnpackParts, tensor_of};
use pte_flat::bytes::{index, narrow};
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::program::DataLocation;
use pte_schema::xnnpack::view::{XNNGraph, XNNTensorValue, XNode, XNodeUnion};

mod attributes;
mod calls;
mod datatypes;
mod freed;
mod fusion;
mod nodes;
mod order;
mod packed;
mod plain;
mod requantized;
mod scales;
mod shape;
mod shapes;
mod unread;
mod value;
mod values;

rules! {
    "xnnpack";

    XNNPACK_MISSING = Error "xnnpack-missing"
        "The tables of an XNNPACK graph have the parts that the backend reads."
        "The backend reads through a null pointer, or refuses the graph."
        LOWER_AGAIN
        Crashes ["11.2"];
    XNNPACK_KIND = Error "xnnpack-kind"
        "The values and nodes of an XNNPACK graph are of kinds that the backend has."
        "The backend refuses the graph."
        LOWER_AGAIN
        Refuses ["11.2"];
    XNNPACK_RANK = Error "xnnpack-rank"
        "A value of an XNNPACK graph has at most 6 dimensions, and takes less than 4 GiB if it is no constant."
        "The backend refuses the graph, or allocates and fills as much memory as there is."
        LOWER_AGAIN
        Crashes ["11.2"];
    XNNPACK_EXTERNAL = Error "xnnpack-external"
        "The inputs and outputs of an XNNPACK graph have flags and different ids, and are no constants."
        "The backend refuses the graph, or reads past the arguments of the call."
        LOWER_AGAIN
        Crashes ["11.2"];
    XNNPACK_QUANTIZATION = Error "xnnpack-quantization"
        "The quantization of a value fits its datatype and its dimensions."
        "The backend refuses the graph, divides by zero, or reads past the scales."
        LOWER_AGAIN
        Crashes ["11.2", "8.3.20"];
    XNNPACK_CONSTANT = Error "xnnpack-constant"
        "The constants of an XNNPACK graph are in its payload."
        "The backend refuses the graph."
        LOWER_AGAIN
        Refuses ["11.3"];
    XNNPACK_CONSTANT_SHORT = Error "xnnpack-constant-short"
        "A constant has the bytes that its shape and its nodes ask for."
        "The backend never compares the sizes, and reads past the constant."
        LOWER_AGAIN
        Misreads ["11.3", "8.2 dbd5118b57"];
    XNNPACK_CONSTANT_FREED = Error "xnnpack-constant-freed"
        "A constant of a payload in a segment is one that the backend copies: the filter or the bias of a layer in which both are constants. Others are named data."
        "The backend frees the payload once it is loaded, and reads freed memory when it runs."
        "Move the constants out of the payload: `pte edit --payload-constants named`."
        Crashes ["11.3"];
    XNNPACK_NAMED_FREED = Error "xnnpack-named-freed"
        "Named data that is the filter or the bias of a layer is only read by layers in which both are constants."
        "The backend takes the data for copied and frees it. It reads freed memory when it runs."
        "Lower a quantized model again without `config_precisions=FP32` of XnnpackPartitioner, which leaves its weights to be computed: name no precision, or STATIC_QUANT."
        Crashes ["11.3"];
    XNNPACK_NAMED_REFERENCED = Warning "xnnpack-named-referenced"
        "Named data of an XNNPACK graph is the filter or the bias of a layer."
        "Releases 0.6 to 1.4.0, and later ones with the weights cache (as built for Android and Apple), free other named data once the payload is loaded, and read freed memory when they run."
        "Use release 1.4.1 or later, with the option `weight_cache_enabled` of XnnpackBackend off; or move the constants into the payload: `pte edit --payload-constants inside`."
        Crashes ["11.3"];
    XNNPACK_WEIGHTS_SHARED = Error "xnnpack-weights-shared"
        "Layers whose filter and bias are the same named data are of one operator, of one datatype and of one shape."
        "With the weights cache (as built for Android and Apple) the backend takes the packed weights of the first layer for the other, and reads past them."
        LOWER_AGAIN
        Crashes ["11.3"];
    XNNPACK_ID = Error "xnnpack-id"
        "The nodes of an XNNPACK graph name values that are in it, and no two values have one id."
        "The backend refuses the graph, or takes another value."
        LOWER_AGAIN
        Refuses ["11.4"];
    XNNPACK_DATATYPE = Error "xnnpack-datatype"
        "The values of a node are of datatypes that the backend has a kernel for."
        "The backend refuses the graph."
        "The partitioner gave the backend an operator of datatypes that it has no kernel for. Lower the model again with a partitioner of one precision (`config_precisions` of XnnpackPartitioner), or quantize the operator in another way."
        Refuses ["11.4"];
    XNNPACK_SCALE = Error "xnnpack-scale"
        "The scales of a quantized layer, input × filter ÷ output, are less than 256; with a constant matrix, at most 255."
        "The backend refuses the graph. In some graphs it frees memory twice then, and aborts."
        "The calibrated range of the layer's output is too small: calibrate with inputs like those of use, and lower the model again."
        Crashes ["11.4"];
    XNNPACK_ATTRIBUTE = Error "xnnpack-attribute"
        "The attributes of a node are ones that the backend takes."
        "The backend refuses the graph, divides by zero, or reads past a list."
        LOWER_AGAIN
        Crashes ["11.4"];
    XNNPACK_ORDER = Error "xnnpack-order"
        "Each value of an XNNPACK graph is written by one node, before it is read; constants and inputs are not written; no node reads a copy twice."
        "Buffers overlap, and nodes write over the heap, the constants or the arguments; or the backend reads through a null pointer."
        LOWER_AGAIN
        Crashes ["11.5"];
    XNNPACK_ARGS = Error "xnnpack-args"
        "The arguments of a call of an XNNPACK graph are tensors of the datatypes of its inputs and outputs."
        "The backend reads or writes past the tensors."
        LOWER_AGAIN
        Misreads ["11.6"];
    XNNPACK_SHAPE = Error "xnnpack-shape"
        "The shapes of the arguments fit the nodes, and the outputs have the shapes that the nodes compute."
        "Running the method is refused, or a node reads past its input or divides by zero."
        LOWER_AGAIN
        Crashes ["11.6"];
    XNNPACK_UNREAD = Warning "xnnpack-unread"
        "The numbers of an XNNPACK graph that the backend does not read agree with those that it reads."
        "The backend ignores them; other readers may not."
        UNUSUAL
        Ignores ["11.2"];
}

/// A graph that is being judged, and the place of its findings.
pub(super) struct Site<'s, 'p> {
    place: PartPlace<'s>,
    /// Whether the runtime frees the payload once it is loaded.
    pub(super) is_freed: bool,
    pub(super) graph: &'s XnnpackGraph<'p>,
}

impl<'s, 'p> Site<'s, 'p> {
    fn new(place: PartPlace<'s>, graph: &'s XnnpackGraph<'p>) -> Self {
        let is_freed = place.delegate.is_some_and(|(plan, nth)| {
            let delegates = plan.view.delegates();
            let data = delegates.and_then(|all| all.get(index(nth))?.processed());
            data.is_some_and(|data| data.location() == DataLocation::SEGMENT)
        });
        Self { place, is_freed, graph }
    }

    fn root(&self) -> XNNGraph<'p> {
        self.graph.root()
    }

    /// Returns the tensor of the value with index `nth`.
    fn tensor(&self, nth: u32) -> Option<XNNTensorValue<'p>> {
        tensor_of(self.root().xvalues()?.get(index(nth))?)
    }
}

/// The values of a graph without an Error. The calls of the graph are judged by these values.
pub(super) struct Judged<'p> {
    values: Values<'p>,
}

pub(super) const JUDGED: BackendRules =
    BackendRules::of(Backend::Xnnpack, RULES, judge).with_requested_keys();

/// Judges a payload: its header and its graph, and then the calls of its delegates.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let parts = XnnpackParts::of(payload.head, payload.len);
    let Some(parts) = judge.with_keys(parts.map(Some))? else { return Ok(()) };
    let range = payload.part(parts.graph.clone());
    let start = range.start;
    let Some(region) = judge.with_keys(Ok(bytes.read(range)))? else { return Ok(()) };
    let graph = judge.with_keys(XnnpackGraph::read(parts, &region, judge.limits).map(Some))?;
    let Some(graph) = graph else { return Ok(()) };
    judge.requested.add(graph.keys());
    let named = judge.named;
    let mut read = |place: Place<'_>| match place {
        Place::Payload(part) => bytes.read(payload.part(part)),
        Place::Named(key, len) => named.bytes(key, len, bytes),
    };
    let place = judge.place(payload, start, XNNGraph::DESC.name);
    let site = Site::new(place, &graph);
    let packed = graph.keys().next().is_some().then_some(&mut judge.xnnpack.packed);
    let judged = judge_graph(&site, named, packed, &mut read, judge.out);
    let Some(judged) = judged else { return Ok(()) };
    for call in judge.calls(payload.users) {
        judge.xnnpack.judge(&site, &judged, call, &mut judge.work, judge.out);
    }
    Ok(())
}

/// Judges a graph by itself. Returns `None` if it has an Error. `read` returns the bytes of
/// scales, and `named` has the sizes of named data.
fn judge_graph<'p, 'b>(
    site: &Site<'_, 'p>,
    named: &NamedSizes<'_>,
    packed: Option<&mut Packed>,
    read: &mut dyn FnMut(Place<'_>) -> Option<Cow<'b, [u8]>>,
    out: &mut Findings,
) -> Option<Judged<'p>> {
    let (mut found, mut notes) = (out.another(), out.another());
    let mut unread = Unread::new(out);
    let mut values = values::judge(site, named, &mut unread, &mut found);
    if found.is_empty() {
        scales::judge(site, &mut values, read, &mut found);
    }
    let layers = packed.map(GraphLayers::new);
    let nodes = judge_nodes(site, &values, layers, &mut unread, &mut found);
    if found.is_empty() && nodes.have_copies {
        fusion::judge(site, &values, &mut found);
    }
    if found.is_empty() && nodes.may_use_in_place {
        freed::judge(site, &mut found, &mut notes);
    }
    debug_assert!(nodes.may_use_in_place || !found.is_empty() || freed::finds_nothing(site));
    let judged = found.is_empty().then_some(Judged { values });
    unread.finish(site, &mut found);
    out.extend(found);
    out.extend(notes);
    judged
}

/// What the nodes of a graph need to be judged for together.
#[derive(Default)]
struct NodeKinds {
    /// Whether any node is a copy.
    have_copies: bool,
    /// Whether any node may use a constant in place.
    may_use_in_place: bool,
}

/// Judges each node by itself, then the order of the nodes, in one pass that decodes each node
/// once.
fn judge_nodes<'p>(
    site: &Site<'_, 'p>,
    values: &Values<'p>,
    mut layers: Option<GraphLayers<'_>>,
    unread: &mut Unread,
    out: &mut Findings,
) -> NodeKinds {
    let mut order = out.is_empty().then(|| (Order::new(values), out.another()));
    let mut kinds = NodeKinds::default();
    let nodes = site.root().xnodes().unwrap_or_default();
    let mut vtables = Vtables::new();
    for nth in 0..narrow(nodes.len()) {
        if let Some((order, _)) = &mut order
            && plain::node(nodes, nth, &mut vtables, order)
        {
            debug_assert!(is_sound(nodes.get(index(nth)), values), "{nth}");
            continue;
        }
        let Some(node) = nodes.get(index(nth)) else { break };
        let operator = node.xnode_union();
        unread.add_node(site, (nth, node), operator);
        kinds.have_copies |= matches!(operator, Some(XNodeUnion::XNNCopy(_)));
        // The values have findings.
        let Some((order, found)) = &mut order else { continue };
        let ids = operator.and_then(NodeIds::of);
        let mut judged = nodes::judge(node, operator, ids.as_ref(), values);
        if let (Ok(()), Some(layers), Some(operator), Some(ids)) =
            (&judged, &mut layers, operator, &ids)
        {
            judged = layers.add(site, operator, ids, values);
        }
        if let Err((rule, message)) = judged {
            let path = path!["xnodes", nth];
            site.place.find(out, rule, node.raw(), &path, || message);
        } else if let (Some(operator), Some(ids)) = (operator, &ids) {
            order.add(site, (nth, node), ids, found);
            kinds.may_use_in_place |= freed::is_concerned(operator, ids, values);
        }
    }
    if let Some((order, mut found)) = order
        && out.is_empty()
    {
        order.finish(site, &mut found);
        out.extend(found);
    }
    kinds
}

/// Returns whether a node by itself has no Error. Debug builds check each plain node.
fn is_sound<'p>(node: Option<XNode<'p>>, values: &Values<'p>) -> bool {
    node.is_some_and(|node| {
        let operator = node.xnode_union();
        let ids = operator.and_then(NodeIds::of);
        nodes::judge(node, operator, ids.as_ref(), values).is_ok()
    })
}
