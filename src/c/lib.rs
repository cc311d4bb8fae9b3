//! `libpte`: the check of `.pte` and `.ptd` files as a C library. `include/pte.h` is its interface, and
//! [docs/c.md](../../docs/c.md) its guide.
//!
//! `ffi` has the exported functions: it turns pointers into slices and references, and back. `memory` has the arena
//! that each call allocates from. No other module has unsafe code.

pub mod abi;
pub mod ffi;
#[cfg(feature = "check")]
mod file;
#[cfg(feature = "check")]
mod judge;
mod memory;
#[cfg(feature = "check")]
mod options;
mod verify;
