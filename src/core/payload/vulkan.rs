//! Vulkan's payloads: a header, a FlatBuffer with the graph, and constants after it or in named
//! data.
//!
//! WebGPU's payloads have the same layout. The layout and the runtime's checks are in
//! docs/format.md §11.7.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::iter;
use core::ops::Range;

use binrw::binrw;

use super::Unreadable;
use super::flatbuffer::{FlatBufferFormat, Parts, Region, header_of};
use super::graph::{Builder, DataPlace, Datatype, Detail, Ends, Graph, Literal, Role};
use crate::backend::magic;
use crate::file::header;
use pte_flat::bytes::{index, until_nul, wide};
use pte_flat::cost;
use pte_flat::view::Table;
use pte_schema::vulkan::desc;
use pte_schema::vulkan::view::{GraphTypes, VkBytes, VkGraph};

mod operators;

pub use operators::{Argument, ArgumentKind, ShapeRule, VulkanOperator};

pub(super) static FORMAT: FlatBufferFormat = FlatBufferFormat {
    schema: &desc::SCHEMA,
    identifiers: &[magic::VULKAN_GRAPH],
    header: VulkanHeader::FIELDS,
    detail: Detail::Values,
    parts,
    graph,
};

header! {
    /// The header of a Vulkan payload. All offsets are relative to the payload.
    #[binrw]
    #[brw(little, magic = b"VH00")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct VulkanHeader {
        /// The length of the header without padding; at least 30.
        pub length: u16,
        /// The start of the graph.
        pub flatbuffer_offset: u32,
        /// The length of the graph in bytes, without padding.
        pub flatbuffer_size: u32,
        /// The start of the constants.
        pub bytes_offset: u32,
        /// The number of bytes of constants; 0 means up to the end of the payload.
        pub bytes_size: u64,
    }
}

impl VulkanHeader {
    /// The length in bytes, without padding.
    pub const LENGTH: u16 = 30;
}

/// Returns the range of the constants behind the graph of a payload of `len` bytes that begins with `head`.
///
/// # Errors
///
/// The header of the payload is invalid.
pub fn constants(head: &[u8], len: u64) -> Result<Range<u64>, Unreadable> {
    parts(head, len).map(|parts| parts.constants)
}

/// Finds the parts of a payload of `len` bytes that begins with `head`.
fn parts(head: &[u8], len: u64) -> Result<Parts, Unreadable> {
    let needed = u64::from(VulkanHeader::LENGTH);
    let header: VulkanHeader = header_of(head, len, needed)?;
    if header.length < VulkanHeader::LENGTH {
        return Err(Unreadable::Short { len: header.length.into(), needed });
    }
    let start = u64::from(header.flatbuffer_offset);
    let graph = start..start.saturating_add(header.flatbuffer_size.into());
    if start < header.length.into() || graph.is_empty() || graph.end > len {
        return Err(Unreadable::Part { name: "graph", range: graph, len });
    }
    let start = u64::from(header.bytes_offset);
    let end = match header.bytes_size {
        0 => len,
        size => start.saturating_add(size),
    };
    if start < graph.end || start > end || end > len {
        return Err(Unreadable::Part { name: "constants", range: start..end, len });
    }
    Ok(Parts { graph, constants: start..end, section: None })
}

