//! `libpte`: the check of `.pte` and `.ptd` files as a C library. `include/pte.h` is its interface, and
//! [docs/c.md](../../docs/c.md) its guide.
//!
//! The library with all rules uses `std`, to catch bugs. The structure alone, built to abort, does without.
//!
//! `ffi` has the exported functions: it turns pointers into slices and references, and back. `memory` has the arena
//! that each call allocates from. No other module has unsafe code.

#![cfg_attr(all(not(feature = "check"), panic = "abort"), no_std)]

pub mod abi;
pub mod ffi;
#[cfg(feature = "check")]
mod file;
#[cfg(feature = "check")]
mod judge;
#[cfg(any(feature = "check", panic = "unwind"))]
mod memory;
#[cfg(not(any(feature = "check", panic = "unwind")))]
#[path = "memory/small.rs"]
mod memory;
#[cfg(feature = "check")]
mod options;
mod verify;

#[cfg(all(test, feature = "check"))]
mod tests;
