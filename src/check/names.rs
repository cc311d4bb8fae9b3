//! Rules on named data and its keys.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::report::Findings;
use super::resolve::SEGMENT_INDEX;
use super::rule::rules;
use pte_core::{ErrorKind, PathComponent, Pte};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::quoted::Quoted;
use pte_flat::view::Table;

rules! {
    "names";

    KEY_MISSING = Error "key-missing"
        "Named data has a key."
        "Asking for any key is refused, or reads through a null pointer."
        MADE_BY_HAND
        Crashes ["2.4.11", "7.6.13", "7.7.6", "7.7.24"];
    KEY_DUPLICATE = Warning "key-duplicate"
        "No two blobs have one key."
        "Runtimes take the first; the other one cannot be reached."
        "Give each blob another key."
        Ignores ["6.7", "7.7.13"];
    KEY_NUL = Warning "key-nul"
        "A key holds no NUL."
        "Readers of C strings see a shorter key."
        UNUSUAL
        Ignores ["7.7.11", "7.8"];
    KEY_EMPTY = Note "key-empty"
        "A key is not empty."
        "It works, but no writer of models makes one."
        HARMLESS
        Ignores ["7.8"];
    SEGMENTS_MISSING = Error "segments-missing"
        "A program with named data has a list of segments, which may be empty."
        "Loading the program is refused."
        MADE_BY_HAND
        Refuses ["1.3.12", "7.6.4", "7.7.6", "8.2 54645a8bf8"];
}

pub(super) fn check(pte: &Pte<'_>, out: &mut Findings) {
    let root = pte.program();
    let Some(entries) = root.named_data() else { return };
    if root.segments().is_none() {
        let path = || path!["program", "named_data"].to_vec();
        out.find(&SEGMENTS_MISSING, root.raw().pos().into(), path, || {
            "the program has named data and no list of segments".into()
        });
    }
    let (mut keys, count) = (Keys::default(), pte.segment_count());
    for (nth, entry) in (0..).zip(entries) {
        let at = entry.raw().pos().into();
        let path = || path!["program", "named_data", nth].to_vec();
        keys.judge(entry.key(), nth, at, path, out);
        let index = entry.segment_index();
        if index >= count {
            out.find(&SEGMENT_INDEX, at, path, || {
                ErrorKind::SegmentIndex { index, count }.to_string()
            });
        }
    }
}

/// The keys of a file that were judged so far, each with the index of its first entry.
#[derive(Default)]
pub(super) struct Keys<'a>(BTreeMap<&'a str, u32>);

impl<'a> Keys<'a> {
    pub(crate) fn judge(
        &mut self,
        key: Option<&'a str>,
        nth: u32,
        at: u64,
        path: impl Fn() -> Vec<PathComponent>,
        out: &mut Findings,
    ) {
        let Some(key) = key else {
            return out.find(&KEY_MISSING, at, path, || format!("entry {nth} has no key"));
        };
        if key.is_empty() {
            out.find(&KEY_EMPTY, at, &path, || format!("the key of entry {nth} is empty"));
        }
        if key.contains('\0') {
            out.find(&KEY_NUL, at, &path, || format!("the key {} holds a NUL", Quoted(key)));
        }
        cost::look_up(key, self.0.len());
        let earlier = *self.0.entry(key).or_insert(nth);
        if earlier != nth {
            out.find(&KEY_DUPLICATE, at, path, || {
                format!("entry {earlier} has the key {} too", Quoted(key))
            });
        }
    }
}
