//! The nodes of a graph: the values that they name, their datatypes, and the bytes of their filters.

use alloc::string::String;

use super::attributes::{self, TRANSPOSE_WEIGHTS};
use super::datatypes::{self, LayerKind};
use super::requantized;
use super::shape::{bits, is_small, product};
use super::value::{Quantization, Value, Values};
use super::{
    XNNPACK_ATTRIBUTE, XNNPACK_CONSTANT_SHORT, XNNPACK_DATATYPE, XNNPACK_ID, XNNPACK_KIND,
    XNNPACK_MISSING, XNNPACK_RANK,
};
use crate::rule::Broken;
use pte_core::payload::xnnpack::{NO_ID, NodeIds};
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::{_XNNNodeConv, XNNFullyConnected, XNode, XNodeUnion};

/// The values of a node.
struct Operands<'v, 'p> {
    inputs: [Option<&'v Value<'p>>; 5],
    outputs: [Option<&'v Value<'p>>; 2],
    /// The datatype of all values; `None` if they have different ones.
    datatype: Option<XNNDatatype>,
}

impl<'v, 'p> Operands<'v, 'p> {
    /// Finds the values. Returns `None` if an id is unknown.
    #[inline]
    fn of(ids: &NodeIds, values: &'v Values<'p>) -> Option<Self> {
        let first = value(values, *ids.inputs().first()?)?.datatype;
        let (mut inputs, mut outputs, mut is_same) = ([None; 5], [None; 2], true);
        for (to, &id) in inputs.iter_mut().zip(ids.inputs()) {
            let value = value(values, id)?;
            is_same &= value.datatype == first;
            *to = Some(value);
        }
        for (to, &id) in outputs.iter_mut().zip(ids.outputs()) {
            let value = value(values, id)?;
            is_same &= value.datatype == first;
            *to = Some(value);
        }
        Some(Self { inputs, outputs, datatype: is_same.then_some(first) })
    }

    /// Returns the first input and output; every known node has them.
    fn pair(&self) -> Option<(&'v Value<'p>, &'v Value<'p>)> {
        let ([input, ..], [output, ..]) = (self.inputs, self.outputs);
        Some((input?, output?))
    }

    fn all(&self) -> impl Iterator<Item = &'v Value<'p>> {
        self.inputs.into_iter().chain(self.outputs).flatten()
    }

    /// Checks that all values have the same datatype, and that `takes` accepts this datatype.
    #[inline]
    fn same(&self, takes: impl Fn(XNNDatatype) -> bool) -> Result<(), Broken> {
        match self.datatype.is_some_and(takes) {
            true => Ok(()),
            false => Err((&XNNPACK_DATATYPE, self.datatypes())),
        }
    }

    /// Judges a node that moves or clamps elements without computing others: its values must have the same datatype
    /// and the same quantization.
    fn moved(&self, takes: impl Fn(XNNDatatype) -> bool) -> Result<(), Broken> {
        self.same(takes)?;
        let of = |value: &Value<'_>| match value.quantization {
            Quantization::Tensor { scale, zero_point } => Some((scale.to_bits(), zero_point)),
            _ => None,
        };
        let first = self.all().next().and_then(of);
        match self.all().all(|value| of(value) == first) {
            true => Ok(()),
            false => Err((
                &XNNPACK_DATATYPE,
                "the values have different scales or zero points, and are not computed".into(),
            )),
        }
    }

    fn datatypes(&self) -> String {
        let mut text = String::from("no kernel for");
        for (nth, value) in self.all().enumerate() {
            text.push_str(if nth == 0 { " " } else { ", " });
            text.push_str(value.datatype.name().unwrap_or("an unknown datatype"));
        }
        text
    }
}

/// Returns the value with an id that a node names.
#[inline]
fn value<'v, 'p>(values: &'v Values<'p>, id: u32) -> Option<&'v Value<'p>> {
    values.get(id).filter(|_| id != NO_ID)
}

