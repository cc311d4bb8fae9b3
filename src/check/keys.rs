//! The keys that delegates' payloads request.
//!
//! Payloads whose layout is unknown may request any key.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;

use super::report::Findings;
use super::rule::{Rule, rules};
use super::site::Plan;
use crate::Pte;
use crate::backend::Backend;
use crate::error::PathComponent;
use crate::flat::view::Table;
use crate::limits::Limits;
use crate::payload::{NamedConstants, Payload};
use crate::quoted::Quoted;
use crate::schema::program::view::BackendDelegate;

rules! {
    "keys";

    DELEGATE_KEY_UNRESOLVED = Error "delegate-key-unresolved"
        "The data that an XNNPACK payload uses by a key is in the program or in one of the .ptd files."
        "The backend refuses its payload, and loading the method fails."
        Refuses ["6.7", "7.4.21", "7.6.19", "7.7.23"];
    DELEGATE_KEY_SHORT = Error "delegate-key-short"
        "The data that an XNNPACK payload uses by a key has the bytes that the payload says."
        "The backend never compares the sizes, and reads past the data."
        Misreads ["6.7", "7.7.23"];
    PAYLOAD_UNREADABLE = Warning "payload-unreadable"
        "An XNNPACK payload whose keys are looked up in .ptd files can be read."
        "The backend refuses it."
        Refuses ["6.6", "7.4.21", "7.7.23"];
}

/// The keys that the payloads of a program request.
pub(super) struct RequestedKeys<'l> {
    limits: &'l Limits,
    /// Every key that a payload names.
    pub(super) keys: BTreeSet<String>,
    /// Whether a payload that could not be read may request others.
    pub(super) is_incomplete: bool,
    /// The payloads that were read: delegates may share them.
    seen: BTreeSet<(u64, u64, Option<Backend>)>,
    /// Bytes of payloads that may still be read: segments may overlap.
    left: u64,
}

impl<'l> RequestedKeys<'l> {
    pub(super) fn new(pte: &Pte<'_>, limits: &'l Limits) -> Self {
        let left = pte.file_len().saturating_mul(limits.amplification.into());
        let (keys, seen) = (BTreeSet::new(), BTreeSet::new());
        Self { limits, keys, is_incomplete: false, seen, left }
    }

    /// Adds the keys of delegate `nth`'s payload. `read` gives ranges of the file; `size` is how many
    /// bytes a key has, `None` where there is no such key.
    pub(super) fn add<'a, B: AsRef<[u8]>, E>(
        &mut self,
        plan: &Plan<'_, 'a>,
        (nth, delegate): (u32, BackendDelegate<'a>),
        mut read: impl FnMut(Range<u64>) -> Result<Option<B>, E>,
        size: impl Fn(&str) -> Option<u64>,
        out: &mut Findings,
    ) -> Result<(), E> {
        // Delegates without a payload, or with one that is nowhere, are reported by other rules.
        let Ok(Some(payload)) = plan.pte.payload(delegate) else { return Ok(()) };
        let at = delegate.processed().map_or(delegate.raw(), |processed| processed.raw());
        let steps = [
            PathComponent::Field("delegates"),
            PathComponent::Index(nth),
            PathComponent::Field("processed"),
        ];
        let mut find = |rule, message: &dyn Fn() -> String| {
            plan.find(out, rule, at, &steps, message);
        };
        let Some(constants) = self.named_constants(&payload, &mut read, size, &mut find)? else {
            return Ok(());
        };
        self.is_incomplete |= constants != NamedConstants::All;
        if let NamedConstants::Refused(reason) = &constants {
            find(&PAYLOAD_UNREADABLE, &|| reason.to_string());
        }
        Ok(())
    }

    /// Judges and keeps the keys of a payload; `None` for one that was read before.
    fn named_constants<B: AsRef<[u8]>, E>(
        &mut self,
        payload: &Payload<'_>,
        read: &mut impl FnMut(Range<u64>) -> Result<Option<B>, E>,
        size: impl Fn(&str) -> Option<u64>,
        find: &mut impl FnMut(&'static Rule, &dyn Fn() -> String),
    ) -> Result<Option<NamedConstants>, E> {
        let range = payload.range();
        if !self.seen.insert((range.start, range.end, payload.backend())) {
            return Ok(None);
        }
        let Self { limits, keys, left, .. } = self;
        let mut pay = |range: Range<u64>| {
            *left = left.checked_sub(range.end.saturating_sub(range.start))?;
            Some(range)
        };
        let read = |range| pay(range).map(&mut *read).transpose().map(Option::flatten);
        let constants = payload.named_constants(limits, read, |constant| {
            let key = constant.key;
            match size(key) {
                None if constant.is_used => find(&DELEGATE_KEY_UNRESOLVED, &|| {
                    format!("the payload uses {}, which is in none of the files", Quoted(key))
                }),
                Some(size) if constant.is_used && size < constant.size => {
                    find(&DELEGATE_KEY_SHORT, &|| {
                        let wanted = constant.size;
                        format!("{} has {size} bytes, and the payload says {wanted}", Quoted(key))
                    });
                }
                _ => {}
            }
            if !keys.contains(key) {
                keys.insert(key.into());
            }
        });
        constants.map(Some)
    }
}
