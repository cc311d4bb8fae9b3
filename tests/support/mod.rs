//! What the tests share.

pub(crate) mod asm;
pub(crate) mod exercise;
pub(crate) mod files;
pub(crate) mod json;
pub(crate) mod snapshot;
