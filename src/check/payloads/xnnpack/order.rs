//! The order of the nodes that write and read values.

use alloc::format;
use alloc::vec;

use super::values::{External, Values};
use super::{Site, XNNPACK_ORDER};
use crate::bytes::index;
use crate::check::report::Findings;
use crate::error::PathComponent;
use crate::payload::xnnpack::NodeIds;

/// Checks that at most one node writes each value, and none reads it before. No node may write a
/// constant or an input, and some node must write each output.
pub(super) fn judge<'p>(site: &Site<'_, 'p>, values: &Values<'p>, out: &mut Findings) {
    let mut written = vec![false; values.all().len()];
    for (written, value) in written.iter_mut().zip(values.all()) {
        *written = value.constant.is_some() || matches!(value.external, External::Input(_));
    }
    for (nth, node) in (0..).zip(site.root().xnodes().into_iter().flatten()) {
        let Some(ids) = node.xnode_union().and_then(NodeIds::of) else { continue };
        let path = [PathComponent::Field("xnodes"), PathComponent::Index(nth)];
        for &id in ids.inputs() {
            let at = values.index_of(id).map(index);
            if !at.and_then(|at| written.get(at).copied()).unwrap_or(true) {
                site.find(out, &XNNPACK_ORDER, node, &path, || {
                    format!("the node reads value {id}, which no node before it writes")
                });
            }
        }
        for &id in ids.outputs() {
            let at = values.index_of(id).map(index);
            let Some(written) = at.and_then(|at| written.get_mut(at)) else { continue };
            if core::mem::replace(written, true) {
                site.find(out, &XNNPACK_ORDER, node, &path, || {
                    let what = match values.get(id).map(|value| (value.constant, value.external)) {
                        Some((Some(_), _)) => "a constant",
                        Some((_, External::Input(_))) => "an input of the graph",
                        _ => "written before",
                    };
                    format!("the node writes value {id}, which is {what}")
                });
            }
        }
    }
    for (nth, (value, written)) in (0..).zip(values.all().iter().zip(written)) {
        if matches!(value.external, External::Output(_)) && !written {
            let path = [PathComponent::Field("xvalues"), PathComponent::Index(nth)];
            site.find(out, &XNNPACK_ORDER, value.tensor, &path, || {
                "no node writes this output of the graph".into()
            });
        }
    }
}
