//! Judges an instruction in the abstract state before it.

use alloc::string::String;

use super::known::Known;
use super::overlap;
use super::rules::{
    CONSTANT_WRITTEN, MOVE_TYPE, MOVE_TYPE_UNREAD, MOVE_UNSTORED, OUTPUT_LARGER, RESULT_TYPE,
    USE_AFTER_FREE,
};
use super::state::{By, Memory, State, list};
use crate::calls::rules::{
    FREE_TYPE, JUMP_CONDITION_STORAGE, JUMP_CONDITION_TYPE, STORAGE_MISSING,
};
use crate::kernels::{ARGS_COUNT, ARGS_TYPE, BrokenRule, Kernels};
use crate::rule::{Broken, Rule};
use crate::site::{Plan, nbytes};
use crate::values::{Values, is_constant};
use pte_core::limits::MOST_DIMENSIONS;
use pte_core::method::Instruction;
use pte_core::operators::{Kind, Kinds};
use pte_schema::program::view::{DelegateCall, InstructionArguments, KernelCall, KernelTypes};
use pte_schema::program::{is_list, tag};
use pte_schema::scalar::ScalarType;

/// The facts by which the instructions of a method are judged.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'c, 'p, 'a> {
    pub(crate) plan: &'c Plan<'p, 'a>,
    pub(crate) values: &'c Values,
    pub(crate) kernels: &'c Kernels,
}

/// The most items of a list that a repeated use visits. The first use in a run visits all items.
const MOST_ITEMS: usize = 64;

/// The most inputs that are searched for a value.
const MOST_INPUTS: usize = 64;

impl<'a> Judge<'_, '_, 'a> {
    /// Returns the first rule that an instruction breaks in a state. `most` returns how many items
    /// of a list to visit.
    pub(super) fn instruction(
        self,
        instruction: &Instruction<'a>,
        state: &State,
        most: impl FnMut(i32) -> usize,
    ) -> Option<BrokenRule> {
        match instruction.kernel_call() {
            Some(call) => self.kernel(call, state, most),
            None => self.operands(instruction, state, most),
        }
    }

    /// Returns the first rule that the operands of an instruction break in a state, each by itself.
    pub(super) fn operands(
        self,
        instruction: &Instruction<'a>,
        state: &State,
        most: impl FnMut(i32) -> usize,
    ) -> Option<BrokenRule> {
        let broken = match instruction.operation()? {
            InstructionArguments::KernelCall(call) => return self.arguments(call, state, most),
            InstructionArguments::DelegateCall(call) => return self.delegate(call, state, most),
            InstructionArguments::MoveCall(_) => self.moved(instruction.moved()?, state),
            InstructionArguments::JumpFalseCall(_) => {
                self.jump(instruction.jump()?.condition, state)
            }
            InstructionArguments::FreeCall(_) => self.freed(instruction.freed()?, state),
            InstructionArguments::Unknown(_) => None,
        };
        broken.map(|(rule, message)| (rule, None, message))
    }

    /// Returns the first rule that a call of a kernel breaks in a state.
    pub(crate) fn kernel(
        self,
        call: KernelCall<'a>,
        state: &State,
        most: impl FnMut(i32) -> usize,
    ) -> Option<BrokenRule> {
        if self.kernels.kernel(call).is_none() {
            return self.unknown_operator(call, state, most);
        }
        let known = Known { plan: self.plan, values: self.values, kernels: self.kernels, state };
        self.arguments(call, state, most)
            .or_else(|| self.kernels.contract(&known, call))
            .or_else(|| overlap::find(&known, call))
    }

    /// Returns the first rule that the arguments of a call of a kernel break in a state, each by itself.
    fn arguments(
        self,
        call: KernelCall<'a>,
        state: &State,
        mut most: impl FnMut(i32) -> usize,
    ) -> Option<BrokenRule> {
        let Some(kernel) = self.kernels.kernel(call) else {
            return self.unknown_operator(call, state, most);
        };
        let letters = kernel.letters;
        let args = call.args()?;
        if args.len() != letters.len() {
            let message = format!("given arguments: {}, taken: {}", args.len(), letters.len());
            return Some((&ARGS_COUNT, None, message));
        }
        for (nth, index, kind) in self.kernels.signatures.args(call)? {
            let wrong = self.argument(index, kind, state).or_else(|| match state.is_still() {
                true => None,
                false => self.items(index, kind, state, most(index)),
            });
            if let Some((rule, message)) = wrong {
                return Some((rule, Some(nth), message));
            }
        }
        if state.is_still() { None } else { self.computed_constant(call, state) }
    }

