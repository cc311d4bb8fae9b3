//! Unused values: no instruction, input, output or used list refers to them.
//!
//! A runtime creates every tensor when it loads a method, used or not. An unused tensor has no use to
//! match it by, so the unused values of both methods are compared as multisets of digests.

use alloc::string::String;
use alloc::vec::Vec;

use super::Method;
use crate::diff::digest::{Hasher, Sha};
use crate::diff::fingerprint::ValueClass;
use crate::diff::plan::Plan;
use crate::diff::writers::NONE;
use crate::diff::{Class, Shown, describe, tensors, text};
use pte_flat::bytes::{index as at_index, narrow};
use pte_schema::program::view::KernelTypes;

/// Values of a method that share one table.
#[derive(Clone, Copy)]
struct ValueGroup {
    /// The index of the first value.
    value: u32,
    /// The number of values.
    count: u32,
}

/// The values of a method without a partner in the other method.
struct Side {
    /// Unused tensors, except constants.
    idle: Vec<ValueGroup>,
    /// Tensors that are used only by instructions without a partner.
    orphans: Vec<ValueGroup>,
    /// Unused constants, literals and lists that differ from all used values.
    fixed: Vec<ValueGroup>,
}

impl Method<'_, '_, '_, '_> {
    /// Reports unused values that only one of the methods has.
    pub(super) fn unused(&mut self) {
        let (a, b) = (self.a, self.b);
        let (mut old, mut new) = (Side::of(a, &self.to_b), Side::of(b, &self.to_a));
        let whole = |plan: &Plan<'_, '_>, of: &ValueGroup| {
            let nth = at_index(of.value);
            let (digest, name) = digest_and_name(plan, of);
            (digest, name, plan.tensor(nth).and_then(tensors::place))
        };
        cancel(&mut old.idle, &mut new.idle, |of| whole(a, of), |of| whole(b, of));
        let named = |plan, of: &ValueGroup| digest_and_name(plan, of);
        let pairs = cancel(&mut old.idle, &mut new.idle, |of| named(a, of), |of| named(b, of));
        for (one, other) in pairs {
            let (x, y) = (at_index(one.value), at_index(other.value));
            self.places(one.count, x, y, || PLACE_OF_ONE.into());
        }
        let digest = |plan, of: &ValueGroup| digest_and_name(plan, of).0;
        let pairs = cancel(&mut old.idle, &mut new.idle, |of| digest(a, of), |of| digest(b, of));
        for (one, other) in pairs {
            self.unused_names(one, other);
        }
        // A tensor that became used or unused is a consequence of an added or removed instruction,
        // which is already reported.
        cancel(&mut old.idle, &mut new.orphans, |of| digest(a, of), |of| digest(b, of));
        cancel(&mut old.orphans, &mut new.idle, |of| digest(a, of), |of| digest(b, of));
        old.fixed = left(a, core::mem::take(&mut old.fixed), b);
        new.fixed = left(b, core::mem::take(&mut new.fixed), a);
        let all = |side: Side| -> Vec<ValueGroup> { [side.idle, side.fixed].concat() };
        self.unused_values(&all(old), &all(new));
    }

    fn unused_names(&mut self, one: ValueGroup, other: ValueGroup) {
        let (a, b) = (self.a, self.b);
        let names = (digest_and_name(a, &one).1, digest_and_name(b, &other).1);
        if !self.reported.names.insert(names) {
            return;
        }
        self.add(Class::Names, |_| {
            let text = |name: Option<&str>| name.map(|name| text::shown(text::quoted(name)));
            let before = text(a.tensor_name(at_index(one.value)));
            let after = text(b.tensor_name(at_index(other.value)));
            (PLACE_OF_ONE.into(), "name", before, after)
        });
    }

