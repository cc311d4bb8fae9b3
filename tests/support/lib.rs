//! What tests, benches and fuzz targets share: makers of files, genuine and hostile, and questions that
//! ask everything of a file.

#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::type_complexity,
    reason = "a test that goes wrong is meant to stop, and its rows are tuples with functions"
)]

#[cfg(feature = "json")]
pub mod aoti;
pub mod archive;
pub mod asm;
#[cfg(feature = "json")]
pub mod build;
pub mod coreml;
pub mod exercise;
pub mod files;
#[cfg(feature = "json")]
pub mod fixture;
pub mod harvest;
pub mod hostile;
#[cfg(feature = "json")]
pub mod json;
pub mod mapped;
pub mod openvino;
#[cfg(feature = "json")]
pub mod programs;
pub mod restated;
#[cfg(feature = "json")]
pub mod shared;
#[cfg(feature = "json")]
pub mod snapshot;
pub mod sound;
pub mod tables;
pub mod trees;
#[cfg(feature = "json")]
pub mod xnnpack;

/// Returns by how much an exhaustive test is thinned out: by `factor` in a build with debug assertions, which
/// is not optimized, and by 1, not at all, in the profile `testrelease`, in which the gate runs the same tests.
pub const fn thinned(factor: usize) -> usize {
    if cfg!(debug_assertions) { factor } else { 1 }
}
