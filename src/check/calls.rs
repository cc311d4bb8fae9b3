//! Instructions: what they call, with which values, and where they jump.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

use self::loops::Loops;
use super::Findings;
use super::flow::{self, Judge, State};
use super::kernels::Kernels;
use super::parts;
use super::rule::{Rule, rules};
use super::spot::Plan;
use super::values::Values;
use crate::bytes::{index, narrow};
use crate::error::PathComponent;
use crate::flat::view::{List, Raw, Table, Vector};
use crate::method;
use crate::schema::program::tag;
use crate::schema::program::view::{Chain, Instruction, InstructionArguments, KernelCall};

mod control;
mod loops;
mod operators;

rules! {
    "calls";

    CHAINS_SEVERAL = Warning "chains-several"
        "A method has one chain."
        "No writer makes more than one."
        Ignores ["6.5"];
    INSTRUCTIONS_MISSING = Error "instructions-missing"
        "A chain has instructions, if none."
        "Loading the method is refused."
        Refuses ["7.4.23", "7.7.6"];
    INSTRUCTION_EMPTY = Error "instruction-empty"
        "Every instruction does something."
        "Loading the method is refused, or reads through a null pointer."
        Crashes ["7.4.24", "7.4.30", "7.7.6", "7.7.7"];
    INSTRUCTION_UNKNOWN = Error "instruction-unknown"
        "Every instruction is of a kind that the runtime knows."
        "Loading the method is refused."
        Refuses ["7.4.30", "7.7.7"];
    ARGS_MISSING = Error "args-missing"
        "A call has a list of arguments, if an empty one."
        "Loading the method is refused."
        Refuses ["7.4.25", "7.7.6"];
    ARGS_INDEX = Error "args-index"
        "Every argument is the index of a value."
        "Loading the method is refused."
        Refuses ["7.4.25"];
    OPERATOR_INDEX = Error "operator-index"
        "A call's operator is one of the method's."
        "The failure is forgotten at the next call that resolves: the program then jumps through a pointer that nobody has set."
        Misreads ["7.4.26", "7.7.16", "8.2 #22357"];
    OPERATOR_NAME_MISSING = Error "operator-name-missing"
        "An operator has a name."
        "As for operator-index: the failure is forgotten, and the call jumps anywhere."
        Misreads ["7.4.26", "7.7.6", "8.2 #22357"];
    OPERATOR_NAME_LONG = Error "operator-name-long"
        "An operator's name with its overload has less than 100 bytes."
        "As for operator-index: the failure is forgotten, and the call jumps anywhere."
        Misreads ["6.5", "7.4.27", "7.7.11"];
    OPERATOR_NAME_NUL = Warning "operator-name-nul"
        "An operator's name and overload hold no NUL."
        "Runtimes read up to the NUL: the call is one of another operator."
        Ignores ["7.7.11"];
    OPERATOR_OVERLOAD_MISSING = Error "operator-overload-missing"
        "An operator has an overload, if an empty one."
        "Where the kernel fails, writing the log reads through a null pointer."
        Crashes ["7.4.39", "7.7.6"];
    DELEGATE_INDEX = Error "delegate-index"
        "A call's delegate is one of the method's."
        "Running the method is refused."
        Refuses ["7.4.31", "7.7.16"];
    MOVE_INDEX = Error "move-index"
        "A value is moved from one value to another."
        "Loading the method is refused; older runtimes read and write past the values."
        Refuses ["7.4.29", "8.2 1e9bd73b88"];
    MOVE_LIST = Error "move-list"
        "Nothing is moved onto a list, nor a list onto anything."
        "The runtime destroys what the list does not own."
        Misreads ["7.4.40", "7.7.16", "8.2 deaf73b831"];
    FREE_INDEX = Error "free-index"
        "What is freed is a value."
        "Loading the method is refused; older runtimes read past the values."
        Refuses ["7.4.29", "8.2 ee92757215"];
    FREE_TYPE = Error "free-type"
        "What is freed is a tensor."
        "Running the method is refused."
        Refuses ["7.4.38", "7.7.16", "8.2 930ecfd57e"];
    JUMP_CONDITION_INDEX = Error "jump-condition-index"
        "The condition of a jump is a value."
        "Loading the method is refused."
        Refuses ["7.4.29"];
    JUMP_CONDITION_TYPE = Error "jump-condition-type"
        "The condition of a jump is a Bool, or a tensor of them."
        "Running the method is refused."
        Refuses ["6.5", "7.4.36", "7.7.16"];
    JUMP_CONDITION_STORAGE = Error "jump-condition-storage"
        "The condition of a jump, if it is a tensor, has a place for its data."
        "Running the method is refused; older runtimes read through a null pointer."
        Refuses ["7.4.37", "8.2 dc4d6ee6f6"];
    JUMP_DESTINATION = Warning "jump-destination"
        "A jump leads to an instruction of its chain, or just past the last."
        "The method ends there, and leaves its outputs as they are."
        Ignores ["6.5", "7.4.32", "7.7.16"];
    JUMP_TO_ITSELF = Warning "jump-to-itself"
        "A jump does not lead to itself."
        "While the condition is false, nothing can make it true: the runtime gives up after ten million steps."
        Refuses ["7.4.33", "7.7.16", "8.2 c4983ce1f7"];
    LOOP_ENDLESS = Warning "loop-endless"
        "A loop changes the condition that it ends by, or has another jump in it."
        "While the condition is false, nothing can make it true: the runtime gives up after ten million steps."
        Refuses ["7.4.33", "7.7.16", "8.2 c4983ce1f7"];
    STORAGE_MISSING = Error "storage-missing"
        "A tensor whose data a kernel needs has a place for it: it is constant, planned, external, an input or an output, or an earlier call brings one. So has every tensor of a list."
        "The kernel reads or writes through a null pointer."
        Crashes ["6.1", "7.8"];
    STACKTRACE_LENGTH = Note "stacktrace-length"
        "A chain has as many stack traces as instructions, or none."
        "Tools that show them go wrong."
        Ignores ["6.5"];
}

