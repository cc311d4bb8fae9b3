//! Delegates: backends, payloads and compile specs.

use alloc::format;
use alloc::string::{String, ToString};

use super::Method;
use crate::diff::plan::Plan;
use crate::diff::{Class, say};
use crate::flat::view::List;
use crate::schema::program::view::CompileSpec;

impl Method<'_, '_, '_, '_> {
    /// A delegate that both methods call, by the number of the first call.
    pub(super) fn delegate(&mut self, one: i32, other: i32, number: u32) {
        if !self.delegates.insert((one, other)) {
            return;
        }
        let place = |method: &Self| {
            let step = method.a.step(number);
            step.map_or_else(String::new, |step| say::place(method.a, step))
        };
        self.delegates_alike(one, other, &place);
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
