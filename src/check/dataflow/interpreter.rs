//! The abstract interpreter: runs a method twice on the known facts about its values.
//!
//! Each instruction is judged in the state at that point. At a join point, a value may be what it
//! is on any of the paths. At a backward jump, every value that the loop modifies is set to
//! unknown. So a finding holds on every path to its instruction, and unknown values have no
//! findings.

use alloc::vec::Vec;

use super::control_flow::{ChainControlFlow, PendingJumps};
use super::judge::{Broken, Judge, is_copied};
use super::known::Known;
use super::rules::MOVE_UNSTORED;
use super::state::{AbstractValue, By, Is, Memory, State, list};
use crate::constant_bools::ConstantBools;
use crate::report::Findings;
use crate::rule::Severity;
use pte_core::error::PathComponent;
use pte_core::method::{self, Instruction, Loop, ValueChange};
use pte_core::operators::contracts::{SizesAfter, result, result_kind};
use pte_core::operators::{Gives, Kinds, Scalar};
use pte_flat::bytes::narrow;
use pte_flat::cost;
use pte_flat::view::Table;
use pte_schema::program::view::{Chain, InstructionArguments, KernelTypes};
use pte_schema::program::{is_list, tag};

/// The most items of a list that a repeated use visits. The first use in a run visits all items.
const MOST_ITEMS: usize = 64;

/// The most iterations of a loop that are interpreted after the first one.
const MORE_ITERATIONS: u32 = 2;

pub(super) struct AbstractInterpreter<'c, 'p, 'a> {
    judge: Judge<'c, 'p, 'a>,
    state: State,
    /// For each value, whether it is a list that was passed to a delegate in this run.
    delegated: Vec<bool>,
    /// For each value, whether it is a list that was judged in this run.
    judged: Vec<bool>,
    constants: ConstantBools,
    /// The changed values and their previous states, recorded while a forward jump is pending.
    log: Vec<(i32, AbstractValue)>,
    is_logging: bool,
    /// Whether the current instruction may execute, rather than must execute. The values that it
    /// changes are then set to unknown.
    is_imprecise: bool,
    /// Whether an Error was found.
    has_error: bool,
    is_second_run: bool,
    /// Whether an iteration after the first one is being run.
    is_repeated: bool,
}

impl<'c, 'p, 'a> AbstractInterpreter<'c, 'p, 'a> {
    pub(super) fn new(judge: Judge<'c, 'p, 'a>) -> Self {
        Self {
            judge,
            state: State::initial(judge.plan, judge.values, judge.kernels),
            delegated: judge.plan.each(false),
            judged: judge.plan.each(false),
            constants: ConstantBools::of(judge.plan),
            log: Vec::new(),
            is_logging: false,
            is_imprecise: false,
            has_error: false,
            is_second_run: false,
            is_repeated: false,
        }
    }

    /// Runs the method. If that finds no Error, runs it again, since values are kept between runs.
    pub(super) fn run(mut self, out: &mut Findings) {
        self.run_once(out);
        if !self.has_error {
            self.is_second_run = true;
            self.delegated.fill(false);
            self.judged.fill(false);
            self.run_once(out);
        }
    }

    fn run_once(&mut self, out: &mut Findings) {
        self.bind_inputs_and_outputs(out);
        let view = self.judge.plan.view;
        for (nth, chain) in (0..).zip(view.chains().into_iter().flatten()) {
            self.run_chain(nth, chain, out);
        }
        self.read_outputs(out);
    }

    /// Models the caller before a run: it sets the inputs, and gives memory to outputs that have
    /// none.
    fn bind_inputs_and_outputs(&mut self, out: &mut Findings) {
        let Judge { plan, values, .. } = self.judge;
        for (nth, index) in (0..).zip(plan.view.inputs().into_iter().flatten()) {
            if self.is_second_run
                && let Some(broken) = self.judge.input(index, &self.state)
            {
                self.find_end("inputs", nth, broken, out);
            }
            if values.tag(index.into()) == Some(tag::Tensor) {
                if !is_copied(plan, index) {
                    self.set_caller_memory(index);
                }
                // Assumes the sizes in the file: they are the greatest that the caller may use.
                self.set_tensor(index, u32::try_from(index).ok(), None);
            }
        }
        for (nth, index) in (0..).zip(plan.view.outputs().into_iter().flatten()) {
            if self.is_second_run
                && let Some(broken) = self.judge.output_memory(index, &self.state)
            {
                self.find_end("outputs", nth, broken, out);
            }
            if values.is_unstored(index) {
                self.set_caller_memory(index);
            }
        }
    }

