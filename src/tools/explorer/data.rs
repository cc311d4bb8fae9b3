//! The nodes of a data file: its tensors and blobs, in layers by the modules that their names spell.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::constants::ConstantTexts;
use super::findings::{FindingPlace, Findings};
use super::namespaces::module_of;
use super::node::{Attributes, ExplorerNode, Metadata};
use crate::graph::tensor_type;
use pte_core::Ptd;
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::ptd::Entry;
use pte_flat::bytes::len_of;
use pte_flat::quoted::Untrusted;

/// Passes the nodes of a data file to `each`.
pub(super) fn each_node<E>(
    ptd: &Ptd<'_>,
    texts: &ConstantTexts,
    findings: &Findings,
    each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
) -> Result<(), E> {
    for (nth, entry) in (0..).zip(ptd.entries()) {
        let mut node = node(nth, &entry, texts);
        findings.describe(FindingPlace::Entry(nth), &mut node);
        each(node)?;
    }
    Ok(())
}

fn node(nth: u32, entry: &Entry<'_>, texts: &ConstantTexts) -> ExplorerNode {
    let key = entry.key().unwrap_or_default();
    let (namespace, label) = module_of(key);
    let mut node =
        ExplorerNode { id: format!("e{nth}"), label, namespace, ..ExplorerNode::default() };
    let attrs = &mut node.attrs;
    let layout = entry.layout();
    attrs.add("kind", if layout.is_some() { "tensor" } else { "blob" });
    attrs.add("key", Untrusted::from(key).cut(LONGEST_KEY));
    if let Some(layout) = layout {
        let shape = tensor_type(layout.scalar_type, layout.sizes.into_iter().flatten());
        attrs.add("type", &shape);
        let order = layout.dim_order.into_iter().flatten().take(MOST_DIMENSIONS);
        let order: Vec<_> = order.map(|dim| dim.to_string()).collect();
        attrs.add("dim order", order.join(", "));
        let mut facts = Attributes::default();
        facts.add("shape", shape);
        node.outputs_metadata.push(Metadata { id: "0".into(), attrs: facts });
    }
    match entry.range() {
        Ok(range) => {
            let bytes = len_of(&range);
            attrs.add("bytes", bytes);
            attrs.add("offset", range.start);
            node.measures.bytes = Some(bytes);
            if let Some(layout) = layout {
                texts.describe(&range, layout.scalar_type, attrs);
            }
        }
        Err(error) => attrs.add("broken", error),
    }
    node
}

/// The most characters of a key.
const LONGEST_KEY: usize = 200;
