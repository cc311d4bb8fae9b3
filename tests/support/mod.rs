//! Helpers of the tests.

#[cfg(feature = "json")]
pub(crate) mod archive;
pub(crate) mod asm;
#[cfg(feature = "json")]
pub(crate) mod build;
pub(crate) mod exercise;
pub(crate) mod files;
#[cfg(feature = "json")]
pub(crate) mod fixture;
pub(crate) mod harvest;
pub(crate) mod json;
pub(crate) mod mapped;
pub(crate) mod restated;
#[cfg(feature = "json")]
#[path = "../../benches/support/shared.rs"]
pub(crate) mod shared;
pub(crate) mod snapshot;
pub(crate) mod sound;
