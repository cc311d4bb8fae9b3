//! Values that nothing uses: no instruction names them, no input, no output, and no list that is used.
//!
//! A runtime makes every tensor of a method when it loads it, whether it is used or not. Such a tensor
//! has no place by which it could be told from others, so all of a method are held against all of the
//! other by what they are.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::Method;
use crate::bytes::{index as at_index, narrow};
use crate::diff::contents::{Hasher, Sha};
use crate::diff::plan::Plan;
use crate::diff::steps::NONE;
use crate::diff::values::Sort;
use crate::diff::{Class, Shown, say, tensors};
use crate::schema::program::view::KernelTypes;

/// Values that are one table, by the first of them.
#[derive(Clone, Copy)]
struct Loose {
    value: u32,
    count: u32,
}

/// The values of a method that the other one may have under any number.
struct Side {
    /// Tensors that nothing uses, but for constants.
    idle: Vec<Loose>,
    /// Tensors that are used, and by nothing that the other method has as well.
    orphans: Vec<Loose>,
    /// What never changes and is not among what is used.
    fixed: Vec<Loose>,
}

impl Method<'_, '_, '_, '_> {
    /// Reports unused values that only one of the methods has.
    pub(super) fn loose(&mut self) {
        let (a, b) = (self.a, self.b);
        let (mut old, mut new) = (Side::of(a, &self.to_b), Side::of(b, &self.to_a));
        let whole = |plan: &Plan<'_, '_>, of: &Loose| {
            let nth = at_index(of.value);
            let (digest, name) = digest_and_name(plan, of);
            (digest, name, plan.tensor(nth).and_then(tensors::place))
        };
        cancel(&mut old.idle, &mut new.idle, |of| whole(a, of), |of| whole(b, of));
        let named = |plan, of: &Loose| digest_and_name(plan, of);
        let pairs = cancel(&mut old.idle, &mut new.idle, |of| named(a, of), |of| named(b, of));
        for (one, other) in pairs {
            let (x, y) = (at_index(one.value), at_index(other.value));
            self.places(one.count, x, y, || PLACE_OF_ONE.into());
        }
        let digest = |plan, of: &Loose| digest_and_name(plan, of).0;
        let pairs = cancel(&mut old.idle, &mut new.idle, |of| digest(a, of), |of| digest(b, of));
        for (one, other) in pairs {
            self.loose_names(one, other);
        }
        // What became of use, or of none, is told with the instruction that is new or gone.
        cancel(&mut old.idle, &mut new.orphans, |of| digest(a, of), |of| digest(b, of));
        cancel(&mut old.orphans, &mut new.idle, |of| digest(a, of), |of| digest(b, of));
        old.fixed = left(a, core::mem::take(&mut old.fixed), b);
        new.fixed = left(b, core::mem::take(&mut new.fixed), a);
        let all = |side: Side| -> Vec<Loose> { [side.idle, side.fixed].concat() };
        self.loose_values(&all(old), &all(new));
    }

    fn loose_names(&mut self, one: Loose, other: Loose) {
        let (a, b) = (self.a, self.b);
        let names = (digest_and_name(a, &one).1, digest_and_name(b, &other).1);
        if !self.told.names.insert(names) {
            return;
        }
        self.add(Class::Names, |_| {
            let text = |name: Option<&str>| name.map(|name| say::shown(say::quoted(name)));
            let before = text(a.tensor_name(at_index(one.value)));
            let after = text(b.tensor_name(at_index(other.value)));
            (PLACE_OF_ONE.into(), "name", before, after)
        });
    }

