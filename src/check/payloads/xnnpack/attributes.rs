//! The attributes of nodes that are known without the shapes of a call.

use alloc::string::String;

use super::XNNPACK_ATTRIBUTE;
use super::shape::MOST_DIMENSIONS;
use super::value::Value;
use crate::rule::Broken;
use pte_flat::view::Vector;
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::{
    _XNNNodeConv, _XNNPooling2D, OutputMinMax, XNNArgMaxPooling2d, XNNStaticConstantPad,
    XNNStaticReshape, XNNStaticResizeBilinear2D, XNNStaticSlice, XNNStaticTranspose,
};

/// Pads as TensorFlow does (`XNN_FLAG_TENSORFLOW_SAME_PADDING`).
pub(super) const SAME_PADDING: u32 = 0x4;
/// `XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER`.
const TRANSIENT_BUFFER: u32 = 0x20;
/// Resizes as TensorFlow 1 does (`XNN_FLAG_TENSORFLOW_LEGACY_MODE`).
const LEGACY_MODE: u32 = 0x4;
/// `XNN_FLAG_ALIGN_CORNERS`.
const ALIGN_CORNERS: u32 = 0x8;
/// Stores the filter as inputs by outputs (`XNN_FLAG_TRANSPOSE_WEIGHTS`).
pub(super) const TRANSPOSE_WEIGHTS: u32 = 0x1;
/// Keeps reduced dimensions with the size 1 (`XNN_FLAG_KEEP_DIMS`).
pub(super) const KEEP_DIMS: u32 = 0x40;
/// A flag that no kernel of linear layers accepts.
const NO_LAYER_FLAG: u32 = 0x200;

/// The greatest height and width that a resize takes.
const MOST_PIXELS: u32 = (1 << 24) - 1;

fn wrong<T>(message: String) -> Result<T, Broken> {
    Err((&XNNPACK_ATTRIBUTE, message))
}

/// Checks that none of the numbers is 0.
fn positive(numbers: &[(&str, u32)]) -> Result<(), Broken> {
    match numbers.iter().find(|(_, number)| *number == 0) {
        Some((name, _)) => wrong(format!("{name} is 0")),
        None => Ok(()),
    }
}

/// Judges the range that an output is clamped to.
pub(super) fn range(range: Option<OutputMinMax<'_>>) -> Result<(), Broken> {
    let Some(range) = range else { return Ok(()) };
    let (least, most) = (range.output_min(), range.output_max());
    match least <= most {
        true => Ok(()),
        // A range with NaN is refused as well.
        false => wrong(format!("the output is clamped to {least:?} … {most:?}")),
    }
}

/// Judges the range that an output of fp16 is clamped to by a convolution or an average: the backend
/// rounds both numbers to fp16, and takes no two that are equal then.
pub(super) fn half_range(
    range: Option<OutputMinMax<'_>>,
    output: &Value<'_>,
) -> Result<(), Broken> {
    let Some(range) = range.filter(|_| output.datatype == XNNDatatype::xnn_datatype_fp16) else {
        return Ok(());
    };
    let (least, most) = (range.output_min(), range.output_max());
    match to_half(least) < to_half(most) {
        true => Ok(()),
        false => {
            wrong(format!("the output is clamped to {least:?} … {most:?}, one number of fp16"))
        }
    }
}

/// Rounds a number to the nearest of fp16, and of two as near to the even one.
fn to_half(number: f32) -> f32 {
    // From here on numbers round to infinity: the largest finite one is 65504.
    const TOO_LARGE: f32 = 65520.0;
    if number.abs() >= TOO_LARGE {
        return f32::INFINITY.copysign(number);
    }
    // The bits of an f32 whose last place is that of the result. Adding it rounds the number there.
    let exponent = ((number.to_bits() >> 23) & 0xFF).max(113);
    let unit = f32::from_bits(exponent.saturating_add(13) << 23) * 1.5;
    number + unit - unit
}

pub(super) fn linear(flags: u32) -> Result<(), Broken> {
    match flags & NO_LAYER_FLAG {
        0 => Ok(()),
        _ => wrong(format!("unknown flags {flags:#x}")),
    }
}

pub(super) fn convolution(node: _XNNNodeConv<'_>, may_have_flags: bool) -> Result<(), Broken> {
    positive(&[
        ("kernel_height", node.kernel_height()),
        ("kernel_width", node.kernel_width()),
        ("subsampling_height", node.subsampling_height()),
        ("subsampling_width", node.subsampling_width()),
        ("dilation_height", node.dilation_height()),
        ("dilation_width", node.dilation_width()),
        ("group_input_channels", node.group_input_channels()),
        ("group_output_channels", node.group_output_channels()),
        ("groups", node.groups()),
    ])?;
    let flags = node.flags();
    if may_have_flags && flags & !(SAME_PADDING | TRANSIENT_BUFFER) != 0 {
        return wrong(format!("unknown flags {flags:#x}"));
    }
    let paddings =
        [node.padding_top(), node.padding_right(), node.padding_bottom(), node.padding_left()];
    same_padding(flags, &paddings)
}

