//! Flow: what calls, moves and frees do to the values that others use.
//!
//! A method runs more than once, and its values stay as they are in between: what comes later in the
//! chain counts as well.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use self::uses::Uses;
use super::Findings;
use super::kernels::{Gives, Kernels, Kinds, Moment, Wrong};
use super::rule::{Rule, rules};
use super::spot::Plan;
use super::storage::{self, Storage};
use super::tensors::MOST_DIMENSIONS;
use super::values::Values;
use crate::error::Step;
use crate::flat::view::Table;
use crate::schema::program::TensorDataLocation;
use crate::schema::program::tag;
use crate::schema::program::view::{
    FreeCall, Instruction, InstructionArguments, KernelCall, KernelTypes, MoveCall, Tensor,
};

mod uses;

rules! {
    "flow";

    MOVE_TYPE = Error "move-type"
        "A value is moved onto one of its kind, where a call, a jump, a list, a move, an input or an output asks for that kind."
        "What is read is of another kind than planned: a kernel's conversion aborts, and a jump is refused."
        Crashes ["6.5", "7.4.40", "7.4.41", "7.7.16"];
    MOVE_TYPE_UNREAD = Warning "move-type-unread"
        "A value is moved onto one of its kind, even if nothing asks for it."
        "No writer does this: the value is planned for another kind."
        Ignores ["7.4.40", "7.7.16"];
    MOVE_UNSTORED = Error "move-unstored"
        "A tensor without a place for its data is not moved onto one that is used."
        "The kernel that uses it reads or writes through a null pointer."
        Crashes ["6.1", "7.4.41"];
    RESULT_TYPE = Error "result-type"
        "The result of a primitive operator is of the kind that those ask for who use it."
        "The result takes its value's kind with it: a kernel's conversion aborts, and a jump is refused."
        Crashes ["6.5", "7.4.42", "7.7.16"];
    USE_AFTER_FREE = Error "use-after-free"
        "No call, jump, list or output uses a tensor that is freed, unless it gets memory again."
        "Its data is gone, also when the method runs again: the next use reads or writes through a null pointer."
        Crashes ["6.5", "7.4.43", "7.7.16"];
    CONSTANT_WRITTEN = Error "constant-written"
        "No kernel writes to a constant, nor to what is moved from one or is a view of one."
        "The file's own bytes are overwritten, or the program dies where they are mapped or in ROM."
        Misreads ["6.1", "7.4.44", "7.7.16"];
    ARGS_OVERLAP = Warning "args-overlap"
        "What a call writes to shares no planned bytes with another of its arguments."
        "The kernel overwrites what it has yet to read."
        Ignores ["6.2", "7.7.18"];
    INDEX_OVERLAP = Error "index-overlap"
        "What a scatter writes to shares no planned bytes with its index."
        "The index is checked first and overwritten then: the kernel writes where it says."
        Misreads ["6.2", "7.4.46", "7.7.18"];
}

/// Scatters, whose third argument is the index.
const SCATTERS: [&str; 3] =
    ["aten::scatter.src_out", "aten::scatter.value_out", "aten::scatter_add.out"];

/// Judges all instructions of a plan in which something is moved, freed, viewed or computed.
pub(super) fn check(
    plan: &Plan<'_, '_>,
    values: &Values,
    kernels: &Kernels,
    storage: &Storage,
    out: &mut Findings,
) {
    let uses = Uses::of(plan, values, kernels);
    let kinds = (0..).take(plan.len).filter_map(|index| values.tag(index)).map(Kinds::of);
    let kinds = kinds.collect();
    let constant_items = BTreeMap::new();
    let mut pass = Pass { plan, values, kernels, storage, uses, kinds, constant_items };
    for (chain, view) in (0..).zip(plan.view.chains().into_iter().flatten()) {
        for (nth, instruction) in (0..).zip(view.instructions().into_iter().flatten()) {
            pass.instruction((chain, nth), instruction, out);
        }
    }
}

struct Pass<'c, 'p, 'a> {
    plan: &'c Plan<'p, 'a>,
    values: &'c Values,
    kernels: &'c Kernels,
    storage: &'c Storage,
    uses: Uses,
    /// What each value is at the instruction that is looked at: what it is planned to be, where
    /// jumps may lead elsewhere.
    kinds: Vec<Kinds>,
    /// The first constant in each list that a kernel writes to, if there is one.
    constant_items: BTreeMap<i32, Option<i32>>,
}

