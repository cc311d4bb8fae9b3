//! What kernels ask of the elements of a tensor and do not check, or check by aborting (format.md §6.10).

use crate::schema::scalar::ScalarType;

/// Arguments whose elements decide whether a kernel of the official runtime crashes.
pub(crate) struct ContentTerm {
    /// The operator's full name.
    pub(crate) operator: &'static str,
    /// The argument whose elements are read.
    pub(crate) arg: u32,
    /// The range that they must lie in.
    pub(crate) range: ElementRange,
}

/// A range of elements; other arguments give its bounds.
#[derive(Clone, Copy)]
pub(crate) enum ElementRange {
    /// A row of the tensor at this argument: its first dimension.
    RowOf(u32),
    /// An element of one plane of the tensor at this argument, its last two dimensions; or −1.
    PlaneOf(u32),
    /// A finite number, for a FLOAT tensor.
    Finite,
    /// Between the Ints at two arguments, where the tensor at `input` is CHAR and that at `out` is FLOAT.
    Between { least: u32, greatest: u32, input: u32, out: u32 },
}

/// The dtypes of indices and zero points, and of inputs that must be finite.
pub(crate) const ELEMENTS: &[ScalarType] = &[ScalarType::INT, ScalarType::LONG, ScalarType::FLOAT];

/// Returns what is asked of the operator of that full name; most ask nothing.
pub(crate) fn content_term(operator: &str) -> Option<&'static ContentTerm> {
    TERMS.iter().find(|term| term.operator == operator)
}

static TERMS: &[ContentTerm] = &[
    ContentTerm {
        operator: "aten::max_pool2d_with_indices_backward.grad_input",
        arg: 7,
        range: ElementRange::PlaneOf(8),
    },
    finite("quantized_decomposed::choose_qparams.Tensor_out"),
    finite("quantized_decomposed::choose_qparams_per_token_asymmetric.out"),
    dequantize("quantized_decomposed::dequantize_per_channel.out", 4, 8),
    dequantize("quantized_decomposed::dequantize_per_token.out", 3, 7),
    embedding("quantized_decomposed::embedding_2bit.dtype_out"),
    embedding("quantized_decomposed::embedding_2bit.out"),
    embedding("quantized_decomposed::embedding_4bit.dtype_out"),
    embedding("quantized_decomposed::embedding_4bit.out"),
    embedding("quantized_decomposed::embedding_byte.dtype_out"),
    embedding("quantized_decomposed::embedding_byte.out"),
];

const fn finite(operator: &'static str) -> ContentTerm {
    ContentTerm { operator, arg: 0, range: ElementRange::Finite }
}

const fn embedding(operator: &'static str) -> ContentTerm {
    ContentTerm { operator, arg: 5, range: ElementRange::RowOf(0) }
}

const fn dequantize(operator: &'static str, least: u32, out: u32) -> ContentTerm {
    let greatest = least.saturating_add(1);
    ContentTerm {
        operator,
        arg: 2,
        range: ElementRange::Between { least, greatest, input: 0, out },
    }
}
