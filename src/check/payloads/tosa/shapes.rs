//! The datatypes and shapes of an operator's operands.

use alloc::format;
use alloc::string::String;

use super::operators::{Form, Shapes, Types};
use super::{TosaOperator, Value};
use pte_flat::cost;
use pte_flat::view::Vector;
use pte_schema::tosa::DType;
use pte_schema::tosa::view::Attribute;

/// The most dimensions that are read: the specification's most.
const MOST_DIMENSIONS: usize = 16;

/// Returns the bytes of a tensor; `None` if they are not known.
pub(super) fn bytes(dtype: DType, sizes: Vector<'_, i32>) -> Option<u64> {
    let bits = match dtype {
        DType::BOOL | DType::INT8 | DType::FP8E4M3 | DType::FP8E5M2 => 8,
        DType::INT16 | DType::FP16 | DType::BF16 => 16,
        DType::INT32 | DType::FP32 => 32,
        DType::INT64 => 64,
        _ => return None,
    };
    Some(elements(sizes)?.checked_mul(bits)? / 8)
}

/// Returns the number of elements; `None` if a size is not known.
fn elements(sizes: Vector<'_, i32>) -> Option<u64> {
    sizes.iter().try_fold(1u64, |count, size| count.checked_mul(u64::try_from(size).ok()?))
}

/// Returns what is wrong with the operands of an operator.
pub(super) fn unfit<'p>(
    form: &Form,
    operator: TosaOperator<'p>,
    inputs: impl Iterator<Item = Option<Value<'p>>> + Clone,
    output: Value<'p>,
) -> Option<String> {
    // Other rules report names without a value.
    if inputs.clone().any(|input| input.is_none()) {
        return None;
    }
    let inputs = inputs.flatten();
    let first = inputs.clone().next()?;
    types(form, inputs.clone(), first.dtype, output.dtype)
        .or_else(|| shapes(form.shapes, operator, inputs, output))
}

fn types<'p>(
    form: &Form,
    mut inputs: impl Iterator<Item = Value<'p>>,
    first: DType,
    output: DType,
) -> Option<String> {
    let wrong = |dtype: DType| Some(format!("unexpected datatype {dtype}"));
    let is_float = [DType::FP32, DType::FP16, DType::BF16].contains(&first);
    if form.types == Types::Float && !is_float || form.types == Types::Bool && first != DType::BOOL
    {
        return wrong(first);
    }
    if form.types == Types::Any {
        return None;
    }
    let expected = match form.types {
        Types::Inputs => output,
        Types::Compare => DType::BOOL,
        _ => first,
    };
    if output != expected {
        return wrong(output);
    }
    let count = match form.types {
        // The third input of a multiplication is a shift.
        Types::Inputs => 2,
        _ => usize::MAX,
    };
    inputs.by_ref().take(count).find(|input| input.dtype != first).and_then(|of| wrong(of.dtype))
}

fn shapes<'p>(
    shapes: Shapes,
    operator: TosaOperator<'p>,
    mut inputs: impl Iterator<Item = Value<'p>> + Clone,
    output: Value<'p>,
) -> Option<String> {
    let out = output.sizes.filter(|sizes| is_known(*sizes))?;
    let all = inputs.clone();
    let first = inputs.next()?.sizes.filter(|sizes| is_known(*sizes))?;
    let is_right = match shapes {
        Shapes::Any => true,
        Shapes::Same => first.iter().eq(out.iter()),
        Shapes::Broadcast(count) => {
            all.clone()
                .take(count)
                .all(|input| input.sizes.is_none_or(|sizes| broadcasts(sizes, out)))
                && (0..out.len()).all(|nth| {
                    let mut sizes = all.clone().take(count).filter_map(|input| input.sizes);
                    sizes.any(|sizes| sizes.get(nth) == out.get(nth))
                })
        }
        Shapes::Reduce => {
            let axis = usize::try_from(axis(operator)?).unwrap_or(usize::MAX);
            let reduced = first.iter().enumerate();
            axis < first.len()
                && reduced.map(|(nth, size)| if nth == axis { 1 } else { size }).eq(out.iter())
        }
        Shapes::Concat => {
            let axis = usize::try_from(axis(operator)?).unwrap_or(usize::MAX);
            let mut sum = 0i64;
            let fits = all.clone().all(|input| {
                cost::charge(out.len());
                let Some(sizes) = input.sizes else { return false };
                sum = sum.saturating_add(sizes.get(axis).unwrap_or_default().into());
                let mut others = sizes.iter().zip(out.iter()).enumerate();
                sizes.len() == out.len()
                    && others.all(|(nth, (own, out))| nth == axis || own == out)
            });
            fits && out.get(axis).is_some_and(|size| i64::from(size) == sum)
        }
        Shapes::Reshape => elements(first)? == elements(out)?,
        Shapes::Transpose => {
            let Some(Attribute::TransposeAttribute(of)) = operator.attribute() else { return None };
            let perms = of.perms().unwrap_or_default();
            let mut seen = 0u32;
            perms.len() == first.len()
                && first.len() == out.len()
                && perms.iter().zip(out.iter()).all(|(from, size)| {
                    let from = usize::try_from(from).unwrap_or(usize::MAX);
                    let bit = u32::try_from(from).ok().and_then(|from| 1u32.checked_shl(from));
                    let is_new = bit.is_some_and(|bit| seen & bit == 0);
                    seen |= bit.unwrap_or_default();
                    is_new && first.get(from) == Some(size)
                })
        }
        Shapes::Matmul => {
            let second = inputs.next()?.sizes?;
            let [n, h, c] = array(first)?;
            let [second_n, second_c, w] = array(second)?;
            (second_n, second_c) == (n, c) && array(out)? == [n, h, w]
        }
        Shapes::Conv2d => conv2d(operator, first, inputs.next()?.sizes?, out)?,
    };
    (!is_right).then(|| "the shapes do not fit".into())
}

