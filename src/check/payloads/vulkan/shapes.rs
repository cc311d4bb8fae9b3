//! The shapes of outputs, for operators whose shapes follow from their arguments.

use alloc::string::String;

use self::call::{Call, sizes, wrapped};
use self::numbers::Numbers;
use self::windows::{Windows, places};
use super::values::Values;
use super::{Site, VULKAN_SHAPE};
use crate::payloads::sizes::{MOST, Sizes};
use crate::report::Findings;
use pte_core::payload::vulkan::{ArgumentKind, ShapeRule, VulkanOperator};
use pte_flat::bytes::wide;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::vulkan::view::GraphTypes;

mod call;
mod numbers;
mod windows;

/// Judges the shapes of the outputs of all calls. The arguments are of the kinds that the operators take.
pub(super) fn judge(site: &Site<'_, '_>, values: &Values, out: &mut Findings) {
    // Many calls may name one long list of tensors. Lists of one call each are shorter than the graph.
    let mut budget = site.bytes;
    for (nth, call) in (0u32..).zip(site.graph.chain().into_iter().flatten()) {
        let Some(operator) = call.name().and_then(VulkanOperator::of) else { continue };
        if operator.shape == ShapeRule::Any {
            continue;
        }
        let call_site = Call { site, operator, args: call.args().unwrap_or_default() };
        let Some(message) = call_site.wrong(values, &mut budget) else { continue };
        let path = path!["chain", nth];
        site.place.find(out, &VULKAN_SHAPE, call.raw(), &path, || message);
    }
}

/// The shape of an output: `None` if it is not known, and `Some(None)` if the arguments fit no output.
type Expected = Option<Option<Sizes>>;

impl<'p> Call<'_, '_, 'p> {
    /// Returns what is wrong with the shapes of the outputs.
    fn wrong(&self, values: &Values, budget: &mut u64) -> Option<String> {
        let name = self.operator.name;
        let last = self.args.len().checked_sub(1)?;
        let listed = self.list(last, budget);
        let count = match (self.operator.shape, listed) {
            (ShapeRule::Split | ShapeRule::SplitWithSizes, Some(outputs)) => {
                let Some(expected) = self.parts()? else {
                    return Some(format!("{name} cannot split a tensor by these numbers"));
                };
                if wide(outputs.len()) != expected {
                    let found = outputs.len();
                    return Some(format!("{name} writes {found} outputs: expected {expected}"));
                }
                outputs.len()
            }
            (ShapeRule::MaxPool, Some(outputs)) => outputs.len(),
            // Of the outputs of a normalization, the others are what it has computed.
            _ => 1,
        };
        (0..count).find_map(|nth| {
            let id = listed.map_or_else(|| self.args.get(last), |outputs| outputs.get(nth))?;
            let found = sizes(self.site.tensor(u32::try_from(id).ok()?)?)?;
            let wrong = match self.expected(values, (nth, found), budget)? {
                Some(expected) if expected.all() == found.all() => return None,
                Some(expected) => format!("has the shape {found}: expected {expected}"),
                None => format!("has the shape {found}, which does not fit the arguments"),
            };
            Some(match self.sizes(0) {
                Some(first) => format!("the output of {name} of {first} {wrong}"),
                None => format!("the output of {name} {wrong}"),
            })
        })
    }

