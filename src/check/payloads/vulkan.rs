//! The rules on graphs of Vulkan and WebGPU: what the backend of the official runtime checks, and what it needs
//! without checking (format.md §11.11).
//!
//! A graph is judged in the order in which the backend builds it: its values, its calls of operators, then the calls
//! of its delegates. A stage with findings ends the judgement of the graph, since the later ones rely on it.

use alloc::string::String;

use self::values::Values;
use super::{BackendRules, Bytes, Judge, NamedSizes, Outcome, PartPlace, Subject};
use crate::report::Findings;
use crate::rule::{Rule, rules};
use pte_core::Backend;
use pte_core::payload::vulkan;
use pte_core::release::Release;
use pte_flat::bytes::{index, len_of, wide};
use pte_flat::path;
use pte_flat::view::{List, Table};
use pte_schema::vulkan::view::{GraphTypes, VkBytes, VkGraph, VkTensor, VkValue};

mod calls;
mod operands;
mod order;
mod shapes;
mod values;

rules! {
    "vulkan";

    VULKAN_MISSING = Error "vulkan-missing"
        "The tables of a Vulkan graph have the parts that the backend reads."
        "The backend reads through a null pointer."
        LOWER_AGAIN
        Crashes ["11.11"];
    VULKAN_VALUE = Error "vulkan-value"
        "The values of a Vulkan graph are of kinds, datatypes, storage types and memory layouts that the backend has."
        "The backend aborts, or throws an exception that the runtime does not catch."
        LOWER_AGAIN
        Crashes ["11.11"];
    VULKAN_SIZE = Error "vulkan-size"
        "A tensor of a Vulkan graph has at most 8 dimensions, 4 if it is a texture, and at most 2147483647 elements; the number of its memory object is less than the number of values."
        "The backend throws an exception that the runtime does not catch, or allocates as much memory as there is."
        LOWER_AGAIN
        Crashes ["11.11"];
    VULKAN_CONSTANT = Error "vulkan-constant"
        "A constant of a Vulkan graph is in its payload, with the bytes that its shape asks for."
        "Before release 1.4 the backend reads past the constants. Later ones throw an exception that the runtime does not catch."
        LOWER_AGAIN
        Misreads ["11.11", "8.3.21"];
    VULKAN_INDEX = Error "vulkan-index"
        "The calls, lists, inputs and outputs of a Vulkan graph name values that it has."
        "The backend aborts, or reads past a list."
        LOWER_AGAIN
        Misreads ["11.11"];
    VULKAN_OPERATOR = Error "vulkan-operator"
        "An operator of a Vulkan graph, if it is in a namespace of the backend, is one that a release registers."
        "The backend aborts."
        "Use a backend that registers the operator, or lower the model again without it."
        Crashes ["11.11"];
    VULKAN_CUSTOM = Note "vulkan-custom"
        "An operator of a Vulkan graph is one of the official runtime's."
        "The backend needs a library that registers it; its calls are not judged."
        "Link the library that registers the operator, as a whole archive."
        Ignores ["11.11"];
    VULKAN_OPERAND = Error "vulkan-operand"
        "A call in a Vulkan graph has the arguments of its operator, each of the kind and the memory layout that the operator takes."
        "The backend reads past the arguments, or throws an exception that the runtime does not catch."
        LOWER_AGAIN
        Misreads ["11.11"];
    VULKAN_SHAPE = Error "vulkan-shape"
        "The output of a call in a Vulkan graph has the shape that follows from the arguments, for operators whose shapes follow from them."
        "Some operators throw an exception that the runtime does not catch. Shaders of others read or write past a tensor."
        LOWER_AGAIN
        Misreads ["11.11"];
    VULKAN_ORDER = Error "vulkan-order"
        "Each tensor of a Vulkan graph is an input, a constant, or written by a call before it is read."
        "A shader reads memory of the device that nothing wrote."
        LOWER_AGAIN
        Misreads ["11.11"];
    VULKAN_MEMORY = Error "vulkan-memory"
        "Tensors of a Vulkan graph share a memory object only if one is no longer used when the next is written."
        "A call overwrites a tensor that is still used."
        LOWER_AGAIN
        Misreads ["11.11"];
    VULKAN_ARGS = Error "vulkan-args"
        "The arguments of a call of a Vulkan graph are its inputs and then its outputs, with their datatypes and shapes."
        "The backend reads past the arguments, aborts, or throws an exception that the runtime does not catch."
        "The exporter of releases up to 1.5 makes an output of a buffer that the model changes, for which the call has no argument: keep the buffer out of the delegate. No other such payload of an exporter is known."
        Misreads ["11.11"];
    VULKAN_UNREAD = Warning "vulkan-unread"
        "The lengths of constants that the Vulkan backend does not read agree with their shapes and data."
        "The backend ignores them; other readers may not."
        UNUSUAL
        Ignores ["11.11"];
}

