//! The shapes of an operator's operands.

use alloc::string::String;

use super::attributes::array;
use super::operand::{Attributes, Naming, Operand, Operator};
use super::operators::Shapes;
use crate::payloads::sizes::Sizes;
use pte_flat::bytes::index;
use pte_flat::cost;
use pte_schema::tosa::{DType, Op};

/// The pads of an image, and the strides and dilations of its windows.
type Steps = (([i64; 4], [i64; 2]), [i64; 2]);

/// Returns what is wrong with the shapes of operands.
pub(super) fn unfit(operator: &Operator<'_>) -> Option<String> {
    let Operator { form, naming, attributes, inputs, outputs, .. } = *operator;
    let operands = Operands { attributes, inputs };
    let differs = |one: &Operand<'_>, other: &Operand<'_>| {
        let sizes = one.sizes.zip(other.sizes);
        one.dtype != other.dtype || sizes.is_some_and(|(one, other)| one.all() != other.all())
    };
    match form.shapes {
        Shapes::If => {
            let condition = operands.sizes(0).filter(|sizes| sizes.elements() != 1)?;
            return Some(format!("input 0 has the shape {condition}: expected one element"));
        }
        Shapes::Loop => {
            cost::charge(inputs.len());
            let mut pairs = inputs.iter().zip(outputs).enumerate();
            let (nth, _) = pairs.find(|(_, (input, output))| differs(input, output))?;
            return Some(format!("output {nth} has another datatype or shape than input {nth}"));
        }
        Shapes::Fourier | Shapes::RealFourier
            if outputs.windows(2).any(|pair| {
                pair.iter().skip(1).zip(pair).any(|(one, other)| differs(one, other))
            }) =>
        {
            return Some("the outputs have different datatypes or shapes".into());
        }
        _ => {}
    }
    if let Some(axes) = operands.sizes(0).map(|first| first.len)
        && operands.axis(axes.into()) == Some(None)
    {
        return Some(format!("the axis is not one of {axes}"));
    }
    for nth in form.types.flat {
        let Some(sizes) = operands.sizes((*nth).into()) else { continue };
        if sizes.len != 1 {
            return Some(format!("input {nth} has the shape {sizes}: expected one dimension"));
        }
    }
    if let Some(last) = operands.sizes(0).and_then(|first| first.all().last().copied())
        && let Some(block) = attributes.and_then(|attributes| attributes.number("block_size"))
        && i64::from(last).checked_rem(block).is_some_and(|rest| rest != 0)
    {
        return Some(format!("the last size is {last}: expected a multiple of {block}"));
    }
    if form.op == Op::RESCALE
        && let Some(wrong) = operands.scales()
    {
        return Some(wrong);
    }
    if form.op == Op::TABLE
        && let Some(wrong) = entries(&operands)
    {
        return Some(wrong);
    }
    // An operator that only compares has no output.
    let output = outputs.first().or(inputs.first())?;
    let (first, found) = (operands.sizes(0)?, output.sizes?);
    let mut expected = operands.expected(form.shapes, first, found)?;
    if naming == Naming::Code && expected.is_some_and(|expected| expected.len == 0) {
        // A scalar has one dimension in code.
        expected = Sizes::default().with(1);
    }
    if expected.is_some_and(|expected| expected.all() == found.all()) {
        return None;
    }
    Some(match expected {
        Some(expected) => format!("the output has the shape {found}: expected {expected}"),
        None => "no output has a shape that fits the inputs".into(),
    })
}

/// The operands of an operator.
struct Operands<'o> {
    attributes: Option<&'o dyn Attributes>,
    inputs: &'o [Operand<'o>],
}