/// Returns the error for the first unknown id of a node.
#[cold]
fn unknown_id(ids: &NodeIds, values: &Values<'_>) -> Result<(), Broken> {
    let mut all = ids.inputs().iter().chain(ids.outputs());
    match all.find(|&&id| value(values, id).is_none()) {
        Some(&NO_ID) => Err((&XNNPACK_ID, "the node names no value".into())),
        Some(id) => Err((&XNNPACK_ID, format!("no value has the id {id}"))),
        None => Ok(()),
    }
}

/// Judges a node by itself. `ids` are those of its values, if the operator is known.
#[inline]
pub(super) fn judge<'p>(
    node: XNode<'p>,
    operator: Option<XNodeUnion<'p>>,
    ids: Option<&NodeIds>,
    values: &Values<'p>,
) -> Result<(), Broken> {
    let Some(operator) = operator else {
        return Err((&XNNPACK_KIND, "a node without an operator".into()));
    };
    let Some(ids) = ids else {
        return Err((&XNNPACK_KIND, format!("the unknown operator {}", operator.tag())));
    };
    if let XNodeUnion::XNNScaledDotProductAttention(_) = operator {
        return Err((&XNNPACK_KIND, "the backend has no XNNScaledDotProductAttention".into()));
    }
    match Operands::of(ids, values) {
        Some(operands) => judge_operands(node, operator, &operands),
        None => unknown_id(ids, values),
    }
}

/// Judges the values and the attributes of a node.
#[inline]
fn judge_operands<'p>(
    node: XNode<'p>,
    operator: XNodeUnion<'p>,
    operands: &Operands<'_, 'p>,
) -> Result<(), Broken> {
    use XNodeUnion::*;
    let Some((input, output)) = operands.pair() else { return Ok(()) };
    let clamp = || node.output_min_max();
    match operator {
        XNNAdd(_) | XNNSubtract(_) | XNNMultiply(_) | XNNDiv(_) | XNNMinimum(_) | XNNMaximum(_)
        | XNNNegate(_) | XNNSquare(_) | XNNAbs(_) => operands.same(datatypes::is_elementwise),
        XNNBatchMatrixMultiply(node) => matrices(operands, node.flags()),
        XNNConvert(_) => match datatypes::takes_conversion([input.datatype, output.datatype]) {
            true => Ok(()),
            false => Err((&XNNPACK_DATATYPE, operands.datatypes())),
        },
        XNNSoftmax(_) => operands.same(datatypes::is_float),
        XNNGlobalAvgPooling2d(_) => operands.same(datatypes::is_float_or_byte),
        XNNClamp(_) => operands.moved(datatypes::is_elementwise),
        XNNCopy(_) => operands.moved(datatypes::is_movable),
        XNNPReLU(_)
        | XNNSigmoid(_)
        | XNNFloor(_)
        | XNNSquareRoot(_)
        | XNNCeiling(_)
        | XNNHardswish(_)
        | XNNReciprocalSquareRoot(_)
        | XNNLog(_)
        | XNNGelu(_)
        | XNNTanh(_)
        | XNNExp(_)
        | XNNSin(_)
        | XNNCos(_)
        | XNNLeakyReLU(_)
        | XNNELU(_) => operands.same(datatypes::is_float_or_quantized),
        XNNStaticReshape(node) => {
            attributes::reshape(node)?;
            operands.moved(datatypes::is_movable)
        }
        XNNStaticTranspose(node) => {
            attributes::transpose(node)?;
            operands.moved(datatypes::is_movable)
        }
        XNNStaticSlice(node) => {
            attributes::slice(node)?;
            operands.moved(datatypes::is_movable)
        }
        XNNStaticConstantPad(node) => {
            attributes::padding(node, input.shape().rank())?;
            operands.moved(datatypes::is_float_or_byte)
        }
        XNNConcatenate2(_) | XNNConcatenate3(_) | XNNConcatenate4(_) | XNNConcatenate5(_) => {
            operands.moved(datatypes::is_movable)
        }
        XNNStaticResizeBilinear2D(node) => {
            attributes::resize(node)?;
            operands.moved(datatypes::is_float_or_byte)
        }
        XNNAvgPooling2d(node) => {
            attributes::pooling(node, false)?;
            attributes::range(clamp())?;
            attributes::half_range(clamp(), output)?;
            operands.same(datatypes::is_float)
        }
        XNNMaxPooling2d(node) => {
            attributes::pooling(node, true)?;
            attributes::range(clamp())?;
            operands.moved(datatypes::is_float_or_byte)
        }
        XNNArgMaxPooling2d(node) => {
            attributes::argmax(node)?;
            let mut all = operands.all().map(|value| value.datatype);
            match (all.next(), all.next(), all.next()) {
                (Some(a), Some(b), Some(c)) if datatypes::takes_indices([a, b, c]) => Ok(()),
                _ => Err((&XNNPACK_DATATYPE, operands.datatypes())),
            }
        }
        XNNFullyConnected(node) => {
            attributes::linear(node.flags())?;
            attributes::range(clamp())?;
            layer(LayerKind::FullyConnected, operands)?;
            fully_connected(node, operands)?;
            widened(input, output)
        }
        XNNConv2d(node) => {
            attributes::convolution(node, true)?;
            attributes::range(clamp())?;
            attributes::half_range(clamp(), output)?;
            layer(LayerKind::Conv2d, operands)?;
            convolution(node, operands, LayerKind::Conv2d)
        }
        XNNDepthwiseConv2d(node) => {
            attributes::convolution(node, true)?;
            attributes::multiplier(node)?;
            attributes::range(clamp())?;
            attributes::half_range(clamp(), output)?;
            layer(LayerKind::Depthwise, operands)?;
            convolution(node, operands, LayerKind::Depthwise)
        }
        XNNConvTranspose2d(node) => {
            attributes::convolution(node, false)?;
            attributes::range(clamp())?;
            layer(LayerKind::ConvTranspose, operands)?;
            convolution(node, operands, LayerKind::ConvTranspose)
        }
        XNNScaledDotProductAttention(_) | Unknown(_) => Ok(()),
    }
}