/// Arguments that are looked at at once: most calls have fewer.
const FEW: usize = 16;

/// `kTempBufferSizeForName` in upstream's method.cpp.
const LONGEST_NAME: usize = 99;

pub(super) fn check(plan: &Plan<'_, '_>, values: &Values, out: &mut Findings) {
    let Some(chains) = plan.view.chains() else { return };
    if chains.len() > 1 {
        plan.find(out, &CHAINS_SEVERAL, plan.view.raw(), &[PathComponent::Field("chains")], || {
            format!("{} chains", chains.len())
        });
    }
    let mut kernels = Kernels::of(plan);
    if values.are_dynamic() {
        kernels.watch_sizes(plan);
    }
    let is_still = flow::is_still(plan, values, &kernels);
    let pass = Pass::new(plan, values, &kernels, is_still, out);
    let mut loops = None;
    let mut begin = 0u32;
    for (nth, chain) in (0..).zip(chains) {
        if pass.chain(nth, chain, out) {
            let loops = loops.get_or_insert_with(|| Loops::new(plan));
            pass.loops((nth, begin), chain, loops, out);
        }
        let len = chain.instructions().map_or(0, |all| all.len());
        begin = begin.saturating_add(narrow(len));
    }
    if !is_still || pass.flows.into_inner() {
        flow::check(plan, values, &kernels, out);
    }
}

/// One plan's calls.
struct Pass<'c, 'p, 'a> {
    plan: &'c Plan<'p, 'a>,
    values: &'c Values,
    /// Operators, by index.
    operators: usize,
    delegates: usize,
    kernels: &'c Kernels,
    /// Whether anything is moved or freed, or jumps.
    flows: AtomicBool,
    /// Whether a call of a kernel is right once its indices are: no operator is known, or calls are
    /// judged where the plan is replayed.
    is_plain: bool,
}

/// An instruction, and where it is.
#[derive(Clone, Copy)]
struct Spot<'a> {
    chain: u32,
    nth: u32,
    /// Instructions of the chain.
    len: u32,
    args: InstructionArguments<'a>,
}