impl Operands<'_> {
    fn sizes(&self, nth: usize) -> Option<Sizes> {
        self.inputs.get(nth)?.sizes
    }

    /// Returns a number of a constant shape. The reference model reads the lower half of it.
    fn number(&self, nth: usize, of: usize) -> Option<i64> {
        self.whole_number(nth, of).map(|number| number << 32 >> 32)
    }

    /// Returns a number of a constant shape.
    fn whole_number(&self, nth: usize, of: usize) -> Option<i64> {
        self.inputs.get(nth)?.numbers?.get(of)
    }

    /// Returns whether an input is a constant shape of `len` numbers; `None` if the shape is not known.
    fn has_numbers(&self, nth: usize, len: usize) -> Option<bool> {
        Some(self.inputs.get(nth)?.numbers?.len() == len)
    }

    /// Returns the numbers of a constant shape; `None` if it is not known, and `Some(None)` if it has another length.
    fn numbers<const N: usize>(&self, nth: usize) -> Option<Option<[i64; N]>> {
        let is_right = self.has_numbers(nth, N)?;
        let mut out = [0; N];
        for (of, out) in out.iter_mut().enumerate() {
            *out = self.number(nth, of).unwrap_or_default();
        }
        Some(is_right.then_some(out))
    }

    fn list<const N: usize>(&self, name: &str) -> Option<[i64; N]> {
        array(self.attributes?, name)
    }

    /// Returns the shape of an output whose first input has the shape `first`; `None` if it is not known, and
    /// `Some(None)` if the inputs fit no output. `found` is the output's.
    fn expected(&self, shapes: Shapes, first: Sizes, found: Sizes) -> Option<Option<Sizes>> {
        let axes = usize::from(first.len);
        Some(match shapes {
            Shapes::Any | Shapes::If | Shapes::Loop => return None,
            Shapes::Same => Some(first),
            Shapes::Equal => {
                let others = self.inputs.iter().filter_map(|input| input.sizes);
                let is_one = others.into_iter().all(|sizes| sizes.all() == first.all());
                is_one.then_some(first)
            }
            Shapes::Elements => (first.elements() == found.elements()).then_some(found),
            Shapes::Broadcast(count) => {
                let others = self.inputs.get(1..count.into()).unwrap_or_default();
                let others = || others.iter().map(|other| other.sizes);
                if others().any(|other| other.is_none()) {
                    return None;
                }
                others().flatten().try_fold(first, |all, other| {
                    if all.len == other.len { all.broadcast(other) } else { None }
                })
            }
            Shapes::Reduce => self.axis(axes)?.and_then(|axis| first.with_axis(axis, |_| Some(1))),
            Shapes::ArgMax => self.axis(axes)?.and_then(|axis| first.without(|nth| nth == axis)),
            Shapes::Concat => {
                // Shapes have one dimension.
                let axis = self.axis(axes).unwrap_or(Some(0));
                let mut sum = 0;
                for input in self.inputs {
                    let sizes = input.sizes?;
                    let at = sizes.all().get(axis.unwrap_or_default()).copied();
                    sum = i64::saturating_add(sum, at.unwrap_or_default().into());
                    let mut both = sizes.all().iter().zip(first.all()).enumerate();
                    if sizes.len != first.len
                        || both.any(|(nth, (own, of))| Some(nth) != axis && own != of)
                    {
                        return Some(None);
                    }
                }
                axis.and_then(|axis| first.with_axis(axis, |_| Some(sum)))
            }
            Shapes::Reshape => {
                let last = self.inputs.len().saturating_sub(1);
                let is_known = self.has_numbers(last, found.len.into());
                let shape = match is_known {
                    Some(true) => found.map(&mut |nth, _| self.number(last, nth)),
                    Some(false) => None,
                    None => Some(found),
                };
                shape.filter(|shape| shape.elements() == first.elements())
            }
            Shapes::Transpose => {
                let perms = self.attributes?.list("perms")?;
                let mut seen = 0u32;
                (perms.len() == axes).then_some(first).and_then(|first| {
                    first.map(&mut |nth, _| {
                        let from = u32::try_from(perms.get(nth)?).ok()?;
                        let bit = 1u32.checked_shl(from).filter(|bit| seen & bit == 0)?;
                        seen |= bit;
                        first.all().get(index(from)).map(|size| (*size).into())
                    })
                })
            }
            Shapes::Matmul => matmul(first, self.sizes(1)?),
            Shapes::MatmulTransposed(second) => {
                matmul_transposed(first, self.sizes(second.into())?)
            }
            Shapes::ScaledConv => {
                let (pads, strides) = (self.numbers::<4>(5)?, self.numbers::<2>(6)?);
                let parameters = pads.zip(strides).zip(self.numbers::<2>(7)?);
                self.scaled_convolution(first, self.sizes(2)?, parameters)
            }
            Shapes::Fourier => {
                let is_same = self.sizes(1).is_none_or(|second| second.all() == first.all());
                fourier(first).filter(|_| is_same).map(|_| first)
            }
            Shapes::RealFourier => fourier(first).and_then(|[batches, rows, columns]| {
                let columns = (columns / 2).checked_add(1)?;
                Sizes::default().with(batches)?.with(rows)?.with(columns)
            }),
            Shapes::Conv | Shapes::Depthwise | Shapes::TransposedConv => {
                let weights = self.sizes(1)?;
                let bias = self.sizes(2).unwrap_or_default().elements();
                let shape = self.convolution(shapes, first, weights);
                // A bias may have one number for all channels.
                let channels = shape.and_then(|shape| u64::try_from(*shape.all().last()?).ok());
                shape.filter(|_| bias == 1 || Some(bias) == channels)
            }
            Shapes::Pool => {
                pool(first, self.list("kernel")?, self.list("stride")?, &self.list("pad")?)
            }
            Shapes::AdaptivePool(at) => {
                let numbers = |after: usize| usize::from(at).checked_add(after);
                let (kernel, strides) = (self.numbers(numbers(0)?)?, self.numbers(numbers(1)?)?);
                let pads = self.numbers(numbers(2)?)?;
                kernel
                    .zip(strides)
                    .zip(pads)
                    .and_then(|((kernel, strides), pads)| pool(first, kernel, strides, &pads))
            }
            Shapes::Pad => self.change(first, &[(1, 2)], &mut |nth, size| {
                let before = nth.checked_mul(2)?;
                let pads = [self.number(1, before)?, self.number(1, before.checked_add(1)?)?];
                let [before, after] = pads.map(|pad| Some(pad).filter(|pad| *pad >= 0));
                size.checked_add(before?)?.checked_add(after?)
            })?,
            Shapes::Slice => self.change(first, &[(1, 1), (2, 1)], &mut |nth, size| {
                let [start, count] = [self.number(1, nth)?, self.number(2, nth)?];
                (start >= 0 && count > 0 && start.checked_add(count)? <= size).then_some(count)
            })?,
            Shapes::Tile => self.change(first, &[(1, 1)], &mut |nth, size| {
                size.checked_mul(self.number(1, nth)?)
            })?,
            Shapes::Resize => {
                let known = [(1, 4), (2, 2), (3, 2)].map(|(nth, len)| self.has_numbers(nth, len));
                if known.into_iter().any(|known| known.is_none()) {
                    return None;
                }
                first.map(&mut |nth, size| match nth {
                    1 | 2 => self.resized(nth.checked_sub(1)?, size),
                    _ => Some(size),
                })
            }
            Shapes::Gather => gather(first, self.sizes(1)?),
        })
    }

    /// Applies `change` to each axis of `first`, and returns the new shape. Each pair in `shapes` is the index of an
    /// input and how many numbers it must have for each axis. Returns `None` if an input is no constant shape, and
    /// `Some(None)` if it has another length.
    fn change(
        &self,
        first: Sizes,
        shapes: &[(usize, usize)],
        change: &mut dyn FnMut(usize, i64) -> Option<i64>,
    ) -> Option<Option<Sizes>> {
        for (nth, each) in shapes {
            if !self.has_numbers(*nth, usize::from(first.len).saturating_mul(*each))? {
                return Some(None);
            }
        }
        Some(first.map(change))
    }

    /// Returns the axis of the attributes; `None` without one, and `Some(None)` if it is not less than `axes`.
    fn axis(&self, axes: usize) -> Option<Option<usize>> {
        let axis = usize::try_from(self.attributes?.number("axis")?);
        Some(axis.ok().filter(|axis| *axis < axes))
    }

    /// Returns the shape of a convolution's output. The first size is the number of batches, and the last one
    /// that of channels.
    fn convolution(&self, shapes: Shapes, first: Sizes, weights: Sizes) -> Option<Sizes> {
        let (channels, kernel) = (first.all().last()?, weights.all());
        if weights.len != first.len || first.len < 4 {
            return None;
        }
        // The rows and columns of depthwise weights come first, and then channels and multipliers.
        let is_depthwise = shapes == Shapes::Depthwise;
        let begin = if is_depthwise { 0 } else { 1 };
        let outputs = match (is_depthwise, kernel) {
            (true, [_, _, own, multiplier]) if own == channels => {
                i64::from(*own).checked_mul((*multiplier).into())?
            }
            (false, [outputs, .., own]) if own == channels => (*outputs).into(),
            _ => return None,
        };
        let window = |axis: usize| kernel.get(axis.checked_add(begin)?).map(|size| (*size).into());
        let shape = match shapes {
            Shapes::TransposedConv => {
                let (pads, strides) = (self.list::<4>("out_pad")?, self.list::<2>("stride")?);
                first.map(&mut |nth, size| {
                    let Some(axis) = nth.checked_sub(1).filter(|axis| *axis < 2) else {
                        return Some(size);
                    };
                    let [before, after] = pair(&pads, axis)?;
                    let last = size.checked_sub(1)?.checked_mul(*strides.get(axis)?)?;
                    last.checked_add(before)?.checked_add(after)?.checked_add(window(axis)?)
                })
            }
            _ if first.len == 4 => {
                let (pads, strides) = (self.list::<4>("pad")?, self.list::<2>("stride")?);
                windows(first, window, (&pads, &strides, &self.list::<2>("dilation")?))
            }
            _ => {
                let (pads, strides) = (self.list::<6>("pad")?, self.list::<3>("stride")?);
                windows(first, window, (&pads, &strides, &self.list::<3>("dilation")?))
            }
        }?;
        shape.with_last(outputs)
    }

    /// Returns the shape of the output of a convolution with these pads, strides and dilations.
    fn scaled_convolution(
        &self,
        first: Sizes,
        weights: Sizes,
        parameters: Option<Steps>,
    ) -> Option<Sizes> {
        let ((pads, strides), dilations) = parameters?;
        let ([_, _, _, channels], [outputs, rows, columns, own]) =
            (first.array()?, weights.array()?);
        let is_right = pads.iter().all(|pad| *pad >= 0) && dilations.iter().all(|one| *one > 0);
        let bias = self.sizes(4).and_then(|bias| i64::try_from(bias.elements()).ok());
        let fits =
            is_right && channels == own && bias.is_none_or(|bias| [1, outputs].contains(&bias));
        let kernel = [rows, columns];
        let shape =
            windows(first, |axis| kernel.get(axis).copied(), (&pads, &strides, &dilations))?;
        shape.with_last(outputs).filter(|_| fits)
    }

    /// Returns the size of an axis that is interpolated.
    fn resized(&self, axis: usize, size: i64) -> Option<i64> {
        let scale = axis.checked_mul(2)?;
        let (up, down) =
            (self.whole_number(1, scale)?, self.whole_number(1, scale.checked_add(1)?)?);
        let (offset, border) = (self.whole_number(2, axis)?, self.whole_number(3, axis)?);
        let most = up.checked_mul(16).filter(|_| (1..=1 << 11).contains(&up))?;
        let is_within = (1..most).contains(&down)
            && (up.checked_neg()?..most).contains(&offset)
            && (most.checked_neg()?..up).contains(&border);
        let last =
            size.checked_sub(1)?.checked_mul(up)?.checked_sub(offset)?.checked_add(border)?;
        places(last, down).filter(|_| is_within)
    }

    /// Returns what is wrong with the scales of a RESCALE: one for all, or one for each channel.
    fn scales(&self) -> Option<String> {
        let first = self.sizes(0)?;
        let is_each = self.attributes?.number("per_channel")? != 0;
        if is_each && first.len == 0 {
            return Some("a tensor without dimensions has no channels".into());
        }
        let channels = first.all().last().map_or(1, |size| size.unsigned_abs().into());
        let need = if is_each { channels } else { 1u64 };
        let other = [1, 2].into_iter().filter_map(|nth| Some(self.sizes(nth)?.elements()));
        let other = other.into_iter().find(|count| *count != need)?;
        Some(format!("there are {other} scales or shifts: expected {need}"))
    }
}

