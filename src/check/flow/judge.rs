//! What an instruction asks of the values that it meets.

use alloc::format;
use alloc::string::String;

use super::state::{By, Place, State, list};
use super::{
    CONSTANT_WRITTEN, MOVE_TYPE, MOVE_TYPE_UNREAD, MOVE_UNSTORED, RESULT_TYPE, USE_AFTER_FREE,
    is_constant, overlap,
};
use crate::check::calls::{
    FREE_TYPE, JUMP_CONDITION_STORAGE, JUMP_CONDITION_TYPE, STORAGE_MISSING,
};
use crate::check::kernels::{ARGS_COUNT, ARGS_TYPE, Kernels, Wrong};
use crate::check::rule::Rule;
use crate::check::spot::Plan;
use crate::check::values::Values;
use crate::operators::{Kind, Kinds};
use crate::schema::program::tag;
use crate::schema::program::view::{
    DelegateCall, FreeCall, InstructionArguments, JumpFalseCall, KernelCall, KernelTypes, MoveCall,
};
use crate::schema::scalar::ScalarType;

/// What instructions are judged by.
#[derive(Clone, Copy)]
pub(in crate::check) struct Judge<'c, 'p, 'a> {
    pub(in crate::check) plan: &'c Plan<'p, 'a>,
    pub(in crate::check) values: &'c Values,
    pub(in crate::check) kernels: &'c Kernels,
}

