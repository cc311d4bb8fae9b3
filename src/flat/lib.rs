//! FlatBuffers without generated code: schemas as data, a verifier, views, structs, JSON and a
//! writer.
//!
//! A table is declared once, with [`schema!`]. All modules here read that declaration. [`read`]
//! proves a buffer and returns its root as a typed view:
//!
//! ```
//! mod point {
//!     pte_flat::schema! {
//!         root Point b"PNT0" "point" "example";
//!         enums:
//!         unions:
//!         tables:
//!         /// A point.
//!         table Point {
//!             /// The position.
//!             0 x: i32 = 0,
//!             /// The name.
//!             1 name: &str,
//!         }
//!     }
//! }
//!
//! let point = point::model::Point { x: 7, name: Some("a".into()) };
//! let layout = pte_flat::write::WriterLayout::default();
//! let bytes = pte_flat::write::write(&point::desc::SCHEMA, &point, &[], &layout).unwrap();
//! let point: point::view::Point = pte_flat::read(&bytes, &pte_flat::Limits::default()).unwrap();
//! assert_eq!((point.x(), point.name()), (7, Some("a")));
//! assert!(pte_flat::read::<point::view::Point>(&bytes[..20], &Default::default()).is_err());
//! ```
//!
//! Buffers may be untrusted: no input causes a panic, a hang, or more work than [`Limits`] allow.
//! The crate needs `alloc` at most. Without the feature `alloc` it has the verifier and the views, and an error is its
//! code and its offset. Feature `json` reads JSON, `serde` and `arbitrary` derive their traits for the structs of a
//! schema, and `std` converts names of files to [`quoted`] text.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "alloc"),
    allow(dead_code, reason = "some facts of declarations are for the writer")
)]

#[cfg(feature = "alloc")]
#[doc(hidden)]
#[macro_use]
pub extern crate alloc;

pub mod bytes;
pub mod cost;
#[doc(hidden)]
pub mod derive;
pub mod desc;
pub mod error;
#[cfg(feature = "alloc")]
pub mod fbs;
#[cfg(feature = "alloc")]
mod inserted;
#[cfg(feature = "alloc")]
pub mod json;
#[cfg(feature = "alloc")]
pub mod ledger;
pub mod limits;
#[cfg(feature = "json")]
pub mod load;
#[cfg(feature = "alloc")]
pub mod model;
#[cfg(feature = "alloc")]
pub mod node;
#[cfg(feature = "alloc")]
pub mod quoted;
mod schema;
#[cfg(feature = "alloc")]
pub mod tree;
pub mod verify;
pub mod view;
#[cfg(feature = "alloc")]
pub mod write;

pub use error::{Error, ErrorKind, Kind, PathComponent, Place, Result};
#[cfg(feature = "alloc")]
pub use inserted::inserted;
pub use limits::Limits;
pub use verify::{Verified, read};

#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serde;
