//! Files on servers, read by ranges over `https:` and from Hugging Face's hub (`hf://`); with the feature
//! `cloud` also from stores (`s3://`, `gs://`, `az://`).
//!
//! The first request brings the first 64 KiB, the size and the entity tag. Every later one carries the
//! tag in `If-Match`: a changed file is refused, never mixed. A server is not trusted: see
//! [`RemoteOptions`] for what is refused and bounded.

mod address;
mod budget;
mod client;
#[cfg(feature = "cloud")]
mod cloud;
mod error;
#[cfg(feature = "json")]
mod listing;
mod object;
mod reply;
mod retry;
#[cfg(feature = "cloud")]
mod stores;
mod url;

pub use address::is_public;
pub use budget::Spent;
pub use client::{Client, RemoteOptions, Resolve, Secret};
#[cfg(feature = "cloud")]
pub use cloud::StoreFile;
pub use error::RemoteError;
#[cfg(feature = "json")]
pub use listing::{HubFile, is_listing};
pub use object::RemoteFile;
#[cfg(feature = "cloud")]
pub use url::is_store_listing;
pub use url::{RemoteUrl, is_url, shown};
