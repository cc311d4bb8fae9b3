//! Numbers that the backend does not read, and that every writer sets.

use super::{Site, XNNPACK_UNREAD};
use crate::report::Findings;
use pte_core::PathComponent;
use pte_core::payload::xnnpack::XnnpackHeader;
use pte_flat::bytes::wide;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::xnnpack::view::{XNNTensorValue, XNode, XNodeUnion};

/// Judges the length of the header, the numbers of dimensions, and the lists of inputs and outputs.
/// The values and nodes are added one by one.
pub(super) struct Unread {
    of_values: Findings,
    of_nodes: Findings,
    /// The number of values that are marked as inputs.
    inputs: u64,
    /// The number of values that are marked as outputs.
    outputs: u64,
}

impl Unread {
    /// Returns the state before the first value. `out` is a list of findings in the same file.
    pub(super) fn new(out: &Findings) -> Self {
        Self { of_values: out.another(), of_nodes: out.another(), inputs: 0, outputs: 0 }
    }

    /// Judges the tensor of the value with index `nth`.
    #[inline]
    pub(super) fn add_value<'p>(
        &mut self,
        site: &Site<'_, 'p>,
        nth: u32,
        tensor: XNNTensorValue<'p>,
    ) {
        match tensor.flags() {
            1 => self.inputs = self.inputs.saturating_add(1),
            2 => self.outputs = self.outputs.saturating_add(1),
            _ => {}
        }
        let (says, has) =
            (u64::from(tensor.num_dims()), tensor.dims().map_or(0, |dims| dims.len()));
        if says != wide(has) {
            let path = path!["xvalues", nth];
            site.place.find(&mut self.of_values, &XNNPACK_UNREAD, tensor.raw(), &path, || {
                format!("num_dims is {says}, and there are {has} dims")
            });
        }
    }

    /// Judges the node with index `nth`.
    #[inline]
    pub(super) fn add_node<'p>(
        &mut self,
        site: &Site<'_, 'p>,
        (nth, node): (u32, XNode<'p>),
        operator: Option<XNodeUnion<'p>>,
    ) {
        let (says, has) = match operator {
            Some(XNodeUnion::XNNStaticTranspose(node)) => (node.num_dims(), node.perm()),
            Some(XNodeUnion::XNNStaticReshape(node)) => (node.num_dims(), node.new_shape()),
            Some(XNodeUnion::XNNStaticSlice(node)) => (node.num_dims(), node.sizes()),
            _ => return,
        };
        let has = has.map_or(0, |list| list.len());
        if u64::from(says) != wide(has) {
            let path = path!["xnodes", nth];
            site.place.find(&mut self.of_nodes, &XNNPACK_UNREAD, node.raw(), &path, || {
                format!("num_dims is {says}, and there are {has} dimensions")
            });
        }
    }

    /// Judges the header and the lists after the last node, and reports all findings.
    pub(super) fn finish(self, site: &Site<'_, '_>, out: &mut Findings) {
        let root = site.root();
        if let Some(header) = site.graph.parts().header
            && header.length != XnnpackHeader::LENGTH
        {
            site.place.find(out, &XNNPACK_UNREAD, root.raw(), &[], || {
                format!("the header says that it has {} bytes", header.length)
            });
        }
        out.extend(self.of_values);
        let (inputs, outputs) = (self.inputs, self.outputs);
        for (name, ids, count) in
            [("input_ids", root.input_ids(), inputs), ("output_ids", root.output_ids(), outputs)]
        {
            let says = ids.map_or(0, |ids| wide(ids.len()));
            if says != count {
                site.place.find(
                    out,
                    &XNNPACK_UNREAD,
                    root.raw(),
                    &[PathComponent::Field(name)],
                    || format!("{name} has {says} ids, and flags mark {count} values"),
                );
            }
        }
        out.extend(self.of_nodes);
    }
}