    /// Reports a dimension or another bounded Int that instructions compute, so that its value is unknown.
    fn computed_constant(self, call: KernelCall<'a>, state: &State) -> Option<BrokenRule> {
        let args = call.args()?;
        self.kernels.constant_args(call).find_map(|(nth, rule)| {
            let index = args.get(nth.into())?;
            let is_unknown = state.known(index).is_none() && state.computed(index).is_none();
            (state.by(index) != By::File && is_unknown).then(|| {
                let message = format!(
                    "value {index}, which must be a constant, is computed, and nothing bounds it"
                );
                (rule, Some(nth.into()), message)
            })
        })
    }

    /// Judges an argument of a kernel by itself.
    fn argument(self, index: i32, kind: Kind, state: &State) -> Option<Broken> {
        if kind.is_anything() {
            return None;
        }
        match state.known(index).map(|known| (known, self.values.tag(known.into()))) {
            Some((tensor, Some(tag::Tensor))) if kind.accepts(tag::Tensor) => {
                if kind.is_written()
                    && let Some(broken) = self.written(index, tensor, state)
                {
                    return Some(broken);
                }
                if kind.needs_data() {
                    self.lacks_data(index, state, &STORAGE_MISSING)
                } else {
                    None
                }
            }
            Some((_, Some(tag))) if kind.accepts(tag) => None,
            _ => {
                let expected = || format!("{kind}");
                self.wrong_kind(index, kind.accepted(), state, &ARGS_TYPE, expected)
            }
        }
    }

    /// Judges the items of a list. An item is a value, which instructions may have replaced.
    fn items(self, list_index: i32, kind: Kind, state: &State, most: usize) -> Option<Broken> {
        let in_list = |(rule, message)| (rule, format!("in list {list_index} {message}"));
        if let Some(KernelTypes::IntList(list)) = self.plan.value(list_index.into()) {
            let mut items = list.items().into_iter().flatten().take(most);
            let int = Kinds::of(tag::Int);
            return items.find_map(|item| {
                let item = i32::try_from(item).ok().filter(|&item| state.by(item) != By::File)?;
                self.wrong_kind(item, int, state, &MOVE_TYPE, || "Int".into()).map(in_list)
            });
        }
        let is_optional = self.values.tag(list_index.into()) == Some(tag::OptionalTensorList);
        let null = if is_optional { Kinds::of(tag::Null) } else { Kinds::NONE };
        let expected = Kinds::of(tag::Tensor).or(null);
        let mut items = list(self.plan, self.values, list_index)?.into_iter().take(most);
        items.find_map(|item| {
            let is_replaced = state.by(item) != By::File;
            let wrong = || self.wrong_kind(item, expected, state, &MOVE_TYPE, || "Tensor".into());
            let data = || {
                let tensor = state.tensor(self.values, item)?;
                let written =
                    kind.is_written().then(|| self.written(item, tensor, state)).flatten();
                written.or_else(|| self.lacks_data(item, state, &STORAGE_MISSING))
            };
            is_replaced.then(wrong).flatten().or_else(data).map(in_list)
        })
    }

    /// Judges a call of an unknown operator. All its tensors need data, except the last argument,
    /// which may be the output.
    fn unknown_operator(
        self,
        call: KernelCall<'a>,
        state: &State,
        mut most: impl FnMut(i32) -> usize,
    ) -> Option<BrokenRule> {
        let args = call.args()?;
        let last = args.len().checked_sub(1).and_then(|last| args.get(last));
        (0..).zip(args).filter(|&(_, index)| Some(index) != last).find_map(|(nth, index)| {
            let (rule, message) = self.tensors_without_data(index, state, most(index))?;
            Some((rule, Some(nth), message))
        })
    }

    /// Judges a call of a delegate. A delegate may give memory to a tensor that never had any, but
    /// not to a freed tensor. Some backends give no memory at all.
    fn delegate(
        self,
        call: DelegateCall<'a>,
        state: &State,
        mut most: impl FnMut(i32) -> usize,
    ) -> Option<BrokenRule> {
        let gives_memory = self.kernels.gives_memory(call);
        (0..).zip(call.args()?).find_map(|(nth, index)| {
            let found = self.tensors_without_data(index, state, most(index));
            let (rule, message) =
                found.filter(|(rule, _)| rule.id == USE_AFTER_FREE.id || !gives_memory)?;
            Some((rule, Some(nth), message))
        })
    }

