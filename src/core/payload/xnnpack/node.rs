//! The values that a node reads and writes.

use super::NO_ID;
use pte_schema::xnnpack::view::{_XNNCat, _XNNNode1x1, _XNNNode2x1, _XNNNodeConv, XNodeUnion};

/// The ids of the values that a node reads and writes, in the order of its operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeIds {
    inputs: [u32; 5],
    outputs: [u32; 2],
    input_count: usize,
    output_count: usize,
}

impl NodeIds {
    /// Returns the ids of a node; `None` for an unknown operator.
    pub fn of(operator: XNodeUnion<'_>) -> Option<Self> {
        use XNodeUnion::*;
        Some(match operator {
            XNNAdd(node)
            | XNNDiv(node)
            | XNNMinimum(node)
            | XNNMultiply(node)
            | XNNSubtract(node)
            | XNNMaximum(node)
            | XNNPReLU(node)
            | XNNBatchMatrixMultiply(node) => Self::two(node),
            XNNSoftmax(node)
            | XNNSigmoid(node)
            | XNNClamp(node)
            | XNNFloor(node)
            | XNNConvert(node)
            | XNNGlobalAvgPooling2d(node)
            | XNNSquareRoot(node)
            | XNNCeiling(node)
            | XNNHardswish(node)
            | XNNNegate(node)
            | XNNSquare(node)
            | XNNAbs(node)
            | XNNReciprocalSquareRoot(node)
            | XNNLog(node)
            | XNNGelu(node)
            | XNNTanh(node)
            | XNNExp(node)
            | XNNSin(node)
            | XNNCopy(node)
            | XNNCos(node) => Self::one(node),
            XNNConv2d(node) | XNNDepthwiseConv2d(node) | XNNConvTranspose2d(node) => {
                Self::convolution(node)
            }
            XNNFullyConnected(node) => {
                Self::layer([node.input1_id(), node.filter_id(), node.bias_id()], node.output_id())
            }
            XNNConcatenate2(node) => Self::concatenation(node, 2),
            XNNConcatenate3(node) => Self::concatenation(node, 3),
            XNNConcatenate4(node) => Self::concatenation(node, 4),
            XNNConcatenate5(node) => Self::concatenation(node, 5),
            XNNStaticTranspose(node) => Self::new([node.input_id()], [node.output_id()]),
            XNNStaticResizeBilinear2D(node) => Self::new([node.input_id()], [node.output_id()]),
            XNNStaticConstantPad(node) => Self::new([node.input_id()], [node.output_id()]),
            XNNStaticReshape(node) => Self::new([node.input_id()], [node.output_id()]),
            XNNStaticSlice(node) => Self::new([node.input_id()], [node.output_id()]),
            XNNLeakyReLU(node) => Self::new([node.input_id()], [node.output_id()]),
            XNNELU(node) => Self::new([node.input_id()], [node.output_id()]),
            XNNAvgPooling2d(node) | XNNMaxPooling2d(node) => {
                Self::new([node.input_id()], [node.output_id()])
            }
            XNNArgMaxPooling2d(node) => {
                Self::new([node.input_id()], [node.output_value_id(), node.output_index_id()])
            }
            XNNScaledDotProductAttention(node) => Self::new(
                [node.query_id(), node.key_id(), node.value_id(), node.scale_id(), node.mask_id()],
                [node.output_id()],
            ),
            Unknown(_) => return None,
        })
    }

    /// Returns the ids of the inputs.
    pub fn inputs(&self) -> &[u32] {
        self.inputs.get(..self.input_count).unwrap_or_default()
    }

    /// Returns the ids of the outputs.
    pub fn outputs(&self) -> &[u32] {
        self.outputs.get(..self.output_count).unwrap_or_default()
    }

    fn new<const I: usize, const O: usize>(inputs: [u32; I], outputs: [u32; O]) -> Self {
        let mut ids =
            Self { inputs: [NO_ID; 5], outputs: [NO_ID; 2], input_count: I, output_count: O };
        ids.inputs.iter_mut().zip(inputs).for_each(|(to, id)| *to = id);
        ids.outputs.iter_mut().zip(outputs).for_each(|(to, id)| *to = id);
        ids
    }

    fn one(node: _XNNNode1x1<'_>) -> Self {
        Self::new([node.input_id()], [node.output_id()])
    }

    fn two(node: _XNNNode2x1<'_>) -> Self {
        Self::new([node.input1_id(), node.input2_id()], [node.output_id()])
    }

    fn convolution(node: _XNNNodeConv<'_>) -> Self {
        Self::layer([node.input1_id(), node.filter_id(), node.bias_id()], node.output_id())
    }

    /// The bias of a layer is optional.
    fn layer([input, filter, bias]: [u32; 3], output: u32) -> Self {
        match bias {
            NO_ID => Self::new([input, filter], [output]),
            bias => Self::new([input, filter, bias], [output]),
        }
    }

    fn concatenation(node: _XNNCat<'_>, inputs: usize) -> Self {
        let ids = [
            node.input1_id(),
            node.input2_id(),
            node.input3_id(),
            node.input4_id(),
            node.input5_id(),
        ];
        let mut ids = Self::new(ids, [node.output_id()]);
        ids.input_count = inputs;
        ids
    }
}

/// Returns whether an operator is a layer: its inputs after the first are a filter and a bias.
pub fn is_layer(operator: XNodeUnion<'_>) -> bool {
    use XNodeUnion::*;
    matches!(
        operator,
        XNNFullyConnected(_) | XNNConv2d(_) | XNNDepthwiseConv2d(_) | XNNConvTranspose2d(_)
    )
}
