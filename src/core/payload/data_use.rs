//! The data that graphs of Vulkan, MLX and the native backend use: ranges of the payload, and named
//! data.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::graph::Graph;
use super::place::{ConstantPlace, Key, NamedRanges};
use super::vulkan::VulkanParts;
use pte_flat::bytes::{index, until_nul};
use pte_flat::cost;
use pte_flat::desc::{Kind, Number};
use pte_flat::view::{Raw, Table};
use pte_schema::mlx::view::{MLXGraph, NamedSlot};
use pte_schema::mlx::{SlotType, desc};
use pte_schema::native::view::Program;
use pte_schema::vulkan::view::{GraphTypes, VkBytes, VkGraph};

/// The use of data by a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataUse {
    /// The place of the data.
    pub place: ConstantPlace,
    /// The index of the graph's value with the data; `None` if values have no indices, or if the
    /// data belongs to no value, such as a shader.
    pub value: Option<u32>,
    /// The index of the first node that uses the value, in the order of
    /// [`Graph::operators`](super::Graph::operators); `None` if it is not known.
    pub node: Option<u32>,
}

/// Returns the uses of data by a graph in the payload `range`, which begins with `head`.
pub(super) fn all(
    graph: &Graph<'_>,
    head: &[u8],
    range: &Range<u64>,
    named: &NamedRanges<'_>,
) -> Vec<DataUse> {
    let mut places = Places { named, keys: BTreeMap::new() };
    match graph {
        Graph::Vulkan(graph) => {
            let len = range.end.saturating_sub(range.start);
            let Ok(parts) = VulkanParts::of(head, len) else { return Vec::new() };
            let at = |pos: u64| range.start.saturating_add(pos);
            let constants = at(parts.constants.start)..at(parts.constants.end);
            vulkan(*graph, &constants, &mut places)
        }
        Graph::Mlx(graph) => mlx(*graph, &mut places),
        Graph::Native(program) => native(*program, &mut places),
        Graph::Xnnpack(_) | Graph::Tosa(_) => Vec::new(),
    }
}

/// Finds named data. It keeps each key once, since small graphs may repeat one long key.
struct Places<'n> {
    named: &'n NamedRanges<'n>,
    /// Each key and its data, by the position and length of the key in memory.
    keys: BTreeMap<(usize, usize), NamedPlace>,
}

/// A key, and the range of its data; `None` if the file does not have the data.
type NamedPlace = (Key, Option<Range<u64>>);

impl Places<'_> {
    /// Returns the place of data with a key; `None` for an empty key.
    fn named(&mut self, key: &str, size: u64) -> Option<ConstantPlace> {
        let key = until_nul(key);
        if key.is_empty() {
            return None;
        }
        cost::look_up("", self.keys.len());
        let known = self.keys.entry((key.as_ptr().addr(), key.len())).or_insert_with(|| {
            cost::look_up(key, self.named.len());
            (Key::from(key), self.named.get(key).cloned())
        });
        let (key, range) = known.clone();
        let in_file = range.as_ref().map(|range| range.end.saturating_sub(range.start));
        let size = if size == 0 { in_file.unwrap_or_default() } else { size };
        Some(ConstantPlace::Named { key, size, range })
    }
}

