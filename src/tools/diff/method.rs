//! Compares two methods of one name.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::align::{Pair, align};
use super::digest::Sha;
use super::plan::Plan;
use super::writers::NONE;
use super::{Class, Comparison, Difference, Shown, describe, text};
use pte_core::method::{Instruction, Jump};
use pte_flat::bytes::index as at_index;
use pte_flat::view::Vector;
use pte_schema::program::view::{ExecutionPlan, InstructionArguments};

mod delegates;
mod lists;
mod matching;
mod memory;
mod targets;
mod unused;

use delegates::Exchanged;
use targets::Targets;

/// The changes reported so far. A change that several methods share is reported once.
#[derive(Default)]
pub(super) struct Reported {
    data: BTreeSet<(Sha, Sha)>,
    names: BTreeSet<(Option<Sha>, Option<Sha>)>,
}

/// Adds the differences between two methods of one name.
pub(super) fn compare(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    reported: &mut Reported,
    report: &mut Comparison,
) {
    let pairs = align(a, b);
    let mut method = Method {
        a,
        b,
        to_b: vec![NONE; a.value_count()],
        to_a: vec![NONE; b.value_count()],
        partners: partners(&pairs, [a.instructions.len(), b.instructions.len()]),
        name: a.view.name().map(text::plain),
        seen: BTreeSet::new(),
        work: a.pte.region().len().saturating_add(b.pte.region().len()),
        delegates: BTreeSet::new(),
        exchanged: Exchanged::default(),
        operators: BTreeMap::new(),
        moved: Moved::default(),
        reported,
        report,
    };
    method.inputs();
    method.instructions(&pairs);
    method.operators();
    method.outputs();
    method.idle_delegates();
    method.trees();
    method.unused();
    method.memory();
    method.missing_lists();
}

/// Returns, for each instruction of each method, its partner in the other one, or [`NONE`].
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

/// Two methods, and the values that were matched so far.
struct Method<'m, 'p, 'a, 'b> {
    a: &'m Plan<'p, 'a>,
    b: &'m Plan<'p, 'b>,
    /// For each variable of `a`, the value of `b` that it was matched with. `to_a` is the reverse.
    to_b: Vec<u32>,
    to_a: Vec<u32>,
    /// For each instruction, its partner in the other method, or [`NONE`].
    partners: [Vec<u32>; 2],
    name: Option<String>,
    /// The pairs of lists, and the pairs of different literals, that were already compared.
    seen: BTreeSet<(u32, u32)>,
    /// The number of list items that may still be compared.
    work: usize,
    /// The pairs of delegates that were compared.
    delegates: BTreeSet<(i32, i32)>,
    /// The delegates that are called in each other's place.
    exchanged: Exchanged,
    /// For each change of an operator, the index of its difference, and the number of further calls
    /// with the same change.
    operators: BTreeMap<(Sha, Sha), (usize, u64)>,
    moved: Moved,
    reported: &'m mut Reported,
    report: &'m mut Comparison,
}

/// The tensors whose places in arenas differ.
#[derive(Default)]
struct Moved {
    count: u64,
    first: Option<(String, Shown, Shown)>,
}

/// The result of matching two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    /// The two values correspond. Their differences are reported.
    Same,
    /// The two values do not correspond. The caller reports this.
    Different,
}

