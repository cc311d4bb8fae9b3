//! The summary of payloads with sections.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::Scope;
use super::program::{BackendSummary, SectionAmount, SectionSummary};
use crate::backend::Backend;
use crate::bytes::wide;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{File, Handle, OpenError, ReadVec};
use crate::limits::Limits;
use crate::payload::qnn_options::{self, QnnOptions};
use crate::payload::{Sections, Unreadable, for_each_sections};
use crate::pte::Pte;
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
    if let File::Pte(pte) = handle.file() {
        add_options(&pte, scope, limits, &mut all);
    }
    for backend in backends {
        backend.sections = all.remove(&backend.id);
    }
    Ok(())
}

/// Adds the chips and processors that the options of QNN's delegates name. Options may overlap, so
/// those beyond a budget are left out.
fn add_options(
    pte: &Pte<'_>,
    scope: &Scope,
    limits: &Limits,
    all: &mut BTreeMap<UntrustedString, SectionSummary>,
) {
    let mut left = limits.bytes_visited(pte.file_len());
    for payload in pte.payloads().filter_map(Result::ok) {
        if payload.backend() != Some(Backend::Qnn) || !scope.has(&payload) {
            continue;
        }
        let value = qnn_options::spec(payload.delegate()).and_then(|(_, spec)| spec.value());
        let Some(value) = value else { continue };
        let Some(rest) = left.checked_sub(wide(value.bytes().len())) else { return };
        left = rest;
        if let Ok(QnnOptions::Current(options)) = qnn_options::read(value.bytes(), limits) {
            let chip = options.soc_info().and_then(|chip| chip.soc_model().name());
            let processor = options.backend_options().and_then(|of| of.backend_type().name());
            let names = [chip, processor].into_iter().flatten().collect::<Vec<_>>();
            let summary = all.entry(payload.id().unwrap_or_default().into()).or_default();
            note(&mut summary.targets, Some(names.join(" ")).filter(|text| !text.is_empty()));
        }
    }
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
        let Sections { version, target, scratch, sections, .. } = found;
        note(&mut self.versions, version);
        note(&mut self.targets, target);
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

/// Adds a text to a list that does not have it, unless the list is full.
fn note(list: &mut Vec<UntrustedString>, text: Option<impl Into<UntrustedString>>) {
    let Some(text) = text.map(Into::into) else { return };
    if list.len() < MOST && !list.contains(&text) {
        list.push(text);
    }
}

/// The maximum number of versions and targets of a backend that are listed.
const MOST: usize = 8;
