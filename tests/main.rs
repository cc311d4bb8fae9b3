//! The tests of the library: a module for each subject. `command.rs` has those of the command.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    reason = "a test that goes wrong is meant to stop"
)]

use pte_tests as support;

mod build_ptd;
#[cfg(feature = "json")]
mod contents;
#[cfg(feature = "safetensors")]
mod convert;
mod corpus;
#[cfg(feature = "json")]
mod described;
#[cfg(feature = "diff")]
mod diff;
mod docs;
mod element;
mod foreign;
#[cfg(all(debug_assertions, feature = "json", feature = "std"))]
mod growth;
mod header;
mod hostile;
mod layers;
mod map;
#[cfg(feature = "json")]
mod memory;
#[cfg(feature = "json")]
mod method;
#[cfg(feature = "json")]
mod model;
#[cfg(all(feature = "json", feature = "sha2"))]
mod payloads;
#[cfg(feature = "json")]
mod roundtrip;
#[cfg(feature = "json")]
mod rules;
mod schema;
mod sections;
mod selected;
mod sound;
#[cfg(feature = "json")]
mod source;
mod views;
mod walker;
mod words;
