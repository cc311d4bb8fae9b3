//! The summary of payloads with sections.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::Scope;
use super::program::{BackendSummary, SectionAmount, SectionSummary};
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{Handle, OpenError, ReadVec};
use crate::limits::Limits;
use crate::payload::{Sections, Unreadable, for_each_sections};
use crate::quoted::UntrustedString;

/// Reads the headers of all payloads with sections, and adds them to the summaries of their backends.
pub(super) fn add<S: Source>(
    handle: &Handle<S>,
    scope: &Scope,
    limits: &Limits,
    backends: &mut [BackendSummary],
) -> Result<(), OpenError<S::Error>> {
    let mut all: BTreeMap<UntrustedString, SectionSummary> = BTreeMap::new();
    for_each_sections(handle, limits, |payload, found| {
        if !scope.has(payload) {
            return;
        }
        let summary = all.entry(payload.id().unwrap_or_default().into()).or_default();
        match found {
            Ok(found) => summary.add(found),
            Err(_) => summary.unreadable = summary.unreadable.saturating_add(1),
        }
    })?;
    for backend in backends {
        backend.sections = all.remove(&backend.id);
    }
    Ok(())
}

/// Reads the headers of a standalone file: of a payload, a `.ptn` package or an ETRecord. `None` for a format
/// without known sections.
pub(super) fn of_file<S: Source>(
    source: &S,
    (format, len): (ForeignFormat, u64),
    limits: &Limits,
) -> Result<Option<Result<Sections, Unreadable>>, OpenError<S::Error>> {
    let mut left = Some(limits.bytes_visited(len));
    let read = |part: Range<u64>| {
        left = left.and_then(|left| left.checked_sub(part.end.saturating_sub(part.start)));
        if left.is_some() { source.read_vec(part) } else { Ok(Vec::new()) }
    };
    Sections::of_file(format, len, read)
}

impl SectionSummary {
    /// Summarizes the sections of one file.
    pub(super) fn of(found: Sections) -> Self {
        let mut summary = Self::default();
        summary.add(found);
        summary
    }

    fn add(&mut self, found: Sections) {
        self.read = self.read.saturating_add(1);
        let Sections { version, target, scratch, sections } = found;
        for (list, text) in [(&mut self.versions, version), (&mut self.targets, target)] {
            let Some(text) = text.map(UntrustedString::from) else { continue };
            if list.len() < MOST && !list.contains(&text) {
                list.push(text);
            }
        }
        self.scratch = self.scratch.max(scratch);
        for section in sections {
            let bytes = section.range.end.saturating_sub(section.range.start);
            // A linear search is enough, since the format of a backend has few names of sections.
            let known = self.sections.iter_mut().find(|known| known.name == section.name);
            match known {
                Some(known) => {
                    known.count = known.count.saturating_add(1);
                    known.bytes = known.bytes.saturating_add(bytes);
                }
                None => self.sections.push(SectionAmount { name: section.name, count: 1, bytes }),
            }
        }
    }
}

/// The maximum number of versions and targets of a backend that are listed.
const MOST: usize = 8;
