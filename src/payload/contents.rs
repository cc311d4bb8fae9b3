//! The constants in payloads of XNNPACK: their places, quantization, and the nodes that read them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use super::for_each_xnnpack_graph;
use super::inputs::{NodeInput, inputs};
use super::xnnpack::{PayloadConstant, XnnpackGraph, tensor_of};
use crate::bytes::wide;
use crate::cost;
use crate::file::source::Source;
use crate::flat::desc::{Member, UnionDesc};
use crate::flat::view::Table;
use crate::handle::{File, Handle, OpenError};
use crate::limits::Limits;
use crate::quoted::Untrusted;
use crate::schema::xnnpack::XNNDatatype;
use crate::schema::xnnpack::view::{
    PerChannelGroupQuant, PerChannelQuant, XNNQuantParams, XNode, XValue, XValueUnion,
};

/// The contents of a payload of XNNPACK.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PayloadContents {
    /// The range of the payload in the file.
    pub range: Range<u64>,
    /// The range of the graph in the file.
    pub graph: Range<u64>,
    /// The constants, in the order of the graph's values.
    pub constants: Vec<GraphConstant>,
}

/// A value of a graph whose bytes are in a file: a constant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphConstant {
    /// The id of the value.
    pub value: u32,
    /// The datatype.
    pub datatype: XNNDatatype,
    /// The size of each dimension, outermost first: at most six, the maximum of the backend.
    pub dims: Vec<u32>,
    /// The place of the bytes.
    pub data: ConstantPlace,
    /// The quantization; `None` if the value has none.
    pub quantization: Option<Quantization>,
    /// The first node that reads the value; `None` if no node reads it.
    pub reader: Option<Reader>,
}

/// The place of a constant's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConstantPlace {
    /// A range of the file, in the payload.
    Payload(Range<u64>),
    /// Named data, of the program or of a `.ptd`.
    Named {
        /// The key.
        key: Key,
        /// The number of bytes that the payload declares for the data.
        size: u64,
        /// The range of the data in the file; `None` if the file does not have the key.
        range: Option<Range<u64>>,
    },
    /// The payload has no constant with this index, so the backend refuses the payload.
    Nowhere,
}

/// A key of named data. Several constants may share a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Arc<str>);

/// The quantization of a constant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Quantization {
    /// One scale and zero point.
    Tensor {
        /// The scale.
        scale: f32,
        /// The zero point.
        zero_point: i32,
    },
    /// One scale for each index of one dimension.
    Channel {
        /// The dimension whose indices have a scale each.
        axis: i32,
        /// The place of the scales, which are stored as f32.
        scales: Scales,
    },
    /// One scale for each group of elements of a channel.
    Group {
        /// The dimension of the channels.
        axis: i32,
        /// The number of elements that share a scale.
        group_size: i32,
        /// The place of the scales, which are f32 in the graph and bf16 in a constant.
        scales: Scales,
    },
    /// Another kind of quantization, which a constant cannot have.
    Other,
}

/// The place of scales.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scales {
    /// A list in the graph. The field is the number of scales in the list.
    Graph(u64),
    /// A constant of the payload.
    Constant(ConstantPlace),
}

/// A node that reads a constant. This struct is small, since a file may have a million constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reader {
    /// The index of the node.
    pub node: u32,
    /// The tag of the node's operator.
    tag: u8,
    /// The slot of the input in the operator's table.
    slot: u8,
}

