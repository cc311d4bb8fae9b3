//! Finds index tensors that no instruction writes, but whose memory a tensor of another dtype
//! overwrites. Kernels then read the bytes of that tensor as indices.
//!
//! If a tensor of the same dtype is in the same memory, the index tensor may be a view of it, and
//! is left out. Exporters leave out the calls of views that cost nothing.

use alloc::vec::Vec;

use super::resized::Resized;
use crate::site::Plan;
use pte_core::Arena;
use pte_flat::cost;
use pte_schema::program::view::{KernelTypes, Tensor};
use pte_schema::scalar::ScalarType;

/// The largest number of index tensors of a method that are checked.
const MOST_INDICES: usize = 16;

/// The index tensors without a writer, each with a tensor that overwrites its memory.
#[derive(Default)]
pub(crate) struct Overwritten(Vec<(u32, u32)>);

/// An index tensor that no instruction writes.
struct Index {
    value: u32,
    tensor: PlannedBytes,
    /// A tensor of another dtype that instructions write to the same memory.
    over: Option<u32>,
    /// Whether a tensor of the same dtype is in the same memory. The index tensor may be its view.
    is_view: bool,
}

/// The range of a planned tensor in its arena, and the dtype of the tensor.
struct PlannedBytes {
    arena: Arena,
    end: u64,
    dtype: ScalarType,
}

impl PlannedBytes {
    /// Returns the place of a planned tensor with elements.
    fn of(tensor: Tensor<'_>) -> Option<Self> {
        let arena = Arena::of(tensor.allocation_info()?);
        let dtype = tensor.scalar_type();
        let size = dtype.nbytes(tensor.sizes()?).filter(|&size| size > 0)?;
        Some(Self { end: arena.offset.checked_add(size)?, arena, dtype })
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.arena.memory_id == other.arena.memory_id
            && self.arena.offset < other.end
            && other.arena.offset < self.end
    }
}

impl Overwritten {
    /// Finds the overwritten tensors among those that calls use as index tensors. `indices` are
    /// their positions in the method's values.
    pub(super) fn of(
        plan: &Plan<'_, '_>,
        indices: impl Iterator<Item = i32>,
        written: &Resized,
    ) -> Self {
        let mut found: Vec<Index> = Vec::new();
        for value in indices.filter_map(|value| u32::try_from(value).ok()) {
            cost::charge(1);
            let is_known = written.is_written(value) || found.iter().any(|one| one.value == value);
            if is_known || found.len() == MOST_INDICES {
                continue;
            }
            let Some(tensor) = plan.tensor(value.into()) else { continue };
            let is_index = matches!(tensor.scalar_type(), ScalarType::INT | ScalarType::LONG);
            if let Some(tensor) = PlannedBytes::of(tensor).filter(|_| is_index) {
                found.push(Index { value, tensor, over: None, is_view: false });
            }
        }
        if found.is_empty() {
            return Self::default();
        }
        for input in plan.view.inputs().into_iter().flatten() {
            cost::charge(1);
            found.retain(|index| u32::try_from(input) != Ok(index.value));
        }
        for (other, value) in plan.values() {
            let Some(KernelTypes::Tensor(tensor)) = value.val() else { continue };
            let Some(place) = PlannedBytes::of(tensor) else { continue };
            for index in &mut found {
                if other == index.value || !place.overlaps(&index.tensor) {
                    continue;
                }
                if place.dtype == index.tensor.dtype {
                    index.is_view = true;
                } else if written.is_written(other) {
                    index.over = Some(other);
                }
            }
        }
        let overwritten =
            |index: &Index| Some((index.value, index.over.filter(|_| !index.is_view)?));
        Self(found.iter().filter_map(overwritten).collect())
    }

    /// Returns the tensor that overwrites the memory of an index tensor, if there is one.
    pub(crate) fn by(&self, index: u32) -> Option<u32> {
        self.0.iter().find(|(value, _)| *value == index).map(|(_, over)| *over)
    }
}
