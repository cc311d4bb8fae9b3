//! Why tensors cannot be converted.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use safetensors::Dtype;

use super::{HEADER_LIMIT, METADATA};
use crate::build::BuildError;
use crate::error::Error;
use crate::model::{Amplified, ReadError};
use crate::quoted::{Quoted, Untrusted};
use crate::schema::scalar::ScalarType;

/// Why tensors cannot be converted: what is wrong, of which tensor, and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// Bytes could not be read from where they are.
    Read(ReadError),
    /// No safetensors file has less than 8 bytes.
    Short {
        /// Bytes of the file.
        len: u64,
    },
    /// The header ends past the file.
    HeaderCut {
        /// Bytes of the header.
        size: u64,
        /// Bytes of the file.
        len: u64,
    },
    /// The header is longer than readers take.
    HeaderLimit {
        /// Bytes of the header.
        size: u64,
    },
    /// The header is not the JSON of a header.
    Header(serde_json::Error),
    /// A tensor's data does not begin where that of the one before it ends.
    Offsets {
        /// Its name.
        name: String,
        /// Where it begins.
        begin: u64,
        /// Where it ends.
        end: u64,
        /// Where the one before it ends.
        after: u64,
    },
    /// A tensor has other bytes than its shape asks for.
    Size {
        /// Its name.
        name: String,
        /// Its dtype.
        dtype: Dtype,
        /// Bytes that the shape asks for; `None` for no whole number of them, or too many.
        nbytes: Option<u64>,
        /// Bytes that there are.
        given: u64,
    },
    /// The tensors' data is not the rest of the file.
    DataLength {
        /// Bytes of all tensors.
        described: u64,
        /// Bytes behind the header.
        given: u64,
    },
    /// Two tensors have one name.
    Twice {
        /// The name.
        name: String,
    },
    /// A `.ptd` has no such dtype.
    Dtype {
        /// The name of the tensor.
        name: String,
        /// Its dtype.
        dtype: Dtype,
    },
    /// Safetensors has no such dtype.
    ScalarType {
        /// The name of the tensor.
        name: String,
        /// Its dtype.
        scalar_type: ScalarType,
    },
    /// A tensor's sizes are missing or negative, or its bytes cannot be counted.
    Sizes {
        /// Its name.
        name: String,
    },
    /// A size is larger than those of a `.ptd`, which are 32 bits with a sign.
    SizeLimit {
        /// The name of the tensor.
        name: String,
        /// The size.
        size: u64,
    },
    /// A tensor does not lie in memory in the order of its sizes.
    DimOrder {
        /// Its name.
        name: String,
        /// Its dimensions, outermost in memory first.
        order: Vec<u8>,
    },
    /// Safetensors has no opaque blobs.
    Blob {
        /// Its key.
        key: String,
    },
    /// The blob that holds the metadata holds something else.
    Metadata {
        /// What is wrong with it; `None` if it is too long.
        error: Option<serde_json::Error>,
    },
    /// A tensor has the name that safetensors keeps for its metadata.
    Reserved,
    /// An entry of a `.ptd` has no key.
    Nameless {
        /// Where its table lies in the file.
        offset: u64,
    },
    /// An entry of a `.ptd` says that its data is where none is.
    Broken(Error),
    /// A `.ptd` cannot be made of it.
    Build(BuildError),
    /// The file would be longer than a file can be.
    TooLarge,
    /// The file would be many times longer than what it is made of.
    Amplified(Amplified),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Short { len } => {
                write!(f, "a safetensors file has at least 8 bytes, and this one has {len}")
            }
            Self::HeaderCut { size, len } => write!(
                f,
                "the header of {size} bytes ends past the file, which has {len}: download or copy \
                 it again"
            ),
            Self::HeaderLimit { size } => {
                write!(f, "a header of {size} bytes, and readers take {HEADER_LIMIT}")
            }
            Self::Header(error) => write!(f, "the header cannot be read: {}", Line(error)),
            Self::Offsets { name, begin, end, after } if end < begin => write!(
                f,
                "tensor {}: its data_offsets [{begin}, {end}] end before they begin (the one \
                 before it ends at {after})",
                Quoted(name)
            ),
            Self::Offsets { name, begin, end, after } => write!(
                f,
                "tensor {}: its data_offsets [{begin}, {end}] {} the data before them, which \
                 ends at {after}",
                Quoted(name),
                if begin < after { "overlap" } else { "leave a gap behind" }
            ),
            Self::Size { name, dtype, nbytes: Some(nbytes), given } => write!(
                f,
                "tensor {}: {given} bytes, and its shape asks for {nbytes} of {dtype}",
                Quoted(name)
            ),
            Self::Size { name, dtype, nbytes: None, given } => write!(
                f,
                "tensor {}: {given} bytes, and the size of its shape of {dtype} is no number of \
                 bytes",
                Quoted(name)
            ),
            Self::DataLength { described, given } => write!(
                f,
                "the tensors have {described} bytes, and behind the header there are {given}{}",
                if given < described { ": download or copy it again" } else { "" }
            ),
            Self::Twice { name } => write!(f, "tensor {} is there twice", Quoted(name)),
            Self::Dtype { name, dtype } => write!(
                f,
                "tensor {} is of {dtype}, which a .ptd does not have: store it as {} first",
                Quoted(name),
                match dtype {
                    Dtype::C64 => "two tensors of F32",
                    _ => "bytes (U8)",
                }
            ),
            Self::ScalarType { name, scalar_type } => write!(
                f,
                "tensor {} is of {}, which safetensors does not have: `pte extract --key` gives \
                 its bytes",
                Quoted(name),
                scalar_type.torch_name().map_or_else(|| scalar_type.0.to_string(), Into::into)
            ),
            Self::Sizes { name } => {
                write!(f, "tensor {}: its size cannot be computed", Quoted(name))
            }
            Self::SizeLimit { name, size } => write!(
                f,
                "tensor {}: a size of {size}, and sizes of a .ptd end at {}: store it as several \
                 rows",
                Quoted(name),
                i32::MAX
            ),
            Self::DimOrder { name, order } => {
                let order = order.get(..16).unwrap_or(order);
                write!(
                    f,
                    "tensor {} lies in memory in the order {order:?} of its dimensions, and \
                     safetensors has only the order of the sizes: make it contiguous before it is \
                     exported, or take it out with `pte extract --tensor --as npy`",
                    Quoted(name)
                )
            }
            Self::Blob { key } => write!(
                f,
                "{} is an opaque blob, and safetensors has only tensors: --skip-blobs leaves such \
                 blobs out",
                Quoted(key)
            ),
            Self::Metadata { error: Some(error) } => write!(
                f,
                "the blob \"{METADATA}\" is no JSON object of texts ({}): --skip-blobs leaves it \
                 out",
                Line(error)
            ),
            Self::Metadata { error: None } => {
                write!(f, "the blob \"{METADATA}\" is longer than a header may be")
            }
            Self::Reserved => write!(
                f,
                "a tensor is called \"{METADATA}\", the name that safetensors keeps for itself: \
                 give it another one"
            ),
            Self::Nameless { offset } => write!(f, "the entry at {offset:#x} has no key"),
            Self::Broken(error) => write!(f, "{error}, at {}", error.place()),
            Self::Build(error) => error.fmt(f),
            Self::TooLarge => f.write_str("the file would be longer than a file can be"),
            Self::Amplified(error) => error.fmt(f),
        }
    }
}

/// A message that may quote the file: no control characters, and no longer than a line or two.
struct Line<'e>(&'e serde_json::Error);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(&Untrusted::from(text.as_str()).cut(MOST_CHARACTERS))?;
        // Where it is stands at the end.
        if text.chars().nth(MOST_CHARACTERS).is_some() {
            write!(f, " at line {} column {}", self.0.line(), self.0.column())?;
        }
        Ok(())
    }
}

const MOST_CHARACTERS: usize = 400;

impl core::error::Error for ConvertError {}

impl From<ReadError> for ConvertError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<Amplified> for ConvertError {
    fn from(error: Amplified) -> Self {
        Self::Amplified(error)
    }
}

impl From<Error> for ConvertError {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl From<BuildError> for ConvertError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}
