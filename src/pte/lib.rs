//! Reads, judges and writes ExecuTorch's two file formats: `.pte`, a program, and `.ptd`, named
//! tensors and blobs. Files may be untrusted: no input causes a panic, a hang or high memory use.
//! Errors have an offset, a path and advice.
//!
//! ```
//! use pte::schema::program::view::KernelTypes;
//!
//! # fn main() -> pte::Result<()> {
//! # let bytes = include_bytes!("../../tests/data/pte/linear.pte");
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
//! # Examples
//!
//! For a file without an Error, `Pte::sound` and `Ptd::sound` return types without impossible cases: indices
//! are resolved, tensors have sizes, calls have operators.
//!
//! ```rust
//! use pte::Sound;
//! use pte::sound::Operation;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let bytes = std::fs::read("../../tests/data/pte/linear.pte")?;
//!     let program = pte::Pte::read(&bytes)?.sound()?; // or the report of the Errors
//!     for method in program.methods() {
//!         for instruction in method.chains().flat_map(|chain| chain.instructions()) {
//!             if let Operation::Kernel { operator, args } = instruction {
//!                 println!("{} calls {operator} with {} values", method.name(), args.len());
//!             }
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Any file that was read can be converted to plain structs, changed, and written again. Unchanged parts keep
//! their bytes: docs/writers.md describes the layouts of the tools of ten releases.
//!
//! ```rust
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let bytes = std::fs::read("../../tests/data/pte/linear.pte")?;
//!     let pte = pte::Pte::read(&bytes)?;
//!     let mut model = pte.to_model()?;
//!     model.lay_out_like(pte.region()); // as the tool that wrote it would
//!     assert_eq!(model.image()?.to_bytes()?, bytes);
//!     model.set_data("labels", b"yes\nno\n".to_vec().into());
//!     let changed = model.image()?.to_bytes()?;
//!     assert_eq!(pte::Pte::read(&changed)?.named_data().count(), 1);
//!     Ok(())
//! }
//! ```
//! `model::json` reads models from JSON.
//!
//! `build::PtdBuilder` makes a `.ptd` from named tensors:
//!
//! ```rust
//! use pte::Check;
//! use pte::build::{PtdBuilder, Shape};
//! use pte::schema::scalar::ScalarType;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let bias: Vec<u8> = [1.0f32, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
//!     let mut ptd = PtdBuilder::new();
//!     ptd.tensor("linear.bias", Shape::new(ScalarType::FLOAT, [2]), bias)?;
//!     let bytes = ptd.finish()?.image()?.to_bytes()?;
//!     assert!(pte::Ptd::read(&bytes)?.check().findings().is_empty());
//!     Ok(())
//! }
//! ```
//!
//! # Features
//!
//! - Without features, the library needs only `alloc`.
//! - `std` reads files by ranges.
//! - `json` reads the JSON of a dump, also of a whole file ([`model`]).
//! - `safetensors` converts from and to that format.
//! - `sha2` finds equal data.
//! - `diff` compares two files.
//! - `documents` serializes what the command prints.
//! - `serde` and `arbitrary` derive their traits for the structs of a [`model`]; `serde` has `documents`.
//! - `remote` reads files by ranges over https, and from Hugging Face's hub.
//! - `scan` writes rows about many files, as NDJSON and Parquet.
//!
//! The command `pte` is the package `pte-cli`. The crates behind this one can be used alone:
//! `pte-flat` is the FlatBuffers walker, `pte-core` reads and writes files without judging them.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use pte_check::sound;
pub use pte_core::{
    build, element, file, method, model, operators, package, payload, ptd, release,
};
pub use pte_flat as flat;
pub use pte_flat::quoted;
pub use pte_schema as schema;
pub use pte_tools::{explorer, firmware, graph, map, memory, profile, summary, tensors};

/// The rules on the meaning of files, and how files are judged.
pub mod check {
    pub use pte_check::*;
}

#[cfg(feature = "safetensors")]
pub use pte_core::convert;
#[cfg(feature = "remote")]
pub use pte_remote as remote;
#[cfg(feature = "scan")]
pub use pte_scan as scan;
#[cfg(feature = "diff")]
pub use pte_tools::diff;
#[cfg(all(feature = "documents", feature = "json", feature = "std"))]
pub use pte_tools::document;

pub use pte_check::{Check, sound::Sound};
pub use pte_core::{
    Arena, Backend, Code, Error, ErrorKind, File, ForeignFormat, Handle, Limits, Magic, OpenError,
    PastEnd, PathComponent, Place, Ptd, Pte, Result, Source, Storage, operator_name,
};

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
