//! The graph of a payload in the form that all backends share.

use core::ops::Range;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Operand, Report, Side};
use crate::diff::digest::Sha;
use crate::diff::{Shown, text};
use crate::graph::{PayloadGraph, argument_of, value_text};
use pte_core::payload::Graph;
use pte_core::payload::graph::{DataPlace, Role, Value};
use pte_flat::bytes::len_of;
use pte_flat::cost;

/// The graph of a payload, and the data of its values.
#[derive(Debug)]
pub(in crate::diff) struct Form {
    graph: PayloadGraph,
    /// The data of each value that has data, by the id of the value.
    data: BTreeMap<u32, Shown>,
}

/// The data of a value, before it is hashed.
pub(in crate::diff) enum FormData {
    /// A range of the payload.
    Payload(Range<u64>),
    /// Data elsewhere, as it is shown.
    Elsewhere(Shown),
}

impl Form {
    /// Returns the graph of a payload that has this range in its file, and the data of each value that has data.
    pub(in crate::diff) fn read(
        range: Range<u64>,
        graph: Graph<'_>,
    ) -> (Self, Vec<(u32, FormData)>) {
        let data = graph.used_values().filter_map(|value| {
            let elsewhere = |text: &str| FormData::Elsewhere(text::shown(text));
            let data = match &graph.data_of(value)?.place {
                DataPlace::Payload(range) => FormData::Payload(range.clone()),
                DataPlace::Named { key, .. } => elsewhere(&text::quoted(key)),
                DataPlace::Nowhere => elsewhere("data that no file has"),
            };
            Some((value.id, data))
        });
        let data = data.collect();
        (Self { graph: PayloadGraph::of(range, graph), data: BTreeMap::new() }, data)
    }

    /// Adds the data of values. `hash` returns the digest of a range of the payload.
    ///
    /// # Errors
    ///
    /// The errors of `hash`.
    pub(in crate::diff) fn add<E>(
        &mut self,
        data: Vec<(u32, FormData)>,
        mut hash: impl FnMut(Range<u64>) -> Result<Sha, E>,
    ) -> Result<(), E> {
        for (value, data) in data {
            let shown = match data {
                FormData::Payload(range) => {
                    let len = len_of(&range);
                    text::data(text::bytes(len), Some(hash(range)?))
                }
                FormData::Elsewhere(shown) => shown,
            };
            self.data.insert(value, shown);
        }
        Ok(())
    }

    /// Returns the attributes of a node, by name and by their number among those of one name.
    fn attributes(&self, nth: u32) -> BTreeMap<(String, u32), String> {
        let mut all = BTreeMap::new();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for attribute in self.graph.attributes_of(nth) {
            let (name, value) = (attribute.name.to_string(), attribute.value.to_string());
            cost::look_up(&name, counts.len());
            let count = counts.entry(name.clone()).or_default();
            all.insert((name, *count), value);
            *count = count.saturating_add(1);
        }
        all
    }
}

impl Side for Form {
    fn len(&self) -> u32 {
        self.graph.operator_count()
    }

    fn operator(&self, nth: u32) -> Cow<'_, str> {
        let name = self.graph.operator_of(nth);
        name.map_or("an unknown operator".into(), |name| name.to_string().into())
    }

    fn operands(&self, nth: u32) -> [Vec<Operand>; 2] {
        let (inputs, outputs) = self.graph.ids(nth);
        let operand = |what: &'static str, nth: usize, id: u32| Operand {
            what,
            name: format!("{what} {nth}").into(),
            id,
        };
        let all = |what, ids: &[u32]| {
            ids.iter().enumerate().map(|(nth, &id)| operand(what, nth, id)).collect()
        };
        [all("input", inputs), all("output", outputs)]
    }

    fn compare_node(&self, nth: u32, (other, and): (&Self, u32), each: Report<'_>) {
        let (before, mut after) = (self.attributes(nth), other.attributes(and));
        let shown = |name: &str, value: Option<&String>| {
            text::shown(match value {
                None => "none".into(),
                Some(value) if name.is_empty() => value.clone(),
                Some(value) => format!("{name} = {value}"),
            })
        };
        for (key, one) in &before {
            let two = after.remove(key);
            if two.as_ref() != Some(one) {
                each("attribute", shown(&key.0, Some(one)), shown(&key.0, two.as_ref()));
            }
        }
        for ((name, _), two) in &after {
            each("attribute", text::shown("none"), shown(name, Some(two)));
        }
        let (old, new) = (self.graph.ids(nth), other.graph.ids(and));
        for (what, one, two) in [("inputs", old.0, new.0), ("outputs", old.1, new.1)] {
            if one.len() != two.len() {
                let count = |ids: &[u32]| text::shown(ids.len().to_string());
                each(what, count(one), count(two));
            }
        }
    }

    fn compare_value(&self, id: u32, (other, and): (&Self, u32), each: Report<'_>) {
        let (one, two) = (self.graph.value(id), other.graph.value(and));
        let mut pair = |what, before: Shown, after: Shown| {
            if before != after {
                each(what, before, after);
            }
        };
        let none = || text::shown("none");
        let plain = |of: Option<String>| of.map_or_else(none, text::shown);
        pair("type", plain(one.map(value_text)), plain(two.map(value_text)));
        let role = |of: Option<&Value>| of.map_or_else(none, |of| text::shown(role(of.role)));
        pair("role", role(one), role(two));
        let argument =
            |of: Option<&Value>| plain(of.and_then(argument_of).map(|nth| nth.to_string()));
        pair("argument", argument(one), argument(two));
        let data = |side: &Self, id| side.data.get(&id).cloned().unwrap_or_else(none);
        pair("data", data(self, id), data(other, and));
    }
}

/// Returns the word for a role.
fn role(of: Role) -> &'static str {
    match of {
        Role::Input => "input",
        Role::Output => "output",
        Role::Constant => "constant",
        Role::Inner => "inner value",
    }
}
