//! What the instructions of a plan ask of each value.

use alloc::vec::Vec;

use crate::check::kernels::{Kernels, Kinds, Moment};
use crate::check::spot::Plan;
use crate::check::storage;
use crate::check::values::Values;
use crate::flat::view::Vector;
use crate::schema::program::tag;
use crate::schema::program::view::{InstructionArguments, KernelCall, KernelTypes};

/// What is asked of the values of a plan.
pub(super) struct Uses {
    uses: Vec<Use>,
    jumps: bool,
}

/// What is asked of a value.
#[derive(Clone, Copy)]
struct Use {
    /// The kinds that all who use it take.
    wanted: Kinds,
    /// When a call, a jump or the caller last uses it, by itself or in a list.
    last: Option<Moment>,
    /// When it is last made a view.
    viewed: Option<Moment>,
    /// Whether it, or what it is moved onto, is used.
    taken: bool,
    /// Whether it may hold the same tensor as one that is used.
    shared: bool,
    /// Whether a call writes to it, to what it is moved onto, or to a view of it.
    written: bool,
}

/// Where a value goes: from, to.
type Way = (i32, i32);

/// After the last instruction.
const END: Moment = (u32::MAX, u32::MAX);

impl Uses {
    pub(super) fn of(plan: &Plan<'_, '_>, values: &Values, kernels: &Kernels) -> Self {
        let fresh = Use {
            wanted: Kinds::ANY,
            last: None,
            viewed: None,
            taken: false,
            shared: false,
            written: false,
        };
        let mut uses = Self { uses: plan.each(fresh), jumps: false };
        let (mut moves, mut views) = (Vec::new(), Vec::new());
        for (nth, chain) in (0..).zip(plan.view.chains().into_iter().flatten()) {
            for (at, instruction) in (1..).zip(chain.instructions().into_iter().flatten()) {
                let moment = (nth, at);
                match instruction.instr_args() {
                    Some(InstructionArguments::KernelCall(call)) => {
                        uses.called(kernels, call, moment);
                        views.extend(storage::view(kernels, call));
                    }
                    Some(InstructionArguments::DelegateCall(call)) => {
                        uses.take_all(call.args(), moment);
                    }
                    Some(InstructionArguments::MoveCall(call)) => {
                        moves.push((call.move_from(), call.move_to()));
                    }
                    Some(InstructionArguments::JumpFalseCall(call)) => {
                        uses.jumps = true;
                        let kinds = Kinds::of(tag::Bool).or(Kinds::of(tag::Tensor));
                        uses.want(call.cond_value_index(), kinds);
                        uses.take(call.cond_value_index(), moment);
                    }
                    Some(InstructionArguments::FreeCall(call)) => {
                        uses.want(call.value_index(), Kinds::of(tag::Tensor));
                    }
                    _ => {}
                }
            }
        }
        // Where a jump may lead elsewhere, a value is of the planned kind or of none that is known.
        if uses.jumps {
            moves.iter().for_each(|&(from, _)| uses.want_planned(values, from));
        }
        for index in plan.view.inputs().into_iter().flatten() {
            uses.want_planned(values, index);
        }
        for index in plan.view.outputs().into_iter().flatten() {
            uses.want_planned(values, index);
            uses.take(index, END);
        }
        uses.lists(plan, values);
        uses.follow(moves, views);
        uses
    }

    /// Whether any instruction is a jump, so that not all are run in order.
    pub(super) fn jumps(&self) -> bool {
        self.jumps
    }

    /// The kinds that all who use the value take.
    pub(super) fn wanted(&self, index: i32) -> Kinds {
        self.get(index).map_or(Kinds::ANY, |used| used.wanted)
    }

    /// Whether the value, or what it is moved onto, is used.
    pub(super) fn is_taken(&self, index: i32) -> bool {
        self.get(index).is_some_and(|used| used.taken)
    }

    /// Whether a call writes to the value, to what it is moved onto, or to a view of it.
    pub(super) fn is_written(&self, index: i32) -> bool {
        self.get(index).is_some_and(|used| used.written)
    }

    /// Whether a tensor that is freed there is used when its data is gone. Whoever runs the method
    /// gives some of them memory each time (`given`).
    pub(super) fn is_freed_in_use(&self, index: i32, moment: Moment, given: bool) -> bool {
        let Some(used) = self.get(index) else { return false };
        if used.viewed.is_none() && !given {
            return used.taken || used.shared;
        }
        // It is used before it gets memory again; which way jumps lead there is not known.
        !self.jumps
            && used.last.is_some_and(|last| last > moment)
            && used.viewed.is_none_or(|viewed| viewed < moment)
    }