    /// Returns the shape of an output, which is the `nth` and has the shape `found`.
    fn expected(
        &self,
        values: &Values,
        (nth, found): (usize, Sizes),
        budget: &mut u64,
    ) -> Expected {
        use ShapeRule::*;
        let rule = self.operator.shape;
        match rule {
            Broadcast => return self.broadcast(),
            Cat => return self.joined(budget),
            Listed => return Some(Sizes::of(self.numbers(0)?.all().iter().copied())),
            _ => {}
        }
        let first = self.sizes(0)?;
        let axis = |at| self.axis(at, first);
        Some(match rule {
            Same => Some(first),
            Rows => first.with_last(found.all().last().copied()?.into()),
            View => {
                // Sizes of tensors may depend on integers that are computed when the graph runs.
                if values.have_symints() {
                    return None;
                }
                let is_listed = self.numbers(1).is_none_or(|numbers| {
                    let mut both = numbers.all().iter().zip(found.all());
                    numbers.len == found.all().len()
                        && both.all(|(number, size)| *number == -1 || *number == i64::from(*size))
                });
                (is_listed && first.elements() == found.elements()).then_some(found)
            }
            Product(end) => {
                let of = |back| self.sizes(usize::from(end).checked_sub(back)?);
                product(of(2)?, of(1)?)
            }
            Linear => product(first, transposed(self.sizes(1)?)?),
            Permute => permuted(first, self.numbers(1)?),
            Transpose => {
                let (one, other) = (axis(1)?, axis(2)?);
                one.zip(other).and_then(|(one, other)| {
                    first.map(&mut |nth, size| match nth {
                        nth if nth == one => first.at(other),
                        nth if nth == other => first.at(one),
                        _ => Some(size),
                    })
                })
            }
            Unsqueeze => {
                let rank = first.all().len().saturating_add(1);
                let axis = wrapped(self.number(1)?, rank);
                axis.and_then(|axis| first.inserted(axis, 1))
            }
            Squeeze => {
                let mut listed = [false; MOST];
                for number in self.numbers(1)?.all() {
                    let axis = wrapped(*number, first.all().len())?;
                    *listed.get_mut(axis)? = first.at(axis) == Some(1);
                }
                first.without(|axis| listed.get(axis) == Some(&true))
            }
            Select => {
                let (axis, nth) = (axis(1)?, self.number(2)?);
                axis.filter(|axis| {
                    let size = first.at(*axis).unwrap_or_default();
                    nth < size && nth.saturating_add(size) >= 0
                })
                .and_then(|axis| first.without(|nth| nth == axis))
            }
            Slice => {
                let (axis, step) = (axis(1)?, self.number(4)?);
                let ends = [self.numbers(2)?, self.numbers(3)?];
                axis.and_then(|axis| {
                    first.with_axis(axis, |size| kept(size, ends.map(|end| end.first()), step))
                })
            }
            Split => {
                let (size, axis) = (self.number(1)?, axis(2)?);
                let before = size.saturating_mul(i64::try_from(nth).ok()?);
                axis.and_then(|axis| {
                    first.with_axis(axis, |whole| Some(size.min(whole.checked_sub(before)?)))
                })
            }
            SplitWithSizes => {
                let size = self.numbers(1)?.all().get(nth).copied()?;
                axis(2)?.and_then(|axis| first.with_axis(axis, |_| Some(size)))
            }
            Expand => expanded(first, self.numbers(1)?),
            Repeat => {
                let repeats = self.numbers(1)?;
                let missing = repeats.len.checked_sub(first.all().len());
                missing.and_then(|missing| {
                    let mut all = repeats.all().iter().enumerate();
                    all.try_fold(Sizes::default(), |sizes, (nth, repeat)| {
                        let size = nth.checked_sub(missing).map_or(Some(1), |nth| first.at(nth))?;
                        sizes.with(size.checked_mul(*repeat)?)
                    })
                })
            }
            Pad => {
                let pads = self.numbers(1)?;
                first.map(&mut |nth, size| {
                    let from_last = first.all().len().checked_sub(nth)?.checked_sub(1)?;
                    let pair = pads.all().as_chunks::<2>().0.get(from_last);
                    let [before, after] = pair.copied().unwrap_or_default();
                    size.checked_add(before)?.checked_add(after)
                })
            }
            Unfold => {
                let (axis, size, step) = (axis(1)?, self.number(2)?, self.number(3)?);
                axis.and_then(|axis| {
                    first
                        .with_axis(axis, |whole| places(whole.checked_sub(size)?, step))?
                        .with(size)
                })
            }
            Reduce(keeps) => self.reduced(first, self.flag(keeps.into())?)?,
            Embedding => {
                let indices = self.sizes(1)?;
                first.array().and_then(|[_, row]| indices.with(row))
            }
            Gather => self.sizes(2),
            IndexSelect => {
                let (axis, indices) = (axis(1)?, self.sizes(2)?.elements());
                axis.and_then(|axis| first.with_axis(axis, |_| i64::try_from(indices).ok()))
            }
            PixelShuffle(factor) => {
                let factor = self.number(factor.into())?;
                let channels = first.all().len().checked_sub(3)?;
                let square = factor.checked_mul(factor)?;
                first.map(&mut |nth, size| match nth.checked_sub(channels) {
                    None => Some(size),
                    Some(0) => {
                        (size.checked_rem(square)? == 0).then_some(size.checked_div(square)?)
                    }
                    Some(_) => size.checked_mul(factor),
                })
            }
            Convolution => self.convolution(first)?,
            PackedConvolution(at) => {
                let [kernel, strides, pads, dilations] = self.lists(at.into())?;
                let windows = Windows { kernel, strides, pads, dilations, rounds_up: false };
                let channels = found.at(1)?;
                windows.over(first).and_then(|shape| shape.with_axis(1, |_| Some(channels)))
            }
            AveragePool | MaxPool => self.pool(first, rule == MaxPool)?,
            Upsample => {
                let size = self.numbers(1)?;
                let axes = first.all().len().checked_sub(size.len)?;
                if size.len == 0 {
                    return None;
                }
                first.map(&mut |nth, old| {
                    nth.checked_sub(axes).map_or(Some(old), |nth| size.all().get(nth).copied())
                })
            }
            GridSample => {
                let grid = self.sizes(1)?.array::<4>()?;
                let [batches, channels, ..] = first.array::<4>()?;
                let [own, rows, columns, _] = grid;
                let sizes = [batches, channels, rows, columns];
                (own == batches)
                    .then(|| sizes.into_iter().try_fold(Sizes::default(), Sizes::with))?
            }
            _ => return None,
        })
    }

