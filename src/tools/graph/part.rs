//! The part of a graph that is drawn: an excerpt, with or without constants and view operators.

use alloc::vec::Vec;

use super::{
    Edge, EdgeKind, InstructionFacts, MethodGraph, MethodNode, NodeKind, Visibility, Writer,
};
use pte_core::method;
use pte_core::operators::{name_until_nul, rearranges};
use pte_flat::bytes::{index as at, narrow};
use pte_schema::program::view::{InstructionArguments, KernelTypes};

/// The options of a drawing: the parts of each method that are drawn. By default, it is all parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrawOptions {
    /// Leaves out the nodes of constants that only calls use. Arguments of these calls show them.
    pub folds_constants: bool,
    /// Leaves out the order of instructions inside a block, which is the order of the file.
    pub folds_order: bool,
    /// Leaves out calls that only change the sizes or the order of dimensions. Edges then join the
    /// users of the result with the viewed tensor.
    pub hides_views: bool,
    /// The instructions that are shown; `None` for all.
    pub part: Option<Excerpt>,
}

/// The instructions of a method that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Excerpt {
    /// An instruction, the instructions that it depends on, and the instructions that depend on it.
    Around {
        /// The instruction.
        place: InstructionPlace,
        /// The largest number of instructions on a path to or from this instruction.
        depth: u32,
    },
    /// The instructions between two, both included, in the order of the file.
    Between {
        /// The first instruction; `None` for the first one of the method.
        from: Option<InstructionPlace>,
        /// The last instruction; `None` for the last one of the method.
        to: Option<InstructionPlace>,
    },
}

/// The place of an instruction: its chain, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionPlace {
    /// The index of the chain.
    pub chain: u32,
    /// The index of the instruction in the chain.
    pub instruction: u32,
}

