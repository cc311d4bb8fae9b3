//! The order of the nodes that write and read values.

use alloc::vec::Vec;

use super::value::{External, State, Values};
use super::{Site, XNNPACK_ORDER};
use crate::report::Findings;
use pte_core::payload::xnnpack::{NO_ID, NodeIds};
use pte_flat::bytes::index;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::xnnpack::XNNDatatype;
use pte_schema::xnnpack::view::XNode;

/// Checks that at most one node writes each value, and none reads it before. No node may write a
/// constant or an input, and some node must write each output.
pub(super) struct Order<'v, 'p> {
    values: &'v Values<'p>,
    /// The state of each value, by its index.
    states: Vec<State>,
    /// Smaller ids are the indices of their values.
    equal: u32,
}

impl<'v, 'p> Order<'v, 'p> {
    /// Returns the state before the first node.
    pub(super) fn new(values: &'v Values<'p>) -> Self {
        Self { values, states: values.states().to_vec(), equal: values.equal() }
    }

    /// Returns whether a node reads and writes values of one datatype, which `takes` accepts, in
    /// order, and reads no constant. If so, records that it writes `output`.
    #[inline(always)]
    pub(super) fn add_same<const N: usize>(
        &mut self,
        inputs: [u32; N],
        output: u32,
        takes: impl Fn(XNNDatatype) -> bool,
    ) -> bool {
        let Some(&mut State { datatype, has_data: false, .. }) = self.state(output) else {
            return false;
        };
        let is_ready =
            |state: &mut State| state.has_data && !state.is_constant && state.datatype == datatype;
        takes(datatype)
            && inputs.into_iter().all(|id| self.state(id).is_some_and(is_ready))
            && self.write(output)
    }

    /// Returns the state of the value with an id that a node names.
    #[inline(always)]
    fn state(&mut self, id: u32) -> Option<&mut State> {
        let nth = match id < self.equal {
            true => id,
            false => self.values.index_of(id).filter(|_| id != NO_ID)?,
        };
        self.states.get_mut(index(nth))
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
                let path = path!["xnodes", nth];
                site.place.find(out, &XNNPACK_ORDER, node.raw(), &path, || {
                    format!("the node reads value {id}, which no node before it writes")
                });
            }
        }
        for &id in ids.outputs() {
            if !self.write(id) {
                let path = path!["xnodes", nth];
                site.place.find(out, &XNNPACK_ORDER, node.raw(), &path, || {
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

    /// Returns whether the value has data.
    #[inline]
    fn is_readable(&mut self, id: u32) -> bool {
        self.state(id).is_none_or(|state| state.has_data)
    }

    /// Records that a node writes the value. Returns `false` if the value had data before.
    #[inline]
    fn write(&mut self, id: u32) -> bool {
        self.state(id).is_none_or(|state| !core::mem::replace(&mut state.has_data, true))
    }

    /// Judges the outputs of the graph after the last node.
    pub(super) fn finish(self, site: &Site<'_, 'p>, out: &mut Findings) {
        for (nth, _) in self.values.outputs() {
            if self.states.get(index(nth)).is_some_and(|state| state.has_data) {
                continue;
            }
            if let Some(tensor) = site.tensor(nth) {
                let path = path!["xvalues", nth];
                site.place.find(out, &XNNPACK_ORDER, tensor.raw(), &path, || {
                    "no node writes this output of the graph".into()
                });
            }
        }
    }
}