impl PayloadContents {
    /// Returns the contents of a program's payloads. A payload that several delegates share appears
    /// once. Payloads of other backends are left out, and so are payloads that cannot be read. If
    /// graphs overlap, the last payloads are left out when all graphs together would exceed the
    /// file's length.
    ///
    /// Only headers and graphs are read, no constants.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn all<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        let mut named = NamedRanges::new();
        if let File::Pte(pte) = handle.file() {
            for (key, range) in pte.named_data() {
                if let (Some(key), Ok(range)) = (key, range) {
                    cost::look_up(key, named.len());
                    // If keys are equal, runtimes use the first entry.
                    named.entry(key).or_insert(range);
                }
            }
        }
        let mut all = Vec::new();
        for_each_xnnpack_graph(handle, limits, |payload, graph| {
            all.push(Self::of(payload.range(), graph, &named));
        })?;
        Ok(all)
    }

    /// Returns the contents of a payload that is a standalone file of `len` bytes.
    pub(crate) fn of_file(len: u64, graph: &XnnpackGraph<'_>) -> Self {
        Self::of(0..len, graph, &NamedRanges::new())
    }

    fn of(range: Range<u64>, graph: &XnnpackGraph<'_>, named: &NamedRanges<'_>) -> Self {
        let shifted = |part: &Range<u64>| {
            let at = |pos: u64| range.start.saturating_add(pos);
            at(part.start)..at(part.end)
        };
        let mut places = Places { graph, named, start: range.start, keys: BTreeMap::new() };
        let mut readers = readers(graph);
        let (mut constants, mut seen) = (Vec::new(), BTreeSet::new());
        for value in graph.root().xvalues().into_iter().flatten() {
            let Some(tensor) = tensor_of(value).filter(|tensor| tensor.constant_buffer_idx() != 0)
            else {
                continue;
            };
            // If several values have one id, the backend uses the first.
            let id = tensor.id_out();
            cost::look_up("", seen.len());
            if !seen.insert(id) {
                continue;
            }
            constants.push(GraphConstant {
                value: id,
                datatype: tensor.datatype(),
                dims: tensor.dims().into_iter().flat_map(|dims| dims.iter().take(6)).collect(),
                data: places.of(tensor.constant_buffer_idx()),
                quantization: places.quantization(value),
                reader: readers.remove(&id),
            });
        }
        Self { graph: shifted(&graph.parts().graph), range, constants }
    }
}

impl GraphConstant {
    /// Returns the number of the constant's bytes; `None` if the payload has no such constant.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.data.bytes()
    }
}

impl ConstantPlace {
    /// Returns the range of the bytes; `None` if the bytes are not in the file.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        match self {
            Self::Payload(range) => Some(range.clone()),
            Self::Named { range, .. } => range.clone(),
            Self::Nowhere => None,
        }
    }

    /// Returns the number of bytes that the payload declares; `None` if it has no such constant.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Payload(range) => Some(range.end.saturating_sub(range.start)),
            Self::Named { size, .. } => Some(*size),
            Self::Nowhere => None,
        }
    }
}

impl Key {
    /// Returns the text of the key.
    #[must_use]
    pub fn as_untrusted(&self) -> Untrusted<'_> {
        Untrusted::from(&*self.0)
    }
}

impl Quantization {
    /// Returns the name of the kind: `tensor`, `channel`, `group` or `other`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tensor { .. } => "tensor",
            Self::Channel { .. } => "channel",
            Self::Group { .. } => "group",
            Self::Other => "other",
        }
    }

    /// Returns the place of the scales; `None` unless they are in a constant.
    #[must_use]
    pub fn scales(&self) -> Option<&ConstantPlace> {
        match self {
            Self::Channel { scales: Scales::Constant(place), .. }
            | Self::Group { scales: Scales::Constant(place), .. } => Some(place),
            _ => None,
        }
    }
}

/// Finds constants. It keeps each key once, since small files may have many constants with one long
/// key.
struct Places<'g, 'p> {
    graph: &'g XnnpackGraph<'p>,
    /// The start of the payload in the file.
    start: u64,
    named: &'g NamedRanges<'g>,
    /// Each key and its data, by the position and length of the key in memory.
    keys: BTreeMap<(usize, usize), NamedPlace>,
}

/// A key, and the range of its data; `None` if the file does not have the data.
type NamedPlace = (Key, Option<Range<u64>>);

/// The ranges of a file's named data.
type NamedRanges<'k> = BTreeMap<&'k str, Range<u64>>;

