//! The values of a graph: kinds, tensors, constants and lists, and the ids of inputs and outputs.

use alloc::string::String;
use alloc::vec::Vec;

use super::super::named::is_digest;
use super::super::{DELEGATE_KEY_SHORT, DELEGATE_KEY_UNRESOLVED, NamedSize, NamedSizes};
use super::{
    MOST_DIMENSIONS, Site, VULKAN_CONSTANT, VULKAN_INDEX, VULKAN_MISSING, VULKAN_SIZE,
    VULKAN_UNREAD, VULKAN_VALUE,
};
use crate::report::Findings;
use crate::rule::Broken;
use pte_core::payload::vulkan::{Argument, ArgumentKind};
use pte_flat::bytes::{index, wide};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::{Table, Vector};
use pte_schema::vulkan::view::{GraphTypes, VkBytes, VkTensor, VkValue};
use pte_schema::vulkan::{VkDataType, VkMemoryLayout, VkStorageType};

/// The kinds of the values of a graph without an Error, by id.
pub(super) struct Values {
    kinds: Vec<Kind>,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Int,
    Double,
    Bool,
    /// A tensor that the backend allocates.
    Tensor,
    /// A tensor with data in the payload or in named data.
    Constant,
    /// A list of numbers.
    Numbers,
    /// A list of values.
    List(ListKind),
    Text,
    SymInt,
}

/// What all values of a list are. An empty list is everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListKind {
    are_tensors: bool,
    are_tensors_or_null: bool,
    are_integers: bool,
}

impl Values {
    /// Returns the kind of the value with an id.
    pub(super) fn kind(&self, id: i32) -> Option<Kind> {
        self.kinds.get(usize::try_from(id).ok()?).copied()
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns whether the graph computes integers when it runs, on which the shapes of tensors may depend.
    pub(super) fn have_symints(&self) -> bool {
        self.kinds.contains(&Kind::SymInt)
    }
}

impl Kind {
    /// Returns whether an argument of an operator takes a value of this kind.
    pub(super) fn fits(self, argument: Argument) -> bool {
        match (argument.kind(), self) {
            (ArgumentKind::Tensor, Self::Tensor | Self::Constant)
            | (ArgumentKind::Scalar, Self::Int | Self::Double | Self::Bool | Self::SymInt)
            | (ArgumentKind::Int, Self::Int | Self::Double | Self::SymInt)
            | (ArgumentKind::Bool, Self::Bool)
            | (ArgumentKind::Text, Self::Text)
            | (ArgumentKind::Numbers, Self::Numbers)
            | (ArgumentKind::SymInt, Self::SymInt)
            | (ArgumentKind::Any, _) => true,
            (ArgumentKind::Tensors, Self::List(list)) => list.are_tensors,
            (ArgumentKind::OptionalTensors, Self::List(list)) => list.are_tensors_or_null,
            (ArgumentKind::Numbers, Self::List(list)) => list.are_integers,
            (_, Self::Null) => argument.may_be_null(),
            _ => false,
        }
    }

    /// Returns the name of the kind, as upstream's schema has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Int => "Int",
            Self::Double => "Double",
            Self::Bool => "Bool",
            Self::Tensor | Self::Constant => "VkTensor",
            Self::Numbers => "a list of numbers",
            Self::List(_) => "ValueList",
            Self::Text => "String",
            Self::SymInt => "SymInt",
        }
    }
}

/// A value without an Error, or the rule that it breaks.
type Judged<T> = Result<T, Broken>;

