//! Converts tensors to and from safetensors, Hugging Face's format. Names, dtypes, shapes, bytes
//! and metadata are kept. Data stays in its source until it is written.
//!
//! ```
//! use pte::convert::Safetensors;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut file = b"\x40\0\0\0\0\0\0\0".to_vec();
//! file.extend(br#"{"bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}       "#);
//! file.extend([0; 8]);
//!
//! let source = &file[..];
//! let tensors = Safetensors::open(&source)?;
//! let ptd = tensors.clone().into_ptd()?.finish()?.image()?.to_bytes()?;
//! let entry = pte::Ptd::read(&ptd)?.entries().next().ok_or("it has one")?;
//! assert_eq!(entry.key(), Some("bias"));
//!
//! let source = &ptd[..];
//! let back = Safetensors::from_ptd(&pte::Ptd::read(source)?, &source, false)?;
//! assert_eq!(back.image()?.to_bytes()?, file);
//! # Ok(())
//! # }
//! ```
//!
//! # Corresponding dtypes
//!
//! | safetensors | `.ptd` | | safetensors | `.ptd` |
//! | --- | --- | --- | --- | --- |
//! | `BOOL` | `BOOL` | | `F16` | `HALF` |
//! | `U8` | `BYTE` | | `BF16` | `BFLOAT16` |
//! | `I8` | `CHAR` | | `F32` | `FLOAT` |
//! | `I16` | `SHORT` | | `F64` | `DOUBLE` |
//! | `U16` | `UINT16` | | `F8_E5M2` | `FLOAT8E5M2` |
//! | `I32` | `INT` | | `F8_E4M3` | `FLOAT8E4M3FN` |
//! | `U32` | `UINT32` | | `F8_E5M2FNUZ` | `FLOAT8E5M2FNUZ` |
//! | `I64` | `LONG` | | `F8_E4M3FNUZ` | `FLOAT8E4M3FNUZ` |
//! | `U64` | `UINT64` | | others | none |
//!
//! The map of strings in `__metadata__` becomes an opaque blob of that name in a `.ptd`, as JSON. No
//! tensor of safetensors can have that name. Other blobs have no counterpart. Tensors whose dim order
//! differs from the order of their sizes have none either.

use alloc::string::String;
use alloc::vec::Vec;

use safetensors::tensor::TensorInfo;

use crate::build::{PtdBuilder, Shape};
use crate::file::source::Source;
use crate::limits::Limits;
use crate::model::{Blob, Budget, Image, Ranges, ReadError};
use crate::ptd::{Layout, Ptd};
use pte_flat::bytes::{len_of, wide};
use pte_schema::scalar::ScalarType;

mod error;
mod header;

pub use error::ConvertError;
pub use safetensors::Dtype;

use header::Header;

/// The contents of a safetensors file.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = std::fs::File::open("model.safetensors")?;
/// let tensors = pte::convert::Safetensors::open(&file)?;
/// let model = tensors.into_ptd()?.finish()?;
/// // A file of many gigabytes takes no more memory than its names.
/// model.image()?.write_to_file(&std::fs::File::create("model.ptd")?, |_| ())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Safetensors<'a> {
    /// The contents of `__metadata__`, in the order of the file; `None` if it is absent.
    pub metadata: Option<Vec<(String, String)>>,
    /// The tensors, in the order of their data.
    pub tensors: Vec<NamedTensor<'a>>,
}

/// A tensor of a safetensors file.
#[derive(Clone, Debug)]
pub struct NamedTensor<'a> {
    /// The name of the tensor.
    pub name: String,
    /// The dtype of the elements.
    pub dtype: Dtype,
    /// The size of each dimension, outermost first, which is also the order in memory.
    pub shape: Vec<u64>,
    /// The bytes of the elements.
    pub data: Blob<'a>,
}

/// The dtypes that both formats have. safetensors' `F8_E4M3` has no infinities, like PyTorch's
/// `float8_e4m3fn`.
const DTYPES: [(Dtype, ScalarType); 17] = [
    (Dtype::BOOL, ScalarType::BOOL),
    (Dtype::U8, ScalarType::BYTE),
    (Dtype::I8, ScalarType::CHAR),
    (Dtype::I16, ScalarType::SHORT),
    (Dtype::U16, ScalarType::UINT16),
    (Dtype::I32, ScalarType::INT),
    (Dtype::U32, ScalarType::UINT32),
    (Dtype::I64, ScalarType::LONG),
    (Dtype::U64, ScalarType::UINT64),
    (Dtype::F16, ScalarType::HALF),
    (Dtype::BF16, ScalarType::BFLOAT16),
    (Dtype::F32, ScalarType::FLOAT),
    (Dtype::F64, ScalarType::DOUBLE),
    (Dtype::F8_E5M2, ScalarType::FLOAT8E5M2),
    (Dtype::F8_E4M3, ScalarType::FLOAT8E4M3FN),
    (Dtype::F8_E5M2FNUZ, ScalarType::FLOAT8E5M2FNUZ),
    (Dtype::F8_E4M3FNUZ, ScalarType::FLOAT8E4M3FNUZ),
];