pub(super) const JUDGED: BackendRules =
    BackendRules::of(Backend::Vulkan, RULES, judge).with_requested_keys();

/// A graph that is being judged, and the place of its findings.
struct Site<'s, 'p> {
    place: PartPlace<'s>,
    graph: VkGraph<'p>,
    /// The release that the file is judged for.
    release: Option<Release>,
    /// The values of the graph, by id.
    values: List<'p, VkValue<'p>>,
    /// The number of bytes of the graph.
    bytes: u64,
}

impl<'p> Site<'_, 'p> {
    /// Reports a finding at the value with an id.
    fn find_value(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        id: u32,
        message: impl FnOnce() -> String,
    ) {
        let value = self.values.get(index(id));
        let path = path!["values", id];
        self.place.find(
            out,
            rule,
            value.map_or(self.graph.raw(), |value| value.raw()),
            &path,
            message,
        );
    }

    /// Returns the tensor with an id; `None` if the value is none.
    fn tensor(&self, id: u32) -> Option<VkTensor<'p>> {
        match self.values.get(index(id))?.value()? {
            GraphTypes::VkTensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// Judges a payload: its header and its graph, and then the calls of its delegates.
fn judge(judge: &mut Judge<'_>, payload: &Subject<'_>, bytes: &mut Bytes<'_>) -> Outcome {
    let flatbuffer = judge.with_keys(payload.flatbuffer(Backend::Vulkan, bytes))?;
    let Some(flatbuffer) = flatbuffer else { return Ok(()) };
    let graph = judge.with_keys(flatbuffer.root::<VkGraph<'_>>(judge.limits))?;
    let Some(graph) = graph else { return Ok(()) };
    let constants = vulkan::constants(payload.head, payload.len)?;
    let keys = graph.constants().into_iter().flatten().filter_map(VkBytes::named_key);
    judge.requested.add(keys);
    let values = graph.values().unwrap_or_default();
    let place = judge.place(payload, flatbuffer.start, VkGraph::DESC.name);
    let bytes = wide(flatbuffer.bytes.len());
    let site = Site { place, graph, release: judge.release, values, bytes };
    let len = len_of(&constants);
    let Some(judged) = judge_graph(&site, judge.named, len, judge.out) else { return Ok(()) };
    for ((plan, _), instruction, call) in judge.calls(payload.users) {
        calls::judge(&site, &judged, (plan, &instruction, call), judge.out);
    }
    Ok(())
}

/// Judges a graph by itself. Returns `None` if it has an Error. `len` is the number of bytes of constants behind the
/// graph.
fn judge_graph(
    site: &Site<'_, '_>,
    named: &NamedSizes<'_>,
    len: u64,
    out: &mut Findings,
) -> Option<Values> {
    let (mut found, mut notes) = (out.another(), out.another());
    let values = values::judge(site, named, len, &mut found, &mut notes);
    if found.is_empty() {
        operands::judge(site, &values, &mut found, &mut notes);
    }
    if found.is_empty() {
        shapes::judge(site, &values, &mut found);
        order::judge(site, &values, &mut found);
    }
    let is_sound = found.is_empty();
    out.extend(found);
    out.extend(notes);
    is_sound.then_some(values)
}

/// The most dimensions of a tensor (`kTensorDimLimit`).
const MOST_DIMENSIONS: usize = 8;
