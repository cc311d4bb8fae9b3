//! Graphs of XNNPACK's backend: nodes in a chain, with constants behind the graph, and the call of it.
//! Values are f32, except for those of a layer between two conversions (`layers.rs`). Broken graphs have
//! a few words of their payload or a dtype of the call replaced.

use arbitrary::Result;
use pte::flat::write::{self, WriterLayout};
use pte::schema::program::DataLocation;
use pte::schema::program::model::{self as program, InstructionArguments, KernelTypes};
use pte::schema::scalar::ScalarType;
use pte::schema::xnnpack::{XNNDatatype, desc, model};

use super::{Place, Smith};

/// The id of no value, and the index of no argument.
pub(super) const NONE: u32 = u32::MAX;
/// Keeps reduced dimensions with the size 1.
const KEEP_DIMS: u32 = 0x40;
/// The most elements of a value: a graph stays small.
const MOST_ELEMENTS: u32 = 4096;

/// A graph in the making.
pub(super) struct Graph {
    values: Vec<model::XValue>,
    nodes: Vec<model::XNode>,
    offsets: Vec<model::ConstantDataOffset>,
    constants: Vec<u8>,
    /// Whether a node reads a constant that the backend does not copy.
    refers: bool,
}

impl Graph {
    /// Adds the input, argument 0 of the call, and returns its id.
    fn input(&mut self, dims: &[u32]) -> u32 {
        let (id, mut tensor) = self.tensor(XNNDatatype::xnn_datatype_fp32, dims, 0);
        (tensor.external_id, tensor.flags) = (0, 1);
        self.add(model::XValueUnion::XNNTensorValue(tensor), id)
    }

    /// Adds a value and returns its id. `constant` is the index of its data; 0 if a node computes it.
    pub(super) fn typed(
        &mut self,
        datatype: XNNDatatype,
        dims: &[u32],
        constant: u32,
        quantization: Option<model::XNNQuantParams>,
    ) -> u32 {
        let (id, tensor) = self.tensor(datatype, dims, constant);
        let union = match quantization {
            None => model::XValueUnion::XNNTensorValue(tensor),
            some => model::XValueUnion::XNNQuantizedTensorValue(model::XNNQuantizedTensorValue {
                tensor_value: Some(tensor),
                quant_params: some,
            }),
        };
        self.add(union, id)
    }

    /// Returns an inner value with the next id.
    fn tensor(
        &self,
        datatype: XNNDatatype,
        dims: &[u32],
        constant: u32,
    ) -> (u32, model::XNNTensorValue) {
        let id = u32::try_from(self.values.len()).unwrap_or(NONE);
        let tensor = model::XNNTensorValue {
            datatype,
            num_dims: u32::try_from(dims.len()).unwrap_or(NONE),
            dims: Some(dims.to_vec()),
            constant_buffer_idx: constant,
            external_id: NONE,
            id_out: id,
            ..model::XNNTensorValue::default()
        };
        (id, tensor)
    }

    fn add(&mut self, union: model::XValueUnion, id: u32) -> u32 {
        self.values.push(model::XValue { xvalue_union: Some(union) });
        id
    }

    pub(super) fn inner(&mut self, dims: &[u32]) -> u32 {
        self.typed(XNNDatatype::xnn_datatype_fp32, dims, 0, None)
    }

    pub(super) fn constant(&mut self, dims: &[u32]) -> u32 {
        let data = self.data(&0.5_f32.to_le_bytes(), dims.iter().product());
        self.typed(XNNDatatype::xnn_datatype_fp32, dims, data, None)
    }

    /// Adds a constant that repeats an element, and returns its index.
    pub(super) fn data(&mut self, element: &[u8], count: u32) -> u32 {
        let offset = self.constants.len().next_multiple_of(16);
        self.constants.resize(offset, 0);
        (0..count).for_each(|_| self.constants.extend(element));
        let index = u32::try_from(self.offsets.len()).unwrap_or(NONE);
        self.offsets.push(model::ConstantDataOffset {
            offset: offset as u64,
            size: (self.constants.len() - offset) as u64,
            named_key: None,
        });
        index
    }

    pub(super) fn node(&mut self, operator: model::XNodeUnion) {
        self.nodes.push(model::XNode {
            xnode_union: Some(operator),
            debug_handle: u32::try_from(self.nodes.len()).unwrap_or(NONE),
            output_min_max: None,
        });
    }