    /// Reports the unused values that only one of the methods has as one difference.
    fn unused_values(&mut self, old: &[ValueGroup], new: &[ValueGroup]) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        self.add(Class::Unused, |method| {
            let (a, b) = (method.a, method.b);
            if let ([one], [other]) = (old, new)
                && let Some(field) = one_field(a, b, one, other)
            {
                return field;
            }
            let (mut before, mut after) = (listed(a, old), listed(b, new));
            if let (Some(before), Some(after)) = (&mut before, &mut after)
                && before.text == after.text
            {
                (before.sha256, after.sha256) = (Some(all_of(a, old)), Some(all_of(b, new)));
            }
            match number(old).max(number(new)) {
                1 => (PLACE_OF_ONE.into(), "value", before, after),
                _ => (PLACE_OF_MANY.into(), "values", before, after),
            }
        });
    }
}

/// Returns the only difference between two tensors, if there is exactly one.
fn one_field(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    one: &ValueGroup,
    other: &ValueGroup,
) -> Option<(String, &'static str, Option<Shown>, Option<Shown>)> {
    let (x, y) = (at_index(one.value), at_index(other.value));
    let (old, new) = (a.tensor(x)?, b.tensor(y)?);
    let place = PLACE_OF_ONE.into();
    let (before, after) = (a.fingerprint(x)?.data, b.fingerprint(y)?.data);
    match (tensors::differing(old, new).as_slice(), one.count == other.count, before == after) {
        ([(what, before, after)], true, true) => {
            Some((place, what, Some(text::shown(before.clone())), Some(text::shown(after.clone()))))
        }
        ([], true, false) => {
            let before = text::data(text::shape(old), before);
            Some((place, "data", Some(before), Some(text::data(text::shape(new), after))))
        }
        _ => None,
    }
}

impl Side {
    /// Groups the values of a method. `partners` has the partner of each value.
    fn of(plan: &Plan<'_, '_>, partners: &[u32]) -> Self {
        let reached = plan.reached();
        let mut side = Self { idle: Vec::new(), orphans: Vec::new(), fixed: Vec::new() };
        let mut slots = [vec![NONE; plan.table_count()], vec![NONE; plan.table_count()]];
        for (nth, (&is_reached, &partner)) in reached.iter().zip(partners).enumerate() {
            let (Some(class), Some(table)) = (plan.value_class(nth), plan.table(nth)) else {
                continue;
            };
            let to = match (class, is_reached) {
                (ValueClass::Variable, true) if partner == NONE => &mut side.orphans,
                (ValueClass::Variable, false) => &mut side.idle,
                (ValueClass::Fixed | ValueClass::List, false) => &mut side.fixed,
                _ => continue,
            };
            let [used, unused] = &mut slots;
            let slots = if is_reached { used } else { unused };
            let Some(slot) = slots.get_mut(at_index(table)) else { continue };
            match to.get_mut(at_index(*slot)) {
                Some(group) => group.count = group.count.saturating_add(1),
                None => {
                    *slot = narrow(to.len());
                    to.push(ValueGroup { value: narrow(nth), count: 1 });
                }
            }
        }
        if !side.fixed.is_empty() {
            // A copy of a used literal has no effect.
            let used = (0..reached.len()).zip(&reached).filter(|&(_, &is_reached)| is_reached);
            let known = digests(plan, used.map(|(nth, _)| nth));
            side.fixed.retain(|of| !has(&known, plan, of));
        }
        side
    }
}

/// Returns the fixed values that the other method does not have, one for each digest.
fn left(plan: &Plan<'_, '_>, mut fixed: Vec<ValueGroup>, other: &Plan<'_, '_>) -> Vec<ValueGroup> {
    if fixed.is_empty() {
        return fixed;
    }
    let known = digests(other, 0..other.value_count());
    fixed.retain(|of| !has(&known, plan, of));
    let digest = |of: &ValueGroup| digest_and_name(plan, of).0;
    fixed.sort_by_key(digest);
    fixed.dedup_by_key(|of| digest(of));
    fixed.iter_mut().for_each(|of| of.count = 1);
    fixed
}

/// Returns the sorted digests of values.
fn digests(plan: &Plan<'_, '_>, values: impl Iterator<Item = usize>) -> Vec<Sha> {
    let mut seen = vec![false; plan.table_count()];
    let mut digests = Vec::new();
    for nth in values {
        let seen = plan.table(nth).and_then(|table| seen.get_mut(at_index(table)));
        if let (Some(fingerprint), Some(seen @ false)) = (plan.fingerprint(nth), seen) {
            *seen = true;
            digests.push(fingerprint.digest);
        }
    }
    digests.sort_unstable();
    digests
}

