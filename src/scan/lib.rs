//! Scans: one row about each file of any number of folders and lists, written as NDJSON and Parquet.
//!
//! A lister finds files, several threads judge them, and one writer writes the rows. The queues
//! between them are bounded, so that memory does not grow with the number of files. Rows are written in
//! parts; a part counts once the manifest names it, so a scan that was killed can be resumed.
//!
//! ```
//! # fn main() -> Result<(), pte::scan::ScanError> {
//! use pte::scan::{ScanRoot, Scan};
//!
//! # let folder = tempfile::tempdir().map_err(|error| {
//! #     pte::scan::ScanError::new("a temporary folder", error)
//! # })?;
//! let roots = vec![ScanRoot::Path("tests/data/ptd".into())];
//! let totals = Scan::new().jobs(2).run(roots, folder.path(), |_| {})?;
//! assert!(totals.files > 0);
//! # Ok(())
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod columns;
mod judge;
mod lister;
mod manifest;
mod parts;
mod pattern;
mod pipeline;
mod row;

pub use judge::Depth;
pub use lister::ScanRoot;
pub use manifest::MANIFEST;
pub use parts::RowFormat;
pub use pipeline::{Scan, ScanError, Totals};
pub use row::{BackendCell, Cell, CountCell, Row, SCHEMA};
