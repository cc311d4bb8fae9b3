//! The edges of a method: data from writers to readers, and control flow.

use alloc::vec::Vec;

use super::{Edge, EdgeKind, MethodGraph, MethodNode, NodeId, Writer};
use pte_flat::bytes::{index as at, narrow};

impl MethodGraph<'_> {
    /// Returns the edges: of lists and their items, of instructions, and to outputs.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        let lists = (0..narrow(self.values.len())).flat_map(|list| self.list_edges(list));
        let count = narrow(self.instructions.len());
        let instructions = (0..count).filter(|&pc| !self.is_view(pc));
        let instructions = instructions.flat_map(|pc| self.instruction_edges(pc));
        let outputs = (0..).zip(&self.outputs);
        let outputs =
            outputs.filter_map(|(nth, &value)| self.read(value, self.id(MethodNode::Output(nth))));
        let edges = lists.chain(instructions).chain(outputs);
        edges.filter(|edge| self.is_edge_shown(edge))
    }

    /// Returns the edges between a list and its items. They lead to the list, unless an instruction
    /// writes the list and it is no input. Then they lead to the items.
    fn list_edges(&self, list: u32) -> impl Iterator<Item = Edge> {
        let facts = self.values.get(at(list)).filter(|facts| facts.is_node);
        let facts = facts.filter(|_| self.is_list(at(list)));
        let items = facts.map_or_else(Vec::new, |_| self.items(at(list)));
        let is_read = facts.is_some_and(|facts| facts.writers == 0 || facts.is_input);
        let id = self.id(MethodNode::Value(list));
        items.into_iter().filter_map(move |item| match is_read {
            true => self.read(item, id),
            false => self.written(item, id),
        })
    }

    /// Returns the edges of an instruction: what it reads, what it writes, and what runs next.
    fn instruction_edges(&self, pc: u32) -> impl Iterator<Item = Edge> {
        let id = self.id(MethodNode::Instruction(pc));
        let reads = self.reads(pc).iter().filter_map(move |&value| self.read(value, id));
        let writes = self.writes(pc).iter().filter_map(move |&value| self.written(value, id));
        let jump = self.instructions.get(at(pc)).and_then(|facts| facts.jump);
        let control = move |to, kind| {
            let to = self.id(MethodNode::Instruction(to));
            Edge { from: id, to, kind, value: None }
        };
        let next = self.next(pc).map(|to| control(to, EdgeKind::Next));
        reads.chain(writes).chain(next).chain(jump.map(|to| control(to, EdgeKind::Jump)))
    }

    /// Returns the instruction that runs next, if an edge shows it.
    fn next(&self, pc: u32) -> Option<u32> {
        let count = narrow(self.instructions.len());
        let facts = self.instructions.get(at(pc))?;
        let rest = self.instructions.get(at(pc).saturating_add(1)..).unwrap_or_default();
        let skipped = rest.iter().take_while(|facts| facts.is_view).count();
        let next = pc.saturating_add(1).saturating_add(narrow(skipped));
        let is_line = self.instructions.get(at(next)).is_some_and(|facts| !facts.is_block_start);
        Some(next)
            .filter(|&next| next < count || facts.jump == Some(next))
            .filter(|_| self.is_order_whole || !is_line)
    }

    /// Returns the edge of a value to the reader `to`. It begins at the value's node, else at its
    /// writer. A value with neither has no edge.
    fn read(&self, value: u32, to: NodeId) -> Option<Edge> {
        let source = self.values.get(at(value))?.source.unwrap_or(value);
        let facts = self.values.get(at(source)).filter(|facts| !facts.is_folded)?;
        let from = match facts.first_writer {
            _ if facts.is_node => MethodNode::Value(source),
            Some(Writer::Instruction(pc)) => MethodNode::Instruction(pc),
            Some(Writer::List(list)) => MethodNode::Value(list),
            None => return None,
        };
        Some(Edge { from: self.id(from), to, kind: EdgeKind::Data, value: Some(value) })
    }

    /// Returns the edge from a writer of a value to the value's node, if there is one.
    fn written(&self, value: u32, from: NodeId) -> Option<Edge> {
        self.values.get(at(value)).filter(|facts| facts.is_node)?;
        let to = self.id(MethodNode::Value(value));
        Some(Edge { from, to, kind: EdgeKind::Data, value: Some(value) })
    }
}