    /// Models the caller giving memory to the tensor at an input or output.
    fn set_caller_memory(&mut self, index: i32) {
        let own = u32::try_from(index).ok().filter(|_| self.judge.values.is_unstored(index));
        self.set_memory(index, own.map_or(Memory::Unknown, Memory::Of));
    }

    /// Models the caller reading the outputs after a run.
    fn read_outputs(&mut self, out: &mut Findings) {
        for (nth, index) in (0..).zip(self.judge.plan.view.outputs().into_iter().flatten()) {
            if let Some(broken) = self.judge.lacks_data(index, &self.state, &MOVE_UNSTORED) {
                self.find_end("outputs", nth, broken, out);
            }
        }
    }

    fn run_chain(&mut self, nth: u32, chain: Chain<'a>, out: &mut Findings) {
        let Some(instructions) = chain.instructions() else { return };
        let len = narrow(instructions.len());
        let mut flow = ChainControlFlow::of(self.judge.plan, &self.constants, chain, len);
        // Whether no path so far leads here: the instruction follows a jump that is always taken.
        let mut is_unreached = false;
        let mut imprecise_until = 0;
        // The pc of the last instruction so far that a forward jump leads to.
        let mut last_join = 0;
        // Instructions that only a backward jump makes reachable. They are judged at that jump.
        let mut deferred: Vec<u32> = Vec::new();
        for instruction in method::instructions_of_chain(nth, 0, chain) {
            let pc = instruction.pc();
            if self.join_jumps_to(&mut flow, pc, &mut last_join) {
                is_unreached = false;
            }
            self.is_imprecise = pc < imprecise_until;
            self.is_logging = flow.has_pending_jumps();
            is_unreached &= !(self.is_imprecise && flow.is_reachable(pc));
            if !is_unreached {
                self.judge(&instruction, out);
                self.apply(&instruction);
            } else if flow.is_reachable(pc) {
                deferred.push(pc);
            }
            let Some(jump) = instruction.jump() else { continue };
            let condition = self.known_bool(jump.condition);
            let is_taken_first = !is_unreached && condition != Some(true);
            // A jump in a loop may be taken in the next iteration.
            let around = flow.around(pc);
            if is_taken_first || around.is_some() {
                let is_taken_first = is_taken_first || flow.leaves_loop_later(pc, jump, around);
                let log_len = self.log.len();
                flow.record_forward_jump(pc, jump, PendingJumps { log_len, is_taken_first });
            }
            is_unreached |= condition == Some(false);
            let repeated = flow.repeated_loop(pc, jump).filter(|_| condition != Some(true));
            if let Some(repeated) = repeated.filter(|_| pc >= imprecise_until) {
                self.is_logging = flow.has_pending_jumps();
                let body = (last_join <= repeated.begin && repeated.end == pc)
                    .then(|| straight(repeated, nth, chain))
                    .flatten();
                if let Some(body) = body.clone() {
                    self.run_more_iterations(body, jump.condition, out);
                }
                self.set_modified_unknown(repeated, nth, chain);
                if let Some(body) = body {
                    self.run_last_iteration(body);
                }
                imprecise_until = repeated.end.saturating_add(1);
                for pc in deferred.drain(..).filter(|&pc| pc >= repeated.begin) {
                    if let Some(instruction) = method::instruction_of_chain(nth, chain, pc) {
                        self.judge(&instruction, out);
                    }
                }
            }
        }
        self.join_jumps_to(&mut flow, len, &mut last_join);
        (self.is_imprecise, self.is_logging) = (false, false);
        self.log.clear();
    }

