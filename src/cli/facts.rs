//! What `info` tells of a file: read from proven views, under the names of its JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use pte::file::header::{ExtendedHeader, FlatTensorHeader};
use pte::quoted::UntrustedString;
use pte::{File, Ptd, Pte};

mod data;
mod program;

pub(super) use data::{FlatTensor, Large};
pub(super) use program::{Method, Program, Value};

/// The facts of one file.
#[derive(Serialize)]
pub(super) struct Facts {
    pub(super) path: UntrustedString,
    pub(super) kind: &'static str,
    pub(super) bytes: u64,
    pub(super) header: Option<Header>,
    pub(super) parts: Parts,
    #[serde(flatten)]
    pub(super) contents: Contents,
    pub(super) findings: BTreeMap<&'static str, u64>,
}

/// The header's fields; those of the other kind are left out.
#[derive(Serialize)]
pub(super) struct Header {
    pub(super) length: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) program_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flatbuffer_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flatbuffer_size: Option<u64>,
    pub(super) segment_base_offset: u64,
    /// Absent in a 24-byte header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) segment_data_size: Option<u64>,
}

/// Bytes of the file, by part; their sum is its size.
#[derive(Serialize)]
pub(super) struct Parts {
    /// The FlatBuffers part with the headers in front.
    pub(super) flatbuffer: u64,
    /// From there to the first segment.
    pub(super) padding: u64,
    /// From the first segment to the end of the last, gaps included.
    pub(super) segments: u64,
    /// After the last segment.
    pub(super) trailing: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Contents {
    Pte(Box<Program>),
    Ptd(Box<FlatTensor>),
}

/// Tensors or blobs, and their bytes; shared ones count once.
#[derive(Default, Serialize)]
pub(super) struct Data {
    pub(super) count: u64,
    pub(super) bytes: u64,
}

impl Facts {
    pub(super) fn of(path: UntrustedString, file: &File<'_>) -> Self {
        let report = file.check();
        let (kind, bytes, header, parts, contents) = match file {
            File::Pte(pte) => {
                let header = pte.header().map(Header::of_pte);
                let contents = Contents::Pte(Box::new(Program::of(pte)));
                ("pte", pte.file_len(), header, Parts::of_pte(pte), contents)
            }
            File::Ptd(ptd) => {
                let header = Some(Header::of_ptd(ptd.header()));
                let contents = Contents::Ptd(Box::new(FlatTensor::of(ptd)));
                ("ptd", ptd.file_len(), header, Parts::of_ptd(ptd), contents)
            }
        };
        Self {
            path,
            kind,
            bytes,
            header,
            parts,
            contents,
            findings: report.counts().map(|(rule, count)| (rule.id, count)).collect(),
        }
    }
}

impl Header {
    fn of_pte(header: ExtendedHeader) -> Self {
        Self {
            length: header.length,
            program_size: Some(header.program_size),
            flatbuffer_offset: None,
            flatbuffer_size: None,
            segment_base_offset: header.segment_base_offset,
            segment_data_size: (header.length >= ExtendedHeader::CURRENT)
                .then_some(header.segment_data_size),
        }
    }

    fn of_ptd(header: FlatTensorHeader) -> Self {
        Self {
            length: header.length,
            program_size: None,
            flatbuffer_offset: Some(header.flatbuffer_offset),
            flatbuffer_size: Some(header.flatbuffer_size),
            segment_base_offset: header.segment_base_offset,
            segment_data_size: Some(header.segment_data_size),
        }
    }
}

impl Parts {
    fn of_pte(pte: &Pte<'_>) -> Self {
        let ranges = (0..pte.segment_count()).filter_map(|nth| pte.segment_range(nth).ok());
        Self::of(pte.region().len(), pte.file_len(), ranges)
    }

    fn of_ptd(ptd: &Ptd<'_>) -> Self {
        let end =
            ptd.region().len().saturating_add(usize::try_from(ptd.region_start()).unwrap_or(0));
        let ranges = (0..ptd.segment_count()).filter_map(|nth| ptd.segment_range(nth).ok());
        let declared = ptd.declared_end().min(ptd.file_len());
        Self::of(end, ptd.file_len(), ranges.chain(core::iter::once(declared..declared)))
    }

    fn of(
        flatbuffer: usize,
        len: u64,
        ranges: impl Iterator<Item = core::ops::Range<u64>>,
    ) -> Self {
        let flatbuffer = u64::try_from(flatbuffer).unwrap_or(u64::MAX);
        let (mut first, mut last) = (len, flatbuffer);
        for range in ranges {
            // One of no bytes may be the last too: what is in front of it is padding.
            last = last.max(range.end);
            if !range.is_empty() {
                first = first.min(range.start);
            }
        }
        // Without segments, what follows the FlatBuffers part belongs to nothing.
        let first = first.min(last);
        Self {
            flatbuffer,
            padding: first.saturating_sub(flatbuffer),
            segments: last.saturating_sub(first),
            trailing: len.saturating_sub(last),
        }
    }
}

impl Data {
    fn of(ranges: &BTreeMap<u64, u64>) -> Self {
        let mut data = Self::default();
        ranges.values().for_each(|&bytes| data.add(bytes));
        data
    }

    fn add(&mut self, bytes: u64) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

fn length(range: &core::ops::Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// A count of the FlatBuffers part, whose size keeps it within 32 bits.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
