//! The tests of the command, and of what needs a process or a server. `main.rs` has those of the
//! library.

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

mod cli;
mod examples;
mod library;
#[cfg(feature = "remote")]
mod remote;