impl Places<'_, '_> {
    fn of(&mut self, nth: u32) -> ConstantPlace {
        let at = |pos: u64| self.start.saturating_add(pos);
        match self.graph.constant(nth) {
            Ok(PayloadConstant::Behind(range)) => {
                ConstantPlace::Payload(at(range.start)..at(range.end))
            }
            Ok(PayloadConstant::Within { range, .. }) => {
                ConstantPlace::Payload(at(range.start)..at(range.end))
            }
            Ok(PayloadConstant::Named { key, size }) => {
                let place = (key.as_ptr().addr(), key.len());
                cost::look_up("", self.keys.len());
                let known = self.keys.entry(place).or_insert_with(|| {
                    cost::look_up(key, self.named.len());
                    (Key(Arc::from(key)), self.named.get(key).cloned())
                });
                let (key, range) = known.clone();
                ConstantPlace::Named { key, size, range }
            }
            Err(_) => ConstantPlace::Nowhere,
        }
    }

    fn quantization(&mut self, value: XValue<'_>) -> Option<Quantization> {
        let Some(XValueUnion::XNNQuantizedTensorValue(value)) = value.xvalue_union() else {
            return None;
        };
        Some(match value.quant_params()? {
            XNNQuantParams::PerTensorQuant(quant) => {
                Quantization::Tensor { scale: quant.scale(), zero_point: quant.zero_point() }
            }
            XNNQuantParams::PerChannelQuant(quant) => {
                Quantization::Channel { axis: quant.channel_dim(), scales: self.channels(quant) }
            }
            XNNQuantParams::PerChannelGroupQuant(quant) => Quantization::Group {
                axis: quant.channel_dim(),
                group_size: quant.group_size(),
                scales: self.groups(quant),
            },
            _ => Quantization::Other,
        })
    }

    fn channels(&mut self, quant: PerChannelQuant<'_>) -> Scales {
        match quant.scale_buffer_idx() {
            0 => Scales::Graph(quant.scale().map_or(0, |scales| wide(scales.len()))),
            nth => Scales::Constant(self.of(nth)),
        }
    }

    fn groups(&mut self, quant: PerChannelGroupQuant<'_>) -> Scales {
        let in_graph = quant.scale().map_or(0, |scales| scales.len());
        let older = quant.scale_bf16().map_or(0, |scales| scales.len());
        match quant.scale_buffer_idx() {
            0 => Scales::Graph(wide(in_graph.max(older))),
            nth => Scales::Constant(self.of(nth)),
        }
    }
}

impl Reader {
    /// Returns upstream's name of the operator.
    #[must_use]
    pub fn operator(&self) -> &'static str {
        self.member().map_or("", |member| member.name)
    }

    /// Returns the name of the input: its field without `_id`.
    #[must_use]
    pub fn input(&self) -> &'static str {
        let fields = self.member().map_or(&[][..], |member| member.table.fields);
        let field = fields.iter().find(|field| field.slot == u16::from(self.slot));
        field.and_then(|field| field.name.strip_suffix("_id")).unwrap_or_default()
    }

    /// Returns whether the constant is a weight, by which a node multiplies its input.
    #[must_use]
    pub fn is_weight(&self) -> bool {
        self.input() == "filter" || self.operator() == "XNNBatchMatrixMultiply"
    }

    fn member(self) -> Option<&'static Member> {
        let (_, union): (u16, &'static UnionDesc) = XNode::DESC.union?;
        union.member(self.tag)
    }
}

/// Returns the first node that reads each value.
pub(crate) fn readers(graph: &XnnpackGraph<'_>) -> BTreeMap<u32, Reader> {
    let mut readers = BTreeMap::new();
    for (node, table) in (0..).zip(graph.root().xnodes().into_iter().flatten()) {
        for NodeInput { tag, input, id } in inputs(table) {
            cost::look_up("", readers.len());
            readers.entry(id).or_insert(Reader { node, tag, slot: input.slot });
        }
    }
    readers
}
