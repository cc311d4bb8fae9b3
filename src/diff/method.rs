//! Two methods, held against each other.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::align::{Pair, align};
use super::contents::Sha;
use super::plan::Plan;
use super::steps::NONE;
use super::{Class, Difference, Report, Shown, say};
use crate::bytes::index as at_index;
use crate::flat::view::Vector;
use crate::method::{Instruction, Jump};
use crate::schema::program::view::{ExecutionPlan, InstructionArguments};

mod delegates;
mod items;
mod loose;
mod meet;
mod memory;
mod targets;

use delegates::Exchanged;
pub(super) use items::Items;
use targets::Targets;

/// What was told already: what changed once is told once, however many methods use it.
#[derive(Default)]
pub(super) struct Told {
    data: BTreeSet<(Sha, Sha)>,
    names: BTreeSet<(Option<Sha>, Option<Sha>)>,
}

/// Adds what differs between two methods of one name.
pub(super) fn compare(a: &Plan<'_, '_>, b: &Plan<'_, '_>, told: &mut Told, report: &mut Report) {
    let pairs = align(a, b);
    let mut method = Method {
        a,
        b,
        to_b: vec![NONE; a.value_count()],
        to_a: vec![NONE; b.value_count()],
        partners: partners(&pairs, [a.steps.len(), b.steps.len()]),
        name: a.view.name().map(say::plain),
        seen: BTreeSet::new(),
        work: a.pte.region().len().saturating_add(b.pte.region().len()),
        delegates: BTreeSet::new(),
        exchanged: Exchanged::default(),
        operators: BTreeMap::new(),
        moved: Moved::default(),
        told,
        report,
    };
    method.inputs();
    method.steps(&pairs);
    method.operators();
    method.outputs();
    method.idle_delegates();
    method.trees();
    method.loose();
    method.memory();
}

/// For each step of each method that of the other one.
fn partners(pairs: &[Pair], [before, after]: [usize; 2]) -> [Vec<u32>; 2] {
    let [mut to_b, mut to_a] = [vec![NONE; before], vec![NONE; after]];
    for pair in pairs {
        if let Pair::Both(one, other) | Pair::From(one, other) = *pair {
            to_b.get_mut(at_index(one)).into_iter().for_each(|slot| *slot = other);
            to_a.get_mut(at_index(other)).into_iter().for_each(|slot| *slot = one);
        }
    }
    [to_b, to_a]
}

/// Two methods, and which values of one are which of the other.
struct Method<'m, 'p, 'a, 'b> {
    a: &'m Plan<'p, 'a>,
    b: &'m Plan<'p, 'b>,
    /// For what is told from others by its use: the value of the other method.
    to_b: Vec<u32>,
    to_a: Vec<u32>,
    /// For each step that of the other method, if that has it as well.
    partners: [Vec<u32>; 2],
    name: Option<String>,
    /// Pairs of lists, and of literals that are not the same, that were looked at.
    seen: BTreeSet<(u32, u32)>,
    /// Items of lists that may still be looked at.
    work: usize,
    /// Delegates that were compared.
    delegates: BTreeSet<(i32, i32)>,
    /// Delegates of both methods that are called in each other's place.
    exchanged: Exchanged,
    /// Which operators became which: where that is told, and how many more calls there are.
    operators: BTreeMap<(Sha, Sha), (usize, u64)>,
    moved: Moved,
    told: &'m mut Told,
    report: &'m mut Report,
}

/// Tensors that are planned to lie elsewhere.
#[derive(Default)]
struct Moved {
    count: u64,
    first: Option<(String, Shown, Shown)>,
}

/// Whether two values are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    /// They are, or what they differ in was told.
    Same,
    /// They are not, and whoever names them tells.
    Other,
}

/// Where a value is named.
#[derive(Clone, Copy)]
enum At<'s, 'a> {
    Input(u32),
    Output(u32),
    Argument(&'s Instruction<'a>, usize),
}

