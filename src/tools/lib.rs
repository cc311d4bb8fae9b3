//! What tools show of ExecuTorch's files: maps, summaries, tensors, graphs, memory plans, profiles
//! and differences.
//!
//! Each module gives facts as plain types, and a document of them that can be serialized. The
//! package `pte` re-exports them.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
extern crate alloc;

// The modules, bottom-up. A file uses only modules that are listed above its own, which
// `tests/layers.rs` checks. (The blank lines keep rustfmt from sorting them.)

// The text of JSON documents.
#[cfg(all(feature = "json", feature = "serde", feature = "std"))]
pub mod document;

// Lists that are made while they are serialized.
#[cfg(feature = "serde")]
mod listed;

// The map: the part of a file that each byte belongs to.
pub mod map;

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

// The graphs of an export, in an ETRecord.
#[cfg(all(feature = "json", feature = "serde"))]
mod exported;

// Files as graphs of Model Explorer.
pub mod explorer;

// What a firmware needs of a program, and whether it fits a board.
pub mod firmware;

// The comparison of two files by meaning.
#[cfg(feature = "diff")]
pub mod diff;
