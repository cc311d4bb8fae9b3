//! The shapes of outputs, for operators whose shapes follow from their tensors alone.

use core::fmt;

use super::values::Values;
use super::{MOST_DIMENSIONS, Site, VULKAN_SHAPE};
use crate::report::Findings;
use pte_core::payload::vulkan::{ArgumentKind, ShapeRule, VulkanOperator};
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::vulkan::view::VkTensor;

/// Judges the shapes of the outputs of all calls. The arguments are of the kinds that the operators take.
pub(super) fn judge(site: &Site<'_, '_>, values: &Values, out: &mut Findings) {
    for (nth, call) in (0u32..).zip(site.graph.chain().into_iter().flatten()) {
        let Some(operator) = call.name().and_then(VulkanOperator::of) else { continue };
        if operator.shape == ShapeRule::Any {
            continue;
        }
        let args = call.args().unwrap_or_default();
        let arguments = operator.arguments().into_iter().flatten();
        let mut reads = [None; MOST_TENSORS];
        let (mut free, mut output) = (reads.iter_mut(), None);
        for (id, argument) in args.iter().zip(arguments) {
            let tensor = u32::try_from(id).ok().and_then(|id| site.tensor(id)).and_then(Dims::of);
            if argument.kind() != ArgumentKind::Tensor {
                continue;
            }
            match argument.is_written() {
                true => output = tensor,
                false => free.next().into_iter().for_each(|slot| *slot = tensor),
            }
        }
        let Some(output) = output else { continue };
        // Elements of a tensor may depend on integers that are computed when the graph runs.
        if operator.shape == ShapeRule::Elements && values.have_symints() {
            continue;
        }
        let Some(wrong) = differs(operator.shape, reads, output) else { continue };
        let path = path!["chain", nth];
        site.place.find(out, &VULKAN_SHAPE, call.raw(), &path, || {
            let name = operator.name;
            format!("{name} writes {output}, and its arguments {} and {}", wrong.0, wrong.1)
        });
    }
}

/// Returns the arguments that do not give the shape of the output; `None` if they do.
fn differs(
    rule: ShapeRule,
    reads: [Option<Dims>; MOST_TENSORS],
    output: Dims,
) -> Option<(Dims, Dims)> {
    let [first, second, _] = reads;
    let first = first?;
    let pair = (first, second.unwrap_or(first));
    let fits = match rule {
        ShapeRule::Same => first == output,
        ShapeRule::Broadcast => broadcast(reads) == Some(output),
        ShapeRule::Elements => first.elements() == output.elements(),
        ShapeRule::Product => first.times(second?) == Some(output),
        ShapeRule::Linear => first.times(second?.transposed()?) == Some(output),
        _ => true,
    };
    (!fits).then_some(pair)
}

/// Returns the shape that tensors broadcast to; `None` if they do not.
fn broadcast(tensors: [Option<Dims>; MOST_TENSORS]) -> Option<Dims> {
    let mut all = Dims::default();
    for tensor in tensors.into_iter().flatten() {
        all.rank = all.rank.max(tensor.rank);
        for (to, &from) in all.sizes.iter_mut().rev().zip(tensor.sizes.iter().rev()) {
            *to = match (*to, from) {
                (to, 1) => to,
                (1, from) => from,
                (to, from) if to == from => to,
                _ => return None,
            };
        }
    }
    Some(all)
}

/// The dimensions of a tensor, the innermost last, with ones in front.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Dims {
    sizes: [u32; MOST_DIMENSIONS],
    rank: usize,
}

impl Default for Dims {
    fn default() -> Self {
        Self { sizes: [1; MOST_DIMENSIONS], rank: 0 }
    }
}

impl Dims {
    /// Returns the dimensions of a tensor; `None` for more than are compared.
    fn of(tensor: VkTensor<'_>) -> Option<Self> {
        let dims = tensor.dims().unwrap_or_default();
        let mut all = Self { rank: dims.len(), ..Self::default() };
        let start = MOST_DIMENSIONS.checked_sub(dims.len())?;
        for (slot, size) in all.sizes.iter_mut().skip(start).zip(dims) {
            *slot = size;
        }
        Some(all)
    }

    fn elements(&self) -> u64 {
        self.sizes.iter().fold(1, |all, &size| u64::from(size).saturating_mul(all))
    }

    /// Returns the shape of the product with a matrix, or with a list of as many matrices.
    fn times(self, other: Self) -> Option<Self> {
        let ([outer @ .., _, k], [other_outer @ .., other_k, n]) = (self.sizes, other.sizes);
        let fits = k == other_k && (other.rank == 2 || outer == other_outer);
        let mut product = self;
        *product.sizes.last_mut()? = n;
        fits.then_some(product)
    }

    /// Returns the shape of the transposed matrix; `None` for other tensors.
    fn transposed(mut self) -> Option<Self> {
        let [.., rows, columns] = &mut self.sizes;
        core::mem::swap(rows, columns);
        (self.rank == 2).then_some(self)
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = MOST_DIMENSIONS.saturating_sub(self.rank);
        f.write_str("[")?;
        for (nth, size) in self.sizes.iter().skip(start).enumerate() {
            write!(f, "{}{size}", if nth == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// The most tensors whose shapes decide the shape of an output.
const MOST_TENSORS: usize = 3;