    fn broadcast(&self) -> Expected {
        let arguments = self.operator.arguments()?;
        let mut all = Sizes::default();
        for (at, argument) in arguments.enumerate() {
            let is_read = argument.kind() == ArgumentKind::Tensor && !argument.is_written();
            if !is_read || matches!(self.value(at)?, GraphTypes::Null(_)) {
                continue;
            }
            let Some(both) = all.broadcast(self.sizes(at)?) else { return Some(None) };
            all = both;
        }
        Some(Some(all))
    }

    /// Returns the shape of the tensors of a list, joined along an axis.
    fn joined(&self, budget: &mut u64) -> Expected {
        let items = self.list(0, budget)?;
        let of = |id| sizes(self.site.tensor(u32::try_from(id).ok()?)?);
        let first = of(items.get(0)?)?;
        let Some(axis) = self.axis(1, first)? else { return Some(None) };
        let mut sum = 0i64;
        for id in items {
            let sizes = of(id)?;
            sum = sum.saturating_add(sizes.at(axis).unwrap_or_default());
            let mut both = sizes.all().iter().zip(first.all()).enumerate();
            if sizes.len != first.len || both.any(|(nth, (own, of))| nth != axis && own != of) {
                return Some(None);
            }
        }
        Some(first.with_axis(axis, |_| Some(sum)))
    }

