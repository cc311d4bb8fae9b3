//! The graph of XNNPACK in the form that all backends share.

use alloc::collections::BTreeMap;

use super::{NodeIds, PayloadConstant, XnnpackGraph, XnnpackHeader, XnnpackParts, tensor_of};
use crate::backend::magic;
use crate::payload::flatbuffer::{FlatBufferFormat, Parts};
use crate::payload::graph::{
    Builder, DataPlace, Datatype, Detail, Graph, Operator, Quantization, Role, Scales,
    ValueQuantization,
};
use pte_flat::bytes::{len_of, until_nul, wide};
use pte_flat::cost;
use pte_flat::desc::{FieldDesc, Kind};
use pte_flat::view::Table;
use pte_schema::xnnpack::desc;
use pte_schema::xnnpack::view::{OutputMinMax, XNNQuantParams, XNode, XValue, XValueUnion};

pub(in crate::payload) static FORMAT: FlatBufferFormat = FlatBufferFormat {
    schema: &desc::SCHEMA,
    identifiers: &magic::XNNPACK_GRAPH,
    header: XnnpackHeader::FIELDS,
    detail: Detail::Weights,
    parts: |head, len| {
        let XnnpackParts { graph, constants, .. } = XnnpackParts::of(head, len)?;
        Ok(Parts { graph, constants, section: None })
    },
    graph: |region| {
        let parts = XnnpackParts::of(region.head, region.len)?;
        Ok(XnnpackGraph::read(parts, region.bytes, region.limits)?.form())
    },
};

impl<'p> XnnpackGraph<'p> {
    /// Returns the graph in the form that all backends share.
    pub fn form(&self) -> Graph<'p> {
        let mut form = Form {
            graph: self,
            out: Builder::with_fields(len_of(&self.parts.graph)),
            indices: BTreeMap::new(),
        };
        for value in self.root().xvalues().into_iter().flatten() {
            form.add_value(value);
        }
        form.add_other_keys();
        self.root().xnodes().into_iter().flatten().for_each(|node| form.add_node(node));
        form.out.finish()
    }
}

/// A form to which values and nodes are added.
struct Form<'g, 'p> {
    graph: &'g XnnpackGraph<'p>,
    out: Builder<'p>,
    /// The index of the data of each constant that a value names.
    indices: BTreeMap<u32, u32>,
}

