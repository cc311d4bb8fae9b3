//! Matches values of two methods, and reports the differences between matched ones.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Match, Method, ValueUse};
use crate::diff::fields::Field;
use crate::diff::fingerprint::{Fingerprint, ValueClass};
use crate::diff::items::Items;
use crate::diff::plan::Plan;
use crate::diff::writers::NONE;
use crate::diff::{Class, describe, tensors, text};
use pte_flat::bytes::{index as at_index, narrow};
use pte_schema::program::view::{KernelTypes, Tensor};

impl Method<'_, '_, '_, '_> {
    /// Matches two values that are used in the same place.
    pub(super) fn match_values(&mut self, x: i32, y: i32, at: ValueUse<'_, '_>) -> Match {
        let (a, b) = (self.a, self.b);
        let one = usize::try_from(x).ok().and_then(|nth| Some((nth, a.value_class(nth)?)));
        let other = usize::try_from(y).ok().and_then(|nth| Some((nth, b.value_class(nth)?)));
        match (one, other) {
            (None, None) => {
                if x == y {
                    Match::Same
                } else {
                    Match::Different
                }
            }
            (Some((x, ValueClass::Fixed)), Some((y, ValueClass::Fixed))) => {
                self.match_fixed(x, y, at)
            }
            (Some((x, ValueClass::List)), Some((y, ValueClass::List))) => {
                self.match_lists(x, y, at)
            }
            (Some((x, ValueClass::Variable)), Some((y, ValueClass::Variable))) => {
                self.match_variables(x, y, at)
            }
            // The result of an added or removed call is part of that difference.
            (Some((x, ValueClass::Variable)), _) if self.is_orphan(0, x) => Match::Same,
            (_, Some((y, ValueClass::Variable))) if self.is_orphan(1, y) => Match::Same,
            _ => Match::Different,
        }
    }

    /// Returns whether the writer of a value has no partner in the other method.
    fn is_orphan(&self, side: usize, nth: usize) -> bool {
        let plan = if side == 0 { self.a } else { self.b };
        let writer = plan.writers.first(nth);
        // Inputs and buffers have contents before the first write.
        let has_contents = plan.input(nth).is_some()
            || plan.fingerprint(nth).is_some_and(|fingerprint| fingerprint.data.is_some());
        if writer == NONE || has_contents {
            return false;
        }
        let partner = self.partners.get(side).and_then(|side| side.get(at_index(writer)));
        partner == Some(&NONE)
    }

    fn match_fixed(&mut self, x: usize, y: usize, at: ValueUse<'_, '_>) -> Match {
        let (a, b) = (self.a, self.b);
        let (Some(old), Some(new)) = (a.fingerprint(x).copied(), b.fingerprint(y).copied()) else {
            return Match::Different;
        };
        if old.digest == new.digest {
            self.names(x, y, &old, &new, at);
            return Match::Same;
        }
        if a.tensor(x).is_none() || b.tensor(y).is_none() {
            // A pair is reported once.
            let first = self.seen.insert((narrow(x), narrow(y)));
            return if first { Match::Different } else { Match::Same };
        }
        self.constants(x, y, &old, &new, at);
        Match::Same
    }

