//! The abstract interpreter: runs a method on the known facts about its values, for at most four runs, or until one
//! changes nothing.
//!
//! Each instruction is judged in the state at that point. At a join point, a value may be what it
//! is on any of the paths, and what is wrong on one of them is reported. A loop is repeated a few
//! times; if iterations still change values, every value that the loop modifies is set to unknown,
//! and `flow_insensitive.rs` judges the method once more. Unknown values have no findings, except as dimensions and
//! ranges (`kernel-shape`, `quantized-contract`).

use alloc::vec::Vec;

use super::flow_insensitive::{FlowInsensitive, Place};
use super::judge::{Judge, is_copied, most_items};
use super::known::Known;
use super::rules::MOVE_UNSTORED;
use super::state::{AbstractValue, By, Is, Memory, State, Tensor, list};
use crate::constant_bools::ConstantBools;
use crate::kernels::BrokenRule;
use crate::report::Findings;
use crate::rule::{Broken, Severity};
use pte_core::PathComponent;
use pte_core::method::{self, Instruction, ValueChange};
use pte_core::operators::contracts::{SizesAfter, result, result_kind};
use pte_core::operators::{Gives, Kinds, Scalar};
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::program::view::{InstructionArguments, KernelTypes};
use pte_schema::program::{is_list, tag};

mod chain;
mod loops;

/// The most runs of a method that are interpreted.
const MOST_RUNS: u32 = 4;

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
    /// The changes since the current iteration of a loop began, each with the previous state.
    changed_in_iteration: Vec<(i32, AbstractValue)>,
    is_in_loop: bool,
    /// Whether the current instruction may execute, rather than must execute. The values that it
    /// changes are then set to unknown.
    is_imprecise: bool,
    /// Whether a loop modifies values again and again.
    is_widened: bool,
    /// Whether paths have met, so that a value may be one of several tensors.
    has_joined: bool,
    /// Whether an Error was found.
    has_error: bool,
    is_later_run: bool,
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
            constants: ConstantBools::of(judge.plan, judge.kernels),
            log: Vec::new(),
            is_logging: false,
            changed_in_iteration: Vec::new(),
            is_in_loop: false,
            is_imprecise: false,
            is_widened: false,
            has_joined: false,
            has_error: false,
            is_later_run: false,
            is_repeated: false,
        }
    }

    /// Runs the method several times, since values are kept between runs: at most [`MOST_RUNS`], and until a run
    /// changes nothing or has an Error.
    pub(super) fn run(mut self, out: &mut Findings) {
        for _ in 0..MOST_RUNS {
            let before = self.is_later_run.then(|| self.state.clone());
            self.run_once(out);
            let is_stable = before.is_some_and(|before| self.state == before);
            let is_tensor_unknown =
                || self.state.is_tensor_unknown() || self.state.has_several_tensors();
            let is_coarse = self.is_widened || self.has_joined && is_tensor_unknown();
            if self.has_error || is_stable && !is_coarse {
                return;
            }
            if is_stable {
                break;
            }
            self.is_later_run = true;
            self.delegated.fill(false);
            self.judged.fill(false);
        }
        FlowInsensitive::of(self.judge).judge(|place, (rule, arg, message)| match place {
            Place::Instruction(instruction) => {
                self.find_instruction(&instruction, (rule, arg, message), out);
            }
            Place::End(ends, nth) => self.find_end(ends, nth, (rule, message), out),
        });
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
            if self.is_later_run
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
            if self.is_later_run
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

    /// Returns the Bool at `index`, if the value is known.
    fn known_bool(&self, index: i32) -> Option<bool> {
        if let Some(Scalar::Bool(computed)) = self.state.computed(index) {
            return Some(computed);
        }
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
        if (self.is_later_run || self.is_repeated) && !is_error {
            return;
        }
        self.find_instruction(instruction, (rule, arg, message), out);
    }

    fn find_instruction(
        &self,
        instruction: &Instruction<'a>,
        (rule, arg, message): BrokenRule,
        out: &mut Findings,
    ) {
        let field = instruction.operand_field().map(PathComponent::Field);
        let path: Vec<_> = field.into_iter().chain(arg.map(PathComponent::Index)).collect();
        self.judge.plan.find_instruction(out, rule, instruction, &path, || message);
    }

    fn find_end(&mut self, ends: &'static str, nth: u32, broken: Broken, out: &mut Findings) {
        let (rule, message) = broken;
        self.has_error = true;
        let plan = self.judge.plan;
        let path = path![ends, nth];
        plan.find(out, rule, plan.view.raw(), &path, || message);
    }

    /// Applies the changes of an instruction to the state.
    fn apply(&mut self, instruction: &Instruction<'a>) {
        let signatures = &self.judge.kernels.signatures;
        method::for_each_change(signatures, instruction, |change| match change {
            ValueChange::Copy { source, target } => {
                if let Some(source) = self.state.get(source) {
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
                // A list keeps its items.
                if !self.judge.values.tag(target.into()).is_some_and(is_list) {
                    self.set_value(target, Is::UNKNOWN, By::File);
                }
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
            plan.tensor(tensor.into())?
                .sizes()?
                .into_iter()
                .map(i128::from)
                .eq(sizes.iter().copied())
                .then_some(tensor)
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
                return Is::one_of(kinds);
            }
        }
        Is::one_of(self.result_kinds(gives, instruction))
    }

    /// Returns the kinds that the result of a call may be of.
    fn result_kinds(&self, gives: Gives, instruction: &Instruction<'a>) -> Kinds {
        if let Gives::A(kinds) = gives {
            return kinds;
        }
        let (int, double) = (Kinds::of(tag::Int), Kinds::of(tag::Double));
        let signatures = &self.judge.kernels.signatures;
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

    /// Replaces the value at `index`.
    fn set_value(&mut self, index: i32, is: Is, by: By) {
        let Some(value) = self.state.get(index) else { return };
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
        let Some(value) = self.state.get(tensor) else { return };
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
        let elements = elements.filter(|_| !self.is_imprecise).and_then(Tensor::of);
        if let Some(value) = self.state.get(owner) {
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
        let sized = sized.filter(|_| !self.is_imprecise && !kernels.resized.is_in_list(tensor));
        let Ok(tensor) = i32::try_from(tensor) else { return };
        if let Some(value) = self.state.get(tensor) {
            self.set(tensor, AbstractValue { sized: sized.and_then(Tensor::of), ..value });
        }
    }

    fn set(&mut self, index: i32, value: AbstractValue) {
        let Some(old) = self.state.set(index, value).filter(|&old| old != value) else { return };
        if self.is_logging {
            self.log.push((index, old));
        }
        if self.is_in_loop {
            self.changed_in_iteration.push((index, old));
        }
    }
}
