//! The datatypes of an operator's operands.

use alloc::string::String;

use super::operand::{Attributes, Operator};
use super::operators::OUT;
use pte_flat::cost;
use pte_schema::tosa::DType as D;
use pte_schema::tosa::Op;

/// Returns what is wrong with the datatypes of operands. `output` is the datatype of the output.
pub(super) fn unfit(operator: &Operator<'_>, output: D) -> Option<String> {
    let Operator { form, naming, is_first, attributes, inputs, .. } = *operator;
    let of = |nth: u8| match nth {
        OUT => Some(output),
        nth => inputs.get(usize::from(nth)).map(|value| value.dtype),
    };
    let unless = |nth: u8, among: &[D]| {
        let is_right = |dtype: &D| among.iter().any(|one| naming.name(*one) == *dtype);
        let dtype = of(nth).filter(|dtype| !is_right(dtype))?;
        let which = if nth == OUT { "the output".into() } else { format!("input {nth}") };
        Some(format!("unexpected datatype {dtype} of {which}"))
    };
    let mut among = form.types.among.iter();
    if let Some(wrong) = among.find_map(|(nth, among)| unless(*nth, among)) {
        return Some(wrong);
    }
    let groups = form.types.same.iter().filter_map(|group| group.split_first());
    for (first, others) in groups {
        let expected = of(*first)?;
        if let Some(wrong) = others.iter().find_map(|nth| unless(*nth, &[expected])) {
            return Some(wrong);
        }
    }
    let input = of(0)?;
    if [Op::CONCAT, Op::CONCAT_SHAPE].contains(&form.op) {
        cost::charge(inputs.len());
        let other = inputs.iter().find(|other| other.dtype != input)?;
        return Some(format!("unexpected datatype {} of an input", other.dtype));
    }
    let mut rows = RESULTS.iter().filter(|row| row.operators.contains(&form.op)).peekable();
    rows.peek()?;
    let row = rows.find(|row| naming.name(row.input) == input);
    if row.is_none() || !is_first && !INTEGERS.contains(&input) {
        return if is_first { unless(0, &[]) } else { None };
    }
    let row = row?;
    let wrong = unless(1, row.second).filter(|_| !row.second.is_empty());
    if let Some(wrong) = wrong.or_else(|| unless(OUT, row.output)) {
        return Some(wrong);
    }
    let attributes = attributes?;
    if form.op == Op::RESCALE {
        return rescale(attributes, &of);
    }
    let sum = attributes.number("acc_type")?;
    let is_right = row.sums.iter().any(|dtype| i64::from(dtype.0) == sum);
    let sum = u32::try_from(sum).map_or(D::UNKNOWN, D);
    (!is_right).then(|| format!("unexpected acc_type {sum}"))
}

/// Returns what is wrong with the flags of a RESCALE.
fn rescale(attributes: &dyn Attributes, of: &dyn Fn(u8) -> Option<D>) -> Option<String> {
    let flag = |name| attributes.number(name) == Some(1);
    let multiplier = if flag("scale32") { D::INT32 } else { D::INT16 };
    let (is_input, is_output) = (flag("input_unsigned"), flag("output_unsigned"));
    let is_narrow = |nth| [Some(D::INT8), Some(D::INT16)].contains(&of(nth));
    if is_input && is_output || (is_input || is_output) && !(is_narrow(0) && is_narrow(OUT)) {
        return Some("unexpected unsigned numbers".into());
    }
    let scale = of(1).filter(|dtype| *dtype != multiplier)?;
    Some(format!("unexpected datatype {scale} of input 1"))
}

/// The datatypes of the other operands of an operator, by that of its first input.
struct Result {
    operators: &'static [Op],
    input: D,
    /// The datatypes of the second input; none if it is not judged.
    second: &'static [D],
    output: &'static [D],
    /// The values of `acc_type`.
    sums: &'static [D],
}

const fn row(
    operators: &'static [Op],
    input: D,
    second: &'static [D],
    output: &'static [D],
    sums: &'static [D],
) -> Result {
    Result { operators, input, second, output, sums }
}

const CONVOLUTIONS: &[Op] = &[Op::CONV2D, Op::CONV3D, Op::DEPTHWISE_CONV2D, Op::TRANSPOSE_CONV2D];
const INTEGERS: &[D] = &[D::INT8, D::INT16, D::INT32, D::INT48];

