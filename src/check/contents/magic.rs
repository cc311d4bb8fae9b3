//! How the payloads of delegates begin, against the magic of their backend.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::PAYLOAD_MAGIC;
use crate::payloads::judges_magic_of;
use crate::report::Findings;
use crate::site::Plan;
use pte_core::backend::{LONGEST_MAGIC, Magic};
use pte_core::{Backend, File, Pte};
use pte_flat::cost;
use pte_flat::path;
use pte_flat::view::Table;
use pte_schema::program::DataLocation;

/// The first bytes of each segment that is a payload of a backend with a magic.
pub(super) struct Heads(BTreeMap<u32, Vec<u8>>);

impl Heads {
    /// Finds the segments that are payloads of a backend with a magic. Does not read their bytes.
    pub(super) fn of(file: &File<'_>) -> Self {
        let mut heads = BTreeMap::new();
        let File::Pte(pte) = file else { return Self(heads) };
        let plans = pte.program().execution_plan().into_iter().flatten();
        for delegate in plans.flat_map(|plan| plan.delegates().into_iter().flatten()) {
            let (Some(id), Some(payload)) = (delegate.id(), delegate.processed()) else { continue };
            if payload.location() == DataLocation::SEGMENT && magic_of(id).is_some() {
                cost::look_up("", heads.len());
                heads.insert(payload.index(), Vec::new());
            }
        }
        Self(heads)
    }

    pub(super) fn keep(&mut self, nth: u32, head: &[u8]) {
        cost::look_up("", self.0.len());
        if let Some(kept) = self.0.get_mut(&nth) {
            *kept = head.get(..LONGEST_MAGIC).unwrap_or(head).to_vec();
        }
    }
}

/// Judges payloads by the magic of their backend.
pub(super) fn judge(pte: &Pte<'_>, Heads(heads): &Heads, out: &mut Findings) {
    for (nth, view) in (0..).zip(pte.program().execution_plan().into_iter().flatten()) {
        let plan = Plan::new(pte, nth, view);
        for (nth, delegate) in (0..).zip(view.delegates().into_iter().flatten()) {
            let (Some(id), Some(payload)) = (delegate.id(), delegate.processed()) else { continue };
            let Some(magic) = magic_of(id) else { continue };
            let Ok(Some(range)) = pte.delegate_range(delegate) else { continue };
            let head = match payload.location() {
                DataLocation::SEGMENT => heads.get(&payload.index()).map(Vec::as_slice),
                // The payload is inside the FlatBuffer, which is in memory.
                _ => pte.bytes(range),
            };
            let head = head.unwrap_or_default();
            if !magic.is_in(head) {
                let path = path!["delegates", nth, "processed"];
                plan.find(out, &PAYLOAD_MAGIC, payload.raw(), &path, || {
                    let len = magic.any_of.first().map_or(0, |magic| magic.len());
                    let found = magic.found_in(head);
                    let found = found.get(..len).unwrap_or(found).escape_ascii();
                    format!("the payload of {id} has \"{found}\" at byte {}", magic.at)
                });
            }
        }
    }
}

/// Returns the magic that all payloads of backend `id` have. Returns `None` if the payloads of this
/// backend have other rules.
fn magic_of(id: &str) -> Option<Magic> {
    Backend::of_id(id).filter(|backend| !judges_magic_of(*backend))?.magic()
}