    fn moved(self, (source, target): (i32, i32), state: &State) -> Option<Broken> {
        let tags = (self.values.tag(source.into())?, self.values.tag(target.into())?);
        // Moves of lists are reported by move-list.
        let kinds = state.kinds(self.values, source);
        if is_list(tags.0) || is_list(tags.1) || kinds.and(Kinds::of(tags.1)) != Kinds::NONE {
            return None;
        }
        let name = self.name(target);
        let message = format!("value {source}, {kinds}, is moved onto value {target}, {name}");
        Some((&MOVE_TYPE_UNREAD, message))
    }

    fn jump(self, condition: i32, state: &State) -> Option<Broken> {
        self.values.tag(condition.into())?;
        let expected = Kinds::of(tag::Bool).or(Kinds::of(tag::Tensor));
        let dtype = || self.dtype(state.tensor(self.values, condition)?);
        // A tensor of another dtype is wrong, too.
        let expected = match dtype() {
            Some(dtype) if dtype != ScalarType::BOOL => Kinds::of(tag::Bool),
            _ => expected,
        };
        let words = || "a Bool, or a tensor of them,".into();
        self.wrong_kind(condition, expected, state, &JUMP_CONDITION_TYPE, words)
            .or_else(|| self.lacks_data(condition, state, &JUMP_CONDITION_STORAGE))
    }

    fn freed(self, index: i32, state: &State) -> Option<Broken> {
        self.values.tag(index.into())?;
        self.wrong_kind(index, Kinds::of(tag::Tensor), state, &FREE_TYPE, || "Tensor".into())
    }

    /// Judges an input before the second run. The runtime copies the caller's tensor to the planned
    /// memory, or uses the caller's memory for the input.
    pub(super) fn input(self, index: i32, state: &State) -> Option<Broken> {
        let planned = self.values.tag(index.into())?;
        let name = || self.name(index).into();
        let wrong = self.wrong_kind(index, Kinds::of(planned), state, &MOVE_TYPE, name);
        if wrong.is_some() {
            return wrong;
        }
        let tensor = state.tensor(self.values, index)?;
        if !is_copied(self.plan, index) {
            return None;
        }
        // `input-constant` reports an input that is a constant.
        let own = u32::try_from(index).is_ok_and(|own| state.memory(tensor) == Memory::Of(own));
        if own { None } else { self.written(index, tensor, state) }
            .or_else(|| self.lacks_data(index, state, &STORAGE_MISSING))
    }

    /// Judges an output without memory before the second run. The caller gives memory to it, so it
    /// must still be a tensor.
    pub(super) fn output_memory(self, index: i32, state: &State) -> Option<Broken> {
        if !self.values.is_unstored(index) {
            return None;
        }
        self.wrong_kind(index, Kinds::of(tag::Tensor), state, &MOVE_TYPE, || "Tensor".into())
            .or_else(|| self.output_buffer(index, state.tensor(self.values, index)?))
    }

    /// Reports an output without memory, where there is now a tensor that does not fit in the caller's memory.
    pub(super) fn output_buffer(self, index: i32, tensor: u32) -> Option<Broken> {
        let own = u32::try_from(index).ok().filter(|_| self.values.is_unstored(index))?;
        let (room, bytes) = (self.nbytes(own)?, self.nbytes(tensor)?);
        (bytes > room).then(|| {
            let message = format!(
                "value {index} of {room} bytes is an alias of value {tensor} of up to {bytes} bytes"
            );
            (&OUTPUT_LARGER, message)
        })
    }

    /// Returns the size of a tensor of the file in bytes. `None` if its shape is wrong, which other rules report.
    pub(super) fn nbytes(self, tensor: u32) -> Option<u64> {
        nbytes(self.plan.tensor(tensor.into())?)
    }

    /// Finds a tensor without data: the value itself, or an item of a list.
    fn tensors_without_data(self, index: i32, state: &State, most: usize) -> Option<Broken> {
        let in_list = || {
            let mut items = list(self.plan, self.values, index)?.into_iter().take(most);
            let (rule, message) =
                items.find_map(|item| self.lacks_data(item, state, &STORAGE_MISSING))?;
            Some((rule, format!("in list {index} {message}")))
        };
        self.lacks_data(index, state, &STORAGE_MISSING).or_else(in_list)
    }

