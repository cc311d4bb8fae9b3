//! An instruction, decoded once: its place, its operation, and the values that it names.

use pte_flat::bytes::{index as at, narrow};
use pte_flat::view::{Table, Vector};
use pte_schema::program::view::{self, Chain, ExecutionPlan, InstructionArguments, KernelCall};

/// An instruction of a method.
///
/// The instructions of all chains are numbered in the order in which chains and their instructions
/// run. This number is the program counter, `pc`.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    chain: u32,
    index: u32,
    /// The pcs of the chain are `begin..end`.
    begin: u32,
    end: u32,
    /// The position of the instruction's table.
    pos: u32,
    operation: Option<InstructionArguments<'a>>,
}

/// A jump that is taken if its condition is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Jump {
    /// The index of the value that is the condition.
    pub condition: i32,
    /// The target as the file has it: the index of an instruction in its chain.
    pub destination: i32,
    /// The pc of the target. An invalid target ends the chain, as in the runtime: it is the pc past
    /// the chain's last instruction.
    pub target: u32,
    /// Whether the target is an instruction of the chain, or the end of the chain.
    pub is_valid: bool,
}

/// The values that an instruction names, in the order of the file.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a>(List<'a>);

#[derive(Clone, Copy, Debug)]
enum List<'a> {
    Args(Vector<'a, i32>),
    Fields([i32; 2], usize),
}

/// Returns the instructions of all chains of `plan`.
pub fn instructions(plan: ExecutionPlan<'_>) -> impl Iterator<Item = Instruction<'_>> {
    let mut begin = 0u32;
    (0..).zip(plan.chains().into_iter().flatten()).flat_map(move |(nth, chain)| {
        let all = instructions_of_chain(nth, begin, chain);
        begin = begin.saturating_add(len(chain));
        all
    })
}

/// Returns the instructions of a chain. `begin` is the pc of the first one.
pub fn instructions_of_chain(
    nth: u32,
    begin: u32,
    chain: Chain<'_>,
) -> impl Iterator<Item = Instruction<'_>> {
    let chain_pcs = (begin, begin.saturating_add(len(chain)));
    let all = (0..).zip(chain.instructions().into_iter().flatten());
    all.map(move |(index, view)| Instruction::decode((nth, index), chain_pcs, view))
}

