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

pte_flat::errors! {
    /// An error in the conversion of tensors, with the name of the tensor and advice.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum ConvertError {
        /// Bytes could not be read from their source.
        Read(error: ReadError) => "{error}";
        /// The file has fewer than 8 bytes.
        Short {
            /// The length of the file in bytes.
            len: u64,
        } => "the file has {len} bytes: a safetensors file has at least 8";
        /// The header ends after the end of the file.
        HeaderCut {
            /// The length of the header in bytes.
            size: u64,
            /// The length of the file in bytes.
            len: u64,
        } =>
            "the header of {size} bytes ends past the end of the file, which has {len} bytes: download or copy it again";
        /// The header is longer than readers accept.
        HeaderLimit {
            /// The length of the header in bytes.
            size: u64,
        } => "the header of {size} bytes exceeds the limit of {HEADER_LIMIT}";
        /// The header is not valid JSON, or does not have the form of a header.
        Header(error: serde_json::Error) => "invalid header: {}", Line(error);
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
        } => "tensor {}: data_offsets [{begin}, {end}] {}", Quoted(name), misplaced(*begin, *end, *after);
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
        } => "tensor {}: {}", Quoted(name), missized(*dtype, *nbytes, *given);
        /// The data of the tensors does not end at the end of the file.
        DataLength {
            /// The number of bytes of all tensors.
            described: u64,
            /// The number of bytes after the header.
            given: u64,
        } =>
            "the tensors have {described} bytes, but the file has {given} after the header{}",
                if given < described { ": download or copy it again" } else { "" };
        /// Two tensors have the same name.
        Twice {
            /// The name.
            name: String,
        } => "duplicate tensor name {}", Quoted(name);
        /// A `.ptd` does not support the dtype.
        Dtype {
            /// The name of the tensor.
            name: String,
            /// The dtype of the tensor.
            dtype: Dtype,
        } =>
            "tensor {}: a .ptd does not support {dtype}: store it as {} first", Quoted(name),
                if *dtype == Dtype::C64 { "two tensors of F32" } else { "bytes (U8)" };
        /// safetensors does not support the dtype.
        ScalarType {
            /// The name of the tensor.
            name: String,
            /// The dtype of the tensor.
            scalar_type: ScalarType,
        } =>
            "tensor {}: safetensors does not support {}: extract its bytes instead", Quoted(name),
                scalar_type.torch_name().map_or_else(|| scalar_type.0.to_string(), Into::into);
        /// The sizes of a tensor are missing or negative, or the number of its bytes exceeds 64 bits.
        Sizes {
            /// The name of the tensor.
            name: String,
        } => "tensor {}: the size cannot be computed", Quoted(name);
        /// A size exceeds the 32-bit signed integers of a `.ptd`.
        SizeLimit {
            /// The name of the tensor.
            name: String,
            /// The size.
            size: u64,
        } => "tensor {}: size {size} exceeds the limit of a .ptd, {}: store it as several rows", Quoted(name), i32::MAX;
        /// The elements of a tensor do not lie in memory in the order of the sizes.
        DimOrder {
            /// The name of the tensor.
            name: String,
            /// The dimensions of the tensor, outermost in memory first.
            order: Vec<u8>,
        } =>
            "tensor {}: the dim order is {:?}, and safetensors supports only the order of the sizes: make it contiguous \
                before it is exported", Quoted(name), order.get(..16).unwrap_or(order);
        /// safetensors does not support opaque blobs.
        Blob {
            /// The key of the blob.
            key: String,
        } => "{} is an opaque blob, and safetensors supports only tensors", Quoted(key);
        /// The blob that should hold the metadata is invalid.
        Metadata {
            /// The error in the JSON of the blob; `None` if the blob is too long.
            error: Option<serde_json::Error>,
        } =>
            "the blob \"{METADATA}\" {}", match error {
                Some(error) => format!("is not a JSON object of strings ({})", Line(error)),
                None => "exceeds the limit of a header".into(),
            };
        /// A tensor has the name that safetensors reserves for metadata.
        Reserved => "a tensor is named \"{METADATA}\", which safetensors reserves for metadata: rename it";
        /// An entry of a `.ptd` has no key.
        Nameless {
            /// The offset of the entry's table in the file.
            offset: u64,
        } => "the entry at {offset:#x} has no key";
        /// An entry of a `.ptd` has an invalid reference to its data.
        Broken(error: Error) => "{error}, at {}", error.place();
        /// The `.ptd` cannot be built.
        Build(error: BuildError) => "{error}";
        /// The file would have more than 2^64 bytes.
        TooLarge => "the file would exceed 2^64 bytes";
        /// The file would be many times longer than its distinct bytes.
        Amplified(error: Amplified) => "{error}";
    }
}

/// Returns what is wrong with the offsets of data that does not begin at the end of the previous data.
fn misplaced(begin: u64, end: u64, after: u64) -> String {
    if end < begin {
        return format!("end before they begin (the data before them ends at {after})");
    }
    let how = if begin < after { "overlap" } else { "leave a gap after" };
    format!("{how} the data before them, which ends at {after}")
}

/// Returns what is wrong with the length of data, of which the shape needs `nbytes`.
fn missized(dtype: Dtype, nbytes: Option<u64>, given: u64) -> String {
    match nbytes {
        Some(nbytes) => format!("the shape needs {nbytes} bytes of {dtype}, found {given}"),
        None => format!(
            "{given} bytes, and the shape of {dtype} is not a whole number of bytes or exceeds 64 bits"
        ),
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

wraps! { ConvertError: Read(ReadError), Amplified(Amplified), Broken(Error), Build(BuildError) }