/// Returns the uses of a graph of Vulkan: its constants, then its shaders. `behind` is the range of
/// the constants behind the graph.
fn vulkan(graph: VkGraph<'_>, behind: &Range<u64>, places: &mut Places<'_>) -> Vec<DataUse> {
    let constants = graph.constants().unwrap_or_default();
    // The first value of each constant, and the first call of each value.
    let mut values = alloc::vec![None; constants.len()];
    for (nth, value) in (0u32..).zip(graph.values().into_iter().flatten()) {
        cost::charge(1);
        if let Some(GraphTypes::VkTensor(tensor)) = value.value()
            && let Ok(constant) = usize::try_from(tensor.constant_id())
            && let Some(slot @ None) = values.get_mut(constant)
        {
            *slot = Some(nth);
        }
    }
    let mut calls: BTreeMap<u32, u32> = BTreeMap::new();
    let is_constant = |value: &u32| {
        let value = graph.values().unwrap_or_default().get(index(*value))?.value()?;
        matches!(value, GraphTypes::VkTensor(tensor) if tensor.constant_id() >= 0).then_some(())
    };
    for (call, operator) in (0u32..).zip(graph.chain().into_iter().flatten()) {
        let args = operator.args().unwrap_or_default();
        cost::charge(args.len());
        let args = args.iter().filter_map(|arg| u32::try_from(arg).ok());
        for value in args.filter(|value| is_constant(value).is_some()) {
            cost::look_up("", calls.len());
            calls.entry(value).or_insert(call);
        }
    }
    let mut place = |bytes: VkBytes<'_>| match bytes.named_key().map(until_nul) {
        Some(key) if !key.is_empty() => places.named(key, bytes.length()),
        _ => {
            let start = behind.start.saturating_add(bytes.offset());
            let end = start.saturating_add(bytes.length());
            let is_inside = start <= end && end <= behind.end;
            Some(if is_inside {
                ConstantPlace::Payload(start..end)
            } else {
                ConstantPlace::Nowhere
            })
        }
    };
    let mut uses = Vec::new();
    for (bytes, value) in constants.iter().zip(values) {
        let node = value.and_then(|value| calls.get(&value).copied());
        uses.extend(place(bytes).map(|place| DataUse { place, value, node }));
    }
    for bytes in graph.shaders().into_iter().flatten() {
        uses.extend(place(bytes).map(|place| DataUse { place, value: None, node: None }));
    }
    uses
}

/// Returns the uses of a graph of MLX: the tensors that are constants, by their names.
fn mlx(graph: MLXGraph<'_>, places: &mut Places<'_>) -> Vec<DataUse> {
    let count = graph.num_constant_tensors();
    let slots = graph.named_slots().into_iter().flatten();
    let constant = |slot: NamedSlot<'_>| {
        let of = slot.slot()?;
        let is_constant = of.slot_type() == SlotType::TensorSlot && of.idx() < count;
        is_constant.then_some(of.idx())
    };
    let readers = mlx_readers(graph, count);
    let mut uses = Vec::new();
    for slot in slots {
        let (Some(value), Some(key)) = (constant(slot), slot.name()) else { continue };
        cost::look_up("", readers.len());
        let node = readers.get(&value).copied();
        let place = places.named(key, 0);
        uses.extend(place.map(|place| DataUse { place, value: Some(value), node }));
    }
    uses
}

/// Returns the first instruction that names each of the `count` constants.
fn mlx_readers(graph: MLXGraph<'_>, count: u32) -> BTreeMap<u32, u32> {
    let mut readers = BTreeMap::new();
    let chains = graph.instruction_chains().into_iter().flatten();
    let all = chains.flat_map(|chain| chain.instructions().into_iter().flatten());
    for (nth, instruction) in (0u32..).zip(all) {
        cost::charge(1);
        let raw: Raw<'_> = instruction.raw();
        let Some((tag, node)) = raw.member(&desc::Instruction) else { continue };
        let Some(member) = desc::OpNode.member(tag) else { continue };
        for field in member.table.fields {
            let Kind::Scalar(scalar) = field.kind else { continue };
            if scalar.of.is_some_and(|of| of.name == TENSOR)
                && let Some(Number::Int(tensor)) = node.number(field.slot, scalar.prim)
                && let Some(tensor) = u32::try_from(tensor).ok().filter(|&tensor| tensor < count)
            {
                cost::look_up("", readers.len());
                readers.entry(tensor).or_insert(nth);
            }
        }
    }
    readers
}

/// Returns the uses of the methods of the native backend. Its values have names, not indices.
fn native(program: Program<'_>, places: &mut Places<'_>) -> Vec<DataUse> {
    let methods = program.methods().into_iter().flatten();
    let constants = methods.flat_map(|method| method.constants().into_iter().flatten());
    let places = constants.filter_map(|constant| places.named(constant.data_key()?, 0));
    places.map(|place| DataUse { place, value: None, node: None }).collect()
}

/// The name of the struct that holds the index of a tensor.
const TENSOR: &str = "Tid";
