//! Reads the fixtures of the library's tests: `tests/rules`.

#![allow(dead_code, reason = "the tests use all of it")]
#![allow(clippy::std_instead_of_core, reason = "the tests are not held to it")]

#[path = "../../tests/support/build.rs"]
pub(crate) mod build;
#[path = "../../tests/support/fixture.rs"]
pub(crate) mod fixture;
#[path = "../../tests/support/harvest.rs"]
mod harvest;
