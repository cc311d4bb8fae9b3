//! `libpte`: the check of `.pte` and `.ptd` files as a C library. `include/pte.h` is its interface, and
//! [docs/c.md](../../docs/c.md) its guide.
//!
//! The library with all rules uses `std`, to catch bugs. The structure alone, built to abort, needs neither `std` nor
//! `alloc`, so that it also runs on a microcontroller.
//!
//! `ffi` has the exported functions: it turns pointers into slices and references, and back. `memory` has the arena
//! that each call allocates from. No other module has unsafe code.

#![cfg_attr(all(not(feature = "check"), panic = "abort"), no_std)]

pub mod abi;
#[cfg(all(not(feature = "check"), panic = "abort"))]
mod bare;
pub mod ffi;
#[cfg(feature = "check")]
mod file;
#[cfg(feature = "check")]
mod judge;
#[cfg(feature = "check")]
mod memory;
#[cfg(feature = "check")]
mod options;
mod verify;

#[cfg(all(test, feature = "check"))]
mod tests;
