//! FlatBuffers: schemas as data, a verifier, views, structs, JSON and a writer.
//!
//! A table is declared once, with `schema!`. All modules here read that declaration.

pub mod desc;
pub mod fbs;
pub mod json;
pub mod ledger;
#[cfg(feature = "json")]
pub mod load;
pub mod model;
pub mod node;
mod schema;
pub mod tree;
pub(crate) mod verify;
pub mod view;
pub mod write;

pub(crate) use schema::schema;
