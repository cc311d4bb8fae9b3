//! Computes the shapes of nodes from the shapes of their inputs, as the backend does at each run.

use alloc::string::{String, ToString};

use super::attributes::{KEEP_DIMS, SAME_PADDING, TRANSPOSE_WEIGHTS};
use super::shape::{MOST_DIMENSIONS, Shape};
use pte_flat::bytes::index;
use pte_schema::xnnpack::view::{
    _XNNCat, _XNNNodeConv, _XNNPooling2D, XNNArgMaxPooling2d, XNNStaticConstantPad,
    XNNStaticReshape, XNNStaticSlice, XNNStaticTranspose, XNodeUnion,
};

/// The reason why a node cannot compute the shape of its outputs.
#[derive(Debug)]
pub(super) enum Fault {
    /// The backend refuses the shapes of the inputs.
    Refused(String),
    /// The backend refuses the shapes, divides by zero, or reads or writes past a value.
    Unsafe(String),
}

impl Fault {
    fn rank() -> Self {
        Self::Refused("too many dimensions".into())
    }

    /// Adds the index of the node to the message.
    pub(super) fn at(self, node: u32) -> Self {
        match self {
            Self::Refused(message) => Self::Refused(format!("node {node}: {message}")),
            Self::Unsafe(message) => Self::Unsafe(format!("node {node}: {message}")),
        }
    }
}

/// The releases that disagree on the shapes that nodes compute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ShapeRelease {
    /// The backend of the current release.
    Current,
    /// The backend of release 0.2, whose global averages always keep the reduced dimensions.
    Old,
}

/// Returns the shape that all outputs of a node have. `inputs` are the shapes of its inputs.
///
/// # Errors
///
/// The backend refuses the shapes, or cannot compute them without reading past a value.
pub(super) fn outputs(
    operator: XNodeUnion<'_>,
    inputs: &[Shape],
    release: ShapeRelease,
) -> Result<Shape, Fault> {
    use XNodeUnion::*;
    let Some(input) = inputs.first() else { return Err(Fault::rank()) };
    let second = inputs.get(1).unwrap_or(input);
    match operator {
        XNNAdd(_) | XNNSubtract(_) | XNNMultiply(_) | XNNDiv(_) | XNNMinimum(_) | XNNMaximum(_)
        | XNNPReLU(_) => broadcast(input, second),
        XNNBatchMatrixMultiply(node) => matrices(input, second, node.flags()),
        XNNFullyConnected(node) => linear(input, second, node.flags()),
        XNNConv2d(node) => convolution(node, input, false),
        XNNDepthwiseConv2d(node) => convolution(node, input, true),
        XNNConvTranspose2d(node) => transposed_convolution(node, input),
        XNNAvgPooling2d(node) => pooling(node, input, false),
        XNNMaxPooling2d(node) => pooling(node, input, true),
        XNNArgMaxPooling2d(node) => argmax(node, input),
        XNNGlobalAvgPooling2d(node) => {
            average(input, release == ShapeRelease::Old || node.flags() & KEEP_DIMS != 0)
        }
        XNNStaticResizeBilinear2D(node) => {
            let [batch, height, width, channels] = image(input)?;
            match height == 0 || width == 0 {
                true => Err(Fault::Unsafe(format!("an image of {input}"))),
                false => {
                    let (height, width) = (node.new_height().into(), node.new_width().into());
                    Ok(Shape::image([batch, height, width, channels]))
                }
            }
        }
        XNNSoftmax(_) => match input.last() {
            0 => Err(Fault::Unsafe(format!("a softmax of {input}"))),
            _ => Ok(*input),
        },
        XNNStaticReshape(node) => reshape(node, input),
        XNNStaticTranspose(node) => transpose(node, input),
        XNNStaticSlice(node) => slice(node, input),
        XNNStaticConstantPad(node) => pad(node, input),
        XNNConcatenate2(node)
        | XNNConcatenate3(node)
        | XNNConcatenate4(node)
        | XNNConcatenate5(node) => concatenate(node, inputs),
        XNNSigmoid(_)
        | XNNClamp(_)
        | XNNFloor(_)
        | XNNConvert(_)
        | XNNSquareRoot(_)
        | XNNCeiling(_)
        | XNNHardswish(_)
        | XNNLeakyReLU(_)
        | XNNNegate(_)
        | XNNSquare(_)
        | XNNELU(_)
        | XNNAbs(_)
        | XNNReciprocalSquareRoot(_)
        | XNNLog(_)
        | XNNGelu(_)
        | XNNTanh(_)
        | XNNExp(_)
        | XNNSin(_)
        | XNNCopy(_)
        | XNNCos(_)
        | XNNScaledDotProductAttention(_)
        | Unknown(_) => Ok(*input),
    }
}

