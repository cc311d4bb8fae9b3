//! The requests of delegates for named data.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use pte_core::payload::for_each_graph;
use pte_core::{File, Handle, Limits, OpenError, Source};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;
use pte_flat::quoted::{Untrusted, UntrustedString};

/// A request of a delegate for named data, as the document `pte.tensors/1` has it. The key is in the delegate's graph.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KeyRequest<'a> {
    /// The name of the method with the delegate.
    pub method: Option<Untrusted<'a>>,
    /// The index of the delegate in the method.
    pub delegate: u32,
    /// The id of the delegate's backend.
    pub backend: Option<Untrusted<'a>>,
    /// The key.
    pub key: UntrustedString,
    /// The number of bytes, if the file has the data.
    pub bytes: Option<u64>,
    /// The name of the storage: `named`, or `external` for a key that the file does not have.
    pub storage: &'static str,
    /// The offset of the data in the file.
    pub offset: Option<u64>,
}

impl<'a> KeyRequest<'a> {
    /// Returns the requests for keys that begin with `prefix`, in the order of delegates and keys.
    /// A payload that several delegates share is listed for the first of them.
    ///
    /// Only payloads with a known schema are read. `limits` bounds the bytes that are read, and all
    /// keys together have at most as many bytes as the file. Requests past a bound are left out.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn all<S: Source>(
        handle: &'a Handle<S>,
        prefix: &str,
        limits: &Limits,
    ) -> Result<Vec<Self>, OpenError<S::Error>> {
        let File::Pte(pte) = handle.file() else { return Ok(Vec::new()) };
        let mut by_payload = BTreeMap::new();
        let mut left = handle.file_len();
        for_each_graph(handle, limits, |payload, graph| {
            let Ok(Some(graph)) = graph else { return };
            // Many constants may share one string: each is read once.
            let (mut strings, mut keys) = (BTreeSet::new(), BTreeSet::new());
            for key in graph.keys() {
                cost::look_up("", strings.len());
                if !strings.insert((key.as_ptr().addr(), key.len())) || !key.starts_with(prefix) {
                    continue;
                }
                let Some(rest) = left.checked_sub(wide(key.len())) else { return };
                left = rest;
                cost::look_up(key, keys.len());
                keys.insert(UntrustedString::from(key));
            }
            by_payload.insert((payload.range().start, payload.range().end), keys);
        })?;
        let mut ranges = BTreeMap::new();
        for (key, range) in pte.named_data() {
            let Some(key) = key.filter(|key| key.starts_with(prefix)) else { continue };
            cost::look_up(key, ranges.len());
            // If keys are equal, runtimes use the first entry.
            ranges.entry(key).or_insert(range.ok());
        }
        let mut requests = Vec::new();
        for plan in pte.program().execution_plan().into_iter().flatten() {
            let method = plan.name().map(Untrusted::from);
            for (delegate, table) in (0..).zip(plan.delegates().into_iter().flatten()) {
                let Ok(Some(range)) = pte.delegate_range(table) else { continue };
                let Some(keys) = by_payload.remove(&(range.start, range.end)) else { continue };
                let backend = table.id().map(Untrusted::from);
                requests.extend(keys.into_iter().map(|key| {
                    cost::look_up(key.raw(), ranges.len());
                    let range = ranges.get(key.raw()).cloned().flatten();
                    let storage = if range.is_some() { "named" } else { "external" };
                    let bytes = range.as_ref().map(len_of);
                    let offset = range.map(|range| range.start);
                    Self { method, delegate, backend, key, bytes, storage, offset }
                }));
            }
        }
        Ok(requests)
    }

    /// Returns the range of the data in the file, if the file has the data.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        let (start, bytes) = self.offset.zip(self.bytes)?;
        Some(start..start.saturating_add(bytes))
    }
}