/// Returns whether all sizes are known, and few enough to be read for each operand.
fn is_known(sizes: Vector<'_, i32>) -> bool {
    cost::charge(sizes.len().min(MOST_DIMENSIONS));
    sizes.len() <= MOST_DIMENSIONS && sizes.iter().all(|size| size >= 0)
}

fn array<const N: usize>(sizes: Vector<'_, i32>) -> Option<[i32; N]> {
    let mut out = [0; N];
    out.iter_mut().zip(sizes.iter()).for_each(|(out, size)| *out = size);
    (sizes.len() == N).then_some(out)
}

fn broadcasts(sizes: Vector<'_, i32>, out: Vector<'_, i32>) -> bool {
    sizes.len() == out.len()
        && sizes.iter().zip(out.iter()).all(|(own, out)| own == out || own == 1 || own < 0)
}

fn axis(operator: TosaOperator<'_>) -> Option<i32> {
    Some(match operator.attribute()? {
        Attribute::ReduceAllAttribute(of) => of.axis(),
        Attribute::ReduceAnyAttribute(of) => of.axis(),
        Attribute::ReduceMaxAttribute(of) => of.axis(),
        Attribute::ReduceMinAttribute(of) => of.axis(),
        Attribute::ReduceProductAttribute(of) => of.axis(),
        Attribute::ReduceSumAttribute(of) => of.axis(),
        Attribute::ConcatAttribute(of) => of.axis(),
        _ => return None,
    })
}

/// Returns whether the shapes of a convolution fit: batches, rows, columns and channels; the weights have output
/// channels first.
fn conv2d(
    operator: TosaOperator<'_>,
    input: Vector<'_, i32>,
    weights: Vector<'_, i32>,
    out: Vector<'_, i32>,
) -> Option<bool> {
    let Some(Attribute::Conv2dAttribute(of)) = operator.attribute() else { return None };
    let [n, rows, columns, channels] = array(input)?;
    let [out_channels, kernel_rows, kernel_columns, in_channels] = array(weights)?;
    let [pad_top, pad_bottom, pad_left, pad_right] = array(of.pad()?)?;
    let ([stride_y, stride_x], [dilation_y, dilation_x]) =
        (array(of.stride()?)?, array(of.dilation()?)?);
    let size = |size: i32, pads: [i32; 2], kernel: i32, stride: i32, dilation: i32| {
        let [size, before, after, kernel, stride, dilation] =
            [size, pads[0], pads[1], kernel, stride, dilation].map(i64::from);
        let reach = kernel.checked_sub(1)?.checked_mul(dilation)?;
        let last =
            size.checked_sub(1)?.checked_add(before)?.checked_add(after)?.checked_sub(reach)?;
        last.checked_div(stride)?.checked_add(1)
    };
    let y = size(rows, [pad_top, pad_bottom], kernel_rows, stride_y, dilation_y);
    let x = size(columns, [pad_left, pad_right], kernel_columns, stride_x, dilation_x);
    let [out_n, out_rows, out_columns, out_last] = array(out)?;
    Some(
        channels == in_channels
            && (out_n, out_last) == (n, out_channels)
            && (y, x) == (Some(out_rows.into()), Some(out_columns.into())),
    )
}
