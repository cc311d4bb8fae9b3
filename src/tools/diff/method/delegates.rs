//! Delegates: backends, payloads and compile specs.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Method;
use crate::diff::digest::Sha;
use crate::diff::plan::Plan;
use crate::diff::{Class, describe, text};
use pte_flat::bytes::len_of;
use pte_flat::view::List;
use pte_schema::program::view::{CompileSpec, InstructionArguments};

impl Method<'_, '_, '_, '_> {
    /// Compares the delegates of two partner calls. `number` is the pc in the first method.
    pub(super) fn delegate(&mut self, one: i32, other: i32, number: u32) {
        if !self.delegates.insert((one, other)) {
            return;
        }
        let delegates = self.a.delegate(one).zip(self.b.delegate(other));
        let differing = delegates.filter(|(old, new)| !old.is_same(new));
        if let Some((old, new)) = differing.map(|(old, new)| (old.digest, new.digest))
            && old != new
            && self.is_exchange(old, new)
        {
            self.exchanged.found.push((number, old, new));
            return;
        }
        let place = |method: &Self| {
            let instruction = method.a.instruction(number);
            instruction
                .map_or_else(String::new, |instruction| describe::place(method.a, &instruction))
        };
        self.delegates_alike(one, other, &place);
    }

    /// Returns whether both methods call both delegates. Then the calls were exchanged, and the
    /// delegates are unchanged.
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
            let place = method
                .a
                .instruction(*first)
                .map(|instruction| describe::place(method.a, &instruction));
            let place = place.unwrap_or_default();
            let index = |digest: &Sha| {
                let instruction =
                    calls.get(digest).and_then(|&number| method.a.instruction(number));
                instruction.map_or(0, |instruction| instruction.index())
            };
            let before: Vec<_> = found.iter().map(|(_, old, _)| index(old)).collect();
            let after: Vec<_> = found.iter().map(|(.., new)| index(new)).collect();
            let text = |of: &str, calls: &[u32]| {
                Some(text::shown(format!("{of} {}", text::numbers(calls))))
            };
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
        let (Some(old), Some(new)) = (a.delegate(one).cloned(), b.delegate(other).cloned()) else {
            if a.delegate(one).is_some() != b.delegate(other).is_some() {
                self.add(Class::Delegates, |method| {
                    let text = |plan, index| Some(text::shown(describe::backend(plan, index)));
                    (place(method), "delegate", text(a, one), text(b, other))
                });
            }
            return;
        };
        if old.is_same(&new) || !self.reported.data.insert((old.digest, new.digest)) {
            return;
        }
        if old.id != new.id {
            self.add(Class::Delegates, |method| {
                let text = |plan, index| Some(text::shown(describe::backend(plan, index)));
                (place(method), "backend", text(a, one), text(b, other))
            });
        }
        // If ids and specs are equal, the payloads differ, or the errors of invalid payloads do.
        let is_same = old.has_payload_of(&new);
        let mut found = false;
        if let (Some(before), Some(after)) = (&old.meaning, &new.meaning)
            && !is_same
            && old.id == new.id
        {
            before.compare(after, |(node, what, before, after)| {
                found = true;
                self.add(Class::Delegates, |method| {
                    let place = match node.as_str() {
                        "" => place(method),
                        node => format!("{}, {node}", place(method)),
                    };
                    (place, what, Some(before), Some(after))
                });
            });
        }
        // Nodes and values are all the meaning of XNNPACK's payloads. Of others every byte may have one, so the payload
        // as a whole is reported too.
        let is_complete = found && old.meaning().is_some();
        if !is_complete && (!is_same || old.specs == new.specs && old.id == new.id) {
            self.add(Class::Delegates, |method| {
                let text = |plan: &Plan<'_, '_>, index, sha| {
                    let range = plan.delegate_view(index).map(|view| plan.pte.delegate_range(view));
                    Some(match range {
                        Some(Ok(Some(range))) => text::data(text::bytes(len_of(&range)), sha),
                        Some(Err(error)) => text::shown(format!("broken ({})", error.code())),
                        _ => text::shown("none"),
                    })
                };
                (place(method), "payload", text(a, one, old.payload), text(b, other, new.payload))
            });
        }
        if old.specs != new.specs {
            self.specs(one, other, place);
        }
    }

    /// Compares compile specs, by index.
    fn specs(&mut self, one: i32, other: i32, place: &dyn Fn(&Self) -> String) {
        let (before, after) = (specs(self.a, one), specs(self.b, other));
        let all = before.len().max(after.len());
        // Only a hostile file shares long lists of specs; past the limit they are not compared.
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
                    text::shown(match same_key {
                        true => value,
                        false => format!("{} = {value}", text::quoted(self::key(spec))),
                    })
                };
                let place = match old.filter(|_| same_key) {
                    Some(spec) => format!("{}, {}", place(method), text::quoted(self::key(spec))),
                    None => place(method),
                };
                (place, "compile spec", old.map(text), new.map(text))
            });
        }
        if left.is_none() {
            self.add(Class::Delegates, |method| {
                let text = |all: usize| Some(text::shown(format!("{all} of them")));
                (place(method), "compile specs", text(before.len()), text(after.len()))
            });
        }
    }

    /// Compares the delegates that no instruction calls. A runtime loads them nevertheless.
    pub(super) fn idle_delegates(&mut self) {
        let (old, new) = (self.a.idle_delegates(), self.b.idle_delegates());
        for nth in 0..old.len().max(new.len()) {
            let place = format!("delegate {nth} of those that are not called");
            match (old.get(nth), new.get(nth)) {
                (Some(&one), Some(&other)) => self.delegates_alike(one, other, &|_| place.clone()),
                (one, other) => self.add(Class::Delegates, |method| {
                    let text = |plan, index: Option<&i32>| {
                        index.map(|&index| text::shown(describe::backend(plan, index)))
                    };
                    (place.clone(), "delegate", text(method.a, one), text(method.b, other))
                }),
            }
        }
    }
}

/// The delegates that are called in each other's place.
#[derive(Default)]
pub(super) struct Exchanged {
    /// For each called delegate of each method, by digest, the pc of its first call.
    calls: Option<[BTreeMap<Sha, u32>; 2]>,
    /// The pc of each call, with the digests of its delegate in both methods.
    found: Vec<(u32, Sha, Sha)>,
}

fn calls(plan: &Plan<'_, '_>) -> BTreeMap<Sha, u32> {
    let mut calls = BTreeMap::new();
    for (number, instruction) in (0u32..).zip(plan.instructions.iter()) {
        if let Some(InstructionArguments::DelegateCall(call)) = instruction.operation()
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

/// Returns the value of a compile spec in words: as quoted text, or as a list of bytes.
fn spec_value(value: &[u8]) -> String {
    match core::str::from_utf8(value) {
        Ok(text) if text.chars().all(|c| !c.is_control()) => text::quoted(text),
        _ => text::list(value),
    }
}