fn has(digests: &[Sha], plan: &Plan<'_, '_>, of: &ValueGroup) -> bool {
    digests.binary_search(&digest_and_name(plan, of).0).is_ok()
}

fn digest_and_name(plan: &Plan<'_, '_>, of: &ValueGroup) -> (Sha, Option<Sha>) {
    plan.fingerprint(at_index(of.value))
        .map(|fingerprint| (fingerprint.digest, fingerprint.name))
        .unwrap_or_default()
}

/// Removes the groups that both sides have under one key, and returns them in pairs.
fn cancel<K: Ord>(
    old: &mut Vec<ValueGroup>,
    new: &mut Vec<ValueGroup>,
    old_key: impl Fn(&ValueGroup) -> K,
    new_key: impl Fn(&ValueGroup) -> K,
) -> Vec<(ValueGroup, ValueGroup)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    // Stable: groups of one key stay in the order of their values.
    old.sort_by_key(&old_key);
    new.sort_by_key(&new_key);
    let (mut pairs, mut nth) = (Vec::new(), 0usize);
    for one in old.iter_mut() {
        let key = old_key(one);
        while let Some(other) = new.get_mut(nth)
            && one.count > 0
        {
            match new_key(other).cmp(&key) {
                core::cmp::Ordering::Less => nth = nth.saturating_add(1),
                core::cmp::Ordering::Greater => break,
                core::cmp::Ordering::Equal => {
                    let count = one.count.min(other.count);
                    pairs.push((ValueGroup { count, ..*one }, ValueGroup { count, ..*other }));
                    one.count = one.count.saturating_sub(count);
                    other.count = other.count.saturating_sub(count);
                    if other.count == 0 {
                        nth = nth.saturating_add(1);
                    }
                }
            }
        }
    }
    old.retain(|of| of.count > 0);
    new.retain(|of| of.count > 0);
    pairs
}

/// Returns the number of values in the groups.
fn number(all: &[ValueGroup]) -> u64 {
    all.iter().fold(0, |sum, of| sum.saturating_add(of.count.into()))
}

/// Returns the first groups in words, and the number of further values.
fn listed(plan: &Plan<'_, '_>, all: &[ValueGroup]) -> Option<Shown> {
    let of = |of: &ValueGroup| {
        let nth = at_index(of.value);
        let value = plan.value(nth);
        let text = match value {
            Some(KernelTypes::Tensor(tensor))
                if plan.value_class(nth) == Some(ValueClass::Variable) =>
            {
                let name = plan.tensor_name(nth).map(|name| format!(" {}", text::quoted(name)));
                format!("{}{}", text::shape(tensor), name.unwrap_or_default())
            }
            Some(value @ KernelTypes::Tensor(_)) => describe::content(plan, nth, value),
            Some(value) => {
                let kind = value.name().unwrap_or("an unknown value");
                format!("{kind} {}", describe::content(plan, nth, value))
            }
            None => "an unknown value".into(),
        };
        match of.count {
            1 => text,
            count => format!("{count} × {text}"),
        }
    };
    let shown: Vec<_> = all.iter().take(MOST_LISTED).map(of).collect();
    let more = number(all.get(MOST_LISTED..).unwrap_or_default());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| text::shown(format!("{}{more}", shown.join(", "))))
}

/// Returns a digest of the groups. It distinguishes two sides whose texts are equal.
fn all_of(plan: &Plan<'_, '_>, all: &[ValueGroup]) -> Sha {
    let mut digests: Vec<_> =
        all.iter().map(|of| (digest_and_name(plan, of).0, of.count)).collect();
    digests.sort_unstable();
    let mut hasher = Hasher::of(b'u');
    for (digest, count) in digests {
        hasher.bytes(&digest).number(count);
    }
    hasher.finish()
}

const PLACE_OF_ONE: &str = "a value that nothing uses";
const PLACE_OF_MANY: &str = "values that nothing uses";

/// The most groups that a line lists.
const MOST_LISTED: usize = 4;