    /// The payload: a header, the graph, and its constants.
    fn payload(self, arguments: u32, inputs: Vec<u32>, outputs: Vec<u32>) -> Vec<u8> {
        let root = model::XNNGraph {
            version: Some("0".into()),
            xnodes: Some(self.nodes),
            xvalues: Some(self.values),
            num_externs: arguments,
            input_ids: Some(inputs),
            output_ids: Some(outputs),
            constant_data: Some(self.offsets),
            ..model::XNNGraph::default()
        };
        let graph = write::write(&desc::SCHEMA, &root, &[], &WriterLayout::default());
        let graph = graph.unwrap_or_else(|error| panic!("a small graph: {error:?}"));
        let len = u32::try_from(graph.len()).unwrap_or(NONE);
        let end = 32 + len.next_multiple_of(16);
        let mut out = b"\0\0\0\0XH00\x1e\0".to_vec();
        out.extend([32, len, end].iter().flat_map(|word: &u32| word.to_le_bytes()));
        out.extend((self.constants.len() as u64).to_le_bytes());
        out.resize(32, 0);
        out.extend(graph);
        out.resize(usize::try_from(end).unwrap_or_default(), 0);
        out.extend(self.constants);
        out
    }
}

impl Smith<'_, '_> {
    /// A call of a graph of up to twelve nodes. A broken one has one to three changes.
    pub(super) fn graph(&mut self, is_broken: bool) -> Result<InstructionArguments> {
        let mut graph = Graph {
            values: Vec::new(),
            nodes: Vec::new(),
            offsets: vec![model::ConstantDataOffset::default()],
            constants: Vec::new(),
            refers: false,
        };
        let rank = *self.random.choose(&[1, 2, 3, 4, 4, 4])?;
        let mut dims = self.sizes(rank)?;
        let given = dims.clone();
        let input = graph.input(&dims);
        let mut last = input;
        for _ in 0..self.random.int_in_range(1..=12)? {
            (last, dims) = self.node(&mut graph, last, dims)?;
        }
        // The last value is an output.
        if let Some(model::XValue {
            xvalue_union: Some(model::XValueUnion::XNNTensorValue(tensor)),
        }) = graph.values.iter_mut().find(|value| {
            matches!(&value.xvalue_union,
                Some(model::XValueUnion::XNNTensorValue(tensor)) if tensor.id_out == last)
        }) {
            (tensor.external_id, tensor.flags) = (1, 2);
        }
        let graph_refers = graph.refers;
        let mut payload = graph.payload(2, vec![input], vec![last]);
        let changes = if is_broken { self.random.int_in_range(1..=3)? } else { 0 };
        for _ in 0..changes {
            self.change(&mut payload)?;
        }
        let signed = |dims: &[u32]| dims.iter().map(|&size| size.cast_signed()).collect();
        let mut dtype = ScalarType::FLOAT;
        if is_broken && self.random.ratio(1, 12)? {
            dtype = self.dtype()?;
        }
        let from = self.tensor(Place::Input, dtype, signed(&given))?;
        let to = self.tensor(Place::Planned, ScalarType::FLOAT, signed(&dims))?;
        self.plan.outputs.get_or_insert_default().push(to);
        // A segment is freed once the payload is loaded, with the constants that the backend refers to.
        let (location, index) = match graph_refers || self.random.ratio(1, 8)? {
            true => {
                let inline = self.file.root.backend_delegate_data.get_or_insert_default();
                inline.push(program::BackendDelegateInlineData { data: Some(payload) });
                (DataLocation::INLINE, u32::try_from(inline.len() - 1).unwrap_or(NONE))
            }
            false => (DataLocation::SEGMENT, self.file.add_segment(payload.into())),
        };
        let processed = program::BackendDelegateDataReference { location, index };
        let delegates = self.plan.delegates.get_or_insert_default();
        let delegate_index = i32::try_from(delegates.len()).unwrap_or(i32::MAX);
        delegates.push(program::BackendDelegate {
            id: Some("XnnpackBackend".into()),
            processed: Some(processed),
            compile_specs: Some(Vec::new()),
        });
        let mut args = vec![from, to];
        if is_broken && self.random.ratio(1, 24)? {
            args.reverse();
        }
        if is_broken && self.random.ratio(1, 24)? {
            args.push(self.value(KernelTypes::Null(program::Null {})));
        }
        Ok(InstructionArguments::DelegateCall(program::DelegateCall {
            delegate_index,
            args: Some(args),
        }))
    }

