//! The tensors that the backend makes when it loads a graph: constants of named data, and mutable buffers.

use alloc::collections::BTreeMap;

use super::super::named::is_hex;
use super::super::{DELEGATE_KEY_SHORT, DELEGATE_KEY_UNRESOLVED, NamedSize, NamedSizes};
use super::{MLX_BUFFER, MLX_CONSTANT, Site, is_datatype};
use crate::report::Findings;
use pte_core::PathComponent;
use pte_flat::bytes::{index, narrow};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;
use pte_schema::mlx::SlotType;
use pte_schema::mlx::view::{MLXGraph, NamedSlot, TensorMeta};
use pte_schema::scalar::ScalarType;

/// Returns the constants that are named data, each with its name, which is the key.
pub(super) fn named<'p>(graph: MLXGraph<'p>) -> impl Iterator<Item = (u32, NamedSlot<'p>)> {
    graph.named_slots().into_iter().flatten().filter_map(move |slot| {
        let tensor = slot.slot().filter(|tensor| tensor.slot_type() == SlotType::TensorSlot)?;
        (tensor.idx() < graph.num_constant_tensors()).then_some((tensor.idx(), slot))
    })
}

/// Judges the shapes and the data of constants.
pub(super) fn constants(site: &Site<'_, '_>, named: &NamedSizes<'_>, out: &mut Findings) {
    let (graph, count) = (site.graph, site.graph.num_constant_tensors());
    if count == 0 {
        return;
    }
    // If a tensor has several names, the backend uses the last one.
    let mut names = BTreeMap::new();
    for (tensor, slot) in self::named(graph) {
        cost::look_up("", names.len());
        names.insert(tensor, slot);
    }
    let metas = graph.tensor_meta().unwrap_or_default();
    for (nth, meta) in (0..count).zip(metas.iter()) {
        let path = path!["tensor_meta", nth];
        let Some(size) = size_of(meta) else {
            site.place.find(out, &MLX_CONSTANT, meta.raw(), &path, || {
                format!("constant {nth} has no sizes, or a datatype that MLX does not have")
            });
            continue;
        };
        cost::look_up("", names.len());
        let Some(slot) = names.get(&nth) else {
            site.place.find(out, &MLX_CONSTANT, graph.raw(), &path, || {
                format!("constant {nth} has no name")
            });
            continue;
        };
        let key = slot.name().unwrap_or_default();
        match named.get(key, || is_written(key)) {
            NamedSize::Elsewhere => {}
            NamedSize::Bytes(bytes) if size <= bytes => {}
            NamedSize::Bytes(bytes) => {
                site.place.find(out, &DELEGATE_KEY_SHORT, slot.raw(), &path, || {
                    let key = Quoted(key);
                    format!("constant {nth} takes {size} bytes, and {key} has {bytes}")
                });
            }
            NamedSize::Missing => {
                site.place.find(out, &DELEGATE_KEY_UNRESOLVED, slot.raw(), &path, || {
                    format!("no data has the key {}", Quoted(key))
                });
            }
        }
    }
    let metas = narrow(metas.len());
    if metas < count {
        let path = [PathComponent::Field("tensor_meta")];
        site.place.find(out, &MLX_CONSTANT, graph.raw(), &path, || {
            format!("constant {metas} has no tensor_meta")
        });
    }
}

/// Judges the mutable buffers, which begin as zeros.
pub(super) fn buffers(site: &Site<'_, '_>, out: &mut Findings) {
    let graph = site.graph;
    let metas = graph.tensor_meta().unwrap_or_default();
    for (nth, slot) in (0..).zip(graph.mutable_buffer_map().into_iter().flatten()) {
        let path = path!["mutable_buffer_map", nth];
        let tensor = slot.idx();
        let message = match (slot.slot_type(), metas.get(index(tensor))) {
            (SlotType::TensorSlot, Some(meta)) => {
                let has_zero = meta.shape().into_iter().flatten().any(|dim| dim.value() == 0);
                match size_of(meta).filter(|_| !has_zero) {
                    Some(..=MOST_BYTES) => continue,
                    Some(size) => format!("the buffer takes {size} bytes, and the limit is 4 GiB"),
                    None => format!(
                        "tensor {tensor} has a size that is 0 or not known, or a datatype that MLX does not have"
                    ),
                }
            }
            (SlotType::TensorSlot, None) => format!("tensor {tensor} has no tensor_meta"),
            (slot_type, _) => format!("the slot is a {slot_type}: expected TensorSlot"),
        };
        site.place.find(out, &MLX_BUFFER, slot.raw(), &path, || message);
    }
}

/// Returns the size of a tensor in bytes, at most `u64::MAX`. `None` if a size is a range, or if
/// MLX does not have the datatype.
fn size_of(meta: TensorMeta<'_>) -> Option<u64> {
    let dtype = ScalarType(meta.scalar_type());
    let mut bytes = dtype.element_size().filter(|_| is_datatype(dtype.0))?;
    for size in meta.shape().into_iter().flatten() {
        bytes = bytes.saturating_mul(u64::try_from(size.value()).ok()?);
    }
    Some(bytes)
}

/// The most bytes of a buffer that the backend makes.
const MOST_BYTES: u64 = 4 << 30;

/// Returns whether a key is one of MLX's writer: four hexadecimal digits, `/` and the name of a tensor.
fn is_written(key: &str) -> bool {
    key.split_once('/').is_some_and(|(hash, _)| hash.len() == 4 && is_hex(hash))
}
