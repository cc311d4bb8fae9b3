//! ExecuTorch's two file formats: headers, segments, proven files, payloads, models, operators and
//! methods.
//!
//! Bytes are proven once, and become a [`Pte`] or a [`Ptd`]. Views of their tables are `Copy`, and
//! reading them cannot fail. [`Handle`] opens a file on disk by ranges. The package `pte` is this
//! crate with the rules and the tools above it.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

// The modules, bottom-up. A file uses only modules that are listed above its own, which
// `tests/layers.rs` checks. (The blank lines keep rustfmt from sorting them.)

// Basics, without knowledge of the formats.
pub mod limits;

pub mod release;

pub mod package;

pub mod backend;

pub mod foreign;

pub mod error;

// Proofs of FlatBuffers.
pub mod verify;

// The elements of tensors.
pub mod element;

// Headers and segments.
pub mod file;

// The two formats, with proven structure.
pub mod pte;

pub mod ptd;

pub mod handle;

// The payloads of delegates: finds, recognizes and reads them.
pub mod payload;

// Files as plain values, which can be changed and written.
pub mod model;

// Operators: signatures, contracts, and the operators that programs call.
pub mod operators;

// Methods: instructions, control flow, effects and definitions.
pub mod method;

// Builders of new files, and conversion from other formats.
pub mod build;

#[cfg(feature = "safetensors")]
pub mod convert;

pub use backend::Backend;
pub use error::{Code, Error, ErrorKind, Magic, PathComponent, Place, Result};
pub use file::source::{PastEnd, Source};
pub use foreign::ForeignFormat;
pub use handle::{File, Handle, OpenError};
pub use limits::Limits;
pub use ptd::Ptd;
pub use pte::{Arena, Pte, Storage, operator_name};
