//! Whether two values are one, and what of them differs if they are.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::items::Items;
use super::{At, Met, Method};
use crate::bytes::{index as at_index, narrow};
use crate::diff::fields::Field;
use crate::diff::plan::Plan;
use crate::diff::steps::NONE;
use crate::diff::values::{Held, Sort};
use crate::diff::{Class, say, tensors};
use crate::schema::program::view::{KernelTypes, Tensor};

impl Method<'_, '_, '_, '_> {
    /// Holds two values against each other.
    pub(super) fn meet(&mut self, x: i32, y: i32, at: At<'_, '_>) -> Met {
        let (a, b) = (self.a, self.b);
        let one = usize::try_from(x).ok().and_then(|nth| Some((nth, a.sort(nth)?)));
        let other = usize::try_from(y).ok().and_then(|nth| Some((nth, b.sort(nth)?)));
        match (one, other) {
            (None, None) => {
                if x == y {
                    Met::Same
                } else {
                    Met::Other
                }
            }
            (Some((x, Sort::Fixed)), Some((y, Sort::Fixed))) => self.meet_fixed(x, y, at),
            (Some((x, Sort::List)), Some((y, Sort::List))) => self.meet_lists(x, y, at),
            (Some((x, Sort::Variable)), Some((y, Sort::Variable))) => self.meet_variables(x, y, at),
            // What a call gives that the other method has not is explained by that call.
            (Some((x, Sort::Variable)), _) if self.is_orphan(0, x) => Met::Same,
            (_, Some((y, Sort::Variable))) if self.is_orphan(1, y) => Met::Same,
            _ => Met::Other,
        }
    }

    /// Whether a value comes from an instruction that only its own method has.
    fn is_orphan(&self, side: usize, nth: usize) -> bool {
        let plan = if side == 0 { self.a } else { self.b };
        let writer = plan.writers.first(nth);
        // Inputs and buffers have contents before anything writes them.
        let has_contents =
            plan.input(nth).is_some() || plan.held(nth).is_some_and(|held| held.data.is_some());
        if writer == NONE || has_contents {
            return false;
        }
        let partner = self.partners.get(side).and_then(|side| side.get(at_index(writer)));
        partner == Some(&NONE)
    }

    fn meet_fixed(&mut self, x: usize, y: usize, at: At<'_, '_>) -> Met {
        let (a, b) = (self.a, self.b);
        let (Some(old), Some(new)) = (a.held(x).copied(), b.held(y).copied()) else {
            return Met::Other;
        };
        if old.digest == new.digest {
            self.names(x, y, &old, &new, at);
            return Met::Same;
        }
        if a.tensor(x).is_none() || b.tensor(y).is_none() {
            // What was reported is not reported again.
            let first = self.seen.insert((narrow(x), narrow(y)));
            return if first { Met::Other } else { Met::Same };
        }
        self.constants(x, y, &old, &new, at);
        Met::Same
    }

    /// Constants that are not the same, or what mutable tensors start with.
    fn constants(&mut self, x: usize, y: usize, old: &Held, new: &Held, at: At<'_, '_>) {
        if !self.told.data.insert((old.digest, new.digest)) {
            return;
        }
        self.add(Class::Constants, |method| {
            let (a, b) = (method.a, method.b);
            let (Some(one), Some(other)) = (a.tensor(x), b.tensor(y)) else {
                return Default::default();
            };
            let fields = tensors::differing(one, other);
            if old.data == new.data && !fields.is_empty() {
                let (what, before, after) = match fields.as_slice() {
                    [(what, before, after)] => (*what, before.clone(), after.clone()),
                    _ => ("tensor", say::shape(one), say::shape(other)),
                };
                let (before, after) = (say::shown(before), say::shown(after));
                return (method.place(at, x), what, Some(before), Some(after));
            }
            // Where there is no digest, the reason is shown.
            let text = |plan: &Plan<'_, '_>, tensor, held: &Held| match held.data {
                Some(_) => say::shape(tensor),
                None => format!("{}, {}", say::shape(tensor), tensors::source(plan.pte, tensor)),
            };
            let (before, after) = (text(a, one, old), text(b, other, new));
            let (before, after) = (say::data(before, old.data), say::data(after, new.data));
            (method.place(at, x), "data", Some(before), Some(after))
        });
    }

    fn meet_lists(&mut self, x: usize, y: usize, at: At<'_, '_>) -> Met {
        // What was reported is not reported again.
        match self.seen.insert((narrow(x), narrow(y))) {
            true => self.lists_alike(x, y, at),
            false => Met::Same,
        }
    }

    fn lists_alike(&mut self, x: usize, y: usize, at: At<'_, '_>) -> Met {
        let (Some(old), Some(new)) = (self.a.value(x), self.b.value(y)) else { return Met::Other };
        if old.tag() != new.tag() {
            return Met::Other;
        }
        let (before, after) = (Items::of(old), Items::of(new));
        if before.len() != after.len() {
            return Met::Other;
        }
        match self.work.checked_sub(before.len()) {
            Some(left) => self.work = left,
            // Lists are named over and over, as no writer does: it is not gone through all pairs.
            None => {
                let digests = (self.a.held(x).map(|h| h.digest), self.b.held(y).map(|h| h.digest));
                return if digests.0 == digests.1 { Met::Same } else { Met::Other };
            }
        }
        let mut all = Met::Same;
        for nth in 0..before.len() {
            let (one, other) = (before.get(nth), after.get(nth));
            let list = |plan: &Plan<'_, '_>, at: i32| {
                usize::try_from(at).ok().and_then(|nth| plan.sort(nth)) == Some(Sort::List)
            };
            let met = match (list(self.a, one), list(self.b, other)) {
                (false, false) => self.meet(one, other, at),
                (one, other) => {
                    if one == other {
                        Met::Same
                    } else {
                        Met::Other
                    }
                }
            };
            if met == Met::Other {
                all = Met::Other;
            }
        }
        all
    }