/// Judges the datatypes of a layer, and which of its values are constants.
fn layer(kind: LayerKind, operands: &Operands<'_, '_>) -> Result<(), Broken> {
    let [input, filter, bias, ..] = operands.inputs;
    let (Some(input), Some(filter), [Some(output), _]) = (input, filter, operands.outputs) else {
        return Ok(());
    };
    let bias_type = bias.map(|bias| bias.datatype);
    if !datatypes::takes_layer(kind, input.datatype, filter.datatype, bias_type, output.datatype) {
        return Err((&XNNPACK_DATATYPE, operands.datatypes()));
    }
    // The backend looks for constants that are one number, and copies the bytes of an element: for 4
    // bits it takes that as 2^64 − 2^31.
    let is_half_byte = bits(filter.datatype).is_some_and(|bits| bits < 8);
    if is_half_byte && filter.constant.is_some() && filter.shape().elements() == Some(1) {
        let message = format!("a filter of one element of {}", filter.datatype);
        return Err((&XNNPACK_CONSTANT_SHORT, message));
    }
    // Only linear layers take a filter or bias that is computed. It must have floats, and a filter those of the
    // input: the backend converts constants alone.
    let may_be_computed = |value: &Value<'_>| {
        kind == LayerKind::FullyConnected && datatypes::is_float(value.datatype)
    };
    let may_filter = may_be_computed(filter) && filter.datatype == input.datatype;
    let may_bias = bias.is_some_and(may_be_computed);
    for (name, value, may) in [("filter", Some(filter), may_filter), ("bias", bias, may_bias)] {
        if !may && value.is_some_and(|value| value.constant.is_none()) {
            return Err((&XNNPACK_ATTRIBUTE, format!("the {name} is no constant")));
        }
    }
    if let Quantization::Dynamic { dimensions } = input.quantization {
        let fits = match kind {
            // The backend computes a scale for each row of the input.
            LayerKind::FullyConnected => dimensions == 1,
            _ => dimensions < input.shape().rank(),
        };
        if !fits {
            return Err((
                &XNNPACK_ATTRIBUTE,
                format!("num_nonbatch_dims {dimensions} of {}", input.shape()),
            ));
        }
    }
    requantized::layer(input, filter, output)
}

