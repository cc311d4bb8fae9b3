//! The operators of TOSA in SPIR-V code: the instructions of `TOSA.001000.1`.
//!
//! The order of operands is that of `extinst.tosa.001000.1.grammar.json` in Khronos' SPIRV-Headers, which numbers the
//! operators as TOSA's FlatBuffer does, from 0 on.

use pte_schema::tosa::Op;

/// An operator, and the names of its operands: attributes, and then inputs. The last operand of `CONCAT` may repeat.
pub(super) type TosaInstruction = (Op, &'static [&'static str]);

/// Returns the operator with a number.
pub(super) fn instruction(number: u32) -> Option<TosaInstruction> {
    let op = Op(number.checked_add(1)?);
    let operands: &[&str] = match op {
        Op::ARGMAX | Op::REDUCE_MAX | Op::REDUCE_MIN => &["axis", "nan_mode", "input"],
        Op::AVG_POOL2D => {
            &["kernel", "stride", "pad", "acc_type", "input", "input_zp", "output_zp"]
        }
        Op::CONV2D | Op::CONV3D | Op::DEPTHWISE_CONV2D => &[
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
        ],
        Op::FFT2D => &["inverse", "local_bound", "input_real", "input_imag"],
        Op::MATMUL => &["A", "B", "A_zp", "B_zp"],
        Op::MAX_POOL2D => &["kernel", "stride", "pad", "nan_mode", "input"],
        Op::RFFT2D => &["local_bound", "input_real"],
        Op::TRANSPOSE_CONV2D => &[
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
        Op::CLAMP => &["min_val", "max_val", "nan_mode", "input"],
        Op::ERF | Op::SIGMOID | Op::TANH | Op::CAST => &["input"],
        Op::ADD
        | Op::BITWISE_AND
        | Op::BITWISE_OR
        | Op::BITWISE_XOR
        | Op::INTDIV
        | Op::LOGICAL_AND
        | Op::LOGICAL_LEFT_SHIFT
        | Op::LOGICAL_RIGHT_SHIFT
        | Op::LOGICAL_OR
        | Op::LOGICAL_XOR
        | Op::POW
        | Op::SUB
        | Op::EQUAL
        | Op::GREATER
        | Op::GREATER_EQUAL => &["input1", "input2"],
        Op::ARITHMETIC_RIGHT_SHIFT => &["round", "input1", "input2"],
        Op::MAXIMUM | Op::MINIMUM => &["nan_mode", "input1", "input2"],
        Op::MUL => &["input1", "input2", "shift"],
        Op::TABLE => &["input1", "table"],
        Op::ABS
        | Op::BITWISE_NOT
        | Op::CEIL
        | Op::CLZ
        | Op::COS
        | Op::EXP
        | Op::FLOOR
        | Op::LOG
        | Op::LOGICAL_NOT
        | Op::RECIPROCAL
        | Op::RSQRT
        | Op::SIN => &["input1"],
        Op::NEGATE => &["input1", "input1_zp", "output_zp"],
        Op::SELECT => &["input1", "input2", "input3"],
        Op::REDUCE_ALL | Op::REDUCE_ANY | Op::REDUCE_PRODUCT | Op::REDUCE_SUM => &["axis", "input"],
        Op::CONCAT | Op::REVERSE => &["axis", "input1"],
        Op::PAD => &["input1", "padding", "pad_const"],
        Op::RESHAPE => &["input1", "shape"],
        Op::SLICE => &["input1", "start", "size"],
        Op::TILE => &["input1", "multiples"],
        Op::TRANSPOSE => &["perms", "input1"],
        Op::GATHER => &["values", "indices"],
        Op::SCATTER => &["values_in", "indices", "input"],
        Op::RESIZE => &["mode", "input", "scale", "offset", "border"],
        Op::RESCALE => &[
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
        _ => return None,
    };
    Some((op, operands))
}
