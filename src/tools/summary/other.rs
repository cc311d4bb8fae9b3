//! The summaries of files that are neither programs nor named data: payloads, profiles and ETRecords.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::program::{GraphSummary, SectionAmount, SectionSummary};
use super::{ContentSummary, PartSizes, Summary, graphs, sections};
use crate::profile::{EventTime, Profile};
use pte_core::handle::ReadVec;
use pte_core::payload::{TablesPlace, Unreadable};
use pte_core::{Backend, ForeignFormat, Limits, OpenError, Source};
use pte_flat::quoted::UntrustedString;

/// The contents of a delegate's payload that is a standalone file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PayloadSummary {
    /// The name of the backend.
    pub backend: &'static str,
    /// The graph of the payload; `None` if the schema of the payload's tables is not known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub graphs: Option<GraphSummary>,
    /// The facts from the payload's header; `None` if the payload has no known sections.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sections: Option<SectionSummary>,
}

/// The contents of a profile.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProfileSummary {
    /// The version of the format.
    pub version: u32,
    /// The number of executions of methods.
    pub executions: u64,
    /// The number of events with a time.
    pub events: u64,
    /// The number of recorded values.
    pub values: u64,
    /// The number of timed instructions.
    pub instructions: u64,
    /// The times of events that belong to no instruction, such as `Method::execute`.
    pub methods: Vec<EventTime>,
}

/// The contents of an ETRecord.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RecordSummary {
    /// The methods whose graphs in the edge dialect are recorded.
    pub methods: Vec<UntrustedString>,
    /// The members with contents, grouped by kind.
    pub members: Vec<SectionAmount>,
}

impl Summary {
    /// Summarizes a standalone file: a payload with a known magic, a `.ptn` package, a profile or
    /// an ETRecord. Returns `None` for any other file. Headers and tables are read, constants are
    /// not.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short. The inner
    /// error means that the file is invalid.
    pub fn read_other<S: Source>(
        source: &S,
        limits: &Limits,
    ) -> Result<Option<Result<Self, Unreadable>>, OpenError<S::Error>> {
        let len = source.size().map_err(OpenError::Source)?;
        let head = source.read_vec(0..len.min(ForeignFormat::HEAD))?;
        match source.format(&head, len)? {
            format @ ForeignFormat::Payload(backend) => {
                Self::of_sections(source, (format, backend), (&head, len), limits).map(Some)
            }
            format @ ForeignFormat::Ptn => {
                let format = (format, Backend::Native);
                Self::of_sections(source, format, (&head, len), limits).map(Some)
            }
            ForeignFormat::EtRecord => Self::of_record(source, len, limits),
            ForeignFormat::EtDump => Self::of_profile(source, (&head, len), limits).map(Some),
            _ => Ok(None),
        }
    }

    /// Summarizes a payload or a package.
    fn of_sections<S: Source>(
        source: &S,
        (format, backend): (ForeignFormat, Backend),
        (head, len): (&[u8], u64),
        limits: &Limits,
    ) -> Result<Result<Self, Unreadable>, OpenError<S::Error>> {
        let is_package = format == ForeignFormat::Ptn;
        let (place, tables) = match TablesPlace::of(head, len) {
            Some(Err(why)) if is_package => return Ok(Err(why)),
            Some(Ok(place)) => (place.range.clone(), place.range),
            _ => (0..0, 0..0),
        };
        let graph = if is_package { place } else { 0..len };
        let graphs = graphs::of_payload(source, backend, graph, limits)?;
        let sections = sections::of_file(source, (format, len), limits)?;
        let contents = graphs.transpose().and_then(|graphs| {
            let sections = sections.transpose()?.map(SectionSummary::of);
            Ok(PayloadSummary { backend: backend.name(), graphs, sections })
        });
        Ok(contents.map(|contents| {
            let contents = ContentSummary::Payload(Box::new(contents));
            let kind = if is_package { "ptn" } else { "payload" };
            Self::other(kind, len, PartSizes::behind(tables.end, len), contents)
        }))
    }

    fn of_record<S: Source>(
        source: &S,
        len: u64,
        limits: &Limits,
    ) -> Result<Option<Result<Self, Unreadable>>, OpenError<S::Error>> {
        let found = sections::of_file(source, (ForeignFormat::EtRecord, len), limits)?;
        Ok(found.map(|found| {
            found.map(|found| {
                let methods = found.recorded_methods().map(UntrustedString::from).collect();
                let members = SectionSummary::of(found).sections;
                let bytes = |of: &SectionAmount| of.bytes;
                let segments = members.iter().map(bytes).fold(0, u64::saturating_add);
                let contents = ContentSummary::Record(Box::new(RecordSummary { methods, members }));
                let padding = len.saturating_sub(segments);
                let parts = PartSizes { flatbuffer: 0, padding, segments, trailing: 0 };
                Self::other("etrecord", len, parts, contents)
            })
        }))
    }

    fn of_profile<S: Source>(
        source: &S,
        (head, len): (&[u8], u64),
        limits: &Limits,
    ) -> Result<Result<Self, Unreadable>, OpenError<S::Error>> {
        let end = match TablesPlace::of(head, len) {
            Some(Ok(place)) => place.range.end,
            Some(Err(why)) => return Ok(Err(why)),
            None => len,
        };
        let profile = match Profile::read(&source.read_vec(0..len)?, limits) {
            Ok(profile) => profile,
            Err(why) => return Ok(Err(why)),
        };
        let contents = ProfileSummary {
            version: profile.version,
            executions: profile.executions(),
            events: profile.events,
            values: profile.values,
            instructions: pte_flat::bytes::wide(profile.instructions.len()),
            methods: profile.methods,
        };
        let contents = ContentSummary::Profile(Box::new(contents));
        let parts = PartSizes { trailing: len.saturating_sub(end), ..PartSizes::flatbuffer(end) };
        Ok(Ok(Self::other("etdump", len, parts, contents)))
    }

    fn other(kind: &'static str, bytes: u64, parts: PartSizes, contents: ContentSummary) -> Self {
        Self { kind, bytes, bundle: None, header: None, parts, contents, findings: BTreeMap::new() }
    }
}

impl PartSizes {
    /// Returns the sizes of a file whose header and tables end at `end`. The bytes after them are
    /// segments.
    fn behind(end: u64, len: u64) -> Self {
        Self { segments: len.saturating_sub(end), ..Self::flatbuffer(end) }
    }

    fn flatbuffer(flatbuffer: u64) -> Self {
        Self { flatbuffer, padding: 0, segments: 0, trailing: 0 }
    }
}
