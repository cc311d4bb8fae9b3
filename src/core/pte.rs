//! A proven `.pte`: a program.

use core::ops::Range;

use crate::error::{Error, ErrorKind, PathComponent, Result};
use crate::file::extents::{Extents, Part};
use crate::file::header::{ExtendedHeader, Head};
use crate::file::segments::SegmentArea;
use crate::limits::Limits;
use crate::verify::{self, Verified};
use pte_flat::bytes::{index as at_index, narrow, wide};
use pte_flat::path;
use pte_flat::view::{List, Table};
use pte_schema::program::DataLocation;
use pte_schema::program::view::{
    BackendDelegate, DataSegment, ExecutionPlan, KernelTypes, NamedData, Program, Tensor,
};

#[cfg(feature = "alloc")]
mod storage;

#[cfg(feature = "alloc")]
pub use storage::{Arena, Storage};

/// A program whose structure is proven, so that reading its tables cannot fail.
///
/// Its FlatBuffer is verified, and every segment lies in the file. The meaning of the values (indices,
/// sizes, plans) is not checked: see the crate `pte-check`.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
/// let pte = pte::Pte::read(bytes)?;
/// for plan in pte.program().execution_plan().into_iter().flatten() {
///     assert_eq!(plan.name(), Some("forward"));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Pte<'a> {
    proof: Proof,
    program: Program<'a>,
    region: &'a [u8],
    /// The whole file, if it was read from a slice.
    file: Option<&'a [u8]>,
}

/// The proof of a program, without its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    header: Option<ExtendedHeader>,
    verified: Verified,
    area: SegmentArea,
    len: u64,
}

impl Proof {
    /// Returns the program in `region`, which must have the bytes that were proven.
    pub(crate) fn over<'a>(&self, region: &'a [u8]) -> Pte<'a> {
        Pte { proof: *self, program: self.verified.root(region), region, file: None }
    }
}