#[rustfmt::skip]
static RESULTS: &[Result] = &[
    row(CONVOLUTIONS, D::INT8, &[D::INT4, D::INT8], &[D::INT32], &[D::INT32]),
    row(CONVOLUTIONS, D::INT16, &[D::INT8], &[D::INT48], &[D::INT48]),
    row(CONVOLUTIONS, D::FP16, &[D::FP16], &[D::FP16], &[D::FP16, D::FP32]),
    row(CONVOLUTIONS, D::BF16, &[D::BF16], &[D::BF16], &[D::FP32]),
    row(CONVOLUTIONS, D::FP32, &[D::FP32], &[D::FP32], &[D::FP32]),
    row(CONVOLUTIONS, D::FP8E4M3, &[D::FP8E4M3], &[D::FP16], &[D::FP16]),
    row(CONVOLUTIONS, D::FP8E5M2, &[D::FP8E5M2], &[D::FP16], &[D::FP16]),
    row(&[Op::MATMUL, Op::MATMUL_T], D::INT8, &[D::INT8], &[D::INT32], &[]),
    row(&[Op::MATMUL, Op::MATMUL_T], D::INT16, &[D::INT16], &[D::INT48], &[]),
    row(&[Op::MATMUL], D::FP16, &[D::FP16], &[D::FP16, D::FP32], &[]),
    row(&[Op::MATMUL], D::BF16, &[D::BF16], &[D::FP32], &[]),
    row(&[Op::MATMUL], D::FP32, &[D::FP32], &[D::FP32], &[]),
    row(&[Op::MATMUL], D::FP8E4M3, &[D::FP8E4M3], &[D::FP16], &[]),
    row(&[Op::MATMUL], D::FP8E5M2, &[D::FP8E5M2], &[D::FP16], &[]),
    row(&[Op::AVG_POOL2D], D::INT8, &[], &[D::INT8], &[D::INT32]),
    row(&[Op::AVG_POOL2D], D::INT16, &[], &[D::INT16], &[D::INT32]),
    row(&[Op::AVG_POOL2D], D::FP16, &[], &[D::FP16], &[D::FP16, D::FP32]),
    row(&[Op::AVG_POOL2D], D::BF16, &[], &[D::BF16], &[D::FP32]),
    row(&[Op::AVG_POOL2D], D::FP32, &[], &[D::FP32], &[D::FP32]),
    row(&[Op::AVG_POOL2D], D::FP8E4M3, &[], &[D::FP8E4M3], &[D::FP16]),
    row(&[Op::AVG_POOL2D], D::FP8E5M2, &[], &[D::FP8E5M2], &[D::FP16]),
    row(&[Op::TABLE], D::INT8, &[], &[D::INT8], &[]),
    row(&[Op::TABLE], D::INT16, &[], &[D::INT32], &[]),
    row(&[Op::RESIZE], D::INT8, &[], &[D::INT8, D::INT32], &[]),
    row(&[Op::RESIZE], D::INT16, &[], &[D::INT16, D::INT48], &[]),
    row(&[Op::RESIZE], D::FP16, &[], &[D::FP16], &[]),
    row(&[Op::RESIZE], D::BF16, &[], &[D::BF16], &[]),
    row(&[Op::RESIZE], D::FP32, &[], &[D::FP32], &[]),
    row(&[Op::RESIZE], D::FP8E4M3, &[], &[D::FP8E4M3], &[]),
    row(&[Op::RESIZE], D::FP8E5M2, &[], &[D::FP8E5M2], &[]),
    row(&[Op::RESCALE], D::INT8, &[D::INT16, D::INT32], &[D::INT8, D::INT16, D::INT32], &[]),
    row(&[Op::RESCALE], D::INT16, &[D::INT16, D::INT32], &[D::INT8, D::INT16, D::INT32], &[]),
    row(&[Op::RESCALE], D::INT32, &[D::INT16, D::INT32], &[D::INT8, D::INT16, D::INT32], &[]),
    row(&[Op::RESCALE], D::INT48, &[D::INT16], &[D::INT8, D::INT16, D::INT32], &[]),
];