/// Judges a filter with a scale for each channel: the dimension of the channels must be
/// `dimension`, and there must be at least `outputs` scales.
fn channels(filter: &Value<'_>, dimension: usize, outputs: u64) -> Result<(), Broken> {
    match filter.quantization {
        Quantization::Channel { dimension: own, .. } if own != dimension => Err((
            &XNNPACK_ATTRIBUTE,
            format!("the filter's channel_dim is {own}, and the node's {dimension}"),
        )),
        Quantization::Channel { count, .. } if count < outputs => {
            Err((&XNNPACK_ATTRIBUTE, format!("{count} scales for {outputs} output channels")))
        }
        _ => Ok(()),
    }
}

/// Checks that a value has at least `needed` elements.
fn elements(name: &str, value: &Value<'_>, needed: Option<u64>) -> Result<(), Broken> {
    let bits = bits(value.datatype).unwrap_or_default();
    let have = match value.constant {
        Some(bytes) => bytes.saturating_mul(8),
        None => value.shape().elements().unwrap_or_default().saturating_mul(bits),
    };
    let need = needed.and_then(|needed| needed.checked_mul(bits));
    match need {
        Some(need) if need <= have => Ok(()),
        _ => Err((
            &XNNPACK_CONSTANT_SHORT,
            format!(
                "a {name} of {} bytes: the node reads {} elements of {}",
                have.div_euclid(8),
                needed.map_or_else(|| "2^63 or more".into(), |needed| format!("{needed}")),
                value.datatype
            ),
        )),
    }
}

fn fully_connected(node: XNNFullyConnected<'_>, operands: &Operands<'_, '_>) -> Result<(), Broken> {
    let [_, Some(filter), bias, ..] = operands.inputs else { return Ok(()) };
    let sizes = filter.shape();
    if sizes.rank() < 2 {
        return Err((&XNNPACK_ATTRIBUTE, format!("a filter of {} dimensions", sizes.rank())));
    }
    let is_transposed = node.flags() & TRANSPOSE_WEIGHTS != 0;
    let (inputs, outputs) = match is_transposed {
        true => (sizes.size(0), sizes.size(1)),
        false => (sizes.last(), sizes.size(0)),
    };
    // The backend refuses to create a layer without channels, and may free memory of the graph twice then.
    if filter.constant.is_some() && (inputs == 0 || outputs == 0) {
        return Err((&XNNPACK_ATTRIBUTE, format!("a filter of {sizes}, which has no channels")));
    }
    channels(filter, usize::from(is_transposed), outputs)?;
    if let Quantization::Group { size } = filter.quantization {
        let fits = inputs.checked_rem(size) == Some(0) && size.is_multiple_of(32);
        if !fits || is_transposed {
            return Err((
                &XNNPACK_ATTRIBUTE,
                format!("{inputs} input channels in groups of {size}"),
            ));
        }
    }
    let needed = match bits(filter.datatype) {
        // A byte holds two elements, and each row begins with a new byte.
        Some(4) => outputs.checked_mul(inputs.next_multiple_of(2)),
        _ => product([outputs, inputs]),
    };
    elements("filter", filter, needed)?;
    bias.map_or(Ok(()), |bias| elements("bias", bias, Some(outputs)))
}

