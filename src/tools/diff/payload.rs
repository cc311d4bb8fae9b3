//! Payloads whose graphs are known: their nodes are compared in order, with the values that they read and write.
//!
//! Payloads of XNNPACK are compared by their meaning alone. Of other backends the bytes are compared too, since the
//! form that they share does not have everything.

use core::hash::{Hash as _, Hasher as _};
use core::ops::Range;
use std::hash::DefaultHasher;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use imara_diff::Hunk;

use super::digest::Sha;
use super::hunks::hunks;
use super::{Shown, text};
use pte_core::payload::graph::NO_ID;
use pte_flat::cost;

mod form;
mod xnnpack;

pub(super) use form::Form;
pub(super) use xnnpack::{ConstantSource, Meaning as XnnpackMeaning};

/// What is compared of a payload.
#[derive(Debug)]
pub(super) enum Meaning {
    /// The meaning of a payload of XNNPACK.
    Xnnpack(XnnpackMeaning),
    /// The graph of another backend.
    Form(Form),
}

/// The digest and length of data. If no file has the data, the length is `None`.
pub(super) type Data = (Sha, Option<u64>);

/// A difference between two payloads: its place in the graph, the property, and both sides.
pub(super) type PayloadDifference = (String, &'static str, Shown, Shown);

impl Meaning {
    /// Returns the digest of everything in the payload that has a meaning; `None` if every byte may have one.
    pub(super) fn digest(&self) -> Option<&Sha> {
        match self {
            Self::Xnnpack(meaning) => Some(&meaning.digest),
            Self::Form(_) => None,
        }
    }

    /// Calls `each` with the differences from another payload. Values that no node names are not
    /// compared.
    pub(super) fn compare(&self, other: &Self, each: impl FnMut(PayloadDifference)) {
        match (self, other) {
            (Self::Xnnpack(old), Self::Xnnpack(new)) => {
                old.with(new, |old, new| compare(old, new, each));
            }
            (Self::Form(old), Self::Form(new)) => compare(old, new, each),
            // Payloads of two backends are a difference themselves.
            _ => {}
        }
    }
}

/// A graph that is compared.
trait Side {
    /// Returns the number of nodes.
    fn len(&self) -> u32;

    /// Returns the operator of a node.
    fn operator(&self, nth: u32) -> Cow<'_, str>;

    /// Returns the values of a node in two lists. Each is compared in order.
    fn operands(&self, nth: u32) -> [Vec<Operand>; 2];

    /// Calls `each` with each property of a node that differs from that of a node of `other`.
    fn compare_node(&self, nth: u32, other: (&Self, u32), each: Report<'_>);

    /// Calls `each` with each property of a value that differs from that of a value of `other`.
    fn compare_value(&self, id: u32, other: (&Self, u32), each: Report<'_>);
}

/// Reports a property that differs, with both sides of it.
type Report<'r> = &'r mut dyn FnMut(&'static str, Shown, Shown);

/// A value that a node reads or writes.
struct Operand {
    /// The property of the node.
    what: &'static str,
    /// The name of the value at the node.
    name: Cow<'static, str>,
    /// The id of the value, or `NO_ID`.
    id: u32,
}

/// Calls `each` with the differences between two graphs.
fn compare<S: Side>(a: &S, b: &S, mut each: impl FnMut(PayloadDifference)) {
    let mut matches = Matches::default();
    let mut at = (0, 0);
    for Hunk { before, after } in hunks(&keys(a), &keys(b)) {
        compare_nodes((a, b), at, before.start, &mut matches, &mut each);
        at = (before.end, after.end);
        let place = place(&before);
        each((place, "nodes", shown(a, before), shown(b, after)));
    }
    compare_nodes((a, b), at, a.len(), &mut matches, &mut each);
}

/// Calls `each` with the differences between nodes that correspond: those of `a` from `at.0` up to
/// `end`, and as many of `b` from `at.1` on.
fn compare_nodes<S: Side>(
    (a, b): (&S, &S),
    at: (u32, u32),
    end: u32,
    matches: &mut Matches,
    each: &mut impl FnMut(PayloadDifference),
) {
    for (nth, other) in (at.0..end).zip(at.1..b.len()) {
        let node = || format!("node {nth} {}", a.operator(nth));
        a.compare_node(nth, (b, other), &mut |what, old, new| each((node(), what, old, new)));
        let pairs = a.operands(nth).into_iter().zip(b.operands(other));
        for (one, two) in pairs.flat_map(|(one, two)| one.into_iter().zip(two)) {
            match matches.add(one.id, two.id) {
                Match::Known => {}
                Match::Different => {
                    let (old, new) = matches.shown(one.id, two.id);
                    each((node(), one.what, old, new));
                }
                // A value is compared once, at the first node that names it.
                Match::New => {
                    a.compare_value(one.id, (b, two.id), &mut |what, old, new| {
                        each((format!("{} {}", node(), one.name), what, old, new));
                    });
                }
            }
        }
    }
}

/// Returns a key of each node: the hash of the operator's name.
fn keys(side: &impl Side) -> Vec<u64> {
    let key = |nth| {
        // A collision of two operators would only pair two nodes that differ.
        let mut hasher = DefaultHasher::new();
        side.operator(nth).hash(&mut hasher);
        hasher.finish()
    };
    (0..side.len()).map(key).collect()
}

/// Returns the place of nodes of the first graph, such as `nodes 3 to 5`.
fn place(nodes: &Range<u32>) -> String {
    match (nodes.len(), nodes.end.checked_sub(1)) {
        (0, None) => "before node 0".into(),
        (0, Some(last)) => format!("after node {last}"),
        (1, _) => format!("node {}", nodes.start),
        (_, last) => format!("nodes {} to {}", nodes.start, last.unwrap_or_default()),
    }
}

/// Describes the nodes in `range`.
fn shown(side: &impl Side, range: Range<u32>) -> Shown {
    let count = range.len();
    let names: Vec<_> = range.take(MOST_NODES).map(|nth| side.operator(nth)).collect();
    let more = if count > MOST_NODES { ", …" } else { "" };
    text::shown(match count {
        0 => "none".into(),
        1 => names.join(", "),
        count => format!("{count} nodes: {}{more}", names.join(", ")),
    })
}

/// The values of two graphs that correspond, by id: values match that the same input or output of
/// corresponding nodes names first.
#[derive(Default)]
struct Matches {
    to_after: BTreeMap<u32, u32>,
    to_before: BTreeMap<u32, u32>,
}

/// Whether two values correspond.
enum Match {
    /// They do from now on: no node has named either before.
    New,
    /// They do.
    Known,
    /// They do not.
    Different,
}

impl Matches {
    fn add(&mut self, before: u32, after: u32) -> Match {
        if before == NO_ID || after == NO_ID {
            return if before == after { Match::Known } else { Match::Different };
        }
        cost::look_up("", self.to_after.len());
        cost::look_up("", self.to_before.len());
        match (self.to_after.get(&before), self.to_before.get(&after)) {
            (None, None) => {
                self.to_after.insert(before, after);
                self.to_before.insert(after, before);
                Match::New
            }
            (Some(&known), _) if known == after => Match::Known,
            _ => Match::Different,
        }
    }

    /// Describes two values, the second one by the value of the first graph that it corresponds to.
    fn shown(&self, before: u32, after: u32) -> (Shown, Shown) {
        let value = |id: u32| match id {
            NO_ID => "none".into(),
            id => format!("value {id}"),
        };
        let after = match self.to_before.get(&after) {
            Some(&known) => value(known),
            None if after == NO_ID => value(after),
            None => format!("value {after} of the second file"),
        };
        (text::shown(value(before)), text::shown(after))
    }
}

/// The most nodes that a line shows.
const MOST_NODES: usize = 8;