    /// Reports the tensor at `index` if it has elements and no memory. `missing` is the rule for a
    /// tensor that never had memory.
    pub(super) fn lacks_data(
        self,
        index: i32,
        state: &State,
        missing: &'static Rule,
    ) -> Option<Broken> {
        let tensor = state.tensor(self.values, index)?;
        let memory = state.memory(tensor);
        if !matches!(memory, Memory::Missing | Memory::Freed) || self.has_no_elements(tensor) {
            return None;
        }
        let what = match u32::try_from(index) {
            Ok(own) if own == tensor => format!("value {index}"),
            _ => format!("value {index} (here an alias of value {tensor})"),
        };
        Some(match memory {
            Memory::Freed => (&USE_AFTER_FREE, format!("{what} is used after its memory is freed")),
            _ if state.by(index) == By::Move => {
                (&MOVE_UNSTORED, format!("{what} is a tensor without memory for its data"))
            }
            _ => (missing, format!("{what} is a tensor without data")),
        })
    }

    /// Returns the dtype of a tensor of the file.
    pub(super) fn dtype(self, tensor: u32) -> Option<ScalarType> {
        Some(self.plan.tensor(tensor.into())?.scalar_type())
    }

    fn has_no_elements(self, tensor: u32) -> bool {
        let sizes = self.plan.tensor(tensor.into()).and_then(|tensor| tensor.sizes());
        sizes.is_some_and(|sizes| sizes.iter().take(MOST_DIMENSIONS).any(|size| size == 0))
    }

    /// Reports a write to the tensor at `index` if the tensor uses the data of a constant.
    fn written(self, index: i32, tensor: u32, state: &State) -> Option<Broken> {
        let Memory::Of(owner) = state.memory(tensor) else { return None };
        if !is_constant(self.plan, i32::try_from(owner).ok()?) {
            return None;
        }
        let message = match u32::try_from(index) {
            Ok(own) if own == owner => {
                format!("value {index} is constant, and the call writes to it")
            }
            _ => format!("value {index} is written to, and its data is that of constant {owner}"),
        };
        Some((&CONSTANT_WRITTEN, message))
    }

    /// Reports a value that is of none of the accepted kinds, or that is of another kind on some path. The rule
    /// depends on the instruction that set the value; `in_file` is the rule for a value of the file.
    fn wrong_kind(
        self,
        index: i32,
        accepted: Kinds,
        state: &State,
        in_file: &'static Rule,
        expected: impl FnOnce() -> String,
    ) -> Option<Broken> {
        let kinds = state.wrong_kinds(self.values, index, accepted)?;
        let expected = expected();
        Some(match state.by(index) {
            By::File if self.is_null_input(index) => {
                let refused = "the runtime refuses to set it to anything else";
                (
                    in_file,
                    format!("input value {index} is Null, and {expected} is wanted: {refused}"),
                )
            }
            By::File => {
                let name = self.name(index);
                (in_file, format!("value {index} is {name}, and {expected} is wanted"))
            }
            By::Move => {
                let message =
                    format!("value {index} is {kinds} by a move, and {expected} is wanted");
                (&MOVE_TYPE, message)
            }
            By::Result => {
                let message =
                    format!("value {index} is {kinds} as a result, and {expected} is wanted");
                (&RESULT_TYPE, message)
            }
        })
    }

    /// Returns whether a value is one of the first inputs and Null in the file. Exporters write
    /// Null for an Int that is a dynamic dimension. The runtime then accepts only Null from the
    /// caller (`Method::set_input`).
    fn is_null_input(self, index: i32) -> bool {
        let mut inputs = self.plan.view.inputs().into_iter().flatten().take(MOST_INPUTS);
        self.values.tag(index.into()) == Some(tag::Null) && inputs.any(|input| input == index)
    }

    fn name(self, index: i32) -> &'static str {
        self.plan.kind_name(index).unwrap_or("of no kind")
    }
}

/// Returns whether the runtime copies an input to planned memory instead of using the caller's.
pub(super) fn is_copied(plan: &Plan<'_, '_>, index: i32) -> bool {
    match plan.value(index.into()) {
        Some(KernelTypes::Tensor(tensor)) => {
            tensor.allocation_info().is_some() || tensor.data_buffer_idx() != 0
        }
        _ => false,
    }
}

/// Returns how many items of a list are visited now: all of them the first time, then at most
/// [`MOST_ITEMS`]. A file may name one list millions of times.
pub(super) fn most_items(seen: &mut [bool], list: i32) -> usize {
    let seen = usize::try_from(list).ok().and_then(|list| seen.get_mut(list));
    match seen.map(|seen| core::mem::replace(seen, true)) {
        Some(false) => usize::MAX,
        _ => MOST_ITEMS,
    }
}
