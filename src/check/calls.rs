//! Instructions: what they call, with which values, and where they jump.

use core::ops::Range;

use self::endless_loops::EndlessLoopFinder;
use self::rules::{
    ARGS_INDEX, ARGS_MISSING, CHAINS_SEVERAL, DELEGATE_INDEX, INSTRUCTION_EMPTY,
    INSTRUCTION_UNKNOWN, INSTRUCTIONS_MISSING, LOOP_ENDLESS, LOOP_FOREVER, OPERATOR_INDEX,
};
use super::kernels::{BrokenRule, Kernels};
use super::parallel;
use super::report::Findings;
use super::site::Plan;
use super::values::Values;
use pte_core::PathComponent;
use pte_core::method::{self, Instruction, Jump};
use pte_flat::bytes::{index, narrow};
use pte_flat::path;
use pte_flat::view::{List, Table, Vector, Vtable};
use pte_schema::program::tag;
use pte_schema::program::view::{self, Chain, InstructionArguments, KernelCall};

mod control;
mod endless_loops;
mod operators;
pub(super) mod rules;
mod traces;

pub(super) use operators::LONGEST_NAME;
pub(super) use rules::RULES;

/// The largest number of arguments that are checked without a loop.
const FEW: usize = 16;

/// Judges the operators of a method, and each of its instructions.
///
/// `judge` returns the rule that a kernel call breaks, if any. It is called after the indices of
/// the call are checked. With `None`, only the indices are checked.
///
/// Returns whether any instruction is a move, a free or a jump.
pub(super) fn check<'a, J: Fn(KernelCall<'a>) -> Option<BrokenRule> + Sync>(
    plan: &Plan<'_, 'a>,
    values: &Values,
    kernels: &Kernels,
    judge: Option<J>,
    out: &mut Findings,
) -> bool {
    let Some(chains) = plan.view.chains() else { return false };
    if chains.len() > 1 {
        plan.find(out, &CHAINS_SEVERAL, plan.view.raw(), &[PathComponent::Field("chains")], || {
            format!("{} chains", chains.len())
        });
    }
    operators::check(plan, kernels, out);
    let pass = Pass {
        plan,
        values,
        // If the list is missing, another rule reports it. Here every non-negative index is valid.
        operators: plan.view.operators().map_or(usize::MAX, |operators| operators.len()),
        delegates: plan.view.delegates().map_or(0, |delegates| delegates.len()),
        judge,
    };
    let mut has_other = false;
    let mut loops = None;
    let mut begin = 0u32;
    for (nth, chain) in (0..).zip(chains) {
        let seen = pass.chain(nth, chain, out);
        has_other |= seen.has_move_free_or_jump;
        if seen.has_backward_jump {
            let loops = loops.get_or_insert_with(|| EndlessLoopFinder::new(plan, kernels));
            pass.loops((nth, begin), chain, loops, out);
        }
        let len = chain.instructions().map_or(0, |all| all.len());
        begin = begin.saturating_add(narrow(len));
    }
    has_other
}

/// Judges the instructions of one method.
struct Pass<'c, 'p, 'a, J> {
    plan: &'c Plan<'p, 'a>,
    values: &'c Values,
    /// The number of operators.
    operators: usize,
    /// The number of delegates.
    delegates: usize,
    /// Judges a kernel call. `None` if only indices are checked here: no operator is known, or
    /// dataflow judges the calls.
    judge: Option<J>,
}

/// Which kinds of instructions a range has.
#[derive(Clone, Copy, Default)]
struct InstructionKinds {
    has_move_free_or_jump: bool,
    has_backward_jump: bool,
}

/// The vtables of the last instruction and the last call.
struct Vtables<'a> {
    instruction: Vtable<'a>,
    call: Vtable<'a>,
}