/// Returns what is wrong with the entries of a TABLE: one for each number, and of 16 bits for each 128th.
fn entries(operands: &Operands<'_>) -> Option<String> {
    let table = operands.inputs.get(1)?;
    let need = if table.dtype == DType::INT8 { 256 } else { 513 };
    let count = table.sizes?.elements();
    (count != need).then(|| format!("there are {count} entries: expected {need}"))
}

/// Returns the number of places of a window on each axis between the first and the last. `kernel` gives the size of
/// the window.
fn windows(
    first: Sizes,
    kernel: impl Fn(usize) -> Option<i64>,
    (pads, strides, dilations): (&[i64], &[i64], &[i64]),
) -> Option<Sizes> {
    let axes = usize::from(first.len).checked_sub(2).filter(|axes| *axes == strides.len())?;
    first.map(&mut |nth, size| {
        let Some(axis) = nth.checked_sub(1).filter(|axis| *axis < axes) else {
            return Some(size);
        };
        let [before, after] = pair(pads, axis)?;
        let reach = kernel(axis)?.checked_sub(1)?.checked_mul(*dilations.get(axis)?)?;
        let last = size.checked_sub(1)?.checked_add(before)?.checked_add(after)?;
        places(last.checked_sub(reach)?, *strides.get(axis)?)
    })
}

