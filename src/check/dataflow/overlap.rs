//! Overlaps of a call's output with its other arguments, if both are planned.

use super::known::Known;
use super::rules::{ARGS_OVERLAP, INDEX_OVERLAP, OUTPUT_RESIZED, VIEW_CAPACITY};
use super::state::{Memory, list};
use crate::kernels::{BrokenRule, MOST_ITEMS};
use crate::site::nbytes;
use pte_core::Arena;
use pte_core::operators::{Hazard, Kind};
use pte_schema::program::TensorShapeDynamism;
use pte_schema::program::tag;
use pte_schema::program::view::{KernelCall, Tensor};

/// Finds an output of a call whose memory another argument uses. Arguments that the kernel reads
/// again after it has written or resized the output are reported first.
pub(super) fn find<'a>(known: &Known<'_, '_, 'a>, call: KernelCall<'a>) -> Option<BrokenRule> {
    let hazard = known.kernels.hazard(call);
    let mut overlap = None;
    for (nth, index, _) in
        known.kernels.signatures.args(call)?.filter(|(.., kind)| kind.is_written())
    {
        let Some(output) = Located::of(known, index) else { continue };
        if let Some(wrong) = exceeds_base(known, &output, nth) {
            return Some(wrong);
        }
        let found = hazard.and_then(|hazard| {
            output_is_sized_again(known, call, hazard, &output, nth)
                .or_else(|| output_is_read_again(known, call, hazard, &output, nth))
        });
        if found.is_some() {
            return found;
        }
        overlap = overlap.or_else(|| arguments_overlap(known, call, &output, nth));
    }
    hazard.and_then(|hazard| index_is_overwritten(known, call, hazard)).or(overlap)
}

/// Reports an output that is a view and that, at its largest sizes, exceeds the memory of its base.
fn exceeds_base(known: &Known<'_, '_, '_>, output: &Located<'_>, nth: u32) -> Option<BrokenRule> {
    if output.owner == output.id || output.is_static() {
        return None;
    }
    let base = known.plan.tensor(output.owner.into())?;
    let (bytes, room) = (nbytes(output.tensor)?, nbytes(base)?);
    (bytes > room).then(|| {
        let message = format!(
            "value {} is written with up to {bytes} bytes, a view of the {room} of value {}",
            output.index, output.owner
        );
        (&VIEW_CAPACITY, Some(nth), message)
    })
}

/// Reports an output that is also an input whose sizes the kernel reads after it has resized the output.
fn output_is_sized_again<'a>(
    known: &Known<'_, '_, 'a>,
    call: KernelCall<'a>,
    hazard: &Hazard,
    output: &Located<'a>,
    nth: u32,
) -> Option<BrokenRule> {
    if output.is_static() {
        return None;
    }
    let args = call.args()?;
    hazard.sized_again.iter().find_map(|&at| {
        let value = args.get(pte_flat::bytes::index(at))?;
        let input = known.tensors(value).find(|&value| known.is_tensor(value, output.id))?;
        let message = format!("value {input} is an input and the output, which is resized first");
        Some((&OUTPUT_RESIZED, Some(nth), message))
    })
}

/// Reports an output that shares bytes with an argument that the kernel reads again after writing.
fn output_is_read_again<'a>(
    known: &Known<'_, '_, 'a>,
    call: KernelCall<'a>,
    hazard: &Hazard,
    output: &Located<'a>,
    nth: u32,
) -> Option<BrokenRule> {
    let args = call.args()?;
    hazard.read_again.iter().find_map(|&at| {
        let value = args.get(pte_flat::bytes::index(at))?;
        known.tensors(value).find_map(|value| {
            let input = Located::of(known, value)?;
            let message = || {
                format!(
                    "value {value} is read again after value {} is written over it",
                    output.index
                )
            };
            output.overlaps(&input).then(|| (&INDEX_OVERLAP, Some(nth), message()))
        })
    })
}

