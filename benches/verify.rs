//! What reading and judging take, on one file in memory: the best of several runs.
//!
//! `cargo bench --bench verify -- [FILE.pte [PEER]]`: without a file, a program of 100,000 values and
//! as many calls is made. PEER is a program that takes the file and prints its own best time as a
//! number of milliseconds, such as one around `flatbuffers::Verifier`; it is run in between, and the
//! ratios are of the same minutes.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a benchmark that goes wrong is meant to stop"
)]

use core::fmt::Write;
use core::hint::black_box;
use std::process::Command;
use std::time::Instant;

use pte::Pte;
use pte::flat::{load, write};
use pte::schema::program::desc;

fn main() {
    // Cargo adds a flag of its own.
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let file = args.next();
    let peer = args.next();
    let bytes = match &file {
        Some(file) => std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}")),
        None => large(100_000),
    };
    println!("{} bytes", bytes.len());
    let (mut structure, mut rules, mut theirs) = (f64::MAX, f64::MAX, f64::MAX);
    // Taking turns, so that what else the machine does meets all of them.
    for _ in 0..5 {
        structure = structure.min(best(|| drop(black_box(Pte::read(black_box(&bytes))))));
        rules = rules.min(best(|| {
            let pte = Pte::read(black_box(&bytes)).unwrap_or_else(|error| panic!("{error}"));
            black_box(pte.check());
        }));
        if let (Some(peer), Some(file)) = (&peer, &file) {
            theirs = theirs.min(told(peer, file));
        }
    }
    let show = |name: &str, time: f64| match peer {
        Some(_) => println!("{name:<20} {time:8.3} ms  {:.2} x the peer", time / theirs),
        None => println!("{name:<20} {time:8.3} ms"),
    };
    show("structure", structure);
    show("structure and rules", rules);
    if peer.is_some() {
        show("peer", theirs);
    }
}

/// The best of fifteen runs, in milliseconds.
fn best(run: impl Fn()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..15).map(time).fold(f64::MAX, f64::min)
}

/// What the peer prints of the file: the first number among its words.
fn told(peer: &str, file: &str) -> f64 {
    let out = Command::new(peer).arg(file).output().unwrap_or_else(|e| panic!("{peer}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout);
    let number = text.split_whitespace().find_map(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("{peer} printed {text:?}"))
}

/// A program of `n` values and `n` calls, every third value not a tensor.
fn large(n: u32) -> Vec<u8> {
    let mut json = String::from(r#"{"execution_plan": [{"name": "forward", "values": ["#);
    for nth in 0..n {
        let rank = nth % 4 + 1;
        let list = |of: &dyn Fn(u32) -> u32| {
            (0..rank).map(|nth| of(nth).to_string()).collect::<Vec<_>>().join(",")
        };
        let (sizes, order) = (list(&|dim| (nth + dim) % 4 + 1), list(&|dim| dim));
        let place = nth % 4096 * 1024;
        let text = match nth % 3 {
            0 => r#"{"val_type": "Int", "val": {"int_val": 7}}"#.to_string(),
            _ => format!(
                r#"{{"val_type": "Tensor", "val": {{"scalar_type": "FLOAT", "sizes": [{sizes}],
                "dim_order": [{order}],
                "allocation_info": {{"memory_id": 1, "memory_offset_low": {place}}}}}}}"#
            ),
        };
        write!(json, "{}{text}", if nth > 0 { "," } else { "" }).unwrap_or_default();
    }
    json.push_str(r#"], "inputs": [1], "outputs": [2], "chains": [{"instructions": ["#);
    for nth in 0..n {
        let args = (0..nth % 7 + 3).map(|arg| (nth.wrapping_mul(31 + arg) % n).to_string());
        let args = args.collect::<Vec<_>>().join(",");
        write!(
            json,
            r#"{}{{"instr_args_type": "KernelCall", "instr_args": {{"op_index": {}, "args": [{args}]}}}}"#,
            if nth > 0 { "," } else { "" },
            nth % 9
        )
        .unwrap_or_default();
    }
    json.push_str(r#"]}], "operators": ["#);
    let operators: Vec<_> =
        (0..9).map(|nth| format!(r#"{{"name": "own::op{nth}", "overload": ""}}"#)).collect();
    json.push_str(&operators.join(","));
    json.push_str(
        r#"], "delegates": [], "non_const_buffer_sizes": [0, 8388608]}], "segments": []}"#,
    );
    let root = load::read(&json, desc::SCHEMA.root, &mut load::no_files);
    let root = root.unwrap_or_else(|error| panic!("{error}"));
    write::write(&desc::SCHEMA, &root, &[], &write::Layout::default())
        .unwrap_or_else(|error| panic!("{error}"))
}
