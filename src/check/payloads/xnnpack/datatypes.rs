//! The datatypes that the backend has kernels for, by operator.

use pte_schema::xnnpack::XNNDatatype;

/// Short names of datatypes, for the tables here.
#[rustfmt::skip]
mod short {
    use super::XNNDatatype;
    pub(super) const F32: XNNDatatype = XNNDatatype::xnn_datatype_fp32;
    pub(super) const F16: XNNDatatype = XNNDatatype::xnn_datatype_fp16;
    pub(super) const BF16: XNNDatatype = XNNDatatype::xnn_datatype_bf16;
    pub(super) const I32: XNNDatatype = XNNDatatype::xnn_datatype_int32;
    pub(super) const QS8: XNNDatatype = XNNDatatype::xnn_datatype_qint8;
    pub(super) const QU8: XNNDatatype = XNNDatatype::xnn_datatype_quint8;
    pub(super) const QD8: XNNDatatype = XNNDatatype::xnn_datatype_qdint8;
    pub(super) const QC8: XNNDatatype = XNNDatatype::xnn_datatype_qcint8;
    pub(super) const QC4: XNNDatatype = XNNDatatype::xnn_datatype_qcint4;
    pub(super) const QB4: XNNDatatype = XNNDatatype::xnn_datatype_qbint4;
    pub(super) const QS32: XNNDatatype = XNNDatatype::xnn_datatype_qint32;
    pub(super) const QC32: XNNDatatype = XNNDatatype::xnn_datatype_qcint32;
}
use short::{BF16, F16, F32, I32, QB4, QC4, QC8, QC32, QD8, QS8, QS32, QU8};

/// A valid combination of datatypes of a layer: the input, the filter, the bias (any of a list),
/// and the output.
type Layer = (XNNDatatype, XNNDatatype, &'static [XNNDatatype], XNNDatatype);

#[rustfmt::skip]
const FULLY_CONNECTED: &[Layer] = &[
    (F32, F32, &[F32], F32), (F16, F32, &[F32], F16),
    (F16, F16, &[F16, F32], F16), (F32, F16, &[F16, F32], F32),
    (BF16, BF16, &[F32], F32), (BF16, BF16, &[F32], BF16),
    (F32, QC8, &[F32], F32), (F32, QC4, &[F32], F32),
    (QD8, QC8, &[F32], F32), (QD8, QC4, &[F32], F32), (QD8, QB4, &[F32], F32),
    (QD8, QC8, &[F32], F16), (QD8, QC4, &[F32], F16), (QD8, QB4, &[F32], F16),
    (QD8, QB4, &[F32], BF16),
    (QS8, QC8, &[QC32, QS32], QS8), (QS8, QC4, &[QC32, QS32], QS8),
    (QS8, QS8, &[QS32], QS8), (QU8, QU8, &[QS32], QU8),
];

#[rustfmt::skip]
const CONV2D: &[Layer] = &[
    (F32, F32, &[F32], F32), (F16, F32, &[F32], F16),
    (F16, F16, &[F16, F32], F16), (F32, F16, &[F16, F32], F32),
    (QS8, QS8, &[QS32], QS8), (QS8, QC8, &[QC32], QS8), (QU8, QU8, &[QS32], QU8),
    (QD8, QC8, &[F32], F32), (QD8, QC8, &[F32], F16),
];

#[rustfmt::skip]
const DEPTHWISE: &[Layer] = &[
    (F32, F32, &[F32], F32), (F16, F32, &[F32], F16),
    (F16, F16, &[F16, F32], F16), (F32, F16, &[F16, F32], F32),
    (QS8, QS8, &[QS32], QS8), (QS8, QC8, &[QC32], QS8), (QU8, QU8, &[QS32], QU8),
];

#[rustfmt::skip]
const CONV_TRANSPOSE: &[Layer] = &[
    (F32, F32, &[F32], F32), (F16, F32, &[F32], F16), (F32, F16, &[F16, F32], F32),
    (QS8, QS8, &[QS32], QS8), (QS8, QC8, &[QC32], QS8), (QU8, QU8, &[QS32], QU8),
    (QD8, QC8, &[F32], F32),
];

#[rustfmt::skip]
const MATRIX_MULTIPLY: &[[XNNDatatype; 3]] = &[
    [F32, F32, F32], [F16, F16, F16], [QS8, QS8, QS8], [BF16, BF16, F32],
    [QD8, QC8, F32], [F32, QC8, F32],
];

/// The conversions `[from, to]` where `to` is a datatype that elementwise nodes do not take.
const CONVERT: &[[XNNDatatype; 2]] = &[[F32, QD8], [F16, QD8], [QS8, QC8]];

/// The layers with filters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerKind {
    FullyConnected,
    Conv2d,
    Depthwise,
    ConvTranspose,
}

/// Returns whether a layer has a kernel for these datatypes.
pub(super) fn takes_layer(
    kind: LayerKind,
    input: XNNDatatype,
    filter: XNNDatatype,
    bias: Option<XNNDatatype>,
    output: XNNDatatype,
) -> bool {
    let rows = match kind {
        LayerKind::FullyConnected => FULLY_CONNECTED,
        LayerKind::Conv2d => CONV2D,
        LayerKind::Depthwise => DEPTHWISE,
        LayerKind::ConvTranspose => CONV_TRANSPOSE,
    };
    rows.iter().any(|&(i, f, biases, o)| {
        (i, f, o) == (input, filter, output) && bias.is_none_or(|bias| biases.contains(&bias))
    })
}

/// Returns whether a matrix multiplication has a kernel for these datatypes.
pub(super) fn takes_matrices(datatypes: [XNNDatatype; 3]) -> bool {
    MATRIX_MULTIPLY.contains(&datatypes)
}

/// Returns whether a conversion has a kernel for these datatypes.
pub(super) fn takes_conversion(datatypes: [XNNDatatype; 2]) -> bool {
    let [from, to] = datatypes;
    is_elementwise(from) && is_elementwise(to) || CONVERT.contains(&datatypes)
}

/// Returns whether values of a datatype need no quant_params.
#[inline]
pub(super) fn is_unquantized(datatype: XNNDatatype) -> bool {
    matches!(datatype, F32 | F16 | BF16 | I32 | XNNDatatype::xnn_datatype_pfp32)
}

/// Returns whether elementwise nodes take a datatype.
pub(super) fn is_elementwise(datatype: XNNDatatype) -> bool {
    datatype == I32 || is_float_or_quantized(datatype)
}

/// Returns whether elementwise nodes that compute a real function, such as a sine, take a datatype.
pub(super) fn is_float_or_quantized(datatype: XNNDatatype) -> bool {
    [F32, F16, BF16, QS8, QU8].contains(&datatype)
}

/// Returns whether a datatype is f32 or f16.
pub(super) fn is_float(datatype: XNNDatatype) -> bool {
    [F32, F16].contains(&datatype)
}

/// Returns whether a datatype is f32, f16, qint8 or quint8.
pub(super) fn is_float_or_byte(datatype: XNNDatatype) -> bool {
    [F32, F16, QS8, QU8].contains(&datatype)
}

/// Returns whether nodes that move elements take a datatype: not those of 4 bits, and not qdint8.
pub(super) fn is_movable(datatype: XNNDatatype) -> bool {
    ![QC4, QB4, QD8].contains(&datatype)
}

/// Returns whether the datatypes are those of a maximum pooling with indices.
pub(super) fn takes_indices(datatypes: [XNNDatatype; 3]) -> bool {
    datatypes == [F32, F32, I32]
}
