//! A proven `.ptd`: named tensors and blobs, of all generations.

use core::ops::Range;

use crate::error::{Error, ErrorKind, Magic, PathComponent, Result};
use crate::file::extents::{Extents, Part};
use crate::file::header::{FlatTensorHeader, Head};
use crate::file::segments::{SegmentArea, piece};
use crate::limits::{Limits, MOST_DIMENSIONS};
use crate::verify::Verified;
use pte_flat::bytes::{array_at, index as at_index, narrow, wide};
use pte_flat::path;
use pte_flat::view::{Raw, Table, Vector};
use pte_schema::scalar::ScalarType;
use pte_schema::{flat_tensor, flat_tensor_legacy as legacy};

mod generation;
#[cfg(feature = "alloc")]
mod index;

#[cfg(feature = "alloc")]
pub(crate) use generation::is_polyglot;
pub use generation::{Generation, Root};
#[cfg(feature = "alloc")]
pub use index::{Index, KeyOrder};

/// A data file whose structure is proven, so that reading its tables cannot fail.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bytes = include_bytes!("../../tests/data/ptd/ptd_basic.ptd");
/// let ptd = pte::Ptd::read(bytes)?;
/// for entry in ptd.entries() {
///     let range = entry.range()?;
///     println!("{:?}: {} bytes", entry.key(), range.end - range.start);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Ptd<'a> {
    proof: Proof,
    root: Root<'a>,
    region: &'a [u8],
    file: Option<&'a [u8]>,
}

/// A named tensor or blob of any generation.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    key: Option<&'a str>,
    layout: Option<Layout<'a>>,
    range: Result<Range<u64>>,
    offset: u64,
}

/// The shape of a tensor in a `.ptd`.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The dtype of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension, outermost first.
    pub sizes: Option<Vector<'a, i32>>,
    /// A permutation of the dimensions, outermost in memory first.
    pub dim_order: Option<Vector<'a, u8>>,
}

/// The proof of a data file, without its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    header: FlatTensorHeader,
    generation: Generation,
    verified: Verified,
    /// The start of the FlatBuffer in the file: 0 except in generation 0.
    begin: u64,
    area: SegmentArea,
    len: u64,
}

impl Proof {
    /// Returns the data file with the FlatBuffer `region`, which must have the bytes that were
    /// proven.
    pub(crate) fn over<'a>(&self, region: &'a [u8]) -> Ptd<'a> {
        let root = match self.generation {
            Generation::Three => Root::Current(self.verified.root(region)),
            Generation::Zero | Generation::One | Generation::Two => {
                Root::Legacy(self.verified.root(region))
            }
        };
        Ptd { proof: *self, root, region, file: None }
    }
}