    /// All that only one of the methods has is one difference.
    fn loose_values(&mut self, old: &[Loose], new: &[Loose]) {
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

/// What differs between a tensor of each method, if it is one thing and can be told.
fn one_field(
    a: &Plan<'_, '_>,
    b: &Plan<'_, '_>,
    one: &Loose,
    other: &Loose,
) -> Option<(String, &'static str, Option<Shown>, Option<Shown>)> {
    let (x, y) = (at_index(one.value), at_index(other.value));
    let (old, new) = (a.tensor(x)?, b.tensor(y)?);
    let place = PLACE_OF_ONE.into();
    let (before, after) = (a.held(x)?.data, b.held(y)?.data);
    match (tensors::differing(old, new).as_slice(), one.count == other.count, before == after) {
        ([(what, before, after)], true, true) => {
            Some((place, what, Some(say::shown(before.clone())), Some(say::shown(after.clone()))))
        }
        ([], true, false) => {
            let before = say::data(say::shape(old), before);
            Some((place, "data", Some(before), Some(say::data(say::shape(new), after))))
        }
        _ => None,
    }
}

impl Side {
    /// Of a method and for each of its values the one of the other method.
    fn of(plan: &Plan<'_, '_>, partners: &[u32]) -> Self {
        let reached = plan.reached();
        let mut side = Self { idle: Vec::new(), orphans: Vec::new(), fixed: Vec::new() };
        let mut slots = [vec![NONE; plan.table_count()], vec![NONE; plan.table_count()]];
        for (nth, (&is_reached, &partner)) in reached.iter().zip(partners).enumerate() {
            let (Some(sort), Some(table)) = (plan.sort(nth), plan.table(nth)) else { continue };
            let to = match (sort, is_reached) {
                (Sort::Variable, true) if partner == NONE => &mut side.orphans,
                (Sort::Variable, false) => &mut side.idle,
                (Sort::Fixed | Sort::List, false) => &mut side.fixed,
                _ => continue,
            };
            let [used, unused] = &mut slots;
            let slots = if is_reached { used } else { unused };
            let Some(slot) = slots.get_mut(at_index(table)) else { continue };
            match to.get_mut(at_index(*slot)) {
                Some(loose) => loose.count = loose.count.saturating_add(1),
                None => {
                    *slot = narrow(to.len());
                    to.push(Loose { value: narrow(nth), count: 1 });
                }
            }
        }
        if !side.fixed.is_empty() {
            // One more of what is used is no more than another way to write it.
            let used = (0..reached.len()).zip(&reached).filter(|&(_, &is_reached)| is_reached);
            let known = digests(plan, used.map(|(nth, _)| nth));
            side.fixed.retain(|of| !has(&known, plan, of));
        }
        side
    }
}

/// What never changes, once each, and that the other method does not have at all.
fn left(plan: &Plan<'_, '_>, mut fixed: Vec<Loose>, other: &Plan<'_, '_>) -> Vec<Loose> {
    if fixed.is_empty() {
        return fixed;
    }
    let known = digests(other, 0..other.value_count());
    fixed.retain(|of| !has(&known, plan, of));
    let digest = |of: &Loose| digest_and_name(plan, of).0;
    fixed.sort_by_key(digest);
    fixed.dedup_by_key(|of| digest(of));
    fixed.iter_mut().for_each(|of| of.count = 1);
    fixed
}

/// The digests of some values, sorted.
fn digests(plan: &Plan<'_, '_>, values: impl Iterator<Item = usize>) -> Vec<Sha> {
    let mut seen = vec![false; plan.table_count()];
    let mut digests = Vec::new();
    for nth in values {
        let seen = plan.table(nth).and_then(|table| seen.get_mut(at_index(table)));
        if let (Some(held), Some(seen @ false)) = (plan.held(nth), seen) {
            *seen = true;
            digests.push(held.digest);
        }
    }
    digests.sort_unstable();
    digests
}

fn has(digests: &[Sha], plan: &Plan<'_, '_>, of: &Loose) -> bool {
    digests.binary_search(&digest_and_name(plan, of).0).is_ok()
}

fn digest_and_name(plan: &Plan<'_, '_>, of: &Loose) -> (Sha, Option<Sha>) {
    plan.held(at_index(of.value)).map(|held| (held.digest, held.name)).unwrap_or_default()
}

/// Takes out what both have under one key, and gives it in pairs.
fn cancel<K: Ord>(
    old: &mut Vec<Loose>,
    new: &mut Vec<Loose>,
    old_key: impl Fn(&Loose) -> K,
    new_key: impl Fn(&Loose) -> K,
) -> Vec<(Loose, Loose)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    // Stable: where keys are equal, in the order of the values.
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
                    pairs.push((Loose { count, ..*one }, Loose { count, ..*other }));
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

/// How many values there are.
fn number(all: &[Loose]) -> u64 {
    all.iter().fold(0, |sum, of| sum.saturating_add(of.count.into()))
}

/// The first few, and how many more there are.
fn listed(plan: &Plan<'_, '_>, all: &[Loose]) -> Option<Shown> {
    let of = |of: &Loose| {
        let nth = at_index(of.value);
        let value = plan.value(nth);
        let text = match value {
            Some(KernelTypes::Tensor(tensor)) if plan.sort(nth) == Some(Sort::Variable) => {
                let name = plan.tensor_name(nth).map(|name| format!(" {}", say::quoted(name)));
                format!("{}{}", say::shape(tensor), name.unwrap_or_default())
            }
            Some(value @ KernelTypes::Tensor(_)) => say::content(plan, nth, value),
            Some(value) => {
                let kind = value.name().unwrap_or("an unknown value");
                format!("{kind} {}", say::content(plan, nth, value))
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
    (!shown.is_empty()).then(|| say::shown(format!("{}{more}", shown.join(", "))))
}

/// A digest of all of them, where what is shown is the same.
fn all_of(plan: &Plan<'_, '_>, all: &[Loose]) -> Sha {
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

/// Values that a line lists.
const MOST_LISTED: usize = 4;
