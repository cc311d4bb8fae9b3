//! ExecuTorch's two file formats: headers, segments, proven files, payloads, models, operators and
//! methods.
//!
//! Bytes are proven once, and become a [`Pte`] or a [`Ptd`]. Views of their tables are `Copy`, and
//! reading them cannot fail. [`Handle`] opens a file on disk by ranges. The package `pte` is this
//! crate with the rules and the tools above it.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "alloc"),
    allow(dead_code, reason = "proofs of ranges of a file are used by `handle`")
)]

#[cfg(feature = "alloc")]
#[macro_use]
extern crate alloc;

// The modules, bottom-up. A file uses only modules that are listed above its own, which
// `tests/layers.rs` checks. (The blank lines keep rustfmt from sorting them.)

// Basics, without knowledge of the formats.
pub mod limits;

pub mod release;

#[cfg(feature = "alloc")]
pub mod package;

pub mod backend;

pub mod foreign;

pub mod error;

// Proofs of FlatBuffers.
pub mod verify;

// The elements of tensors.
#[cfg(feature = "alloc")]
pub mod element;

// Headers and segments.
pub mod file;

// The two formats, with proven structure.
pub mod pte;

pub mod ptd;

#[cfg(feature = "alloc")]
pub mod handle;

// The payloads of delegates: finds, recognizes and reads them.
#[cfg(feature = "alloc")]
pub mod payload;

// Files as plain values, which can be changed and written.
#[cfg(feature = "alloc")]
pub mod model;

// Operators: signatures, contracts, and the operators that programs call.
#[cfg(feature = "alloc")]
pub mod operators;

// Methods: instructions, control flow, effects and definitions.
#[cfg(feature = "alloc")]
pub mod method;

// Builders of new files, and conversion from other formats.
#[cfg(feature = "alloc")]
pub mod build;

#[cfg(feature = "safetensors")]
pub mod convert;

pub use backend::Backend;
pub use error::{Code, Error, ErrorKind, Magic, PathComponent, Place, Result};
pub use file::source::{PastEnd, Source};
pub use foreign::ForeignFormat;
#[cfg(feature = "alloc")]
pub use handle::{File, Handle, OpenError};
pub use limits::Limits;
#[cfg(feature = "alloc")]
pub use operators::operator_name;
pub use ptd::Ptd;
#[cfg(feature = "alloc")]
pub use pte::{Arena, Storage};
pub use pte::{Pte, tensor_at, value_at};