/// A rule, and what breaks it.
pub(super) type Broken = (&'static Rule, String);

impl<'a> Judge<'_, '_, 'a> {
    /// What is wrong with an instruction, met in that state. Of a list of tensors `most` tells how
    /// many are looked at.
    pub(super) fn instruction(
        self,
        args: InstructionArguments<'a>,
        state: &State,
        most: impl FnMut(i32) -> usize,
    ) -> Option<Wrong> {
        let broken = match args {
            InstructionArguments::KernelCall(call) => return self.kernel(call, state, most),
            InstructionArguments::DelegateCall(call) => return self.delegate(call, state, most),
            InstructionArguments::MoveCall(call) => self.moved(call, state),
            InstructionArguments::JumpFalseCall(call) => self.jump(call, state),
            InstructionArguments::FreeCall(call) => self.freed(call, state),
            InstructionArguments::Unknown(_) => None,
        };
        broken.map(|(rule, message)| (rule, None, message))
    }

    pub(in crate::check) fn kernel(
        self,
        call: KernelCall<'a>,
        state: &State,
        mut most: impl FnMut(i32) -> usize,
    ) -> Option<Wrong> {
        let Some((_, letters)) = self.kernels.signature(call) else {
            return self.stranger(call, state, most);
        };
        let args = call.args()?;
        if args.len() != letters.len() {
            let message = format!("{} arguments, and {} are taken", args.len(), letters.len());
            return Some((&ARGS_COUNT, None, message));
        }
        for (nth, index, kind) in self.kernels.args(call)? {
            let wrong = self.arg(index, kind, state).or_else(|| match state.is_still() {
                true => None,
                false => self.items(index, kind, state, most(index)),
            });
            if let Some((rule, message)) = wrong {
                return Some((rule, Some(nth), message));
            }
        }
        self.kernels.contract(self.plan, state, call).or_else(|| overlap::find(self, call, state))
    }

    /// What is wrong with an argument by itself.
    fn arg(self, index: i32, kind: Kind, state: &State) -> Option<Broken> {
        if kind.is_anything() {
            return None;
        }
        match state.held(index).map(|held| (held, self.values.tag(held.into()))) {
            Some((tensor, Some(tag::Tensor))) if kind.accepts(tag::Tensor) => {
                if kind.is_written()
                    && let Some(broken) = self.writes(index, tensor, state)
                {
                    return Some(broken);
                }
                if kind.needs_data() { self.lacks(index, state, &STORAGE_MISSING) } else { None }
            }
            Some((_, Some(tag))) if kind.accepts(tag) => None,
            _ => {
                let fits = state.kinds(self.values, index).and(kind.accepted()) != Kinds::NONE;
                let wrong = || self.wrong_kind(index, state, &ARGS_TYPE, format!("{kind}"));
                (!fits).then(wrong)
            }
        }
    }

    /// What is wrong with the items of a list, which change as others do.
    fn items(self, list_index: i32, kind: Kind, state: &State, most: usize) -> Option<Broken> {
        let in_list = |(rule, message)| (rule, format!("in list {list_index} {message}"));
        if let Some(KernelTypes::IntList(list)) = self.plan.value(list_index.into()) {
            let mut items = list.items().into_iter().flatten().take(most);
            let int = Kinds::of(tag::Int);
            return items.find_map(|item| {
                let item = i32::try_from(item).ok().filter(|&item| state.by(item) != By::File)?;
                let fits = state.kinds(self.values, item).and(int) != Kinds::NONE;
                let wrong = || self.wrong_kind(item, state, &MOVE_TYPE, "Int".into());
                (!fits).then(wrong).map(in_list)
            });
        }
        let is_optional = self.values.tag(list_index.into()) == Some(tag::OptionalTensorList);
        let null = if is_optional { Kinds::of(tag::Null) } else { Kinds::NONE };
        let wanted = Kinds::of(tag::Tensor).or(null);
        let mut items = list(self.plan, self.values, list_index)?.into_iter().take(most);
        items.find_map(|item| {
            let kinds = state.kinds(self.values, item);
            let broken = if state.by(item) != By::File && kinds.and(wanted) == Kinds::NONE {
                Some(self.wrong_kind(item, state, &MOVE_TYPE, "Tensor".into()))
            } else {
                let tensor = state.tensor(self.values, item)?;
                let written = kind.is_written().then(|| self.writes(item, tensor, state)).flatten();
                written.or_else(|| self.lacks(item, state, &STORAGE_MISSING))
            };
            broken.map(in_list)
        })
    }

    /// A call of an operator that is not known needs the data of its tensors. The last argument may
    /// be its result alone.
    fn stranger(
        self,
        call: KernelCall<'a>,
        state: &State,
        mut most: impl FnMut(i32) -> usize,
    ) -> Option<Wrong> {
        let args = call.args()?;
        let last = args.len().checked_sub(1).and_then(|last| args.get(last));
        (0..).zip(args).filter(|&(_, index)| Some(index) != last).find_map(|(nth, index)| {
            let (rule, message) = self.data(index, state, most(index))?;
            Some((rule, Some(nth), message))
        })
    }

    /// A delegate may give a place to what never had one, but not to what has lost it.
    fn delegate(
        self,
        call: DelegateCall<'a>,
        state: &State,
        mut most: impl FnMut(i32) -> usize,
    ) -> Option<Wrong> {
        (0..).zip(call.args()?).find_map(|(nth, index)| {
            let found = self.data(index, state, most(index));
            let (rule, message) = found.filter(|(rule, _)| rule.id == USE_AFTER_FREE.id)?;
            Some((rule, Some(nth), message))
        })
    }

    fn moved(self, call: MoveCall<'a>, state: &State) -> Option<Broken> {
        let (from, to) = (call.move_from(), call.move_to());
        let (source, target) = (self.values.tag(from.into())?, self.values.tag(to.into())?);
        // Lists have a finding of their own.
        let is_list = |tag| (tag::IntList..=tag::OptionalTensorList).contains(&tag);
        let kinds = state.kinds(self.values, from);
        if is_list(source) || is_list(target) || kinds.and(Kinds::of(target)) != Kinds::NONE {
            return None;
        }
        let target = self.name(to);
        let message = format!("value {from}, {kinds}, is moved onto value {to}, {target}");
        Some((&MOVE_TYPE_UNREAD, message))
    }

    fn jump(self, call: JumpFalseCall<'a>, state: &State) -> Option<Broken> {
        let index = call.cond_value_index();
        self.values.tag(index.into())?;
        let wanted = Kinds::of(tag::Bool).or(Kinds::of(tag::Tensor));
        let dtype = || match self.plan.value(state.tensor(self.values, index)?.into())? {
            KernelTypes::Tensor(tensor) => Some(tensor.scalar_type()),
            _ => None,
        };
        let is_other = |dtype| dtype != ScalarType::BOOL;
        if state.kinds(self.values, index).and(wanted) == Kinds::NONE
            || dtype().is_some_and(is_other)
        {
            let wanted = "a Bool, or a tensor of them,".into();
            return Some(self.wrong_kind(index, state, &JUMP_CONDITION_TYPE, wanted));
        }
        self.lacks(index, state, &JUMP_CONDITION_STORAGE)
    }

    fn freed(self, call: FreeCall<'a>, state: &State) -> Option<Broken> {
        let index = call.value_index();
        self.values.tag(index.into())?;
        let fits = state.kinds(self.values, index).and(Kinds::of(tag::Tensor)) != Kinds::NONE;
        (!fits).then(|| self.wrong_kind(index, state, &FREE_TYPE, "Tensor".into()))
    }

    /// What is wrong with an input when the method runs again: the next one is copied to where the
    /// planned data is, or takes its place.
    pub(super) fn input(self, index: i32, state: &State) -> Option<Broken> {
        let planned = self.values.tag(index.into())?;
        if state.kinds(self.values, index).and(Kinds::of(planned)) == Kinds::NONE {
            return Some(self.wrong_kind(index, state, &MOVE_TYPE, self.name(index).into()));
        }
        let tensor = state.tensor(self.values, index)?;
        if !is_copied(self.plan, index) {
            return None;
        }
        // A constant that is an input has a finding of its own.
        let own = u32::try_from(index).is_ok_and(|own| state.place(tensor) == Place::Of(own));
        if own { None } else { self.writes(index, tensor, state) }
            .or_else(|| self.lacks(index, state, &STORAGE_MISSING))
    }

    /// What is wrong with an output when the method runs again: it is to be a tensor, for which
    /// whoever runs the method has memory.
    pub(super) fn place_of_output(self, index: i32, state: &State) -> Option<Broken> {
        let tensor = Kinds::of(tag::Tensor);
        let fits = state.kinds(self.values, index).and(tensor) != Kinds::NONE;
        let given = self.values.is_unstored(index);
        (given && !fits).then(|| self.wrong_kind(index, state, &MOVE_TYPE, "Tensor".into()))
    }

    /// A tensor without data, by itself or in a list.
    fn data(self, index: i32, state: &State, most: usize) -> Option<Broken> {
        let in_list = || {
            let mut items = list(self.plan, self.values, index)?.into_iter().take(most);
            let (rule, message) =
                items.find_map(|item| self.lacks(item, state, &STORAGE_MISSING))?;
            Some((rule, format!("in list {index} {message}")))
        };
        self.lacks(index, state, &STORAGE_MISSING).or_else(in_list)
    }

    /// A tensor whose data is nowhere, unless it has none.
    pub(super) fn lacks(self, index: i32, state: &State, missing: &'static Rule) -> Option<Broken> {
        let tensor = state.tensor(self.values, index)?;
        let place = state.place(tensor);
        if !matches!(place, Place::Missing | Place::Freed) || self.is_empty(tensor) {
            return None;
        }
        let what = match u32::try_from(index) {
            Ok(own) if own == tensor => format!("value {index}"),
            _ => format!("value {index}, which is value {tensor} by then,"),
        };
        Some(match place {
            Place::Freed => (&USE_AFTER_FREE, format!("{what} is used, and its data is freed")),
            _ if state.by(index) == By::Move => {
                (&MOVE_UNSTORED, format!("{what} is a tensor without a place for its data"))
            }
            _ => (missing, format!("{what} is a tensor without data")),
        })
    }

    /// Whether a tensor has no elements, and so needs no data.
    fn is_empty(self, tensor: u32) -> bool {
        let Some(KernelTypes::Tensor(tensor)) = self.plan.value(tensor.into()) else {
            return false;
        };
        tensor.sizes().is_some_and(|sizes| sizes.iter().take(16).any(|size| size == 0))
    }

    /// A constant that is written to, under whatever index.
    fn writes(self, index: i32, tensor: u32, state: &State) -> Option<Broken> {
        let Place::Of(owner) = state.place(tensor) else { return None };
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

    /// A value that is of the wrong kind, by the rule for what has made it so.
    fn wrong_kind(
        self,
        index: i32,
        state: &State,
        planned: &'static Rule,
        wanted: String,
    ) -> Broken {
        let kinds = state.kinds(self.values, index);
        match state.by(index) {
            By::File => {
                let name = self.name(index);
                (planned, format!("value {index} is {name}, and {wanted} is wanted"))
            }
            By::Move => {
                (&MOVE_TYPE, format!("value {index} is {kinds} by a move, and {wanted} is wanted"))
            }
            By::Result => {
                let message =
                    format!("value {index} is {kinds} as a result, and {wanted} is wanted");
                (&RESULT_TYPE, message)
            }
        }
    }

    fn name(self, index: i32) -> &'static str {
        self.plan.value(index.into()).and_then(KernelTypes::name).unwrap_or("of no kind")
    }
}

/// Whether the runtime copies an input to where the file has planned it, and does not take the
/// caller's memory for it.
pub(super) fn is_copied(plan: &Plan<'_, '_>, index: i32) -> bool {
    match plan.value(index.into()) {
        Some(KernelTypes::Tensor(tensor)) => {
            tensor.allocation_info().is_some() || tensor.data_buffer_idx() != 0
        }
        _ => false,
    }
}
