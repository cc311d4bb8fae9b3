//! A `.ptd` from named tensors and blobs, in the bytes of upstream's Python writer (format.md §9.3).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::{BuildError, Data, Segment, places, some};
use crate::limits::MOST_DIMENSIONS;
use crate::model::{self, Blob, Container, HeaderForm, Ranges};
use crate::ptd;
use pte_flat::bytes::index;
use pte_flat::tree::Unknown;
use pte_flat::write::WriterLayout;
use pte_schema::flat_tensor::model::{DataSegment, FlatTensor, NamedData, TensorLayout};
use pte_schema::scalar::ScalarType;

/// Builds a `.ptd` from named tensors and blobs.
///
/// ```
/// use pte::Check;
/// use pte::build::{PtdBuilder, Shape};
/// use pte::schema::scalar::ScalarType;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let weight: Vec<u8> = [0.5f32, -1.0, 2.0, 0.25].iter().flat_map(|x| x.to_le_bytes()).collect();
/// let bias: Vec<u8> = [1.0f32, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
///
/// let mut ptd = PtdBuilder::new();
/// ptd.tensor("linear.weight", Shape::new(ScalarType::FLOAT, [2, 2]), weight)?;
/// ptd.tensor("linear.bias", Shape::new(ScalarType::FLOAT, [2]), bias)?;
/// ptd.blob("vocabulary", b"yes\nno\n".to_vec())?;
/// let bytes = ptd.finish()?.image()?.to_bytes()?;
///
/// assert_eq!(pte::Ptd::read(&bytes)?.entries().count(), 3);
/// assert!(pte::Ptd::read(&bytes)?.check().findings().is_empty());
/// # Ok(())
/// # }
/// ```
///
/// The file has the same bytes as upstream's Python writer gives it for the same entries in the
/// same order. Data may be [ranges of a file](Blob::Range), which are read when the file is
/// written.
#[derive(Clone, Debug)]
pub struct PtdBuilder<'a> {
    entries: Vec<Entry>,
    data: Vec<Data<'a>>,
    keys: BTreeSet<String>,
    segment_alignment: u64,
}

/// The dtype, sizes and memory order of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The dtype of the elements.
    pub scalar_type: ScalarType,
    /// One size for each dimension, outermost first.
    pub sizes: Vec<i32>,
    /// The dimensions, outermost in memory first; `None` for the order of the sizes.
    pub dim_order: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: String,
    shape: Option<Shape>,
    segment: Segment,
}

impl Shape {
    /// Returns the shape of a tensor whose memory order is that of its sizes.
    pub fn new(scalar_type: ScalarType, sizes: impl Into<Vec<i32>>) -> Self {
        Self { scalar_type, sizes: sizes.into(), dim_order: None }
    }

    /// Returns the number of bytes that the shape needs, or an error if no runtime accepts the
    /// shape.
    fn nbytes(&self, key: &str) -> Result<u64, BuildError> {
        let rank = self.sizes.len();
        let own = || key.into();
        if rank > MOST_DIMENSIONS {
            return Err(BuildError::Rank { key: own(), rank });
        }
        if let Some(order) = &self.dim_order {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if !sorted.iter().copied().eq((0..=u8::MAX).take(rank)) {
                return Err(BuildError::DimOrder { key: own() });
            }
        }
        let scalar_type = self.scalar_type;
        if scalar_type.element_size().is_none() {
            return Err(BuildError::Dtype { key: own(), scalar_type });
        }
        let nbytes = scalar_type.nbytes(self.sizes.iter().copied());
        nbytes.ok_or_else(|| BuildError::Sizes { key: own() })
    }

    fn into_layout(self) -> TensorLayout {
        let rank = self.sizes.len();
        let dim_order = self.dim_order.unwrap_or_else(|| (0..=u8::MAX).take(rank).collect());
        TensorLayout {
            scalar_type: self.scalar_type,
            sizes: Some(self.sizes),
            dim_order: Some(dim_order),
        }
    }
}

impl<'a> PtdBuilder<'a> {
    /// Creates a builder without entries. Segments are aligned to 128 bytes.
    pub fn new() -> Self {
        let segment_alignment = Container::CURRENT.segment_alignment;
        Self { entries: Vec::new(), data: Vec::new(), keys: BTreeSet::new(), segment_alignment }
    }

