//! The nodes of a method: values, instructions, outputs.

use alloc::string::String;
use alloc::vec::Vec;

use super::{GraphNode, InstructionFacts, MethodGraph, MethodNode, NodeId, NodeKind, Visibility};
use pte_core::{Storage, method, value_at};
use pte_flat::bytes::{index as at, narrow};
use pte_flat::quoted::Untrusted;
use pte_schema::program::view::{InstructionArguments, KernelTypes};

impl<'a> MethodGraph<'a> {
    /// Returns the nodes: values, instructions, the end if a jump leads there, and outputs.
    pub fn nodes(&self) -> impl Iterator<Item = GraphNode<'_>> {
        let values = (0..).zip(&self.values);
        let values =
            values.filter(|(_, value)| value.is_node && !value.is_folded && !value.is_hidden);
        let values = values.map(|(index, _)| GraphNode {
            value: Some(index),
            name: self.value_name(index),
            ..self.node(MethodNode::Value(index), self.kind(index), Some(self.value_text(index)))
        });
        let instructions = (0..).zip(&self.instructions);
        let instructions = instructions.filter(|(_, facts)| facts.is_shown());
        let instructions = instructions.map(|(pc, facts)| self.instruction_node(pc, facts));
        let count = narrow(self.instructions.len());
        let mut inside =
            self.instructions.iter().filter(|facts| facts.visibility == Visibility::Inside);
        let has_end = inside.any(|facts| facts.jump == Some(count));
        let end = has_end.then(|| self.node(MethodNode::Instruction(count), NodeKind::End, None));
        let outputs = (0..).zip(&self.outputs);
        let outputs = outputs.filter(|(nth, _)| !self.is_output_hidden(*nth));
        let outputs = outputs.map(|(nth, &value)| GraphNode {
            value: Some(value),
            ..self.node(MethodNode::Output(nth), NodeKind::Output, Some(self.value_text(value)))
        });
        values.chain(instructions).chain(end).chain(outputs)
    }

    fn node(&self, node: MethodNode, kind: NodeKind, text: Option<String>) -> GraphNode<'_> {
        GraphNode {
            id: NodeId { method: self.index, node },
            kind,
            name: None,
            chain: None,
            instruction: None,
            args: None,
            arguments: None,
            value: None,
            payload: None,
            text,
        }
    }

    fn instruction_node(&self, pc: u32, facts: &InstructionFacts) -> GraphNode<'_> {
        let chain = self.plan.chains().and_then(|chains| chains.get(at(facts.chain)));
        let instruction =
            chain.and_then(|chain| method::instruction_of_chain(facts.chain, chain, facts.index));
        let operation = instruction.and_then(|instruction| instruction.operation());
        let mut payload = None;
        let (kind, name, text) = match operation {
            Some(InstructionArguments::KernelCall(call)) => {
                let index = call.op_index();
                let nth = usize::try_from(index).ok();
                let name = nth.and_then(|nth| self.operators.get(nth)).map(Untrusted::from);
                let text = name.is_none().then(|| format!("no operator {index}"));
                (NodeKind::Kernel, name, text)
            }
            Some(InstructionArguments::DelegateCall(call)) => {
                let index = call.delegate_index();
                let delegates = self.plan.delegates().zip(usize::try_from(index).ok());
                let delegate = delegates.and_then(|(delegates, nth)| delegates.get(nth));
                let text = match delegate {
                    Some(_) => format!("delegate {index}"),
                    None => format!("no delegate {index}"),
                };
                let name = delegate.and_then(|delegate| delegate.id()).map(Untrusted::from);
                payload = self.payload(index);
                (NodeKind::Delegate, name, Some(text))
            }
            Some(InstructionArguments::MoveCall(_)) => (NodeKind::Move, None, None),
            Some(InstructionArguments::FreeCall(_)) => (NodeKind::Free, None, None),
            Some(InstructionArguments::JumpFalseCall(call)) => {
                let to = call.destination_instruction();
                let text = facts.jump.is_none().then(|| format!("to {to}, which is nowhere"));
                (NodeKind::Jump, None, text)
            }
            Some(InstructionArguments::Unknown(_)) | None => (NodeKind::Unknown, None, None),
        };
        if facts.visibility == Visibility::Outside {
            return GraphNode {
                name,
                chain: Some(facts.chain),
                instruction: Some(facts.index),
                ..self.node(MethodNode::Instruction(pc), NodeKind::Outside, None)
            };
        }
        let args: Vec<i32> =
            instruction.into_iter().flat_map(|instruction| instruction.operands().iter()).collect();
        let is_call = matches!(kind, NodeKind::Kernel | NodeKind::Delegate);
        let arguments = is_call
            .then(|| args.iter().take(MOST_ARGUMENTS).map(|&value| self.argument(value)).collect());
        GraphNode {
            name,
            chain: Some(facts.chain),
            instruction: Some(facts.index),
            args: Some(args),
            arguments,
            payload,
            ..self.node(MethodNode::Instruction(pc), kind, text)
        }
    }

    /// Returns the kind of a value's node, by where its contents come from.
    pub fn kind(&self, value: u32) -> NodeKind {
        let index = at(value);
        let Some(facts) = self.values.get(index) else { return NodeKind::Value };
        match self.value(index) {
            _ if facts.is_input => NodeKind::Input,
            _ if self.is_list(index) => NodeKind::List,
            // The size is not asked for: any number of calls may name a tensor of many dimensions.
            Some(KernelTypes::Tensor(tensor)) => match self.pte.storage_of(tensor, || Ok(0)) {
                Ok(Storage::Constant(_)) => NodeKind::Constant,
                Ok(Storage::Planned { initial: Some(_), .. }) => NodeKind::Mutable,
                Ok(Storage::External { .. }) => NodeKind::External,
                _ => NodeKind::Value,
            },
            _ if facts.writers == 0 => NodeKind::Constant,
            _ => NodeKind::Value,
        }
    }

    /// Returns the contents of a value.
    pub(super) fn value(&self, index: usize) -> Option<KernelTypes<'a>> {
        value_at(self.plan, index)
    }

    /// Returns whether a value is a list of tensors, optional ones or not.
    pub fn is_list(&self, index: usize) -> bool {
        matches!(
            self.value(index),
            Some(KernelTypes::TensorList(_) | KernelTypes::OptionalTensorList(_))
        )
    }
}

/// The largest number of arguments of a call that are shown as text.
const MOST_ARGUMENTS: usize = 64;