impl Method<'_, '_, '_, '_> {
    fn add(
        &mut self,
        class: Class,
        make: impl FnOnce(&Self) -> (String, &'static str, Option<Shown>, Option<Shown>),
    ) {
        if self.report.counts(class) {
            let (place, what, before, after) = make(self);
            let method = self.name.clone();
            let difference = Difference { class, method, place, what, before, after };
            self.report.differences.push(difference);
        }
    }

    fn inputs(&mut self) {
        let (old, new) = (self.a.view.inputs(), self.b.view.inputs());
        self.ends("inputs", "input", old, new, At::Input);
    }

    fn outputs(&mut self) {
        let (old, new) = (self.a.view.outputs(), self.b.view.outputs());
        self.ends("outputs", "output", old, new, At::Output);
    }

    fn ends(
        &mut self,
        all: &'static str,
        one: &'static str,
        old: Option<Vector<'_, i32>>,
        new: Option<Vector<'_, i32>>,
        at: impl Fn(u32) -> At<'static, 'static>,
    ) {
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        if old.len() != new.len() {
            let text = |len: usize| Some(say::shown(len.to_string()));
            self.add(Class::Signature, |_| (String::new(), all, text(old.len()), text(new.len())));
        }
        for (nth, (x, y)) in (0u32..).zip(old.into_iter().zip(new)) {
            if self.meet(x, y, at(nth)) == Met::Other {
                self.add(Class::Signature, |method| {
                    let (before, after) = method.roles(x, y);
                    let (before, after) = (Some(say::shown(before)), Some(say::shown(after)));
                    (format!("{one} {nth}"), "value", before, after)
                });
            }
        }
    }

    fn steps(&mut self, pairs: &[Pair]) {
        let mut target = Targets::new(pairs, self.a.steps.len(), self.b.steps.len());
        for pair in pairs {
            match *pair {
                Pair::Both(one, other) | Pair::From(one, other) => {
                    self.both(one, other, &mut target);
                }
                Pair::Before(one) => self.single(one, true),
                Pair::After(other) => self.single(other, false),
                Pair::To(_) => {}
            }
        }
        self.order(pairs);
        self.exchanged();
    }

    /// Instructions that stand elsewhere, which is one difference.
    fn order(&mut self, pairs: &[Pair]) {
        let moved = || {
            pairs.iter().filter_map(|pair| match *pair {
                Pair::From(one, other) => Some((one, other)),
                _ => None,
            })
        };
        let Some(first) = moved().next().and_then(|(one, _)| self.a.step(one)) else { return };
        self.add(Class::Instructions, |method| {
            let (a, b) = (method.a, method.b);
            let number = |step: Option<&Instruction<'_>>| step.map_or(NONE, |step| step.index());
            let before: Vec<_> = moved().map(|(one, _)| number(a.step(one))).collect();
            let after: Vec<_> = moved().map(|(_, other)| number(b.step(other))).collect();
            let place = match moved().count().saturating_sub(1) {
                0 => say::place(a, first),
                more => format!("{} and {more} more", say::place(a, first)),
            };
            let text = |numbers: &[u32]| Some(say::shown(format!("at {}", say::numbers(numbers))));
            (place, "order", text(&before), text(&after))
        });
    }

    /// What tells a step of the second method from one of the first that looks the same.
    fn other_step(&self, number: Option<u32>) -> String {
        let [_, to_a] = &self.partners;
        let partner = number.and_then(|number| to_a.get(at_index(number)).copied());
        match partner.map(|partner| (partner, self.a.step(partner))) {
            None => ", another one".into(),
            Some((_, Some(step))) => format!(", which is at {} in the first file", step.index()),
            Some((_, None)) => ", which only the second file has".into(),
        }
    }

    /// What values of both methods are, of which it is known that they are not one.
    fn roles(&self, x: i32, y: i32) -> (String, String) {
        let (before, mut after) = (say::role(self.a, x), say::role(self.b, y));
        if before == after {
            let writer = usize::try_from(y).map_or(NONE, |nth| self.b.writers.first(nth));
            after.push_str(&self.other_step(Some(writer).filter(|&writer| writer != NONE)));
        }
        (before, after)
    }

    /// An instruction that only one method has.
    fn single(&mut self, nth: u32, before: bool) {
        self.add(Class::Instructions, |method| {
            let plan = if before { method.a } else { method.b };
            let Some(step) = plan.step(nth) else { return Default::default() };
            let shown = Some(say::shown(say::instruction(plan, step)));
            let (old, new) = if before { (shown, None) } else { (None, shown) };
            (say::place(plan, step), "instruction", old, new)
        });
    }

    fn both(&mut self, one: u32, other: u32, targets: &mut Targets) {
        let (a, b) = (self.a, self.b);
        let (Some(old), Some(new)) = (a.step(one), b.step(other)) else { return };
        let is_other = match (old.operation(), new.operation()) {
            (
                Some(InstructionArguments::KernelCall(old)),
                Some(InstructionArguments::KernelCall(new)),
            ) => a.operator(old.op_index()) != b.operator(new.op_index()),
            (
                Some(InstructionArguments::DelegateCall(old)),
                Some(InstructionArguments::DelegateCall(new)),
            ) => {
                self.delegate(old.delegate_index(), new.delegate_index(), one);
                false
            }
            _ => old.tag() != new.tag(),
        };
        if is_other {
            self.operator(old, new);
        }
        if old.chain() != new.chain() {
            self.add(Class::Instructions, |_| {
                let chain = |step: &Instruction<'_>| Some(say::shown(step.chain().to_string()));
                (say::place(a, old), "chain", chain(old), chain(new))
            });
        }
        self.arguments(old, new, is_other);
        if let (Some(from), Some(to)) = (old.jump(), new.jump())
            && !targets.same((old, from), (new, to))
        {
            self.add(Class::Instructions, |method| {
                let text = |plan: &Plan<'_, '_>, step: &Instruction<'_>, jump: Jump| {
                    let target = Some(jump.target).filter(|&to| to < step.chain_end());
                    let to = jump.destination;
                    Some(say::shown(match target.and_then(|target| plan.step(target)) {
                        Some(step) => format!("to {}", say::place(plan, step)),
                        None if to.is_negative() => format!("to {to}, in front of the first"),
                        None if jump.is_valid => "to the end".into(),
                        None => format!("to {to}, past the end"),
                    }))
                };
                let (before, mut after) = (text(a, old, from), text(b, new, to));
                if before == after
                    && let Some(after) = &mut after
                {
                    let target = Some(to.target).filter(|&at| at < new.chain_end());
                    after.text.push_str(&method.other_step(target));
                }
                (say::place(a, old), "target", before, after)
            });
        }
    }

