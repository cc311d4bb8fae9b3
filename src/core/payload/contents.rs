//! The contents of payloads: their parts, the data that their graphs use, and the constants of
//! XNNPACK with their quantization and the nodes that read them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use super::data_use::{self, DataUse};
use super::graph::Graph;
use super::inputs::{NodeInput, inputs};
use super::layout::Layout;
use super::place::{ConstantPlace, Key, NamedRanges};
use super::sections::Sections;
use super::tables::TablesPlace;
use super::xnnpack::{PayloadConstant, XnnpackGraph, tensor_of};
use crate::backend::Backend;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::desc::{Member, UnionDesc};
use pte_flat::view::Table;
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::{
    PerChannelGroupQuant, PerChannelQuant, XNNQuantParams, XNode, XValue, XValueUnion,
};

/// The contents of a payload whose layout is known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PayloadContents {
    /// The backend.
    pub backend: Backend,
    /// The range of the payload in the file.
    pub range: Range<u64>,
    /// The range of the graph in the file. It is empty if the payload has no known tables.
    pub graph: Range<u64>,
    /// The constants of a graph of XNNPACK, in the order of the graph's values.
    pub constants: Vec<GraphConstant>,
    /// The data that a graph of another backend uses.
    pub uses: Vec<DataUse>,
    /// The parts of the payload, with the bytes of its tables, if they were requested.
    pub layout: Option<Layout>,
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

/// The quantization of a constant.
#[derive(Clone, Debug, PartialEq)]
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
    /// Returns the contents of a program's payloads with known tables. A payload that several
    /// delegates of a backend share appears once. Payloads of other backends are left out, and so are payloads
    /// that cannot be read. If graphs overlap, the last payloads are left out when all graphs
    /// together would exceed the file's length.
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
        Self::read_all(handle, limits, false)
    }

    /// Returns the contents as [`all`](Self::all) does, with the parts of each payload: its tables,
    /// or the sections that its header lists. A [`Map`](pte_tools::map::Map) breaks such payloads down.
    ///
    /// The bytes of all graphs are kept in memory.
    ///
    /// # Errors
    ///
    /// The errors of [`all`](Self::all).
    pub fn all_with_parts<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        Self::read_all(handle, limits, true)
    }

    fn read_all<S: Source>(
        handle: &Handle<S>,
        limits: &Limits,
        has_parts: bool,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        let File::Pte(pte) = handle.file() else { return Ok(Vec::new()) };
        let mut named = NamedRanges::new();
        for (key, range) in pte.named_data() {
            if let (Some(key), Ok(range)) = (key, range) {
                cost::look_up(key, named.len());
                // If keys are equal, runtimes use the first entry.
                named.entry(key).or_insert(range);
            }
        }
        let mut all = Vec::new();
        let mut budget = limits.bytes_visited(pte.file_len());
        // Payloads may overlap, and data of each one is kept.
        let mut left = pte.file_len();
        let mut sections_left = pte.file_len() / BYTES_PER_SECTION;
        for payload in pte.distinct_payloads() {
            let (range, len) = (payload.range(), payload.len());
            let Some(backend) = payload.backend() else { continue };
            let mut read = |part: Range<u64>| {
                let size = part.end.saturating_sub(part.start);
                let Some(rest) = budget.checked_sub(size) else { return Ok(None) };
                budget = rest;
                let start = range.start.saturating_add(part.start);
                handle.source().read_vec(start..start.saturating_add(size)).map(Some)
            };
            let mut layout = Layout::new(len, Some(backend), limits);
            if !TablesPlace::is_known(backend) {
                let read = |part| read(part).map(Option::unwrap_or_default);
                let found = match has_parts {
                    true => Sections::of(backend, len, read)?,
                    false => None,
                };
                let Some(Ok(found)) = found else { continue };
                let count = wide(found.sections.len()).saturating_add(1);
                let Some(rest) = sections_left.checked_sub(count) else { continue };
                sections_left = rest;
                layout.add_sections(found.sections);
                layout.end_header_at_sections();
                let graph = range.start..range.start;
                let (constants, uses) = (Vec::new(), Vec::new());
                all.push(Self { backend, range, graph, constants, uses, layout: Some(layout) });
                continue;
            }
            let Some(head) = read(0..len.min(ForeignFormat::HEAD))? else { continue };
            let Some(Ok(place)) = TablesPlace::of_payload(backend, &head, len) else { continue };
            let Some(bytes) = read(place.range.clone())? else { continue };
            let mut contents = match Graph::at(backend, &place, (&head, len), &bytes, limits) {
                Ok(Some(graph)) => {
                    let size = place.range.end.saturating_sub(place.range.start);
                    let Some(rest) = left.checked_sub(size) else { continue };
                    left = rest;
                    Self::of(backend, range, &place, (&head, &graph), &named)
                }
                _ => continue,
            };
            if has_parts && layout.add_tables(&head, (place, bytes), false).is_ok() {
                contents.layout = Some(layout);
            }
            all.push(contents);
        }
        Ok(all)
    }

    /// Returns the contents of a payload that is a standalone file of `len` bytes. It begins with
    /// `head`, and its tables are at `place`.
    pub fn of_file(
        backend: Backend,
        len: u64,
        place: &TablesPlace,
        (head, graph): (&[u8], &Graph<'_>),
    ) -> Self {
        Self::of(backend, 0..len, place, (head, graph), &NamedRanges::new())
    }

    fn of(
        backend: Backend,
        range: Range<u64>,
        place: &TablesPlace,
        (head, graph): (&[u8], &Graph<'_>),
        named: &NamedRanges<'_>,
    ) -> Self {
        let at = |pos: u64| range.start.saturating_add(pos);
        let (mut constants, mut uses) = (Vec::new(), Vec::new());
        match graph {
            Graph::Xnnpack(graph) => constants = Self::constants(range.start, graph, named),
            graph => uses = data_use::all(graph, head, &range, named),
        }
        let graph = at(place.range.start)..at(place.range.end);
        Self { backend, range, graph, constants, uses, layout: None }
    }

    fn constants(
        start: u64,
        graph: &XnnpackGraph<'_>,
        named: &NamedRanges<'_>,
    ) -> Vec<GraphConstant> {
        let mut places = Places { graph, named, start, keys: BTreeMap::new() };
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
        constants
    }
}

impl GraphConstant {
    /// Returns the number of the constant's bytes; `None` if the payload has no such constant.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.data.bytes()
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

/// The number of bytes of a file for each section that is kept. Headers may overlap, and a section
/// needs memory.
const BYTES_PER_SECTION: u64 = 64;

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
                    (Key::from(key), self.named.get(key).cloned())
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
pub fn readers(graph: &XnnpackGraph<'_>) -> BTreeMap<u32, Reader> {
    let mut readers = BTreeMap::new();
    for (node, table) in (0..).zip(graph.root().xnodes().into_iter().flatten()) {
        for NodeInput { tag, input, id } in inputs(table) {
            cost::look_up("", readers.len());
            readers.entry(id).or_insert(Reader { node, tag, slot: input.slot });
        }
    }
    readers
}
