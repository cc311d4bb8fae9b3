//! The document `pte.size/1`. With the feature `serde` it can be serialized.

use alloc::vec::Vec;

use super::{Growth, SizeTree};
use crate::quoted::UntrustedString;

/// The document `pte.size/1`: the size trees of files.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeDocument<'t> {
    /// The name and version of the document.
    pub schema: &'static str,
    /// The largest allowed size in bytes, if there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub budget: Option<u64>,
    /// The file that the others are compared with, if there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub against: Option<SizeBase<'t>>,
    /// The files.
    pub files: Vec<SizeEntry<'t>>,
}

/// The file that others are compared with.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeBase<'t> {
    /// The path or the name of the file.
    pub path: &'t UntrustedString,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SizeEntry<'t> {
    /// The path or the name of the file.
    pub path: &'t UntrustedString,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its parts.
    pub parts: &'t [SizeTree],
    /// The bytes beyond the budget; `None` where the file is within it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub over: Option<u64>,
    /// The parts whose sizes changed; `None` without a base.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub growth: Option<Vec<Growth<'t>>>,
}

impl<'t> SizeDocument<'t> {
    /// Returns the document of `files`. With a `base` it has their growth, at most `depth` levels
    /// down. `budget` is the largest allowed size in bytes.
    #[must_use]
    pub fn new(
        files: &'t [SizeTree],
        budget: Option<u64>,
        base: Option<&'t SizeTree>,
        depth: u32,
    ) -> Self {
        let files = files.iter().map(|file| SizeEntry {
            path: &file.name,
            bytes: file.bytes,
            parts: &file.parts,
            over: budget.and_then(|budget| file.over(budget)),
            growth: base.map(|base| Growth::between(base, file, depth)),
        });
        Self {
            schema: "pte.size/1",
            budget,
            against: base.map(|base| SizeBase { path: &base.name, bytes: base.bytes }),
            files: files.collect(),
        }
    }
}