    /// Reports different constants, or different initial data of mutable tensors.
    fn constants(
        &mut self,
        x: usize,
        y: usize,
        old: &Fingerprint,
        new: &Fingerprint,
        at: ValueUse<'_, '_>,
    ) {
        if !self.reported.data.insert((old.digest, new.digest)) {
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
                    _ => ("tensor", text::shape(one), text::shape(other)),
                };
                let (before, after) = (text::shown(before), text::shown(after));
                return (method.place(at, x), what, Some(before), Some(after));
            }
            // If the data has no digest, its location is shown instead.
            let text = |plan: &Plan<'_, '_>, tensor, fingerprint: &Fingerprint| match fingerprint
                .data
            {
                Some(_) => text::shape(tensor),
                None => format!("{}, {}", text::shape(tensor), tensors::source(plan.pte, tensor)),
            };
            let (before, after) = (text(a, one, old), text(b, other, new));
            let (before, after) = (text::data(before, old.data), text::data(after, new.data));
            (method.place(at, x), "data", Some(before), Some(after))
        });
    }

    fn match_lists(&mut self, x: usize, y: usize, at: ValueUse<'_, '_>) -> Match {
        // A pair is reported once.
        match self.seen.insert((narrow(x), narrow(y))) {
            true => self.lists_alike(x, y, at),
            false => Match::Same,
        }
    }

    fn lists_alike(&mut self, x: usize, y: usize, at: ValueUse<'_, '_>) -> Match {
        let (Some(old), Some(new)) = (self.a.value(x), self.b.value(y)) else {
            return Match::Different;
        };
        if old.tag() != new.tag() {
            return Match::Different;
        }
        let (before, after) = (Items::of(old), Items::of(new));
        if (before.len(), before.is_missing()) != (after.len(), after.is_missing()) {
            return Match::Different;
        }
        match self.work.checked_sub(before.len()) {
            Some(left) => self.work = left,
            // Only a hostile file shares long lists; past the limit their digests are compared.
            None => {
                let digests = (
                    self.a.fingerprint(x).map(|h| h.digest),
                    self.b.fingerprint(y).map(|h| h.digest),
                );
                return if digests.0 == digests.1 { Match::Same } else { Match::Different };
            }
        }
        let mut all = Match::Same;
        for nth in 0..before.len() {
            let (one, other) = (before.get(nth), after.get(nth));
            let list = |plan: &Plan<'_, '_>, at: i32| {
                usize::try_from(at).ok().and_then(|nth| plan.value_class(nth))
                    == Some(ValueClass::List)
            };
            let found = match (list(self.a, one), list(self.b, other)) {
                (false, false) => self.match_values(one, other, at),
                (one, other) => {
                    if one == other {
                        Match::Same
                    } else {
                        Match::Different
                    }
                }
            };
            if found == Match::Different {
                all = Match::Different;
            }
        }
        all
    }

    fn match_variables(&mut self, x: usize, y: usize, at: ValueUse<'_, '_>) -> Match {
        let known = (self.to_b.get(x).copied(), self.to_a.get(y).copied());
        if known.0 == Some(narrow(y)) && known.1 == Some(narrow(x)) {
            return Match::Same;
        }
        let orphans = self.is_orphan(0, x) || self.is_orphan(1, y);
        if known != (Some(NONE), Some(NONE)) {
            return if orphans { Match::Same } else { Match::Different };
        }
        self.to_b.get_mut(x).into_iter().for_each(|slot| *slot = narrow(y));
        self.to_a.get_mut(y).into_iter().for_each(|slot| *slot = narrow(x));
        let (a, b) = (self.a, self.b);
        let (Some(old), Some(new)) = (a.fingerprint(x).copied(), b.fingerprint(y).copied()) else {
            return Match::Different;
        };
        if orphans {
            return Match::Same;
        }
        if old.meta != new.meta {
            self.variables(x, y, at);
        } else if old.digest != new.digest {
            self.constants(x, y, &old, &new, at);
        }
        self.names(x, y, &old, &new, at);
        self.placed(x, y, at);
        Match::Same
    }

    /// Reports the differences between two values with the same uses.
    fn variables(&mut self, x: usize, y: usize, at: ValueUse<'_, '_>) {
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
                        Some(text::shown(items.collect::<Vec<_>>().join(", ")))
                    };
                    return (place, "tensor", text(|field| &field.1), text(|field| &field.2));
                }
                let (what, before, after) = fields.pop().unwrap_or((
                    "tensor",
                    text::shape(old),
                    format!("{}, past what is shown", text::shape(new)),
                ));
                return (place, what, Some(text::shown(before)), Some(text::shown(after)));
            }
            let text = |plan: &Plan<'_, '_>, nth: usize| {
                Some(text::shown(match plan.value(nth) {
                    Some(value) => {
                        let kind = value.name().unwrap_or("an unknown value");
                        match value {
                            KernelTypes::Tensor(tensor) => text::shape(tensor),
                            value => format!("{kind} {}", describe::content(plan, nth, value)),
                        }
                    }
                    None => "an unknown value".into(),
                }))
            };
            (place, "value", text(a, x), text(b, y))
        });
    }

    fn names(
        &mut self,
        x: usize,
        y: usize,
        old: &Fingerprint,
        new: &Fingerprint,
        at: ValueUse<'_, '_>,
    ) {
        if old.name == new.name {
            return;
        }
        let (Some(one), Some(other)) = (self.a.tensor(x), self.b.tensor(y)) else { return };
        // The name of an EXTERNAL tensor is the key of its data, which is compared by that data.
        let external = tensors::is_external(one) || tensors::is_external(other);
        if external || !self.reported.names.insert((old.name, new.name)) {
            return;
        }
        self.add(Class::Names, |method| {
            let text = |name: Option<&str>| name.map(|name| text::shown(text::quoted(name)));
            let (before, after) = (method.a.tensor_name(x), method.b.tensor_name(y));
            (method.plain_place(at), "name", text(before), text(after))
        });
    }

    fn placed(&mut self, x: usize, y: usize, at: ValueUse<'_, '_>) {
        let (a, b) = (self.a, self.b);
        let place = |nth, plan: &Plan<'_, '_>| plan.tensor(nth).map(tensors::place);
        if let (Some(before), Some(after)) = (place(x, a), place(y, b))
            && before != after
        {
            let first = self.moved.first.is_none().then(|| self.place(at, x));
            self.places(1, x, y, || first.unwrap_or_default());
        }
    }

    /// Counts tensors whose places in arenas differ. The first one is reported.
    pub(super) fn places(&mut self, count: u32, x: usize, y: usize, at: impl FnOnce() -> String) {
        self.moved.count = self.moved.count.saturating_add(count.into());
        if self.moved.first.is_none() {
            let text = |tensor: Option<Tensor<'_>>| {
                text::shown(match tensor.and_then(tensors::place) {
                    Some((arena, offset)) => format!("arena {arena} at {offset}"),
                    None => "not planned".into(),
                })
            };
            let (before, after) = (text(self.a.tensor(x)), text(self.b.tensor(y)));
            self.moved.first = Some((at(), before, after));
        }
    }

    /// Returns the place of a value in words: an input or output, or else its use.
    fn place(&self, at: ValueUse<'_, '_>, x: usize) -> String {
        let place = match (self.a.input(x), self.a.output(x)) {
            (Some(nth), _) => format!("input {nth}"),
            (None, Some(nth)) => format!("output {nth}"),
            (None, None) => self.plain_place(at),
        };
        match self.a.tensor_name(x) {
            Some(name) => format!("{place} {}", text::quoted(name)),
            None => place,
        }
    }

    fn plain_place(&self, at: ValueUse<'_, '_>) -> String {
        match at {
            ValueUse::Input(nth) => format!("input {nth}"),
            ValueUse::Output(nth) => format!("output {nth}"),
            ValueUse::Argument(instruction, nth) => {
                format!("{}, argument {nth}", describe::place(self.a, instruction))
            }
        }
    }
}
