//! Files on servers, read by ranges over `https:` and from Hugging Face's hub (`hf://`); with the feature
//! `cloud` also from stores (`s3://`, `gs://`, `az://`).
//!
//! The first request returns the first 64 KiB, the size and the entity tag. Every later request
//! carries the tag in `If-Match`, so a changed file is refused and never mixed. Servers are not
//! trusted: [`RemoteOptions`] lists what is refused and limited.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod budget;
mod client;
#[cfg(feature = "cloud")]
mod cloud;
mod error;
mod ip;
mod listing;
mod object;
mod pages;
mod reply;
mod retry;
mod store;
#[cfg(feature = "cloud")]
mod store_cache;
mod url;

pub use budget::Spent;
pub use client::{Client, RemoteOptions, Resolve, Secret};
pub use error::RemoteError;
pub use ip::is_public;
pub use listing::{ListedFile, is_listing};
pub use object::RemoteFile;
pub use url::{RemoteUrl, is_url, shown};