/// Returns the shape of a pooling's output. A pad is smaller than the kernel.
fn pool(first: Sizes, kernel: [i64; 2], strides: [i64; 2], pads: &[i64; 4]) -> Option<Sizes> {
    let (pairs, _) = pads.as_chunks::<2>();
    let mut axes = kernel.iter().zip(pairs);
    axes.all(|(kernel, pads)| pads.iter().all(|pad| (0..*kernel).contains(pad))).then_some(())?;
    windows(first, |axis| kernel.get(axis).copied(), (pads, &strides, &[1; 2]))
}

/// Returns the numbers of an axis in a list of two for each.
fn pair(list: &[i64], axis: usize) -> Option<[i64; 2]> {
    list.as_chunks().0.get(axis).copied()
}

/// Returns the number of places from 0 to `last` at this distance; `None` if the last place is between two.
fn places(last: i64, stride: i64) -> Option<i64> {
    let is_exact = last >= 0 && stride > 0 && last.checked_rem(stride)? == 0;
    is_exact.then_some(last.checked_div(stride)?.checked_add(1)?)
}

fn matmul(first: Sizes, second: Sizes) -> Option<Sizes> {
    let ([batches, rows, inner], [own, own_inner, columns]) = (first.array()?, second.array()?);
    let fits = (batches, inner) == (own, own_inner);
    fits.then_some(Sizes::default())?.with(batches)?.with(rows)?.with(columns)
}

fn matmul_transposed(first: Sizes, second: Sizes) -> Option<Sizes> {
    let ([batches, rows, inner], [own, columns, own_inner]) = (first.array()?, second.array()?);
    let fits = inner == own_inner && [1, batches].contains(&own);
    fits.then_some(Sizes::default())?.with(batches)?.with(rows)?.with(columns)
}

/// Returns the sizes of a Fourier transform, unless its rows and columns are not powers of two.
fn fourier(first: Sizes) -> Option<[i64; 3]> {
    let is_power = |size: i64| size.unsigned_abs().is_power_of_two();
    first.array().filter(|[_, rows, columns]| is_power(*rows) && is_power(*columns))
}

fn gather(values: Sizes, indices: Sizes) -> Option<Sizes> {
    let ([batches, _, channels], [own, count]) = (values.array()?, indices.array()?);
    (batches == own).then_some(Sizes::default())?.with(batches)?.with(count)?.with(channels)
}
