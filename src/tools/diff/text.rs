//! Short texts for reports: names, numbers, lists and data.

use alloc::string::{String, ToString};

use super::Shown;
use super::digest::Sha;
pub(super) use crate::graph::{dtype_name as dtype, list};
use crate::graph::{joined, tensor_type};
use pte_flat::quoted::{Quoted, Untrusted};
use pte_schema::program::view::Tensor;

/// Returns a side of a difference that has no data.
pub(super) fn shown(text: impl Into<String>) -> Shown {
    Shown { text: text.into(), sha256: None }
}

/// Returns a side of a difference with the digest of its data.
pub(super) fn data(text: impl Into<String>, sha256: Option<Sha>) -> Shown {
    Shown { text: text.into(), sha256 }
}

/// Returns a text of the file, escaped and cut.
pub(super) fn plain(text: &str) -> String {
    Untrusted::from(text).cut(MOST_CHARACTERS)
}

/// Returns a text of the file in quotes.
pub(super) fn quoted(text: &str) -> String {
    Quoted(text).to_string()
}

/// Returns the first of the instruction numbers as text, such as `0, 2, 1`.
pub(super) fn numbers(numbers: &[u32]) -> String {
    joined(numbers, MOST_NUMBERS)
}

/// Returns the type of a tensor, such as `float32[2, 8]`.
pub(super) fn shape(tensor: Tensor<'_>) -> String {
    tensor_type(tensor.scalar_type(), tensor.sizes().into_iter().flatten())
}

/// Returns a number of bytes as text, such as `1 byte` or `2 bytes`.
pub(super) fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".into(),
        _ => format!("{count} bytes"),
    }
}

/// The most characters of a text that a line shows.
const MOST_CHARACTERS: usize = 100;

/// The most numbers of instructions that a line shows.
const MOST_NUMBERS: usize = 8;
