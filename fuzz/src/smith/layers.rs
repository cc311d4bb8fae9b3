//! Linear layers of graphs of XNNPACK in every kind of datatype, each between conversions from f32 and
//! to f32.

use arbitrary::Result;
use pte::schema::xnnpack::{XNNDatatype, model};

use super::Smith;
use super::graphs::{Graph, NONE};

/// The scale of inputs and outputs, and that of filters.
const SCALE: f32 = 0.125;

/// One scale for all elements.
fn of_tensor() -> Option<model::XNNQuantParams> {
    let params = model::PerTensorQuant { scale: SCALE, zero_point: 0 };
    Some(model::XNNQuantParams::PerTensorQuant(params))
}

/// A scale for each of the first dimension's indices.
fn of_channels(count: u32, scale: f32) -> Option<model::XNNQuantParams> {
    let scale = Some((0..count).map(|_| scale).collect());
    let params = model::PerChannelQuant { scale, ..model::PerChannelQuant::default() };
    Some(model::XNNQuantParams::PerChannelQuant(params))
}

impl Smith<'_, '_> {
    /// Adds a linear layer that computes in another datatype than f32, and returns its output as f32.
    pub(super) fn layer(
        &mut self,
        graph: &mut Graph,
        input: u32,
        mut dims: Vec<u32>,
    ) -> Result<(u32, Vec<u32>)> {
        use XNNDatatype as Type;
        let outputs = self.random.int_in_range(1..=5)?;
        let (fp32, fp16) = (Type::xnn_datatype_fp32, Type::xnn_datatype_fp16);
        let (bf16, qint8) = (Type::xnn_datatype_bf16, Type::xnn_datatype_qint8);
        let from = dims.clone();
        let Some(last) = dims.last_mut() else { return Ok((input, dims)) };
        let inputs = core::mem::replace(last, outputs);
        let shape = [outputs, inputs];
        let elements = outputs * inputs;
        let (computed, filter, bias, result);
        match self.random.int_in_range(0..=3)? {
            0 => {
                computed = graph.typed(bf16, &from, 0, None);
                let data = graph.data(&[0x80, 0x3F], elements);
                filter = graph.typed(bf16, &shape, data, None);
                bias = if self.random.arbitrary()? { graph.constant(&[outputs]) } else { NONE };
                result = (*self.random.choose(&[bf16, fp32])?, None);
            }
            1 => {
                computed = graph.typed(fp16, &from, 0, None);
                let data = graph.data(&[0x00, 0x3C], elements);
                filter = graph.typed(fp16, &shape, data, None);
                bias = graph.constant(&[outputs]);
                result = (fp16, None);
            }
            2 => {
                let params = model::PerTokenDynamicQuant { num_nonbatch_dims: 1 };
                let params = model::XNNQuantParams::PerTokenDynamicQuant(params);
                computed = graph.typed(Type::xnn_datatype_qdint8, &from, 0, Some(params));
                // A filter of one element of 4 bits crashes the backend.
                let (datatype, bytes) = match elements > 1 && self.random.arbitrary()? {
                    true => (Type::xnn_datatype_qcint4, outputs * inputs.div_ceil(2)),
                    false => (Type::xnn_datatype_qcint8, elements),
                };
                let data = graph.data(&[3], bytes);
                filter = graph.typed(datatype, &shape, data, of_channels(outputs, SCALE));
                bias = graph.constant(&[outputs]);
                result = (fp32, None);
            }
            _ => {
                computed = graph.typed(qint8, &from, 0, of_tensor());
                let data = graph.data(&[3], elements);
                let datatype = Type::xnn_datatype_qcint8;
                filter = graph.typed(datatype, &shape, data, of_channels(outputs, SCALE));
                let data = graph.data(&[1, 0, 0, 0], outputs);
                let scales = of_channels(outputs, SCALE * SCALE);
                bias = graph.typed(Type::xnn_datatype_qcint32, &[outputs], data, scales);
                result = (qint8, of_tensor());
            }
        }
        let convert = |input_id, output_id| {
            model::XNodeUnion::XNNConvert(model::_XNNNode1x1 { input_id, output_id, flags: 0 })
        };
        graph.node(convert(input, computed));
        let (datatype, quantization) = result;
        let output = graph.typed(datatype, &dims, 0, quantization);
        graph.node(model::XNodeUnion::XNNFullyConnected(model::XNNFullyConnected {
            input1_id: computed,
            filter_id: filter,
            bias_id: bias,
            output_id: output,
            flags: 0,
        }));
        if datatype == fp32 {
            return Ok((output, dims));
        }
        let floats = graph.inner(&dims);
        graph.node(convert(output, floats));
        Ok((floats, dims))
    }
}
