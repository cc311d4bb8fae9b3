//! Delegates: backends, payloads and compile specs.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Method;
use crate::diff::contents::Sha;
use crate::diff::plan::Plan;
use crate::diff::{Class, say};
use crate::flat::view::List;
use crate::schema::program::view::{CompileSpec, InstructionArguments};

impl Method<'_, '_, '_, '_> {
    /// A delegate that both methods call, by the number of the first call.
    pub(super) fn delegate(&mut self, one: i32, other: i32, number: u32) {
        if !self.delegates.insert((one, other)) {
            return;
        }
        let digests = self.a.delegate(one).zip(self.b.delegate(other));
        if let Some((old, new)) = digests.map(|(old, new)| (old.digest, new.digest))
            && old != new
            && self.is_exchange(old, new)
        {
            self.exchanged.found.push((number, old, new));
            return;
        }
        let place = |method: &Self| {
            let step = method.a.step(number);
            step.map_or_else(String::new, |step| say::place(method.a, step))
        };
        self.delegates_alike(one, other, &place);
    }

    /// Whether both methods call both of two delegates: then it is another one that is called there, and
    /// neither has changed.
    fn is_exchange(&mut self, old: Sha, new: Sha) -> bool {
        let (a, b) = (self.a, self.b);
        let [before, after] = self.exchanged.calls.get_or_insert_with(|| [calls(a), calls(b)]);
        before.contains_key(&new) && after.contains_key(&old)
    }

    /// Reports delegates that are called in each other's place, as one difference.
    pub(super) fn exchanged(&mut self) {
        let Exchanged { calls, found } = core::mem::take(&mut self.exchanged);
        let (Some([calls, _]), Some((first, ..))) = (calls, found.first()) else { return };
        self.add(Class::Delegates, |method| {
            let place = method.a.step(*first).map(|step| say::place(method.a, step));
            let place = place.unwrap_or_default();
            let index = |digest: &Sha| {
                let step = calls.get(digest).and_then(|&number| method.a.step(number));
                step.map_or(0, |step| step.index())
            };
            let before: Vec<_> = found.iter().map(|(_, old, _)| index(old)).collect();
            let after: Vec<_> = found.iter().map(|(.., new)| index(new)).collect();
            let text =
                |of: &str, calls: &[u32]| Some(say::shown(format!("{of} {}", say::numbers(calls))));
            match found.len().saturating_sub(1) {
                0 => {
                    let of = "that of call";
                    (place, "delegate", text(of, &before), text(of, &after))
                }
                more => {
                    let of = "those of calls";
                    let place = format!("{place} and {more} more");
                    (place, "delegates", text(of, &before), text(of, &after))
                }
            }
        });
    }

    fn delegates_alike(&mut self, one: i32, other: i32, place: &dyn Fn(&Self) -> String) {
        let (a, b) = (self.a, self.b);
        let (Some(old), Some(new)) = (a.delegate(one).copied(), b.delegate(other).copied()) else {
            if a.delegate(one).is_some() != b.delegate(other).is_some() {
                self.add(Class::Delegates, |method| {
                    let text = |plan, index| Some(say::shown(say::backend(plan, index)));
                    (place(method), "delegate", text(a, one), text(b, other))
                });
            }
            return;
        };
        if old.digest == new.digest || !self.told.data.insert((old.digest, new.digest)) {
            return;
        }
        if old.id != new.id {
            self.add(Class::Delegates, |method| {
                let text = |plan, index| Some(say::shown(say::backend(plan, index)));
                (place(method), "backend", text(a, one), text(b, other))
            });
        }
        // With the same specs it is the payload, or why there is none.
        if old.payload != new.payload || old.specs == new.specs && old.id == new.id {
            self.add(Class::Delegates, |method| {
                let text = |plan: &Plan<'_, '_>, index, sha| {
                    let range = plan.delegate_view(index).map(|view| plan.pte.delegate_range(view));
                    Some(match range {
                        Some(Ok(Some(range))) => {
                            say::data(say::bytes(range.end.saturating_sub(range.start)), sha)
                        }
                        Some(Err(error)) => say::shown(format!("broken ({})", error.code())),
                        _ => say::shown("none"),
                    })
                };
                (place(method), "payload", text(a, one, old.payload), text(b, other, new.payload))
            });
        }
        if old.specs != new.specs {
            self.specs(one, other, place);
        }
    }

