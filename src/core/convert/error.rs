//! The errors of conversions.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use safetensors::Dtype;

use super::{HEADER_LIMIT, METADATA};
use crate::build::BuildError;
use crate::error::{Error, wraps};
use crate::model::{Amplified, ReadError};
use pte_flat::quoted::{Quoted, Untrusted};
use pte_schema::scalar::ScalarType;

/// An error in the conversion of tensors, with the name of the tensor and advice.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// Bytes could not be read from their source.
    Read(ReadError),
    /// The file has fewer than 8 bytes.
    Short {
        /// The length of the file in bytes.
        len: u64,
    },
    /// The header ends after the end of the file.
    HeaderCut {
        /// The length of the header in bytes.
        size: u64,
        /// The length of the file in bytes.
        len: u64,
    },
    /// The header is longer than readers accept.
    HeaderLimit {
        /// The length of the header in bytes.
        size: u64,
    },
    /// The header is not valid JSON, or does not have the form of a header.
    Header(serde_json::Error),
    /// The data of a tensor does not begin at the end of the previous data.
    Offsets {
        /// The name of the tensor.
        name: String,
        /// The start of the data of the tensor.
        begin: u64,
        /// The end of the data of the tensor.
        end: u64,
        /// The end of the previous data.
        after: u64,
    },
    /// The data of a tensor does not have the length that its shape needs.
    Size {
        /// The name of the tensor.
        name: String,
        /// The dtype of the tensor.
        dtype: Dtype,
        /// The number of bytes that the shape needs; `None` if it is not a whole number or exceeds
        /// 64 bits.
        nbytes: Option<u64>,
        /// The number of bytes in the data.
        given: u64,
    },
    /// The data of the tensors does not end at the end of the file.
    DataLength {
        /// The number of bytes of all tensors.
        described: u64,
        /// The number of bytes after the header.
        given: u64,
    },
    /// Two tensors have the same name.
    Twice {
        /// The name.
        name: String,
    },
    /// A `.ptd` does not support the dtype.
    Dtype {
        /// The name of the tensor.
        name: String,
        /// The dtype of the tensor.
        dtype: Dtype,
    },
    /// safetensors does not support the dtype.
    ScalarType {
        /// The name of the tensor.
        name: String,
        /// The dtype of the tensor.
        scalar_type: ScalarType,
    },
    /// The sizes of a tensor are missing or negative, or the number of its bytes exceeds 64 bits.
    Sizes {
        /// The name of the tensor.
        name: String,
    },
    /// A size exceeds the 32-bit signed integers of a `.ptd`.
    SizeLimit {
        /// The name of the tensor.
        name: String,
        /// The size.
        size: u64,
    },
    /// The elements of a tensor do not lie in memory in the order of the sizes.
    DimOrder {
        /// The name of the tensor.
        name: String,
        /// The dimensions of the tensor, outermost in memory first.
        order: Vec<u8>,
    },
    /// safetensors does not support opaque blobs.
    Blob {
        /// The key of the blob.
        key: String,
    },
    /// The blob that should hold the metadata is invalid.
    Metadata {
        /// The error in the JSON of the blob; `None` if the blob is too long.
        error: Option<serde_json::Error>,
    },
    /// A tensor has the name that safetensors reserves for metadata.
    Reserved,
    /// An entry of a `.ptd` has no key.
    Nameless {
        /// The offset of the entry's table in the file.
        offset: u64,
    },
    /// An entry of a `.ptd` has an invalid reference to its data.
    Broken(Error),
    /// The `.ptd` cannot be built.
    Build(BuildError),
    /// The file would have more than 2^64 bytes.
    TooLarge,
    /// The file would be many times longer than its distinct bytes.
    Amplified(Amplified),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Short { len } => {
                write!(f, "the file has {len} bytes: a safetensors file has at least 8")
            }
            Self::HeaderCut { size, len } => write!(
                f,
                "the header of {size} bytes ends past the end of the file, which has {len} bytes: \
                 download or copy it again"
            ),
            Self::HeaderLimit { size } => {
                write!(f, "the header of {size} bytes exceeds the limit of {HEADER_LIMIT}")
            }
            Self::Header(error) => write!(f, "invalid header: {}", Line(error)),
            Self::Offsets { name, begin, end, after } if end < begin => write!(
                f,
                "tensor {}: data_offsets [{begin}, {end}] end before they begin (the data before \
                 them ends at {after})",
                Quoted(name)
            ),
            Self::Offsets { name, begin, end, after } => write!(
                f,
                "tensor {}: data_offsets [{begin}, {end}] {} the data before them, which ends at \
                 {after}",
                Quoted(name),
                if begin < after { "overlap" } else { "leave a gap after" }
            ),
            Self::Size { name, dtype, nbytes: Some(nbytes), given } => write!(
                f,
                "tensor {}: the shape needs {nbytes} bytes of {dtype}, found {given}",
                Quoted(name)
            ),
            Self::Size { name, dtype, nbytes: None, given } => write!(
                f,
                "tensor {}: {given} bytes, and the shape of {dtype} is not a whole number of bytes \
                 or exceeds 64 bits",
                Quoted(name)
            ),
            Self::DataLength { described, given } => write!(
                f,
                "the tensors have {described} bytes, but the file has {given} after the header{}",
                if given < described { ": download or copy it again" } else { "" }
            ),
            Self::Twice { name } => write!(f, "duplicate tensor name {}", Quoted(name)),
            Self::Dtype { name, dtype } => write!(
                f,
                "tensor {}: a .ptd does not support {dtype}: store it as {} first",
                Quoted(name),
                match dtype {
                    Dtype::C64 => "two tensors of F32",
                    _ => "bytes (U8)",
                }
            ),
            Self::ScalarType { name, scalar_type } => write!(
                f,
                "tensor {}: safetensors does not support {}: extract its bytes instead",
                Quoted(name),
                scalar_type.torch_name().map_or_else(|| scalar_type.0.to_string(), Into::into)
            ),
            Self::Sizes { name } => {
                write!(f, "tensor {}: the size cannot be computed", Quoted(name))
            }
            Self::SizeLimit { name, size } => write!(
                f,
                "tensor {}: size {size} exceeds the limit of a .ptd, {}: store it as several rows",
                Quoted(name),
                i32::MAX
            ),
            Self::DimOrder { name, order } => {
                let order = order.get(..16).unwrap_or(order);
                write!(
                    f,
                    "tensor {}: the dim order is {order:?}, and safetensors supports only the order \
                     of the sizes: make it contiguous before it is exported",
                    Quoted(name)
                )
            }
            Self::Blob { key } => write!(
                f,
                "{} is an opaque blob, and safetensors supports only tensors",
                Quoted(key)
            ),
            Self::Metadata { error: Some(error) } => {
                write!(
                    f,
                    "the blob \"{METADATA}\" is not a JSON object of strings ({})",
                    Line(error)
                )
            }
            Self::Metadata { error: None } => {
                write!(f, "the blob \"{METADATA}\" exceeds the limit of a header")
            }
            Self::Reserved => write!(
                f,
                "a tensor is named \"{METADATA}\", which safetensors reserves for metadata: rename it"
            ),
            Self::Nameless { offset } => write!(f, "the entry at {offset:#x} has no key"),
            Self::Broken(error) => write!(f, "{error}, at {}", error.place()),
            Self::Build(error) => error.fmt(f),
            Self::TooLarge => f.write_str("the file would exceed 2^64 bytes"),
            Self::Amplified(error) => error.fmt(f),
        }
    }
}

/// A message of `serde_json` that may quote the file. It is displayed on one line, escaped and cut.
struct Line<'e>(&'e serde_json::Error);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(&Untrusted::from(text.as_str()).cut(MOST_CHARACTERS))?;
        // The line and the column are at the end of the message, which was cut off, so they are
        // added again.
        if text.chars().nth(MOST_CHARACTERS).is_some() {
            write!(f, " at line {} column {}", self.0.line(), self.0.column())?;
        }
        Ok(())
    }
}

const MOST_CHARACTERS: usize = 400;

impl core::error::Error for ConvertError {}

wraps! { ConvertError: Read(ReadError), Amplified(Amplified), Broken(Error), Build(BuildError) }