    /// Joins the state with the states of the forward jumps to `pc`. A value that changed after the
    /// first of these jumps may still be as it was at that jump.
    ///
    /// Returns whether any of these jumps can be taken before any backward jump.
    fn join_jumps_to(&mut self, flow: &mut ChainControlFlow, pc: u32, last_join: &mut u32) -> bool {
        let Some(jumps) = flow.take_jumps_to(pc) else { return false };
        *last_join = pc;
        while self.log.len() > jumps.log_len
            && let Some((index, old)) = self.log.pop()
        {
            cost::charge(1);
            self.state.join(self.judge.values, index, old);
        }
        jumps.is_taken_first
    }

    /// Sets every value that a loop modifies to unknown. A second pass finds the tensors whose
    /// memory changes through the values that became unknown in the first pass.
    fn set_modified_unknown(&mut self, repeated: Loop, nth: u32, chain: Chain<'a>) {
        self.is_imprecise = true;
        for _ in ["values", "memory"] {
            for pc in repeated.begin..=repeated.end {
                if let Some(instruction) = method::instruction_of_chain(nth, chain, pc) {
                    self.apply(&instruction);
                }
            }
        }
    }

    /// Runs more iterations of a loop without inner jumps, as long as the condition is known to be
    /// false, which repeats the loop. Few iterations are enough: each uses what the previous one
    /// computed.
    fn run_more_iterations(
        &mut self,
        body: impl Iterator<Item = Instruction<'a>> + Clone,
        condition: i32,
        out: &mut Findings,
    ) {
        self.is_repeated = true;
        for _ in 0..MORE_ITERATIONS {
            if self.has_error || self.state.computed(condition) != Some(Scalar::Bool(false)) {
                break;
            }
            for instruction in body.clone() {
                self.judge(&instruction, out);
                self.apply(&instruction);
            }
        }
        self.is_repeated = false;
    }

    /// Applies the last iteration of a loop without inner jumps. Results that depend only on values
    /// which the loop does not modify become known again.
    fn run_last_iteration(&mut self, body: impl Iterator<Item = Instruction<'a>>) {
        self.is_imprecise = false;
        body.for_each(|instruction| self.apply(&instruction));
    }

    /// Returns the Bool at `index`, if the value is known.
    fn known_bool(&self, index: i32) -> Option<bool> {
        match self.judge.plan.value(self.state.known(index)?.into())? {
            KernelTypes::Bool(flag) => Some(flag.bool_val()),
            _ => None,
        }
    }

    /// Judges an instruction in the current state.
    fn judge(&mut self, instruction: &Instruction<'a>, out: &mut Findings) {
        let judged = &mut self.judged;
        let most = |list| most_items(judged, list);
        let Some((rule, arg, message)) = self.judge.instruction(instruction, &self.state, most)
        else {
            return;
        };
        let is_error = rule.severity == Severity::Error;
        self.has_error |= is_error;
        // Warnings were already reported in the first run or the first iteration.
        if (self.is_second_run || self.is_repeated) && !is_error {
            return;
        }
        let field = instruction.operand_field().map(PathComponent::Field);
        let path: Vec<_> = field.into_iter().chain(arg.map(PathComponent::Index)).collect();
        self.judge.plan.find_instruction(out, rule, instruction, &path, || message);
    }

    fn find_end(&mut self, ends: &'static str, nth: u32, broken: Broken, out: &mut Findings) {
        let (rule, message) = broken;
        self.has_error = true;
        let plan = self.judge.plan;
        let path = [PathComponent::Field(ends), PathComponent::Index(nth)];
        plan.find(out, rule, plan.view.raw(), &path, || message);
    }

    /// Applies the changes of an instruction to the state.
    fn apply(&mut self, instruction: &Instruction<'a>) {
        let signatures = self.judge.kernels.signatures();
        method::for_each_change(signatures, instruction, |change| match change {
            ValueChange::Copy { source, target } => {
                if let Some(source) = self.state.get(source).copied() {
                    self.set_value(target, source.is, By::Move);
                }
            }
            ValueChange::Result { target, gives } => {
                let is = self.result(gives, instruction);
                self.set_value(target, is, By::Result);
            }
            ValueChange::View { target, base } => {
                let base = base.and_then(|base| self.state.tensor(self.judge.values, base));
                let memory = base.map_or(Memory::Unknown, |base| self.state.memory(base));
                self.set_memory(target, memory);
                self.set_sizes(target, self.sizes_of_view(instruction, target));
            }
            ValueChange::Any { target } => {
                self.set_tensor(target, None, None);
                self.set_value(target, Is::UNKNOWN, By::File);
            }
            ValueChange::Delegate { target } => {
                self.set_tensor(target, None, None);
                self.delegate(target);
            }
            ValueChange::Free { target } => self.set_memory(target, Memory::Freed),
            ValueChange::Write { target, arg } => self.write(target, arg, instruction),
        });
    }

