//! The oracles of the fuzz targets: properties that hold for any bytes.
//!
//! An oracle returns, or panics if the library breaks a property. `fuzz_targets/fuzz.rs` runs it on
//! libFuzzer's inputs, `tests/replay.rs` on the seeds, the test data and the regressions.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "an oracle speaks by panicking, and is no part of the library"
)]

mod agree;
mod chaos;
mod container;
mod convert;
mod defects;
mod diff;
pub mod forge;
pub mod mutate;
mod payload;
mod places;
mod read;
pub mod replay;
mod roundtrip;
pub mod smith;
mod structured;
mod verify;
mod views;

pub use agree::agree;
pub use container::container;
pub use convert::convert;
pub use diff::diff;
pub use payload::{graph, payload};
pub use roundtrip::{encode, json, roundtrip};
pub use structured::{check, corrupt, damaged, edit, ptd, relayout};
pub use verify::verify;
pub use views::views;

/// The oracle `sound`: a file that breaks no rule of severity Error is what the type of a sound file
/// says. Its accessors give everything without tripping a debug assertion, and what holds in it,
/// said once more by brute force over its tables, holds.
pub fn sound(bytes: &[u8]) {
    pte_tests::sound::is_sound(bytes);
}

/// A check of a property for some bytes, which panics if the property does not hold.
pub type Oracle = fn(&[u8]);

/// Every oracle, under the name of its target.
pub const ORACLES: [(&str, Oracle); 17] = [
    ("agree", agree),
    ("check", check),
    ("container", container),
    ("convert", convert),
    ("corrupt", corrupt),
    ("diff", diff),
    ("edit", edit),
    ("encode", encode),
    ("graph", graph),
    ("json", json),
    ("payload", payload),
    ("ptd", ptd),
    ("relayout", relayout),
    ("roundtrip", roundtrip),
    ("sound", sound),
    ("verify", verify),
    ("views", views),
];