impl<'c, 'p, 'a> Pass<'c, 'p, 'a> {
    fn new(
        plan: &'c Plan<'p, 'a>,
        values: &'c Values,
        kernels: &'c Kernels,
        is_still: bool,
        out: &mut Findings,
    ) -> Self {
        let delegates = plan.view.delegates().map_or(0, |delegates| delegates.len());
        let view = plan.view;
        operators::check(plan, kernels, out);
        // A missing list has a finding of its own.
        let operators = view.operators().map_or(usize::MAX, |operators| operators.len());
        let is_plain = !kernels.are_known() || !is_still;
        let flows = AtomicBool::new(false);
        Self { plan, values, operators, delegates, kernels, flows, is_plain }
    }

    /// Judges a chain, and tells whether it jumps back.
    fn chain(&self, chain: u32, view: Chain<'a>, out: &mut Findings) -> bool {
        let steps = [PathComponent::Field("chains"), PathComponent::Index(chain)];
        let Some(instructions) = view.instructions() else {
            self.plan.find(out, &INSTRUCTIONS_MISSING, view.raw(), &steps, || {
                "the chain has no list of instructions".into()
            });
            return false;
        };
        let len = narrow(instructions.len());
        let traces = view.stacktrace().map_or(0, |traces| traces.len());
        if traces != 0 && traces != instructions.len() {
            self.plan.find(out, &STACKTRACE_LENGTH, view.raw(), &steps, || {
                format!("{traces} stack traces for {len} instructions")
            });
        }
        let parts = parts::judge(len, out, |range, out| self.part(chain, instructions, range, out));
        parts.contains(&true)
    }

    /// Judges the instructions of that range, and tells whether one of them jumps back.
    fn part(
        &self,
        chain: u32,
        instructions: List<'a, Instruction<'a>>,
        range: Range<u32>,
        out: &mut Findings,
    ) -> bool {
        let len = narrow(instructions.len());
        let mut loops = false;
        for nth in range {
            let Some(instruction) = instructions.get(index(nth)) else { continue };
            let args = instruction.instr_args();
            if self.is_plain && self.is_plain_call(args) {
                continue;
            }
            match args {
                Some(InstructionArguments::Unknown(kind)) => {
                    self.find_bare(out, &INSTRUCTION_UNKNOWN, (chain, nth), instruction, || {
                        format!("an instruction of kind {kind}")
                    });
                }
                Some(args) => {
                    if flow::changes_values(Some(args)) {
                        self.flows.store(true, Ordering::Relaxed);
                    }
                    loops |= matches!(args, InstructionArguments::JumpFalseCall(jump)
                        if i64::from(jump.destination_instruction()) < nth.into());
                    self.instruction(Spot { chain, nth, len, args }, out);
                }
                None => self.find_bare(out, &INSTRUCTION_EMPTY, (chain, nth), instruction, || {
                    "the instruction is empty".into()
                }),
            }
        }
        loops
    }

    /// Judges the backward jumps of a chain, whose first instruction has the pc `begin`.
    fn loops(
        &self,
        (chain, begin): (u32, u32),
        view: Chain<'a>,
        loops: &mut Loops,
        out: &mut Findings,
    ) {
        let is_bool = |index: i32| self.values.tag(index.into()) == Some(tag::Bool);
        let all = method::instructions_of_chain(chain, begin, view);
        for (instruction, table) in all.zip(view.instructions().into_iter().flatten()) {
            if let Some((condition, to)) = loops.record(&instruction, is_bool) {
                let spot = (chain, instruction.index());
                self.find_bare(out, &LOOP_ENDLESS, spot, table, || {
                    format!("nothing from instruction {to} on changes value {condition}")
                });
            }
        }
    }

    fn instruction(&self, spot: Spot<'a>, out: &mut Findings) {
        match spot.args {
            InstructionArguments::KernelCall(call) => self.kernel(spot, call, out),
            InstructionArguments::DelegateCall(call) => {
                let index = call.delegate_index();
                if !usize::try_from(index).is_ok_and(|index| index < self.delegates) {
                    self.find(
                        out,
                        &DELEGATE_INDEX,
                        spot,
                        call.raw(),
                        &[PathComponent::Field("delegate_index")],
                        || format!("delegate {index} is called, and there are {}", self.delegates),
                    );
                }
                self.args(spot, call.raw(), call.args(), out);
            }
            InstructionArguments::MoveCall(call) => self.moved(spot, call, out),
            InstructionArguments::JumpFalseCall(call) => self.jump(spot, call, out),
            InstructionArguments::FreeCall(call) => self.free(spot, call, out),
            InstructionArguments::Unknown(_) => {}
        }
    }