/// Returns instruction `index` of chain `nth`; its pc counts from the beginning of the chain.
pub fn instruction_of_chain(nth: u32, chain: Chain<'_>, index: u32) -> Option<Instruction<'_>> {
    let view = chain.instructions()?.get(at(index))?;
    Some(Instruction::decode((nth, index), (0, len(chain)), view))
}

fn len(chain: Chain<'_>) -> u32 {
    narrow(chain.instructions().map_or(0, |all| all.len()))
}

impl<'a> Instruction<'a> {
    /// Decodes an instruction. `place` is the index of its chain and its index in the chain. The
    /// pcs of the chain are `begin..end`.
    #[inline]
    pub fn decode(
        (chain, index): (u32, u32),
        (begin, end): (u32, u32),
        view: view::Instruction<'a>,
    ) -> Self {
        let (pos, operation) = (view.raw().pos(), view.instr_args());
        Self { chain, index, begin, end, pos, operation }
    }

    /// Returns the index of the instruction's chain.
    pub fn chain(&self) -> u32 {
        self.chain
    }

    /// Returns the instruction's index in its chain.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the instruction's number among the instructions of all chains.
    pub fn pc(&self) -> u32 {
        self.begin.saturating_add(self.index)
    }

    /// Returns the pc past the last instruction of the chain.
    pub fn chain_end(&self) -> u32 {
        self.end
    }

    /// Returns the number of instructions of the chain.
    pub fn chain_len(&self) -> u32 {
        self.end.saturating_sub(self.begin)
    }

    /// Returns the operation; `None` if the instruction is empty.
    pub fn operation(&self) -> Option<InstructionArguments<'a>> {
        self.operation
    }

    /// Returns the tag of the operation; 0 if the instruction is empty.
    pub fn tag(&self) -> u8 {
        self.operation.map_or(0, |operation| operation.tag())
    }

    /// Returns the upstream name of the operation; `None` if it is missing or of an unknown kind.
    pub fn name(&self) -> Option<&'static str> {
        self.operation.and_then(InstructionArguments::name)
    }

    /// Returns the position of the instruction's table.
    pub fn pos(&self) -> u32 {
        self.pos
    }

    /// Returns the position of the operation's table, or of the instruction's table if the
    /// operation is missing or of an unknown kind.
    pub fn operation_pos(&self) -> u32 {
        match self.operation {
            Some(InstructionArguments::KernelCall(call)) => call.raw().pos(),
            Some(InstructionArguments::DelegateCall(call)) => call.raw().pos(),
            Some(InstructionArguments::MoveCall(call)) => call.raw().pos(),
            Some(InstructionArguments::JumpFalseCall(call)) => call.raw().pos(),
            Some(InstructionArguments::FreeCall(call)) => call.raw().pos(),
            Some(InstructionArguments::Unknown(_)) | None => self.pos,
        }
    }

    /// Returns the name of the field with the operands; `None` for a move, which has two such
    /// fields.
    pub fn operand_field(&self) -> Option<&'static str> {
        match self.operation? {
            InstructionArguments::KernelCall(_) | InstructionArguments::DelegateCall(_) => {
                Some("args")
            }
            InstructionArguments::JumpFalseCall(_) => Some("cond_value_index"),
            InstructionArguments::FreeCall(_) => Some("value_index"),
            InstructionArguments::MoveCall(_) | InstructionArguments::Unknown(_) => None,
        }
    }

    /// Returns whether the instruction is a move, a free or a jump.
    #[inline]
    pub fn is_move_free_or_jump(&self) -> bool {
        matches!(
            self.operation,
            Some(
                InstructionArguments::MoveCall(_)
                    | InstructionArguments::FreeCall(_)
                    | InstructionArguments::JumpFalseCall(_)
            )
        )
    }

    /// Returns the values that the instruction names: the arguments of a call, the source and
    /// target of a move, the freed value, or the condition of a jump.
    pub fn operands(&self) -> Operands<'a> {
        match self.operation {
            Some(InstructionArguments::KernelCall(call)) => Operands::args(call.args()),
            Some(InstructionArguments::DelegateCall(call)) => Operands::args(call.args()),
            Some(InstructionArguments::MoveCall(call)) => {
                Operands(List::Fields([call.move_from(), call.move_to()], 2))
            }
            Some(InstructionArguments::FreeCall(call)) => Operands::one(call.value_index()),
            Some(InstructionArguments::JumpFalseCall(call)) => {
                Operands::one(call.cond_value_index())
            }
            Some(InstructionArguments::Unknown(_)) | None => Operands::NONE,
        }
    }

    /// Returns the source and the target of a move.
    pub fn moved(&self) -> Option<(i32, i32)> {
        match self.operation {
            Some(InstructionArguments::MoveCall(call)) => Some((call.move_from(), call.move_to())),
            _ => None,
        }
    }

    /// Returns the call, if the instruction is a call of a kernel.
    pub fn kernel_call(&self) -> Option<KernelCall<'a>> {
        match self.operation {
            Some(InstructionArguments::KernelCall(call)) => Some(call),
            _ => None,
        }
    }

    /// Returns the value whose memory is freed, if the instruction is a free.
    pub fn freed(&self) -> Option<i32> {
        match self.operation {
            Some(InstructionArguments::FreeCall(call)) => Some(call.value_index()),
            _ => None,
        }
    }

    /// Returns the jump, if the instruction is one.
    pub fn jump(&self) -> Option<Jump> {
        let Some(InstructionArguments::JumpFalseCall(call)) = self.operation else { return None };
        let (condition, destination) = (call.cond_value_index(), call.destination_instruction());
        let target = self.target(destination);
        let is_valid = target.is_some();
        Some(Jump { condition, destination, target: target.unwrap_or(self.end), is_valid })
    }

    /// Returns the pc of the instruction at `index` of its chain, or of the chain's end.
    fn target(&self, index: i32) -> Option<u32> {
        let target = self.begin.checked_add(u32::try_from(index).ok()?)?;
        (target <= self.end).then_some(target)
    }
}

impl<'a> Operands<'a> {
    pub(super) const NONE: Self = Self(List::Fields([0; 2], 0));

    pub(super) fn one(value: i32) -> Self {
        Self(List::Fields([value, 0], 1))
    }

    fn args(args: Option<Vector<'a, i32>>) -> Self {
        Self(List::Args(args.unwrap_or_default()))
    }

    /// Returns the number of values.
    pub fn len(self) -> usize {
        match self.0 {
            List::Args(all) => all.len(),
            List::Fields(_, len) => len,
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the value at `nth`.
    pub fn get(self, nth: usize) -> Option<i32> {
        match self.0 {
            List::Args(all) => all.get(nth),
            List::Fields(all, len) => all.get(nth).copied().filter(|_| nth < len),
        }
    }

    /// Returns all values, in order.
    pub fn iter(self) -> impl Iterator<Item = i32> + 'a {
        (0..self.len()).filter_map(move |nth| self.get(nth))
    }
}