/// Judges the output of a linear layer of bf16, whose kernel writes f32: the backend adds a value of
/// f32 with the dims of the output, and a conversion.
fn widened(input: &Value<'_>, output: &Value<'_>) -> Result<(), Broken> {
    let of_bf16 = XNNDatatype::xnn_datatype_bf16;
    if (input.datatype, output.datatype) != (of_bf16, of_bf16) {
        return Ok(());
    }
    if output.sizes.is_none() {
        return Err((&XNNPACK_MISSING, "the output is bf16, and has no dims".into()));
    }
    let shape = output.shape();
    match bits(XNNDatatype::xnn_datatype_fp32).is_some_and(|bits| is_small(shape.elements(), bits))
    {
        true => Ok(()),
        false => {
            Err((&XNNPACK_RANK, format!("{shape} of fp32, for the output, takes 4 GiB or more")))
        }
    }
}

fn convolution(
    node: _XNNNodeConv<'_>,
    operands: &Operands<'_, '_>,
    kind: LayerKind,
) -> Result<(), Broken> {
    let [_, Some(filter), bias, ..] = operands.inputs else { return Ok(()) };
    let groups = u64::from(node.groups());
    let (inputs, outputs) = match kind {
        // Each channel is a group.
        LayerKind::Depthwise => (1, u64::from(attributes::multiplier(node)?)),
        _ => (node.group_input_channels().into(), node.group_output_channels().into()),
    };
    let all_outputs = groups.saturating_mul(outputs);
    let shape = filter.shape();
    if kind == LayerKind::Conv2d && shape.size(0) != all_outputs {
        return Err((
            &XNNPACK_ATTRIBUTE,
            format!("a filter of {shape} for {all_outputs} output channels"),
        ));
    }
    // The backend refuses to create a layer without channels, and may free memory of the graph twice then.
    if shape.elements() == Some(0) {
        return Err((&XNNPACK_ATTRIBUTE, format!("a filter of {shape}, which is empty")));
    }
    let dimension = match kind {
        LayerKind::Depthwise => shape.rank().saturating_sub(1),
        _ => 0,
    };
    channels(filter, dimension, all_outputs)?;
    let kernel = [node.kernel_height().into(), node.kernel_width().into()];
    let [height, width] = kernel;
    elements("filter", filter, product([all_outputs, height, width, inputs]))?;
    bias.map_or(Ok(()), |bias| elements("bias", bias, Some(all_outputs)))
}

fn matrices(operands: &Operands<'_, '_>, flags: u32) -> Result<(), Broken> {
    let ([Some(a), Some(b), ..], [Some(output), _]) = (operands.inputs, operands.outputs) else {
        return Ok(());
    };
    if !datatypes::takes_matrices([a.datatype, b.datatype, output.datatype]) {
        return Err((&XNNPACK_DATATYPE, operands.datatypes()));
    }
    if b.constant.is_some() && b.shape().rank() < 2 {
        return Err((&XNNPACK_ATTRIBUTE, format!("a matrix of {}", b.shape())));
    }
    match (a.quantization, b.quantization) {
        (Quantization::Dynamic { dimensions }, _) if dimensions != 1 => {
            Err((&XNNPACK_ATTRIBUTE, format!("num_nonbatch_dims {dimensions} of {}", a.shape())))
        }
        (_, Quantization::Channel { count, .. }) => {
            let shape = b.shape();
            // Each column of each matrix needs a scale.
            let (rows, columns) = match shape.sizes() {
                [batches @ .., rows, columns] => {
                    let of_matrix = if flags & TRANSPOSE_WEIGHTS == 0 { columns } else { rows };
                    (product(batches.iter().copied()), *of_matrix)
                }
                _ => (None, 0),
            };
            let needed = rows.and_then(|batches| batches.checked_mul(columns));
            if b.constant.is_none() {
                return Err((&XNNPACK_ATTRIBUTE, "a quantized matrix is no constant".into()));
            }
            match needed.is_some_and(|needed| needed <= count) {
                true => Ok(()),
                false => {
                    Err((&XNNPACK_ATTRIBUTE, format!("{count} scales for matrices of {shape}")))
                }
            }
        }
        (_, Quantization::Tensor { zero_point, .. }) if zero_point != 0 => {
            Err((&XNNPACK_ATTRIBUTE, format!("the second matrix has the zero point {zero_point}")))
        }
        _ => requantized::matrices(a, b, output),
    }
}