    /// Whether there is nothing to be said of a call: so it is with most.
    #[inline]
    fn is_plain_call(&self, args: Option<InstructionArguments<'a>>) -> bool {
        let Some(InstructionArguments::KernelCall(call)) = args else { return false };
        let operator = usize::try_from(call.op_index());
        operator.is_ok_and(|operator| operator < self.operators)
            && call.args().is_some_and(|args| self.are_values(args))
    }

    fn kernel(&self, spot: Spot<'a>, call: KernelCall<'a>, out: &mut Findings) {
        let index = call.op_index();
        if !usize::try_from(index).is_ok_and(|index| index < self.operators) {
            self.find(
                out,
                &OPERATOR_INDEX,
                spot,
                call.raw(),
                &[PathComponent::Field("op_index")],
                || format!("operator {index} is called, and there are {}", self.operators),
            );
        }
        self.args(spot, call.raw(), call.args(), out);
        if self.is_plain {
            return;
        }
        let judge = Judge { plan: self.plan, values: self.values, kernels: self.kernels };
        if let Some((rule, nth, message)) = judge.kernel(call, &State::still(), |_| 0) {
            let steps =
                [PathComponent::Field("args"), PathComponent::Index(nth.unwrap_or_default())];
            let steps = if nth.is_some() { &steps[..] } else { steps.get(..1).unwrap_or_default() };
            self.find(out, rule, spot, call.raw(), steps, || message);
        }
    }

    /// Whether all of them are indices of values: few arguments are looked at at once, without a loop
    /// whose end nobody could foresee.
    #[inline(always)]
    fn are_values(&self, args: Vector<'a, i32>) -> bool {
        if args.len() > FEW {
            return args.iter().all(|index| self.plan.has(index));
        }
        // The sign is that of an index which is negative, or past the last.
        let last = narrow(self.plan.len).cast_signed().wrapping_sub(1);
        let signs = args
            .head::<FEW>(0)
            .iter()
            .fold(0, |signs, index| signs | index | last.wrapping_sub(*index));
        signs >= 0
    }

    fn args(
        &self,
        spot: Spot<'a>,
        call: Raw<'a>,
        args: Option<Vector<'a, i32>>,
        out: &mut Findings,
    ) {
        let Some(args) = args else {
            return self.find(
                out,
                &ARGS_MISSING,
                spot,
                call,
                &[PathComponent::Field("args")],
                || "the call has no list of arguments".into(),
            );
        };
        if self.are_values(args) {
            return;
        }
        for (nth, index) in (0..).zip(args) {
            if !self.plan.has(index) {
                let steps = [PathComponent::Field("args"), PathComponent::Index(nth)];
                self.find(out, &ARGS_INDEX, spot, call, &steps, || {
                    format!("value {index} is an argument, and there are {}", self.plan.len)
                });
            }
        }
    }

    fn find(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        spot: Spot<'a>,
        table: Raw<'a>,
        steps: &[PathComponent],
        message: impl FnOnce() -> String,
    ) {
        let path = || {
            let mut path = self.instruction_path((spot.chain, spot.nth));
            path.push(PathComponent::Field("instr_args"));
            path.extend(spot.args.name().map(PathComponent::Variant));
            path.extend_from_slice(steps);
            path
        };
        out.find(rule, table.pos().into(), path, message);
    }

    /// A finding in an instruction that has no arguments.
    fn find_bare(
        &self,
        out: &mut Findings,
        rule: &'static Rule,
        spot: (u32, u32),
        instruction: Instruction<'a>,
        message: impl FnOnce() -> String,
    ) {
        out.find(rule, instruction.raw().pos().into(), || self.instruction_path(spot), message);
    }

    fn instruction_path(&self, (chain, nth): (u32, u32)) -> Vec<PathComponent> {
        self.plan.path(&[
            PathComponent::Field("chains"),
            PathComponent::Index(chain),
            PathComponent::Field("instructions"),
            PathComponent::Index(nth),
        ])
    }
}
