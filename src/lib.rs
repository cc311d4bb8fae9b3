//! Reads, judges and writes ExecuTorch's two file formats: `.pte`, a program, and `.ptd`, named
//! tensors and blobs. Files may be untrusted: no input causes a panic, a hang or high memory use.
//! Errors have an offset, a path and advice.
//!
//! ```
//! use pte::schema::program::view::KernelTypes;
//!
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../tests/data/pte/linear.pte");
//! let pte = pte::Pte::read(bytes)?; // the structure is proven: from here nothing can fail
//! for plan in pte.program().execution_plan().into_iter().flatten() {
//!     for value in plan.values().into_iter().flatten() {
//!         if let Some(KernelTypes::Tensor(tensor)) = value.val() {
//!             println!("{:?} {:?}", tensor.scalar_type(), tensor.sizes());
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Bytes are proven once, and become a [`Pte`] or a [`Ptd`]. Views of their tables are `Copy`, and
//! reading them cannot fail. A field is an `Option` only if the format allows its absence. If no rule
//! of [`check`] finds an Error, the types of [`sound`] need fewer of these. [`Handle`] opens a file
//! on disk by ranges: only its FlatBuffer is read into memory. Every FlatBuffers table is declared
//! once, in [`schema`]. The verifier, the views, the JSON form and the `.fbs` text read that
//! declaration.
//!
//! # Features
//!
//! - Without features, the library needs only `alloc`.
//! - `std` reads files by ranges.
//! - `json` reads the JSON of a dump, also of a whole file ([`model`]).
//! - `safetensors` converts from and to that format.
//! - `sha2` finds equal data.
//! - `diff` compares two files.
//! - `serde` and `arbitrary` derive their traits for the structs of a [`model`], and `serde` for the
//!   documents that the command prints.
//! - `remote` reads files by ranges over https, and from Hugging Face's hub.
//! - `scan` writes rows about many files, as NDJSON and Parquet.
//! - `cli`, the default, is the command. A user of the library sets `default-features = false`.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

// The modules, bottom-up. A file uses only modules that are listed above its own, which
// `tests/layers.rs` checks. (The blank lines keep rustfmt from sorting them.)

// Basics, without knowledge of the formats.
mod bytes;

mod cost;

mod limits;

pub mod quoted;

mod backend;

mod foreign;

mod error;

// FlatBuffers, without knowledge of ExecuTorch.
pub mod flat;

// The text of JSON documents.
#[cfg(all(feature = "json", feature = "std"))]
pub mod document;

// The declared tables of both formats.
pub mod schema;

// The elements of tensors.
pub mod element;

// Headers and segments.
pub mod file;

// Files on servers.
#[cfg(feature = "remote")]
pub mod remote;

// The two formats, with proven structure.
mod pte;

pub mod ptd;

mod handle;

// The payloads of delegates: finds, recognizes and reads them.
pub mod payload;

// Files as plain values, which can be changed and written.
pub mod model;

// Operators: signatures, contracts, and the operators that programs call.
pub mod operators;

// Methods: instructions, control flow, effects and definitions.
pub mod method;

// The map: the part of a file that each byte belongs to.
pub mod map;

// Builders of new files, and conversion from other formats.
pub mod build;

#[cfg(feature = "safetensors")]
pub mod convert;

// The rules on the meaning of files, and how files are judged.
pub mod check;

// The two formats, for files without an Error.
pub mod sound;

// The times in a profile of runs.
pub mod profile;

// The summary of a file.
pub mod summary;

// The tensors of a file, one row for each.
pub mod tensors;

// The data-flow graph of a method.
pub mod graph;

// Memory plans of methods, and the live ranges of their tensors.
pub mod memory;

// The comparison of two files by meaning.
#[cfg(feature = "diff")]
pub mod diff;

// Rows about many files.
#[cfg(feature = "scan")]
pub mod scan;

pub use backend::Backend;
pub use error::{Code, Error, ErrorKind, Magic, PathComponent, Place, Result};
pub use file::source::{PastEnd, Source};
pub use foreign::ForeignFormat;
pub use handle::{File, Handle, OpenError};
pub use limits::Limits;
pub use ptd::Ptd;
pub use pte::{Arena, Pte, Storage, operator_name};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