    /// Returns the view `target` or its base: the first of the two whose sizes in the file equal
    /// the sizes that the call requests.
    fn sizes_of_view(&self, instruction: &Instruction<'a>, target: i32) -> Option<u32> {
        let Judge { plan, values, kernels } = self.judge;
        let known = Known { plan, values, kernels, state: &self.state };
        let call = known.call(instruction.kernel_call()?)?;
        let sizes = call.ints(1)?;
        let tensors = [Some(target), call.args.get(0)];
        tensors.into_iter().flatten().find_map(|value| {
            let tensor = self.state.tensor(values, value)?;
            let KernelTypes::Tensor(of) = plan.value(tensor.into())? else { return None };
            of.sizes()?.into_iter().map(i128::from).eq(sizes.iter().copied()).then_some(tensor)
        })
    }

    /// Models a kernel that writes the output `target`. The kernel may give the output the sizes or
    /// the elements of another argument.
    fn write(&mut self, target: i32, arg: u32, instruction: &Instruction<'a>) {
        let Judge { values, kernels, .. } = self.judge;
        // The sizes and elements of list items are not tracked.
        if values.tag(target.into()).is_none_or(is_list) {
            return;
        }
        let Some(call) = instruction.kernel_call() else { return };
        let tensor = |arg: u32| {
            let value = call.args()?.get(pte_flat::bytes::index(arg))?;
            self.state.tensor(values, value)
        };
        let sized = |arg: u32| self.state.sized(kernels, tensor(arg)?);
        let sizes = match u8::try_from(arg).ok().and_then(|arg| kernels.sizes_after(call, arg)) {
            Some(SizesAfter::Same) => sized(arg),
            Some(SizesAfter::Like(like)) => sized(like.into()),
            None => None,
        };
        let elements = kernels.copied(call).and_then(|copied| {
            let (source, target) = (tensor(copied.source)?, tensor(arg)?);
            let is_converted = self.judge.dtype(source) != self.judge.dtype(target);
            self.state.elements(source).filter(|_| !is_converted)
        });
        self.set_tensor(target, sizes, elements);
    }

    /// Models a delegate, which may give memory to the argument at `index` and, if that is a list,
    /// to its items.
    fn delegate(&mut self, index: i32) {
        self.set_memory_by_delegate(index);
        let Some(items) = list(self.judge.plan, self.judge.values, index) else { return };
        let most = most_items(&mut self.delegated, index);
        for item in items.into_iter().take(most) {
            self.set_memory_by_delegate(item);
        }
    }

    fn set_memory_by_delegate(&mut self, index: i32) {
        let tensor = self.state.tensor(self.judge.values, index);
        let memory = tensor.map(|tensor| self.state.memory(tensor));
        if matches!(memory, Some(Memory::Missing | Memory::Freed)) {
            self.set_memory(index, Memory::Unknown);
        }
    }

    /// Returns the result of a call: its value if the file determines it, else the kinds that the
    /// result may be of.
    fn result(&self, gives: Gives, instruction: &Instruction<'a>) -> Is {
        let Judge { plan, values, kernels } = self.judge;
        let known = Known { plan, values, kernels, state: &self.state };
        let call = match instruction.operation() {
            Some(InstructionArguments::KernelCall(call)) => known.call(call),
            _ => None,
        };
        if let Some(call) = call {
            if let Some(scalar) = result(&call) {
                return Is::Computed(scalar);
            }
            if let Some(scalar) = known.constant_scalar(&call) {
                return Is::Computed(scalar);
            }
            if let Some(kinds) = result_kind(&call) {
                return Is::OneOf(kinds);
            }
        }
        Is::OneOf(self.result_kinds(gives, instruction))
    }

