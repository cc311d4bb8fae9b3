//! The summary of payloads with sections, and of the devices that compile specs name.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::Scope;
use super::graphs::NamedSizes;
use super::program::{BackendSummary, SectionAmount, SectionSummary};
use pte_core::handle::ReadVec;
use pte_core::payload::qnn::options::{self, QnnOptions};
use pte_core::payload::{Sections, Unreadable, for_each_sections};
use pte_core::{Backend, File, ForeignFormat, Handle, Limits, OpenError, Pte, Source};
use pte_flat::bytes::{len_of, until_nul, wide};
use pte_flat::cost;
use pte_flat::quoted::UntrustedString;
use pte_schema::program::view::{BackendDelegate, CompileSpec};

/// Reads the headers of all payloads with sections, and adds them to the summaries of their backends.
pub(super) fn add<S: Source>(
    handle: &Handle<S>,
    (scope, named): (&Scope, &NamedSizes<'_>),
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
            Ok(found) => summary.add(found, named),
            Err(_) => summary.unreadable = summary.unreadable.saturating_add(1),
        }
    })?;
    if let File::Pte(pte) = handle.file() {
        add_targets(&pte, scope, limits, &mut all);
    }
    for backend in backends {
        backend.sections = all.remove(&backend.id);
    }
    Ok(())
}

/// Adds the devices that the compile specs of delegates name: for QNN the chip and the processor of its
/// options, for Ethos-U the accelerator, for Core ML the compute units, for OpenVINO the device. Compile specs may
/// overlap, so those beyond a budget are left out.
fn add_targets(
    pte: &Pte<'_>,
    scope: &Scope,
    limits: &Limits,
    all: &mut BTreeMap<UntrustedString, SectionSummary>,
) {
    let mut left = limits.bytes_visited(pte.file_len());
    for payload in pte.payloads().filter_map(Result::ok) {
        if !scope.has(&payload) {
            continue;
        }
        let spec = match payload.backend() {
            Some(Backend::Qnn) => options::spec(payload.delegate()).map(|(_, spec)| spec),
            Some(Backend::EthosU) => compile_spec(payload.delegate(), "target"),
            Some(Backend::CoreMl) => compile_spec(payload.delegate(), "compute_units"),
            Some(Backend::OpenVino) => compile_spec(payload.delegate(), "device"),
            _ => continue,
        };
        let Some(value) = spec.and_then(|spec| spec.value()).map(|value| value.bytes()) else {
            continue;
        };
        let Some(rest) = left.checked_sub(wide(value.len())) else { return };
        left = rest;
        let target = match payload.backend() {
            Some(Backend::Qnn) => chip(value, limits),
            _ => core::str::from_utf8(value).ok().map(|text| until_nul(text).into()),
        };
        if let Some(target) = target.filter(|text| !text.is_empty()) {
            let summary = all.entry(payload.id().unwrap_or_default().into()).or_default();
            note(&mut summary.targets, Some(target));
        }
    }
}

/// Returns the compile spec with a key. Ethos-U's `target` is the accelerator, such as `ethos-u55-128`.
fn compile_spec<'a>(delegate: BackendDelegate<'a>, key: &str) -> Option<CompileSpec<'a>> {
    delegate.compile_specs().into_iter().flatten().find(|spec| spec.key() == Some(key))
}

/// Returns the chip and the processor that options of QNN name; `None` if they cannot be read.
fn chip(options: &[u8], limits: &Limits) -> Option<String> {
    let Ok(QnnOptions::Current(options)) = options::read(options, limits) else { return None };
    let chip = options.soc_info().and_then(|chip| chip.soc_model().name());
    let processor = options.backend_options().and_then(|of| of.backend_type().name());
    Some([chip, processor].into_iter().flatten().collect::<Vec<_>>().join(" "))
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
        left = left.and_then(|left| left.checked_sub(len_of(&part)));
        if left.is_some() { source.read_vec(part) } else { Ok(Vec::new()) }
    };
    Sections::of_file(format, len, read)
}

impl SectionSummary {
    /// Summarizes the sections of one file.
    pub fn of(found: Sections) -> Self {
        let mut summary = Self::default();
        summary.add(found, &NamedSizes::new());
        summary
    }

    /// Adds the sections of one payload. `named` is the named data of the file.
    fn add(&mut self, found: Sections, named: &NamedSizes<'_>) {
        self.read = self.read.saturating_add(1);
        let Sections { version, target, scratch, work, sections, .. } = found;
        note(&mut self.versions, version);
        note(&mut self.targets, target);
        self.scratch = self.scratch.max(scratch);
        self.scratch_peak = self.scratch_peak.max(work.map(|work| work.peak));
        if let Some(work) = work {
            let macs = self.macs_estimate.unwrap_or_default();
            self.macs_estimate = Some(macs.saturating_add(work.macs));
        }
        for section in sections {
            // The range of a section with a key has the key. The contents are named data.
            let bytes = match section.key.as_deref().map(until_nul) {
                None => Some(len_of(&section.range)),
                Some(key) => {
                    cost::look_up(key, named.len());
                    named.get(key).copied()
                }
            };
            // A linear search is enough, since the format of a backend has few names of sections.
            let known = self.sections.iter().position(|known| known.name == section.name);
            let known = known.unwrap_or_else(|| {
                self.sections.push(SectionAmount::new(section.name));
                self.sections.len().saturating_sub(1)
            });
            let Some(known) = self.sections.get_mut(known) else { continue };
            known.count = known.count.saturating_add(1);
            known.bytes = known.bytes.saturating_add(bytes.unwrap_or_default());
            if bytes.is_none() {
                known.external = known.external.saturating_add(1);
            }
            note(&mut known.keys, section.key);
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

impl SectionAmount {
    fn new(name: &'static str) -> Self {
        Self { name, count: 0, bytes: 0, keys: Vec::new(), external: 0 }
    }
}

/// The maximum number of versions, targets and keys of a backend that are listed.
const MOST: usize = 8;