    /// Returns the number of parts of a split; `Some(None)` if the numbers do not make the whole.
    fn parts(&self) -> Option<Option<u64>> {
        let first = self.sizes(0)?;
        let Some(axis) = self.axis(2, first)? else { return Some(None) };
        let whole = first.at(axis)?;
        let sizes = self.numbers(1)?;
        if self.operator.shape == ShapeRule::SplitWithSizes {
            let sum = sizes.all().iter().try_fold(0i64, |sum, size| sum.checked_add(*size));
            return Some((sum == Some(whole)).then_some(wide(sizes.len)));
        }
        let size = sizes.first().and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0);
        Some(size.map(|size| whole.unsigned_abs().div_ceil(size)))
    }

    /// Returns the shape without the listed axes, or with a size of 1 there. No list stands for all axes.
    fn reduced(&self, first: Sizes, keeps: bool) -> Expected {
        let axes = self.numbers(1)?;
        let mut is_reduced = [axes.len == 0; MOST];
        for axis in axes.all() {
            let Some(axis) = wrapped(*axis, first.all().len()) else { return Some(None) };
            *is_reduced.get_mut(axis)? = true;
        }
        let is_reduced = |axis: usize| is_reduced.get(axis) == Some(&true);
        Some(match keeps {
            true => first.map(&mut |nth, size| Some(if is_reduced(nth) { 1 } else { size })),
            false => first.without(is_reduced),
        })
    }

    fn convolution(&self, first: Sizes) -> Expected {
        let weights = self.sizes(1)?;
        let [strides, pads, dilations] = [self.numbers(3)?, self.numbers(4)?, self.numbers(5)?];
        let (is_transposed, more, groups) = (self.flag(6)?, self.numbers(7)?, self.number(8)?);
        let mut kernel = Numbers::default();
        for size in weights.all().iter().skip(2) {
            kernel.push((*size).into())?;
        }
        let (own, others) = (weights.at(0)?, weights.at(1)?);
        let (inputs, outputs) = match is_transposed {
            true => (own, others.checked_mul(groups)?),
            false => (others.checked_mul(groups)?, own),
        };
        if weights.len != first.len || first.at(1) != Some(inputs) {
            return Some(None);
        }
        let windows = Windows { kernel, strides, pads, dilations, rounds_up: false };
        let shape = match is_transposed {
            true => windows.under(first, more),
            false => windows.over(first),
        };
        Some(shape.and_then(|shape| shape.with_axis(1, |_| Some(outputs))))
    }

    fn pool(&self, first: Sizes, is_maximum: bool) -> Expected {
        let [kernel, strides, pads] = [self.numbers(1)?, self.numbers(2)?, self.numbers(3)?];
        // An average has no dilation.
        let (dilations, rounds_up) = match is_maximum {
            true => (self.numbers(4)?, self.flag(5)?),
            false => (Numbers::default(), self.flag(4)?),
        };
        // Without strides, windows lie side by side.
        let strides = if strides.len == 0 { kernel } else { strides };
        Some(Windows { kernel, strides, pads, dilations, rounds_up }.over(first))
    }
}

/// Returns the shape that a tensor is expanded to: -1 keeps a size.
fn expanded(first: Sizes, to: Numbers) -> Option<Sizes> {
    let missing = to.len.checked_sub(first.all().len())?;
    to.all().iter().enumerate().try_fold(Sizes::default(), |all, (nth, to)| {
        all.with(match (nth.checked_sub(missing).map(|nth| first.at(nth)), *to) {
            (None, to) => to,
            (Some(size), -1) => size?,
            (Some(size), to) => Some(to).filter(|to| size == Some(1) || size == Some(*to))?,
        })
    })
}

/// Returns the shape with its axes in another order, each of which occurs once.
fn permuted(first: Sizes, order: Numbers) -> Option<Sizes> {
    let mut seen = [false; MOST];
    (order.len == first.all().len()).then_some(first)?.map(&mut |nth, _| {
        let from = wrapped(*order.all().get(nth)?, order.len)?;
        let is_new = !core::mem::replace(seen.get_mut(from)?, true);
        first.at(from).filter(|_| is_new)
    })
}

/// Returns the shape of the product with a matrix, or with a list of as many matrices.
fn product(one: Sizes, other: Sizes) -> Option<Sizes> {
    let ([outer @ .., inner], [other_outer @ .., other_inner, columns]) = (one.all(), other.all())
    else {
        return None;
    };
    let lists = outer.split_last().map(|(_, lists)| lists);
    let fits = inner == other_inner && (other_outer.is_empty() || lists == Some(other_outer));
    fits.then_some(())?;
    one.with_last((*columns).into())
}

/// Returns the shape of the transposed matrix; `None` for other tensors.
fn transposed(matrix: Sizes) -> Option<Sizes> {
    let [rows, columns] = matrix.array()?;
    Sizes::default().with(columns)?.with(rows)
}

/// Returns how many elements of a dimension are in a range with a step. Ends may count from the end of the dimension,
/// and lie outside.
fn kept(size: i64, [start, end]: [Option<i64>; 2], step: i64) -> Option<i64> {
    let inside = |end: i64| if end < 0 { end.saturating_add(size) } else { end }.clamp(0, size);
    let (start, end) = (inside(start.unwrap_or(0)), inside(end.unwrap_or(size)));
    let len = u64::try_from(end.saturating_sub(start)).unwrap_or_default();
    let step = u64::try_from(step).ok().filter(|step| *step > 0)?;
    i64::try_from(len.div_ceil(step)).ok()
}