impl<'a, J: Fn(KernelCall<'a>) -> Option<BrokenRule> + Sync> Pass<'_, '_, 'a, J> {
    /// Judges the instructions of a chain.
    fn chain(&self, chain: u32, view: Chain<'a>, out: &mut Findings) -> InstructionKinds {
        let path = path!["chains", chain];
        let Some(instructions) = view.instructions() else {
            self.plan.find(out, &INSTRUCTIONS_MISSING, view.raw(), &path, || {
                "the chain has no list of instructions".into()
            });
            return InstructionKinds::default();
        };
        let len = narrow(instructions.len());
        traces::judge(self.plan, view, &path, out);
        let parts =
            parallel::judge(len, out, |range, out| self.part(chain, instructions, range, out));
        parts.into_iter().fold(InstructionKinds::default(), |all, part| InstructionKinds {
            has_move_free_or_jump: all.has_move_free_or_jump | part.has_move_free_or_jump,
            has_backward_jump: all.has_backward_jump | part.has_backward_jump,
        })
    }

    /// Judges the instructions of a range of a chain.
    fn part(
        &self,
        chain: u32,
        instructions: List<'a, view::Instruction<'a>>,
        range: Range<u32>,
        out: &mut Findings,
    ) -> InstructionKinds {
        let len = narrow(instructions.len());
        let mut seen = InstructionKinds::default();
        let mut vtables = Vtables { instruction: Vtable::default(), call: Vtable::default() };
        for nth in range {
            if self.judge.is_none() && self.is_plain_call(instructions, nth, &mut vtables) {
                continue;
            }
            let Some(view) = instructions.get(index(nth)) else { continue };
            let instruction = Instruction::decode((chain, nth), (0, len), view);
            seen.has_move_free_or_jump |= instruction.is_move_free_or_jump();
            seen.has_backward_jump |= instruction.jump().is_some_and(|jump| jump.target <= nth);
            self.instruction(&instruction, out);
        }
        seen
    }

    /// Judges the loops of a chain. `begin` is the pc of its first instruction.
    fn loops(
        &self,
        (chain, begin): (u32, u32),
        view: Chain<'a>,
        loops: &mut EndlessLoopFinder<'_>,
        out: &mut Findings,
    ) {
        let is_bool = |index: i32| self.values.tag(index.into()) == Some(tag::Bool);
        for instruction in method::instructions_of_chain(chain, begin, view) {
            let Some(jump) = loops.record(&instruction, is_bool) else { continue };
            let Jump { condition, destination: to, .. } = jump;
            if loops.is_always_false(self.plan, condition) {
                self.plan.find_bare_instruction(out, &LOOP_FOREVER, &instruction, || {
                    format!("value {condition} is always false: the jump to {to} is always taken")
                });
            } else if jump.target < instruction.pc() {
                self.plan.find_bare_instruction(out, &LOOP_ENDLESS, &instruction, || {
                    format!("nothing from instruction {to} on changes value {condition}")
                });
            }
        }
    }

    fn instruction(&self, instruction: &Instruction<'a>, out: &mut Findings) {
        match instruction.operation() {
            Some(InstructionArguments::KernelCall(call)) => self.kernel(instruction, call, out),
            Some(InstructionArguments::DelegateCall(call)) => {
                let index = call.delegate_index();
                if !usize::try_from(index).is_ok_and(|index| index < self.delegates) {
                    let path = [PathComponent::Field("delegate_index")];
                    self.plan.find_instruction(out, &DELEGATE_INDEX, instruction, &path, || {
                        format!("delegate {index} is called, and there are {}", self.delegates)
                    });
                }
                self.args(instruction, call.args(), out);
            }
            Some(InstructionArguments::MoveCall(_)) => {
                control::check_move(self.plan, self.values, instruction, out);
            }
            Some(InstructionArguments::JumpFalseCall(_)) => {
                control::check_jump(self.plan, instruction, out);
            }
            Some(InstructionArguments::FreeCall(_)) => {
                control::check_free(self.plan, instruction, out);
            }
            Some(InstructionArguments::Unknown(kind)) => {
                self.plan.find_instruction(out, &INSTRUCTION_UNKNOWN, instruction, &[], || {
                    format!("an instruction of kind {kind}")
                });
            }
            None => self.plan.find_instruction(out, &INSTRUCTION_EMPTY, instruction, &[], || {
                "the instruction is empty".into()
            }),
        }
    }

    /// Returns whether an instruction is a kernel call with valid indices. Most instructions are.
    #[inline(always)]
    fn is_plain_call(
        &self,
        instructions: List<'a, view::Instruction<'a>>,
        nth: u32,
        vtables: &mut Vtables<'a>,
    ) -> bool {
        let instruction = instructions.raw_by(nth, &mut vtables.instruction);
        let Some((tag::KernelCall, call)) =
            instruction.and_then(|one| one.tagged(view::Instruction::DESC))
        else {
            return false;
        };
        let call = (tag::KernelCall, call.resolved_by(&mut vtables.call));
        let InstructionArguments::KernelCall(call) = InstructionArguments::of(call) else {
            return false;
        };
        let operator = usize::try_from(call.op_index());
        operator.is_ok_and(|operator| operator < self.operators)
            && call.args().is_some_and(|args| self.are_values(args))
    }

    fn kernel(&self, instruction: &Instruction<'a>, call: KernelCall<'a>, out: &mut Findings) {
        let index = call.op_index();
        if !usize::try_from(index).is_ok_and(|index| index < self.operators) {
            let path = [PathComponent::Field("op_index")];
            self.plan.find_instruction(out, &OPERATOR_INDEX, instruction, &path, || {
                format!("operator {index} is called, and there are {}", self.operators)
            });
        }
        self.args(instruction, call.args(), out);
        if let Some((rule, nth, message)) = self.judge.as_ref().and_then(|judge| judge(call)) {
            let path = path!["args", nth.unwrap_or_default()];
            let path = if nth.is_some() { &path[..] } else { path.get(..1).unwrap_or_default() };
            self.plan.find_instruction(out, rule, instruction, path, || message);
        }
    }

    /// Returns whether all arguments are indices of values. Up to `FEW` arguments are checked
    /// without a loop: leaving a loop costs a branch misprediction.
    #[inline(always)]
    fn are_values(&self, args: Vector<'a, i32>) -> bool {
        if args.len() > FEW {
            return args.iter().all(|index| self.plan.has(index));
        }
        // The sign bit is set if any index is negative or past the last value.
        let last = narrow(self.plan.len).cast_signed().wrapping_sub(1);
        let signs = args
            .head::<FEW>(0)
            .iter()
            .fold(0, |signs, index| signs | index | last.wrapping_sub(*index));
        signs >= 0
    }

    /// Judges the arguments of a call.
    fn args(
        &self,
        instruction: &Instruction<'a>,
        args: Option<Vector<'a, i32>>,
        out: &mut Findings,
    ) {
        let Some(args) = args else {
            let path = [PathComponent::Field("args")];
            return self.plan.find_instruction(out, &ARGS_MISSING, instruction, &path, || {
                "the call has no list of arguments".into()
            });
        };
        if self.are_values(args) {
            return;
        }
        for (nth, index) in (0..).zip(args) {
            if !self.plan.has(index) {
                let path = path!["args", nth];
                self.plan.find_instruction(out, &ARGS_INDEX, instruction, &path, || {
                    format!("value {index} is an argument, and there are {}", self.plan.len)
                });
            }
        }
    }
}
