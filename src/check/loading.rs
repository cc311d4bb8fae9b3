//! The memory that a program makes a loader allocate, by the figures in the file.

use alloc::collections::BTreeSet;

use super::site::external_key;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::{Pte, method, tensor_at};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;
use pte_schema::program::DataLocation;
use pte_schema::program::view::{ExecutionPlan, KernelTypes, Tensor};

/// The bytes that a loader allocates by the figures in a program, if it loads each method once.
///
/// All sums saturate. Not counted is what backends and kernels allocate, which the file does not say, and the
/// runtime's own structures: at most some hundred bytes for each value, instruction and delegate.
///
/// ```
/// # fn main() -> pte::Result<()> {
/// use pte::check::LoadMemory;
///
/// # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
/// let memory = LoadMemory::of(&pte::Pte::read(bytes)?);
/// assert_eq!((memory.arenas, memory.constants), (224, 144));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoadMemory {
    /// The sum of the other fields.
    pub total: u64,
    /// The FlatBuffer, with the headers in front of it.
    pub flatbuffer: u64,
    /// The arenas of all methods.
    pub arenas: u64,
    /// The inputs and outputs of all methods that are in no arena, at their upper bounds.
    pub unplanned: u64,
    /// The segment of constants.
    pub constants: u64,
    /// The payloads in segments, once for each delegate that names them.
    pub payloads: u64,
    /// The named data, once for each key.
    pub named_data: u64,
    /// The tensors whose data is in a `.ptd`, once for each method and key.
    pub external: u64,
}

impl LoadMemory {
    /// Adds up what a program asks for.
    #[must_use]
    pub fn of(pte: &Pte<'_>) -> Self {
        let root = pte.program();
        let segment = |index| pte.segment_range(index).map_or(0, |range| len_of(&range));
        let named = root.named_data().into_iter().flatten().map(|of| segment(of.segment_index()));
        let mut memory = Self {
            flatbuffer: wide(pte.region().len()),
            constants: root.constant_segment().map_or(0, |of| segment(of.segment_index())),
            named_data: named.fold(0, u64::saturating_add),
            ..Self::default()
        };
        for (_, plan) in method::distinct(pte) {
            add(&mut memory.arenas, arenas(plan));
            add(&mut memory.unplanned, unplanned(plan));
            let payloads = plan.delegates().into_iter().flatten().filter_map(|of| of.processed());
            let payloads = payloads.filter(|of| of.location() == DataLocation::SEGMENT);
            add(&mut memory.payloads, payloads.map(|of| segment(of.index())));
            add(&mut memory.external, external(plan));
        }
        let Self {
            flatbuffer, arenas, unplanned, constants, payloads, named_data, external, ..
        } = memory;
        let parts = [flatbuffer, arenas, unplanned, constants, payloads, named_data, external];
        Self { total: parts.into_iter().fold(0, u64::saturating_add), ..memory }
    }
}

/// Returns the sizes of a method's arenas. Runtimes ignore the first entry, and negative sizes are no sizes.
pub(super) fn arenas(plan: ExecutionPlan<'_>) -> impl Iterator<Item = u64> {
    let sizes = plan.non_const_buffer_sizes().into_iter().flatten().skip(1);
    sizes.map(|size| u64::try_from(size).unwrap_or_default())
}

/// Returns the number of bytes of a tensor; 0 if its shape has no size.
pub(super) fn size(tensor: Tensor<'_>) -> u64 {
    // Many tensors may share one long list. Other rules report it.
    let sizes = tensor.sizes().into_iter().flatten().take(MOST_DIMENSIONS);
    tensor.scalar_type().nbytes(sizes).unwrap_or_default()
}

/// Returns the sizes of inputs and outputs that the caller gives memory to.
fn unplanned(plan: ExecutionPlan<'_>) -> impl Iterator<Item = u64> {
    let ends = plan.inputs().into_iter().chain(plan.outputs()).flatten();
    ends.filter_map(move |index| {
        cost::charge(1);
        let tensor = tensor_at(plan, index)?;
        let is_unplanned = tensor.allocation_info().is_none() && tensor.data_buffer_idx() == 0;
        (is_unplanned && external_key(tensor).is_none()).then(|| size(tensor))
    })
}

/// Returns the sizes of tensors whose data is loaded from a `.ptd`. Each key is loaded once. Data of a planned tensor
/// is read into its arena.
fn external(plan: ExecutionPlan<'_>) -> impl Iterator<Item = u64> {
    let mut keys = BTreeSet::new();
    plan.values().into_iter().flatten().filter_map(move |value| {
        cost::charge(1);
        let Some(KernelTypes::Tensor(tensor)) = value.val() else { return None };
        let key = external_key(tensor).filter(|_| tensor.allocation_info().is_none())?;
        cost::look_up(key, keys.len());
        keys.insert(key).then(|| size(tensor))
    })
}

fn add(sum: &mut u64, sizes: impl Iterator<Item = u64>) {
    *sum = sizes.fold(*sum, u64::saturating_add);
}
