//! One test binary: a module for each subject.

mod support;

#[cfg(feature = "cli")]
mod cli;
mod corpus;
mod element;
mod header;
mod hostile;
mod layers;
mod neighbour;
mod schema;
mod source;
mod views;