/// Reports an index tensor that no instruction writes, if another tensor is written to its memory.
fn index_is_overwritten<'a>(
    known: &Known<'_, '_, 'a>,
    call: KernelCall<'a>,
    hazard: &Hazard,
) -> Option<BrokenRule> {
    let args = call.args()?;
    hazard.read_again.iter().find_map(|&at| {
        let value = args.get(pte_flat::bytes::index(at))?;
        known.tensors(value).find_map(|value| {
            let index = Located::of(known, value)?.owner;
            let over = known.kernels.overwritten.by(index)?;
            let message =
                format!("nothing writes value {index}, and value {over} is written over it");
            Some((&INDEX_OVERLAP, Some(at), message))
        })
    })
}

/// Reports an output that shares bytes with any other argument. Views and aliases do not count:
/// both tensors must be in their own planned memory.
fn arguments_overlap<'a>(
    known: &Known<'_, '_, 'a>,
    call: KernelCall<'a>,
    output: &Located<'a>,
    nth: u32,
) -> Option<BrokenRule> {
    let place = output.place.filter(|_| output.owner == output.id)?;
    let is_tensor = |kind: Kind| kind.needs_data() && kind.accepts(tag::Tensor);
    let mut others = known
        .kernels
        .signatures
        .args(call)?
        .filter(|&(_, value, kind)| is_tensor(kind) && !known.is_tensor(value, output.id));
    others.find_map(|(_, value, _)| {
        let input = Located::of(known, value)?;
        (input.owner == input.id && input.place.is_some() && output.overlaps(&input)).then(|| {
            let (one, arena) = (output.index, place.memory_id);
            let message = format!("values {one} and {value} share bytes of arena {arena}");
            (&ARGS_OVERLAP, Some(nth), message)
        })
    })
}

/// A tensor, and the memory that its data is in.
struct Located<'a> {
    /// The value index that the call uses for the tensor.
    index: i32,
    /// The index of the tensor in the file.
    id: u32,
    /// The index of the tensor whose memory this one uses.
    owner: u32,
    tensor: Tensor<'a>,
    /// The place of the owner in an arena; `None` for memory of the caller or the file.
    place: Option<Arena>,
}

impl<'a> Located<'a> {
    fn of(known: &Known<'_, '_, 'a>, index: i32) -> Option<Self> {
        let id = known.state.tensor(known.values, index)?;
        let Memory::Of(owner) = known.state.memory(id) else { return None };
        let tensor = known.plan.tensor(id.into())?;
        let base = if owner == id { tensor } else { known.plan.tensor(owner.into())? };
        let place = base.allocation_info().map(Arena::of);
        Some(Self { index, id, owner, tensor, place })
    }

    fn is_static(&self) -> bool {
        self.tensor.shape_dynamism() == TensorShapeDynamism::STATIC
    }

    /// Returns whether two tensors share bytes: the one with the smaller offset ends after the
    /// start of the other. The size of the other is computed only then: it must not be 0.
    fn overlaps(&self, other: &Self) -> bool {
        let (Some(one), Some(two)) = (self.place, other.place) else {
            return self.owner == other.owner && nbytes(other.tensor).is_some_and(|len| len > 0);
        };
        let (first, second) = match one.offset <= two.offset {
            true => ((one, self), (two, other)),
            false => ((two, other), (one, self)),
        };
        let begin = second.0.offset;
        one.memory_id == two.memory_id
            && nbytes(first.1.tensor).is_some_and(|len| begin.abs_diff(first.0.offset) < len)
            && nbytes(second.1.tensor)
                .is_some_and(|len| len > 0 && begin.checked_add(len).is_some())
    }
}

impl<'a> Known<'_, '_, 'a> {
    /// Returns whether the tensor that is now at `index` has the index `id` in the file.
    fn is_tensor(&self, index: i32, id: u32) -> bool {
        self.state.tensor(self.values, index) == Some(id)
    }

    /// Returns an argument, or its items if it is a list of tensors.
    fn tensors(&self, value: i32) -> impl Iterator<Item = i32> {
        let items = list(self.plan, self.values, value);
        let alone = items.is_none().then_some(value);
        items.into_iter().flatten().take(MOST_ITEMS).chain(alone)
    }
}