fn broadcast(a: &Shape, b: &Shape) -> Result<Shape, Fault> {
    let rank = a.rank().max(b.rank());
    let at = |shape: &Shape, nth: usize| {
        let padding = rank.saturating_sub(shape.rank());
        nth.checked_sub(padding).map_or(1, |nth| shape.size(nth))
    };
    let mut sizes = [1; MOST_DIMENSIONS];
    for (nth, size) in sizes.iter_mut().take(rank).enumerate() {
        *size = match (at(a, nth), at(b, nth)) {
            (a, b) if a == b => a,
            (1, other) | (other, 1) => other,
            _ => return Err(Fault::Refused(format!("{a} and {b} do not broadcast"))),
        };
    }
    Shape::new(sizes.into_iter().take(rank)).ok_or_else(Fault::rank)
}

fn matrices(a: &Shape, b: &Shape, flags: u32) -> Result<Shape, Fault> {
    let ([batches_a @ .., rows, inner], [batches_b @ .., b0, b1]) = (a.sizes(), b.sizes()) else {
        return Err(Fault::Refused(format!("a product of {a} and {b}")));
    };
    let (other, columns) = if flags & TRANSPOSE_WEIGHTS == 0 { (b0, b1) } else { (b1, b0) };
    if inner != other {
        return Err(Fault::Refused(format!("a product of {a} and {b}")));
    }
    let shape = |sizes: &[u64]| Shape::new(sizes.iter().copied()).ok_or_else(Fault::rank);
    let batches = broadcast(&shape(batches_a)?, &shape(batches_b)?)?;
    let sizes = batches.sizes().iter().chain([rows, columns]).copied();
    Shape::new(sizes).ok_or_else(Fault::rank)
}

fn linear(input: &Shape, filter: &Shape, flags: u32) -> Result<Shape, Fault> {
    let (inputs, outputs) = match flags & TRANSPOSE_WEIGHTS {
        0 => (filter.last(), filter.size(0)),
        _ => (filter.size(0), filter.size(1)),
    };
    let has_channels = inputs > 0 && outputs > 0;
    if input.rank() == 0 || filter.rank() < 2 || !has_channels || input.last() != inputs {
        return Err(Fault::Refused(format!("an input of {input} and a filter of {filter}")));
    }
    let mut shape = *input;
    if let Some(last) = shape.sizes_mut().last_mut() {
        *last = outputs;
    }
    Ok(shape)
}

/// Returns the sizes of a batch of images. The batch must not be empty.
fn image(input: &Shape) -> Result<[u64; 4], Fault> {
    match *input.sizes() {
        [batch, height, width, channels] if batch > 0 => Ok([batch, height, width, channels]),
        _ => Err(Fault::Unsafe(format!("images of {input}"))),
    }
}

/// Returns the number of positions of a window along a padded dimension of `size`.
fn windows(size: u64, paddings: [u32; 2], kernel: [u32; 2], stride: u32) -> Option<u64> {
    let [kernel, dilation] = kernel.map(u64::from);
    let reach = kernel.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
    let padded = paddings.into_iter().map(u64::from).fold(size, u64::saturating_add);
    let steps = padded.saturating_sub(reach).checked_div(stride.into())?;
    (size > 0).then(|| steps.saturating_add(1))
}

/// Returns the number of positions of a window along a dimension with TensorFlow's padding.
fn same(size: u64, stride: u32) -> Option<u64> {
    (size > 0 && stride > 0).then(|| size.div_ceil(stride.into()))
}

fn convolution(node: _XNNNodeConv<'_>, input: &Shape, is_depthwise: bool) -> Result<Shape, Fault> {
    let [batch, height, width, channels] = image(input)?;
    let groups = u64::from(node.groups());
    let (inputs, outputs) = (node.group_input_channels(), node.group_output_channels());
    let (inputs, outputs) = match is_depthwise {
        true => (1, outputs.checked_div(inputs).unwrap_or_default()),
        false => (inputs, outputs),
    };
    let (inputs, outputs) =
        (groups.saturating_mul(inputs.into()), groups.saturating_mul(outputs.into()));
    if channels != inputs {
        return Err(Fault::Unsafe(format!("images of {input}: the node takes {inputs} channels")));
    }
    let strides = [node.subsampling_height(), node.subsampling_width()];
    let [stride_height, stride_width] = strides;
    let sizes = match node.flags() & SAME_PADDING {
        0 => {
            let vertical = [node.padding_top(), node.padding_bottom()];
            let horizontal = [node.padding_left(), node.padding_right()];
            let kernel_height = [node.kernel_height(), node.dilation_height()];
            let kernel_width = [node.kernel_width(), node.dilation_width()];
            if !holds(height, vertical, kernel_height) || !holds(width, horizontal, kernel_width) {
                return Err(Fault::Unsafe(format!(
                    "images of {input} are smaller than the kernel"
                )));
            }
            (
                windows(height, vertical, kernel_height, stride_height),
                windows(width, horizontal, kernel_width, stride_width),
            )
        }
        _ => (same(height, stride_height), same(width, stride_width)),
    };
    let (Some(height), Some(width)) = sizes else {
        return Err(Fault::Unsafe(format!("images of {input}")));
    };
    Ok(Shape::image([batch, height, width, outputs]))
}

