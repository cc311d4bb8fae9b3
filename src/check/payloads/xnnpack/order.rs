//! The order of the nodes that write and read values.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::values::{External, Value, Values};
use super::{Site, XNNPACK_ORDER};
use crate::bytes::index;
use crate::check::report::Findings;
use crate::error::PathComponent;
use crate::payload::xnnpack::NodeIds;
use crate::schema::xnnpack::view::XNode;

/// Checks that at most one node writes each value, and none reads it before. No node may write a
/// constant or an input, and some node must write each output.
pub(super) struct Order<'v, 'p> {
    values: &'v Values<'p>,
    /// Whether a node writes the value, by its index.
    written: Vec<bool>,
}

impl<'v, 'p> Order<'v, 'p> {
    /// Returns the state before the first node.
    pub(super) fn new(values: &'v Values<'p>) -> Self {
        Self { values, written: vec![false; values.all().len()] }
    }

    /// Judges the next node, whose index is `nth`.
    #[inline]
    pub(super) fn add(
        &mut self,
        site: &Site<'_, 'p>,
        (nth, node): (u32, XNode<'p>),
        ids: &NodeIds,
        out: &mut Findings,
    ) {
        for &id in ids.inputs() {
            if !self.is_readable(id) {
                let path = [PathComponent::Field("xnodes"), PathComponent::Index(nth)];
                site.find(out, &XNNPACK_ORDER, node, &path, || {
                    format!("the node reads value {id}, which no node before it writes")
                });
            }
        }
        for &id in ids.outputs() {
            if !self.write(id) {
                let path = [PathComponent::Field("xnodes"), PathComponent::Index(nth)];
                site.find(out, &XNNPACK_ORDER, node, &path, || {
                    let what =
                        match self.values.get(id).map(|value| (value.constant, value.external)) {
                            Some((Some(_), _)) => "a constant",
                            Some((_, External::Input(_))) => "an input of the graph",
                            _ => "written before",
                        };
                    format!("the node writes value {id}, which is {what}")
                });
            }
        }
    }

    /// Returns whether a node wrote the value, or the value has data before any node runs.
    #[inline]
    fn is_readable(&self, id: u32) -> bool {
        let Some(at) = self.values.index_of(id) else { return true };
        match self.written.get(index(at)) {
            Some(false) => self.values.get(id).is_some_and(Value::is_given),
            Some(true) | None => true,
        }
    }

    /// Records that a node writes the value. Returns `false` if the value had data before.
    #[inline]
    fn write(&mut self, id: u32) -> bool {
        let Some(at) = self.values.index_of(id) else { return true };
        let Some(written) = self.written.get_mut(index(at)) else { return true };
        !core::mem::replace(written, true) && !self.values.get(id).is_some_and(Value::is_given)
    }

    /// Judges the outputs of the graph after the last node.
    pub(super) fn finish(self, site: &Site<'_, 'p>, out: &mut Findings) {
        for (nth, _) in self.values.outputs() {
            if self.written.get(index(nth)) == Some(&true) {
                continue;
            }
            if let Some(tensor) = site.tensor(nth) {
                let path = [PathComponent::Field("xvalues"), PathComponent::Index(nth)];
                site.find(out, &XNNPACK_ORDER, tensor, &path, || {
                    "no node writes this output of the graph".into()
                });
            }
        }
    }
}
