//! Reads, judges and writes ExecuTorch's two file formats: `.pte`, a program, and
//! `.ptd`, named tensors and blobs. Files may be untrusted: no input panics, hangs or eats
//! memory, and what is wrong is named with its offset, its path and what to do.
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
//! Bytes become a proven type once: [`Pte`] or [`Ptd`]. Views of their tables are `Copy` and
//! total; an `Option` is there only where the file may really leave something out. Where no rule of
//! [`check`] finds an Error, the types of [`sound`] do without those too. A file on disk is opened
//! by ranges through [`Handle`], so that a large one costs what its FlatBuffer costs. Every
//! FlatBuffers table is declared once, in [`schema`]; the verifier, the views, the JSON form and the
//! `.fbs` text all read that declaration.
//!
//! # Features
//!
//! Without features the library needs `alloc` alone. `std` reads files by ranges; `json` loads the
//! JSON that a dump writes, whole files too ([`model`]); `safetensors` converts from and to that
//! format; `sha2` finds equal data; `diff` compares two files; `serde` and `arbitrary` derive their
//! traits for the structs of a [`model`], and `serde` for the documents that the command prints;
//! `cli`, on by default, is the command, so a library user takes `default-features = false`.

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

// The two formats, with proven structure.
mod pte;

pub mod ptd;

mod handle;

// The payloads of delegates: finds, recognizes and reads them.
pub mod payload;

// Files as plain values, which can be changed and written.
pub mod model;

// Operators: what is known of them, and which ones programs call.
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