/// The name that safetensors reserves for metadata. A `.ptd` holds the metadata in a blob of this
/// name.
pub const METADATA: &str = "__metadata__";

/// Returns the `.ptd` dtype with the same elements, if there is one.
pub fn scalar_type(dtype: Dtype) -> Option<ScalarType> {
    DTYPES.iter().find(|(ours, _)| *ours == dtype).map(|(_, theirs)| *theirs)
}

/// Returns the safetensors dtype with the same elements, if there is one.
pub fn dtype(scalar_type: ScalarType) -> Option<Dtype> {
    DTYPES.iter().find(|(_, theirs)| *theirs == scalar_type).map(|(ours, _)| *ours)
}

impl<'a> Safetensors<'a> {
    /// Reads the header of a file, without any data.
    ///
    /// # Errors
    ///
    /// The header is invalid or longer than [`HEADER_LIMIT`], two tensors have the same name, or
    /// the data of a tensor is wrong: it must begin at the end of the previous data, and have as
    /// many bytes as the shape needs. [`ConvertError::Read`] if reading fails.
    pub fn open<S>(source: &'a S) -> Result<Self, ConvertError>
    where
        S: Source<Error: core::error::Error + Send + Sync + 'static>,
    {
        let len = source.size().map_err(ReadError::new)?;
        let Some(rest) = len.checked_sub(8) else { return Err(ConvertError::Short { len }) };
        let mut size = [0; 8];
        source.read_range(0, &mut size)?;
        let size = u64::from_le_bytes(size);
        if size > HEADER_LIMIT {
            return Err(ConvertError::HeaderLimit { size });
        }
        let Some(data_len) = rest.checked_sub(size) else {
            return Err(ConvertError::HeaderCut { size, len });
        };
        let mut text = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        source.read_range(8, &mut text)?;
        let header = Header::parse(&text, data_len)?;
        let begin = size.saturating_add(8);
        let tensors = header.tensors.into_iter().map(|(name, info)| {
            let (from, to) = info.data_offsets;
            let range = begin.saturating_add(wide(from))..begin.saturating_add(wide(to));
            NamedTensor {
                name,
                dtype: info.dtype,
                shape: info.shape.into_iter().map(wide).collect(),
                data: Blob::Range(source, range),
            }
        });
        Ok(Self { metadata: header.metadata, tensors: tensors.collect() })
    }

    /// Returns the tensors of a proven `.ptd` of any generation. `source` has the bytes of the
    /// file.
    ///
    /// # Errors
    ///
    /// A dtype, a dim order or a blob has no counterpart in safetensors (`skip_blobs` leaves blobs
    /// out), or an entry is incomplete.
    pub fn from_ptd(
        ptd: &Ptd<'_>,
        source: &'a dyn Ranges,
        skip_blobs: bool,
    ) -> Result<Self, ConvertError> {
        let mut out = Self::default();
        for entry in ptd.entries() {
            let key = entry.key().ok_or(ConvertError::Nameless { offset: entry.offset() })?;
            let mut range = entry.range()?;
            let Some(layout) = entry.layout() else {
                if key == METADATA && out.metadata.is_none() {
                    if len_of(&range) > HEADER_LIMIT {
                        return Err(ConvertError::Metadata { error: None });
                    }
                    let text = Blob::Range(source, range);
                    match header::metadata(&text.to_bytes()?) {
                        Ok(metadata) => out.metadata = Some(metadata),
                        Err(_) if skip_blobs => {}
                        Err(error) => return Err(error),
                    }
                } else if !skip_blobs {
                    return Err(ConvertError::Blob { key: key.into() });
                }
                continue;
            };
            let (dtype, shape) = counterpart(key, layout)?;
            let nbytes = layout.nbytes().ok_or_else(|| ConvertError::Sizes { name: key.into() })?;
            let given = len_of(&range);
            if given < nbytes {
                let name = key.into();
                return Err(ConvertError::Size { name, dtype, nbytes: Some(nbytes), given });
            }
            // A segment may be longer than its tensor. No runtime reads the rest.
            range.end = range.start.saturating_add(nbytes);
            let data = Blob::Range(source, range);
            out.tensors.push(NamedTensor { name: key.into(), dtype, shape, data });
        }
        Ok(out)
    }

    /// Returns a builder of a `.ptd` with the same contents: the metadata first, if there is any,
    /// then the tensors in their order.
    ///
    /// # Errors
    ///
    /// A dtype or shape is not possible in a `.ptd`.
    pub fn into_ptd(self) -> Result<PtdBuilder<'a>, ConvertError> {
        let mut builder = PtdBuilder::new();
        if let Some(metadata) = &self.metadata {
            builder.blob(METADATA, header::metadata_text(metadata)?)?;
        }
        for NamedTensor { name, dtype, shape, data } in self.tensors {
            let Some(scalar_type) = scalar_type(dtype) else {
                return Err(ConvertError::Dtype { name, dtype });
            };
            let mut sizes = Vec::with_capacity(shape.len());
            for size in shape {
                let Ok(size) = i32::try_from(size) else {
                    return Err(ConvertError::SizeLimit { name, size });
                };
                sizes.push(size);
            }
            builder.tensor(name, Shape::new(scalar_type, sizes), data)?;
        }
        Ok(builder)
    }

