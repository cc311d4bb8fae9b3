//! Limits the length of a written file to a multiple of the bytes that it is made of.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::Blob;
use crate::limits::Limits;
use pte_flat::bytes::wide;

/// The error that a file would be many times longer than the bytes that it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amplified {
    /// The length that the file would have.
    pub len: u64,
    /// The number of distinct bytes that the file is made of: its tables and blobs. Bytes that
    /// several blobs share count once.
    pub given: u64,
    /// The greatest allowed length: see [`Limits::bytes_written`].
    pub limit: u64,
}

/// Counts the distinct bytes that a file is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    given: u64,
    /// The number of distinct non-empty blobs.
    blobs: u64,
}

/// A range of a source, with the address that identifies the source. For bytes in memory, the range
/// consists of their addresses.
type Extent = (usize, Range<u64>);

impl Budget {
    /// Counts the bytes of a file: `tables` bytes of tables, and the bytes of `blobs`. A byte that
    /// several blobs share counts once. This takes n log n time for n blobs.
    pub(crate) fn new<'b, 'a: 'b>(
        tables: u64,
        blobs: impl IntoIterator<Item = &'b Blob<'a>>,
    ) -> Self {
        let (mut extents, mut zeros) = (Vec::new(), 0);
        for blob in blobs {
            collect(blob, &mut extents, &mut zeros);
        }
        extents.sort_unstable_by_key(|(source, range)| (*source, range.start, range.end));
        extents.dedup();
        let mut budget = Self { given: tables.saturating_add(zeros), blobs: wide(extents.len()) };
        let mut counted: Extent = (0, 0..0);
        for (source, range) in extents {
            let begin = match source == counted.0 {
                true => range.start.max(counted.1.end),
                false => range.start,
            };
            budget.given = budget.given.saturating_add(range.end.saturating_sub(begin));
            counted = (source, 0..range.end.max(begin));
        }
        budget
    }

    /// Returns the maximum length of a file.
    pub(crate) fn most(&self, limits: &Limits) -> u64 {
        limits.bytes_written(self.given, self.blobs)
    }

    /// Returns an error if a file of `len` bytes exceeds the limit.
    pub(crate) fn check(&self, len: u64, limits: &Limits) -> Result<(), Amplified> {
        let limit = self.most(limits);
        match len <= limit {
            true => Ok(()),
            false => Err(Amplified { len, given: self.given, limit }),
        }
    }
}

/// Adds the extents of a blob to `extents`, without empty ones. Zeros have no source and are never
/// shared, so the length of each range of zeros is added to `zeros`.
fn collect(blob: &Blob<'_>, extents: &mut Vec<Extent>, zeros: &mut u64) {
    let extent = match blob {
        Blob::Bytes(bytes) => {
            let begin = wide(bytes.as_ptr().addr());
            (0, begin..begin.saturating_add(wide(bytes.len())))
        }
        Blob::Range(source, range) => {
            (core::ptr::from_ref(*source).cast::<()>().addr(), range.clone())
        }
        Blob::Zeros(count) => {
            *zeros = zeros.saturating_add(*count);
            return;
        }
        Blob::Parts(parts) => {
            return parts.iter().for_each(|part| collect(part, extents, zeros));
        }
    };
    if !extent.1.is_empty() {
        extents.push(extent);
    }
}

impl fmt::Display for Amplified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, given, limit } = self;
        write!(
            f,
            "the file would have {len} bytes, more than the {limit} allowed for the {given} \
             different bytes that it is made of: data overlaps, or there are large gaps"
        )
    }
}

impl core::error::Error for Amplified {}