/// Calls do not say what they write, but known operators do. Other calls write the tensors that no earlier call wrote,
/// except for inputs and constants. The tensors of a list are those of the first call that has the list, so
/// that many calls with one long list cost no more than one.
fn graph<'p>(region: &Region<'_, 'p>) -> Result<Graph<'p>, Unreadable> {
    let root: VkGraph<'p> = region.root()?;
    let behind = parts(region.head, region.len)?.constants;
    let mut out = Builder::with_fields(wide(region.bytes.len()));
    // The data has the indices of the constants. Shaders are behind the constants.
    let constants = root.constants().unwrap_or_default();
    let mut users = vec![None; constants.len()];
    let inputs = root.input_ids().into_iter().flatten();
    let ends = Ends::new(inputs, root.output_ids().into_iter().flatten());
    // Whether a call may write each value; `None` for a value that is not a tensor.
    let mut tensors = Vec::new();
    let mut lists = BTreeMap::new();
    for (id, value) in (0u32..).zip(root.values().into_iter().flatten()) {
        let tensor = match value.value() {
            Some(GraphTypes::VkTensor(tensor)) => tensor,
            other => {
                if let Some(GraphTypes::ValueList(list)) = other {
                    lists.insert(id, list.items().unwrap_or_default());
                }
                tensors.push(None);
                continue;
            }
        };
        let role = ends.role(id, tensor.constant_id() >= 0);
        tensors.push(Some(matches!(role.0, Role::Inner | Role::Output)));
        let datatype = Datatype::new(tensor.datatype().name(), tensor.datatype().0);
        let dims = tensor.dims().unwrap_or_default();
        out.value(id, datatype, (dims.len(), dims.iter()), role);
        if let Ok(constant) = u32::try_from(tensor.constant_id())
            && let Some(user) = users.get_mut(index(constant))
        {
            user.get_or_insert(id);
            out.set_data(constant);
        }
    }
    let shaders = root.shaders().into_iter().flatten();
    for (bytes, user) in constants.iter().zip(users).chain(shaders.map(|bytes| (bytes, None))) {
        out.data(place(bytes, &behind), user);
    }
    let (mut used, mut reads, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    let mut written = BTreeSet::new();
    for call in root.chain().into_iter().flatten() {
        reads.clear();
        writes.clear();
        used.clear();
        let operator = call.name().and_then(VulkanOperator::of);
        let arguments = operator.and_then(VulkanOperator::arguments).into_iter().flatten();
        let arguments = arguments.map(Some).chain(iter::repeat(None));
        let attributes = out.next_attribute();
        for (nth, id) in call.args().into_iter().flatten().enumerate() {
            let value = usize::try_from(id).ok().and_then(|id| root.values()?.get(id));
            if let Some(literal) = value.and_then(|value| literal(id, value.value()?)) {
                out.argument(POSITIONS.get(nth).copied().unwrap_or_default(), literal);
            }
        }
        for (id, argument) in call.args().into_iter().flatten().zip(arguments) {
            let Ok(id) = u32::try_from(id) else { continue };
            cost::look_up("", lists.len());
            match lists.remove(&id) {
                Some(list) => {
                    let ids = list.iter().filter_map(|id| u32::try_from(id).ok());
                    used.extend(ids.map(|id| (id, argument)));
                }
                None => used.push((id, argument)),
            }
        }
        cost::charge(used.len());
        for &(id, argument) in &used {
            let Some(may_write) = tensors.get(index(id)).copied().flatten() else { continue };
            cost::look_up("", written.len());
            let is_new = may_write && !written.contains(&id);
            let (is_read, is_written) = match argument {
                Some(argument) => (argument.is_read(), argument.is_written()),
                None => (!is_new, is_new),
            };
            if is_read {
                reads.push(id);
            }
            if is_written {
                writes.push(id);
            }
        }
        written.extend(writes.iter().copied());
        let operator = out.named(call.name());
        out.begin_node(call.raw());
        out.node_with(operator, (&reads, &writes), attributes);
    }
    Ok(out.finish())
}

/// Returns a value that is no tensor and no list of values.
fn literal(id: i32, value: GraphTypes<'_>) -> Option<Literal<'_>> {
    Some(match value {
        GraphTypes::Null(_) => Literal::None,
        GraphTypes::Int(of) => Literal::Int(of.int_val()),
        GraphTypes::Double(of) => Literal::Float(of.double_val()),
        GraphTypes::Bool(of) => Literal::Bool(of.bool_val()),
        GraphTypes::IntList(of) => Literal::Ints(of.items().unwrap_or_default()),
        GraphTypes::DoubleList(of) => Literal::Floats(of.items().unwrap_or_default()),
        GraphTypes::BoolList(of) => Literal::Bools(of.items().unwrap_or_default()),
        GraphTypes::String(of) => Literal::Text(of.string_val()?),
        GraphTypes::SymInt(_) => Literal::Value(u32::try_from(id).ok()?),
        _ => return None,
    })
}

/// The names of arguments, by their position: the graph has none.
static POSITIONS: [&str; 16] = [
    "argument 0",
    "argument 1",
    "argument 2",
    "argument 3",
    "argument 4",
    "argument 5",
    "argument 6",
    "argument 7",
    "argument 8",
    "argument 9",
    "argument 10",
    "argument 11",
    "argument 12",
    "argument 13",
    "argument 14",
    "argument 15",
];

/// Returns the place of data. `behind` is the range of the constants behind the graph.
fn place<'p>(bytes: VkBytes<'p>, behind: &Range<u64>) -> DataPlace<'p> {
    let (offset, size) = (bytes.offset(), bytes.length());
    if let Some(key) = bytes.named_key().map(until_nul).filter(|key| !key.is_empty()) {
        return DataPlace::Named { key, size };
    }
    let start = behind.start.saturating_add(offset);
    let end = start.saturating_add(size);
    match start <= end && end <= behind.end {
        true => DataPlace::Payload(start..end),
        false => DataPlace::Nowhere,
    }
}