/// Judges the values, and the ids of lists, inputs and outputs.
pub(super) fn judge(
    site: &Site<'_, '_>,
    named: &NamedSizes<'_>,
    len: u64,
    out: &mut Findings,
    notes: &mut Findings,
) -> Values {
    let graph = site.graph;
    let parts = [
        ("chain", graph.chain().is_some()),
        ("values", graph.values().is_some()),
        ("input_ids", graph.input_ids().is_some()),
        ("output_ids", graph.output_ids().is_some()),
    ];
    for (name, _) in parts.into_iter().filter(|(_, is_there)| !is_there) {
        site.place
            .find(out, &VULKAN_MISSING, graph.raw(), &[], || format!("the graph has no {name}"));
    }
    let constants = Constants::of(site, named, len);
    cost::charge(site.values.len());
    let mut kinds = Vec::with_capacity(site.values.len());
    for (id, value) in (0u32..).zip(site.values) {
        let kind =
            judge_value(site, value, &constants, (id, notes)).unwrap_or_else(|(rule, message)| {
                site.find_value(out, rule, id, || message);
                Kind::Null
            });
        kinds.push(kind);
    }
    for (id, value) in (0u32..).zip(site.values) {
        let Some(GraphTypes::ValueList(list)) = value.value() else { continue };
        let kind = judge_list(list.items().unwrap_or_default(), &kinds);
        match (kind, kinds.get_mut(index(id))) {
            (Ok(kind), Some(slot)) => *slot = Kind::List(kind),
            (Err((rule, message)), _) => site.find_value(out, rule, id, || message),
            (Ok(_), None) => {}
        }
    }
    let values = Values { kinds };
    for (name, ids) in [("input_ids", graph.input_ids()), ("output_ids", graph.output_ids())] {
        for (nth, id) in (0u32..).zip(ids.into_iter().flatten()) {
            let kind = values.kinds.get(index(id)).copied();
            let is_input = name == "input_ids";
            let message = match kind {
                None => (
                    &VULKAN_INDEX,
                    format!("value {id} is out of range: the graph has {}", values.len()),
                ),
                Some(Kind::Tensor | Kind::SymInt) => continue,
                // The backend has nothing to write for a constant.
                Some(Kind::Constant) if !is_input => continue,
                Some(Kind::Constant) => (&VULKAN_VALUE, format!("value {id} is a constant")),
                Some(kind) => (
                    &VULKAN_VALUE,
                    format!("value {id} is {}: expected a tensor or a SymInt", kind.name()),
                ),
            };
            let (rule, message) = message;
            let path = path![name, nth];
            site.place.find(out, rule, graph.raw(), &path, || message);
        }
    }
    values
}

/// Judges a value by itself. A list of values is a list of nothing until all kinds are known.
fn judge_value<'p>(
    site: &Site<'_, 'p>,
    value: VkValue<'p>,
    constants: &Constants<'p>,
    (id, notes): (u32, &mut Findings),
) -> Judged<Kind> {
    let missing = |name: &str| (&VULKAN_MISSING, format!("the value has no {name}"));
    Ok(match value.value() {
        Some(GraphTypes::Null(_)) => Kind::Null,
        Some(GraphTypes::Int(_)) => Kind::Int,
        Some(GraphTypes::Double(_)) => Kind::Double,
        Some(GraphTypes::Bool(_)) => Kind::Bool,
        Some(GraphTypes::SymInt(_)) => Kind::SymInt,
        Some(GraphTypes::String(text)) if text.string_val().is_some() => Kind::Text,
        Some(GraphTypes::String(_)) => return Err(missing("string_val")),
        Some(GraphTypes::IntList(list)) if list.items().is_some() => Kind::Numbers,
        Some(GraphTypes::DoubleList(list)) if list.items().is_some() => Kind::Numbers,
        Some(GraphTypes::BoolList(list)) if list.items().is_some() => Kind::Numbers,
        Some(GraphTypes::ValueList(list)) if list.items().is_some() => Kind::List(ListKind {
            are_tensors: false,
            are_tensors_or_null: false,
            are_integers: false,
        }),
        Some(
            GraphTypes::IntList(_)
            | GraphTypes::DoubleList(_)
            | GraphTypes::BoolList(_)
            | GraphTypes::ValueList(_),
        ) => return Err(missing("items")),
        Some(GraphTypes::VkTensor(tensor)) => {
            judge_tensor(tensor, wide(site.values.len()))?;
            match u32::try_from(tensor.constant_id()) {
                Ok(nth) => {
                    if let Some(message) = constants.judge(nth, tensor)? {
                        site.find_value(notes, &VULKAN_UNREAD, id, || message);
                    }
                    Kind::Constant
                }
                Err(_) => Kind::Tensor,
            }
        }
        None => return Err((&VULKAN_VALUE, "the value is of no kind".into())),
        Some(other) => {
            return Err((&VULKAN_VALUE, format!("the kind {} of values is unknown", other.tag())));
        }
    })
}

