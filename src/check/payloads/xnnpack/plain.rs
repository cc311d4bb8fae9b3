//! Plain values and nodes, which are most of a graph. They are recognized by few reads of fields,
//! and need no other check. A debug build judges them in full too.

use super::datatypes;
use super::order::Order;
use super::shape::{MOST_DIMENSIONS, bits, is_small};
use super::value::{External, Quantization, Value};
use pte_core::payload::xnnpack::NO_ID;
use pte_flat::bytes::wide;
use pte_flat::view::{List, Raw, Table, Vtable};
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::{XNode, XNodeUnion, XValue, XValueUnion};

/// The vtables of the last table of a list, and of the last member of its union.
pub(super) struct Vtables<'p> {
    item: Vtable<'p>,
    member: Vtable<'p>,
}

impl<'p> Vtables<'p> {
    /// Returns an initial state that matches no table.
    pub(super) fn new() -> Self {
        Self { item: Vtable::default(), member: Vtable::default() }
    }

    /// Returns the tag and the member of the union in the table with index `nth`; `None` for an
    /// unknown tag.
    #[inline(always)]
    fn member<T: Table<'p>>(&mut self, list: List<'p, T>, nth: u32) -> Option<(u8, Raw<'p>)> {
        list.raw_by(nth, &mut self.item)?.member_by(T::DESC, &mut self.member)
    }
}

/// Returns the value with index `nth` if it is plain: not quantized, and no argument of a call.
/// `constant` returns the size of a constant in bytes.
#[inline(always)]
pub(super) fn value<'p>(
    values: List<'p, XValue<'p>>,
    nth: u32,
    vtables: &mut Vtables<'p>,
    constant: impl FnOnce(u32) -> Option<u64>,
) -> Option<Value<'p>> {
    let XValueUnion::XNNTensorValue(tensor) = XValueUnion::of(vtables.member(values, nth)?) else {
        return None;
    };
    let (id, stored, sizes) = (tensor.id_out(), tensor.datatype(), tensor.dims()?);
    let is_plain = tensor.flags() == 0
        && tensor.external_id() == NO_ID
        && tensor.dq_datatype() == XNNDatatype::xnn_datatype_invalid
        && datatypes::is_unquantized(stored)
        && sizes.len() <= MOST_DIMENSIONS
        && u64::from(tensor.num_dims()) == wide(sizes.len());
    if !is_plain {
        return None;
    }
    // A product that saturates is too large in any case, unless it has a factor 0.
    let elements = sizes.iter().fold(1, |all: u64, size| all.saturating_mul(size.into()));
    let bits = bits(stored)?;
    if !is_small(Some(elements), bits) {
        return None;
    }
    let constant = match tensor.constant_buffer_idx() {
        0 => None,
        nth => Some(
            constant(nth)
                .filter(|&have| elements.saturating_mul(bits) <= have.saturating_mul(8))?,
        ),
    };
    Some(Value {
        id,
        stored,
        datatype: stored,
        sizes: Some(sizes),
        quantization: Quantization::None,
        constant,
        external: External::No,
    })
}

/// Returns whether the node with index `nth` is plain: an operator without attributes that has a
/// kernel for floats, with values of f32 or f16 that are written in order and are no constants.
/// Records what it writes.
#[inline(always)]
pub(super) fn node<'p>(
    nodes: List<'p, XNode<'p>>,
    nth: u32,
    vtables: &mut Vtables<'p>,
    order: &mut Order<'_, 'p>,
) -> bool {
    use XNodeUnion::*;
    let Some(member) = vtables.member(nodes, nth) else { return false };
    let (inputs, output) = match XNodeUnion::of(member) {
        XNNAdd(node) | XNNSubtract(node) | XNNMultiply(node) | XNNDiv(node) | XNNMinimum(node)
        | XNNMaximum(node) | XNNPReLU(node) => {
            ([node.input1_id(), node.input2_id()], node.output_id())
        }
        XNNSoftmax(node)
        | XNNSigmoid(node)
        | XNNClamp(node)
        | XNNFloor(node)
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
        | XNNCos(node) => ([node.input_id(); 2], node.output_id()),
        _ => return false,
    };
    order.add_same(inputs, output, datatypes::is_float)
}
