//! A file of either kind, opened from a source: its FlatBuffers part in memory and proven, its
//! segments left where they are.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::bytes::wide;
use crate::error::Error;
use crate::file::extents::{Extents, Part};
use crate::file::header::Head;
use crate::file::source::Source;
use crate::limits::{HEAD, Limits};
use crate::ptd::Ptd;
use crate::pte::Pte;
use crate::steps;

/// A source with its FlatBuffers part in memory: the segments stay where they are until they are
/// asked for.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bytes: &[u8] = include_bytes!("../tests/data/pte/linear.pte");
/// let opened = pte::Opened::open(bytes, &pte::Limits::UNTRUSTED)?;
/// let pte::File::Pte(program) = opened.file()? else { return Err("not a .pte".into()) };
/// let constants = program.segment_range(0)?;
/// assert_eq!(opened.read(constants.clone())?.len() as u64, constants.end - constants.start);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Opened<S> {
    source: S,
    len: u64,
    head: Head,
    extents: Extents,
    region: Vec<u8>,
    limits: Limits,
}

/// A proven file of either kind: there are these two.
#[derive(Clone, Debug)]
pub enum File<'a> {
    /// A program.
    Pte(Pte<'a>),
    /// Named tensors and blobs.
    Ptd(Ptd<'a>),
}

impl<'a> File<'a> {
    /// Bytes of the whole file.
    pub fn file_len(&self) -> u64 {
        match self {
            Self::Pte(pte) => pte.file_len(),
            Self::Ptd(ptd) => ptd.file_len(),
        }
    }

    /// Where the FlatBuffers part lies in the file.
    pub fn region_range(&self) -> Range<u64> {
        let (start, region) = match self {
            Self::Pte(pte) => (0, pte.region()),
            Self::Ptd(ptd) => (ptd.region_start(), ptd.region()),
        };
        start..start.saturating_add(wide(region.len()))
    }

    /// Segments.
    pub fn segment_count(&self) -> u32 {
        match self {
            Self::Pte(pte) => pte.segment_count(),
            Self::Ptd(ptd) => ptd.segment_count(),
        }
    }

    /// Where segment `index` lies in the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SegmentIndex`](crate::ErrorKind::SegmentIndex) where there is no such segment.
    pub fn segment_range(&self, index: u32) -> Result<Range<u64>, Error> {
        match self {
            Self::Pte(pte) => pte.segment_range(index),
            Self::Ptd(ptd) => ptd.segment_range(index),
        }
    }
}

/// Why a source could not be opened or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError<E> {
    /// The bytes could not be read.
    Source(E),
    /// The bytes were refused.
    Refused(Error),
    /// What was asked for does not lie in the file.
    PastEnd,
    /// There is not as much memory.
    Memory,
}

impl<S: Source> Opened<S> {
    /// Reads the head and the FlatBuffers part of `source`, and nothing else.
    ///
    /// # Errors
    ///
    /// [`OpenError::Refused`] where the header or the file's length rules out that this is a
    /// `.pte` or `.ptd`; [`OpenError::Source`] where reading fails.
    pub fn open(source: S, limits: &Limits) -> Result<Self, OpenError<S::Error>> {
        let len = source.size().map_err(OpenError::Source)?;
        let mut head = [0; HEAD];
        let seen = usize::try_from(len).map_or(HEAD, |len| len.min(HEAD));
        let head = head.get_mut(..seen).unwrap_or_default();
        source.read_at(0, head).map_err(OpenError::Source)?;
        let head = Head::read(head, len)?;
        let extents = head.extents(len)?;
        extents.within(limits)?;
        // The region lies in the file and within the limit: only now is it allocated.
        let region = read_range(&source, extents.region.clone())?;
        Ok(Self { source, len, head, extents, region, limits: *limits })
    }

    /// Proves the FlatBuffers part.
    ///
    /// # Errors
    ///
    /// The first place that breaks a rule of the structure.
    pub fn file(&self) -> Result<File<'_>, Error> {
        let (part, len) = (Part::Region(&self.region), self.len);
        match self.head {
            Head::Pte(header) => {
                Pte::prove(header, &self.extents, part, len, &self.limits).map(File::Pte)
            }
            Head::Ptd(header, whole) => {
                Ptd::prove((header, whole), &self.extents, part, len, &self.limits).map(File::Ptd)
            }
        }
    }

    /// How many bytes the file has.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Where the bytes come from.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The bytes of a range that this file's views gave.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] where reading fails, [`OpenError::PastEnd`] for a range that does not
    /// lie in the file, [`OpenError::Memory`] for one that memory cannot hold.
    pub fn read(&self, range: Range<u64>) -> Result<Vec<u8>, OpenError<S::Error>> {
        if range.start > range.end || range.end > self.len {
            return Err(OpenError::PastEnd);
        }
        read_range(&self.source, range)
    }

    /// Fills `out` with the bytes from `pos` on, which lie in the file.
    pub(crate) fn read_into(&self, pos: u64, out: &mut [u8]) -> Result<(), OpenError<S::Error>> {
        self.source.read_at(pos, out).map_err(OpenError::Source)
    }
}

fn read_range<S: Source>(source: &S, range: Range<u64>) -> Result<Vec<u8>, OpenError<S::Error>> {
    let size = range.end.saturating_sub(range.start);
    let size = usize::try_from(size).map_err(|_| OpenError::Memory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| OpenError::Memory)?;
    bytes.resize(size, 0);
    steps::take(size);
    source.read_at(range.start, &mut bytes).map_err(OpenError::Source)?;
    Ok(bytes)
}

impl<E> From<Error> for OpenError<E> {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl<E: fmt::Display> fmt::Display for OpenError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Refused(error) => error.fmt(f),
            Self::PastEnd => f.write_str("a read past the end of the file"),
            Self::Memory => f.write_str("more than memory can hold"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for OpenError<E> {}