    /// Returns the whole file to write, within [`Limits::UNTRUSTED`].
    ///
    /// See [`image_with`](Self::image_with).
    ///
    /// # Errors
    ///
    /// See [`image_with`](Self::image_with).
    pub fn image(&self) -> Result<Image<'_>, ConvertError> {
        self.image_with(&Limits::UNTRUSTED)
    }

    /// Returns the whole file to write, as the `safetensors` package writes it: tensors are sorted
    /// by descending element size, then by name.
    ///
    /// # Errors
    ///
    /// Two tensors have the same name, one is named `__metadata__`, data has another length than
    /// its shape needs, or the header is longer than readers accept. [`ConvertError::Amplified`] if
    /// tensors overlap so much that the file exceeds [`Limits::bytes_written`].
    pub fn image_with(&self, limits: &Limits) -> Result<Image<'_>, ConvertError> {
        let mut sorted: Vec<_> = self.tensors.iter().collect();
        sorted.sort_unstable_by(|a, b| b.dtype.cmp(&a.dtype).then_with(|| a.name.cmp(&b.name)));
        let mut infos = Vec::with_capacity(sorted.len());
        let mut end = 0u64;
        for tensor in &sorted {
            let begin = end;
            end = end.checked_add(tensor.data.len()).ok_or(ConvertError::TooLarge)?;
            let size = |size| usize::try_from(size).map_err(|_| ConvertError::TooLarge);
            let shape: Result<Vec<_>, _> = tensor.shape.iter().map(|&n| size(n)).collect();
            let info = TensorInfo {
                dtype: tensor.dtype,
                shape: shape?,
                data_offsets: (size(begin)?, size(end)?),
            };
            infos.push((tensor.name.as_str(), info));
        }
        let text = header::write(self.metadata.as_deref(), &infos)?;
        let blobs = self.tensors.iter().map(|tensor| &tensor.data);
        let budget = Budget::new(wide(text.len()), blobs);
        let mut image = Image::new();
        image.bytes(wide(text.len()).to_le_bytes().to_vec());
        image.bytes(text);
        for tensor in sorted {
            image.blob(&tensor.data);
        }
        budget.check(image.len(), limits)?;
        Ok(image)
    }

    /// Returns the number of bytes of all tensors.
    pub fn data_len(&self) -> u64 {
        self.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.data.len()))
    }
}

/// Returns the safetensors dtype and shape of a tensor of a `.ptd`.
fn counterpart(key: &str, layout: Layout<'_>) -> Result<(Dtype, Vec<u64>), ConvertError> {
    let name = || key.into();
    let scalar_type = layout.scalar_type;
    let dtype =
        dtype(scalar_type).ok_or_else(|| ConvertError::ScalarType { name: name(), scalar_type })?;
    let sizes: Option<Vec<_>> = layout
        .sizes
        .ok_or_else(|| ConvertError::Sizes { name: name() })?
        .iter()
        .map(|size| u64::try_from(size).ok())
        .collect();
    let sizes = sizes.ok_or_else(|| ConvertError::Sizes { name: name() })?;
    let order: Vec<u8> = layout.dim_order.into_iter().flatten().collect();
    if !is_in_order(&order, &sizes) {
        return Err(ConvertError::DimOrder { name: name(), order });
    }
    Ok((dtype, sizes))
}

/// Returns whether the elements lie in memory in the order of the sizes. Dimensions of size 1 do
/// not matter, and no dimension matters in a tensor without elements.
fn is_in_order(order: &[u8], sizes: &[u64]) -> bool {
    let mut seen: Vec<u8> = order.to_vec();
    seen.sort_unstable();
    if !seen.iter().copied().eq((0..=u8::MAX).take(sizes.len())) {
        return false;
    }
    let long = |&dim: &u8| sizes.get(usize::from(dim)).is_none_or(|&size| size > 1);
    sizes.contains(&0) || order.iter().copied().filter(long).is_sorted()
}

/// The maximum length of a header in bytes, as in the `safetensors` package.
pub const HEADER_LIMIT: u64 = 100_000_000;
