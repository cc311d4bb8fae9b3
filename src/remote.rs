//! Files on servers, read by ranges over `https:` and from Hugging Face's hub (`hf://`).
//!
//! The first request brings the first 64 KiB, the size and the entity tag. Every later one carries the
//! tag in `If-Match`: a changed file is refused, never mixed. A server is not trusted: see
//! [`RemoteOptions`] for what is refused and bounded.

mod address;
mod budget;
mod client;
mod error;
#[cfg(feature = "json")]
mod listing;
mod object;
mod reply;
mod retry;
mod url;

pub use address::is_public;
pub use budget::Spent;
pub use client::{Client, RemoteOptions, Resolve, Secret};
pub use error::RemoteError;
#[cfg(feature = "json")]
pub use listing::{HubFile, is_listing};
pub use object::RemoteFile;
pub use url::{RemoteUrl, is_url, shown};