    /// Compile specs, by their place in the list.
    fn specs(&mut self, one: i32, other: i32, place: &dyn Fn(&Self) -> String) {
        let (before, after) = (specs(self.a, one), specs(self.b, other));
        let all = before.len().max(after.len());
        // Specs are named over and over, as no writer does: it is not gone through all of them.
        let left = self.work.checked_sub(all);
        self.work = left.unwrap_or_default();
        for nth in 0..if left.is_some() { all } else { 0 } {
            let (old, new) = (before.get(nth), after.get(nth));
            let key = |spec: Option<CompileSpec<'_>>| spec.map(|spec| key(spec).to_string());
            let same_key = key(old) == key(new);
            if same_key && old.map(value) == new.map(value) {
                continue;
            }
            self.add(Class::Delegates, |method| {
                let text = |spec: CompileSpec<'_>| {
                    let value = spec_value(value(spec));
                    say::shown(match same_key {
                        true => value,
                        false => format!("{} = {value}", say::quoted(self::key(spec))),
                    })
                };
                let place = match old.filter(|_| same_key) {
                    Some(spec) => format!("{}, {}", place(method), say::quoted(self::key(spec))),
                    None => place(method),
                };
                (place, "compile spec", old.map(text), new.map(text))
            });
        }
        if left.is_none() {
            self.add(Class::Delegates, |method| {
                let text = |all: usize| Some(say::shown(format!("{all} of them")));
                (place(method), "compile specs", text(before.len()), text(after.len()))
            });
        }
    }

    /// Delegates that no call names are loaded nevertheless.
    pub(super) fn idle_delegates(&mut self) {
        let (old, new) = (self.a.idle_delegates(), self.b.idle_delegates());
        for nth in 0..old.len().max(new.len()) {
            let place = format!("delegate {nth} of those that are not called");
            match (old.get(nth), new.get(nth)) {
                (Some(&one), Some(&other)) => self.delegates_alike(one, other, &|_| place.clone()),
                (one, other) => self.add(Class::Delegates, |method| {
                    let text = |plan, index: Option<&i32>| {
                        index.map(|&index| say::shown(say::backend(plan, index)))
                    };
                    (place.clone(), "delegate", text(method.a, one), text(method.b, other))
                }),
            }
        }
    }
}

/// Delegates that are called in each other's place.
#[derive(Default)]
pub(super) struct Exchanged {
    /// For each delegate that a method calls the first call.
    calls: Option<[BTreeMap<Sha, u32>; 2]>,
    /// Calls, and the delegate of each in both methods.
    found: Vec<(u32, Sha, Sha)>,
}

fn calls(plan: &Plan<'_, '_>) -> BTreeMap<Sha, u32> {
    let mut calls = BTreeMap::new();
    for (number, step) in (0u32..).zip(&plan.steps) {
        if let Some(InstructionArguments::DelegateCall(call)) = step.operation()
            && let Some(delegate) = plan.delegate(call.delegate_index())
        {
            calls.entry(delegate.digest).or_insert(number);
        }
    }
    calls
}

fn specs<'a>(plan: &Plan<'_, 'a>, index: i32) -> List<'a, CompileSpec<'a>> {
    let view = plan.delegate_view(index);
    view.and_then(|view| view.compile_specs()).unwrap_or_default()
}

fn key<'a>(spec: CompileSpec<'a>) -> &'a str {
    spec.key().unwrap_or_default()
}

fn value<'a>(spec: CompileSpec<'a>) -> &'a [u8] {
    spec.value().unwrap_or_default().bytes()
}

/// The value of a compile spec, which is a text or opaque.
fn spec_value(value: &[u8]) -> String {
    match core::str::from_utf8(value) {
        Ok(text) if text.chars().all(|c| !c.is_control()) => say::quoted(text),
        _ => say::list(value),
    }
}