fn same_padding(flags: u32, paddings: &[u32]) -> Result<(), Broken> {
    match flags & SAME_PADDING != 0 && paddings.iter().any(|&padding| padding != 0) {
        true => wrong("paddings beside the flag for TensorFlow's padding".into()),
        false => Ok(()),
    }
}

/// Returns the number of output channels per input channel of a depthwise convolution. It must
/// be at least 1.
pub(super) fn multiplier(node: _XNNNodeConv<'_>) -> Result<u32, Broken> {
    let (inputs, outputs) = (node.group_input_channels(), node.group_output_channels());
    match outputs.checked_div(inputs) {
        Some(multiplier @ 1..) => Ok(multiplier),
        _ => wrong(format!("{outputs} output channels of {inputs} input channels in a group")),
    }
}

/// Judges the window of a pooling, whose area must fit 32 bits.
fn window(height: u32, width: u32) -> Result<(), Broken> {
    match height.checked_mul(width) {
        Some(1..) => Ok(()),
        _ => wrong(format!("a window of {height} × {width}")),
    }
}

pub(super) fn pooling(node: _XNNPooling2D<'_>, is_maximum: bool) -> Result<(), Broken> {
    window(node.pooling_height(), node.pooling_width())?;
    positive(&[("stride_height", node.stride_height()), ("stride_width", node.stride_width())])?;
    if is_maximum {
        positive(&[
            ("dilation_height", node.dilation_height()),
            ("dilation_width", node.dilation_width()),
        ])?;
    }
    let paddings =
        [node.padding_top(), node.padding_right(), node.padding_bottom(), node.padding_left()];
    same_padding(node.flags(), &paddings)
}

pub(super) fn argmax(node: XNNArgMaxPooling2d<'_>) -> Result<(), Broken> {
    window(node.pooling_height(), node.pooling_width())?;
    let paddings =
        [node.padding_top(), node.padding_right(), node.padding_bottom(), node.padding_left()];
    same_padding(node.flags(), &paddings)
}

pub(super) fn resize(node: XNNStaticResizeBilinear2D<'_>) -> Result<(), Broken> {
    let (height, width, flags) = (node.new_height(), node.new_width(), node.flags());
    if !(1..=MOST_PIXELS).contains(&height) || !(1..=MOST_PIXELS).contains(&width) {
        return wrong(format!("a new size of {height} × {width}"));
    }
    let both = LEGACY_MODE | ALIGN_CORNERS;
    match flags & !(both | TRANSIENT_BUFFER) != 0 || flags & both == both {
        true => wrong(format!("flags {flags:#x}")),
        false => Ok(()),
    }
}

pub(super) fn transpose(node: XNNStaticTranspose<'_>) -> Result<(), Broken> {
    let perm = node.perm().unwrap_or_default();
    if perm.is_empty() || perm.len() > MOST_DIMENSIONS {
        return wrong(format!("a permutation of {} dimensions", perm.len()));
    }
    match (0u32..).take(perm.len()).all(|dimension| perm.iter().any(|item| item == dimension)) {
        true => Ok(()),
        false => wrong(format!("{perm:?} is no permutation")),
    }
}

/// Judges the length of a list with an element for each dimension.
fn few(name: &str, list: Vector<'_, u32>) -> Result<(), Broken> {
    match list.len() > MOST_DIMENSIONS {
        true => wrong(format!("{} {name}: at most {MOST_DIMENSIONS} are taken", list.len())),
        false => Ok(()),
    }
}

pub(super) fn reshape(node: XNNStaticReshape<'_>) -> Result<(), Broken> {
    let sizes = node.new_shape().unwrap_or_default();
    few("sizes", sizes)?;
    match (sizes.len(), sizes.iter().filter(|&size| size == 0).count()) {
        (0, _) => wrong("a reshape to no dimensions".into()),
        (_, 0 | 1) => Ok(()),
        (_, unknown) => wrong(format!("{unknown} sizes of 0: one can be computed")),
    }
}

pub(super) fn slice(node: XNNStaticSlice<'_>) -> Result<(), Broken> {
    let (Some(offsets), Some(sizes)) = (node.offsets(), node.sizes()) else {
        return wrong("a slice without offsets or sizes".into());
    };
    few("offsets", offsets)?;
    match offsets.len() == sizes.len() {
        true => Ok(()),
        false => wrong(format!("{} offsets and {} sizes", offsets.len(), sizes.len())),
    }
}

/// Judges the paddings of an input with `rank` dimensions.
pub(super) fn padding(node: XNNStaticConstantPad<'_>, rank: usize) -> Result<(), Broken> {
    for (name, list) in
        [("pre_paddings", node.pre_paddings()), ("post_paddings", node.post_paddings())]
    {
        let len = list.map_or(0, |list| list.len());
        if len < rank || list.is_none() {
            return wrong(format!("{len} {name} of {rank} dimensions"));
        }
    }
    Ok(())
}