impl<'p> Form<'_, 'p> {
    fn add_value(&mut self, value: XValue<'_>) {
        let Some(tensor) = tensor_of(value) else { return };
        let (id, constant) = (tensor.id_out(), tensor.constant_buffer_idx());
        let role = match tensor.flags() {
            flags if flags & INPUT != 0 => Role::Input,
            flags if flags & OUTPUT != 0 => Role::Output,
            _ if constant != 0 => Role::Constant,
            _ => Role::Inner,
        };
        let datatype = Datatype::new(tensor.datatype().name(), tensor.datatype().0);
        let dims = tensor.dims().unwrap_or_default();
        let dims = (dims.len(), dims.iter());
        self.out.value(id, datatype, dims, (role, tensor.external_id()));
        if constant != 0 {
            let (data, _) = self.data(constant, id);
            self.out.set_data(data);
        }
        if let Some(XValueUnion::XNNQuantizedTensorValue(value)) = value.xvalue_union()
            && let Some(quantization) = value.quant_params()
        {
            let name = quantization.name();
            let of = self.quantization(quantization, id);
            self.out.set_quantization(ValueQuantization { name, of });
        }
    }

    /// Adds a node. Its attributes are the fields that are not 0, and the range of its output.
    fn add_node(&mut self, node: XNode<'p>) {
        self.out.begin_node(node.raw());
        let ids = node.xnode_union().and_then(NodeIds::of);
        let member = node.raw().member(XNode::DESC);
        let member = member.and_then(|(tag, raw)| Some((desc::XNodeUnion.member(tag)?, raw)));
        let (Some(ids), Some((member, raw))) = (ids, member) else {
            return self.out.node(Operator::Unknown, &[], &[]);
        };
        let attributes = self.out.next_attribute();
        let is_zero = |kind, slot| match kind {
            Kind::Scalar(of) => raw.number(slot, of.prim).is_none_or(|number| number == of.default),
            _ => false,
        };
        // The lists of a node say the number of its dimensions.
        let is_shown = |field: &&FieldDesc| {
            let (name, kind) = (field.name, field.kind);
            !name.ends_with("_id") && name != "num_dims" && !is_zero(kind, field.slot)
        };
        self.out.fields(raw, member.table.fields.iter().filter(is_shown));
        if let Some(range) = node.output_min_max() {
            self.out.fields(range.raw(), OutputMinMax::DESC.fields);
        }
        let ends = (ids.inputs(), ids.outputs());
        self.out.node_with(Operator::Member(member), ends, attributes);
    }

    /// Returns the index of the data of a constant that a value uses, and whether the data is new.
    fn data(&mut self, nth: u32, value: u32) -> (u32, bool) {
        cost::look_up("", self.indices.len());
        if let Some(&known) = self.indices.get(&nth) {
            return (known, false);
        }
        let place = match self.graph.constant(nth) {
            Ok(PayloadConstant::Behind(range) | PayloadConstant::Within { range, .. }) => {
                DataPlace::Payload(range)
            }
            Ok(PayloadConstant::Named { key, size }) => DataPlace::Named { key, size },
            Err(_) => DataPlace::Nowhere,
        };
        let index = self.out.data(place, Some(value));
        self.indices.insert(nth, index);
        (index, true)
    }

    /// Adds the named data that no value uses.
    fn add_other_keys(&mut self) {
        let constants = self.graph.root().constant_data().into_iter().flatten();
        for (nth, constant) in (0u32..).zip(constants) {
            cost::look_up("", self.indices.len());
            let key = constant.named_key().filter(|_| !self.indices.contains_key(&nth));
            // Writers give the first constant, which no index names, an empty key.
            if let Some(key) = key.map(until_nul).filter(|key| !key.is_empty()) {
                self.out.data(DataPlace::Named { key, size: constant.size() }, None);
            }
        }
    }

    fn quantization(&mut self, of: XNNQuantParams<'_>, value: u32) -> Quantization<u32> {
        match of {
            XNNQuantParams::PerTensorQuant(quant) => {
                Quantization::Tensor { scale: quant.scale(), zero_point: quant.zero_point() }
            }
            XNNQuantParams::PerChannelQuant(quant) => {
                let count = quant.scale().map_or(0, |scales| scales.len());
                let scales = self.scales(quant.scale_buffer_idx(), count, value);
                Quantization::Channel { axis: quant.channel_dim(), scales }
            }
            XNNQuantParams::PerChannelGroupQuant(quant) => {
                let count = quant.scale().map_or(0, |scales| scales.len());
                let older = quant.scale_bf16().map_or(0, |scales| scales.len());
                let scales = self.scales(quant.scale_buffer_idx(), count.max(older), value);
                let (axis, group_size) = (quant.channel_dim(), quant.group_size());
                Quantization::Group { axis, group_size, scales }
            }
            _ => Quantization::Other,
        }
    }

    /// Returns the place of scales: a constant, or with index 0 a list in the graph.
    fn scales(&mut self, constant: u32, count: usize, value: u32) -> Scales<u32> {
        if constant == 0 {
            return Scales::Graph(wide(count));
        }
        let (data, is_new) = self.data(constant, value);
        if is_new {
            self.out.set_scales(data);
        }
        Scales::Constant(data)
    }
}

/// The flags of inputs and outputs of a graph.
const INPUT: u32 = 1;
const OUTPUT: u32 = 2;

impl<'p> XnnpackGraph<'p> {
    /// Returns the keys of the named data that the constants are in, up to the first NUL.
    pub fn keys(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        let constants = self.root().constant_data().into_iter().flatten();
        constants.filter_map(|constant| constant.named_key()).map(until_nul)
    }
}