    /// An instruction that does something else. Where the same became the same in other calls, it is
    /// one change.
    fn operator(&mut self, old: &Instruction<'_>, new: &Instruction<'_>) {
        let (a, b) = (self.a, self.b);
        let operator = |plan: &Plan<'_, '_>, step: &Instruction<'_>| match step.operation() {
            Some(InstructionArguments::KernelCall(call)) => plan.operator(call.op_index()).copied(),
            _ => None,
        };
        let change = operator(a, old).zip(operator(b, new));
        if let Some((_, more)) = change.and_then(|change| self.operators.get_mut(&change)) {
            *more = more.saturating_add(1);
            return;
        }
        let at = self.report.differences.len();
        self.add(Class::Instructions, |_| {
            let before = Some(say::shown(say::name(a, old)));
            (say::place(a, old), "operator", before, Some(say::shown(say::name(b, new))))
        });
        if let Some(change) = change {
            self.operators.insert(change, (at, 0));
        }
    }

    /// Tells in how many calls the same became the same.
    fn operators(&mut self) {
        for (at, more) in core::mem::take(&mut self.operators).into_values() {
            let told = self.report.differences.get_mut(at).filter(|_| more > 0);
            // Past those that are kept, it may be another that stands there, or none.
            if let Some(told) = told.filter(|told| told.what == "operator") {
                told.place.push_str(&format!(" and {more} more"));
            }
        }
    }

    /// The arguments of an instruction. All that are other values are one difference.
    fn arguments(&mut self, old: &Instruction<'_>, new: &Instruction<'_>, is_other: bool) {
        let (a, b) = (self.a, self.b);
        let (before, after) = (old.operands(), new.operands());
        if before.len() != after.len() {
            // Another operator takes others; what it gives takes the place of what the old one gave.
            if !is_other {
                self.add(Class::Instructions, |_| {
                    let text =
                        |plan: &Plan<'_, '_>, step| Some(say::shown(say::instruction(plan, step)));
                    (say::place(a, old), "arguments", text(a, old), text(b, new))
                });
            }
            let last = |args: crate::method::Operands<'_>| args.get(args.len().saturating_sub(1));
            if let (Some(x), Some(y)) = (last(before), last(after)) {
                self.meet(x, y, At::Argument(old, before.len().saturating_sub(1)));
            }
            return;
        }
        let mut others: Vec<(usize, i32, i32)> = Vec::new();
        let mut count = 0usize;
        for (nth, (x, y)) in before.iter().zip(after.iter()).enumerate() {
            if self.meet(x, y, At::Argument(old, nth)) == Met::Same {
                continue;
            }
            // Results are named twice.
            let again = others.iter().any(|&(_, one, other)| (one, other) == (x, y));
            if !again && others.len() < MOST_ARGUMENTS {
                others.push((nth, x, y));
            }
            count = count.saturating_add(1);
        }
        if count == 0 {
            return;
        }
        self.add(Class::Instructions, |method| {
            let place = say::place(a, old);
            if let [(nth, x, y)] = *others.as_slice() {
                let (x, y) = method.roles(x, y);
                let place = format!("{place}, argument {nth}");
                return (place, "argument", Some(say::shown(x)), Some(say::shown(y)));
            }
            let roles = others.iter().map(|&(nth, x, y)| {
                let (x, y) = method.roles(x, y);
                (format!("{nth}: {x}"), format!("{nth}: {y}"))
            });
            let (before, after): (Vec<_>, Vec<_>) = roles.unzip();
            let text = |all: Vec<String>| Some(say::shown(all.join(", ")));
            (place, "arguments", text(before), text(after))
        });
    }

    /// How inputs and outputs are put together in Python.
    fn trees(&mut self) {
        let of = |plan: ExecutionPlan<'_>| {
            let meta = plan.container_meta_type();
            let text = |text: Option<&str>| text.unwrap_or_default().to_string();
            let inputs = text(meta.and_then(|meta| meta.encoded_inp_str()));
            [inputs, text(meta.and_then(|meta| meta.encoded_out_str()))]
        };
        let (old, new) = (of(self.a.view), of(self.b.view));
        for ((old, new), place) in old.iter().zip(&new).zip(["inputs", "outputs"]) {
            if old != new {
                self.add(Class::Signature, |_| {
                    let text = |text: &str| Some(say::shown(say::quoted(text)));
                    (place.into(), "container", text(old), text(new))
                });
            }
        }
    }
}

/// Arguments that are told of a call.
const MOST_ARGUMENTS: usize = 8;