impl<'a> Pass<'_, '_, 'a> {
    fn instruction(
        &mut self,
        (chain, nth): (u32, u32),
        instruction: Instruction<'a>,
        out: &mut Findings,
    ) {
        let Some(args) = instruction.instr_args() else { return };
        let moment = (chain, nth.saturating_add(1));
        let (table, found) = match args {
            InstructionArguments::MoveCall(call) => (call.raw(), self.moved(call, moment)),
            InstructionArguments::FreeCall(call) => (call.raw(), self.freed(call, moment)),
            InstructionArguments::KernelCall(call) => (call.raw(), self.called(call)),
            _ => return,
        };
        let Some((rule, arg, message)) = found else { return };
        let (arg, known) = match arg {
            Some(nth) => (Step::Index(nth), true),
            None => (Step::Field("args"), false),
        };
        let steps = [
            Step::Field("chains"),
            Step::Index(chain),
            Step::Field("instructions"),
            Step::Index(nth),
            Step::Field("instr_args"),
            Step::Variant(args.name().unwrap_or_default()),
            Step::Field("args"),
            arg,
        ];
        let len = if known { steps.len() } else { 6 };
        self.plan.find(out, rule, table, steps.get(..len).unwrap_or_default(), || message);
    }

    fn moved(&mut self, call: MoveCall<'a>, moment: Moment) -> Option<Wrong> {
        let (from, to) = (call.move_from(), call.move_to());
        let (source, target) = (self.values.tag(from.into())?, self.values.tag(to.into())?);
        let is_list = |tag| (tag::IntList..=tag::OptionalTensorList).contains(&tag);
        // Lists have a finding of their own.
        if is_list(source) || is_list(target) {
            return None;
        }
        let moved = self.kind(from);
        self.becomes(to, moved);
        if moved.and(Kinds::of(target)) == Kinds::NONE {
            let fits = moved.and(self.uses.wanted(to)) != Kinds::NONE;
            let rule = if fits { &MOVE_TYPE_UNREAD } else { &MOVE_TYPE };
            let target = self.name(to);
            let message = format!("value {from}, {moved}, is moved onto value {to}, {target}");
            return Some((rule, None, message));
        }
        if self.storage.lacks(from, moment) && self.uses.is_taken(to) {
            let message = format!(
                "value {from}, a tensor without a place for its data, is moved onto value {to}"
            );
            return Some((&MOVE_UNSTORED, None, message));
        }
        self.brings_constant(from, to, "is moved onto").map(|wrong| (wrong.0, None, wrong.1))
    }

    /// A constant that is written to under another index.
    fn brings_constant(&self, from: i32, to: i32, how: &str) -> Option<(&'static Rule, String)> {
        (self.uses.is_written(to) && is_constant(self.plan, from)).then(|| {
            let message = format!(
                "value {from}, which is constant, {how} value {to}, which a call writes to"
            );
            (&CONSTANT_WRITTEN, message)
        })
    }

    fn freed(&self, call: FreeCall<'a>, moment: Moment) -> Option<Wrong> {
        let index = call.value_index();
        // What is no tensor has a finding of its own.
        self.values.tag(index.into()).filter(|&tag| tag == tag::Tensor)?;
        let given = self.values.is_unstored(index) && !self.storage.lacks(index, moment);
        self.uses.is_freed_in_use(index, moment, given).then(|| {
            (&USE_AFTER_FREE, None, format!("value {index} is freed, and used without its data"))
        })
    }

    fn called(&mut self, call: KernelCall<'a>) -> Option<Wrong> {
        if let Some((base, view)) = storage::view(self.kernels, call) {
            let wrong = self.brings_constant(base, view, "becomes the base of");
            return wrong.map(|(rule, message)| (rule, Some(0), message));
        }
        let Some(args) = self.kernels.args(call) else {
            // What it does to its arguments is not known.
            for index in call.args().into_iter().flatten() {
                self.becomes(index, Kinds::ANY);
            }
            return None;
        };
        for (nth, index, kind) in args {
            if kind.is_written()
                && let Some(item) = self.constant_item(index)
            {
                let message =
                    format!("value {item} in list {index} is constant, and the call writes to it");
                return Some((&CONSTANT_WRITTEN, Some(nth), message));
            }
            let Some(gives) = kind.gives() else { continue };
            let given = self.given(gives, call);
            self.becomes(index, given);
            if self.uses.wanted(index).and(given) == Kinds::NONE {
                let planned = self.name(index);
                let message =
                    format!("value {index}, planned as {planned}, gets {given} as the result");
                return Some((&RESULT_TYPE, Some(nth), message));
            }
        }
        None
    }

