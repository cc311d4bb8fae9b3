//! The graph of an MLX payload in the form that all backends share.

use alloc::vec::Vec;

use super::super::Unreadable;
use super::super::flatbuffer::Region;
use super::super::graph::{Builder, DataPlace, Datatype, Ends, Graph, Literal, Operator};
use super::operands::{Operand, OperandKind, for_each_operand, one_of};
use crate::limits::MOST_DIMENSIONS;
use pte_flat::bytes::{index, until_nul, wide};
use pte_flat::cost;
use pte_flat::desc::{Kind, TableDesc};
use pte_flat::view::{List, Raw, Table};
use pte_schema::mlx::view::{Instruction, MLXGraph, SlotVariant, TensorMeta};
use pte_schema::mlx::{SlotType, desc};
use pte_schema::scalar::ScalarType;

/// Instructions of MLX name tensors in their fields: those that begin with `out` are written.
pub(super) fn graph<'p>(region: &Region<'_, 'p>) -> Result<Graph<'p>, Unreadable> {
    let root: MLXGraph<'p> = region.root()?;
    let mut out = Builder::with_fields(wide(region.bytes.len()));
    let constants = root.num_constant_tensors();
    let metas = root.tensor_meta().unwrap_or_default();
    // The data of each tensor: constants are found by their names.
    let mut data = vec![None; metas.len()];
    for slot in root.named_slots().into_iter().flatten() {
        let tensor = slot.slot().and_then(tensor).filter(|&id| id < constants);
        let key = slot.name().map(until_nul).filter(|key| !key.is_empty());
        let (Some(id), Some(key)) = (tensor, key) else { continue };
        let size = metas.get(index(id)).and_then(size).unwrap_or_default();
        let nth = out.data(DataPlace::Named { key, size }, Some(id));
        data.get_mut(index(id)).into_iter().for_each(|data| *data = Some(nth));
    }
    let ids = |map: Option<List<'p, SlotVariant<'p>>>| map.into_iter().flatten().filter_map(tensor);
    let ends = Ends::new(ids(root.input_map()), ids(root.output_map()));
    for (id, (meta, data)) in (0u32..).zip(metas.iter().zip(data)) {
        let datatype = ScalarType(meta.scalar_type());
        let datatype = Datatype::new(datatype.name(), datatype.0);
        let shape = meta.shape().unwrap_or_default();
        let sizes = shape.iter().map(|size| u32::try_from(size.value()).unwrap_or_default());
        out.value(id, datatype, (shape.len(), sizes), ends.role(id, id < constants));
        data.into_iter().for_each(|nth| out.set_data(nth));
    }
    let chains = root.instruction_chains().into_iter().flatten();
    for instruction in chains.flat_map(|chain| chain.instructions().into_iter().flatten()) {
        cost::charge(1);
        add_node(&mut out, instruction);
    }
    Ok(out.finish())
}

fn add_node<'p>(out: &mut Builder<'p>, instruction: Instruction<'p>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let node =
        for_each_operand(instruction.raw(), |Operand { kind, index, is_written, .. }| {
            let Some(id) = u32::try_from(index).ok().filter(|_| kind == OperandKind::Tensor) else {
                return;
            };
            if is_written { &mut writes } else { &mut reads }.push(id);
        });
    let member = instruction.raw().member(&desc::Instruction);
    let member = member.and_then(|(tag, _)| desc::OpNode.member(tag));
    let (Some(node), Some(member)) = (node, member) else {
        return out.node(Operator::Unknown, &[], &[]);
    };
    out.begin_node(node);
    let attributes = out.next_attribute();
    for field in member.table.fields {
        let literal = match field.kind {
            Kind::Scalar(scalar) if scalar.of.is_some_and(|of| of.name == "Tid") => continue,
            Kind::Scalar(scalar) if scalar.of.is_some() => {
                node.scalar::<u32>(field.slot).map(Literal::Value)
            }
            Kind::Table(table) => node.target(field.slot).and_then(|raw| number(raw, table)),
            Kind::Tables(table) => {
                let list = node.list::<Raw<'_>>(field.slot);
                list.map(|list| out.listed(list.raws().filter_map(|raw| number(raw, table))))
            }
            _ => {
                out.fields(node, [field]);
                continue;
            }
        };
        literal.into_iter().for_each(|literal| out.attribute(field.name, literal));
    }
    out.node_with(Operator::Member(member), (&reads, &writes), attributes);
}

/// Returns the number that a table has, or the value that has it; `None` for a tensor.
fn number<'p>(raw: Raw<'p>, table: &'static TableDesc) -> Option<Literal<'p>> {
    match one_of(raw, table) {
        Some((OperandKind::Value, index)) => u32::try_from(index).ok().map(Literal::Value),
        Some(_) => None,
        None => Literal::of_field(raw, table.field("literal")?),
    }
}

/// Returns the index of a tensor; `None` for a slot with something else.
fn tensor(slot: SlotVariant<'_>) -> Option<u32> {
    (slot.slot_type() == SlotType::TensorSlot).then(|| slot.idx())
}

/// Returns the number of bytes of a tensor; `None` if a size or the datatype is unknown.
fn size(meta: TensorMeta<'_>) -> Option<u64> {
    let shape = meta.shape().unwrap_or_default();
    let mut bytes = ScalarType(meta.scalar_type()).element_size()?;
    // The backend refuses more dimensions.
    for size in shape.iter().take(MOST_DIMENSIONS) {
        bytes = bytes.checked_mul(u64::try_from(size.value()).ok()?)?;
    }
    Some(bytes)
}