    /// Returns the kinds that the result of a call may be of.
    fn result_kinds(&self, gives: Gives, instruction: &Instruction<'a>) -> Kinds {
        if let Gives::A(kinds) = gives {
            return kinds;
        }
        let (int, double) = (Kinds::of(tag::Int), Kinds::of(tag::Double));
        let signatures = self.judge.kernels.signatures();
        let (mut are_ints, mut has_double) = (true, false);
        for index in method::read_arguments(signatures, instruction).into_iter().flatten() {
            let kinds = self.state.kinds(self.judge.values, index);
            are_ints &= kinds == int;
            has_double |= kinds == double;
        }
        match (are_ints, has_double) {
            (true, _) => int,
            (_, true) => double,
            _ => int.or(double),
        }
    }

    /// Replaces the value at `index`. A list is never replaced.
    fn set_value(&mut self, index: i32, is: Is, by: By) {
        let Some(&value) = self.state.get(index) else { return };
        if self.judge.values.tag(index.into()).is_some_and(is_list) {
            return;
        }
        let is = if self.is_imprecise { Is::UNKNOWN } else { is };
        self.set(index, AbstractValue { is, by, ..value });
    }

    /// Sets the memory of the tensor that is now at `index`.
    fn set_memory(&mut self, index: i32, memory: Memory) {
        let Some(tensor) = self.state.tensor(self.judge.values, index) else {
            let kinds = self.state.kinds(self.judge.values, index);
            if kinds.and(Kinds::of(tag::Tensor)) != Kinds::NONE {
                self.state.set_memory_unknown();
            }
            return;
        };
        let Ok(tensor) = i32::try_from(tensor) else { return };
        let Some(&value) = self.state.get(tensor) else { return };
        let memory = if self.is_imprecise { Memory::Unknown } else { memory };
        self.set(tensor, AbstractValue { memory, ..value });
    }

    /// Sets the known sizes and elements of the tensor that is now at `index`.
    fn set_tensor(&mut self, index: i32, sized: Option<u32>, elements: Option<u32>) {
        self.set_sizes(index, sized);
        let tensor = self.state.tensor(self.judge.values, index);
        let Some(Memory::Of(owner)) = tensor.map(|tensor| self.state.memory(tensor)) else {
            return;
        };
        let Ok(owner) = i32::try_from(owner) else { return };
        let elements = elements.filter(|_| !self.is_imprecise);
        if let Some(&value) = self.state.get(owner) {
            self.set(owner, AbstractValue { elements, ..value });
        }
    }

    /// Sets the known sizes of the tensor that is now at `index`.
    fn set_sizes(&mut self, index: i32, sized: Option<u32>) {
        let Judge { values, kernels, .. } = self.judge;
        let Some(tensor) = self.state.tensor(values, index) else {
            let kinds = self.state.kinds(values, index);
            if kinds.and(Kinds::of(tag::Tensor)) != Kinds::NONE {
                self.state.set_tensors_unknown();
            }
            return;
        };
        let sized = sized.filter(|_| !self.is_imprecise && !kernels.is_in_written_list(tensor));
        let Ok(tensor) = i32::try_from(tensor) else { return };
        if let Some(&value) = self.state.get(tensor) {
            self.set(tensor, AbstractValue { sized, ..value });
        }
    }

    fn set(&mut self, index: i32, value: AbstractValue) {
        if let Some(old) = self.state.set(index, value)
            && self.is_logging
            && old != value
        {
            self.log.push((index, old));
        }
    }
}

/// Returns the instructions of a loop before its backward jump, if none of them is a jump.
fn straight<'a>(
    repeated: Loop,
    nth: u32,
    chain: Chain<'a>,
) -> Option<impl Iterator<Item = Instruction<'a>> + Clone> {
    let body = repeated.begin..repeated.end;
    let body = body.filter_map(move |pc| method::instruction_of_chain(nth, chain, pc));
    body.clone().all(|instruction| instruction.jump().is_none()).then_some(body)
}

/// Returns how many items of a list are visited now: all of them the first time, then at most
/// [`MOST_ITEMS`]. A file may name one list millions of times.
fn most_items(seen: &mut [bool], list: i32) -> usize {
    let seen = usize::try_from(list).ok().and_then(|list| seen.get_mut(list));
    match seen.map(|seen| core::mem::replace(seen, true)) {
        Some(false) => usize::MAX,
        _ => MOST_ITEMS,
    }
}
