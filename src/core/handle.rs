//! The owned handle: a file of either kind. Its FlatBuffer is in memory and proven, its segments
//! stay in their source.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::file::extents::Part;
use crate::file::header::Head;
use crate::file::source::Source;
use crate::file::{FileKind, sniff};
use crate::foreign::ForeignFormat;
use crate::limits::{HEAD, Limits};
use crate::ptd::{self, Ptd};
use crate::pte::{self, Pte};
use pte_flat::bytes::{len_of, wide};
use pte_flat::cost;

/// A file, proven once and kept: it owns its FlatBuffer, and reads segments from `S` on demand.
///
/// If `S` has no lifetime, the handle has none: it can be stored, sent to another thread, or handed
/// to another language. [`file`](Self::file) gives views of the file any number of times without
/// proving again.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bytes: &[u8] = include_bytes!("../../tests/data/pte/linear.pte");
/// let handle = pte::Handle::open(bytes, &pte::Limits::UNTRUSTED)?;
/// let pte::File::Pte(program) = handle.file() else { return Err("not a .pte".into()) };
/// let constants = program.segment_range(0)?;
/// assert_eq!(handle.read(constants.clone())?.len() as u64, constants.end - constants.start);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Handle<S> {
    source: S,
    len: u64,
    /// The proven bytes. They never change.
    region: Vec<u8>,
    proof: Proof,
}

/// The proof of a file, without its bytes.
#[derive(Debug)]
enum Proof {
    Pte(pte::Proof),
    Ptd(ptd::Proof),
}

/// A proven file of either kind.
#[derive(Clone, Debug)]
pub enum File<'a> {
    /// A program.
    Pte(Pte<'a>),
    /// Named tensors and blobs.
    Ptd(Ptd<'a>),
}

impl<'a> File<'a> {
    /// Proves a whole file of either kind.
    ///
    /// # Errors
    ///
    /// The first place that breaks a rule of the structure.
    pub fn read_with(bytes: &'a [u8], limits: &Limits) -> Result<Self, Error> {
        match sniff(bytes).map_err(|error| of_ends(error, bytes))? {
            FileKind::Pte => Pte::read_with(bytes, limits).map(Self::Pte),
            FileKind::Ptd => Ptd::read_with(bytes, limits).map(Self::Ptd),
        }
    }

    /// Returns the length of the whole file in bytes.
    pub fn file_len(&self) -> u64 {
        match self {
            Self::Pte(pte) => pte.file_len(),
            Self::Ptd(ptd) => ptd.file_len(),
        }
    }

    /// Returns the range of the FlatBuffer in the file.
    pub fn region_range(&self) -> Range<u64> {
        let (start, region) = match self {
            Self::Pte(pte) => (0, pte.region()),
            Self::Ptd(ptd) => (ptd.region_start(), ptd.region()),
        };
        start..start.saturating_add(wide(region.len()))
    }

    /// Returns the number of segments.
    pub fn segment_count(&self) -> u32 {
        match self {
            Self::Pte(pte) => pte.segment_count(),
            Self::Ptd(ptd) => ptd.segment_count(),
        }
    }

    /// Returns the range of segment `index` in the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SegmentIndex`] if there is no such segment.
    pub fn segment_range(&self, index: u32) -> Result<Range<u64>, Error> {
        match self {
            Self::Pte(pte) => pte.segment_range(index),
            Self::Ptd(ptd) => ptd.segment_range(index),
        }
    }
}

/// An error in opening or reading a source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError<E> {
    /// The bytes could not be read.
    Source(E),
    /// The bytes were refused.
    Refused(Error),
    /// The range is not within the file.
    PastEnd,
    /// Memory is short.
    Memory,
}