/// The place where a value is used.
#[derive(Clone, Copy)]
enum ValueUse<'s, 'a> {
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
        self.ends("inputs", "input", old, new, ValueUse::Input);
    }

    fn outputs(&mut self) {
        let (old, new) = (self.a.view.outputs(), self.b.view.outputs());
        self.ends("outputs", "output", old, new, ValueUse::Output);
    }

    fn ends(
        &mut self,
        all: &'static str,
        one: &'static str,
        old: Option<Vector<'_, i32>>,
        new: Option<Vector<'_, i32>>,
        at: impl Fn(u32) -> ValueUse<'static, 'static>,
    ) {
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        if old.len() != new.len() {
            let text = |len: usize| Some(text::shown(len.to_string()));
            self.add(Class::Signature, |_| (String::new(), all, text(old.len()), text(new.len())));
        }
        for (nth, (x, y)) in (0u32..).zip(old.into_iter().zip(new)) {
            if self.match_values(x, y, at(nth)) == Match::Different {
                self.add(Class::Signature, |method| {
                    let (before, after) = method.roles(x, y);
                    let (before, after) = (Some(text::shown(before)), Some(text::shown(after)));
                    (format!("{one} {nth}"), "value", before, after)
                });
            }
        }
    }

    fn instructions(&mut self, pairs: &[Pair]) {
        let mut target = Targets::new(pairs, self.a.instructions.len(), self.b.instructions.len());
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

    /// Reports all moved instructions as one difference.
    fn order(&mut self, pairs: &[Pair]) {
        let moved = || {
            pairs.iter().filter_map(|pair| match *pair {
                Pair::From(one, other) => Some((one, other)),
                _ => None,
            })
        };
        let Some(first) = moved().next().and_then(|(one, _)| self.a.instruction(one)) else {
            return;
        };
        self.add(Class::Instructions, |method| {
            let (a, b) = (method.a, method.b);
            let number = |instruction: Option<Instruction<'_>>| {
                instruction.map_or(NONE, |instruction| instruction.index())
            };
            let before: Vec<_> = moved().map(|(one, _)| number(a.instruction(one))).collect();
            let after: Vec<_> = moved().map(|(_, other)| number(b.instruction(other))).collect();
            let place = match moved().count().saturating_sub(1) {
                0 => describe::place(a, &first),
                more => format!("{} and {more} more", describe::place(a, &first)),
            };
            let text =
                |numbers: &[u32]| Some(text::shown(format!("at {}", text::numbers(numbers))));
            (place, "order", text(&before), text(&after))
        });
    }

    /// Returns a suffix for the text of an instruction of the second method. It distinguishes the
    /// instruction from another one of the first method that has the same text.
    fn other_instruction(&self, number: Option<u32>) -> String {
        let [_, to_a] = &self.partners;
        let partner = number.and_then(|number| to_a.get(at_index(number)).copied());
        match partner.map(|partner| (partner, self.a.instruction(partner))) {
            None => ", another one".into(),
            Some((_, Some(instruction))) => {
                format!(", which is at {} in the first file", instruction.index())
            }
            Some((_, None)) => ", which only the second file has".into(),
        }
    }

    /// Returns the roles of two different values, in words that differ.
    fn roles(&self, x: i32, y: i32) -> (String, String) {
        let (before, mut after) = (describe::role(self.a, x), describe::role(self.b, y));
        if before == after {
            let writer = usize::try_from(y).map_or(NONE, |nth| self.b.writers.first(nth));
            after.push_str(&self.other_instruction(Some(writer).filter(|&writer| writer != NONE)));
        }
        (before, after)
    }

    /// Reports an instruction that only one method has.
    fn single(&mut self, nth: u32, before: bool) {
        self.add(Class::Instructions, |method| {
            let plan = if before { method.a } else { method.b };
            let Some(instruction) = plan.instruction(nth) else { return Default::default() };
            let shown = Some(text::shown(describe::instruction(plan, &instruction)));
            let (old, new) = if before { (shown, None) } else { (None, shown) };
            (describe::place(plan, &instruction), "instruction", old, new)
        });
    }

    fn both(&mut self, one: u32, other: u32, targets: &mut Targets) {
        let (a, b) = (self.a, self.b);
        let (Some(old), Some(new)) = (a.instruction(one), b.instruction(other)) else { return };
        let (old, new) = (&old, &new);
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
                let chain = |instruction: &Instruction<'_>| {
                    Some(text::shown(instruction.chain().to_string()))
                };
                (describe::place(a, old), "chain", chain(old), chain(new))
            });
        }
        self.arguments(old, new, is_other);
        if let (Some(from), Some(to)) = (old.jump(), new.jump())
            && !targets.same((old, from), (new, to))
        {
            self.add(Class::Instructions, |method| {
                let text = |plan: &Plan<'_, '_>, instruction: &Instruction<'_>, jump: Jump| {
                    let target = Some(jump.target).filter(|&to| to < instruction.chain_end());
                    let to = jump.destination;
                    Some(text::shown(match target.and_then(|target| plan.instruction(target)) {
                        Some(instruction) => format!("to {}", describe::place(plan, &instruction)),
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
                    after.text.push_str(&method.other_instruction(target));
                }
                (describe::place(a, old), "target", before, after)
            });
        }
    }

    /// Reports a changed operator. The same change in other calls is counted.
    fn operator(&mut self, old: &Instruction<'_>, new: &Instruction<'_>) {
        let (a, b) = (self.a, self.b);
        let operator = |plan: &Plan<'_, '_>, instruction: &Instruction<'_>| match instruction
            .operation()
        {
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
            let before = Some(text::shown(describe::name(a, old)));
            (describe::place(a, old), "operator", before, Some(text::shown(describe::name(b, new))))
        });
        if let Some(change) = change {
            self.operators.insert(change, (at, 0));
        }
    }

    /// Adds the numbers of further calls to the reported changes of operators.
    fn operators(&mut self) {
        for (at, more) in core::mem::take(&mut self.operators).into_values() {
            let reported = self.report.differences.get_mut(at).filter(|_| more > 0);
            // Past the limit of kept differences, the index may be of another difference, or of none.
            if let Some(reported) = reported.filter(|reported| reported.what == "operator") {
                reported.place.push_str(&format!(" and {more} more"));
            }
        }
    }

    /// Compares the arguments of two instructions. All different arguments are one difference.
    fn arguments(&mut self, old: &Instruction<'_>, new: &Instruction<'_>, is_other: bool) {
        let (a, b) = (self.a, self.b);
        let (before, after) = (old.operands(), new.operands());
        if before.len() != after.len() {
            // If the operator changed too, that was reported. Of the arguments only the last ones, which
            // are the results, can still correspond.
            if !is_other {
                self.add(Class::Instructions, |_| {
                    let text = |plan: &Plan<'_, '_>, instruction| {
                        Some(text::shown(describe::instruction(plan, instruction)))
                    };
                    (describe::place(a, old), "arguments", text(a, old), text(b, new))
                });
            }
            let last =
                |args: pte_core::method::Operands<'_>| args.get(args.len().saturating_sub(1));
            if let (Some(x), Some(y)) = (last(before), last(after)) {
                self.match_values(x, y, ValueUse::Argument(old, before.len().saturating_sub(1)));
            }
            return;
        }
        let mut others: Vec<(usize, i32, i32)> = Vec::new();
        let mut count = 0usize;
        for (nth, (x, y)) in before.iter().zip(after.iter()).enumerate() {
            if self.match_values(x, y, ValueUse::Argument(old, nth)) == Match::Same {
                continue;
            }
            // An instruction lists its outputs twice, but they are reported once.
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
            let place = describe::place(a, old);
            if let [(nth, x, y)] = *others.as_slice() {
                let (x, y) = method.roles(x, y);
                let place = format!("{place}, argument {nth}");
                return (place, "argument", Some(text::shown(x)), Some(text::shown(y)));
            }
            let roles = others.iter().map(|&(nth, x, y)| {
                let (x, y) = method.roles(x, y);
                (format!("{nth}: {x}"), format!("{nth}: {y}"))
            });
            let (before, after): (Vec<_>, Vec<_>) = roles.unzip();
            let text = |all: Vec<String>| Some(text::shown(all.join(", ")));
            (place, "arguments", text(before), text(after))
        });
    }

    /// Compares the encoded pytrees of inputs and outputs.
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
                    let text = |text: &str| Some(text::shown(text::quoted(text)));
                    (place.into(), "container", text(old), text(new))
                });
            }
        }
    }
}

/// The most arguments of a call that are reported.
const MOST_ARGUMENTS: usize = 8;
