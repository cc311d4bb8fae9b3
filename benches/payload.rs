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
use pte::flat::write::{self, WriterLayout};
use pte::payload::xnnpack::XnnpackGraph;
use pte::schema::xnnpack::{XNNDatatype, desc, model};
use support::{best, measuring, reported};

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
    let mut ours = ROWS.map(|_| f64::MAX);
    let mut theirs = vec![f64::MAX; peers.len()];
    // Taking turns, so that what else the machine does meets all of them.
    for _ in 0..5 {
        for ((_, work), time) in ROWS.iter().zip(&mut ours) {
            *time = time.min(best(&bytes[..], work));
        }
        for (peer, time) in peers.iter().zip(&mut theirs) {
            *time = time.min(reported(peer, file.path().to_str().unwrap()));
        }
    }
    for ((name, _), time) in ROWS.iter().zip(ours) {
        print!("{name:<24} {time:9.4} ms");
        theirs.iter().for_each(|their| print!("  {:6.2} x", time / their));
        println!();
    }
}

/// Returns a graph that adds an input to itself, and each sum to itself.
fn additions(count: u32) -> Vec<u8> {
    const NONE: u32 = u32::MAX;
    let value = |id_out: u32| {
        let (external_id, flags) = match id_out {
            0 => (0, 1),
            last if last == count => (1, 2),
            _ => (NONE, 0),
        };
        let tensor = model::XNNTensorValue {
            datatype: XNNDatatype::xnn_datatype_fp32,
            num_dims: 2,
            dims: Some(vec![2, 3]),
            external_id,
            flags,
            id_out,
            ..model::XNNTensorValue::default()
        };
        model::XValue { xvalue_union: Some(model::XValueUnion::XNNTensorValue(tensor)) }
    };
    let node = |nth: u32| model::XNode {
        xnode_union: Some(model::XNodeUnion::XNNAdd(model::_XNNNode2x1 {
            input1_id: nth,
            input2_id: nth,
            output_id: nth + 1,
            flags: 0,
        })),
        debug_handle: nth,
        output_min_max: None,
    };
    let root = model::XNNGraph {
        version: Some("0".into()),
        xnodes: Some((0..count).map(node).collect()),
        xvalues: Some((0..=count).map(value).collect()),
        num_externs: 2,
        input_ids: Some(vec![0]),
        output_ids: Some(vec![count]),
        ..model::XNNGraph::default()
    };
    write::write(&desc::SCHEMA, &root, &[], &WriterLayout::default()).unwrap()
}
