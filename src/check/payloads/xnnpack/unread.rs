//! Numbers that the backend does not read, and that every writer sets.

use alloc::format;

use super::{Site, XNNPACK_UNREAD};
use crate::bytes::wide;
use crate::check::report::Findings;
use crate::error::PathComponent;
use crate::payload::xnnpack::{XnnpackHeader, tensor_of};
use crate::schema::xnnpack::view::XNodeUnion;

/// Judges the length of the header, the numbers of dimensions, and the lists of inputs and outputs.
pub(super) fn judge(site: &Site<'_, '_>, out: &mut Findings) {
    let root = site.root();
    if let Some(header) = site.graph.parts().header
        && header.length != XnnpackHeader::LENGTH
    {
        site.find(out, &XNNPACK_UNREAD, root, &[], || {
            format!("the header says that it has {} bytes", header.length)
        });
    }
    let (mut inputs, mut outputs) = (0u64, 0u64);
    for (nth, value) in (0..).zip(root.xvalues().into_iter().flatten()) {
        let Some(tensor) = tensor_of(value) else { continue };
        match tensor.flags() {
            1 => inputs = inputs.saturating_add(1),
            2 => outputs = outputs.saturating_add(1),
            _ => {}
        }
        let (says, has) =
            (u64::from(tensor.num_dims()), tensor.dims().map_or(0, |dims| dims.len()));
        if says != wide(has) {
            let path = [PathComponent::Field("xvalues"), PathComponent::Index(nth)];
            site.find(out, &XNNPACK_UNREAD, tensor, &path, || {
                format!("num_dims is {says}, and there are {has} dims")
            });
        }
    }
    for (name, ids, count) in
        [("input_ids", root.input_ids(), inputs), ("output_ids", root.output_ids(), outputs)]
    {
        let says = ids.map_or(0, |ids| wide(ids.len()));
        if says != count {
            site.find(out, &XNNPACK_UNREAD, root, &[PathComponent::Field(name)], || {
                format!("{name} has {says} ids, and flags mark {count} values")
            });
        }
    }
    for (nth, node) in (0..).zip(root.xnodes().into_iter().flatten()) {
        let (says, has) = match node.xnode_union() {
            Some(XNodeUnion::XNNStaticTranspose(node)) => (node.num_dims(), node.perm()),
            Some(XNodeUnion::XNNStaticReshape(node)) => (node.num_dims(), node.new_shape()),
            Some(XNodeUnion::XNNStaticSlice(node)) => (node.num_dims(), node.sizes()),
            _ => continue,
        };
        let has = has.map_or(0, |list| list.len());
        if u64::from(says) != wide(has) {
            let path = [PathComponent::Field("xnodes"), PathComponent::Index(nth)];
            site.find(out, &XNNPACK_UNREAD, node, &path, || {
                format!("num_dims is {says}, and there are {has} dimensions")
            });
        }
    }
}
