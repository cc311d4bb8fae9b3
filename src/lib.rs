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

// The map, from the ground up: a file may use only what is listed above its own module, which
// `tests/layers.rs` holds. (The blank lines keep the order from being sorted.)

// Ground: knows nothing but bytes.
mod bytes;

mod cost;

mod limits;

pub mod quoted;

mod backend;

mod foreign;

mod error;

// FlatBuffers: knows nothing of ExecuTorch.
pub mod flat;

// The text of JSON documents.
#[cfg(all(feature = "json", feature = "std"))]
pub mod document;

// Declarations: the tables of both formats.
pub mod schema;

// The numbers inside a tensor's bytes.
pub mod element;

// Headers and segments.
pub mod file;

// The two formats, proven.
mod pte;

pub mod ptd;

mod handle;

// Delegates' payloads: found, recognized, read.
pub mod payload;

// Files as plain values, and how they are written.
pub mod model;

// What is known of operators, and which ones programs call.
pub mod operators;

// What a method is: instructions, control flow, effects, definitions.
pub mod method;

// Which byte belongs to what.
pub mod map;

// Files made anew, and from what other tools write.
pub mod build;

#[cfg(feature = "safetensors")]
pub mod convert;

// What is legal and still worth saying.
pub mod check;

// The two formats, with nothing wrong.
pub mod sound;

// The facts of a file, on one screen.
pub mod summary;

// The tensors of a file, one row each.
pub mod tensors;

// What flows between the instructions of a method.
pub mod graph;

// What a method plans for its tensors, and when they live.
pub mod memory;

// Two files, compared by what they mean.
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
