//! Kernels: calls of the operators that the official runtime has, held to their signatures.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use self::kind::Kind;
use super::rule::{Rule, rules};
use super::spot::Plan;
use super::values::Values;
use crate::pte::operator_name;
use crate::schema::program::view::{ExecutionPlan, InstructionArguments, KernelCall};

mod kind;
mod table;

rules! {
    "kernels";

    ARGS_COUNT = Error "args-count"
        "A call of an operator of the official runtime has as many arguments as the operator takes."
        "Running the method is refused; runtimes before 0.7 read past the arguments."
        Refuses ["6.5", "7.4", "7.7.16", "8.1 CVE-2025-54950"];
    ARGS_TYPE = Error "args-type"
        "Every argument of such a call is of the kind that the operator takes."
        "The kernel's conversion aborts."
        Crashes ["6.5", "7.7.16"];
    OPERATOR_UNKNOWN = Note "operator-unknown"
        "An operator is one of the official runtime's."
        "The runtime needs a library that brings it; its calls are not judged here."
        Ignores ["7.4"];
}

/// The signatures of a plan's operators, and which values change their kind when it runs.
pub(super) struct Kernels {
    /// By operator, for those that are known.
    signatures: Vec<Option<&'static str>>,
    /// After which instruction each value may be of another kind: a move, a result, or a call of an
    /// operator that is not known may have rewritten it.
    rewritten: Vec<Option<Moment>>,
}

/// A chain, and an instruction of it; −1 for all of them.
pub(super) type Moment = (u32, i64);

/// What is wrong with a call: the rule, the argument if it is one, and the message.
pub(super) type Wrong = (&'static Rule, Option<u32>, String);

impl Kernels {
    pub(super) fn of(plan: ExecutionPlan<'_>, values: usize) -> Self {
        let operators = plan.operators().into_iter().flatten();
        let signatures =
            operators.map(|operator| kind::signature(&operator_name(operator))).collect();
        let mut kernels = Self { signatures, rewritten: Vec::new() };
        if !kernels.are_known() {
            return kernels;
        }
        kernels.rewritten = vec![None; values];
        for (nth, chain) in (0..).zip(plan.chains().into_iter().flatten()) {
            let instructions = || (0..).zip(chain.instructions().into_iter().flatten());
            // Where nothing jumps back, what comes later has not happened yet.
            let loops = instructions().any(|(at, instruction)| match instruction.instr_args() {
                Some(InstructionArguments::JumpFalseCall(jump)) => {
                    i64::from(jump.destination_instruction()) <= at
                }
                _ => false,
            });
            for (at, instruction) in instructions() {
                let moment = (nth, if loops { -1 } else { at });
                match instruction.instr_args() {
                    Some(InstructionArguments::MoveCall(call)) => {
                        kernels.rewrite(call.move_to(), moment);
                    }
                    Some(InstructionArguments::KernelCall(call)) => {
                        kernels.rewrite_by(call, moment);
                    }
                    _ => {}
                }
            }
        }
        kernels
    }

    /// Whether any operator of the plan is one that the official runtime has.
    pub(super) fn are_known(&self) -> bool {
        self.signatures.iter().any(Option::is_some)
    }

    /// Whether the operator of that index is one that the official runtime has.
    pub(super) fn is_known(&self, operator: usize) -> bool {
        self.signatures.get(operator).is_some_and(Option::is_some)
    }

    /// What is wrong with a call.
    pub(super) fn judge(
        &self,
        plan: &Plan<'_, '_>,
        values: &Values,
        call: KernelCall<'_>,
        moment: Moment,
    ) -> Option<Wrong> {
        let letters = self.signature(call)?;
        let args = call.args()?;
        if args.len() != letters.len() {
            let message = format!("{} arguments, and {} are taken", args.len(), letters.len());
            return Some((&ARGS_COUNT, None, message));
        }
        for ((nth, index), kind) in (0..).zip(args).zip(letters.chars().filter_map(Kind::of)) {
            if self.is_rewritten(index, moment) {
                continue;
            }
            if !values.tag(index.into()).is_none_or(|tag| kind.accepts(tag)) {
                let value = plan.value(index.into());
                let name = value.and_then(|value| value.name()).unwrap_or("of no kind");
                let message = format!("value {index} is {name}, and {kind} is wanted");
                return Some((&ARGS_TYPE, Some(nth), message));
            }
        }
        None
    }

    fn signature(&self, call: KernelCall<'_>) -> Option<&'static str> {
        *self.signatures.get(usize::try_from(call.op_index()).ok()?)?
    }

    /// What an operator that is not known does to its arguments is not known either.
    fn rewrite_by(&mut self, call: KernelCall<'_>, moment: Moment) {
        let letters = self.signature(call);
        let mut kinds = letters.map(|letters| letters.chars().filter_map(Kind::of));
        for index in call.args().into_iter().flatten() {
            let kind = kinds.as_mut().map(Iterator::next);
            if kind.is_none_or(|kind| kind.is_some_and(Kind::is_result)) {
                self.rewrite(index, moment);
            }
        }
    }

    fn rewrite(&mut self, index: i32, moment: Moment) {
        let nth = usize::try_from(index).ok();
        if let Some(first) = nth.and_then(|nth| self.rewritten.get_mut(nth)) {
            *first = Some(first.map_or(moment, |first| first.min(moment)));
        }
    }

    fn is_rewritten(&self, index: i32, moment: Moment) -> bool {
        let nth = usize::try_from(index).ok();
        let first = nth.and_then(|nth| *self.rewritten.get(nth)?);
        first.is_some_and(|first| first < moment)
    }
}