    /// Creates a builder with the entries of a proven file of any generation, in their order.
    ///
    /// Each tensor gets as many bytes as its shape needs, in its own segment. Entries with the same
    /// range of bytes share a segment. The bytes stay in `source`, which contains the whole file.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let old: &[u8] = include_bytes!("../../../tests/data/ptd/v0.6.0_ptd_direct_16.ptd");
    /// let builder = pte::build::PtdBuilder::from_ptd(&pte::Ptd::read(old)?, &old)?;
    /// let new = builder.finish()?.image()?.to_bytes()?;
    /// assert_eq!(pte::Ptd::read(&new)?.generation(), pte::ptd::Generation::Three);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An entry has no key or an incomplete shape, its data is missing or too short, or two entries
    /// have the same key.
    pub fn from_ptd(ptd: &ptd::Ptd<'_>, source: &'a dyn Ranges) -> Result<Self, BuildError> {
        let mut builder = Self::new();
        let mut known: BTreeMap<(u64, u64), Segment> = BTreeMap::new();
        for entry in ptd.entries() {
            let incomplete = || BuildError::Incomplete { offset: entry.offset() };
            let key = entry.key().ok_or_else(incomplete)?;
            let shape = match entry.layout() {
                None => None,
                Some(layout) => Some(Shape {
                    scalar_type: layout.scalar_type,
                    sizes: layout.sizes.ok_or_else(incomplete)?.iter().collect(),
                    dim_order: Some(layout.dim_order.ok_or_else(incomplete)?.iter().collect()),
                }),
            };
            let wanted = shape.as_ref().map(|shape| shape.nbytes(key)).transpose()?;
            let mut range = entry.range()?;
            // A segment may be longer than its tensor. No runtime reads the rest.
            let most = range.start.saturating_add(wanted.unwrap_or(u64::MAX));
            range.end = range.end.min(most);
            let place = (range.start, range.end);
            let segment = match known.get(&place) {
                Some(&segment) => segment,
                None => builder.segment(Blob::Range(source, range))?,
            };
            // Empty data is not shared.
            if place.0 < place.1 {
                known.insert(place, segment);
            }
            builder.entry(key.into(), shape, segment)?;
        }
        Ok(builder)
    }

    /// Sets the alignment of every segment, and of the start of all segments.
    ///
    /// # Errors
    ///
    /// [`BuildError::Alignment`] for 0.
    pub fn set_segment_alignment(&mut self, alignment: u64) -> Result<(), BuildError> {
        self.segment_alignment = some(alignment)?;
        Ok(())
    }

    /// Adds a tensor, and returns the segment of its data.
    ///
    /// # Errors
    ///
    /// The key exists already, the shape is invalid, or the shape needs another number of bytes.
    pub fn tensor(
        &mut self,
        key: impl Into<String>,
        shape: Shape,
        bytes: impl Into<Blob<'a>>,
    ) -> Result<Segment, BuildError> {
        self.with_data(key.into(), Some(shape), bytes.into())
    }

    /// Adds an opaque blob, and returns the segment of its data.
    ///
    /// # Errors
    ///
    /// The key exists already.
    pub fn blob(
        &mut self,
        key: impl Into<String>,
        bytes: impl Into<Blob<'a>>,
    ) -> Result<Segment, BuildError> {
        self.with_data(key.into(), None, bytes.into())
    }

    /// Adds a tensor with the data of another entry, which is in `segment`.
    ///
    /// # Errors
    ///
    /// The errors of [`tensor`](Self::tensor).
    pub fn tensor_in(
        &mut self,
        key: impl Into<String>,
        shape: Shape,
        segment: Segment,
    ) -> Result<(), BuildError> {
        self.entry(key.into(), Some(shape), segment)
    }

    /// Adds an opaque blob with the data of another entry, which is in `segment`.
    ///
    /// # Errors
    ///
    /// The errors of [`blob`](Self::blob).
    pub fn blob_in(&mut self, key: impl Into<String>, segment: Segment) -> Result<(), BuildError> {
        self.entry(key.into(), None, segment)
    }