/// Judges a tensor by itself.
fn judge_tensor(tensor: VkTensor<'_>, values: u64) -> Judged<()> {
    let wrong = |message: String| Err((&VULKAN_VALUE, message));
    let (datatype, staging) = (tensor.datatype(), tensor.staging_datatype());
    if element_size(datatype).is_none() {
        return wrong(format!("the datatype {datatype} is unknown"));
    }
    if staging != VkDataType::UNSET && element_size(staging).is_none() {
        return wrong(format!("the datatype {staging} of the staging buffer is unknown"));
    }
    let (storage, layout) = (tensor.storage_type(), tensor.memory_layout());
    if storage.name().is_none() {
        return wrong(format!("the storage type {storage} is unknown"));
    }
    if layout.name().is_none() {
        return wrong(format!("the memory layout {layout} is unknown"));
    }
    let Some(dims) = tensor.dims() else {
        return Err((&VULKAN_MISSING, "the tensor has no dims".into()));
    };
    let wrong = |message: String| Err((&VULKAN_SIZE, message));
    let (rank, most) =
        (dims.len(), if is_texture(tensor) { MOST_OF_TEXTURE } else { MOST_DIMENSIONS });
    if rank > most {
        return wrong(format!("the tensor has {rank} dimensions, and the limit is {most}"));
    }
    if tensor.constant_id() >= 0 {
        return Ok(());
    }
    let elements = product(dims);
    if elements > MOST_ELEMENTS {
        return wrong(format!(
            "the tensor has {elements} elements, and the limit is {MOST_ELEMENTS}"
        ));
    }
    let is_packed = is_packed(layout);
    if is_packed && datatype != VkDataType::INT8 {
        return Err((
            &VULKAN_VALUE,
            format!("a tensor of {datatype} has the memory layout {layout}"),
        ));
    }
    match u64::try_from(tensor.mem_obj_id()) {
        Ok(object) if object >= values => {
            wrong(format!("memory object {object} is out of range: the graph has {values} values"))
        }
        _ => Ok(()),
    }
}

/// Judges the items of a list of values.
fn judge_list(items: Vector<'_, i32>, kinds: &[Kind]) -> Judged<ListKind> {
    let mut list = ListKind { are_tensors: true, are_tensors_or_null: true, are_integers: true };
    cost::charge(items.len());
    for id in items {
        let kind = usize::try_from(id).ok().and_then(|id| kinds.get(id));
        let Some(kind) = kind else {
            let len = kinds.len();
            return Err((
                &VULKAN_INDEX,
                format!("value {id} is out of range: the graph has {len}"),
            ));
        };
        let is_tensor = matches!(kind, Kind::Tensor | Kind::Constant);
        list.are_tensors &= is_tensor;
        list.are_tensors_or_null &= is_tensor || *kind == Kind::Null;
        list.are_integers &= matches!(kind, Kind::Int | Kind::SymInt | Kind::Double | Kind::Bool);
    }
    Ok(list)
}

/// The constants of a graph, and the bytes of each.
struct Constants<'p> {
    places: Vec<(VkBytes<'p>, Place)>,
    /// The number of bytes behind the graph.
    len: u64,
}

/// The place of a constant.
enum Place {
    /// Behind the graph.
    Behind,
    /// In named data of this size.
    Named(NamedSize),
}