    /// Replaces a word of the header or the graph: an id, a size, an attribute, a datatype, or structure.
    fn change(&mut self, payload: &mut [u8]) -> Result<()> {
        let end = payload.get(18..22).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes);
        let end = usize::try_from(end.unwrap_or_default()).unwrap_or_default().min(payload.len());
        let at = 4 * self.random.int_in_range(8..=(end / 4).max(9) - 1)?;
        let Some(word) = payload.get_mut(at..at + 4) else { return Ok(()) };
        let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let new = match self.random.int_in_range(0..=5)? {
            0 => self.random.int_in_range(0..=6)?,
            1 => old.wrapping_add(1),
            2 => old.wrapping_sub(1),
            // A slot of a vtable becomes empty.
            3 => old & *self.random.choose(&[0xFFFF, 0xFFFF_0000])?,
            4 => *self.random.choose(&[NONE, 1 << 31, 1 << 16, 255, 64])?,
            _ => self.random.int_in_range(0..=31)?,
        };
        word.copy_from_slice(&new.to_le_bytes());
        Ok(())
    }

    fn sizes(&mut self, rank: usize) -> Result<Vec<u32>> {
        (0..rank).map(|_| self.random.int_in_range(1..=5)).collect()
    }

    /// Adds a node that reads `input_id`, and returns its output.
    fn node(
        &mut self,
        graph: &mut Graph,
        input_id: u32,
        dims: Vec<u32>,
    ) -> Result<(u32, Vec<u32>)> {
        use model::XNodeUnion::*;
        let is_small = dims.iter().product::<u32>() < MOST_ELEMENTS;
        // The backend removes a copy, and replaces one reading of it alone in the next node.
        let is_copy =
            matches!(graph.nodes.last(), Some(model::XNode { xnode_union: Some(XNNCopy(_)), .. }));
        let choice = match is_small {
            true => self.random.int_in_range(0..=15)?,
            false => 0,
        };
        let image = <[u32; 4]>::try_from(dims.as_slice()).ok();
        let flags = 0;
        Ok(match (choice, image) {
            (1 | 2, _) => {
                let input2_id = match is_copy || self.random.arbitrary()? {
                    true => {
                        graph.refers = true;
                        graph.constant(&dims)
                    }
                    false => input_id,
                };
                let output_id = graph.inner(&dims);
                let node = model::_XNNNode2x1 { input1_id: input_id, input2_id, output_id, flags };
                let all =
                    [XNNAdd, XNNDiv, XNNMinimum, XNNMultiply, XNNSubtract, XNNMaximum, XNNPReLU];
                graph.node(self.random.choose(&all)?(node));
                (output_id, dims)
            }
            (3, _) => {
                let (inputs, outputs) = (dims[dims.len() - 1], self.random.int_in_range(1..=5)?);
                let filter_id = graph.constant(&[outputs, inputs]);
                let bias_id = match self.random.arbitrary()? {
                    true => graph.constant(&[outputs]),
                    false => NONE,
                };
                let mut dims = dims;
                if let Some(last) = dims.last_mut() {
                    *last = outputs;
                }
                let output_id = graph.inner(&dims);
                let node = model::XNNFullyConnected {
                    input1_id: input_id,
                    filter_id,
                    bias_id,
                    output_id,
                    flags,
                };
                graph.node(XNNFullyConnected(node));
                (output_id, dims)
            }
            (14 | 15, _) => self.layer(graph, input_id, dims)?,
            (4, _) => {
                let new_shape = vec![dims.iter().product()];
                let output_id = graph.inner(&new_shape);
                graph.node(XNNStaticReshape(model::XNNStaticReshape {
                    num_dims: 1,
                    new_shape: Some(new_shape.clone()),
                    input_id,
                    output_id,
                    flags,
                }));
                (output_id, new_shape)
            }
            (5, _) => {
                let num_dims = u32::try_from(dims.len()).unwrap_or(NONE);
                let mut perm: Vec<u32> = (0..num_dims).collect();
                let by = self.random.choose_index(perm.len())?;
                perm.rotate_left(by);
                let mut dims = dims;
                dims.rotate_left(by);
                let output_id = graph.inner(&dims);
                graph.node(XNNStaticTranspose(model::XNNStaticTranspose {
                    num_dims,
                    perm: Some(perm),
                    input_id,
                    output_id,
                    flags,
                }));
                (output_id, dims)
            }
            (6, _) => {
                let mut offsets = Vec::new();
                let mut sizes = Vec::new();
                for &size in &dims {
                    let offset = self.random.int_in_range(0..=size - 1)?;
                    offsets.push(offset);
                    sizes.push(self.random.int_in_range(1..=size - offset)?);
                }
                let output_id = graph.inner(&sizes);
                graph.node(XNNStaticSlice(model::XNNStaticSlice {
                    num_dims: u32::try_from(dims.len()).unwrap_or(NONE),
                    offsets: Some(offsets),
                    sizes: Some(sizes.clone()),
                    input_id,
                    output_id,
                    flags,
                }));
                (output_id, sizes)
            }
            (7, _) => {
                let [mut before, mut after] = [Vec::new(), Vec::new()];
                for _ in &dims {
                    before.push(self.random.int_in_range(0..=1)?);
                    after.push(self.random.int_in_range(0..=1)?);
                }
                let around = before.iter().zip(&after).map(|(a, b)| a + b);
                let dims: Vec<u32> = dims.iter().zip(around).map(|(a, b)| a + b).collect();
                let output_id = graph.inner(&dims);
                graph.node(XNNStaticConstantPad(model::XNNStaticConstantPad {
                    pre_paddings: Some(before),
                    post_paddings: Some(after),
                    padding_value: 1.0,
                    input_id,
                    output_id,
                    flags,
                }));
                (output_id, dims)
            }
            (8, _) if !is_copy => {
                let axis = self.random.choose_index(dims.len())?;
                let count: u32 = self.random.int_in_range(2..=5)?;
                let mut dims = dims;
                dims[axis] *= count;
                let output_id = graph.inner(&dims);
                let has = |nth: u32| if nth <= count { input_id } else { NONE };
                let node = model::_XNNCat {
                    axis: u32::try_from(axis).unwrap_or(NONE),
                    input1_id: input_id,
                    input2_id: input_id,
                    input3_id: has(3),
                    input4_id: has(4),
                    input5_id: has(5),
                    output_id,
                    flags,
                };
                graph.node(match count {
                    2 => XNNConcatenate2(node),
                    3 => XNNConcatenate3(node),
                    4 => XNNConcatenate4(node),
                    _ => XNNConcatenate5(node),
                });
                (output_id, dims)
            }
            (9, Some([batch, height, width, channels])) => {
                let [kernel_height, kernel_width] = [
                    self.random.int_in_range(1..=height.min(3))?,
                    self.random.int_in_range(1..=width.min(3))?,
                ];
                let outputs = self.random.int_in_range(1..=4)?;
                let filter_id = graph.constant(&[outputs, kernel_height, kernel_width, channels]);
                let bias_id = graph.constant(&[outputs]);
                let dims =
                    vec![batch, height - kernel_height + 1, width - kernel_width + 1, outputs];
                let output_id = graph.inner(&dims);
                graph.node(XNNConv2d(model::_XNNNodeConv {
                    kernel_height,
                    kernel_width,
                    subsampling_height: 1,
                    subsampling_width: 1,
                    dilation_height: 1,
                    dilation_width: 1,
                    group_input_channels: channels,
                    group_output_channels: outputs,
                    groups: 1,
                    input1_id: input_id,
                    filter_id,
                    bias_id,
                    output_id,
                    ..model::_XNNNodeConv::default()
                }));
                (output_id, dims)
            }
            (10, Some([batch, height, width, channels])) => {
                let [pooling_height, pooling_width] = [
                    self.random.int_in_range(1..=height.min(3))?,
                    self.random.int_in_range(1..=width.min(3))?,
                ];
                let dims =
                    vec![batch, height - pooling_height + 1, width - pooling_width + 1, channels];
                let output_id = graph.inner(&dims);
                let node = model::_XNNPooling2D {
                    pooling_height,
                    pooling_width,
                    stride_height: 1,
                    stride_width: 1,
                    dilation_height: 1,
                    dilation_width: 1,
                    input_id,
                    output_id,
                    ..model::_XNNPooling2D::default()
                };
                let all = [XNNAvgPooling2d, XNNMaxPooling2d];
                graph.node(self.random.choose(&all)?(node));
                (output_id, dims)
            }
            (11, Some([batch, _, _, channels])) => {
                let (new_height, new_width) =
                    (self.random.int_in_range(1..=4)?, self.random.int_in_range(1..=4)?);
                let dims = vec![batch, new_height, new_width, channels];
                let output_id = graph.inner(&dims);
                graph.node(XNNStaticResizeBilinear2D(model::XNNStaticResizeBilinear2D {
                    new_height,
                    new_width,
                    input_id,
                    output_id,
                    flags,
                }));
                (output_id, dims)
            }
            (12, Some([batch, _, _, channels])) => {
                let dims = vec![batch, 1, 1, channels];
                let output_id = graph.inner(&dims);
                let node = model::_XNNNode1x1 { input_id, output_id, flags: KEEP_DIMS };
                graph.node(XNNGlobalAvgPooling2d(node));
                (output_id, dims)
            }
            _ => {
                let output_id = graph.inner(&dims);
                let node = model::_XNNNode1x1 { input_id, output_id, flags };
                let all = [
                    XNNSoftmax,
                    XNNSigmoid,
                    XNNClamp,
                    XNNFloor,
                    XNNSquareRoot,
                    XNNCeiling,
                    XNNHardswish,
                    XNNNegate,
                    XNNSquare,
                    XNNAbs,
                    XNNReciprocalSquareRoot,
                    XNNLog,
                    XNNGelu,
                    XNNTanh,
                    XNNExp,
                    XNNSin,
                    XNNCopy,
                    XNNCos,
                ];
                graph.node(self.random.choose(&all)?(node));
                (output_id, dims)
            }
        })
    }
}