impl MethodGraph<'_> {
    /// Restricts the graph to what `shown` selects. Places that the method does not have are
    /// ignored.
    #[must_use]
    pub fn showing(mut self, shown: &DrawOptions) -> Self {
        if shown.folds_constants {
            self.fold_constants();
        }
        self.is_order_whole = !shown.folds_order;
        if shown.hides_views {
            let kept = match shown.part {
                Some(Excerpt::Around { place, .. }) => self.pc(place),
                _ => None,
            };
            self.hide_views(kept);
        }
        if let Some(part) = shown.part {
            self.select(part);
        }
        self
    }

    /// Returns the number of instructions.
    pub fn instruction_count(&self) -> usize {
        self.instructions.len()
    }

    /// Returns the number of instructions that are shown as nodes.
    pub fn shown_count(&self) -> usize {
        self.instructions.iter().filter(|facts| facts.is_shown()).count()
    }

    /// Returns the pc of the instruction at `place`.
    pub fn pc(&self, place: InstructionPlace) -> Option<u32> {
        let key = (place.chain, place.instruction);
        let found =
            self.instructions.binary_search_by_key(&key, |facts| (facts.chain, facts.index));
        found.ok().map(narrow)
    }

    fn fold_constants(&mut self) {
        for value in 0..narrow(self.values.len()) {
            let Some(facts) = self.values.get(at(value)) else { continue };
            let is_free = facts.is_node && !facts.is_kept && facts.writers == 0;
            let is_folded =
                is_free && matches!(self.kind(value), NodeKind::Constant | NodeKind::External);
            if let Some(facts) = self.values.get_mut(at(value)) {
                facts.is_folded = is_folded;
            }
        }
    }

    /// Hides the calls of operators that only view or rearrange their first argument. The source of
    /// each result becomes the value that it shows. The instruction `kept` stays.
    fn hide_views(&mut self, kept: Option<u32>) {
        let operators = self.plan.operators().into_iter().flatten();
        let operators: Vec<bool> = operators
            .map(|operator| {
                let name = name_until_nul(operator);
                rearranges(&name)
            })
            .collect();
        let all = 0..narrow(self.instructions.len());
        for pc in all.filter(|&pc| kept != Some(pc)) {
            let Some((source, result)) = self.hideable(pc, &operators) else { continue };
            let source = self.root(source);
            if let Some(facts) = self.values.get_mut(at(result)) {
                facts.source = Some(source);
            }
            if let Some(facts) = self.instructions.get_mut(at(pc)) {
                facts.is_view = true;
            }
        }
        for value in 0..narrow(self.values.len()) {
            if self.values.get(at(value)).is_some_and(|facts| facts.source.is_some()) {
                let root = self.root(value);
                self.values
                    .get_mut(at(value))
                    .into_iter()
                    .for_each(|facts| facts.source = Some(root));
            }
        }
    }

    /// Returns the value that a view shows in the end. The source of a view may be the result of a
    /// hidden call, which has a source too. That second source is final.
    fn root(&self, value: u32) -> u32 {
        let source = |value: u32| self.values.get(at(value)).and_then(|facts| facts.source);
        let by_place = source(value).unwrap_or(value);
        source(by_place).unwrap_or(by_place)
    }

    /// Returns the source and the result of the call of a view, if the call can be hidden.
    fn hideable(&self, pc: u32, operators: &[bool]) -> Option<(u32, u32)> {
        let facts = self.instructions.get(at(pc))?;
        let after = self.instructions.get(at(pc).saturating_add(1));
        if facts.is_block_start || after.is_some_and(|facts| facts.is_block_start) {
            return None;
        }
        let chain = self.plan.chains()?.get(at(facts.chain))?;
        let instruction = method::instruction_of_chain(facts.chain, chain, facts.index)?;
        let Some(InstructionArguments::KernelCall(call)) = instruction.operation() else {
            return None;
        };
        if !*operators.get(usize::try_from(call.op_index()).ok()?)? {
            return None;
        }
        let &[result] = self.writes(pc) else { return None };
        let source = u32::try_from(instruction.operands().get(0)?).ok()?;
        let (from, to) = (self.values.get(at(source))?, self.values.get(at(result))?);
        let dtype = |value: u32| match self.value(at(value)) {
            Some(KernelTypes::Tensor(tensor)) => Some(tensor.scalar_type()),
            _ => None,
        };
        let is_defined = from.is_node
            || from.source.is_some()
            || matches!(from.first_writer, Some(Writer::Instruction(writer)) if writer < pc);
        let is_plain = !to.is_node && to.writers == 1 && source != result;
        let is_converted = dtype(source).is_none() || dtype(source) != dtype(result);
        (is_defined && is_plain && !is_converted).then_some((source, result))
    }

    /// Shows a part: its instructions, and all nodes that an edge joins with them.
    fn select(&mut self, part: Excerpt) {
        let count = narrow(self.instructions.len());
        let mut is_in = vec![false; self.instructions.len()];
        match part {
            Excerpt::Between { from, to } => {
                let first = from.map_or(Some(0), |place| self.pc(place)).unwrap_or(0);
                let last = to.and_then(|place| self.pc(place)).unwrap_or(count);
                let range = at(first)..at(last).saturating_add(1).min(is_in.len());
                is_in.get_mut(range).unwrap_or_default().fill(true);
            }
            Excerpt::Around { place, depth } => {
                let Some(pc) = self.pc(place) else { return };
                for is_backward in [false, true] {
                    self.reach(pc, depth, is_backward, &mut is_in);
                }
            }
        }
        let is_inside = |node: MethodNode| match node {
            MethodNode::Instruction(pc) => is_in.get(at(pc)).copied().unwrap_or(false),
            _ => false,
        };
        let mut is_near = vec![false; self.instructions.len()];
        let mut values = vec![false; self.values.len()];
        let mut outputs = vec![false; self.outputs.len()];
        for edge in self.edges() {
            let ends = [edge.from.node, edge.to.node];
            if !ends.into_iter().any(is_inside) {
                continue;
            }
            for node in ends {
                let flag = match node {
                    MethodNode::Instruction(pc) => is_near.get_mut(at(pc)),
                    MethodNode::Value(value) => values.get_mut(at(value)),
                    MethodNode::Output(nth) => outputs.get_mut(at(nth)),
                };
                flag.into_iter().for_each(|flag| *flag = true);
            }
        }
        // The items of shown lists and the outputs of shown values are shown too.
        for edge in self.edges() {
            let is_shown = |value: u32| values.get(at(value)).copied().unwrap_or(false);
            match (edge.from.node, edge.to.node) {
                (MethodNode::Value(item), MethodNode::Value(list))
                    if is_shown(list) && self.is_list(at(list)) =>
                {
                    values.get_mut(at(item)).into_iter().for_each(|flag| *flag = true);
                }
                (MethodNode::Value(value), MethodNode::Output(nth)) if is_shown(value) => {
                    outputs.get_mut(at(nth)).into_iter().for_each(|flag| *flag = true);
                }
                _ => {}
            }
        }
        for (facts, is_shown) in self.values.iter_mut().zip(values) {
            facts.is_hidden = !is_shown;
        }
        let flags = is_in.into_iter().zip(is_near);
        for (facts, (is_inside, is_near)) in self.instructions.iter_mut().zip(flags) {
            facts.visibility = match (is_inside, is_near) {
                (true, _) => Visibility::Inside,
                (false, true) => Visibility::Outside,
                (false, false) => Visibility::Hidden,
            };
        }
        self.hidden_outputs = outputs.into_iter().map(|is_shown| !is_shown).collect();
    }

    /// Marks the instructions that depend on `pc` by at most `depth` steps of data flow. If
    /// `is_backward`, marks the instructions that `pc` depends on.
    fn reach(&self, pc: u32, depth: u32, is_backward: bool, is_in: &mut [bool]) {
        let (values, instructions) = (narrow(self.values.len()), narrow(self.instructions.len()));
        let number = |node: MethodNode| match node {
            MethodNode::Value(value) => value,
            MethodNode::Instruction(pc) => values.saturating_add(pc),
            MethodNode::Output(nth) => values.saturating_add(instructions).saturating_add(nth),
        };
        let data = self.edges().filter(|edge| edge.kind == EdgeKind::Data);
        let mut edges: Vec<(u32, u32)> = data
            .map(|edge| match is_backward {
                false => (number(edge.from.node), number(edge.to.node)),
                true => (number(edge.to.node), number(edge.from.node)),
            })
            .collect();
        edges.sort_unstable();
        let nodes = at(values).saturating_add(self.instructions.len());
        let mut is_seen = vec![false; nodes.saturating_add(self.outputs.len())];
        let (mut level, mut steps) = (vec![number(MethodNode::Instruction(pc))], 0u32);
        while !level.is_empty() {
            let mut next = Vec::new();
            while let Some(node) = level.pop() {
                let Some(is_seen) = is_seen.get_mut(at(node)) else { continue };
                if core::mem::replace(is_seen, true) {
                    continue;
                }
                if let Some(pc) = node.checked_sub(values).filter(|&pc| pc < instructions)
                    && let Some(is_in) = is_in.get_mut(at(pc))
                {
                    *is_in = true;
                }
                let first = edges.partition_point(|&(from, _)| from < node);
                let from_node = edges.get(first..).unwrap_or_default();
                for &(_, to) in from_node.iter().take_while(|&&(from, _)| from == node) {
                    // Only instructions count as steps, not values.
                    match to < values {
                        true => level.push(to),
                        false => next.push(to),
                    }
                }
            }
            if steps >= depth {
                break;
            }
            steps = steps.saturating_add(1);
            level = next;
        }
    }

    /// Returns whether an instruction is hidden, because it only makes a view.
    pub fn is_view(&self, pc: u32) -> bool {
        self.instructions.get(at(pc)).is_some_and(|facts| facts.is_view)
    }

    pub(super) fn is_output_hidden(&self, nth: u32) -> bool {
        self.hidden_outputs.get(at(nth)).copied().unwrap_or(false)
    }

    /// Returns whether an edge is shown: it has an end inside the shown part, and no hidden end. An
    /// edge between a value and an outside instruction is not shown.
    pub(super) fn is_edge_shown(&self, edge: &Edge) -> bool {
        let visibility = |node: MethodNode| {
            let hidden = |is_hidden| match is_hidden {
                true => Visibility::Hidden,
                false => Visibility::Inside,
            };
            match node {
                MethodNode::Value(value) => {
                    hidden(self.values.get(at(value)).is_some_and(|facts| facts.is_hidden))
                }
                MethodNode::Output(nth) => hidden(self.is_output_hidden(nth)),
                // The end of the method is shown with each jump that leads there.
                MethodNode::Instruction(pc) => self
                    .instructions
                    .get(at(pc))
                    .map_or(Visibility::Outside, |facts| facts.visibility),
            }
        };
        matches!(
            (visibility(edge.from.node), visibility(edge.to.node)),
            (Visibility::Inside, Visibility::Inside | Visibility::Outside)
                | (Visibility::Outside, Visibility::Inside)
        ) && !self.joins_outside(edge)
    }

    /// Returns whether an edge joins a value with an instruction outside of the shown part.
    fn joins_outside(&self, edge: &Edge) -> bool {
        let is_value = |node| !matches!(node, MethodNode::Instruction(_));
        let is_outside = |node: MethodNode| match node {
            MethodNode::Instruction(pc) => self
                .instructions
                .get(at(pc))
                .is_some_and(|facts| facts.visibility == Visibility::Outside),
            _ => false,
        };
        let ends = [(edge.from.node, edge.to.node), (edge.to.node, edge.from.node)];
        ends.into_iter().any(|(one, other)| is_value(one) && is_outside(other))
    }
}

impl InstructionFacts {
    /// Returns whether the instruction is shown as a node.
    pub(super) fn is_shown(&self) -> bool {
        !self.is_view && self.visibility != Visibility::Hidden
    }
}
