//! Overlaps of a call's output with its other arguments, where both are planned.

use alloc::format;

use super::known::Known;
use super::rules::{ARGS_OVERLAP, INDEX_OVERLAP};
use super::state::Memory;
use crate::check::kernels::Wrong;
use crate::check::values::Values;
use crate::limits::MOST_DIMENSIONS;
use crate::pte::Arena;
use crate::schema::program::tag;
use crate::schema::program::view::{KernelCall, KernelTypes, Tensor};

/// Operators whose third argument is an index.
const SCATTERS: [&str; 3] =
    ["aten::scatter.src_out", "aten::scatter.value_out", "aten::scatter_add.out"];
const INDEX: u32 = 2;

/// Finds an output of a call that shares planned bytes with another argument; the index of a scatter
/// first.
pub(super) fn find<'a>(
    known: &Known<'_, '_, 'a>,
    values: &Values,
    call: KernelCall<'a>,
) -> Option<Wrong> {
    let Known { plan, kernels, state } = *known;
    // The tensor at `index`, if its data is in its own memory.
    let tensor = |index: i32| {
        let tensor = state.tensor(values, index)?;
        match plan.value(tensor.into())? {
            KernelTypes::Tensor(view) if state.memory(tensor) == Memory::Of(tensor) => {
                Some((tensor, view))
            }
            _ => None,
        }
    };
    let mut found = None;
    for (nth, index, _) in kernels.args(call)?.filter(|(.., kind)| kind.is_written()) {
        let Some((target, view)) = tensor(index) else { continue };
        let Some(written) = Planned::of(view) else { continue };
        for (at, other, kind) in kernels.args(call)?.filter(|&(_, other, _)| other != index) {
            if !kind.needs_data() || !kind.accepts(tag::Tensor) {
                continue;
            }
            let Some((_, view)) = tensor(other).filter(|&(read, _)| read != target) else {
                continue;
            };
            if !Planned::of(view).is_some_and(|read| written.overlaps(read)) {
                continue;
            }
            let message =
                format!("values {index} and {other} share bytes of arena {}", written.arena);
            let is_scatter = |name: &str| SCATTERS.contains(&name);
            let is_index = at == INDEX && kernels.name(call).is_some_and(is_scatter);
            if is_index {
                return Some((&INDEX_OVERLAP, Some(nth), message));
            }
            found = found.or(Some((&ARGS_OVERLAP, Some(nth), message)));
        }
    }
    found
}

/// A planned tensor, and where it begins in its arena.
#[derive(Clone, Copy)]
struct Planned<'a> {
    arena: u32,
    begin: u64,
    tensor: Tensor<'a>,
}

impl<'a> Planned<'a> {
    fn of(tensor: Tensor<'a>) -> Option<Self> {
        let Arena { memory_id: arena, offset: begin } = Arena::of(tensor.allocation_info()?);
        Some(Self { arena, begin, tensor })
    }

    /// Returns its size in bytes. `None` if its shape is wrong, which other rules report.
    fn len(self) -> Option<u64> {
        let sizes = self.tensor.sizes().filter(|sizes| sizes.len() <= MOST_DIMENSIONS)?;
        self.tensor.scalar_type().nbytes(sizes)
    }

    /// Returns whether two tensors share bytes: whether the one that begins first reaches into the
    /// other. The size of the other is only computed if it does.
    fn overlaps(self, other: Self) -> bool {
        let (first, second) = if self.begin <= other.begin { (self, other) } else { (other, self) };
        self.arena == other.arena
            && first.len().is_some_and(|len| second.begin.abs_diff(first.begin) < len)
            && second.len().is_some_and(|len| len > 0 && second.begin.checked_add(len).is_some())
    }
}