    fn called(&mut self, kernels: &Kernels, call: KernelCall<'_>, moment: Moment) {
        // What is done with a number of arguments that is refused, nobody knows either.
        let Some(args) = kernels.args(call) else { return self.take_all(call.args(), moment) };
        for (_, index, kind) in args {
            if kind.gives().is_some() {
                continue;
            }
            self.want(index, kind.accepted());
            if kind.is_view() {
                self.change(index, |used| used.viewed = Some(moment));
                continue;
            }
            self.take(index, moment);
            if kind.is_written() {
                self.change(index, |used| used.written = true);
            }
        }
    }

    /// Hands what is asked of a list on to its items.
    fn lists(&mut self, plan: &Plan<'_, '_>, values: &Values) {
        let optional = Kinds::of(tag::Tensor).or(Kinds::of(tag::Null));
        for index in (0..).take(plan.len) {
            let Some(used) = self.get(index).copied().filter(|used| used.last.is_some()) else {
                continue;
            };
            let kinds = match values.tag(index.into()) {
                Some(tag::IntList) => {
                    let list = match plan.value(index.into()) {
                        Some(KernelTypes::IntList(list)) => list.items(),
                        _ => None,
                    };
                    for item in list.into_iter().flatten().filter_map(|i| i32::try_from(i).ok()) {
                        self.want(item, Kinds::of(tag::Int));
                    }
                    continue;
                }
                Some(tag::TensorList) => Kinds::of(tag::Tensor),
                Some(tag::OptionalTensorList) => optional,
                _ => continue,
            };
            for item in storage::list(plan, values, index.into()).into_iter().flatten() {
                self.want(item, kinds);
                self.change(item, |item| {
                    item.last = item.last.max(used.last);
                    item.taken = true;
                    item.written |= used.written;
                });
            }
        }
    }

    /// Hands what is asked of a value back to where it comes from. What is moved is one tensor under
    /// two indices: freed under one, it is gone under the other.
    fn follow(&mut self, moves: Vec<Way>, views: Vec<Way>) {
        let back = |ways: &[Way]| ways.iter().map(|&(from, to)| (to, from)).collect();
        let mut written: Vec<_> = back(&moves);
        written.extend::<Vec<_>>(back(&views));
        self.spread(written, |used| &mut used.written);
        self.spread(back(&moves), |used| &mut used.taken);
        for used in &mut self.uses {
            used.shared = used.taken;
        }
        self.spread(moves, |used| &mut used.shared);
    }

    /// Marks what can be reached from what is marked.
    fn spread(&mut self, mut ways: Vec<Way>, mark: impl Fn(&mut Use) -> &mut bool) {
        if ways.is_empty() {
            return;
        }
        ways.sort_unstable();
        let mut marked: Vec<i32> = ways.iter().map(|&(from, _)| from).collect();
        marked.dedup();
        marked.retain(|&from| self.get_mut(from).is_some_and(|used| *mark(used)));
        while let Some(from) = marked.pop() {
            let first = ways.partition_point(|&(other, _)| other < from);
            let own = ways.iter().skip(first).take_while(|&&(other, _)| other == from);
            for &(_, to) in own {
                let before = self.get_mut(to).map(|used| core::mem::replace(mark(used), true));
                if before == Some(false) {
                    marked.push(to);
                }
            }
        }
    }

    fn take_all(&mut self, args: Option<Vector<'_, i32>>, moment: Moment) {
        for index in args.into_iter().flatten() {
            self.take(index, moment);
        }
    }

    fn take(&mut self, index: i32, moment: Moment) {
        self.change(index, |used| {
            used.last = used.last.max(Some(moment));
            used.taken = true;
        });
    }

    /// The value is asked for as what it is planned for.
    fn want_planned(&mut self, values: &Values, index: i32) {
        if let Some(planned) = values.tag(index.into()) {
            self.want(index, Kinds::of(planned));
        }
    }

    fn want(&mut self, index: i32, kinds: Kinds) {
        self.change(index, |used| used.wanted = used.wanted.and(kinds));
    }

    fn get(&self, index: i32) -> Option<&Use> {
        self.uses.get(usize::try_from(index).ok()?)
    }

    fn change(&mut self, index: i32, change: impl FnMut(&mut Use)) {
        self.get_mut(index).into_iter().for_each(change);
    }

    fn get_mut(&mut self, index: i32) -> Option<&mut Use> {
        self.uses.get_mut(usize::try_from(index).ok()?)
    }
}
