//! The operators of TOSA in SPIR-V code: the instructions of `TOSA.001000.1`.
//!
//! The order of operands is that of `extinst.tosa.001000.1.grammar.json` in Khronos' SPIRV-Headers, which numbers the
//! operators as TOSA's FlatBuffer does, from 0 on.

use pte_schema::tosa::Op;

/// The name of an operator, and the names of its operands. The last operand of `CONCAT` may repeat.
pub(super) type TosaInstruction = (&'static str, &'static [&'static str]);

/// Returns the operator with a number.
pub(super) fn instruction(number: u32) -> Option<TosaInstruction> {
    let operands = OPERANDS.get(usize::try_from(number).ok()?)?;
    Some((Op(number.checked_add(1)?).name()?, operands))
}

/// The operands of each operator.
static OPERANDS: [&[&str]; 66] = [
    EXTREME_OF,
    &["kernel", "stride", "pad", "acc_type", "input", "input_zp", "output_zp"],
    CONVOLUTION,
    CONVOLUTION,
    CONVOLUTION,
    &["inverse", "local_bound", "input_real", "input_imag"],
    &["A", "B", "A_zp", "B_zp"],
    &["kernel", "stride", "pad", "nan_mode", "input"],
    &["local_bound", "input_real"],
    &[
        "out_pad",
        "stride",
        "acc_type",
        "local_bound",
        "input",
        "weight",
        "bias",
        "input_zp",
        "weight_zp",
    ],
    &["min_val", "max_val", "nan_mode", "input"],
    INPUT,
    INPUT,
    INPUT,
    TWO,
    &["round", "input1", "input2"],
    TWO,
    TWO,
    TWO,
    TWO,
    TWO,
    TWO,
    TWO,
    TWO,
    TWO,
    EXTREME,
    EXTREME,
    &["input1", "input2", "shift"],
    TWO,
    TWO,
    &["input1", "table"],
    ONE,
    ONE,
    ONE,
    ONE,
    ONE,
    ONE,
    ONE,
    ONE,
    ONE,
    &["input1", "input1_zp", "output_zp"],
    ONE,
    ONE,
    ONE,
    &["input1", "input2", "input3"],
    TWO,
    TWO,
    TWO,
    REDUCTION,
    REDUCTION,
    EXTREME_OF,
    EXTREME_OF,
    REDUCTION,
    REDUCTION,
    &["axis", "input1"],
    &["input1", "padding", "pad_const"],
    &["input1", "shape"],
    &["axis", "input1"],
    &["input1", "start", "size"],
    &["input1", "multiples"],
    &["perms", "input1"],
    &["values", "indices"],
    &["values_in", "indices", "input"],
    &["mode", "input", "scale", "offset", "border"],
    INPUT,
    &[
        "scale32",
        "rounding_mode",
        "per_channel",
        "input_unsigned",
        "output_unsigned",
        "input",
        "multiplier",
        "shift",
        "input_zp",
        "output_zp",
    ],
];

const ONE: &[&str] = &["input1"];
const TWO: &[&str] = &["input1", "input2"];
const CONVOLUTION: &[&str] = &[
    "pad",
    "stride",
    "dilation",
    "acc_type",
    "local_bound",
    "input",
    "weight",
    "bias",
    "input_zp",
    "weight_zp",
];
const REDUCTION: &[&str] = &["axis", "input"];
const INPUT: &[&str] = &["input"];
const EXTREME: &[&str] = &["nan_mode", "input1", "input2"];
const EXTREME_OF: &[&str] = &["axis", "nan_mode", "input"];