    /// Aligns a segment to `alignment` bytes, in addition to the alignment of all segments.
    ///
    /// Offsets of segments count from the start of all segments, as upstream's writers count them.
    ///
    /// # Errors
    ///
    /// [`BuildError::Alignment`] for 0.
    pub fn align(&mut self, segment: Segment, alignment: u64) -> Result<(), BuildError> {
        let data = self.data.get_mut(index(segment.0)).ok_or(BuildError::Segment)?;
        data.alignment = some(alignment)?;
        Ok(())
    }

    /// Lets entries with equal bytes share the segment of the first of them.
    ///
    /// Data is equal if its length and its SHA-256 are equal, as in upstream's `NamedDataStore`.
    /// Data of a unique length is not read.
    ///
    /// # Errors
    ///
    /// The error of the data's source.
    #[cfg(feature = "sha2")]
    pub fn share_equal(&mut self) -> Result<(), model::ReadError> {
        let digests = model::digests_of_equal_lengths(self.data.iter().map(|data| &data.bytes))?;
        let mut first = BTreeMap::new();
        let same: Vec<_> = (0..)
            .map(Segment)
            .zip(digests)
            .map(|(own, digest)| digest.map_or(own, |digest| *first.entry(digest).or_insert(own)))
            .collect();
        for entry in &mut self.entries {
            if let Some(&segment) = same.get(index(entry.segment.0)) {
                entry.segment = segment;
            }
        }
        Ok(())
    }

    /// Returns the file. Entries that share data share its segment.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooLarge`].
    pub fn finish(self) -> Result<model::PtdModel<'a>, BuildError> {
        let mut data: Vec<_> = self.data.into_iter().map(Some).collect();
        let (mut indices, mut used) = (BTreeMap::new(), Vec::new());
        let mut named_data = Vec::with_capacity(self.entries.len());
        for entry in self.entries {
            if let Some(data) = data.get_mut(index(entry.segment.0)).and_then(Option::take) {
                let nth = u32::try_from(used.len()).map_err(|_| BuildError::TooLarge)?;
                indices.insert(entry.segment, nth);
                used.push(data);
            }
            named_data.push(NamedData {
                key: Some(entry.key),
                segment_index: indices.get(&entry.segment).copied().unwrap_or_default(),
                tensor_layout: entry.shape.map(Shape::into_layout),
            });
        }
        let places = places(&used, self.segment_alignment)?.into_iter();
        let places = places.map(|(offset, size)| DataSegment { offset, size }).collect();
        Ok(model::FileModel {
            root: FlatTensor { version: 0, segments: Some(places), named_data: Some(named_data) },
            segments: used.into_iter().map(|data| data.bytes).collect(),
            container: Container {
                layout: WriterLayout::FLATC,
                header: Some(HeaderForm::PTD),
                segment_alignment: self.segment_alignment,
                ..Container::CURRENT
            },
            unknown: Unknown::default(),
        })
    }

    fn with_data(
        &mut self,
        key: String,
        shape: Option<Shape>,
        bytes: Blob<'a>,
    ) -> Result<Segment, BuildError> {
        let segment = self.segment(bytes)?;
        let added = self.entry(key, shape, segment);
        if added.is_err() {
            self.data.pop();
        }
        added.map(|()| segment)
    }

    fn segment(&mut self, bytes: Blob<'a>) -> Result<Segment, BuildError> {
        let nth = u32::try_from(self.data.len()).map_err(|_| BuildError::TooLarge)?;
        self.data.push(Data { bytes, alignment: 1 });
        Ok(Segment(nth))
    }

    fn entry(
        &mut self,
        key: String,
        shape: Option<Shape>,
        segment: Segment,
    ) -> Result<(), BuildError> {
        let data = self.data.get(index(segment.0)).ok_or(BuildError::Segment)?;
        let given = data.bytes.len();
        if let Some(shape) = &shape {
            let nbytes = shape.nbytes(&key)?;
            if nbytes != given {
                return Err(BuildError::Size { key, nbytes, given });
            }
        }
        if !self.keys.insert(key.clone()) {
            return Err(BuildError::KeyTwice { key });
        }
        self.entries.push(Entry { key, shape, segment });
        Ok(())
    }

    /// Returns the number of bytes of all data.
    pub fn data_len(&self) -> u64 {
        self.data.iter().fold(0, |sum, data| sum.saturating_add(data.bytes.len()))
    }
}

impl Default for PtdBuilder<'_> {
    fn default() -> Self {
        Self::new()
    }
}