impl<'a> Ptd<'a> {
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
        let Head::Ptd(header, whole) = head else {
            return Err(Error::new(ErrorKind::WrongKind { found: ".pte", wanted: ".ptd" }, 0));
        };
        Self::prove((header, whole), &head.extents(len)?, Part::File(bytes), len, limits)
    }

    /// Proves the bytes in memory of a file of `len` bytes. `whole` is true if the FlatBuffer
    /// begins after the header (generation 0).
    pub(crate) fn prove(
        (header, whole): (FlatTensorHeader, bool),
        extents: &Extents,
        part: Part<'a>,
        len: u64,
        limits: &Limits,
    ) -> Result<Self> {
        let (region, file) = part.split(extents);
        let (begin, area) = (extents.region.start, extents.segments);
        if whole {
            identifier(region).map_err(|error| error.shifted(begin))?;
        }
        let (root, generation, verified) = generation::detect(region, whole, limits)
            .map_err(|error| error.within(PathComponent::Field("flat_tensor")).shifted(begin))?;
        let proof = Proof { header, generation, verified, begin, area, len };
        let ptd = Self { proof, root, region, file };
        for nth in 0..ptd.segment_count() {
            ptd.segment_range(nth)?;
        }
        Ok(ptd)
    }

    /// Returns the proof without its bytes.
    pub(crate) fn into_proof(self) -> Proof {
        self.proof
    }

    /// Returns the header.
    pub fn header(&self) -> FlatTensorHeader {
        self.proof.header
    }

    /// Returns the root table of the file's own generation.
    pub fn root(&self) -> Root<'a> {
        self.root
    }

    /// Returns the end of the segments as the header declares it. It may lie after the end of the
    /// file (format.md §2.1).
    pub fn declared_end(&self) -> u64 {
        self.proof.header.segment_base_offset.saturating_add(self.proof.header.segment_data_size)
    }

    /// Returns the generation of the file, which is one of the incompatible layouts.
    pub fn generation(&self) -> Generation {
        self.proof.generation
    }

    /// Returns the facts that the verifier recorded.
    pub fn verified(&self) -> Verified {
        self.proof.verified
    }

    /// Returns the length of the whole file in bytes.
    pub fn file_len(&self) -> u64 {
        self.proof.len
    }

    /// Returns the FlatBuffer.
    pub fn region(&self) -> &'a [u8] {
        self.region
    }

    /// Returns the start of the FlatBuffer in the file: 0 except in generation 0.
    pub fn region_start(&self) -> u64 {
        self.proof.begin
    }

    /// Returns the number of segments.
    pub fn segment_count(&self) -> u32 {
        let len = match self.root {
            Root::Current(root) => root.segments().map(|segments| segments.len()),
            Root::Legacy(root) => root.segments().map(|segments| segments.len()),
        };
        narrow(len.unwrap_or_default())
    }

    /// Returns the declared offset and size of a segment, and the position of its table in the
    /// FlatBuffer.
    fn declared_segment(&self, index: u32) -> Option<(u64, u64, u32)> {
        let nth = at_index(index);
        match self.root {
            Root::Current(root) => root
                .segments()
                .and_then(|all| all.get(nth))
                .map(|segment| (segment.offset(), segment.size(), segment.raw().pos())),
            Root::Legacy(root) => root
                .segments()
                .and_then(|all| all.get(nth))
                .map(|segment| (segment.offset(), segment.size(), segment.raw().pos())),
        }
    }

    /// Returns the offset of a segment's table in the file.
    pub fn segment_place(&self, index: u32) -> u64 {
        let table = self.declared_segment(index);
        table.map_or(0, |(_, _, pos)| self.proof.begin.saturating_add(pos.into()))
    }

    /// Returns the range of segment `index` in the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SegmentIndex`] if there is no such segment.
    pub fn segment_range(&self, index: u32) -> Result<Range<u64>> {
        let Some((offset, size, pos)) = self.declared_segment(index) else {
            let count = self.segment_count();
            return Err(Error::new(ErrorKind::SegmentIndex { index, count }, 0));
        };
        self.proof.area.find(offset, size).ok_or_else(|| {
            let error =
                self.proof.area.refusal(offset, size, self.proof.begin.saturating_add(pos.into()));
            path![index, "segments", "flat_tensor"].into_iter().fold(error, Error::within)
        })
    }

    /// Returns the bytes of a range that a view of this file returned; `None` if only the
    /// FlatBuffer was read.
    pub fn bytes(&self, range: Range<u64>) -> Option<&'a [u8]> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        self.file?.get(range)
    }

    /// Returns every tensor and blob, in the order of the file. In old generations, tensors come
    /// first.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let (named, tensors, blobs) = match self.root {
            Root::Current(root) => (root.named_data(), None, None),
            Root::Legacy(root) => (None, root.tensors(), root.named_data()),
        };
        let named = named.into_iter().flatten().map(|named| self.named(named));
        let tensors = tensors.into_iter().flatten().map(|tensor| self.tensor(tensor));
        let blobs = blobs.into_iter().flatten().map(|blob| self.blob(blob));
        named.chain(tensors).chain(blobs)
    }

    /// Returns the shape of entry `nth`, without reading the other entries or the sizes.
    pub fn layout(&self, nth: u32) -> Option<Layout<'a>> {
        let nth = at_index(nth);
        match self.root {
            Root::Current(root) => root.named_data()?.get(nth)?.tensor_layout().map(layout),
            Root::Legacy(root) => root.tensors()?.get(nth).map(old_layout),
        }
    }

    /// Returns the range in the file of the bytes of entry `nth`, without reading the other
    /// entries. Returns `None` in old generations, where the range depends on the sizes.
    pub fn range(&self, nth: u32) -> Option<Range<u64>> {
        let Root::Current(root) = self.root else { return None };
        self.segment_range(root.named_data()?.get(at_index(nth))?.segment_index()).ok()
    }

    fn named(&self, named: flat_tensor::view::NamedData<'a>) -> Entry<'a> {
        let range = self.segment_range(named.segment_index());
        self.entry_of(named.key(), named.tensor_layout().map(layout), range, named.raw())
    }

    fn blob(&self, blob: legacy::view::NamedData<'a>) -> Entry<'a> {
        let range = self.segment_range(blob.segment_index());
        self.entry_of(blob.key(), None, range, blob.raw())
    }

    fn tensor(&self, tensor: legacy::view::TensorMetadata<'a>) -> Entry<'a> {
        let layout = old_layout(tensor);
        let range = self.segment_range(tensor.segment_index()).and_then(|segment| {
            let size = layout.nbytes().ok_or_else(|| Error::new(ErrorKind::TensorSize {}, 0))?;
            piece(&segment, tensor.offset(), size)
        });
        self.entry_of(tensor.fully_qualified_name(), Some(layout), range, tensor.raw())
    }

    fn entry_of(
        &self,
        key: Option<&'a str>,
        layout: Option<Layout<'a>>,
        range: Result<Range<u64>>,
        raw: Raw<'a>,
    ) -> Entry<'a> {
        let at = self.proof.begin.saturating_add(raw.pos().into());
        Entry { key, layout, range: range.map_err(|error| error.at(at)), offset: at }
    }
}

impl<'a> Entry<'a> {
    /// Returns the key of the entry; `None` only in damaged files.
    pub fn key(&self) -> Option<&'a str> {
        self.key
    }

    /// Returns the shape of a tensor; `None` for an opaque blob.
    pub fn layout(&self) -> Option<Layout<'a>> {
        self.layout
    }

    /// Returns the offset of the entry's table in the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the range of the entry's bytes in the file. For a blob, and in generation 3, this is
    /// the whole segment.
    ///
    /// # Errors
    ///
    /// The entry refers to a missing segment, or to bytes outside its segment.
    pub fn range(&self) -> Result<Range<u64>> {
        self.range.clone()
    }
}

