//! The nodes of a profile: the instructions that ran, and the events in them.

use alloc::string::{String, ToString};

use super::node::{Attributes, ExplorerNode, IncomingEdge, MOST_CHARACTERS, layer, nested};
use crate::profile::{EventTime, InstructionTime, Profile, Time};

/// Passes the nodes of a profile to `each`: events of the whole run, then instructions in their order.
pub(super) fn each_node<E>(
    profile: &Profile,
    each: &mut dyn FnMut(ExplorerNode) -> Result<(), E>,
) -> Result<(), E> {
    for (nth, event) in profile.methods.iter().enumerate() {
        each(event_node(format!("m{nth}"), "run".into(), event))?;
    }
    let mut before: Option<(u32, String)> = None;
    for of in &profile.instructions {
        let mut node = instruction_node(of);
        if let Some((_, source_node_id)) = before.take().filter(|(chain, _)| *chain == of.chain) {
            let (output, input) = ("0".into(), "0".into());
            node.incoming_edges.push(IncomingEdge {
                source_node_id,
                source_node_output_id: output,
                target_node_input_id: input,
            });
        }
        before = Some((of.chain, node.id.clone()));
        let (id, namespace) = (node.id.clone(), node.namespace.clone());
        each(node)?;
        for (nth, event) in of.events.iter().enumerate() {
            each(event_node(format!("{id}e{nth}"), namespace.clone(), event))?;
        }
    }
    Ok(())
}

fn instruction_node(of: &InstructionTime) -> ExplorerNode {
    let (chain, instruction) = (of.chain, of.instruction);
    let name = of.called();
    let mut namespace = format!("chain {chain}");
    if !of.events.is_empty() {
        namespace = nested(&namespace, &format!("{} {instruction}", layer(name.raw())));
    }
    let mut node = ExplorerNode {
        id: format!("c{chain}i{instruction}"),
        label: name.as_untrusted().cut(MOST_CHARACTERS),
        namespace,
        ..ExplorerNode::default()
    };
    node.attrs.add("instruction", format!("{chain}:{instruction}"));
    node.attrs.add("kind", if of.delegate { "delegate" } else { "instruction" });
    describe(of.time, &mut node.attrs);
    node.measures.ticks = Some(of.time.total);
    node.measures.instruction = Some((0, chain, instruction));
    node
}

fn event_node(id: String, namespace: String, event: &EventTime) -> ExplorerNode {
    let label = event.name.as_untrusted().cut(MOST_CHARACTERS);
    let mut node = ExplorerNode { id, label, namespace, ..ExplorerNode::default() };
    node.attrs.add("kind", "event");
    describe(event.time, &mut node.attrs);
    node
}

/// Adds the times to the attributes of a node.
pub(super) fn describe(time: Time, attrs: &mut Attributes) {
    attrs.add("times", time.count);
    attrs.add("ticks", time.total);
    if time.count > 1 {
        attrs.add("shortest", time.shortest.to_string());
        attrs.add("longest", time.longest.to_string());
    }
}
