//! What must hold for any bytes at all: one oracle for each fuzz target, and no fuzzer.
//!
//! An oracle takes bytes and returns, or panics where the library broke a promise. The targets in
//! `fuzz_targets/` hand it what libFuzzer comes up with; `tests/replay.rs` what is in the tree.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "an oracle speaks by panicking, and is no part of the library"
)]

mod container;
pub mod mutate;
mod read;
pub mod replay;
mod verify;

pub use container::container;
pub use verify::verify;

/// What must hold for some bytes; a panic says that it does not.
pub type Oracle = fn(&[u8]);

/// Every oracle, under the name of its target.
pub const ORACLES: &[(&str, Oracle)] = &[("container", container), ("verify", verify)];