fn layout(layout: flat_tensor::view::TensorLayout<'_>) -> Layout<'_> {
    Layout {
        scalar_type: layout.scalar_type(),
        sizes: layout.sizes(),
        dim_order: layout.dim_order(),
    }
}

/// Returns the shape of an entry of an old generation.
fn old_layout(tensor: legacy::view::TensorMetadata<'_>) -> Layout<'_> {
    Layout {
        scalar_type: tensor.scalar_type(),
        sizes: tensor.sizes(),
        dim_order: tensor.dim_order(),
    }
}

/// Checks the identifier of a whole FlatBuffer after the header (generation 0).
fn identifier(region: &[u8]) -> Result<()> {
    let known = flat_tensor::desc::SCHEMA.identifier;
    let found = array_at(region, 4).unwrap_or_default();
    if found == known {
        return Ok(());
    }
    let kind = ErrorKind::UnknownIdentifier { identifier: Magic(found), known: Magic(known) };
    Err(Error::new(kind, 4).within(PathComponent::Field("flat_tensor")))
}

impl Layout<'_> {
    /// Returns the number of bytes of a dense tensor of this shape. Returns `None` in the same
    /// cases as [`ScalarType::nbytes`], and for more than 16 sizes: many tensors may share a long list.
    pub fn nbytes(&self) -> Option<u64> {
        let sizes = self.sizes.unwrap_or_default();
        (sizes.len() <= MOST_DIMENSIONS).then(|| self.scalar_type.nbytes(sizes)).flatten()
    }
}