/// Returns whether a padded dimension holds the kernel.
fn holds(size: u64, paddings: [u32; 2], kernel: [u32; 2]) -> bool {
    let [kernel, dilation] = kernel.map(u64::from);
    let reach = kernel.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
    paddings.into_iter().map(u64::from).fold(size, u64::saturating_add) >= reach
}

fn transposed_convolution(node: _XNNNodeConv<'_>, input: &Shape) -> Result<Shape, Fault> {
    let [batch, height, width, channels] = image(input)?;
    let groups = u64::from(node.groups());
    let inputs = groups.saturating_mul(node.group_input_channels().into());
    if channels != inputs || height == 0 || width == 0 {
        return Err(Fault::Unsafe(format!("images of {input}: the node takes {inputs} channels")));
    }
    let grown = |size: u64, kernel: [u32; 2], stride: u32, adjustment: u32, paddings: [u32; 2]| {
        let [kernel, dilation] = kernel.map(u64::from);
        let reach = kernel.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
        let [before, after] = paddings;
        // The backend adds the paddings in 32 bits, and does not refuse an empty output.
        let padding = u64::from(before.checked_add(after)?);
        let full = size.saturating_sub(1).saturating_mul(stride.into());
        let full = full.saturating_add(adjustment.into()).saturating_add(reach);
        (adjustment < stride).then(|| full.checked_sub(padding).filter(|&size| size > 0))?
    };
    let height = grown(
        height,
        [node.kernel_height(), node.dilation_height()],
        node.subsampling_height(),
        node.adjustment_height(),
        [node.padding_top(), node.padding_bottom()],
    );
    let width = grown(
        width,
        [node.kernel_width(), node.dilation_width()],
        node.subsampling_width(),
        node.adjustment_width(),
        [node.padding_left(), node.padding_right()],
    );
    let (Some(height), Some(width)) = (height, width) else {
        return Err(Fault::Unsafe(format!(
            "images of {input} become images without height or width"
        )));
    };
    let outputs = groups.saturating_mul(node.group_output_channels().into());
    Ok(Shape::image([batch, height, width, outputs]))
}

fn pooling(node: _XNNPooling2D<'_>, input: &Shape, is_maximum: bool) -> Result<Shape, Fault> {
    let [batch, height, width, channels] = image(input)?;
    let (stride_height, stride_width) = (node.stride_height(), node.stride_width());
    // An average has no dilation.
    let dilations = match is_maximum {
        true => [node.dilation_height(), node.dilation_width()],
        false => [1, 1],
    };
    let [dilation_height, dilation_width] = dilations;
    let vertical = [node.padding_top(), node.padding_bottom()];
    let horizontal = [node.padding_left(), node.padding_right()];
    let sizes = match node.flags() & SAME_PADDING {
        0 => (
            windows(height, vertical, [node.pooling_height(), dilation_height], stride_height),
            windows(width, horizontal, [node.pooling_width(), dilation_width], stride_width),
        ),
        _ => (same(height, stride_height), same(width, stride_width)),
    };
    match sizes {
        (Some(height), Some(width)) if channels > 0 => {
            Ok(Shape::image([batch, height, width, channels]))
        }
        _ => Err(Fault::Unsafe(format!("images of {input}"))),
    }
}

fn argmax(node: XNNArgMaxPooling2d<'_>, input: &Shape) -> Result<Shape, Fault> {
    let [batch, height, width, channels] = image(input)?;
    let (window_height, window_width) = (node.pooling_height(), node.pooling_width());
    let whole = |size: u64, paddings: [u32; 2], window: u32| {
        let padded = paddings.into_iter().map(u64::from).fold(size, u64::saturating_add);
        padded.checked_div(window.into()).filter(|_| size > 0)
    };
    let sizes = match node.flags() & SAME_PADDING {
        0 => (
            whole(height, [node.padding_top(), node.padding_bottom()], window_height),
            whole(width, [node.padding_left(), node.padding_right()], window_width),
        ),
        _ => (same(height, window_height), same(width, window_width)),
    };
    match sizes {
        (Some(height @ 1..), Some(width @ 1..)) if channels > 0 => {
            Ok(Shape::image([batch, height, width, channels]))
        }
        _ => Err(Fault::Unsafe(format!(
            "images of {input}: the window is {window_height} × {window_width}"
        ))),
    }
}

