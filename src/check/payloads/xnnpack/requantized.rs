//! The factor by which a quantized layer scales its sums to its output.
//!
//! The backend computes it in f32 when it creates the layer, and refuses the layer if it is too
//! large. If it changed the graph before, it frees memory twice then, and aborts.

use super::XNNPACK_SCALE;
use super::value::{Quantization, Value};
use crate::rule::Broken;

/// The least factor that is too large for a linear layer or a convolution.
const TOO_LARGE: f32 = 256.0;

/// The largest factor of a product with a constant matrix.
const LARGEST_OF_MATRICES: f32 = 255.0;

/// Judges the scales of a layer with a constant filter. A layer whose input is not quantized, or is
/// quantized when the graph runs, has no factor.
pub(super) fn layer(
    input: &Value<'_>,
    filter: &Value<'_>,
    output: &Value<'_>,
) -> Result<(), Broken> {
    match factor(input, filter, output) {
        Some(factor) if factor >= TOO_LARGE => {
            wrong([input, filter, output], factor, "the backend takes less than 256")
        }
        _ => Ok(()),
    }
}

/// Judges the scales of a product of matrices. The backend checks the factor only if the second
/// matrix is constant.
pub(super) fn matrices(a: &Value<'_>, b: &Value<'_>, output: &Value<'_>) -> Result<(), Broken> {
    match factor(a, b, output).filter(|_| b.constant.is_some()) {
        Some(factor) if !(factor > 0.0 && factor <= LARGEST_OF_MATRICES) => {
            wrong([a, b, output], factor, "the backend takes more than 0 and at most 255")
        }
        _ => Ok(()),
    }
}

/// Returns the factor, computed as the backend does: in f32, the product first. It is that of the
/// channel with the largest scale.
fn factor(input: &Value<'_>, filter: &Value<'_>, output: &Value<'_>) -> Option<f32> {
    Some(scale(input)? * scale(filter)? / scale(output)?)
}

/// Returns the scale of a value, or the largest one of its channels.
fn scale(value: &Value<'_>) -> Option<f32> {
    match value.quantization {
        Quantization::Tensor { scale, .. } => Some(scale),
        Quantization::Channel { largest, .. } => largest,
        _ => None,
    }
}

#[cold]
fn wrong(values: [&Value<'_>; 3], factor: f32, bound: &str) -> Result<(), Broken> {
    let [input, filter, output] = values.map(|value| scale(value).unwrap_or_default());
    let message = format!("the scales {input:?} × {filter:?} ÷ {output:?} are {factor:?}: {bound}");
    Err((&XNNPACK_SCALE, message))
}