impl<'a> Pte<'a> {
    /// Proves a whole file, with the limits for untrusted files.
    ///
    /// # Errors
    ///
    /// The first place in the file that breaks a rule of the structure.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        Self::read_with(bytes, &Limits::UNTRUSTED)
    }

    /// Proves a whole file.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read).
    pub fn read_with(bytes: &'a [u8], limits: &Limits) -> Result<Self> {
        let len = wide(bytes.len());
        let head = Head::read(bytes, len)?;
        let Head::Pte(header) = head else {
            return Err(Error::new(ErrorKind::WrongKind { found: ".ptd", wanted: ".pte" }, 0));
        };
        Self::prove(header, &head.extents(len)?, Part::File(bytes), len, limits)
    }

    /// Proves the bytes in memory of a file of `len` bytes.
    pub(crate) fn prove(
        header: Option<ExtendedHeader>,
        extents: &Extents,
        part: Part<'a>,
        len: u64,
        limits: &Limits,
    ) -> Result<Self> {
        let (region, file) = part.split(extents);
        let (program, verified) = verify::read(region, limits)
            .map_err(|error| error.within(PathComponent::Field("program")))?;
        let proof = Proof { header, verified, area: extents.segments, len };
        let pte = Self { proof, program, region, file };
        for (nth, segment) in (0..).zip(pte.segments().into_iter().flatten()) {
            pte.place(nth, segment)?;
        }
        Ok(pte)
    }

    /// Returns the proof without its bytes.
    pub(crate) fn into_proof(self) -> Proof {
        self.proof
    }

    /// Returns the extended header; `None` in a program without segment data.
    pub fn header(&self) -> Option<ExtendedHeader> {
        self.proof.header
    }

    /// Returns the root table.
    pub fn program(&self) -> Program<'a> {
        self.program
    }

    /// Returns the facts that the verifier recorded.
    pub fn verified(&self) -> Verified {
        self.proof.verified
    }

    /// Returns the length of the whole file in bytes.
    pub fn file_len(&self) -> u64 {
        self.proof.len
    }

    /// Returns the FlatBuffer: the first bytes of the file, including the headers.
    pub fn region(&self) -> &'a [u8] {
        self.region
    }

    /// Returns the number of segments.
    pub fn segment_count(&self) -> u32 {
        let len = self.segments().map_or(0, |segments| segments.len());
        narrow(len)
    }

    /// Returns whether the header declares the start of the segments.
    pub fn has_base(&self) -> bool {
        self.proof.area != SegmentArea::NONE
    }

    /// Returns the range of segment `index` in the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SegmentIndex`] if there is no such segment.
    #[inline]
    pub fn segment_range(&self, index: u32) -> Result<Range<u64>> {
        let Some(segment) = self.segments().and_then(|all| all.get(at_index(index))) else {
            let count = self.segment_count();
            return Err(Error::new(ErrorKind::SegmentIndex { index, count }, 0));
        };
        self.place(index, segment)
    }

    /// Returns the range of a segment in the file.
    #[inline]
    fn place(&self, index: u32, segment: DataSegment<'a>) -> Result<Range<u64>> {
        let (offset, size) = (segment.offset(), segment.size());
        let at = segment.raw().pos();
        self.proof.area.find(offset, size).ok_or_else(|| {
            let error = self.proof.area.refusal(offset, size, at.into());
            path![index, "segments", "program"].into_iter().fold(error, Error::within)
        })
    }

    /// Returns the bytes of segment `index`; `None` if the segment does not exist, or only the
    /// FlatBuffer was read.
    pub fn segment(&self, index: u32) -> Option<&'a [u8]> {
        self.bytes(self.segment_range(index).ok()?)
    }

    /// Returns the bytes of a range that a view of this file returned. Returns `None` if only the
    /// FlatBuffer was read, and the range is outside it.
    pub fn bytes(&self, range: Range<u64>) -> Option<&'a [u8]> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        self.file.unwrap_or(self.region).get(range)
    }

    /// Returns the range of the payload of `delegate` in the file; `None` if the delegate has no
    /// payload.
    ///
    /// # Errors
    ///
    /// The delegate refers to a missing segment, or to missing inline data.
    pub fn delegate_range(&self, delegate: BackendDelegate<'a>) -> Result<Option<Range<u64>>> {
        let Some(processed) = delegate.processed() else { return Ok(None) };
        let (at, index) = (u64::from(processed.raw().pos()), processed.index());
        match processed.location() {
            DataLocation::SEGMENT => self.segment_range(index).map(Some).map_err(|e| e.at(at)),
            DataLocation::INLINE => {
                let blobs = self.program.backend_delegate_data();
                let Some(blob) = blobs.and_then(|blobs| blobs.get(at_index(index))) else {
                    let count = blobs.map_or(0, |blobs| blobs.len());
                    let count = narrow(count);
                    return Err(Error::new(ErrorKind::DelegateDataIndex { index, count }, at));
                };
                Ok(blob.data().map(|data| file_range(data.pos(), data.bytes())))
            }
            DataLocation(location) => Err(Error::new(ErrorKind::DelegateLocation { location }, at)),
        }
    }

    /// Returns the key and the range in the file of each named blob.
    pub fn named_data(
        &self,
    ) -> impl ExactSizeIterator<Item = (Option<&'a str>, Result<Range<u64>>)> {
        let entries = self.program.named_data();
        (0..entries.map_or(0, |entries| entries.len())).map(move |nth| {
            let entry: Option<NamedData<'a>> = entries.and_then(|entries| entries.get(nth));
            let index = entry.map_or(u32::MAX, NamedData::segment_index);
            let at = entry.map_or(0, |entry| entry.raw().pos());
            (entry.and_then(NamedData::key), self.segment_range(index).map_err(|e| e.at(at.into())))
        })
    }

    fn segments(&self) -> Option<List<'a, DataSegment<'a>>> {
        self.program.segments()
    }
}

/// Returns the value at an index of a method; `None` if it does not exist or is empty.
pub fn value_at(plan: ExecutionPlan<'_>, index: impl TryInto<usize>) -> Option<KernelTypes<'_>> {
    plan.values()?.get(index.try_into().ok()?)?.val()
}

/// Returns the tensor at an index of a method; `None` if the value is another or does not exist.
pub fn tensor_at(plan: ExecutionPlan<'_>, index: impl TryInto<usize>) -> Option<Tensor<'_>> {
    match value_at(plan, index)? {
        KernelTypes::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// Returns the range in the file of a vector in the FlatBuffer, which begins at byte 0.
fn file_range(pos: u32, bytes: &[u8]) -> Range<u64> {
    let begin = u64::from(pos);
    begin..begin.saturating_add(wide(bytes.len()))
}
