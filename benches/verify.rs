//! What reading, judging and decoding take, on one file in memory.
//!
//! `cargo bench --bench verify -- [FILE.pte [PEER…]]`: without a file, a program of 100,000 values and
//! as many calls is made. A PEER is a program that takes the file and prints its own best time as a
//! number of milliseconds, such as one around `flatbuffers::Verifier`; it is run in between, and the
//! ratios are of the same minutes.

#![allow(clippy::panic, reason = "a benchmark that goes wrong is meant to stop")]

use core::hint::black_box;

use pte::Check;
use pte::{Pte, model};
use support::{compare, measuring, views};

mod support;

/// What is measured, and the work.
type Row = (&'static str, for<'b> fn(&'b [u8]) -> Option<model::PteModel<'b>>);

const ROWS: [Row; 4] = [
    ("structure", |bytes| {
        black_box(Pte::read(bytes).is_ok());
        None
    }),
    ("structure, rules", |bytes| {
        black_box(read(bytes).check());
        None
    }),
    ("structure, all fields", |bytes| {
        black_box(views::read_all(read(bytes).program()));
        None
    }),
    ("structure, model", |bytes| read(bytes).to_model().ok()),
];

fn main() {
    let mut args = support::arguments();
    let file = args.next();
    let peers = args.collect::<Vec<_>>();
    let bytes = match &file {
        Some(file) => std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}")),
        None => support::large(if measuring() { 100_000 } else { 100 }),
    };
    println!("{} bytes, checksum {}", bytes.len(), views::read_all(read(&bytes).program()));
    let theirs = compare(&ROWS, &bytes, &peers, file.as_deref().unwrap_or_default());
    for (peer, time) in peers.iter().zip(theirs) {
        println!("{time:9.4} ms  {peer}");
    }
}

fn read(bytes: &[u8]) -> Pte<'_> {
    Pte::read(bytes).unwrap_or_else(|error| panic!("{error}"))
}