    fn meet_variables(&mut self, x: usize, y: usize, at: At<'_, '_>) -> Met {
        let known = (self.to_b.get(x).copied(), self.to_a.get(y).copied());
        if known.0 == Some(narrow(y)) && known.1 == Some(narrow(x)) {
            return Met::Same;
        }
        let orphans = self.is_orphan(0, x) || self.is_orphan(1, y);
        if known != (Some(NONE), Some(NONE)) {
            return if orphans { Met::Same } else { Met::Other };
        }
        self.to_b.get_mut(x).into_iter().for_each(|slot| *slot = narrow(y));
        self.to_a.get_mut(y).into_iter().for_each(|slot| *slot = narrow(x));
        let (a, b) = (self.a, self.b);
        let (Some(old), Some(new)) = (a.held(x).copied(), b.held(y).copied()) else {
            return Met::Other;
        };
        if orphans {
            return Met::Same;
        }
        if old.meta != new.meta {
            self.variables(x, y, at);
        } else if old.digest != new.digest {
            self.constants(x, y, &old, &new, at);
        }
        self.names(x, y, &old, &new, at);
        self.placed(x, y, at);
        Met::Same
    }

    /// What differs between two values that are used alike.
    fn variables(&mut self, x: usize, y: usize, at: At<'_, '_>) {
        let (a, b) = (self.a, self.b);
        let ends = a.input(x).is_some() || a.output(x).is_some();
        let class = if ends { Class::Signature } else { Class::Values };
        self.add(class, |method| {
            let place = method.place(at, x);
            if let (Some(old), Some(new)) = (a.tensor(x), b.tensor(y)) {
                let mut fields = tensors::differing(old, new);
                if fields.len() > 1 {
                    let text = |pick: fn(&Field) -> &String| {
                        let items =
                            fields.iter().map(|field| format!("{} {}", field.0, pick(field)));
                        Some(say::shown(items.collect::<Vec<_>>().join(", ")))
                    };
                    return (place, "tensor", text(|field| &field.1), text(|field| &field.2));
                }
                let (what, before, after) = fields.pop().unwrap_or((
                    "tensor",
                    say::shape(old),
                    format!("{}, past what is shown", say::shape(new)),
                ));
                return (place, what, Some(say::shown(before)), Some(say::shown(after)));
            }
            let text = |plan: &Plan<'_, '_>, nth: usize| {
                Some(say::shown(match plan.value(nth) {
                    Some(value) => {
                        let kind = value.name().unwrap_or("an unknown value");
                        match value {
                            KernelTypes::Tensor(tensor) => say::shape(tensor),
                            value => format!("{kind} {}", say::content(plan, nth, value)),
                        }
                    }
                    None => "an unknown value".into(),
                }))
            };
            (place, "value", text(a, x), text(b, y))
        });
    }

    fn names(&mut self, x: usize, y: usize, old: &Held, new: &Held, at: At<'_, '_>) {
        if old.name == new.name {
            return;
        }
        let (Some(one), Some(other)) = (self.a.tensor(x), self.b.tensor(y)) else { return };
        // An EXTERNAL tensor has to have a name: it is no more than a key.
        let external = tensors::is_external(one) || tensors::is_external(other);
        if external || !self.told.names.insert((old.name, new.name)) {
            return;
        }
        self.add(Class::Names, |method| {
            let text = |name: Option<&str>| name.map(|name| say::shown(say::quoted(name)));
            let (before, after) = (method.a.tensor_name(x), method.b.tensor_name(y));
            (method.plain_place(at), "name", text(before), text(after))
        });
    }

    fn placed(&mut self, x: usize, y: usize, at: At<'_, '_>) {
        let (a, b) = (self.a, self.b);
        let place = |nth, plan: &Plan<'_, '_>| plan.tensor(nth).map(tensors::place);
        if let (Some(before), Some(after)) = (place(x, a), place(y, b))
            && before != after
        {
            let first = self.moved.first.is_none().then(|| self.place(at, x));
            self.places(1, x, y, || first.unwrap_or_default());
        }
    }

    /// So many tensors that lie elsewhere, of which one is told.
    pub(super) fn places(&mut self, count: u32, x: usize, y: usize, at: impl FnOnce() -> String) {
        self.moved.count = self.moved.count.saturating_add(count.into());
        if self.moved.first.is_none() {
            let text = |tensor: Option<Tensor<'_>>| {
                say::shown(match tensor.and_then(tensors::place) {
                    Some((arena, offset)) => format!("arena {arena} at {offset}"),
                    None => "not planned".into(),
                })
            };
            let (before, after) = (text(self.a.tensor(x)), text(self.b.tensor(y)));
            self.moved.first = Some((at(), before, after));
        }
    }

    /// Where a value is: as an input or an output, if it is one.
    fn place(&self, at: At<'_, '_>, x: usize) -> String {
        let place = match (self.a.input(x), self.a.output(x)) {
            (Some(nth), _) => format!("input {nth}"),
            (None, Some(nth)) => format!("output {nth}"),
            (None, None) => self.plain_place(at),
        };
        match self.a.tensor_name(x) {
            Some(name) => format!("{place} {}", say::quoted(name)),
            None => place,
        }
    }

    fn plain_place(&self, at: At<'_, '_>) -> String {
        match at {
            At::Input(nth) => format!("input {nth}"),
            At::Output(nth) => format!("output {nth}"),
            At::Argument(step, nth) => format!("{}, argument {nth}", say::place(self.a, step)),
        }
    }
}