/// Returns the shape of a mean over the two dimensions before the last one.
fn average(input: &Shape, keeps: bool) -> Result<Shape, Fault> {
    let [batches @ .., _, _, channels] = input.sizes() else {
        return Err(Fault::Unsafe(format!("an average over {input}")));
    };
    let kept: &[u64] = if keeps { &[1, 1] } else { &[] };
    let sizes = batches.iter().chain(kept).chain([channels]).copied();
    Shape::new(sizes).ok_or_else(Fault::rank)
}

fn reshape(node: XNNStaticReshape<'_>, input: &Shape) -> Result<Shape, Fault> {
    let sizes = node.new_shape().unwrap_or_default();
    let wrong = || Fault::Refused(format!("{input} does not have the elements of {sizes:?}"));
    let mut shape =
        Shape::new(sizes.iter().take(MOST_DIMENSIONS).map(u64::from)).ok_or_else(wrong)?;
    let have = input.elements().ok_or_else(wrong)?;
    let unknown = shape.sizes().iter().position(|&size| size == 0);
    if let Some(size) = unknown.and_then(|unknown| shape.sizes_mut().get_mut(unknown)) {
        *size = 1;
        let others = shape.elements().ok_or_else(wrong)?;
        let computed = have.checked_div(others).ok_or_else(wrong)?;
        if let Some(size) = unknown.and_then(|unknown| shape.sizes_mut().get_mut(unknown)) {
            *size = computed;
        }
    }
    match shape.elements() == Some(have) {
        true => Ok(shape),
        false => Err(wrong()),
    }
}

fn transpose(node: XNNStaticTranspose<'_>, input: &Shape) -> Result<Shape, Fault> {
    let perm = node.perm().unwrap_or_default();
    if perm.len() != input.rank() {
        return Err(Fault::Refused(format!("{input} is permuted by {perm:?}")));
    }
    Shape::new(perm.iter().map(|nth| input.size(index(nth)))).ok_or_else(Fault::rank)
}

fn slice(node: XNNStaticSlice<'_>, input: &Shape) -> Result<Shape, Fault> {
    let (offsets, sizes) = (node.offsets().unwrap_or_default(), node.sizes().unwrap_or_default());
    let mut shape = *input;
    for (nth, size) in shape.sizes_mut().iter_mut().enumerate() {
        let offset = u64::from(offsets.get(nth).unwrap_or_default());
        let taken = u64::from(sizes.get(nth).unwrap_or_default());
        let end = match offset.saturating_add(taken) {
            // An end of 0 stands for the end of the dimension.
            0 => *size,
            end => end,
        };
        let offset = offset.min(*size);
        *size = end.saturating_sub(offset).min(size.saturating_sub(offset));
    }
    Ok(shape)
}

fn pad(node: XNNStaticConstantPad<'_>, input: &Shape) -> Result<Shape, Fault> {
    let (before, after) =
        (node.pre_paddings().unwrap_or_default(), node.post_paddings().unwrap_or_default());
    if before.len() < input.rank() || after.len() < input.rank() {
        return Err(Fault::Unsafe(format!(
            "{} and {} paddings of {input}",
            before.len(),
            after.len()
        )));
    }
    let mut shape = *input;
    for (nth, size) in shape.sizes_mut().iter_mut().enumerate() {
        let before = u64::from(before.get(nth).unwrap_or_default());
        let after = u64::from(after.get(nth).unwrap_or_default());
        *size = size.saturating_add(before).saturating_add(after);
    }
    Ok(shape)
}

fn concatenate(node: _XNNCat<'_>, inputs: &[Shape]) -> Result<Shape, Fault> {
    let Some((first, others)) = inputs.split_first() else { return Err(Fault::rank()) };
    let axis = i64::from(node.axis().cast_signed());
    let rank = i64::try_from(first.rank()).unwrap_or_default();
    let from_start = if axis < 0 { axis.saturating_add(rank) } else { axis };
    let axis = usize::try_from(from_start).ok().filter(|&axis| axis < first.rank());
    let Some(axis) = axis else {
        return Err(Fault::Refused(format!("axis {} of {first}", axis_text(node))));
    };
    let mut shape = *first;
    for other in others {
        let alike = |(nth, (a, b)): (usize, (&u64, &u64))| nth == axis || a == b;
        let sizes = first.sizes().iter().zip(other.sizes());
        if other.rank() != first.rank() || !sizes.enumerate().all(alike) {
            return Err(Fault::Refused(format!(
                "{first} and {other} are joined along axis {axis}"
            )));
        }
        if let Some(size) = shape.sizes_mut().get_mut(axis) {
            *size = size.saturating_add(other.size(axis));
        }
    }
    Ok(shape)
}

fn axis_text(node: _XNNCat<'_>) -> String {
    node.axis().cast_signed().to_string()
}
