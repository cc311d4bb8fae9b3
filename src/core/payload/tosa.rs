//! TOSA's payloads: the whole payload is the graph.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Unreadable;
use super::flatbuffer::{FlatBufferFormat, Parts, Region};
use super::graph::{Builder, DataPlace, Datatype, Detail, Ends, Graph, Literal, NO_ID, Role};
use crate::backend::magic;
use crate::element::packed::{BFloat16, Half};
use pte_flat::bytes::wide;
use pte_flat::cost;
use pte_flat::desc::{Kind, Number, Prim, TableDesc};
use pte_flat::view::{Raw, Table, Vector};
use pte_schema::tosa::view::{TosaGraph, TosaOperator};
use pte_schema::tosa::{DType, desc};

pub(super) static FORMAT: FlatBufferFormat = FlatBufferFormat {
    schema: &desc::SCHEMA,
    identifiers: &[magic::TOSA],
    header: &[],
    detail: Detail::Constants,
    parts: Parts::whole,
    graph,
};

/// Values of TOSA have names. Those of all blocks are in one graph. Constants are in the tables.
fn graph<'p>(region: &Region<'_, 'p>) -> Result<Graph<'p>, Unreadable> {
    let root: TosaGraph<'p> = region.root()?;
    let mut out =
        Form { out: Builder::with_fields(wide(region.bytes.len())), datatypes: BTreeMap::new() };
    let blocks = root.regions().into_iter().flatten();
    let blocks: Vec<_> = blocks.flat_map(|region| region.blocks().into_iter().flatten()).collect();
    let first = blocks.first();
    let inputs = out.out.ids(first.and_then(|block| block.inputs()));
    let ends = Ends::new(inputs, out.out.ids(first.and_then(|block| block.outputs())));
    for block in &blocks {
        for tensor in block.tensors().into_iter().flatten() {
            let sizes = tensor.shape().unwrap_or_default();
            let count = sizes.len();
            let sizes = sizes.iter().map(|size| u32::try_from(size).unwrap_or_default());
            let data = tensor.data().filter(|data| !data.is_empty());
            let name = tensor.name().unwrap_or_default();
            let id = out.out.id(name);
            let role = ends.role(id, data.is_some());
            out.value((id, name), tensor.r#type(), (count, sizes), (role, data));
        }
        for shape in block.shapes().into_iter().flatten() {
            let data = shape.data().filter(|data| !data.is_empty());
            let role = if data.is_some() { Role::Constant } else { Role::Inner };
            let name = shape.name().unwrap_or_default();
            let id = out.out.id(name);
            let sizes = (1, [shape.rank()].into_iter());
            out.value((id, name), DType::SHAPE, sizes, ((role, NO_ID), data));
        }
        block.operators().into_iter().flatten().for_each(|operator| out.node(operator));
    }
    Ok(out.out.finish())
}

/// A form to which values and nodes are added.
struct Form<'p> {
    out: Builder<'p>,
    /// The datatype of each value.
    datatypes: BTreeMap<u32, DType>,
}

impl<'p> Form<'p> {
    fn value(
        &mut self,
        (id, name): (u32, &'p str),
        datatype: DType,
        sizes: (usize, impl Iterator<Item = u32>),
        (role, data): ((Role, u32), Option<Vector<'p, u8>>),
    ) {
        cost::look_up("", self.datatypes.len());
        self.datatypes.entry(id).or_insert(datatype);
        self.out.value(id, Datatype::new(datatype.name(), datatype.0), sizes, role);
        let Some(data) = data else { return };
        let start = u64::from(data.pos());
        let place = DataPlace::Payload(start..start.saturating_add(wide(data.len())));
        let nth = self.out.data(place, Some(id));
        self.out.set_data(nth);
        self.out.set_name(id, name);
    }

    fn node(&mut self, operator: TosaOperator<'p>) {
        self.out.begin_node(operator.raw());
        let (reads, writes) = (self.out.ids(operator.inputs()), self.out.ids(operator.outputs()));
        let name = self.out.named(operator.op().name());
        let attributes = self.out.next_attribute();
        let member = operator.raw().member(TosaOperator::DESC);
        let member = member.and_then(|(tag, raw)| Some((desc::Attribute.member(tag)?.table, raw)));
        if let Some(member) = member {
            cost::look_up("", self.datatypes.len());
            let of = reads.first().and_then(|id| self.datatypes.get(id));
            self.attributes(member, of.copied().unwrap_or(DType::UNKNOWN));
        }
        self.out.node_with(name, (&reads, &writes), attributes);
    }

    /// Adds the fields of an operator's attributes. `datatype` is that of the operator's first input.
    fn attributes(&mut self, (desc, raw): (&'static TableDesc, Raw<'p>), datatype: DType) {
        for field in desc.fields {
            match field.kind {
                // The limits of a clamp.
                Kind::Scalars { prim: Prim::U8, .. } => {
                    let limit = raw.vector(field.slot).and_then(|bytes| element(bytes, datatype));
                    limit.into_iter().for_each(|limit| self.out.attribute(field.name, limit));
                }
                _ => self.out.fields(raw, [field]),
            }
        }
    }
}

/// Returns the number that bytes are; `None` unless they are one number of the datatype.
fn element(bytes: Vector<'_, u8>, datatype: DType) -> Option<Literal<'static>> {
    let bytes = bytes.bytes();
    let short = || <[u8; 2]>::try_from(bytes).ok();
    let prim = match datatype {
        DType::FP16 => return Some(Literal::Float(Half::from_bytes(short()?).to_f64())),
        DType::BF16 => return Some(Literal::Float(BFloat16::from_bytes(short()?).to_f64())),
        DType::INT8 => Prim::I8,
        DType::INT16 => Prim::I16,
        DType::INT32 => Prim::I32,
        DType::INT64 => Prim::I64,
        DType::FP32 => Prim::F32,
        _ => return None,
    };
    let number = Number::from_le(bytes, prim);
    number.filter(|_| bytes.len() == usize::from(prim.size())).and_then(Literal::of_number)
}
