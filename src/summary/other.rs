//! The summaries of files that are neither programs nor named data: payloads and profiles.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::program::{GraphSummary, SectionSummary};
use super::{ContentSummary, PartSizes, Summary, graphs, sections};
use crate::backend::Backend;
use crate::file::source::Source;
use crate::foreign::ForeignFormat;
use crate::handle::{OpenError, ReadVec};
use crate::limits::Limits;
use crate::payload::{TablesPlace, Unreadable};
use crate::profile::{EventTime, Profile};

/// The contents of a delegate's payload, as a standalone file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PayloadSummary {
    /// The name of the backend.
    pub backend: &'static str,
    /// Its graph; `None` if its tables are not known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub graphs: Option<GraphSummary>,
    /// What its header says; `None` if it has no known sections.
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
    /// The executions of methods.
    pub executions: u64,
    /// The events with a time.
    pub events: u64,
    /// The values that were recorded.
    pub values: u64,
    /// The instructions that were timed.
    pub instructions: u64,
    /// The times of events of no instruction, such as `Method::execute`.
    pub methods: Vec<EventTime>,
}

impl Summary {
    /// Summarizes a payload with a known magic, a `.ptn` package or a profile, as a standalone file: `None` for
    /// another file. Headers and tables are read, constants are not.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short. The inner error is
    /// that of an invalid file.
    pub fn read_other<S: Source>(
        source: &S,
        limits: &Limits,
    ) -> Result<Option<Result<Self, Unreadable>>, OpenError<S::Error>> {
        let len = source.size().map_err(OpenError::Source)?;
        let head = source.read_vec(0..len.min(HEAD))?;
        match ForeignFormat::of(&head) {
            ForeignFormat::Payload(backend) => {
                Self::of_payload(source, backend, (&head, len), limits).map(Some)
            }
            ForeignFormat::Ptn => Self::of_package(source, (&head, len), limits).map(Some),
            ForeignFormat::EtDump => Self::of_profile(source, (&head, len), limits).map(Some),
            _ => Ok(None),
        }
    }

    fn of_payload<S: Source>(
        source: &S,
        backend: Backend,
        (head, len): (&[u8], u64),
        limits: &Limits,
    ) -> Result<Result<Self, Unreadable>, OpenError<S::Error>> {
        let graphs = graphs::of_payload(source, backend, 0..len, limits)?;
        let sections = sections::of_payload(source, (backend, len), limits)?;
        let end = match TablesPlace::of(head, len) {
            Some(Ok(place)) => place.range.end,
            _ => 0,
        };
        let contents = graphs.transpose().and_then(|graphs| {
            let sections = sections.transpose()?;
            Ok(PayloadSummary { backend: backend.name(), graphs, sections })
        });
        Ok(contents.map(|contents| {
            let contents = ContentSummary::Payload(Box::new(contents));
            let parts =
                PartSizes { segments: len.saturating_sub(end), ..PartSizes::flatbuffer(end) };
            Self::other("payload", len, parts, contents)
        }))
    }

    fn of_package<S: Source>(
        source: &S,
        (head, len): (&[u8], u64),
        limits: &Limits,
    ) -> Result<Result<Self, Unreadable>, OpenError<S::Error>> {
        let range = match TablesPlace::of(head, len) {
            Some(Ok(place)) => place.range,
            Some(Err(why)) => return Ok(Err(why)),
            None => 0..0,
        };
        let (backend, end) = (Backend::Native, range.end);
        let graphs = graphs::of_payload(source, backend, range, limits)?;
        let sections = sections::of_package(source, len, limits)?;
        let contents = graphs.transpose().and_then(|graphs| {
            let sections = Some(sections?);
            Ok(PayloadSummary { backend: backend.name(), graphs, sections })
        });
        Ok(contents.map(|contents| {
            let contents = ContentSummary::Payload(Box::new(contents));
            let parts =
                PartSizes { segments: len.saturating_sub(end), ..PartSizes::flatbuffer(end) };
            Self::other("ptn", len, parts, contents)
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
            instructions: crate::bytes::wide(profile.instructions.len()),
            methods: profile.methods,
        };
        let contents = ContentSummary::Profile(Box::new(contents));
        let parts = PartSizes { trailing: len.saturating_sub(end), ..PartSizes::flatbuffer(end) };
        Ok(Ok(Self::other("etdump", len, parts, contents)))
    }

    fn other(kind: &'static str, bytes: u64, parts: PartSizes, contents: ContentSummary) -> Self {
        Self { kind, bytes, header: None, parts, contents, findings: BTreeMap::new() }
    }
}

impl PartSizes {
    fn flatbuffer(flatbuffer: u64) -> Self {
        Self { flatbuffer, padding: 0, segments: 0, trailing: 0 }
    }
}

/// The bytes that tell the kind of a file.
const HEAD: u64 = 64;