impl<S: Source> Handle<S> {
    /// Reads and proves the headers and the FlatBuffer of `source`. Nothing else is read.
    ///
    /// # Errors
    ///
    /// [`OpenError::Refused`] if the header, the length or the structure is not that of a `.pte` or
    /// `.ptd`, [`OpenError::Source`] if reading fails, [`OpenError::Memory`] if memory is short.
    pub fn open(source: S, limits: &Limits) -> Result<Self, OpenError<S::Error>> {
        let len = source.size().map_err(OpenError::Source)?;
        let mut head = [0; HEAD];
        let seen = usize::try_from(len).map_or(HEAD, |len| len.min(HEAD));
        let head = head.get_mut(..seen).unwrap_or_default();
        source.read_at(0, head).map_err(OpenError::Source)?;
        let head = match Head::read(head, len) {
            Ok(head) => head,
            Err(error) if matches!(error.kind(), ErrorKind::OtherFormat { .. }) => {
                let format = source.format(head, len)?;
                return Err(error.of_kind(ErrorKind::OtherFormat { format }).into());
            }
            Err(error) => return Err(error.into()),
        };
        let extents = head.extents(len)?;
        extents.within(limits)?;
        // Memory is allocated only now that the region is known to be in the file and within the
        // limit.
        let region = source.read_vec(extents.region.clone())?;
        let part = Part::Region(&region);
        let proof = match head {
            Head::Pte(header) => {
                Proof::Pte(Pte::prove(header, &extents, part, len, limits)?.into_proof())
            }
            Head::Ptd(header, whole) => {
                Proof::Ptd(Ptd::prove((header, whole), &extents, part, len, limits)?.into_proof())
            }
        };
        Ok(Self { source, len, region, proof })
    }

    /// Returns views of the file. Nothing is proven again.
    pub fn file(&self) -> File<'_> {
        match &self.proof {
            Proof::Pte(proof) => File::Pte(proof.over(&self.region)),
            Proof::Ptd(proof) => File::Ptd(proof.over(&self.region)),
        }
    }

    /// Returns the length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Returns the length of the FlatBuffer in bytes.
    pub fn region_len(&self) -> u64 {
        wide(self.region.len())
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Returns the source, and drops the handle.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Reads the bytes of a range that a view of this file returned.
    ///
    /// # Errors
    ///
    /// [`OpenError::Source`] if reading fails, [`OpenError::PastEnd`] for a range outside of the
    /// file, [`OpenError::Memory`] if memory is short.
    pub fn read(&self, range: Range<u64>) -> Result<Vec<u8>, OpenError<S::Error>> {
        if range.start > range.end || range.end > self.len {
            return Err(OpenError::PastEnd);
        }
        self.source.read_vec(range)
    }
}

/// Returns the refusal of a file with the format that its last bytes tell too.
fn of_ends(error: Error, bytes: &[u8]) -> Error {
    match error.kind() {
        ErrorKind::OtherFormat { .. } => {
            error.of_kind(ErrorKind::OtherFormat { format: ForeignFormat::of_ends(bytes, bytes) })
        }
        _ => error,
    }
}

/// Reads ranges of a source into vectors.
pub trait ReadVec: Source {
    /// Reads the bytes of a range within the source.
    fn read_vec(&self, range: Range<u64>) -> Result<Vec<u8>, OpenError<Self::Error>> {
        let size = len_of(&range);
        let size = usize::try_from(size).map_err(|_| OpenError::Memory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| OpenError::Memory)?;
        bytes.resize(size, 0);
        cost::charge(size);
        self.read_at(range.start, &mut bytes).map_err(OpenError::Source)?;
        Ok(bytes)
    }

    /// Recognizes the format of a source of `len` bytes that begins with `head`. The last bytes are read
    /// only if they matter.
    fn format(&self, head: &[u8], len: u64) -> Result<ForeignFormat, OpenError<Self::Error>> {
        let format = ForeignFormat::of(head);
        if !format.may_be_core_ml(head) {
            return Ok(format);
        }
        let tail = self.read_vec(len.saturating_sub(ForeignFormat::HEAD)..len)?;
        Ok(ForeignFormat::of_ends(head, &tail))
    }
}

impl<S: Source> ReadVec for S {}

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
