//! What reading and judging the graph of an XNNPACK payload take, in memory.
//!
//! `cargo bench --bench payload -- [PEER…]`: a graph of 10,000 additions, about 1.1 MB, without a header. A
//! PEER is a program that takes the file and prints its own best time as a number of milliseconds; it is run
//! in between, and the ratios are of the same minutes.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use core::hint::black_box;

use pte::Limits;
use pte::check::{Checker, Severity};
use pte::payload::xnnpack::XnnpackGraph;
use support::graphs::additions;
use support::{compare, measuring};

mod support;

/// What is measured, and the work.
type Row = (&'static str, fn(&[u8]));

const ROWS: [Row; 2] = [
    ("structure", |bytes| {
        black_box(XnnpackGraph::parse(bytes, &Limits::UNTRUSTED).unwrap());
    }),
    ("structure, rules", |bytes| {
        black_box(Checker::new().check_payload(bytes).unwrap());
    }),
];

fn main() {
    let peers: Vec<_> = support::arguments().collect();
    let bytes = additions(if measuring() { 10_000 } else { 10 });
    let report = Checker::new().check_payload(&bytes).unwrap();
    // What is found at best is the note that only a part of a payload is judged.
    assert!(report.worst() <= Some(Severity::Note), "a refused graph would only look fast");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    println!("{} bytes", bytes.len());
    compare(&ROWS, &bytes, &peers, file.path().to_str().unwrap());
}
