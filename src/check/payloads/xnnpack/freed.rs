//! Constants that the backend reads after their payload is freed.
//!
//! `XnnpackBackend::init` frees the payload once it is compiled. The backend has then copied filters, biases
//! and their scales; it refers to all other constants. An inline payload stays in memory with the program.

use alloc::format;

use super::{Site, XNNPACK_CONSTANT_FREED};
use crate::bytes::index;
use crate::check::report::Findings;
use crate::error::PathComponent;
use crate::payload::ConstantUses;
use crate::payload::xnnpack::PayloadConstant;

/// Judges that constants which the backend does not copy are named data, if the payload is in a segment.
pub(super) fn judge(site: &Site<'_, '_>, out: &mut Findings) {
    if !site.is_freed {
        return;
    }
    for (nth, reader) in ConstantUses::of(site.graph).referenced() {
        if let Ok(PayloadConstant::Named { .. }) | Err(_) = site.graph.constant(nth) {
            continue;
        }
        let Some(node) = site.root().xnodes().and_then(|nodes| nodes.get(index(reader))) else {
            continue;
        };
        let path = [PathComponent::Field("xnodes"), PathComponent::Index(reader)];
        site.find(out, &XNNPACK_CONSTANT_FREED, node, &path, || {
            format!("the node reads constant {nth}, which is freed with the payload")
        });
    }
}