impl<'p> Constants<'p> {
    /// Finds the constants of a graph, each key once: any number of tensors may name one constant.
    fn of(site: &Site<'_, 'p>, named: &NamedSizes<'_>, len: u64) -> Self {
        let place = |bytes: VkBytes<'p>| match bytes.named_key() {
            Some(key) if bytes.offset() == NAMED => {
                (bytes, Place::Named(named.get(key, || len == 0 && is_digest(key))))
            }
            _ => (bytes, Place::Behind),
        };
        Self { places: site.graph.constants().into_iter().flatten().map(place).collect(), len }
    }

    /// Judges the constant of a tensor. Returns a remark about a length that the backend does not read.
    fn judge(&self, nth: u32, tensor: VkTensor<'_>) -> Judged<Option<String>> {
        let Some((bytes, place)) = self.places.get(index(nth)) else {
            let len = self.places.len();
            return Err((
                &VULKAN_CONSTANT,
                format!("constant {nth} is out of range: the graph has {len}"),
            ));
        };
        let size = element_size(tensor.datatype()).unwrap_or_default();
        let need = product(tensor.dims().unwrap_or_default()).saturating_mul(size);
        let declared = bytes.length();
        let (have, is_length_right) = match place {
            // The backend refuses an empty constant at the end of the payload, and reads no other.
            Place::Behind if need == 0 => return Ok(None),
            Place::Behind => (self.len.saturating_sub(bytes.offset()), need <= declared),
            Place::Named(NamedSize::Bytes(have)) if *have < need => {
                let key = Quoted(bytes.named_key().unwrap_or_default());
                return Err((
                    &DELEGATE_KEY_SHORT,
                    format!("the tensor takes {need} bytes, and {key} has {have}"),
                ));
            }
            Place::Named(NamedSize::Bytes(have)) => (*have, declared == *have),
            Place::Named(NamedSize::Elsewhere) => (declared, need <= declared),
            Place::Named(NamedSize::Missing) => {
                let key = Quoted(bytes.named_key().unwrap_or_default());
                return Err((&DELEGATE_KEY_UNRESOLVED, format!("no data has the key {key}")));
            }
        };
        if have < need && matches!(place, Place::Behind) {
            let (offset, len) = (bytes.offset(), self.len);
            return Err((
                &VULKAN_CONSTANT,
                format!(
                    "the tensor takes {need} bytes from {offset} on, and the constants have {len}"
                ),
            ));
        }
        let remark =
            || format!("constant {nth} has the length {declared}: {need} bytes of {have} are read");
        Ok((!is_length_right).then(remark))
    }
}

/// Returns whether the backend makes a texture of a tensor that is no constant. A compile spec may decide for tensors
/// whose storage type is not set.
fn is_texture(tensor: VkTensor<'_>) -> bool {
    let texture = [VkStorageType::TEXTURE_2D, VkStorageType::TEXTURE_3D];
    tensor.constant_id() < 0 && texture.contains(&tensor.storage_type())
}

/// Returns whether a layout packs four 8-bit integers into one.
fn is_packed(layout: VkMemoryLayout) -> bool {
    layout.0 >= VkMemoryLayout::PACKED_INT8_4W4C.0 && layout != VkMemoryLayout::DEFAULT_LAYOUT
}

/// Returns the product of the dimensions, at most `u64::MAX`.
fn product(dims: Vector<'_, u32>) -> u64 {
    cost::charge(dims.len());
    // A later zero makes the product 0.
    match dims.iter().any(|dim| dim == 0) {
        true => 0,
        false => dims.iter().fold(1, |all, dim| u64::from(dim).saturating_mul(all)),
    }
}

/// Returns the size of an element in bytes; `None` for an unknown datatype.
pub(super) fn element_size(datatype: VkDataType) -> Option<u64> {
    Some(match datatype {
        VkDataType::BOOL | VkDataType::UINT8 | VkDataType::INT8 => 1,
        VkDataType::FLOAT16 => 2,
        VkDataType::INT32 | VkDataType::FLOAT32 => 4,
        VkDataType::INT64 | VkDataType::FLOAT64 => 8,
        _ => return None,
    })
}

/// The offset of a constant that is named data.
const NAMED: u64 = u64::MAX;

/// The most dimensions of a tensor that is a texture.
const MOST_OF_TEXTURE: usize = 4;

/// The most elements of a tensor: the backend counts them in 32-bit integers.
const MOST_ELEMENTS: u64 = 0x7fff_ffff;