    /// The kinds that the result of a call may be of.
    fn given(&self, gives: Gives, call: KernelCall<'a>) -> Kinds {
        let (int, double) = (Kinds::of(tag::Int), Kinds::of(tag::Double));
        match gives {
            Gives::A(kinds) => kinds,
            Gives::AsGiven if self.uses.jumps() => int.or(double),
            Gives::AsGiven => {
                let args = self.kernels.args(call).into_iter().flatten();
                let read = args.filter(|(.., kind)| kind.gives().is_none());
                let read: Vec<_> = read.map(|(_, index, _)| self.kind(index)).collect();
                if read.iter().all(|&kind| kind == int) {
                    int
                } else if read.contains(&double) {
                    double
                } else {
                    int.or(double)
                }
            }
        }
    }

    /// What a value is.
    fn kind(&self, index: i32) -> Kinds {
        let kind = usize::try_from(index).ok().and_then(|nth| self.kinds.get(nth));
        kind.copied().unwrap_or(Kinds::ANY)
    }

    /// A value is another one from here on.
    fn becomes(&mut self, index: i32, kinds: Kinds) {
        let kind = usize::try_from(index).ok().and_then(|nth| self.kinds.get_mut(nth));
        if let Some(kind) = kind.filter(|_| !self.uses.jumps()) {
            *kind = kinds;
        }
    }

    /// A constant in a list that is written to; looked for once in each list.
    fn constant_item(&mut self, index: i32) -> Option<i32> {
        let items = storage::list(self.plan, self.values, index.into())?;
        let find = || items.iter().find(|&item| is_constant(self.plan, item));
        *self.constant_items.entry(index).or_insert_with(find)
    }

    fn name(&self, index: i32) -> &'static str {
        self.plan.value(index.into()).and_then(KernelTypes::name).unwrap_or("of no kind")
    }
}

/// Whether the value is a tensor whose bytes are the file's, or a `.ptd`'s.
pub(super) fn is_constant(plan: &Plan<'_, '_>, index: i32) -> bool {
    let Some(KernelTypes::Tensor(tensor)) = plan.value(index.into()) else { return false };
    let external = || {
        let extra = tensor.extra_tensor_info();
        extra.is_some_and(|extra| extra.location() == TensorDataLocation::EXTERNAL)
    };
    tensor.allocation_info().is_none() && (tensor.data_buffer_idx() != 0 || external())
}

/// What a call writes to and another argument that lies there, where both are planned.
pub(super) fn overlap(
    kernels: &Kernels,
    plan: &Plan<'_, '_>,
    call: KernelCall<'_>,
    moment: Moment,
) -> Option<Wrong> {
    let tensor = |index: i32| match plan.value(index.into())? {
        KernelTypes::Tensor(tensor) if !kernels.is_rewritten(index, moment) => Some(tensor),
        _ => None,
    };
    for (nth, index, kind) in kernels.args(call)? {
        let Some(written) = tensor(index).filter(|_| kind.is_written()).and_then(Planned::of)
        else {
            continue;
        };
        for (at, other, kind) in kernels.args(call)?.filter(|&(_, other, _)| other != index) {
            // What takes anything is not read.
            if kind.gives().is_some() || kind.accepts(tag::Int) {
                continue;
            }
            let Some(read) = tensor(other).and_then(Planned::of) else { continue };
            if written.meets(read) {
                let message =
                    format!("values {index} and {other} share bytes of arena {}", read.arena);
                let is_index =
                    at == 2 && kernels.name(call).is_some_and(|name| SCATTERS.contains(&name));
                let rule = if is_index { &INDEX_OVERLAP } else { &ARGS_OVERLAP };
                return Some((rule, Some(nth), message));
            }
        }
    }
    None
}

/// The bytes that a tensor is planned to have.
#[derive(Clone, Copy)]
struct Planned {
    arena: u32,
    begin: u64,
    end: u64,
}

impl Planned {
    fn of(tensor: Tensor<'_>) -> Option<Self> {
        let place = tensor.allocation_info()?;
        let begin =
            u64::from(place.memory_offset_high()) << 32 | u64::from(place.memory_offset_low());
        // What has no size, or more of them than a tensor can have, has a finding of its own.
        let sizes = tensor.sizes().filter(|sizes| sizes.len() <= MOST_DIMENSIONS)?;
        let size = tensor.scalar_type().nbytes(sizes)?;
        Some(Self { arena: place.memory_id(), begin, end: begin.checked_add(size)? })
    }

    fn meets(self, other: Self) -> bool {
        self.arena == other.arena && self.begin.max(other.begin) < self.end.min(other.end)
    }
}
